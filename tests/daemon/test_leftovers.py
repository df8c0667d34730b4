#!/usr/bin/env python3
"""Files that earlier runs, and other programs, have left in the folders; and how earlier deaths of the daemon count
against a file."""
import os
import signal
import time

from sluice_test import DaemonTest, alive, main, picture, wait_for


class Leftovers(DaemonTest):
    def test_temporary_files_of_the_dead_alone_are_removed(self):
        d = self.fake('--jobs', '1').start()
        d.drop('a', b'hang')
        wait_for('it to begin', self.fake_log)
        self.assertEqual(len(d.temporaries()), 1)
        foreign = ['.rsync.tmp', '.a.pgm.0123456789abcdef-00000000-0.tmp', 'plain.tmp']
        for name in foreign:
            with open(os.path.join(d.output, name), 'w', encoding='ascii'):
                pass
        second = self.fake(state='other').start()
        self.assertEqual(len(d.temporaries()), 3)
        second.stop()
        d.kill()
        self.assertEqual(len(d.temporaries()), 3)
        with open(os.path.join(self.dir, 'a'), 'w', encoding='ascii'):
            pass
        third = self.fake('--jobs', '1', '--job-time', '1s').start()
        third.expect_failed('a')
        third.stop()
        self.assertEqual(d.results(), sorted(foreign))

    def test_damaged_note(self):
        d = self.fake('--jobs', '1').start()
        d.drop('a', b'hang')
        wait_for('it to begin', self.fake_log)
        d.kill()
        (instance, serial, _), = d.claims()
        folder = os.path.join(d.hidden, 'work', instance, serial)
        with open(os.path.join(folder, '.note'), 'w', encoding='ascii') as file:
            file.write('{"attempts": 1, "cra')
        with open(os.path.join(folder, 'a'), 'w', encoding='ascii') as file:
            file.write('good')
        d.start()
        self.assertEqual(d.expect('a.pgm'), b'good')
        d.expect_line('a: the note is damaged: done again from the start')
        d.stop()
        d.expect_clean()

    def test_what_strangers_put_into_the_folder_of_work(self):
        d = self.fake()
        work = os.path.join(d.hidden, 'work')
        os.makedirs(os.path.join(work, '0123456789abcdef', 'x', 'deep'), 0o700)
        os.chmod(work, 0o700)
        os.symlink('/etc', os.path.join(work, 'fedcba9876543210'))
        os.symlink('/etc/passwd', os.path.join(work, '0123456789abcdef', 'link'))
        with open(os.path.join(work, 'short'), 'w', encoding='ascii'):
            pass
        d.start()
        d.drop('b', b'good')
        d.expect('b.pgm')
        d.stop()
        self.assertTrue(os.path.islink(os.path.join(work, 'fedcba9876543210')))

    def test_worker_of_a_killed_front_writes_nothing_any_more(self):
        d = self.fake('--jobs', '1').start()
        d.drop('a', b'slow')
        wait_for('it to begin', self.fake_log)
        worker = d.worker_pid()
        d.process.kill()
        d.process.wait()
        wait_for('the end of the worker', lambda: not alive(worker), 5)
        d.start()
        self.assertEqual(d.expect('a.pgm'), b'slow')
        d.stop()
        self.assertEqual(d.results(), ['a.pgm'])
        d.expect_clean()


class TakenUp(DaemonTest):
    def test_work_of_a_dead_daemon_is_taken_up_by_another(self):
        first = self.fake('--jobs', '1').start()
        first.drop('a', b'hang')
        wait_for('it to begin', self.fake_log)
        first.drop('b', b'good')
        wait_for('both claims', lambda: len(first.claims()) == 2)
        first.kill()
        self.assertEqual(len(first.claims()), 2)
        second = self.fake('--jobs', '1', '--job-time', '1s', state='other').start()
        self.assertEqual(second.expect('b.pgm'), b'good')
        self.assertEqual(second.expect_failed('a')['attempts'], 2)  # once more in quarantine
        second.stop()
        second.expect_clean()

    def test_a_living_daemons_work_is_left_alone(self):
        first = self.fake('--jobs', '1').start()
        first.drop('a', b'hang')
        wait_for('it to begin', self.fake_log)
        claims = first.claims()
        first.process.send_signal(signal.SIGSTOP)  # or it might be the one that takes the next file
        second = self.fake('--jobs', '1', state='other').start()
        second.drop('b', b'good')
        second.expect('b.pgm')
        second.expect_done('b')
        self.assertEqual(first.claims(), claims)
        second.stop()
        self.assertEqual(first.claims(), claims)
        first.kill()

    def test_interrupted_again_and_again(self):
        """After three interruptions the file goes last and alone; only ten in a row while it is alone
        fail it."""
        d = self.fake('--jobs', '2')
        d.drop('stuck', b'hang')
        for i in range(3):
            d.start()
            wait_for('it to begin', lambda n=i + 1: self.fake_log().count('hang') == n)
            time.sleep(0.2)
            d.kill()
        others = ['other-%d' % i for i in range(5)]
        for name in others:
            d.drop(name, name.encode())
        d.start()
        d.expect_all(name + '.pgm' for name in others)
        wait_for('it to begin', lambda: self.fake_log().count('hang') == 4)
        self.assertEqual(self.fake_log()[-1], 'hang')  # last
        time.sleep(0.2)
        d.kill()
        for i in range(9):
            d.start()
            self.assertEqual(d.failed(), [])
            wait_for('it to begin', lambda n=i + 5: self.fake_log().count('hang') == n)
            time.sleep(0.2)
            d.kill()
        d.start()
        reason = d.expect_failed('stuck')
        self.assertEqual(reason['code'], 'interrupted')
        self.assertEqual(self.fake_log().count('hang'), 13)
        d.stop()
        d.expect_clean()

    def test_an_orderly_end_is_no_interruption(self):
        d = self.fake('--jobs', '1')
        d.drop('a', b'hang')
        for i in range(2):
            d.start()
            wait_for('it to begin', lambda n=i + 1: len(self.fake_log()) == n)
            d.process.send_signal(signal.SIGTERM)
            d.expect_line('no others are begun')
            d.stop()
            self.assertIn('a', os.listdir(d.input))  # it came back, with nothing held against it
            d.expect_clean()

    def test_sigterm_in_the_middle_of_work(self):
        d = self.daemon('--device', 'reference', '--jobs', '2')
        names = ['%02d.pgm' % i for i in range(40)]
        for i, name in enumerate(names):
            d.drop(name, picture(700, 500, i))
        for _ in range(3):
            before = len(d.results())
            d.start()
            wait_for('some results', lambda n=before: len(d.results()) > n + 3)
            d.stop()
            d.expect_clean()
            left = [name for name in os.listdir(d.input) if name != '.sluice']
            self.assertEqual(len(left) + len(d.done()), 40)
            self.assertEqual(len(d.results()), len(d.done()))
        d.start()
        d.expect_all(names)
        wait_for('all originals', lambda: d.done() == names)
        self.assertEqual((d.results(), d.failed()), (names, []))
        d.stop()
        d.expect_clean()


if __name__ == '__main__':
    main()
