#!/usr/bin/env python3
"""A random walk of many users over both sockets: lists, questions, jobs with descriptors of every kind, wrong frames,
connections that are half-closed, reset, held, or never read. Meanwhile the daemon answers; at the end nothing of it all
is left in the front.

usage: test_walk.py [-v] (root). WALK_SECONDS (60) is how long, WALK_SEED (the time) what is walked, WALK_USERS (50) how
many walk. What happened first, for a quarter of the time, is what memory and descriptors are compared with."""
import json
import os
import random
import resource
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'daemon'))
import sockets  # noqa: E402
from sluice_test import main, picture, wait_for  # noqa: E402
from test_strangers import MIB, StrangersTest, mount_silent, sparse  # noqa: E402

SECONDS = float(os.environ.get('WALK_SECONDS') or 60)
SEED = int(os.environ.get('WALK_SEED') or time.time())
USERS = int(os.environ.get('WALK_USERS') or 50)
FIRST_UID = 20000
SANITIZED = 'ASAN_OPTIONS' in os.environ or 'TSAN_OPTIONS' in os.environ
GROWTH = (128 if SANITIZED else 16) * MIB  # of resident memory: sanitizers keep what was freed for a while
QUIET = 60  # seconds until all that was begun has ended
PATHS = ['/livez', '/readyz', '/metrics', '/v1/status', '/v1/chains', '/v1/files', '/v1/files?state=failed', '/v1/files?state=done&limit=3',
         '/v1/files?cursor=x', '/v1/files/why?file=%s', '/v1/files/why', '/v1/stages', '/v1/version', '/v1/openapi.json', '/nothing', '/%00',
         '/v1/files?' + 'x' * 3000]
CHAINS = ['sobel', 'box:3', 'invert', '', 'sobel,' * 40 + 'invert', 'nothing', 'resize:w=64:h=64']


class Walker:
    """One user, in a process of its own. Its descriptors on the silent file system are never closed: that would hang."""

    def __init__(self, test, uid, seed):
        self.random, self.test, self.uid = random.Random(seed), test, uid
        self.kept, self.silent, self.counts = [], None, {}

    def run(self, end):
        resource.setrlimit(resource.RLIMIT_NOFILE, (4096, 4096))
        os.setgid(self.uid)
        os.setuid(self.uid)
        self.dir = tempfile.mkdtemp(prefix='walk-', dir=self.test.scratch)
        if self.test.silent and self.uid % 8 == 0:
            names = ['GETATTR', 'READ', 'STATFS', 'FLUSH', 'READ-FLUSH', 'none']
            self.silent = os.open(os.path.join(self.test.silent, self.random.choice(names)), os.O_RDWR)
        steps = [self.get, self.post, self.raw, self.job, self.job, self.job, self.nonsense, self.ask, self.leave, self.hold, self.slow]
        while time.monotonic() < end:
            step = self.random.choice(steps)
            try:
                step()
            except (OSError, EOFError, ValueError):  # cut off, refused, late: all of it is allowed
                pass
            self.counts[step.__name__] = self.counts.get(step.__name__, 0) + 1
            while self.kept and (len(self.kept) > 24 or self.random.random() < 0.3):
                self.kept.pop(self.random.randrange(len(self.kept))).close()
        return self.counts

    # ---- descriptors

    def file(self, flags, size=1000):
        path = os.path.join(self.dir, 'file')
        fd = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        os.ftruncate(fd, size)
        os.pwrite(fd, picture(seed=self.random.randrange(9)), 0)
        other = os.open(path, flags)
        os.close(fd)
        os.unlink(path)
        return [other]

    def descriptors(self):
        """Of one kind, to be closed by the caller."""
        r = self.random
        kinds = [lambda: [sockets.memory(picture(seed=r.randrange(100)))], lambda: [sockets.memory(picture(400, 300))],
                 lambda: [sockets.memory(picture(), sealed=False)], lambda: [sockets.memory(b'')], lambda: [sockets.memory(b'junk' * r.randrange(1000))],
                 lambda: [sparse(r.choice([1 << 12, 1 << 24, 1 << 40]))], lambda: list(os.pipe()),
                 lambda: [s.detach() for s in socket.socketpair()], lambda: [os.open(self.dir, os.O_RDONLY)],
                 lambda: [os.open('/dev/zero', os.O_RDWR)], lambda: [os.open('/dev/null', os.O_WRONLY)], lambda: self.file(os.O_RDONLY),
                 lambda: self.file(os.O_RDWR), lambda: self.file(os.O_WRONLY), lambda: self.file(os.O_PATH), lambda: self.file(os.O_RDWR, 1 << 42),
                 lambda: [os.eventfd(1)], lambda: [select.epoll().fileno() and os.dup(select.epoll().fileno())],
                 lambda: [os.open('/proc/self/maps', os.O_RDONLY)], lambda: [sockets.connect(self.test.path, socket.SOCK_SEQPACKET, 1).detach()],
                 lambda: [sockets.connect(self.test.http, timeout=1).detach()],
                 lambda: [sockets.memory(picture()), *self.file(os.O_RDWR)], lambda: [sockets.memory(picture()), sockets.memory(b'', sealed=False)]]
        if self.silent is not None:
            kinds += [lambda: [os.dup(self.silent)]] * 4
        return r.choice(kinds)()

    def close(self, fds):
        for fd in fds:
            if self.silent is None or os.fstat(fd).st_dev != os.fstat(self.silent).st_dev:
                os.close(fd)

    # ---- steps

    def jobs(self, timeout=5):
        client = sockets.Jobs(self.test.path, timeout)
        self.kept.append(client)
        return client

    def done_with(self, client):
        self.kept.remove(client)
        client.close()

    def get(self):
        path = self.random.choice(PATHS)
        path = path.replace('%s', self.test.name())
        method = self.random.choice(['GET'] * 6 + ['HEAD', 'POST', 'DELETE', 'NONSENSE'])
        with sockets.connect(self.test.http, timeout=5) as sock:
            sock.sendall(('%s %s HTTP/1.1\r\nHost: x\r\n\r\n' % (method, path)).encode())
            if self.random.random() < 0.8:
                sock.recv(self.random.choice([1, 100, 65536]))

    def post(self):
        data = self.random.choice([picture(), picture(300, 200), b'junk', b'', b'P5\n' + b'9' * 100])
        length = self.random.choice([len(data)] * 4 + [len(data) + 10, 1 << 40, 0])
        query = 'chain=%s&format=%s' % (self.random.choice(CHAINS), self.random.choice(['pgm', 'png', 'npz', 'nothing']))
        with sockets.connect(self.test.http, timeout=5) as sock:
            sock.sendall(('POST /v1/process?%s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n' % (query, length)).encode() + data)
            if self.random.random() < 0.2:
                sock.shutdown(socket.SHUT_WR)
            if self.random.random() < 0.7:
                sock.recv(65536)

    def raw(self):
        frames = [b'\0' * 100, b'GET', b'GET / HTTP/9.9\r\n\r\n', b'POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n',
                  b'GET / HTTP/1.1\r\nX: ' + b'y' * 70000, b'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', self.random.randbytes(300)]
        with sockets.connect(self.test.http, timeout=2) as sock:
            sock.sendall(self.random.choice(frames))
            if self.random.random() < 0.5:
                sock.recv(1000)

    def job(self):
        client, fds = self.jobs(), self.descriptors()
        count = self.random.choice([1, 1, 1, 5])
        try:
            for i in range(count):
                client.send(fds, id=i, chain=self.random.choice(CHAINS), format=self.random.choice(['pgm', 'png', 'npz', 'auto']))
        finally:
            self.close(fds)
        if self.random.random() < 0.7:
            for _ in range(count):
                _, got = client.receive()
                if got is not None:
                    os.close(got)
            self.done_with(client)

    def nonsense(self):
        client, fds = self.jobs(), self.descriptors()
        frames = [b'', b'{', b'[' * 60000, b'{"id": 1.5}', b'x' * 65536, json.dumps({'id': 1, 'type': 'nothing'}).encode(),
                  json.dumps({'id': 1, 'chain': 'x' * 60000}).encode(), self.random.randbytes(100)]
        try:
            for _ in range(self.random.choice([1, 3, 20])):
                client.send_raw(self.random.choice(frames), self.random.choice([[], fds, (fds * 200)[:200]]))
        finally:
            self.close(fds)

    def ask(self):
        client = self.jobs()
        questions = [{'type': 'status'}, {'type': 'why', 'file': self.test.name()}, {'type': 'why', 'file': '/' * 300},
                     {'type': 'requeue', 'file': self.test.name()}, {'type': 'requeue', 'failed': True}]
        count = self.random.choice([1, 2, 30])
        for i in range(count):
            client.send(id=i, **self.random.choice(questions))
        if self.random.random() < 0.7:
            for _ in range(count):
                client.receive()
            self.done_with(client)

    def leave(self):
        """The end comes with answers and descriptors unread."""
        client, fds = self.jobs(), self.descriptors()
        try:
            for i in range(self.random.choice([1, 1, 100])):
                client.sock.setblocking(False)
                client.send(id=i, type='status')
            client.send(fds, id=1000, chain='sobel')
        finally:
            self.close(fds)
            if self.random.random() < 0.3:
                client.sock.shutdown(self.random.choice([socket.SHUT_RD, socket.SHUT_WR, socket.SHUT_RDWR]))
            self.done_with(client)

    def hold(self):
        for _ in range(self.random.randrange(4)):
            self.jobs()
        time.sleep(self.random.random() * 0.2)

    def slow(self):
        client, fd = self.jobs(), sockets.memory(picture(200, 200))
        try:
            for i in range(10):
                client.send([fd], id=i, chain='sobel', format='pgm')
        finally:
            os.close(fd)
        for _ in range(self.random.randrange(10)):
            time.sleep(0.05)
            _, got = client.receive()
            if got is not None:
                os.close(got)


class Health(threading.Thread):
    """Asks all the time; how long the answers took."""

    def __init__(self, path):
        super().__init__(daemon=True)
        self.path, self.over, self.times = path, threading.Event(), []
        self.start()

    def run(self):
        while not self.over.wait(0.05):
            begin = time.monotonic()
            answer = sockets.ask(self.path, 'GET', '/livez', timeout=60)
            if answer.status == 200:
                self.times.append(time.monotonic() - begin)

    def end(self):
        self.over.set()
        self.join()
        times = sorted(self.times)
        return times[len(times) * 99 // 100], times[-1]


@unittest.skipIf(os.getuid() != 0, 'many users need root')
class Walk(StrangersTest):
    def name(self):
        return self.daemon_.in_path(random.choice(['0', '1', 'bad', 'nothing']))

    def resident(self):
        with open('/proc/%d/statm' % self.daemon_.process.pid, encoding='ascii') as file:
            return int(file.read().split()[1]) * resource.getpagesize()

    def walk(self, seconds, seed):
        """What was done, by kind."""
        end, pids, counts, walked = time.monotonic() + seconds, [], {}, 0
        self.silent = None
        if os.path.exists('/dev/fuse'):
            self.mounts += 1
            self.dir_, self.dir = self.dir, os.path.join(self.dir, 'mount%d' % self.mounts)
            os.mkdir(self.dir)
            os.chmod(self.dir, 0o755)
            self.silent, self.dir = mount_silent(self), self.dir_
            os.chmod(self.silent, 0o777)
        for i in range(USERS):
            readable, writable = os.pipe()
            pid = os.fork()
            if pid == 0:
                try:
                    walker = Walker(self, FIRST_UID + i, seed * 1000 + i)
                    os.write(writable, json.dumps(walker.run(end)).encode())
                    os._exit(0)
                except BaseException:
                    traceback.print_exc()
                finally:
                    os._exit(1)
            os.close(writable)
            pids.append((pid, readable))
        time.sleep(max(0, end + 10 - time.monotonic()))
        for pid, readable in pids:
            os.kill(pid, signal.SIGKILL)
        if self.silent:
            subprocess.run(['umount', '-l', '-f', self.silent], check=False)
            for line in subprocess.run(['pgrep', '-f', 'silent_fs.py ' + self.silent], capture_output=True, check=False).stdout.split():
                os.kill(int(line), signal.SIGKILL)
        for pid, readable in pids:
            with os.fdopen(readable, 'rb') as file:
                told = json.loads(file.read() or b'{}')
            for name, count in told.items():
                counts[name] = counts.get(name, 0) + count
            walked += told != {}
            self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 0 if told else -signal.SIGKILL, 'a walker fell')
        self.assertGreaterEqual(walked, USERS * 3 // 4)  # the others hang on the silent file system
        return counts

    def settle(self):
        """Until nobody is connected and nothing is under way: descriptors and resident bytes of the front."""
        def over():
            status = self.status()
            receivers = status['receivers']
            return (status['connections'] == {'http': 1, 'jobs': 0} and sum(receivers.values()) == 0 and
                    status['shared']['bytes'] == 0 and status['queue']['of_clients'] == 0)
        wait_for('the end of all that was begun: %s' % self.status(), over, QUIET, 0.5)
        return sockets.settled_descriptors(self.daemon_), self.resident()

    def test_walk(self):
        print('seed', SEED, file=sys.stderr, flush=True)
        self.mounts = 0
        self.scratch = os.path.join(self.dir, 'scratch')
        os.mkdir(self.scratch)
        os.chmod(self.scratch, 0o1777)
        os.chmod(self.dir, 0o755)
        options = [os.environ.get('ASAN_OPTIONS'), 'quarantine_size_mb=16']
        self.daemon_ = self.serve('--jobs', '2', '--device', 'native', '--memory', '128MiB', '--max-file', '64MiB',
                                  env={'SLUICE_LOG_LEVEL': 'info', 'ASAN_OPTIONS': ':'.join(filter(None, options))})
        for i in range(20):
            self.daemon_.drop(str(i), picture(seed=i))
        self.daemon_.drop('bad', b'P5\n9 9\n255\nx')
        self.daemon_.expect_failed('bad')
        self.walk(SECONDS / 4, SEED)
        before = self.settle()
        health = Health(self.http)
        counts = self.walk(SECONDS * 3 / 4, SEED + 1)
        p99, worst = health.end()
        after = self.settle()
        print('%s; /livez p99 %.1f ms, worst %.1f ms; descriptors %d → %d, resident %.1f → %.1f MiB'
              % (counts, 1000 * p99, 1000 * worst, before[0], after[0], before[1] / MIB, after[1] / MIB), file=sys.stderr, flush=True)
        self.assertEqual(after[0], before[0])
        self.assertLess(after[1], before[1] + GROWTH)
        self.assertEqual(self.client().run(picture(), chain='sobel', format='pgm')[0]['result'], 'ok')
        self.daemon_.stop()


if __name__ == '__main__':
    main()
