#!/usr/bin/env python3
"""Clients' descriptors and memory: a client whose descriptors hang, who holds many, or who does not read its results
harms nobody but itself."""
import json
import os
import resource
import select
import signal
import socket
import subprocess
import sys
import threading
import time
import unittest

import sockets
from sluice_test import EMULATED, DaemonTest, HERE, SLUICED, main, picture, wait_for

CHILDREN_MAX = 40  # of a front with one hostile user: 16 receivers that work, 16 that hang, a worker


def mount_silent(test):
    """A file system that answers nothing that a file's name names (silent_fs.py); its path."""
    path = os.path.join(test.dir, 'silent')
    os.mkdir(path)
    process = subprocess.Popen([sys.executable, os.path.join(HERE, 'silent_fs.py'), path], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE)
    test.addCleanup(subprocess.run, ['umount', '-l', path], stderr=subprocess.DEVNULL)
    test.addCleanup(process.communicate)
    test.addCleanup(process.kill)
    if process.stdout.readline() != b'mounted\n':
        raise unittest.SkipTest('no FUSE file system can be mounted: ' + process.stderr.read().decode()[-200:])
    return path


class Stopwatch:
    """How long something has taken, without the time in which the front's loop (of that process) or this thread was
    ready and waited for a processor: other tests run beside this one."""

    def __init__(self, pid):
        self.threads = ['/proc/%d/task/%d/schedstat' % (pid, pid),
                        '/proc/self/task/%d/schedstat' % threading.get_native_id()]
        self.begin = self.now()

    def now(self):
        waited = 0
        for path in self.threads:
            with open(path, encoding='ascii') as file:
                waited += int(file.read().split()[1])
        return time.monotonic() - waited * 1e-9

    def seconds(self):
        return self.now() - self.begin


class LastClose(threading.Thread):
    """The slowest answer of /livez while it is asked all the time."""

    def __init__(self, path, pid):
        super().__init__(daemon=True)
        self.path, self.front, self.over, self.worst = path, pid, threading.Event(), 0
        self.start()

    def run(self):
        while not self.over.wait(0.005):
            watch = Stopwatch(self.front)
            sockets.ask(self.path, 'GET', '/livez', timeout=30)
            self.worst = max(self.worst, watch.seconds())

    def end(self):
        self.over.set()
        self.join()
        return self.worst


class Stranger:
    """A process of its own that opens files, sends them, and is killed in the end: its own close may hang, too.

    `messages`: (fields, paths with 'r' or 'w' in front)."""

    def __init__(self, test, path, messages, dirty=False, uid=0):
        readable, writable = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            try:
                os.setuid(uid)
                os.close(readable)
                self.act(path, messages, dirty, os.fdopen(writable, 'w'))
            finally:
                os._exit(1)
        os.close(writable)
        self.output = os.fdopen(readable)
        test.addCleanup(self.end)

    @staticmethod
    def act(path, messages, dirty, output):
        client = sockets.Jobs(path, timeout=600)
        for fields, files in messages:
            fds = [os.open(file[1:], os.O_WRONLY if file[0] == 'w' else os.O_RDWR if dirty else os.O_RDONLY)
                   for file in files]
            client.send(fds, **fields)
            if dirty:
                os.close(fds[0])
        if dirty: # pages that whoever closes the file last has to write
            os.write(os.open(files[0][1:], os.O_RDWR), b'dirty')
        print('sent', file=output, flush=True)
        while True:
            print(client.receive()[0], file=output, flush=True)

    def end(self):
        try:
            os.kill(self.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.output.close()
        threading.Thread(target=os.waitpid, args=(self.pid, 0), daemon=True).start()


def leave_unread(path, fds, count):
    """Each time a client leaves an answer unread, so that the front's socket says ECONNRESET before what is unread
    there: a message with descriptors, or an empty one and then that. The end comes between the front's waking up and
    its look, if one is lucky."""
    message = json.dumps({'id': 2, 'chain': 'sobel'}).encode()
    for i in range(count):
        client = sockets.Jobs(path)
        client.send(id=1, type='status')
        select.select([client.sock], [], [])
        try:
            if i % 8 == 7:
                client.send_raw(b'')
            client.send_raw(message, fds)
        except OSError: # the front has read the empty one
            pass
        client.close()


class StrangersTest(DaemonTest):
    def serve(self, *options, fake=False, **keywords):
        self.path, self.http = os.path.join(self.dir, 'jobs.sock'), os.path.join(self.dir, 'http.sock')
        make = self.fake if fake else self.daemon
        daemon = make('--jobs-socket', self.path, '--http-socket', self.http, *options, **keywords).start()
        self.front = daemon.process.pid
        os.chmod(self.dir, 0o755)
        for path in (self.path, self.http):
            os.chmod(path, 0o666)
        return daemon

    def client(self):
        client = sockets.Jobs(self.path)
        self.addCleanup(client.close)
        return client

    def expect_alive(self, seconds=1):
        watch = Stopwatch(self.front)
        self.assertEqual(sockets.ask(self.http, 'GET', '/livez', timeout=30).status, 200)
        self.assertLess(watch.seconds(), seconds)

    def status(self):
        return sockets.ask(self.http, 'GET', '/v1/status').json()

    def processes(self, daemon):
        """Those that the front has started: names by process numbers."""
        with open('/proc/%d/task/%d/children' % (daemon.process.pid, daemon.process.pid), encoding='ascii') as file:
            pids = file.read().split()
        found = {}
        for pid in pids:
            try:
                with open('/proc/%s/cmdline' % pid, 'rb') as file:
                    found[int(pid)] = file.read().split(b'\0')[0].decode()
            except OSError:
                pass
        return found

    def children(self, daemon):
        return list(self.processes(daemon).values())


@unittest.skipIf(os.getuid() != 0 or not os.path.exists('/dev/fuse'), 'mounting a FUSE file system needs root and /dev/fuse')
class Hanging(StrangersTest):
    def silent(self, *parts):
        return os.path.join(self.fs, '-'.join(parts))

    def test_a_file_that_never_closes(self):
        """Refused or not: health goes on, other clients are served, and SIGKILL ends the front."""
        self.fs = mount_silent(self)
        daemon = self.serve()
        job = {'id': 1, 'chain': 'sobel', 'format': 'pgm'}
        for name in ('FLUSH', 'GETATTR-FLUSH', 'STATFS-FLUSH', 'READ-FLUSH'):
            Stranger(self, self.path, [(job, ['r' + self.silent(name)])])
        Stranger(self, self.path, [({'id': 1, 'type': 'status'}, ['r' + self.silent('FLUSH')])])
        end = time.monotonic() + 14
        while time.monotonic() < end:
            self.expect_alive()
            time.sleep(0.2)
        other = self.client()
        other.sock.settimeout(30)
        self.assertEqual(other.run(picture(), chain='sobel', format='pgm')[0]['result'], 'ok') # of the same user
        daemon.expect_line('given up', 30)
        self.assertLess(len(self.children(daemon)), CHILDREN_MAX)
        self.expect_killed(daemon)

    def test_an_output_that_never_closes(self):
        self.fs = mount_silent(self)
        daemon = self.serve()
        plain = os.path.join(self.dir, 'plain.pgm')
        with open(plain, 'wb') as file:
            file.write(picture())
        Stranger(self, self.path, [({'id': 1, 'chain': 'sobel', 'format': 'pgm'},
                                    ['r' + plain, 'w' + self.silent('SETATTR-WRITE-FLUSH')])])
        daemon.expect_line('given up', 60)
        self.expect_alive()
        self.expect_killed(daemon)

    def test_many_of_one_user(self):
        """It gets no more receivers than a few; everybody else is served as ever."""
        self.fs = mount_silent(self)
        daemon = self.serve()
        job = {'id': 1, 'chain': 'sobel', 'format': 'pgm'}
        os.chmod(self.fs, 0o777)
        for _ in range(50):
            Stranger(self, self.path, [(job, ['r' + self.silent('FLUSH')])], uid=12345)
        wait_for('the last one that is given up', lambda: daemon.count_lines('given up') >= 16, 60)
        self.expect_alive()
        self.assertLess(len(self.children(daemon)), CHILDREN_MAX)
        self.assertEqual(self.status()['receivers']['hanging'], 16)
        self.assertIn('sluice_receivers{state="hanging"} 16', sockets.ask(self.http, 'GET', '/metrics').body.decode())
        late = Stranger(self, self.path, [(job, ['r' + self.silent('none')])], uid=12345)
        self.assertEqual(late.output.readline(), 'sent\n')
        self.assertIn('processes waiting', late.output.readline())
        self.assertEqual(self.client().run(picture(), chain='sobel', format='pgm')[0]['result'], 'ok')
        self.expect_killed(daemon)

    def test_unread_descriptors(self):
        """Nobody has received them when their connection ends: closing it closes them."""
        self.fs = mount_silent(self)
        daemon = self.serve('--jobs', '1', fake=True)
        job = {'id': 1, 'chain': 'sobel', 'format': 'pgm'}
        bad = self.silent('WRITE')
        for _ in range(2): # the second comes while the first is received, and stays unread
            Stranger(self, self.path, [(job, ['r' + self.silent('GETATTR')])])
        stranger = Stranger(self, self.path, [(job, ['r' + bad])] * 2, dirty=True)
        self.assertEqual(stranger.output.readline(), 'sent\n')
        time.sleep(1)
        os.kill(stranger.pid, signal.SIGKILL)
        for _ in range(20):
            self.expect_alive()
            time.sleep(0.1)
        self.expect_killed(daemon)

    def test_unread_answers(self):
        """They have the socket say ECONNRESET when their connection ends, before what is unread in it. An empty
        message looks like the end."""
        self.fs = mount_silent(self)
        daemon = self.serve('--jobs', '1', fake=True)
        os.chmod(self.fs, 0o777)

        def leave():
            """More descriptors than there may be, which whoever receives them closes."""
            fd = os.open(self.silent('FLUSH'), os.O_RDWR)
            leave_unread(self.path, [fd] * 3, 1000)
            return 'left'
        self.assertEqual(as_user(self, 12345, leave, wait=False), 'left')
        for _ in range(20):
            self.expect_alive()
            time.sleep(0.1)
        self.expect_killed(daemon)

    def test_more_than_can_be_closed(self):
        """All receivers of a user hang: what more he sends stays in none of the front's descriptors."""
        self.fs = mount_silent(self)
        daemon = self.serve('--jobs', '1', fake=True)
        os.chmod(self.fs, 0o777)
        job = {'id': 1, 'chain': 'sobel', 'format': 'pgm'}
        for _ in range(40):
            Stranger(self, self.path, [(job, ['r' + self.silent('FLUSH')])], uid=12345)
        wait_for('the last one that is given up', lambda: daemon.count_lines('given up') >= 16, 60)
        before, count = sockets.settled_descriptors(daemon), 1500
        self.assertEqual(as_user(self, 12345, lambda: self.flood(count)), str(count))
        wait_for('the last one', lambda: self.status()['receivers']['binned'] >= count, 60)
        self.assertLess(sockets.settled_descriptors(daemon) - before, 8)
        self.expect_alive()
        self.assertLess(len(self.children(daemon)), CHILDREN_MAX)
        self.assertEqual(self.client().run(picture(), chain='sobel', format='pgm')[0]['result'], 'ok')
        self.expect_killed(daemon)

    def flood(self, count):
        fd, done = os.open(self.silent('none'), os.O_RDONLY), 0
        while done < count:
            try:
                client = sockets.Jobs(self.path)
            except BlockingIOError: # more connections wait to be accepted than may
                time.sleep(0.01)
                continue
            try:
                client.send([fd], id=1, chain='sobel')
                done += 1
            except OSError: # refused before it could send
                pass
            client.close()
        return done

    def expect_killed(self, daemon):
        daemon.process.kill()
        daemon.process.wait(2)


def sparse(size):
    """A sealed memory file of zeros that takes no memory until somebody looks at it."""
    fd = os.memfd_create('sparse', os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    os.ftruncate(fd, size)
    sockets.seal(fd, 1 | sockets.SEAL_SHRINK | sockets.SEAL_GROW | sockets.SEAL_WRITE)
    return fd


MIB = 1 << 20


def as_user(test, uid, act, wait=True):
    """What act() returns in a process of that user's, as text. Its end may hang (`wait` False)."""
    readable, writable = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.setuid(uid)
            os.write(writable, str(act()).encode())
        except BaseException as error: # pylint: disable=broad-except
            os.write(writable, repr(error).encode())
        finally:
            os.kill(os.getpid(), signal.SIGSTOP) # its connections stay
    os.close(writable)
    if wait:
        test.addCleanup(os.waitpid, pid, 0)
    test.addCleanup(os.kill, pid, signal.SIGKILL)
    with os.fdopen(readable, 'rb', buffering=0) as file:
        return file.read(1000).decode()


class Memory(StrangersTest):
    def one_job(self):
        self.kept = sockets.Jobs(self.path)
        return self.kept.run(picture(), chain='')[0]['result']

    def test_mapped_inputs(self):
        """Their sizes count, whether somebody has looked at them or not."""
        daemon = self.serve('--memory', '64MiB', '--max-file', '64MiB', '--jobs', '1', fake=True)
        client, hang, large = self.client(), sockets.memory(b'hang'), sparse(16 * MIB)
        client.send([hang], id=0, chain='sobel')
        for i in range(1, 13):
            client.send([large], id=i, chain='sobel')
        refused = []
        for _ in range(9):
            message = client.receive()[0]
            self.assertEqual(message['result'], 'busy')
            refused.append(message['id'])
        self.assertEqual(refused, list(range(4, 13))) # half of 128 MiB, which the first has some bytes of
        status = self.status()
        self.assertEqual((status['shared']['limit'], status['shared']['bytes']), (128 * MIB, 48 * MIB + len(b'hang')))
        user, = [one for one in status['users'] if one['jobs'] == 4]
        self.assertEqual((user['uid'], user['bytes'], user['unread']), (os.getuid(), 48 * MIB + len(b'hang'), 0))
        self.assertIn('sluice_client_bytes %d' % (48 * MIB + 4), sockets.ask(self.http, 'GET', '/metrics').body.decode())
        self.expect_alive()
        daemon.process.kill()

    def test_results_that_nobody_reads(self):
        """They do not grow beyond what there is for them, others go on, and the client is cut off."""
        daemon = self.serve('--memory', '64MiB', '--max-file', '64MiB', '--jobs', '1', '--device', 'reference')
        client, frame = self.client(), sparse(16 * MIB)
        ask = {'chain': '', 'input': 'raw=gray8:w=4096:h=4096', 'format': 'pgm'}
        for i in range(4):
            client.send([frame], id=i, **ask)
        for i in range(4, 16):
            time.sleep(0.5)
            client.send([frame], id=i, **ask)
        other = self.client()
        self.assertEqual(other.run(picture(), chain='sobel', format='pgm')[0]['result'], 'busy') # of the same user
        if os.getuid() == 0:
            self.assertEqual(as_user(self, 12345, self.one_job),
                             'ok')
        daemon.expect_line('does not read its results', 60)
        self.expect_alive()
        held = 0
        while True:
            message, fd = client.receive()
            if message is None:
                break
            if fd is not None:
                held += os.fstat(fd).st_size
                os.close(fd)
        self.assertGreater(held, 16 * MIB)
        self.assertLess(held, 100 * MIB)
        wait_for('room', lambda: other.run(picture(), chain='sobel', format='pgm')[0]['result'] == 'ok', 30, 0.5)
        daemon.stop()


    def test_large_ones(self):
        """Freeing their memory takes longer than anybody may wait."""
        size = 2 << 30
        with open('/proc/meminfo', encoding='ascii') as file:
            if int(file.read().split('MemAvailable:')[1].split()[0]) << 10 < 2 * size:
                self.skipTest('needs 4 GiB of memory')
        daemon = self.serve('--jobs', '1', fake=True)
        client = self.client()
        watch, begin = LastClose(self.http, self.front), time.monotonic()
        time.sleep(0.3)
        usual = watch.worst
        for i in range(2):
            fd = os.memfd_create('large', os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
            os.posix_fallocate(fd, 0, size)
            sockets.seal(fd, 1 | sockets.SEAL_SHRINK | sockets.SEAL_GROW | sockets.SEAL_WRITE)
            begin = time.monotonic()
            client.send([fd], id=i, chain='sobel')
            os.close(fd)
            self.assertEqual(client.receive()[0]['result'], 'limit')
        wait_for('the memory', lambda: not self.has_large(daemon), 30)
        worst = watch.end()
        print('usual %.1f ms, worst %.1f ms' % (1000 * usual, 1000 * worst), file=sys.stderr)
        self.assertLess(worst, 0.15)
        daemon.stop()

    @staticmethod
    def has_large(daemon):
        folder = '/proc/%d/fd' % daemon.process.pid
        names = []
        for name in os.listdir(folder):
            try:
                names.append(os.readlink(os.path.join(folder, name)))
            except FileNotFoundError:
                pass
        return any('/memfd:large' in name for name in names)

    def test_descriptors_of_those_who_leave(self):
        """Whatever is unread when a connection ends, the front has none of it afterwards."""
        daemon = self.serve('--jobs', '1', fake=True)
        self.client().run(b'x', chain='sobel')
        before, pipe = sockets.settled_descriptors(daemon), os.pipe()
        leave_unread(self.path, pipe, 100000 if os.environ.get('SLUICE_LONG') else 2000)
        self.assertLessEqual(sockets.settled_descriptors(daemon), before + 16) # sockets to receivers
        wait_for('none of them', lambda: sockets.descriptors(daemon) <= before, 30)
        daemon.stop()

    def test_a_client_that_always_has_some_to_read(self):
        """It reads, only not all at once: it is not cut off."""
        daemon = self.serve('--jobs', '2', '--device', 'reference')
        client, fd, end, sent, got = self.client(), sockets.memory(picture()), time.monotonic() + 4, 0, 0
        while time.monotonic() < end or got < sent:
            while time.monotonic() < end and sent - got < 8:
                client.send([fd], id=sent, chain='sobel', format='pgm')
                sent += 1
            message, result = client.receive()
            self.assertIsNotNone(message, 'cut off after %d: %s' % (got, daemon.log()))
            self.assertEqual(message['result'], 'ok')
            os.close(result)
            got += 1
        daemon.stop()


@unittest.skipIf(os.getuid() != 0, 'several users need root')
class Shares(StrangersTest):
    def connections(self):
        """How many are open when one is refused; they stay."""
        opened, most = [], resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(4096, most), most))
        while True:
            client = sockets.Jobs(self.path, timeout=20)
            try:
                client.send(id=1, type='status')
                refused = client.receive()[0] is None
            except OSError:
                refused = True
            if refused:
                client.close()
                self.kept = opened
                return len(opened)
            opened.append(client)

    def test_connections(self):
        daemon = self.serve(fake=True)
        self.assertEqual([as_user(self, 12345 + i, self.connections) for i in range(9)], ['1024', '512', '256', '128', '64', '32', '16', '16', '16'])
        self.assertEqual(self.client().run(b'x', chain='sobel')[0]['result'], 'ok')
        daemon.stop()

    def fill(self):
        """As many jobs as are taken."""
        refused, self.kept, fd = 0, [], sockets.memory(b'hang')
        for i in range(80):
            if i % 40 == 0:
                self.kept.append(sockets.Jobs(self.path))
                self.kept[-1].sock.settimeout(1)
            self.kept[-1].send([fd], id=i, chain='sobel')
        for client in self.kept:
            try:
                while client.receive()[0]['result'] == 'busy':
                    refused += 1
            except TimeoutError:
                pass
        return 80 - refused

    def test_queue(self):
        daemon = self.serve('--queue', '64', '--jobs', '1', fake=True)
        self.assertEqual([as_user(self, 12345 + i, self.fill) for i in range(3)], ['64', '4', '4'])
        daemon.process.kill()

    def hoard(self):
        """How many bodies that are copied are taken."""
        client, fd, refused = sockets.Jobs(self.path), sockets.memory(b'hang'.ljust(16 * MIB), sealed=False), 0
        client.sock.settimeout(2)
        for i in range(10):
            client.send([fd], id=i, chain='sobel')
        try:
            while client.receive()[0]['result'] == 'busy':
                refused += 1
        except TimeoutError:
            pass
        self.kept = client
        return 10 - refused

    def test_bytes(self):
        """Of 128 MiB the first has half, the next half of what is left."""
        daemon = self.serve('--memory', '64MiB', '--max-file', '64MiB', '--jobs', '1', fake=True)
        self.assertEqual([as_user(self, 12345 + i, self.hoard) for i in range(3)], ['4', '2', '1'])
        daemon.process.kill()


class Log(StrangersTest):
    def test_stderr_that_nobody_reads(self):
        """The daemon goes on; how much was lost is told when somebody reads again."""
        self.path, self.http = os.path.join(self.dir, 'jobs.sock'), os.path.join(self.dir, 'http.sock')
        readable, writable = os.pipe()
        daemon = self.fake('--jobs-socket', self.path, '--http-socket', self.http)
        process = subprocess.Popen([SLUICED, *daemon.options], stderr=writable, env=daemon.env)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.front = process.pid
        os.close(writable)
        wait_for('the sockets', lambda: sockets.listens(self.path, socket.SOCK_SEQPACKET) and sockets.listens(self.http))
        client = self.client()
        for _ in range(1500): # 64 KiB of lines
            self.assertEqual(client.run(b'x', chain='sobel')[0]['result'], 'ok')
        self.expect_alive()
        text = b''
        while b'lines of the log are lost' not in text:
            text += os.read(readable, 65536)
            client.run(b'x', chain='sobel')
        process.terminate()
        while os.read(readable, 65536):
            pass
        self.assertEqual(process.wait(60), 0)


class Stream(StrangersTest):
    @unittest.skipIf(EMULATED, 'the emulator does not know the option that refuses them')
    def test_descriptors_beside_a_request(self):
        """Refused by the kernel, where it can do that: they would be closed by the front."""
        self.serve(fake=True)
        with sockets.connect(self.http) as sock, open('/dev/null', 'rb') as file:
            try:
                socket.send_fds(sock, [b'GET /livez HTTP/1.1\r\nHost: x\r\n\r\n'], [file.fileno()])
            except PermissionError:
                return
        release = os.uname().release.split('.')
        self.assertLess((int(release[0]), int(release[1])), (6, 16), 'the descriptor was sent')


class Receivers(StrangersTest):
    def test_they_come_and_go(self):
        daemon = self.serve(fake=True)
        self.assertEqual(self.children(daemon).count('sluice-receiver'), 0)
        clients = [self.client() for _ in range(10)]
        for number, client in enumerate(clients):
            fd = sockets.memory(b'data %d' % number, sealed=False)
            client.send([fd], id=1, chain='sobel')
            os.close(fd)
        for number, client in enumerate(clients):
            message, fd = client.receive()
            self.assertEqual(message['result'], 'ok')
            self.assertEqual(sockets.read_all(fd), b'data %d' % number)
        wait_for('none that stays', lambda: 'sluice-receiver' not in self.children(daemon), 60)
        daemon.stop()

    @unittest.skipUnless(os.environ.get('DAEMON_FAULT'), 'a preloaded library cannot stand before a sanitizer')
    def test_what_comes_between_a_look_and_a_read(self):
        """The front finds the socket empty; what arrives then has descriptors, and is not for it to read."""
        daemon = self.serve(fake=True, env={'LD_PRELOAD': os.environ['DAEMON_FAULT'], 'SLUICE_FAULT_LATE_PEEK': '1'})
        client, fd = self.client(), sockets.memory(b'data')
        answers = []
        for i in range(100):
            client.send([fd], id=i, chain='sobel')
            time.sleep(0.01)
            if i >= 16: # more under way would be told busy
                answers.append(client.receive()[0]['result'])
        answers += [client.receive()[0]['result'] for _ in range(16)]
        self.assertEqual(answers, ['ok'] * 100)
        daemon.stop()

    @unittest.skipIf(EMULATED, 'processes have the emulator\'s name')
    def test_one_that_is_killed(self):
        """The next message has another one."""
        daemon = self.serve(fake=True)
        self.assertEqual(self.client().run(b'one', chain='sobel')[1][''], b'one')
        receivers = [pid for pid, name in self.processes(daemon).items() if name == 'sluice-receiver']
        self.assertTrue(receivers)
        for pid in receivers:
            os.kill(pid, signal.SIGKILL)
        wait_for('its end', lambda: not {'', 'sluice-receiver'} & set(self.children(daemon)))
        self.assertEqual(self.client().run(b'two', chain='sobel')[1][''], b'two')
        daemon.stop()


if __name__ == '__main__':
    if sys.argv[1:] == ['others']:  # all but Hanging, for tests/meson.build
        sys.argv[1:] = [name for name, value in sorted(globals().items())
                        if isinstance(value, type) and issubclass(value, StrangersTest) and value not in (StrangersTest, Hanging)]
    main()
