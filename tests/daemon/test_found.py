#!/usr/bin/env python3
"""Which files are taken, and under which names; what is left alone."""
import os
import socket
import time
import unittest

from sluice_test import DaemonTest, main, picture, wait_for


class Found(DaemonTest):
    def test_before_and_after_the_start(self):
        d = self.daemon()
        d.drop('before.pgm', picture(seed=1))
        d.start()
        d.drop('after.pgm', picture(seed=2))
        d.expect_all(['before.pgm', 'after.pgm'])
        d.expect_done('before.pgm')
        d.expect_done('after.pgm')
        d.stop()
        self.assertEqual(os.listdir(d.input), ['.sluice'])
        d.expect_clean()

    def test_closed_and_renamed_in_at_once(self):
        d = self.start()
        for how in ('close', 'rename'):
            begin = time.monotonic()
            d.drop(how + '.pgm', picture(), how)
            d.expect(how + '.pgm')
            self.assertLess(time.monotonic() - begin, 1.9, how)  # `stable` is 2 s
        d.stop()

    def test_hard_link(self):
        d = self.start()
        d.drop('linked.pgm', picture(), 'link')
        d.expect('linked.pgm')
        d.stop()

    def test_file_without_a_name_linked_in(self):
        d = self.start()
        fd = os.open(d.input, os.O_TMPFILE | os.O_WRONLY)
        os.write(fd, picture())
        root = os.open('/', os.O_RDONLY)
        os.link('/proc/self/fd/%d' % fd, d.in_path('late.pgm'), src_dir_fd=root, follow_symlinks=True)
        os.close(root)
        os.close(fd)
        d.expect('late.pgm')
        d.stop()

    def test_names(self):
        names = ['with space.pgm', 'ünïcödé-画像.pgm', 'new\nline.pgm', "quote'\".pgm", '-dash.pgm',
                 'a.b.c.pgm', 'no-extension', '100%s.pgm', 'x' * 251 + '.pgm', 'é' * 125 + '.pgm']
        d = self.start()
        for i, name in enumerate(names):
            d.drop(name, picture(seed=i))
        with open(os.fsencode(d.in_path('latin-')) + b'\xe9.pgm', 'wb') as file:
            file.write(picture())
        expected = [name if name.endswith('.pgm') else name + '.pgm' for name in names]
        d.expect_all(expected)
        wait_for('the name that is no UTF-8',
                 lambda: b'latin-\xe9.pgm' in os.listdir(os.fsencode(d.output)))
        wait_for('all originals', lambda: len(d.done()) == len(names) + 1)
        log = d.stop()
        self.assertIn('new?line.pgm: done', log)
        d.expect_clean()

    def test_very_long_name_without_an_extension(self):
        d = self.start()
        name = 'é' * 127
        d.drop(name, picture())
        d.expect('é' * 125 + '.pgm')
        d.drop('é' * 127, b'no picture')
        reason = 'é' * 122 + '.error.json'
        wait_for('the reason', lambda: reason in d.failed())
        d.stop()

    def test_old_file_is_taken_although_its_time_is_odd(self):
        d = self.daemon()
        d.drop('past.pgm', picture())
        d.drop('future.pgm', picture())
        os.utime(d.in_path('past.pgm'), (0, 0))
        os.utime(d.in_path('future.pgm'), (1 << 33, 1 << 33))
        d.start()
        d.expect_all(['past.pgm', 'future.pgm'])
        d.stop()


class LeftAlone(DaemonTest):
    def test_hidden_and_ignored_names(self):
        d = self.daemon()
        names = ['.hidden.pgm', 'x.tmp', 'x.part', 'x.pgm~', '.x.pgm.part']
        d.drop(names[0], picture())
        d.start()
        for name in names:
            d.drop(name, picture())
        d.drop('.moved.pgm', picture(), 'rename')
        d.drop('real.pgm', picture())
        d.expect('real.pgm')
        time.sleep(2.5)
        self.assertEqual(sorted(os.listdir(d.input)), sorted(names + ['.moved.pgm', '.sluice']))
        os.rename(d.in_path('x.part'), d.in_path('x.pgm'))  # as a producer does
        d.expect('x.pgm')
        d.stop()

    def test_names_of_unfinished_files_and_of_file_managers(self):
        d = self.fake().start()
        names = ['a.tmp', 'a.part', 'a.partial', 'a.crdownload', 'a.download', 'a.filepart', 'a~', '.~lock.a.odg#', '~$a.jpg',
                 'Thumbs.db', 'desktop.ini', 'ehthumbs.db', '@eaDir', '.DS_Store', '.hidden']
        for name in names:
            d.drop(name, b'good')
        taken = ['a$~b', 'thumbs.db.x', 'eaDir', 'download', '~b']
        for name in taken:
            d.drop(name, b'good')
        d.expect_all(os.path.splitext(name)[0] + '.pgm' for name in taken)
        time.sleep(2.5)
        self.assertEqual(sorted(os.listdir(d.input)), sorted(names + ['.sluice']))
        d.stop()

    def test_what_is_no_file(self):
        d = self.daemon()
        os.makedirs(d.in_path('folder.pgm'))
        with open(os.path.join(d.in_path('folder.pgm'), 'inside.pgm'), 'wb') as file:
            file.write(picture())
        secret = os.path.join(self.dir, 'secret.pgm')
        with open(secret, 'wb') as file:
            file.write(picture())
        os.symlink(secret, d.in_path('link.pgm'))
        os.mkfifo(d.in_path('fifo.pgm'))
        listening = socket.socket(socket.AF_UNIX)
        self.addCleanup(listening.close)
        os.chdir(d.input)
        listening.bind('socket.pgm')
        os.chdir('/')
        d.start()
        os.symlink('../secret.pgm', d.in_path('link2.pgm'))
        os.mkfifo(d.in_path('fifo2.pgm'))
        os.mkdir(d.in_path('folder2.pgm'))
        os.symlink('nowhere', d.in_path('dangling.pgm'))
        if os.geteuid() == 0:
            try:
                os.mknod(d.in_path('device.pgm'), 0o600 | 0o020000, os.makedev(1, 3))
            except PermissionError:
                pass
        before = sorted(os.listdir(d.input))
        d.drop('real.pgm', picture())
        d.expect('real.pgm')
        time.sleep(2.5)
        self.assertEqual(sorted(os.listdir(d.input)), before)
        self.assertEqual(d.results(), ['real.pgm'])
        d.stop()

    @unittest.skipIf(os.geteuid() == 0, 'root may read anything')
    def test_file_that_cannot_be_read_waits(self):
        d = self.daemon()
        d.drop('locked.pgm', picture())
        os.chmod(d.in_path('locked.pgm'), 0)
        d.start()
        d.expect_line('locked.pgm: cannot be read yet')
        os.chmod(d.in_path('locked.pgm'), 0o600)
        d.expect('locked.pgm')
        d.stop()


if __name__ == '__main__':
    main()
