#!/usr/bin/env python3
"""Many large pictures of several sizes wait: the worker takes no more memory than limits.memory, beside what the
libraries had taken before the first job. With SLUICE_LONG=1 500 of 24 megapixels (minutes)."""
import os
import subprocess
import unittest

from sluice_test import FALLBACK, SLUICE, DaemonTest, main, wait_for

LONG = os.environ.get('SLUICE_LONG') == '1'
# (sizes, files, limit in MiB)
SIZES, COUNT, LIMIT = ((('6000x4000', '5400x3600', '4800x3200'), 500, 384) if LONG else
                       (('2000x1500', '1800x1300', '1500x1100'), 36, 40))
# MiB besides: buffers come in steps of an eighth, stacks and arenas of threads, libjpeg's tables.
SLACK = LIMIT // 8 + 32


@unittest.skipIf('ASAN_OPTIONS' in os.environ, 'sanitizers keep what is freed')
class Memory(DaemonTest):
    def peak(self, pid):
        """MiB that a process has had in memory at most."""
        with open('/proc/%d/status' % pid, encoding='ascii') as file:
            return int(next(line for line in file if line.startswith('VmHWM')).split()[1]) / 1024

    def test_waiting_pictures_take_no_memory(self):
        # equalize holds a whole picture; no compiler's memory is among what is measured
        d = self.daemon('--memory', '%dMiB' % LIMIT, '--jobs', '4', '--device', FALLBACK,
                        chain='box:radius=2,equalize,sobel', form='jpg')
        for i, size in enumerate(SIZES):
            subprocess.run([SLUICE, 'testcard', '--size', size, '-o', 'card%d.jpg' % i], check=True,
                           cwd=self.dir)
        d.start()
        pid = d.worker_pid()
        before = self.peak(pid)
        names = ['%03d.jpg' % i for i in range(COUNT)]
        for i, name in enumerate(names):  # three pictures under many names
            part = os.path.join(self.dir, 'link')
            os.link(os.path.join(self.dir, 'card%d.jpg' % (i % len(SIZES))), part)
            os.rename(part, d.in_path(name))
        wait_for('all results', lambda: len(d.done()) == COUNT, 1800 if LONG else 120)
        grown = self.peak(pid) - before
        print('%d files: %.0f MiB at ready, %.0f MiB more at most, of %d allowed' %
              (COUNT, before, grown, LIMIT))
        self.assertEqual(d.worker_pid(), pid)
        self.assertLess(grown, LIMIT + SLACK)
        self.assertGreater(grown, LIMIT / 4)  # else nothing was measured
        d.stop()


if __name__ == '__main__':
    main()
