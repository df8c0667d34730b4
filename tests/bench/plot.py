#!/usr/bin/env python3
"""Draws SVG charts from the measurements of `sluice bench --json`: time against the size of the picture, and time
against the width of the window; or, of several devices, of jobs against the size.

Usage: plot.py [--build DIR] [--out DIR] [--iterations N] [--device SEL]
       plot.py [--out DIR] --beside FILE
Writes cost-by-size.svg and cost-by-width.svg into --out (docs/pictures); with --beside devices-by-size.svg, from what
`sluice bench --json --device native,gpu sizes` has printed into FILE."""
import argparse
import json
import math
import os
import subprocess
from xml.sax.saxutils import escape

HERE = os.path.dirname(os.path.abspath(__file__))
# 0.3 to 100 megapixels, as cameras have them.
SIZES = ((640, 480), (1280, 960), (1920, 1440), (2592, 1944), (4000, 3000), (6000, 4000),
         (8000, 6000), (12000, 8334))
CHAINS = ('invert', 'luminance', 'sobel', 'fir:gaussian3', 'box:radius=4', 'dwt:cdf97:levels=3')
WIDTHS = (3, 5, 9, 17, 31, 61, 101, 201, 401, 701, 1001)
TYPES = ('u8', 'u16', 'f32')
COLOURS = ('#1b6ca8', '#c1432e', '#3c8d40', '#8a5aa8', '#b8860b', '#444444')


def bench(options, chain, size, kind='u8'):
    out = subprocess.run([os.path.join(options.build, 'src', 'sluice'), 'bench', '--json', '-c',
                          chain, '--size', size, '--type', kind, '--device', options.device,
                          '--iterations', str(options.iterations), '--max-pixels', '200MP'],
                         check=True, capture_output=True).stdout
    report = json.loads(out)
    return report, report['rows'][0]


def write(folder, name, plot):
    path = os.path.join(folder, name + '.svg')
    with open(path, 'w', encoding='utf-8') as file:
        file.write(plot.svg())
    print(path)


def ticks(low, high):
    """1, 2, 5 of each power of ten within the range, or its powers alone where it is wide."""
    steps = (1, 2, 5) if high / low < 2000 else (1,)
    return [m * 10.0 ** e for e in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
            for m in steps if low * 0.999 <= m * 10.0 ** e <= high * 1.001]


class Plot:
    """Lines over logarithmic axes."""
    WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 760, 460, 70, 190, 50, 55

    def __init__(self, title, x_label, y_label, lines):
        self.lines = lines
        points = [p for _, line in lines for p in line]
        self.x = (min(p[0] for p in points), max(p[0] for p in points))
        self.y = (10 ** math.floor(math.log10(min(p[1] for p in points))),
                  10 ** math.ceil(math.log10(max(p[1] for p in points))))
        self.title, self.x_label, self.y_label = title, x_label, y_label

    def at(self, x, y):
        def share(value, span):
            return math.log(value / span[0]) / math.log(span[1] / span[0])
        return (self.LEFT + share(x, self.x) * (self.WIDTH - self.LEFT - self.RIGHT),
                self.HEIGHT - self.BOTTOM - share(y, self.y) * (self.HEIGHT - self.TOP - self.BOTTOM))

    def svg(self):
        out = ['<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" '
               'font-size="13"><rect width="100%%" height="100%%" fill="white"/>' %
               (self.WIDTH, self.HEIGHT)]

        def text(x, y, words, anchor='middle', more=''):
            out.append('<text x="%.1f" y="%.1f" text-anchor="%s"%s>%s</text>' %
                       (x, y, anchor, more, escape(words)))

        def line(points, colour, width=1.0):
            out.append('<polyline fill="none" stroke="%s" stroke-width="%g" points="%s"/>' %
                       (colour, width, ' '.join('%.1f,%.1f' % p for p in points)))
        text(self.WIDTH / 2, 24, self.title, more=' font-size="15"')
        for x in ticks(*self.x):
            line([self.at(x, self.y[0]), self.at(x, self.y[1])], '#dddddd')
            text(self.at(x, 1)[0], self.HEIGHT - self.BOTTOM + 18, '%g' % x)
        for y in ticks(*self.y):
            line([self.at(self.x[0], y), self.at(self.x[1], y)], '#dddddd')
            text(self.LEFT - 8, self.at(1, y)[1] + 4, '%g' % y, 'end')
        text((self.LEFT + self.WIDTH - self.RIGHT) / 2, self.HEIGHT - 14, self.x_label)
        text(18, self.HEIGHT / 2, self.y_label, more=' transform="rotate(-90 18 %g)"' %
             (self.HEIGHT / 2))
        ends = sorted((self.at(*points[-1])[1], i) for i, (_, points) in enumerate(self.lines))
        below = 0
        for end, i in ends:
            name, points = self.lines[i]
            colour = COLOURS[i % len(COLOURS)]
            line([self.at(*p) for p in points], colour, 2)
            for p in points:
                out.append('<circle cx="%.1f" cy="%.1f" r="2.5" fill="%s"/>' % (*self.at(*p), colour))
            below = max(end + 4, below + 16)  # names do not cover each other
            text(self.WIDTH - self.RIGHT + 8, below, name, 'start', ' fill="%s"' % colour)
        return '\n'.join(out + ['</svg>\n'])


def beside(path):
    """The chart of one chain after another, each with a line for each device."""
    with open(path, encoding='utf-8') as file:
        report = json.load(file)
    lines = {}
    for row in report['rows']:
        if row['ran_on'] and row['device'] != 'auto':
            name = row['name'].replace(':k=gaussian3:divisor=16', '').replace(':scale=1', '')
            lines.setdefault('%s, %s' % (name, row['device']), []).append(
                (row['width'] * row['height'] / 1e6, row['job_median_s'] * 1e3))
    named = sorted({row['ran_on'] for row in report['rows'] if row['ran_on']})
    return Plot('Jobs by size: ' + ', '.join(named), 'megapixels', 'milliseconds', list(lines.items()))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--build', default=os.path.join(HERE, '..', '..', 'build'))
    parser.add_argument('--out', default=os.path.join(HERE, '..', '..', 'docs', 'pictures'))
    parser.add_argument('--iterations', type=int, default=9)
    parser.add_argument('--device', default='auto')
    parser.add_argument('--beside')
    options = parser.parse_args()
    if options.beside:
        write(options.out, 'devices-by-size', beside(options.beside))
        return
    device, by_size, by_width = '', [], []
    for chain in CHAINS:
        points = []
        for width, height in SIZES:
            report, row = bench(options, chain, '%dx%d' % (width, height) +
                                ('x3' if chain == 'luminance' else ''))
            device = '%s, driver %s' % (report['device'], report['driver'])
            points.append((width * height / 1e6, row['min_s'] * 1e3))
        by_size.append((chain, points))
    for kind in TYPES:
        points = [(width, bench(options, 'box:width=%d' % width, '4096x4096', kind)[1]['min_s'] * 1e3)
                  for width in WIDTHS]
        by_width.append((kind, points))
    for name, plot in (
            ('cost-by-size', Plot('Kernels by size: ' + device, 'megapixels', 'milliseconds', by_size)),
            ('cost-by-width', Plot('box, 4096×4096: ' + device, 'width of the window, samples',
                                   'milliseconds', by_width))):
        write(options.out, name, plot)


if __name__ == '__main__':
    main()
