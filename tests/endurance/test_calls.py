#!/usr/bin/env python3
"""Every call of the front and the worker that can fail or hang does so: once, each time from then on, or by never
returning.

A run without a fault tells which calls there are (tests/fault/call_fault.c): a site is a program, a function and a
file; of each the first CALLS_OCCURRENCES=N calls (2) are tried. In each run the daemon starts, does two files and two requests, and
ends; then another one starts without a fault. After that each file is there once and whole, or has failed with a
reason. Health is answered within HEALTH seconds while a disk fails or hangs, and whoever asks gets an answer or an end.

CALLS_AT_ONCE=N tries at once (8), each in a process of its own: eight a core keep a machine busy, as most of the time they wait;
above a hundred, fs.inotify.max_user_instances has to be raised. CALLS_PARTS=I/N does the I-th, from 0, of N parts of the
tries; CALLS_COMBINATIONS=N the first N combinations of settings (all of them).
"""
import collections
import concurrent.futures
import errno
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import zlib

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'daemon'))
import sockets  # noqa: E402
from sluice_test import SLUICE, SLUICED, DaemonTest, main, picture  # noqa: E402

LIBRARY = os.environ.get('CALL_FAULT')
PART, PARTS = map(int, os.environ.get('CALLS_PARTS', '0/1').split('/'))
OCCURRENCES = int(os.environ.get('CALLS_OCCURRENCES', '2'))
HEALTH = 3      # seconds, on a machine that does other things
PATIENCE = 8    # until a run with a fault is ended
AT_ONCE = int(os.environ.get('CALLS_AT_ONCE', '8'))
# sync, originals, claim: all that may go together.
COMBINATIONS = [(sync, originals, 'rename') for sync in ('each', 'off') for originals in ('done', 'delete', 'keep')]
COMBINATIONS += [(sync, 'keep', 'none') for sync in ('each', 'off')]
COMBINATIONS = COMBINATIONS[:int(os.environ.get('CALLS_COMBINATIONS', '99'))]

# What a call on it may wait for is a disk. The kernel answers calls on anything else by itself.
DISKS = ('/in', '/out', '/state')
ERRORS = {'open': errno.EMFILE, 'write': errno.ENOSPC, 'pwrite': errno.ENOSPC, 'mkdir': errno.ENOSPC, 'mkdirat': errno.ENOSPC,
          'ftruncate': errno.ENOSPC, 'socketpair': errno.EMFILE, 'memfd_create': errno.ENOMEM, 'accept4': errno.EMFILE,
          'sendmsg': errno.ENOBUFS, 'mmap': errno.ENOMEM}
# Lines that a run without a fault has, too.
USUAL = re.compile(r'sluiced: (worker \d+ (is up|, its sandbox)|worker \d+, its|watching |ready|.* is the first file taken|.*: done in |SIGTERM|'
                   r'ended: |.*unfinished work stays)')
Try = collections.namedtuple('Try', 'site nth how error')


class Run:
    """A daemon in a folder of its own, which is removed."""

    def __init__(self, settings):
        self.dir = tempfile.mkdtemp(prefix='sluice-calls-')
        self.calls = self.path('calls')
        for name in ('in', 'out', 'calls'):
            os.mkdir(self.path(name))
        with open(self.path('calls', 'root'), 'w', encoding='utf-8') as file:
            file.write(self.dir)
        with open(self.path('calls', 'count'), 'wb') as file:
            file.write(b'\0' * 8)
        sync, originals, claim = settings
        self.originals = originals
        self.options = ['--watch', self.path('in'), '--output', self.path('out'), '--chain', 'sobel', '--format', 'pgm', '--state',
                        self.path('state'), '--sync', sync, '--originals', originals, '--claim', claim, '--stable', '50ms',
                        '--device', 'reference', '--jobs', '2', '--job-time', '3s', '--shutdown', '3s', '--http-socket',
                        self.path('http'), '--jobs-socket', self.path('jobs')]
        self.wrong, self.log, self.slowest = [], '', 0

    def path(self, *parts):
        return os.path.join(self.dir, *parts)

    def start(self, faults):
        env = dict(os.environ, SLUICE_LOG_LEVEL='info', **({'LD_PRELOAD': LIBRARY, 'SLUICE_CALLS': self.calls} if faults else {}))
        with open(self.path('log'), 'ab') as log:
            self.process = subprocess.Popen([SLUICED, *self.options], stdin=subprocess.DEVNULL, stderr=log, env=env)

    def read_log(self):
        with open(self.path('log'), encoding='utf-8', errors='replace') as file:
            return file.read()

    def wait(self, condition, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if condition():
                return True
            time.sleep(0.02)
        return False

    def drop(self, name):
        with open(self.path(name + '.aside'), 'wb') as file:
            file.write(picture(seed=ord(name)))
        os.rename(self.path(name + '.aside'), self.path('in', name))

    def list(self, *parts):
        try:
            return sorted(os.listdir(self.path(*parts)))
        except FileNotFoundError:
            return []

    def has_ended(self, name):
        """Its result is there and its original where it belongs; or it has failed."""
        back = self.originals == 'keep'
        done = len(self.results_of(name)) > 0 and (name in self.list('in')) == back
        return done or name + '.error.json' in self.list('in', '.sluice', 'failed')

    def results_of(self, name):
        """Under a number where nobody could tell whether the name is free."""
        return [one for one in self.list('out') if re.fullmatch(name + r'(-\d+)?\.pgm', one)]

    # ---- who asks

    def ask_http(self):
        try:
            return sockets.ask(self.path('http'), 'POST', '/v1/process?chain=sobel&format=pgm', picture(), timeout=15).status
        except TimeoutError:
            return 'nothing'
        except OSError:
            return 'an end'
        except Exception as error:  # pylint: disable=broad-except
            return 'an end' if 'HTTP' in type(error).__name__ or 'Disconnected' in type(error).__name__ else repr(error)

    def ask_jobs(self):
        try:
            client = sockets.Jobs(self.path('jobs'), timeout=15)
            try:
                client.send([sockets.memory(picture())], id=1, chain='sobel', format='pgm')
                message, fd = client.receive()
                if fd is not None:
                    os.close(fd)
                return message['result'] if message else 'an end'
            finally:
                client.close()
        except TimeoutError:
            return 'nothing'
        except OSError:
            return 'an end'

    def watch_health(self, over):
        """Only while a disk is in trouble: a front whose sockets fail may end what it cannot serve."""
        while not over.wait(0.1):
            begin = time.monotonic()
            try:
                status = sockets.ask(self.path('http'), 'GET', '/livez', timeout=20).status
            except OSError:
                status = None
            taken = time.monotonic() - begin
            self.slowest = max(self.slowest, taken)
            if self.process.poll() is None and not over.is_set() and (status != 200 or taken > HEALTH):
                self.wrong.append('/livez: %s after %.1f s' % (status, taken))

    # ---- a run

    def work(self, disk):
        """As far as the fault lets it come."""
        self.drop('a')
        self.start(True)
        ready = self.wait(lambda: 'sluiced: ready' in self.read_log() or self.process.poll() is not None, PATIENCE)
        self.drop('b')
        if self.process.poll() is not None:
            return
        over = threading.Event()
        health = threading.Thread(target=self.watch_health, args=(over,))
        if disk and ready:
            health.start()
        answers = [self.ask_http(), self.ask_jobs()] if ready else []
        for name, answer in zip(('http', 'jobs'), answers):
            if (answer == 'nothing' and self.function != 'accept4') or (disk and answer not in (200, 'ok')):
                self.wrong.append('%s: %s' % (name, answer))
        self.ended = self.wait(lambda: all(map(self.has_ended, 'ab')) or self.process.poll() is not None, PATIENCE)
        self.status = self.ask_status() if disk and not self.ended else None
        over.set()
        if health.ident:
            health.join()

    def ask_status(self):
        try:
            return sockets.ask(self.path('http'), 'GET', '/v1/status', timeout=15).json()
        except (OSError, ValueError) as error:
            self.wrong.append('/v1/status: %r' % error)
            return None

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
        try:
            status = self.process.wait(25)
        except subprocess.TimeoutExpired:
            self.process.kill()
            try:
                self.process.wait(2)
            except subprocess.TimeoutExpired:
                self.wrong.append('SIGKILL does not end it')
            return 'killed'
        if status < 0 or status in (1, 134, 139):
            self.wrong.append('it ended with %d' % status)
        return status

    def try_one(self, attempt, expected):
        disk = attempt.site.split()[2].startswith(DISKS)
        self.expected, self.function = expected, attempt.site.split()[1]
        with open(self.path('calls', 'rule'), 'w', encoding='utf-8') as file:
            file.write('%s\n%d %s %d\n' % (attempt.site, attempt.nth, attempt.how, attempt.error))
        self.ended, self.status = False, None
        self.work(disk)
        self.reached = self.count() >= attempt.nth
        self.check_told(attempt)
        hanging = attempt.how == 'hang'
        status = self.stop()
        if status == 'killed' and not hanging:
            self.wrong.append('SIGTERM does not end it')
        os.unlink(self.path('calls', 'rule'))
        self.log = self.read_log()
        self.finish()

    def count(self):
        with open(self.path('calls', 'count'), 'rb') as file:
            return int.from_bytes(file.read(4), 'little')

    def check_told(self, attempt):
        """What kept a file from its end stands in the status, or was why the daemon ended; and in the log."""
        if self.ended or not self.reached or self.process.poll() is not None or not self.status:
            return
        queue, log = self.status['queue'], [line for line in self.read_log().splitlines() if not USUAL.match(line)]
        told = [f for f in self.status['folders'] if f['state'] != 'ok' or f['last_error'] or f['waiting'] or f['retrying']]
        if not told and not log and not queue['running'] and not queue['settling']:
            self.wrong.append('nothing told: %s' % json.dumps(self.status['folders']))

    def finish(self):
        """Without a fault everything comes to its end."""
        self.start(False)
        ours = ['in', '.sluice', 'work']
        if not self.wait(lambda: self.read_log().count('sluiced: ready') > self.log.count('sluiced: ready') and
                         all(map(self.has_ended, 'ab')) and len(self.list(*ours)) <= 1, 30):
            self.wrong.append('not ended: in %s, out %s' % (self.list('in'), self.list('out')))
        self.process.terminate()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.wrong.append('the second one does not end')
            self.process.kill()
            self.process.wait()
        failed = self.list('in', '.sluice', 'failed')
        done = [name for name in 'ab' if name not in failed]
        self.failed = 'ab' if not done else ''.join(sorted(set('ab') - set(done)))
        if [len(self.results_of(name)) for name in done] != [1] * len(done) or len(self.list('out')) != len(done):
            self.wrong.append('results %s, failed %s' % (self.list('out'), failed))
        for name, result in [(name, result) for name in done for result in self.results_of(name)]:
            with open(self.path('out', result), 'rb') as file:
                if file.read() != self.expected[name]:
                    self.wrong.append('%s is not whole' % name)
        originals = {'done': ('in', '.sluice', 'done'), 'keep': ('in',)}.get(self.originals)
        if originals and [n for n in self.list(*originals) if n in 'ab'] != done:
            self.wrong.append('originals: %s' % self.list(*originals))
        work = self.list('in', '.sluice', 'work')
        if work:
            self.wrong.append('left in work: %s' % work)

    def remove(self):
        shutil.rmtree(self.dir, ignore_errors=True)


def try_one(settings, attempt, expected):
    """In a process of its own: whether it came to the call, how many files failed, what was wrong and the log."""
    run = Run(settings)
    try:
        run.try_one(attempt, expected)
        return run.reached, len(run.failed), run.wrong, run.log
    except Exception as error:  # pylint: disable=broad-except
        return False, 0, [repr(error)], run.log
    finally:
        run.remove()


class Calls(DaemonTest):
    def expected(self):
        return {name: self.by_sluice_run(picture(seed=ord(name)))[''] for name in 'ab'}

    def trace(self, settings):
        """Sites, and how often each was called, of a run to its orderly end."""
        run = Run(settings)
        self.addCleanup(run.remove)
        with open(run.path('calls', 'trace'), 'w', encoding='utf-8'):
            pass
        run.work(True)
        run.stop()
        self.assertEqual(run.wrong, [], run.read_log())
        self.assertTrue(run.ended, run.read_log())
        with open(run.path('calls', 'trace'), encoding='utf-8', errors='replace') as file:
            return collections.Counter(line.rstrip('\n') for line in file if len(line.split()) == 3)

    def tries(self, sites):
        for site, times in sorted(sites.items()):
            program, function, name = site.split()
            if program not in ('sluiced', 'sluice-worker', 'sluice-receiver') or name.startswith('/calls'):
                continue
            if name.startswith(('/usr', '/lib', '/etc/ld', 'pipe:', 'anon_inode:')) or name == '/log':
                continue  # not ours, or what no kernel lets fail
            for nth in range(1, min(times, OCCURRENCES) + 1):
                yield Try(site, nth, 'once', ERRORS.get(function, errno.EIO))
            yield Try(site, 1, 'always', ERRORS.get(function, errno.EIO))
            # The kernel does not let calls wait that are not about a disk; a worker may hang anywhere.
            if name.startswith(DISKS) or program == 'sluice-worker':
                yield Try(site, 1, 'hang', errno.EIO)

    def choose(self):
        """The tries of this part, those that take longest first. A try is in the same part whatever else was traced."""
        todo, sites, calls = [], set(), 0
        for settings in COMBINATIONS:
            traced = self.trace(settings)
            calls += sum(traced.values())
            sites |= set(traced)
            todo += [(settings, attempt) for attempt in self.tries(traced)]
        part = {one: zlib.crc32(repr(one).encode()) for one in todo}
        chosen = sorted((one for one in todo if part[one] % PARTS == PART), key=lambda one: (one[1].how != 'hang', part[one]))
        return chosen, '%d calls at %d sites in %d combinations, %d tries' % (calls, len(sites), len(COMBINATIONS), len(todo))

    def test_each(self):
        if not LIBRARY:
            self.skipTest('a preloaded library cannot stand before a sanitizer')
        began = time.monotonic()
        expected, (todo, what) = self.expected(), self.choose()
        print('%s; %d in this part' % (what, len(todo)), flush=True)
        counts, bad = collections.Counter(), []
        with concurrent.futures.ProcessPoolExecutor(AT_ONCE) as pool:
            runs = {pool.submit(try_one, *one, expected): one for one in todo}
            for run in concurrent.futures.as_completed(runs):
                (settings, attempt), (reached, failed, wrong, log) = runs[run], run.result()
                counts.update({attempt.how: 1, 'reached': reached, 'failed': failed})
                if wrong:
                    bad.append((settings, attempt, wrong))
                    print('%s %s: %s\n%s' % (settings, attempt, wrong, log), flush=True)
        print('%s; %d runs (%d once, %d always, %d hanging) of which %d came to the call, %d files failed with a reason; '
              '%d runs with something wrong; %.0f s' % (what, len(todo), counts['once'], counts['always'], counts['hang'],
                                                        counts['reached'], counts['failed'], len(bad), time.monotonic() - began))
        self.assertEqual(bad, [])


if __name__ == '__main__':
    main()
