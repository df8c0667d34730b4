#!/usr/bin/env python3
"""PNG files of every level are read by other programs: Python's zlib, and Pillow and OpenCV where they are installed.
Usage: test_png.py SLUICE [unittest options]"""
import math
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..'))
import pictures  # noqa: E402

try:
    import numpy
    import PIL.Image as pillow
except ImportError:
    pillow = None
try:
    import cv2
except ImportError:
    cv2 = None

SLUICE = os.path.abspath(sys.argv.pop(1))


def npy(width, height, channels, maxval, samples):
    """An NPY of u1 or u2, which has any number of channels."""
    shape = '(%d, %d, %d)' % (height, width, channels) if channels > 1 else '(%d, %d)' % (height, width)
    head = "{'descr': '%s', 'fortran_order': False, 'shape': %s, }" % (
        '|u1' if maxval < 256 else '<u2', shape)
    head = head.ljust(117) + '\n'
    return (b'\x93NUMPY\x01\x00' + struct.pack('<H', len(head)) + head.encode() +
            struct.pack('<%d%s' % (len(samples), 'B' if maxval < 256 else 'H'), *samples))


def samples_of(kind, width, height, channels, maxval):
    if kind == 'noise':
        return pictures.noise(width, height, channels, maxval=maxval)
    if kind == 'flat':
        return [maxval // 3] * (width * height * channels)
    if kind == 'stripes':
        return [maxval * (x // 19 % 2) for _ in range(height) for x in range(width)
                for _ in range(channels)]
    return [round(maxval * (0.5 + 0.3 * math.sin(x / 31 + c) * math.cos(y / 17) + 0.01 * ((x * y) % 7)))
            for y in range(height) for x in range(width) for c in range(channels)]


class Png(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix='sluice-png-')
        self.addCleanup(shutil.rmtree, self.dir)

    def write(self, form, *args):
        """The PNG of in.npy."""
        out = os.path.join(self.dir, 'out.png')
        subprocess.run([SLUICE, 'run', '-q', '-f', form, '-o', out, *args,
                        os.path.join(self.dir, 'in.npy')], check=True)
        with open(out, 'rb') as file:
            return out, file.read()

    def give(self, *args):
        with open(os.path.join(self.dir, 'in.npy'), 'wb') as file:
            file.write(npy(*args))

    def test_others_read_it(self):
        for kind in ('noise', 'flat', 'stripes', 'smooth'):
            for channels in (1, 2, 3, 4):
                for maxval in (255, 65535):
                    width, height = 211, 83
                    samples = samples_of(kind, width, height, channels, maxval)
                    self.give(width, height, channels, maxval, samples)
                    what = '%s, %d channels to %d' % (kind, channels, maxval)
                    path, data = self.write('png')
                    depth = 8 if maxval < 256 else 16
                    if depth == 8:
                        self.assertEqual(pictures.read_png(data),
                                         (width, height, channels, 8, samples), what)
                    if pillow is not None and depth == 8:
                        with pillow.open(path) as image:
                            self.assertEqual(numpy.asarray(image).ravel().tolist(), samples, what)
                    if cv2 is not None and channels != 2:
                        image = cv2.imread(path, cv2.IMREAD_UNCHANGED)
                        order = {1: [0], 3: [2, 1, 0], 4: [2, 1, 0, 3]}[channels]
                        image = image.reshape(height, width, channels)[..., order]
                        self.assertEqual(image.ravel().tolist(), samples, what)

    def test_every_level(self):
        samples = samples_of('smooth', 300, 200, 1, 255)
        self.give(300, 200, 1, 255, samples)
        sizes = []
        for level in range(10):
            _, data = self.write('png:level=%d' % level)
            self.assertEqual(pictures.read_png(data)[4], samples, level)
            sizes.append(len(data))
            self.assertEqual(data, self.write('png:level=%d' % level)[1])
        self.assertLess(max(sizes[1:]), sizes[0])

    def test_flat_pictures_are_small(self):
        """Runs are matches: a megabyte of one colour takes some kilobytes."""
        self.give(1000, 1000, 1, 255, [9] * 1000000)
        self.assertLess(len(self.write('png')[1]), 10000)

    @unittest.skipIf(cv2 is None, 'OpenCV is not installed')
    def test_no_larger_than_opencv(self):
        """Of something like a photograph, and of its gradient."""
        rng = numpy.random.default_rng(3)
        picture = cv2.GaussianBlur(rng.integers(0, 256, (800, 1000), numpy.uint8), (0, 0), 3)
        picture = cv2.normalize(picture.astype(numpy.float32) + rng.normal(0, 1, picture.shape), None,
                                0, 255, cv2.NORM_MINMAX).astype(numpy.uint8)
        numpy.save(os.path.join(self.dir, 'in.npy'), picture)
        for chain in ('', 'sobel'):
            path, data = self.write('png', '-c', chain)
            theirs = os.path.join(self.dir, 'cv.png')
            cv2.imwrite(theirs, cv2.imread(path, cv2.IMREAD_UNCHANGED))
            self.assertLessEqual(len(data), os.path.getsize(theirs), chain)


if __name__ == '__main__':
    unittest.main()
