#!/usr/bin/env python3
"""Jobs over the jobs socket: descriptors in, descriptors out; hostile messages; sluice submit and status."""
import json
import os
import pty
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import unittest

from sluice_test import EMULATED, HERE, SLUICE, DaemonTest, main, picture, pictures, wait_for
from built import OPENCL
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
                         (len(picture()), 0, len(files[''])))
        client.close()
        self.expect_descriptors(daemon, before)

    def test_warnings(self):
        self.serve()
        report, _ = self.client().run(pictures.odd_png(), chain='invert', format='pgm')
        self.assertEqual((report['result'], report['warnings']), ('ok', pictures.ODD_PNG_WARNINGS))
        report, _ = self.client().run(picture(), chain='invert', format='pgm')
        self.assertEqual(report['warnings'], [])
        report, _ = self.client().run(pictures.odd_png(), chain='invert', input='strict=1')
        self.assertEqual(report['result'], 'data')

    def test_all_mistakes_of_a_chain(self):
        self.serve()
        report, _ = self.client().run(picture(), chain='grey,sobel:scale=x,box')
        self.assertEqual((report['result'], report['position']), ('chain', 0))
        self.assertEqual([(e['position'], e['length']) for e in report['errors']], [(0, 4), (17, 1), (19, 3)])
        self.assertIn('luminance', report['errors'][0]['text'])

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
        report, files = self.client().run(picture(), chain='statistics', format='json')
        self.assertEqual((report['media_type'], list(files)), ('application/json', ['']))
        self.assertEqual(files, self.by_sluice_run(picture(), 'statistics', 'json'))

    def test_several_results(self):
        """Each file comes in a message of its own, with its result's number and name; the answer tells of all."""
        self.serve()
        photo = pictures.pnm(57, 31, pictures.noise(57, 31, 3), channels=3)
        chains = ['luminance', 'luminance,sobel:out=both', 'resize:w=9']
        client, fd = self.client(), sockets.memory(photo)
        own = os.open(os.path.join(self.dir, 'own'), os.O_RDWR | os.O_CREAT)
        for fds in ([fd], [fd, own]):
            client.send(fds, id=3, chain=';'.join(chains), format='pgm;pgm;ppm', name='grey;edges;small')
            files, message = {}, {}
            while message.get('type') != 'done':
                message, got = client.receive()
                if got is not None:
                    files[message['result'], message['name'], message['plane']] = sockets.read_all(got)
            self.assertEqual(message['result'], 'ok', message)
            if len(fds) == 2:
                with open(os.path.join(self.dir, 'own'), 'rb') as file:
                    files[0, 'grey', ''] = file.read()
            self.assertEqual(sorted(files), [(0, 'grey', ''), (1, 'edges', 'dx'), (1, 'edges', 'dy'), (2, 'small', '')])
            for (index, _, plane), data in files.items():
                self.assertEqual(data, self.by_sluice_run(photo, chains[index], ('pgm', 'pgm', 'ppm')[index])[plane])
            self.assertEqual([(r['name'], r['planes'], r['extension'], r['n_planes']) for r in message['results']],
                             [('grey', [''], 'pgm', 1), ('edges', ['dx', 'dy'], 'pgm', 2), ('small', [''], 'ppm', 1)])
            self.assertEqual((message['planes'], message['stages_run'], message['stages_asked']), ([''], 3, 4))
            self.assertEqual(sum(r['bytes'] for r in message['results']), sum(len(d) for d in files.values()))
        os.close(fd)
        os.close(own)

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

    def test_output_of_ones_own_of_a_job_that_fails(self):
        """What it holds is kept, also where rows of a large picture would pass through."""
        self.serve('--device', 'auto')
        client = self.client()
        given = sockets.memory(picture(2000, 1500)[:-5])
        out = os.open(os.path.join(self.dir, 'r'), os.O_RDWR | os.O_CREAT)
        os.write(out, b'kept')
        client.send([given, out], id=3, chain='invert', format='pgm')
        self.assertEqual(client.receive()[0]['result'], 'truncated')
        self.assertEqual(sockets.read_all(out), b'kept')
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
            self.assertEqual(message['bytes_copied'], 0 if sealed else len(picture()))

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


@unittest.skipIf('cl_mean' in os.environ.get('OPENCL_LAYERS', ''), 'that driver has no processor')
class InPlace(JobsTest):
    """Raw frames in sealed memory files: PoCL reads them where they lie, and no byte is copied."""

    WIDTH, HEIGHT = 640, 480

    def serve_cpu(self, chain='sobel'):
        daemon = self.serve('--device', 'cpu' if OPENCL else 'native', '--fallback', 'none', chain=chain, form='raw')
        self.sender = self.client()
        return daemon

    def job(self, fd, reading, chain='sobel', **fields):
        self.sender.send([fd], id=1, chain=chain, input=reading, format='raw', **fields)
        os.close(fd)
        message, result = self.sender.receive()
        return message, sockets.read_all(result) if result is not None else None

    def status(self):
        self.sender.send(id=2, type='status')
        return self.sender.receive()[0]['status']['worker']

    def by_run(self, frame, reading, chain='sobel'):
        source, target = os.path.join(self.dir, 'frame'), os.path.join(self.dir, 'result')
        with open(source, 'wb') as file:
            file.write(frame)
        subprocess.run([SLUICE, 'run', '--device', 'reference', '--input', reading, '-c', chain, '-f', 'raw', '-o',
                        target, source], check=True)
        with open(target, 'rb') as file:
            return file.read()

    def test_frames_of_a_camera(self):
        daemon = self.serve_cpu()
        reading = 'raw=gray8:w=%d:h=%d' % (self.WIDTH, self.HEIGHT)
        frame = os.urandom(self.WIDTH * self.HEIGHT)
        wanted, before = self.by_run(frame, reading), self.status()
        for _ in range(5):
            message, got = self.job(sockets.memory(frame), reading)
            self.assertEqual((message['result'], message['bytes_copied']), ('ok', 0), message)
            self.assertEqual(got, wanted)
        self.assertEqual(self.status()['builds'], before['builds'])  # nothing is compiled for its layout
        message, got = self.job(sockets.memory(frame, sealed=False), reading)
        self.assertEqual((message['bytes_copied'], got), (len(frame), wanted))
        self.assertEqual(self.status()['pid'], before['pid'])
        daemon.stop()

    def test_layouts(self):
        """Inverted, so that the right answer needs no program of ours. Strides leave rows at odd places."""
        self.serve_cpu(chain='invert')
        for raw, size, width, stride, copied in (
                ('gray8', 1, 33, 0, 0), ('gray8', 1, 33, 41, 0), ('gray16', 2, 17, 38, 0), ('gray16', 2, 17, 37, 17 * 2),
                ('rgb24', 3, 21, 67, 0), ('rgba32', 4, 9, 50, 0)):
            row, height = size * width, 24
            stride_bytes = stride or row
            frame = os.urandom(stride_bytes * height)
            rows = [frame[y * stride_bytes:y * stride_bytes + row] for y in range(height)]
            if raw == 'rgba32':  # alpha stays
                wanted = b''.join(bytes(b if i % 4 == 3 else 255 - b for i, b in enumerate(r)) for r in rows)
            else:
                wanted = b''.join(bytes(255 - b for b in r) for r in rows)
            reading = 'raw=%s:w=%d:h=%d' % (raw, width, height) + (':stride=%d' % stride if stride else '')
            message, got = self.job(sockets.memory(frame), reading, 'invert')
            self.assertEqual((message['result'], message.get('bytes_copied'), got), ('ok', copied * height, wanted),
                             reading)

    def test_luma_of_video(self):
        # Not the daemon's own chain, of which PoCL would first compile eight programs that no other test keeps: more
        # than 90 s where much else runs.
        self.serve_cpu(chain='invert')
        frame = os.urandom(64 * 48 * 3 // 2)
        message, got = self.job(sockets.memory(frame), 'raw=nv12:w=64:h=48', 'luminance:bt601,invert')
        self.assertEqual((message['result'], message['bytes_copied']), ('ok', 0))
        full = [min(255, max(0, ((y - 16) * 76309 + 32768) >> 16)) for y in frame[:64 * 48]]
        self.assertEqual(got, bytes(255 - y for y in full))

    def test_no_chain_and_references(self):
        self.serve()
        self.sender, frame = self.client(), os.urandom(50 * 20)
        for chain, wanted in (('', frame), ('invert', bytes(255 - b for b in frame))):
            message, got = self.job(sockets.memory(frame), 'raw=gray8:w=50:h=20', chain)
            self.assertEqual((message['result'], message['bytes_copied'], got), ('ok', 0, wanted))

    def test_too_small(self):
        daemon = self.serve_cpu(chain='invert')
        before = self.status()
        for data in (bytes(99), b'x'):
            message, _ = self.job(sockets.memory(data), 'raw=gray8:w=10:h=10', 'invert')
            self.assertEqual((message['result'], message['step']), ('truncated', 'decode'))
        message, got = self.job(sockets.memory(bytes(60)), 'raw=gray8:w=10:h=10:partial=1', 'invert')
        self.assertEqual((message['result'], len(got)), ('ok', 100))
        self.assertEqual(self.status(), dict(self.status(), pid=before['pid'], starts=before['starts']))
        daemon.stop()

    def test_what_may_change_is_not_mapped(self):
        """Seals that leave a way to write or to shrink; huge pages, of which there may be none."""
        daemon = self.serve()
        self.sender, frame = self.client(), os.urandom(1 << 20)
        before = self.status()
        reading = 'raw=gray8:w=1024:h=1024'
        for seals in (sockets.SEAL_SHRINK | sockets.SEAL_FUTURE_WRITE, sockets.SEAL_WRITE, sockets.SEAL_SHRINK):
            fd = sockets.memory(frame, sealed=False)
            sockets.seal(fd, seals)
            message, got = self.job(fd, reading, 'invert')
            self.assertEqual((message['bytes_copied'], len(got)), (1 << 20, 1 << 20))
        try:
            fd = os.memfd_create('huge', os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING | os.MFD_HUGETLB)
            os.ftruncate(fd, 2 << 20)
        except OSError:
            fd = None
        if fd is not None:
            sockets.seal(fd, sockets.SEAL_SHRINK | sockets.SEAL_GROW | sockets.SEAL_WRITE)
            message, got = self.job(fd, reading, 'invert')
            self.assertEqual((message['result'], got), ('ok', b'\xff' * (1 << 20)))
            self.assertGreater(message['bytes_copied'], 0)
        self.assertEqual(self.status()['pid'], before['pid'])
        daemon.stop()

    @unittest.skipIf(EMULATED, 'under an emulator it does not end')
    def test_file_that_shrinks(self):
        """It is cut while it is read, time and again: an answer each time, and the worker lives."""
        daemon = self.serve('--max-file', '64MiB')
        before = sockets.settled_descriptors(daemon)
        self.sender = self.client()
        worker, frame, path = self.status(), bytes(4 << 20), os.path.join(self.dir, 'shrinks')
        with open(path, 'wb') as file:
            file.write(frame)
        stop = threading.Event()

        def cut():
            size = 0
            while not stop.is_set():
                os.truncate(path, size)
                size = (size + 0x12345) % (4 << 20)
                os.truncate(path, 4 << 20)
        cutter = threading.Thread(target=cut)
        cutter.start()
        try:
            seen = set()
            for _ in range(100):
                message, _ = self.job(os.open(path, os.O_RDONLY), 'raw=gray8:w=2048:h=2048', 'invert')
                seen.add(message['result'])
        finally:
            stop.set()
            cutter.join()
        self.assertLessEqual(seen, {'ok', 'truncated', 'empty'})
        self.assertEqual(self.status()['pid'], worker['pid'])
        self.sender.close()
        self.expect_descriptors(daemon, before)
        daemon.stop()


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
        self.expect_refused(client, 'data', None, 'more than 64KiB')
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
        for _ in range(200):
            client.send([good] * 2, id=1, type='status') # takes none
            self.expect_refused(client, 'data')
        client.send([good], id=1, type='status')
        self.expect_refused(client, 'data')
        with self.assertRaises(OSError):
            os.write(sealed, b'x')
        self.assertEqual(client.run(picture(), chain='sobel')[0]['result'], 'ok')
        client.close()
        self.expect_descriptors(daemon, before)

    def test_closed_ends(self):
        """Pipes and sockets whose other side is gone, and clients that go right after they asked."""
        daemon = self.serve()
        before = sockets.settled_descriptors(daemon)
        client = sockets.Jobs(self.path)
        readable, writable = os.pipe()
        os.close(writable)
        alone, peer = socket.socketpair()
        peer.close()
        orphan, end = os.pipe()
        os.close(orphan)
        good = sockets.memory(picture())
        for fds in ([readable], [alone.detach()], [good, end]):
            client.send(fds, id=1, chain='sobel')
            self.expect_refused(client, 'data')
        client.close()
        for _ in range(50):
            client = sockets.Jobs(self.path)
            client.send([good], id=1, chain='sobel')
            client.close()
        self.expect_descriptors(daemon, before)
        daemon.stop()

    # An emulator of the user's side makes room for twice what the program asked for, and keeps for itself what is
    # too much and that it was: MSG_CTRUNC.
    @unittest.skipIf(EMULATED, 'descriptors that are too many stay in the emulator')
    def test_ten_thousand_descriptors(self):
        """As many as a message takes (253 in Linux), 40 times; and five."""
        daemon = self.serve()
        before = sockets.settled_descriptors(daemon)
        client, good = sockets.Jobs(self.path), sockets.memory(picture())
        for _ in range(40):
            client.send([good] * 253, id=1, chain='sobel')
            self.expect_refused(client, 'data', None, 'descriptors')
        client.send([good] * 5, id=1, chain='sobel')
        self.expect_refused(client, 'data', None, 'descriptors')
        self.assertEqual(client.run(picture(), chain='sobel')[0]['result'], 'ok')
        client.close()
        self.expect_descriptors(daemon, before)
        daemon.stop()

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

    def test_worker_that_does_not_read(self):
        """What it is sent later is what it was to get then, though the job has ended meanwhile."""
        daemon = self.serve('--jobs', '3', fake=True)
        client = self.client()
        before = sockets.settled_descriptors(daemon)
        fd = sockets.memory(b'deaf 250')
        for i in range(3):
            client.send([fd], id=i, chain='sobel')
        for i in range(3):
            self.assertEqual(client.receive()[0]['result'], 'data')
        wait_for('what it got', lambda: self.fake_log()[1:])
        self.assertEqual(self.fake_log(), ['deaf 250', 'got 750'])
        self.assertEqual(client.run(b'next', chain='sobel')[1][''], b'next')
        self.expect_descriptors(daemon, before)
        daemon.stop()

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
        before = sockets.settled_descriptors(daemon)
        client = self.client()
        client.sock.settimeout(2)
        fd = sockets.memory(picture())
        for i in range(64):
            client.send([fd], id=100000 + i, chain='sobel', format='pgm')
        try:
            for i in range(20000):
                client.send(id=i, type='status')
        except (TimeoutError, OSError):
            pass
        begin = time.monotonic()
        other = sockets.Jobs(self.path)
        self.assertEqual(other.run(picture(), chain='sobel')[0]['result'], 'ok')
        self.assertLess(time.monotonic() - begin, 20)
        other.close()
        client.close()
        self.expect_descriptors(daemon, before)
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
        told = json.loads(self.sluice('submit', '-c', 'sobel', '-f', 'pgm', '-o', out, '--json', *inputs).stdout)
        self.assertEqual([report['result'] for report in told['files']], ['ok'] * 20)
        for i, report in enumerate(told['files']):
            with open(report['output'], 'rb') as file:
                self.assertEqual(file.read(), self.by_sluice_run(picture(seed=i))[''])
        got = self.sluice('submit', '-c', 'sobel', '-f', 'pgm', '-o', '-', '-', stdin=picture()).stdout
        self.assertEqual(got, self.by_sluice_run(picture())[''])
        self.sluice('submit', '-c', 'sobel:out=both', '-o', os.path.join(self.dir, 'both.npy'), inputs[0])
        self.assertTrue(os.path.exists(os.path.join(self.dir, 'both.dx.npy')))
        self.assertTrue(os.path.exists(os.path.join(self.dir, 'both.dy.npy')))
        told = json.loads(self.sluice('submit', '--json', '-c', 'sobel', '-o', os.path.join(self.dir, 'e.pgm'), '-c', 'box:3',
                                      '-o', os.path.join(self.dir, 'b.pgm'), inputs[0]).stdout)['files'][0]
        self.assertEqual([os.path.basename(r['output']) for r in told['results']], ['e.pgm', 'b.pgm'])
        for name, chain in (('e.pgm', 'sobel'), ('b.pgm', 'box:3')):
            with open(os.path.join(self.dir, name), 'rb') as file:
                self.assertEqual(file.read(), self.by_sluice_run(picture(seed=0), chain)[''])

    def test_submit_as_run(self):
        """Folders, names, what is there already, and what is told are the same: tests/cli/test_batch.py."""
        self.serve()
        for name in ('pictures/a.pgm', 'pictures/sub/b.pgm', 'pictures/sub/c.pgm'):
            os.makedirs(os.path.dirname(os.path.join(self.dir, name)), exist_ok=True)
            self.put(name, picture(seed=len(name)))
        self.put('pictures/notes.txt', b'hello')
        said = {}
        drivers = re.compile(r'^(sluice: device |pocl warning: |mean driver: ).*\n', re.M)
        for command in ('run', 'submit'):
            def call(*args, status=0):
                done = self.sluice(command, '-c', 'sobel', '-f', 'pgm', '-r', '-o', os.path.join(self.dir, command), *args,
                                   os.path.join(self.dir, 'pictures'), status=status)
                text = drivers.sub('', done.stderr.decode()).replace(os.path.join(self.dir, command), 'OUT')
                text = re.sub(r'P in .*', 'P', text).replace('sluice: submit: ', 'sluice: run: ')
                # A file is told when it is done, which may be before the next one is looked at.
                said[command].append(sorted(text.splitlines()))
                said[command].append(sorted(os.path.relpath(os.path.join(at, name), os.path.join(self.dir, command))
                                            for at, _, names in os.walk(os.path.join(self.dir, command)) for name in names))
                return done
            said[command] = []
            call('--name', 'x-{stem}.{ext}', '-v')
            call()
            self.put(command + '/a.pgm', b'old')
            call('--on-exists', 'skip')
            call('--on-exists', 'number')
            call('--on-exists', 'fail', status=1)
            self.put('pictures/a.bmp', picture())
            call(status=1)
            os.unlink(os.path.join(self.dir, 'pictures/a.bmp'))
            call('-c', 'sobel', status=64)
            summary = json.loads(call('--json').stdout)['summary']
            self.assertEqual([summary[k] for k in ('files', 'done', 'replaced', 'skipped', 'failed', 'pixels')],
                             [4, 3, 3, 1, 0, said.setdefault('pixels', summary['pixels'])])
        self.assertEqual(said['run'], said['submit'])
        self.assertTrue(any('4 files: 3 done, 1 skipped (1 no picture); ' in line for line in said['run'][0]), said['run'][0])
        self.assertGreater(said['pixels'], 0)

    def test_submit_is_told_once(self):
        daemon = self.serve()
        folder = os.path.join(self.dir, 'pictures')
        os.mkdir(folder)
        for i in range(30):
            self.put('pictures/%d.pgm' % i, picture(seed=i))
        out = os.path.join(self.dir, 'results')
        err = self.sluice('submit', '-c', 'luminance,sobell', '-o', out, folder, status=64).stderr.decode()
        self.assertEqual((err.count('sobell'), err.count('^^^^^^')), (2, 1), err)
        self.assertIn('30 files: 0 done, 30 left', err)
        err = self.sluice('submit', '-c', 'grey,sobell,box:radius=x', '-o', out, folder, status=64).stderr.decode()
        self.assertEqual([err.count(word) for word in ("'grey'", "'sobell'", 'radius=x: expected')], [1, 1, 1], err)
        self.assertEqual([line.strip() for line in err.splitlines() if line.endswith('^')], ['^^^^', '^^^^^^', '^'], err)
        daemon.stop()
        err = self.sluice('submit', '-c', 'sobel', '-o', out, folder, status=69).stderr.decode()
        self.assertEqual(err.count('no daemon'), 1, err)

    def test_submit_says_why_no_message_is_taken(self):
        self.serve(env={'SLUICE_RECEIVER': '/nowhere/sluiced'})
        for inputs in (['a.pgm'], ['a.pgm', 'b.pgm']):
            err = self.sluice('submit', '-c', 'sobel', '-o', os.path.join(self.dir, 'o/'),
                              *(self.put(name, picture()) for name in inputs), status=70).stderr.decode()
            self.assertEqual(err.count('no process that receives descriptors'), 1, err)

    def test_submit_says_why_the_daemon_hung_up(self):
        path = os.path.join(self.dir, 'hangs-up.sock')
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as server:
            server.bind(path)
            server.listen()
            server.settimeout(60)
            process = subprocess.Popen([SLUICE, 'submit', '-s', path, '-c', 'sobel', '-f', 'pgm', '-o', '-', '-'],
                                       stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            connection = server.accept()[0]
            connection.send(b'{"type":"done","result":"memory","text":"no more places"}')
            connection.close()
        err = process.communicate(picture())[1].decode()  # only now there is something to send
        self.assertIn('no more places', err)
        self.assertEqual(process.returncode, 70, err)

    def test_submit_ends_by_a_signal(self):
        self.serve('--jobs', '1', fake=True)
        for number, status in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            process = subprocess.Popen([SLUICE, 'submit', '-s', self.path, '-c', 'sobel', '-o', os.path.join(self.dir, 'o/'),
                                        self.put('a', b'hang'), self.put('b', b'hang')], stderr=subprocess.PIPE)
            time.sleep(5 if EMULATED else 0.5)
            process.send_signal(number)
            err = process.communicate()[1].decode()
            self.assertEqual(process.returncode, status, err)
            self.assertIn('interrupted: 0 of 2 files done', err)
            self.assertEqual(os.listdir(os.path.join(self.dir, 'o')), [])

    def test_submit_shows_a_bar(self):
        self.serve()
        folder = os.path.join(self.dir, 'pictures')
        os.mkdir(folder)
        for i in range(40):
            self.put('pictures/%d.pgm' % i, picture(300, 300, seed=i))
        master, slave = pty.openpty()
        process = subprocess.Popen([SLUICE, 'submit', '-s', self.path, '-c', 'sobel', '-f', 'png:level=9', '-o',
                                    os.path.join(self.dir, 'results'), folder], stderr=slave, env=dict(os.environ, TERM='xterm'))
        os.close(slave)
        shown = b''
        while True:
            try:
                shown += os.read(master, 65536)
            except OSError:
                break
        os.close(master)
        self.assertEqual(process.wait(), 0, shown)
        self.assertRegex(shown.decode(), r'\r\[#+\.*\] \d+/40  \d+\.\d MP/s')
        self.assertRegex(shown.decode(), r'sluice: 40 files: 40 done; 3\.6MP in ')

    def test_submit_tells_warnings(self):
        self.serve()
        odd, out = self.put('odd.png', pictures.odd_png()), os.path.join(self.dir, 'out.pgm')
        for quiet in ((), ('-q',)):
            done = self.sluice('submit', *quiet, '-o', out, odd)
            self.assertEqual(done.stderr.decode().splitlines(),
                             [] if quiet else ['sluice: %s: warning: %s' % (odd, warning)
                                               for warning in pictures.ODD_PNG_WARNINGS])

    def test_exit_statuses(self):
        daemon = self.serve()
        good, bad = self.put('a.pgm', picture()), self.put('b.pgm', b'no picture')
        out = os.path.join(self.dir, 'o.png')
        done = self.sluice('submit', '-c', 'luminance,sobell', '-o', out, good, status=64)
        self.assertIn(b'^^^^^^', done.stderr)
        done = self.sluice('submit', '-c', 'grey,sobel:scale=x,box', '-o', out, good, status=64)
        self.assertEqual(done.stderr.decode().splitlines()[2::3], ['  ^^^^', ' ' * 19 + '^', ' ' * 21 + '^^^'])
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
