#!/usr/bin/env python3
"""The kernel kills workers for want of memory, in a memory cgroup that the test makes (of version 1 or 2, as root): the front
lives, other files have their results, and the file that needs so much has its own when there is more memory."""
import os
import subprocess
import tempfile
import unittest

import sockets
from sluice_test import EMULATED, FALLBACK, SLUICE, DaemonTest, main, picture, wait_for

MIB = 1 << 20
ENTER = 'echo $$ >"$0" && exec "$@"'


class Cgroup:
    # Of each version: its folder, the limit, what keeps its processes from swapping, what is used, where kills are counted.
    VERSIONS = (
        ('/sys/fs/cgroup/memory', 'memory.limit_in_bytes', 'memory.swappiness', 'memory.usage_in_bytes', 'memory.oom_control'),
        ('/sys/fs/cgroup', 'memory.max', 'memory.swap.max', 'memory.current', 'memory.events'),
    )

    def __init__(self, test):
        for root, self.max, swap, self.current, self.events in self.VERSIONS:
            try:
                self.path = tempfile.mkdtemp(prefix='sluice-', dir=root)
            except OSError:
                continue
            test.addCleanup(self.remove)
            if os.path.exists(os.path.join(self.path, self.max)):
                if os.path.exists(os.path.join(self.path, swap)):  # a kernel may have none
                    self.write(swap, 0)
                return
        raise unittest.SkipTest('no memory cgroup can be made here')

    def remove(self):
        wait_for('the end of its processes', lambda: not self.read('cgroup.procs'))
        os.rmdir(self.path)

    def read(self, name):
        with open(os.path.join(self.path, name), encoding='ascii') as file:
            return file.read()

    def write(self, name, value):
        with open(os.path.join(self.path, name), 'w', encoding='ascii') as file:
            file.write(str(value))

    def used(self):
        return int(self.read(self.current))

    def kills(self):
        return next(int(line.split()[1]) for line in self.read(self.events).split('\n') if line.startswith('oom_kill '))


@unittest.skipIf(EMULATED or 'ASAN_OPTIONS' in os.environ, 'emulators and sanitizers take memory of their own')
class Oom(DaemonTest):
    def test_the_kernel_kills_workers(self):
        cgroup, http = Cgroup(self), os.path.join(self.dir, 'http.sock')
        device = 'native' if FALLBACK == 'native' else 'reference'
        # No stage that rows pass through: the picture is held as a whole.
        d = self.daemon('--device', device, '--jobs', '1', '--http-socket', http, chain='rotate:90')
        d.prefix = ['sh', '-c', ENTER, os.path.join(cgroup.path, 'cgroup.procs')]
        d.start()
        d.drop('a.pgm', picture())
        d.expect('a.pgm')
        cgroup.write(cgroup.max, cgroup.used() + 64 * MIB)  # room for another worker in quarantine
        subprocess.run([SLUICE, 'testcard', '--size', '7000x5000', '-o', 'large.jpg'], check=True, cwd=self.dir)
        os.rename(os.path.join(self.dir, 'large.jpg'), d.in_path('large.jpg'))
        for kills in range(1, 4):
            wait_for('kill %d' % kills, lambda n=kills: cgroup.kills() >= n)
            d.drop('%d.pgm' % kills, picture(seed=kills))
            d.expect('%d.pgm' % kills)
            self.assertEqual(sockets.ask(http, 'GET', '/livez').status, 200)
        self.assertEqual((d.failed(), 'large.pgm' in d.results()), ([], False))
        cgroup.write(cgroup.max, 2048 * MIB)
        d.expect('large.pgm')
        self.assertEqual(d.metrics()['sluice_worker_ends_total{reason="taken"}'], cgroup.kills())
        self.assertNotIn('FALLING BACK', d.log())
        d.stop()
        d.expect_clean()


if __name__ == '__main__':
    main()
