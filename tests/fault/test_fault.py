#!/usr/bin/env python3
"""Every call that can fail, failed: `sluice run` must end with one clear line and the right status, leave
no file behind, and never crash. Usage: test_fault.py SLUICE CL_LAYER LIBC_SHIM [unittest options]"""
import errno
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..'))
import pictures  # noqa: E402

SLUICE, CL_LAYER, LIBC_SHIM = [os.path.abspath(sys.argv.pop(1)) for _ in range(3)]
ERRORS = {-4: 'CL_MEM_OBJECT_ALLOCATION_FAILURE', -5: 'CL_OUT_OF_RESOURCES', -9999: 'CL error -9999'}

# What sluice can do without, or does again another way.
MAY_SUCCEED = {'clGetProgramInfo', 'clGetEventProfilingInfo', 'clCreateProgramWithBinary', 'clBuildProgram',
               'clCreateBuffer',
               # Giving a buffer back: it is freed in place of being pooled.
               'clWaitForEvents', 'clEnqueueUnmapMemObject',
               # What a device is like, of which nothing is taken for granted; and its end.
               'clGetPlatformInfo', 'clGetKernelWorkGroupInfo', 'clFinish', 'clReleaseContext',
               'clReleaseCommandQueue', 'clReleaseMemObject', 'clReleaseProgram', 'clReleaseKernel', 'clReleaseEvent'}
# Without one of these there is no device.
LISTS = ('clGetPlatformIDs', 'clGetDeviceIDs', 'clGetDeviceInfo')


class Faults(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix='sluice-fault-')
        self.addCleanup(shutil.rmtree, self.dir)
        self.chain = 'luminance,sobel'
        with open(self.path('in.ppm'), 'wb') as file:
            file.write(pictures.pnm(40, 30, pictures.noise(40, 30, 3), 3))

    def path(self, name):
        return os.path.join(self.dir, name)

    def run_sluice(self, *options, **env):
        """(status, stderr, result or None, names of files that should not be there)"""
        command = [SLUICE, 'run', *options, '-c', self.chain, '-o', 'out.pgm', 'in.ppm']
        process = subprocess.run(command, cwd=self.dir, capture_output=True, timeout=120,
                                 env=dict(os.environ, **env))
        names = set(os.listdir(self.dir)) - {'in.ppm', 'counts', 'cache'}
        result = None
        if 'out.pgm' in names:
            names.remove('out.pgm')
            with open(self.path('out.pgm'), 'rb') as file:
                result = file.read()
            os.unlink(self.path('out.pgm'))
        return process.returncode, process.stderr.decode(), result, names

    def counts(self, *options, **env):
        status, err, result, _ = self.run_sluice(*options, SLUICE_FAULT_COUNT=self.path('counts'), **env)
        self.assertEqual(status, 0, err)
        with open(self.path('counts'), encoding='ascii') as file:
            return {name: int(n) for name, n in (line.split() for line in file)}, result

    def check(self, what, outcome, expected, says, statuses):
        status, err, result, leftovers = outcome
        self.assertEqual(leftovers, set(), what)
        if status == 0:
            self.assertEqual(result, expected, what)
            return
        self.assertIn(status, statuses, '%s: %s' % (what, err))
        self.assertIsNone(result, what)
        lines = [line for line in err.splitlines() if line.startswith('sluice: ')]
        self.assertTrue(any(all(word in line for word in says) for line in lines), '%s: %s' % (what, err))

    def test_every_opencl_call(self):
        env = {'OPENCL_LAYERS': CL_LAYER, 'SLUICE_CACHE_DIR': self.path('cache')}
        cold, expected = self.counts(**env)
        if not any(cold.values()):
            self.skipTest('the ICD loader here knows no layers')
        for warm in (False, True):
            counts = cold
            if warm:
                self.run_sluice(**env)
                counts = self.counts(**env)[0]
            options = [] if warm else ['--cl-flags=-DCOLD=1']  # another key: nothing cached
            for name, count in counts.items():
                if not warm and not name.startswith(('clCreate', 'clBuild', 'clGetProgram')):
                    continue  # a cold start is slow and differs in these alone
                for n in sorted({1, 2, (count + 1) // 2, count} & set(range(1, count + 1))):
                    for error, plus in ((-5, ''), (-4, '+'), (-9999, ''))[:3 if warm else 1]:
                        what = '%s:%d%s:%d' % (name, n, plus, error)
                        outcome = self.run_sluice(*options, SLUICE_FAULT_CL=what, **env)
                        if not warm:
                            shutil.rmtree(self.path('cache'), ignore_errors=True)
                        if outcome[0] == 0:
                            self.assertIn(name, {*MAY_SUCCEED, 'clGetDeviceInfo'}, what)
                        says, status = ([], 69) if name in LISTS else ([name, ERRORS[error]], 70)
                        self.check(what, outcome, expected, says, {status})
                if name in ('clSetKernelArg', 'clEnqueueNDRangeKernel'):
                    _, err, _, _ = self.run_sluice(SLUICE_FAULT_CL='%s:1:-5' % name, **env)
                    self.assertIn('stage luminance, kernel luminance_u8_c3', err)

    def test_every_allocation(self):
        env = {'LD_PRELOAD': LIBC_SHIM}
        listed = subprocess.run([SLUICE, 'devices', '--json'], check=True, capture_output=True).stdout
        for device in ('reference', 'native') if b'"native"' in listed else ('reference',):
            options = ('--device', device, '--threads', '1')
            counts, expected = self.counts(*options, **env)
            self.assertGreater(counts['malloc'], 20)
            for n in range(1, counts['malloc'] + 1):
                for plus in ('', '+'):
                    what = 'malloc:%d%s:%d' % (n, plus, errno.ENOMEM)
                    outcome = self.run_sluice(*options, SLUICE_FAULT_LIBC=what, **env)
                    self.check('%s, %s' % (device, what), outcome, expected, [], {70, 73, 74})

    def test_every_file_operation(self):
        env = {'LD_PRELOAD': LIBC_SHIM}
        options = ('--device', 'reference')
        counts, expected = self.counts(*options, **env)
        for name, error, statuses in (('write', errno.ENOSPC, {74}), ('write', errno.EIO, {74}),
                                      ('rename', errno.EIO, {73}), ('open', errno.EMFILE, {66, 73}),
                                      ('pread', errno.EIO, {74})):
            self.assertGreater(counts[name], 0, name)
            for n in range(1, counts[name] + 1):
                again = '+' if name == 'rename' else ''  # one that is refused is tried without RENAME_NOREPLACE
                what = '%s:%d%s:%d' % (name, n, again, error)
                outcome = self.run_sluice(*options, SLUICE_FAULT_LIBC=what, **env)
                self.assertNotEqual(outcome[0], 0, what)
                self.check(what, outcome, expected, [os.strerror(error)], statuses)


if __name__ == '__main__':
    unittest.main(verbosity=2)
