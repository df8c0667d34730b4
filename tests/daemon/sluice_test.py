"""The verbs of the daemon's tests: start, drop, expect, stop. Nothing but Python's own library.

The programs are named by the environment: SLUICED and SLUICE; sluiced finds its own worker, or is
told another one by SLUICE_WORKER. Times are upper bounds for slow machines and sanitizers; nothing
waits longer than it must.
"""
import fcntl
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..'))
import pictures  # noqa: E402,F401

SLUICED = os.path.abspath(os.environ['SLUICED'])
SLUICE = os.path.abspath(os.environ['SLUICE'])
FAKE_WORKER = os.path.join(HERE, 'fake_worker.py')
# Under an emulator (tests/emulated.py) SLUICED is a launcher of this program.
EMULATED = os.environ.get('SLUICE_EMULATED') == '1'
SLUICED_FILE = os.environ.get('SLUICED_FILE', SLUICED)
# What the product falls back to unless it is told: it depends on how it was built.
FALLBACK = os.environ.get('DEFAULT_FALLBACK', 'native')
SANITIZED = 'TSAN_OPTIONS' in os.environ
PATIENCE = 600 if EMULATED else 300 if SANITIZED else 90  # seconds


def wait_for(what, condition, seconds=PATIENCE, pause=0.02):
    """Until condition() is true; returns what it returned. An emulator is not asked to be as quick as a test is."""
    seconds = max(seconds, PATIENCE) if EMULATED else seconds
    end = time.monotonic() + seconds
    while True:
        result = condition()
        if result:
            return result
        if time.monotonic() > end:
            raise AssertionError('not within %g s: %s' % (seconds, what))
        time.sleep(pause)


def picture(width=40, height=30, seed=0):
    """The bytes of a PGM that is another one for each seed, quickly made."""
    row = bytes((i * 7 + seed * 13 + (i * i >> 3)) & 255 for i in range(width + height))
    return b'P5\n%d %d\n255\n' % (width, height) + b''.join(row[y:y + width] for y in range(height))


class Daemon:
    """One sluiced, its log, and its folders."""

    def __init__(self, test, *options, chain='sobel', form='pgm', folder=None, env=None, out='out',
                 state='state'):
        self.test = test
        self.dir = folder or test.dir
        self.input, self.output = os.path.join(self.dir, 'in'), os.path.join(self.dir, out)
        self.hidden = os.path.join(self.input, '.sluice')
        self.state = os.path.join(self.dir, state)
        for path in (self.input, self.output):
            os.makedirs(path, exist_ok=True)
        self.options = ['--watch', self.input, '--output', self.output, '--chain', chain, '--format',
                        form, '--state', self.state, *options]
        # Whether this machine's disk is nearly full is not what is tested.
        self.env = {**os.environ, 'SLUICE_LOG_LEVEL': 'debug', 'SLUICE_LIMITS_MIN_FREE': '0%', **(env or {})}
        if 'LD_PRELOAD' in os.environ and 'LD_PRELOAD' in (env or {}):  # of the whole suite tsan
            self.env['LD_PRELOAD'] = '%s:%s' % (os.environ['LD_PRELOAD'], env['LD_PRELOAD'])
        self.process, self.lines, self.reader = None, [], None
        self.prefix = []  # of the command line: what runs sluiced
        self.pass_fds = ()

    # ---- start and stop

    def start(self, ready=True):
        self.lines = []
        self.process = subprocess.Popen([*self.prefix, SLUICED, *self.options], stderr=subprocess.PIPE,
                                        stdin=subprocess.DEVNULL, env=self.env, pass_fds=self.pass_fds)
        self.reader = threading.Thread(target=self._read, args=(self.process.stderr, self.lines),
                                       daemon=True)
        self.reader.start()
        self.test.addCleanup(self._end)
        if ready:
            self.expect_line(r'sluiced: ready$')
        return self

    @staticmethod
    def _read(stream, lines):
        for line in stream:
            lines.append(line.decode(errors='replace').rstrip('\n'))
        stream.close()

    def _end(self):
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def log(self):
        return '\n'.join(self.lines)

    def stop(self, number=signal.SIGTERM, status=0, seconds=PATIENCE):
        self.process.send_signal(number)
        return self.wait(status, seconds)

    def wait(self, status=0, seconds=PATIENCE):
        try:
            got = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise AssertionError('sluiced does not end:\n' + self.log()) from None
        self.reader.join(10)
        log = self.log()
        self.test.assertEqual(got, status, log)
        for line in self.lines:
            self.test.assertNotRegex(line, 'Sanitizer|runtime error:', log)
        return log

    def kill(self):
        """SIGKILL, and the end of the worker that dies with it."""
        worker = self.worker_pid()
        self.process.kill()
        self.process.wait()
        self.reader.join(10)
        if worker:
            wait_for('the end of worker %d' % worker, lambda: not alive(worker))

    # ---- what it says

    def expect_line(self, pattern, seconds=PATIENCE, after=0):
        def look():
            found = [line for line in self.lines[after:] if re.search(pattern, line)]
            if not found and self.process.poll() is not None:
                self.reader.join(10)
                found = [line for line in self.lines[after:] if re.search(pattern, line)]
                if not found:
                    raise AssertionError('sluiced ended without %r:\n%s' % (pattern, self.log()))
            return found[:1]
        try:
            return wait_for('log line %r' % pattern, look, seconds)[0]
        except AssertionError:
            print(self.log(), file=sys.stderr)
            raise

    def count_lines(self, pattern):
        return sum(1 for line in self.lines if re.search(pattern, line))

    def worker_pid(self):
        """Of the worker that came up last."""
        pids = [int(m.group(1)) for m in (re.search(r'worker (\d+) is up', line) for line in self.lines)
                if m]
        return pids[-1] if pids else None

    def report(self):
        """The state that SIGUSR1 logs, as numbers by name."""
        before = len(self.lines)
        self.process.send_signal(signal.SIGUSR1)
        line = self.expect_line(r'worker \d+ \(.*\): starts', after=before)
        match = re.search(r'worker (\d+) \(.*\): starts: (\d+), jobs: (\d+), programs compiled: (\d+), '
                          r'from the cache: (\d+)', line)
        return dict(zip(('pid', 'starts', 'jobs', 'builds', 'hits'), map(int, match.groups())))

    def metrics(self):
        """The metrics that SIGUSR1 logs: a dictionary of numbers by name and labels."""
        before = len(self.lines)
        self.process.send_signal(signal.SIGUSR1)
        self.expect_line(r'sluice_worker_starts_total', after=before)
        time.sleep(0.2)  # the lines after it
        found = {}
        for line in self.lines[before:]:
            match = re.search(r'(sluice_\S+) (\S+)$', line)
            if match:
                found[match.group(1)] = float(match.group(2))
        return found

    # ---- what is put in

    def in_path(self, name):
        return os.path.join(self.input, name)

    def drop(self, name, data, how='close'):
        """`close`: written and closed; `rename`: written elsewhere, renamed in; `link`: hard-linked."""
        path = self.in_path(name)
        if how == 'close':
            with open(path, 'wb') as file:
                file.write(data)
            return
        aside = os.path.join(self.dir, 'aside-%d' % len(os.listdir(self.dir)))
        with open(aside, 'wb') as file:
            file.write(data)
        if how == 'rename':
            os.rename(aside, path)
        else:
            os.link(aside, path)

    # ---- what comes out

    def results(self):
        return sorted(os.listdir(self.output))

    def done(self):
        return sorted(os.listdir(os.path.join(self.hidden, 'done')))

    def failed(self):
        return sorted(os.listdir(os.path.join(self.hidden, 'failed')))

    def result(self, name):
        with open(os.path.join(self.output, name), 'rb') as file:
            return file.read()

    def expect(self, name, seconds=PATIENCE):
        """The bytes of a result, once it is there."""
        try:
            wait_for('result %r' % name, lambda: os.path.exists(os.path.join(self.output, name)), seconds)
        except AssertionError:
            print(self.log(), file=sys.stderr)
            raise
        return self.result(name)

    def expect_all(self, names, seconds=PATIENCE):
        names = set(names)
        try:
            wait_for('%d results' % len(names), lambda: names <= set(os.listdir(self.output)), seconds)
        except AssertionError:
            print(self.log(), file=sys.stderr)
            print('missing:', sorted(names - set(os.listdir(self.output)))[:20], file=sys.stderr)
            raise

    def expect_failed(self, name, seconds=PATIENCE):
        """The reason of a failed file, once both are there."""
        folder = os.path.join(self.hidden, 'failed')
        reason = os.path.join(folder, name + '.error.json')
        try:
            wait_for('%r in failed' % name, lambda: os.path.exists(os.path.join(folder, name)), seconds)
        except AssertionError:
            print(self.log(), file=sys.stderr)
            raise
        with open(reason, encoding='utf-8') as file:
            return json.load(file)

    def expect_done(self, name, seconds=PATIENCE):
        wait_for('%r in done' % name,
                 lambda: os.path.exists(os.path.join(self.hidden, 'done', name)), seconds)

    # ---- what must not be left

    def claims(self):
        """Claimed files, as (instance, serial, name)."""
        work, found = os.path.join(self.hidden, 'work'), []
        for folder, _, names in os.walk(work):
            parts = os.path.relpath(folder, work).split(os.sep)
            found += [(*parts, name) for name in names if len(parts) == 2 and not name.startswith('.')]
        return found

    def temporaries(self):
        folders = [self.output, os.path.join(self.hidden, 'failed')]
        return [name for folder in folders if os.path.isdir(folder) for name in os.listdir(folder)
                if name.startswith('.')]

    def expect_clean(self):
        """After a good end: nothing claimed, no folder of an instance, no temporary file."""
        self.test.assertEqual(self.claims(), [])
        self.test.assertEqual(os.listdir(os.path.join(self.hidden, 'work')), [])
        self.test.assertEqual(self.temporaries(), [])


class DaemonTest(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix='sluice-daemon-')
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)

    def daemon(self, *options, **keywords):
        return Daemon(self, *options, **keywords)

    def start(self, *options, **keywords):
        return self.daemon(*options, **keywords).start()

    def fake(self, *options, **keywords):
        """With the worker that does what a file's content asks for (fake_worker.py)."""
        keywords['env'] = dict(keywords.get('env') or {}, SLUICE_WORKER=FAKE_WORKER,
                               FAKE_WORKER_LOG=os.path.join(self.dir, 'fake-log'))
        return self.daemon(*options, **keywords)

    def fake_log(self):
        """What the fake workers have begun: a line a job."""
        try:
            with open(os.path.join(self.dir, 'fake-log'), encoding='utf-8') as file:
                return file.read().split('\n')[:-1]
        except FileNotFoundError:
            return []

    def setups(self):
        """What the fake workers were set up with: the device, '+wipe' where caches are emptied first."""
        try:
            with open(os.path.join(self.dir, 'fake-log.setups'), encoding='utf-8') as file:
                lines = [json.loads(line) for line in file.read().split('\n')[:-1]]
        except FileNotFoundError:
            return []
        return [line['device'] + ('+wipe' if line.get('wipe') else '') for line in lines]

    def plan_starts(self, *words):
        """What the next starts of fake workers come to."""
        with open(os.path.join(self.dir, 'fake-log.starts'), 'w', encoding='utf-8') as file:
            file.write('\n'.join(words))

    def by_sluice_run(self, data, chain='sobel', form='pgm'):
        """What `sluice run` makes of a picture: a dictionary of bytes by plane ('' for one file)."""
        folder = tempfile.mkdtemp(dir=self.dir)
        source = os.path.join(folder, 'x')
        with open(source, 'wb') as file:
            file.write(data)
        target = os.path.join(folder, 'out')
        os.mkdir(target)
        subprocess.run([SLUICE, 'run', '-c', chain, '-f', form, '-o', target, source], check=True)
        found = {}
        for name in os.listdir(target):
            with open(os.path.join(target, name), 'rb') as file:
                found['.'.join(name.split('.')[1:-1])] = file.read()
        return found


def alive(pid):
    try:
        with open('/proc/%d/stat' % pid, encoding='ascii', errors='replace') as file:
            return file.read().rsplit(')', 1)[1].split()[0] not in ('Z', 'X')
    except (FileNotFoundError, ProcessLookupError):  # the second one: it went while it was read
        return False


def main():
    unittest.main(verbosity=2)


__all__ = ['Daemon', 'DaemonTest', 'EMULATED', 'HERE', 'SLUICE', 'SLUICED', 'SLUICED_FILE', 'FAKE_WORKER', 'PATIENCE', 'alive', 'fcntl', 'main',
           'picture', 'pictures', 'wait_for']
