#!/usr/bin/env python3
"""The front is killed after each step on disk that docs/spool.md names, once for each kind of end; the next
start must make it whole. SLUICE_KILL_POINT names the preloaded library (tests/fault/kill_point.c)."""
import os
import re
import subprocess
import time

from sluice_test import HERE, SLUICE, DaemonTest, main, wait_for

LIBRARY = os.path.abspath(os.environ['SLUICE_KILL_POINT'])
DISK_FAULT = os.path.abspath(os.environ['DISK_FAULT'])

# Names as docs/spool.md has them: what SLUICE_KILL_AFTER says; DIR is the test's directory. The first sync of the
# ledger is that of its opening.
POINTS = {
    'reserved': 'mkdirat:0000000?',
    'claimed': 'renameat:0000000?/a',
    'placeholder': 'openat:a',
    'begun': 'openat:.begun',
    'result-synced': 'fsync:DIR/out/.a*.tmp',
    'all-synced': 'syncfs:DIR/out/.*.tmp',
    'all-decided': 'syncfs:*/000000??',
    'note-written': 'renameat:.note.tmp',
    'decided': 'renameat:.note',
    'decided-synced': 'fsync:*/0000000?',
    'placed': 'renameat2:a*.pgm',
    'replaced': 'renameat:a*.pgm',
    'one-placed': 'renameat2:a.p0.pgm',
    'names-synced': 'fsync:DIR/out',
    'remembered': 'fsync:2:DIR/state/ledger.db-wal',
    'moved': 'renameat2:a',
    'deleted': 'unlinkat:0000000?/a',
    'forgotten': 'unlinkat:.note',
    'folder-removed': 'unlinkat:0000000?',
    'reason-placed': 'renameat:a.error.json',
    'adopted': 'renameat:0000000?',
    'counted': 'renameat:.note',
    'set-aside': 'renameat:.a.error.json.*-requeue.tmp',
    'put-back': 'renameat2:a',
    'aside-removed': 'unlinkat:.a.error.json.*-requeue.tmp',
    'forgotten-in-ledger': 'fsync:2:DIR/state/ledger.db-wal',
}

# What is dropped, with which options, and at which points the front is killed, in the first run or
# (after a kill while the worker had begun) in the second, which takes over.
KINDS = {
    'done': (b'good', (), ('reserved', 'claimed', 'begun', 'result-synced', 'note-written', 'decided',
                           'decided-synced', 'placed', 'names-synced', 'moved', 'forgotten', 'folder-removed')),
    'planes': (b'planes 2', (), ('decided', 'one-placed', 'placed', 'names-synced', 'moved')),
    'off': (b'good', ('--sync', 'off'), ('decided', 'placed', 'moved')),
    'overwrite': (b'good', ('--on-exists', 'overwrite'), ('decided', 'replaced', 'names-synced', 'moved')),
    'keep': (b'good', ('--originals', 'keep', '--stable', '100ms'),
             ('decided', 'placed', 'names-synced', 'remembered', 'moved', 'forgotten')),
    'delete': (b'good', ('--originals', 'delete'), ('decided', 'placed', 'deleted', 'forgotten')),
    'in-place': (b'good', ('--claim', 'none', '--stable', '100ms'),
                 ('reserved', 'placeholder', 'begun', 'decided', 'placed', 'remembered', 'deleted', 'forgotten')),
    'report': (b'good', ('--report', 'file', '--on-done', 'DIR/hook DIR/told'), ('decided', 'placed', 'renameat2:a.report.json', 'names-synced')),
    'failed': (b'truncated', ('--stable', '100ms'), ('decided', 'decided-synced', 'reason-placed', 'moved', 'forgotten')),
}


class KillPoints(DaemonTest):
    def killed(self, d, point, *libraries):
        d.env = dict(d.env, LD_PRELOAD=':'.join((LIBRARY, *libraries)), SLUICE_KILL_AFTER=POINTS.get(point, point).replace('DIR', d.dir))
        d.start(ready=False)
        try:
            d.process.wait(30)
        except Exception:
            raise AssertionError('%s was not reached:\n%s' % (point, d.log())) from None
        self.assertEqual(d.process.returncode, -9, '%s\n%s' % (point, d.log()))
        time.sleep(0.05)  # the worker dies with it
        for name in ('LD_PRELOAD', 'SLUICE_KILL_AFTER'):
            d.env.pop(name)

    def check(self, d, kind, point):
        what = '%s after %s' % (kind, point)
        text = KINDS[kind][0]
        d.start()
        if kind == 'failed':
            reason = d.expect_failed('a')
            self.assertEqual(reason['code'], 'truncated', what)
        elif kind == 'planes':
            d.expect_all(['a.p0.pgm', 'a.p1.pgm'])
        else:
            self.assertEqual(d.expect('a.pgm'), text, what)
        if kind in ('keep', 'in-place'):
            wait_for('it is back', lambda: os.path.exists(d.in_path('a')))
            time.sleep(0.4)
        elif kind == 'delete':
            wait_for('it is gone', lambda: not d.claims())
        elif kind != 'failed':
            d.expect_done('a')
        d.stop()
        expected = {'failed': [], 'planes': ['a.p0.pgm', 'a.p1.pgm'], 'report': ['a.pgm', 'a.report.json']}.get(kind, ['a.pgm'])
        if kind == 'report': # the run that ends it has the hook told, once
            with open(os.path.join(d.dir, 'told'), encoding='utf-8') as file:
                self.assertEqual(file.read(), 'done a 2 %s\n' % os.path.join(d.output, 'a.pgm'), what)
        self.assertEqual(d.results(), expected, what)
        self.assertEqual(os.path.exists(d.in_path('a')), kind in ('keep', 'in-place'), what)
        if kind == 'in-place':
            folder, = os.listdir(os.path.join(d.state, 'folders'))
            self.assertEqual(os.listdir(os.path.join(d.state, 'folders', folder, 'work')), [], what)
        else:
            d.expect_clean()

    def run_kind(self, kind):
        text, options, points = KINDS[kind]
        for point in points:
            folder = os.path.join(self.dir, kind + '-' + point)
            d = self.fake('--jobs', '1', *(option.replace('DIR', folder) for option in options), folder=folder)
            if kind == 'report':
                with open(os.path.join(folder, 'hook'), 'w', encoding='utf-8') as file:
                    file.write('#!/bin/sh\necho "$SLUICE_VERDICT $SLUICE_FILE $SLUICE_RESULTS $SLUICE_RESULT_1" >> "$1"\n')
                os.chmod(os.path.join(folder, 'hook'), 0o755)
            if kind == 'overwrite':
                with open(os.path.join(d.output, 'a.pgm'), 'wb') as file:
                    file.write(b'an old one')
            d.drop('a', text)
            self.killed(d, point)
            self.check(d, kind, point)

    def test_taking_over(self):
        """Killed at the job, then again while the next run takes it over."""
        for point in ('reserved', 'adopted', 'counted', 'begun', 'decided', 'placed', 'moved'):
            d = self.fake('--jobs', '1', folder=os.path.join(self.dir, 'taking-' + point))
            d.drop('a', b'good')
            self.killed(d, 'begun')
            if point != 'reserved':
                self.killed(d, point)
            self.check(d, 'done', point)

    def several(self, folder, *options):
        return self.fake('--jobs', '1', '--stable', '20ms', '--name', '{stem}-0.{ext};{stem}-1.{ext};{stem}-2.{ext}', '--folder', ';two/three;', *options,
                         chain='x;y;z', folder=os.path.join(self.dir, folder))

    def test_several(self):
        """Several results of one picture: in the end all are there, each once and whole, whatever the step after which
        the front was killed; the original is never lost. SLUICE_LONG=1 kills it after every step."""
        kind = subprocess.run(['stat', '-f', '-c', '%T', self.dir], capture_output=True, text=True, check=True).stdout.strip()
        together = kind in ('ext2/ext3', 'xfs', 'btrfs', 'f2fs')
        names = ['a-0.pgm', 'a-2.pgm', 'two/three/a-1.pgm']
        few = ('openat:.a*-2.tmp', 'decided', 'renameat2:a-0.pgm', 'renameat2:a-2.pgm', 'moved')
        every = ('claimed', 'begun', *few[:1], 'syncfs:DIR/out/*.tmp' if together else 'fsync:2:DIR/out/*.tmp', 'note-written',
                 'decided', 'decided-synced', 'renameat2:a-0.pgm', 'renameat2:a-1.pgm', 'renameat2:a-2.pgm', 'syncfs:DIR/out',
                 'moved', 'unlinkat:.result-1', 'forgotten')
        for i, point in enumerate(every if os.environ.get('SLUICE_LONG') == '1' else few):
            d = self.several('several-%d' % i)
            before = len(self.fake_log())
            d.drop('a', b'results 3')
            self.killed(d, point)
            d.start()
            d.expect_done('a')
            d.stop()
            found = sorted(os.path.relpath(os.path.join(folder, name), d.output) for folder, _, files in os.walk(d.output)
                           for name in files)
            self.assertEqual(found, names, point)
            for name in names:
                self.assertEqual(d.result(name), b'results 3 ' + name[-5:-4].encode(), point)
            self.assertFalse(os.path.exists(d.in_path('a')))
            self.assertLessEqual(len(self.fake_log()) - before, 2)
            d.expect_clean()

    def test_several_and_a_taken_name(self):
        """A name that is taken gives all results another number, also if it is taken between the decision and the names."""
        for point in (None, 'decided', 'renameat2:a-0.pgm'):
            d = self.several('taken-%s' % point)
            os.makedirs(os.path.join(d.output, 'two/three'))
            if not point:
                with open(os.path.join(d.output, 'a-2.pgm'), 'wb') as file:
                    file.write(b'another')
            d.drop('a', b'results 3')
            if point:
                self.killed(d, point)
                with open(os.path.join(d.output, 'two/three/a-1.pgm'), 'wb') as file:
                    file.write(b'another')
            d.start()
            d.expect_done('a')
            d.stop()
            self.assertEqual([d.result(name) for name in ('a-0-1.pgm', 'two/three/a-1-1.pgm', 'a-2-1.pgm')],
                             [b'results 3 0', b'results 3 1', b'results 3 2'])
            self.assertEqual(d.results(), ['a-0-1.pgm', 'a-2-1.pgm'] + (['a-2.pgm'] if not point else []) + ['two'])
            d.expect_clean()

    def test_together(self):
        """Of files that end together, whose results, notes and decisions share their syncs, each is there once."""
        kind = subprocess.run(['stat', '-f', '-c', '%T', self.dir], capture_output=True, text=True, check=True).stdout.strip()
        if kind not in ('ext2/ext3', 'xfs', 'btrfs', 'f2fs'):
            self.skipTest('each is synced by itself on ' + kind)
        names = ['%02d' % i for i in range(40)]
        for originals in ('done', 'delete'):
            for point in ('all-synced', 'all-decided'):
                d = self.fake('--jobs', '1', '--originals', originals, folder=os.path.join(self.dir, originals + point))
                d.env['SLUICE_FAULT_DISK'] = os.path.join(self.dir, 'rule')
                with open(d.env['SLUICE_FAULT_DISK'], 'w', encoding='utf-8') as file:
                    file.write('sync %s/* slow:100\n' % d.dir)
                for name in names:
                    d.drop(name, b'good ' + name.encode())
                self.killed(d, point, DISK_FAULT)
                os.unlink(d.env['SLUICE_FAULT_DISK'])
                d.start()
                d.expect_all([name + '.pgm' for name in names])
                wait_for('their end', lambda d=d: not d.claims())
                d.stop()
                self.assertEqual(d.results(), [name + '.pgm' for name in names])
                for name in names:
                    self.assertEqual(d.result(name + '.pgm'), b'good ' + name.encode())
                self.assertEqual(d.done(), names if originals == 'done' else [])
                d.expect_clean()

    def test_torn(self):
        """A result that is not what its note says is made again, though its reservation is there."""
        for kind in ('done', 'planes', 'off', 'keep', 'delete', 'in-place'):
            for size in (0, 2):
                text, options, _ = KINDS[kind]
                d = self.fake('--jobs', '1', *options, folder=os.path.join(self.dir, 'torn-%s-%d' % (kind, size)))
                d.drop('a', text)
                self.killed(d, 'decided')
                torn = d.temporaries()
                self.assertNotEqual(torn, [], d.log())
                for name in torn:
                    os.truncate(os.path.join(d.output, name), size)
                self.check(d, kind, 'decided')

    def test_taken_away(self):
        """A consumer takes the result before the original has moved: it is not made again."""
        for kind, point in (('done', 'placed'), ('done', 'names-synced'), ('planes', 'one-placed'),
                            ('planes', 'names-synced'), ('off', 'placed'),
                            ('overwrite', 'replaced'), ('delete', 'placed'), ('keep', 'names-synced'),
                            ('in-place', 'placed')):
            text, options, _ = KINDS[kind]
            d = self.fake('--jobs', '1', *options, folder=os.path.join(self.dir, 'taken-%s-%s' % (kind, point)))
            before = len(self.fake_log())
            d.drop('a', text)
            self.killed(d, point)
            taken = [name for name in d.results() if not name.startswith('.')]
            self.assertNotEqual(taken, [], d.log())
            for name in taken:
                os.unlink(os.path.join(d.output, name))
            d.start()
            wait_for('its end', lambda d=d: d.count_lines('a: done, as an earlier run had decided'))
            time.sleep(0.4)
            d.stop()
            left = [] if kind != 'planes' or point == 'names-synced' else ['a.p1.pgm']
            self.assertEqual((d.results(), len(self.fake_log()) - before), (left, 1), '%s after %s' % (kind, point))

    # ---- putting back

    def kill_at_requeue(self, d, point):
        """Killed while a file that has ended is put back."""
        d.env = dict(d.env, LD_PRELOAD=LIBRARY, SLUICE_KILL_AFTER=POINTS[point].replace('DIR', d.dir))
        socket = os.path.join(d.dir, 'jobs.sock')
        d.options += ['--jobs-socket', socket]
        d.start()
        asked = subprocess.run([SLUICE, 'requeue', '-s', socket, d.in_path('a')], capture_output=True, check=False)
        self.assertEqual(asked.returncode, 69, asked.stderr)
        d.process.wait(30)
        self.assertEqual(d.process.returncode, -9, '%s\n%s' % (point, d.log()))
        time.sleep(0.05)
        for name in ('LD_PRELOAD', 'SLUICE_KILL_AFTER'):
            d.env.pop(name)

    def test_requeue_failed(self):
        """Before the commit point the file has failed, its reason beside it; after it it is done again."""
        for point in ('set-aside', 'put-back', 'aside-removed'):
            d = self.fake('--stable', '100ms', folder=os.path.join(self.dir, 'failed-' + point)).start()
            d.drop('a', b'truncated')
            reason = d.expect_failed('a')
            d.stop()
            with open(os.path.join(d.hidden, 'failed', 'a'), 'wb') as file:
                file.write(b'good')
            self.kill_at_requeue(d, point)
            d.start()
            if point == 'set-aside':
                self.assertEqual(d.expect_failed('a'), reason)
                self.assertEqual(d.failed(), ['a', 'a.error.json'])
                self.assertFalse(os.path.exists(d.in_path('a')))
            else:
                self.assertEqual(d.expect('a.pgm'), b'good')
                d.expect_done('a')
                self.assertEqual(d.failed(), [])
            d.stop()
            d.expect_clean()

    def test_requeue_done(self):
        """From done by its place; where originals are kept by what the ledger says."""
        for rule, point in (('done', 'forgotten-in-ledger'), ('done', 'put-back'), ('keep', 'forgotten-in-ledger')):
            d = self.fake('--originals', rule, '--stable', '100ms',
                          folder=os.path.join(self.dir, '%s-%s' % (rule, point))).start()
            d.drop('a', b'good')
            d.expect('a.pgm')
            wait_for('its end', lambda d=d: not d.claims())
            d.stop()
            self.kill_at_requeue(d, point)
            d.start()
            if (rule, point) == ('done', 'forgotten-in-ledger'):
                time.sleep(0.4)
                self.assertEqual((d.done(), d.results()), (['a'], ['a.pgm']))
            else:
                self.assertEqual(d.expect('a-1.pgm'), b'good')
                wait_for('its end', lambda d=d: not d.claims())
            d.stop()
            d.expect_clean()
            self.assertEqual(os.path.exists(d.in_path('a')), rule == 'keep')

    def test_requeue_in_place(self):
        for point in ('set-aside', 'forgotten-in-ledger', 'aside-removed'):
            d = self.fake('--claim', 'none', '--stable', '100ms', folder=os.path.join(self.dir, 'place-' + point)).start()
            d.drop('a', b'truncated')
            wait_for('it fails', lambda d=d: d.count_lines('a: failed: truncated'))
            d.stop()
            before = len(self.fake_log())
            self.kill_at_requeue(d, point)
            d.start()
            if point == 'set-aside':
                time.sleep(0.4)
                self.assertEqual(len(self.fake_log()), before)
            else:
                wait_for('it fails again', lambda d=d: d.count_lines('a: failed: truncated'))
            d.stop()
            folder, = os.listdir(os.path.join(d.state, 'folders'))
            self.assertEqual(os.listdir(os.path.join(d.state, 'folders', folder, 'failed')), ['a.error.json'])
            self.assertEqual(os.listdir(os.path.join(d.state, 'folders', folder, 'work')), [])

    def test_points_are_those_of_the_page(self):
        with open(os.path.join(HERE, '..', '..', 'docs', 'spool.md'), encoding='utf-8') as file:
            page = file.read().split('## Kill points')[1]
        self.assertEqual(set(re.findall(r'^\| `([a-z-]+)` \|', page, re.M)), set(POINTS))


for one in KINDS:
    setattr(KillPoints, 'test_' + one.replace('-', '_'), lambda self, kind=one: self.run_kind(kind))

if __name__ == '__main__':
    main()
