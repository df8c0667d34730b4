#!/usr/bin/env python3
"""The decoders against Pillow's: random pictures of every mode and way to write it that Pillow has. PNG, BMP and PNM give
the same samples; JPEG no more than two levels from them, which is what versions of libjpeg differ by.
Usage: test_decoders.py SLUICE [unittest options]"""
import os
import subprocess
import sys
import unittest

import numpy
from PIL import Image

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from peers import SLUICE, Peers, noise  # noqa: E402

COUNT = int(os.environ.get('PEERS_PICTURES') or 150)  # of each format
MODES = {'png': ('1', 'L', 'LA', 'RGB', 'RGBA', 'P', 'I;16'), 'bmp': ('1', 'L', 'P', 'RGB'), 'ppm': ('L', 'RGB', 'I;16'),
         'jpg': ('L', 'RGB')}


class Decoders(Peers):
    def picture(self, mode, smooth):
        height, width = self.side(), self.side()
        channels = {'LA': 2, 'RGB': 3, 'RGBA': 4}.get(mode, 1)
        if mode == 'I;16':
            return Image.fromarray(noise(height, width, 1, 'u16', self.random.randrange(1 << 30)))
        samples = noise(height, width, channels, 'u8', self.random.randrange(1 << 30))
        if smooth:  # as photographs are
            y, x = numpy.mgrid[:height, :width]
            ramp = (x * self.random.randint(0, 7) + y * self.random.randint(0, 7)) % 256
            samples = (samples // 8 + (ramp if channels == 1 else ramp[..., None]) * 7 // 8).astype(numpy.uint8)
        if mode == '1':
            return Image.fromarray(samples > 127)
        if mode == 'P':
            image = Image.fromarray(samples % self.random.choice((2, 4, 16, 255)), 'P')
            image.putpalette(noise(256, 3, 1, 'u8', 5).tobytes())
            return image
        return Image.fromarray(samples, mode)

    def options(self, form):
        if form == 'png':
            return {'compress_level': self.random.randint(0, 9)}
        if form == 'jpg':
            return {'quality': self.random.randint(1, 100), 'subsampling': self.random.randint(0, 2),
                    'progressive': self.random.random() < 0.5, 'optimize': self.random.random() < 0.5}
        return {}

    @staticmethod
    def expected(path):
        with Image.open(path) as image:
            if image.mode == 'P':
                image = image.convert('RGBA' if 'transparency' in image.info else 'RGB')
            elif image.mode == '1':
                image = image.convert('L')
            return numpy.asarray(image)

    def compare(self, form, most):
        source, target = os.path.join(self.dir, 'in'), os.path.join(self.dir, 'out')
        os.mkdir(source)
        os.mkdir(target)
        for i in range(COUNT):
            mode = self.random.choice(MODES[form])
            self.picture(mode, form == 'jpg').save(os.path.join(source, '%04d.%s' % (i, form)), **self.options(form))
        done = subprocess.run([SLUICE, 'run', '-q', '-c', '', '-f', 'npy', '-o', target, source], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        worst = 0
        for name in sorted(os.listdir(source)):
            ours = numpy.load(os.path.join(target, os.path.splitext(name)[0] + '.npy')).astype(int)
            theirs = self.expected(os.path.join(source, name)).astype(int)
            if ours.ndim == 3 and theirs.ndim == 2:  # a palette of greys is grey here, and not there
                ours = ours[..., 0]
            elif ours.ndim == 2 and theirs.ndim == 3:
                theirs = theirs[..., 0]
            self.assertEqual(ours.shape, theirs.shape, name)
            difference = int(numpy.abs(ours - theirs).max())
            self.assertLessEqual(difference, most, name)
            worst = max(worst, difference)
        print('%d %s: %d levels apart at most' % (COUNT, form, worst))

    def test_png(self):
        self.compare('png', 0)

    def test_bmp(self):
        self.compare('bmp', 0)

    def test_pnm(self):
        self.compare('ppm', 0)

    def test_jpeg(self):
        self.compare('jpg', 2)


if __name__ == '__main__':
    unittest.main()
