#!/usr/bin/env python3
"""The fleet in half a minute: pictures inline and by URL, what becomes of bad jobs, what is refused and how that is
told, and that no secret is. The rest is the suite `fleet`."""
import resource

from fleet import *
import schema  # noqa: E402

SECRET = 'dont-tell-this-1'


class Jobs(FleetTest):
    """One hub, one machine and one store for all, since each takes a second to start."""

    def setUp(self):
        super().setUp()
        self.server = self.hub()
        self.client = self.server.client()
        self.store = Store(self)
        self.box = self.machine(self.server, daemon_options=('--max-file', '1MB'), limits='max_file: 1MB, jobs: 2',
                                get=[self.store.url + '/in/'], put=[self.store.url + '/out/']).start()

    def test_good(self):
        for i in range(12):
            name, data = 'p%d' % i, picture(seed=i)
            headers = {'SHA256': hashlib.sha256(data).hexdigest()} if i % 2 else {}
            if i % 3 == 1:
                self.store.files['/in/%s' % name] = data
                headers['Source'] = '%s/in/%s?token=%s' % (self.store.url, name, SECRET)
            if i % 4 == 3:
                headers['Result'] = '%s/out/%s?token=%s' % (self.store.url, name, SECRET)
            self.put_job(self.client, name, b'' if 'Source' in headers else data, **headers)
        for i in range(12):
            name, expected = 'p%d' % i, self.by_sluice_run(picture(seed=i))['']
            message = self.result(self.client, name)
            self.assertEqual(message.headers['Sluice-Status'], 'ok', message.headers)
            self.assertEqual(message.headers['Sluice-Media-Type'], 'image/x-portable-anymap')
            self.assertEqual(message.headers['Sluice-Machine'], 'one')
            self.assertEqual(message.headers['Sluice-Size'], str(len(expected)))
            self.assertEqual(message.headers['Sluice-SHA256'], hashlib.sha256(expected).hexdigest())
            timings = json.loads(message.headers['Sluice-Timings'])
            self.assertTrue(0 < timings['total_s'] < 100, timings)
            if i % 4 == 3:
                self.assertEqual(message.data, b'')
                self.assertEqual(self.store.files['/out/' + name], expected)
            else:
                self.assertEqual(message.data, expected)
        self.expect_empty(self.client)
        # A second result of an id is refused, and a job that has one is not done again.
        with self.assertRaises(ApiError) as caught:
            self.client.put('sluice.done.p0', b'', {'Nats-Expected-Last-Subject-Sequence': '0'})
        self.assertEqual(caught.exception.code, 10071)
        self.put_job(self.client, 'p0', b'something else')
        self.expect_empty(self.client)
        self.assertEqual(self.client.state('DONE')['messages'], 12)
        # What is there already in the store is not sent a second time.
        self.store.files['/out/there'] = b'as it was'
        self.put_job(self.client, 'there', picture(), Result=self.store.url + '/out/there')
        self.assertEqual(self.result(self.client, 'there').headers['Sluice-Status'], 'ok')
        self.assertEqual(self.store.files['/out/there'], b'as it was')
        self.assertNotIn(SECRET, self.box.relay.log())
        self.box.stop()
        figures = self.box.relay.metrics()
        self.assertEqual(figures['sluice_relay_jobs_total{result="ok"}'], 13)
        self.assertEqual(figures['sluice_relay_get_seconds_count'], 4)
        self.assertEqual(figures['sluice_relay_put_seconds_count'], 4)

    def test_bad(self):
        good, put, client, url = picture(), self.put_job, self.client, self.store.url
        self.store.files['/in/x'] = self.store.files['/in/later'] = good
        self.store.files['/in/large'] = bytes(1000001)

        def trouble(method, path, count):
            if path.startswith('/in/status'):
                return int(path[-3:])
            return 503 if path == '/in/later' and count == 1 else 501 if path == '/out/old' and count == 1 else None
        self.store.trouble = trouble
        cases = [
            ('chain', 'chain', dict(data=good, chain='sobell')), ('format', 'usage', dict(data=good, form='gif')),
            ('data', 'format', dict(data=b'no picture')), ('cut', 'truncated', dict(data=good[:200])),
            ('empty', 'empty', dict()), ('both', 'usage', dict(data=good, Source=url + '/in/x')),
            ('header', 'usage', dict(data=good, Chian='sobel')), ('digest', 'usage', dict(data=good, SHA256='abc')),
            ('wrong', 'data', dict(data=good, SHA256='0' * 64)),
            ('planes', 'shape', dict(data=good, chain='sobel:out=both', form='png')),
            ('outside', 'permission', dict(Source=url + '/out/x')), ('inside', 'permission', dict(Source=url + '/in/../x')),
            ('file', 'usage', dict(Source='file:///etc/passwd')),
            ('where', 'permission', dict(data=good, Result=url + '/in/x')),
            ('gone', 'no-input', dict(Source=url + '/in/status-404')), ('expired', 'no-input', dict(Source=url + '/in/status-403')),
            ('redirect', 'no-input', dict(Source=url + '/in/status-302')), ('large', 'limit', dict(Source=url + '/in/large')),
        ]
        for name, _, told in cases:
            put(client, name, **told)
        put(client, 'later', Source=url + '/in/later')
        put(client, 'old', good, Result=url + '/out/old')
        put(client, 'npz', good, chain='sobel:out=both', form=None)
        for name, code, _ in cases:
            with self.subTest(name):
                message = self.expect_failed(client, name, code)
                self.assertNotEqual(message.headers['Sluice-Text'], '')
        self.assertIn('did you mean Sluice-Chain', client.get('DONE', 'sluice.done.header').headers['Sluice-Text'])
        self.assertIn('redirects are not followed', client.get('DONE', 'sluice.done.redirect').headers['Sluice-Text'])
        # An answer 5xx is waited out in the slot: no delivery is used up.
        self.assertEqual(self.result(client, 'later').data, self.by_sluice_run(good)[''])
        self.assertEqual(self.result(client, 'old').headers['Sluice-Status'], 'ok')
        self.assertEqual(self.store.files['/out/old'], self.by_sluice_run(good)[''])
        self.assertEqual(self.result(client, 'npz').headers['Sluice-Media-Type'], 'application/zip')
        self.expect_empty(client)
        self.assertEqual(client.consumer()['num_redelivered'], 0)

    def test_empty_headers(self):
        """They count as left out. libnats before 3.11 reads the next line as the value, and nothing if one is the last."""
        data, client = picture(), self.client
        self.put_job(client, 'chain', data, chain='')
        self.put_job(client, 'several', data, chain='', form='', Input='', SHA256=hashlib.sha256(data).hexdigest())
        self.put_job(client, 'wrong', data, chain='', form='', SHA256='0' * 64)
        told = {'X-Note': '', 'Sluice-Input': '', 'Nats-Msg-Id': 'foreign', 'Sluice-Chain': 'sobel', 'Sluice-Format': 'pgm'}
        client.put('sluice.jobs.test.foreign', data, told)
        self.put_job(client, 'last', data, Input='')
        self.expect_ok(client, 'chain', data, chain='')
        self.expect_ok(client, 'several', data, chain='', form='png')
        self.expect_failed(client, 'wrong', 'data')
        self.expect_ok(client, 'foreign', data)
        if self.result(client, 'last').headers['Sluice-Status'] == 'ok':
            self.expect_ok(client, 'last', data)
        else:
            self.assertIn('empty', self.expect_failed(client, 'last', 'usage').headers['Sluice-Text'])

    def test_dead(self):
        """A job that nobody could do, and one that has no id."""
        self.box.relay.stop()
        self.put_job(self.client, 'cursed', picture())
        self.client.put('sluice.jobs.test.no_good=id', b'x', {'Sluice-Chain': 'sobel'})
        left = {'cursed': 5, 'no_good=id': 1}
        while any(left.values()):  # the second is no matter of deliveries
            message = wait_for('a delivery', self.client.fetch)
            name = message.subject.split('.')[-1]
            left[name] = max(0, left[name] - 1)
            self.client.publish(message.reply, b'-NAK' if left['cursed'] or name == 'cursed' else b'-NAK {"delay": 1000000000}')
        self.box.relay.start()
        message = self.expect_failed(self.client, 'cursed', 'interrupted')
        self.assertIn('DEAD', message.headers['Sluice-Text'])
        self.expect_empty(self.client)
        dead = self.client.get('DEAD', 'sluice.dead.test.cursed')
        self.assertRegex(dead.headers['Sluice-Dead'], r'^no verdict after ([5-9]|\d\d+) deliveries$')
        self.assertEqual((dead.data, dead.headers['Sluice-Chain']), (picture(), 'sobel'))
        self.assertEqual(self.client.get('DEAD', 'sluice.dead.test.no_good=id').data, b'x')

    def test_stray(self):
        """What somebody else sends to where a job is waited for is no job, and does no harm."""
        spy = self.server.client()
        spy.subscribe('$JS.API.CONSUMER.MSG.NEXT.>')
        for headers in (None, {'Not': 'a status'}):
            spy.publish(spy.next(60).reply, b'stray', headers)
        self.put_job(self.client, 'behind', picture())
        self.expect_ok(self.client, 'behind', picture())
        self.assertIsNone(self.box.relay.process.poll())

    def test_end_and_return(self):
        """The daemon goes and comes back; SIGTERM gives back what is not done, SIGKILL leaves it to the ack wait."""
        self.box.daemon.stop()
        self.box.relay.expect_line('nothing is fetched until that changes')
        time.sleep(1)  # what the slots had asked for before is withdrawn
        self.put_job(self.client, 'waits', picture(seed=1))
        time.sleep(1)
        self.assertEqual(self.client.consumer()['delivered']['consumer_seq'], 0)
        self.box.daemon.start()
        self.expect_ok(self.client, 'waits', picture(seed=1))
        self.store.trouble = lambda method, path, count: 503
        self.put_job(self.client, 'held', Source=self.store.url + '/in/x')
        self.box.relay.expect_line('held: .*503.*tried again')
        begun = time.monotonic()
        self.box.relay.stop()
        self.assertLess(time.monotonic() - begun, 5)
        self.box.relay.expect_line('held: given back')
        self.assertIsNone(self.client.get('DONE', 'sluice.done.held'))
        self.store.trouble, self.store.files['/in/x'] = None, picture()
        self.box.relay.start()
        self.expect_ok(self.client, 'held', picture())


class Ends(FleetTest):
    """Wrong settings and servers: one clear line, the right status, no secret."""

    def expect_end(self, status, pattern, hub=None, env=None, **settings):
        relay = Relay(self, hub, '/nonexistent', env=env, **settings)
        relay.start(ready=False).wait(status)
        self.assertRegex(relay.log(), pattern)
        self.assertNotIn(SECRET, relay.log())
        self.assertEqual(len([line for line in relay.lines if re.search(pattern, line)]), 1, relay.log())

    def test_settings(self):
        hub = self.hub(streams=False)
        self.expect_end(78, 'servers is missing')
        self.expect_end(78, "no key 'server'; did you mean 'servers'", hub, server='x')
        self.expect_end(78, 'servers: expected nats://', servers=['http://x:%s@y' % SECRET])
        self.expect_end(78, 'servers: expected nats://', servers=['nats://127.0.0.1:99999'])
        self.expect_end(78, 'servers: expected nats://', hub, env={'SLUICE_RELAY_SERVERS': 'hub:4222'})
        self.expect_end(78, 'credentials: /nonexistent/x: No such file', hub, credentials='/nonexistent/x')
        self.expect_end(78, 'tls: ca: /nonexistent/x: No such file', hub, tls={'ca': '/nonexistent/x'})
        self.expect_end(78, 'no such setting; did you mean SLUICE_RELAY_STREAM', hub, env={'SLUICE_RELAY_STREEM': 'X'})
        self.expect_end(78, 'the server does not offer TLS', servers=['tls://127.0.0.1:%d' % hub.port])
        for arguments, status in (['--config', '/nonexistent/x'], 78), ([], 64), (['x'], 64), (['--nonsense'], 64), (['--help'], 0):
            run = subprocess.run([RELAY, *arguments], capture_output=True, text=True)
            self.assertEqual(run.returncode, status, run.stderr)

    def test_credentials(self):
        path = os.path.join(self.dir, 'credentials')

        def write(text):
            with open(path, 'w', encoding='utf-8') as file:
                file.write(text)
        users = 'authorization { users: [ {user: "board-1", password: "%s"} ] }\n'
        hub = self.hub(streams=False, config=users % SECRET)
        write('board-1:%s\n' % SECRET)
        hub.streams(credentials=path)
        machine = self.machine(hub, credentials=path).start()
        pid = machine.relay.process.pid
        with open('/proc/%d/cmdline' % pid, 'rb') as file:
            self.assertNotIn(SECRET.encode(), file.read())
        self.assertEqual(resource.prlimit(pid, resource.RLIMIT_CORE), (0, 0))
        client = hub.client(user='board-1', password=SECRET)
        self.put_job(client, 'a', picture())
        self.expect_ok(client, 'a', picture())
        # Refused at the start.
        write('board-1:something-else\n')
        self.expect_end(77, 'the server refuses the credentials', hub, credentials=path)
        self.expect_end(77, 'the server refuses the credentials', hub)
        write('-----BEGIN SOMETHING-----\n%s\n' % SECRET)
        self.expect_end(77, 'neither NATS credentials', hub, credentials=path)
        # Revoked while it runs.
        hub.configure(users % 'another')
        hub.reload()
        self.assertIn('the server refuses the credentials', machine.relay.wait(77))
        self.assertNotIn(SECRET, machine.relay.log())

    def test_old_hub(self):
        if not old_server():
            self.skipTest('no nats-server before 2.10 is here')
        hub = self.hub(server=old_server(), streams=False)
        run = subprocess.run(['sh', os.path.join(EXAMPLES, 'streams.sh'), '127.0.0.1:%d' % hub.port], capture_output=True, text=True)
        self.assertIn('older than 2.10', run.stderr)
        client = hub.client()
        client.api('STREAM.CREATE.JOBS', {'name': 'JOBS', 'subjects': ['sluice.jobs.*.*'], 'retention': 'workqueue', 'storage': 'file'})
        client.api('CONSUMER.DURABLE.CREATE.JOBS.fleet', {'stream_name': 'JOBS', 'config': {'durable_name': 'fleet', 'ack_policy': 'explicit'}})
        self.expect_end(69, 'older than 2.10', hub)
        with open(os.path.join(self.dir, 'x.pgm'), 'wb') as file:
            file.write(picture())
        run = subprocess.run([SLUICE, 'enqueue', '-s', 'nats://127.0.0.1:%d' % hub.port, '-c', 'sobel', file.name], capture_output=True, text=True)
        self.assertEqual(run.returncode, 69, run.stderr)
        self.assertIn('older than 2.10', run.stderr)
        self.assertEqual(client.state('JOBS')['messages'], 0)

    def test_streams_are_waited_for(self):
        hub = self.hub(streams=False)
        machine = self.machine(hub)
        machine.daemon.start()
        machine.relay.start(ready=False)
        machine.relay.expect_line('stream not found; nothing is fetched until that changes')
        client = hub.client()
        client.api('STREAM.CREATE.JOBS', {'name': 'JOBS', 'subjects': ['sluice.jobs.*.*'], 'retention': 'workqueue', 'storage': 'file'})
        machine.relay.expect_line('consumer not found; nothing is fetched until that changes')
        hub.streams()
        machine.relay.expect_line('the streams are there')
        self.put_job(client, 'a', picture())
        self.expect_ok(client, 'a', picture())


class Enqueue(FleetTest):
    def enqueue(self, *arguments, status=0, server=None):
        run = subprocess.run([SLUICE, 'enqueue', '-s', server or 'nats://127.0.0.1:%d' % self.server.port, *arguments], cwd=self.dir,
                             capture_output=True, text=True)
        self.assertEqual(run.returncode, status, run.stdout + run.stderr)
        return run

    def test(self):
        self.server = self.hub()
        client = self.server.client()
        for i in range(6):
            with open(os.path.join(self.dir, 'p%d.pgm' % i), 'wb') as file:
                file.write(picture(seed=i))
        names = ['p%d.pgm' % i for i in range(6)]
        # Queued, and again: the same ids.
        told = self.enqueue('-c', 'sobel', '-f', 'pgm', *names).stdout
        self.assertEqual(told, self.enqueue('-c', 'sobel', '-f', 'pgm', *names).stdout)
        self.assertEqual(client.state('JOBS')['messages'], 6)
        self.assertEqual([line.split('\t')[1] for line in told.split('\n')[:-1]], names)
        with open(os.path.join(self.dir, 'jobs'), 'w', encoding='utf-8') as file:
            file.write(told)
        run = self.enqueue('--collect', '--timeout', '300ms', '-o', 'out/', 'jobs', status=1)
        self.assertEqual(run.stderr.count('no result within'), 6)
        # It has credentials in its memory, too.
        waits = subprocess.Popen([SLUICE, 'enqueue', '-q', '-s', 'nats://127.0.0.1:%d' % self.server.port, '--collect', '--wait', 'jobs'], cwd=self.dir)
        wait_for('no core dump', lambda: resource.prlimit(waits.pid, resource.RLIMIT_CORE) == (0, 0))
        machine = self.machine(self.server).start()
        self.assertEqual(waits.wait(60), 0)
        self.enqueue('--collect', '-o', 'out/', 'jobs')
        for i, name in enumerate(names):
            with open(os.path.join(self.dir, 'out', name.replace('.pgm', '.png')), 'rb') as file:
                self.assertEqual(file.read(), self.by_sluice_run(picture(seed=i))[''])
        # In one go, with what is there already.
        self.enqueue('-c', 'sobel', '-f', 'pgm', '-o', 'more/', *names)
        self.assertEqual(sorted(os.listdir(os.path.join(self.dir, 'more'))), names)
        self.assertEqual(client.state('DONE')['messages'], 6)
        self.enqueue('-c', 'sobel', '-f', 'pgm', '--again', '-o', 'more/', names[0])
        self.assertEqual(client.state('DONE')['messages'], 7)
        schemas = schema.Schemas(os.path.join(ROOT, 'docs', 'schemas'))
        report = json.loads(self.enqueue('-c', 'sobel', '--json', '-o', 'x.png', names[0]).stdout)
        schemas.check(report, 'enqueue.json')
        told = report['files'][0]
        self.assertEqual((told['result'], told['machine'], told['media_type'], told['output']), ('ok', 'one', 'image/png', 'x.png'))
        schemas.check(json.loads(self.enqueue('-c', 'sobell', '--json', '--wait', names[0], status=64).stdout), 'enqueue.json')
        # What fails.
        run = self.enqueue('-c', 'sobell', '--wait', names[0], status=64)
        self.assertIn("p0.pgm: unknown stage 'sobell'", run.stderr)
        self.assertIn('x.pgm: No such file', self.enqueue('-c', 'sobel', 'x.pgm', status=66).stderr)
        with open(os.path.join(self.dir, 'large'), 'wb') as file:
            file.truncate(8000001)
        self.assertIn('8000000 bytes', self.enqueue('-c', 'sobel', 'large', status=65).stderr)
        self.assertIn('-c CHAIN is missing', self.enqueue(names[0], status=64).stderr)
        with open(os.path.join(self.dir, 'sluice.yaml'), 'w', encoding='utf-8') as file:
            file.write('pictures: {dark: /missing/dark.png}\ncameras: {front: /missing/front.yaml}\n')  # nor need it read them
        self.enqueue('--config', 'sluice.yaml', '-c', 'sobel', names[0])
        self.assertIn('no server answers', self.enqueue('-c', 'sobel', names[0], status=69, server='nats://127.0.0.1:1').stderr)
        self.assertIn('-s: expected nats://', self.enqueue('-c', 'sobel', names[0], status=64, server='hub:4222').stderr)
        run = self.enqueue('-c', 'sobel', names[0], status=64, server='nats://me:%s@hub' % SECRET)
        self.assertIn('-s: other users can see a password', run.stderr)
        self.assertNotIn(SECRET, run.stderr)
        run = self.enqueue('-c', 'sobel', '--wait', 'http://127.0.0.1:1/x.jpg?token=%s' % SECRET, status=77)
        self.assertNotIn(SECRET, run.stdout + run.stderr)
        machine.stop()
        # A full queue.
        config = client.api('STREAM.INFO.JOBS')['config']
        client.api('STREAM.UPDATE.JOBS', dict(config, max_bytes=1, max_msgs=2))
        run = self.enqueue('-c', 'invert', *names, status=75)
        self.assertIn('the queue is full; try later', run.stderr)
        self.assertRegex(run.stderr, r'\d of 6 are queued; the same command sends the others')


class Page(FleetTest):
    def test_trial(self):
        """What docs/fleet.md says to try on one computer, as it is written but for the port."""
        with open(os.path.join(ROOT, 'docs', 'fleet.md'), encoding='utf-8') as file:
            block = re.search(r'To try it on one computer.*?```sh fleet\n(.*?)```', file.read(), re.S).group(1)
        port = free_port()
        block = block.replace("'max_payload", "'port: %d\\nmax_payload" % port).replace('localhost', 'localhost:%d' % port)
        for name, target in (('nats-server', good_server()), ('sluice', SLUICE), ('sluiced', os.environ['SLUICED']), ('sluice-relay', RELAY)):
            os.makedirs(os.path.join(self.dir, 'bin'), exist_ok=True)
            with open(os.path.join(self.dir, 'bin', name), 'w', encoding='utf-8') as file:
                file.write('#!/bin/sh\nexec "%s" "$@"\n' % os.path.abspath(target))
            os.chmod(file.name, 0o755)
        os.mkdir(os.path.join(self.dir, 'sluice'))
        os.symlink(os.path.join(ROOT, 'docs'), os.path.join(self.dir, 'sluice', 'docs'))
        subprocess.run([SLUICE, 'testcard', '-o', os.path.join(self.dir, 'photo.png')], check=True)
        with open(os.path.join(self.dir, 'out'), 'w', encoding='utf-8') as out:
            process = subprocess.Popen(['bash', '-euc', block.replace('nats-server -c hub.conf &', 'nats-server -c hub.conf & sleep 1')],
                                       cwd=self.dir, stdout=out, stderr=out, start_new_session=True,
                                       env=dict(os.environ, PATH=os.path.join(self.dir, 'bin') + ':' + os.environ['PATH'],
                                                XDG_STATE_HOME=self.dir))
            try:
                status = process.wait(60)
            finally:
                os.killpg(process.pid, signal.SIGTERM)
        with open(os.path.join(self.dir, 'out'), encoding='utf-8') as file:
            self.assertEqual(status, 0, file.read())
        with open(os.path.join(self.dir, 'photo.png'), 'rb') as file:
            expected = self.by_sluice_run(file.read(), 'luminance,sobel:scale=1', 'png')['']
        with open(os.path.join(self.dir, 'edges', 'photo.png'), 'rb') as file:
            self.assertEqual(file.read(), expected)


main()
