#!/usr/bin/env python3
"""Front and worker are killed at random, under a hostile client, beside a folder that hangs now and then, with a clock
that jumps: each file is done once and whole, and honest clients have an answer.

KILLS and FILES are the numbers (1000 and 5000)."""
import collections
import os
import random
import signal
import socket
import sys
import threading
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'daemon'))
import sockets  # noqa: E402
from sluice_test import Daemon, DaemonTest, main, picture, wait_for  # noqa: E402
from test_strangers import mount_silent  # noqa: E402

KILLS, FILES = int(os.environ.get('KILLS', '1000')), int(os.environ.get('FILES', '5000'))
DAEMON_FAULT, CLOCK_FAULT = os.environ.get('DAEMON_FAULT'), os.environ.get('CLOCK_FAULT')
ANSWER = 20  # seconds that an honest client waits; a worker may be killed three times meanwhile
DAY = 86400
# Folders, and what their entries say. The last one hangs.
FOLDERS = {'done': 'originals: done', 'kept': 'originals: keep', 'gone': 'originals: delete',
           'bad': 'originals: done'}


def children(pid):
    try:
        with open('/proc/%d/task/%d/children' % (pid, pid), encoding='ascii') as file:
            return [int(word) for word in file.read().split()]
    except (FileNotFoundError, ProcessLookupError):
        return []


def descendants(pid, name):
    found = []
    for child in children(pid):
        try:
            with open('/proc/%d/comm' % child, encoding='ascii', errors='replace') as file:
                found += [child] if file.read().strip() == name else []
        except (FileNotFoundError, ProcessLookupError):
            continue
        found += descendants(child, name)
    return found


def size_of(number):
    return 60 + number % 7 * 20, 50 + number % 5 * 10


def data_of(number):
    return picture(*size_of(number), seed=number)


@unittest.skipUnless(DAEMON_FAULT and CLOCK_FAULT, 'preloaded libraries cannot stand before a sanitizer')
class Kills(DaemonTest):
    def path(self, *parts):
        return os.path.join(self.dir, *parts)

    def make_daemon(self):
        lines = ['listen: {http: {unix: %s}, jobs: {unix: %s}}' % (self.path('http'), self.path('jobs')), 'watch:']
        for name, rules in FOLDERS.items():
            for part in ('in', 'out'):
                os.makedirs(self.path(name, part))
            lines.append('  - {input: %s, output: %s, chain: sobel, format: pgm, stable: 100ms, settle: 50ms, %s}'
                         % (self.path(name, 'in'), self.path(name, 'out'), rules))
        with open(self.path('c.yaml'), 'w', encoding='utf-8') as file:
            file.write('\n'.join(lines) + '\n')
        d = Daemon(self, folder=self.path('spare'), env={
            'LD_PRELOAD': DAEMON_FAULT + ':' + CLOCK_FAULT, 'SLUICE_FAULT_HANG': self.path('hang'),
            'SLUICE_FAULT_CLOCK': self.path('clock')})
        d.env['SLUICE_LOG_LEVEL'] = 'info'
        d.options = ['--config', self.path('c.yaml'), '--device', 'reference', '--jobs', '2', '--state', self.path('state')]
        return d

    # ---- who else is there

    def hostile(self):
        """Descriptors that hang, others that are not sealed, half requests, nonsense, answers that nobody reads."""
        chance, held = random.Random(1), []
        head = b'POST /v1/process?chain=sobel HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n'
        while not self.over.wait(0.04):
            try:
                kind = chance.randrange(7)
                if kind < 2:
                    sock = sockets.connect(self.path('http'), timeout=0.5)
                    sock.send((head, os.urandom(300))[kind])
                    held.append(sock)
                else:
                    client = sockets.Jobs(self.path('jobs'), timeout=0.5)
                    held.append(client)
                    if kind == 2:
                        client.send_raw(os.urandom(200), [])
                    else:
                        fd = sockets.memory(os.urandom(100) if kind == 3 else picture(), sealed=kind != 4)
                        for i in range(chance.randrange(20)):
                            client.send([fd], id=i, chain='sobel', format='pgm')
                        os.close(fd)
                self.n_hostile += 1
            except OSError:
                pass
            while len(held) > 40 or (held and chance.random() < 0.3):
                held.pop(chance.randrange(len(held))).close()
        for one in held:
            one.close()

    def send_hanging(self):
        """In a process of its own, since its own close may hang: a descriptor of a file system that says nothing."""
        pid = os.fork()
        if pid == 0:
            try:
                client = sockets.Jobs(self.path('jobs'), timeout=5)
                fd = os.open(os.path.join(self.silent, 'GETATTR-FLUSH'), os.O_RDONLY)
                client.send([fd], id=1, chain='sobel', format='pgm')
                os.kill(os.getpid(), signal.SIGKILL)
            finally:
                os._exit(1)
        threading.Thread(target=os.waitpid, args=(pid, 0), daemon=True).start()

    def honest(self, ask, name):
        while not self.over.wait(0.03):
            front, begin = self.d.process.pid, time.monotonic()
            ready = any('sluiced: ready' in line for line in self.d.lines)
            try:
                result = ask()
            except (OSError, ValueError, TypeError, socket.timeout) as error:
                taken = time.monotonic() - begin
                result = 'cut' if self.d.process.pid != front or self.d.process.poll() is not None else repr(error)
                if isinstance(error, ConnectionResetError) or not (ready or isinstance(error, TimeoutError)):
                    result = 'cut'  # it was killed, or has not come so far
                elif result != 'cut' and taken < ANSWER:  # the kill may not have been noticed yet
                    end = time.monotonic() + 3
                    while self.d.process.pid == front and time.monotonic() < end:
                        time.sleep(0.05)
                    result = 'cut' if self.d.process.pid != front else result
            except Exception as error:  # pylint: disable=broad-except
                result = 'cut' if 'Remote' in repr(error) or 'Incomplete' in repr(error) else repr(error)
            with self.lock:
                self.answers[name, result] += 1
                self.slowest[name] = max(self.slowest[name], time.monotonic() - begin if result == 'ok' else 0)
            if result == 'cut':
                time.sleep(0.05)

    def ask_http(self):
        answer = sockets.ask(self.path('http'), 'POST', '/v1/process?chain=sobel&format=pgm', picture(), timeout=ANSWER)
        if answer.status == 200:
            return 'ok' if answer.body == self.wanted else 'wrong result'
        return 'busy' if answer.status in (429, 503) else str(answer.status)

    def ask_jobs(self):
        client = sockets.Jobs(self.path('jobs'), timeout=ANSWER)
        try:
            message, files = client.run(picture(), chain='sobel', format='pgm')
            if message['result'] == 'ok':
                return 'ok' if files[''] == self.wanted else 'wrong result'
            return message['result']
        finally:
            client.close()

    # ---- the run

    def drop(self, number):
        folder = list(FOLDERS)[number % 20 if number % 20 < len(FOLDERS) else 0]
        name = '%05d.pgm' % number
        self.names[folder].append(name)
        target = self.path(folder, 'in', name)
        if number % 3:
            aside = self.path('aside-%d' % number)
            with open(aside, 'wb') as file:
                file.write(data_of(number))
            os.rename(aside, target)
        else:
            with open(target, 'wb') as file:
                file.write(data_of(number))

    def disturb(self, chance, kill):
        """The clock, and the folder that hangs."""
        if kill % 5 == 0:
            with open(self.path('clock.aside'), 'w', encoding='ascii') as file:
                file.write('%d 0' % chance.choice([0, 0, 3600, 40 * DAY, -40 * DAY, -10 * 365 * DAY]))
            os.rename(self.path('clock.aside'), self.path('clock'))
        if kill % 20 == 5:
            with open(self.path('hang.aside'), 'w', encoding='utf-8') as file:
                file.write(self.path('bad'))
            os.rename(self.path('hang.aside'), self.path('hang'))
        elif kill % 20 == 15 and os.path.exists(self.path('hang')):
            os.unlink(self.path('hang'))
        if kill % 10 == 0 and self.silent:
            self.send_hanging()

    def kill_one(self, chance):
        if chance.random() < 0.5:
            self.counts['front'] += 1
            began = time.monotonic()
            self.d.process.kill()
            self.d.process.wait(30)
            self.longest_end = max(self.longest_end, time.monotonic() - began)
            # Beside a folder that hangs it takes its time until it is ready, and works meanwhile.
            self.d.start(ready=chance.random() < 0.6 and not os.path.exists(self.path('hang')))
            return
        name = chance.choice(['sluice-worker'] * 4 + ['sluice-receiver'])
        end = time.monotonic() + 3
        while not (pids := descendants(self.d.process.pid, name)) and time.monotonic() < end:
            time.sleep(0.02)
        if pids:
            self.counts['worker'] += 1
            try:
                os.kill(chance.choice(pids), signal.SIGKILL)
            except ProcessLookupError:
                pass

    def test_all(self):
        self.over, self.lock, self.silent, self.n_hostile, self.longest_end = threading.Event(), threading.Lock(), None, 0, 0
        self.answers, self.counts, self.slowest = collections.Counter(), collections.Counter(), collections.Counter()
        self.names = {name: [] for name in FOLDERS}
        self.wanted = self.by_sluice_run(picture())['']
        if os.getuid() == 0 and os.path.exists('/dev/fuse'):
            self.silent = mount_silent(self)
        chance, dropped, began = random.Random(20261122), 0, time.monotonic()
        self.d = self.make_daemon().start()
        others = [threading.Thread(target=self.hostile)]
        others += [threading.Thread(target=self.honest, args=pair) for pair in ((self.ask_http, 'http'), (self.ask_jobs, 'jobs'))]
        for one in others:
            one.start()
        try:
            while sum(self.counts.values()) < KILLS:
                kill = sum(self.counts.values())
                while dropped < (kill + 1) * FILES // KILLS:
                    self.drop(dropped)
                    dropped += 1
                self.disturb(chance, kill)
                time.sleep(chance.expovariate(8))
                self.kill_one(chance)
                if kill % 100 == 99:
                    print('%d kills, %d files dropped, %.0f s' % (kill + 1, dropped, time.monotonic() - began), flush=True)
        finally:
            self.over.set()
            for one in others:
                one.join()
        if os.path.exists(self.path('hang')):
            os.unlink(self.path('hang'))
        self.expect_all()
        print('%d kills of the front, %d of workers and receivers; %d files; %d hostile connections; answers: %s; slowest: %s; '
              'the front took at most %.1f s to die; %.0f s'
              % (self.counts['front'], self.counts['worker'], FILES, self.n_hostile,
                 ', '.join('%s %s %d' % (*key, n) for key, n in sorted(self.answers.items())),
                 ', '.join('%s %.1f s' % pair for pair in self.slowest.items()), self.longest_end, time.monotonic() - began))
        wrong = {pair for pair in self.answers if pair[1] not in ('ok', 'busy', 'cut')}
        self.assertLessEqual(wrong, {('jobs', 'io')})  # its receiver was killed
        self.assertGreater(self.answers['http', 'ok'], 100)
        self.assertGreater(self.answers['jobs', 'ok'], 100)

    def expect_all(self):
        """Each once, whole, and with its original in its place."""
        if self.d.process.poll() is not None:
            self.d.start()
        for folder, names in self.names.items():
            wanted = {name for name in names}
            try:
                wait_for('results in ' + folder, lambda: wanted <= set(os.listdir(self.path(folder, 'out'))), 900, 0.5)
                place = {'kept': ('in',), 'gone': None}.get(folder, ('in', '.sluice', 'done'))
                if place:
                    wait_for('originals of ' + folder, lambda: wanted <= set(os.listdir(self.path(folder, *place))), 300, 0.5)
            except AssertionError:
                print(self.d.log()[-5000:], sorted(wanted - set(os.listdir(self.path(folder, 'out'))))[:20])
                raise
        self.d.stop(seconds=60)
        for folder, names in self.names.items():
            self.assertEqual(sorted(os.listdir(self.path(folder, 'out'))), sorted(names), folder)
            self.assertEqual(os.listdir(self.path(folder, 'in', '.sluice', 'failed')), [], folder)
            self.assertEqual(os.listdir(self.path(folder, 'in', '.sluice', 'work')), [], folder)
            left = sorted(set(os.listdir(self.path(folder, 'in'))) - {'.sluice'})
            self.assertEqual(left, sorted(names) if folder == 'kept' else [], folder)
        self.check_whole()

    def check_whole(self):
        """All by their sizes, some by their bytes."""
        for folder, names in self.names.items():
            for name in names:
                number = int(name[:5])
                width, height = size_of(number)
                with open(self.path(folder, 'out', name), 'rb') as file:
                    data = file.read()
                self.assertEqual(len(data), len(b'P5\n%d %d\n255\n' % (width, height)) + width * height, name)
                if number % 97 == 0:
                    self.assertEqual(data, self.by_sluice_run(data_of(number))[''], name)


if __name__ == '__main__':
    main()
