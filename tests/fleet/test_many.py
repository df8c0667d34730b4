#!/usr/bin/env python3
"""Three machines: 600 pictures of several formats, inline and by URL with nginx as the store, each result the same to the
last byte as `sluice run` has it; a poison picture; a picture that kills machines.

FLEET_PICTURES is their number (600)."""
from fleet import *

PICTURES = int(os.environ.get('FLEET_PICTURES', '600'))
CASES = [('sobel', 'pgm'), ('luminance,box:radius=3', 'png'), ('invert', 'jpg:quality=85'), ('dwt:cdf53:levels=2,idwt', 'npy')]


class Many(FleetTest):
    def make_pictures(self):
        """Paths: a third PGM, PNG and JPEG each."""
        folder = os.path.join(self.dir, 'made')
        os.mkdir(folder)
        for i in range(PICTURES):
            with open(os.path.join(folder, 'p%d.pgm' % i), 'wb') as file:
                file.write(picture(120 + i % 50, 90 + i % 31, seed=i))
        paths = [os.path.join(folder, 'p%d.pgm' % i) for i in range(PICTURES)]
        for rest, form in ((1, 'png'), (2, 'jpg')):
            subprocess.run([SLUICE, 'run', '-q', '-f', form, '-o', folder, *paths[rest::3]], check=True)
            paths[rest::3] = [path.replace('.pgm', '.' + form) for path in paths[rest::3]]
        return paths

    def expected(self, paths):
        found = {}
        for number, (chain, form) in enumerate(CASES):
            folder = os.path.join(self.dir, 'expected%d' % number)
            os.mkdir(folder)
            subprocess.run([SLUICE, 'run', '-q', '-c', chain, '-f', form, '-o', folder, *paths[number::4]], check=True)
            for i in range(number, PICTURES, 4):
                with open(os.path.join(folder, 'p%d.%s' % (i, form.split(':')[0])), 'rb') as file:
                    found[i] = file.read()
        return found

    def test_600(self):
        paths = self.make_pictures()
        expected = self.expected(paths)
        hub, store = self.hub(), NginxStore(self)
        machines = [self.machine(hub, 'm%d' % i, get=[store.url + '/in/'], put=[store.url + '/out/']).start() for i in range(3)]
        client, begun = hub.client(), time.monotonic()
        for i, path in enumerate(paths):
            with open(path, 'rb') as file:
                data = file.read()
            chain, form = CASES[i % 4]
            headers = {}
            if i % 5 in (1, 3):
                store.write('p%d' % i, data)
                headers.update(Source='%s/in/p%d' % (store.url, i), SHA256=hashlib.sha256(data).hexdigest())
            if i % 5 in (2, 3):
                headers['Result'] = '%s/out/p%d' % (store.url, i)
            self.put_job(client, 'p%d' % i, b'' if 'Source' in headers else data, chain=chain, form=form, **headers)
        self.expect_empty(client, 600)
        took, by = time.monotonic() - begun, {}
        self.assertEqual(client.state('DONE')['messages'], PICTURES)
        for i in range(PICTURES):
            message = client.get('DONE', 'sluice.done.p%d' % i)
            self.assertEqual(message.headers['Sluice-Status'], 'ok', message.headers)
            data = store.read('p%d' % i) if i % 5 in (2, 3) else message.data
            self.assertEqual(data, expected[i], 'p%d' % i)
            self.assertEqual(message.headers['Sluice-SHA256'], hashlib.sha256(data).hexdigest())
            by[message.headers['Sluice-Machine']] = by.get(message.headers['Sluice-Machine'], 0) + 1
        self.assertEqual(len(by), 3)
        self.assertEqual(client.consumer()['num_redelivered'], 0)
        print('%d pictures in %.1f s by %s: %d results, all as sluice run has them' % (PICTURES, took, by, PICTURES), file=sys.stderr)
        for machine in machines:
            machine.stop()


class Poison(FleetTest):
    def test_poison(self):
        """It kills each worker that looks at it (SIGKILL): one verdict, and the fleet goes on."""
        hub = self.hub()
        machines = [self.machine(hub, 'm%d' % i, fake=True).start() for i in range(3)]
        client = hub.client()
        for i in range(30):
            self.put_job(client, 'g%d' % i, b'good picture %d' % i)
            if i == 10:
                self.put_job(client, 'poison', b'poison')
        message = self.expect_failed(client, 'poison', 'crashed-worker')
        for i in range(30):
            self.assertEqual(self.result(client, 'g%d' % i).data, b'good picture %d' % i)
        self.expect_empty(client)
        self.assertEqual((client.state('DONE')['messages'], client.state('DEAD')['messages']), (31, 0))
        crashes = sum(line.startswith('poison') for line in self.fake_log())
        print('poison: %d workers died, one verdict (%s) by %s' % (crashes, message.headers['Sluice-Code'],
                                                                 message.headers['Sluice-Machine']), file=sys.stderr)
        for machine in machines:
            machine.stop()

    def test_kills_machines(self):
        """Relay and daemon die when it is submitted, and are started again as systemd would: DEAD after five, alone."""
        self.kill_machines(3)

    def test_kills_the_only_machine(self):
        """All that dies with it comes back together, to the same machine."""
        self.kill_machines(1)

    def kill_machines(self, count):
        hub = self.hub(streams=False)
        hub.streams(ack_wait=2)
        env = {'LD_PRELOAD': kill_line_library(), 'KILL_LINE': '.cursed: submitted'}
        machines = [self.machine(hub, 'm%d' % i) for i in range(count)]
        for machine in machines:
            machine.relay.env.update(env)
            machine.start()
        client, deaths, over = hub.client(), [], threading.Event()

        def tend(machine):
            while not over.is_set():
                if machine.relay.process.poll() is not None:
                    deaths.append(machine.name)
                    machine.daemon.kill()
                    machine.daemon.start(ready=False)
                    machine.relay.start(ready=False)
                time.sleep(0.05)
        tenders = [threading.Thread(target=tend, args=(machine,)) for machine in machines]
        for tender in tenders:
            tender.start()
        try:
            self.put_job(client, 'cursed', picture())
            for i in range(60):
                self.put_job(client, 'g%d' % i, picture(seed=i))
            self.expect_failed(client, 'cursed', 'interrupted')
            self.expect_empty(client)
        finally:
            over.set()
            for tender in tenders:
                tender.join()
        self.assertEqual(len(deaths), 5)
        self.assertEqual(client.get('DEAD', 'sluice.dead.test.cursed').data, picture())
        for i in range(60):
            self.assertEqual(client.get('DONE', 'sluice.done.g%d' % i).headers['Sluice-Status'], 'ok')
        print('a picture that kills machines: %d deaths (%s), then DEAD; 60 others done' % (len(deaths), ' '.join(deaths)), file=sys.stderr)


if not shutil.which('nginx') and not os.path.exists('/usr/sbin/nginx'):
    skip('nginx is not here (apt-get install nginx-light)')
os.environ['PATH'] += ':/usr/sbin'
main()
