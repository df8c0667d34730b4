#!/usr/bin/env python3
"""A folder or state directory that cannot be used: the daemon starts and works with the others, reports the trouble,
and uses the folder again when it has been repaired."""
import json
import os
import shutil
import signal
import subprocess
import time

import sockets
from sluice_test import SLUICE, DaemonTest, main, wait_for

MENDED = 15  # seconds until files are done, at most


class Folders(DaemonTest):
    """One folder that is good, and others: NAME/in and NAME/out."""

    def setUp(self):
        super().setUp()
        self.http, self.jobs = os.path.join(self.dir, 'http.sock'), os.path.join(self.dir, 'jobs.sock')
        self.config = os.path.join(self.dir, 'c.yaml')

    def path(self, *parts):
        return os.path.join(self.dir, *parts)

    def make(self, name):
        for part in ('in', 'out'):
            os.makedirs(self.path(name, part), exist_ok=True)

    def write(self, *folders):
        """Each: its name, and what else its entry says."""
        with open(self.config, 'w', encoding='utf-8') as file:
            file.write('listen: {http: {unix: %s}, jobs: {unix: %s}}\nwatch:\n' % (self.http, self.jobs))
            for name, *more in folders:
                file.write('  - {input: %s, output: %s, chain: sobel, format: pgm, stable: 100ms%s}\n' % (
                    self.path(name, 'in'), self.path(name, 'out'), ''.join(', ' + m for m in more)))

    def daemon_for(self, *folders, **keywords):
        self.make('good')
        self.write(('good',), *folders)
        d = self.fake(folder=self.path('spare'), **keywords)
        d.options = ['--config', self.config, '--state', self.path('state')]
        return d

    def put(self, folder, name, data=b'good'):
        with open(self.path(folder, name + '.aside'), 'wb') as file:
            file.write(data)
        os.rename(self.path(folder, name + '.aside'), self.path(folder, 'in', name))

    def expect_done(self, folder, name, seconds=MENDED):
        wait_for('%s of %s' % (name, folder), lambda: os.path.exists(self.path(folder, 'out', name + '.pgm')), seconds)

    def get(self, path):
        answer = sockets.ask(self.http, 'GET', path)
        self.assertEqual(answer.status, 200, answer.body)
        return answer

    def folder(self, name):
        found = [f for f in self.get('/v1/status').json()['folders'] if f['input'] == self.path(name, 'in')]
        self.assertEqual(len(found), 1)
        return found[0]

    def why(self, path):
        told = subprocess.run([SLUICE, 'why', '--json', '-s', self.jobs, path], capture_output=True, check=False, timeout=60)
        return json.loads(told.stdout)

    def expect_told(self, name, state, reason, seconds=20):
        """In the status, by readyz, by metrics and by why of a file."""
        try:
            wait_for('%s %s' % (state, reason), lambda: (self.folder(name)['state'], self.folder(name)['reason']) == (state, reason),
                     seconds)
        except AssertionError:
            raise AssertionError(self.folder(name)) from None
        told = self.folder(name)
        self.assertRegex(told['since'], '^20')
        self.assertIn(told, [dict(f, next_try=told['next_try'], message=told['message'], rate=told['rate']) for f in self.get('/readyz').json()['folders']])
        self.assertIn('sluice_folder_state{dir="%s",state="%s"} 1' % (self.path(name, 'in'), state), self.get('/metrics').body.decode())
        why = self.why(self.path(name, 'in', 'x'))
        self.assertEqual((why['state'], why['reason']), ('waiting', reason), why)
        return told

    def expect_well(self, name):
        def told():
            folder = self.folder(name)  # in one answer: what happens between two is another state's
            return [folder[key] for key in ('state', 'reason', 'message', 'next_try')]
        wait_for('it to be well', lambda: told() == ['ok', None, None, None], MENDED)


class AtTheStart(Folders):
    def check(self, break_it, mend_it, state, reason, message):
        self.make('bad')
        break_it()
        d = self.daemon_for(('bad',)).start()
        told = self.expect_told('bad', state, reason)
        self.assertRegex(told['message'], message)
        self.assertRegex(told['next_try'], '^20')
        self.put('good', 'a')
        self.expect_done('good', 'a')
        time.sleep(2)
        self.assertEqual(d.count_lines('sluiced: .*; it is tried again$'), 1)
        mend_it()
        if os.path.isdir(self.path('bad', 'in')):
            self.put('bad', 'x')
        self.expect_done('bad', 'x')
        self.expect_well('bad')
        d.expect_line('/bad/(in|out) is back$')
        d.stop()
        shutil.rmtree(self.path('bad'))
        shutil.rmtree(self.path('good'))

    def test_input_that_is_not_there(self):
        def mend():
            os.mkdir(self.path('bad', 'in'))
        self.check(lambda: os.rmdir(self.path('bad', 'in')), mend, 'lost', 'folder-gone', '/bad/in: no such folder$')

    def test_output_that_is_not_there(self):
        self.check(lambda: os.rmdir(self.path('bad', 'out')), lambda: os.mkdir(self.path('bad', 'out')), 'lost', 'folder-gone',
                   '/bad/out: no such folder$')

    def test_input_that_is_a_file(self):
        def spoil():
            os.rmdir(self.path('bad', 'in'))
            with open(self.path('bad', 'in'), 'wb'):
                pass

        def mend():
            os.unlink(self.path('bad', 'in'))
            os.mkdir(self.path('bad', 'in'))
        self.check(spoil, mend, 'lost', 'folder-gone', '/bad/in: not a folder$')

    def test_hidden_folder_that_is_a_file(self):
        def spoil():
            with open(self.path('bad', 'in', '.sluice'), 'wb'):
                pass
        self.check(spoil, lambda: os.unlink(self.path('bad', 'in', '.sluice')), 'degraded', 'folder-unusable',
                   r'/bad/in/\.sluice: Not a directory$')

    def test_hidden_folder_that_is_a_link(self):
        def spoil():
            os.mkdir(self.path('elsewhere'))
            os.symlink('../../elsewhere', self.path('bad', 'in', '.sluice'))
        self.check(spoil, lambda: os.unlink(self.path('bad', 'in', '.sluice')), 'degraded', 'folder-unusable', r'/bad/in/\.sluice: ')
        self.assertEqual(os.listdir(self.path('elsewhere')), [])

    def test_work_of_another_user(self):
        """Who made it could take what is put there. One of our own that others may write to is closed (test_spool.py)."""
        if os.geteuid() != 0:
            self.skipTest('only root can give a folder away')
        work = self.path('bad', 'in', '.sluice', 'work')

        def spoil():
            os.makedirs(work)
            os.chown(work, 12345, 12345)
        self.check(spoil, lambda: os.chown(work, 0, 0), 'degraded', 'folder-unusable', 'work belongs to another user')

    def test_folders_that_cannot_be_written_to(self):
        if os.geteuid() == 0:
            self.skipTest('root may write anywhere')
        for part in ('in', 'out'):
            self.check(lambda: os.chmod(self.path('bad', part), 0o500), lambda: os.chmod(self.path('bad', part), 0o700),  # pylint: disable=cell-var-from-loop
                       'degraded', 'folder-unusable', '/bad/%s.*: Permission denied$' % part)

    def test_all_of_them(self):
        """Nothing works but the daemon: it is ready all the same, and health is told."""
        d = self.daemon_for()
        shutil.rmtree(self.path('good'))
        d.start()
        self.expect_told('good', 'lost', 'folder-gone')
        self.make('good')
        self.put('good', 'x')
        self.expect_done('good', 'x')
        d.stop()

    def test_state_directory(self):
        """Folders whose originals leave do without; others wait."""
        for name in ('kept', 'placed'):
            self.make(name)
        with open(self.path('state'), 'wb'):
            pass
        d = self.daemon_for(('kept', 'originals: keep'), ('placed', 'claim: none')).start()
        self.put('good', 'a')
        self.expect_done('good', 'a')
        self.put('placed', 'x')
        self.expect_told('placed', 'degraded', 'folder-unusable')
        self.assertFalse(os.path.exists(self.path('placed', 'out', 'x.pgm')))
        os.unlink(self.path('state'))
        self.put('kept', 'x')
        self.expect_done('kept', 'x')
        self.expect_done('placed', 'x')
        for name in ('kept', 'placed'):
            self.expect_well(name)
            self.assertTrue(os.path.exists(self.path(name, 'in', 'x')))
        d.stop()


class WhileItRuns(Folders):
    def test_reload_with_a_folder_that_is_not_there(self):
        d = self.daemon_for().start()
        self.write(('good',), ('bad',))
        d.process.send_signal(signal.SIGHUP)
        d.expect_line('reloaded: 2 folders')
        self.expect_told('bad', 'lost', 'folder-gone')
        self.put('good', 'a')
        self.expect_done('good', 'a')
        self.make('bad')
        self.put('bad', 'x')
        self.expect_done('bad', 'x')
        self.expect_well('bad')
        d.stop()

    def remove(self, *parts):
        d = self.daemon_for().start()
        self.put('good', 'a')
        self.expect_done('good', 'a')
        wait_for('the original', lambda: os.path.exists(self.path('good', 'in', '.sluice', 'done', 'a')))
        path = self.path('good', 'in', '.sluice', *parts)
        shutil.rmtree(path)
        self.put('good', 'b')
        self.expect_done('good', 'b')
        wait_for('the original', lambda: os.path.exists(self.path('good', 'in', '.sluice', 'done', 'b')), MENDED)
        d.expect_line(r'/good/in/\.sluice: .*; it is made anew$')
        self.expect_well('good')
        wait_for('it to be ready', lambda: self.get('/readyz').status == 200, MENDED)
        d.stop()
        self.assertEqual(os.listdir(self.path('good', 'in', '.sluice', 'work')), [])

    def test_hidden_folder_is_removed(self):
        self.remove()

    def test_done_is_removed(self):
        self.remove('done')

    def test_failed_is_removed(self):
        self.remove('failed')

    def test_work_is_removed(self):
        self.remove('work')

    def test_hidden_folder_is_renamed_away_and_replaced_by_a_file(self):
        d = self.daemon_for().start()
        hidden = self.path('good', 'in', '.sluice')
        os.rename(hidden, hidden + '-old')
        with open(hidden, 'wb'):
            pass
        self.expect_told('good', 'degraded', 'folder-unusable')
        os.unlink(hidden)
        self.put('good', 'x')
        self.expect_done('good', 'x')
        d.stop()

    def test_hidden_folder_is_removed_in_place(self):
        """Of a folder that is not to be written to it is in the state directory."""
        self.make('placed')
        d = self.daemon_for(('placed', 'claim: none')).start()
        self.put('placed', 'a')
        self.expect_done('placed', 'a')
        time.sleep(0.5)
        shutil.rmtree(self.path('state', 'folders'))
        self.put('placed', 'b')
        self.expect_done('placed', 'b')
        d.expect_line(r'/state/folders/[0-9a-f]+: .*; it is made anew$')
        d.stop()


if __name__ == '__main__':
    main()
