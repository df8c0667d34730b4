#!/usr/bin/env python3
"""Disks that fail or hang: nothing that is in doubt is given out, and nobody waits who need not.
DISK_FAULT names the preloaded library (tests/fault/disk_fault.c)."""
import os
import sqlite3

from sluice_test import DaemonTest, main, wait_for

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

    def wrong(self, kind, pattern, what):
        with open(self.rule + '.new', 'w', encoding='utf-8') as file:
            file.write('%s %s %s\n' % (kind, pattern, what))
        os.rename(self.rule + '.new', self.rule)

    def mend(self):
        os.unlink(self.rule)


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

    def test_batch(self):
        for originals in ('done', 'delete', 'keep'):
            for pattern in ('DIR/out', 'DIR/in/.sluice/work/????????????????'):
                self.check('batch', originals, pattern)
        self.check('batch', 'done', 'DIR/out', b'planes 2')

    def test_batch_of_a_failure(self):
        self.check('batch', 'done', 'DIR/out', b'truncated', begun=3)

    def test_each(self):
        for originals in ('done', 'delete', 'keep'):
            for pattern in ('DIR/out', 'DIR/out/.a*.tmp', '*/0000000?/.note.tmp', '*/0000000?'):
                self.check('each', originals, pattern)
        self.check('each', 'done', 'DIR/out', b'planes 2')

    def test_of_one_that_is_taken_up(self):
        """The sync of OUT fails when the next run gives a result its name."""
        d = self.faulty('--sync', 'each')
        d.env['SLUICE_KILL_AFTER'] = 'renameat:.note'
        d.env['LD_PRELOAD'] = LIBRARY + ':' + os.environ['SLUICE_KILL_POINT']
        d.drop('a', b'good')
        d.start(ready=False)
        d.process.wait(30)
        d.reader.join(10)
        del d.env['SLUICE_KILL_AFTER']
        self.wrong('sync', d.output, 'once')
        d.start()
        d.expect_done('a')
        d.stop()
        self.assertEqual((d.results(), len(self.fake_log())), (['a.pgm'], 2), d.log())
        d.expect_clean()


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
        d.expect_line(r'sluiced: b: %s/ledger.db.*; it is tried again' % d.state)
        self.mend()
        d.drop('c', b'good')
        d.expect('c.pgm')
        d.stop()
        self.assertEqual((d.results(), len(self.fake_log())), (['a.pgm', 'c.pgm'], 2), d.log())
        d.expect_clean()


if __name__ == '__main__':
    main()
