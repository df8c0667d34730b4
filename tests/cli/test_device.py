#!/usr/bin/env python3
"""Every stage runs on the chosen device: with the choices of its parameters, and on every type, number of channels
and odd size, the kernels that `--timing --json` names are those that OpenCL was asked to launch. To compile each
choice for each kind of picture takes ten minutes, so the ordinary run takes a few choices of each parameter, each with
one kind, in turn, and of those one for each list of kernels that a stage launches, whatever their types and channels;
SLUICE_TEST_ALL=1 tries all (suite `opencl`).

Usage: test_device.py SLUICE CL_TRACE [unittest options]"""
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..'))
import pictures  # noqa: E402

os.nice(10)  # it only computes: beside it tests of the daemon wait, and measure how long
SLUICE = os.path.abspath(sys.argv.pop(1))
CL_TRACE = os.path.abspath(sys.argv.pop(1))
ALL = os.environ.get('SLUICE_TEST_ALL') == '1'

# What a parameter without a default is given, by its type.
GIVEN = {'matrix': '1_2_1', 'number': '1.5', 'number or choice': '100'}
# Other names of a value; the chain that comes out is the same.
ALIASES = ('replicate', 'clamp', 'reflect101', 'mirror', 'periodic', 'constant')
# Stages that only undo or change what others make, each behind one of them.
BEHIND = {'idwt': 'dwt', 'shrink': 'dwt', 'synthesis': 'analysis:bank=legall53'}
# Stages whose results lie in what they are given, so that no kernel need run.
VIEWS = ('crop',)
# Of a long list of choices (wavelets are tables of one program) at most these.
CHOICES_MAX = 8 if ALL else 3
# What `sluice plan` is told of a kind of file (see inputs).
KINDS = {'f32_c1.npy': ('f32', '37x21x1'), 'f32_c4.npy': ('f32', '37x21x4'), 'grey16.pgm': ('u16', '37x21x1'),
         'grey8': ('u8', '257x33x1'), 'rgb8.ppm': ('u8', '37x21x3'), 'u8_c2.npy': ('u8', '37x21x2')}
# (in the chain, in the file's name): what is refused by definition. A window fits nowhere in a small
# picture; the Mali sample's shifts are of integers, and so are sums in a table; a bank's bands are no periods unless
# they were made so.
REFUSED = [('border=crop', 'x'), ('sobel:out=sample', 'f32'), ('precision=reversible', 'f32'), ('equalize', 'f32'), ('clahe', 'f32'), ('canny', 'f32'), ('statistics', 'f32'),
           ('synthesis:border=periodization', ''), ('table=1', 'f32'),
           ('demosaic', 'f32'), ('demosaic', 'rgb'), ('demosaic', 'c2'), ('demosaic', 'c4'), ('colour', 'grey'), ('colour', 'c1'), ('colour', 'c2')]


def npy(descr, shape, values, code):
    head = "{'descr': '%s', 'fortran_order': False, 'shape': %s, }" % (descr, shape)
    head = head.ljust(117) + '\n'
    return (b'\x93NUMPY\x01\x00' + struct.pack('<H', len(head)) + head.encode() +
            struct.pack('<%d%s' % (len(values), code), *values))


def kind(name):
    """Files of one kind share their programs."""
    return 'grey8' if name.startswith('grey8') else name


def inputs():
    """{name: bytes}: each type, 1 to 4 channels, sizes of one sample, odd ones and around 16 and 256.

    Not every type with every number of channels: each is a program to compile, and the tests of stages
    have them all."""
    sizes = [(1, 1), (1, 19), (23, 1), (15, 17), (257, 33)]
    files = {}
    for width, height in sizes:
        samples = pictures.noise(width, height, seed=width)
        files['grey8_%dx%d.pgm' % (width, height)] = pictures.pnm(width, height, samples)
    width, height = 37, 21
    files['rgb8.ppm'] = pictures.pnm(width, height, pictures.noise(width, height, 3), 3)
    files['grey16.pgm'] = pictures.pnm(width, height,
                                       pictures.noise(width, height, maxval=65535), maxval=65535)
    for name, descr, code, channels in (('u8_c2', '|u1', 'B', 2), ('f32_c1', '<f4', 'f', 1),
                                        ('f32_c4', '<f4', 'f', 4)):
        shape = (height, width, channels) if channels > 1 else (height, width)
        files[name + '.npy'] = npy(descr, shape, pictures.noise(width, height, channels), code)
    return files


def given(stage):
    """A value for each parameter that must have one."""
    one_of_several = {'box': {'width': '3'}, 'convert': {'type': 'f32'}, 'analysis': {'bank': 'legall53'}, 'crop': {'w': '1', 'h': '1'},
                      'resize': {'w': '9', 'h': '7'}, 'warp': {'matrix': '1_0.1_-2/0_1.1_1'},
                      'undistort': {'matrix': '20_0_10/0_20_10/0_0_1', 'distortion': '-0.3_0.1'}, 'colour': {'m': '0_1_0/0_0_1/0.5_0.5_0'}}
    one_of_several.update(dict.fromkeys(('subtract', 'difference', 'divide', 'mask', 'blend'), {'picture': '3'}))
    one_of_several.update(dict.fromkeys(('erode', 'dilate', 'open', 'close'), {'width': '3'}))
    if stage['name'] in one_of_several:
        return one_of_several[stage['name']]
    return {p['name']: p['choices'][0] if p['type'] == 'choice' else GIVEN[p['type']]
            for p in stage['params'] if p['required']}


def setting(stage, must, param, choice):
    """With what that choice asks for beside it."""
    beside = {}
    if stage == 'dwt' and param == 'mode' and choice != 'jpeg2000':
        beside = {'wavelet': 'db2'}
    if choice == 'reversible':
        beside = {'wavelet': 'cdf53'}
    return dict(must, **beside, **{param: choice})


def chains(stage):
    """The stage with what it must have, and once with each value of each parameter that is a choice."""
    must = given(stage)
    settings = [must]
    for param in stage['params']:
        if param['type'] in ('choice', 'matrix', 'flag'):
            flags = ['0', '1'] if param['type'] == 'flag' else []
            choices = [c for c in param.get('choices') or flags if c not in ALIASES]
            step = max(1, -(-len(choices) // CHOICES_MAX))
            settings += [setting(stage['name'], must, param['name'], choice)
                         for choice in choices[::step]]
    before = [BEHIND[stage['name']]] if stage['name'] in BEHIND else []
    seen = []
    for chosen in settings:
        text = ','.join(before + [':'.join([stage['name']] +
                                           ['%s=%s' % item for item in chosen.items()])])
        if text not in seen:
            seen.append(text)
    return seen


class DeviceTest(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix='sluice-device-')
        self.addCleanup(shutil.rmtree, self.dir)
        self.trace = os.path.join(self.dir, 'trace')
        self.files = inputs()
        for name, data in self.files.items():
            with open(os.path.join(self.dir, name), 'wb') as file:
                file.write(data)

    def run_traced(self, chain, *files):
        """The report of a run and the lines of its trace."""
        if os.path.exists(self.trace):
            os.unlink(self.trace)
        out = os.path.join(self.dir, 'out')
        shutil.rmtree(out, ignore_errors=True)
        result = subprocess.run(
            [SLUICE, 'run', '-c', chain, '-f', 'npy', '-o', out + '/', '--timing', '--json',
             '--cl-flags=-cl-opt-disable', *files],
            cwd=self.dir, capture_output=True, timeout=600,
            env=dict(os.environ, OPENCL_LAYERS=CL_TRACE, SLUICE_CL_TRACE=self.trace))
        self.assertIn(result.returncode, (0, 1, 65), '%s: %s' % (chain, result.stderr.decode()))
        lines = []
        if os.path.exists(self.trace):
            with open(self.trace, encoding='utf-8') as file:
                lines = [line.split() for line in file]
        return json.loads(result.stdout), lines


class OnTheDevice(DeviceTest):
    def unchanged(self, name, out):
        """Whether a result is its input, sample for sample."""
        shutil.rmtree(os.path.join(self.dir, 'same'), ignore_errors=True)
        subprocess.run([SLUICE, 'run', '-f', 'npy', '-o', 'same/', name], cwd=self.dir, check=True)
        stem = os.path.splitext(name)[0]
        with open(os.path.join(self.dir, 'same', stem + '.npy'), 'rb') as a, \
                open(os.path.join(out, stem + '.npy'), 'rb') as b:
            return a.read() == b.read()

    def check_file(self, chain, stage, report):
        name, where = report['input'], '%s on %s' % (chain, report['input'])
        if report['result'] != 'ok':
            self.assertTrue(any(a in chain and b in name for a, b in REFUSED),
                            '%s: %s' % (where, report))
            return
        self.assertEqual(report['bytes_copied'], 0, where)
        if stage not in VIEWS and not any(launch['stage'] == stage for launch in report['launches']):
            self.assertTrue(self.unchanged(name, os.path.join(self.dir, 'out')),
                            where + ': changed, but no kernel ran')

    def kernels(self, chain, of_kind):
        """What would be launched, without types and channels; or why nothing."""
        sample_type, size = KINDS[of_kind]
        done = subprocess.run([SLUICE, 'plan', '--json', '--profile', 'cpu', '-c', chain, '-f', 'npy', '--type', sample_type, size],
                              capture_output=True, check=False)
        if done.returncode != 0:
            return 'refused'
        names = [one['kernel'] for step in json.loads(done.stdout)['steps'] for one in step['passes']]
        return tuple(re.sub('_([uif][0-9]+|c[1-4])(?=_|$)', '', name) for name in names)

    def check_chain(self, stage, chain, files):
        report, trace = self.run_traced(chain, *files)
        named, asked = {}, {}
        for file in report['files']:
            self.check_file(chain, stage, file)
            for launch in file.get('launches', []):
                named[launch['kernel']] = named.get(launch['kernel'], 0) + 1
        for line in trace:
            self.assertNotEqual(line[0], 'copy', '%s: %s' % (chain, line))
            if line[0] == 'kernel':
                asked[line[1]] = asked.get(line[1], 0) + 1
        self.assertEqual(named, asked, chain)
        self.assertLessEqual(sum(line[0] == 'context' for line in trace), 1, chain)

    def test_every_stage_and_choice(self):
        stages = json.loads(subprocess.run([SLUICE, 'stages', '--json'], capture_output=True,
                                           check=True).stdout)
        self.assertEqual({kind(name) for name in self.files}, set(KINDS))
        tried = [(stage['name'], chain) for stage in stages for chain in chains(stage)]
        seen = set()
        for number, (stage, chain) in enumerate(tried):
            of_kind = sorted(KINDS)[number % len(KINDS)]
            case = stage, number if ALL else self.kernels(chain, of_kind)
            if case in seen:
                continue
            seen.add(case)
            with self.subTest(chain=chain):
                self.check_chain(stage, chain, [name for name in sorted(self.files) if ALL or kind(name) == of_kind])
        self.assertEqual({stage for stage, _ in seen}, {stage['name'] for stage in stages})
        print('%d of %d chains' % (len(seen), len(tried)))

    def test_long_launches_are_split_by_rows(self):
        """961 taps on 12 megapixels would hold the device for more than a tenth of a second: so many rows as five launches take."""
        width, height = 4000, 3000
        row = bytes(pictures.noise(width, 1))
        matrix = '/'.join(['_'.join(['1'] * 31)] * 31)
        chain = 'fir:%s' % matrix

        def planned():
            return json.loads(subprocess.run([SLUICE, 'plan', '--json', '-c', chain, '%dx%d' % (width, height)],
                                             capture_output=True, check=True).stdout)['launches']
        height = height * 5 // planned()
        launches = planned()
        with open(os.path.join(self.dir, 'large.pgm'), 'wb') as file:
            file.write(b'P5\n%d %d\n255\n' % (width, height) + row * height)
        report, trace = self.run_traced(chain, 'large.pgm')
        kernels = [line for line in trace if line[0] == 'kernel']
        self.assertGreater(len(kernels), 3)
        self.assertEqual(len(kernels), launches)
        self.assertEqual(len(kernels), len(report['files'][0]['launches']))


class SmallPictures(DeviceTest):
    """One thread starts several before it waits for the first."""

    def small(self, count):
        names = ['small%02d.pgm' % i for i in range(count)]
        for i, name in enumerate(names):
            with open(os.path.join(self.dir, name), 'wb') as file:
                file.write(b'P5\n64 48\n255\n' + bytes(pictures.noise(64, 48, seed=i + 1)))
        return names

    def waits(self, trace):
        """How many kernels were enqueued before each wait for results. A buffer's map is waited for
        right after it was asked for."""
        groups, kernels = [], 0
        for before, line in zip([['']] + trace, trace):
            kernels += line[0] == 'kernel'
            if line[0] == 'wait' and before[:2] != ['map', 'write']:
                groups += [kernels] if kernels else []
                kernels = 0
        return groups

    def results(self, names):
        found = {}
        for name in names:
            with open(os.path.join(self.dir, 'out', name.split('.')[0] + '.npy'), 'rb') as file:
                found[name] = file.read()
        return found

    def test_several_before_a_wait(self):
        names = self.small(24)
        self.run_traced('sobel', names[0]) # compiles
        report, trace = self.run_traced('sobel', '--threads', '1', *names)
        self.assertEqual([file['result'] for file in report['files']], ['ok'] * 24)
        self.assertEqual(sum(self.waits(trace)), 24)
        self.assertLessEqual(max(self.waits(trace)), 4)
        self.assertLessEqual(len(self.waits(trace)), 12) # how fast they arrive is the machine's affair
        flushes = sum(line[0] == 'flush' for line in trace)
        self.assertLessEqual(flushes, 18)
        together = self.results(names)
        for name in names[::5]:
            self.run_traced('sobel', name)
            self.assertEqual(self.results([name])[name], together[name], name)

    def test_bad_ones_among_them(self):
        names = self.small(9)
        for name, data in (('small02.pgm', b'P5\n64 48\n255\nshort'), ('small05.pgm', b'no picture'),
                           ('small08.pgm', b'')):
            with open(os.path.join(self.dir, name), 'wb') as file:
                file.write(data)
        report, _ = self.run_traced('sobel', '--threads', '1', *names)
        ended = {file['input']: file['result'] for file in report['files']}
        self.assertEqual([name for name in names if ended[name] != 'ok'],
                         ['small02.pgm', 'small05.pgm', 'small08.pgm'])

    def test_large_ones_among_them_where_memory_is_short(self):
        """Who waits for memory must hold none that the others wait for."""
        names = self.small(40)
        for i in range(3, 40, 6):
            with open(os.path.join(self.dir, names[i]), 'wb') as file:
                file.write(b'P5\n1500 1000\n255\n' + bytes(pictures.noise(1500, 1, seed=i)) * 1000)
        alone, _ = self.run_traced('sobel', '--threads', '1', *names)
        wanted = self.results(names)
        tight, _ = self.run_traced('sobel', '--threads', '4', '--memory', '8MiB', *names)
        for report in alone, tight:
            self.assertEqual([file['result'] for file in report['files']], ['ok'] * 40)
        self.assertEqual(self.results(names), wanted)


if __name__ == '__main__':
    unittest.main(verbosity=2)
