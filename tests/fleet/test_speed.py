#!/usr/bin/env python3
"""What the way through the hub costs: the same pictures on one machine by the watched folder, `sluice submit`, the relay
inline and the relay by URL, in turns. Where computing dominates, the relay must reach 90 % of the others.

And what one hub carries: jobs and results per second that one machine's relay, with a daemon that computes nothing,
gets through, for small and for large messages.

FLEET_ROUNDS is how often each is measured (4), FLEET_LARGE the pictures of a round (24)."""
import statistics

from fleet import *

ROUNDS, LARGE = int(os.environ.get('FLEET_ROUNDS', '4')), int(os.environ.get('FLEET_LARGE', '24'))
# About a tenth of a second for a megapixel on a core of the machine that the figures in docs/fleet.md are from.
CHAIN = ','.join(['dwt:db8:levels=5,shrink:soft:threshold=bayes,idwt'] * 8)


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
        server, client, turn = ['-s', 'nats://127.0.0.1:%d' % hub.port], hub.client(), 0

        def clock(call):
            begun = time.monotonic()
            call()
            return LARGE / (time.monotonic() - begun)

        def by_folder():
            before = len(os.listdir(machine.daemon.output))
            for i, path in enumerate(paths):
                os.link(path, machine.daemon.in_path('t%d-%d.pgm' % (turn, i)))
            wait_for('the results', lambda: len(os.listdir(machine.daemon.output)) == before + LARGE, 300, 0.01)

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
        self.assertEqual(client.state('JOBS')['messages'], 0)
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


os.environ['PATH'] += ':/usr/sbin'
if not shutil.which('nginx'):
    skip('nginx is not here (apt-get install nginx-light)')
main()
