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
    def run_sluice(self, chain, source, target, config=None):
        done = subprocess.run([SLUICE, 'run', '-q', *(['--config', config] if config else []), '-c', chain, '-o', target, source],
                              capture_output=True, text=True)
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

    def back(self, what, planes, parameters, shape, returned, scale, is_long=False):
        """Of what sluice has just written, and of NumPy's planes."""
        bands, back = os.path.join(self.dir, 'bands.npz'), os.path.join(self.dir, 'back.npy')
        with numpy.load(bands) as ours:
            self.assertEqual({name for name in ours.files if name != 'meta.json'}, set(planes), what)
            for name, expected in planes.items():
                self.close('%s %s' % (what, name), ours[name], expected, scale, is_long)
        self.run_sluice('idwt', bands, back)
        self.close(what + ' and back', numpy.load(back), returned, scale, is_long)
        numpy.savez(bands, **planes)
        self.run_sluice('idwt:%s:size=%dx%d' % (parameters, shape[1], shape[0]), bands, back)
        self.close(what + ', NumPy\'s, and back', numpy.load(back), returned, scale, is_long)

    def test_stationary(self):
        """dwt:stationary=1 is swt2, with and without norm, and idwt iswt2."""
        self.worst = [0, 0]
        wavelets = pywt.wavelist(kind='discrete')
        for i, wavelet in enumerate(wavelets):
            levels, norm, shape = 1 + i % 4, i % 3 == 0, [(16, 48), (64, 16), (32, 32)][i % 3]
            picture = numpy.random.default_rng(i).normal(0, 100, shape)
            numpy.save(os.path.join(self.dir, 'in.npy'), picture)
            parameters = '%s:stationary=1:norm=%d' % (wavelet, norm)
            self.run_sluice('dwt:levels=%d:precision=double:wavelet=%s' % (levels, parameters), os.path.join(self.dir, 'in.npy'),
                            os.path.join(self.dir, 'bands.npz'))
            coefficients = pywt.swt2(picture, wavelet, levels, trim_approx=True, norm=norm)
            planes = named(coefficients)
            self.back('%s %d' % (parameters, levels), planes, 'wavelet=' + parameters, shape, pywt.iswt2(coefficients, wavelet, norm=norm),
                      max(abs(plane).max() for plane in planes.values()))
        print('%d wavelets, all samples kept: worst %.1e' % (len(wavelets), self.worst[0]))

    def test_lines(self):
        """axis=x and y: wavedec of rows and of columns, in every mode, and swt."""
        self.worst = [0, 0]
        cases = 0
        for i, wavelet in enumerate(pywt.wavelist(kind='discrete')):
            axis, mode = 'xy'[i % 2], (pywt.Modes.modes + [None])[i % 10]
            levels, shape = 1 + i % 3, [(24, 40), (40, 16), (8, 64)][i % 3]
            along = 1 if axis == 'x' else 0
            picture = numpy.random.default_rng(i).normal(0, 100, shape)
            numpy.save(os.path.join(self.dir, 'in.npy'), picture)
            parameters = '%s:axis=%s:%s' % (wavelet, axis, 'mode=' + mode if mode else 'stationary=1')
            self.run_sluice('dwt:levels=%d:precision=double:wavelet=%s' % (levels, parameters), os.path.join(self.dir, 'in.npy'),
                            os.path.join(self.dir, 'bands.npz'))
            if mode:
                coefficients = pywt.wavedec(picture, wavelet, mode, levels, axis=along)
                returned = pywt.waverec(coefficients, wavelet, mode, axis=along)[:shape[0], :shape[1]]
            else:
                coefficients = pywt.swt(picture, wavelet, levels, axis=along, trim_approx=True)
                returned = pywt.iswt(coefficients, wavelet, axis=along)
            planes = {'L%d' % levels: coefficients[0]}
            planes.update(('H%d' % (levels - k), band) for k, band in enumerate(coefficients[1:]))
            is_long = mode in ('smooth', 'antireflect') and levels > pywt.dwt_max_level(shape[along], wavelet)
            self.back('%s %s %d' % (parameters, shape, levels), planes, 'wavelet=' + parameters, shape, returned,
                      max(abs(plane).max() for plane in planes.values()), is_long)
            cases += 1
        print('%d transforms of one direction: worst %.1e, of lines beyond short pictures %.1e' % (cases, *self.worst))

    def test_rules(self):
        """shrink's rules are those of pywt.threshold and threshold_firm, also of what keeps all samples, and of rows."""
        self.worst = [0, 0]
        picture = numpy.random.default_rng(9).normal(0, 60, (48, 64))
        source, bands = os.path.join(self.dir, 'in.npy'), os.path.join(self.dir, 'bands.npz')
        numpy.save(source, picture)
        cases = 0
        for rule in ('soft', 'hard', 'garrote', 'greater', 'less', 'firm', 'firm:upper=3.5', 'firm:upper=1'):
            for transform, coefficients in (('db3:levels=2', named(pywt.wavedec2(picture, 'db3', 'periodization', 2))),
                                            ('sym4:levels=2:stationary=1', named(pywt.swt2(picture, 'sym4', 2, trim_approx=True))),
                                            ('db2:levels=1:axis=x', dict(zip(('L1', 'H1'), pywt.wavedec(picture, 'db2', 'periodization', 1))))):
                self.run_sluice('dwt:%s:precision=double,shrink:%s:threshold=35' % (transform, rule), source, bands)
                if rule.startswith('firm'):
                    change = lambda c: pywt.threshold_firm(c, 35, 35 * float((rule + '=2').split('=')[1]))
                else:
                    change = lambda c: pywt.threshold(c, 35, rule)
                with numpy.load(bands) as ours:
                    for name, plane in coefficients.items():
                        with numpy.errstate(divide='ignore', invalid='ignore'):
                            expected = plane if name[0] == 'L' and name[1] in 'L12' else change(plane)
                        self.close('%s %s %s' % (transform, rule, name), ours[name], expected, abs(picture).max(), False)
                        cases += 1
        print('%d planes thresholded: worst %.1e' % (cases, self.worst[0]))

    def test_banks(self):
        """analysis and synthesis of banks of one's own: PyWavelets' filters in its nine modes, there, back, and from it; and lifting steps."""
        self.worst = [0, 0]
        config = os.path.join(self.dir, 'banks.yaml')
        source, bands, back = (os.path.join(self.dir, name) for name in ('in.npy', 'bands.npz', 'back.npy'))
        filters = lambda two, zero, shift: '{horizontal: [%s]}' % ', '.join(
            '{taps: %s, zero: %d, shift: %d}' % ([float(tap) for tap in taps], zero, shift) for taps in two)
        cases = 0
        for i, name in enumerate(('haar', 'db2', 'db4', 'sym5', 'bior2.4', 'rbio3.5', 'coif2', 'db20')):
            wavelet = pywt.Wavelet(name)
            taps = wavelet.dec_len
            for k, mode in enumerate(pywt.Modes.modes):
                levels, shape, shift = 1 + (i + k) % 3, [(13, 22), (40, 7), (31, 32), (5, 64)][(i + k) % 4], taps // 2 if mode == 'periodization' else 1
                with open(config, 'w') as file:
                    file.write('banks: {own: {sampling: [2, 2], analysis: %s, synthesis: %s}}\n' % (
                        filters((wavelet.dec_lo, wavelet.dec_hi), 0, shift), filters((wavelet.rec_lo, wavelet.rec_hi), taps - 1, shift)))
                picture = numpy.random.default_rng(i * 9 + k).normal(0, 100, shape)
                numpy.save(source, picture)
                own = '@own:border=%s:precision=double' % mode
                self.run_sluice('analysis:%s:levels=%d' % (own, levels), source, bands, config)
                coefficients = pywt.wavedec2(picture, wavelet, mode, levels)
                planes = {'a%d_h0_v0' % levels: coefficients[0]}
                for level, details in zip(range(levels, 0, -1), coefficients[1:]):
                    planes.update(zip(('a%d_%s' % (level, band) for band in ('h0_v1', 'h1_v0', 'h1_v1')), details))
                what, scale = '%s %s %s' % (name, mode, shape), max(abs(plane).max() for plane in planes.values())
                is_long = mode in ('smooth', 'antireflect') and levels > pywt.dwtn_max_level(shape, wavelet)
                with numpy.load(bands) as ours:
                    self.assertEqual({plane for plane in ours.files if plane != 'meta.json'}, set(planes), what)
                    for plane, expected in planes.items():
                        self.close('%s %s' % (what, plane), ours[plane], expected, scale, is_long)
                returned = pywt.waverec2(coefficients, wavelet, mode)[:shape[0], :shape[1]]
                self.run_sluice('synthesis', bands, back, config)
                self.close(what + ' and back', numpy.load(back), returned, scale, is_long)
                numpy.savez(bands, **planes)
                self.run_sluice('synthesis:%s:size=%dx%d' % (own, shape[1], shape[0]), bands, back, config)
                self.close(what + ', NumPy\'s, and back', numpy.load(back), returned, scale, is_long)
                cases += 1
        # bior2.2 is 5/3, and its factors √2; its low pass has a tap of 0 in front
        with open(config, 'w') as file:
            file.write('banks: {own: {lifting: [{predict: [-0.5, -0.5]}, {update: [0.25, 0.25]}], gain: [%r, %r]}}\n' % (2 ** 0.5, -0.5 ** 0.5))
        signal = numpy.random.default_rng(1).normal(0, 100, (1, 64))
        numpy.save(source, signal)
        self.run_sluice('analysis:@own:border=periodization:precision=double:dims=1', source, bands, config)
        low, high = pywt.dwt(signal[0], 'bior2.2', 'periodization')
        with numpy.load(bands) as ours:
            for name, expected in (('a1_h0', low), ('a1_h1', high)):
                turned = min((numpy.roll(expected, by) for by in (-1, 0, 1)), key=lambda v: abs(ours[name].ravel() - v).max())
                self.close('lifting ' + name, ours[name].ravel(), turned, 100, False)
        print('%d cases of banks: worst %.1e, of lines beyond short pictures %.1e' % (cases, *self.worst))

    def test_sure(self):
        """shrink:threshold=sure by its page, and beside the least risk over all coefficients as thresholds."""
        picture = numpy.random.default_rng(7).normal(0, 20, (64, 80))
        picture[20:40, 30:60] += 90
        source, bands = os.path.join(self.dir, 'in.npy'), os.path.join(self.dir, 'bands.npz')
        numpy.save(source, picture)
        self.run_sluice('dwt:db3:levels=3:precision=double,shrink:soft:threshold=sure', source, bands)
        planes = named(pywt.wavedec2(picture, 'db3', 'periodization', 3))
        sigma = numpy.median(abs(planes['HH1'])) / 0.6745
        self.worst = [0, 0]
        with numpy.load(bands) as ours:
            for name, plane in planes.items():
                size, n = numpy.sort(abs(plane).ravel()), plane.size
                step, weight = sigma * numpy.sqrt(2 * numpy.log(n)) / 256, round(262144 / numpy.log(n))
                places = numpy.searchsorted(step * numpy.arange(1, 257), size)
                counts = numpy.bincount(places, minlength=257)[:256]
                k = numpy.arange(257)
                below = numpy.concatenate([[0], numpy.cumsum(counts * ((2 * k[:256] + 1) ** 2 - weight))])
                best = int(numpy.argmin(below + 4 * k ** 2 * (n - numpy.concatenate([[0], numpy.cumsum(counts)]))))
                expected = plane if name == 'LL3' else pywt.threshold(plane, best * step, 'soft')
                self.close('sure ' + name, ours[name], expected, abs(picture).max(), False)
                if name == 'LL3':
                    continue
                risk = lambda t: n * sigma ** 2 - 2 * sigma ** 2 * (size <= t).sum() + (numpy.minimum(size, t) ** 2).sum()
                least = min(risk(t) for t in size if t <= 256 * step)
                self.assertLessEqual(risk(best * step), least + 0.02 * n * sigma ** 2, name)
        print('thresholds of least risk: worst %.1e' % self.worst[0])

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
