#!/usr/bin/env python3
"""How sluiced starts, when it refuses to, how it ends, and which libraries it is linked with."""
import json
import os
import re
import signal
import subprocess
import time
import unittest
import unittest.mock

from sluice_test import (EMULATED, FALLBACK, HERE, PATIENCE, SLUICED, SLUICED_FILE, Daemon, DaemonTest, alive, main, picture,
                         pictures, wait_for)

TIME = r'\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z '  # at the beginning of a line of the log


def read_all(path):
    with open(path, 'rb') as file:
        return file.read()


class Options(DaemonTest):
    def run_it(self, *options, status):
        result = subprocess.run([SLUICED, *options], capture_output=True, text=True, timeout=120,
                                cwd=self.dir)
        self.assertEqual(result.returncode, status, result.stderr)
        return result

    def refuse(self, status, pattern, **changes):
        """Starts with good options but for `changes` (None leaves one out)."""
        os.makedirs(os.path.join(self.dir, 'in'), exist_ok=True)
        os.makedirs(os.path.join(self.dir, 'out'), exist_ok=True)
        options = dict(dict(watch='in', output='out', chain='sobel', format='pgm', state='state'), **changes)
        words = [word for name, value in options.items() if value is not None
                 for word in ('--' + name, value)]
        result = self.run_it(*words, status=status)
        self.assertRegex(result.stderr, pattern)
        for line in pictures.without_drivers(result.stderr).splitlines():
            self.assertRegex(line, r'^(%s(sluiced|sluice-worker): |  |sluiced: )' % TIME)
        self.assertEqual(result.stdout, '')
        return result.stderr

    def test_help_and_version(self):
        result = self.run_it('--help', status=0)
        for option in ('watch', 'output', 'chain', 'format', 'state', 'device', 'max-pixels', 'max-file',
                       'memory', 'jobs', 'quiet', 'verbose', 'help', 'version'):
            self.assertIn('--' + option, result.stdout)
        with open(os.path.join(HERE, '..', '..', 'docs', 'daemon.md'), encoding='utf-8') as file:
            page = file.read()
        for option in re.findall(r'^ +(?:-\w, +)?--([a-z-]+) [A-Z]', result.stdout, re.M):
            self.assertIn('--' + option, page)
        self.assertRegex(self.run_it('-V', status=0).stdout, r'^sluiced \d+\.\d+\.\d+\n$')

    def test_usage(self):
        self.refuse(64, '--watch DIR is missing', watch=None)
        self.refuse(64, '--output DIR is missing', output=None)
        self.refuse(64, '--chain CHAIN is missing', chain=None)
        self.refuse(64, '--jobs: expected an integer from 0 to 256|--jobs=many', jobs='many')
        self.refuse(78, 'results would be taken for new pictures', output='in')
        result = self.run_it('--wach', 'in', status=64)
        self.assertIn("did you mean '--watch'?", result.stderr)
        self.run_it('--watch', 'in', '--output', 'out', '--chain', 'sobel', 'more', status=64)

    def test_bad_chain_has_a_caret(self):
        text = self.refuse(64, "sluiced: chain: unknown stage 'sobell'; did you mean 'sobel'",
                           chain='luminance,sobell')
        self.assertIn('\n  luminance,sobell\n            ^^^^^^\n', text)
        self.refuse(64, 'sluiced: chain: .*scale', chain='sobel:scale=many')
        text = self.refuse(64, 'sluiced: chain: ', chain='grey,sobel:scale=x,box')  # all at once
        self.assertEqual([line for line in text.splitlines() if '^' in line],
                         ['  ^^^^', ' ' * 19 + '^', ' ' * 21 + '^^^'])

    def test_bad_format(self):
        text = self.refuse(64, "sluiced: format: unknown output format 'pgn'", format='pgn')
        self.assertIn('\n  pgn\n  ^^^\n', text)
        self.refuse(64, 'sluiced: format: .*ascii', format='pgm:ascii=3')

    def test_bad_reading(self):
        text = self.refuse(64, 'sluiced: input: .*partial', input='partial=2')
        self.assertIn('\n  partial=2\n', text)
        self.refuse(64, 'sluiced: input: ', input='raw=nv12')  # without a size

    def test_folders_of_the_command_line_are_made(self):
        d = self.daemon('--jobs', '1')
        for folder in (d.input, d.output):
            os.rmdir(folder)
        d.input, d.output = os.path.join(d.dir, 'new', 'in'), os.path.join(d.dir, 'new', 'out')
        d.options[1], d.options[3] = d.input, d.output
        d.start()
        for folder in (d.input, d.output):
            self.assertEqual(d.count_lines('sluiced: %s: there was no such folder; it is made$' % folder), 1)
        d.hidden = os.path.join(d.input, '.sluice')
        d.drop('a.pgm', picture())
        d.expect('a.pgm')
        d.stop()
        d.lines = []
        d.start()
        d.stop()
        self.assertEqual(d.count_lines('it is made'), 0)

    def test_no_device(self):
        self.refuse(69, "no-such-device", device='no-such-device')

    def test_no_worker(self):
        with unittest.mock.patch.dict(os.environ, SLUICE_WORKER='/nonexistent/worker'):
            self.refuse(69, 'there is no worker program /nonexistent/worker')

    def test_worker_that_never_comes_up(self):
        with unittest.mock.patch.dict(os.environ, SLUICE_WORKER='/bin/false'):
            text = self.refuse(69, 'the worker ended with status 1 each time')
            # the device, once more without caches, the processor, the references
            self.assertEqual(len(re.findall('ended with status 1$', text, re.M)), 4)
            self.assertRegex(text, "FALLING BACK to '%s'(.|\n)*FALLING BACK to 'reference'" % FALLBACK)
            text = self.refuse(69, 'the worker ended with status 1 each time', fallback='none')
            self.assertEqual(len(re.findall('ended with status 1$', text, re.M)), 3)

    @unittest.skipIf(EMULATED, 'the emulator needs descriptors of its own')
    def test_too_few_descriptors(self):
        """Whatever it comes to first that it cannot have, that is told."""
        daemon = self.daemon()
        for limit in range(4, 10):
            result = subprocess.run(['sh', '-c', 'ulimit -n %d; exec "$@"' % limit, 'sh', SLUICED, *daemon.options],
                                    capture_output=True, text=True, timeout=PATIENCE)
            self.assertIn(result.returncode, (70, 74), (limit, result.stderr))
            self.assertRegex(result.stderr, 'Too many open files|too many open files|unable to open')

    def test_a_refused_start_leaves_files_alone(self):
        os.makedirs(os.path.join(self.dir, 'in'))
        with open(os.path.join(self.dir, 'in', 'a.pgm'), 'wb') as file:
            file.write(picture())
        self.refuse(64, 'unknown stage', chain='nothing')
        self.assertEqual(sorted(os.listdir(os.path.join(self.dir, 'in'))), ['a.pgm'])


class Terminal(DaemonTest):
    def log_of(self, stderr, read):
        d = self.daemon()
        process = subprocess.Popen([SLUICED, *d.options], stderr=stderr, stdin=subprocess.DEVNULL, env=dict(d.env, TZ='UTC-5'))
        self.addCleanup(process.kill)
        text = b''
        while b'sluiced: ready' not in text or b'sluice-worker: ' not in text or not text.endswith(b'\n'):
            text += os.read(read, 4096)
        process.terminate()
        self.assertEqual(process.wait(PATIENCE), 0)
        return pictures.without_drivers(text.decode().replace('\r\n', '\n'))

    def test_lines_have_a_time(self):
        """Those of the worker, too, which has no zone's file in its sandbox. Elsewhere it is UTC, with the date."""
        master, slave = os.openpty()
        lines = self.log_of(slave, master).splitlines()
        self.assertGreater(len(lines), 2)
        hours = {time.strftime('%H', time.gmtime(time.time() + 5 * 3600 + late)) for late in (-60, 0)}
        for line in lines:
            self.assertRegex(line, r'^\d\d:\d\d:\d\d (sluiced|sluice-worker): ')
            self.assertIn(line[:2], hours)
        self.assertTrue(any('sluice-worker: ' in line for line in lines), lines)
        os.close(slave)
        os.close(master)
        read, write = os.pipe()
        for line in self.log_of(write, read).splitlines():
            self.assertRegex(line, '^%s(sluiced|sluice-worker): ' % TIME)
        os.close(read)
        os.close(write)

    def test_the_journal_has_its_own(self):
        """It is known by the file that stderr is (systemd.exec(5)), so that others get times where the variable is inherited."""
        path = os.path.join(self.dir, 'log')
        for name, prefix in ((path, r'<[3467]>'), (self.dir, TIME)):
            with open(path, 'w+b') as log:
                d, status = self.daemon(), os.stat(name)
                process = subprocess.Popen([SLUICED, *d.options], stderr=log, stdin=subprocess.DEVNULL,
                                           env=dict(d.env, JOURNAL_STREAM='%d:%d' % (status.st_dev, status.st_ino)))
                self.addCleanup(process.kill)
                wait_for('a line of the worker', lambda: b'sluice-worker: ' in read_all(path))
                process.terminate()
                process.wait(PATIENCE)
            lines = [line for line in read_all(path).decode().splitlines() if 'sluice-worker: ' in line]
            for line in lines:  # those of sluiced go to the journal by its library, with fields
                self.assertRegex(line, '^%ssluice-worker: ' % prefix)
            self.assertTrue(lines)


class Log(DaemonTest):
    def test_sockets_and_folders(self):
        """The log says where it listens, and of which folder a file is."""
        http, jobs = (os.path.join(self.dir, name) for name in ('h', 'j'))
        d = self.fake('--http-socket', http, '--jobs-socket', jobs, '--stable', '100ms').start()
        d.expect_line(r'sluiced: listening at %s \(http\)$' % http)
        d.expect_line(r'sluiced: listening at %s \(jobs\)$' % jobs)
        d.drop('a', b'good')
        d.drop('b', b'truncated')
        d.drop('c', b'')
        d.drop('d', b'full')
        d.expect_line(r'sluiced: %s/a: done in .*: a.pgm$' % d.input)
        d.expect_line(r'sluiced: %s/b: truncated fake; it waits until' % d.input)
        d.expect_line(r'sluiced: %s/b: failed: truncated: truncated fake \(in ' % d.input)
        d.expect_line(r'sluiced: %s/c: empty; it waits until something' % d.input)
        d.expect_line(r'sluiced: %s/d: write: No space left on device; tried again in 1s$' % d.input)
        d.stop()

    def test_json(self):
        """Each line is an object, those of the worker too; a file has its path, its job and its chain."""
        d = self.daemon('--log-format', 'json', chain='sobel,invert').start(ready=False)
        d.expect_line('"message":"ready"')
        name = 'a "b" \n\t\udcff.pgm'
        d.drop(name, b'P5\n8 8\n255\n' + bytes(64))
        d.expect_line('done in')
        d.expect_line('"program":"sluice-worker"')
        d.stop()
        lines = [json.loads(line) for line in pictures.without_drivers(d.log()).splitlines()]
        self.assertEqual({line['program'] for line in lines}, {'sluiced', 'sluice-worker'})
        for line in lines:
            self.assertRegex(line['time'] + ' ', '^%s$' % TIME)
            self.assertIn(line['level'], ('error', 'warning', 'info', 'debug'))
            self.assertLessEqual(set(line), {'time', 'level', 'program', 'message', 'job', 'chain', 'file'})
        done = next(line for line in lines if 'done in' in line['message'])
        self.assertEqual((done['file'], done['chain'], done['job'] > 0),
                         (d.in_path('a "b" \n\t\ufffd.pgm'), 'sobel,invert', True))

    def test_addresses(self):
        """sluice has no TCP: an address is no path, wherever it stands."""
        for address in ('127.0.0.1:8080', ':8080', '8080', '[::1]:80', 'http://localhost:80/', 'unix:/run/x'):
            for option in ('http-socket', 'jobs-socket'):
                done = subprocess.run([SLUICED, '--' + option, address], capture_output=True, text=True, cwd=self.dir)
                self.assertEqual(done.returncode, 64, done.stderr)
                self.assertIn("sluiced: --%s: '%s' is no path of a Unix socket, such as /run/sluice/http.sock; for TCP put "
                              'nginx, socat or systemd-socket-proxyd in front of one' % (option, address), done.stderr)
        done = subprocess.run([SLUICED], capture_output=True, text=True, env=dict(os.environ, SLUICE_LISTEN_HTTP='*:80'))
        self.assertRegex(done.stderr, r"SLUICE_LISTEN_HTTP: http: '\*:80' is no path of a Unix socket")
        path = os.path.join(self.dir, 'c.yaml')
        with open(path, 'w', encoding='utf-8') as file:
            file.write('version: 1\nlisten: {http: {unix: "0.0.0.0:80"}}\n')
        done = subprocess.run([SLUICED, '--config', path], capture_output=True, text=True)
        self.assertRegex(done.stderr, r"c.yaml:2:23: http: unix: '0.0.0.0:80' is no path of a Unix socket")


class State(DaemonTest):
    def where(self, **env):
        """Which of the directories under self.dir is made by a start that is told by `env` alone."""
        environment = {key: value for key, value in os.environ.items()
                       if key not in ('STATE_DIRECTORY', 'XDG_STATE_HOME', 'HOME')}
        environment.update({key: os.path.join(self.dir, value) for key, value in env.items()})
        for name in ('in', 'out'):
            os.makedirs(os.path.join(self.dir, name), exist_ok=True)
        result = subprocess.run([SLUICED, '-w', 'in', '-o', 'out', '-c', 'nothing', '-f', 'pgm'],
                                cwd=self.dir, env=environment, capture_output=True, text=True, timeout=120)
        return result

    def test_places(self):
        self.assertEqual(self.where(STATE_DIRECTORY='a', XDG_STATE_HOME='b', HOME='c').returncode, 64)
        self.assertTrue(os.path.isdir(os.path.join(self.dir, 'a')))
        self.where(XDG_STATE_HOME='b', HOME='c')
        self.assertTrue(os.path.isdir(os.path.join(self.dir, 'b', 'sluice')))
        self.where(HOME='c')
        self.assertTrue(os.path.isdir(os.path.join(self.dir, 'c', '.local', 'state', 'sluice')))
        result = self.where()
        self.assertEqual(result.returncode, 73)
        self.assertIn('--state DIR', result.stderr)


class Links(unittest.TestCase):
    def test_front_needs_neither_opencl_nor_codecs(self):
        text = subprocess.run(['readelf', '-d', SLUICED_FILE], capture_output=True, text=True, check=True).stdout
        needed = re.findall(r'\(NEEDED\).*\[(.*)\]', text)
        allowed = r'^(libuv|libjansson|libmicrohttpd|libsqlite3|libsystemd|libyaml(-0)?|libc|libpthread|libdl|librt|libm|libasan|libubsan|libtsan|ld-linux.*)\.so'
        self.assertTrue(needed)
        for library in needed:
            self.assertRegex(library, allowed)
        if EMULATED:
            self.skipTest('ldd starts the program; what it names itself was looked at')
        loaded = subprocess.run(['ldd', SLUICED], capture_output=True, text=True, check=True).stdout
        self.assertNotRegex(loaded, r'lib(OpenCL|pocl|png|jpeg|turbojpeg|zip|z|LLVM)[.-]')

    def test_front_has_no_engine(self):
        symbols = subprocess.run(['nm', SLUICED_FILE], capture_output=True, text=True, check=True).stdout
        self.assertIn('queue_add', symbols)
        self.assertNotRegex(symbols, r' [Tt] (engine_|chain_parse|decoder_|device_|clGet|stage_)')


class Ends(DaemonTest):
    def test_sigterm_and_sigint(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            d = self.start()
            d.drop('a-%d.pgm' % number, picture())
            d.expect('a-%d.pgm' % number)
            worker = d.worker_pid()
            d.stop(number)
            self.assertFalse(alive(worker))
            d.expect_clean()

    def test_sigterm_while_starting(self):
        d = self.daemon().start(ready=False)
        time.sleep(0.05)
        d.process.send_signal(signal.SIGTERM)
        status = d.process.wait(60)
        self.assertIn(status, (0, -signal.SIGTERM))  # before the handler is there: as usual

    def test_signals_that_go_to_the_whole_group(self):
        """A terminal's Ctrl-C and a service manager's SIGTERM reach the worker, too."""
        d = self.fake('--jobs', '1').start()
        d.drop('a', b'slow')
        wait_for('the job', lambda: self.fake_log() == ['slow'])
        os.kill(d.worker_pid(), signal.SIGTERM)
        os.kill(d.worker_pid(), signal.SIGINT)
        d.stop(signal.SIGINT)
        self.assertEqual(d.results(), ['a.pgm'])
        real = self.start()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            os.kill(real.worker_pid(), number)
        real.drop('b.pgm', picture())
        real.expect('b.pgm')
        self.assertEqual(real.report()['starts'], 1)
        real.stop()

    def test_sighup_and_sigusr1(self):
        d = self.start()
        d.process.send_signal(signal.SIGHUP)
        d.expect_line('SIGHUP: there is no configuration')
        d.drop('a.pgm', picture())
        d.expect_line('a.pgm: done in')
        report = d.report()
        self.assertEqual((report['pid'], report['starts'], report['jobs']), (d.worker_pid(), 1, 1))
        d.expect_line(r'ready: 0 jobs wait.*1 done, 0 failed')
        d.stop()

    @unittest.skipIf(EMULATED, 'processes have the emulator\'s name')
    def test_the_worker_has_its_name(self):
        with open('/proc/%d/comm' % self.start().worker_pid(), encoding='ascii') as comm:
            self.assertEqual(comm.read(), 'sluice-worker\n')

    def test_worker_dies_with_the_front(self):
        d = self.start()
        worker = d.worker_pid()
        d.process.kill()
        wait_for('the end of the worker', lambda: not alive(worker), 5)

    def test_draining_has_an_end(self):
        d = self.fake('--jobs', '1').start()
        d.drop('a', b'hang')
        wait_for('the job', lambda: self.fake_log() == ['hang'])
        begin = time.monotonic()
        d.stop()
        self.assertTrue(24 < time.monotonic() - begin < 32, time.monotonic() - begin)
        self.assertIn('a', os.listdir(d.input))  # where it was
        self.assertEqual(d.failed(), [])
        d.expect_clean()

    def test_second_signal_gives_up(self):
        d = self.fake('--jobs', '1').start()
        d.drop('a', b'hang')
        wait_for('the job', lambda: self.fake_log())
        begin = time.monotonic()
        d.process.send_signal(signal.SIGTERM)
        d.expect_line('no others are begun')
        d.stop(signal.SIGTERM)
        self.assertLess(time.monotonic() - begin, 20)
        self.assertEqual(os.listdir(d.input).count('a'), 1, d.log())  # where it was
        d.expect_clean()

    def test_working_directory_and_relative_paths(self):
        for name in ('in', 'out'):
            os.mkdir(os.path.join(self.dir, name))
        d = Daemon(self)
        d.options[1], d.options[3] = 'in', 'out'
        here = os.getcwd()
        os.chdir(self.dir)
        try:
            d.start()
        finally:
            os.chdir(here)
        d.drop('a.pgm', picture())
        d.expect('a.pgm')
        d.stop()



@unittest.skipUnless(os.environ.get('NATIVE_WRONG'), 'no native kernels, or a preloaded library cannot stand before a sanitizer')
class WrongNative(DaemonTest):
    """Native kernels that give other results than the references (tests/fault/native_wrong.c)."""

    def wrong(self, chain, *options):
        return self.daemon('--device', 'native', *options, chain=chain,
                           env={'LD_PRELOAD': os.environ['NATIVE_WRONG'], 'SLUICE_WRONG_KERNEL': 'invert',
                                'SLUICE_CACHE_DIR': os.path.join(self.dir, 'cache')})

    def test_a_wrong_chain_runs_on_the_references(self):
        """The daemon is ready, the chain is compared beside work, and its next pictures are right."""
        chain = 'threshold:t=99,invert'
        d = self.wrong(chain).start()
        d.expect_line('chain threshold:t=99,invert does NOT RUN on the device that was chosen and stays on reference: stage invert: .* differ')
        for i in range(3):
            d.drop('%d.pgm' % i, picture(seed=i))
            self.assertEqual(d.expect('%d.pgm' % i), self.by_sluice_run(picture(seed=i), chain)[''])
        self.assertEqual(d.report()['starts'], 1)
        d.stop()

    def test_a_right_chain_stays(self):
        d = self.wrong('threshold:t=99').start()
        d.expect_line('was compared with its reference on native')
        self.assertNotIn('NOT RUN', d.log())
        d.stop()


if __name__ == '__main__':
    main()
