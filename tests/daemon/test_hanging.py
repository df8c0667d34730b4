#!/usr/bin/env python3
"""A folder whose disk does not answer: the daemon reports it, and everything else goes on as usual."""
import ctypes
import json
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
import unittest

import sockets
from sluice_test import SLUICE, main, wait_for
from test_degraded import Folders

DAEMON_FAULT = os.environ.get('DAEMON_FAULT')
TOLD = 10   # seconds until a hang is told, at most
BACK = 15   # … until files are done after it
SLACK = 3   # for a machine that does other things
OTHER = 20001  # a user


class Health(threading.Thread):
    """Asks for health all the time."""

    def __init__(self, path):
        super().__init__(daemon=True)
        self.path, self.over, self.worst, self.wrong = path, threading.Event(), 0, []

    def run(self):
        while not self.over.wait(0.1):
            for target in ('/livez', '/readyz', '/metrics', '/v1/status'):
                begin = time.monotonic()
                try:
                    answer = sockets.ask(self.path, 'GET', target, timeout=30)
                    if answer.status != 200:
                        self.wrong.append((target, answer.status))
                except OSError as error:
                    self.wrong.append((target, error))
                self.worst = max(self.worst, time.monotonic() - begin)


@unittest.skipUnless(DAEMON_FAULT, 'a preloaded library cannot stand before a sanitizer')
class Hanging(Folders):
    def begin(self, *folders, start=True, **keywords):
        self.switch = self.path('switch')
        self.make('bad')
        d = self.daemon_for(('bad',), *folders, env={'LD_PRELOAD': DAEMON_FAULT, 'SLUICE_FAULT_HANG': self.switch}, **keywords)
        return d.start() if start else d

    def hang(self, *parts):
        with open(self.switch + '.aside', 'w', encoding='utf-8') as file:
            file.write(self.path('bad', *parts))
        os.rename(self.switch + '.aside', self.switch)
        return time.monotonic()

    def answer(self):
        os.unlink(self.switch)

    def watch_health(self):
        health = Health(self.http)
        health.start()

        def expect_well():
            health.over.set()
            health.join()
            self.assertEqual(health.wrong, [])
            self.assertLess(health.worst, 1)
        return expect_well

    def expect_others(self, name):
        """A folder and a client that need nothing of it."""
        begin = time.monotonic()
        self.put('good', name)
        self.expect_done('good', name, SLACK)
        self.assertEqual(sockets.ask(self.http, 'POST', '/v1/process?chain=sobel&format=pgm', b'good').status, 200)
        self.assertLess(time.monotonic() - begin, SLACK)

    def expect_hanging(self, since, d):
        told = self.expect_told('bad', 'hanging', 'folder-hanging', TOLD + SLACK)
        self.assertLess(time.monotonic() - since, TOLD + SLACK)
        self.assertRegex(told['message'], '^%s or %s: no answer for ' % (self.path('bad', 'in'), self.path('bad', 'out')))
        self.assertIsNone(told['next_try'])
        d.expect_line('sluiced: .*/bad/in or .*/bad/out: no answer for .*: the folder hangs', 5)

    def test_whole_folder(self):
        d = self.begin()
        well = self.watch_health()
        since = self.hang()
        self.put('bad', 'x')
        self.expect_others('a')
        self.expect_hanging(since, d)
        self.expect_others('b')
        self.answer()
        self.expect_done('bad', 'x', BACK)
        self.expect_well('bad')
        d.expect_line('there is an answer again')
        well()
        d.stop()

    def test_files_of_it_cannot_be_opened(self):
        """More of them than may be opened at once, while one job runs at a time."""
        d = self.begin()
        well = self.watch_health()
        since = self.hang('in', '.sluice', 'work')
        for i in range(20):
            self.put('bad', 'x%d' % i)
        for i in range(10):
            self.expect_others('a%d' % i)
        self.expect_hanging(since, d)
        self.answer()
        for i in range(20):
            self.expect_done('bad', 'x%d' % i, BACK)
        well()
        d.stop()

    def test_openings_of_claimed_files(self):
        """They are claimed already: it hangs when results are begun."""
        d = self.begin()
        for i in range(20):
            self.put('bad', 'x%d' % i, b'slow')
        wait_for('the first to begin', self.fake_log)
        since = self.hang('out')
        self.expect_others('a')
        self.expect_hanging(since, d)
        self.expect_others('b')
        self.answer()
        for i in range(20):
            self.expect_done('bad', 'x%d' % i, BACK)
        d.stop()

    def test_results_of_it_are_not_placed(self):
        d = self.begin()
        self.put('bad', 'x', b'slow')
        wait_for('it to begin', self.fake_log)
        since = self.hang('in')
        self.expect_others('a')
        self.expect_hanging(since, d)
        self.answer()
        self.expect_done('bad', 'x', BACK)
        self.expect_well('bad')
        d.stop()

    def test_several_results(self):
        """As many jobs as there are slots have begun, and each is still to get the files for its other results."""
        d = self.begin(start=False)
        self.write(('good',), ('bad', 'outputs: [{chain: sobel}, {chain: invert, folder: b}, {chain: median, folder: c}]'))
        d.start()
        for i in range(8):
            self.put('bad', 'x%d' % i, b'results 3 slow')
        wait_for('the first to begin', self.fake_log)
        self.hang('out')
        self.expect_others('a')
        self.answer()
        for i in range(8):
            self.expect_done('bad', 'x%d' % i, BACK)
        d.stop()

    def test_questions(self):
        d = self.begin()
        self.put('good', 'a')
        self.expect_done('good', 'a')
        since = self.hang()
        first = subprocess.Popen([SLUICE, 'why', '--json', '-s', self.jobs, self.path('bad', 'in', 'x')], stdout=subprocess.PIPE)
        self.addCleanup(first.stdout.close)
        for _ in range(3):
            begin = time.monotonic()
            self.assertEqual(self.why(self.path('good', 'in', 'a'))['state'], 'done')
            self.assertLess(time.monotonic() - begin, SLACK)
        self.assertEqual(json.loads(first.communicate(timeout=TOLD + SLACK)[0])['reason'], 'folder-hanging')
        self.expect_hanging(since, d)
        begin = time.monotonic()
        self.assertEqual(sockets.ask(self.http, 'GET', '/v1/files').status, 200)
        self.assertEqual(sockets.ask(self.http, 'POST', '/v1/files/requeue?failed=1').status, 200)
        self.assertEqual(self.why(self.path('bad', 'out', 'x.pgm'))['reason'], 'folder-hanging')
        self.assertLess(time.monotonic() - begin, SLACK)
        self.answer()
        self.expect_well('bad')
        self.assertEqual(self.why(self.path('bad', 'in', 'x'))['state'], 'unknown')
        d.stop()

    @unittest.skipIf(os.getuid(), 'several users need root')
    def test_slow_questions(self):
        """One user's questions, each of which hangs at a file: files of that folder are done, and others' questions answered."""
        d = self.begin()
        self.put('bad', 'x', b'poison')
        reason = self.path('bad', 'in', '.sluice', 'failed', 'x.error.json')
        wait_for('its failure', lambda: os.path.exists(reason))
        self.hang('in', '.sluice', 'failed', 'x.error.json')
        begin = time.monotonic()

        def act():
            os.setuid(OTHER)
            clients = [sockets.Jobs(self.jobs) for _ in range(4)]
            for client in clients:
                for i in range(2):
                    client.send(id=i, type='why', file=self.path('bad', 'in', 'x'))
            time.sleep(60)
        os.chmod(self.dir, 0o755)
        os.chmod(self.jobs, 0o666)
        hostile = multiprocessing.get_context('fork').Process(target=act, daemon=True)
        hostile.start()
        self.addCleanup(hostile.kill)
        time.sleep(4.5)  # a question that is not answered within a second keeps others waiting no longer
        self.put('bad', 'y')
        self.expect_done('bad', 'y', SLACK)
        wait_for('why to say so, too', lambda: self.why(self.path('bad', 'in', 'y'))['state'] == 'done', SLACK)
        seconds = time.monotonic() - begin
        print('beside 8 questions that hang, of one user: a file done and a question answered within %.2f s'
              % (seconds - 4.5), file=sys.stderr)
        self.assertLess(seconds, TOLD)  # nobody has said yet that it hangs
        self.assertEqual(self.folder('bad')['state'], 'ok')
        self.answer()
        d.stop()

    def test_reload_that_retires_it(self):
        d = self.begin()
        well = self.watch_health()
        for i in range(5):
            self.put('bad', 'x%d' % i, b'slow')
        wait_for('the first to begin', self.fake_log)
        self.hang()
        self.write(('good',))
        begin = time.monotonic()
        d.process.send_signal(signal.SIGHUP)
        d.expect_line('reloaded: 1 folders', 30)
        self.assertLess(time.monotonic() - begin, 20)
        d.expect_line('sluiced: .*/bad/in: it hangs, and is left behind')
        self.assertEqual([f['input'] for f in self.get('/v1/status').json()['folders']], [self.path('good', 'in')])
        self.expect_others('a')
        self.answer()
        self.write(('good',), ('bad',))
        d.process.send_signal(signal.SIGHUP)
        d.expect_line('reloaded: 2 folders')
        for i in range(5):
            self.expect_done('bad', 'x%d' % i, 75)  # what is still claimed is found by a scan
        self.expect_others('b')
        well()
        d.stop()

    def test_end(self):
        d = self.begin()
        self.put('bad', 'x')
        self.hang()
        self.put('bad', 'y')
        time.sleep(1)
        begin = time.monotonic()
        d.stop(seconds=40)
        self.assertLess(time.monotonic() - begin, 20)
        self.answer()
        d.start()
        for name in 'xy':
            self.expect_done('bad', name)
        d.stop()

    def test_from_the_start(self):
        d = self.begin(start=False)
        self.put('bad', 'x')
        since = self.hang()
        d.start(ready=False)
        d.expect_line('sluiced: ready$', TOLD + SLACK)
        self.expect_others('a')
        self.expect_hanging(since + 6, d)
        self.answer()
        self.expect_done('bad', 'x', BACK)
        self.expect_well('bad')
        d.stop()


class DeadMount(Folders):
    """A file system whose server never says a word: what asks for anything there waits in the kernel."""

    def mount(self, path):
        libc = ctypes.CDLL(None, use_errno=True)
        try:
            fuse = os.open('/dev/fuse', os.O_RDWR | os.O_CLOEXEC)
        except OSError as error:
            self.skipTest('/dev/fuse: %s' % error)
        options = ('fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other' % fuse).encode()
        if libc.mount(b'dead', path.encode(), b'fuse', 0, options) != 0:
            os.close(fuse)
            self.skipTest('no mounts here: %s' % os.strerror(ctypes.get_errno()))

        def unmount():
            nonlocal fuse
            if fuse >= 0:
                libc.umount2(path.encode(), 2)  # MNT_DETACH
                os.close(fuse)  # whatever waits gets an error
            fuse = -1
        self.addCleanup(unmount)
        return unmount

    def check(self, before):
        self.make('bad')
        d = self.daemon_for(('bad',))
        unmount = self.mount(self.path('bad', 'in')) if before else None
        d.start(ready=False)
        d.expect_line('sluiced: ready$', TOLD + SLACK)
        unmount = unmount or self.mount(self.path('bad', 'in'))
        self.put('good', 'a')
        self.expect_done('good', 'a', SLACK)
        self.expect_told('bad', 'hanging', 'folder-hanging', TOLD + SLACK)
        self.put('good', 'b')
        self.expect_done('good', 'b', SLACK)
        return d, unmount

    def test_at_the_start(self):
        d, unmount = self.check(True)
        unmount()
        self.put('bad', 'x')
        self.expect_done('bad', 'x', BACK)
        self.expect_well('bad')
        d.stop()

    def test_while_it_runs(self):
        d, unmount = self.check(False)
        unmount()
        self.put('bad', 'x')
        self.expect_done('bad', 'x', BACK)
        d.stop()

    def test_end(self):
        d, unmount = self.check(False)
        begin = time.monotonic()
        d.process.send_signal(signal.SIGTERM)
        self.assertEqual(d.process.wait(40), 0)
        self.assertLess(time.monotonic() - begin, 20)
        unmount()

    def test_kill(self):
        d, unmount = self.check(True)
        d.process.kill()
        d.process.wait(2)
        unmount()


if __name__ == '__main__':
    main()
