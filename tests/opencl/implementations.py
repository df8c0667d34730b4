#!/usr/bin/env python3
"""The stage suite on every implementation of OpenCL that is here, and a table of what came of it (docs/opencl.md).

    implementations.py BUILD              prints the table; BUILD is a build's folder, with its tests
    implementations.py BUILD --write      puts it into docs/opencl.md: rows of implementations that were not run stay
    implementations.py BUILD pocl intel   only those whose name or version holds such a word

    --all           all programs of each test; else a sample (tests/stage/programs.h), for Oclgrind with fewer pictures
    --stages A,B    only these
    --intel DIR     where pip has put intel-opencl-rt and intel-cmplr-lib-rt (pip install --target, or a virtual environment)
    --tree DIR      a Debian tree with drivers of its own: every one is run in it (root; see docs/opencl.md)
    --jobs N        that many stages at a time (1)
    --cross DIR     where cross/build.sh has built for arm64

What is installed is found by `sluice devices`; Oclgrind, with its checks for races and bounds, by its library. (Its
check for memory that nobody has written crashes at correct kernels, see docs/opencl.md.) The exit is 1 when a row is
not clean."""
import argparse
import concurrent.futures
import datetime
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PAGE = os.path.join(ROOT, 'docs', 'opencl.md')
OCLGRIND = '/usr/lib/oclgrind/liboclgrind-rt-icd.so'
# It does not know what LLVM makes of restrict in functions that are always inlined (llvm.experimental.noalias.scope.decl).
OCLGRIND_OPTIONS = '-Drestrict='
TITLE = '| implementation | version | run on | stages | tests | failed | differences in integers | reports |\n|---|---|---|---|---|---|---|---|'
FAILED = re.compile(r'(?m)^\[  FAILED  \] (\w+)$')
DIFFERS = re.compile(r'ERROR: .* on \d+x\d+x\d+ ([uif]\d+),.* (\d+) samples of the device differ')


class Implementation:
    """How a program of the tests is run on it: words in front, and environment."""

    def __init__(self, name, build, prefix=(), **env):
        self.name, self.build, self.prefix, self.env, self.version = name, build, list(prefix), env, ''

    def run(self, program, *arguments, timeout=3600, **env):
        values = {name: str(value) for name, value in {**self.env, **env}.items()}
        command = [*self.prefix, 'env', *('%s=%s' % v for v in values.items()), program, *arguments]
        if self.prefix and self.prefix[0].endswith('emulate'):  # its program comes first
            command, values = [*self.prefix, program, *arguments], {**os.environ, **values}
        else:
            values = dict(os.environ)
        return subprocess.run(command, capture_output=True, text=True, errors='replace', timeout=timeout, check=False,
                              env=values, cwd='/')

    def devices(self):
        told = self.run(os.path.join(self.build, 'src/sluice'), 'devices', '--json', timeout=600)
        if told.returncode != 0:
            print('%s: no device:\n%s' % (self.name, told.stderr[-1000:]), file=sys.stderr)
        return json.loads(told.stdout) if told.returncode == 0 else []


def icd_folder(work, name, *libraries):
    """A folder of .icd files that has these alone."""
    folder = os.path.join(work, name)
    os.makedirs(folder)
    for i, library in enumerate(libraries):
        with open(os.path.join(folder, '%d.icd' % i), 'w', encoding='utf-8') as file:
            file.write(library + '\n')
    return folder


def in_tree(tree, build):
    """Words that run a program of ours in a Debian tree: it has its own C library and drivers, and of ours what it
    lacks (libraries of another version)."""
    here = os.path.join(tree, 'sluice-build')
    shutil.rmtree(here, ignore_errors=True)
    for folder in ('src', 'tests', 'lib'):
        os.makedirs(os.path.join(here, folder))
    programs = [os.path.join(build, 'src/sluice'), *glob.glob(os.path.join(build, 'tests', 'test_*'))]
    for program in programs:
        if os.path.isfile(program):
            shutil.copy(program, os.path.join(here, os.path.relpath(program, build)))
    needed = subprocess.run(['ldd', *programs[:2]], capture_output=True, text=True, check=True).stdout
    for library in set(re.findall(r'=> (/\S+)', needed)):
        if not re.search(r'/lib(c|m|dl|pthread|gcc_s|rt)\.so', library):
            shutil.copy(library, os.path.join(here, 'lib'))
    for folder in ('dev', 'proc', 'sys', 'tmp'):
        os.makedirs(os.path.join(tree, folder), exist_ok=True)
    mount = ('cd "$0" && mount -t proc proc proc && mount --rbind /dev dev && mount --rbind /sys sys && mount -t tmpfs tmpfs tmp'
             ' && exec chroot . "$@"')
    return ['unshare', '--mount', 'sh', '-c', mount, tree]


def found(options, work):
    """Every implementation, by device."""
    cache = os.path.join(work, 'cache')
    native = Implementation('native', options.build, SLUICE_DEVICE='native')
    yield native, lambda d: d['kind'] == 'native'
    plain = Implementation('', options.build, SLUICE_DEVICE='cpu', HARNESS_PROFILES='own', SLUICE_CACHE_DIR=options.cache or cache)
    yield plain, lambda d: d['kind'] != 'native'
    if os.path.exists(OCLGRIND):
        folder = icd_folder(work, 'oclgrind', OCLGRIND)
        yield Implementation('Oclgrind', options.build, SLUICE_DEVICE='oclgrind', OCL_ICD_VENDORS=folder,
                             SLUICE_CACHE_DIR=cache + '-oclgrind', OCLGRIND_DATA_RACES='1', OCLGRIND_LOCAL_MEM_SIZE='131072',
                             OCLGRIND_BUILD_OPTIONS=OCLGRIND_OPTIONS,
                             OCLGRIND_LOG=os.path.join(work, 'reports')), lambda d: 'Oclgrind' in d['platform']
    for library in glob.glob(os.path.join(options.intel or '/nowhere', '**', 'libintelocl.so'), recursive=True)[:1]:
        # The loader is this machine's, not the one that comes with the driver.
        libraries = '/usr/lib/%s-linux-gnu:' % os.uname().machine + ':'.join({os.path.dirname(f) for f in glob.glob(os.path.join(options.intel, '**', 'lib*.so*'), recursive=True)})
        # For AVX-512 on AMD's processors its compiler ends with an internal error of its own.
        yield Implementation('Intel', options.build, SLUICE_DEVICE='intel', OCL_ICD_VENDORS=icd_folder(work, 'intel', library),
                             CL_CONFIG_CPU_TARGET_ARCH='core-avx2', LD_LIBRARY_PATH=libraries, HARNESS_PROFILES='own', SLUICE_CACHE_DIR=cache + '-intel'), lambda d: d['kind'] != 'native'
    for tree in options.tree:
        prefix = in_tree(os.path.abspath(tree), options.build)
        yield Implementation(os.path.basename(tree), '/sluice-build', prefix, LD_LIBRARY_PATH='/sluice-build/lib',
                             RUSTICL_ENABLE='llvmpipe', HARNESS_PROFILES='own', SLUICE_CACHE_DIR='/tmp/cache'), lambda d: d['kind'] != 'native'
    for build in [options.cross] if options.cross else []:
        sysroot = os.path.join(os.path.dirname(os.path.abspath(build)), 'sysroot')
        prefix = [os.path.join(ROOT, 'cross/emulate'), sysroot]
        for name, device in (('native, arm64 emulated', 'native'), ('arm64 emulated', 'cpu')):
            yield Implementation(name, os.path.abspath(build), prefix, SLUICE_DEVICE=device, HARNESS_PROFILES='own',
                                 SLUICE_CACHE_DIR=cache + '-arm64'), lambda d, device=device: d['kind'] == device


def implementations(options, work):
    for one, fits in found(options, work):
        for device in filter(fits, one.devices()):
            if device['kind'] == 'native':
                name, version = one.name, '%s, %s' % (device['version'], device['driver'])
            else:
                name = {'': device['platform']}.get(one.name, '%s (%s)' % (device['platform'], one.name))
                version = '%s; %s' % (device['driver'], device['name'])
            made = Implementation(name, one.build, one.prefix, **one.env)
            made.version = version
            if device['kind'] != 'native' and 'arm64' not in one.name:
                made.env['SLUICE_DEVICE'] = device['name']
            if not options.words or any(w.lower() in (name + version).lower() for w in options.words):
                yield made


def run_test(one, options, stage, **env):
    """What a stage's tests print, how they ended, and how much Oclgrind reported."""
    log = one.env.get('OCLGRIND_LOG', '') and one.env['OCLGRIND_LOG'] + '-' + stage
    if log:
        env['OCLGRIND_LOG'] = log
    if not options.all:
        env['HARNESS_PROGRAMS'] = 'few' if log else 'pairs'
    try:
        done = one.run(os.path.join(one.build, 'tests/test_' + stage), timeout=options.patience, **env)
        text, status = done.stdout + done.stderr, done.returncode
    except subprocess.TimeoutExpired as late:
        text, status = (late.stdout or b'').decode() + (late.stderr or b'').decode(), 'not over within %d s' % options.patience
    reports = 0
    if log and os.path.exists(log):
        with open(log, encoding='utf-8', errors='replace') as file:
            reports = len([line for line in file if line[0].isalpha() and not line.startswith('Oclgrind:')])
        os.unlink(log)
    return text, status, reports


def run_stage(one, options, stage):
    """What came of a stage's tests: its name, how many, failed ones, samples that differ, reports."""
    begin = time.monotonic()
    text, status, reports = run_test(one, options, stage)
    tests = len(re.findall(r'(?m)^\[ RUN +\] \w', text))
    failed = set(FAILED.findall(text)) - {'harness_enough_vectors'}  # that one counts what others did
    if 'OCLGRIND_LOG' in one.env and failed and type(status) is int:
        # It lacks some of what LLVM's optimiser chooses, or does it wrong. Without, all takes seven times as long.
        texts, statuses, more = zip(*(run_test(one, options, stage, HARNESS_TEST=test, OCLGRIND_BUILD_OPTIONS=OCLGRIND_OPTIONS + ' -cl-opt-disable')
                                      for test in sorted(failed)))
        text, status, reports = ''.join(texts), next(filter(None, statuses), 0), reports + sum(more)
    print('%s: %s, %.0f s%s' % (one.name, stage, time.monotonic() - begin, ' (again without optimiser: %s)' % ', '.join(sorted(failed)) if failed else ''),
          file=sys.stderr, flush=True)
    bad = len(FAILED.findall(text)) // 2 or status != 0 or 'skipped: no device' in text
    differences = sum(int(count) for kind, count in DIFFERS.findall(text) if kind[0] != 'f')
    if bad:
        print('%s: %s: %s\n%s' % (one.name, stage, status, text[-3000:]), file=sys.stderr, flush=True)
    return stage, tests, int(bad), differences, reports


def run_stages(one, options):
    """The row: what came of every stage's tests, the slow ones first."""
    slow = ('dwt', 'analysis', 'synthesis', 'idwt', 'box', 'resize', 'fir', 'clahe')
    stages = sorted(options.stages, key=lambda stage: slow.index(stage) if stage in slow else len(slow))
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        return row_of(one, options, list(pool.map(lambda stage: run_stage(one, options, stage), stages)))


def row_of(one, options, results):
    names, *counts = zip(*sorted(results))
    clean, other = ([stage for stage, _, *faults in sorted(results) if any(faults) == dirty] for dirty in (False, True))
    stages = 'all %d' % len(names) if clean == options.every else ', '.join(clean) + '; not clean: ' * bool(other) + ', '.join(other)
    tests, failed, differences, reports = map(sum, counts)
    return '| %s | %s | %s | %s | %d | %d | %d | %s |' % (
        one.name, one.version, datetime.date.today(), stages, tests, failed, differences, reports if one.env.get('OCLGRIND_LOG') else '—')


def write_page(rows):
    with open(PAGE, encoding='utf-8') as file:
        page = file.read()
    begin, end = page.index('<!-- table -->\n') + len('<!-- table -->\n'), page.index('<!-- end -->')
    key = lambda row: re.split('[|;]', row)[1:3]  # name and version
    kept = {str(key(row)): row for row in [*page[begin:end].splitlines()[2:], *rows]}
    with open(PAGE, 'w', encoding='utf-8') as file:
        file.write(page[:begin] + '\n'.join([TITLE, *kept.values()]) + '\n' + page[end:])


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument('build')
    parser.add_argument('words', nargs='*')
    parser.add_argument('--write', action='store_true')
    parser.add_argument('--all', action='store_true')
    parser.add_argument('--patience', type=int, default=3600)
    parser.add_argument('--stages', type=lambda text: text.split(','))
    parser.add_argument('--intel')
    parser.add_argument('--tree', action='append', default=[])
    parser.add_argument('--cross')
    parser.add_argument('--cache')
    parser.add_argument('--jobs', type=int, default=1)
    options = parser.parse_intermixed_args()  # words may stand behind options, too
    options.build = os.path.abspath(options.build)
    stages = (os.path.basename(path)[5:-2] for path in glob.glob(os.path.join(ROOT, 'tests', 'stage', 'test_*.c')))
    options.every = sorted(stage for stage in stages if os.path.exists(os.path.join(options.build, 'tests', 'test_' + stage)))
    options.stages = options.stages or options.every
    with tempfile.TemporaryDirectory(prefix='sluice-opencl-') as work:
        rows = [run_stages(one, options) for one in implementations(options, work)]
    print('\n'.join([TITLE, *rows]))
    if options.write:
        write_page(rows)
    sys.exit(any(row.split('|')[6:8] != [' 0 ', ' 0 '] or row.split('|')[8] not in (' 0 ', ' — ') for row in rows))


if __name__ == '__main__':
    main()
