#!/usr/bin/env python3
"""gauss, unsharp, median, erode, dilate, open and close, against the definitions in numpy, scipy and OpenCV: random
sizes from 1x1 on, types, channels and borders. Usage: test_noise.py SLUICE [unittest options]"""
import os
import sys
import unittest

import cv2
import numpy
from scipy import ndimage

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from peers import TYPES, Peers, noise  # noqa: E402

# As numpy.pad and scipy.ndimage call them, whose `reflect` is numpy's `symmetric`.
BORDERS = {'edge': ('edge', 'nearest'), 'reflect': ('reflect', 'mirror'), 'symmetric': ('symmetric', 'reflect'),
           'wrap': ('wrap', 'wrap'), 'zero': ('constant', 'constant')}


def with_alpha(out, picture):
    """Alpha is what it was."""
    if picture.ndim == 3 and picture.shape[2] % 2 == 0:
        out[..., -1] = picture[..., -1]
    return out


def each_channel(function, picture):
    if picture.ndim == 2:
        return function(picture)
    return with_alpha(numpy.dstack([function(picture[..., c]) for c in range(picture.shape[2])]), picture)


def weights(sigma, radius):
    w = numpy.exp(-numpy.arange(-radius, radius + 1) ** 2 / (2 * sigma * sigma))
    return w / w.sum()


def sums(picture, w, axis):
    """Of the padded picture, along an axis."""
    n = picture.shape[axis] - len(w) + 1
    return sum(v * numpy.take(picture, range(i, i + n), axis) for i, v in enumerate(w))


def gauss(picture, sigma, border, radius=None):
    radius = radius or int(numpy.ceil(3 * sigma))
    w = weights(sigma, radius)
    wide = numpy.pad(picture, radius, BORDERS[border][0])
    if picture.dtype.kind == 'f':
        return sums(sums(wide.astype(float), w, 1), w, 0)
    steps = numpy.floor(16384 * numpy.concatenate(([0], numpy.cumsum(w))) + 0.5).astype(numpy.int64)
    fixed = numpy.diff(steps)
    half = (sums(wide.astype(numpy.int64), fixed, 1) + 128) >> 8
    return ((sums(half, fixed, 0) + (1 << 19)) >> 20).astype(picture.dtype)


def unsharp(picture, sigma, amount, threshold, border):
    d = picture.astype(float) - gauss(picture, sigma, border)
    change = numpy.where(abs(d) >= threshold, amount * d, 0)
    if picture.dtype.kind == 'f':
        return picture + change
    return numpy.clip(picture + numpy.rint(change), 0, numpy.iinfo(picture.dtype).max)


def window(picture, function, width, height, border, mirrored=False):
    """scipy.ndimage's minimum_filter and the like: an even window reaches to the left, and where it is mirrored to the
    right."""
    origin = [-1 if mirrored and side % 2 == 0 else 0 for side in (height, width)]
    return function(picture, size=(height, width), mode=BORDERS[border][1], cval=0, origin=origin)


class Noise(Peers):
    def pictures(self, types=tuple(TYPES)):
        for i in range(20):
            yield noise(self.side(), self.side(), 1 + i % 4, types[i % len(types)], i), list(BORDERS)[i // 4]

    def test_gauss(self):
        for picture, border in self.pictures():
            for sigma in (0.4, 1.3, 5):
                expected = each_channel(lambda p, s=sigma, b=border: gauss(p, s, b), picture)
                self.near('gauss:%g:border=%s' % (sigma, border), picture, expected, 0 if picture.dtype.kind == 'u' else 1e-5 * 255)

    def test_gauss_scipy(self):
        for picture, border in self.pictures():
            expected = each_channel(lambda p, b=border: ndimage.gaussian_filter(p.astype(float), 1.7, radius=6, mode=BORDERS[b][1]), picture)
            self.near('gauss:1.7:border=%s' % border, picture, expected, {'uint8': 1, 'uint16': 16, 'float32': 1e-3}[picture.dtype.name])

    def test_gauss_opencv(self):
        for picture, _ in self.pictures(('u8',)):
            if picture.ndim == 2:
                self.near('gauss:1.5', picture, cv2.GaussianBlur(picture, (11, 11), 1.5, borderType=cv2.BORDER_REPLICATE), 1)

    def test_unsharp(self):
        for picture, border in self.pictures():
            for sigma, amount, threshold in ((0.6, 0.5, 0), (2, 1.5, 10), (1, 300, 0)):
                expected = each_channel(lambda p, s=sigma, a=amount, t=threshold, b=border: unsharp(p, s, a, t, b), picture)
                self.near('unsharp:%g:%g:%g:border=%s' % (sigma, amount, threshold, border), picture, expected,
                          0 if picture.dtype.kind == 'u' else 1e-5 * 255 * (1 + amount))

    def test_median(self):
        for picture, border in self.pictures():
            for radius in (1, 2, 3):
                side = 2 * radius + 1
                expected = each_channel(lambda p, n=side, b=border: window(p, ndimage.median_filter, n, n, b), picture)
                self.near('median:%d:border=%s' % (radius, border), picture, expected, 0)
                if picture.ndim == 2 and picture.dtype == numpy.uint8 and border == 'edge':
                    self.near('median:%d' % radius, picture, cv2.medianBlur(picture, side), 0)

    def shapes(self, stage, *functions):
        for picture, border in self.pictures():
            for width, height in ((3, 3), (4, 1), (2, 5), (31, 17)):
                expected = picture
                for function, mirrored in functions:
                    expected = each_channel(lambda p, f=function, m=mirrored, w=width, h=height, b=border: window(p, f, w, h, b, m),
                                            expected)
                self.near('%s:%d:%d:border=%s' % (stage, width, height, border), picture, expected, 0)

    def test_shapes(self):
        least, largest = (ndimage.minimum_filter, False), (ndimage.maximum_filter, True)
        self.shapes('erode', least)
        self.shapes('dilate', largest)
        self.shapes('open', least, largest)
        self.shapes('close', largest, least)

    def test_shapes_opencv(self):
        for picture, _ in self.pictures(('u8', 'u16')):
            if picture.ndim == 2:
                box = numpy.ones((5, 7), numpy.uint8)
                for stage in ('erode', 'dilate'):
                    self.near(stage + ':7:5', picture, getattr(cv2, stage)(picture, box, borderType=cv2.BORDER_REPLICATE), 0)


if __name__ == '__main__':
    unittest.main(verbosity=2)
