#!/usr/bin/env python3
"""What a Mali compiler makes of the kernels for GPUs: docs/mali.md's tables, and src/chain/board_costs.h.

    mali_table.py SLUICE COMPILER            counts the kernels that have changed since, or are new, and writes both
    mali_table.py SLUICE COMPILER WORD ...   only those of chains that hold such a WORD (sobel, "gauss:sigma=1.5")
    mali_table.py SLUICE COMPILER --check    compares a few rows of the page with what is compiled now
    mali_table.py SLUICE - --list            says which kernels have changed or are new, and fails if there are any

--jobs N compiles and counts N programs' kernels at once, without it as many as there are processors.

The kernels are those of all chains of one stage (tests/mali_cases.py) and of a few more (MORE). A row of the header
ends with a hash of what the kernel's text is to a compiler (Clang's preprocessor tells it) and of how it is launched, by
which the next run knows what it need not count.

COMPILER is called as `COMPILER FILE.cl ... --gpu g52` (g57, g610), and prints what Mesa's Panfrost does under
BIFROST_MESA_DEBUG=shaders,shaderdb, and "FILE FILE.cl" behind each file; tests/mali_compile.sh is one. --check is
content with one that takes one file, and prints for each kernel a line with "N threads", "N ldst" or "N ls" and
"S:F spills:fills". It may be given as the environment's SLUICE_MALI_COMPILER, and "-" here: without one, --check says
so and exits with 77, which meson takes as skipped."""
import concurrent.futures
import hashlib
import itertools
import math
import os
import re
import struct
import subprocess
import sys
import tempfile

import mali_cases
import mali_path

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..')
PAGE, HEADER = os.path.join(ROOT, 'docs', 'mali.md'), os.path.join(ROOT, 'src', 'chain', 'board_costs.h')
GPUS = ('g52', 'g57', 'g610')
SIZE = f'{mali_cases.WIDTH}x{mali_cases.HEIGHT}'
# Chain, sample type, size and what else `plan` is told, beside the chains of one stage.
MORE = [
    ('dwt:cdf97:levels=1,idwt', 'u8', SIZE),
    ('dwt:cdf53:levels=1,idwt', 'u8', SIZE),
    ('fir:1_2_3/4_5_6/7_8_9', 'u8', SIZE),
    ('dwt:cdf53:levels=1,idwt', 'i32', SIZE),
    ('dwt:db4:levels=2:stationary=1,idwt', 'u8', SIZE),
    ('dwt:db4:levels=2:stationary=1,idwt', 'f32', SIZE),
    ('dwt:db4:levels=2:axis=x,idwt', 'u8', SIZE),
    ('dwt:db4:levels=2:axis=y,idwt', 'u8', SIZE),
    ('dwt:db4:levels=1:mode=smooth', 'u8', SIZE),
    ('dwt:db4:levels=1,shrink:soft:threshold=bayes,idwt', 'u8', SIZE),
    ('dwt:db4:levels=1,shrink:soft:threshold=bayes,idwt', 'f32', SIZE),
    ('dwt:db4:levels=1,shrink:soft:threshold=sure,idwt', 'f32', SIZE),
    *(('fir:' + '/'.join(['_'.join('123454321')] * 9), *kind) for kind in (
        ('u8', SIZE), ('u8', SIZE + 'x3'), ('u8', SIZE + 'x4'), ('u16', SIZE))),
    ('box:width=3_9', 'u8', SIZE),
    ('box:width=3_9', 'f32', SIZE),
    ('sobel,threshold:100', 'u8', SIZE),
    ('fir:gaussian3,invert', 'u8', SIZE),
    ('luminance,threshold:100', 'u8', SIZE + 'x3'),
    ('convert:type=f32,fir:sample', 'u8', SIZE),
    ('convert:type=f32,fir:sample', 'u8', SIZE + 'x3'),
    ('luminance,convert:type=f32,fir:sample', 'u8', SIZE + 'x3'),
    ('luminance,convert:type=f32,fir:sample', 'u8', SIZE + 'x4'),
    ('luminance,fir:gaussian5', 'u8', SIZE + 'x3'),
    ('luminance,sobel', 'u8', SIZE + 'x3'),
    ('luminance,median', 'u8', SIZE + 'x3'),
    ('luminance,erode:3', 'u8', SIZE + 'x3'),
    ('sobel:border=crop', 'u8', SIZE),
    ('fir:gaussian3', 'u8', SIZE, '--generic'),
    ('fir:gaussian3', 'u8', SIZE + 'x3', '--generic'),
    ('fir:gaussian3', 'u16', SIZE, '--generic'),
    ('fir:gaussian3', 'f32', SIZE, '--generic'),
    ('fir:70000_1_1:divisor=3', 'u16', SIZE, '--generic'),
    ('box:width=9', 'u8', SIZE, '--generic'),
    ('gain:1.5', 'u8', SIZE, '--generic'),
    ('gain:1.5', 'i32', SIZE, '--generic'),
]
CHECKED = [('invert', 'u8', SIZE), ('sobel', 'u8', SIZE)]
POINTS_MAX = 5  # of a kernel, at which it is counted
FILES_MAX = 8  # that a compiler is given at once
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
PART = re.compile(r'_f\d+$')  # the name of a part of another kernel
WORD = re.compile(r'\w+|[^\w\s]')


# ---- a compiler -----------------------------------------------------------------------------------------------

def compile_programs(compiler, sources, gpu):
    """What the compiler prints of each program."""
    with tempfile.TemporaryDirectory(prefix='mali-') as folder:
        paths = [os.path.join(folder, f'{i}.cl') for i in range(len(sources))]
        for path, source in zip(paths, sources):
            with open(path, 'w', encoding='utf-8') as file:
                file.write(source)
        done = subprocess.run([compiler, *paths, '--gpu', gpu], capture_output=True, text=True)
    printed = re.split(r'(?m)^FILE .*\n', done.stdout)
    fell = len(printed) - 1  # at that program, or nowhere
    if done.returncode == 0 or fell >= len(sources):
        return printed[:len(sources)]
    if 'SHADER-DB' not in printed[fell] and fell > 0:  # perhaps only because they are so many
        return printed[:fell] + compile_programs(compiler, sources[fell:], gpu)
    printed[fell] += done.stderr  # it may have told what there is to tell
    rest = sources[fell + 1:]
    return printed + (compile_programs(compiler, rest, gpu) if rest else [])


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


RESIZED = 4  # about how many source samples there are for each of the result
RESIZE_OTHER = 6  # what a sum's work is beside its samples (src/stage/resize/resize_passes.c)


def address_of(memory):
    return (1 + sum(ord(c) * 131 ** k for k, c in enumerate(memory)) % 9973) * MEMORY_APART


def known_words(launch):
    """{address: word} of memory that branches and loops depend on."""
    kernel, args = launch['kernel'], launch['args']
    memories = {arg['memory'].rstrip('0123456789'): at for at, arg in reversed(list(enumerate(args)))
                if isinstance(arg, dict) and 'memory' in arg}
    if kernel.startswith('count_') and 'scratch' in memories:
        return words_of_count(args[memories['scratch']], kernel)
    if kernel.startswith(('resize_across', 'resize_down', 'resize_wide', 'resize_pairs')):
        return words_of_resize(args[memories['table']:], kernel, launch['work'])
    if kernel.startswith('shrink_'):
        return words_of_shrink(args[memories['table']:], kernel)
    if kernel.startswith('warp_'):
        return Places(args[memories['table']:], args[memories['in']]['memory'])
    if kernel.startswith(('canny_join', 'canny_mark', 'canny_show')):
        return Zeros()
    return {}


class Zeros(dict):
    """Of pixels that are no edges (cl/canny.cl), as most are."""

    def get(self, address, default=None):
        return 0


def words_of_count(state, kernel):
    """The least and the most of all samples (cl/bins.cl)."""
    most = 0x3f800000 if '_f32_' in kernel else 0xffff if '_u16_' in kernel else 0xff
    begin = address_of(state['memory'])
    return {begin + 4: 0, begin + 8: most}


def words_of_resize(args, kernel, work):
    """Where each sum begins, and how many samples it adds (cl/resize/resize_across.cl), which is here what the plan takes
    it for: that of lanczos3. Sums have two such parts, of which one may be empty."""
    words, begin = {}, address_of(args[0]['memory'])
    pixel = re.search(r'_c([1-4])', kernel)
    whole_pixels = pixel and (kernel.startswith('resize_across') or '_c4_' in kernel)
    samples = round(work / (int(pixel[1]) if whole_pixels else 1)) - RESIZE_OTHER
    steps = kernel.startswith(('resize_wide', 'resize_pairs'))
    for at, n in [args[1:3]] if steps else [args[1:3], args[4:6]]:
        results = 2 if kernel.startswith('resize_pairs') else 1
        words.update((begin + 4 * (at + i), RESIZED * results * i) for i in range(n))
        if not steps:
            words.update((begin + 4 * (at + n + i), samples) for i in range(n))
    return words


def words_of_shrink(args, kernel):
    """The places of planes that are all alike (cl/dwt/shrink.cl): as high as a level's bands of the picture, in columns of
    32 rows, which 16 parts share."""
    words, begin, n = {}, address_of(args[0]['memory']), args[2]
    bands, height = mali_cases.HEIGHT // 2 // 32, mali_cases.HEIGHT // 2
    width = mali_cases.WIDTH // 2 * (3 if '_c3_' in kernel else 1)
    for i in range(n):
        place = (0, width, width, height, bands * i, 1 + 32 * i, 16, 0,
                 height * (i + 1), 0, width, 4 * i, bands * (i + 1), 0, 4 * n, 1)
        words.update((begin + 4 * (16 * (args[1] + i) + k), word) for k, word in enumerate(place))
    return words


class Places(dict):
    """The nodes of a picture that stays where it is (cl/warp/warp.cl), whose samples are all alike, since alpha that
    differs is seldom."""

    def __init__(self, args, picture):
        super().__init__()
        self.nodes, self.columns, self.shift = address_of(args[0]['memory']) + 4 * (args[1] + 4), args[2], args[3]
        self.picture = address_of(picture)

    def get(self, address, default=None):
        if self.picture <= address < self.picture + MEMORY_APART // 2:
            return 0
        if not self.nodes <= address < self.nodes + MEMORY_APART // 2:
            return default
        node, way = divmod((address - self.nodes) // 4, 2)
        return divmod(node, self.columns + 1)[1 - way] << 8 + self.shift


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


# ---- what is counted ------------------------------------------------------------------------------------------

class Launch:
    """A pass of a case's plan, and the program of its kernel."""

    def __init__(self, case, plan, launch):
        self.case, self.launch = case, launch
        self.name = launch['kernel']
        self.work = launch['work'] * min(launch['span'], launch['grid'][0])  # of a work-item, as src/chain/board.c has it
        self.samples = math.prod(int(n) for n in case[2].split('x')[:2]) * plan['steps'][0]['out'][0]['channels']
        self.program = self.hash = None

    def read_program(self, planner):
        """The kernel's text, with the prelude and the parts of kernels that it may call before it."""
        prelude, *kernels = planner.ask(self.case, '--source').split('\n#define KERNEL ')
        kept = [text for text in kernels if text.split('\n', 1)[0] == self.name or PART.search(text.split('\n', 1)[0])]
        self.program = '\n#define KERNEL '.join([prelude, *kept])
        known = sorted(known_words(self.launch).items()) or ''
        code = what_is_compiled(self.program, self.name)
        self.hash = hashlib.sha256(f'{code}{self.launch}{known}'.encode()).hexdigest()[:12]
        return self


def what_is_compiled(program, kernel):
    """A program's words after its preprocessor, of what the kernel uses: what else stands in the text, and where, does not
    matter."""
    done = subprocess.run(['clang', '-x', 'cl', '-cl-std=CL1.2', '-E', '-P', '-'], input=program, capture_output=True, text=True, check=True)
    of_names = {}
    for item in items_of_text(re.sub(r'(?m)^\s*#pragma OPENCL.*$', '', done.stdout)):
        of_names.setdefault(name_of(item), []).append(' '.join(WORD.findall(item)))
    used, found = {kernel}, []
    while used:
        items = of_names.pop(used.pop(), [])
        found += items
        used |= {word for item in items for word in re.findall(r'[A-Za-z_]\w*', item) if word in of_names}
    return '\n'.join(sorted(found + of_names.get('', [])))


def items_of_text(text):
    """Functions with their bodies, and other declarations."""
    begin = depth = 0
    for found in re.finditer(r'[{};]', text):
        depth += {'{': 1, '}': -1}.get(found[0], 0)
        is_function = re.match(r'[^{;]*\(', text[begin:found.end()]) and '=' not in text[begin:found.end()].split('{')[0]
        if depth == 0 and (found[0] == ';' or found[0] == '}' and is_function):
            yield text[begin:found.end()]
            begin = found.end()


def name_of(item):
    """What an item declares; '' where that is not plain."""
    head = re.sub(r'__attribute__\s*\(\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)\)', '', item)
    for form in r'\s*struct (\w+)\s*\{', r'\s*typedef [^;]*?(\w+)\s*;', r'[^{(=]*?(\w+)\s*(?:\[[^\]]*\]\s*)*=', r'[^{(=]*?(\w+)\s*\(':
        found = re.match(form, head, flags=re.S)
        if found:
            return found[1]
    return ''


def launches_of(planner, cases):
    for case in cases:
        plan = planner.ask(case)
        for step in plan['steps'] if plan else ():
            for launch in step['passes']:
                yield Launch(case, plan, launch)


def points_of(launches):
    """{kernel: launches}, each with other work for a work-item. The first chain that has a kernel comes first; of many
    the least, the most, and some between remain."""
    found = {}
    for launch in launches:
        found.setdefault(launch.name, {}).setdefault(launch.work, launch)
    for name, of in found.items():
        if len(of) > POINTS_MAX:
            first, works = next(iter(of)), sorted(of)
            kept = {works[round(i * (len(works) - 1) / (POINTS_MAX - 2))] for i in range(POINTS_MAX - 1)}
            found[name] = {work: launch for work, launch in of.items() if work == first or work in kept}
    return {name: list(of.values()) for name, of in found.items()}


class Counted:
    """A launch, once it is counted: the kernel, and what a work-item in the middle executes, by GPU."""

    def __init__(self, launch, kernels):
        self.launch, self.kernels = launch, kernels
        self.paths = {gpu: interior_path(kernels[gpu], launch.launch) for gpu in GPUS}
        self.samples = launch.samples / math.prod(items_of(launch.launch))

    def cell(self, gpu):
        cycles, unit = busiest(self.paths[gpu])
        return f'{cycles / self.samples:.2f} {unit}'

    def page_row(self):
        cells = [cell for gpu in GPUS for cell in (whole(self.kernels[gpu].whole), self.cell(gpu))]
        return '| ' + ' | '.join([f'`{self.launch.name}`', f'{self.samples:.0f}'] + cells) + ' |'

    def header_row(self):
        gpus = ', '.join('{' + ', '.join(f'{n / mali_path.RATES[u]:.4g}' for u, n in self.paths[gpu].items()) + '}'
                         for gpu in GPUS)
        return f'    {{"{self.launch.name}", {self.launch.work:.9g}, {{{gpus}}}}}, /* {self.launch.hash} */'


def count_some(compiler, launches):
    """Of each launch: Counted, or why it cannot be counted."""
    programs = list(dict.fromkeys(launch.program for launch in launches))
    printed = dict(zip(programs, zip(*(compile_programs(compiler, programs, gpu) for gpu in GPUS))))
    found = []
    for launch in launches:
        texts = dict(zip(GPUS, printed[launch.program]))
        try:
            kernels = {gpu: {k.name: k for k in mali_path.read_kernels(text)}[launch.name] for gpu, text in texts.items()}
            found.append(Counted(launch, kernels))
        except (mali_path.Unknown, ValueError, KeyError, TypeError) as why:
            refused = [text for text in texts.values() if 'SHADER-DB' not in text]
            found.append(f'{type(why).__name__}: {why}' + (f'; {compiler} printed: {refused[0][-500:]}' if refused else ''))
    return found


def count(compiler, launches, jobs):
    """Yields (launch, Counted, or why it cannot be counted), in their order but for those of one program, which come
    together. `jobs`: how many are compiled and counted at once."""
    of_programs = {}
    for launch in launches:
        of_programs.setdefault(launch.program, []).append(launch)
    several = list(of_programs.values())
    chunks = [sum(several[at:at + FILES_MAX], []) for at in range(0, len(several), FILES_MAX)]
    with concurrent.futures.ProcessPoolExecutor(jobs) as pool:
        for chunk, found in zip(chunks, pool.map(count_some, itertools.repeat(compiler), chunks)):
            yield from zip(chunk, found)


# ---- tables ---------------------------------------------------------------------------------------------------

class Header:
    """src/chain/board_costs.h: {(kernel, work): row}"""

    def __init__(self):
        with open(HEADER, encoding='utf-8') as file:
            lines = file.read().splitlines()
        begin = next(i for i, line in enumerate(lines) if line.startswith('    {'))
        self.head = lines[:begin]
        self.rows = {self.key(row): row for row in lines[begin:]}

    @staticmethod
    def key(row):
        name, work = re.match(r'    \{"(\w+)", ([-+.e0-9]+),', row).groups()
        return name, float(work)

    def knows(self, launch):
        row = self.rows.get((launch.name, float(f'{launch.work:.9g}')), '')
        return row.endswith(f'/* {launch.hash} */')

    def write(self):
        with open(HEADER, 'w', encoding='utf-8') as file:
            file.write('\n'.join(self.head + [self.rows[key] for key in sorted(self.rows)]) + '\n')


class Page:
    """docs/mali.md: its tables' rows, by what stands in their first columns"""
    KEYS = {'chains': 2, 'kernels': 1}

    def __init__(self):
        with open(PAGE, encoding='utf-8') as file:
            self.text = file.read()
        self.rows = {name: {self.key(name, row): row for row in self.part(name).search(self.text)[2].splitlines()}
                     for name in self.KEYS}

    @staticmethod
    def part(name):
        return re.compile(rf'(<!-- {name} -->\n(?:[^\n]*\n){{2}})(.*?)(<!-- end -->)', flags=re.S)

    def key(self, name, row):
        return tuple(cell.strip() for cell in row.split('|')[1:1 + self.KEYS[name]])

    def add(self, name, row):
        self.rows[name][self.key(name, row)] = row

    def write(self):
        aims = [(f'`{chain}`', which) for chain, which, *_ in AIMS]
        orders = {'chains': lambda key: aims.index(key) if key in aims else -1, 'kernels': str}
        for name, rows in self.rows.items():
            text = ''.join(rows[key] + '\n' for key in sorted(rows, key=orders[name]))
            self.text = self.part(name).sub(lambda m, text=text: m[1] + text + m[3], self.text)
        with open(PAGE, 'w', encoding='utf-8') as file:
            file.write(self.text)


def frame_bytes(frame):
    size = {'8': 1, '16': 2, '32': 4, '64': 8}
    return sum(p['width'] * p['height'] * p['channels'] * size[p['type'][1:]] for p in frame)


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


def aim_row(aim, plan, counted):
    """`counted`: {kernel: Counted} of the aim's chain"""
    chain, which, cycles_aim, bytes_aim = aim
    passes, must = passes_of(plan, which)
    cells, met = [], True
    for gpu in GPUS:
        each = [busiest(counted[p['kernel']].paths[gpu]) for p in passes]
        cycles = sum(c * math.prod(items_of(p)) for (c, _), p in zip(each, passes)) / math.prod(map(int, SIZE.split('x')))
        units = {unit for _, unit in each}
        cells.append(f'{cycles:.2f} {"+".join(sorted(units))}')
        met &= cycles <= cycles_aim
    moved = sum(p['bytes_read'] + p['bytes_written'] for p in passes)
    loaded = '—'
    if bytes_aim:
        met &= moved <= bytes_aim * must
        of_groups = [bytes_of_group(counted[p['kernel']].kernels['g52'], p) * math.prod(items_of(p)) for p in passes]
        loaded = f'{sum(of_groups) / must:.2f}'
    return '| ' + ' | '.join([f'`{chain}`', which, f'≤ {cycles_aim:g}', *cells, f'{moved / 1e6:.1f}', f'{must / 1e6:.1f}',
                              f'{moved / must:.2f}', loaded, f'≤ {bytes_aim:g}' if bytes_aim else '—',
                              'yes' if met else 'no']) + ' |'


def aim_case(aim):
    return aim[0], 'u8', SIZE + ('x3' if aim[1] == 'luminance' else '')


def count_aims(planner, compiler, jobs, page, fresh):
    """Rows of the aims' chains that have a kernel that was counted now."""
    aims = [aim for aim in AIMS if any(p['kernel'] in fresh for p in passes_of(planner.ask(aim_case(aim)), aim[1])[0])]
    launches = {aim: {launch.name: launch.read_program(planner) for launch in launches_of(planner, [aim_case(aim)])}
                for aim in aims}
    counted = dict(count(compiler, [launch for of in launches.values() for launch in of.values()], jobs))
    for aim, of in launches.items():
        page.add('chains', aim_row(aim, planner.ask(aim_case(aim)), {name: counted[launch] for name, launch in of.items()}))


def check(planner, compiler):
    with open(PAGE, encoding='utf-8') as file:
        page = file.read()
    wrong = []
    for at, gpu in enumerate(GPUS):
        for case in CHECKED:
            printed, = compile_programs(compiler, [planner.ask(case, '--source')], gpu)
            for kernel, line in statistics_of(printed).items():
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
    jobs = os.cpu_count()
    if '--jobs' in more:
        at = more.index('--jobs')
        jobs = int(more[at + 1])
        del more[at:at + 2]
    planner = mali_cases.Planner(sluice)
    compiler = os.environ.get('SLUICE_MALI_COMPILER', '') if compiler == '-' else compiler
    if '--list' not in more and not os.access(compiler, os.X_OK):
        print('no Mali compiler: SLUICE_MALI_COMPILER names none')
        sys.exit(77)
    if '--check' in more:
        check(planner, compiler)
        return
    words = [word for word in more if word != '--list']
    stages = mali_cases.Stages(planner)
    cases = [*map(aim_case, AIMS), *stages.simplest_cases(), *MORE, *stages.all_cases()]
    points = points_of(launches_of(planner, cases))
    header, page = Header(), Page()
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        wanted = [one for one in itertools.chain(*points.values()) if not words or any(w in ' '.join(one.case) for w in words)]
        stale = [one for one in pool.map(lambda launch: launch.read_program(planner), wanted) if not header.knows(one)]
    stale.sort(key=lambda launch: cases.index(launch.case))
    if '--list' in more:
        sys.exit(''.join(f'{launch.name} {launch.work:g}: {" ".join(launch.case)}\n' for launch in stale)[:-1] or 0)
    failed = []
    for at, (launch, counted) in enumerate(count(compiler, stale, jobs)):
        if isinstance(counted, str):
            failed.append(f'{launch.name}, {" ".join(launch.case)}: {counted}')
        else:
            header.rows[header.key(counted.header_row())] = counted.header_row()
        if launch is points[launch.name][0] and not isinstance(counted, str):
            page.add('kernels', counted.page_row())
        if at % FILES_MAX == 0:
            header.write()
            page.write()
            print(f'{at + 1} of {len(stale)}', flush=True)
    count_aims(planner, compiler, jobs, page, {launch.name for launch in stale})
    kept = {(launch.name, float(f'{launch.work:.9g}')) for launch in itertools.chain(*points.values())}
    header.rows = {key: row for key, row in header.rows.items() if key in kept}
    page.rows['kernels'] = {key: row for key, row in page.rows['kernels'].items() if key[0].strip('`') in points}
    header.write()
    page.write()
    sys.exit('\n'.join(failed) or 0)


if __name__ == '__main__':
    main()
