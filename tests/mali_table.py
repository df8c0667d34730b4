#!/usr/bin/env python3
"""What a Mali compiler makes of the kernels for GPUs: docs/mali.md's tables, and src/chain/board_costs.h.

    mali_table.py SLUICE COMPILER             prints the tables
    mali_table.py SLUICE COMPILER WORD ...    prints those of chains that hold such a WORD (sobel, "gauss:1.5 u8", --generic)
    mali_table.py SLUICE COMPILER --write     writes the tables into the page, and the header; with WORDs only their
                                              rows, beside the others
    mali_table.py SLUICE COMPILER --check     compares a few rows of the page with what is compiled now

COMPILER is called as `COMPILER FILE.cl --gpu g52` (g57, g610), and prints what Mesa's Panfrost does under
BIFROST_MESA_DEBUG=shaders,shaderdb; tests/mali_compile.sh is one. --check is content with one that prints for each
kernel a line with "N threads", "N ldst" or "N ls" and "S:F spills:fills". It may be given as the environment's
SLUICE_MALI_COMPILER, and "-" here: without one, --check says so and exits with 77, which meson takes as skipped.
Compilers take half a minute a program: MALI_KEEP names a folder in which what they print is kept."""
import concurrent.futures
import hashlib
import json
import math
import os
import re
import struct
import subprocess
import sys
import tempfile

import mali_path

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..')
PAGE, HEADER = os.path.join(ROOT, 'docs', 'mali.md'), os.path.join(ROOT, 'src', 'chain', 'board_costs.h')
GPUS = ('g52', 'g57', 'g610')
SIZE = '4096x3072'
# Chain, sample type, size and what else `plan` is told; the first ones are those that --check looks at.
CASES = [
    ('invert', 'u8', SIZE),
    ('sobel', 'u8', SIZE),
    ('fir:gaussian3', 'u8', SIZE),
    ('fir:gaussian5', 'u8', SIZE),
    ('fir:1_2_3/4_5_6/7_8_9', 'u8', SIZE),
    ('box:radius=1', 'u8', SIZE),
    ('box:radius=4', 'u8', SIZE),
    ('box:radius=50', 'u8', SIZE),
    ('luminance', 'u8', SIZE + 'x3'),
    ('threshold:100', 'u8', SIZE),
    ('threshold:otsu', 'u8', SIZE),
    ('gain:1.5', 'u8', SIZE),
    ('dwt:cdf97:levels=1,idwt', 'u8', SIZE),
    ('dwt:cdf53:levels=1,idwt', 'u8', SIZE),
    ('dwt:db4:levels=1,shrink:soft:threshold=bayes,idwt', 'u8', SIZE),
    ('dwt:cdf97:levels=1,idwt', 'f32', SIZE),
    ('dwt:cdf53:levels=1,idwt', 'i32', SIZE),
    ('dwt:db4:levels=1,shrink:soft:threshold=bayes,idwt', 'f32', SIZE),
    ('sobel:out=both', 'u8', SIZE),
    ('sobel:out=l1', 'u8', SIZE),
    ('sobel:out=dx', 'u8', SIZE),
    ('sobel:out=sample', 'u8', SIZE),
    ('convert:f32', 'u8', SIZE),
    ('sobel', 'u16', SIZE),
    ('sobel', 'f32', SIZE),
    ('fir:gaussian3', 'u16', SIZE),
    ('fir:gaussian3', 'f32', SIZE),
    ('box:width=3_9', 'u8', SIZE),
    ('box:radius=20', 'f32', SIZE),
    ('box:width=3_9', 'f32', SIZE),
    ('sobel,threshold:100', 'u8', SIZE),
    ('fir:gaussian3,invert', 'u8', SIZE),
    ('luminance,threshold:100', 'u8', SIZE + 'x3'),
    ('analysis:cdf97:levels=1,synthesis', 'f32', SIZE),
    ('fir:gaussian3', 'u8', SIZE, '--generic'),
    ('fir:gaussian3', 'u8', SIZE + 'x3', '--generic'),
    ('fir:gaussian3', 'u16', SIZE, '--generic'),
    ('fir:gaussian3', 'f32', SIZE, '--generic'),
    ('fir:70000_1_1:divisor=3', 'u16', SIZE, '--generic'),
    ('gain:1.5', 'u8', SIZE, '--generic'),
    ('gain:1.5', 'i32', SIZE, '--generic'),
    ('gauss:1.5', 'u8', SIZE),
    ('gauss:1.5', 'u16', SIZE),
    ('gauss:1.5', 'f32', SIZE),
    ('unsharp:1.5', 'u8', SIZE),
    ('gauss:5', 'u8', SIZE),
    ('unsharp:5', 'u8', SIZE),
    ('unsharp:1.5:amount=500', 'u16', SIZE),
    ('median:1', 'u8', SIZE),
    ('median:2', 'u8', SIZE),
    ('median:3', 'u8', SIZE),
    ('median:1', 'f32', SIZE),
    ('median:2', 'f32', SIZE),
    ('erode:31', 'u8', SIZE),
    ('dilate:31', 'f32', SIZE + 'x4'),
    ('resize:by=0.25', 'u8', SIZE),
    ('resize:by=0.25', 'u8', SIZE + 'x3'),
    ('resize:by=0.25', 'u8', SIZE + 'x4'),
    ('resize:by=0.25', 'u16', SIZE),
    ('resize:by=0.25', 'f32', SIZE),
    ('resize:by=0.25:filter=nearest', 'u8', SIZE + 'x3'),
    ('rotate:90', 'u8', SIZE),
    ('rotate:90', 'u8', SIZE + 'x3'),
    ('rotate:90', 'u16', SIZE),
    ('rotate:90', 'f32', SIZE),
    ('flip:x', 'u8', SIZE),
    ('flip:y', 'u8', SIZE),
    ('pad:left=5:top=3', 'u8', SIZE),
    ('crop:3:3:600:400', 'u8', SIZE),
    ('levels:20:220', 'u8', SIZE),
    ('levels:gamma=2', 'u8', SIZE),
    ('levels:gamma=2', 'u16', SIZE),
    ('levels:gamma=2', 'f32', SIZE),
    ('normalize', 'u8', SIZE),
    ('normalize', 'u16', SIZE),
    ('normalize', 'f32', SIZE),
    ('equalize', 'u8', SIZE),
    ('equalize', 'u8', SIZE + 'x3'),
    ('clahe', 'u8', SIZE),
    ('clahe', 'u8', SIZE + 'x3'),
    ('colour:0.9_0.1_0/0_0.9_0.1/0.1_0_0.9', 'u8', SIZE + 'x3'),
    ('colour:0.9_0.1_0/0_0.9_0.1/0.1_0_0.9', 'u16', SIZE + 'x3'),
    ('threshold:local', 'u8', SIZE),
    ('convert:channels=3', 'u8', SIZE),
    ('sobel', 'u8', SIZE + 'x3'),
    ('sobel', 'u8', SIZE + 'x4'),
    ('sobel', 'u16', SIZE + 'x3'),
    ('sobel', 'f32', SIZE + 'x3'),
    ('fir:gaussian3', 'u8', SIZE + 'x3'),
    ('fir:gaussian3', 'u8', SIZE + 'x4'),
    ('fir:gaussian3', 'u16', SIZE + 'x3'),
    ('fir:gaussian3', 'f32', SIZE + 'x3'),
    ('fir:gaussian5', 'u8', SIZE + 'x3'),
    ('fir:gaussian5', 'u16', SIZE),
    ('fir:gaussian5', 'f32', SIZE),
    ('box:radius=1', 'u8', SIZE + 'x3'),
    ('box:radius=4', 'u8', SIZE + 'x3'),
    ('box:radius=4', 'u16', SIZE),
    ('gauss:1.5', 'u8', SIZE + 'x3'),
    ('gauss:1.5', 'u8', SIZE + 'x4'),
    ('median:1', 'u8', SIZE + 'x3'),
    ('median:1', 'u16', SIZE),
    ('erode:31', 'u16', SIZE),
    ('erode:31', 'u8', SIZE + 'x3'),
    ('analysis:cdf97:levels=1,synthesis', 'u8', SIZE),
    ('dwt:haar:levels=1,idwt', 'u8', SIZE),
    ('threshold:100', 'u16', SIZE),
    ('threshold:otsu', 'u16', SIZE),
    ('gain:1.5', 'u16', SIZE),
    ('luminance', 'u16', SIZE + 'x3'),
    ('clahe', 'u16', SIZE),
    ('equalize', 'u16', SIZE),
]
CHECKED = 2
KERNELS_MAX = 32  # of a program
# Of the u8 case of that chain, the passes of a stage, or those whose kernels begin so: at most how many cycles a
# sample, and how many times the bytes that must move (the stage's input read once, its result written once).
AIMS = [
    ('invert', 'invert', 0.6, None),
    ('threshold:100', 'threshold', 0.6, None),
    ('gain:1.5', 'gain', 0.6, None),
    ('luminance', 'luminance', 1.2, None),
    ('sobel', 'sobel', 1.2, 1.15),
    ('fir:gaussian3', 'fir', 1.3, 1.15),
    ('fir:1_2_3/4_5_6/7_8_9', 'fir', 1.3, 1.15),
    ('fir:gaussian5', 'fir', 2.5, 1.15),
    ('box:radius=1', 'box', 1.3, 1.15),
    ('box:radius=4', 'box', 3, 2),
    ('box:radius=50', 'box', 3, 2),
    ('threshold:otsu', 'count_count', 1.5, None),
    ('resize:by=0.25', 'resize', 1.5, None),
    ('dwt:cdf97:levels=1,idwt', 'dwt', 4, 1.3),
    ('dwt:cdf53:levels=1,idwt', 'dwt', 4, 1.3),
    ('dwt:cdf97:levels=1,idwt', 'idwt', 4, 1.3),
    ('dwt:cdf53:levels=1,idwt', 'idwt', 4, 1.3),
]
LINE = re.compile(r'(?P<spills>\d+:\d+) spills:fills')


# ---- plans ----------------------------------------------------------------------------------------------------

def ask_plan(sluice, case, what):
    chain, sample_type, size, *more = case
    done = subprocess.run([sluice, 'plan', '--profile', 'mali', what, '-c', chain, '--type', sample_type, *more, size],
                          capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f'{chain}: {done.stderr}')
    return done.stdout


def split(source):
    """The prelude, and {name: text} of the kernels, and parts of kernels, behind it."""
    prelude, *kernels = source.split('\n#define KERNEL ')
    return prelude, {text.split('\n', 1)[0]: text for text in kernels}


def join_preludes(one, other):
    """The parts of both preludes, each once."""
    parts = dict.fromkeys(re.split('(?m)^(?=#line 1 )', one))
    return ''.join(parts | dict.fromkeys(re.split('(?m)^(?=#line 1 )', other)))


def programs_of(sources):
    """The programs put together, the prelude and each kernel once: a compiler takes longest to read the prelude, and
    takes several kernels at once. Kernels that share a name but not their text (numbers are written into it) stand in
    programs behind the others."""
    programs, clashing, first = [], [], {}
    for source in sources:
        prelude, kernels = split(source)
        clashes = any(first.setdefault(name, text) != text for name, text in kernels.items())
        group = clashing if clashes else programs
        new = {name: text for name, text in kernels.items() if all(p[1].get(name) != text for p in group)}
        fits = [p for p in group[-1:] if not p[1].keys() & new.keys() and len(p[1]) + len(new) < KERNELS_MAX]
        if new and fits:
            fits[0][0] = join_preludes(fits[0][0], prelude)
            fits[0][1].update(new)
        elif new:
            group.append([prelude, new])
    return ['\n#define KERNEL '.join([prelude, *kernels.values()]) for prelude, kernels in programs + clashing]


# ---- a compiler -----------------------------------------------------------------------------------------------

def compile_program(compiler, source, gpu):
    keep = os.environ.get('MALI_KEEP')
    kept = keep and os.path.join(keep, hashlib.sha256((gpu + source).encode()).hexdigest()[:16])
    if kept and os.path.exists(kept):
        with open(kept, encoding='utf-8') as file:
            return file.read()
    with tempfile.TemporaryDirectory(prefix='mali-') as folder:
        path = os.path.join(folder, 'kernels.cl')
        with open(path, 'w', encoding='utf-8') as file:
            file.write(source)
        done = subprocess.run([compiler, path, '--gpu', gpu], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f'{compiler}, {gpu}: {done.stdout[-2000:]}{done.stderr}')
    if kept:
        with open(kept, 'w', encoding='utf-8') as file:
            file.write(done.stdout)
    return done.stdout


def statistics_of(text):
    """{kernel: the compiler's line of figures}"""
    if 'SHADER-DB' in text:
        return {k.name: k.whole for k in mali_path.read_kernels(text)}
    return {line.split()[0]: line for line in text.splitlines() if LINE.search(line)}


def whole(statistics):
    """Spills and fills, threads, and the cycles of all instructions of a kernel, each once, whatever way they lie on."""
    cycles = re.search(r'([0-9.]+) cycles', statistics).group(1)
    threads = re.search(r'(\d) threads', statistics).group(1)
    return f'{LINE.search(statistics)["spills"]}, {threads}, {float(cycles):.2f}'


# ---- one work-item --------------------------------------------------------------------------------------------

MEMORY_APART = 1 << 34


RESIZED = 4  # source samples for each of the result, in each direction, in all cases that resize
RESIZE_TAPS = 6 * RESIZED  # of lanczos3, which is what resize takes for them


def address_of(memory):
    return (1 + sum(ord(c) * 131 ** k for k, c in enumerate(memory)) % 9973) * MEMORY_APART


def known_words(launch):
    """{address: word} of a table that loops depend on: that of resize says where each sum begins and how many samples
    it adds (cl/resize/resize_across.cl). Sums of pixels with alpha have two such parts."""
    args, words = launch['args'], {}
    table = next((i for i, arg in enumerate(args) if isinstance(arg, dict) and arg.get('memory', '').startswith('table')), None)
    if table is None or not launch['kernel'].startswith(('resize_across', 'resize_down', 'resize_wide', 'resize_pairs')):
        return {}
    begin = address_of(args[table]['memory'])
    for at, n in [args[table + 1:table + 3], args[table + 4:table + 6]][:2 if '_c4_' in launch['kernel'] else 1]:
        results = 2 if launch['kernel'].startswith('resize_pairs') else 1
        words.update((begin + 4 * (at + i), RESIZED * results * i) for i in range(n))
        if not launch['kernel'].startswith(('resize_wide', 'resize_pairs')):
            words.update((begin + 4 * (at + n + i), RESIZE_TAPS) for i in range(n))
    return words


def pack_arguments(launch, offsets):
    """A launch's argument memory, the grid's three first; each memory object has addresses of its own."""
    values = [('i', launch['grid'][0]), ('i', 0), ('i', launch['grid'][1])]
    for arg in launch['args']:
        if not isinstance(arg, dict):
            values.append(('i' if arg < 1 << 31 else 'I', arg))
        elif 'memory' in arg:
            values.append(('q', address_of(arg['memory'])))
            if 'stride' in arg:
                values += [('i', arg['offset']), ('i', arg['stride'])]
        else:
            kind, value = next(iter(arg.items()))
            values.append(({'float': 'f', 'double': 'd', 'long': 'q'}[kind], value))
    memory = bytearray(4096)
    for index, (kind, value) in enumerate(values):
        if index in offsets:  # the kernel uses it
            struct.pack_into('<' + kind, memory, offsets[index], value)
    return bytes(memory)


def run_item(kernel, launch, x, y):
    group = launch['group']
    place = [(x // group[0], y // group[1], 0), (x % group[0], y % group[1], 0)]
    arguments = pack_arguments(launch, kernel.offsets)
    return mali_path.WorkItem(kernel.body, arguments, (group[0], group[1], 1), *place, known_words(launch)).run()


def items_of(launch):
    return math.ceil(launch['grid'][0] / launch['span']), launch['grid'][1]


def interior_path(kernel, launch):
    """{unit: what a work-item in the grid's middle executes}"""
    width, height = items_of(launch)
    return kernel.path(run_item(kernel, launch, width // 2, height // 2))


def busiest(path):
    """Cycles of the unit that is busy longest, and that unit."""
    return max((count / mali_path.RATES[unit], unit) for unit, count in path.items())


def covered(intervals):
    total, end = 0, -1
    for begin, stop in sorted(intervals):
        total += max(0, stop - max(begin, end))
        end = max(end, stop)
    return total


def bytes_of_group(kernel, launch):
    """Bytes that a work-group in the middle loads or stores, each once, as if groups shared nothing. Its work-items
    lie side by side, so the first and the last of each row of them tell what those between touch."""
    width, height = items_of(launch)
    group = launch['group']
    first = [min(n // 2, max(n - g, 0)) // g * g for n, g in zip((width, height), group)]
    last = min(first[0] + group[0], width) - 1
    loaded = {'read': [], 'write': [], 'atomic': []}
    for y in range(first[1], min(first[1] + group[1], height)):
        a, b = (run_item(kernel, launch, x, y).accesses for x in (first[0], last))
        for (kind, begin, _), (_, end, size) in zip(a, b):
            loaded[kind].append((begin, end + size))
    items = (last + 1 - first[0]) * (min(first[1] + group[1], height) - first[1])
    return (covered(loaded['read']) + covered(loaded['write'])) / items


# ---- tables ---------------------------------------------------------------------------------------------------

class Counts:
    """What is known of each kernel: by its name, and by GPU."""

    def __init__(self, sluice, compiler, cases):
        self.plans = {case: json.loads(ask_plan(sluice, case, '--json')) for case in CASES}
        sources = {case: ask_plan(sluice, case, '--source') for case in cases}
        first, self.launches, self.by_text = {}, {}, {}  # the first chain that has a kernel is the one that is counted
        for case, plan in self.plans.items():
            for step in plan['steps']:
                for launch in step['passes']:
                    counted = first.setdefault(launch['kernel'], case) == case
                    if case not in cases:
                        continue
                    launch['text'] = split(sources[case])[1][launch['kernel']]
                    launch['samples'] = pixels_of(case) * plan['steps'][0]['out'][0]['channels']
                    if counted:
                        self.launches.setdefault(launch['kernel'], launch)
        programs = programs_of(sources.values())
        work = [(program, gpu) for program in programs for gpu in GPUS]
        with concurrent.futures.ThreadPoolExecutor(min(len(GPUS), os.cpu_count())) as pool:
            for (program, gpu), printed in zip(work, pool.map(lambda w: compile_program(compiler, *w), work)):
                texts = split(program)[1]
                for kernel in mali_path.read_kernels(printed):
                    self.by_text[texts[kernel.name], gpu] = kernel
        self.kernels = {name: {gpu: self.by_text[launch['text'], gpu] for gpu in GPUS}
                        for name, launch in self.launches.items()}
        self.units = {name: {gpu: self.path(launch, gpu) for gpu in GPUS} for name, launch in self.launches.items()}
        self.cycles = {name: {gpu: busiest(path) for gpu, path in of.items()} for name, of in self.units.items()}

    def path(self, launch, gpu):
        """{unit: what a work-item in the middle executes}; each launch has its own text and arguments."""
        if launch is not self.launches.get(launch['kernel']) or not hasattr(self, 'units'):
            return interior_path(self.by_text[launch['text'], gpu], launch)
        return self.units[launch['kernel']][gpu]

    def samples(self, name):
        """Of the picture, for each work-item."""
        launch = self.launches[name]
        width, height = items_of(launch)
        return launch['samples'] / (width * height)


def frame_bytes(frame):
    size = {'8': 1, '16': 2, '32': 4, '64': 8}
    return sum(p['width'] * p['height'] * p['channels'] * size[p['type'][1:]] for p in frame)


def pixels_of(case):
    width, height = case[2].split('x')[:2]
    return int(width) * int(height)


def passes_of(plan, which):
    """The passes that an aim is for, and the bytes that must move for them."""
    before = plan['in']
    for step in plan['steps']:
        named = [p for p in step['passes'] if p['kernel'].startswith(which)]
        if step['stage'] == which or named:
            passes = step['passes'] if step['stage'] == which else named
            return passes, frame_bytes(before) + frame_bytes(step['out'])
        before = step['out']
    raise KeyError(which)


def aim_rows(counts, cases):
    yield ('| chain | kernels of | aim | G52 | G57 | G610 | moved MB | must MB | times | work-groups load and store | aim | met |\n'
           '|---|---|---|---|---|---|---|---|---|---|---|---|')
    for chain, which, aim, bytes_aim in AIMS:
        case = next((c for c in cases if c[0] == chain and c[1] == 'u8' and len(c) == 3), None)
        if case is None:
            continue
        passes, must = passes_of(counts.plans[case], which)
        cells, met = [], True
        for gpu in GPUS:
            each = [busiest(counts.path(p, gpu)) for p in passes]
            cycles = sum(c * math.prod(items_of(p)) for (c, _), p in zip(each, passes))
            units = {unit for _, unit in each}
            cells.append(f'{cycles / pixels_of(case):.2f} {"+".join(sorted(units))}')
            met &= cycles / pixels_of(case) <= aim
        moved = sum(p['bytes_read'] + p['bytes_written'] for p in passes)
        if bytes_aim:
            met &= moved <= bytes_aim * must
            loaded = sum(bytes_of_group(counts.by_text[p['text'], 'g52'], p) * math.prod(items_of(p)) for p in passes)
        yield '| ' + ' | '.join([f'`{chain}`', which, f'≤ {aim:g}', *cells, f'{moved / 1e6:.1f}', f'{must / 1e6:.1f}',
                                 f'{moved / must:.2f}', f'{loaded / must:.2f}' if bytes_aim else '—',
                                 f'≤ {bytes_aim:g}' if bytes_aim else '—', 'yes' if met else 'no']) + ' |'


def kernel_rows(counts):
    yield ('| kernel | samples a work-item | G52 | inside | G57 | inside | G610 | inside |\n'
           '|---|---|---|---|---|---|---|---|')
    for name in sorted(counts.kernels):
        cells = []
        samples = counts.samples(name)
        for gpu in GPUS:
            cycles, unit = counts.cycles[name][gpu]
            cells += [whole(counts.kernels[name][gpu].whole), f'{cycles / samples:.2f} {unit}']
        yield '| ' + ' | '.join([f'`{name}`', f'{samples:.0f}'] + cells) + ' |'


def cost_rows(counts):
    """Cycles for each 1000 bytes that a pass moves, or of all of it where it moves none, by which plans of other sizes
    are told (src/chain/board.c)."""
    for name in sorted(counts.kernels):
        launch = counts.launches[name]
        thousands = (launch['bytes_read'] + launch['bytes_written']) / 1000 or 1
        gpus = []
        for gpu in GPUS:
            units = counts.units[name][gpu].items()
            gpus.append('{' + ', '.join(f'{n / mali_path.RATES[u] * math.prod(items_of(launch)) / thousands:.4g}'
                                        for u, n in units) + '}')
        yield f'    {{"{name}", {{{", ".join(gpus)}}}}},'


def merged(old, new, key, order):
    """Rows by their keys, the new ones in place of old ones."""
    rows = {key(row): row for row in [*old, *new]}
    return [rows[k] for k in sorted(rows, key=order)]


def write_header(counts, keep):
    with open(HEADER, encoding='utf-8') as file:
        lines = file.read().splitlines()
    begin = next(i for i, line in enumerate(lines) if line.startswith('    {'))
    rows = merged(lines[begin:] if keep else [], cost_rows(counts), lambda row: row.split('"')[1], str)
    with open(HEADER, 'w', encoding='utf-8') as file:
        file.write('\n'.join(lines[:begin] + rows) + '\n')


def place_of_aim(key):
    return next((i for i, (chain, which, *_) in enumerate(AIMS) if key == (f'`{chain}`', which)), len(AIMS))


def write_page(tables, keep):
    keys = {'chains': (lambda row: tuple(c.strip() for c in row.split('|')[1:3]), place_of_aim),
            'kernels': (lambda row: row.split('|')[1].strip(), str)}
    with open(PAGE, encoding='utf-8') as file:
        page = file.read()
    for name, (title, *rows) in tables.items():
        part = re.compile(rf'(<!-- {name} -->\n)(.*?)(<!-- end -->)', flags=re.S)
        old = part.search(page)[2].splitlines()[2:] if keep else []
        text = '\n'.join([title, *merged(old, rows, *keys[name])]) + '\n'
        page = part.sub(lambda m, text=text: m[1] + text + m[3], page)
    with open(PAGE, 'w', encoding='utf-8') as file:
        file.write(page)


def check(sluice, compiler):
    with open(PAGE, encoding='utf-8') as file:
        page = file.read()
    wrong = []
    program, = programs_of(ask_plan(sluice, case, '--source') for case in CASES[:CHECKED])
    for at, gpu in enumerate(GPUS):
        for kernel, line in statistics_of(compile_program(compiler, program, gpu)).items():
            stands = next((row for row in page.splitlines() if row.startswith(f'| `{kernel}`')), '')
            columns = [c.strip() for c in stands.split('|')] + [''] * 9
            cell = whole(line)
            if columns[3 + 2 * at] != cell:
                wrong.append(f'{kernel} on {gpu}: {cell}\n  docs/mali.md has: {stands or "nothing"}')
            if not cell.startswith('0:0'):
                wrong.append(f'{kernel} spills on {gpu}')
    if wrong:
        sys.exit('\n'.join(wrong))


def main():
    sluice, compiler, *more = sys.argv[1:]
    compiler = os.environ.get('SLUICE_MALI_COMPILER', '') if compiler == '-' else compiler
    if not compiler or not os.access(compiler, os.X_OK):
        print('no Mali compiler: SLUICE_MALI_COMPILER names none')
        sys.exit(77)
    if '--check' in more:
        check(sluice, compiler)
        return
    words = [w for w in more if w != '--write']
    cases = [case for case in CASES if not words or any(word in ' '.join(case) for word in words)]
    counts = Counts(sluice, compiler, cases)
    tables = {'chains': list(aim_rows(counts, cases)), 'kernels': list(kernel_rows(counts))}
    if '--write' in more:
        write_page(tables, keep=bool(words))
        write_header(counts, keep=bool(words))
    else:
        print('\n\n'.join('\n'.join(rows) for rows in tables.values()))


if __name__ == '__main__':
    main()
