#!/usr/bin/env python3
"""The worker's sandbox: every thread of a worker at work tries what it has no business with, by a library
that it is made to load (tests/fault/sandbox_probe.c); jobs come out right meanwhile."""
import errno
import os
import signal
import time
import unittest

from sluice_test import DaemonTest, main, picture, wait_for
import sockets

PROBE = os.environ.get('SANDBOX_PROBE')
TRIES = ['open-etc', 'open-front', 'list-root', 'write-input', 'write-usr', 'mode', 'remove', 'inet', 'unix',
         'exec', 'ptrace', 'kill-front', 'unshare', 'namespace', 'mount', 'bpf', 'typing', 'read-open']
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
                                           'SLUICE_PROBE_REMOVE': self.victim}, **keywords)
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
            self.assertEqual(allowed, ['read-open'], (thread, tries))
        self.assertFalse(os.path.exists(self.intruder))
        self.assertEqual(os.stat(self.victim).st_mode & 0o777, 0o640)

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
