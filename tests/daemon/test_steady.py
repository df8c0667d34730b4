#!/usr/bin/env python3
"""Steady work for a while: nothing grows. 20 s here; an hour with SLUICE_LONG=1, or SLUICE_STEADY=SECONDS.

A folder and both sockets get work at a steady pace. Resident memory and open descriptors of the front and of the
worker must not grow from the first tenth of the time, in which everything has been done once, to the last. The worker
may be replaced because of its age; each one is judged by itself.
"""
import os
import time

import sockets
from sluice_test import DaemonTest, main, picture, wait_for

SPAN = float(os.environ.get('SLUICE_STEADY') or (3600 if os.environ.get('SLUICE_LONG') == '1' else 20))
PACE = 0.1  # seconds from one round to the next


def resident(pid):
    with open('/proc/%d/status' % pid, encoding='ascii', errors='replace') as file:
        for line in file:
            if line.startswith('VmRSS'):
                return int(line.split()[1])
    return 0


def descriptors(pid):
    return len(os.listdir('/proc/%d/fd' % pid))


def median(values):
    return sorted(values)[len(values) // 2]


class Steady(DaemonTest):
    def setUp(self):
        super().setUp()
        self.http = os.path.join(self.dir, 'h')
        self.samples = {}  # pid: a list of (seconds, kB, descriptors)

    def look(self, d, began):
        for pid in (d.process.pid, d.worker_pid()):
            try:
                self.samples.setdefault(pid, []).append(
                    (time.monotonic() - began, resident(pid), descriptors(pid)))
            except (FileNotFoundError, ProcessLookupError):
                pass  # a worker that has just been replaced

    def round(self, d, i, good, bad):
        """A file, a request, and now and then a damaged one of each."""
        d.drop('%07d.pgm' % i, bad if i % 20 == 7 else good)
        answer = sockets.ask(self.http, 'POST', '/v1/process?chain=sobel&format=pgm',
                             bad if i % 20 == 11 else good)
        self.assertEqual(answer.status, 422 if i % 20 == 11 else 200)
        if i % 10 == 0:
            self.assertEqual(sockets.ask(self.http, 'GET', '/metrics').status, 200)

    def test_nothing_grows(self):
        d = self.daemon('--originals', 'delete', '--http-socket', self.http)
        d.env['SLUICE_LOG_LEVEL'] = 'info'
        d.start()
        good = picture(320, 240, 1)
        bad = good[:1000]
        began = time.monotonic()
        i = 0
        while time.monotonic() - began < SPAN:
            self.round(d, i, good, bad)
            i += 1
            if i % 10 == 0:
                self.look(d, began)
            if i % 500 == 0: # results are taken away, as whoever reads them does
                for name in os.listdir(d.output):
                    if not name.startswith('.'):
                        os.unlink(os.path.join(d.output, name))
            time.sleep(max(0, began + i * PACE - time.monotonic()))
        wait_for('an empty folder', lambda: os.listdir(d.input) == ['.sluice'])
        self.look(d, began)
        for pid, samples in self.samples.items():
            self.judge('front' if pid == d.process.pid else 'worker %d' % pid, samples)
        d.stop()
        print('%d files and as many requests in %.0f s' % (i, time.monotonic() - began))

    def judge(self, who, samples):
        tenth = max(1, len(samples) // 10)
        if len(samples) < 20:
            return
        early, late = samples[tenth:2 * tenth], samples[-tenth:]
        memory = median([s[1] for s in early]), median([s[1] for s in late])
        open_files = median([s[2] for s in early]), median([s[2] for s in late])
        print('%s: %d kB, then %d kB; %d descriptors, then %d' % (who, *memory, *open_files))
        if not os.environ.get('ASAN_OPTIONS'): # which keeps what is freed for a while
            self.assertLess(memory[1], memory[0] * 1.05 + 2000, who)
        self.assertLess(open_files[1], open_files[0] + 4, who)


if __name__ == '__main__':
    main()
