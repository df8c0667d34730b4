#!/usr/bin/env python3
"""SIGKILL at every step: of the relay at each step of a job, and of all programs at random. In the end each job id
has one complete result.

FLEET_KILLS and FLEET_JOBS are the numbers of the random part (200 and 1000)."""
import random

from fleet import *
from sluice_test import alive

KILLS, JOBS = int(os.environ.get('FLEET_KILLS', '200')), int(os.environ.get('FLEET_JOBS', '1000'))

# Name, and where the relay dies.
POINTS = [
    ('fetched', {'KILL_LINE': ': fetched'}),
    ('downloading', {'KILL_LINE': ': downloading'}),
    ('downloaded', {'KILL_LINE': ': downloaded'}),
    ('submitted', {'KILL_LINE': ': submitted'}),
    ('computed', {'KILL_LINE': ': computed'}),
    ('put begun', {'KILL_LINE': ': put begun'}),
    ('put half', {}),  # by the store
    ('put ended', {'KILL_LINE': ': put ended'}),
    ('done begun', {'KILL_LINE': ': sending the result'}),
    ('done sent', {'KILL_SEND': 'HPUB sluice.done.'}),
    ('done acknowledged', {'KILL_LINE': ': the result is kept'}),
    ('acked', {'KILL_LINE': ': acknowledged'}),
    ('ack sent', {'KILL_SEND': '+ACK'}),
]


class Kills(FleetTest):
    def test_points(self):
        hub = self.hub(streams=False)
        hub.streams(ack_wait=3)
        self.client, self.store, self.hit = hub.client(), Store(self), []
        self.expected = self.by_sluice_run(picture())['']
        self.box = self.machine(hub)
        self.box.daemon.start()
        for number, (point, where) in enumerate(POINTS):
            for way in ('url',) if point.startswith('put') or 'downloading' in point else ('inline', 'url'):
                with self.subTest(point=point, way=way):
                    self.die_at(hub, 'k%d-%s' % (number, way), point, way, where)
        print('hit %d points in %d ways: %s' % (len({point for point, _ in self.hit}), len(self.hit),
                                                ', '.join('%s/%s' % pair for pair in self.hit)), file=sys.stderr)

    def relay(self, hub, name, **keywords):
        return Relay(self, hub, self.box.socket, name, get=[self.store.url + '/in/'], put=[self.store.url + '/out/'],
                     **keywords).start()

    def die_at(self, hub, name, point, way, where):
        once = os.path.join(self.dir, name + '.once')
        headers = {}
        if way == 'url':
            self.store.files['/in/' + name] = picture()
            headers = dict(Source=self.store.url + '/in/' + name, Result=self.store.url + '/out/' + name)
        dying = self.relay(hub, 'dying', env=dict(where, LD_PRELOAD=kill_line_library(), KILL_ONCE=once))

        def half(handler):
            dying.process.kill()
            handler.close_connection = True
        if point == 'put half':
            self.store.trouble = lambda method, path, count: half if method == 'PUT' else None
        self.put_job(self.client, name, b'' if way == 'url' else picture(), **headers)
        self.assertEqual(dying.process.wait(60), -signal.SIGKILL, dying.log())
        self.store.trouble = None
        self.hit.append((point, way))
        healthy = self.relay(hub, 'healthy')
        message = self.result(self.client, name)
        self.assertEqual(message.headers['Sluice-Status'], 'ok', message.headers)
        self.assertEqual(self.store.files['/out/' + name] if way == 'url' else message.data, self.expected)
        self.expect_empty(self.client)
        self.assertEqual(self.client.state('DONE', 'sluice.done.' + name)['subjects'], {'sluice.done.' + name: 1})
        healthy.stop()

    def test_random(self):
        hub = self.hub(streams=False)
        hub.streams(ack_wait=4)
        store, rng = Store(self), random.Random(7)
        machines = [self.machine(hub, 'm%d' % i, deliveries=1000, get=[store.url + '/in/'], put=[store.url + '/out/']).start()
                    for i in range(3)]
        kinds = [picture(200, 150, seed=i) for i in range(10)]
        expected = [self.by_sluice_run(data)[''] for data in kinds]
        client, counts = hub.client(), dict(front=0, worker=0, relay=0, server=0)
        queued, kills, begun = 0, 0, time.monotonic()

        def put(i):
            name, headers = 'r%d' % i, {}
            if i % 3 == 1:
                store.files['/in/' + name] = kinds[i % 10]
                headers['Source'] = store.url + '/in/' + name
            if i % 4 == 2:
                headers['Result'] = store.url + '/out/' + name
            self.put_job(client, name, b'' if 'Source' in headers else kinds[i % 10], **headers)

        def again(call):
            """Over deaths of the server; what is queued already is as good as queued."""
            nonlocal client
            while True:
                try:
                    return call()
                except ApiError as error:
                    if error.code == 10077:
                        return None
                    raise
                except (NatsError, OSError):
                    client.close()
                    time.sleep(0.2)
                    try:
                        client = hub.client()
                    except (NatsError, OSError):
                        pass

        def kill_one():
            what = rng.choices(list(counts), weights=[3, 3, 3, 2])[0]
            machine = rng.choice(machines)
            if what == 'front':
                machine.daemon.process.kill()
                machine.daemon.process.wait()
                machine.daemon.start(ready=False)
            elif what == 'worker':
                pid = machine.daemon.worker_pid()
                if not pid or not alive(pid):
                    return
                os.kill(pid, signal.SIGKILL)
            elif what == 'relay':
                machine.relay.kill()
                machine.relay.start(ready=False)
            else:
                hub.kill()
                hub.start()
            counts[what] += 1
        while queued < JOBS or kills < KILLS:
            for _ in range(max(1, JOBS // KILLS)):
                if queued < JOBS:
                    again(lambda: put(queued))
                    queued += 1
            if kills < KILLS:
                kill_one()
                kills = sum(counts.values())
                time.sleep(rng.uniform(0.2, 1.2))
        wait_for('an empty queue', lambda: again(lambda: client.state('JOBS'))['messages'] == 0, 1200, 0.5)
        took = time.monotonic() - begun
        client = hub.client()
        self.assertEqual(client.state('DONE')['messages'], JOBS)
        failed = []
        for i in range(JOBS):
            message = client.get('DONE', 'sluice.done.r%d' % i)
            self.assertIsNotNone(message, i)
            if message.headers['Sluice-Status'] != 'ok':
                failed.append((i, message.headers))
                continue
            data = store.files['/out/r%d' % i] if i % 4 == 2 else message.data
            self.assertEqual(data, expected[i % 10], i)
        self.assertEqual(failed, [])
        self.assertEqual(client.state('DEAD')['messages'], 0)
        puts = sum(1 for request in store.requests if request[0] == 'PUT')
        print('%d jobs in %.0f s over %d deaths %s: %d results, each once and whole; %d PUTs for %d objects' % (
            JOBS, took, sum(counts.values()), counts, JOBS, puts, len([f for f in store.files if f.startswith('/out/')])), file=sys.stderr)
        for machine in machines:
            machine.stop()


main()
