#!/usr/bin/env python3
"""What one user does to others: floods of messages, slow jobs, questions, ids of his own making.

Small by default; SLUICE_LONG=1 (the suite `flood`) runs the promised sizes, prints a table and holds the promised times,
which need a machine that does little else."""
import errno
import os
import selectors
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
import unittest

from sluice_test import SANITIZED, DaemonTest, main, picture, wait_for
import sockets

LONG = os.environ.get('SLUICE_LONG') == '1'
SECONDS = float(os.environ.get('FLOOD_SECONDS', 60 if LONG else 1.5))
CONNECTIONS = 1024 if LONG else 200
ROOT = os.getuid() == 0
HOSTILE, HONEST = (20001, 20002) if ROOT else (os.getuid(), os.getuid())


class Other:
    """Another user: a process that calls act(self) and ends when it is told to."""

    def __init__(self, test, uid, act):
        readable, writable = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            try:
                os.close(readable)
                if ROOT:
                    os.setgid(uid)
                    os.setuid(uid)
                act(lambda text: os.write(writable, (text + '\n').encode()))
            except BaseException as error:  # pylint: disable=broad-except
                os.write(writable, ('failed: %r\n' % error).encode())
            finally:
                os._exit(0)
        os.close(writable)
        self.output = os.fdopen(readable)
        test.addCleanup(self.end)

    def line(self):
        return self.output.readline().rstrip('\n')

    def end(self):
        try:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        except (ProcessLookupError, ChildProcessError):
            pass
        self.output.close()


class Fair(DaemonTest):
    def serve(self, *options, fake=False, **keywords):
        self.http, self.jobs = os.path.join(self.dir, 'http.sock'), os.path.join(self.dir, 'jobs.sock')
        make = self.fake if fake else self.daemon
        d = make('--http-socket', self.http, '--jobs-socket', self.jobs, '--jobs', '2', *options, **keywords)
        return d

    def open_up(self):
        """For other users."""
        os.chmod(self.dir, 0o755)
        for path in (self.http, self.jobs):
            os.chmod(path, 0o666)


def fill(shape):
    """A message of nearly 64 KiB."""
    part, count = shape
    return b'{"id":1,"type":"job","x":[' + b','.join([part] * count) + b']}'


FLOODS = {  # connections, socket, what each sends again and again
    'JSON 50': (50, 'jobs', fill((b'{"a":1,"b":"c"}', 4000))),
    'JSON': (CONNECTIONS, 'jobs', fill((b'{"a":1,"b":"c"}', 4000))),
    'arrays': (CONNECTIONS, 'jobs', fill((b'[]', 21000))),
    'status': (CONNECTIONS, 'jobs', b'{"id":1,"type":"status"}'),
    'descriptors': (CONNECTIONS, 'descriptors', fill((b'{"a":1,"b":"c"}', 4000))),  # JSON, each with one
    '/metrics': (CONNECTIONS, 'http', b'GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n'),
}
if 'FLOODS' in os.environ:
    FLOODS = {name: FLOODS[name] for name in os.environ['FLOODS'].split(',')}


def flood(path, kind, count, data):
    """Each connection sends as fast as it may, and reads whatever comes."""
    def act(say):
        wanted, selector = socket.SOCK_STREAM if kind == 'http' else socket.SOCK_SEQPACKET, selectors.DefaultSelector()
        rights = []
        if kind == 'descriptors':
            rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, struct.pack('i', sockets.memory(b'x')))]

        def add():
            while True:
                try:
                    one = socket.socket(socket.AF_UNIX, wanted)
                    one.setblocking(False)
                    one.connect(path)
                    break
                except BlockingIOError:
                    one.close()
                    time.sleep(0.002)
            selector.register(one, selectors.EVENT_READ | selectors.EVENT_WRITE)
        for _ in range(count):
            add()
        say('flooding')
        while True:
            for key, events in selector.select():
                try:
                    if events & selectors.EVENT_READ and not key.fileobj.recv(1 << 18):
                        raise ConnectionResetError
                    if events & selectors.EVENT_WRITE:
                        key.fileobj.sendmsg([data], rights)
                except BlockingIOError:
                    pass
                except OSError as error:
                    if error.errno == errno.ETOOMANYREFS:  # unread descriptors: as many as the user may have
                        continue
                    # cut off: comes again
                    selector.unregister(key.fileobj)
                    key.fileobj.close()
                    add()
    return act


def percentile(times, part):
    return sorted(times)[min(len(times) - 1, int(len(times) * part))]


class Floods(Fair):
    def watch(self, seconds, pings):
        """Milliseconds (p50, p99, worst) of /livez, a small request of a second user, a file in the folder, and between
        the watchdog's pings."""
        end = time.monotonic() + seconds
        found = {'livez': [], 'request': [], 'file': []}

        def times(name, pause, do):
            number = 0
            while time.monotonic() < end:
                begin = time.monotonic()
                do(number)
                found[name].append(time.monotonic() - begin)
                number += 1
                time.sleep(pause)

        def until_done(method, target, body=None):
            while True:
                try:
                    if sockets.ask_only(self.http, method, target, body, timeout=300).status == 200:
                        return
                except (BlockingIOError, ConnectionResetError):  # the queue of connections is full
                    pass
                time.sleep(0.001)

        def second(say):
            wanted = picture(64, 48)
            times('request', 0.05, lambda _: until_done('POST', '/v1/process?chain=invert&format=pgm', wanted))
            for one in found['request']:
                say('%.6f' % one)
            say('end')

        def file(_):
            self.n_files += 1
            name = 'f%06d.pgm' % self.n_files
            self.d.drop(name, picture(64, 48, self.n_files), 'rename')
            wait_for(name, lambda: os.path.exists(os.path.join(self.d.output, name)), 300, 0.002)
        n_pings = len(pings)
        other = Other(self, HONEST, second)
        threads = [threading.Thread(target=times, args=(name, pause, do))
                   for name, pause, do in (('livez', 0.01, lambda _: until_done('GET', '/livez')), ('file', 0.2, file))]
        for thread in threads:
            thread.start()
        while (line := other.line()) not in ('end', ''):
            self.assertNotIn('failed', line)
            found['request'].append(float(line))
        for thread in threads:
            thread.join()
        other.end()
        moments = pings[max(0, n_pings - 1):] + [time.monotonic()]
        found['pings'] = [b - a for a, b in zip(moments, moments[1:])]
        return {name: [1e3 * percentile(of, 0.5), 1e3 * percentile(of, 0.99), 1e3 * max(of)] for name, of in found.items()}

    def test_floods(self):
        notify = os.path.join(self.dir, 'notify')
        manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        manager.bind(notify)
        self.addCleanup(manager.close)
        pings = []

        def listen():
            while True:
                try:
                    if b'WATCHDOG=1' in manager.recv(4096):
                        pings.append(time.monotonic())
                except OSError:
                    return
        threading.Thread(target=listen, daemon=True).start()
        # every second a ping
        self.d = d = self.serve('--device', 'native', env={'NOTIFY_SOCKET': notify, 'WATCHDOG_USEC': '3000000'})
        d.env['SLUICE_LOG_LEVEL'] = 'warning'
        d.start(ready=False)
        self.n_files = 0
        wait_for('ready', lambda: sockets.listens(self.http) and sockets.ask_only(self.http, 'GET', '/readyz').status == 200)
        self.open_up()
        print('\n| p50, p99, worst | `/livez` | second user | file in a folder | between pings |\n|---|---|---|---|---|',
              file=sys.stderr)
        rows = {}

        def measure(name):
            rows[name] = self.watch(SECONDS, pings)
            print('| %s | %s |' % (name, ' | '.join(', '.join('%.1f' % x if x < 100 else '%.0f' % x for x in rows[name][what])
                                                    for what in ('livez', 'request', 'file', 'pings'))), file=sys.stderr)
        measure('quiet')
        for name, (count, kind, data) in FLOODS.items():
            hostile = Other(self, HOSTILE, flood(self.http if kind == 'http' else self.jobs, kind, count, data))
            self.assertEqual(hostile.line(), 'flooding')
            measure(name)
            hostile.end()
            wait_for('nobody', lambda: sum(sockets.ask_only(self.http, 'GET', '/v1/status').json()['connections'].values()) <= 2)
        slack = 10 if SANITIZED else 1 if LONG else 4  # beside other tests
        for name, row in rows.items():
            self.assertLess(row['livez'][2], 500 * slack, name)
            self.assertLess(row['pings'][2], 1000 + 1000 * slack, name)
            if LONG:
                self.assertLess(row['livez'][1], 50, name)
        d.stop()


class Start(Fair):
    def test_chains_that_make_much(self):
        """A native daemon is ready at once whatever its chain; what is compared with the references is beside that."""
        for chain, compared in (('resize:w=4000:h=4000:enlarge=1', True), ('median:radius=3,clahe,resize:w=1500:h=1500:enlarge=1,median:radius=3', None),
                                ('sobel', True)):
            begin = time.monotonic()
            d = self.daemon('--device', 'native', '--memory', '64MiB', chain=chain)
            d.start()
            seconds = time.monotonic() - begin
            print('%s: ready after %.2f s' % (chain, seconds), file=sys.stderr)
            self.assertLess(seconds, 5 * (10 if SANITIZED else 1))
            d.drop('a.pgm', picture(64, 48), 'rename')
            d.expect('a.pgm')
            if compared:
                d.expect_line('was compared with its reference')
            d.stop()
            os.unlink(os.path.join(d.output, 'a.pgm'))


@unittest.skipUnless(ROOT, 'several users need root')
class Users(Fair):
    def expect_root(self, path):
        client = sockets.Jobs(path)
        client.send(id=1, type='status')
        answer = client.receive()[0]
        client.close()
        self.assertEqual(answer and answer['result'], 'ok', 'what root is answered')

    def test_slots(self):
        """Slow jobs of one user hold all slots; a small one of another is answered all the same, and those of a folder."""
        d = self.serve(fake=True).start()
        self.open_up()

        def hoard(say):
            clients = [sockets.Jobs(self.jobs) for _ in range(4)]
            for client in clients:
                fd = sockets.memory(b'aside')  # never ends, and others run beside it
                for i in range(6):
                    client.send([fd], id=i, chain='sobel')
                os.close(fd)
            say('sent')
            clients[0].sock.close()  # what a client has left in a slot is still its user's
            time.sleep(600)
        hostile = Other(self, HOSTILE, hoard)
        self.assertEqual(hostile.line(), 'sent')
        wait_for('full slots', lambda: sockets.ask_only(self.http, 'GET', '/v1/status').json()['queue']['running'] >= 2)

        def small(say):
            worst = 0
            for _ in range(20):
                begin = time.monotonic()
                try:
                    assert sockets.ask_only(self.http, 'POST', '/v1/process?chain=sobel', b'good', timeout=10).status == 200
                except TimeoutError:
                    say('inf')
                    return
                worst = max(worst, time.monotonic() - begin)
            say('%.3f' % worst)
        worst = Other(self, HONEST, small).line()
        self.assertLess(float(worst), 2, 'seconds of the slowest small request of another user')
        begin = time.monotonic()
        d.drop('a', b'good', 'rename')
        d.expect('a.pgm', 10)
        print('beside 24 jobs without end of one user at jobs: 2: slowest of 20 small requests of another %s s, a file in a '
              'folder %.2f s' % (worst, time.monotonic() - begin), file=sys.stderr)
        d.process.kill()

    def test_questions(self):
        """One user has all the questions under way that a user may have; another's are answered, all of them."""
        d = self.serve(fake=True).start()
        self.open_up()

        def ask(say):
            clients = [sockets.Jobs(self.jobs) for _ in range(8)]
            busy, said = 0, False
            while True:
                for client in clients:
                    for i in range(32):
                        client.send(id=i, type='why', file=d.in_path('none-%d' % i))
                for client in clients:
                    for _ in range(32):
                        busy += client.receive()[0].get('result') == 'busy'
                if busy and not said:
                    say('busy')
                    said = True
        hostile = Other(self, HOSTILE, ask)
        self.assertEqual(hostile.line(), 'busy')

        def why(say):
            answers, slowest = {}, 0
            for i in range(100):
                begin = time.monotonic()
                status = sockets.ask_only(self.http, 'GET', '/v1/files?file=' + d.in_path('other-%d' % i)).status
                slowest = max(slowest, time.monotonic() - begin)
                answers[status] = answers.get(status, 0) + 1
            say('%s %.3f' % (answers, slowest))
        line = Other(self, HONEST, why).line()
        print('100 questions beside a user who always has 64: ' + line, file=sys.stderr)
        self.assertTrue(line.startswith('{404: 100}'), line)
        d.stop()  # though the questions do not end

    def test_subordinate_ids(self):
        """A user's subordinate ids count as himself: others, and root, are served beside any number of them."""
        ranges = os.path.join(self.dir, 'subuid')
        with open(ranges, 'w', encoding='ascii') as file:
            file.write('%d:300000:65536\n' % HOSTILE)
        bind = ['unshare', '-m', 'sh', '-c', 'mount --bind %s /etc/subuid && exec "$@"' % ranges, 'sh']
        if not os.path.exists('/etc/subuid') or subprocess.run([*bind, 'true'], stderr=subprocess.DEVNULL, check=False).returncode:
            self.skipTest('/etc/subuid cannot be another one for the daemon')
        d = self.serve(fake=True)
        d.prefix = bind
        d.start()
        self.open_up()
        path = self.jobs

        def hold(say):
            try:
                client = sockets.Jobs(path)
                client.send(id=1, type='status')
                say('in' if client.receive()[0] else 'out')
            except (BrokenPipeError, ConnectionResetError):
                say('out')
            time.sleep(600)
        others = [Other(self, 300000 + i, hold) for i in range(70)]
        answers = [other.line() for other in others]
        self.assertEqual(Other(self, HONEST, hold).line(), 'in', 'beside %d of 70 subordinate ids' % answers.count('in'))
        self.expect_root(path)
        self.assertEqual(answers.count('in'), 70)
        users = [user for user in sockets.ask_only(self.http, 'GET', '/v1/status').json()['users'] if user['connections'] > 0]
        self.assertEqual(sorted(user['uid'] for user in users), sorted([0, HOSTILE, HONEST]), users)
        d.stop()

    def test_root_is_always_served(self):
        """Also where 64 users that nothing is known of have all places."""
        d = self.serve(fake=True).start()
        self.open_up()
        path = self.jobs

        def hold(say):
            client = sockets.Jobs(path)
            try:
                client.send(id=1, type='status')
            except BrokenPipeError:  # no place
                pass
            say('sent')
            time.sleep(600)
            client.close()
        for other in [Other(self, 400000 + i, hold) for i in range(66)]:
            other.line()
        self.expect_root(path)
        d.stop()


if __name__ == '__main__':
    main()
