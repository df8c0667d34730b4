#!/usr/bin/env python3
"""The protocol with a service manager, whose side the test plays: a datagram socket, listening sockets from
descriptor 3 on, environment variables. tests/systemd/check.sh runs with a real systemd."""
import os
import re
import signal
import socket
import sys
import threading
import time

from sluice_test import DaemonTest, alive, main, picture, wait_for
import sockets

# Runs what follows as a service manager starts it: its own process id, sockets from 3 on.
LAUNCHER = '''
import os, sys
count = int(sys.argv[1])
given = [int(fd) for fd in sys.argv[2:2 + count]]
aside = [os.dup2(fd, 100 + i) for i, fd in enumerate(given)]
for i, fd in enumerate(aside):
    os.dup2(fd, 3 + i, inheritable=True)
os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS=str(count), LISTEN_FDNAMES=':'.join('x' * count))
os.execv(sys.argv[2 + count], sys.argv[2 + count:])
'''


class Manager:
    """The other end of NOTIFY_SOCKET: every message, with the time it came at."""

    def __init__(self, test):
        self.path = os.path.join(test.dir, 'notify')
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(self.path)
        self.messages = []
        test.addCleanup(self.socket.close)
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        while True:
            try:
                data = self.socket.recv(4096)
            except OSError:
                return
            self.messages.append((time.monotonic(), data.decode()))

    def count(self, line):
        return sum(line in text.split('\n') for _, text in self.messages)

    def find(self, pattern):
        return [text for _, text in self.messages if re.search(pattern, text, re.M)]


class Told(DaemonTest):
    def managed(self, *options, env=None, fake=True, **keywords):
        self.manager = Manager(self)
        make = self.fake if fake else self.daemon
        return make(*options, env=dict(env or {}, NOTIFY_SOCKET=self.manager.path), **keywords)

    def test_life(self):
        """Told: the start is extended, ready, jobs in the status, stopping. Not told: the worker."""
        d = self.managed().start()
        manager = self.manager
        wait_for('READY', lambda: manager.count('READY=1') == 1)
        first = manager.messages[0][1]
        self.assertRegex(first, '^STATUS=starting')
        self.assertRegex(manager.find('READY=1')[0], 'STATUS=ready on fake; 0 jobs held, 0 done, 0 failed')
        with open('/proc/%d/environ' % d.worker_pid(), 'rb') as file:
            self.assertNotIn(b'NOTIFY_SOCKET', file.read())
        d.stop()
        stop = wait_for('STOPPING', lambda: manager.find('^STOPPING=1$'))[0]
        self.assertRegex(stop, r'EXTEND_TIMEOUT_USEC=45000000\b')  # 25 s of shutdown, 15 of cancel, 5

    def test_slow_start(self):
        """While a start goes on it is extended; a start that is over is not."""
        d = self.managed(env={'FAKE_WORKER_SLOW_START': '3'}).start()
        self.assertGreaterEqual(len(self.manager.find('^EXTEND_TIMEOUT_USEC=30000000$')), 1)
        d.stop()

    def test_watchdog(self):
        """Fed three times in its time by a loop that turns, and by none that hangs."""
        d = self.managed(env={'WATCHDOG_USEC': '900000'}).start()
        wait_for('food', lambda: self.manager.count('WATCHDOG=1') >= 5, 10)
        times = [at for at, text in self.manager.messages if text == 'WATCHDOG=1']
        self.assertLess(max(b - a for a, b in zip(times, times[1:])), 0.9)
        d.process.send_signal(signal.SIGSTOP)
        time.sleep(0.2)
        fed = self.manager.count('WATCHDOG=1')
        time.sleep(1.5)
        self.assertEqual(self.manager.count('WATCHDOG=1'), fed)
        d.process.send_signal(signal.SIGCONT)
        wait_for('food again', lambda: self.manager.count('WATCHDOG=1') > fed, 10)
        d.stop()

    def test_other_process(self):
        """A watchdog of another process is not ours."""
        d = self.managed(env={'WATCHDOG_USEC': '300000', 'WATCHDOG_PID': '1'}).start()
        time.sleep(0.7)
        self.assertEqual(self.manager.find('^WATCHDOG=1$'), self.manager.find('^READY=1'))
        d.stop()

    def test_silent_worker(self):
        """A worker that hangs without a job is found and replaced, within 15 s and a bit."""
        d = self.fake().start()
        worker = d.worker_pid()
        os.kill(worker, signal.SIGSTOP)
        began = time.monotonic()
        d.expect_line('gives no sign of life', 30)
        self.assertLess(time.monotonic() - began, 20)
        self.assertGreater(time.monotonic() - began, 8)  # not at its first silence
        wait_for('its end', lambda: not alive(worker))
        d.drop('a.pgm', b'text')
        d.expect('a.pgm')
        d.stop()

    def test_reload(self):
        config = os.path.join(self.dir, 'sluice.yaml')
        for name in ('in', 'out', 'out2'):
            os.makedirs(os.path.join(self.dir, name), exist_ok=True)

        def write(out, extra=''):
            with open(config, 'w', encoding='utf-8') as file:
                file.write('version: 1\nwatch: [{input: %s/in, output: %s/%s, chain: sobel, format: pgm}]\n%s'
                           % (self.dir, self.dir, out, extra))
        write('out')
        d = self.managed()
        d.options = ['--config', config, '--state', d.state]
        d.start()
        manager = self.manager
        write('out2')
        d.process.send_signal(signal.SIGHUP)
        wait_for('READY again', lambda: manager.count('READY=1') == 2)
        stamp = int(re.search(r'^RELOADING=1\nMONOTONIC_USEC=(\d+)$', manager.find('^RELOADING=1$')[0], re.M)[1])
        self.assertLess(abs(stamp / 1e6 - time.clock_gettime(time.CLOCK_MONOTONIC)), 30)
        write('out', 'nonsense: 1\n')
        d.process.send_signal(signal.SIGHUP)
        wait_for('READY once more', lambda: manager.count('READY=1') == 3)
        self.assertRegex(manager.find('READY=1')[-1], 'refused .*, the old one stays')
        self.assertEqual(manager.count('RELOADING=1'), 2)
        d.stop()


class Activated(DaemonTest):
    def listen(self, name, kind):
        path = os.path.join(self.dir, name)
        sock = socket.socket(socket.AF_UNIX, kind)
        sock.bind(path)
        sock.listen(16)
        os.chmod(path, 0o640)
        self.addCleanup(sock.close)
        return path, sock

    def activated(self, given, *options, start=True):
        d = self.daemon('--device', 'reference', *options)
        d.pass_fds = [sock.fileno() for sock in given]
        d.prefix = [sys.executable, '-c', LAUNCHER, str(len(given)), *map(str, d.pass_fds)]
        return d.start() if start else d

    def test_both(self):
        """Jobs before handed over first; neither path is bound anew, changed or removed."""
        http, http_socket = self.listen('http.sock', socket.SOCK_STREAM)
        jobs, jobs_socket = self.listen('jobs.sock', socket.SOCK_SEQPACKET)
        before = [os.lstat(path) for path in (http, jobs)]
        d = self.activated([jobs_socket, http_socket], '--http-socket', http, '--jobs-socket', jobs)
        self.assertEqual(sockets.ask(http, 'GET', '/livez').body, b'ok\n')
        answer = sockets.ask(http, 'POST', '/v1/process?chain=sobel&format=pgm', picture())
        self.assertEqual(answer.status, 200, answer.body)
        client = sockets.connect(jobs, socket.SOCK_SEQPACKET)
        client.send(b'{"type": "status", "id": 1}')
        self.assertIn(b'"id"', client.recv(65536))
        client.close()
        d.stop()
        for path, old in zip((http, jobs), before):
            new = os.lstat(path)
            self.assertEqual((new.st_ino, new.st_mode), (old.st_ino, old.st_mode))
        self.assertNotIn('not bound', d.log())
        connection = sockets.connect(http)  # waits for the next start
        connection.close()

    def test_not_configured(self):
        """One that the configuration does not name is served all the same."""
        http, http_socket = self.listen('http.sock', socket.SOCK_STREAM)
        d = self.activated([http_socket])
        self.assertEqual(sockets.ask(http, 'GET', '/livez').body, b'ok\n')
        d.stop()

    def test_neither_folder_nor_listen(self):
        """The sockets are all that it needs, without any option, with a file that names nothing, and after a reload."""
        config = os.path.join(self.dir, 'c.yaml')
        with open(config, 'w', encoding='utf-8') as file:
            file.write('version: 1\nchains: {edges: "luminance,sobel"}\n')
        for options, chain in (([], 'sobel'), (['--config', config], 'edges')):
            http, http_socket = self.listen('http%d.sock' % len(options), socket.SOCK_STREAM)
            jobs, jobs_socket = self.listen('jobs%d.sock' % len(options), socket.SOCK_SEQPACKET)
            d = self.activated([http_socket, jobs_socket], start=False)
            d.options = [*options, '--device', 'reference', '--state', d.state]
            d.start()
            for _ in range(2):
                answer = sockets.ask(http, 'POST', '/v1/process?chain=%s&format=pgm' % chain, picture())
                self.assertEqual(answer.status, 200, answer.body)
                client = sockets.connect(jobs, socket.SOCK_SEQPACKET)
                client.send(b'{"type": "status", "id": 1}')
                self.assertIn(b'"folders":[]', client.recv(65536))
                client.close()
                if options:
                    d.process.send_signal(signal.SIGHUP)
                    d.expect_line('reloaded: 0 folders')
            d.stop()

    def test_neither_folder_nor_a_socket_of_use(self):
        udp = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.addCleanup(udp.close)
        d = self.activated([udp], start=False)
        d.options = ['--state', d.state]
        self.assertIn('which folder? --watch DIR is missing', d.start(ready=False).wait(64))

    def test_other_path(self):
        http, http_socket = self.listen('http.sock', socket.SOCK_STREAM)
        other = os.path.join(self.dir, 'other.sock')
        d = self.activated([http_socket], '--http-socket', other)
        self.assertIn('%s: not bound' % other, d.log())
        self.assertFalse(os.path.exists(other))
        d.stop()

    def test_of_no_use(self):
        udp = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.addCleanup(udp.close)
        d = self.activated([udp])
        self.assertIn('no socket that is of use', d.log())
        d.stop()

    def test_of_another(self):
        """Variables that were meant for another process are not believed."""
        d = self.daemon('--device', 'reference', env={'LISTEN_PID': '1', 'LISTEN_FDS': '2'})
        d.start()
        self.assertNotIn('of use', d.log())
        d.stop()


if __name__ == '__main__':
    main()
