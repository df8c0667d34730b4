#!/usr/bin/env python3
"""Folders that strangers, odd names and odd file systems meet: who owns what is ours, what a name cannot be, what a disk
has no call for, and ledgers that another version wrote. DISK_FAULT names the preloaded library (tests/fault/disk_fault.c)."""
import errno
import os
import sqlite3
import time
import unittest

from sluice_test import DaemonTest, main, wait_for
import test_disk

STRANGER = 12345


@unittest.skipIf(os.getuid() != 0, 'only root makes folders of other users')
class Owners(DaemonTest):
    """Whoever makes one of our folders first gets nothing."""

    def expect_refusal(self, d, path, words):
        d.expect_line('%s.*%s.*; it is tried again' % (path, words))
        d.drop('a', b'good')
        time.sleep(1)
        self.assertTrue(os.path.exists(d.in_path('a')), d.log())

    def test_of_another_user(self):
        for name in ('', 'work', 'done', 'failed'):
            d = self.fake(folder=os.path.join(self.dir, 'of-' + name))
            os.makedirs(os.path.join(d.hidden, name))
            os.chown(os.path.join(d.hidden, name), STRANGER, STRANGER)
            d.start(ready=False)
            self.expect_refusal(d, os.path.join(d.hidden, name).rstrip('/'), 'belongs to another user')
            os.chown(os.path.join(d.hidden, name), 0, 0)
            d.expect_done('a')
            d.stop()

    def test_made_again_by_another_user(self):
        """After the hidden folder was removed under a daemon that runs."""
        for name in ('', 'done', 'failed'):
            d = self.fake(folder=os.path.join(self.dir, 'again-' + name)).start()
            d.drop('0', b'good')
            d.expect_done('0')
            wait_for('its end', lambda d=d: not d.claims())
            away = os.path.join(d.hidden, name)
            os.rename(away, os.path.join(d.dir, 'away'))
            os.mkdir(away)
            os.chown(away, STRANGER, STRANGER)
            self.expect_refusal(d, away.rstrip('/'), 'belongs to another user')
            d.stop()

    def test_that_others_may_write_to(self):
        """Ours are closed to others; a link is no folder of ours."""
        for name in ('', 'work', 'done', 'failed'):
            d = self.fake(folder=os.path.join(self.dir, 'open-' + name))
            path = os.path.join(d.hidden, name)
            os.makedirs(path)
            os.chmod(path, 0o777)
            d.start()
            d.drop('a', b'good')
            d.expect_done('a')
            self.assertEqual(os.stat(path).st_mode & 0o22, 0)
            d.stop()
        d = self.fake(folder=os.path.join(self.dir, 'link'))
        os.makedirs(d.hidden)
        os.makedirs(os.path.join(d.dir, 'elsewhere'))
        os.symlink(os.path.join(d.dir, 'elsewhere'), os.path.join(d.hidden, 'done'))
        d.start(ready=False)
        self.expect_refusal(d, d.hidden, '')


class Reasons(DaemonTest):
    def test_in_done(self):
        """An original that is called like a reason is none: it does not leave with the file beside it."""
        d = self.fake(env={'SLUICE_WATCH_DONE': 'keep=8KiB'})
        os.makedirs(os.path.join(d.hidden, 'done'))
        for name, size in (('a.pgm', 65536), ('a.pgm.error.json', 100)):
            with open(os.path.join(d.hidden, 'done', name), 'wb') as file:
                file.write(b'x' * size)
            time.sleep(0.05)
        d.start()
        d.expect_line('of the oldest files are removed')
        d.stop()
        self.assertEqual(d.done(), ['a.pgm.error.json'])


class Names(test_disk.DiskTest):
    """A name that OUT can never have fails its file, with the reason; others go on."""

    def test_many(self):
        """More than the queue has places for."""
        for number in (errno.ENAMETOOLONG, errno.EILSEQ, errno.EINVAL):
            d = self.faulty('--queue', '8', folder=os.path.join(self.dir, errno.errorcode[number])).start()
            self.wrong('open', d.output + '/.bad*', str(number))
            bad = ['bad%d' % i for i in range(20)]
            for name in bad:
                d.drop(name, b'good')
            for name in bad:
                self.assertEqual(d.expect_failed(name)['code'], 'create')
            d.drop('a', b'good')
            d.expect_done('a')
            d.stop()
            d.expect_clean()

    def test_a_file_where_a_folder_must_be(self):
        d = self.fake('--queue', '4', env={'SLUICE_WATCH_RECURSIVE': 'true'}).start()
        with open(os.path.join(d.output, 'sub'), 'wb'):
            pass
        os.mkdir(d.in_path('sub'))
        for i in range(10):
            d.drop('sub/%d' % i, b'good')
        for i in range(10):
            self.assertEqual(d.expect_failed('sub/%d' % i)['code'], 'create')
        d.drop('a', b'good')
        d.expect_done('a')
        d.stop()

    def test_a_file_where_a_folder_of_originals_must_be(self):
        """They get a flat name."""
        d = self.fake('--queue', '4', env={'SLUICE_WATCH_RECURSIVE': 'true'}).start()
        for text, place in ((b'good', 'done'), (b'truncated', 'failed')):
            with open(os.path.join(d.hidden, place, 'sub'), 'wb'):
                pass
            os.makedirs(d.in_path('sub'), exist_ok=True)
            for i in range(6):
                d.drop('sub/%s%d' % (place, i), text)
            wanted = {'sub_%s%d' % (place, i) for i in range(6)}
            wait_for('originals', lambda p=place, w=wanted: w <= set(os.listdir(os.path.join(d.hidden, p))))
        wait_for('their end', lambda: not d.claims())
        d.stop()
        self.assertEqual(len(os.listdir(os.path.join(d.output, 'sub'))), 6)

    def test_what_is_tried_again_holds_no_place(self):
        d = self.faulty('--queue', '8').start()
        self.wrong('open', d.output + '/.bad*', str(errno.EIO))
        for i in range(20):
            d.drop('bad%d' % i, b'good')
        wait_for('all of them', lambda: len([c for c in d.claims() if c[2].startswith('bad')]) == 20, 20)
        d.drop('a', b'good')
        d.expect_done('a', 20)
        self.mend()
        wait_for('the others', lambda: len(d.done()) == 21)
        d.stop()
        d.expect_clean()


class NoLinks(test_disk.DiskTest):
    """A file system without hard links and without renames that do not replace, like those of object stores."""

    def no_links(self, *options, **keywords):
        d = self.faulty(*options, **keywords)
        d.env['SLUICE_FAULT_NO_LINKS'] = '1'
        return d

    def test_all(self):
        for originals in ('done', 'delete', 'keep'):
            d = self.no_links('--originals', originals, '--stable', '100ms', folder=os.path.join(self.dir, originals)).start()
            with open(os.path.join(d.output, 'a.pgm'), 'wb') as file:
                file.write(b'there before')
            d.drop('a', b'good')
            d.drop('t', b'truncated')
            self.assertEqual(d.expect('a-1.pgm'), b'good')
            d.expect_failed('t')
            wait_for('their end', lambda d=d: not d.claims())
            d.stop()
            self.assertEqual((d.results(), d.result('a.pgm')), (['a-1.pgm', 'a.pgm'], b'there before'))
            d.expect_clean()

    def test_killed_within(self):
        """Between the empty file and the rename over it."""
        d = self.no_links()
        d.env['SLUICE_KILL_AFTER'] = 'openat:a.pgm'
        d.env['LD_PRELOAD'] = os.environ['SLUICE_KILL_POINT'] + ':' + test_disk.LIBRARY
        d.drop('a', b'good')
        d.start(ready=False)
        d.process.wait(30)
        d.reader.join(10)
        del d.env['SLUICE_KILL_AFTER']
        self.assertEqual(d.result('a.pgm'), b'')
        d.start()
        d.expect_done('a')
        d.stop()
        self.assertEqual((d.results(), d.result('a.pgm')), (['a.pgm'], b'good'))


class Ledgers(test_disk.DiskTest):
    def change(self, d, *statements):
        base = sqlite3.connect(os.path.join(d.state, 'ledger.db'))
        for statement in statements:
            base.execute(statement)
        base.commit()
        base.close()

    def version(self, d):
        base = sqlite3.connect(os.path.join(d.state, 'ledger.db'))
        found = base.execute('PRAGMA user_version').fetchone()[0]
        base.close()
        return found

    def kept(self, *options):
        d = self.fake('--originals', 'keep', '--stable', '100ms', *options).start()
        d.drop('a', b'good')
        d.expect('a.pgm')
        wait_for('it is back', lambda: os.path.exists(d.in_path('a')) and not d.claims())
        d.stop()
        return d

    def test_of_a_later_version(self):
        """It is told, and left alone; nothing is done twice."""
        d = self.kept()
        self.change(d, 'ALTER TABLE files ADD COLUMN later', 'PRAGMA user_version=9')
        d.start(ready=False)
        d.expect_line('a later sluiced wrote it .version 9, and this one knows 2.: it is left alone.*tried again')
        d.drop('b', b'good')
        time.sleep(1)
        d.stop()
        self.assertEqual((self.version(d), d.results()), (9, ['a.pgm']))
        self.assertEqual(sorted(os.listdir(d.state)), ['ledger.db', *sorted(set(os.listdir(d.state)) - {'ledger.db'})])
        self.assertFalse([name for name in os.listdir(d.state) if 'damaged' in name])

    def test_of_an_earlier_version(self):
        d = self.kept()
        self.change(d, 'DROP TABLE kept', 'DROP INDEX by_more', 'ALTER TABLE files DROP COLUMN more', 'PRAGMA user_version=0')
        d.start()
        d.drop('b', b'good')
        d.expect('b.pgm')
        wait_for('it is back', lambda: os.path.exists(d.in_path('b')) and not d.claims())
        d.stop()
        self.assertEqual((self.version(d), d.results()), (2, ['a.pgm', 'b.pgm']))
        self.assertFalse([name for name in os.listdir(d.state) if 'damaged' in name])

    def test_of_other_tables(self):
        """Of this version by its number, and not by its tables: it is set aside as a damaged one is."""
        d = self.kept()
        self.change(d, 'ALTER TABLE files RENAME COLUMN attempts TO tries')
        d.start()
        d.expect_line('is damaged: it is set aside')
        d.drop('b', b'good')
        d.expect('b.pgm')
        d.stop()
        self.assertEqual(d.results(), ['a.pgm', 'b.pgm'])

    def test_damaged_for_two(self):
        """Two daemons find one damaged: one of them sets it aside, and the other one takes the new one."""
        for turn in range(3):
            folder = os.path.join(self.dir, 'turn-%d' % turn)
            slow = self.faulty('--originals', 'keep', '--stable', '100ms', folder=os.path.join(folder, 'slow'))
            fast = self.fake('--originals', 'keep', '--stable', '100ms', folder=os.path.join(folder, 'fast'))
            for d in (slow, fast):
                d.options[d.options.index('--state') + 1] = d.state = os.path.join(folder, 'state')
            os.mkdir(slow.state)
            base = sqlite3.connect(os.path.join(slow.state, 'ledger.db'))
            base.execute('CREATE TABLE x(y)')
            base.executemany('INSERT INTO x VALUES(?)', [('y' * 500,) for _ in range(400)])
            base.commit()
            base.close()
            with open(os.path.join(slow.state, 'ledger.db'), 'r+b') as file:
                file.seek(20000)
                file.write(b'\x55' * 60000)
            self.wrong('pread', slow.state + '/ledger.db', 'slow:60')
            slow.start(ready=False)
            time.sleep(0.5)
            fast.start(ready=False)
            fast.drop('a', b'good')
            fast.expect('a.pgm')
            self.mend()
            slow.drop('b', b'good')
            slow.expect('b.pgm')
            for d in (slow, fast):
                wait_for('it is back', lambda d=d: not d.claims())
                d.stop()
            self.assertEqual([name for name in os.listdir(slow.state) if 'damaged' in name and name.endswith('1')],
                             ['ledger.damaged-1'], os.listdir(slow.state))
            self.assertFalse([name for name in os.listdir(slow.state) if 'damaged-2' in name], slow.log() + fast.log())
            base = sqlite3.connect(os.path.join(slow.state, 'ledger.db'))
            self.assertEqual(sorted(row[0] for row in base.execute('SELECT name FROM files')), ['a', 'b'])
            base.close()


if __name__ == '__main__':
    main()
