#!/usr/bin/env python3
"""Workers that die before they are ready: the kernel caches go first, then the device."""
import os

from sluice_test import FALLBACK, DaemonTest, main


class StartCrashes(DaemonTest):
    def test_once_empties_the_caches(self):
        d = self.fake('--jobs', '1')
        self.plan_starts('crash')
        d.start()
        self.assertEqual(self.setups(), ['auto', 'auto+wipe'])
        d.expect_line('while it started: the next one empties the kernel caches first')
        self.assertNotIn('FALLING BACK', d.log())
        d.drop('a', b'good')
        d.expect('a.pgm')
        self.assertEqual(d.metrics()['sluice_kernel_cache_wipes_total'], 1)
        d.stop()

    def test_twice_falls_back_and_the_device_is_tried_again(self):
        d = self.fake('--jobs', '1')
        self.plan_starts('crash', 'crash')
        d.start()
        self.assertEqual(self.setups(), ['auto', 'auto+wipe', FALLBACK])
        d.expect_line(r"FALLING BACK to '%s'; it is tried again in 30s" % FALLBACK)
        d.expect_line('the work is done by the fallback device')
        metrics = d.metrics()
        self.assertEqual(metrics['sluice_device_fallback_total{reason="start"}'], 1)
        self.assertEqual(metrics['sluice_device_on_fallback'], 1)
        d.drop('a', b'good')
        d.expect('a.pgm')
        d.expect_line("device 'auto' is tried again", 40)
        d.expect_line('the device is in use again')
        self.assertEqual(self.setups()[3:], ['auto'])
        self.assertEqual(d.metrics()['sluice_device_on_fallback'], 0)
        d.drop('b', b'good')
        d.expect('b.pgm')
        d.stop()
        d.expect_clean()

    def test_the_ladder(self):
        d = self.fake('--jobs', '1')
        self.plan_starts('crash', 'crash', 'crash')
        d.start()
        self.assertEqual(self.setups(), ['auto', 'auto+wipe', FALLBACK, 'reference'])
        d.stop()

    def test_a_device_that_refuses(self):
        d = self.fake('--jobs', '1', '--device', 'some', '--fallback', 'reference')
        self.plan_starts('refuse')
        d.start()
        self.assertEqual(self.setups(), ['some', 'reference'])
        d.expect_line('device fake|device some: fake device: refuse; FALLING BACK')
        d.stop()

    def test_no_fallback(self):
        d = self.fake('--jobs', '1', '--fallback', 'none')
        self.plan_starts('refuse')
        d.start(ready=False)
        d.wait(70)
        self.assertEqual(self.setups(), ['auto'])

    def test_a_missing_device_is_a_mistake_at_first_and_a_failure_later(self):
        d = self.fake('--jobs', '1', '--device', 'some', '--fallback', 'reference')
        self.plan_starts('missing')
        d.start(ready=False)
        d.wait(69)
        d = self.fake('--jobs', '1', '--device', 'some', '--fallback', 'reference').start()
        self.plan_starts('missing')
        os.kill(d.worker_pid(), 9)
        d.expect_line("FALLING BACK to 'reference'")
        d.drop('a', b'good')
        d.expect('a.pgm')
        self.assertEqual(self.setups()[-1], 'reference')
        d.stop()

    def test_no_device_at_all_where_none_was_named(self):
        """Built without native kernels, on a machine without a driver of OpenCL."""
        d = self.fake('--jobs', '1')
        self.plan_starts('missing', 'missing')
        d.start()
        self.assertEqual(self.setups(), ['auto', FALLBACK, 'reference'])
        d.drop('a', b'good')
        d.expect('a.pgm')
        d.stop()


if __name__ == '__main__':
    main()
