#!/usr/bin/env python3
"""Workers that crash or hang: all their jobs end, and the job that caused it is found."""
import os
import signal
import stat
import time

from sluice_test import DaemonTest, main, picture, wait_for


class WorkerDies(DaemonTest):
    def test_killed_in_the_middle_of_work(self):
        d = self.start('--device', 'reference', '--jobs', '2')
        names = ['%02d.pgm' % i for i in range(40)]
        for i, name in enumerate(names):
            d.drop(name, picture(900, 700, i))
        for results in (3, 10, 20):
            wait_for('%d results' % results, lambda n=results: len(d.results()) >= n)
            worker, ups = d.worker_pid(), d.count_lines('is up after')
            os.kill(worker, signal.SIGKILL)
            wait_for('another worker', lambda n=ups: d.count_lines('is up after') > n)
        d.expect_all(names)
        wait_for('all originals', lambda: d.done() == names)
        self.assertEqual(d.failed(), [])
        self.assertEqual(d.count_lines(r'ended by signal 9'), 3)
        for i in (0, 7, 39):
            self.assertEqual(d.result(names[i]), self.by_sluice_run(picture(900, 700, i))[''])
        d.stop()
        d.expect_clean()

    def test_killed_while_rows_pass(self):
        """A result is on its way to the disk before its picture is decoded; nothing of it is seen."""
        d = self.start('--device', 'native', '--jobs', '1')
        data = picture(6000, 5000)
        expected, seen = self.by_sluice_run(data)[''], False
        for turn in range(5):
            name = 'large-%d.pgm' % turn
            d.drop(name, data)
            while not seen and not os.path.exists(os.path.join(d.output, name)):
                seen = self.has_written_some(d.worker_pid(), len(expected))
            if seen:
                os.kill(d.worker_pid(), signal.SIGKILL)
                self.assertNotIn(name, d.results())
            self.assertEqual(d.expect(name), expected)
            if seen:
                break
        self.assertTrue(seen)
        d.stop()
        d.expect_clean()

    def has_written_some(self, pid, size):
        """Whether the process has a file open that has become a part of so many bytes."""
        for fd in os.listdir('/proc/%d/fd' % pid):
            try:
                status = os.stat('/proc/%d/fd/%s' % (pid, fd))
            except OSError:
                continue
            if stat.S_ISREG(status.st_mode) and size // 20 < status.st_size < size:
                return True
        return False

    def test_what_it_writes_to_stderr_is_bounded(self):
        """In number and in length; the job does not wait for a reader, and after a while lines are taken again."""
        d = self.fake('--jobs', '1').start()
        d.drop('a', b'shouts 5 60')
        d.expect('a.pgm')
        wait_for('all of few', lambda: d.count_lines('shout [0-4] x{50}') == 5)
        begin = time.monotonic()
        d.drop('b', b'shouts 30000 1000')
        d.expect('b.pgm')
        d.expect_line(r'worker \(pid \d+\) has written 200 lines to stderr within 10 s: what more')
        if time.monotonic() - begin < 10:
            self.assertLessEqual(d.count_lines('shout'), 200)
            self.assertLess(len(d.log()), 300000)
        time.sleep(11)
        before = d.count_lines('shout')
        d.drop('c', b'shouts 1 50000')
        d.expect('c.pgm')
        wait_for('the long one', lambda: d.count_lines('shout') > before)
        self.assertEqual(max(len(line) for line in d.log().splitlines()), 2000 + len(' ...'))
        d.stop()

    def test_its_last_words_come_before_its_end(self):
        d = self.fake('--jobs', '1').start()
        d.drop('a', b'poison')
        d.expect_failed('a')
        d.stop()
        lines = [line for line in d.log().splitlines() if 'shout' in line or 'ended by signal' in line]
        self.assertEqual(['shout' in line for line in lines], [True, False] * 2)

    def test_one_file_kills_every_worker(self):
        """The others are done, the one at fault is found and fails."""
        d = self.fake('--jobs', '4')
        names = ['good-%02d' % i for i in range(20)]
        for name in names[:10]:
            d.drop(name, name.encode())
        d.drop('evil', b'poison')
        for name in names[10:]:
            d.drop(name, name.encode())
        d.start()
        reason = d.expect_failed('evil')
        self.assertEqual((reason['code'], reason['stage']), ('crashed-worker', 'worker'))
        self.assertGreaterEqual(reason['attempts'], 2)
        d.expect_all(name + '.pgm' for name in names)
        d.drop('later', b'later')
        d.expect('later.pgm')
        self.assertLessEqual(self.fake_log().count('poison'), 3)
        d.stop()
        self.assertEqual(d.failed(), ['evil', 'evil.error.json'])
        d.expect_clean()

    def test_alone_from_the_start(self):
        d = self.fake('--jobs', '1').start()
        d.drop('evil', b'poison')
        self.assertEqual(d.expect_failed('evil')['attempts'], 2)
        self.assertEqual(self.fake_log(), ['poison'] * 2)
        d.stop()
        d.expect_clean()

    def test_a_crash_before_the_beginning_is_nobodys_fault(self):
        d = self.fake('--jobs', '1').start()
        d.drop('a', b'early')
        d.expect_line('the worker .* ended by signal 9')
        time.sleep(1)
        self.assertEqual(d.failed(), [])
        d.drop('a-good-one', b'good')
        d.stop(seconds=60)
        self.assertIn('a', os.listdir(d.input))

    def test_a_job_that_hangs(self):
        d = self.fake('--jobs', '1', '--job-time', '1s').start()
        d.drop('stuck', b'hang')
        reason = d.expect_failed('stuck')
        self.assertEqual(reason['code'], 'job-time')
        self.assertIn('--job-time', reason['message'])
        d.drop('b', b'good')
        d.expect('b.pgm')
        d.stop()
        d.expect_clean()

    def test_a_stopped_worker_is_killed_and_its_jobs_are_done(self):
        d = self.start('--job-time', '2s', '--jobs', '2')
        os.kill(d.worker_pid(), signal.SIGSTOP)
        names = ['%d.pgm' % i for i in range(6)]
        for name in names:
            d.drop(name, picture())
        d.expect_all(names)
        self.assertEqual(d.failed(), [])
        d.stop()
        d.expect_clean()

    def test_the_count_of_crashes_outlives_the_daemon(self):
        d = self.fake('--jobs', '1').start()
        d.drop('evil', b'poison')
        wait_for('the second try', lambda: len(self.fake_log()) == 2, pause=0.001)
        d.kill()
        d.start()
        self.assertEqual(d.expect_failed('evil')['code'], 'crashed-worker')
        self.assertLessEqual(len(self.fake_log()), 4)
        d.stop()
        d.expect_clean()


if __name__ == '__main__':
    main()
