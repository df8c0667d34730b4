#!/usr/bin/env python3
"""Devices that fail during jobs or never return from a call, and pictures that kill the worker."""
import os
import signal
import time
import unittest

from sluice_test import DaemonTest, alive, main, picture, wait_for

CL_LAYER = os.environ['CL_LAYER']
DAEMON_FAULT = os.environ.get('DAEMON_FAULT')


class DeviceFails(DaemonTest):
    def many(self, d, count):
        names = ['%03d.pgm' % i for i in range(count)]
        for i, name in enumerate(names):
            d.drop(name, picture(seed=i))
        d.expect_all(names)
        wait_for('all originals', lambda: d.done() == names)
        self.assertEqual(d.failed(), [])
        for i in (0, count // 2, count - 1):
            self.assertEqual(d.result(names[i]), self.by_sluice_run(picture(seed=i))[''])
        return names

    def test_an_error_in_the_middle_of_work(self):
        """The 100th launch fails, and all that follow: a device that is lost."""
        self.start('--device', 'cpu').stop()  # what the self-check launches is remembered from here on
        d = self.start('--device', 'cpu', '--fallback', 'reference', '--jobs', '2',
                       env={'OPENCL_LAYERS': CL_LAYER, 'SLUICE_FAULT_CL': 'clEnqueueNDRangeKernel:100+:-5'})
        self.many(d, 150)
        d.expect_line(r"device .*CL_OUT_OF_RESOURCES.*FALLING BACK to 'reference'")
        metrics = d.metrics()
        self.assertEqual(metrics['sluice_device_fallback_total{reason="error"}'], 1)
        self.assertEqual(metrics['sluice_worker_starts_total'], 2)
        self.assertGreaterEqual(metrics['sluice_job_retries_total'], 1)
        self.assertLessEqual(metrics['sluice_job_retries_total'], 2)  # those in flight
        d.stop()
        d.expect_clean()

    def test_an_error_without_a_fallback(self):
        """The third job's launch fails in each worker: a new context each time, and nothing is lost."""
        d = self.fake('--jobs', '1', '--fallback', 'none').start()
        d.drop('a', b'device')
        d.drop('b', b'good')
        d.expect('b.pgm')
        first = d.worker_pid()
        time.sleep(1.5)
        self.assertNotEqual(first, d.worker_pid())
        self.assertEqual(set(self.setups()), {'auto'})
        self.assertEqual(d.failed(), [])
        d.stop()

    def test_every_kind_of_failing_call(self):
        for call in ('clCreateBuffer:3+:-4', 'clEnqueueMapBuffer:9:-12', 'clFlush:5:-36',
                     'clWaitForEvents:10:-14', 'clSetKernelArg:60:-48'):
            folder = os.path.join(self.dir, call.split(':', maxsplit=1)[0])
            os.mkdir(folder)
            d = self.start('--device', 'cpu', '--fallback', 'reference', '--jobs', '1', folder=folder,
                           env={'OPENCL_LAYERS': CL_LAYER, 'SLUICE_FAULT_CL': call})
            names = ['%d.pgm' % i for i in range(12)]
            for i, name in enumerate(names):
                d.drop(name, picture(30 + 40 * i, 30, i))
            d.expect_all(names)
            self.assertEqual(d.failed(), [], call)
            self.assertIn('FALLING BACK', d.log(), call)
            d.stop()

    @unittest.skipUnless(DAEMON_FAULT, 'a preloaded library cannot stand before a sanitizer')
    def test_one_that_cannot_be_killed(self):
        d = self.fake('--jobs', '1', '--job-time', '1s', '--fallback', 'reference',
                      env={'LD_PRELOAD': DAEMON_FAULT, 'SLUICE_FAULT_NO_KILL': '1'}).start()
        stuck = d.worker_pid()
        d.drop('a', b'hang')
        wait_for('the job', lambda: self.fake_log() == ['hang'])
        d.drop('b', b'good')
        d.expect('b.pgm', 40)
        d.expect_line('worker .pid %d. cannot be killed: .* a reboot is due' % stuck)
        self.assertTrue(alive(stuck))
        self.assertEqual(d.expect_failed('a')['code'], 'job-time')
        self.assertEqual(self.setups(), ['auto', 'reference'])
        metrics = d.metrics()
        self.assertEqual(metrics['sluice_devices_lost_total'], 1)
        self.assertEqual(metrics['sluice_device_fallback_total{reason="stuck"}'], 1)
        d.expect_line('a reboot is due: 1 workers are stuck')
        d.process.send_signal(signal.SIGTERM)
        d.wait()
        wait_for('the end of the stuck one', lambda: not alive(stuck))
        d.expect_clean()

    @unittest.skipUnless(DAEMON_FAULT, 'a preloaded library cannot stand before a sanitizer')
    def test_a_picture_that_kills_the_real_worker(self):
        d = self.daemon('--jobs', '2', env={'LD_PRELOAD': DAEMON_FAULT, 'SLUICE_FAULT_POISON': 'poisonous'})
        names = ['%02d.pgm' % i for i in range(30)]
        for i, name in enumerate(names):
            d.drop(name, picture(seed=i))
        d.drop('15-evil.pgm', picture().replace(b'P5\n', b'P5\n# poisonous\n'))
        d.start()
        reason = d.expect_failed('15-evil.pgm')
        self.assertEqual(reason['code'], 'crashed-worker')
        d.expect_all(names)
        wait_for('all originals', lambda: d.done() == names)
        self.assertEqual(d.failed(), ['15-evil.pgm', '15-evil.pgm.error.json'])
        self.assertNotIn('FALLING BACK', d.log())
        self.assertGreaterEqual(d.metrics()['sluice_worker_ends_total{reason="crashed"}'], 2)
        d.stop()
        d.expect_clean()


if __name__ == '__main__':
    main()
