#!/usr/bin/env python3
"""Mixed work, some of it hostile, with faults, for a set time: nothing grows, nothing is lost.

usage: soak.py [SECONDS [PLOT.svg]]       (or SLUICE_SOAK and SLUICE_SOAK_PLOT; 600 s)

Two folders, HTTP and the jobs socket are kept at work; one job in twenty is damaged, cut, a bomb, or not what it says it
is. In turn: the worker is killed, the configuration is reloaded, results find no space on the disk, a folder hangs, the
date jumps; once, early, the front is killed. What is looked at twice in a hundredth of the time: memory, descriptors and
threads of the front, the worker's memory, files that are kept, the ledger's size. At the end each good file has one result,
and a line through the samples of the last four fifths does not rise."""
import json
import os
import signal
import struct
import sys
import time

import sockets
from sluice_test import DaemonTest, main, picture, pictures, wait_for

SPAN = float(os.environ.get('SLUICE_SOAK') or 600)
PLOT = os.environ.get('SLUICE_SOAK_PLOT')
PACE = 0.1  # seconds from one round to the next
SERIES = ('front, MiB', 'descriptors', 'threads', 'worker, MiB', 'files', 'ledger, KiB')


def bombs():
    header = struct.pack('>IIBBBBB', 30000, 30000, 1, 0, 0, 0, 0)
    large = b'\x89PNG\r\n\x1a\n' + pictures.png_chunk(b'IHDR', header) + pictures.png_chunk(b'IDAT', b'x')
    return [large, b'P6 1000000 1000000 255\n', b'\x93NUMPY\2\0\xff\xff\xff\xff{', picture(300, 200)[:999], b'', b'GIF89a',
            b'P5\n' + b'#' * 100000]


def status(pid, name):
    with open('/proc/%d/status' % pid, encoding='ascii', errors='replace') as file:
        return int(next(line for line in file if line.startswith(name)).split()[1])


def slope(samples, index):
    """Of the line of least squares: a second's growth."""
    n = len(samples)
    mean_t, mean = sum(s[0] for s in samples) / n, sum(s[1][index] for s in samples) / n
    spread = sum((s[0] - mean_t) ** 2 for s in samples)
    return sum((s[0] - mean_t) * (s[1][index] - mean) for s in samples) / spread if spread else 0


def plot(path, samples, events):
    """A panel for each series, one below the other; events are marks on the time's axis."""
    width, height, end = 720, 90, samples[-1][0]
    lines = ['<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" font-size="11">' %
             (width + 20, (height + 20) * len(SERIES) + 30)]
    for i, name in enumerate(SERIES):
        top, values = 20 + i * (height + 20), [s[1][i] for s in samples]
        most = max(values) or 1
        points = ' '.join('%.1f,%.1f' % (10 + width * s[0] / end, top + height * (1 - s[1][i] / most)) for s in samples)
        lines.append('<text x="10" y="%d">%s: %.4g at the end, %.4g at most</text>' % (top - 4, name, values[-1], most))
        lines.append('<path d="M10 %d h%d" stroke="#ccc"/>' % (top + height, width))
        lines.append('<polyline points="%s" fill="none" stroke="#247"/>' % points)
    bottom = 20 + len(SERIES) * (height + 20)
    for when, name in events:
        x = 10 + width * when / end
        lines.append('<path d="M%.1f %d v-6" stroke="#a22"><title>%s</title></path>' % (x, bottom - 14, name))
    lines.append('<text x="10" y="%d">%.0f s; red: a fault</text></svg>' % (bottom, end))
    with open(path, 'w', encoding='ascii') as file:
        file.write('\n'.join(lines) + '\n')


class Soak(DaemonTest):
    def setUp(self):
        super().setUp()
        self.http, self.jobs = os.path.join(self.dir, 'h'), os.path.join(self.dir, 'j')
        self.rule, self.clocks = os.path.join(self.dir, 'rule'), os.path.join(self.dir, 'clocks')
        self.config = os.path.join(self.dir, 'c.yaml')
        self.samples, self.events, self.seen, self.good, self.twice = [], [], {}, set(), 0
        self.reloads, self.answers, self.ahead = 0, 0, 0

    # ---- the daemon

    def configure(self):
        folder = '  - {input: %s, output: %s, chain: edges, format: pgm, originals: delete, sync: off}\n'
        with open(self.config, 'w', encoding='utf-8') as file:
            file.write('version: 1\nchains: {edges: "sobel", more: "box:radius=%d"}\n' % (1 + self.reloads % 2))
            file.write('listen: {http: {unix: %s}, jobs: {unix: %s}}\nstate: %s\n' % (
                self.http, self.jobs, os.path.join(self.dir, 'state')))
            file.write('limits: {jobs: 2, min_free: 0%, job_time: 60s, max_pixels: 1MP}\nwatch:\n')
            for i in (1, 2):
                file.write(folder % (os.path.join(self.dir, 'in%d' % i), os.path.join(self.dir, 'out%d' % i)))

    def begin(self):
        for name in ('in1', 'out1', 'in2', 'out2'):
            os.makedirs(os.path.join(self.dir, name), exist_ok=True)
        self.set_clock(0)
        self.configure()
        env = {'SLUICE_FAULT_DISK': self.rule, 'SLUICE_FAULT_CLOCK': self.clocks}
        libraries = [os.environ[name] for name in ('DISK_FAULT', 'CLOCK_FAULT') if os.environ.get(name)]
        if libraries:
            env['LD_PRELOAD'] = ' '.join(libraries)
        self.d = self.daemon('--config', self.config, env=env)
        self.d.options = ['--config', self.config]
        self.d.env['SLUICE_LOG_LEVEL'] = 'warning'
        self.d.start(ready=False)
        self.wait_ready()

    def wait_ready(self):
        def ready():
            try:
                return sockets.ask(self.http, 'GET', '/readyz').status == 200
            except OSError:
                return False
        try:
            wait_for('a daemon that is ready', ready)
        except AssertionError:
            print(self.d.log(), file=sys.stderr)
            raise

    def worker(self):
        for one in sockets.ask(self.http, 'GET', '/v1/status').json()['workers']:
            if one['state'] == 'ready' and not one['quarantine']:
                return one['pid']
        return None

    # ---- work

    def drop(self, name, data, folder):
        temporary = os.path.join(self.dir, 'aside')
        with open(temporary, 'wb') as file:
            file.write(data)
        os.rename(temporary, os.path.join(self.dir, folder, name))

    def take_results(self):
        for folder in ('out1', 'out2'):
            for name in os.listdir(os.path.join(self.dir, folder)):
                if name.startswith('.'):
                    continue
                self.twice += name in self.seen
                self.seen[name] = folder
                os.unlink(os.path.join(self.dir, folder, name))
        for folder in ('in1', 'in2'):  # what failed, as whoever looks at it takes it away
            failed = os.path.join(self.dir, folder, '.sluice', 'failed')
            for name in os.listdir(failed) if os.path.isdir(failed) else ():
                path = os.path.join(failed, name)
                if name.removesuffix('.error.json') in self.good and name.endswith('.json'):
                    with open(path, encoding='utf-8') as file:
                        self.fail('%s: %s\n%s' % (name, file.read(), self.d.log()))
                os.unlink(path)

    def ask_http(self, data, hostile):
        try:
            answer = sockets.ask(self.http, 'POST', '/v1/process?chain=edges&format=pgm', data, timeout=30)
        except OSError:
            return  # the front was killed, or is busy with that
        self.answers += answer.status == 200
        self.assertIn(answer.status, (400, 413, 415, 422, 429, 500, 503, 504) if hostile else (200, 429, 500, 503))

    def be_hostile(self, i):
        """At the sockets: what is no request, and clients that leave in the middle."""
        try:
            if i % 3 == 0:
                sockets.raw(self.http, b'POST /v1/process HTTP/1.1\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n', 10)
            elif i % 3 == 1:
                with sockets.connect(self.http, timeout=10) as sock:
                    sock.sendall(b'POST /v1/process HTTP/1.1\r\nHost: x\r\nContent-Length: 500000\r\n\r\nP5')
            else:
                jobs = sockets.Jobs(self.jobs, timeout=10)
                jobs.send_raw(b'{"id":1,"chain":"sobel"', ())
                jobs.send([0], id=1, chain='sobel', format='png')
                jobs.close()
        except OSError:
            pass

    def round(self, i):
        hostile = i % 20 == 7
        data = BOMBS[i // 20 % len(BOMBS)] if hostile else picture(160 + i % 7, 120, seed=i % 50)
        name, folder = '%08d.pgm' % i, 'in%d' % (1 + i % 2)
        if not hostile:
            self.good.add(name)
        self.drop(name, data, folder)
        self.ask_http(data, hostile)
        if hostile:
            self.be_hostile(i // 20)
        if i % 10 == 3:
            self.take_results()

    # ---- faults

    def set_clock(self, ahead):
        with open(self.clocks + '.new', 'w', encoding='ascii') as file:
            file.write('%d 0\n' % ahead)
        os.rename(self.clocks + '.new', self.clocks)

    def set_rule(self, text):
        with open(self.rule, 'w', encoding='utf-8') as file:
            file.write(text)

    def fault(self, number):
        kind = ('worker', 'reload', 'full', 'hang', 'clock')[number % 5]
        if kind == 'worker':
            pid = self.worker()
            if pid:
                os.kill(pid, signal.SIGKILL)
        elif kind == 'reload':
            self.reloads += 1
            self.configure()
            self.d.process.send_signal(signal.SIGHUP)
        elif kind == 'full':
            self.set_rule('open %s/out1/.* 28' % self.dir)
        elif kind == 'hang':
            self.set_rule('list %s/in2* hang' % self.dir)
        else:
            self.ahead += 40 * 86400
            self.set_clock(self.ahead)
        return kind

    def kill_front(self):
        self.d.process.kill()
        self.d.process.wait()
        self.d.start(ready=False)
        self.wait_ready()

    # ---- what is looked at

    @staticmethod
    def is_written(path):
        try:
            return os.path.getsize(path) > 0
        except FileNotFoundError:
            return False

    def look(self, began):
        pid, worker = self.d.process.pid, self.worker()
        try:
            memory = status(worker, 'VmRSS') / 1024 if worker else 0
        except (FileNotFoundError, StopIteration, ProcessLookupError):
            memory = 0
        # Empty files are left alone, as ones that somebody has still to write.
        kept = sum(self.is_written(os.path.join(at, name)) for top in ('in1', 'in2')
                   for at, _, names in os.walk(os.path.join(self.dir, top)) for name in names)
        state = os.path.join(self.dir, 'state')
        ledger = sum(os.path.getsize(os.path.join(state, name)) for name in os.listdir(state)
                     if os.path.isfile(os.path.join(state, name)))
        self.samples.append((time.monotonic() - began, (
            status(pid, 'VmRSS') / 1024, len(os.listdir('/proc/%d/fd' % pid)), status(pid, 'Threads'), memory, kept,
            ledger / 1024)))

    def judge(self, span):
        rest = [s for s in self.samples if s[0] > span / 5]
        limits = {'front, MiB': 8, 'descriptors': 12, 'threads': 6, 'files': 60}
        for i, name in enumerate(SERIES):
            growth = slope(rest, i) * span
            print('%-12s %10.1f at the end, %+8.1f over the time by its slope' % (name, self.samples[-1][1][i], growth))
            if name in limits:
                self.assertLess(growth, limits[name], name)

    def test_soak(self):
        self.begin()
        began, i, faults, killed, rule_until = time.monotonic(), 0, 0, False, 0
        next_look = 0
        while (now := time.monotonic() - began) < SPAN:
            self.round(i)
            i += 1
            if rule_until and now > rule_until:
                os.unlink(self.rule)
                rule_until = 0
            if not killed and now > SPAN / 20:
                self.kill_front()
                killed = True
                self.events.append((now, 'front killed'))
            if now > SPAN / 10 + faults * max(SPAN / 100, 6) and not rule_until and now < SPAN * 0.95:
                kind = self.fault(faults)
                rule_until = now + 3 if kind in ('full', 'hang') else 0
                faults += 1
                self.events.append((now, kind))
            if now > next_look:
                self.look(began)
                next_look = now + SPAN / 200
            time.sleep(max(0, began + i * PACE - time.monotonic()))
        span = time.monotonic() - began
        if os.path.exists(self.rule):
            os.unlink(self.rule)

        def all_done():
            self.take_results()
            return self.good <= set(self.seen)
        wait_for('a result of each good file', all_done, 180, 0.5)
        print('%d files, %d of them good, %d requests answered with a picture, %d faults in %.0f s; %d results made twice' %
              (i, len(self.good), self.answers, len(self.events), span, self.twice))
        if PLOT:
            plot(PLOT, self.samples, self.events)
        with open(os.path.join(self.dir, 'samples.json'), 'w', encoding='ascii') as file:
            json.dump(self.samples, file)
        self.judge(span)
        self.d.stop()


BOMBS = bombs()

if __name__ == '__main__':
    if len(sys.argv) > 1 and sys.argv[1].isdigit():
        SPAN = float(sys.argv.pop(1))
        if len(sys.argv) > 1:
            PLOT = sys.argv.pop(1)
    main()
