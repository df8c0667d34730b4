#!/usr/bin/env python3
"""The pictures of the documentation, drawn by sluice from two photographs (cat.jpg, coffee.jpg; README.md has their licences).

    make.py SLUICE [NAME…]             draws them again: all, or those of these names (sobel, or sobel.jpg)
    make.py --check SLUICE [NAME…]    1 when one is not what sluice makes today, or lies here without being made by anything

A stage's page says what its picture is made of: the photograph, the picture, and below them "Made by `CHAIN`." Pictures of other
pages, and those that take an option, are in the table below.

@NAME in a chain is the picture of that name here, which is a second one.

A picture counts as the same from 35 dB on, since versions of libjpeg differ in the last bits of what they write."""
import glob
import json
import os
import random
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SAME = 35  # dB

# What others are made from: photographs, and what is made of them here.
NOISE = 25  # standard deviation
SPECKS = 0.04  # of all pixels
PHOTOGRAPHS = {'cat.jpg', 'coffee.jpg'}
# Drawn by hand, or from measurements (performance.md, reliability.md).
OTHERS = {'architecture.svg', 'cost-by-size.svg', 'cost-by-width.svg', 'devices-by-size.svg', 'soak.svg', 'view-tune.webp', 'view-watch.webp'}

# Of a page of ../stages: "![…](../pictures/SOURCE) ![…](../pictures/PICTURE)", a blank line, "Made by `CHAIN`".
MADE_BY = re.compile(r'!\[[^\]]*\]\(\.\./pictures/(\S+)\) !\[[^\]]*\]\(\.\./pictures/(\S+)\)\n\nMade by `([^`]+)`(?! written)')
# The picture: what it is made of, the chain, and options of the format.
PICTURES = {
    'web.jpg': ('coffee.jpg', 'resize:200:200,unsharp:0.6:amount=0.5'),
    'analysis.jpg': ('cat.jpg', 'luminance,analysis:cdf97:levels=1,abs,gain:8,convert:u8'),
    'bands.jpg': ('cat.jpg', 'luminance,dwt:cdf53:levels=3', 'mosaic_gain=6'),
    'blurred.jpg': ('coffee.jpg', 'box:radius=6:passes=3'),
    'local.png': ('coffee.jpg', 'luminance,threshold:local:radius=12:offset=12', 'bits=1'),
    'emboss.jpg': ('coffee.jpg', 'luminance,fir:emboss'),
    'large-edges.jpg': ('cat.jpg', 'luminance,box:radius=3:passes=3,sobel:scale=1'),
    'outline.png': ('coffee.jpg', 'luminance,box:radius=2:passes=2,sobel:scale=0.5,threshold:40,invert'),
    'quiet.jpg': ('noisy.jpg', 'dwt:db4:levels=4,shrink:soft:threshold=bayes,idwt'),
    'slope.jpg': ('coffee.jpg', 'luminance,convert:f32,sobel:dx,gain:0.5:offset=128,convert:u8'),
}
# Of a chain that ends in several planes, those that pages do not show.
DROPPED = {'analysis.a1_h0_v0.jpg', 'analysis.a1_h0_v1.jpg', 'analysis.a1_h1_v1.jpg'}


def pictures():
    """As PICTURES, with those of the stages' pages."""
    found = dict(PICTURES)
    for page in glob.glob(os.path.join(HERE, '../stages/*.md')):
        with open(page, encoding='utf-8') as file:
            found.update((name, (source, chain)) for source, name, chain in MADE_BY.findall(file.read()))
    return found


def path(name):
    return os.path.join(HERE, name)


def run(sluice, *arguments):
    process = subprocess.run([sluice, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if process.returncode not in (0, 1):  # 1: `compare` found a difference
        sys.exit('%s: %s' % (' '.join(arguments), process.stderr))
    return process.stdout


def filter_picture(sluice, source, chain, target, options=''):
    quality = ':quality=85' if target.endswith('.jpg') else ''
    kind = os.path.splitext(target)[1][1:] + quality + (options and ':' + options)
    seconds = [word for name in re.findall('@([a-z-]+)', chain) for word in ('--define', '%s=%s' % (name, *glob.glob(path(name) + '.*')))]
    run(sluice, 'run', '-q', '--device', 'reference', *seconds, '-c', chain, '-f', kind, '-o', target, source)


def draw_spoilt(sluice, folder, name, spoil):
    """The cat, after what `spoil` makes of its samples."""
    raw = os.path.join(folder, 'cat.ppm')
    run(sluice, 'run', '-q', '-c', '', '-o', raw, path('cat.jpg'))
    with open(raw, 'rb') as file:
        head = [file.readline() for _ in range(3)]
        samples = file.read()
    chance = random.Random(1)
    with open(raw, 'wb') as file:
        file.write(b''.join(head) + bytes(spoil(samples, chance)))
    spoilt = os.path.join(folder, name)
    run(sluice, 'run', '-q', '-f', 'jpg:quality=85', '-o', spoilt, raw)
    return spoilt


def noisy(samples, chance):
    """As a camera in the dark makes it."""
    return (min(max(round(sample + chance.gauss(0, NOISE)), 0), 255) for sample in samples)


def speckled(samples, chance):
    """Pixels that are white or black, as dust on a scanner's glass."""
    for i in range(0, len(samples), 3):
        speck = chance.random()
        yield from samples[i:i + 3] if speck > SPECKS else b'\xff' * 3 if speck < SPECKS / 2 else b'\0' * 3


def draw_mosaic(sluice, folder):
    """The middle of the cat as a sensor behind red, green, green and blue filters sees it."""
    raw, mosaic = os.path.join(folder, 'cat.ppm'), os.path.join(folder, 'mosaic.png')
    run(sluice, 'run', '-q', '-c', 'crop:gravity=centre:w=200:h=140', '--on-exists', 'overwrite', '-o', raw, path('cat.jpg'))
    with open(raw, 'rb') as file:
        file.readline()
        size, most = file.readline(), file.readline()
        samples = file.read()
    width = int(size.split()[0])
    with open(raw, 'wb') as file:
        file.write(b'P5\n' + size + most + bytes(samples[3 * i + i % width % 2 + i // width % 2] for i in range(len(samples) // 3)))
    run(sluice, 'run', '-q', '-o', mosaic, raw)
    return mosaic


def draw(sluice, folder, wanted):
    """Those that are wanted, or all, and from what they are made; returns the names of the former."""
    def is_wanted(name):
        return not wanted or name in wanted or os.path.splitext(name)[0] in wanted

    chosen = {name: made for name, made in sorted(pictures().items()) if is_wanted(name)}
    needed = {source for source, *_ in chosen.values()}
    spoilt = {}
    for name, make in (('noisy.jpg', noisy), ('speckled.jpg', speckled), ('mosaic.png', None)):
        if is_wanted(name) or name in needed:
            spoilt[name] = draw_spoilt(sluice, folder, name, make) if make else draw_mosaic(sluice, folder)
    unknown = [name for name in wanted if not any(name in (known, os.path.splitext(known)[0]) for known in {**chosen, **spoilt})]
    if unknown:
        sys.exit('%s: in no page of docs/stages with "Made by" below it, and not in the table of make.py' % ', '.join(unknown))
    for name, (source, chain, *options) in chosen.items():
        filter_picture(sluice, spoilt.get(source, path(source)), chain, os.path.join(folder, name), *options)
    unasked = {name for name in spoilt if not is_wanted(name)}
    return sorted(name for name in os.listdir(folder) if name not in DROPPED | unasked | {'cat.ppm'})


def decibels(sluice, one, other):
    told = json.loads(run(sluice, 'compare', '--json', one, other))
    return float('inf') if told['psnr'] is None else told['psnr']


def check(sluice, folder, names):
    wrong = ['%s: no such picture' % name for name in names if not os.path.exists(path(name))]
    for name in names:
        if os.path.exists(path(name)):
            level = decibels(sluice, path(name), os.path.join(folder, name))
            if level < SAME:
                wrong.append('%s: %.1f dB from what sluice makes of it today; draw it again with docs/pictures/make.py' % (name, level))
    return wrong


def main():
    arguments = sys.argv[1:]
    checking = arguments[0] == '--check'
    sluice, *wanted = arguments[checking:]
    sluice = os.path.abspath(sluice)
    with tempfile.TemporaryDirectory() as folder:
        names = draw(sluice, folder, wanted)
        if checking:
            wrong = check(sluice, folder, names)
            known = PHOTOGRAPHS | OTHERS | set(names) | {'make.py', 'README.md'}
            wrong += ['%s: made by nothing here' % name for name in os.listdir(HERE)
                      if not wanted and name not in known and not name.startswith('__')]
            print('\n'.join(wrong) if wrong else '%d pictures are what sluice makes' % len(names))
            sys.exit(bool(wrong))
        for name in names:
            os.replace(os.path.join(folder, name), path(name))
        if {'noisy.jpg', 'quiet.jpg'} <= set(names):
            print('noisy.jpg is %.1f dB from cat.jpg, quiet.jpg %.1f dB' %
                  tuple(decibels(sluice, path('cat.jpg'), path(name)) for name in ('noisy.jpg', 'quiet.jpg')))


main()
