#!/usr/bin/env python3
"""When a file counts as complete."""
import os
import shutil
import time

from sluice_test import DaemonTest, main, picture, wait_for


class Complete(DaemonTest):
    def test_slow_writer(self):
        """Pieces with pauses longer than `stable`, the file open all the time."""
        d = self.start()
        data = picture(200, 200)
        with open(d.in_path('slow.pgm'), 'wb') as file:
            for i in range(3):
                file.write(data[i * len(data) // 3:(i + 1) * len(data) // 3])
                file.flush()
                time.sleep(2.6 if i == 0 else 0.4)
            self.assertEqual(d.results(), [])
        d.expect('slow.pgm')
        log = d.stop()
        self.assertNotIn('truncated', log)

    def test_slow_writer_that_was_there_before(self):
        d = self.daemon()
        data = picture(100, 100)
        with open(d.in_path('slow.pgm'), 'wb') as file:
            file.write(data[:1000])
            file.flush()
            d.start()
            time.sleep(3)
            self.assertEqual(d.results(), [])
            file.write(data[1000:])
        d.expect('slow.pgm')
        d.stop()

    def test_two_writers(self):
        """The kernel tells of the first close; the second writer is not done yet."""
        d = self.start()
        data = picture(100, 100)
        second = open(d.in_path('two.pgm'), 'wb')
        with open(d.in_path('two.pgm'), 'r+b') as first:
            first.write(data[:5000])
        time.sleep(0.5)
        second.seek(5000)
        second.write(data[5000:])
        second.close()
        self.assertEqual(d.expect('two.pgm'), self.by_sluice_run(data)[''])
        log = d.stop()
        self.assertNotIn('truncated', log)

    def test_pieces_appended(self):
        """Each piece is opened and closed: after the first one the file counts as complete, and is
        truncated; it waits and is taken when it grows."""
        d = self.start()
        data = picture(100, 100)
        d.drop('grows.pgm', data[:300])
        d.expect_line('grows.pgm: truncated pnm')
        for begin, end in ((300, 2000), (2000, 6000), (6000, len(data))):
            time.sleep(0.5)
            wait_for('it to be back', lambda: os.path.exists(d.in_path('grows.pgm')))
            with open(d.in_path('grows.pgm'), 'ab') as file:
                file.write(data[begin:end])
        self.assertEqual(d.expect('grows.pgm'), self.by_sluice_run(data)[''])
        self.assertEqual(d.failed(), [])
        d.stop()

    def test_truncated_for_good(self):
        d = self.start()
        begin = time.monotonic()
        d.drop('cut.pgm', picture()[:500])
        d.drop('good.pgm', picture())
        d.expect('good.pgm')
        reason = d.expect_failed('cut.pgm')
        self.assertGreater(time.monotonic() - begin, 2)
        self.assertEqual(reason['code'], 'truncated')
        self.assertEqual(d.failed(), ['cut.pgm', 'cut.pgm.error.json'])
        d.stop()
        d.expect_clean()

    def test_truncated_and_its_name_taken(self):
        """The producer starts anew under the same name: both files get their end."""
        d = self.fake().start()
        d.drop('a', b'truncated')
        wait_for('it to begin', self.fake_log)
        wait_for('it to be back', lambda: os.path.exists(d.in_path('a')))
        d.drop('b', b'good')
        os.rename(d.in_path('b') if os.path.exists(d.in_path('b')) else os.path.join(d.hidden, 'done', 'b'),
                  d.in_path('a'))
        self.assertEqual(d.expect('a.pgm'), b'good')
        d.stop()

    def test_empty_waits_until_it_is_filled(self):
        d = self.start()
        d.drop('empty.pgm', b'')
        d.drop('other.pgm', picture())
        d.expect('other.pgm')
        d.expect_line('empty.pgm: empty; it waits')
        time.sleep(2.5)
        self.assertTrue(os.path.exists(d.in_path('empty.pgm')))
        with open(d.in_path('empty.pgm'), 'wb') as file:
            file.write(picture())
        d.expect('empty.pgm')
        d.stop()

    def test_empty_at_the_start(self):
        d = self.daemon()
        d.drop('empty.pgm', b'')
        d.start()
        time.sleep(2.5)
        self.assertTrue(os.path.exists(d.in_path('empty.pgm')))
        d.drop('empty.pgm', picture())
        d.expect('empty.pgm')
        d.stop()

    def test_changed_while_it_is_read(self):
        """Another link leads to the file: the folder tells nothing of what is written there."""
        d = self.fake('--jobs', '1').start()
        outside = os.path.join(self.dir, 'outside')
        with open(outside, 'wb') as file:
            file.write(b'slow')
        os.link(outside, d.in_path('a'))
        wait_for('it to begin', lambda: self.fake_log() == ['slow'])
        with open(outside, 'ab') as file:
            file.write(b' and more')
        self.assertEqual(d.expect('a.pgm'), b'slow and more')
        self.assertEqual(self.fake_log(), ['slow', 'slow and more'])
        d.expect_line('a: changed while it was read')
        d.stop()
        d.expect_clean()


class Settle(DaemonTest):
    """Closed after writing: taken when nothing has opened or changed it for `settle`."""

    def test_written_in_two_goes(self):
        d = self.fake().start()
        for i in range(10):
            d.drop('a%d' % i, b'first')
            time.sleep(0.002 * i)
            with open(d.in_path('a%d' % i), 'ab') as file:
                file.write(b' second')
        for i in range(10):
            self.assertEqual(d.expect('a%d.pgm' % i), b'first second', i)
        self.assertEqual(self.fake_log(), ['first second'] * 10)
        d.stop()
        d.expect_clean()

    def test_second_go_takes_longer_than_settle(self):
        """Whoever opened it again has not closed it yet."""
        d = self.fake().start()
        d.drop('a', b'first')
        with open(d.in_path('a'), 'ab') as file:
            time.sleep(0.6)
            file.write(b' second')
        self.assertEqual(d.expect('a.pgm'), b'first second')
        self.assertEqual(self.fake_log(), ['first second'])
        d.stop()

    def test_changed_by_name_after_the_close(self):
        d = self.fake().start()
        source = os.path.join(self.dir, 'source')
        with open(source, 'wb') as file:
            file.write(b'good')
        for i in range(50):
            shutil.copy2(source, d.in_path('a%d' % i))  # FileNotFoundError where it is taken between
        d.expect_all('a%d.pgm' % i for i in range(50))
        d.stop()

    def test_as_long_as_it_is_told(self):
        d = self.fake('--settle', '1500ms', '--stable', '60s').start()
        begin = time.monotonic()
        d.drop('a', b'good')
        while time.monotonic() < begin + 1:
            with open(d.in_path('a'), 'rb') as file:  # whoever reads it may be its producer, too
                file.read()
            time.sleep(0.1)
        os.utime(d.in_path('a'))
        touched = time.monotonic()
        d.expect('a.pgm')
        self.assertGreater(time.monotonic() - touched, 1.4)
        d.stop()

    def test_readers_do_not_put_it_off_for_ever(self):
        d = self.fake('--settle', '500ms', '--stable', '2s').start()
        d.drop('a', b'good')

        def reads():
            try:
                with open(d.in_path('a'), 'rb') as file:
                    file.read()
            except FileNotFoundError:
                pass
            return os.path.exists(os.path.join(d.output, 'a.pgm'))
        wait_for('the result', reads, pause=0.1)
        d.stop()

    def test_renamed_and_linked_in_at_once(self):
        d = self.fake('--settle', '60s', '--stable', '60s').start()
        d.drop('moved', b'good', 'rename')
        d.drop('linked', b'good', 'link')
        aside = os.path.join(self.dir, 'aside')
        with open(aside, 'wb') as file:
            file.write(b'good')
        os.link(aside, d.in_path('linked-alone'))
        os.unlink(aside)  # before anybody may have counted its names
        fd = os.open(d.input, os.O_TMPFILE | os.O_WRONLY)
        os.write(fd, b'good')
        root = os.open('/', os.O_RDONLY)
        os.link('/proc/self/fd/%d' % fd, d.in_path('no-name'), src_dir_fd=root, follow_symlinks=True)
        os.close(root)
        os.close(fd)
        d.expect_all(['moved.pgm', 'linked.pgm', 'linked-alone.pgm', 'no-name.pgm'], 30)
        d.stop()

    def test_no_time_for_those_who_rename(self):
        d = self.fake('--settle', '0s', '--stable', '60s').start()
        d.drop('a', b'good')
        d.expect('a.pgm', 30)
        d.stop()


if __name__ == '__main__':
    main()
