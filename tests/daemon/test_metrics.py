#!/usr/bin/env python3
"""/metrics is valid for a strict parser of Prometheus' text format 0.0.4, and its values agree with other sources."""
import json
import os
import re
import shutil
import subprocess
import time

from sluice_test import SLUICE, DaemonTest, main, picture, pictures, wait_for
import sockets

NAME = r'[a-zA-Z_:][a-zA-Z0-9_:]*'
LABEL = r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"'
VALUE = r'[+-]?(?:\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|Inf)|NaN'
TAILS = {'counter': ('',), 'gauge': ('',), 'summary': ('_sum', '_count'), 'histogram': ('_bucket', '_sum', '_count')}


def read(text):
    """Numbers by (name, ((label, value), ...)), and types by name; raises ValueError for what the format forbids."""
    if not text.endswith('\n'):
        raise ValueError('no newline at the end')
    found, types, helps, family = {}, {}, set(), None
    for line in text[:-1].split('\n'):
        comment = re.fullmatch(r'# (HELP|TYPE) (%s) (.+)' % NAME, line)
        if comment:
            kind, name, rest = comment.groups()
            if kind == 'HELP':
                if name in helps:
                    raise ValueError('two families: ' + name)
                helps.add(name)
            else:
                if name in types or name not in helps or rest not in TAILS:
                    raise ValueError(line)
                types[name] = rest
            family = name
            continue
        match = re.fullmatch(r'(%s)(?:\{(%s(?:,%s)*)\})? (%s)' % (NAME, LABEL, LABEL, VALUE), line)
        if not match:
            raise ValueError(line)
        name, labels = match.group(1), tuple(re.findall(LABEL, match.group(2) or ''))
        if family not in types or name not in [family + tail for tail in TAILS[types[family]]]:
            raise ValueError('not in its family: ' + line)
        if len(set(label for label, _ in labels)) != len(labels) or (name, labels) in found:
            raise ValueError('twice: ' + line)
        if types[family] == 'counter' and not name.endswith('_total'):
            raise ValueError('a counter without _total: ' + line)
        found[name, labels] = float(line.rsplit(' ', 1)[1])
    for (name, labels), value in found.items():
        base = name[:-len('_bucket')]
        if name.endswith('_bucket') and types.get(base) == 'histogram':
            rest = tuple(pair for pair in labels if pair[0] != 'le')
            row = [(float(dict(other)['le']), count) for (n, other), count in found.items()
                   if n == name and tuple(pair for pair in other if pair[0] != 'le') == rest]
            counts = [count for _, count in sorted(row)]
            if counts != sorted(counts) or counts[-1] != found[base + '_count', rest] or \
                    max(row)[0] != float('inf'):
                raise ValueError('no histogram: %s' % name)
        if types.get(name) == 'counter' and value < 0:
            raise ValueError('a counter below zero: ' + name)
    return found, types


class Metrics(DaemonTest):
    def serve(self, *options, make=None, **keywords):
        self.path = os.path.join(self.dir, 'http.sock')
        return (make or self.daemon)('--http-socket', self.path, *options, **keywords).start()

    def text(self):
        return sockets.ask(self.path, 'GET', '/metrics').body.decode()

    def value(self, name, **labels):
        return read(self.text())[0].get((name, tuple(labels.items())))

    def files(self, d, state):
        return self.value('sluice_files', dir=d.input, state=state)

    def test_the_reader(self):
        """It can tell."""
        good = '# HELP a_total x\n# TYPE a_total counter\na_total{b="c\\\\d\\n"} 1\n'
        read(good)
        for bad in (good[:-1], good.replace('1', '1x'), good.replace('_total', ''), good + 'a_total{b="c\\\\d\\n"} 2\n',
                    good.replace('"c', '"c"'), good.replace('1', '-1'), good + 'b 1\n', good + '\n'):
            with self.assertRaises(ValueError, msg=bad):
                read(bad)

    def test_at_the_start_and_after_work(self):
        before = time.time()
        d = self.serve(chain='luminance,sobel')
        found, types = read(self.text())
        for name in ('sluice_kernel_builds_total', 'sluice_kernel_cache_hits_total', 'sluice_pixels_total',
                     'sluice_bytes_copied_total', 'sluice_buffer_bytes', 'sluice_queue_jobs',
                     'sluice_config_reload_success', 'process_cpu_seconds_total', 'process_resident_memory_bytes',
                     'process_virtual_memory_bytes', 'process_open_fds', 'process_max_fds', 'process_start_time_seconds'):
            self.assertIn((name, ()), found)
        version = sockets.ask(self.path, 'GET', '/version').json()['version']
        self.assertEqual(found['sluice_build_info', (('version', version),)], 1)
        self.assertEqual(types['sluice_stage_duration_seconds'] if 'sluice_stage_duration_seconds' in types else 'summary',
                         'summary')
        d.drop('a.pgm', picture(40, 30), 'rename')
        d.drop('b.pgm', picture(41, 30)[:-9], 'rename')
        d.expect_done('a.pgm')
        d.expect_failed('b.pgm')
        wait_for('the count', lambda: self.files(d, 'failed') == 1)
        found, types = read(self.text())
        self.assertEqual(found['sluice_pixels_total', ()], 40 * 30)
        self.assertEqual(found['sluice_jobs_total', (('source', 'watch'), ('chain', 'luminance,sobel'),
                                                     ('result', 'done'))], 1)
        for stage in ('luminance', 'sobel'):
            if stage == 'luminance' and ('sluice_stage_duration_seconds_count', (('stage', stage),)) not in found:
                continue  # a grey picture passes it without a launch
            self.assertEqual(found['sluice_stage_duration_seconds_count', (('stage', stage),)], 1)
            self.assertGreater(found['sluice_stage_duration_seconds_sum', (('stage', stage),)], 0)
        self.assertGreaterEqual(found['sluice_span_duration_seconds_count', (('span', 'queue'),)], 2)
        self.assertGreater(found['sluice_buffer_bytes', ()], 0)
        self.assertEqual(found['sluice_watch_mode', (('dir', d.input), ('mode', 'inotify'))], 1)
        self.assertEqual(found['sluice_watch_overflows_total', (('dir', d.input),)], 0)
        for state, count in (('done', 1), ('failed', 1), ('waiting', 0), ('queued', 0), ('running', 0), ('retrying', 0)):
            self.assertEqual(found['sluice_files', (('dir', d.input), ('state', state))], count, state)
        with open('/proc/%d/limits' % d.process.pid, encoding='ascii') as file:
            limit = re.search(r'Max open files +(\d+)', file.read()).group(1)
        self.assertEqual(found['process_max_fds', ()], int(limit))
        with open('/proc/%d/statm' % d.process.pid, encoding='ascii') as file:
            resident = int(file.read().split()[1]) * os.sysconf('SC_PAGESIZE')
        self.assertAlmostEqual(found['process_resident_memory_bytes', ()] / resident, 1, delta=0.5)
        self.assertAlmostEqual(found['process_start_time_seconds', ()], before, delta=15)
        self.assertAlmostEqual(self.value('process_open_fds'), sockets.settled_descriptors(d), delta=2)
        d.stop()

    def test_files_by_state(self):
        d = self.serve('--jobs', '1', '--settle', '50s', '--stable', '60s', make=self.fake)
        d.drop('waits', b'x')  # its time is not over for a minute
        for name, text in (('h', b'hang'), ('q1', b'x'), ('q2', b'x')):
            d.drop(name, text, 'rename')
            if name == 'h':
                wait_for('it runs', lambda: self.fake_log() == ['hang'])
        wait_for('they are queued', lambda: self.files(d, 'queued') == 2)
        self.assertEqual([self.files(d, state) for state in ('waiting', 'running', 'retrying', 'done')], [1, 1, 0, 0])
        d.process.kill()

    def test_waiting_is_what_why_says(self):
        """Also of a file that nothing has been written to yet, and of one that is being written."""
        jobs = os.path.join(self.dir, 'jobs.sock')
        d = self.daemon('--http-socket', os.path.join(self.dir, 'http.sock'), '--jobs-socket', jobs, '--settle', '50s', '--stable', '60s',
                        '--device', 'reference')
        self.path = os.path.join(self.dir, 'http.sock')
        d.drop('there', b'')  # before the start
        d.start()

        def reasons():
            names = os.listdir(d.input)
            names.remove('.sluice')
            told = [json.loads(subprocess.run([SLUICE, 'why', '-s', jobs, '--json', d.in_path(name)], check=True,
                                              capture_output=True).stdout) for name in sorted(names)]
            return [one['reason'] for one in told if one['state'] == 'waiting']

        def listed():
            return len(sockets.ask(self.path, 'GET', '/v1/files?state=waiting').json()['files'])

        def agree(*wanted):
            wait_for('the reasons', lambda: reasons() == list(wanted))
            wait_for('the count', lambda: self.files(d, 'waiting') == len(wanted))
            self.assertEqual(listed(), len(wanted))
        agree('empty')
        d.drop('closed', b'', 'rename')
        d.expect_line('closed: empty; it waits')
        agree('empty', 'empty')
        with open(d.in_path('slow'), 'wb') as file:
            wait_for('the look', lambda: self.files(d, 'waiting') == 3)
            file.write(picture()[:200])
            file.flush()
            agree('empty', 'being-written', 'empty')
        d.drop('short', picture()[:200], 'rename')
        wait_for('it to be looked at', lambda: 'truncated' in reasons())
        agree('empty', 'truncated', 'not-settled', 'empty')
        d.drop('there', picture(), 'rename')
        d.expect('there.pgm')
        agree('empty', 'truncated', 'not-settled')
        d.stop()

    def test_empty_ones_that_are_removed(self):
        """Polled: each scan looks at them again."""
        config = os.path.join(self.dir, 'config.yaml')
        http = os.path.join(self.dir, 'http.sock')
        d = self.daemon()
        with open(config, 'w', encoding='utf-8') as file:
            file.write('version: 1\ndevice: {select: reference}\nlisten: {http: {unix: %s}}\nwatch:\n  - {input: %s, '
                       'output: %s, chain: sobel, format: pgm, mode: poll}\n' % (http, d.input, d.output))
        d.options, self.path = ['--config', config, '--state', d.state], http
        for i in range(3):
            d.drop('e%d' % i, b'')
        d.start()
        wait_for('three', lambda: self.files(d, 'waiting') == 3)
        os.unlink(d.in_path('e0'))
        wait_for('two', lambda: self.files(d, 'waiting') == 2)
        with open(d.in_path('e1'), 'wb') as file:
            file.write(picture())
        d.expect('e1.pgm')
        wait_for('one', lambda: self.files(d, 'waiting') == 1)
        d.stop()

    def test_fused_stages(self):
        """One kernel for two stages is timed as one, under both names."""
        if subprocess.run([SLUICE, 'devices'], capture_output=True, check=False).returncode != 0:
            self.skipTest('no OpenCL device')
        d = self.serve(chain='luminance,sobel')
        d.drop('a.ppm', pictures.pnm(40, 30, pictures.noise(40, 30, 3), 3), 'rename')
        d.expect_done('a.ppm')
        answer = sockets.ask(self.path, 'POST', '/v1/process?chain=luminance,sobel&format=pgm',
                             pictures.pnm(40, 30, pictures.noise(40, 30, 3), 3))
        found, _ = read(self.text())
        self.assertEqual(found['sluice_stage_duration_seconds_count', (('stage', 'luminance+sobel'),)], 2)
        self.assertGreater(found['sluice_stage_duration_seconds_sum', (('stage', 'luminance+sobel'),)], 0)
        self.assertIn('luminance+sobel;dur=', answer.headers['Server-Timing'])
        d.stop()

    def test_those_that_were_there(self):
        """Counted at the start, below folders too; reasons are no files."""
        d = self.serve(make=self.fake)
        d.stop()
        for kind, names in (('done', ('a', 'b', 'sub/c')), ('failed', ('d', 'd.error.json'))):
            for name in names:
                path = os.path.join(d.hidden, kind, name)
                os.makedirs(os.path.dirname(path), exist_ok=True)
                open(path, 'wb').close()
        d.start()
        self.assertEqual([self.files(d, 'done'), self.files(d, 'failed')], [3, 1])

    def test_names_that_need_escapes(self):
        d = self.serve(make=self.fake, folder=os.path.join(self.dir, 'a"b\\c\nd'))
        labels = [dict(labels) for name, labels in read(self.text())[0] if name == 'sluice_files']
        self.assertIn(d.input.replace('\\', '\\\\').replace('"', '\\"').replace('\n', '\\n'),
                      [one['dir'] for one in labels])

    def test_promtool(self):
        if not shutil.which('promtool'):
            self.skipTest('no promtool')
        d = self.serve(make=self.fake)
        d.drop('a', b'good', 'rename')
        d.expect_done('a')
        checked = subprocess.run(['promtool', 'check', 'metrics'], input=self.text(), text=True, capture_output=True,
                                 check=False)
        self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)


if __name__ == '__main__':
    main()
