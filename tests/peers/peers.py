"""Shared by the tests here: random pictures, and running sluice on one."""
import os
import random
import shutil
import subprocess
import sys
import tempfile
import unittest

import numpy

SLUICE = os.path.abspath(sys.argv.pop(1))
TYPES = {'u8': numpy.uint8, 'u16': numpy.uint16, 'f32': numpy.float32}


def noise(height, width, channels, name, seed):
    generator = numpy.random.default_rng(seed)
    shape = (height, width, channels) if channels > 1 else (height, width)
    if name == 'f32':
        return generator.uniform(0, 255, shape).astype(numpy.float32)
    return generator.integers(0, numpy.iinfo(TYPES[name]).max, shape, TYPES[name], endpoint=True)


class Peers(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix='sluice-peers-')
        self.addCleanup(shutil.rmtree, self.dir)
        self.random = random.Random(17)

    def sluice(self, chain, picture):
        source, target = (os.path.join(self.dir, name) for name in ('in.npy', 'out.npy'))
        numpy.save(source, picture)
        done = subprocess.run([SLUICE, 'run', '-q', '-c', chain, '-o', target, source], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, '%s of %s: %s' % (chain, picture.shape, done.stderr))
        out = numpy.load(target)
        self.assertEqual(out.dtype, picture.dtype)
        return out

    def near(self, chain, picture, expected, most):
        """Samples no further than `most` from those expected; returns the largest difference."""
        out = self.sluice(chain, picture)
        self.assertEqual(out.shape, expected.shape, '%s of %s' % (chain, picture.shape))
        difference = float(numpy.abs(out.astype(float) - expected.astype(float)).max())
        self.assertLessEqual(difference, most, '%s of %s %s' % (chain, picture.shape, picture.dtype))
        return difference

    def side(self):
        return self.random.choice((1, 1, 2, 3, 7, 16, 33, self.random.randint(1, 90)))
