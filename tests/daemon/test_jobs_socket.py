#!/usr/bin/env python3
"""Jobs over the jobs socket: descriptors in, descriptors out; hostile messages; sluice submit and status."""
import json
import os
import re
import socket
import subprocess
import sys
import time

from sluice_test import HERE, SLUICE, DaemonTest, main, picture, wait_for
import sockets

EXAMPLE = os.environ.get('JOBS_EXAMPLE')  # the C example, compiled


class JobsTest(DaemonTest):
    def serve(self, *options, fake=False, **keywords):
        self.path = os.path.join(self.dir, 'jobs.sock')
        make = self.fake if fake else self.daemon
        return make('--jobs-socket', self.path, '--device', 'reference', *options, **keywords).start()

    def client(self):
        client = sockets.Jobs(self.path)
        self.addCleanup(client.close)
        return client

    def expect_descriptors(self, daemon, before):
        wait_for('descriptors as before', lambda: sockets.descriptors(daemon) == before, 20)

    def expect_refused(self, client, result, id=1, text=''):
        message, fd = client.receive()
        self.assertIsNone(fd)
        self.assertEqual((message['type'], message['result'], message.get('id')), ('done', result, id), message)
        self.assertIn(text, message['text'])
        return message


class Jobs(JobsTest):
    def test_result_in_a_descriptor(self):
        daemon = self.serve()
        before = sockets.settled_descriptors(daemon)
        client = sockets.Jobs(self.path)
        report, files = client.run(picture(), chain='sobel', format='pgm')
        self.assertEqual(report['result'], 'ok')
        self.assertEqual(files, {'': self.by_sluice_run(picture())['']})
        self.assertEqual((report['bytes_in'], report['bytes_copied'], report['bytes_out']),
                         (len(picture()), len(picture()), len(files[''])))
        client.close()
        self.expect_descriptors(daemon, before)

    def test_raw_frames(self):
        self.serve()
        frame = bytes(range(256)) * 3
        report, files = self.client().run(frame, chain='invert', input='raw=gray8:w=32:h=24', format='raw')
        self.assertEqual((report['result'], files['']), ('ok', bytes(255 - b for b in frame)))

    def test_several_planes(self):
        self.serve()
        report, files = self.client().run(picture(), chain='sobel:out=both', format='npy')
        self.assertEqual(report['planes'], ['dx', 'dy'])
        self.assertEqual(files, self.by_sluice_run(picture(), 'sobel:out=both', 'npy'))
        report, files = self.client().run(picture(), chain='sobel:out=both')
        self.assertEqual((report['media_type'], list(files)), ('application/zip', ['']))

    def test_output_of_ones_own(self):
        self.serve()
        client = self.client()
        given, out = sockets.memory(picture()), os.open(os.path.join(self.dir, 'r'), os.O_RDWR | os.O_CREAT)
        os.write(out, b'x' * 100000)
        client.send([given, out], id=3, chain='sobel', format='pgm')
        message, fd = client.receive()
        self.assertEqual((message['result'], message['id'], fd), ('ok', 3, None))
        self.assertEqual(sockets.read_all(out), self.by_sluice_run(picture())[''])
        os.close(given)

    def test_files_that_may_change_are_copied(self):
        self.serve()
        client = self.client()
        for sealed in (False, True):
            fd = sockets.memory(picture(), sealed)
            client.send([fd], id=1, chain='sobel', format='pgm')
            os.close(fd)
            message, result = client.receive()
            self.assertEqual(sockets.read_all(result), self.by_sluice_run(picture())[''])
            self.assertEqual(message['bytes_copied'], len(picture()) * (1 if sealed else 2))

    def test_several_in_flight(self):
        self.serve()
        client, wanted = self.client(), {}
        for i in range(40):
            fd = sockets.memory(picture(seed=i % 3))
            client.send([fd], id=1000 + i, chain='sobel', format='pgm')
            os.close(fd)
            wanted[1000 + i] = i % 3
        by_run = [self.by_sluice_run(picture(seed=i))[''] for i in range(3)]
        for _ in range(40):
            message, fd = client.receive()
            self.assertEqual(sockets.read_all(fd), by_run[wanted.pop(message['id'])])
        self.assertEqual(wanted, {})

    def test_clients_take_turns(self):
        """One has 30 jobs of 0.3 s waiting; another's only one does not wait for them."""
        daemon = self.serve('--jobs', '1', fake=True)
        greedy = self.client()
        for i in range(30):
            fd = sockets.memory(b'slow')
            greedy.send([fd], id=i, chain='sobel', format='png')
            os.close(fd)
        greedy.receive()
        begin = time.monotonic()
        report, files = self.client().run(b'quick', chain='sobel', format='png')
        self.assertEqual((report['result'], files['']), ('ok', b'quick'))
        self.assertLess(time.monotonic() - begin, 4)
        daemon.process.kill()

    def test_rate_of_frames(self):
        """640x480 raw frames through one connection, eight in flight. A figure, not a limit."""
        self.serve()
        client, frame, count = self.client(), os.urandom(640 * 480), 100
        fd = sockets.memory(frame)
        begin, sent = time.monotonic(), 0
        for done in range(count):
            while sent < count and sent - done < 8:
                client.send([fd], id=sent, chain='', input='raw=gray8:w=640:h=480', format='raw')
                sent += 1
            message, result = client.receive()
            self.assertEqual(message['result'], 'ok')
            os.close(result)
        print('%.0f frames of 640x480 a second (empty chain)' % (count / (time.monotonic() - begin)),
              file=sys.stderr)
        os.close(fd)


class Hostile(JobsTest):
    def test_messages(self):
        daemon = self.serve()
        before = sockets.settled_descriptors(daemon)
        client = sockets.Jobs(self.path)
        for data in (b'{"id": 1, "chain"', b'\xff\xfe', b'[]', b'7', b'{}', b'{"id": -1}', b'{"id": "1"}',
                     b'{"id": 1.5}', b'nonsense' * 100, b'[' * 60000):
            fd = sockets.memory(b'x')
            client.send_raw(data, [fd])
            os.close(fd)
            self.expect_refused(client, 'data', None)
        for data in (b'{"id": 1, "id": 2}', b'{"id": 1, "chain": "a\\u0000b"}'):
            client.send_raw(data)
            self.expect_refused(client, 'data', None)
        for data in (b'{"id": 1, "type": "done"}', b'{"id": 1, "chain": 7}', b'{"id": 1, "device": "cpu"}',
                     b'{"id": 1, "type": "setup", "device": "x"}', b'{"id": 1, "type": 3}',
                     b'{"id": 1, "chain": "%s"}' % (b'a' * 50001)):
            client.send_raw(data)
            self.expect_refused(client, 'data')
        client.send_raw(b'{"id": 1, "chain": "%s"}' % (b'a' * 70000))
        self.expect_refused(client, 'data', None, 'more than 65536')
        client.send(id=1, chain='sobel')
        self.expect_refused(client, 'data', text='needs the descriptor')
        self.assertEqual(client.run(picture(), chain='sobel')[0]['result'], 'ok')  # still a good connection
        client.close()
        self.expect_descriptors(daemon, before)

    def test_descriptors(self):
        daemon = self.serve('--max-file', '1MiB')
        before = sockets.settled_descriptors(daemon)
        client = sockets.Jobs(self.path)
        fifo = os.path.join(self.dir, 'fifo')
        os.mkfifo(fifo)
        plain = os.path.join(self.dir, 'plain')
        with open(plain, 'wb') as file:
            file.write(picture())
        large = sockets.memory(bytes(2 << 20))
        sealed = sockets.memory(b'')
        good = sockets.memory(picture())
        bad = [([os.open(self.dir, os.O_RDONLY)], 'data'), ([os.open(fifo, os.O_RDWR)], 'data'),
               ([socket.socket(socket.AF_UNIX).detach()], 'data'), ([os.open('/dev/null', os.O_RDONLY)], 'data'),
               ([os.open(plain, os.O_WRONLY)], 'permission'), ([os.open(plain, os.O_PATH)], 'permission'),
               ([large], 'limit'), ([good, os.open(plain, os.O_RDONLY)], 'permission'), ([good, sealed], 'permission'),
               ([good, os.open(fifo, os.O_RDWR)], 'data'), ([good, os.open(self.dir, os.O_RDONLY)], 'data')]
        for fds, result in bad:
            client.send(fds, id=1, chain='sobel', format='pgm')
            self.expect_refused(client, result)
        client.send([good] * 5, id=1, chain='sobel')
        self.expect_refused(client, 'data', None, 'descriptors')
        client.send([good], id=1, type='status')
        self.expect_refused(client, 'data')
        with self.assertRaises(OSError):
            os.write(sealed, b'x')
        self.assertEqual(client.run(picture(), chain='sobel')[0]['result'], 'ok')
        client.close()
        self.expect_descriptors(daemon, before)

    def test_faults_of_jobs(self):
        self.serve()
        client = self.client()
        message = client.run(picture(), chain='luminance,sobell')[0]
        self.assertEqual((message['result'], message['subject'], message['position'], message['length']),
                         ('chain', 'chain', 10, 6))
        self.assertEqual(client.run(b'x', chain='sobel')[0]['result'], 'format')
        self.assertEqual(client.run(b'', chain='sobel')[0]['result'], 'empty')
        self.assertEqual(client.run(picture()[:-5], chain='sobel')[0]['result'], 'truncated')

    def test_same_id_and_too_many(self):
        daemon = self.serve('--jobs', '1', fake=True)
        client = self.client()
        fd = sockets.memory(b'hang')
        client.send([fd], id=1, chain='sobel')
        client.send([fd], id=1, chain='sobel')
        self.expect_refused(client, 'data', text='already')
        for i in range(2, 66):
            client.send([fd], id=i, chain='sobel')
        message = self.expect_refused(client, 'busy', 65)
        self.assertGreaterEqual(message['retry_after'], 1)
        daemon.process.kill()

    def test_clients_that_go_away(self):
        daemon = self.serve('--jobs', '1', '--job-time', '2s', fake=True)
        before = sockets.settled_descriptors(daemon)
        for word in (b'hang', b'slow', b'x'):
            client = sockets.Jobs(self.path)
            for i in range(10):
                fd = sockets.memory(word, sealed=i % 2)
                client.send([fd], id=i, chain='sobel')
                os.close(fd)
            client.close()
        self.expect_descriptors(daemon, before)
        self.assertEqual(self.client().run(b'still', chain='sobel')[1][''], b'still')

    def test_client_that_does_not_read(self):
        daemon = self.serve('--http-socket', os.path.join(self.dir, 'http.sock'))
        client = self.client()
        client.sock.settimeout(2)
        try:
            for i in range(20000):
                client.send(id=i, type='status')
        except (TimeoutError, OSError):
            pass
        begin = time.monotonic()
        self.assertEqual(self.client().run(picture(), chain='sobel')[0]['result'], 'ok')
        self.assertLess(time.monotonic() - begin, 20)
        daemon.stop()


class Commands(JobsTest):
    def sluice(self, *arguments, status=0, stdin=None):
        done = subprocess.run([SLUICE, *arguments], input=stdin, capture_output=True, check=False,
                              env=dict(os.environ, SLUICE_JOBS_SOCKET=self.path))
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def put(self, name, data):
        path = os.path.join(self.dir, name)
        with open(path, 'wb') as file:
            file.write(data)
        return path

    def test_submit(self):
        self.serve()
        inputs = [self.put('i%d.pgm' % i, picture(seed=i)) for i in range(20)]
        out = os.path.join(self.dir, 'results/')
        reports = json.loads(self.sluice('submit', '-c', 'sobel', '-f', 'pgm', '-o', out, '--json', *inputs).stdout)
        self.assertEqual([report['result'] for report in reports], ['ok'] * 20)
        for i, report in enumerate(reports):
            with open(report['output'], 'rb') as file:
                self.assertEqual(file.read(), self.by_sluice_run(picture(seed=i))[''])
        got = self.sluice('submit', '-c', 'sobel', '-f', 'pgm', '-o', '-', '-', stdin=picture()).stdout
        self.assertEqual(got, self.by_sluice_run(picture())[''])
        self.sluice('submit', '-c', 'sobel:out=both', '-o', os.path.join(self.dir, 'both.npy'), inputs[0])
        self.assertTrue(os.path.exists(os.path.join(self.dir, 'both.dx.npy')))
        self.assertTrue(os.path.exists(os.path.join(self.dir, 'both.dy.npy')))

    def test_exit_statuses(self):
        daemon = self.serve()
        good, bad = self.put('a.pgm', picture()), self.put('b.pgm', b'no picture')
        out = os.path.join(self.dir, 'o.png')
        done = self.sluice('submit', '-c', 'luminance,sobell', '-o', out, good, status=64)
        self.assertIn(b'^^^^^^', done.stderr)
        self.sluice('submit', '-c', 'sobel', '-o', out, bad, status=65)
        self.sluice('submit', '-c', 'sobel', '-o', out, os.path.join(self.dir, 'none'), status=66)
        self.sluice('submit', '-c', 'sobel', '-o', os.path.join(self.dir, 'no/o.png'), good, status=73)
        self.sluice('submit', '-c', 'sobel', '-o', os.path.join(self.dir, 'many/'), good, bad, status=1)
        self.assertFalse(os.path.exists(out))
        daemon.stop()
        self.sluice('submit', '-c', 'sobel', '-o', out, good, status=69)
        self.sluice('status', status=69)

    def test_busy(self):
        daemon = self.serve('--jobs', '1', fake=True)
        held = []
        for _ in range(4):
            client = self.client()
            held.append(client)
            fd = sockets.memory(b'hang')
            for i in range(64):
                client.send([fd], id=i, chain='sobel')
            os.close(fd)
        asker = self.client()

        def full():
            asker.send(id=1, type='status')
            return asker.receive()[0]['status']['queue']['of_clients'] == 256
        wait_for('a full queue', full)
        self.sluice('submit', '-c', 'sobel', '-o', os.path.join(self.dir, 'o.png'), self.put('a', b'x'), status=75)
        daemon.process.kill()

    def test_status(self):
        self.serve()
        self.assertRegex(self.sluice('status').stdout.decode(), r'^state: ready\n')
        self.assertEqual(json.loads(self.sluice('status', '--json').stdout)['ready'], True)


class Examples(JobsTest):
    """docs/jobs-socket.md says what these do."""

    def frames(self):
        path = os.path.join(self.dir, 'frames.raw')
        with open(path, 'wb') as file:
            file.write(bytes(range(256)) * 300 * 2)  # two frames of 320x240
        return path

    def check(self, command):
        self.serve()
        done = subprocess.run([*command, self.path, self.frames(), '320', '240'], capture_output=True, check=False,
                              text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(re.sub(r'[0-9.]+ ms', 'T ms', done.stdout),
                         'frame 0: 76800 bytes, T ms\nframe 1: 76800 bytes, T ms\n')

    def test_python(self):
        self.check([sys.executable, os.path.join(HERE, '../../docs/examples/jobs.py')])

    def test_c(self):
        if not EXAMPLE:
            self.skipTest('JOBS_EXAMPLE is not set')
        self.check([EXAMPLE])


main()
