#!/usr/bin/env python3
"""The sockets under load: how much hostile or numerous clients slow down others, and how many frames a second are
processed.

Small by default; SLUICE_LONG=1 runs the promised sizes and holds the promised times, which need a machine that does
little else. Figures are printed in both forms."""
import http.client
import json
import mmap
import os
import random
import resource
import signal
import socket
import statistics
import struct
import sys
import threading
import time
import unittest

from sluice_test import DaemonTest, main, picture, wait_for
import sockets

LONG = os.environ.get('SLUICE_LONG') == '1'
GREY = 'raw=gray8:w=640:h=480'


def percentile(times, part):
    return sorted(times)[min(len(times) - 1, int(len(times) * part))]


def say(text):
    print(text, file=sys.stderr)


def connect(path):
    """Waits while more are waiting than the daemon has accepted: Python's time limit makes the socket not wait itself."""
    while True:
        try:
            return sockets.connect(path)
        except BlockingIOError:
            time.sleep(0.01)


class Load(DaemonTest):
    def serve(self, *options, fake=False, **keywords):
        self.http, self.jobs = os.path.join(self.dir, 'http.sock'), os.path.join(self.dir, 'jobs.sock')
        make = self.fake if fake else self.daemon
        return make('--http-socket', self.http, '--jobs-socket', self.jobs, *options, **keywords)

    def health(self, timeout=60):
        return sockets.ask(self.http, 'GET', '/livez', timeout=timeout).status

    def expect_descriptors(self, d, before):
        wait_for('descriptors as before', lambda: sockets.descriptors(d) == before, 30)

    def post_times(self, count, wanted):
        """Seconds of each of `count` jobs over one kept connection, each result looked at."""
        connection, times = sockets.Http(self.http), []
        for _ in range(count):
            begin = time.monotonic()
            connection.request('POST', '/v1/process?chain=sobel&format=pgm', picture(160, 120))
            answer = sockets.Answer(connection.getresponse())
            times.append(time.monotonic() - begin)
            self.assertEqual((answer.status, answer.body), (200, wanted))
        connection.close()
        return times


class Slow(Load):
    def test_clients_that_send_a_byte_a_second(self):
        """Half of them stay in the header, half in the body; those that are cut off come again."""
        count, jobs = (64, 400) if LONG else (16, 40)
        d = self.serve('--device', 'reference').start()
        wanted = self.by_sluice_run(picture(160, 120))['']
        self.post_times(5, wanted)
        before = sockets.settled_descriptors(d)
        quiet = self.post_times(jobs, wanted)
        stop, cut, senders = threading.Event(), [0], []

        def drip(number):
            head = b'POST /v1/process?chain=sobel HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n'
            while not stop.is_set():
                try:
                    with connect(self.http) as sock:
                        if number % 2:
                            sock.sendall(head)
                        for byte in head:
                            if stop.wait(1):
                                return
                            sock.sendall(bytes([byte]))
                except OSError:
                    cut[0] += 1
        for number in range(count):
            senders.append(threading.Thread(target=drip, args=(number,), daemon=True))
            senders[-1].start()
        time.sleep(2 if not LONG else 10)
        self.assertGreaterEqual(sockets.ask(self.http, 'GET', '/v1/status').json()['connections']['http'], count // 2)
        busy = self.post_times(jobs, wanted)
        stop.set()
        for sender in senders:
            sender.join()
        say('p99 of %d jobs: %.2f ms; beside %d slow clients (%d times cut off): %.2f ms'
            % (jobs, 1e3 * percentile(quiet, 0.99), count, cut[0], 1e3 * percentile(busy, 0.99)))
        self.expect_descriptors(d, before)
        if LONG:
            self.assertGreater(cut[0], 0)
            self.assertLess(percentile(busy, 0.99), 2 * percentile(quiet, 0.99))


class Many(Load):
    def test_more_connections_than_descriptors(self):
        """The front may have 64 descriptors; a few hundred connections, and it answers afterwards."""
        count = 1000 if LONG else 200
        limit = resource.getrlimit(resource.RLIMIT_NOFILE)
        if limit[0] < 2000:
            resource.setrlimit(resource.RLIMIT_NOFILE, (min(2000, limit[1]), limit[1]))
        d = self.serve(fake=True)
        d.prefix = ['sh', '-c', 'ulimit -n 64 && exec "$@"', 'sh']
        d.start()
        self.assertEqual(self.health(), 200)
        before = sockets.settled_descriptors(d)
        held, refused = [], 0
        for i in range(count):
            sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM if i % 2 else socket.SOCK_SEQPACKET)
            sock.setblocking(False)
            try:
                sock.connect(self.http if i % 2 else self.jobs)
                held.append(sock)
            except BlockingIOError:  # the queue of those that are not accepted yet is full
                refused += 1
                sock.close()
        wait_for('no descriptor is left', lambda: sockets.descriptors(d) >= 60, 20)
        time.sleep(0.5)
        most = sockets.descriptors(d)
        self.assertLessEqual(most, 64)
        for sock in held:
            sock.close()
        begin = time.monotonic()

        def answers():
            try:
                return self.health(2) == 200
            except OSError:
                return False
        wait_for('health', answers, 60)
        say('%d connections (%d refused at once) to a front of 64 descriptors (%d in use): health answers %.2f s '
            'after they have gone' % (count, refused, most, time.monotonic() - begin))
        d.drop('a', b'good', 'rename')  # folders work as before
        self.assertEqual(d.expect('a.pgm'), b'good')
        fd = sockets.memory(b'and sockets')
        client = sockets.Jobs(self.jobs)
        client.send([fd], id=1, chain='sobel')
        self.assertEqual(client.receive()[0]['result'], 'ok')
        client.close()
        os.close(fd)
        self.expect_descriptors(d, before)
        d.stop()

    def test_health_while_the_queue_is_full(self):
        d = self.serve('--jobs', '1', fake=True).start()
        before = sockets.settled_descriptors(d)
        clients = []
        fd = sockets.memory(b'hang')
        for _ in range(4):
            clients.append(sockets.Jobs(self.jobs))
            for i in range(64):
                clients[-1].send([fd], id=i, chain='sobel')
        os.close(fd)
        wait_for('a full queue', lambda: sockets.ask(self.http, 'GET', '/v1/status').json()['queue']['of_clients'] == 256)
        times = []
        for _ in range(1000 if LONG else 100):
            begin = time.monotonic()
            self.assertEqual(self.health(), 200)
            times.append(time.monotonic() - begin)
            self.assertEqual(sockets.ask(self.http, 'POST', '/v1/process', b'x').status, 429)
        say('health with a full queue: median %.2f ms, p99 %.2f ms'
            % (1e3 * statistics.median(times), 1e3 * percentile(times, 0.99)))
        for page in ('/readyz', '/metrics', '/v1/status', '/v1/files', '/version'):
            self.assertEqual(sockets.ask(self.http, 'GET', page).status, 200, page)
        for client in clients:
            client.close()
        wait_for('room', lambda: sockets.ask(self.http, 'GET', '/v1/status').json()['queue']['of_clients'] <= 1)
        d.process.kill()
        self.assertGreater(before, 0)

    def test_hostile_clients_leave_nothing(self):
        """Descriptors and connections are as before, whatever they do."""
        rounds = 200 if LONG else 20
        d = self.serve('--device', 'reference').start()
        before = sockets.settled_descriptors(d)
        for i in range(rounds):
            for data in (b'GET / HTTP/1.1\r\n', b'\0' * 3000, b'POST /v1/process HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nx',
                         b'POST /v1/process?chain=sobel HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nxxxx'):
                sock = connect(self.http)
                sock.sendall(data)
                if i % 3 == 0:  # a reset rather than an end
                    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
                sock.close()
            client = sockets.Jobs(self.jobs)
            fd = sockets.memory(os.urandom(100), sealed=i % 2)
            for data in (b'', b'{', b'{"id": 1, "chain": "sobel"}', b'{"id": 2, "type": "why", "file": "/x"}', b'\xff' * 60000):
                try:
                    client.send_raw(data, [fd] if i % 2 else [fd, fd])
                except OSError:
                    break
            os.close(fd)
            client.close()
        self.expect_descriptors(d, before)
        status = sockets.ask(self.http, 'GET', '/v1/status').json()
        wait_for('nobody', lambda: sockets.ask(self.http, 'GET', '/v1/status').json()['connections']['jobs'] == 0)
        say('%d rounds of hostile clients: %d descriptors before and after; %d connections at the end'
            % (rounds, before, status['connections']['http']))
        d.stop()


CROWD = 50 if LONG else 10  # users


class User:
    """What one user of many does, in a process of its own: some of its connections are slow, silent, half-closed or
    hostile, four are honest and ask again and again. Ends when its input is closed, and prints what they were answered."""

    def __init__(self, test, number, count, pause):
        self.http, self.jobs, self.pause = test.http, test.jobs, pause
        self.over, self.lock, self.answers, self.times = threading.Event(), threading.Lock(), {}, []
        ours, theirs = socket.socketpair()
        self.pid = os.fork()
        if self.pid == 0:
            try:
                ours.close()
                os.setuid(20000 + number)
                self.act(count, theirs)
                theirs.sendall(json.dumps([self.answers, self.times]).encode())
            finally:
                os._exit(0)
        theirs.close()
        self.control = ours
        test.addCleanup(self.kill)

    def kill(self):
        self.control.close()
        try:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        except (ProcessLookupError, ChildProcessError):
            pass

    def end(self):
        """Answers by kind, and seconds that the good ones took."""
        self.control.shutdown(socket.SHUT_WR)
        data = b''
        while True:
            piece = self.control.recv(65536)
            if not piece:
                return json.loads(data)
            data += piece

    def act(self, count, control):
        honest = [threading.Thread(target=self.ask, args=(ask,)) for ask in (self.ask_http, self.ask_jobs) * 2]
        for one in honest:
            one.start()
        held = [None] * (count - len(honest))
        turn = 0
        control.settimeout(1)
        while True:
            for i in range(turn % 5, len(held), 5):  # a fifth of them each second; what was cut off comes again
                held[i] = self.harm(i % 5, held[i])
            turn += 1
            try:
                if not control.recv(1):
                    break
            except TimeoutError:
                pass
        self.over.set()
        for one in honest:
            one.join()

    @staticmethod
    def is_answered(sock):
        """Told that it took too long, or cut off."""
        try:
            sock.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
        except BlockingIOError:
            return False
        return True

    def harm(self, kind, sock):
        head = b'POST /v1/process?chain=sobel HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n'
        try:
            if kind == 4:  # jobs whose results nobody reads, and nonsense
                if not sock:
                    sock = sockets.Jobs(self.jobs, timeout=1)
                    fd = sockets.memory(picture(), sealed=False)
                    sock.send([fd], id=1, chain='sobel', format='pgm')
                    os.close(fd)
                else:
                    sock.send_raw(os.urandom(50))
                return sock
            if sock and self.is_answered(sock):
                sock.close()
                sock = None
            if not sock:
                sock = sockets.connect(self.http, timeout=1)
            if kind == 0:  # slow
                sock.send(b'G')
            elif kind == 1:  # half a body
                sock.send(head if not sock.gettimeout() == 2 else b'x')
                sock.settimeout(2)
            elif kind == 2:
                sock.shutdown(socket.SHUT_WR)
            return sock  # kind 3 says nothing
        except OSError:
            sock.close() if sock else None
            return None

    def ask(self, ask):
        while not self.over.wait(self.pause * (0.5 + random.random())):
            begin = time.monotonic()
            try:
                answer = ask()
            except (OSError, http.client.HTTPException) as error:
                answer = repr(error)
            with self.lock:
                self.answers[answer] = self.answers.get(answer, 0) + 1
                self.times += [time.monotonic() - begin] if answer == 'ok' else []

    def ask_http(self):
        answer = sockets.ask(self.http, 'POST', '/v1/process?chain=sobel&format=pgm', picture(160, 120), timeout=60)
        return {200: 'ok', 429: 'busy'}.get(answer.status, str(answer.status))

    def ask_jobs(self):
        client = sockets.Jobs(self.jobs, timeout=60)
        try:
            return client.run(picture(160, 120), chain='sobel', format='pgm')[0]['result']
        finally:
            client.close()


@unittest.skipIf(os.getuid() != 0, 'several users need root')
class Crowd(Load):
    def livez_times(self, seconds):
        times, end = [], time.monotonic() + seconds
        while time.monotonic() < end:
            begin = time.monotonic()
            self.assertEqual(self.health(), 200)
            times.append(time.monotonic() - begin)
            time.sleep(0.01)
        return times

    def test_many_users_beside_a_full_folder(self):
        each, files, seconds = (56, 10000, 40) if LONG else (8, 300, 5)
        d = self.serve('--device', 'reference', '--jobs', '2').start()
        os.chmod(self.dir, 0o755)
        for path in (self.http, self.jobs):
            os.chmod(path, 0o666)
        quiet = self.livez_times(seconds / 4)
        users = [User(self, i, each, 2 if LONG else 1) for i in range(CROWD)]
        for i in range(files):
            d.drop('%05d.pgm' % i, picture(160, 120, i), 'rename')
        wanted = CROWD * (each - 4) * 3 // 4
        wait_for('connections', lambda: sum(sockets.ask(self.http, 'GET', '/v1/status').json()['connections'].values()) >= wanted, 60)
        busy, held, users_seen = [], [], 0
        for _ in range(10):
            busy += self.livez_times(seconds / 10)
            status = sockets.ask(self.http, 'GET', '/v1/status').json()
            held.append(sum(status['connections'].values()))
            users_seen = max(users_seen, len(status['users']))
        answers, times = {}, []
        for told, taken in [user.end() for user in users]:
            times += taken
            for answer, n in told.items():
                answers[answer] = answers.get(answer, 0) + n
        d.expect_all(['%05d.pgm' % i for i in range(files)], 600)
        say('%d to %d connections of %d users, %d files in the folder: p99 of /livez %.1f ms, %.1f ms before; answers %s, p99 %.0f ms, '
            'longest %.1f s' % (min(held), max(held), users_seen, files, 1e3 * percentile(busy, 0.99),
                                1e3 * percentile(quiet, 0.99), answers, 1e3 * percentile(times, 0.99), max(times)))
        self.assertEqual(set(answers) - {'ok', 'busy'}, set())
        self.assertGreater(answers['ok'], CROWD)
        self.assertGreaterEqual(users_seen, CROWD)
        if LONG:
            self.assertGreaterEqual(statistics.median(held), 1900)
            self.assertLess(percentile(busy, 0.99), percentile(quiet, 0.99) + 0.02)
        d.stop()
        d.expect_clean()


class Frames(Load):
    """640x480 grey frames through sobel on the device that auto takes."""

    def frame(self):
        return bytes((x * 7 ^ y * 3) & 255 for y in range(480) for x in range(640))

    def wanted(self, frame):
        return self.by_sluice_run(b'P5\n640 480\n255\n' + frame)[''][len(b'P5\n640 480\n255\n'):]

    def check(self, fd, wanted):
        with mmap.mmap(fd, 0, prot=mmap.PROT_READ) as got:
            self.assertEqual(got[:], wanted)
        os.close(fd)

    def test_over_the_jobs_socket(self):
        count, alone = (2000, 500) if LONG else (60, 30)
        self.serve().start()
        frame = self.frame()
        wanted, client = self.wanted(frame), sockets.Jobs(self.jobs)
        fd = sockets.memory(frame)
        more, own = [], []
        for i in range(alone + 5):  # one at a time: what the way there and back adds
            begin = time.monotonic()
            client.send([fd], id=i, chain='sobel', input=GREY, format='raw')
            message, result = client.receive()
            taken = time.monotonic() - begin
            self.assertEqual(message['result'], 'ok', message)
            self.check(result, wanted)
            if i >= 5:
                own.append(message['device_s'])
                more.append(taken - own[-1])
        begin, sent = time.monotonic(), 0
        for done in range(count):
            while sent < count and sent - done < 8:
                client.send([fd], id=sent, chain='sobel', input=GREY, format='raw')
                sent += 1
            message, result = client.receive()
            self.assertEqual((message['result'], os.fstat(result).st_size), ('ok', 640 * 480), message)
            if done % 50:
                os.close(result)
            else:
                self.check(result, wanted)
        rate = count / (time.monotonic() - begin)
        os.close(fd)
        client.close()
        say('jobs socket: %.0f frames/s, eight in flight; one at a time: %.2f ms on the device, %.2f ms above it '
            '(medians)' % (rate, 1e3 * statistics.median(own), 1e3 * statistics.median(more)))
        if LONG:
            self.assertGreaterEqual(rate, 300)
            self.assertLessEqual(statistics.median(more), 0.002)

    def test_over_kept_http_connections(self):
        count, clients = (1500, 4) if LONG else (40, 2)
        self.serve().start()
        frame = self.frame()
        wanted, failures = self.wanted(frame), []
        target = '/v1/process?chain=sobel&format=raw&input=' + GREY

        def work(number):
            connection = sockets.Http(self.http)
            for _ in range(number):
                connection.request('POST', target, frame)
                answer = sockets.Answer(connection.getresponse())
                if answer.status != 200 or answer.body != wanted:
                    failures.append(answer.body[:200])
            connection.close()
        work(5)
        threads = [threading.Thread(target=work, args=(count // clients,)) for _ in range(clients)]
        begin = time.monotonic()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        rate = (count // clients) * clients / (time.monotonic() - begin)
        self.assertEqual(failures, [])
        say('http: %.0f frames/s over %d kept connections' % (rate, clients))
        if LONG:
            self.assertGreaterEqual(rate, 200)


if __name__ == '__main__':
    main()
