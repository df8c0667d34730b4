#!/usr/bin/env python3
"""levels, normalize, equalize, clahe, colour, threshold:local and convert, against the definitions in numpy and OpenCV: random sizes from 1x1 on, types and
channels. Usage: test_tones.py SLUICE [unittest options]"""
import os
import sys
import unittest

import cv2
import numpy

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from peers import TYPES, Peers, noise  # noqa: E402


def with_alpha(out, picture):
    """Alpha is what it was."""
    if picture.ndim == 3 and picture.shape[2] % 2 == 0:
        out[..., -1] = picture[..., -1]
    return out


def colours(picture):
    if picture.ndim == 2:
        return picture[..., None]
    return picture[..., :picture.shape[2] - (picture.shape[2] % 2 == 0)]


def levels(picture, black=0.0, white=None, gamma=1.0, low=0.0, high=None):
    top = 255.0 if picture.dtype.kind == 'f' else float(numpy.iinfo(picture.dtype).max)
    white, high = (top if v is None else v for v in (white, high))
    out = low + (high - low) * numpy.clip((picture.astype(float) - black) / (white - black), 0, 1) ** (1 / gamma)
    if picture.dtype.kind == 'u':
        out = numpy.clip(numpy.rint(out), 0, top)
    return with_alpha(out, picture)


def normalized(picture, clip):
    """Of integers."""
    counts = numpy.bincount(colours(picture).ravel(), minlength=int(numpy.iinfo(picture.dtype).max) + 1)
    share = int(clip * counts.sum() + 1e-9)
    below = numpy.concatenate(([0], numpy.cumsum(counts)))
    black = min(int(numpy.nonzero(below <= share)[0][-1]), len(counts) - 1)
    white = max(int(numpy.nonzero(counts.sum() - below <= share)[0][0]) - 1, 0)
    return levels(picture, black, white) if black < white else picture


def equalized(picture):
    top = int(numpy.iinfo(picture.dtype).max)
    parts = colours(picture).astype(numpy.int64)
    tone = parts[..., 0] if parts.shape[2] < 3 else (parts @ numpy.array([19595, 38470, 7471]) + 32768) >> 16
    counts = numpy.cumsum(numpy.bincount(tone.ravel(), minlength=top + 1))
    least = counts[tone.min()]
    rest = int(counts[-1] - least)
    if rest == 0:
        return picture
    table = (2 * (counts - least) * top + rest) // (2 * rest)
    out = picture.astype(float).reshape(*picture.shape[:2], -1)
    out[..., :parts.shape[2]] = numpy.clip(parts + (table[tone] - tone)[..., None], 0, top)
    return out.reshape(picture.shape)


def mixed(picture, matrix, offset):
    """colour in whole numbers of hundredths."""
    parts = numpy.rint(numpy.array(matrix) * 100).astype(object)
    added = numpy.rint(numpy.array(offset) * 100).astype(object)
    sums = picture[..., :3].astype(object) @ parts.T + added
    top = int(numpy.iinfo(picture.dtype).max)
    whole, twice = sums // 100, sums % 100 * 2
    whole = whole + ((twice > 100) | ((twice == 100) & (whole % 2 == 1)))
    out = picture.copy()
    out[..., :3] = numpy.clip(whole, 0, top).astype(picture.dtype)
    return out


def text_of(matrix):
    return '/'.join('_'.join('%.2f' % v for v in row) for row in matrix)


def locally(picture, radius, offset):
    side = 2 * radius + 1
    parts = picture if picture.ndim == 3 else picture[..., None]
    out = parts.copy()
    for c in range(colours(picture).shape[2]):
        around = numpy.pad(parts[..., c].astype(numpy.int64), radius, 'edge')
        sums = numpy.pad(around.cumsum(0).cumsum(1), ((1, 0), (1, 0)))
        window = sums[side:, side:] - sums[:-side, side:] - sums[side:, :-side] + sums[:-side, :-side]
        mean = (2 * window + side * side) // (2 * side * side)
        out[..., c] = numpy.where(parts[..., c] >= mean - offset, numpy.iinfo(picture.dtype).max, 0)
    return out.reshape(picture.shape)


class Tones(Peers):
    def pictures(self, types=tuple(TYPES)):
        for i in range(24):
            picture = noise(self.side(), self.side(), 1 + i % 4, types[i % len(types)], i)
            yield picture // 3 + 20 if picture.dtype.kind == 'u' and i % 2 else picture

    def test_levels(self):
        for i, picture in enumerate(self.pictures()):
            exact = picture.dtype.kind == 'u'
            for words, given in (('%d:%d' % (i, 3 * i + 90), {'black': i, 'white': 3 * i + 90}),
                                 ('gamma=2.2:white=200', {'gamma': 2.2, 'white': 200}),
                                 ('10:200:0.6:low=30:high=220', {'black': 10, 'white': 200, 'gamma': .6, 'low': 30, 'high': 220})):
                self.near('levels:' + words, picture, levels(picture, **given), 0 if exact else 1e-5 * 255)

    def test_normalize(self):
        for picture in self.pictures(('u8', 'u16')):
            for clip in ('0', '0.005', '0.2', '0.5'):
                self.near('normalize:' + clip, picture, normalized(picture, float(clip)), 0)

    def test_equalize(self):
        for picture in self.pictures(('u8', 'u16')):
            self.near('equalize', picture, equalized(picture), 0)

    def test_colour(self):
        for i in range(12):
            picture = noise(self.side(), self.side(), 3 + i % 2, ('u8', 'u16')[i // 2 % 2], i)
            matrix = [[round(self.random.uniform(-2, 2), 2) for _ in range(3)] for _ in range(3)]
            offset = [round(self.random.uniform(-50, 50), 2) for _ in range(3)]
            self.near('colour:%s:%s' % (text_of(matrix), '_'.join('%.2f' % v for v in offset)), picture, mixed(picture, matrix, offset), 0)
        picture = noise(40, 50, 3, 'f32', 3)
        matrix = [[.9, .2, -.1], [.1, .8, .1], [0, -.3, 1.3]]
        self.near('colour:' + text_of(matrix), picture, picture.astype(float) @ numpy.array(matrix).T, 1e-3)

    def test_local(self):
        for i, picture in enumerate(self.pictures(('u8', 'u16'))):
            for radius, offset in ((1, 0), (15, 7.5), (40, -3)):
                self.near('threshold:local:radius=%d:offset=%g' % (radius, offset), picture, locally(picture, radius, offset), 0)

    def test_channels(self):
        weights = numpy.array([19595, 38470, 7471])
        for picture in self.pictures(('u8', 'u16')):
            parts = picture if picture.ndim == 3 else picture[..., None]
            alpha = parts[..., -1:] if parts.shape[2] % 2 == 0 else numpy.full_like(parts[..., :1], numpy.iinfo(picture.dtype).max)
            three = parts[..., :3] if parts.shape[2] > 2 else numpy.repeat(parts[..., :1], 3, 2)
            grey = parts[..., 0] if parts.shape[2] < 3 else (parts[..., :3].astype(numpy.int64) @ weights + 32768) >> 16
            self.near('convert:channels=1', picture, grey, 0)
            self.near('convert:channels=3', picture, three, 0)
            self.near('convert:channels=4', picture, numpy.concatenate((three, alpha), 2), 0)

    def test_clahe(self):
        """OpenCV's, which has one channel."""
        largest = 0
        for i in range(24):
            picture = noise(self.random.randint(1, 200), self.random.randint(1, 200), 1, ('u8', 'u16')[i % 2], i)
            picture = picture // (i % 5 + 1)
            across, down, clip = self.random.randint(1, 9), self.random.randint(1, 9), (0, 1, 2, 3.5, 40)[i % 5]
            expected = cv2.createCLAHE(clip, (across, down)).apply(picture)
            largest = max(largest, self.near('clahe:%dx%d:%g' % (across, down, clip), picture, expected, 1))
        print('clahe: at most %g from OpenCV' % largest)

    def test_opencv(self):
        """Which rounds halves to even."""
        for seed in range(6):
            picture = noise(97, 143, 1, 'u8', seed) // (seed + 1) + 9
            self.near('equalize', picture, cv2.equalizeHist(picture), 1)
            table = numpy.clip(numpy.rint(255 * (numpy.arange(256) / 255) ** (1 / 1.8)), 0, 255).astype(numpy.uint8)
            self.near('levels:gamma=1.8', picture, cv2.LUT(picture, table), 0)


if __name__ == '__main__':
    unittest.main(verbosity=2)
