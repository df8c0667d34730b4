#!/usr/bin/env python3
"""The filters of src/stage/dwt/wavelets.txt, computed anew. Usage: check_wavelets.py SOURCE_ROOT

db and sym: spectral factors of Daubechies' half-band polynomial (Ten Lectures on Wavelets,
6.1), whose roots are found in 60 digits; db takes those inside the unit circle, sym one of each
pair in some way. bior: the synthesis filters of the spline families are binomials, and the
product of both filters is the half-band polynomial again, which leaves one analysis filter;
bior4.4 is the pair of JPEG 2000. coif: orthonormal, with the moments that define them."""
import itertools
import math
import os
import re
import sys
from decimal import Decimal, getcontext
from fractions import Fraction

getcontext().prec = 60
complaints = []


def read(root):
    with open(os.path.join(root, 'src/stage/dwt/wavelets.txt'), encoding='utf-8') as file:
        lines = [line.split(None, 1) for line in file if not line.startswith('#')]
    found = {name: [[float(v) for v in taps.split()] for taps in filters.split('/')] for name, filters in lines}
    return {name: (filters[0], filters[-1]) for name, filters in found.items()}


def convolve(a, b):
    out = [0] * (len(a) + len(b) - 1)
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            out[i + j] += x * y
    return out


def half_band(n):
    """2·((1 + z)/2)^2n · Σ C(n−1+k, k)·y^k with y = (2 − z − 1/z)/4, from its lowest power on."""
    y = [Fraction(-1, 4), Fraction(1, 2), Fraction(-1, 4)]
    total, power = [Fraction(0)] * (2 * n - 1), [Fraction(1)]
    for k in range(n):
        for i, v in enumerate(power):
            total[n - 1 - k + i] += math.comb(n - 1 + k, k) * v
        power = convolve(power, y)
    for _ in range(2 * n):
        total = convolve(total, [Fraction(1, 2), Fraction(1, 2)])
    return [float(2 * v) for v in total]


class Complex:
    """Complex numbers of 60 digits."""

    def __init__(self, re_, im=0):
        self.re, self.im = Decimal(re_), Decimal(im)

    def __add__(self, o):
        return Complex(self.re + o.re, self.im + o.im)

    def __sub__(self, o):
        return Complex(self.re - o.re, self.im - o.im)

    def __mul__(self, o):
        return Complex(self.re * o.re - self.im * o.im, self.re * o.im + self.im * o.re)

    def __truediv__(self, o):
        d = o.re * o.re + o.im * o.im
        return Complex((self.re * o.re + self.im * o.im) / d, (self.im * o.re - self.re * o.im) / d)

    def size(self):
        return (self.re * self.re + self.im * self.im).sqrt()

    def root(self):
        size = self.size()
        re_ = ((size + self.re) / 2).max(Decimal(0)).sqrt()
        im = ((size - self.re) / 2).max(Decimal(0)).sqrt()
        return Complex(re_, im if self.im >= 0 else -im)


def polynomial_roots(c):
    """Of Σ c[k]·y^k, by Durand and Kerner's iteration."""
    n = len(c) - 1
    c = [Complex(Decimal(v) / Decimal(c[-1])) for v in c]
    roots, seed = [], Complex('0.2', '0.35')
    power = Complex(1)
    for _ in range(n):
        roots.append(power)
        power = power * seed * Complex(2)
    for _ in range(500):
        worst = Decimal(0)
        for i, r in enumerate(roots):
            value, below = c[-1], Complex(1)
            for v in reversed(c[:-1]):
                value = value * r + v
            for j, s in enumerate(roots):
                if j != i:
                    below = below * (r - s)
            step = value / below
            roots[i] = r - step
            worst = max(worst, step.size())
        if worst < Decimal(10) ** -45:
            break
    return roots


def root_groups(n):
    """Pairs of conjugate (or single real) roots z inside the unit circle."""
    groups = []
    for y in polynomial_roots([math.comb(n - 1 + k, k) for k in range(n)]) if n > 1 else []:
        if y.im < -Decimal(10) ** -30:
            continue
        b = Complex(1) - y * Complex(2)  # z² − 2bz + 1 = 0
        d = (b * b - Complex(1)).root()
        z = b + d if (b + d).size() < 1 else b - d
        groups.append((z, abs(y.im) < Decimal(10) ** -30))
    return groups


def quadratic(z, real):
    if real:
        return [-z.re, Decimal(1)]
    return [z.re * z.re + z.im * z.im, -2 * z.re, Decimal(1)]


def from_factors(n, factors):
    h = [Decimal(math.comb(n, k)) for k in range(n + 1)]
    for f in factors:
        h = convolve(h, f)
    scale = Decimal(2).sqrt() / sum(h)
    return [float(v * scale) for v in h]


def distance(a, b):
    if len(a) != len(b):
        return math.inf
    return min(max(abs(x - y) for x, y in zip(a, b)), max(abs(x - y) for x, y in zip(a, b[::-1])))


def expect(name, what, error, limit):
    if not error <= limit:
        complaints.append('%s: %s is off by %g' % (name, what, error))


def check_orthogonal(name, h):
    n = len(h) // 2
    expect(name, 'the half-band product', max(abs(a - b) for a, b in
                                              zip(convolve(h, h[::-1]), half_band(n))), 1e-9)
    groups = root_groups(n)
    inside = [quadratic(*g) for g in groups]
    if name.startswith('db'):
        expect(name, 'the minimum-phase factor', max(
            abs(x - y) for x, y in zip(from_factors(n, inside)[::-1], h)), 1e-9)
        return
    outside = [f[::-1] for f in inside]
    best = min((distance(h, from_factors(n, choice))
                for choice in itertools.product(*([(a, b) for a, b in zip(inside, outside)][1:]))
                for choice in [(inside[0],) + choice]), default=math.inf)
    expect(name, 'the nearest spectral factor', best, 1e-8)


def check_biorthogonal(name, analysis, synthesis):
    p, q = (int(v) for v in name[4:].split('.'))
    product = convolve(analysis, synthesis)
    n = (p + q) // 2
    want = half_band(n)
    start = next(i for i, v in enumerate(product) if abs(v) > 1e-12)
    got = product[start:start + len(want)]
    rest = product[start + len(want):]
    expect(name, 'the half-band product', max([abs(a - b) for a, b in zip(got, want)] +
                                              [abs(v) for v in rest]), 1e-9)
    if p <= 3:
        taps = [v for v in synthesis if v != 0]
        want = [math.sqrt(2) * math.comb(p, k) / 2 ** p for k in range(p + 1)]
        expect(name, 'the spline', distance(taps, want), 1e-12)


def check_coiflet(name, h):
    k = int(name[4:])
    for shift in range(0, len(h), 2):
        value = sum(a * b for a, b in zip(h, h[shift:]))
        expect(name, 'orthonormality', abs(value - (shift == 0)), 1e-9)
    centre = round(sum(i * v for i, v in enumerate(h)) / math.sqrt(2))
    for power in range(2 * k):
        scale = float(len(h)) ** power
        expect(name, 'moment %d of the wavelet' % power,
               abs(sum((-1) ** i * (i - centre) ** power * v for i, v in enumerate(h))) / scale, 1e-9)
        expect(name, 'moment %d of the scaling function' % power,
               abs(sum((i - centre) ** power * v for i, v in enumerate(h)) -
                   (math.sqrt(2) if power == 0 else 0)) / scale, 1e-9)


def check_meyer(h):
    """The transfer function of Meyer's scaling function (Ten Lectures on Wavelets, 4.2.2) with the auxiliary function ν of degree 7, cut off:
    √2 below a third of the band, 0 above two thirds, cos(π/2·ν) between."""
    def wanted(w): # 0 … π
        x = min(max(3 * w / math.pi - 1, 0), 1)
        return math.sqrt(2) * math.cos(math.pi / 2 * x ** 4 * (35 - 84 * x + 70 * x ** 2 - 20 * x ** 3))
    worst = 0
    for k in range(257):
        w = math.pi * k / 256
        size = abs(sum(v * (math.cos(w * i) - 1j * math.sin(w * i)) for i, v in enumerate(h)))
        worst = max(worst, abs(size - wanted(w)))
    expect('dmey', 'the transfer function', worst, 0.005)


def main():
    wavelets = read(sys.argv[1])
    if len(wavelets) != 38 + 19 + 17 + 15 + 1:
        complaints.append('%d wavelets' % len(wavelets))
    for name, (analysis, synthesis) in wavelets.items():
        if name.startswith('bior'):
            check_biorthogonal(name, analysis, synthesis)
        elif name == 'dmey':
            check_meyer(synthesis)
        elif name.startswith('coif'):
            check_coiflet(name, synthesis)
        else:
            check_orthogonal(name, synthesis)
    jpeg = [0.602949018236, 0.266864118443, -0.078223266529, -0.016864118443, 0.026748757411]
    got = wavelets['bior4.4'][0]
    centre = max(range(len(got)), key=lambda i: got[i])
    expect('bior4.4', 'the 9/7 filter of ISO/IEC 15444-1', max(
        abs(got[centre + k] / math.sqrt(2) - v) for k, v in enumerate(jpeg)), 1e-11)
    print('\n'.join(complaints) if complaints else '%d wavelets agree' % len(wavelets))
    return 1 if complaints else 0


sys.exit(main())
