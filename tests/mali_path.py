"""What one work-item executes on a Mali, from what Mesa's compiler prints of a kernel.

With BIFROST_MESA_DEBUG=shaders the compiler prints each kernel twice: as NIR, its portable form (statements with
named values, `if` and `loop`), and as blocks of machine instructions. Both have the same blocks with the same
numbers. Here the NIR of a work-item is run, with the kernel's real arguments and the work-item's place in the
grid, to learn how often each block is entered and which bytes are read and written. The instructions of these
blocks are then counted, by the unit that executes them.

Memory holds made-up samples: what a kernel loads is a hash of the address, so that runs of equal samples do not
occur. An operation that is not known here gives an unknown value, which is an error only where a branch or an
address depends on it."""
import re
import struct

# Instructions of one work-item that a core executes a cycle, by unit, as the compiler's own statistics count
# them (bifrost_compile.c of Mesa 25: va_print_stats and bi_print_stats). A Bifrost tuple is a pair of arithmetic
# instructions.
RATES = {'fma': 64, 'cvt': 64, 'sfu': 16, 'ls': 1, 'arith': 24}
BIFROST, VALHALL = ('arith', 'ls'), ('fma', 'cvt', 'sfu', 'ls')

VALHALL_SFU = re.compile(r'(POPCOUNT|BITREV|NOT_OLD|FRCP|FRSQ|FLOGD|FPCLASS|FLOG_TABLE|FSIN|FCOS|FEXP|FATAN|IMUL|'
                         r'CLPER|[LRA]+SHIFT_(AND|OR|XOR)|MUX|CUBE)')
VALHALL_FMA = re.compile(r'(FADD|LDEXP|FMA(?!X)|IDP)')
MEMORY = re.compile(r'(LOAD|STORE|ATOM|ACMPXCHG|AXCHG|LD_|ST_|LEA_)')
TURNS_MAX = 1 << 17  # of a loop: no loop over the values of 16 bits takes as many
NOT_COUNTED = re.compile(r'(BARRIER|BLEND|ATEST|ZS_EMIT)')


class Unknown(Exception):
    """A branch or an address depends on an operation that is not known here."""


# ---- machine instructions -------------------------------------------------------------------------------------

def valhall_words(line):
    """An operation of 64 bits counts twice."""
    return 2 if 'SEG_ADD' in line else 1


def count_valhall(lines):
    cost = dict.fromkeys(VALHALL, 0)
    for line in lines:
        operation = line.split(' = ', 1)[-1].split()[0]
        if MEMORY.match(operation):
            cost['ls'] += 1
        elif NOT_COUNTED.match(operation):
            continue
        elif VALHALL_SFU.match(operation):
            cost['sfu'] += valhall_words(line)
        elif VALHALL_FMA.match(operation):
            cost['fma'] += valhall_words(line)
        else:
            cost['cvt'] += valhall_words(line)
    return cost


def count_bifrost(lines):
    cost = dict.fromkeys(BIFROST, 0)
    fma = False
    for line in lines:
        slot, text = line[0], line[1:].strip()
        operation = text.split(' = ', 1)[-1].split()[0]
        if slot == '*':
            fma = operation != 'NOP'
        elif MEMORY.match(operation) or NOT_COUNTED.match(operation):
            cost['arith'] += fma
            cost['ls'] += bool(MEMORY.match(operation))
        else:
            cost['arith'] += 1
    return cost


def read_blocks(text):
    """Of the last of the compiler's listings in `text`: {block: (instructions' lines, successors)}"""
    blocks, current = {}, None
    for line in text.splitlines():
        begin = re.match(r'block(\d+) \{$', line)
        if begin:
            current = int(begin.group(1))
            blocks[current] = ([], [])
        elif current is not None and line.startswith('}'):
            after = line.split(' from')[0]
            blocks[current][1].extend(int(b) for b in re.findall(r'block(\d+)', after))
            current = None
        elif current is not None and re.match(r'\t[*+] |   \S', line):
            blocks[current][0].append(line.strip())
    return blocks


# ---- NIR ------------------------------------------------------------------------------------------------------

def signed(v, bits):
    return v - (1 << bits) if v >> (bits - 1) & 1 else v


def as_float(v, bits):
    return struct.unpack('<e' if bits == 16 else '<f' if bits == 32 else '<d',
                         v.to_bytes(bits // 8, 'little'))[0]


def float_bits(v, bits):
    try:
        return int.from_bytes(struct.pack('<e' if bits == 16 else '<f' if bits == 32 else '<d', v), 'little')
    except OverflowError:
        return float_bits(float('inf') if v > 0 else float('-inf'), bits)


def true(v, bits):
    return (1 << bits) - 1 if v else 0


def to_int(v, low, high):
    return low if v != v else int(min(max(v, low), high))


# Of values without a sign and how many bits they and the result have: f(a, b, …, bits, result's bits).
OPERATIONS = {
    'iadd': lambda a, b, n, r: a + b,
    'isub': lambda a, b, n, r: a - b,
    'imul': lambda a, b, n, r: a * b,
    'ineg': lambda a, n, r: -a,
    'inot': lambda a, n, r: ~a,
    'iand': lambda a, b, n, r: a & b,
    'ior': lambda a, b, n, r: a | b,
    'ixor': lambda a, b, n, r: a ^ b,
    'ishl': lambda a, b, n, r: a << (b & (n - 1)),
    'ushr': lambda a, b, n, r: a >> (b & (n - 1)),
    'ishr': lambda a, b, n, r: signed(a, n) >> (b & (n - 1)),
    'iabs': lambda a, n, r: abs(signed(a, n)),
    'imin': lambda a, b, n, r: min(signed(a, n), signed(b, n)),
    'imax': lambda a, b, n, r: max(signed(a, n), signed(b, n)),
    'umin': lambda a, b, n, r: min(a, b),
    'umax': lambda a, b, n, r: max(a, b),
    'umul_high': lambda a, b, n, r: a * b >> n,
    'imul_high': lambda a, b, n, r: signed(a, n) * signed(b, n) >> n,
    'udiv': lambda a, b, n, r: a // b if b else 0,
    'umod': lambda a, b, n, r: a % b if b else 0,
    'idiv': lambda a, b, n, r: int(signed(a, n) / signed(b, n)) if b else 0,
    'irem': lambda a, b, n, r: signed(a, n) - signed(b, n) * int(signed(a, n) / signed(b, n)) if b else 0,
    'ult': lambda a, b, n, r: true(a < b, r),
    'uge': lambda a, b, n, r: true(a >= b, r),
    'ilt': lambda a, b, n, r: true(signed(a, n) < signed(b, n), r),
    'ige': lambda a, b, n, r: true(signed(a, n) >= signed(b, n), r),
    'ieq': lambda a, b, n, r: true(a == b, r),
    'ine': lambda a, b, n, r: true(a != b, r),
    'flt': lambda a, b, n, r: true(as_float(a, n) < as_float(b, n), r),
    'fge': lambda a, b, n, r: true(as_float(a, n) >= as_float(b, n), r),
    'feq': lambda a, b, n, r: true(as_float(a, n) == as_float(b, n), r),
    'fneu': lambda a, b, n, r: true(as_float(a, n) != as_float(b, n), r),
    'b2i': lambda a, n, r: 1 if a else 0,
    'u2u': lambda a, n, r: a,
    'i2i': lambda a, n, r: signed(a, n),
    'mov': lambda a, n, r: a,
    'pack_64_2x32_split': lambda a, b, n, r: a | b << 32,
    'pack_32_2x16_split': lambda a, b, n, r: a | b << 16,
    'unpack_64_2x32_split_x': lambda a, n, r: a,
    'unpack_64_2x32_split_y': lambda a, n, r: a >> 32,
    'unpack_32_2x16_split_x': lambda a, n, r: a,
    'unpack_32_2x16_split_y': lambda a, n, r: a >> 16,
    'extract_u8': lambda a, i, n, r: a >> 8 * i & 255,
    'extract_i8': lambda a, i, n, r: signed(a >> 8 * i & 255, 8),
    'extract_u16': lambda a, i, n, r: a >> 16 * i & 65535,
    'extract_i16': lambda a, i, n, r: signed(a >> 16 * i & 65535, 16),
    'insert_u8': lambda a, i, n, r: (a & 255) << 8 * i,
    'insert_u16': lambda a, i, n, r: (a & 65535) << 16 * i,
    'u2f': lambda a, n, r: float_bits(float(a), r),
    'i2f': lambda a, n, r: float_bits(float(signed(a, n)), r),
    'f2i': lambda a, n, r: to_int(as_float(a, n), -(1 << (r - 1)), (1 << (r - 1)) - 1),
    'f2u': lambda a, n, r: to_int(as_float(a, n), 0, (1 << r) - 1),
    'fadd': lambda a, b, n, r: float_bits(as_float(a, n) + as_float(b, n), r),
    'fmul': lambda a, b, n, r: float_bits(as_float(a, n) * as_float(b, n), r),
    'fmin': lambda a, b, n, r: float_bits(min(as_float(a, n), as_float(b, n)), r),
    'fmax': lambda a, b, n, r: float_bits(max(as_float(a, n), as_float(b, n)), r),
    'fabs': lambda a, n, r: float_bits(abs(as_float(a, n)), r),
    'fneg': lambda a, n, r: float_bits(-as_float(a, n), r),
    'frcp': lambda a, n, r: float_bits(1 / as_float(a, n) if as_float(a, n) else float('inf'), r),
    'fsqrt': lambda a, n, r: float_bits(abs(as_float(a, n)) ** 0.5, r),
    'frsq': lambda a, n, r: float_bits(as_float(a, n) ** -0.5 if as_float(a, n) > 0 else float('inf'), r),
    'fsat': lambda a, n, r: float_bits(min(max(as_float(a, n), 0.0), 1.0), r),
    'ftrunc': lambda a, n, r: float_bits(float(int(as_float(a, n))), r),
    'ffloor': lambda a, n, r: float_bits(float(as_float(a, n) // 1), r),
    'ffma': lambda a, b, c, n, r: float_bits(as_float(a, n) * as_float(b, n) + as_float(c, n), r),
}
DEFINITION = re.compile(r'\s*(?:(?:con|div)\s+)?(\d+)(?:x(\d+))?\s+(%\d+) = (.*)$')
SOURCE = re.compile(r'(%\d+)(?:\.([xyzwabcdefghijklmnop]+))?')
LANES = 'xyzw'


class Instruction:
    """One NIR statement."""

    def __init__(self, line):
        found = DEFINITION.match(line)
        self.line = line.strip()
        self.bits = int(found.group(1)) if found else 0
        self.count = int(found.group(2) or 1) if found else 0
        self.name = found.group(3) if found else None
        rest = found.group(4) if found else self.line
        rest = re.sub(r' \((0x|[-0-9])[^()]*\)', '', rest)  # values of constants, repeated beside their names
        self.operation = rest.split()[0].split('.')[0].rstrip('!')
        self.rest = rest[len(rest.split()[0]):]
        self.sources = [(name, lanes) for name, lanes in SOURCE.findall(re.sub(r'\([^()]*=[^()]*\)', '', self.rest))]
        if self.operation == 'load_const':
            self.sources = []
            self.value = [int(v, 16) for v in re.findall(r'0x[0-9a-fA-F]+', line)][:self.count]
            if not self.value:
                self.value = [{'true': 1, 'false': 0}[v] for v in re.findall(r'true|false', line)]
        if self.operation == 'phi':
            self.ways = {int(b): name for b, name in re.findall(r'b(\d+): (%\d+)', rest)}
        if self.operation.startswith('@store_'):
            self.sources = self.sources[:2]


def read_body(lines, at=0):
    """Lines as a list of ('block', number, instructions), ('if', condition, then, else), ('loop', body)."""
    body, block = [], None
    while at < len(lines):
        line = lines[at].split('//')[0].strip()
        begin = re.match(r'block b(\d+):', line)
        if line.startswith('}'):
            return body, at
        if begin:
            block = ('block', int(begin.group(1)), [])
            body.append(block)
        elif line.startswith('if '):
            then, at = read_body(lines, at + 1)
            other = []
            if 'else' in lines[at]:
                other, at = read_body(lines, at + 1)
            body.append(('if', SOURCE.search(line).groups(), then, other))
        elif line.startswith('loop {'):
            inner, at = read_body(lines, at + 1)
            body.append(('loop', inner))
        elif line in ('break', 'continue', 'return'):
            body.append((line,))
        elif line and not line.startswith('decl_'):
            block[2].append(Instruction(line))
        at += 1
    return body, at


class Break(Exception):
    pass


class Continue(Exception):
    pass


class WorkItem:
    """A work-item at `group` and `local`, with `arguments` as the kernel's argument memory holds them, and `known` as
    the words at some addresses."""

    def __init__(self, body, arguments, sizes, group, local, known=None):
        self.body, self.arguments, self.sizes = body, arguments, sizes
        self.group, self.local = group, local
        self.values, self.bits_of, self.why = {}, {}, {}
        self.visits, self.accesses, self.scratch = {}, [], {}
        self.block, self.known = None, {} if known is None else known

    def run(self):
        self.execute(self.body)
        return self

    def execute(self, body):
        for node in body:
            if node[0] == 'block':
                self.enter(node[1], node[2])
            elif node[0] == 'if':
                self.execute(node[2] if self.condition(node[1]) else node[3])
            elif node[0] == 'loop':
                try:
                    for _ in range(TURNS_MAX):
                        try:
                            self.execute(node[1])
                        except Continue:
                            pass
                    raise Unknown(f'a loop takes more than {TURNS_MAX} turns')
                except Break:
                    pass
            elif node[0] == 'break':
                raise Break
            elif node[0] == 'continue':
                raise Continue

    def condition(self, source):
        value = self.source(source)[0]
        if value is None:
            raise Unknown(f'a branch depends on: {self.why.get(source[0])}')
        return value != 0

    def enter(self, number, instructions):
        before, self.block = self.block, number
        self.visits[number] = self.visits.get(number, 0) + 1
        phis = [(i, self.values.get(i.ways[before])) for i in instructions if i.operation == 'phi']
        for i, value in phis:
            self.values[i.name] = value
            self.why[i.name] = self.why.get(i.ways[before])
        for i in instructions:
            if i.operation != 'phi':
                self.step(i)

    def source(self, source):
        name, lanes = source
        value = self.values.get(name)
        if value is None:
            return [None] * max(len(lanes), 1)
        return [value[(LANES if set(lanes) <= set(LANES) else 'abcdefghijklmnop').index(c)]
                for c in lanes] if lanes else value

    def step(self, i):
        if i.operation.startswith('@'):
            value = self.intrinsic(i)
        elif i.operation == 'load_const':
            value = i.value
        else:
            value = self.compute(i)
        if i.name:
            self.values[i.name] = value
            if value is None or None in value:
                causes = [self.why.get(s[0]) for s in i.sources if None in self.source(s)]
                self.why[i.name] = next((c for c in causes if c), i.line)
            self.bits_of[i.name] = i.bits

    def compute(self, i):
        sources = [self.source(s) for s in i.sources]
        operation = re.sub(r'(?<=[a-z])(8|16|32|64)$', '', i.operation)
        if i.operation.startswith('vec'):
            return [v[0] for v in sources]
        if i.operation in OPERATIONS:
            operation = i.operation
        if operation in ('bcsel', 'b32csel', 'b16csel', 'b8csel'):
            return [None if c is None else (a if c else b) for c, a, b in zip(*self.spread(sources, i.count))]
        function = OPERATIONS.get(operation)
        bits = self.bits_of.get(i.sources[0][0], 32) if i.sources else 32
        mask = (1 << i.bits) - 1
        if not function:
            return [None] * i.count
        return [None if None in lane else function(*lane, bits, i.bits) & mask
                for lane in zip(*self.spread(sources, i.count))]

    @staticmethod
    def spread(sources, count):
        return [v if len(v) >= count else v * count for v in sources]

    def intrinsic(self, i):
        name = i.operation[1:]
        if name == 'load_global_invocation_id':
            return [g * s + l for g, s, l in zip(self.group, self.sizes, self.local)]
        if name == 'load_workgroup_id':
            return list(self.group)
        if name == 'load_local_invocation_id':
            return list(self.local)
        if name == 'load_workgroup_size':
            return list(self.sizes)
        if name == 'load_ubo':
            return self.load_ubo(i)
        if name == 'load_global' or name == 'load_global_constant':
            size = i.bits // 8
            address = self.address(i, i.sources[0])
            self.accesses.append(('read', address, size * i.count))
            return [self.known.get(address + k * size, made_up(address + k * size, size)) for k in range(i.count)]
        if name == 'load_scratch':
            address, size = self.source(i.sources[0])[0], i.bits // 8
            return [self.scratch.get((address + k * size, size)) for k in range(i.count)]
        if name == 'store_scratch':
            values, address = self.source(i.sources[0]), self.source(i.sources[1])[0]
            size = self.bits_of.get(i.sources[0][0], 32) // 8
            self.scratch.update(((address + k * size, size), v) for k, v in enumerate(values))
            return None
        if name == 'store_global':
            bits = self.bits_of.get(i.sources[0][0], 32)
            lanes = len(self.source(i.sources[0]))
            self.accesses.append(('write', self.address(i, i.sources[1]), lanes * bits // 8))
            return None
        if 'atomic' in name:
            self.accesses.append(('atomic', self.source(i.sources[0])[0], 4))
        return [None] * i.count

    def address(self, i, source):
        value = self.source(source)[0]
        if value is None:
            raise Unknown(f'the address in "{i.line}" depends on: {self.why.get(source[0])}')
        return value

    def load_ubo(self, i):
        buffer, offset = (self.source(s)[0] for s in i.sources[:2])
        size = i.bits // 8
        if buffer == 0:
            memory = self.arguments
        else: # the launch's own: the work-group's shape first
            memory = b''.join(n.to_bytes(4, 'little') for n in self.sizes)
        return [int.from_bytes(memory[offset + k * size:offset + (k + 1) * size], 'little') for k in range(i.count)]


def made_up(address, size):
    value = 0
    for k in range(size):
        value |= ((address + k) * 2654435761 >> 13 & 255) << 8 * k
    return value


# ---- a compiler's output --------------------------------------------------------------------------------------

class Kernel:
    """One kernel on one GPU: its NIR, its blocks, what each costs, and the compiler's own figures."""

    def __init__(self, text, statistics):
        self.statistics = statistics
        nir, machine = text.split('\nblock0 {', 1)
        lines = nir.splitlines()
        begin = next(k for k, line in enumerate(lines) if line.startswith('impl '))
        self.name = lines[begin].split()[1].removeprefix('__wrapped_')
        self.body, _ = read_body(lines, begin + 1)
        self.offsets = {int(n): int(at) for n, at in re.findall(r'decl_var uniform .*\((\d+), (\d+), \d+\)', nir)}
        listings = re.split(r'(?m)^block0 \{$', '\nblock0 {' + machine)
        blocks = read_blocks('block0 {' + listings[-1])
        self.bifrost = 'tuples' in statistics
        count = count_bifrost if self.bifrost else count_valhall
        self.cost = {b: count(lines) for b, (lines, _) in blocks.items()}
        self.check_total()

    def total(self):
        units = BIFROST if self.bifrost else VALHALL
        return {u: sum(c[u] for c in self.cost.values()) for u in units}

    def check_total(self):
        """What is counted here, of all blocks, is what the compiler says."""
        for unit, count in self.total().items():
            said = float(re.search(rf'([0-9.]+) {"ldst" if self.bifrost and unit == "ls" else unit}\b',
                                   self.statistics).group(1))
            if abs(said * RATES[unit] - count) > 0.01:
                raise ValueError(f'{unit}: counted {count}, the compiler says {said * RATES[unit]}')

    def path(self, item):
        """What the work-item executes, by unit, once it has run."""
        units = BIFROST if self.bifrost else VALHALL
        return {u: sum(self.cost.get(b, {u: 0})[u] * n for b, n in item.visits.items()) for u in units}


def read_kernels(text):
    """[Kernel] of one compilation: of each kernel's two variants the second, for launches without an offset, or where
    the compiler fell between the two the first; `whole` are the figures of the first, which are those that compilers'
    summaries have."""
    parts = re.split(r'(?m)^SHADER-DB: (.*)$', text)
    kernels = []
    for first in range(0, len(parts) - 1, 4):
        at = first + 2 if first + 3 < len(parts) else first
        kernels.append(Kernel(parts[at][parts[at].index('shader: MESA_SHADER_KERNEL'):], parts[at + 1]))
        kernels[-1].whole = parts[first + 1]
    return kernels
