#!/usr/bin/env python3
"""GET /v1/events: what happens is told to all who follow, in order, and one that does not read delays nobody."""
import json
import os
import socket
import threading
import time

from sluice_test import DaemonTest, main, picture, wait_for
import sockets


class Follower:
    """Reads events on a thread: [kind, data, id], as the standard says."""

    def __init__(self, test, path, last=None):
        self.socket = sockets.connect(path)
        self.events, self.beats, self.ended = [], 0, False
        self.socket.sendall(b'GET /v1/events HTTP/1.0\r\nHost: x\r\n%s\r\n' % (b'Last-Event-ID: %d\r\n' % last if last is not None else b''))
        self.file = self.socket.makefile('rb')
        test.assertIn(b' 200 ', self.file.readline())
        self.headers = {}
        while (line := self.file.readline()) not in (b'\r\n', b''):
            name, value = line.decode().split(':', 1)
            self.headers[name.lower()] = value.strip()
        threading.Thread(target=self.read, daemon=True).start()
        test.addCleanup(self.close)

    def read(self):
        event = {}
        try:
            for line in self.file:
                line = line.decode().rstrip('\n')
                if line.startswith(':'):
                    self.beats += 1
                elif line:
                    name, value = line.split(': ', 1)
                    event[name] = value
                elif event:
                    self.events.append((event['event'], json.loads(event['data']), int(event['id']) if 'id' in event else None))
                    event = {}
        except (OSError, ValueError):
            pass
        self.ended = True

    def of(self, name):
        return [kind for kind, data, _ in list(self.events) if data.get('name') == name]

    def close(self):
        try:
            self.socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self.socket.close()


class Events(DaemonTest):
    def setUp(self):
        super().setUp()
        self.path = os.path.join(self.dir, 'http.sock')

    def serve(self, *options, **keywords):
        return self.daemon('--http-socket', self.path, *options, **keywords).start()

    def test_jobs_and_folders(self):
        d = self.serve()
        a, b = Follower(self, self.path), Follower(self, self.path)
        self.assertEqual(a.headers['content-type'], 'text/event-stream')
        self.assertEqual(a.headers['x-accel-buffering'], 'no')  # else nginx keeps events back
        d.drop('good.pgm', picture(), 'rename')
        d.drop('bad.pgm', b'P5 no picture', 'rename')
        sockets.ask(self.path, 'POST', '/v1/process?chain=invert', picture(), {'X-Request-Id': 'mine'})
        for f in (a, b):
            wait_for('good', lambda: f.of('good.pgm') == ['begun', 'done'])
            wait_for('bad', lambda: f.of('bad.pgm') == ['begun', 'failed'])
            wait_for('request', lambda: [k for k, data, _ in list(f.events) if data.get('request') == 'mine'] == ['begun', 'done'])
        self.assertEqual(a.events, b.events)
        kind, data, _ = next(e for e in a.events if e[0] == 'failed')
        self.assertEqual((data['source'], data['folder'], data['reason']), ('watch', d.input, 'data'))
        self.assertIn('pnm', data['message'])
        kind, data, _ = next(e for e in a.events if e[0] == 'done' and e[1]['name'] == 'good.pgm')
        self.assertEqual(data['results'], ['good.pgm'])
        self.assertGreater(data['seconds'], 0)
        self.assertRegex(data['time'], r'^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$')
        self.assertEqual([e[2] for e in a.events], list(range(len(a.events))))
        # a folder that goes and comes back
        os.rename(d.input, d.input + '-away')
        with open(d.input, 'wb'):  # else it would be made anew
            pass
        wait_for('lost', lambda: [data['state'] for kind, data, _ in list(a.events) if kind == 'folder'] == ['lost'])
        os.unlink(d.input)
        os.rename(d.input + '-away', d.input)
        wait_for('back', lambda: [data['state'] for kind, data, _ in list(a.events) if kind == 'folder'] == ['lost', 'ok'])
        # what came before is told to who comes later, and the rest to who comes again
        late = Follower(self, self.path)
        wait_for('all', lambda: late.events == a.events)
        again = Follower(self, self.path, last=a.events[-2][2])
        wait_for('the last one', lambda: again.events == a.events[-1:])
        # streams do not keep the daemon from its end, and end with it
        d.stop()
        wait_for('ends', lambda: a.ended and b.ended and late.ended)

    def test_one_that_does_not_read(self):
        d = self.serve(chain='invert')
        deaf = sockets.connect(self.path)
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        deaf.sendall(b'GET /v1/events HTTP/1.1\r\nHost: x\r\n\r\n')
        hears = Follower(self, self.path)
        slow = []
        client = sockets.Http(self.path)
        for i in range(1500):
            begun = time.monotonic()
            client.request('POST', '/v1/process?chain=invert&format=pgm', picture(8, 8))
            client.getresponse().read()
            slow.append(time.monotonic() - begun)
        client.close()
        wait_for('all events', lambda: sum(e[0] == 'done' for e in list(hears.events)) + sum(e[1]['lost'] for e in list(hears.events) if e[0] == 'lost') >= 1500)
        self.assertLess(sorted(slow)[len(slow) // 2], 0.5)
        # who does not read for 30 s is cut; what it has then is whole up to the last event, and less than all
        deaf.settimeout(60)
        time.sleep(32)  # its deadline
        got = b''
        try:
            while piece := deaf.recv(65536):
                got += piece
        except OSError:
            pass
        self.assertLess(got.count(b'event: done'), 1500)
        deaf.close()
        wait_for('connections', lambda: sockets.ask(self.path, 'GET', '/v1/status').json()['connections']['http'] == 2)
        d.stop()

    def test_many_and_beats(self):
        d = self.serve()
        followers = [Follower(self, self.path) for _ in range(64)]
        answer = sockets.ask(self.path, 'GET', '/v1/events')
        self.assertEqual((answer.status, answer.json()['code']), (503, 'connections'))
        self.assertEqual(sockets.ask(self.path, 'POST', '/v1/events').status, 405)
        self.assertEqual(sockets.ask(self.path, 'GET', '/v1/events?x=1').status, 400)
        # who hangs up is noticed at once, and makes room
        followers[0].close()
        wait_for('room', lambda: sockets.ask(self.path, 'GET', '/v1/status').json()['connections']['http'] <= 64)
        Follower(self, self.path)
        wait_for('a beat', lambda: all(f.beats > 0 for f in followers[1:]), 60)
        d.drop('a.pgm', picture(), 'rename')
        wait_for('all hear', lambda: all(f.of('a.pgm') == ['begun', 'done'] for f in followers[1:]))
        d.stop()


if __name__ == '__main__':
    main()
