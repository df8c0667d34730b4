#!/usr/bin/env python3
"""Fused kernels: random chains give the same bytes with and without --no-fuse, on native and on PoCL; the launches
are those that `sluice plan` names; a second run copies, compiles and allocates nothing. Programs for GPUs are only
compiled, by clang, which is installed because PoCL needs it.

SLUICE_LONG=1 runs 200 chains a device (suite `opencl`). Usage: test_fuse.py SLUICE CL_TRACE [unittest options]"""
import json
import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..'))
import pictures  # noqa: E402

SLUICE = os.path.abspath(sys.argv.pop(1))
CL_TRACE = os.path.abspath(sys.argv.pop(1))
LONG = os.environ.get('SLUICE_LONG') == '1'
DEVICES = {device['kind'] for device in json.loads(
    subprocess.run([SLUICE, 'devices', '--json'], capture_output=True, text=True).stdout or '[]')}
# On OpenCL each chain is programs to compile.
CHAINS = {'native': 200 if LONG else 60, 'cpu': 200 if LONG else 6}
TEXTS = 800 if LONG else 40
BORDERS = ('edge', 'reflect', 'symmetric', 'wrap', 'zero', 'crop')
TYPES = {'u8': ('|u1', 'B'), 'u16': ('<u2', 'H'), 'f32': ('<f4', 'f')}


def npy(name, shape, values):
    descr, code = TYPES[name]
    head = "{'descr': '%s', 'fortran_order': False, 'shape': %s, }" % (descr, shape)
    head = head.ljust(117) + '\n'
    return (b'\x93NUMPY\x01\x00' + struct.pack('<H', len(head)) + head.encode() +
            struct.pack('<%d%s' % (len(values), code), *values))


def picture(rng, kind, width, height, channels):
    shape = (height, width, channels) if channels > 1 else (height, width)
    count = width * height * channels
    if kind == 'f32':
        values = [rng.choice((rng.uniform(-20, 300), rng.random(), float(rng.randrange(256))))
                  for _ in range(count)]
    else:
        top = 255 if kind == 'u8' else 65535
        values = [rng.randrange(top + 1) for _ in range(count)]
    return npy(kind, shape, values)


def per_pixel(rng):
    return rng.choice((
        'invert', 'abs', 'convert:type=%s' % rng.choice(('u8', 'u16', 'f32')),
        'gain:%s:%s' % (rng.choice(('1.5', '-2', '0.25', '0.3333', '257')),
                         rng.choice(('0', '10', '-3.5'))),
        'threshold:%d' % rng.choice((0, 7, 100, 30000)),
        'threshold:t=%d:low=3:high=200' % rng.choice((50, 120))))


def matrix(rng):
    columns, rows = rng.choice(((3, 3), (1, 3), (5, 1), (3, 5), (1, 1), (7, 7)))
    numbers = ('-2', '-1', '0', '1', '2', '3') if rng.random() < 0.7 else ('0.5', '-1.25', '2', '0')
    return '/'.join('_'.join(rng.choice(numbers) for _ in range(columns)) for _ in range(rows))


def stencil(rng):
    border = ':border=' + rng.choice(BORDERS)
    kind = rng.random()
    if kind < 0.45:
        scale = rng.choice(('', '', ':scale=0.3'))
        return 'sobel:out=%s%s%s' % (rng.choice(('magnitude', 'magnitude', 'l1', 'dx', 'dy', 'both')),
                                     scale, border)
    if kind < 0.9:
        k = rng.choice(('gaussian3', 'gaussian5', 'sharpen', 'laplacian', 'sample', matrix(rng),
                        matrix(rng)))
        return 'fir:%s%s%s' % (k, border, rng.choice(('', '', '', ':out=f32')))
    return 'box:radius=%d%s' % (rng.randrange(3), border)


def chain(rng, channels):
    """[per-pixel] [luminance] [per-pixel] [stencil [per-pixel]] and now and then a second stencil."""
    stages = [per_pixel(rng) for _ in range(rng.choice((0, 0, 0, 1, 2)))]
    if channels > 2 and rng.random() < 0.6:
        stages.append('luminance' + rng.choice(('', ':bt709', ':1_2_1')))
    if rng.random() < 0.2:
        stages.append(per_pixel(rng))
    for _ in range(rng.choice((0, 1, 1, 1, 2))):
        stages.append(stencil(rng))
        stages += [per_pixel(rng) for _ in range(rng.choice((0, 1, 1, 2, 3)))]
    return ','.join(stages or [per_pixel(rng), per_pixel(rng)])


class Case(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix='sluice-fuse-')
        self.addCleanup(shutil.rmtree, self.dir)
        self.trace = os.path.join(self.dir, 'trace')

    def write(self, name, data):
        with open(os.path.join(self.dir, name), 'wb') as file:
            file.write(data)

    def sluice(self, *args, **environment):
        """(exit status, stdout, lines that OpenCL was asked)."""
        if os.path.exists(self.trace):
            os.unlink(self.trace)
        result = subprocess.run(
            [SLUICE, *args], cwd=self.dir, capture_output=True, timeout=600,
            env=dict(os.environ, OPENCL_LAYERS=CL_TRACE, SLUICE_CL_TRACE=self.trace, **environment))
        self.assertIn(result.returncode, (0, 65), '%s: %s' % (args, result.stderr.decode()))
        lines = []
        if os.path.exists(self.trace):
            with open(self.trace, encoding='utf-8') as file:
                lines = [line.split() for line in file]
        return result.returncode, result.stdout, lines

    def results(self, folder):
        files = {}
        for name in sorted(os.listdir(os.path.join(self.dir, folder))):
            with open(os.path.join(self.dir, folder, name), 'rb') as file:
                files[name] = file.read()
        return files


def kernels(lines):
    return sum(line[0] == 'kernel' for line in lines)


class SameBytes(Case):
    def check(self, device, text, kind, width, height, channels):
        """1 when it ran with fewer launches, 0 when with as many; None: this picture will not do."""
        where = '%s on %s of %s %dx%dx%d' % (text, device, kind, width, height, channels)
        launched = []
        for folder, more in (('fused', []), ('apart', ['--no-fuse'])):
            shutil.rmtree(os.path.join(self.dir, folder), ignore_errors=True)
            status, out, lines = self.sluice('run', '--json', '--device', device, '-c', text, '-f', 'npy', '-o',
                                             folder + '/', *more, 'in.npy')
            if folder == 'fused':
                fused_status = status
            launched.append(len(json.loads(out)['files'][0]['launches']) if status == 0 else None)
            if device == 'cpu' and status == 0:
                self.assertEqual(kernels(lines), launched[-1], where)
        self.assertEqual(status, fused_status, where)
        if status != 0:
            return None
        self.assertEqual(self.results('fused'), self.results('apart'), where)
        plan = json.loads(self.sluice('plan', '--device', device, '--json', '-c', text, '--type', kind, '--format', 'npy',
                                      '%dx%dx%d' % (width, height, channels))[1])
        self.assertEqual(launched, [plan['launches'], plan['not_fused']['launches']], where)
        self.assertLessEqual(plan['bytes_moved'], plan['not_fused']['bytes_moved'], where)
        return int(plan['launches'] < plan['not_fused']['launches'])

    def test_alpha_that_is_dropped(self):
        """Vectors of RGBA lose a lane on their way into rows of RGB."""
        self.write('in.npy', picture(random.Random(3), 'u8', 37, 21, 4))
        for device in DEVICES & set(CHAINS):
            self.assertEqual(self.check(device, 'fir:1_2_1:out=f32,gain:0.5', 'u8', 37, 21, 4), 1)

    def random_chains(self, device):
        if device not in DEVICES:
            self.skipTest('no such device')
        rng = random.Random(20261121)
        ran = fused = 0
        for number in range(CHAINS[device]):
            kind, channels = rng.choice(('u8', 'u8', 'u16', 'f32')), rng.choice((1, 3, 3, 4))
            width, height = rng.choice(((1, 1), (3, 50), (37, 21), (61, 43), (18, 70), (130, 9)))
            text = chain(rng, channels)
            self.write('in.npy', picture(rng, kind, width, height, channels))
            with self.subTest(number=number, chain=text):
                result = self.check(device, text, kind, width, height, channels)
                ran += result is not None
                fused += result == 1
        self.assertGreater(ran, CHAINS[device] * 0.6) # the others: no such type, or nothing left by crop
        self.assertGreater(fused, CHAINS[device] * 0.3)

    def test_random_chains_on_native(self):
        self.random_chains('native')

    def test_random_chains_on_opencl(self):
        self.random_chains('cpu')


def find_clang():
    names = ['clang'] + ['clang-%d' % version for version in range(30, 10, -1)]
    return next((path for path in map(shutil.which, names) if path), None)


class Texts(Case):
    """Parts of a program are written apart from each other: names must not meet in any chain."""
    CLANG = find_clang()

    def compile(self, chain, profile, kind, channels):
        plan = subprocess.run([SLUICE, 'plan', '--source', '--profile', profile, '-c', chain, '--type', kind,
                               '61x43x%d' % channels], capture_output=True, timeout=600)
        if plan.returncode != 0:
            return None # no such type, or nothing left by crop
        result = subprocess.run([self.CLANG, '-x', 'cl', '-cl-std=CL1.2', '-Xclang', '-fdeclare-opencl-builtins',
                                 '-Xclang', '-finclude-default-header', '-target', 'spir64', '-fsyntax-only',
                                 '-'], input=plan.stdout, capture_output=True, timeout=600)
        return result.returncode, [line for line in result.stderr.decode().splitlines() if 'error' in line]

    @unittest.skipUnless(CLANG, 'no clang')
    def test_random_chains(self):
        rng = random.Random(7)
        jobs = []
        for _ in range(TEXTS):
            kind, channels = rng.choice(('u8', 'u8', 'u16', 'f32')), rng.choice((1, 3, 3, 4))
            text = chain(rng, channels)
            jobs += [(text, profile, kind, channels) for profile in ('gpu', 'mali')]
        with ThreadPoolExecutor(2) as threads:
            results = list(threads.map(lambda job: self.compile(*job), jobs))
        for job, result in zip(jobs, results):
            with self.subTest(chain=job):
                self.assertIn(result, (None, (0, [])))
        self.assertGreater(sum(result is not None for result in results), len(jobs) * 0.6)


class WhatFuses(Case):
    def launches(self, text, profile, size='640x480x3', *more):
        plan = json.loads(self.sluice('plan', '--json', '-c', text, '--profile', profile, *more, size)[1])
        return plan['launches'], plan.get('not_fused', {}).get('launches')

    def test_launches(self):
        for text, profile, after, before in (
                ('luminance,sobel,threshold:128', 'native', 1, 3),
                ('luminance,fir:gaussian5,gain:2,invert', 'native', 1, 4),
                ('invert,luminance,sobel:dx,abs,convert:type=f32', 'native', 1, 5),
                ('invert,gain:2,threshold:100', 'native', 1, 3),
                ('luminance,sobel,threshold:128', 'cpu', 2, 3),
                ('invert,gain:2,threshold:100', 'cpu', 1, 3),
                ('invert,gain:2,threshold:100', 'gpu', 1, 3),
                ('invert,gain:2,threshold:100', 'mali', 1, 3),
                ('luminance,threshold:100', 'gpu', 1, 2),
                ('luminance,sobel,threshold:128', 'gpu', 2, 3),
                ('luminance,sobel,sobel,invert', 'native', 2, 4),
                ('sobel:both,abs,invert', 'cpu', 3, 5),
                ('luminance', 'native', 1, 1)):
            self.assertEqual(self.launches(text, profile), (after, before), (text, profile))
        self.assertEqual(self.launches('luminance,sobel', 'native', '640x480x3', '--no-fuse'), (2, None))

    def test_bytes(self):
        """luminance,sobel,threshold: RGB is read once and the result written once."""
        plan = json.loads(self.sluice('plan', '--json', '-c', 'luminance,sobel,threshold:128',
                                      '--profile', 'native', '640x480x3')[1])
        self.assertEqual(plan['bytes_moved'], 640 * 480 * (3 + 1))
        self.assertEqual(plan['not_fused']['bytes_moved'], 640 * 480 * (3 + 1 + 1 + 1 + 1 + 1))

    def test_long_rows_stay_apart(self):
        """A band of rows is one work-item's: rows that are long and few are cut into pieces instead."""
        self.assertEqual(self.launches('luminance,sobel', 'native', '4000000x2x3')[0], 2)


class Counted(Case):
    CHAIN = 'luminance,sobel,threshold:100'
    COUNT = 24
    TOGETHER = 4 # small pictures that a thread has under way

    def setUp(self):
        super().setUp()
        for i in range(self.COUNT):
            self.write('%d.ppm' % i, pictures.pnm(61, 43, pictures.noise(61, 43, 3, seed=i + 1), 3))

    def run_on(self, *files):
        status, out, lines = self.sluice('run', '-c', self.CHAIN, '-f', 'pgm', '-o', 'out/', '--threads',
                                         '1', '--timing', '--json', *files,
                                         SLUICE_CACHE_DIR=os.path.join(self.dir, 'cache'))
        self.assertEqual(status, 0)
        return json.loads(out)['files'], lines

    def count(self, lines, *words):
        return sum(line[:len(words)] == list(words) for line in lines)

    def test_counts(self):
        first, lines = self.run_on('0.ppm')
        self.assertEqual(self.count(lines, 'build'), 1)
        alone, lines = self.run_on('0.ppm')
        self.assertEqual(self.count(lines, 'build'), 0) # the second run compiles nothing
        buffers = self.count(lines, 'buffer')
        self.assertGreater(buffers, 0)
        files, lines = self.run_on(*['%d.ppm' % i for i in range(self.COUNT)])
        # Nor does a warm job allocate: only as many have buffers as are under way at once.
        self.assertLessEqual(self.count(lines, 'buffer'), self.TOGETHER * buffers)
        self.assertEqual(self.count(lines, 'build'), 0)
        self.assertEqual(self.count(lines, 'copy'), 0)
        self.assertEqual(self.count(lines, 'map', 'write'), self.COUNT) # there once
        self.assertEqual(self.count(lines, 'map', 'read'), self.COUNT)  # and back once
        plan = json.loads(self.sluice('plan', '--json', '-c', self.CHAIN, '61x43x3')[1])
        self.assertEqual(kernels(lines), self.COUNT * plan['launches'])
        for file in first + alone + files:
            self.assertEqual((file['crossings_in'], file['crossings_out'], file['bytes_copied']),
                             (1, 1, 0))


if __name__ == '__main__':
    unittest.main(verbosity=2)
