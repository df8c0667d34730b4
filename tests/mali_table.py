#!/usr/bin/env python3
"""What a Mali compiler makes of the kernels for GPUs: docs/mali.md's table.

    mali_table.py SLUICE COMPILER            prints the table
    mali_table.py SLUICE COMPILER WORD       prints the rows of chains that hold WORD (sobel, --generic)
    mali_table.py SLUICE COMPILER --check    compares a few rows of docs/mali.md with what is compiled now

COMPILER is a program that takes a .cl file and prints, for each Mali, a line "NAME (gNN)" and below it
a line for each kernel with "N threads", "N ldst" or "N ls" and "S:F spills:fills"; or give it as the
environment's SLUICE_MALI_COMPILER and "-" here. Without one, --check says so and exits with 77, which
meson takes as skipped."""
import os
import re
import subprocess
import sys
import tempfile

PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'docs', 'mali.md')
# Chain, sample type, size and what else `plan` is told; the first ones are those that --check looks at.
CASES = [
    ('invert', 'u8', '640x480'),
    ('sobel', 'u8', '640x480'),
    ('sobel:out=both', 'u8', '640x480'),
    ('fir:gaussian3', 'u8', '640x480'),
    ('box:radius=4', 'u8', '640x480'),
    ('luminance', 'u8', '640x480x3'),
    ('sobel:out=l1', 'u8', '640x480'),
    ('fir:gaussian5', 'u8', '640x480'),
    ('threshold:100', 'u8', '640x480'),
    ('threshold:otsu', 'u8', '640x480'),
    ('gain:1.5', 'u8', '640x480'),
    ('convert:f32', 'u8', '640x480'),
    ('sobel', 'u16', '640x480'),
    ('sobel', 'f32', '640x480'),
    ('fir:gaussian3', 'u16', '640x480'),
    ('fir:gaussian3', 'f32', '640x480'),
    ('box:radius=20', 'u8', '640x480'),
    ('box:width=3_9', 'u8', '640x480'),
    ('box:radius=20', 'f32', '640x480'),
    ('box:width=3_9', 'f32', '640x480'),
    ('sobel,threshold:100', 'u8', '640x480'),
    ('fir:gaussian3,invert', 'u8', '640x480'),
    ('luminance,threshold:100', 'u8', '640x480x3'),
    ('dwt:cdf97:levels=2,idwt', 'u8', '640x480'),
    ('dwt:cdf53:levels=2,idwt', 'u8', '640x480'),
    ('dwt:db4:levels=2,shrink:soft:threshold=bayes,idwt', 'f32', '640x480'),
    ('analysis:cdf97:levels=2,synthesis', 'f32', '640x480'),
    ('sobel:out=dx', 'u8', '640x480'),
    ('sobel:out=sample', 'u8', '640x480'),
    ('resize:by=0.25', 'u8', '640x480'),
    ('resize:by=0.25', 'u8', '640x480x3'),
    ('resize:by=0.25', 'u8', '640x480x4'),
    ('resize:by=0.25', 'u16', '640x480'),
    ('resize:by=0.25', 'f32', '640x480'),
    ('resize:by=0.25:filter=nearest', 'u8', '640x480x3'),
    ('rotate:90', 'u8', '640x480'),
    ('rotate:90', 'u8', '640x480x3'),
    ('rotate:90', 'u16', '640x480'),
    ('rotate:90', 'f32', '640x480'),
    ('flip:x', 'u8', '640x480'),
    ('flip:y', 'u8', '640x480'),
    ('pad:left=5:top=3', 'u8', '640x480'),
    ('crop:3:3:600:400', 'u8', '640x480'),
    ('levels:20:220', 'u8', '640x480'),
    ('levels:gamma=2', 'u8', '640x480'),
    ('levels:gamma=2', 'u16', '640x480'),
    ('levels:gamma=2', 'f32', '640x480'),
    ('normalize', 'u8', '640x480'),
    ('normalize', 'u16', '640x480'),
    ('normalize', 'f32', '640x480'),
    ('equalize', 'u8', '640x480'),
    ('equalize', 'u8', '640x480x3'),
    ('fir:gaussian3', 'u8', '640x480', '--generic'),
    ('fir:gaussian3', 'u8', '640x480x3', '--generic'),
    ('fir:gaussian3', 'u16', '640x480', '--generic'),
    ('fir:gaussian3', 'f32', '640x480', '--generic'),
    ('fir:70000_1_1:divisor=3', 'u16', '640x480', '--generic'),
    ('gain:1.5', 'u8', '640x480', '--generic'),
    ('gain:1.5', 'i32', '640x480', '--generic'),
]
CHECKED = 2
KERNELS_MAX = 24  # of a program
LINE = re.compile(r'^\s+(?P<kernel>\S+)\s+wg.*?(?P<ls>[0-9.]+) (?:ldst|ls),.*?(?P<threads>\d) threads'
                  r'.*?(?P<spills>\d+:\d+) spills:fills')


def source_of(sluice, case):
    chain, sample_type, size, *more = case
    done = subprocess.run([sluice, 'plan', '--profile', 'mali', '--source', '-c', chain, '--type',
                           sample_type, *more, size], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f'{chain}: {done.stderr}')
    return done.stdout


def samples_of(source, kernel):
    """How many samples a work-item of that kernel takes: the SPAN that it is defined with."""
    begin = source.index(f'#define KERNEL {kernel}\n')
    return int(re.compile(r'#define SPAN (\d+)').search(source, begin).group(1))


def kernels_of(source):
    """The names of a program's kernels, and of the parts that they are made of."""
    return set(re.findall(r'^#define KERNEL (\S+)$', source, re.M))


def programs_of(sources):
    """The programs put together, the prelude once: a compiler takes longest to read that. A kernel's
    name stands for one kernel in each, so that a chain's with a name that is there begins another."""
    programs, names = [], None
    for source in sources:
        prelude, kernels = source.split('\n#define KERNEL ', 1)
        new = kernels_of(source)
        if names is None or names & new or len(names | new) > KERNELS_MAX:
            programs.append(prelude)
            names = set()
        programs[-1] += '\n#define KERNEL ' + kernels
        names |= new
    return programs


def compile_program(compiler, source):
    """{kernel: {gpu: (spills, threads, load/store cycles a sample)}}"""
    with tempfile.TemporaryDirectory(prefix='mali-') as folder:
        path = os.path.join(folder, 'kernels.cl')
        with open(path, 'w', encoding='utf-8') as file:
            file.write(source)
        text = subprocess.run([compiler, path], capture_output=True, text=True, check=True).stdout
    rows, gpu = {}, None
    for line in text.splitlines():
        head = re.match(r'^\S.*\((g\d+)\)', line)
        found = LINE.match(line)
        if head:
            gpu = head.group(1)
        elif found and f'#define KERNEL {found["kernel"]}\n' in source:
            samples = samples_of(source, found['kernel'])
            rows.setdefault(found['kernel'], {})[gpu] = (
                found['spills'], int(found['threads']), float(found['ls']) / samples)
    if not rows:
        sys.exit(f'the compiler says nothing of these kernels: {kernels_of(source)}\n{text}')
    return rows


def cells(result):
    return [f'{result[gpu][0]}, {result[gpu][1]}, {result[gpu][2]:.2f}' if gpu in result else '—'
            for gpu in ('g52', 'g57', 'g610')]


def print_table(sluice, compiler, only):
    print('| kernel | samples a work-item | G52 | G57 | G610 |\n|---|---|---|---|---|')
    seen = set()
    cases = [case for case in CASES if only in ' '.join(case)]
    for source in programs_of(source_of(sluice, case) for case in cases):
        for kernel, result in compile_program(compiler, source).items():
            if kernel not in seen:
                seen.add(kernel)
                print('|', ' | '.join([f'`{kernel}`', str(samples_of(source, kernel))] + cells(result)),
                      '|', flush=True)


def check(sluice, compiler):
    with open(PAGE, encoding='utf-8') as file:
        page = file.read()
    wrong = []
    for source in programs_of(source_of(sluice, case) for case in CASES[:CHECKED]):
        for kernel, result in compile_program(compiler, source).items():
            row = ' | '.join(cells(result))
            stands = next((line for line in page.splitlines() if line.startswith(f'| `{kernel}`')), None)
            if not stands or row not in stands:
                wrong.append(f'{kernel}: {row}\n  docs/mali.md has: {stands}')
            wrong += [f'{kernel} spills on {gpu}' for gpu in result if result[gpu][0] != '0:0']
    if wrong:
        sys.exit('\n'.join(wrong))


def main():
    compiler = sys.argv[2] if sys.argv[2] != '-' else os.environ.get('SLUICE_MALI_COMPILER', '')
    if not compiler or not os.access(compiler, os.X_OK):
        print('no Mali compiler: SLUICE_MALI_COMPILER names none')
        sys.exit(77)
    if '--check' in sys.argv:
        check(sys.argv[1], compiler)
    else:
        print_table(sys.argv[1], compiler, sys.argv[3] if len(sys.argv) > 3 else '')


if __name__ == '__main__':
    main()
