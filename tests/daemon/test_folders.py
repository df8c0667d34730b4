#!/usr/bin/env python3
"""Watched folders and output folders that go and come back."""
import os
import shutil
import subprocess
import time

from sluice_test import DaemonTest, main, picture, wait_for


class Comes(DaemonTest):
    def test_folder_that_is_moved_away_and_made_anew(self):
        d = self.start()
        d.drop('a.pgm', picture())
        d.expect_done('a.pgm')
        os.rename(d.input, d.input + '-old')
        d.expect_line('moved away; it is taken up again')
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
        d = self.start()
        shutil.rmtree(d.output)
        d.drop('a.pgm', picture())
        d.expect_line('a.pgm: .*tried again in 1s|leads elsewhere')
        os.mkdir(d.output)
        d.expect('a.pgm')
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
