#!/usr/bin/env python3
"""test_example.py SLUICE FRAMES SOURCE_ROOT: the program of docs/library.md is docs/examples/frames.c, and gives what the
command gives; a wrong chain is shown with its place."""
import os
import random
import re
import subprocess
import sys
import tempfile

sluice, frames, root = sys.argv[1:]
SIDE = {'w': 50, 'h': 38}


def run(program, *arguments, **more):
    return subprocess.run([program, *map(str, arguments)], capture_output=True, timeout=120, **more)


def main():
    with open(os.path.join(root, 'docs/library.md'), encoding='utf-8') as file:
        shown = re.search(r'```c\n(.*?)```', file.read(), re.S).group(1)
    with open(os.path.join(root, 'docs/examples/frames.c'), encoding='utf-8') as file:
        assert shown == file.read(), 'docs/library.md shows another program than docs/examples/frames.c'
    generator = random.Random(5)
    w, h = SIDE['w'], SIDE['h']
    frame = bytes(generator.randrange(256) for _ in range(w * h * 3 // 2))
    wrong = run(frames, 'luminance,sobal', w, h)
    assert wrong.returncode == 1 and b"'sobal'" in wrong.stderr and b'^^^^^' in wrong.stderr, wrong.stderr
    for chain, magic in (('luminance:bt709,sobel', b'P5'), ('gauss:sigma=2', b'P6'), ('crop:2:2:20:10', b'P6')):
        done = run(frames, chain, w, h, input=2 * frame)
        assert done.returncode == 0, done.stderr
        half = len(done.stdout) // 2
        assert done.stdout[:half] == done.stdout[half:] and done.stdout.startswith(magic), chain
    print('the example does what its page says')


main()
