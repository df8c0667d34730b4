#!/usr/bin/env python3
"""Watched folders and output folders that go and come back."""
import json
import os
import shutil
import subprocess
import time
import unittest

from sluice_test import SLUICE, DaemonTest, main, picture, wait_for

DAEMON_FAULT = os.environ.get('DAEMON_FAULT')


class Comes(DaemonTest):
    def test_folder_that_is_moved_away_and_made_anew(self):
        d = self.start()
        d.drop('a.pgm', picture())
        d.expect_done('a.pgm')
        os.rename(d.input, d.input + '-old')
        d.expect_line('sluiced: %s: moved away; it is taken up again' % d.input)
        time.sleep(0.3)
        os.mkdir(d.input)
        d.drop('b.pgm', picture())
        d.expect('b.pgm')
        d.expect_line('is back')
        d.drop('c.pgm', picture())
        d.expect('c.pgm')
        d.stop()
        d.expect_clean()
        self.assertEqual(os.listdir(os.path.join(d.input + '-old', '.sluice', 'work')), [])

    def test_folder_that_is_removed_and_comes_back(self):
        d = self.start()
        shutil.rmtree(d.input)
        d.expect_line('it is taken up again when it returns')
        time.sleep(2.5)
        os.mkdir(d.input)
        d.drop('a.pgm', picture())
        d.expect('a.pgm')
        d.stop()

    def test_output_folder_that_is_removed_and_comes_back(self):
        """It is blamed, not the folder that is watched."""
        d = self.start()
        before = len(d.lines)
        shutil.rmtree(d.output)
        d.drop('a.pgm', picture())
        d.expect_line('sluiced: (%s: no such folder; it is taken up again|a.pgm: %s: .*tried again in 1s)' % (d.output, d.output))
        d.expect_line('sluiced: %s: no such folder; it is taken up again when it returns$' % d.output)
        for line in d.lines[before:]:
            self.assertNotRegex(line, 'sluiced: %s: ' % d.input)
        os.mkdir(d.output)
        d.expect_line('sluiced: %s is back$' % d.output)
        d.expect('a.pgm')
        d.stop()

    def test_output_folder_that_is_another_one(self):
        d = self.start()
        os.rename(d.output, d.output + '-old')
        os.mkdir(d.output)
        d.expect_line('sluiced: %s: the path leads elsewhere now; it is taken up again' % d.output)
        d.expect_line('sluiced: %s is back$' % d.output)
        d.drop('a.pgm', picture())
        d.expect('a.pgm')
        d.stop()

    def test_the_first_file(self):
        """Where its original goes is said once; whoever tries a folder sees a picture vanish."""
        for options, words in (((), 'go to {hidden}/done when their results are in {out}; those that fail go to '
                                    '{hidden}/failed with the reason'),
                               (('--originals', 'delete'), 'are deleted when their results are in {out}; those that fail go to'),
                               (('--originals', 'keep'), 'stay in their folder when'),
                               (('--claim', 'none'), 'stay in their folder when their results are in {out}; reasons of failures '
                                                     'go to {state}/folders/[0-9a-f]+/failed')):
            d = self.fake(*options, '--stable', '100ms', folder=os.path.join(self.dir, options[-1] if options else 'done'))
            d.start()
            d.drop('a', b'good')
            d.expect('a.pgm')
            d.drop('b', b'good')
            d.expect('b.pgm')
            words = words.format(hidden=d.hidden, out=d.output, state=d.state)
            d.expect_line('sluiced: %s/a is the first file taken here: originals %s' % (d.input, words))
            self.assertEqual(d.count_lines('is the first file taken'), 1)
            d.stop()

    def test_the_name_of_a_running_folder_moves_with_its_jobs(self):
        """Jobs that run when the folder is moved end in the folder where it is then."""
        d = self.fake('--jobs', '1').start()
        d.drop('a', b'slow')
        wait_for('it to begin', self.fake_log)
        os.rename(d.input, d.input + '-old')
        self.assertEqual(d.expect('a.pgm'), b'slow')
        wait_for('the original', lambda: os.listdir(os.path.join(d.input + '-old', '.sluice', 'done')))
        os.mkdir(d.input)
        d.expect_line('is back')
        d.stop()


class Trouble(DaemonTest):
    @unittest.skipUnless(DAEMON_FAULT, 'a preloaded library cannot stand before a sanitizer')
    def test_a_folder_that_cannot_be_read_or_hangs(self):
        fault, jobs = os.path.join(self.dir, 'fault'), os.path.join(self.dir, 'jobs.sock')
        d = self.fake('--mode', 'poll', '--stable', '100ms', '--jobs-socket', jobs,
                      env={'LD_PRELOAD': DAEMON_FAULT, 'SLUICE_FAULT_READDIR': fault}).start()

        def expect(state, reason):
            def is_so():
                told = subprocess.run([SLUICE, 'status', '--json', '-s', jobs], capture_output=True, check=True)
                self.folder = json.loads(told.stdout)['folders'][0]
                return (self.folder['state'], self.folder['reason']) == (state, reason)
            wait_for('%s (%s)' % (state, reason), is_so, 40, 0.3)
            return self.folder

        for word, state, reason, message in (('fail', 'degraded', 'folder-unreadable', '(/.sluice)?: Input/output error'),
                                             ('hang', 'hanging', 'folder-hanging', ' or .*/out: no answer for \d+s')):
            expect('ok', None)
            with open(fault, 'w', encoding='ascii') as file:
                file.write(word)
            began = time.monotonic()
            got = expect(state, reason)
            self.assertRegex(got['message'], '^%s%s$' % (d.input, message))
            self.assertLess(time.monotonic() - began, 15)
            os.unlink(fault)
            expect('ok', None)
        self.assertEqual(d.count_lines('%s(/.sluice)?: Input/output error; it is tried again' % d.input), 1)
        d.drop('a', b'good')
        d.expect('a.pgm')
        d.stop()


class Polled(DaemonTest):
    def test_where_there_is_no_inotify(self):
        """A namespace without a single inotify instance stands for a network file system."""
        none = 'echo 0 > /proc/sys/user/max_inotify_instances'
        if subprocess.run(['unshare', '-r', 'sh', '-c', none], capture_output=True, check=False).returncode:
            self.skipTest('no user namespaces here')
        d = self.daemon()
        d.prefix = ['unshare', '-r', 'sh', '-c', none + ' && exec "$@"', 'sh']
        d.drop('before.pgm', picture(seed=1))
        d.start()
        d.expect_line('by reading it every 2s: inotify: no instance left')
        d.drop('after.pgm', picture(seed=2))
        d.expect_all(['before.pgm', 'after.pgm'])
        d.stop()
        d.expect_clean()


if __name__ == '__main__':
    main()
