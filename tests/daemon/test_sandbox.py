#!/usr/bin/env python3
"""The worker's sandbox: a preloaded library (tests/fault/sandbox_probe.c) makes every thread of a working worker try
forbidden calls, and records which are refused; the results of jobs are right meanwhile."""
import errno
import os
import signal
import time
import unittest

from sluice_test import FALLBACK, DaemonTest, alive, main, picture, wait_for
from built import needs_opencl
import sockets

PROBE = os.environ.get('SANDBOX_PROBE')
TRIES = ['open-etc', 'open-front', 'list-root', 'write-input', 'write-usr', 'mode', 'remove', 'inet', 'unix',
         'exec', 'ptrace', 'kill-front', 'unshare', 'namespace', 'mount', 'bpf', 'typing', 'own', 'signal', 'async',
         'notify', 'ioctl-async', 'ioctl-own', 'affinity', 'param', 'scheduler', 'lease', 'own-scheduler', 'read-open']
REFUSED = {errno.EPERM, errno.EACCES}



class SandboxTest(DaemonTest):
    def serve(self, *options, env=None, **keywords):
        self.path = os.path.join(self.dir, 'jobs.sock')
        daemon = self.daemon('--jobs-socket', self.path, *options, env=env, **keywords).start()
        self.level = self.status()['worker']['sandbox']
        return daemon

    def status(self):
        client = sockets.Jobs(self.path)
        client.send(id=1, type='status')
        answer = client.receive()[0]
        client.close()
        return answer['status']

    def job(self, chain, data=None):
        client = sockets.Jobs(self.path)
        report, files = client.run(data or picture(), chain=chain, format='pgm')
        client.close()
        self.assertEqual(report['result'], 'ok', report)
        return files['']

    def need_all(self):
        if not self.level.startswith('whole'):
            self.skipTest('this kernel gives no whole sandbox: ' + self.level)


@unittest.skipUnless(PROBE, 'a preloaded library cannot stand before a sanitizer')
class Probes(SandboxTest):
    def serve_probed(self, *options, **keywords):
        self.report = os.path.join(self.dir, 'probe')
        self.intruder, self.victim = os.path.join(self.dir, 'in/.intruder'), os.path.join(self.dir, 'in/.victim')
        os.mkdir(os.path.join(self.dir, 'in'))
        open(self.victim, 'wb').close()
        os.chmod(self.victim, 0o640)
        daemon = self.serve(*options, env={'LD_PRELOAD': PROBE, 'SLUICE_PROBE': self.report,
                                           'SLUICE_PROBE_MAKE': self.intruder,
                                           'SLUICE_PROBE_REMOVE': self.victim,
                                           'SLUICE_DEVICE_WAIT': 'true'}, **keywords)
        return daemon

    def probe(self, daemon):
        """What each thread met: {(thread, kind): {what: errno}}."""
        open(self.report, 'wb').close()
        os.kill(daemon.worker_pid(), signal.SIGRTMIN + 3)
        seen = {}

        def whole():
            seen.clear()
            with open(self.report, encoding='ascii') as file:
                for line in file.read().split('\n')[:-1]:
                    thread, kind, what, error = line.split()
                    seen.setdefault((thread, kind), {})[what] = int(error)
            return seen and all(list(tries) == TRIES for tries in seen.values()) and self.count(daemon) <= len(seen)
        wait_for('what all threads met', whole, 30)
        return seen

    @staticmethod
    def count(daemon):
        return len(os.listdir('/proc/%d/task' % daemon.worker_pid()))

    def expect_refused(self, seen, kinds):
        self.assertEqual({kind for _, kind in seen}, kinds)
        for thread, tries in seen.items():
            allowed = [what for what, error in tries.items() if error not in REFUSED]
            self.assertEqual(allowed, ['own-scheduler', 'read-open'], (thread, tries))
        self.assertFalse(os.path.exists(self.intruder))
        self.assertEqual(os.stat(self.victim).st_mode & 0o777, 0o640)

    @needs_opencl
    def test_opencl(self):
        """Threads of PoCL and ours. Nothing is compiled before the first job, and nothing is in the cache: kernels are
        compiled, linked and loaded inside."""
        cold = os.path.join(self.dir, 'cache')
        os.environ, before = dict(os.environ, SLUICE_CACHE_DIR=cold), os.environ
        self.addCleanup(setattr, os, 'environ', before)
        daemon = self.serve_probed('--device', 'cpu', '--jobs', '3', chain='')
        self.need_all()
        self.assertEqual(self.job('invert'), self.by_sluice_run(picture(), 'invert')[''])
        self.expect_refused(self.probe(daemon), {'main', 'engine', 'driver'})
        builds = self.status()['worker']['builds']
        got = self.job('box:3,invert')
        self.assertGreater(self.status()['worker']['builds'], builds)
        self.expect_refused(self.probe(daemon), {'main', 'engine', 'driver'})
        self.assertEqual(got, self.by_sluice_run(picture(), 'box:3,invert')[''])
        daemon.stop()

    def test_references(self):
        daemon = self.serve_probed('--device', 'reference', '--jobs', '2')
        self.need_all()
        self.assertEqual(self.job('sobel'), self.by_sluice_run(picture())[''])
        self.expect_refused(self.probe(daemon), {'main', 'engine'})
        self.assertEqual(self.job('sobel'), self.by_sluice_run(picture())[''])
        daemon.stop()

    def test_the_probe_itself(self):
        """Without a sandbox it gets through: it does not fail for another reason."""
        daemon = self.serve_probed('--device', 'reference', '--sandbox', 'off')
        self.assertEqual(self.level, 'off')
        seen = self.probe(daemon)
        for tries in seen.values():
            for what in ('open-etc', 'open-front', 'list-root', 'inet', 'unix', 'exec', 'kill-front'):
                self.assertEqual(tries[what], 0, (what, tries))
            self.assertEqual(tries['ptrace'], errno.ESRCH)  # it is no child of that thread
        self.assertTrue(os.path.exists(self.intruder))
        self.assertFalse(os.path.exists(self.victim))
        daemon.stop()


    def test_caches_are_wiped_inside(self):
        crash, cold = os.path.join(self.dir, 'crash'), os.path.join(self.dir, 'cache')
        open(crash, 'wb').close()
        for name in ('pocl', 'pocl-wiped-1'):  # the second one of a worker that was killed meanwhile
            os.makedirs(os.path.join(cold, name, 'AB'))
        os.environ, before = dict(os.environ, SLUICE_CACHE_DIR=cold, SLUICE_PROBE_CRASH=crash), os.environ
        self.addCleanup(setattr, os, 'environ', before)
        daemon = self.serve_probed('--device', 'cpu', '--jobs', '1', chain='')
        daemon.expect_line('the next one empties the kernel caches first')
        self.need_all()
        with open(self.report, encoding='ascii') as file:
            tries = [line.split()[2:] for line in file.read().split('\n')[:-1]]
        self.assertEqual(tries, [['wipe', str(errno.EACCES)]])
        self.assertFalse([name for name in os.listdir(cold) if 'wiped' in name])
        daemon.stop()

    # ---- what it starts ends with it

    def escape(self, daemon, count):
        """Pids of processes that the worker has started to outlive it."""
        open(self.report, 'wb').close()
        os.kill(daemon.worker_pid(), signal.SIGRTMIN + 5)

        def told():
            with open(self.report, encoding='ascii') as file:
                lines = [line.split() for line in file.read().split('\n')[:-1]]
            return {how: int(pid) for pid, word, how, _ in lines if word == 'escaped'}
        wait_for('%d processes' % count, lambda: len(told()) == count, 30)
        pids = told()
        self.assertTrue(all(alive(pid) for pid in pids.values()), pids)
        self.addCleanup(lambda: [os.kill(pid, signal.SIGKILL) for pid in pids.values() if alive(pid)])
        return pids

    def expect_gone(self, pids):
        try:
            wait_for('the end of all', lambda: not any(alive(pid) for pid in pids.values()), 10)
        except AssertionError:
            self.fail('still there: %s' % [how for how, pid in pids.items() if alive(pid)])

    def test_nothing_outlives_the_worker(self):
        daemon = self.serve_probed('--device', 'reference', '--sandbox', 'off')
        pids = self.escape(daemon, 3)
        os.kill(daemon.worker_pid(), signal.SIGKILL)
        self.expect_gone(pids)
        daemon.expect_line(r'ended by signal 9')
        self.assertEqual(self.job('sobel'), self.by_sluice_run(picture())[''])
        daemon.stop()

    def test_nothing_outlives_the_front(self):
        daemon = self.serve_probed('--device', 'reference', '--sandbox', 'off')
        worker, pids = daemon.worker_pid(), self.escape(daemon, 3)
        daemon.process.kill()
        daemon.process.wait()
        self.expect_gone(dict(pids, worker=worker))

    def test_nothing_outlives_it_in_good_order(self):
        daemon = self.serve_probed('--device', 'reference', '--sandbox', 'off')
        pids = self.escape(daemon, 3)
        daemon.stop()
        self.expect_gone(pids)

    @needs_opencl
    def test_nothing_outlives_a_sandboxed_one(self):
        daemon = self.serve_probed('--device', 'cpu', '--jobs', '2')
        self.need_all()
        pids = self.escape(daemon, 2)  # without a sibling, which seccomp refuses
        daemon.process.kill()
        daemon.process.wait()
        self.expect_gone(pids)


class Levels(SandboxTest):
    def test_reported(self):
        daemon = self.serve('--device', 'reference')
        self.assertRegex(self.level, r'^(whole|partly|limits alone): .*(landlock|threads).*seccomp.*, limits$')
        daemon.expect_line(r'worker \d+, its sandbox')
        daemon.stop()

    def test_every_worker_has_it(self):
        """One that replaced another, and one after a death."""
        daemon = self.serve('--device', 'reference', '--worker-jobs', '3')
        first = daemon.worker_pid()
        for _ in range(8):
            self.job('sobel')
        wait_for('a second worker', lambda: daemon.worker_pid() != first)
        os.kill(self.status()['worker']['pid'], signal.SIGKILL)
        second = daemon.worker_pid()
        wait_for('a third worker', lambda: daemon.worker_pid() != second)
        time.sleep(0.2)
        self.assertEqual(self.status()['worker']['sandbox'], self.level)
        workers = daemon.count_lines(r'worker \d+ is up')
        self.assertEqual(daemon.count_lines(r'worker \d+, its sandbox.*: ' + self.level), workers)
        daemon.stop()

    @unittest.skipUnless(FALLBACK == 'native', 'no native kernels')
    def test_without_a_driver(self):
        """On the native device no file is opened: what was checked is not kept either, and nothing is said of it."""
        daemon = self.serve('--device', 'native', '--sandbox', 'auto', env={'SLUICE_CACHE_DIR': self.dir})
        self.assertEqual(daemon.count_lines('cache entry'), 0)
        self.job('invert')
        self.assertEqual(daemon.count_lines('cache entry'), 0)
        daemon.stop()

    def test_off(self):
        daemon = self.serve('--device', 'reference', '--sandbox', 'off')
        self.assertEqual(self.level, 'off')
        daemon.stop()

    def test_required(self):
        """Where it cannot be had the daemon says so and does not start. Here a seccomp filter of the starter's
        takes Landlock away, as an old kernel would."""
        daemon = self.serve('--device', 'reference')
        whole = self.level.startswith('whole')
        daemon.stop()
        daemon = self.daemon('--device', 'reference', '--sandbox', 'required')
        if whole:
            daemon.start()
            daemon.stop()
            daemon.env['LD_PRELOAD'] = os.environ.get('NO_LANDLOCK', '')
            if not daemon.env['LD_PRELOAD']:
                return
        daemon.start(ready=False)
        self.assertIn('the sandbox is required and not whole here', daemon.wait(78))


main()
