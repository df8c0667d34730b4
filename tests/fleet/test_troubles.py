#!/usr/bin/env python3
"""Faults of every kind: certificates, credentials and permissions; failures of the daemon and of the store; full
streams; sizes at their limits; and orderly ends."""
import array
import fcntl

from fleet import *
from secrets_for_tests import Authority, Operator

MIB = 1 << 20


class FakeDaemon:
    """A jobs socket whose answers are `answers` in turn, then results that are the pictures themselves: the word of a
    failure, 'hang-up', or seconds that the result takes."""

    def __init__(self, test, answers=(), ready=True, result=None):
        self.path = os.path.join(test.dir, 'fake-%s.sock' % os.urandom(3).hex())
        self.answers, self.ready, self.jobs, self.result = list(answers), ready, 0, result
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.sock.bind(self.path)
        self.sock.listen(50)
        test.addCleanup(self.sock.close)
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                client, _ = self.sock.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client):
        with client:
            self._answer(client)

    def _answer(self, client):
        while True:
            data, control, _, _ = client.recvmsg(65536, socket.CMSG_SPACE(8))
            if not data:
                return
            asked, fds = json.loads(data), array.array('i')
            for _, _, given in control:
                fds.frombytes(given)
            if asked.get('type') == 'status':
                client.send(json.dumps({'type': 'status', 'id': asked['id'], 'result': 'ok',
                                        'status': {'state': 'ready', 'ready': self.ready}}).encode())
                continue
            self.jobs += 1
            answer = self.answers.pop(0) if self.answers else 'ok'
            if answer == 'hang-up':
                client.close()
                os.close(fds[0])
                return
            if isinstance(answer, (int, float)):
                time.sleep(answer)
                answer = 'ok'
            told = {'type': 'done', 'id': asked['id'], 'result': answer, 'text': 'as the test wants it', 'media_type': 'image/x',
                    'total': 1000}
            with os.fdopen(fds[0], 'rb') as file:
                file.seek(0)
                picture_bytes = file.read()
            if answer != 'ok':
                client.send(json.dumps(told).encode())
                continue
            out = os.memfd_create('result', os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
            os.write(out, picture_bytes if self.result is None else self.result)
            fcntl.fcntl(out, 1033, 15)
            try:
                client.sendmsg([json.dumps(told).encode()], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array('i', [out]))])
            except BrokenPipeError:
                return
            finally:
                os.close(out)


class Secrets(FleetTest):
    def expect_end(self, status, pattern, hub, **settings):
        relay = Relay(self, hub, '/nonexistent', **settings)
        relay.start(ready=False).wait(status)
        self.assertEqual(len([line for line in relay.lines if re.search(pattern, line)]), 1, relay.log())

    def test_certificates(self):
        ca, other = Authority(self.dir), Authority(self.dir, 'other')
        tls = 'tls { cert_file: "%s", key_file: "%s" }\n'
        hub = self.hub(streams=False, config=tls % ca.certificate('hub'))
        hub.streams(ca=ca.path)
        url = ['tls://127.0.0.1:%d' % hub.port]
        machine = self.machine(hub, servers=url, tls={'ca': ca.path}).start()
        client = hub.client(ca=ca.path)
        self.put_job(client, 'a', picture())
        self.expect_ok(client, 'a', picture())
        machine.stop()
        self.expect_end(77, 'the certificate is refused', hub, servers=url, tls={'ca': other.path})
        self.expect_end(77, 'the certificate is refused', hub, servers=url)  # the system knows no such CA
        self.expect_end(78, 'tls', hub, servers=url, tls={'ca': ca.key})
        self.expect_end(77, 'the certificate is refused', hub)  # nats:// to a server with TLS
        for name, names, days in ('elsewhere', 'DNS:hub.example', 30), ('old', 'IP:127.0.0.1', 0):
            bad = self.hub(streams=False, config=tls % ca.certificate(name, names, days))
            self.expect_end(77, 'the certificate is refused', hub, servers=['tls://127.0.0.1:%d' % bad.port], tls={'ca': ca.path})
        # Another certificate while it runs.
        machine.start()
        hub.kill()
        hub.configure(tls % other.certificate('another'))
        hub.start()
        self.assertIn('the certificate is refused', machine.relay.wait(77))

    def test_handshake_breaks_off(self):
        """That is the link's trouble, not the certificate's."""
        ca = Authority(self.dir)
        with socket.create_server(('127.0.0.1', 0)) as server:
            relay = Relay(self, None, '/nonexistent', servers=['tls://127.0.0.1:%d' % server.getsockname()[1]], tls={'ca': ca.path})
            relay.start(ready=False)
            for _ in range(3):
                client = server.accept()[0]
                client.sendall(b'INFO {"server_id":"x","version":"2.12.0","headers":true,"tls_required":true,"max_payload":8388608}\r\n')
                client.recv(100)
                client.close()
            relay.expect_line('no server answers at tls://127.0.0.1:.*TLS handshake.*tried again')
            relay.stop()

    def test_credentials_files(self):
        """Those of NATS: tokens that an operator's account signed."""
        operator = Operator(self.dir)
        hub = self.hub(streams=False, config=operator.config())
        admin, key = operator.user('admin')
        with open(admin, encoding='ascii') as file:
            token = file.read().split('\n')[1]
        client = hub.client(sign=(token, key.sign))
        for name, subjects, retention in (('JOBS', 'sluice.jobs.*.*', 'workqueue'), ('DONE', 'sluice.done.*', 'limits'),
                                          ('DEAD', 'sluice.dead.>', 'limits')):
            client.api('STREAM.CREATE.' + name, {'name': name, 'subjects': [subjects], 'retention': retention, 'storage': 'file'})
        client.api('CONSUMER.DURABLE.CREATE.JOBS.fleet', {'stream_name': 'JOBS', 'config': {
            'durable_name': 'fleet', 'ack_policy': 'explicit', 'ack_wait': 30 * 10 ** 9, 'max_deliver': -1}})
        board, board_key = operator.user('board')
        machine = self.machine(hub, credentials=board).start()
        self.put_job(client, 'a', picture())
        self.expect_ok(client, 'a', picture())
        stranger = Operator(os.path.join(self.dir)).user('stranger')[0]
        self.expect_end(77, 'the server refuses the credentials', hub, credentials=stranger)
        operator.revoke(board_key)
        hub.configure(operator.config())
        hub.kill()  # accounts in its configuration are read at a start alone
        hub.start()
        self.assertIn('the server refuses the credentials', machine.relay.wait(77))
        with open(board, encoding='ascii') as file:
            for line in file.read().split('\n'):
                if len(line) > 30 and not line.startswith('-'):
                    self.assertNotIn(line, machine.relay.log())
        machine.daemon.stop()

    def test_permissions(self):
        """The example's: what a board needs it may, and no more."""
        subprocess.run(['sh', os.path.join(EXAMPLES, 'fleet.sh'), '127.0.0.1', 'board1', 'board2'], cwd=self.dir, check=True,
                       stdout=subprocess.DEVNULL)
        folder = os.path.join(self.dir, 'fleet')
        with open(os.path.join(folder, 'hub', 'nats-server.conf'), encoding='utf-8') as file:
            config = file.read().replace('/etc/nats', os.path.join(folder, 'hub')).replace('http: 127.0.0.1:8222', '')
        hub = self.hub(streams=False, config=config[config.index('tls {'):])
        ca = os.path.join(folder, 'ca.pem')
        files = {name: os.path.join(folder, name + '.creds') for name in ('admin', 'producer')}
        files.update((name, os.path.join(folder, name, 'nats.creds')) for name in ('board1', 'board2'))

        def client_as(user):
            with open(files[user], encoding='ascii') as file:
                name, password = file.read().strip().split(':')
            return Nats(hub.port, user=name, password=password, ca=ca)

        def enqueue(user, *arguments):
            return subprocess.run([SLUICE, 'enqueue', '-s', 'tls://127.0.0.1:%d' % hub.port, '--ca', ca, '--credentials', files[user], '-c',
                                   'sobel', *arguments], input=picture(), capture_output=True)
        hub.streams(credentials=files['admin'], ca=ca)
        url = ['tls://127.0.0.1:%d' % hub.port]
        machine = self.machine(hub, servers=url, tls={'ca': ca}, credentials=files['board1'], inbox='_INBOX_board1').start()
        admin = client_as('admin')
        run = enqueue('producer', '-o', os.path.join(self.dir, 'out.png'), '-')
        self.assertEqual(run.returncode, 0, run.stderr)
        self.put_job(admin, 'bad', b'no picture')
        self.expect_failed(admin, 'bad', 'format')
        self.assertNotIn('ermission', machine.relay.log())
        # Not: to put jobs in, to read what others are answered, to change streams.
        run = enqueue('board1', '-')
        self.assertEqual(run.returncode, 77, run.stderr)
        self.assertIn(b'the credentials do not permit it', run.stderr)
        for what in ('SUB _INBOX_board2.> 5', 'SUB sluice.jobs.> 5', 'PUB sluice.jobs.a.b 0\r\n', 'PUB $JS.API.STREAM.PURGE.JOBS 0\r\n'):
            board = client_as('board1')
            board._send(what.encode() + b'\r\n')
            with self.assertRaises(NatsError) as caught:
                while True:
                    board.next(2)
            self.assertIn('Permissions Violation', str(caught.exception))
            board.close()
        # A board that may not say it is done holds no job for ever, and tells.
        machine.relay.stop()
        self.put_job(admin, 'c', picture())
        machine.relay.settings.update(credentials=files['producer'], inbox=None)
        machine.relay.write()
        machine.relay.start(ready=False)
        machine.relay.expect_line('Permissions Violation')
        machine.relay.expect_line('nothing is fetched until that changes')
        machine.relay.stop()


class Daemons(FleetTest):
    def start(self, *answers, **keywords):
        settings = keywords.pop('settings', {})
        hub = self.hub()
        fake = FakeDaemon(self, answers, **keywords)
        relay = Relay(self, hub, fake.path, **settings)
        relay.start(ready=keywords.get('ready', True))
        return hub.client(), fake, relay

    def test_elsewhere(self):
        """Trouble that is not the picture's: given back, done in the end."""
        words = ['busy', 'device', 'no-device', 'memory', 'no-space', 'io', 'interrupted', 'too-many-kernels', 'hang-up']
        hub = self.hub()
        client = hub.client()
        for word in words:
            with self.subTest(word):
                fake = FakeDaemon(self, [word])
                relay = Relay(self, hub, fake.path).start()
                self.put_job(client, 'e-' + word, b'picture')
                message = self.result(client, 'e-' + word)
                self.assertEqual((message.headers['Sluice-Status'], message.data), ('ok', b'picture'))
                relay.expect_line('delivery 1: given back for 1 s: %s' % ('no-device' if word == 'hang-up' else word))
                self.assertEqual(fake.jobs, 2)
                self.expect_empty(client)
                relay.stop()

    def test_own(self):
        words = ['usage', 'chain', 'format', 'data', 'truncated', 'empty', 'limit', 'shape', 'verify', 'internal', 'crashed-worker',
                 'job-time']
        client, fake, relay = self.start(*words)
        for word in words:
            self.put_job(client, 'o-' + word, b'picture')
            self.expect_failed(client, 'o-' + word, word)
        self.expect_empty(client)
        self.assertEqual((fake.jobs, client.consumer()['num_redelivered']), (len(words), 0))
        relay.stop()

    def test_ever_again(self):
        """A job that every machine fails at ends in DEAD; the relay asks for less and less meanwhile."""
        client, fake, relay = self.start(*['device'] * 3, settings={'deliveries': 2})
        self.put_job(client, 'again', b'picture')
        self.expect_failed(client, 'again', 'interrupted')
        self.assertEqual(fake.jobs, 2)
        self.assertEqual(client.get('DEAD', 'sluice.dead.test.again').data, b'picture')
        fake.answers.clear()
        self.put_job(client, 'next', b'picture')
        self.assertEqual(self.result(client, 'next').headers['Sluice-Status'], 'ok')
        relay.stop()

    def test_not_ready(self):
        client, fake, relay = self.start(ready=False)
        relay.expect_line('takes no jobs: its device is not ready; nothing is fetched')
        self.put_job(client, 'r', b'picture')
        time.sleep(3)
        self.assertEqual((fake.jobs, client.consumer()['delivered']['consumer_seq']), (0, 0))
        fake.ready = True
        self.result(client, 'r')
        relay.stop()

    def test_drain(self):
        """SIGTERM: what runs is ended, what does not end in time is given back, status 0."""
        client, _, relay = self.start(3)
        self.put_job(client, 'runs', b'picture')
        relay.expect_line('runs: submitted')
        relay.stop()
        self.assertEqual(client.get('DONE', 'sluice.done.runs').headers['Sluice-Status'], 'ok')
        self.assertEqual(client.state('JOBS')['messages'], 0)
        fake = FakeDaemon(self, [60])
        relay = Relay(self, None, fake.path, servers=relay.settings['servers'], limits='shutdown: 2s').start()
        self.put_job(client, 'slow', b'picture')
        relay.expect_line('slow: submitted')
        begun = time.monotonic()
        relay.stop()
        self.assertLess(time.monotonic() - begun, 8)
        relay.expect_line('slow: given back, since the relay is ending')
        message = wait_for('its return', client.fetch)  # at once, not after the ack wait
        self.assertTrue(message.subject.endswith('.slow') and '.2.' in message.reply, message.reply)

    def test_sizes(self):
        """At the limits of a message, of ours and of the server's."""
        hub = self.hub()
        client = hub.client()
        for size, limit, good in ((8000000, '8MB', True), (8000001, '8MB', False), (100000, '100kB', True), (100001, '100kB', False)):
            fake = FakeDaemon(self, result=b'r' * size)
            relay = Relay(self, hub, fake.path, inline=limit).start()
            name = 's%d' % size
            self.put_job(client, name, b'picture')
            if good:
                self.assertEqual(len(self.result(client, name).data), size)
            else:
                text = self.expect_failed(client, name, 'limit').headers['Sluice-Text']
                self.assertIn('%d bytes' % size, text)
                self.assertIn('Sluice-Result', text)
            self.expect_empty(client)
            relay.stop()
        # As large as the server takes, from a producer that leaves no room; and into DEAD.
        fake = FakeDaemon(self, ['device'] * 2, result=b'small')
        relay = Relay(self, hub, fake.path, deliveries=1).start()
        head = len(b'NATS/1.0\r\nSluice-Chain: sobel\r\n\r\n')
        client.put('sluice.jobs.test.huge', b'h' * (8 * MIB - head), {'Sluice-Chain': 'sobel'})
        self.expect_failed(client, 'huge', 'interrupted')
        self.assertEqual(client.get('DEAD', 'sluice.dead.test.huge').data, b'')
        relay.expect_line('too many for the stream DEAD')
        self.expect_empty(client)
        relay.stop()
        # A server that takes less than `inline`.
        small = Hub(self)
        small.text = small.text.replace('8MB', '1MB')
        small.configure('')
        small.start()
        small.streams(message=MIB)
        client = small.client()
        for size, good in ((MIB - 65536, True), (MIB - 65535, False)):
            fake = FakeDaemon(self, result=b'r' * size)
            relay = Relay(self, small, fake.path).start()
            self.put_job(client, 't%d' % size, b'picture')
            if good:
                self.assertEqual(len(self.result(client, 't%d' % size).data), size)
            else:
                self.expect_failed(client, 't%d' % size, 'limit')
            relay.stop()


class Hubs(FleetTest):
    def test_no_server(self):
        port = free_port()
        relay = Relay(self, None, '/nonexistent', servers=['nats://127.0.0.1:%d' % port])
        begun = time.monotonic()
        relay.start(ready=False).wait(69, 100)
        took = time.monotonic() - begun
        self.assertTrue(55 < took < 75, took)
        self.assertIn('no server answers', relay.lines[-1])
        # It may come in between, and go again.
        machine = self.machine(None, servers=['nats://127.0.0.1:%d' % port])
        machine.daemon.start()
        machine.relay.start(ready=False)
        machine.relay.expect_line('no server answers.*tried again')
        hub = Hub(self, port=port).start()
        hub.streams()
        machine.relay.expect_line('the streams are there')
        hub.kill()
        machine.relay.expect_line('the link is down')
        time.sleep(3)
        hub.start()
        client = hub.client()
        self.put_job(client, 'a', picture())
        self.expect_ok(client, 'a', picture())
        machine.stop()

    def test_done_is_gone(self):
        hub = self.hub()
        machine = self.machine(hub).start()
        client = hub.client()
        client.api('STREAM.DELETE.DONE')
        before = len(machine.relay.lines)
        self.put_job(client, 'b', picture())
        machine.relay.expect_line('stream not found; nothing is fetched|publish: no stream takes this subject', after=before)
        hub.streams()
        self.expect_ok(client, 'b', picture())

    def test_full(self):
        """A stream of results that is full: they wait in the relay, no job is done twice, none is lost."""
        hub = self.hub()
        client = hub.client()
        config = client.api('STREAM.INFO.DONE')['config']
        client.api('STREAM.UPDATE.DONE', dict(config, max_bytes=20000))
        fake = FakeDaemon(self, result=b'r' * 6000)
        relay = Relay(self, hub, fake.path, jobs=3).start()
        for i in range(12):
            self.put_job(client, 'f%d' % i, b'picture')
        relay.expect_line('not kept: .*maximum bytes')
        time.sleep(3)
        state = client.state('DONE')['messages']
        self.assertTrue(2 <= state <= 3, state)
        self.assertEqual(fake.jobs, state + 3)
        client.api('STREAM.UPDATE.DONE', dict(config, max_bytes=10 ** 7))
        for i in range(12):
            self.assertEqual(self.result(client, 'f%d' % i).headers['Sluice-Status'], 'ok')
        self.expect_empty(client)
        self.assertEqual((fake.jobs, client.state('DEAD')['messages']), (12, 0))
        relay.stop()

    def test_store_away(self):
        """For longer than all deliveries would last: the jobs stay where they are, and are done."""
        hub = self.hub(streams=False)
        hub.streams(ack_wait=15)
        client, store = hub.client(), Store(self)
        fake = FakeDaemon(self)
        relay = Relay(self, hub, fake.path, get=[store.url + '/'], put=[store.url + '/'], deliveries=1, jobs=2).start()
        store.trouble = lambda method, path, count: 503
        store.files.update({'/a': b'picture a', '/b': b'picture b'})
        for name in 'ab':
            self.put_job(client, name, Source='%s/%s' % (store.url, name), Result='%s/out-%s' % (store.url, name))
        time.sleep(40)
        store.trouble = None
        for name in 'ab':
            self.assertEqual(self.result(client, name).headers['Sluice-Status'], 'ok')
            self.assertEqual(store.files['/out-' + name], b'picture ' + name.encode())
        self.expect_empty(client)
        self.assertEqual(client.consumer()['num_redelivered'], 0)
        relay.stop()
        self.assertGreater(relay.metrics()['sluice_relay_store_retries_total'], 4)

    def test_consumer_settings(self):
        hub = self.hub()
        client = hub.client()
        fake = FakeDaemon(self)
        client.api('CONSUMER.DELETE.JOBS.fleet')
        client.api('CONSUMER.DURABLE.CREATE.JOBS.fleet', {'stream_name': 'JOBS', 'config': {
            'durable_name': 'fleet', 'ack_policy': 'explicit', 'ack_wait': 30 * 10 ** 9, 'max_deliver': 3}})
        relay = Relay(self, hub, fake.path).start()
        relay.expect_line('consumer fleet: max_deliver is not -1')
        relay.stop()


if __name__ == '__main__':
    main()
