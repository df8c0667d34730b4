#!/usr/bin/env python3
"""`sluice tune` remembers which of two devices is faster, and `--device auto` takes that one. The GPU is PoCL, with a
layer that calls it one.

Usage: test_tune.py SLUICE CL_LAYER UNIT_TUNED [unittest options]"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..'))
import pictures  # noqa: E402
import schema  # noqa: E402

SCHEMAS = schema.Schemas(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'docs', 'schemas'))

SLUICE, LAYER, UNIT = [os.path.abspath(sys.argv.pop(1)) for _ in range(3)]
FAST, SLOW = ','.join(['0.0001'] * 6), ','.join(['0.1'] * 6)
# Native is faster up to 640x480.
GROWS = ','.join(str(0.00002 * 4 ** i) for i in range(6))
LEVEL = ','.join(['0.001'] * 6)


class Tune(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cache = tempfile.mkdtemp(prefix='sluice-tune-cache-')
        cls.addClassCleanup(shutil.rmtree, cls.cache)

    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix='sluice-tune-test-')
        self.addCleanup(shutil.rmtree, self.dir)
        self.addCleanup(self.forget)
        self.env = dict(os.environ, OPENCL_LAYERS=LAYER, SLUICE_FAULT_CL_GPU='1', SLUICE_CACHE_DIR=self.cache,
                        SLUICE_DEVICE='auto', TMPDIR=self.dir)

    def forget(self):
        """Compiled kernels stay for the next test."""
        for name in os.listdir(self.cache):
            path = os.path.join(self.cache, name)
            if os.path.isfile(path):
                with open(path, 'rb') as file:
                    if b'times of chains' in file.read(4096):
                        os.remove(path)

    def sluice(self, *args, status=0):
        """What it prints, or its complaint."""
        result = subprocess.run([SLUICE, *args], capture_output=True, cwd=self.dir, timeout=300, env=self.env)
        self.assertEqual(result.returncode, status, '%s\n%s' % (args, result.stderr.decode()))
        return (result.stderr if status else result.stdout).decode()

    def remember(self, chain, device, native, kind=('u8', '1')):
        subprocess.run([UNIT, chain, *kind, device, native], check=True, env=self.env)

    def choice(self, chain, size, *options):
        told = json.loads(self.sluice('plan', '--json', '-c', chain, size, *options))
        SCHEMAS.check(told, 'plan.json')
        return told.get('choice')

    def ran_on(self, chain, size, *options):
        width, height = size
        with open(os.path.join(self.dir, 'a.pgm'), 'wb') as file:
            file.write(pictures.pnm(width, height, pictures.noise(width, height)))
        out = self.sluice('run', '--json', '-c', chain, '-f', 'pgm', '-o', 'b.pgm', '--on-exists', 'overwrite', 'a.pgm',
                          *options)
        return json.loads(out)['files'][0]['device']

    def test_measures_and_remembers(self):
        told = json.loads(self.sluice('tune', '--json', '-c', 'luminance,invert', '--kinds', 'u8x3', '--max-pixels', '80000'))
        SCHEMAS.check(told, 'tune.json')
        self.assertEqual([(row['chain'], row['type'], row['channels']) for row in told['rows']],
                         [('invert', 'u8', 1), ('luminance,invert', 'u8', 3), ('luminance', 'u8', 3)])
        for row in told['rows']:
            for times in (row['device_s'], row['native_s']):
                self.assertEqual([time is not None for time in times], [True] * 2 + [False] * 4)
        by_chain = {row['chain']: row for row in told['rows']}
        for chain, size in (('luminance,invert', '320x240x3'), ('luminance', '160x120x3'), ('invert', '320x240')):
            row = by_chain[chain]
            at = told['widths'].index(int(size.split('x')[0]))
            choice = self.choice(chain, size)
            self.assertAlmostEqual(choice['native_s'], row['native_s'][at], delta=1e-3 * choice['native_s'])
            self.assertAlmostEqual(choice['device_s'], row['device_s'][at], delta=1e-3 * choice['device_s'])
            self.assertEqual(choice['device'] == 'native', row['native_s'][at] < row['device_s'][at])
        self.assertIsNone(self.choice('invert', '320x240x3')['native_s'])
        # Chains of the configuration; a further run keeps what is known.
        with open(os.path.join(self.dir, 'sluice.yaml'), 'w', encoding='utf-8') as file:
            file.write('version: 1\nchains: {a: "convert:u8,invert"}\n')
        out = self.sluice('tune', '--config', 'sluice.yaml', '--kinds', 'u8x1', '--max-pixels', '20000')
        self.assertIn('3 chains remembered in ' + self.cache, out)
        self.assertIsNotNone(self.choice('convert:u8', '64x64')['native_s'])
        self.assertIsNotNone(self.choice('luminance', '64x64x3')['native_s'])

    def test_auto_takes_the_faster_one(self):
        untuned = self.choice('invert', '128x128')
        self.assertNotEqual(untuned['device'], 'native')
        self.assertIn('sluice tune has not measured', untuned['why'])
        self.assertNotEqual(self.ran_on('invert', (128, 128)), 'native')
        self.remember('invert', LEVEL, GROWS)
        self.assertEqual(self.choice('invert', '128x128')['device'], 'native')
        self.assertEqual(self.ran_on('invert', (128, 128)), 'native')
        self.assertNotEqual(self.choice('invert', '2048x2048')['device'], 'native')
        self.assertNotEqual(self.ran_on('invert', (1100, 1024)), 'native')
        self.assertIn('on native: a job takes 0.020 ms there, 1.000 ms on ', self.sluice('plan', '-c', 'invert', '128x128'))
        # Whoever names a device gets it, and nobody is told of a choice where there is none.
        self.assertNotEqual(self.ran_on('invert', (128, 128), '--device', 'gpu'), 'native')
        self.assertEqual(self.ran_on('invert', (1100, 1024), '--device', 'native'), 'native')
        for options in (['--device', 'gpu'], ['--profile', 'mali'], ['--device', 'reference']):
            self.assertIsNone(self.choice('invert', '128x128', *options))
        # The sum of stages that were measured.
        self.remember('flip:x', LEVEL, GROWS)
        choice = self.choice('invert,flip:x', '128x128')
        self.assertIn('of its stages', choice['why'])
        self.assertEqual(choice['device'], 'native')

    def test_one_process_takes_both(self):
        """Pictures of one run go to the device that is faster for each, and the results are the same."""
        self.remember('invert', LEVEL, GROWS)
        names = []
        for i, (width, height) in enumerate(((64, 64), (1100, 1024), (100, 90), (1024, 1100))):
            names.append('%d.pgm' % i)
            with open(os.path.join(self.dir, names[-1]), 'wb') as file:
                file.write(pictures.pnm(width, height, pictures.noise(width, height, seed=i)))
        told = self.sluice('run', '--json', '-c', 'invert', '-f', 'pgm', '-o', 'out/', *names)
        ran_on = {file['input']: file['device'] for file in json.loads(told)['files']}
        self.assertEqual([ran_on[name] == 'native' for name in names], [True, False, True, False])
        self.sluice('run', '-c', 'invert', '-f', 'pgm', '-o', 'ref/', '--device', 'reference', *names)
        for name in names:
            with open(os.path.join(self.dir, 'out', name), 'rb') as a, open(os.path.join(self.dir, 'ref', name), 'rb') as b:
                self.assertEqual(a.read(), b.read())

    def test_mistakes(self):
        for args, status, words in (
                (['-c', 'soble'], 64, "did you mean 'sobel'?"),
                (['-c', 'invert', '--kinds', 'u8'], 64, '--kinds=u8: expected'),
                (['-c', 'invert', '--kinds', 'u8x5'], 64, '--kinds=u8x5: expected'),
                (['-c', 'invert', '--cache', 'here'], 64, 'absolute'),
                (['-c', 'invert', '--cache', '/proc/nowhere'], 73, '/proc/nowhere: the cache directory cannot be written to'),
                (['-c', 'invert', '--device', 'reference'], 64, 'compares devices'),
                (['-c', 'invert', '--device', 'native'], 69, 'no choice'),
                (['invert'], 64, 'no operands')):
            self.assertIn(words, self.sluice('tune', '--max-pixels', '20000', *args, status=status), args)


if __name__ == '__main__':
    unittest.main()
