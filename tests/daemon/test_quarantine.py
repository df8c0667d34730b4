#!/usr/bin/env python3
"""Workers that fail under jobs: others' jobs go on, and only what a job caused counts against it."""
import json
import os
import re
import signal
import time
import unittest

from sluice_test import EMULATED, FALLBACK, DaemonTest, alive, main, picture, wait_for
import sockets


class Quarantine(DaemonTest):
    def serve(self, *options, **keywords):
        self.path = os.path.join(self.dir, 'jobs.sock')
        return self.fake('--jobs-socket', self.path, *options, **keywords)

    def ask(self, **question):
        client = sockets.Jobs(self.path)
        client.send(id=1, **question)
        answer = client.receive()[0]
        client.close()
        return answer

    def status(self):
        return self.ask(type='status')['status']

    def workers(self):
        return self.status()['workers']

    def why(self, path):
        why = self.ask(type='why', file=path)['why']
        return why['state'], why.get('reason')

    def kill_at_work(self, daemon, word, times):
        """SIGKILL for the worker that works at that file, so often; the file takes 0.3 s each time."""
        for i in range(times):
            wait_for('try %d' % i, lambda n=i: self.fake_log().count(word) > n)
            busy = [w['pid'] for w in self.workers() if w['running']]
            self.assertEqual(len(busy), 1)
            os.kill(busy[0], signal.SIGKILL)
            wait_for('its end', lambda: not alive(busy[0]))

    # ---- a replacement that is refused

    def test_refused_replacement_of_a_spoiled_worker(self):
        """Tried again and again, without another device to go to; health says so meanwhile."""
        d = self.serve('--jobs', '1', '--fallback', 'none').start()
        self.plan_starts('refuse', 'refuse', 'crash')
        d.drop('a', b'good')
        d.expect('a.pgm')
        first = d.worker_pid()
        d.drop('b', b'device')
        wait_for('the end of the spoiled one', lambda: not alive(first), 10)
        wait_for('the planned starts', lambda: len(self.setups()) >= 5, 10)
        d.drop('c', b'good')
        d.expect('c.pgm', 10)
        self.assertEqual(d.failed(), [])
        d.stop()
        self.assertTrue('b' in os.listdir(d.input) or 'b' in d.done())

    def test_refused_replacement_goes_down_the_ladder(self):
        d = self.serve('--jobs', '1', '--fallback', 'cpu').start()
        self.plan_starts('refuse')
        d.drop('b', b'device')
        wait_for('the third device', lambda: self.setups() == ['auto', 'cpu', 'reference'], 10)
        d.drop('c', b'good')
        d.expect('c.pgm', 10)
        d.stop()

    # ---- deaths that no job caused

    def test_a_kill_by_somebody_else_counts_against_no_file(self):
        d = self.serve('--jobs', '1').start()
        d.drop('a', b'slow')
        self.kill_at_work(d, 'slow', 4)
        d.expect('a.pgm')
        self.assertEqual(d.failed(), [])
        self.assertEqual(d.metrics()['sluice_worker_ends_total{reason="taken"}'], 4)
        self.assertNotIn('FALLING BACK', d.log())
        d.stop()
        d.expect_clean()

    def test_a_kill_in_quarantine_counts_neither(self):
        """The file has killed a worker once; that its second one is killed by hand proves nothing."""
        d = self.serve('--jobs', '1').start()
        d.drop('a', b'crash-once')
        wait_for('the second try', lambda: len(self.fake_log()) == 2)
        busy = [w['pid'] for w in self.workers() if w['running']]
        os.kill(busy[0], signal.SIGKILL)
        d.expect('a.pgm')
        d.stop()
        d.expect_clean()

    def test_a_crash_counts(self):
        d = self.serve('--jobs', '1').start()
        d.drop('a', b'poison')
        self.assertEqual(d.expect_failed('a')['code'], 'crashed-worker')
        self.assertEqual(self.fake_log(), ['poison'] * 2)
        d.stop()

    # ---- late and crashing jobs have a worker of their own

    def test_others_go_on_while_late_jobs_are_tried_again(self):
        """Six that never end: the worker is killed for them once, and then they are tried again, one after the other,
        beside it. No other file waits for more than that kill."""
        d = self.serve('--jobs', '8', '--job-time', '2s').start()
        for i in range(6):
            d.drop('aside-%d' % i, b'aside %d' % i)
        wait_for('all of them', lambda: len(self.fake_log()) >= 6)
        longest, number, failed = 0, 0, ['aside-%d' % i for i in range(6)]
        while not set(failed) <= set(d.failed()):
            begin, name = time.monotonic(), '%03d' % number
            number += 1
            d.drop(name, name.encode())
            d.expect(name + '.pgm')
            longest = max(longest, time.monotonic() - begin)
            time.sleep(0.1)
        for name in failed:
            self.assertEqual(d.expect_failed(name)['code'], 'job-time')
        self.assertLess(longest, 6)
        self.assertEqual(d.metrics()['sluice_job_quarantines_total'], 6)
        d.stop()
        d.expect_clean()

    def test_a_crashing_job_is_tried_again_beside_the_main_worker(self):
        d = self.serve('--jobs', '2').start()
        d.drop('slow', b'poison-slow')
        d.drop('evil', b'poison-slow')
        wait_for('quarantine', lambda: any(w['quarantine'] and w['running'] for w in self.workers()))
        self.assertGreater(self.status()['queue']['in_quarantine'], 0)
        wait_for('it is told', lambda: ('running', 'suspect') in {self.why(d.in_path(name)) for name in ('evil', 'slow')}, pause=0.05)
        d.drop('good', b'good')
        d.expect('good.pgm')
        d.expect_failed('evil')
        d.expect_failed('slow')
        self.assertEqual(self.fake_log()[-1], 'poison-slow')  # the good one did not wait for these, which wait for it in quarantine
        pids = [(w['pid'], w['quarantine']) for w in self.workers() if w['state'] == 'ready']
        self.assertEqual(sum(1 for _, quarantine in pids if not quarantine), 1)
        d.stop()
        d.expect_clean()

    def test_jobs_that_were_not_begun_are_put_back_only(self):
        d = self.serve('--jobs', '3', '--job-time', '1s').start()
        d.drop('a', b'hang')
        wait_for('it', lambda: self.fake_log() == ['hang'])
        for name in 'bcdef':
            d.drop(name, name.encode())
        d.expect_all([name + '.pgm' for name in 'bcdef'], 20)
        self.assertEqual(d.expect_failed('a')['code'], 'job-time')
        self.assertEqual(d.metrics()['sluice_job_quarantines_total'], 1)
        self.assertEqual(sorted(self.fake_log()), ['b', 'c', 'd', 'e', 'f', 'hang', 'hang'])
        d.stop()
        d.expect_clean()

    def test_a_quarantine_that_does_not_come_up(self):
        """The device has no room for a second worker: the next one of the ladder is taken for it, alone."""
        d = self.serve('--jobs', '2', '--fallback', 'reference', env={'FAKE_WORKER_ROOM': '1'}).start()
        d.drop('a', b'poison')
        self.assertEqual(d.expect_failed('a')['code'], 'crashed-worker')
        setups = self.setups()  # whether the one refused was set up first, and whether the main one is back, is a matter of time
        self.assertEqual((setups.count('reference'), set(setups)), (1, {'auto', 'reference'}))
        self.assertNotIn('FALLING BACK', d.log())
        d.stop()

    def test_a_death_is_no_503(self):
        """While another worker is on its way for the first time requests wait; a worker that does not come is told."""
        http = os.path.join(self.dir, 'http.sock')
        d = self.fake('--http-socket', http, '--fallback', 'none', env={'FAKE_WORKER_SLOW_START': '1'}).start()
        self.assertEqual(sockets.ask(http, 'POST', '/v1/process?chain=sobel', b'good').status, 200)
        os.kill(d.worker_pid(), signal.SIGKILL)
        d.expect_line('ended by signal 9')
        self.assertEqual(sockets.ask(http, 'GET', '/readyz').status, 200)
        self.assertEqual(sockets.ask(http, 'POST', '/v1/process?chain=sobel', b'good').status, 200)
        self.plan_starts(*['refuse'] * 100)
        os.kill(d.worker_pid(), signal.SIGKILL)
        wait_for('503', lambda: sockets.ask(http, 'GET', '/readyz').status == 503, 20)
        self.plan_starts()
        wait_for('200', lambda: sockets.ask(http, 'GET', '/readyz').status == 200, 40)
        d.stop()

    # ---- the time reaches the worker

    def test_the_worker_is_told_the_time(self):
        d = self.serve('--jobs', '1', '--job-time', '3s').start()
        d.drop('a', b'told')
        self.assertEqual(json.loads(d.expect('a.pgm'))['time'], 3000000000)
        d.stop()

    def test_a_worker_that_stops_in_time_is_not_killed(self):
        d = self.serve('--jobs', '1', '--job-time', '1s').start()
        pid = d.worker_pid()
        d.drop('a', b'stops')
        self.assertEqual(d.expect_failed('a')['code'], 'job-time')
        d.drop('b', b'good')
        d.expect('b.pgm')
        self.assertEqual(d.worker_pid(), pid)
        self.assertTrue(alive(pid))
        self.assertFalse(re.search('killed', d.log()))
        d.stop()

    def test_the_real_one_stops_between_steps(self):
        """Sixty windows one after the other, on references; a small picture beside it and one after it. A step is short
        also on a busy machine: the worker has a second to react."""
        d = self.start('--device', 'reference', '--jobs', '2', '--job-time', '1s',
                       chain=','.join(['box:15'] * 60))
        pid = d.worker_pid()
        d.drop('large.pgm', picture(*((800, 600) if EMULATED else (2000, 1500))))
        d.drop('small.pgm', picture(20, 20))
        d.expect('small.pgm')
        reason = d.expect_failed('large.pgm')
        self.assertEqual(reason['code'], 'job-time')
        self.assertIn('--job-time', reason['message'])
        d.drop('later.pgm', picture(20, 20, 1))
        d.expect('later.pgm')
        self.assertTrue(alive(pid))
        self.assertNotIn('killed', d.log())
        d.stop()
        d.expect_clean()

    def test_the_real_one_stops_between_launches(self):
        """The same on a device, whose queue cannot be taken back."""
        self.stops('cpu', 'box:15')

    @unittest.skipUnless(FALLBACK == 'native', 'built without native kernels')
    def test_the_real_one_stops_within_a_launch(self):
        # Sixty boxes are done in time now and then. With sanitizers kernels are not optimized.
        self.stops('native', 'median:3', (2400, 1600) if 'ASAN_OPTIONS' in os.environ else (7000, 5000))

    def stops(self, device, stage, size=(7000, 5000)):
        # No launch may take a second, so PoCL's kernels are those that it optimizes.
        d = self.start('--device', device, '--jobs', '2', '--job-time', '300ms', chain=','.join([stage] * 60),
                       env={'SLUICE_DEVICE_WAIT': 'true', 'POCL_EXTRA_BUILD_FLAGS': '',
                            'SLUICE_CACHE_DIR': os.environ['SLUICE_CACHE_DIR'] + '-optimized'})
        pid = d.worker_pid()
        d.drop('large.pgm', picture(*size))
        d.drop('small.pgm', picture(20, 20))
        d.expect('small.pgm')
        self.assertEqual(d.expect_failed('large.pgm')['code'], 'job-time')
        d.drop('later.pgm', picture(20, 20, 1))
        d.expect('later.pgm')
        self.assertTrue(alive(pid))
        self.assertNotIn('killed', d.log())
        d.stop()
        d.expect_clean()

    # ---- what compiles for one is waited for by nobody else

    def test_a_cold_chain_compiles_beside_hot_ones(self):
        self.path, slow = os.path.join(self.dir, 'jobs.sock'), os.path.join(self.dir, 'slow')
        d = self.start('--jobs-socket', self.path, '--device', 'cpu', '--jobs', '3', '--sandbox', 'off', chain='invert',
                       env={'OPENCL_LAYERS': os.environ['CL_LAYER'], 'SLUICE_FAULT_CL_WAIT': slow, 'SLUICE_DEVICE_WAIT': 'true',
                            'SLUICE_CACHE_DIR': os.path.join(self.dir, 'cache')})
        hot, cold = sockets.Jobs(self.path, timeout=10), sockets.Jobs(self.path)
        self.addCleanup(hot.close)
        self.addCleanup(cold.close)
        self.assertEqual(hot.run(picture(), chain='invert', format='pgm')[0]['result'], 'ok')
        open(slow, 'wb').close()
        self.addCleanup(lambda: os.path.exists(slow) and os.unlink(slow))
        fd = sockets.memory(picture())
        cold.send([fd], id=1, chain='box:3', format='pgm')
        os.close(fd)
        wait_for('it to run', lambda: self.running() == 1)
        time.sleep(0.3)
        for _ in range(3):
            self.assertEqual(hot.run(picture(), chain='invert', format='pgm')[0]['result'], 'ok')
        os.unlink(slow)
        self.assertEqual(cold.receive()[0].get('plane', ''), '')
        d.stop()

    def running(self):
        return sum(worker['running'] for worker in self.workers())


if __name__ == '__main__':
    main()
