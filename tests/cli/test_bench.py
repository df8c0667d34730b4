#!/usr/bin/env python3
"""The rows that `sluice bench` prints. Times are only checked to be there.

Usage: test_bench.py SLUICE [unittest options]"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..'))
import pictures  # noqa: E402
from built import needs_opencl  # noqa: E402

SLUICE = os.path.abspath(sys.argv.pop(1))

ROW = {'name', 'variant', 'width', 'height', 'channels', 'type', 'iterations', 'median_s', 'min_s',
       'bytes', 'gb_per_s', 'copy_gb_per_s', 'share', 'launches', 'queued_s', 'wait_s', 'run_s'}
END_TO_END = {'read_s', 'decode_s', 'device_s', 'encode_s', 'write_s', 'wall_s', 'cpu_s',
              'bytes_copied', 'files_per_s'}


class Bench(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix='sluice-bench-test-')
        self.addCleanup(shutil.rmtree, self.dir)

    def sluice(self, *args, status=0):
        result = subprocess.run([SLUICE, *args], capture_output=True, cwd=self.dir, timeout=300,
                                env=dict(os.environ, TMPDIR=self.dir))
        self.assertEqual(result.returncode, status, '%s\n%s' % (args, result.stderr.decode()))
        return result.stdout.decode(), result.stderr.decode()

    def bench(self, *args):
        out, stderr = self.sluice('bench', '--json', '--iterations', '3', *args)
        self.assertEqual(stderr, '')
        return json.loads(out)

    def plan(self, chain, size):
        return json.loads(self.sluice('plan', '--json', '-c', chain, size)[0])

    def check_row(self, row):
        self.assertLessEqual(ROW, set(row))
        self.assertLessEqual(row['min_s'], row['median_s'])
        self.assertGreater(row['min_s'], 0)
        self.assertAlmostEqual(row['gb_per_s'], row['bytes'] / row['median_s'] * 1e-9,
                               delta=1e-6 * row['gb_per_s'])
        if row['variant'] != 'reference':
            self.assertAlmostEqual(row['share'], row['gb_per_s'] / row['copy_gb_per_s'],
                                   delta=1e-6 * row['share'])
            self.assertGreater(row['share'], 0)
            self.assertLess(row['share'], 100)

    def test_rows(self):
        """The first row is the chain, by the plan that `run` makes; its bytes are those that must
        move: 3 in and 1 out a pixel."""
        report = self.bench('-c', 'luminance , sobel:magnitude', '--size', '300x200')
        self.assertEqual(set(report), {'device', 'driver', 'rows'})
        row, = report['rows']
        self.check_row(row)
        plan = self.plan('luminance,sobel', '300x200x3')
        self.assertEqual(row['name'], 'luminance,sobel')
        self.assertEqual((row['width'], row['height'], row['channels'], row['type']),
                         (300, 200, 3, 'u8'))
        self.assertEqual(row['iterations'], 3)
        self.assertEqual(row['bytes'], 300 * 200 * 4)
        self.assertEqual(row['launches'], plan['launches'])
        self.assertEqual(row['bytes_moved'], plan['bytes_moved'])
        forms = {p['form'] for step in plan['steps'] for p in step['passes']}
        self.assertEqual(set(row['variant'].split('+')), forms)

    def test_sizes_and_types(self):
        row, = self.bench('-c', 'luminance', '--size', '64x32x4')['rows']
        self.assertEqual((row['channels'], row['bytes']), (4, 64 * 32 * 5))
        row, = self.bench('sobel:dx', '--size', '64x32', '--type', 'u16')['rows']
        self.assertEqual((row['name'], row['type'], row['bytes']), ('sobel:out=dx', 'u16', 64 * 32 * 4))
        row, = self.bench('-c', 'convert:f32', '--size', '64x32x3')['rows']
        self.assertEqual((row['channels'], row['bytes']), (3, 64 * 32 * 3 * 5))
        row, = self.bench('-c', 'invert', '--size', '1x1')['rows']
        self.assertEqual(row['bytes'], 2)

    def test_nothing_to_do(self):
        """A chain that launches nothing takes no time and moves nothing that a share could tell."""
        row, = self.bench('-c', 'convert:u8', '--size', '64x32')['rows']
        self.assertEqual((row['launches'], row['variant'], row['gb_per_s'], row['share']),
                         (0, 'none', None, None))

    def test_every_stage(self):
        stages = json.loads(self.sluice('stages', '--json')[0])
        report = self.bench('--size', '64x48')
        named = [row['name'] for row in report['rows']]
        for stage in stages:
            self.assertTrue(any(stage['name'] in [step.split(':')[0] for step in name.split(',')]
                                for name in named), stage['name'])
        for row in report['rows']:
            self.check_row(row)

    def test_stages_in_order(self):
        rows = self.bench('--size', '64x48', 'sobel', 'box:radius=2', 'luminance')['rows']
        self.assertEqual([row['name'].split(':')[0] for row in rows], ['sobel', 'box', 'luminance'])
        self.assertEqual([row['channels'] for row in rows], [1, 1, 3])

    def test_variants(self):
        rows = self.bench('--variants', '--size', '64x48', '-c', 'luminance,box:radius=3')['rows']
        for row in rows:
            self.check_row(row)
        self.assertTrue(rows[0]['name'].startswith('luminance,box:'))
        variants = [row['variant'] for row in rows]
        self.assertEqual(len(set(variants)), len(variants), variants)
        # Both of box's methods are one kernel on processors, which is timed once.
        self.assertEqual(set(variants), {'rows', 'reference'})
        # The bytes that must move do not depend on the way.
        self.assertEqual({row['bytes'] for row in rows}, {64 * 48 * 4})

    @needs_opencl
    def test_variants_have_forms_and_wavelets(self):
        variants = [row['variant'] for row in
                    self.bench('--variants', '--device', 'cpu', '--size', '64x48', 'sobel')['rows']]
        self.assertLessEqual({'vector', 'reference'}, set(variants))
        self.assertGreaterEqual(len(variants), 3)
        rows = self.bench('--variants', '--size', '64x48', '-c', 'dwt:levels=2,idwt')['rows']
        variants = {row['variant'] for row in rows}
        self.assertLessEqual({'wavelet=haar', 'wavelet=db38', 'wavelet=cdf53', 'precision=double',
                              'reference'}, variants)

    def test_variants_fit_on_a_page(self):
        """Of a family of wavelets the first and the last; and nothing that the planes fix: idwt takes it from them."""
        rows = self.bench('--variants', '--size', '64x48', '-c', 'dwt:levels=2,idwt')['rows']
        variants = [row['variant'] for row in rows]
        self.assertEqual(len(set(variants)), len(variants), variants)
        self.assertTrue(8 < len(rows) < 30, variants)
        self.assertEqual([row['name'] for row in rows if 'idwt:' in row['name']], [])

    def test_reference(self):
        row, = self.bench('--device', 'reference', 'sobel', '--size', '64x48')['rows']
        self.check_row(row)
        self.assertEqual((row['variant'], row['iterations'], row['share']), ('reference', 1, None))

    def test_table(self):
        out, _ = self.sluice('bench', 'sobel', '--size', '64x48', '--iterations', '2')
        lines = out.splitlines()
        self.assertEqual(len(lines), 3)
        self.assertIn('driver', lines[0])
        for word in ('median ms', 'min ms', 'MP/s', 'GB/s', 'of copy', 'queued ms', 'wait ms'):
            self.assertIn(word, lines[1])
        self.assertTrue(lines[2].startswith('sobel '))

    def test_devices_side_by_side(self):
        report = self.bench('--device', 'native,reference', '--size', '64x48', 'sobel', 'box:radius=2')
        self.assertEqual(report['device'], 'native,reference')
        self.assertEqual([(row['device'], row['ran_on'], row['name'].split(':')[0]) for row in report['rows']],
                         [('native', 'native', 'sobel'), ('native', 'native', 'box'), ('reference', None, 'sobel'),
                          ('reference', None, 'box')])
        self.assertEqual([part['stage'] for part in report['rows'][0]['parts']], ['sobel'])
        out, _ = self.sluice('bench', '--device', 'native,reference', '--size', '64x48', '--iterations', '2', 'sobel')
        lines = out.splitlines()
        self.assertEqual(lines[0].split(), ['milliseconds', 'native', 'reference'])
        self.assertEqual(lines[1].split(), ['chain', 'picture'] + ['kernels', 'job'] * 2)
        self.assertEqual(lines[2].split()[:2] + [lines[2].split()[-2]], ['sobel', '64x48x1', '-'])
        self.assertEqual(len(lines), 3)
        self.assertIn('nosuch', self.sluice('bench', '--device', 'native,nosuch', 'sobel', status=69)[1])

    def test_tables(self):
        """Those of single stages, and those of filter banks, whose launches say which step they are."""
        rows = self.bench('--device', 'native', 'widths')['rows']
        names = [row['name'] for row in rows]
        for method in ('separable', 'sat'):
            self.assertEqual([name for name in names if name.endswith('method=' + method)],
                             ['box:width=%d:height=%d:method=%s' % (n, n, method) for n in (3, 5, 9, 17, 31, 51, 75, 101)])
        every = [row for row in rows if row['name'].startswith('fir:k=1_')]
        self.assertEqual(len(every), 6)
        for row in every:  # no window that is taken apart into a row and a column
            self.assertEqual([part['place'] for part in row['parts']], [''])
        out, _ = self.sluice('bench', '--device', 'native,reference', '--iterations', '1', '--max-pixels', '70000', 'sizes')
        self.assertEqual([line.split()[1] for line in out.splitlines()[2:]], ['256x256x1'] * 3 + ['256x256x3'])
        rows = self.bench('--device', 'native', '--iterations', '1', '--max-pixels', '70000', 'sizes')['rows']
        self.assertEqual([sorted(row.get('cycles', ())) for row in rows], [[]] * 2 + [['Mali-G52', 'Mali-G57', 'Mali-G610'], []])
        for forms in rows[2]['cycles'].values():
            self.assertGreater(forms['vector'], 0.3)
            self.assertGreater(forms['scalar'], 5 * forms['vector'])
        rows = self.bench('--max-pixels', '600000', '--device', 'native', 'filterbank2d')['rows']
        self.assertEqual([row['levels'] for row in rows], [1, 2, 3, 5, 7, 8, 9, 11] * 2)
        for row in rows:
            places = {(part['stage'], part['place']) for part in row['parts']}
            self.assertEqual(places, {(stage, 'level %d, %s' % (level + 1, way)) for stage in ('analysis', 'synthesis')
                                      for level in range(row['levels']) for way in ('rows', 'columns')})
            self.assertAlmostEqual(row['analysis_s'], sum(part['median_s'] for part in row['parts']
                                                          if part['stage'] == 'analysis'), delta=1e-9)
            self.assertGreater(row['bits'], 15)
            self.assertLess(row['max_error'], 0.5)

    def test_report(self):
        """A file of the rows and all that they may depend on, beside the usual lines; a bound where the kernels
        are those of the board's class."""
        out, _ = self.sluice('bench', 'sobel', '--size', '64x48', '--iterations', '2', '--board', 'rock5b',
                             '--report', 'a.json')
        self.assertEqual(len(out.splitlines()), 3)
        self.assertIn('bound ms', out)
        with open(os.path.join(self.dir, 'a.json'), encoding='utf-8') as file:
            report = json.load(file)
        self.check_row(report['rows'][0])
        self.assertEqual(report['board'], 'rock5b')
        self.assertEqual(report['system']['kernel'], os.uname().release)
        self.assertEqual(report['opencl']['driver'], report['driver'])
        for state in ('before', 'after'):
            self.assertEqual(set(report[state]), {'clocks', 'processors', 'temperatures'})
        self.assertEqual(os.listdir(self.dir), ['a.json'])

    def test_end_to_end(self):
        names = []
        for name, width, height in (('a.ppm', 40, 30), ('b.ppm', 21, 11)):
            with open(os.path.join(self.dir, name), 'wb') as file:
                file.write(pictures.pnm(width, height, pictures.noise(width, height, 3), 3))
            names.append(name)
        rows = self.bench('-c', 'luminance,sobel', '-f', 'pgm', '--end-to-end', *names)['rows']
        self.assertEqual([row['variant'] for row in rows],
                         ['end-to-end', 'end-to-end', 'side by side'])
        for row in rows:
            self.assertLessEqual(ROW | END_TO_END, set(row))
            self.assertEqual(row['bytes_copied'], 0)
            self.assertEqual(row['name'], 'luminance,sobel')
        first = rows[0]
        self.check_row(first)
        self.assertEqual(first['launches'], self.plan('luminance,sobel', '40x30x3')['launches'])
        self.assertEqual((first['file'], first['width'], first['bytes']), ('a.ppm', 40, 40 * 30 * 4))
        spans = sum(first[key] for key in ('read_s', 'decode_s', 'device_s', 'encode_s', 'write_s'))
        self.assertLessEqual(spans, 2 * first['wall_s'])
        self.assertAlmostEqual(first['files_per_s'], 1 / first['wall_s'],
                               delta=1e-6 * first['files_per_s'])
        self.assertEqual(sorted(os.listdir(self.dir)), names)  # results are thrown away

    def test_end_to_end_table(self):
        with open(os.path.join(self.dir, 'a.ppm'), 'wb') as file:
            file.write(pictures.pnm(40, 30, pictures.noise(40, 30, 3), 3))
        out, _ = self.sluice('bench', '--iterations', '1', '-c', 'sobel', '--end-to-end', 'a.ppm')
        for word in ('read ms', 'decode', 'device', 'encode', 'write', 'wall', 'cpu', 'files/s'):
            self.assertIn(word, out.splitlines()[0])
        self.assertTrue(out.splitlines()[1].startswith('a.ppm'))

    def test_errors(self):
        for args, status, words in (
                (['soble'], 64, ["did you mean 'sobel'?"]),
                (['-c', 'sobel:out=dz'], 64, ['sobel', 'dx', '^']),
                (['-c', 'sobel', 'box'], 64, ['not both']),
                (['--size', '12', 'sobel'], 64, ['--size=12', 'WIDTHxHEIGHT']),
                (['--size', '100000x100000', 'sobel'], 65, ['--max-pixels']),
                (['--type', 'u9', 'sobel'], 64, ['--type=u9', 'u16']),
                (['--iterations', '0', 'sobel'], 64, ['iterations']),
                (['--end-to-end'], 64, ['which']),
                (['--end-to-end', '-c', 'sobel', 'none.jpg'], 66, ['none.jpg: No such file']),
                (['-c', 'sobel:border=crop', '--size', '2x2'], 65, ['sobel']),
                (['--board', 'rock5', 'sobel'], 64, ['--board=rock5', "did you mean 'rock5b'?"]),
                (['--report', 'no/where.json', 'sobel'], 73, ['no/where.json']),
                (['--device', 'nosuch', 'sobel'], 69, ['nosuch'])):
            out, stderr = self.sluice('bench', *args, status=status)
            for word in words:
                self.assertIn(word, stderr, args)
            self.assertNotIn('{', out)
        self.assertIn('--end-to-end', self.sluice('bench', '--help')[0])


if __name__ == '__main__':
    unittest.main()
