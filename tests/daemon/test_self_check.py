#!/usr/bin/env python3
"""A device whose kernels give other results than the references."""
import os

from sluice_test import DaemonTest, main, picture, wait_for

CL_WRONG = os.environ['CL_WRONG']
CL_TRACE = os.environ['CL_TRACE']


# Every test begins with an empty cache: chains are of stages that compile fast.
class SelfCheck(DaemonTest):
    def setUp(self):
        super().setUp()
        self.cache = {'SLUICE_CACHE_DIR': os.path.join(self.dir, 'cache')}
        # inverts to 254 - v
        self.wrong = dict(self.cache, OPENCL_LAYERS=CL_WRONG, SLUICE_WRONG='(SRC)SRC_MAX - =(SRC)(SRC_MAX - 1) - ')

    def run_one(self, d, name='a.pgm', chain='invert'):
        d.drop(name, picture(seed=5))
        self.assertEqual(d.expect(name), self.by_sluice_run(picture(seed=5), chain)[''])

    def test_a_wrong_stage_runs_on_the_fallback(self):
        d = self.start('--jobs', '1', chain='threshold:t=99,invert', env=self.wrong)
        d.expect_line(r'chain threshold:t=99,invert does NOT RUN on device .*: stage invert: \d+ samples .* '
                      r'differ .* \(pictures of 61x43, 1 channels, u8\)')
        self.run_one(d, chain='threshold:t=99,invert')
        self.assertEqual(d.metrics()['sluice_device_fallback_total{reason="check"}'], 1)
        self.assertEqual(d.report()['starts'], 1)
        d.stop()

    def test_a_right_stage_beside_it(self):
        d = self.start('--jobs', '1', chain='threshold:t=99', env=self.wrong)
        self.assertNotIn('NOT RUN', d.log())
        self.run_one(d, chain='threshold:t=99')
        d.stop()

    def test_without_a_fallback_it_is_refused(self):
        d = self.daemon('--fallback', 'none', chain='invert', env=self.wrong).start(ready=False)
        log = d.wait(70)
        self.assertRegex(log, r'sluiced: stage invert: \d+ samples of the device differ')

    def launches(self):
        with open(os.path.join(self.dir, 'trace'), encoding='utf-8') as file:
            return sum(line.startswith('kernel ') for line in file)

    def test_what_agreed_is_remembered(self):
        trace = os.path.join(self.dir, 'trace')
        env = dict(self.cache, OPENCL_LAYERS=CL_TRACE, SLUICE_CL_TRACE=trace,
                   SLUICE_DEVICE_SANDBOX='off')  # it keeps the layer from its file
        def entries():
            return {name for name in os.listdir(self.cache['SLUICE_CACHE_DIR']) if name.endswith('.bin')}

        self.start(chain='threshold:t=99', form='png', env=env).stop()
        # eight kinds of pictures in three sizes, a kernel each
        self.assertGreaterEqual(self.launches(), 8 * 3)
        known = entries()
        self.assertGreater(len(known), 8 * 3)  # programs, and what was found
        self.start(chain='threshold:t=99', form='png', env=env).stop()
        self.assertEqual(entries(), known)
        # numbers are no part of the programs, yet other ones are another chain
        self.start(chain='threshold:t=98', form='png', env=env).stop()
        self.assertEqual(len(entries() - known), 8 * 3)

    def test_what_differed_is_not(self):
        d = self.start(chain='invert', env=self.wrong)
        d.expect_line('does NOT RUN')
        d.stop()
        os.rename(self.cache['SLUICE_CACHE_DIR'], self.cache['SLUICE_CACHE_DIR'] + '-old')
        d = self.start(chain='invert', env=self.cache)  # the driver is right again
        self.assertNotIn('NOT RUN', d.log())
        self.run_one(d)
        wait_for('the original', lambda: d.done() == ['a.pgm'])
        d.stop()


if __name__ == '__main__':
    main()
