#!/usr/bin/env python3
"""Raw frames of every layout, of odd sizes and with padding, against what numpy makes of the same bytes.
Usage: test_layouts.py SLUICE [unittest options]"""
import os
import subprocess
import sys
import unittest

import numpy

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from peers import SLUICE, Peers  # noqa: E402

SIZES = [(1, 1), (2, 2), (37, 21), (64, 48), (101, 7)]


def even(n):
    return (n + 1) // 2 * 2


def ycbcr(y, cb, cr, bits=8):
    """BT.601 of limited range, by factors with so many bits behind the point that products fit 32."""
    point, most, unit = (16, 255, 1) if bits == 8 else (13, 65535, 4)
    luma, chroma = most / (219 * unit), most / (224 * unit)
    kr, kb = 0.299, 0.114
    kg = 1 - kr - kb
    fixed = [int(f * 2 ** point + 0.5) for f in (luma, 2 * (1 - kr) * chroma, 2 * kb * (1 - kb) / kg * chroma,
                                                 2 * kr * (1 - kr) / kg * chroma, 2 * (1 - kb) * chroma)]
    y, cb, cr = (plane.astype(numpy.int64) - zero * unit for plane, zero in ((y, 16), (cb, 128), (cr, 128)))
    rgb = (fixed[0] * y + fixed[1] * cr, fixed[0] * y - fixed[2] * cb - fixed[3] * cr, fixed[0] * y + fixed[4] * cb)
    return numpy.clip(numpy.stack(rgb, 2) + (1 << point - 1) >> point, 0, most)


def spread(plane, width, height, down=2):
    return plane.repeat(2, 1)[:, :width].repeat(down, 0)[:height]


class Layouts(Peers):
    def check(self, layout, width, height, data, expected, padding=0):
        path, out = os.path.join(self.dir, 'frame.raw'), os.path.join(self.dir, 'out.npy')
        with open(path, 'wb') as file:
            file.write(data)
        stride = ':stride=%d' % padding if padding else ''
        done = subprocess.run([SLUICE, 'run', '-q', '--input', 'raw=%s:w=%d:h=%d%s' % (layout, width, height, stride), '--on-exists', 'overwrite',
                               '-o', out, path], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, '%s: %s' % (layout, done.stderr))
        got = numpy.load(out)
        self.assertEqual(got.shape, expected.shape, layout)
        self.assertTrue((got == expected).all(), '%s %dx%d%s' % (layout, width, height, stride))

    def each(self):
        """Sizes, with a generator, and with no padding or some."""
        for number, (width, height) in enumerate(SIZES):
            for padding in (0, 1):
                yield width, height, numpy.random.default_rng(number), padding * 26

    def plane(self, generator, row, height, padding, halved=1):
        """Random rows of bytes, with what stands behind each of them."""
        whole = generator.integers(0, 256, (height, row + padding // halved), numpy.uint8)
        return whole[:, :row], whole.tobytes()

    def test_colours(self):
        for layout, channels, order in (('gray8', 1, [0]), ('rgb24', 3, [0, 1, 2]), ('bgr24', 3, [2, 1, 0]), ('rgba32', 4, [0, 1, 2, 3]),
                                        ('bgra32', 4, [2, 1, 0, 3]), ('rgbx32', 4, [0, 1, 2]), ('bgrx32', 4, [2, 1, 0])):
            for width, height, generator, padding in self.each():
                rows, data = self.plane(generator, width * channels, height, padding)
                expected = rows.reshape(height, width, channels)[:, :, order]
                self.check(layout, width, height, data, expected[:, :, 0] if channels == 1 else expected, padding and width * channels + padding)

    def test_sensors(self):
        for width, height, generator, padding in self.each():
            rows, data = self.plane(generator, 2 * width, height, padding)
            self.check('gray16', width, height, data, rows.copy().view('<u2'), padding and 2 * width + padding)
            for layout, pixels, bits in (('raw10', 4, 10), ('raw12', 2, 12)):
                groups = -(-width // pixels)
                rows, data = self.plane(generator, groups * (pixels + 1), height, padding)
                packed = rows.reshape(height, groups, pixels + 1).astype(numpy.uint16)
                low = bits - 8
                numbers = [packed[:, :, k] << low | packed[:, :, pixels] >> low * k & (1 << low) - 1 for k in range(pixels)]
                self.check(layout, width, height, data, numpy.stack(numbers, 2).reshape(height, -1)[:, :width], padding and groups * (pixels + 1) + padding)

    def test_pairs(self):
        for width, height, generator, padding in self.each():
            for layout, luma in (('yuyv', 0), ('uyvy', 1)):
                rows, data = self.plane(generator, 2 * even(width), height, padding)
                cb, cr = (spread(rows[:, k - luma::4], width, height, 1) for k in (1, 3))
                self.check(layout, width, height, data, ycbcr(rows[:, luma::2][:, :width], cb, cr), padding and 2 * even(width) + padding)

    def test_planes(self):
        for width, height, generator, padding in self.each():
            stride = padding and even(width) + padding
            for layout, first, down in (('nv12', 0, 2), ('nv21', 1, 2), ('nv16', 0, 1)):
                y, data = self.plane(generator, width, height, stride and stride - width)
                pairs, more = self.plane(generator, even(width), -(-height // down), padding)
                cb, cr = (spread(pairs[:, k::2], width, height, down) for k in (first, 1 - first))
                self.check(layout, width, height, data + more, ycbcr(y, cb, cr), stride)
            y, data = self.plane(generator, width, height, stride and stride - width)
            (cb, more), (cr, most) = (self.plane(generator, even(width) // 2, even(height) // 2, padding, 2) for i in range(2))
            self.check('i420', width, height, data + more + most, ycbcr(y, spread(cb, width, height), spread(cr, width, height)), stride)
            y, data = self.plane(generator, 2 * width, height, stride and 2 * (even(width) - width) + padding)
            pairs, more = self.plane(generator, 2 * even(width), even(height) // 2, padding)
            pairs, y = pairs.copy().view('<u2') >> 6, y.copy().view('<u2') >> 6
            self.check('p010', width, height, data + more, ycbcr(y, *(spread(pairs[:, k::2], width, height) for k in (0, 1)), bits=10),
                       padding and 2 * even(width) + padding)


if __name__ == '__main__':
    unittest.main()
