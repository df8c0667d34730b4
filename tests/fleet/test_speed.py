#!/usr/bin/env python3
"""What the way through the hub costs: the same pictures on one machine by the watched folder, `sluice submit`, the relay
inline and the relay by URL, in turns. Where computing dominates, the relay must reach 90 % of the others.

And what one hub carries: jobs and results per second that one machine's relay, with a daemon that computes nothing,
gets through, for small and for large messages.

And what it costs the hub's server: processor time and memory for a job, an id that is kept, a connection, a question
without an answer. docs/fleet.md reckons with these.

FLEET_ROUNDS is how often each is measured (4), FLEET_LARGE the pictures of a round (24), FLEET_IDS the ids that are kept
(300000)."""
import statistics

from fleet import *
from secrets_for_tests import Authority

IDS = int(os.environ.get('FLEET_IDS', '300000'))
ROUNDS, LARGE = int(os.environ.get('FLEET_ROUNDS', '4')), int(os.environ.get('FLEET_LARGE', '24'))
# About a tenth of a second for a megapixel on a core of the machine that the figures in docs/fleet.md are from.
CHAIN = ','.join(['dwt:db8:levels=5,shrink:soft:threshold=bayes,idwt'] * 21)


class Speed(FleetTest):
    def test_ways(self):
        hub, store = self.hub(), NginxStore(self)
        machine = self.machine(hub, daemon_options=(), get=[store.url + '/in/'], put=[store.url + '/out/'])
        machine.daemon.options[machine.daemon.options.index('--chain') + 1] = CHAIN
        machine.daemon.options[machine.daemon.options.index('--format') + 1] = 'jpg'
        machine.start()
        folder = os.path.join(self.dir, 'pictures')
        os.mkdir(folder)
        paths = []
        for i in range(LARGE):
            paths.append(os.path.join(folder, 'p%d.pgm' % i))
            with open(paths[-1], 'wb') as file:
                file.write(picture(2400, 1800, seed=i))
        server, turn = ['-s', 'nats://127.0.0.1:%d' % hub.port], 0

        def clock(call):
            begun = time.monotonic()
            call()
            return LARGE / (time.monotonic() - begun)

        def results():
            """Without those that are being written."""
            return sum(not name.startswith('.') for name in os.listdir(machine.daemon.output))

        def by_folder():
            before = results()
            for i, path in enumerate(paths):
                os.link(path, machine.daemon.in_path('t%d-%d.pgm' % (turn, i)))
            wait_for('the results', lambda: results() == before + LARGE, 300, 0.01)

        def by_submit():
            subprocess.run([SLUICE, 'submit', '-q', '-s', machine.socket, '-c', CHAIN, '-f', 'jpg', '-o',
                            os.path.join(self.dir, 'submit%d/' % turn), *paths], check=True)

        def by_relay():
            subprocess.run([SLUICE, 'enqueue', '-q', *server, '--again', '-c', CHAIN, '-f', 'jpg', '-o',
                            os.path.join(self.dir, 'relay%d/' % turn), *paths], check=True)

        def by_url():
            for i, path in enumerate(paths):
                with open(path, 'rb') as file:
                    store.write('u%d-%d' % (turn, i), file.read())
            subprocess.run([SLUICE, 'enqueue', '-q', *server, '--again', '--wait', '-c', CHAIN, '-f', 'jpg', '--result', store.url + '/out/',
                            *['%s/in/u%d-%d' % (store.url, turn, i) for i in range(LARGE)]], check=True)
        ways = {'folder': by_folder, 'submit': by_submit, 'relay inline': by_relay, 'relay by URL': by_url}
        figures = {name: [] for name in ways}
        by_submit()  # kernels and caches
        for turn in range(1, ROUNDS + 1):
            names = list(ways)
            for name in names[turn % 4:] + names[:turn % 4]:  # each comes first once
                figures[name].append(clock(ways[name]))
        medians = {name: statistics.median(rates) for name, rates in figures.items()}
        print('%d pictures of 4.3 MP, %s: %s' % (LARGE, CHAIN[:60] + '…', ', '.join('%s %.2f/s' % pair for pair in medians.items())), file=sys.stderr)
        machine.stop()
        self.assertEqual(hub.client().state('JOBS')['messages'], 0)
        for name in ('relay inline', 'relay by URL'):
            for other in ('folder', 'submit'):
                print('%s / %s: %.0f %%' % (name, other, 100 * medians[name] / medians[other]), file=sys.stderr)
                self.assertGreaterEqual(medians[name], 0.9 * medians[other], figures)

    def test_hub(self):
        """With results as large as the pictures. All of it shares this machine's processors."""
        from test_troubles import FakeDaemon
        hub = self.hub()
        client = hub.client()
        for size, count in ((1000, 3000), (100000, 1000), (1000000, 200), (7000000, 40)):
            data = os.urandom(size)
            begun = time.monotonic()
            for i in range(count):
                self.put_job(client, 'h%d-%d' % (size, i), data)
            put = time.monotonic() - begun
            fake = FakeDaemon(self)
            relay = Relay(self, hub, fake.path, jobs=8).start()
            begun = time.monotonic()
            self.expect_empty(client, 600)
            took = time.monotonic() - begun
            relay.stop()
            print('%7d bytes: %.0f jobs/s put in by one client (%.1f MB/s), %.0f jobs/s through one relay of 8 (%.1f MB/s)' % (
                size, count / put, count * size / put / 1e6, count / took, count * size / took / 1e6), file=sys.stderr)
            client.api('STREAM.PURGE.DONE', {})


class Costs(FleetTest):
    def start(self, **keywords):
        self.server = self.hub(**keywords)

    def seconds(self, process=None):
        """Of a processor, that the server has used, or another process."""
        with open('/proc/%d/stat' % (process or self.server.process).pid, encoding='ascii') as file:
            words = file.read().rsplit(')', 1)[1].split()
        return (int(words[11]) + int(words[12])) / os.sysconf('SC_CLK_TCK')

    def memory(self):
        """Bytes that are resident."""
        with open('/proc/%d/statm' % self.server.process.pid, encoding='ascii') as file:
            return int(file.read().split()[1]) * os.sysconf('SC_PAGESIZE')

    def test_job(self):
        """By URL and inline, from the producer's message to the acknowledgement."""
        from test_troubles import FakeDaemon
        self.start()
        client, store = self.server.client(), Store(self)
        store.files['/x'] = b'picture'
        relay = Relay(self, self.server, FakeDaemon(self).path, jobs=8, get=[store.url + '/']).start()
        for what, count, data in ('by URL', 3000, b''), ('of 4.3 MB inline', 100, os.urandom(4300000)):
            used, spent, begun = self.seconds(), self.seconds(relay.process), time.monotonic()
            for i in range(count):
                self.put_job(client, 'c%d-%d' % (len(data), i), data, Source=None if data else store.url + '/x', Format='jpg:quality=80')
            self.expect_empty(client, 600)
            used, spent = self.seconds() - used, self.seconds(relay.process) - spent
            print('a job %s: %.2f ms of the server, %.2f ms of the relay (%d jobs, %.0f/s)' % (
                what, 1000 * used / count, 1000 * spent / count, count, count / (time.monotonic() - begun)), file=sys.stderr)
        relay.stop()

    def test_id(self):
        """Kept in DONE, without a payload; and a start after SIGKILL. Not synced, which only takes time."""
        self.start(sync=False)
        client, sent = self.server.client(), 0
        before = self.memory()
        headers = {'Sluice-Status': 'ok', 'Sluice-Media-Type': 'image/jpeg', 'Sluice-Size': '812345', 'Sluice-SHA256': 64 * 'a',
                   'Sluice-Timings': json.dumps({'queue_s': 0.000021, 'decode_s': 0.012345, 'device_s': 0.034567, 'encode_s': 0.01, 'total_s': 0.06}),
                   'Sluice-Machine': 'board1'}
        while sent < IDS:
            for _ in range(min(500, IDS - sent)):
                client.publish('sluice.done.' + hashlib.sha256(b'%d' % sent).hexdigest(), b'', headers, client.inbox + '.x')
                sent += 1
            wait_for('what was sent', lambda: client.state('DONE')['messages'] == sent, 60, 0.01)
        grown = self.memory() - before
        disk = client.state('DONE')['bytes']
        client.close()
        self.server.kill()
        begun = time.monotonic()
        self.server.start()
        again = wait_for('the stream', lambda: self.server.client().state('DONE')['messages'], 300, 0.01)
        self.assertEqual(again, IDS)
        print('an id in DONE: %.2f KB of memory, %.2f KB of disk; %.1f s to start with %d after SIGKILL' % (
            grown / IDS / 1000, disk / IDS / 1000, time.monotonic() - begun, IDS), file=sys.stderr)

    def test_connection(self):
        """With TLS, and what a slot asks for in vain."""
        ca, count = Authority(self.dir), 300
        self.start(streams=False, config='tls { cert_file: "%s", key_file: "%s" }\n' % ca.certificate('hub'))
        self.server.streams(ca=ca.path)
        clients = [self.server.client(ca=ca.path) for _ in range(20)]
        before, used = self.memory(), self.seconds()
        clients += [self.server.client(ca=ca.path) for _ in range(count)]
        used, grown = self.seconds() - used, self.memory() - before
        print('a connection with TLS: %.0f KB, %.2f ms of the server' % (grown / count / 1000, 1000 * used / count), file=sys.stderr)
        used = self.seconds()
        for client in clients[:300]:
            for i in range(10):
                client.publish('$JS.API.CONSUMER.MSG.NEXT.JOBS.fleet', b'{"batch": 1, "expires": 1000000000}', None, '%s.%d' % (client.inbox, i))
        time.sleep(3)
        print('a question without an answer: %.2f ms of the server' % (1000 * (self.seconds() - used) / 3000), file=sys.stderr)


os.environ['PATH'] += ':/usr/sbin'
if not shutil.which('nginx'):
    skip('nginx is not here (apt-get install nginx-light)')
main()
