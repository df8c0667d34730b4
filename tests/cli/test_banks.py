#!/usr/bin/env python3
"""analysis and synthesis as people use them, against the formulas of docs/stages/analysis.md and
synthesis.md in plain Python; banks by configuration. Usage: test_banks.py SLUICE [unittest options]"""
import ast
import json
import math
import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

SLUICE = os.path.abspath(sys.argv.pop(1))
CODES = {'|u1': 'B', '<u2': 'H', '<f4': 'f', '<f8': 'd'}


def write_npy(path, rows, descr='|u1', one_dimension=False):
    shape = '(%d,)' % len(rows[0]) if one_dimension else '(%d, %d)' % (len(rows), len(rows[0]))
    header = "{'descr': '%s', 'fortran_order': False, 'shape': %s, }" % (descr, shape)
    header += ' ' * (63 - (10 + len(header)) % 64) + '\n'
    samples = [v for row in rows for v in row]
    with open(path, 'wb') as file:
        file.write(b'\x93NUMPY\x01\x00' + struct.pack('<H', len(header)) + header.encode() +
                   struct.pack('<%d%s' % (len(samples), CODES[descr]), *samples))


def read_npy(path):
    with open(path, 'rb') as file:
        data = file.read()
    size = struct.unpack('<H', data[8:10])[0]
    header = ast.literal_eval(data[10:10 + size].decode())
    shape = header['shape'] if len(header['shape']) == 2 else (1,) + tuple(header['shape'])
    code = CODES[header['descr']]
    values = struct.unpack('<%d%s' % (shape[0] * shape[1], code), data[10 + size:])
    return header['descr'], [list(values[y * shape[1]:(y + 1) * shape[1]]) for y in range(shape[0])]


class Filter:
    def __init__(self, taps, zero, shift):
        self.taps, self.zero, self.shift = taps, zero, shift

    def yaml(self):
        return '{taps: %s, zero: %d, shift: %d}' % (self.taps, self.zero, self.shift)


class Direction:
    def __init__(self, factor, analysis, synthesis):
        self.factor = factor
        self.analysis = [Filter(*f) for f in analysis]
        self.synthesis = [Filter(*f) for f in synthesis]


ROOT = math.sqrt(0.5)
LOW97 = [0.026748757411, -0.016864118443, -0.078223266529, 0.266864118443, 0.602949018236,
         0.266864118443, -0.078223266529, -0.016864118443, 0.026748757411]
HIGH97 = [0.091271763114, -0.057543526228, -0.591271763114, 1.115087052457, -0.591271763114,
          -0.057543526228, 0.091271763114]


def alternate(taps, middle):
    return [-t if (i - middle) % 2 else t for i, t in enumerate(taps)]


CDF97 = Direction(2, [(LOW97, 4, 0), (HIGH97, 3, 1)],
                  [(alternate(HIGH97, 3), 3, 0), (alternate(LOW97, 4), 4, 1)])
LEGALL = Direction(2, [([-.125, .25, .75, .25, -.125], 2, 0), ([-.5, 1, -.5], 1, 1)],
                   [([.5, 1, .5], 1, 0), ([-.125, -.25, .75, -.25, -.125], 2, 1)])
HAAR = Direction(2, [([ROOT, ROOT], 1, 0), ([-ROOT, ROOT], 0, 1)],
                 [([ROOT, ROOT], 0, 0), ([ROOT, -ROOT], 1, 1)])
COSINES = [[math.sqrt((2 if k else 1) / 3) * math.cos(math.pi * (2 * n + 1) * k / 6)
            for n in range(3)] for k in range(3)]
THIRDS = Direction(3, [(c[::-1], 2, 0) for c in COSINES], [(c, 0, 0) for c in COSINES])
LOSSY = Direction(3, [([1, 2, 1], 1, 0), ([1, 0, -1], 1, 1)], [([.5, 1], 0, 0), ([1, -1], 0, 2)])
QMF = Direction(2, [([ROOT, ROOT], 0, 0), ([ROOT, -ROOT], 0, 0)],
                [([ROOT, ROOT], 1, 0), ([-ROOT, ROOT], 1, 0)])
BANKS = {'cdf97': (CDF97, CDF97), 'legall53': (LEGALL, LEGALL), 'haar': (HAAR, HAAR),
         '@thirds': (THIRDS, THIRDS), '@mixed': (THIRDS, LEGALL), '@lossy': (LOSSY, LOSSY),
         '@pair': (QMF, QMF)}


def filters(list_):
    return '[' + ', '.join(f.yaml() for f in list_) + ']'


def define(name, x, y, more=''):
    return ('  %s:\n    sampling: [%d, %d]\n'
            '    analysis: {horizontal: %s, vertical: %s}\n'
            '    synthesis: {horizontal: %s, vertical: %s}\n%s'
            % (name, x.factor, y.factor, filters(x.analysis), filters(y.analysis),
               filters(x.synthesis), filters(y.synthesis), more))


CONFIG = ('version: 1\nkernels:\n  soft: 1_2_1/2_4_2/1_2_1\n  slope: [[-1, 0, 1]]\n'
          'chains:\n  back: analysis:@mixed:levels=2,synthesis\nbanks:\n'
          + define('thirds', THIRDS, THIRDS) + define('mixed', THIRDS, LEGALL)
          + define('lossy', LOSSY, LOSSY, '    lossy: true\n')
          + '  pair: {qmf: [%r, %r]}\n' % (ROOT, ROOT))


def analyse(v, z_v, f, g, m, cyclic):
    """A band and its zero."""
    ignored = (z_v + f.zero + f.shift) % m
    zero = (z_v + f.zero + f.shift) // m
    length = max(math.ceil((len(v) + len(f.taps) - 1 - ignored) / m), 0)
    first, last = -zero, length - zero - 1
    if cyclic:
        first = min(first, math.ceil((-z_v - f.shift - (len(g.taps) - g.zero - 1)) / m))
        last = max(last, (len(v) - 1 - z_v - f.shift + g.zero) // m)
    out = []
    for index in range(first, last + 1):
        n, total = index + zero, 0.0
        for k in range(-f.zero, len(f.taps) - f.zero):
            at = m * n + ignored - f.zero - k
            if cyclic:
                total += f.taps[k + f.zero] * v[at % len(v)]
            elif 0 <= at < len(v):
                total += f.taps[k + f.zero] * v[at]
        out.append(total)
    return out, -first


def turn(rows):
    return [list(column) for column in zip(*rows)]


def analyse_rows(rows, zero, f, g, m, cyclic):
    bands = [analyse(row, zero, f, g, m, cyclic) for row in rows]
    return [b[0] for b in bands], bands[0][1]


def cascade(rows, banks, cyclic, dims):
    """Bands by name: rows of samples, and both zeros."""
    bands, current = {}, (rows, 0, 0)
    for level, (x, y) in enumerate(banks, 1):
        source, following = current, None
        for i, (f, g) in enumerate(zip(x.analysis, x.synthesis)):
            part, zero_x = analyse_rows(source[0], source[1], f, g, x.factor, cyclic)
            if not part[0]:
                continue
            columns = zip(y.analysis, y.synthesis) if dims == 2 else [(None, None)]
            for j, (f2, g2) in enumerate(columns):
                band = (part, zero_x, source[2])
                if dims == 2:
                    turned, zero_y = analyse_rows(turn(part), source[2], f2, g2, y.factor, cyclic)
                    if not turned[0]:
                        continue
                    band = (turn(turned), zero_x, zero_y)
                if i == j == 0:
                    following = band
                if i + j > 0 or level == len(banks):
                    bands['a%d_h%d' % (level, i) + ('_v%d' % j if dims == 2 else '')] = band
        current = following
        if not current:
            break
    return bands


def put_together(bands, synthesis, m):
    """A signal and its zero, of (samples, zero) a band."""
    present = [(v, z, f) for (v, z), f in zip(bands, synthesis) if v]
    zero = max(max(z * m - f.shift, 0) + f.zero for v, z, f in present)
    rest = max((len(v) - z - 1) * m + 1 + f.shift + len(f.taps) - f.zero - 1 for v, z, f in present)
    out = [0.0] * (zero + rest)
    for v, z, f in present:
        for n, sample in enumerate(v):
            for k, tap in enumerate(f.taps):
                out[zero + m * (n - z) + f.shift + k - f.zero] += tap * sample
    return out, zero


class Banks(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix='sluice-banks-')
        self.addCleanup(shutil.rmtree, self.dir)
        with open(self.path('banks.yaml'), 'w', encoding='utf-8') as file:
            file.write(CONFIG)
        self.random = random.Random(7)

    def path(self, name):
        return os.path.join(self.dir, name)

    def sluice(self, *args, status=0):
        result = subprocess.run([SLUICE, *args], capture_output=True, cwd=self.dir, timeout=300)
        stderr = result.stderr.decode()
        self.assertEqual(result.returncode, status, '%s\n%s' % (args, stderr))
        return result.stdout.decode(), stderr

    def picture(self, width, height, descr='|u1', largest=255, one_dimension=False):
        rows = [[self.random.randrange(largest + 1) for _ in range(width)] for _ in range(height)]
        write_npy(self.path('in.npy'), rows, descr, one_dimension)
        return rows

    def run_chain(self, chain):
        """The planes that come out, by name: type and rows."""
        shutil.rmtree(self.path('out'), ignore_errors=True)
        os.mkdir(self.path('out'))
        self.sluice('run', '--config', 'banks.yaml', '--verify', '-c', chain, '-o', 'out/p.npy',
                    'in.npy')
        return {name[2:-4] if name != 'p.npy' else '': read_npy(self.path('out/' + name))
                for name in os.listdir(self.path('out'))}

    def assert_rows(self, got, expected, tolerance, what):
        self.assertEqual((len(got), len(got[0])), (len(expected), len(expected[0])), what)
        worst = max(abs(a - b) for r, s in zip(got, expected) for a, b in zip(r, s))
        self.assertLessEqual(worst, tolerance, what)

    def check(self, name, levels, border, dims, precision='single', width=13, height=7):
        rows = self.picture(width, height)
        words = '%s:levels=%d:border=%s:dims=%d:precision=%s' % (name, levels, border, dims, precision)
        expected = cascade(rows, [BANKS[name]] * levels, border == 'cyclic', dims)
        got = self.run_chain('analysis:' + words)
        self.assertEqual(sorted(got), sorted(expected), words)
        for band, (descr, samples) in got.items():
            self.assertEqual(descr, '<f8' if precision == 'double' else '<f4')
            self.assert_rows(samples, expected[band][0], 1e-9 if precision == 'double' else 1e-3,
                             '%s %s' % (words, band))
        if name != '@lossy':
            self.assertEqual(self.run_chain('analysis:%s,synthesis' % words), {'': ('|u1', rows)})

    def test_pictures(self):
        for name in sorted(BANKS):
            self.check(name, 1, 'zero', 2)
            self.check(name, 3, 'cyclic', 2)

    def test_rows_as_signals(self):
        for name in sorted(BANKS):
            self.check(name, 2, 'zero', 1)
            self.check(name, 4, 'cyclic', 1)

    def test_double(self):
        self.check('cdf97', 3, 'zero', 2, 'double')
        self.check('@mixed', 2, 'cyclic', 2, 'double')

    def test_small(self):
        for width, height in ((1, 1), (2, 1), (1, 3)):
            self.check('cdf97', 3, 'zero', 2, width=width, height=height)
            self.check('@thirds', 2, 'cyclic', 2, width=width, height=height)

    def test_deep(self):
        for border in ('zero', 'cyclic'):
            self.check('legall53', 11, border, 1, width=40, height=1)

    def test_one_dimensional_file(self):
        rows = self.picture(50, 1, one_dimension=True)
        got = self.run_chain('analysis:cdf97:dims=1')
        self.assert_rows(got['a1_h0'][1], cascade(rows, [BANKS['cdf97']], False, 1)['a1_h0'][0],
                         1e-3, 'low')

    def test_whole_signal(self):
        rows = self.picture(11, 2)
        bands = cascade(rows, [BANKS['@thirds']], False, 1)
        expected = [put_together([(bands['a1_h%d' % i][0][y], bands['a1_h%d' % i][1])
                                  for i in range(3)], THIRDS.synthesis, 3)[0] for y in range(2)]
        got = self.run_chain('analysis:@thirds:dims=1,synthesis:crop=0')
        self.assertEqual(got[''][0], '<f4')
        self.assert_rows(got[''][1], expected, 1e-3, 'whole')

    def test_sequences(self):
        rows = self.picture(14, 9)
        got = self.run_chain('analysis:sequences=haar_@mixed/haar_cdf97/haar')
        expected = {}
        for s, names in enumerate((('haar', '@mixed'), ('haar', 'cdf97'), ('haar',))):
            for band, value in cascade(rows, [BANKS[n] for n in names], False, 2).items():
                expected['s%d_%s' % (s, band)] = value
        self.assertEqual(sorted(got), sorted(expected))
        for band in got:
            self.assert_rows(got[band][1], expected[band][0], 1e-3, band)
        back = self.run_chain('analysis:sequences=haar_@mixed/haar_cdf97/haar,synthesis')
        self.assertEqual(back, {'s%d' % s: ('|u1', rows) for s in range(3)})

    def test_two_jobs(self):
        rows = self.picture(23, 12)
        for words in ('cdf97:levels=3', '@mixed:levels=2:border=cyclic', 'haar:dims=1'):
            self.sluice('run', '--config', 'banks.yaml', '-c', 'analysis:' + words, '-o', 'bands.npz',
                        'in.npy')
            self.sluice('run', '--config', 'banks.yaml', '-c', 'synthesis', '-o', 'back.npy',
                        'bands.npz')
            self.assertEqual(read_npy(self.path('back.npy')), ('|u1', rows))

    def launches(self, chain):
        out, _ = self.sluice('run', '--config', 'banks.yaml', '--json', '-c', chain, '-o',
                             'out.npy', 'in.npy')
        return json.dumps(json.loads(out)).count('"kernel"')

    def test_shared_beginning_is_computed_once(self):
        self.picture(64, 64)
        one = self.launches('analysis:sequence=cdf97_cdf97_haar')
        both = self.launches('analysis:sequences=cdf97_cdf97_haar/cdf97_cdf97_legall53')
        if one > 0:  # none by the references
            self.assertEqual(one, 9)  # a level: both bands of the rows, those of two sets of columns
            self.assertEqual(both, 12)

    def test_partial(self):
        rows = self.picture(23, 12)
        low = cascade(rows, [BANKS['legall53']], False, 2)['a1_h0_v0'][0]
        got = self.run_chain('analysis:legall53:levels=3,synthesis:levels=2')
        self.assertEqual(got[''][0], '|u1')
        self.assert_rows(got[''][1], [[min(max(v, 0), 255) for v in row] for row in low], 0.5001, 'low')

    def test_chain_and_kernel_by_name(self):
        rows = self.picture(13, 7)
        self.assertEqual(self.run_chain('back'), {'': ('|u1', rows)})
        self.assertEqual(self.run_chain('fir:@soft'), self.run_chain('fir:1_2_1/2_4_2/1_2_1'))
        self.assertEqual(self.run_chain('fir:@slope'), self.run_chain('fir:-1_0_1'))

    def refuses(self, text, *says):
        with open(self.path('bad.yaml'), 'w', encoding='utf-8') as file:
            file.write(text)
        _, stderr = self.sluice('plan', '--config', 'bad.yaml', '-c', 'sobel', '9x9', status=78)
        for words in says:
            self.assertIn(words, stderr)

    def test_bank_that_does_not_reconstruct(self):
        self.refuses('banks:\n' + define('wrong', LOSSY, LOSSY), 'bad.yaml:3:5:', "'wrong'", 'alias',
                     'distortion', 'lossy: true')
        self.refuses('banks:\n  q: {qmf: [1, 1]}\n', 'bad.yaml:2:6:', 'distortion 1,')

    def test_lossy_bank_says_so(self):
        _, stderr = self.sluice('plan', '--config', 'banks.yaml', '-c', 'sobel', '9x9')
        self.assertIn("bank 'lossy': horizontally alias", stderr)
        self.assertNotIn("'thirds'", stderr)
        _, stderr = self.sluice('plan', '-v', '--config', 'banks.yaml', '-c', 'sobel', '9x9')
        self.assertIn("bank 'thirds': horizontally alias", stderr)

    def test_mistakes_in_the_file(self):
        self.refuses('bank: {}\nversion: 2\n', "bad.yaml:1:1: the configuration has no key 'bank'; did you "
                     "mean 'banks'?", 'bad.yaml:2:10: version')
        self.refuses('banks:\n  a: {samplin: [2, 2]}\n', "did you mean 'sampling'?")
        self.refuses('banks: {a: {qmf: [1, x]}}\n', "bad.yaml:1:22: a tap: 'x' is no number")
        self.refuses('banks: {a: {qmf: [%s]}}\n' % ', '.join(['0.1'] * 129), '129 entries', '128')
        self.refuses('chains: {a: sobel, a: abs}\n', "'a' is there twice")
        self.refuses('chains: {a: &x sobel, b: *x}\n', 'anchors')
        self.refuses('chains: {a: !!str sobel, b: !odd x}\n', 'tags')
        self.refuses('chains: {a: sobel\n', 'bad.yaml:2:')
        self.refuses(define('haar', THIRDS, THIRDS).join(('banks:\n', '')), 'built in')

    def test_unknown_bank(self):
        self.picture(4, 4)
        _, stderr = self.sluice('run', '--config', 'banks.yaml', '-c', 'analysis:@third', '-o',
                                'o.npy', 'in.npy', status=64)
        self.assertIn("did you mean 'thirds'?", stderr)
        self.sluice('run', '-c', 'analysis:@thirds', '-o', 'o.npy', 'in.npy', status=64)

    def test_bench(self):
        _, stderr = self.sluice('bench', 'filterbank3d', status=64)
        self.assertIn("did you mean 'filterbank", stderr)


def f32(v):
    return struct.unpack('<f', struct.pack('<f', v))[0]


class Pictures(unittest.TestCase):
    """Second pictures of a command: a flat field by its definition, and what is refused."""

    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix='sluice-pictures-')
        self.addCleanup(shutil.rmtree, self.dir)

    def run_it(self, *arguments, status=0):
        done = subprocess.run([SLUICE, *arguments], cwd=self.dir, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stderr

    def write(self, name, rows, descr='<u2'):
        write_npy(os.path.join(self.dir, name), rows, descr)

    def test_flat_field_of_16_bits(self):
        width, height = 71, 43
        chance = random.Random(4)
        dark = [[chance.randrange(60, 140) for _ in range(width)] for _ in range(height)]
        flat = [[int(30000 + 9000 * math.sin(x / 9) + 70 * y) * (chance.random() > 0.01) for x in range(width)] for y in range(height)]
        frame = [[chance.randrange(65536) for _ in range(width)] for _ in range(height)]
        for name, rows in (('dark', dark), ('flat', flat), ('frame', frame)):
            self.write(name + '.npy', rows)
        self.run_it('run', '--define', 'dark=dark.npy', '--define', 'flat=flat.npy', '-c', 'subtract:@dark,divide:@flat', '-o', 'out.npy',
                    'frame.npy')
        mean = sum(map(sum, flat)) / (width * height)
        expected = [[min(round(f32(max(p - d, 0) * f32(mean / q if q else 0))), 65535) for p, d, q in zip(*rows)]
                    for rows in zip(frame, dark, flat)]
        self.assertEqual(read_npy(os.path.join(self.dir, 'out.npy')), ('<u2', expected))
        self.write('even.npy', [[v / 32768 for v in row] for row in flat], '<f4')
        self.run_it('run', '--define', 'flat=even.npy', '-c', 'convert:type=f32,divide:@flat:scale=0.5', '-o', 'out.npy', 'frame.npy')
        expected = [[f32(f32(p * f32(1 / f32(q / 32768) if q else 0)) * 0.5) for p, q in zip(*rows)] for rows in zip(frame, flat)]
        self.assertEqual(read_npy(os.path.join(self.dir, 'out.npy')), ('<f4', expected))

    def test_mistakes(self):
        self.write('a.npy', [[1, 2, 3]] * 4)
        self.write('b.npy', [[1, 2]] * 4)
        run = ('run', '-c', 'subtract:@dark', '-o', 'o.npy', '--on-exists', 'overwrite', 'a.npy')
        for define, status, says in (
                ('dark=b.npy', 65, "subtract: picture 'dark' is 2×4, and this one 3×4: they have to be of one size"),
                ('dark=gone.npy', 66, 'gone.npy: No such file'), ('dark', 64, 'expected NAME=FILE'), ('d/k=a.npy', 64, 'expected NAME=FILE'),
                ('dark=', 64, 'expected NAME=FILE'), ('flat=a.npy', 64, "no picture 'dark' is defined (--define dark=FILE"),
                ('dark=.', 66, 'no regular file')):
            self.assertIn(says, self.run_it(*run, '--define', define, status=status))
        self.assertIn('defined twice', self.run_it(*run, '--define', 'dark=a.npy', '--define', 'dark=b.npy', status=64))
        self.assertIn('more than 16 times', self.run_it(*run, *(w for i in range(17) for w in ('--define', 'a%d=a.npy' % i)), status=64))
        with open(os.path.join(self.dir, 'a.npy'), 'rb') as file, open(os.path.join(self.dir, 'half.npy'), 'wb') as half:
            half.write(file.read()[:-5])
        self.assertIn("--define: picture 'dark': half.npy: ", self.run_it(*run, '--define', 'dark=half.npy', status=65))
        self.run_it(*run, '--define', 'dark=a.npy')
        longest = 'n' * 62
        self.run_it('run', '--define', longest + '=a.npy', '-c', 'subtract:@' + longest, '-o', 'out.npy', 'a.npy')
        self.assertIn('at most 62 ', self.run_it(*run, '--define', 'n' * 63 + '=a.npy', status=64))
        self.assertEqual(read_npy(os.path.join(self.dir, 'o.npy')), ('<u2', [[0, 0, 0]] * 4))


if __name__ == '__main__':
    unittest.main()
