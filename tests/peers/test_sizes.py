#!/usr/bin/env python3
"""resize, crop, rotate, flip and pad, against the definitions in numpy, Pillow and OpenCV: random sizes from 1x1
on, types, channels, filters, fits and borders. Usage: test_sizes.py SLUICE [unittest options]"""
import math
import os
import sys
import unittest
from fractions import Fraction

import cv2
import numpy
from PIL import Image

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from peers import TYPES, Peers, noise  # noqa: E402

FILTERS = ('nearest', 'area', 'bilinear', 'bicubic', 'lanczos3')


def kernel(name, t):
    t = abs(t)
    if name == 'bilinear':
        return 1 - t
    if name == 'bicubic':
        return 1.5 * t ** 3 - 2.5 * t ** 2 + 1 if t <= 1 else -0.5 * t ** 3 + 2.5 * t ** 2 - 4 * t + 2
    return float(numpy.sinc(t) * numpy.sinc(t / 3))


def matrix(source, size, name):
    """size by source weights, and whether nothing is summed."""
    if name == 'auto':
        name = 'lanczos3' if size < source else 'bicubic'
    radius = {'bilinear': 1, 'bicubic': 2, 'lanczos3': 3}.get(name)
    f = source / size
    s = max(1.0, f)
    moves = name == 'nearest' or size == source or (name == 'area' and size >= source)
    weights = numpy.zeros((size, source))
    for x in range(size):
        if moves:
            weights[x, (2 * x + 1) * source // (2 * size)] = 1
            continue
        u = ((2 * x + 1) * source - size) / (2 * size)
        for i in range(source):
            if name == 'area':
                weights[x, i] = max(0, min(i + .5, u + f / 2) - max(i - .5, u - f / 2))
            elif abs(i - u) < radius * s:
                weights[x, i] = kernel(name, (i - u) / s)
        weights[x] /= weights[x].sum()
    return weights, moves


def fixed(weights):
    rounded = numpy.floor(16384 * numpy.cumsum(weights, 1) + .5)
    return numpy.diff(rounded, axis=1, prepend=0).astype(numpy.int64)


def resized(picture, width, height, name):
    """resize's definition."""
    channels = picture.shape[2] if picture.ndim == 3 else 1
    planes = picture.reshape(*picture.shape[:2], channels)
    (across, moves_x), (down, moves_y) = matrix(picture.shape[1], width, name), matrix(picture.shape[0], height, name)
    integer = picture.dtype.kind == 'u'
    if moves_x and moves_y:
        out = planes[down.argmax(1)][:, across.argmax(1)].astype(float)
    else:
        values = planes.astype(float)
        if channels % 2 == 0:
            values[..., :-1] *= values[..., -1:]
        out = numpy.einsum('yj,jxc->yxc', down, numpy.einsum('xi,yic->yxc', across, values))
        if channels % 2 == 0:
            alpha = out[..., -1:].copy()
            with numpy.errstate(all='ignore'):
                out[..., :-1] = numpy.where(alpha > 0, out[..., :-1] / alpha, 0)
        if integer: # exact: all channels, or alpha
            begin = 0 if channels % 2 else channels - 1
            rows = (numpy.einsum('xi,yic->yxc', fixed(across), planes[..., begin:].astype(numpy.int64)) + 128) >> 8
            out[..., begin:] = (numpy.einsum('yj,jxc->yxc', fixed(down), rows) + (1 << 19)) >> 20
    if integer:
        out = numpy.clip(numpy.rint(out), 0, numpy.iinfo(picture.dtype).max)
    return out.reshape(height, width, *picture.shape[2:])


def scaled(width, height, w=None, h=None, by=None, fit='inside', enlarge=False):
    """Sides of the scaled picture."""
    if fit == 'exact':
        return w, h
    factors = [Fraction(wanted, side) for wanted, side in ((w, width), (h, height)) if wanted]
    s = Fraction(by) if by else (max if fit in ('outside', 'cover') else min)(factors)
    s = s if by or enlarge else min(s, 1)
    return [max(1, math.floor(side * s + Fraction(1, 2))) for side in (width, height)]


class Resize(Peers):
    def test_definition(self):
        for i in range(120):
            width, height, channels = self.side(), self.side(), self.random.randint(1, 4)
            kind, name = self.random.choice(list(TYPES)), self.random.choice(FILTERS + ('auto',))
            w, h = self.side(), self.side()
            picture = noise(height, width, channels, kind, i)
            exact = channels % 2 == 1 and kind != 'f32'
            expected = resized(picture, w, h, name)
            self.near('resize:%d:%d:fit=exact:filter=%s' % (w, h, name), picture, expected,
                      0 if exact else 1 if kind != 'f32' else 255e-5)

    def test_sizes(self):
        for i in range(40):
            width, height = self.side(), self.side()
            picture = noise(height, width, 1, 'u8', i)
            for words, given in (('w=%d' % (i + 1), {'w': i + 1}), ('h=%d' % (i + 1), {'h': i + 1}),
                                 ('by=0.%02d' % (i + 1), {'by': '0.%02d' % (i + 1)}), ('by=%d.5' % (i % 4), {'by': '%d.5' % (i % 4)}),
                                 ('%d:20:fit=outside:enlarge=1' % (i + 1), {'w': i + 1, 'h': 20, 'fit': 'outside', 'enlarge': True})):
                w, h = scaled(width, height, **given)
                out = self.sluice('resize:%s:filter=nearest' % words, picture)
                numpy.testing.assert_array_equal(out, resized(picture, w, h, 'nearest'), words)

    def test_cover_and_pad(self):
        for i in range(30):
            width, height, w, h = (self.side() for _ in range(4))
            picture = noise(height, width, 3, 'u8', i)
            inner_w, inner_h = scaled(width, height, w, h, fit='cover')
            whole, cut_w, cut_h = resized(picture, inner_w, inner_h, 'auto'), min(w, inner_w), min(h, inner_h)
            top, left = (inner_h - cut_h) // 2, (inner_w - cut_w) // 2
            self.near('resize:%d:%d:fit=cover' % (w, h), picture, whole[top:top + cut_h, left:left + cut_w], 0)
            inner_w, inner_h = scaled(width, height, w, h, fit='pad')
            expected = numpy.empty((h, w, 3))
            expected[:] = (9, 8, 7)
            top, left = (h - inner_h) // 2, (w - inner_w) // 2
            expected[top:top + inner_h, left:left + inner_w] = resized(picture, inner_w, inner_h, 'auto')
            self.near('resize:%d:%d:fit=pad:background=9_8_7' % (w, h), picture, expected, 0)

    def test_pillow(self):
        """Which rounds to u8 between both directions, so that a sample is up to 1 apart, and limits to it: samples
        that do not overshoot."""
        for channels in (1, 3):
            picture = noise(157, 211, channels, 'u8', 5) // 2 + 64
            for size in ((64, 48), (211, 60), (20, 157), (300, 250), (1, 1)):
                for name, peer in (('nearest', Image.NEAREST), ('bilinear', Image.BILINEAR),
                                   ('bicubic', Image.BICUBIC), ('lanczos3', Image.LANCZOS)):
                    expected = numpy.asarray(Image.fromarray(picture).resize(size, peer))
                    self.near('resize:%d:%d:fit=exact:filter=%s' % (*size, name), picture, expected, name != 'nearest')

    def test_opencv(self):
        for channels in (1, 3):
            picture = noise(157, 211, channels, 'u8', 6)
            for size in ((64, 48), (211, 60), (23, 37)):
                self.near('resize:%d:%d:fit=exact:filter=area' % size, picture,
                          cv2.resize(picture, size, interpolation=cv2.INTER_AREA), 1)
            for size in ((300, 250), (422, 314), (211, 158)):
                self.near('resize:%d:%d:fit=exact:filter=bilinear' % size, picture,
                          cv2.resize(picture, size, interpolation=cv2.INTER_LINEAR), 1)
            for size in ((64, 48), (300, 250), (1, 1)):
                self.near('resize:%d:%d:fit=exact:filter=nearest' % size, picture,
                          cv2.resize(picture, size, interpolation=cv2.INTER_NEAREST_EXACT), 0)


class Places(Peers):
    def pictures(self):
        for i in range(24):
            yield noise(self.side(), self.side(), 1 + i % 4, list(TYPES)[i % 3], i)

    def test_turned(self):
        for picture in self.pictures():
            for turns in (1, 2, 3):
                self.near('rotate:%d' % (90 * turns), picture, numpy.rot90(picture, -turns), 0)
            self.near('flip:x', picture, picture[:, ::-1], 0)
            self.near('flip:y', picture, picture[::-1], 0)

    def test_crop(self):
        for picture in self.pictures():
            height, width = picture.shape[:2]
            w, h = self.random.randint(1, width), self.random.randint(1, height)
            x, y = self.random.randint(0, width - w), self.random.randint(0, height - h)
            self.near('crop:%d:%d:%d:%d' % (x, y, w, h), picture, picture[y:y + h, x:x + w], 0)
            x, y = (width - w) // 2, (height - h) // 2
            self.near('crop:gravity=centre:w=%d:h=%d' % (w, h), picture, picture[y:y + h, x:x + w], 0)

    def test_pad(self):
        modes = {'edge': 'edge', 'reflect': 'reflect', 'symmetric': 'symmetric', 'wrap': 'wrap', 'zero': 'constant'}
        for picture in self.pictures():
            left, right, top, bottom = (self.random.randint(0, 40) for _ in range(4))
            sides = ((top, bottom), (left, right)) + ((0, 0),) * (picture.ndim - 2)
            words = 'pad:%d:%d:%d:%d' % (left, right, top, bottom)
            for border, mode in modes.items():
                self.near('%s:border=%s' % (words, border), picture, numpy.pad(picture, sides, mode), 0)
            self.near(words + ':background=9', picture, numpy.pad(picture, sides, constant_values=9), 0)


if __name__ == '__main__':
    unittest.main(verbosity=2)
