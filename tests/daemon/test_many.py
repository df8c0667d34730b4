#!/usr/bin/env python3
"""Many files, more than fit anywhere, two daemons."""
import os
import signal
import time

from sluice_test import DaemonTest, main, picture, wait_for


class Many(DaemonTest):
    def test_one_worker_and_one_compile_serve_500_files(self):
        d = self.start()
        builds = d.report()['builds'] + d.report()['hits']
        names = ['%03d.pgm' % i for i in range(500)]
        for i, name in enumerate(names):
            d.drop(name, picture(seed=i))
        d.expect_all(names)
        wait_for('all originals', lambda: d.done() == names)
        report = d.report()
        self.assertEqual((report['starts'], report['jobs'], report['pid']), (1, 500, d.worker_pid()))
        self.assertEqual(report['builds'] + report['hits'], builds)  # no program came after READY
        d.stop()
        self.assertEqual(d.count_lines(': done in'), 500)
        d.expect_clean()

    def test_overflow_loses_nothing(self):
        """More events than the kernel's queue holds, while the daemon sleeps."""
        d = self.fake('--jobs', '4')
        limit = '/proc/sys/fs/inotify/max_queued_events'
        with open(limit, encoding='ascii') as file:
            usual = file.read()
        if os.access(limit, os.W_OK):
            with open(limit, 'w', encoding='ascii') as file:
                file.write('64')
            count = 300
        else:
            count = int(usual) // 2 + 500
        try:
            d.start()
        finally:
            if count == 300:  # the limit is taken when a queue is made
                with open(limit, 'w', encoding='ascii') as file:
                    file.write(usual)
        d.process.send_signal(signal.SIGSTOP)
        names = ['%05d' % i for i in range(count)]
        for name in names:
            d.drop(name, name.encode())
        d.process.send_signal(signal.SIGCONT)
        d.expect_all([name + '.pgm' for name in names], 300)
        d.expect_line('more happened than inotify could tell')
        d.stop()
        self.assertEqual(sorted(self.fake_log()), names)  # and each was done once
        d.expect_clean()

    def test_what_does_not_fit_stays_in_the_folder(self):
        d = self.fake('--jobs', '1').start()
        os.kill(d.worker_pid(), signal.SIGSTOP)
        names = ['%03d' % i for i in range(400)]
        for name in names:
            d.drop(name, name.encode())
        wait_for('a full queue', lambda: len(d.claims()) >= 256)
        time.sleep(1)
        self.assertEqual(len(d.claims()), 256)
        self.assertEqual(len([n for n in os.listdir(d.input) if n != '.sluice']), 144)
        os.kill(d.worker_pid(), signal.SIGCONT)
        d.expect_all([name + '.pgm' for name in names], 300)
        wait_for('all originals', lambda: len(d.done()) == 400)
        d.stop()
        self.assertEqual(sorted(self.fake_log()), names)

    def test_two_daemons_on_one_folder(self):
        first = self.fake('--jobs', '2')
        second = self.fake('--jobs', '2', state='state2')
        names = ['%03d' % i for i in range(200)]
        for name in names[:100]:
            first.drop(name, name.encode())
        first.start()
        second.start()
        for name in names[100:]:
            first.drop(name, name.encode())
        first.expect_all([name + '.pgm' for name in names])
        wait_for('all originals', lambda: first.done() == names)
        for d in (first, second):
            log = d.stop()
            self.assertNotIn('failed:', log)
        self.assertEqual(sorted(self.fake_log()), names)
        self.assertGreater(min(d.count_lines(': done in') for d in (first, second)), 0)
        first.expect_clean()


if __name__ == '__main__':
    main()
