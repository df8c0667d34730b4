#!/usr/bin/env python3
"""levels, normalize and equalize, against the definitions in numpy and OpenCV: random sizes from 1x1 on, types and
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
    top = 1.0 if picture.dtype.kind == 'f' else float(numpy.iinfo(picture.dtype).max)
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

    def test_opencv(self):
        """Which rounds halves to even."""
        for seed in range(6):
            picture = noise(97, 143, 1, 'u8', seed) // (seed + 1) + 9
            self.near('equalize', picture, cv2.equalizeHist(picture), 1)
            table = numpy.clip(numpy.rint(255 * (numpy.arange(256) / 255) ** (1 / 1.8)), 0, 255).astype(numpy.uint8)
            self.near('levels:gamma=1.8', picture, cv2.LUT(picture, table), 0)


if __name__ == '__main__':
    unittest.main(verbosity=2)
