#!/usr/bin/env python3
"""wavelet_taps.py > src/stage/dwt/wavelets.txt: the wavelets' low-pass filters as PyWavelets has them.

Needs PyWavelets (python3-pywt); only for whoever makes the file again: it is kept in the
repository. tests/check_wavelets.py computes the numbers anew by other means and compares. High-
pass filters and the rbio family follow from these (src/stage/dwt/wavelet.c)."""
import pywt

ORTHOGONAL = [name for family in ('db', 'sym', 'coif') for name in pywt.wavelist(family)] + ['dmey']
BIORTHOGONAL = ['bior' + n for n in ('1.1 1.3 1.5 2.2 2.4 2.6 2.8 3.1 3.3 3.5 3.7 3.9 4.4 5.5 6.8'
                                     .split())]
print("""# The low-pass filters of wavelets, a wavelet a line: of orthogonal ones that of the synthesis, of others those of the
# analysis and of the synthesis. make_taps.py makes C of them; tests/wavelet_taps.py wrote this.
#
# The numbers are those of PyWavelets %s, https://pywavelets.org,
# which come with this notice:
#
# Copyright (c) 2006-2012 Filip Wasilewski <http://en.ig.ma/>
# Copyright (c) 2012- The PyWavelets Developers <https://github.com/PyWavelets/pywt>
#
# Permission is hereby granted, free of charge, to any person obtaining a copy of this software and
# associated documentation files (the "Software"), to deal in the Software without restriction,
# including without limitation the rights to use, copy, modify, merge, publish, distribute,
# sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is
# furnished to do so, subject to the following conditions:
#
# The above copyright notice and this permission notice shall be included in all copies or
# substantial portions of the Software.
#
# THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT
# NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND
# NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM,
# DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
# OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.""" % pywt.__version__)


def words(taps):
    """Each with every digit that it has."""
    return ' '.join(repr(float(v)) for v in taps)


for name in ORTHOGONAL:
    print(name, words(pywt.Wavelet(name).rec_lo))
for name in BIORTHOGONAL:
    print(name, words(pywt.Wavelet(name).dec_lo), '/', words(pywt.Wavelet(name).rec_lo))
