#!/usr/bin/env python3
"""Disks that fail or hang: no result is published before it is certain to be on disk, and only files on the hanging
disk wait. DISK_FAULT names the preloaded library (tests/fault/disk_fault.c)."""
import errno
import glob
import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import time

from sluice_test import SLUICE, DaemonTest, main, picture, wait_for
from sockets import ask

LIBRARY = os.environ.get('DISK_FAULT')


class DiskTest(DaemonTest):
    def setUp(self):
        super().setUp()
        if not LIBRARY:
            self.skipTest('a preloaded library cannot stand before a sanitizer')
        self.rule = os.path.join(self.dir, 'rule')

    def faulty(self, *options, **keywords):
        """A daemon with fake workers on a disk that does as wrong() says."""
        return self.fake(*options, env={'LD_PRELOAD': LIBRARY, 'SLUICE_FAULT_DISK': self.rule}, **keywords)

    def real(self, *options, **keywords):
        """The same with workers that compute."""
        return self.daemon('--device', 'reference', *options, env={'LD_PRELOAD': LIBRARY, 'SLUICE_FAULT_DISK': self.rule}, **keywords)

    def wrong(self, kind, pattern, what):
        with open(self.rule + '.new', 'w', encoding='utf-8') as file:
            file.write('%s %s %s\n' % (kind, pattern, what))
        os.rename(self.rule + '.new', self.rule)

    def mend(self):
        os.unlink(self.rule)

    def two_folders(self):
        """One whose originals go to done, and one that only the ledger knows about."""
        d = self.faulty('--jobs', '2')
        self.sock, self.jobs = os.path.join(self.dir, 'http.sock'), os.path.join(self.dir, 'jobs.sock')
        lines = ['listen: {http: {unix: %s}, jobs: {unix: %s}}' % (self.sock, self.jobs), 'watch:']
        for name, rule in (('', 'done'), ('k', 'keep')):
            for kind in ('in', 'out'):
                os.makedirs(os.path.join(self.dir, name + kind), exist_ok=True)
            lines.append('  - {input: %s/%sin, output: %s/%sout, chain: sobel, format: pgm, originals: %s, stable: 100ms, '
                         'done: {age: 1d}}' % (self.dir, name, self.dir, name, rule))
        path = os.path.join(self.dir, 'c.yaml')
        with open(path, 'w', encoding='utf-8') as file:
            file.write('\n'.join(lines) + '\n')
        d.options = ['--config', path, '--device', 'reference', '--state', d.state, '-v']
        return d

    def healthy(self):
        """Within a second, whatever hangs."""
        for target in ('/livez', '/readyz', '/metrics', '/v1/status'):
            began = time.monotonic()
            self.assertEqual(ask(self.sock, 'GET', target, timeout=20).status, 200)
            self.assertLess(time.monotonic() - began, 1, target)

    def folders(self):
        return ask(self.sock, 'GET', '/v1/status').json()['folders']

    def drop_kept(self, name):
        with open(os.path.join(self.dir, 'kin', name), 'wb') as file:
            file.write(b'good')


class Syncs(DiskTest):
    """A sync that fails once: the result is made anew, by the worker, in a new file, and then there once."""

    def check(self, sync, originals, pattern, text=b'good', begun=2):
        with self.subTest(sync=sync, originals=originals, pattern=pattern):
            folder = os.path.join(self.dir, '%s-%s-%d' % (sync, originals, len(os.listdir(self.dir))))
            d = self.faulty('--jobs', '1', '--sync', sync, '--originals', originals, '--stable', '100ms',
                            folder=folder).start()
            before = len(self.fake_log())
            self.wrong('sync', pattern.replace('DIR', folder), 'once')
            d.drop('a', text)
            names = ['a.p0.pgm', 'a.p1.pgm'] if text.startswith(b'planes') else ['a.pgm']
            if text == b'truncated':
                d.expect_failed('a')
                names = []
            wait_for('its end', lambda: self.fake_log()[before:] and not d.claims() and
                     ('a' in os.listdir(d.input)) == (originals == 'keep' and bool(names)))
            self.assertFalse(os.path.exists(self.rule), 'it was not synced:\n' + d.log())
            d.stop()
            self.assertEqual(d.results(), names, d.log())
            self.assertEqual(len(self.fake_log()) - before, begun, d.log())
            d.expect_clean()
            self.assertEqual(d.done(), ['a'] if originals == 'done' and names else [])

    def together(self, kind, pattern, count=12):
        """Files that end together, while the sync of the first one is slow; then the first call that fits fails."""
        for originals in ('done', 'delete', 'keep'):
            folder = os.path.join(self.dir, '%s-%s-%d' % (kind, originals, len(os.listdir(self.dir))))
            sock = os.path.join(self.dir, 'http.sock')
            d = self.faulty('--jobs', '1', '--originals', originals, '--stable', '100ms', '--http-socket', sock,
                            folder=folder).start()
            before = len(self.fake_log())
            self.wrong('sync', folder + '/out/.0*', 'hang')
            d.drop('0', b'waits 1')
            wait_for('the first', lambda n=before: len(self.fake_log()) > n)
            names = ['%02d' % i for i in range(10, 10 + count)]
            for name in names:
                d.drop(name, b'waits 2 ' + name.encode(), 'rename')
            wait_for('all are claimed', lambda d=d: len(d.claims()) == count + 1)
            with open(os.path.join(self.dir, 'fake-log.go'), 'w', encoding='utf-8') as go:
                print(file=go, flush=True)
                wait_for('the end of the first', lambda d=d: glob.glob(d.hidden + '/work/*/00000000/.note.tmp'))
                print(file=go, flush=True)
            wait_for('all have ended', lambda: ask(sock, 'GET', '/v1/status').json()['queue']['settling'] == count + 1)
            self.wrong(kind, pattern.replace('DIR', folder), 'once')
            wait_for('their end', lambda d=d: not d.claims() and len(d.results()) == count + 1)
            self.assertFalse(os.path.exists(self.rule), 'there was no such call:\n' + d.log())
            d.stop()
            os.unlink(go.name)
            self.assertEqual(d.results(), ['0.pgm'] + [name + '.pgm' for name in names], d.log())
            for name in names:
                self.assertEqual(d.result(name + '.pgm'), b'waits 2 ' + name.encode())
            d.expect_clean()
            yield len(self.fake_log()) - before - count - 1

    def test_a_sync_of_several(self):
        """One sync of the file system, for all results and notes, fails: all are made again."""
        self.need_syncfs()
        self.assertEqual(list(self.together('sync', 'DIR/out/.1*')), [12, 12, 12])

    def test_a_sync_of_several_decisions(self):
        self.need_syncfs()
        self.assertEqual(list(self.together('sync', '*/0000000[1-9a-f]')), [12, 12, 12])

    def test_one_of_several(self):
        """The kernel could not write one result, whoever was told of it: this one alone is made again."""
        self.need_syncfs()
        self.assertEqual(list(self.together('range', 'DIR/out/.15*')), [1, 1, 1])
        self.assertEqual(list(self.together('range', '*/00000005/.note.tmp')), [1, 1, 1])

    def need_syncfs(self):
        kind = subprocess.run(['stat', '-f', '-c', '%T', self.dir], capture_output=True, text=True, check=True).stdout.strip()
        if kind not in ('ext2/ext3', 'xfs', 'btrfs', 'f2fs'):
            self.skipTest('each is synced by itself on ' + kind)

    def test_batch(self):
        """An older word for it."""
        d = self.faulty('--sync', 'batch').start()
        d.expect_line('sync: batch is each now')
        self.check('batch', 'done', 'DIR/out/.a*.tmp')

    def test_each(self):
        for originals in ('done', 'delete', 'keep'):
            for pattern in ('DIR/out', 'DIR/out/.a*.tmp', '*/0000000?/.note.tmp', '*/0000000?'):
                self.check('each', originals, pattern)
        self.check('each', 'done', 'DIR/out', b'planes 2')

    def test_every_sync(self):
        """All that are made for a job, one after the other: at its end it is there once, and whole."""
        tried = 0
        for options in (('--sync', 'each'), ('--sync', 'each', '--originals', 'delete'),
                        ('--sync', 'each', '--originals', 'keep'), ('--sync', 'off', '--originals', 'keep'),
                        ('--sync', 'each', '--claim', 'none')):
            for text in (b'good',) if '--originals' in options else (b'good', b'truncated'):
                for n in range(1, 20):
                    folder = os.path.join(self.dir, 'every-%d' % tried)
                    d = self.faulty('--jobs', '1', *options, '--stable', '100ms', folder=folder)
                    d.start()
                    self.wrong('sync', folder + '/*', 'once:%d' % n)
                    d.drop('a', text)
                    end = r'a: (done|failed)'
                    wait_for('its end', lambda d=d: d.count_lines(end) and not d.claims())
                    d.stop()
                    what = '%s, %s, sync %d\n%s' % (options, text, n, d.log())
                    kept = '--claim' in options or (text == b'good' and 'keep' in options)
                    self.assertEqual(d.results(), ['a.pgm'] if text == b'good' else [], what)
                    self.assertEqual(os.path.exists(d.in_path('a')), kept, what)
                    if text == b'good':
                        self.assertEqual(d.result('a.pgm'), b'good', what)
                    if '--claim' not in options:
                        self.assertEqual(d.failed(), [] if text == b'good' else ['a', 'a.error.json'], what)
                        if os.listdir(os.path.join(d.hidden, 'work')):  # the last sync failed: the next run removes our folder
                            d.start()
                            d.stop()
                        d.expect_clean()
                    tried += 1
                    if os.path.exists(self.rule):
                        break
                    self.assertLess(n, 19)
        print('%d runs' % tried)

    def test_of_one_that_is_taken_up(self):
        """One that was decided in a run that synced nothing: a sync of the next one fails, and it is made again."""
        for pattern in ('DIR/out', 'DIR/out/.a*.tmp', '*/0000000?/.note', '*/0000000?'):
            d = self.faulty('--sync', 'off', folder=os.path.join(self.dir, '%d' % len(os.listdir(self.dir))))
            before = len(self.fake_log())
            d.env['SLUICE_KILL_AFTER'] = 'renameat:.note'
            d.env['LD_PRELOAD'] = LIBRARY + ':' + os.environ['SLUICE_KILL_POINT']
            d.drop('a', b'good')
            d.start(ready=False)
            d.process.wait(30)
            d.reader.join(10)
            del d.env['SLUICE_KILL_AFTER']
            d.options[d.options.index('off')] = 'each'
            self.wrong('sync', pattern.replace('DIR', d.dir), 'once')
            d.start()
            d.expect_done('a')
            d.stop()
            self.assertFalse(os.path.exists(self.rule), 'it was not synced: %s' % pattern)
            self.assertEqual((d.results(), len(self.fake_log()) - before), (['a.pgm'], 2), d.log())
            d.expect_clean()


class Looks(DiskTest):
    def test_a_result_that_cannot_be_opened(self):
        """Each time it is told why: also when it was to be opened ahead, before its turn."""
        d = self.faulty()
        self.wrong('open', d.output + '/.a*.tmp', 'once')
        d.start()
        d.drop('a', b'good')
        d.expect_line('Input/output error; it is opened again in its turn')
        self.assertEqual(d.expect('a.pgm'), b'good')
        self.wrong('open', d.output + '/.b*.tmp', str(errno.ENOSPC))
        d.drop('b', b'good')
        d.expect_line('No space left on device; it is opened again in its turn')
        d.expect_line('No space left on device; tried again in 1')
        self.mend()
        d.expect_all(['a.pgm', 'b.pgm'])
        d.stop()
        d.expect_clean()

    def test_a_plane_that_cannot_be_opened(self):
        """The worker is told why, and says so: a full disk is one for the second file as for the first."""
        jobs = os.path.join(self.dir, 'jobs.sock')
        d = self.real('--jobs-socket', jobs, chain='sobel:out=both')
        self.wrong('open', d.output + '/.a*-1.tmp', str(errno.ENOSPC))
        d.start()
        d.drop('a.pgm', picture())
        d.expect_line('No space left on device; tried again in 1s')
        asked = subprocess.run([SLUICE, 'why', '--json', '-s', jobs, d.in_path('a.pgm')], capture_output=True, text=True,
                               timeout=60, check=False)
        self.assertEqual(json.loads(asked.stdout)['reason'], 'no-space', asked.stdout)
        self.mend()
        d.expect_all(['a.dx.pgm', 'a.dy.pgm'])
        d.stop()
        d.expect_clean()

    def test_requeue_of_one_that_is_just_ending(self):
        """Its original is in failed, and the job has not ended: it is put back when it has."""
        jobs = os.path.join(self.dir, 'jobs.sock')
        d = self.real('--jobs-socket', jobs).start()
        self.wrong('unlink', d.hidden + '/work/*/00000000', 'slow:300')
        d.drop('a', b'no picture')
        d.expect_failed('a')
        with open(os.path.join(d.hidden, 'failed', 'a'), 'wb') as file:
            file.write(picture())
        asked = subprocess.run([SLUICE, 'requeue', '-s', jobs, d.in_path('a')], capture_output=True, text=True, timeout=60,
                               check=False)
        self.assertIn('put back as a\n', asked.stdout, asked.stderr)
        self.mend()
        d.expect('a.pgm')
        d.stop()
        d.expect_clean()

    def test_a_result_that_cannot_be_looked_at(self):
        """Whether it was taken away is unknown then: it is not given up, and not made again."""
        for originals in ('done', 'delete', 'keep'):
            for pattern in ('DIR/out/.a*.tmp', 'DIR/out/a.pgm'):
                d = self.faulty('--originals', originals, '--stable', '100ms',
                                folder=os.path.join(self.dir, '%s-%d' % (originals, len(pattern)))).start()
                before = len(self.fake_log())
                self.wrong('stat', pattern.replace('DIR', d.dir), 'once')
                d.drop('a', b'good')
                wait_for('its end', lambda d=d, n=before: len(self.fake_log()) > n and not d.claims(), 30)
                self.assertFalse(os.path.exists(self.rule), d.log())
                d.stop()
                self.assertEqual((d.results(), len(self.fake_log()) - before), (['a.pgm'], 1), d.log())
                d.expect_clean()

    def test_a_file_that_cannot_be_looked_at(self):
        """It is told, and done when it can: one that is dropped, and one that is there from the start."""
        for dropped in (True, False):
            d = self.faulty('--stable', '100ms', folder=os.path.join(self.dir, str(dropped)))
            self.wrong('stat', d.input + '/a', errno.EIO)
            if not dropped:
                d.drop('a', b'good')
            d.start()
            if dropped:
                d.drop('a', b'good')
            d.expect_line('a: cannot be read yet; it is tried again')
            self.mend()
            d.expect_done('a', 20)
            d.stop()


class Taken(DiskTest):
    """A consumer takes a result before its original has moved: it is not made again."""

    def take(self, d):
        d.expect('a.pgm')
        os.unlink(os.path.join(d.output, 'a.pgm'))

    def test_original_that_cannot_be_moved_at_once(self):
        for originals, kind in (('done', 'rename'), ('keep', 'rename'), ('delete', 'unlink')):
            d = self.faulty('--originals', originals, '--stable', '100ms', folder=os.path.join(self.dir, originals)).start()
            before = len(self.fake_log())
            call = d.hidden + '/work/*/0000000?/a'
            self.wrong(kind, call, 'hang')
            d.drop('a', b'good')
            self.take(d)
            self.wrong(kind, call, 'once')
            d.expect_line('a: .*tried again')
            wait_for('its end', lambda d=d: not d.claims())
            d.stop()
            self.assertEqual((d.results(), len(self.fake_log()) - before), ([], 1), originals)
            d.expect_clean()

    def test_where_there_are_no_links(self):
        self.wrong('link', '*', errno.EPERM)
        self.killed_and_taken(self.faulty())

    def test_where_out_is_on_another_disk(self):
        try:
            out = tempfile.mkdtemp(dir='/dev/shm')
        except OSError as error:
            self.skipTest('no second file system: %s' % error)
        self.addCleanup(shutil.rmtree, out)
        self.assertNotEqual(os.stat(out).st_dev, os.stat(self.dir).st_dev)
        self.killed_and_taken(self.faulty(out=out))

    def test_where_out_cannot_be_opened_for_now(self):
        """What an earlier run has left in OUT is known by its folder alone, which stays until OUT can be cleared up."""
        d = self.faulty('--jobs', '1').start()
        d.drop('a', b'hang')
        wait_for('it to begin', self.fake_log)
        d.kill()
        self.assertEqual(len(d.temporaries()), 1)
        (instance, serial, _), = d.claims()
        with open(os.path.join(d.hidden, 'work', instance, serial, 'a'), 'w', encoding='ascii') as file:
            file.write('good')
        self.wrong('open', d.output, 'once:2')  # the first is that of the new run's own
        d.start()
        d.expect_line('%s: Input/output error; it is tried again' % d.output)
        self.assertFalse(os.path.exists(self.rule))
        self.assertEqual(d.expect('a.pgm'), b'good')
        d.stop()
        self.assertEqual(d.results(), ['a.pgm'])
        d.expect_clean()

    def test_of_a_run_before_the_last(self):
        """The one that took the file over could not end it: what the first one had reserved stays."""
        try:
            out = tempfile.mkdtemp(dir='/dev/shm')
        except OSError as error:
            self.skipTest('no second file system: %s' % error)
        self.addCleanup(shutil.rmtree, out)
        d = self.faulty(out=out)
        self.kill_at(d, 'renameat2:a*.pgm')
        self.take(d)
        self.wrong('rename', d.hidden + '/work/*/0000000?/a', errno.EIO)
        d.start()
        d.expect_line('a: .*Input/output error')
        time.sleep(1)
        d.kill()
        self.mend()
        d.start()
        d.expect_done('a')
        d.stop()
        self.assertEqual((d.results(), len(self.fake_log())), ([], 1), d.log())
        d.expect_clean()

    def kill_at(self, d, call):
        d.env['SLUICE_KILL_AFTER'] = call
        d.env['LD_PRELOAD'] = LIBRARY + ':' + os.environ['SLUICE_KILL_POINT']
        d.drop('a', b'good')
        d.start(ready=False)
        d.process.wait(30)
        d.reader.join(10)
        del d.env['SLUICE_KILL_AFTER']

    def killed_and_taken(self, d):
        self.kill_at(d, 'renameat2:a*.pgm')
        self.take(d)
        d.start()
        d.expect_done('a')
        d.stop()
        self.assertEqual((d.results(), len(self.fake_log())), ([], 1), d.log())
        d.expect_clean()


class Loop(DiskTest):
    def test_what_it_calls(self):
        """Of disks nothing, for all that files and clients want, when a folder leaves by a reload, and at the end;
        what the kernel tells of us is none."""
        d = self.two_folders()
        calls = d.env['SLUICE_FAULT_LOOP'] = os.path.join(self.dir, 'calls')
        d.start()
        os.unlink(calls)
        d.drop('a', b'good')
        d.drop('t', b'truncated')
        self.drop_kept('k')
        d.expect_done('a')
        d.expect_failed('t')
        self.healthy()
        for words in (['why', d.in_path('a')], ['why', d.in_path('nobody')], ['requeue', d.in_path('t')], ['status']):
            subprocess.run([SLUICE, words[0], '-s', self.jobs, *words[1:]], capture_output=True, check=False)
        d.process.send_signal(signal.SIGUSR1)
        before = time.monotonic()
        d.expect_failed('t')
        while time.monotonic() < before + 6:  # a folder looks at its paths every 5 s
            self.healthy()
            time.sleep(0.2)
        path = os.path.join(self.dir, 'c.yaml')
        with open(path, encoding='utf-8') as file:
            lines = [line for line in file if '/kin' not in line]
        with open(path, 'w', encoding='utf-8') as file:
            file.writelines(lines)
        d.process.send_signal(signal.SIGHUP)
        d.expect_line('reloaded: 1 folders')
        self.healthy()
        d.stop()
        d.expect_clean()
        with open(calls, encoding='utf-8') as file:
            self.assertEqual([line for line in file if not re.search('^(open|pread|list) /proc/', line)], [])


class Ledger(DiskTest):
    def disturb(self, d):
        """Somebody else writes to the ledger, so that nothing of it is in the daemon's memory any more."""
        base = sqlite3.connect(os.path.join(d.state, 'ledger.db'))
        base.execute('CREATE TABLE x(y)')
        base.execute('DROP TABLE x')
        base.commit()
        base.close()

    def test_that_cannot_be_read(self):
        """Whether a file was done is unknown then: it is not done again."""
        d = self.faulty('--originals', 'keep', '--stable', '100ms').start()
        d.drop('a', b'good')
        d.expect('a.pgm')
        wait_for('a is back', lambda: os.path.exists(d.in_path('a')) and not d.claims())
        self.disturb(d)
        self.wrong('pread', os.path.join(d.state, 'ledger.db*'), '5')
        os.rename(d.in_path('a'), d.in_path('b'))
        d.expect_line(r'sluiced: %s/ledger.db.*; it is tried again$' % d.state)
        self.mend()
        d.drop('c', b'good')
        d.expect('c.pgm')
        d.stop()
        self.assertEqual((d.results(), len(self.fake_log())), (['a.pgm', 'c.pgm'], 2), d.log())
        d.expect_clean()


    def test_that_hangs(self):
        """Only the folder whose promise needs it waits."""
        d = self.two_folders().start()
        kept = os.path.join(self.dir, 'kout')
        self.drop_kept('k0')
        wait_for('k0.pgm', lambda: os.path.exists(os.path.join(kept, 'k0.pgm')))
        d.drop('0', b'good')
        d.expect_done('0')
        self.wrong('sync', d.state + '/*', 'hang')
        self.drop_kept('k1')
        wait_for('k1.pgm', lambda: os.path.exists(os.path.join(kept, 'k1.pgm')))
        for i in range(1, 20):
            d.drop('%d' % i, b'good')
            self.healthy()
        wait_for('19 files', lambda: len(d.done()) == 20, 30)
        began = time.monotonic()
        asked = subprocess.run([SLUICE, 'why', '-s', self.jobs, d.in_path('nobody')], capture_output=True,
                               text=True, timeout=60, check=False)
        self.assertRegex(asked.stdout + asked.stderr, 'ledger.db: no answer for 5s')
        self.assertLess(time.monotonic() - began, 15)
        # The folder's thread waits for the ledger, too, and may be told of first.
        wait_for('it is told', lambda: (self.folders()[1]['message'] or '').startswith(d.state + ': no answer for '), 20)
        self.assertEqual([f['state'] for f in self.folders()], ['ok', 'hanging'])
        self.healthy()
        self.assertFalse(os.path.exists(os.path.join(self.dir, 'kin', 'k1')))
        self.mend()
        wait_for('k1 is back', lambda: os.path.exists(os.path.join(self.dir, 'kin', 'k1')))
        d.stop()
        self.assertEqual(sorted(os.listdir(kept)), ['k0.pgm', 'k1.pgm'])
        self.assertEqual(d.results(), sorted('%d.pgm' % i for i in range(20)))
        base = sqlite3.connect(os.path.join(d.state, 'ledger.db'))
        self.assertEqual(base.execute('SELECT count(*) FROM files').fetchone(), (22,))
        base.close()

    def test_that_hangs_at_the_start_and_at_the_end(self):
        """The daemon is ready and does what it can; and it ends."""
        os.makedirs(os.path.join(self.dir, 'state'))
        self.wrong('open', '*/ledger.db*', 'hang')
        d = self.two_folders().start()
        d.drop('a', b'good')
        self.drop_kept('k')
        d.expect_done('a')
        self.healthy()
        d.expect_line('ledger.db: no answer for 5s; it is tried again')
        self.assertEqual(os.listdir(os.path.join(self.dir, 'kout')), [])
        self.mend()
        wait_for('k.pgm', lambda: os.path.exists(os.path.join(self.dir, 'kout', 'k.pgm')), 20)
        wait_for('k is back', lambda: os.path.exists(os.path.join(self.dir, 'kin', 'k')))
        self.wrong('write', d.state + '/*', 'hang')
        d.drop('b', b'good')
        d.expect_done('b')
        d.stop(seconds=40)

    def test_that_hangs_when_it_is_closed(self):
        d = self.two_folders().start()
        d.drop('a', b'good')
        d.expect_done('a')
        self.wrong('sync', d.state + '/*', 'hang')
        d.stop(seconds=40)

    def test_that_cannot_be_opened(self):
        """It is told, the folder that needs it waits, and it is taken up when it is mended."""
        os.makedirs(os.path.join(self.dir, 'state', 'ledger.db'))
        d = self.two_folders().start()
        d.drop('a', b'good')
        self.drop_kept('k')
        d.expect_done('a')
        d.expect_line('state/ledger.db: unable to open database file; it is tried again')
        wait_for('the state', lambda: self.folders()[1]['state'] == 'degraded')
        self.assertEqual(os.listdir(os.path.join(self.dir, 'kout')), [])
        os.rmdir(os.path.join(self.dir, 'state', 'ledger.db'))
        wait_for('k.pgm', lambda: os.path.exists(os.path.join(self.dir, 'kout', 'k.pgm')), 20)
        d.stop()


if __name__ == '__main__':
    main()
