#!/usr/bin/env python3
"""The daemon and `sluice run` with the mean driver (tests/fault/cl_mean.c): a device that is lost again and again
during work, one that kills kernels, and one that refuses binaries that it made before. Nothing is lost, and every
result is that of the references. SLUICE_MEAN_ROUNDS is how often the device is lost (3)."""
import os
import subprocess
import unittest

from sluice_test import SLUICE, DaemonTest, main, picture, wait_for

CL_LAYER, CL_MEAN = os.environ['CL_LAYER'], os.environ['CL_MEAN']
CLOCK_FAULT = os.environ.get('CLOCK_FAULT')
ROUNDS = int(os.environ.get('SLUICE_MEAN_ROUNDS', '3'))
CHAIN = 'sobel'
LOADS = 12  # a new worker's launches for CHAIN, where the kernels are known
AHEAD = 601  # seconds: the longest time until a device is tried again


class Mean(DaemonTest):
    def mean(self, *options, env=None, **keywords):
        return self.start('--device', 'mali', '--fallback', 'native', *options, chain=CHAIN,
                          env=dict({'OPENCL_LAYERS': CL_MEAN}, **(env or {})), **keywords)

    def learn(self):
        """From here on a worker knows the kernels. It launches LOADS before its first job, only to load them."""
        self.mean().stop()

    def expected(self, data):
        return self.run_sluice(data, '--device', 'reference')

    def run_sluice(self, data, *options, chain=CHAIN, **env):
        done = subprocess.run([SLUICE, 'run', *options, '-c', chain, '-f', 'pgm', '-o', '-', '-'], input=data,
                              capture_output=True, check=True, timeout=300, env=dict(os.environ, **env))
        return done.stdout

    def expect_good(self, d, names):
        d.expect_all(names)
        wait_for('all originals', lambda: d.done() == names)
        self.assertEqual(d.failed(), [])
        for i, name in enumerate(names):
            self.assertEqual(d.result(name), self.wanted(i), name)

    def wanted(self, seed):
        """Of picture(seed=…), which are like one another after 256."""
        self.known = getattr(self, 'known', {})
        if seed % 256 not in self.known:
            self.known[seed % 256] = self.expected(picture(seed=seed))
        return self.known[seed % 256]

    def drop(self, d, count):
        first = len(d.done())
        names = ['%05d.pgm' % i for i in range(first, first + count)]
        for i, name in enumerate(names):
            d.drop(name, picture(seed=first + i), how='rename')
        return ['%05d.pgm' % i for i in range(first + count)]

    def test_a_result_on_stdout_has_no_banner_in_it(self):
        data = picture(301, 203)
        self.assertEqual(self.run_sluice(data, '--device', 'mali', OPENCL_LAYERS=CL_MEAN), self.expected(data))

    def test_kernels_whose_loops_are_unrolled(self):
        data, chain = picture(301, 203), 'invert,median:1,rotate:90,resize:by=0.25'
        self.assertEqual(self.run_sluice(data, '--device', 'mali', chain=chain, OPENCL_LAYERS=CL_MEAN),
                         self.run_sluice(data, '--device', 'reference', chain=chain))

    def test_every_job_runs_on_it(self):
        d = self.mean()
        self.expect_good(d, self.drop(d, 20))
        self.assertNotIn('FALLING BACK', d.log())
        self.assertEqual(d.metrics()['sluice_device_on_fallback'], 0)
        d.stop()
        d.expect_clean()

    @unittest.skipUnless(CLOCK_FAULT, 'a preloaded library cannot stand before a sanitizer')
    def test_lost_in_the_middle_of_work_and_back(self):
        clocks = os.path.join(self.dir, 'clocks')
        self.learn()
        launches = '%d-%d' % (LOADS + 1, LOADS + 28)
        d = self.mean('--jobs', '2', env={'SLUICE_MEAN_LOSE': launches, 'LD_PRELOAD': CLOCK_FAULT, 'SLUICE_FAULT_CLOCK': clocks})
        for turn in range(1, ROUNDS + 1):
            names = self.drop(d, 48)
            d.expect_all(names)
            wait_for('all originals', lambda names=names: d.done() == names)
            self.assertEqual(d.count_lines("FALLING BACK to 'native'"), turn)
            with open(clocks + '.new', 'w', encoding='ascii') as file:
                file.write('0 0 %d\n' % (turn * AHEAD))
            os.rename(clocks + '.new', clocks)
            wait_for('the device again', lambda: d.metrics().get('sluice_device_on_fallback') == 0, pause=0.2)
        self.expect_good(d, names)
        self.assertEqual(d.metrics()['sluice_device_fallback_total{reason="error"}'], ROUNDS)
        d.stop()
        d.expect_clean()

    def test_a_kernel_that_runs_for_too_long(self):
        d = self.mean(env={'SLUICE_MEAN_KILL': '1'})
        data = picture(4000, 3000)
        d.drop('large.pgm', data)
        self.assertEqual(d.expect('large.pgm'), self.expected(data))
        self.expect_fallback(d)

    def test_out_of_resources_now_and_then(self):
        self.learn()
        d = self.mean(env={'OPENCL_LAYERS': '%s:%s' % (CL_LAYER, CL_MEAN), 'SLUICE_FAULT_CL': 'clEnqueueNDRangeKernel:12~:-5'})
        self.expect_good(d, self.drop(d, 40))
        self.expect_fallback(d)

    def expect_fallback(self, d):
        d.expect_line("FALLING BACK to 'native'")
        d.stop()
        d.expect_clean()
        self.assertEqual(d.failed(), [])

    def test_a_driver_that_takes_no_binary_of_yesterday(self):
        self.learn()
        d = self.mean(env={'SLUICE_MEAN_UPDATED': '1'})
        self.expect_good(d, self.drop(d, 3))
        d.expect_line('cached program refused by the driver')
        self.assertNotIn('FALLING BACK', d.log())
        d.stop()


if __name__ == '__main__':
    main()
