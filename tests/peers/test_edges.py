#!/usr/bin/env python3
"""canny beside OpenCV's, to the pixel, and statistics and histogram beside numpy's. Usage: test_edges.py SLUICE [unittest options]"""
import os
import subprocess
import sys
import unittest

import cv2
import numpy

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from peers import SLUICE, Peers, noise  # noqa: E402

PICTURES = os.path.join(os.path.dirname(os.path.abspath(__file__)), '../../docs/pictures')


class Edges(Peers):
    def pictures(self):
        for name in ('cat.jpg', 'coffee.jpg'):
            picture = cv2.imread(os.path.join(PICTURES, name))
            yield picture
            yield cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY)
            yield cv2.GaussianBlur(picture, (0, 0), 2)
        for channels in (1, 3):
            for _ in range(10):
                yield noise(self.side(), self.side(), channels, 'u8', self.random.randrange(1 << 30))
        for _ in range(5):
            yield cv2.GaussianBlur(noise(200, 301, 1, 'u8', self.random.randrange(1 << 30)), (0, 0), 3)

    def test_canny(self):
        count = white = 0
        for picture in self.pictures():
            for norm in ('l1', 'l2'):
                for _ in range(4):
                    low = self.random.choice((0, 1, self.random.randint(0, 300), self.random.uniform(0, 200)))
                    high = low + self.random.choice((0, self.random.randint(0, 300), self.random.uniform(0, 900)))
                    expected = cv2.Canny(picture, low, high, L2gradient=norm == 'l2')
                    chain = 'canny:%r:%r:norm=%s' % (low, high, norm)
                    out = self.sluice(chain, picture)
                    self.assertEqual(int((out != expected).sum()), 0, '%s of %s' % (chain, picture.shape))
                    count, white = count + 1, white + int((out > 0).sum())
        print('%d pictures with %d white pixels are equal' % (count, white))


class Numbers(Peers):
    def planes(self, chain, picture):
        source, target = (os.path.join(self.dir, name) for name in ('in.npy', 'out.npz'))
        numpy.save(source, picture)
        self.command('run', '-q', '-c', chain, '-o', target, source)
        with numpy.load(target) as planes:
            return {name: planes[name] for name in planes.files}

    def command(self, *arguments):
        done = subprocess.run([SLUICE, *arguments], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_statistics(self):
        worst = 0
        for name in ('u8', 'u16'):
            for channels in (1, 3):
                picture = noise(203, 310, channels, name, 7) // (1 if channels == 1 else 3)
                got = self.planes('statistics:0_2.5_50_99.9_100:over=77_300:across=3:down=2', picture)
                rows, columns = [0, 101, 203], [0, 103, 206, 310]
                for y in range(2):
                    for x in range(3):
                        for c in range(channels):
                            part = picture.reshape(203, 310, channels)[rows[y]:rows[y + 1], columns[x]:columns[x + 1], c]
                            own = {key: plane.reshape(2, 3, channels)[y, x, c] for key, plane in got.items() if key != 'meta.json'}
                            self.assertEqual(own['count'], part.size)
                            self.assertEqual((own['min'], own['max']), (part.min(), part.max()))
                            self.assertEqual(own['mean'], int(part.sum(dtype=numpy.uint64)) / part.size)
                            worst = max(worst, abs(own['deviation'] / part.std(dtype=numpy.float64) - 1))
                            for p in ('0', '2.5', '50', '99.9', '100'):
                                self.assertEqual(own['p' + p], numpy.percentile(part, float(p), method='inverted_cdf'), p)
                            for t in (77, 300):
                                self.assertEqual(own['over%d' % t], (part > t).sum())
        print('deviations differ by %.1e at most' % worst)
        self.assertLess(worst, 1e-13)

    def test_histogram(self):
        for name, most in (('u8', 256), ('u16', 65536)):
            picture = noise(103, 77, 3, name, 9)
            got = self.planes('histogram:bins=64', picture)['histogram']
            for c in range(3):
                expected = numpy.histogram(picture[:, :, c], 64, (0, most))[0]
                self.assertTrue((got.reshape(64, 3)[:, c] == expected).all())
        picture = noise(103, 77, 1, 'f32', 9)
        got = self.planes('histogram:bins=8:high=128', picture)['histogram']
        self.assertTrue((got.reshape(8) == numpy.histogram(picture, 8, (0, 128))[0]).all())


if __name__ == '__main__':
    unittest.main()
