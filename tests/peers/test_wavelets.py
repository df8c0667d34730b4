#!/usr/bin/env python3
"""dwt and idwt in double, against PyWavelets: every discrete wavelet in every mode, there, back, and from each to the other through NPZ. Usage:
test_wavelets.py SLUICE [unittest options]"""
import os
import subprocess
import sys
import unittest

import numpy
import pywt

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from peers import SLUICE, Peers  # noqa: E402

# Of the largest coefficient. Where a line goes on beyond a picture that is shorter than the filters, it multiplies rounding errors at
# each level.
LIMIT, LONG_LIMIT = 1e-12, 1e-10
SHAPES = [(13, 22), (40, 7), (1, 30), (2, 3), (31, 32)]


def named(coefficients):
    """wavedec2's list as the planes of dwt."""
    levels = len(coefficients) - 1
    planes = {'LL%d' % levels: coefficients[0]}
    for i, details in enumerate(coefficients[1:]):
        planes.update(zip(('%s%d' % (band, levels - i) for band in ('LH', 'HL', 'HH')), details))
    return planes


class Wavelets(Peers):
    def run_sluice(self, chain, source, target):
        done = subprocess.run([SLUICE, 'run', '-q', '-c', chain, '-o', target, source], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, '%s: %s' % (chain, done.stderr))

    def close(self, what, got, expected, scale, is_long):
        self.assertEqual(got.shape, expected.shape, what)
        error = abs(got - expected).max() / scale
        self.assertLessEqual(error, LONG_LIMIT if is_long else LIMIT, what)
        self.worst[is_long] = max(self.worst[is_long], error)

    def each(self, wavelet, mode, shape, levels):
        what = '%s %s %s' % (wavelet, mode, shape)
        picture = numpy.random.default_rng(len(what)).normal(0, 100, shape)
        source, bands, back = (os.path.join(self.dir, name) for name in ('in.npy', 'bands.npz', 'back.npy'))
        numpy.save(source, picture)
        self.run_sluice('dwt:%s:levels=%d:mode=%s:precision=double' % (wavelet, levels, mode), source, bands)
        coefficients = pywt.wavedec2(picture, wavelet, mode, levels)
        planes = named(coefficients)
        is_long = mode in ('smooth', 'antireflect') and levels > pywt.dwtn_max_level(shape, wavelet)
        scale = max(abs(plane).max() for plane in planes.values())
        with numpy.load(bands) as ours:
            self.assertEqual({name for name in ours.files if name != 'meta.json'}, set(planes), what)
            for name, expected in planes.items():
                self.close('%s %s' % (what, name), ours[name], expected, scale, is_long)
        self.run_sluice('idwt', bands, back)
        returned = pywt.waverec2(coefficients, wavelet, mode)[:shape[0], :shape[1]]
        self.close(what + ' and back', numpy.load(back), returned, scale, is_long)
        numpy.savez(bands, **planes)
        self.run_sluice('idwt:wavelet=%s:mode=%s:size=%dx%d' % (wavelet, mode, shape[1], shape[0]), bands, back)
        self.close(what + ', NumPy\'s, and back', numpy.load(back), returned, scale, is_long)

    def test_all(self):
        self.worst = [0, 0]
        wavelets, modes = pywt.wavelist(kind='discrete'), pywt.Modes.modes
        cases = 0
        for i, wavelet in enumerate(wavelets):
            for k, mode in enumerate(modes):
                shape = SHAPES[(i + k) % len(SHAPES)]
                if min(shape) < 4 and 'reflect' in mode: # PyWavelets refuses signals of one sample there
                    shape = SHAPES[0]
                self.each(wavelet, mode, shape, 1 + (i + k) % 3)
                cases += 1
        print('%d wavelets in %d modes, %d cases: worst %.1e, of lines beyond short pictures %.1e'
              % (len(wavelets), len(modes), cases, *self.worst))

    def test_only(self):
        """Stages that change some bands alone, as NumPy does between wavedec2 and waverec2."""
        picture = numpy.random.default_rng(4).normal(0, 100, (61, 90))
        source, back = os.path.join(self.dir, 'in.npy'), os.path.join(self.dir, 'back.npy')
        numpy.save(source, picture)
        self.run_sluice('dwt:sym5:levels=3:precision=double,shrink:soft:threshold=40:only=*H2/*H1,shrink:hard:threshold=90:only=HH3,'
                        'shrink:garrote:threshold=25:only=HL3/LH3,idwt', source, back)
        lowest, third, *finer = pywt.wavedec2(picture, 'sym5', 'periodization', 3)
        (lh, hl, hh), two, one = third, *finer
        third = pywt.threshold(lh, 25, 'garrote'), pywt.threshold(hl, 25, 'garrote'), pywt.threshold(hh, 90, 'hard')
        finer = [(pywt.threshold(lh, 40, 'soft'), hl, pywt.threshold(hh, 40, 'soft')) for lh, hl, hh in (two, one)]
        expected = pywt.waverec2([lowest, third, *finer], 'sym5', 'periodization')[:61, :90]
        self.worst = [0, 0]
        self.close('only=', numpy.load(back), expected, abs(picture).max(), False)


if __name__ == '__main__':
    unittest.main(warnings='ignore')
