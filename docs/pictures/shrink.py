#!/usr/bin/env python3
"""shrink.py SLUICE: draws docs/pictures/shrink.png, part of a test card with noise beside what shrink makes of it,
and prints by how much it is nearer to the card."""
import os
import random
import subprocess
import sys
import tempfile

CARD, PART, CORNER = (1152, 864), (288, 216), (430, 330)
SIGMA = 20
CHAIN = 'dwt:db4:levels=4,shrink:soft:threshold=bayes,idwt'


def read_pgm(path):
    with open(path, 'rb') as file:
        data = file.read()
    return data[-CARD[0] * CARD[1]:]


def write_pgm(path, width, height, samples):
    with open(path, 'wb') as file:
        file.write(b'P5 %d %d 255\n' % (width, height) + bytes(samples))


def run(*arguments):
    return subprocess.run([sys.argv[1], *arguments], check=False, stdout=subprocess.PIPE,
                          text=True).stdout


def main():
    with tempfile.TemporaryDirectory() as folder:
        card, noisy, quiet, both = (os.path.join(folder, name + '.pgm')
                                    for name in ('card', 'noisy', 'quiet', 'both'))
        run('testcard', '--size', '%dx%d' % CARD, '-o', folder + '/card.ppm')
        run('run', '-q', '-c', 'luminance', '-o', card, folder + '/card.ppm')
        noise = random.Random(1)
        write_pgm(noisy, *CARD, (min(max(round(v + noise.gauss(0, SIGMA)), 0), 255)
                                 for v in read_pgm(card)))
        run('run', '-q', '-c', CHAIN, '-o', quiet, noisy)
        rows = (pixels[(CORNER[1] + y) * CARD[0] + CORNER[0]:][:PART[0]] for y in range(PART[1])
                for pixels in (read_pgm(noisy), read_pgm(quiet)))
        write_pgm(both, 2 * PART[0], PART[1], b''.join(rows))
        target = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'shrink.png')
        run('run', '-q', '-f', 'png:level=9', '-o', target, both)
        for name in (noisy, quiet):
            print(os.path.basename(name), run('compare', card, name).split('\n')[1])


main()
