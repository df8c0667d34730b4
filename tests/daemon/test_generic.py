#!/usr/bin/env python3
"""What clients may have compiled: generic kernels, each once, whatever numbers they send."""
import os
import random
import re
import socket
import struct
import subprocess

from sluice_test import SLUICE, SLUICED, DaemonTest, main, wait_for
import sockets

LONG = os.environ.get('SLUICE_LONG') == '1'
SANITIZED = 'ASAN_OPTIONS' in os.environ
JOBS = 40 if SANITIZED and not LONG else 200


def number(rng, low, high, digits):
    return '%.*f' % (digits, rng.uniform(low, high))


def matrix(rng, digits=0, largest=9):
    columns, rows = rng.choice([1, 3, 5, 7]), rng.choice([1, 3, 5])
    return '/'.join('_'.join(number(rng, -largest, largest, digits) for _ in range(columns)) for _ in range(rows))


def border(rng):
    return rng.choice(['edge', 'reflect', 'symmetric', 'wrap', 'zero'])


# Chains whose results are whole numbers, so that the references give the same bytes.
MAKERS = [
    lambda r: 'fir:%s:border=%s' % (matrix(r), border(r)),
    lambda r: 'fir:%s:divisor=%d:bias=%d' % (matrix(r), r.randint(1, 300), r.randint(-20, 200)),
    lambda r: 'fir:%s:divisor=%d' % (matrix(r, largest=2000000), r.randint(1000000, 900000000)),
    lambda r: 'fir:%s:divisor=%s' % (matrix(r, 2), number(r, 1, 50, 3)),
    lambda r: 'box:width=%d:height=%d:border=%s' % (r.randint(1, 60), r.randint(1, 60), border(r)),
    lambda r: 'box:radius=%d:method=sat' % r.randint(1, 20),
    lambda r: 'gain:by=%s:offset=%s' % (number(r, -3, 3, 3), number(r, -50, 300, 2)),
    lambda r: 'gain:by=0.%d:offset=0.5' % r.randint(1, 999),
    lambda r: 'threshold:t=%d:low=%d:high=%d' % (r.randint(0, 255), r.randint(0, 99), r.randint(100, 255)),
    lambda r: 'threshold:t=otsu:low=%d' % r.randint(0, 99),
    lambda r: 'luminance:weights=%d_%d_%d,sobel' % (r.randint(1, 9), r.randint(1, 9), r.randint(1, 9)),
    lambda r: 'sobel:scale=%s:border=%s' % (number(r, 0.01, 2, 3), border(r)),
    lambda r: 'invert,sobel:out=l1:scale=%s,gain:by=%s' % (number(r, 0.01, 2, 3), number(r, 0.1, 3, 2)),
]
# One of each kernel that the numbers above choose between.
ALL = ['fir:1_2_1', 'fir:20000000_1_1:divisor=900000000', 'fir:0.5_0.25_0.125', 'box:width=3', 'box:width=60',
       'box:width=4:height=2', 'box:width=1', 'box:width=257:height=255', 'box:radius=2:method=sat', 'box:radius=17:method=sat',
       'box:width=17', 'box:width=7:height=2', 'box:table=1,convert:u16', 'gain:by=1.5',
       'gain:by=0.3:offset=0.5', 'gain:by=999999.999:offset=-999999.999', 'threshold:t=5', 'threshold:t=otsu', 'luminance:weights=1_2_3,sobel',
       'sobel:scale=0.5', 'sobel:scale=0.3', 'invert', 'sobel:out=l1:scale=0.3', 'sobel:out=l1:scale=0.5', 'canny:40:90', 'canny:1:2000', 'histogram,convert:type=u16',
       'histogram:bins=4,convert:type=u16', 'subtract:3', 'difference:90', 'divide:3:scale=2', 'mask:1', 'blend:9:opacity=0.3']


def picture(rng, channels=1):
    width, height = rng.randint(1, 90), rng.randint(1, 70)
    return b'P%d %d %d 255\n' % (6 if channels == 3 else 5, width, height) + rng.randbytes(width * height * channels)


def npy(width, height, values):
    header = "{'descr': '<f4', 'fortran_order': False, 'shape': (%d, %d), }" % (height, width)
    header += ' ' * (63 - (10 + len(header)) % 64) + '\n'
    return b'\x93NUMPY\x01\x00' + struct.pack('<H', len(header)) + header.encode() + struct.pack(
        '<%df' % len(values), *values)


class Generic(DaemonTest):
    # An empty chain compiles nothing: the cache is empty, too.
    def serve(self, *options, chain='', **keywords):
        self.cache = os.path.join(self.dir, 'cache')
        self.path = os.path.join(self.dir, 'http.sock')
        self.jobs = os.path.join(self.dir, 'jobs.sock')
        keywords['env'] = dict(keywords.get('env') or {}, SLUICE_CACHE_DIR=self.cache)
        daemon = self.start('--http-socket', self.path, '--jobs-socket', self.jobs, '--job-time', '300s',
                            *options, chain=chain, **keywords)
        return daemon

    def metric(self, name):
        text = sockets.ask(self.path, 'GET', '/metrics').body.decode()
        match = re.search(r'^%s (\S+)$' % name, text, re.M)
        return int(float(match.group(1))) if match else 0

    def builds(self):
        return self.metric('sluice_kernel_builds_total')

    def shapes(self):
        """What PoCL has compiled: a folder for each kernel and work-group shape."""
        return {path for path, _, _ in os.walk(os.path.join(self.cache, 'pocl'))
                if re.search(r'/\d+-\d+-\d+[^/]*$', path)}

    def run_job(self, chain, data, form='pnm'):
        answer = sockets.ask(self.path, 'POST', '/v1/process?chain=%s&format=%s' % (chain, form), data,
                             timeout=300)
        self.assertEqual(answer.status, 200, '%s: %s' % (chain, answer.body[:300]))
        return answer.body

    def by_run(self, chain, data, form, device):
        return subprocess.run([SLUICE, 'run', '-q', '--device', device, '-c', chain, '-f', form, '-o', '-', '-'],
                              input=data, check=True, capture_output=True).stdout

    def check(self, chains, rng, device='reference'):
        for chain in chains:
            data = picture(rng)
            self.assertEqual(self.run_job(chain, data), self.by_run(chain, data, 'pnm', device), chain)

    def check_by_jobs_socket(self, chains, rng):
        """Against a daemon of references, which is quicker than a process for each."""
        folder = os.path.join(self.dir, 'references')
        os.makedirs(folder)
        references = os.path.join(folder, 'jobs.sock')
        for name in 'in', 'out':
            os.mkdir(os.path.join(folder, name))
        other = subprocess.Popen([SLUICED, '--watch', os.path.join(folder, 'in'), '--output', os.path.join(folder, 'out'),
                                  '--chain', 'sobel', '--state', os.path.join(folder, 'state'), '--device',
                                  'reference', '--jobs-socket', references, '-q'])
        self.addCleanup(other.wait)
        self.addCleanup(other.terminate)
        wait_for('the references', lambda: sockets.listens(references, socket.SOCK_SEQPACKET))
        jobs, right = sockets.Jobs(self.jobs, 300), sockets.Jobs(references, 300)
        for chain in chains:
            data = picture(rng)
            report, files = jobs.run(data, chain=chain, format='pnm')
            self.assertEqual(report['result'], 'ok', report)
            report, expected = right.run(data, chain=chain, format='pnm')
            self.assertEqual(report['result'], 'ok', report)
            self.assertEqual(files, expected, chain)
        jobs.close()
        right.close()

    def test_numbers_compile_nothing(self):
        daemon = self.serve('--jobs', '2')
        rng = random.Random(1)
        ready = self.builds()
        self.check(ALL, rng)
        first, kernels = self.builds(), self.metric('sluice_client_kernels')
        self.assertEqual(first - ready, kernels)
        self.assertGreater(kernels, 10)
        self.assertLess(kernels, 2 * len(ALL))
        shapes = self.shapes()
        self.assertGreater(len(shapes), kernels)
        chains = [rng.choice(MAKERS)(rng) for _ in range(JOBS)]
        self.check(chains[:20], rng)
        self.check_by_jobs_socket(chains[20:], rng)
        self.assertEqual(self.builds(), first)
        self.assertEqual(self.metric('sluice_client_kernels'), kernels)
        self.assertEqual(self.shapes(), shapes)
        # tall and wide pictures have other grids
        for chain in ('sobel:scale=0.5', 'threshold:t=otsu', 'fir:1_2_1'):
            for size in ((3, 70000), (40000, 3)):
                data = b'P5 %d %d 255\n' % size + rng.randbytes(size[0] * size[1])
                self.assertEqual(self.run_job(chain, data), self.by_run(chain, data, 'pnm', 'reference'))
        self.assertEqual(self.shapes(), shapes)
        # and the kernels of `sluice run` are others, with the same results
        self.check(rng.sample(chains, 12 if LONG else 3), rng, device='cpu')
        daemon.stop()

    def test_configured_chains_compile_nothing(self):
        chain = 'luminance,fir:1_2_1/2_4_2/1_2_1,gain:by=1.25:offset=3'
        daemon = self.serve(chain=chain, form='pgm')
        ready, shapes, rng = self.builds(), self.shapes(), random.Random(2)
        for i, channels in enumerate((1, 3)):
            daemon.drop('%d.pnm' % i, picture(rng, channels))
            daemon.expect('%d.pgm' % i)
        wide = b'P6 31 17 65535\n' + rng.randbytes(31 * 17 * 6)
        self.assertEqual(self.run_job(chain, wide), self.by_run(chain, wide, 'pnm', 'reference'))
        # written in other words it is the same chain
        same = 'luminance:bt601,fir:k=1_2_1/2_4_2/1_2_1:divisor=16:border=clamp,gain:1.25:3'
        tall = b'P5 3 70000 255\n' + rng.randbytes(210000)
        self.assertEqual(self.run_job(same, tall), self.by_run(chain, tall, 'pnm', 'reference'))
        self.assertEqual((self.builds(), self.metric('sluice_client_kernels')), (ready, 0))
        self.assertEqual(self.shapes(), shapes)
        # Floats are no usual kind: they run on generic kernels, which count for no client.
        floats = npy(9, 5, [rng.uniform(0, 255) for _ in range(45)])
        got = self.run_job(chain, floats, 'npy')
        self.assertEqual(got, self.by_run(chain, floats, 'npy', 'cpu'))
        generic = self.builds()
        self.assertGreater(generic, ready)
        self.assertEqual(self.metric('sluice_client_kernels'), 0)
        self.assertEqual(self.run_job(chain, floats, 'npy'), got)
        self.assertEqual(self.builds(), generic)
        daemon.stop()

    def test_wavelets(self):
        def chain(rng):
            return '%s:levels=%d,shrink:soft:threshold=%s,idwt' % (
                rng.choice(['dwt:db4', 'dwt:sym3', 'dwt:coif1', 'dwt:bior2.2']), rng.randint(1, 4), number(rng, 0, 9, 2))
        daemon = self.serve()
        rng = random.Random(3)
        def data():
            width, height = rng.randint(40, 90), rng.randint(40, 70)
            return b'P5 %d %d 255\n' % (width, height) + rng.randbytes(width * height)
        self.run_job('dwt:haar:levels=3,shrink:soft:threshold=1,idwt', data())
        builds, shapes = self.builds(), self.shapes()
        for i in range(12):
            text, source = chain(rng), data()
            got = self.run_job(text, source)
            if i == 0:
                self.assertEqual(got, self.by_run(text, source, 'pnm', 'cpu'))
        self.assertEqual(self.builds(), builds)
        self.assertEqual(self.shapes(), shapes)
        daemon.stop()


if __name__ == '__main__':
    main()
