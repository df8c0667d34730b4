#!/usr/bin/env python3
"""Many kills, many files, long waits. With SLUICE_LONG=1 in the sizes that are promised (minutes)."""
import os
import random
import signal
import time

from sluice_test import EMULATED, DaemonTest, main, picture, wait_for

LONG = os.environ.get('SLUICE_LONG') == '1'
QUEUE = '/proc/sys/fs/inotify/max_queued_events'


def threads(pid):
    return [int(name) for name in os.listdir('/proc/%d/task' % pid)]


def switches(pid):
    total = 0
    for thread in threads(pid):
        with open('/proc/%d/task/%d/status' % (pid, thread), encoding='ascii', errors='replace') as file:
            for line in file:
                if line.startswith('voluntary_ctxt_switches'):
                    total += int(line.split()[1])
    return total


def resident(pid):
    with open('/proc/%d/status' % pid, encoding='ascii', errors='replace') as file:
        return {line.split(':')[0]: int(line.split()[1]) for line in file
                if line.startswith(('VmRSS', 'VmHWM'))}


class Lasting(DaemonTest):
    def test_killed_at_random(self):
        kills, count = (200, 1000) if LONG else (15, 150)
        d = self.daemon('--device', 'reference', '--jobs', '2')
        chance = random.Random(20261121)
        names = ['%04d.pgm' % i for i in range(count)]
        dropped, began = 0, time.monotonic()
        fronts = workers = 0
        d.start()
        for kill in range(kills):
            while dropped < (kill + 1) * count // kills:
                d.drop(names[dropped], picture(120, 90, dropped), how=('close', 'rename', 'link')[dropped % 3])
                dropped += 1
            time.sleep(chance.random() * 0.1)
            if chance.random() < 0.5:
                fronts += 1
                d.process.kill()
                d.process.wait()
                d.reader.join(10)
                d.start(ready=chance.random() < 0.5)
            else:
                workers += 1
                pid = d.worker_pid()
                if pid and os.path.exists('/proc/%d' % pid):
                    try:
                        os.kill(pid, signal.SIGKILL)
                    except ProcessLookupError:
                        pass
        d.expect_all(names, 600)
        wait_for('all originals', lambda: len(d.done()) == count, 600)
        d.stop()
        self.assertEqual((d.results(), d.failed(), d.done()), (names, [], names))
        expected = {}
        for i in range(0, count, 37):
            self.assertEqual(d.result(names[i]), self.by_sluice_run(picture(120, 90, i))[''])
        for i, name in enumerate(names):
            size = os.path.getsize(os.path.join(d.output, name))
            self.assertEqual(expected.setdefault('size', size), size)
        d.expect_clean()
        print('%d kills of the front, %d of the worker, %d files: each there once and whole; %.0f s'
              % (fronts, workers, count, time.monotonic() - began))

    def flood(self, count, limit, *options):
        """As many small files at once, while the kernel's queue holds `limit` events (None: as usual)."""
        with open(QUEUE, encoding='ascii') as file:
            usual = file.read()
        if limit:
            try:
                with open(QUEUE, 'w', encoding='ascii') as file:
                    file.write(str(limit))
            except OSError as error:
                self.skipTest('max_queued_events cannot be set here: %s' % error)
        try:
            d = self.fake('--jobs', '8', '--originals', 'delete', '-q', *options)
            d.env['SLUICE_LOG_LEVEL'] = 'info'
            d.options.remove('-q')
            d.start()
        finally:
            if limit:
                with open(QUEUE, 'w', encoding='ascii') as file:
                    file.write(usual)
        began = time.monotonic()
        for i in range(count):
            d.drop('%06d' % i, b'%d' % i)
        dropped = time.monotonic()
        try:
            wait_for('all results', lambda: sum(not name.startswith('.') for name in os.listdir(d.output)) >= count, 1500, pause=0.5)
        except AssertionError:
            print(d.log()[-3000:])
            raise
        wait_for('all originals', lambda: len(os.listdir(d.input)) == 1, 100)
        ended = time.monotonic()
        overflows = d.count_lines('more happened than inotify could tell')
        peak = resident(d.process.pid)['VmHWM']
        d.stop()
        self.assertEqual(d.results(), ['%06d.pgm' % i for i in range(count)])
        if limit:
            self.assertGreater(overflows, 0)
        print('%d files dropped in %.1f s, done after %.1f s: none lost, none twice; %d overflows; '
              'peak of the front: %d kB' % (count, dropped - began, ended - began, overflows, peak))

    def test_flood_with_the_usual_queue(self):
        self.flood(100000 if LONG else 1000, None, '--sync', 'off')

    def test_flood_with_a_short_queue(self):
        self.flood(100000 if LONG else 2000, 64, '--sync', 'off' if LONG else 'each')

    def test_two_daemons_share_500_files(self):
        first = self.fake('--jobs', '2')
        second = self.fake('--jobs', '2', state='state2')
        first.start()
        second.start()
        names = ['%03d' % i for i in range(500)]
        for name in names:
            first.drop(name, name.encode())
        first.expect_all([name + '.pgm' for name in names])
        wait_for('all originals', lambda: first.done() == names)
        for d in (first, second):
            d.stop()
        shares = [d.count_lines(': done in') for d in (first, second)]
        self.assertEqual(sum(shares), 500)
        self.assertEqual(sorted(self.fake_log()), names)  # each was begun once
        self.assertGreater(min(shares), 0)
        first.expect_clean()
        print('500 files, shared as %d and %d' % tuple(shares))

    def test_idle(self):
        """Idle, the front wakes for its looks at the folder alone: every 5 s, a few switches each."""
        d = self.fake().start()
        d.drop('a', b'good')
        d.expect_done('a')
        time.sleep(3)
        span = 60 if LONG else 11
        before = switches(d.process.pid)
        time.sleep(span)
        count = switches(d.process.pid) - before
        looks = span // 5 + 1
        self.assertLessEqual(count, looks * 6, 'of %d looks' % looks)
        d.stop()
        print('idle for %d s: %d switches, %d looks at the folder' % (span, count, looks))

    def test_memory_while_10000_files_wait(self):
        d = self.fake('--jobs', '1').start()
        os.kill(d.worker_pid(), signal.SIGSTOP)
        for i in range(10000):
            d.drop('%05d-with-a-name-of-a-usual-length.jpg' % i, b'x')
        wait_for('a full queue', lambda: len(d.claims()) >= 256)
        time.sleep(2)
        size = resident(d.process.pid)
        print('front with 10000 files waiting: %(VmRSS)d kB, at most %(VmHWM)d kB' % size)
        sanitized = bool(os.environ.get('ASAN_OPTIONS'))
        if not sanitized and not EMULATED:  # an emulator's memory is in it
            self.assertLess(size['VmHWM'], 20000)
        d.kill()


if __name__ == '__main__':
    main()
