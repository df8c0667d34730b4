#!/usr/bin/env python3
"""Asking what became of a file, and processing it again: sluice why, sluice requeue, /v1/files."""
import json
import multiprocessing
import os
import shutil
import sqlite3
import subprocess
import sys
import threading
import time
import unittest
import urllib.parse

from sluice_test import SLUICE, DaemonTest, main, wait_for
import sockets
from test_fair import fill, flood


class Queries(DaemonTest):
    def serve(self, *options, start=True, **keywords):
        self.http, self.jobs = os.path.join(self.dir, 'http.sock'), os.path.join(self.dir, 'jobs.sock')
        d = self.fake('--http-socket', self.http, '--jobs-socket', self.jobs, '--jobs', '1', *options, **keywords)
        return d.start() if start else d

    def sluice(self, *arguments, status=0, cwd=None):
        done = subprocess.run([SLUICE, *arguments], capture_output=True, check=False, cwd=cwd,
                              env=dict(os.environ, SLUICE_JOBS_SOCKET=self.jobs))
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def why(self, path, status=0):
        return json.loads(self.sluice('why', '--json', path, status=status).stdout)

    def expect_why(self, path, state, reason=None, status=0):
        def is_so():
            self.got = self.why(path, status)
            return (self.got['state'], self.got.get('reason')) == (state, reason)
        self.got = None
        try:
            wait_for('%s: %s (%s)' % (path, state, reason), is_so, 40, 0.1)
        except AssertionError:
            raise AssertionError('%s: %s (%s), not %s' % (path, state, reason, self.got)) from None
        self.assertTrue(self.got['message'])
        return self.got

    def files(self, **query):
        answer = sockets.ask(self.http, 'GET', '/v1/files?' + urllib.parse.urlencode(query))
        self.assertEqual(answer.status, 200, answer.body)
        return answer.json()

    def hidden(self, d, *parts):
        return os.path.join(d.hidden, *parts)

    def write(self, path, data):
        with open(path, 'wb') as file:
            file.write(data)


class Why(Queries):
    def test_a_name_alone(self):
        """It is looked for in all folders, pictures before results; a path that leads to a file from here goes first."""
        second = {kind: os.path.join(self.dir, 'second-' + kind) for kind in ('in', 'out')}
        d = self.serve(start=False)
        for path in second.values():
            os.mkdir(path)
        text = ('version: 1\nchains: {edges: sobel, strong: "sobel:scale=1"}\nwatch:\n' + ''.join(
            '  - {input: %s, output: %s, chain: sobel, format: pgm}\n' % pair
            for pair in ((d.input, d.output), (second['in'], second['out']))))
        self.write(os.path.join(self.dir, 'c.yaml'), text.encode())
        d.options = ['--config', os.path.join(self.dir, 'c.yaml'), *d.options[d.options.index('--state'):]]
        d.start()
        status = sockets.ask(self.http, 'GET', '/v1/status').json()  # a worker is asked once about folders that are the same
        self.assertEqual([one['chain'] for one in status['worker']['chains']], ['sobel', 'sobel', 'sobel:scale=1'])  # pgm; npz
        d.drop('a', b'good')
        d.drop('both', b'good')
        self.write(os.path.join(second['in'], 'both'), b'good')
        for path in (d.in_path('a'), d.in_path('both'), os.path.join(second['in'], 'both')):
            self.expect_why(path, 'done')
        self.assertEqual(self.why('a')['file'], d.in_path('a'))
        self.assertEqual(self.why('a.pgm')['file'], os.path.join(d.output, 'a.pgm'))
        self.assertEqual([one['file'] for one in self.why('both')], [d.in_path('both'), os.path.join(second['in'], 'both')])
        here = self.sluice('why', 'both', cwd=second['in']).stdout.decode()
        self.assertTrue(here.startswith('both: done') and here.count(': done') == 1, here)
        lines = self.sluice('why', 'both').stdout.decode()
        self.assertRegex(lines, '(?m)^%s: done' % os.path.join(second['in'], 'both'))
        self.assertIn(b'nowhere: it is no file of a watched folder, which sluice status lists', self.sluice('why', 'nowhere', status=66).stderr)
        d.stop()

    def test_without_folders(self):
        """A daemon of sockets alone knows no file, says so, and goes on."""
        d = self.serve(start=False)
        d.options = d.options[8:]  # without --watch, --output, --chain and --format
        d.start()
        self.assertEqual(self.why('/in/a.png', status=66)['state'], 'unknown')
        self.assertEqual(sockets.ask(self.http, 'POST', '/v1/files/requeue?file=/in/a.png').status, 404)
        self.assertEqual(sockets.ask(self.http, 'POST', '/v1/files/requeue?failed=1').status, 200)
        self.assertEqual(self.files()['files'], [])
        self.assertEqual(sockets.ask(self.http, 'GET', '/livez').status, 200)

    def test_left_alone(self):
        d = self.serve('--stable', '60s')
        inside = os.path.join(d.input, 'sub')
        os.mkdir(inside)
        os.mkfifo(d.in_path('fifo'))
        os.symlink('nowhere', d.in_path('link'))
        for name, reason in (('x.part', 'pattern'), ('.x', 'hidden'), ('link', 'link'), ('sub', 'folder'),
                             ('fifo', 'special'), ('sub/x', 'below')):
            if not os.path.lexists(d.in_path(name)):
                self.write(d.in_path(name), b'good')
            got = self.expect_why(d.in_path(name), 'ignored', reason)
            self.assertEqual((got['file'], got['folder'], got['name']), (d.in_path(name), d.input, name))
        self.assertIn('*.part', self.why(d.in_path('x.part'))['message'])
        d.stop()

    def test_waiting(self):
        d = self.serve('--settle', '50s', '--stable', '60s', start=False)
        d.drop('found', b'good')
        d.start()
        d.drop('empty', b'', 'rename')
        d.drop('closed', b'good')
        self.expect_why(d.in_path('empty'), 'waiting', 'empty')
        for name, reason, most in (('found', 'not-stable', 60), ('closed', 'not-settled', 50)):
            got = self.expect_why(d.in_path(name), 'waiting', reason)
            self.assertTrue(0 < got['next_try_s'] <= most, got)
        with open(d.in_path('open'), 'wb') as file:
            file.write(b'good')
            file.flush()
            self.expect_why(d.in_path('open'), 'waiting', 'being-written' if os.geteuid() == 0 else 'not-stable')
        d.drop('short', b'truncated', 'rename')
        self.expect_why(d.in_path('short'), 'waiting', 'truncated')
        d.stop()

    def test_jobs(self):
        d = self.serve()
        d.drop('full', b'full')
        got = self.expect_why(d.in_path('full'), 'retrying', 'no-space')
        self.assertTrue(0 <= got['next_try_s'] <= 1 and got['attempts'] == 1, got)
        self.assertIn('No space left', got['message'])
        d.expect_done('full')
        d.drop('hangs', b'hang', 'rename')
        got = self.expect_why(d.in_path('hangs'), 'running')
        self.assertEqual(got['attempts'], 1)
        self.assertGreaterEqual(got['for_s'], 0)
        self.assertRegex(self.sluice('why', d.in_path('hangs')).stdout.decode(), r'(?m)^  for: [\d.]+m?s$')
        d.drop('next', b'good', 'rename')
        self.expect_why(d.in_path('next'), 'queued')
        claimed = wait_for('its claim', lambda: [c for c in d.claims() if c[2] == 'next'])[0]
        self.expect_why(self.hidden(d, 'work', *claimed), 'queued')
        got = self.files()
        self.assertEqual([(f['name'], f['state']) for f in got['files']],
                         [('hangs', 'running'), ('next', 'queued'), ('full', 'done')])
        self.assertIsNone(got['next'])
        self.assertEqual([f['name'] for f in self.files(state='queued')['files']], ['next'])
        d.process.kill()

    def test_done_and_failed(self):
        d = self.serve('--stable', '100ms')
        d.drop('a', b'good')
        d.drop('p', b'planes 2')
        d.drop('bad', b'truncated')
        d.expect_done('a')
        d.expect_done('p')
        told = d.expect_failed('bad')
        for path in (d.in_path('a'), self.hidden(d, 'done', 'a'), os.path.join(d.output, 'a.pgm')):
            got = self.expect_why(path, 'done')
            self.assertEqual((got['name'], got['result_path'], got['result_exists'], got['attempts'], got['original']),
                             ('a', os.path.join(d.output, 'a.pgm'), True, 1, self.hidden(d, 'done', 'a')))
            self.assertRegex(got['time'], r'^20\d\d-\d\d-\d\dT')
        for name in ('p.p0.pgm', 'p.p1.pgm'):
            self.assertEqual(self.expect_why(os.path.join(d.output, name), 'done')['name'], 'p')
        for path in (d.in_path('bad'), self.hidden(d, 'failed', 'bad'), self.hidden(d, 'failed', 'bad.error.json')):
            got = self.expect_why(path, 'failed', 'truncated')
            self.assertEqual((got['message'], got['stage'], got['chain'], got['attempts'], got['time']),
                             (told['message'], 'decode', 'sobel', told['attempts'], told['time']))
            self.assertEqual(got['original'], self.hidden(d, 'failed', 'bad'))
        os.unlink(os.path.join(d.output, 'a.pgm'))
        self.expect_why(d.in_path('a'), 'done', 'result-gone')
        text = self.sluice('why', 'bad', cwd=d.input).stdout.decode()  # relative paths, and words
        self.assertRegex(text, r'^bad: failed \(truncated\): truncated fake\n(  [a-z_]+: .+\n)+$')
        self.sluice('why', d.in_path('bad'), d.in_path('none'), status=1)
        d.stop()

    def test_unknown(self):
        d = self.serve()
        for path in ('/etc/passwd', d.in_path('none'), os.path.join(d.output, 'none.png'), d.input,
                     self.hidden(d, 'failed', 'none')):
            self.assertEqual(self.why(path, 66)['state'], 'unknown', path)
            self.assertIn(b'sluice: ', self.sluice('why', path, status=66).stderr)
            self.sluice('requeue', path, status=66)
        self.sluice('why', status=64)
        self.sluice('requeue', status=64)
        self.sluice('requeue', '--failed', 'x', status=64)
        answer = sockets.ask(self.http, 'GET', '/v1/files?file=' + d.in_path('none'))
        self.assertEqual((answer.status, answer.json()['code']), (404, 'no-input'))
        d.stop()
        self.sluice('why', 'x', status=69)
        self.sluice('requeue', '--failed', status=69)

    def test_other_rules(self):
        for rule, where in (('keep', 'in'), ('delete', None)):
            d = self.serve('--originals', rule, '--stable', '100ms', folder=os.path.join(self.dir, rule))
            d.drop('a', b'good')
            d.expect('a.pgm')
            wait_for('its end', lambda d=d: not d.claims())
            got = self.expect_why(d.in_path('a'), 'done')
            self.assertEqual(got.get('original'), where and d.in_path('a'))
            self.assertEqual(self.expect_why(os.path.join(d.output, 'a.pgm'), 'done')['name'], 'a')
            d.stop()
        d = self.serve('--claim', 'none', '--stable', '100ms', folder=os.path.join(self.dir, 'none'))
        d.drop('bad', b'truncated')
        got = self.expect_why(d.in_path('bad'), 'failed', 'truncated')
        self.assertEqual((got['stage'], got['original']), ('decode', d.in_path('bad')))
        os.rename(d.input, d.input + '-away')
        got = self.expect_why(d.in_path('bad'), 'waiting', 'folder-gone')
        self.assertTrue(got['message'].startswith(d.input + ': '), got)
        d.stop()

    def test_output_that_is_gone(self):
        d = self.serve()
        os.rename(d.output, d.output + '-away')
        d.drop('a', b'good')
        def is_blamed():
            got = self.why(d.in_path('a'))
            return got['state'] in ('waiting', 'retrying') and got['message'].startswith(d.output + ': ')
        wait_for('the output is blamed', is_blamed)
        d.expect_line('%s: no such folder' % d.output)
        self.assertEqual(self.expect_why(d.in_path('a'), 'waiting', 'folder-gone')['message'],
                         d.output + ': no such folder; it is taken up again when it returns')
        os.rename(d.output + '-away', d.output)
        self.assertEqual(d.expect('a.pgm'), b'good')
        d.stop()

    def test_after_an_interruption(self):
        """What an earlier run decided and this one put in its place is told as by itself."""
        d = self.serve('--stable', '100ms')
        d.drop('bad', b'truncated')
        d.expect_failed('bad')
        os.unlink(self.hidden(d, 'failed', 'bad.error.json'))  # then the ledger tells what it knows
        got = self.expect_why(d.in_path('bad'), 'failed')
        self.assertEqual(got['message'], 'truncated fake')
        d.stop()


class Paths(Queries):
    """A folder that was named by a relative path: what is told is absolute, and can be asked with."""

    def serve_relative(self, *options):
        d = self.serve('--stable', '100ms', *options, start=False)
        d.options[1], d.options[3] = 'in', './out/'
        d.prefix = [sys.executable, '-c', 'import os, sys; os.chdir(sys.argv[1]); os.execv(sys.argv[2], sys.argv[2:])', self.dir]
        return d.start()

    def forget(self, d):
        for folder in (d.input, d.output, d.state):
            shutil.rmtree(folder)
        os.mkdir(d.input)
        os.mkdir(d.output)
        os.unlink(os.path.join(self.dir, 'fake-log'))

    def test_every_path_is_taken(self):
        for options in ((), ('--originals', 'keep'), ('--originals', 'delete'), ('--claim', 'none')):
            d = self.serve_relative(*options)
            d.drop('hangs', b'hang')
            wait_for('a job', self.fake_log)
            d.drop('next', b'good')
            self.expect_why(d.in_path('next'), 'queued')
            live = self.files()['files']
            self.assertEqual([f['file'] for f in live if f['state'] in ('running', 'queued')],
                             [d.in_path('hangs'), d.in_path('next')])
            self.assertEqual(json.loads(self.sluice('requeue', '--json', live[1]['file'], cwd='/').stdout)[0]['requeued'], 0)
            d.kill()
            self.forget(d)
            d = self.serve_relative(*options)
            d.drop('bad', b'truncated')
            d.drop('a', b'good')
            d.expect('a.pgm')
            self.expect_why(d.in_path('bad'), 'failed', 'truncated')
            self.expect_why(d.in_path('a'), 'done')
            listed = {f['name']: f for f in self.files()['files']}
            self.assertEqual(sorted(listed), ['a', 'bad'])
            for one in listed.values():
                self.assertEqual((one['file'], one['folder']), (d.in_path(one['name']), d.input))
                paths = {key: one[key] for key in ('file', 'original', 'result_path') if key in one}
                self.assertEqual([p for p in paths.values() if not p.startswith(self.dir + '/')], [])
                for key, path in paths.items():
                    self.assertEqual(self.why(path)['name'], one['name'], key)
            self.assertEqual(listed['a']['result_path'], os.path.join(d.output, 'a.pgm'))
            self.assertEqual('original' in listed['a'], options != ('--originals', 'delete'))
            for key in ('original', 'file'):
                path = listed['bad'][key]
                answer = sockets.ask(self.http, 'POST', '/v1/files/requeue?file=' + urllib.parse.quote(path))
                self.assertEqual((answer.status, answer.json()['requeued']), (200, 1), answer.body)
                self.expect_why(d.in_path('bad'), 'failed', 'truncated')
            d.stop()
            self.forget(d)

    def test_originals_of_one_name(self):
        """Each is listed with its own original."""
        d = self.serve_relative()
        for i in range(2):
            d.drop('a', b'good')
            wait_for('it to be done', lambda i=i: len(d.done()) == i + 1)
        self.assertEqual([(f['original'], f['result_path']) for f in self.files(state='done')['files']],
                         [(self.hidden(d, 'done', 'a' + n), os.path.join(d.output, 'a%s.pgm' % n)) for n in ('', '-1')])
        d.stop()


class Status(Queries):
    """What is told of folders and workers: /v1/status, sluice status."""

    def status(self):
        answer = sockets.ask(self.http, 'GET', '/v1/status')
        self.assertEqual(answer.status, 200)
        told = answer.json()
        for folder in told['folders']:
            self.assertIn(folder['state'], ('ok', 'degraded', 'hanging', 'lost'))
            self.assertEqual(folder['reason'] is None, folder['state'] == 'ok')
            self.assertEqual(folder['message'] is None, folder['state'] == 'ok')
            self.assertRegex(folder['since'], r'^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$')
        return told

    def expect_folder(self, state, reason=None):
        def is_so():
            self.got = self.status()['folders'][0]
            return (self.got['state'], self.got['reason']) == (state, reason)
        wait_for('%s (%s)' % (state, reason), is_so, 30, 0.1)
        return self.got

    def text(self, *options):
        return self.sluice('status', *options).stdout.decode()

    def test_counts_and_the_last_error(self):
        d = self.serve('--stable', '100ms')
        self.assertEqual({key: value for key, value in self.expect_folder('ok').items() if key not in ('since', 'rate')},
                         {'input': d.input, 'output': d.output, 'chain': 'sobel', 'mode': 'inotify', 'state': 'ok',
                          'reason': None, 'message': None, 'next_try': None, 'waiting': 0, 'queued': 0, 'running': 0,
                          'retrying': 0, 'done': 0, 'failed': 0, 'in_done': 0, 'in_failed': 0, 'overflows': 0,
                          'last_error': None, 'left_s': 0})
        self.assertEqual(self.got['rate']['per_second'], 0)
        self.assertNotIn('rate', self.text())
        d.drop('a', b'good')
        d.expect_done('a')
        d.drop('bad', b'truncated')
        d.expect_failed('bad')
        d.drop('hangs', b'hang')
        wait_for('the job that hangs', lambda: 'hang' in self.fake_log())
        for name in ('b', 'c'):
            d.drop(name, b'good')
        got = wait_for('two that wait', lambda: next((f for f in self.status()['folders'] if f['queued'] == 2), None))
        self.assertEqual((got['done'], got['failed'], got['in_done'], got['in_failed'], got['running']), (1, 1, 1, 1, 1))
        self.assertEqual({key: value for key, value in got['last_error'].items() if key != 'time'},
                         {'name': 'bad', 'reason': 'truncated', 'message': 'truncated fake'})
        text = self.text()
        self.assertRegex(text, r'(?m)^folder %s: ok \(inotify, results in %s\)$' % (d.input, d.output))
        self.assertRegex(text, r'(?m)^  2 wait, 1 run; since the start 1 done, 1 failed$')
        self.assertRegex(text, r'(?m)^  1 lie in failed \(sluice failed lists them\)$')
        rate = got['rate']
        self.assertTrue(10 <= rate['window_s'] <= 60 and abs(rate['per_second'] * rate['window_s'] - 2) < 0.01, rate)
        self.assertAlmostEqual(got['left_s'], 3 / rate['per_second'], 3)
        self.assertRegex(text, r'(?m)^  0\.\d+ pictures/s in the last \d+s, \d+(s|min) left$')
        self.assertRegex(text, r'(?m)^rate: 0\.\d+ pictures/s in the last \d+s, \d+(s|min) left$')
        self.assertRegex(text, r'(?m)^  last error, \S+Z: bad: truncated: truncated fake$')
        self.assertRegex(text, r'(?m)^worker %d: ready on fake, 1 run, \d+ done$' % d.worker_pid())
        d.process.kill()
        d.process.wait()
        d.start()
        got = wait_for('what is in failed', lambda: next((f for f in self.status()['folders'] if f['in_failed']), None))
        self.assertEqual((got['failed'], got['in_failed']), (0, 1))  # nothing since this start; one lies there
        self.assertRegex(self.text(), r'(?m)^  1 lie in failed \(sluice failed lists them\)$')
        d.process.kill()

    def test_lost(self):
        d = self.serve()
        for path in (d.output, d.input):
            os.rename(path, path + '-away')
            got = self.expect_folder('lost', 'folder-gone')
            self.assertRegex(got['message'], '^%s: (no such folder|moved away)' % path)
            self.assertGreaterEqual(got['next_try'], got['since'])
            self.assertEqual(got['mode'], 'gone')
            self.assertRegex(self.text(), r'(?m)^  folder-gone since \S+Z: %s: ' % path)
            os.rename(path + '-away', path)
            self.expect_folder('ok')
        d.stop()

    def test_failed(self):
        """All that failed, also before this start, in more pages than one."""
        d = self.serve('--stable', '100ms', start=False)
        failed = os.path.join(d.hidden, 'failed')
        os.makedirs(failed)
        names = ['%03d-%s' % (i, 'x' * 200) for i in range(150)]
        for i, name in enumerate(names):
            self.write(os.path.join(failed, name), b'truncated')
            reason = {'file': name, 'code': 'limit', 'message': 'more than %d pixels' % i, 'stage': 'decode',
                      'attempts': 1, 'chain': 'sobel', 'format': 'pgm', 'time': '2026-05-01T12:00:00Z'}
            self.write(os.path.join(failed, name + '.error.json'), json.dumps(reason).encode())
        d.start()
        d.drop('zbad', b'truncated')
        d.expect_failed('zbad')
        got = json.loads(self.sluice('failed', '--json').stdout)
        self.assertEqual([file['name'] for file in got], [*names, 'zbad'])
        text = self.sluice('failed').stdout.decode().splitlines()
        self.assertEqual(text[7], '2026-05-01T12:00:00Z  %s: limit: more than 7 pixels' % os.path.join(failed, names[7]))
        self.assertRegex(text[150], r'^\S+Z  %s: truncated: truncated fake$' % os.path.join(failed, 'zbad'))
        jobs = sockets.Jobs(self.jobs)
        jobs.send(type='files', id=1, state='failed', limit=1000)
        page = jobs.receive()[0]['files']  # as much as a message holds; the rest follows
        self.assertTrue(30 < len(page['files']) < 150 and page['next'], len(page['files']))
        for wrong in ({'limit': 0}, {'limit': 1001}, {'limit': 'x'}, {'state': 'bad'}, {'after': ''}, {'file': '/x'}):
            jobs.send(type='files', id=2, **wrong)
            self.assertIn(jobs.receive()[0]['result'], ('data', 'usage'), wrong)
        jobs.close()
        self.assertEqual(self.sluice('failed', 'x', status=64).stdout, b'')
        d.stop()

    def test_degraded(self):
        """No space by min_free; results that cannot be written; an input that cannot be read."""
        d = self.serve('--min-free', '99%')
        got = self.expect_folder('degraded', 'no-space')
        self.assertRegex(got['message'], '^%s: less space is free than min_free' % d.output)
        d.stop()
        d = self.serve()
        d.drop('full', b'full')
        got = self.expect_folder('degraded', 'no-space')
        self.assertIn('No space left', got['message'])
        self.assertTrue(got['next_try'] >= got['since'] and got['retrying'] == 1, got)
        d.expect_done('full')
        self.expect_folder('ok')
        d.stop()

    def test_several_folders(self):
        """In the order of the configuration; more than a message holds are cut there."""
        path = os.path.join(self.dir, 'c.yaml')
        names = ['%03d' % i for i in range(300)]
        for name in names:
            os.makedirs(os.path.join(self.dir, name, 'in'))
        with open(path, 'w', encoding='utf-8') as file:
            file.write('watch:\n' + ''.join('  - {input: %s/%s/in, output: %s/%s, chain: sobel, mode: poll}\n'
                                            % (self.dir, n, self.dir, n) for n in names))
        d = self.serve(start=False)
        d.options = ['--config', path, '--state', d.state, '--http-socket', self.http, '--jobs-socket', self.jobs]
        d.start()
        self.assertEqual([f['input'] for f in self.status()['folders']],
                         [os.path.join(self.dir, n, 'in') for n in names])
        told = json.loads(self.text('--json'))
        self.assertGreater(len(told['folders']), 50)
        self.assertEqual(len(told['folders']) + told['folders_left_out'], len(names))
        self.assertIn('and %d folders more\n' % told['folders_left_out'], self.text())
        d.stop()

    def test_workers_that_start(self):
        """How many programs are ready, of those of all chains."""
        d = self.serve(start=False)
        d.env['FAKE_WORKER_PREPARES'] = '4'
        d.start(ready=False)
        seen = set()
        def starts():
            try:
                told = self.status()
            except (FileNotFoundError, ConnectionRefusedError):
                return False
            for worker in told['workers']:
                seen.add((worker['state'], *((worker['preparing'] or {}).values())))
            return told['ready']
        wait_for('the worker', starts, pause=0.1)
        d.expect_line('ready$')
        self.assertLessEqual(seen, {('starting',), ('ready',), *(('starting', i, 4) for i in range(5))})
        self.assertGreaterEqual(len(seen), 4, seen)
        self.assertIsNone(self.status()['workers'][0]['preparing'])
        d.stop()

    def test_watch(self):
        """Again each second, on one connection; to the end of the daemon."""
        d = self.serve()
        for options, env in ((('--json',), {}), ((), {})):
            process = subprocess.Popen([SLUICE, 'status', '--watch', '-s', self.jobs, *options], stdout=subprocess.PIPE,
                                       stderr=subprocess.PIPE, text=True, env=dict(os.environ, **env))
            self.addCleanup(process.kill)
            if options:
                first, second = (json.loads(process.stdout.readline()) for _ in range(2))
                self.assertTrue(0.8 < second['uptime_s'] - first['uptime_s'] < 5, (first, second))
                process.kill()
                process.communicate()
        lines = []
        while lines.count('state: ready\n') < 2:
            lines.append(process.stdout.readline())
        self.assertNotIn('\033', ''.join(lines))
        d.stop()
        out, err = process.communicate(timeout=30)
        self.assertEqual(process.returncode, 69, out + err)
        self.assertIn('sluice: status: the daemon has hung up', err)

    def test_watch_on_a_terminal(self):
        d = self.serve()
        for term, cleared in (('xterm', True), ('dumb', False)):
            master, slave = os.openpty()
            process = subprocess.Popen([SLUICE, 'status', '--watch', '-s', self.jobs], stdout=slave,
                                       env=dict(os.environ, TERM=term))
            self.addCleanup(process.kill)
            os.close(slave)
            text = b''
            while text.count(b'state: ready') < 2:
                text += os.read(master, 4096)
            self.assertEqual(text.startswith(b'\033[H\033[Jstate: ready'), cleared, text)
            process.kill()
            process.wait()
            os.close(master)
        d.stop()


class Requeue(Queries):
    def test_failed(self):
        d = self.serve('--stable', '100ms')
        d.drop('a', b'truncated')
        d.expect_failed('a')
        self.write(self.hidden(d, 'failed', 'a'), b'good')
        got = json.loads(self.sluice('requeue', '--json', d.in_path('a')).stdout)
        self.assertEqual([(one['requeued'], one['name'], one['was']) for one in got], [(1, 'a', 'failed')])
        self.assertEqual(d.expect('a.pgm'), b'good')
        d.expect_done('a')
        self.assertEqual(d.failed(), [])
        self.assertEqual(self.expect_why(d.in_path('a'), 'done')['attempts'], 1)
        d.stop()
        d.expect_clean()

    def test_failed_again(self):
        """Its attempts are counted anew, and there is one reason."""
        d = self.serve('--stable', '100ms')
        d.drop('a', b'truncated')
        first = d.expect_failed('a')
        inode = os.stat(self.hidden(d, 'failed', 'a')).st_ino
        self.assertIn(b'put back as a', self.sluice('requeue', self.hidden(d, 'failed', 'a.error.json')).stdout)
        wait_for('it fails again', lambda: self.fake_log().count('truncated') == 4)
        second = d.expect_failed('a')
        self.assertEqual(second['attempts'], first['attempts'])
        self.assertEqual(os.stat(self.hidden(d, 'failed', 'a')).st_ino, inode)
        self.assertEqual(d.failed(), ['a', 'a.error.json'])
        d.stop()
        d.expect_clean()

    def test_done(self):
        for rule in ('done', 'keep'):
            d = self.serve('--originals', rule, '--stable', '100ms', folder=os.path.join(self.dir, rule))
            d.drop('a', b'good')
            d.expect('a.pgm')
            self.expect_why(d.in_path('a'), 'done')
            self.sluice('requeue', os.path.join(d.output, 'a.pgm'))
            self.assertEqual(d.expect('a-1.pgm'), b'good')
            self.assertEqual(self.expect_why(d.in_path('a'), 'done')['result_path'], os.path.join(d.output, 'a-1.pgm'))
            d.stop()
            d.expect_clean()
            self.assertEqual(os.path.exists(d.in_path('a')), rule == 'keep')

    def test_in_place(self):
        d = self.serve('--claim', 'none', '--stable', '100ms')
        for name in 'ab':
            d.drop(name, b'truncated')
        for name in 'ab':
            self.expect_why(d.in_path(name), 'failed', 'truncated')
        self.sluice('requeue', d.in_path('a'))
        wait_for('it is tried again', lambda: self.fake_log().count('truncated') == 6)
        self.expect_why(d.in_path('a'), 'failed', 'truncated')
        self.assertEqual(json.loads(self.sluice('requeue', '--failed', '--json').stdout)['requeued'], 2)
        wait_for('both are', lambda: self.fake_log().count('truncated') == 10)
        for name in 'ab':
            self.expect_why(d.in_path(name), 'failed', 'truncated')
        folder, = os.listdir(os.path.join(d.state, 'folders'))
        self.assertEqual(sorted(os.listdir(os.path.join(d.state, 'folders', folder, 'failed'))),
                         ['a.error.json', 'b.error.json'])
        d.stop()

    def test_original_gone_or_not_ended(self):
        d = self.serve('--originals', 'delete', '--settle', '50s', '--stable', '60s')
        d.drop('a', b'good', 'rename')
        d.expect('a.pgm')
        self.expect_why(d.in_path('a'), 'done')
        self.sluice('requeue', d.in_path('a'), status=66)
        d.drop('closed', b'good')
        self.assertIn(b'anyway', self.sluice('requeue', d.in_path('closed')).stdout)
        d.drop('hangs', b'hang', 'rename')
        self.expect_why(d.in_path('hangs'), 'running')
        self.assertIn(b'anyway', self.sluice('requeue', d.in_path('hangs')).stdout)
        wait_for('it to begin', lambda: self.fake_log() == ['good', 'hang'])
        d.process.kill()

    def test_name_that_is_taken(self):
        d = self.serve('--stable', '100ms')
        d.drop('a', b'truncated')
        d.expect_failed('a')
        d.stop()
        d.options[d.options.index('100ms'):] = ['60s', '--settle', '50s']
        d.start()
        d.drop('a', b'a new one')
        self.write(self.hidden(d, 'failed', 'a'), b'the old one')
        self.assertIn(b'put back as a-1', self.sluice('requeue', self.hidden(d, 'failed', 'a')).stdout)
        self.assertEqual(d.expect('a-1.pgm'), b'the old one')
        with open(d.in_path('a'), 'rb') as file:
            self.assertEqual(file.read(), b'a new one')
        d.stop()

    def test_names_that_are_no_text(self):
        """They come back as they were, though the reason cannot hold them."""
        for claim in ('rename', 'none'):
            d = self.serve('--claim', claim, '--stable', '100ms', folder=os.path.join(self.dir, claim))
            with open(os.path.join(os.fsencode(d.input), b'c\xff.x'), 'wb') as file:
                file.write(b'poison')

            def failed():
                return len(self.files(state='failed')['files']) == 1
            wait_for('its failure', failed)
            begun = len(self.fake_log())
            answer = sockets.ask(self.http, 'POST', '/v1/files/requeue?failed=1')
            self.assertEqual(answer.json(), {'requeued': 1, 'not_requeued': 0})
            wait_for('it once more', lambda n=begun: len(self.fake_log()) == n + 2)
            wait_for('its failure', failed)
            d.stop()
            folder = os.path.join(d.hidden, 'failed') if claim == 'rename' else d.input
            self.assertIn(b'c\xff.x', os.listdir(os.fsencode(folder)))

    def test_pages_of_any_names(self):
        """A name that is no UTF-8 is told with U+FFFD in it; the next page begins behind the name itself."""
        d = self.serve(start=False)
        d.start()
        d.stop()
        names = [b'a%', b'a%41', b'b\xc3\xa9', b'c\x80x', b'c\xff', b'c\xff2', b'd']
        for name in names:
            with open(os.path.join(os.fsencode(self.hidden(d, 'failed')), name), 'wb') as file:
                file.write(b'good')
        d.start()
        told, after = [], ''
        while after is not None and len(told) <= len(names):
            page = self.files(state='failed', limit=1, after=after)
            told += [f['name'] for f in page['files']]
            after = page['next']
        self.assertEqual(told, [name.decode(errors='replace') for name in names])
        d.stop()

    def test_all(self):
        """More than one slice, below folders too; pages of them before."""
        count = 300
        d = self.serve(start=False)
        d.start()
        d.stop()
        for i in range(count):
            name = self.hidden(d, 'failed', '%03d' % i)
            self.write(name, b'good %d' % i)
            with open(name + '.error.json', 'w', encoding='utf-8') as file:
                json.dump({'file': '%03d' % i, 'code': 'limit', 'message': 'too large', 'attempts': 1}, file)
        d.start()
        names, after, pages = [], '', 0
        while after is not None:
            page = self.files(state='failed', limit=70, after=after)
            self.assertLessEqual(len(page['files']), 70)
            self.assertEqual({(f['state'], f['reason'], f['message']) for f in page['files']},
                             {('failed', 'limit', 'too large')})
            names += [f['name'] for f in page['files']]
            after, pages = page['next'], pages + 1
        self.assertEqual(names, ['%03d' % i for i in range(count)])
        self.assertEqual(pages, 5)
        answer = sockets.ask(self.http, 'POST', '/v1/files/requeue?failed=1')
        self.assertEqual((answer.status, answer.json()['requeued']), (200, count))
        self.assertEqual(d.failed(), [])
        d.expect_all(['%03d.pgm' % i for i in range(count)])
        names, after = set(), ''
        while after is not None:
            page = self.files(state='done', limit=100, after=after)
            names.update(f['name'] for f in page['files'])
            after = page['next']
        self.assertEqual(len(names), count)
        d.stop()
        d.expect_clean()


class Large(Queries):
    @unittest.skipUnless(os.environ.get('SLUICE_LONG') == '1', 'SLUICE_LONG=1 runs it')
    def test_pages_of_many(self):
        """100 000 files in failed and as many in the ledger: pages come, memory stays, health answers."""
        count = 100000
        d = self.serve()
        d.stop()
        for i in range(count):
            with open(self.hidden(d, 'failed', '%06d' % i), 'wb') as file:
                file.write(b'x')
        base = sqlite3.connect(os.path.join(d.state, 'ledger.db'))
        now = int(time.time())
        base.executemany('INSERT INTO files(folder, name, device, inode, size, mtime, state, attempts, result, remembered, first, last) '
                         'VALUES (?, ?, 1, ?, 5, 6, "done", 1, ?, 0, ?, ?)',
                         ((d.input, 'd%06d' % i, 10**9 + i, 'd%06d.pgm' % i, now, now) for i in range(count)))
        base.commit()
        base.close()
        d.start()

        def resident():
            with open('/proc/%d/statm' % d.process.pid, encoding='ascii') as file:
                return int(file.read().split()[1]) * os.sysconf('SC_PAGESIZE')
        before, most, seen, after, slowest, begin = resident(), 0, 0, '', 0, time.monotonic()
        while after is not None:
            page = self.files(limit=1000, after=after)
            seen, after = seen + len(page['files']), page['next']
            most = max(most, resident())
            asked = time.monotonic()
            self.assertEqual(sockets.ask(self.http, 'GET', '/livez').status, 200)
            slowest = max(slowest, time.monotonic() - asked)
        print('%d files in pages of 1000: %.1f s, memory %.1f to %.1f MiB, health within %.0f ms'
              % (seen, time.monotonic() - begin, before / 2**20, most / 2**20, 1e3 * slowest), file=sys.stderr)
        self.assertEqual(seen, 2 * count)
        self.assertLess(most - before, 32 << 20)
        d.process.kill()


class Http(Queries):
    def problem(self, method, target, status, code, body=None):
        answer = sockets.ask(self.http, method, target, body)
        self.assertEqual((answer.status, answer.json()['code']), (status, code), answer.body)
        self.assertEqual(answer.headers['Content-Type'], 'application/problem+json')

    def test_requests(self):
        d = self.serve('--stable', '100ms')
        before = sockets.settled_descriptors(d)
        d.drop('a', b'truncated')
        d.expect_failed('a')
        for target in ('?state=lost', '?limit=0', '?limit=1001', '?limit=x', '?after=x', '?after=0:live', '?chain=sobel',
                       '?file=relative', '?after=-1:live:'):
            self.problem('GET', '/v1/files' + target, 400, 'query' if 'chain' in target else 'usage')
        self.problem('POST', '/v1/files', 405, 'method')
        self.problem('GET', '/v1/files/requeue', 405, 'method')
        for body in (b'', b'{}', b'[]', b'{"file": 7}', b'{"failed": false}', b'{"file": "/a", "failed": true}', b'{',
                     b'{"file": "/a", "x": 1}', b'x' * 100000):
            self.problem('POST', '/v1/files/requeue', 400, 'query', body)
        self.problem('POST', '/v1/files/requeue', 400, 'usage', b'{"file": "a"}')
        self.problem('POST', '/v1/files/requeue?failed=2', 400, 'query')
        self.problem('POST', '/v1/files/requeue?file=' + d.in_path('none'), 404, 'no-input')
        self.problem('GET', '/v1/stages?file=x', 400, 'query')
        got = sockets.ask(self.http, 'GET', '/v1/files?file=' + d.in_path('a')).json()
        self.assertEqual((got['state'], got['reason']), ('failed', 'truncated'))
        head = sockets.ask(self.http, 'HEAD', '/v1/files?state=failed')
        self.assertEqual((head.status, head.body), (200, b''))
        self.write(self.hidden(d, 'failed', 'a'), b'good')
        answer = sockets.ask(self.http, 'POST', '/v1/files/requeue', json.dumps({'file': d.in_path('a')}).encode())
        self.assertEqual((answer.status, answer.json()['requeued']), (200, 1))
        d.expect('a.pgm')
        wait_for('descriptors as before', lambda: sockets.descriptors(d) == before, 20)
        d.stop()

    def test_lists_while_the_loop_is_busy(self):
        """Lists that take longer than it is between looks at them (the last page of many files), and end while the loop
        reads large messages: what a thread lists is the thread's until it is listed, or the front would die, or
        ThreadSanitizer say so."""
        count = 30000
        d = self.serve()
        d.stop()
        for i in range(count):
            os.mknod(self.hidden(d, 'failed', '%06d' % i))
        d.start()
        last = '/v1/files?' + urllib.parse.urlencode({'state': 'failed', 'after': '0:failed:%06d' % (count - 11)})
        hostile = multiprocessing.get_context('fork').Process(
            target=flood(self.jobs, 'jobs', 8, fill((b'{"a":1,"b":"c"}', 4000))), args=(lambda _: None,), daemon=True)
        hostile.start()
        self.addCleanup(hostile.kill)
        end, counts = time.monotonic() + 4, []

        def ask(target):
            connection, pages = sockets.Http(self.http), 0
            while time.monotonic() < end:
                connection.request('GET', target)
                answer = sockets.Answer(connection.getresponse())
                self.assertEqual(answer.status, 200, answer.body)
                if target is last:
                    self.assertEqual(len(answer.json()['files']), 10)
                pages += 1
            connection.close()
            counts.append(pages)
        askers = [threading.Thread(target=ask, args=(target,)) for target in [last] * 4 + ['/metrics', '/v1/status'] * 2]
        for asker in askers:
            asker.start()
        for asker in askers:
            asker.join()
        hostile.kill()
        try:
            ended = d.process.wait(0 if len(counts) == len(askers) else 10)  # a core takes time
        except subprocess.TimeoutExpired:
            ended = None
        self.assertIsNone(ended, d.log()[-2000:])
        self.assertEqual(len(counts), len(askers))
        self.assertGreater(min(counts), 0)
        d.stop()

    def test_clients_that_do_not_wait(self):
        d = self.serve()
        before = sockets.settled_descriptors(d)
        for _ in range(30):
            sock = sockets.connect(self.http)
            sock.sendall(b'GET /v1/files HTTP/1.1\r\nHost: x\r\n\r\n')
            sock.close()
            client = sockets.Jobs(self.jobs)
            for i in range(20):
                client.send(id=i, type='why', file=d.in_path('x'))
            client.close()
        wait_for('descriptors as before', lambda: sockets.descriptors(d) == before, 20)
        self.assertEqual(sockets.ask(self.http, 'GET', '/livez').status, 200)
        d.stop()

    def test_messages(self):
        d = self.serve()
        client = sockets.Jobs(self.jobs)
        for fields in ({'type': 'why'}, {'type': 'requeue'}, {'type': 'requeue', 'failed': False},
                       {'type': 'requeue', 'failed': True, 'file': '/x'}, {'type': 'why', 'file': 7},
                       {'type': 'why', 'file': '/x', 'failed': True}, {'type': 'status', 'file': '/x'},
                       {'type': 'why', 'file': '/' + 'x' * 5000}):
            client.send(id=1, **fields)
            message, _ = client.receive()
            self.assertEqual((message['type'], message['result']), ('done', 'data'), fields)
        client.send(id=2, type='why', file='relative')
        self.assertEqual(client.receive()[0]['result'], 'usage')
        client.send(id=3, type='why', file=d.in_path('../in//./x'))
        message, _ = client.receive()
        self.assertEqual((message['type'], message['id'], message['result'], message['why']['state'],
                          message['why']['name']), ('why', 3, 'ok', 'unknown', 'x'))
        client.close()
        d.stop()


if __name__ == '__main__':
    main()
