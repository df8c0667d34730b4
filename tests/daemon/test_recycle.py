#!/usr/bin/env python3
"""Workers are replaced between jobs: nothing is lost, nothing is done twice, and there is no gap."""
import os
import re
import time

from sluice_test import DaemonTest, alive, main, picture, wait_for


class Recycle(DaemonTest):
    def pids(self, d):
        return [int(m.group(1)) for m in (re.search(r'worker (\d+) is up', line) for line in d.lines) if m]

    def expect_in_good_order(self, d, names):
        """Each file was begun once, none failed, no worker died of anything."""
        d.expect_all(name + '.pgm' for name in names)
        wait_for('all originals', lambda: d.done() == sorted(names))
        self.assertEqual(sorted(self.fake_log()), sorted(names))
        self.assertEqual(d.failed(), [])
        self.assertNotIn('ended by signal', d.log())

    def test_after_a_number_of_jobs(self):
        d = self.fake('--jobs', '3', '--worker-jobs', '20').start()
        names = ['%03d' % i for i in range(400)]
        for name in names:
            d.drop(name, name.encode())
        self.expect_in_good_order(d, names)
        done = 'sluice_jobs_total{source="watch",chain="sobel",result="done"}'
        # results are there before they are counted
        wait_for('the count of all', lambda: d.metrics().get(done, 0) >= 400)
        metrics = d.metrics()
        starts = metrics['sluice_worker_starts_total']
        # the one at work goes on while the next one starts, so it does some more than 20
        self.assertTrue(3 <= starts <= 21, starts)
        self.assertEqual(metrics[done], 400)
        pids = self.pids(d)
        wait_for('the end of the old ones', lambda: not any(alive(pid) for pid in pids[:-1]))
        self.assertEqual(d.metrics()['sluice_worker_ends_total{reason="recycled"}'], len(pids) - 1)
        d.stop()
        d.expect_clean()

    def test_after_a_time_without_a_job(self):
        d = self.fake('--worker-time', '1s').start()
        wait_for('three workers', lambda: len(self.pids(d)) >= 3)
        first, second = self.pids(d)[:2]
        lines = d.log()
        self.assertLess(lines.index('worker %d is replaced' % first), lines.index('worker %d is up' % second))
        d.drop('a', b'a')
        self.expect_in_good_order(d, ['a'])
        d.stop()

    def test_the_new_one_is_up_before_the_old_one_goes(self):
        d = self.fake('--jobs', '1', '--worker-jobs', '1').start()
        old = d.worker_pid()
        d.drop('a', b'slow')
        d.expect('a.pgm')
        wait_for('another worker', lambda: len(self.pids(d)) == 2)
        d.drop('b', b'good')
        d.expect('b.pgm')
        self.assertNotEqual(d.worker_pid(), old)
        d.stop()
        # never without one: a job is not put off, and both were up when they changed
        self.assertEqual(d.count_lines('tried again'), 0)

    def test_after_its_memory_has_grown(self):
        d = self.fake('--jobs', '1', '--worker-growth', '100MiB').start()
        d.drop('a', b'good')
        d.drop('b', b'grow 1')
        d.expect_all(['a.pgm', 'b.pgm'])
        time.sleep(1.1)  # it is looked at once a second
        d.drop('c', b'good c')
        d.expect('c.pgm')
        self.assertEqual(len(self.pids(d)), 1)
        d.drop('d', b'grow 2')
        d.expect('d.pgm')
        time.sleep(1.1)
        d.drop('e', b'good e')
        d.expect_line('is replaced after .* jobs: its memory has grown')
        wait_for('another worker', lambda: len(self.pids(d)) == 2)
        d.stop()

    def test_one_that_does_not_come_up_changes_nothing(self):
        d = self.fake('--jobs', '1', '--worker-jobs', '2').start()
        old = d.worker_pid()
        self.plan_starts(*['crash'] * 50)
        for name in 'abcdef':
            d.drop(name, name.encode())
        self.expect_in_the_end(d, 'abcdef')
        d.expect_line('ended by signal 9')
        self.assertEqual(self.pids(d), [old])
        self.assertTrue(alive(old))
        d.stop()
        d.expect_clean()

    def expect_in_the_end(self, d, names):
        d.expect_all(name + '.pgm' for name in names)
        self.assertEqual(sorted(self.fake_log()), sorted(names))

    def test_a_death_while_the_next_one_starts(self):
        d = self.fake('--jobs', '1', '--worker-jobs', '1').start()
        d.drop('a', b'good a')
        d.drop('b', b'poison')
        d.drop('c', b'good c')
        d.expect_all(['a.pgm', 'c.pgm'])
        self.assertEqual(d.expect_failed('b')['code'], 'crashed-worker')
        d.stop()
        d.expect_clean()

    def test_the_real_one_finds_its_kernels_in_the_cache(self):
        d = self.start('--jobs', '2', '--worker-jobs', '40')
        names = ['%03d.pgm' % i for i in range(150)]
        for i, name in enumerate(names):
            d.drop(name, picture(seed=i))
        d.expect_all(names)
        wait_for('all originals', lambda: d.done() == names)
        self.assertGreater(len(self.pids(d)), 1)
        self.assertEqual(d.report()['builds'], 0)
        self.assertEqual(d.failed(), [])
        for i in (0, 77, 149):
            self.assertEqual(d.result(names[i]), self.by_sluice_run(picture(seed=i))[''])
        pids = self.pids(d)
        d.stop()
        self.assertFalse(any(alive(pid) for pid in pids))
        d.expect_clean()
        self.assertNotIn('ended by signal', d.log())


if __name__ == '__main__':
    main()
