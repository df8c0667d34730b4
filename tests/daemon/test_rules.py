#!/usr/bin/env python3
"""What a folder's own rules do: names, originals, claims in place, syncs, folders below, retention."""
import json
import os
import shutil
import sqlite3
import stat
import subprocess
import time
import unittest

from sluice_test import DaemonTest, main, wait_for
import sockets


class Rules(DaemonTest):
    def rows(self, d, columns='name, state, remembered'):
        base = sqlite3.connect(os.path.join(d.state, 'ledger.db'))
        try:
            return sorted(base.execute('SELECT %s FROM files' % columns).fetchall())
        finally:
            base.close()

    def by_config(self, *entries, **keywords):
        """A daemon with the fake worker and a file of these folders: (name, keys) each; its own in and
        out are those of the first."""
        d = self.fake(**keywords)
        lines = ['log: {level: debug}', 'watch:']
        for name, keys in entries:
            for kind in ('in', 'out'):
                os.makedirs(os.path.join(self.dir, name + kind), exist_ok=True)
            lines.append('  - {input: %s, output: %s, chain: sobel, format: pgm%s}'
                         % (os.path.join(self.dir, name + 'in'), os.path.join(self.dir, name + 'out'),
                            ', ' + keys if keys else ''))
        path = os.path.join(self.dir, 'c.yaml')
        with open(path, 'w', encoding='utf-8') as file:
            file.write('\n'.join(lines) + '\n')
        d.options = ['--config', path, '--device', 'reference', '--state', d.state]
        return d

    # ---- names

    def test_templates(self):
        day = time.strftime('%Y-%m-%d', time.gmtime())
        for template, name in (('{stem}-{chain}.{ext}', 'a.b-sobel.pgm'), ('{name}.{ext}', 'a.b.jpg.pgm'),
                               ('{date}_x.{ext}', day + '_x.pgm')):
            d = self.fake('--name', template).start()
            d.drop('a.b.jpg', b'good')
            d.expect(name)
            d.stop()
            d.expect_clean()
        d = self.fake('--name', '{stem}+{chain}.{ext}', chain='fir:k=1_2_1/2_4_2/1_2_1').start()
        d.drop('p', b'planes 2')
        d.expect_all(['p+fir:k=1_2_1_2_4_2_1_2_1.%s.pgm' % plane for plane in ('p0', 'p1')])
        d.stop()

    def test_overwrite_and_fail(self):
        d = self.fake('--on-exists', 'overwrite').start()
        for text in (b'one', b'two'):
            d.drop('a', text)
            wait_for('result', lambda t=text: os.path.exists(d.output + '/a.pgm') and d.result('a.pgm') == t)
        d.stop()
        d.expect_clean()
        self.assertEqual((d.results(), d.done()), (['a.pgm'], ['a', 'a-1']))
        d = self.fake('--on-exists', 'fail').start()
        d.drop('a', b'three')
        reason = d.expect_failed('a')
        self.assertEqual((reason['code'], reason['stage']), ('exists', 'write'))
        self.assertIn('a.pgm is there already', reason['message'])
        d.drop('b', b'four')
        d.expect('b.pgm')
        d.stop()
        d.expect_clean()
        self.assertEqual((d.result('a.pgm'), d.results()), (b'two', ['a.pgm', 'b.pgm']))

    # ---- originals

    def test_delete(self):
        d = self.fake('--originals', 'delete').start()
        d.drop('a', b'good')
        d.drop('t', b'truncated')
        d.expect('a.pgm')
        d.expect_failed('t')
        d.stop()
        d.expect_clean()
        self.assertEqual((d.done(), os.listdir(d.input)), ([], ['.sluice']))

    def test_keep_remembers(self):
        d = self.fake('--originals', 'keep', '--stable', '200ms').start()
        d.drop('a', b'good')
        d.expect('a.pgm')
        wait_for('a is back', lambda: 'a' in os.listdir(d.input))
        time.sleep(0.5)
        d.stop()
        d.expect_clean()
        for _ in range(2):
            d.start()
            time.sleep(0.6)
            d.stop()
        self.assertEqual(d.results(), ['a.pgm'])
        self.assertEqual(self.fake_log(), ['good'])
        self.assertEqual(self.rows(d), [('a', 'done', 1)])
        d.start()
        os.rename(d.in_path('a'), d.in_path('b'))  # it is the same file
        time.sleep(0.6)
        self.assertEqual(d.results(), ['a.pgm'])
        d.drop('b', b'other')  # it is not
        self.assertEqual(d.expect('b.pgm'), b'other')
        d.stop()

    def test_ledger_that_is_damaged(self):
        d = self.fake('--originals', 'keep', '--stable', '200ms').start()
        names = ['%02d' % i for i in range(20)]
        for name in names:
            d.drop(name, name.encode())
        d.expect_all(name + '.pgm' for name in names)
        wait_for('all are back', lambda: len(os.listdir(d.input)) == 21)
        d.stop()
        for text in (b'this is no database at all' * 50, b'SQLite format 3\0' + b'\xff' * 5000):
            with open(os.path.join(d.state, 'ledger.db'), 'wb') as file:
                file.write(text)
            d.start()
            d.expect_line('is damaged: it is set aside as .*ledger.damaged-')
            d.expect_line('20 files count as done, since their results are there')
            time.sleep(0.6)
            d.drop('new', b'new')
            d.expect('new.pgm')
            d.stop()
            os.unlink(d.in_path('new'))
            os.unlink(os.path.join(d.output, 'new.pgm'))
        self.assertEqual(len([line for line in self.fake_log() if line != 'new']), 20)
        self.assertEqual(len([n for n in os.listdir(d.state) if n.startswith('ledger.damaged-')
                              and n[-1].isdigit()]), 2)

    def test_what_the_ledger_says(self):
        d = self.fake('--jobs', '1').start()
        d.drop('a', b'good')
        d.drop('t', b'truncated')
        d.expect('a.pgm')
        d.expect_failed('t')
        d.expect_done('a')
        d.stop()
        self.assertEqual(self.rows(d, 'name, state, attempts, reason, result'),
                         [('a', 'done', 1, None, 'a.pgm'), ('t', 'failed', 1, 'truncated fake', None)])

    def test_old_entries_are_dropped(self):
        d = self.fake('--originals', 'keep').start()
        d.drop('a', b'good')
        d.expect('a.pgm')
        wait_for('a is back', lambda: os.path.exists(d.in_path('a')))
        d.stop()
        base = sqlite3.connect(os.path.join(d.state, 'ledger.db'))
        device = os.stat(d.input).st_dev
        now = int(time.time())
        for name, inode, remembered, age, dev in (('old', 1, 0, 31, device), ('young', 2, 0, 29, device),
                                                  ('gone', 3, 1, 0, device), ('elsewhere', 4, 1, 0, device + 1)):
            base.execute('INSERT INTO files VALUES (?, ?, ?, ?, 5, 6, "done", 1, NULL, NULL, ?, ?, ?, NULL)',
                         (d.input, name, dev, inode, remembered, now, now - age * 86400))
        base.commit()
        base.close()
        d.start()
        d.stop()
        self.assertEqual([row[0] for row in self.rows(d)], ['a', 'elsewhere', 'young'])

    # ---- claims in place

    def test_a_folder_that_is_not_written_to(self):
        d = self.fake('--claim', 'none', '--stable', '200ms')
        for name, text in (('a', b'good'), ('b', b'truncated'), ('c', b'poison')):
            d.drop(name, text)
        before = sorted((entry.name, entry.stat().st_ino) for entry in os.scandir(d.input))
        os.chmod(d.input, 0o555)
        self.addCleanup(os.chmod, d.input, 0o755)
        d.start()
        d.expect('a.pgm')
        failed = os.path.join(d.state, 'folders', os.listdir(os.path.join(d.state, 'folders'))[0], 'failed')
        wait_for('both reasons', lambda: sorted(os.listdir(failed)) == ['b.error.json', 'c.error.json'])
        with open(os.path.join(failed, 'c.error.json'), encoding='utf-8') as file:
            self.assertEqual(json.load(file)['code'], 'crashed-worker')
        d.stop()
        self.assertEqual(sorted((entry.name, entry.stat().st_ino) for entry in os.scandir(d.input)), before)
        begun = len(self.fake_log())
        d.start()
        time.sleep(0.6)
        d.stop()
        self.assertEqual(len(self.fake_log()), begun)
        self.assertEqual(self.rows(d), [('a', 'done', 1), ('b', 'failed', 1), ('c', 'failed', 1)])
        work = os.path.join(os.path.dirname(failed), 'work')
        self.assertEqual(os.listdir(work), [])

    def test_in_place_and_killed(self):
        d = self.fake('--claim', 'none', '--stable', '100ms', '--jobs', '2')
        names = ['%02d' % i for i in range(30)]
        for name in names:
            d.drop(name, b'slow ' + name.encode())
        for _ in range(4):
            before = len(d.results())
            d.start()
            wait_for('some', lambda n=before: len(d.results()) > n + 3)
            d.kill()
        d.start()
        d.expect_all(name + '.pgm' for name in names)
        d.stop()
        self.assertEqual(d.results(), [name + '.pgm' for name in names])
        self.assertEqual(len([n for n in os.listdir(d.input)]), 30)

    def test_gone_before_its_turn_in_place(self):
        d = self.fake('--claim', 'none', '--jobs', '1').start()
        work = os.path.join(d.state, 'folders', os.listdir(os.path.join(d.state, 'folders'))[0], 'work')
        for i in range(6):
            d.drop('a%d' % i, b'slow')
        wait_for('it to begin', self.fake_log)
        d.drop('z', b'never')
        wait_for('its claim', lambda: any('z' in names for _, _, names in os.walk(work)))
        os.unlink(d.in_path('z'))
        d.expect_line('z: the claimed file is gone')
        d.expect_all('a%d.pgm' % i for i in range(6))
        d.stop()
        self.assertEqual((os.listdir(work), self.fake_log()), ([], ['slow'] * 6))

    def test_rewritten_while_it_is_done_in_place(self):
        d = self.fake('--claim', 'none', '--stable', '200ms').start()
        d.drop('a', b'slow first')
        wait_for('it to begin', self.fake_log)
        d.drop('a', b'slow second')
        wait_for('the second', lambda: os.path.exists(d.output + '/a.pgm') and d.result('a.pgm') == b'slow second')
        d.stop()
        self.assertEqual(d.results(), ['a.pgm'])

    # ---- syncs, modes, folders

    def test_syncs(self):
        for rule in ('each', 'batch', 'off'):
            d = self.fake('--sync', rule, '--jobs', '4', folder=os.path.join(self.dir, rule)).start()
            names = ['%02d' % i for i in range(40)]
            for name in names:
                d.drop(name + '.x', name.encode())
                d.drop(name + '.y', name.encode())  # both want the same name
            d.expect_all([n + end for n in names for end in ('.pgm', '-1.pgm')])
            wait_for('originals', lambda: len(d.done()) == 80)
            d.stop()
            d.expect_clean()
            self.assertEqual(len(d.results()), 80)

    def test_results_of_one_size_and_time(self):
        """They end together and want one name: each still gets its own."""
        for rule in ('each', 'batch', 'off'):
            d = self.fake('--sync', rule, '--jobs', '8', folder=os.path.join(self.dir, rule))
            for i in range(40):
                for kind in 'abc':
                    d.drop('%02d.%s' % (i, kind), b'tick %02d %s' % (i, kind.encode()))
            d.start()
            wait_for('originals', lambda: len(d.done()) == 120)
            d.stop()
            d.expect_clean()
            for i in range(40):
                self.assertEqual({d.result('%02d%s.pgm' % (i, n)) for n in ('', '-1', '-2')},
                                 {b'tick %02d %s' % (i, kind) for kind in (b'a', b'b', b'c')})

    def test_poll(self):
        d = self.fake('--mode', 'poll', '--stable', '100ms').start()
        d.expect_line('by reading it every 2s')
        d.drop('a', b'good')
        d.expect('a.pgm')
        d.stop()

    def test_recursive(self):
        d = self.by_config(('', 'recursive: true, stable: 100ms'))
        os.makedirs(d.in_path('sub/deep'))
        os.makedirs(d.in_path('.hidden'))
        os.symlink(self.dir, d.in_path('link'))
        os.mkfifo(d.in_path('sub/fifo'))
        d.drop('.hidden/no', b'good')
        d.start()
        for name in ('top', 'sub/one', 'sub/deep/two', 'sub/deep/truncated'):
            d.drop(name, b'truncated' if 'truncated' in name else b'good')
        d.expect_all(['top.pgm'])
        d.expect('sub/one.pgm')
        d.expect('sub/deep/two.pgm')
        d.expect_failed('sub/deep/truncated')
        d.expect_done('sub/deep/two')
        d.stop()
        d.expect_clean()
        self.assertEqual(len(self.fake_log()), 5)

    def test_recursive_and_killed(self):
        d = self.by_config(('', 'recursive: true, stable: 100ms'))
        os.makedirs(d.in_path('s/t'))
        names = ['s/%02d' % i for i in range(10)] + ['s/t/%02d' % i for i in range(10)]
        for name in names:
            d.drop(name, b'slow ' + name.encode())
        for _ in range(3):
            n = len(self.fake_log())
            d.start()
            wait_for('some', lambda n=n: len(self.fake_log()) > n + 2)
            d.kill()
        d.start()
        wait_for('all', lambda: all(os.path.exists(os.path.join(d.output, n + '.pgm')) for n in names))
        d.stop()
        found = [os.path.relpath(os.path.join(folder, n), d.output)
                 for folder, _, files in os.walk(d.output) for n in files]
        self.assertEqual(sorted(found), sorted(n + '.pgm' for n in names))
        d.expect_clean()

    def test_several_folders(self):
        d = self.by_config(('', ''), ('b', 'originals: delete, name: "{stem}-b.{ext}"'),
                           ('c', 'ignore: ["*.skip"]')).start()
        for folder in ('', 'b', 'c'):
            for name in ('x', 'y.tmp', 'z.skip'):
                with open(os.path.join(self.dir, folder + 'in', name), 'wb') as file:
                    file.write(b'good')
        for path in ('out/x.pgm', 'out/z.pgm', 'bout/x-b.pgm', 'bout/z-b.pgm', 'cout/x.pgm', 'cout/y.pgm'):
            wait_for(path, lambda p=path: os.path.exists(os.path.join(self.dir, p)))
        d.stop()
        self.assertEqual(sorted(os.listdir(os.path.join(self.dir, 'bin'))), ['.sluice', 'y.tmp'])
        self.assertEqual(sorted(os.listdir(os.path.join(self.dir, 'cin'))), ['.sluice', 'z.skip'])

    def test_a_busy_folder_leaves_room_for_others(self):
        d = self.by_config(('', ''), ('b', ''))
        d.options += ['--queue', '10', '--jobs', '1']
        for i in range(60):
            d.drop('%02d' % i, b'slow')
        d.start()
        with open(os.path.join(self.dir, 'bin', 'x'), 'wb') as file:
            file.write(b'good')
        wait_for('the other folder', lambda: os.path.exists(os.path.join(self.dir, 'bout', 'x.pgm')))
        self.assertLess(len(d.results()), 40)
        d.stop()

    # ---- retention and space

    def test_retention(self):
        d = self.by_config(('', 'done: {keep: 20KiB}, failed: {age: 1s}'))
        done, failed = os.path.join(d.hidden, 'done'), os.path.join(d.hidden, 'failed')
        os.makedirs(done)
        os.makedirs(failed)
        for i in range(10):
            with open(os.path.join(done, 'old-%d' % i), 'wb') as file:
                file.write(b'x' * 4096)
            time.sleep(0.02)
        for name in ('bad', 'bad.error.json', 'lone.error.json'):
            with open(os.path.join(failed, name), 'wb') as file:
                file.write(b'x')
        time.sleep(1.1)
        d.start()
        wait_for('the oldest to go', lambda: len(os.listdir(done)) <= 5)
        wait_for('the failed ones', lambda: not os.listdir(failed))
        self.assertEqual(sorted(os.listdir(done)), ['old-%d' % i for i in range(5, 10)])
        d.stop()

    def mount(self, path, size):
        os.makedirs(path, exist_ok=True)
        result = subprocess.run(['mount', '-t', 'tmpfs', '-o', 'size=%s' % size, 'tmpfs', path],
                                capture_output=True, text=True)
        if result.returncode != 0:
            self.skipTest('no file system can be mounted here: ' + result.stderr.strip())
        self.addCleanup(subprocess.run, ['umount', '-l', path], check=False)

    def test_full_disk(self):
        """Results that do not fit wait, and come by themselves when there is space."""
        self.mount(os.path.join(self.dir, 'out'), '1M')
        d = self.fake('--jobs', '2')
        filler = os.path.join(d.output, 'filler')
        with open(filler, 'wb') as file:
            file.write(b'x' * 900000)
        d.start()
        for i in range(4):
            d.drop('%d' % i, b'good' * 20000)
        d.expect_line('No space left on device|tried again')
        self.assertEqual(d.failed(), [])
        os.unlink(filler)
        d.expect_all(['%d.pgm' % i for i in range(4)])
        for i in range(4):
            self.assertEqual(d.result('%d.pgm' % i), b'good' * 20000)
        wait_for('originals', lambda: len(d.done()) == 4)
        d.stop()
        d.expect_clean()

    def test_min_free(self):
        self.mount(os.path.join(self.dir, 'out'), '1M')
        d = self.fake('--min-free', '400kB')
        filler = os.path.join(d.output, 'filler')
        d.start()
        d.drop('full', b'full')
        d.expect_line('tried again in 5s')
        waits = time.monotonic()
        with open(filler, 'wb') as file:
            file.write(b'x' * 700000)
        d.drop('a', b'good')
        d.expect_line('less space is free than min_free')
        time.sleep(0.5)
        self.assertIn('a', os.listdir(d.input))
        os.unlink(filler)
        d.expect('a.pgm', 20)
        d.expect_line('there is space again')
        d.expect('full.pgm')
        self.assertLess(time.monotonic() - waits, 4.9)  # it does not wait for its time
        d.stop()
        d.expect_clean()


class Reload(DaemonTest):
    def write(self, text):
        with open(os.path.join(self.dir, 'c.yaml'), 'w', encoding='utf-8') as file:
            file.write(text)

    def entry(self, name, keys='chain: sobel'):
        for kind in ('in', 'out'):
            os.makedirs(os.path.join(self.dir, name + kind), exist_ok=True)
        return '  - {input: %s, output: %s, format: pgm, %s}\n' % (
            os.path.join(self.dir, name + 'in'), os.path.join(self.dir, name + 'out'), keys)

    def begin(self, text, fake=True):
        self.write(text)
        d = self.fake() if fake else self.daemon()
        d.options = ['--config', os.path.join(self.dir, 'c.yaml'), '--device', 'reference', '--state', d.state,
                     '-v', '--jobs', '2']
        return d.start()

    def hup(self, d, text, answer):
        self.write(text)
        before = len(d.lines)
        d.process.send_signal(1)
        d.expect_line(answer, after=before)

    def test_wrong_ones_change_nothing(self):
        good = 'watch:\n' + self.entry('')
        d = self.begin(good, fake=False)
        worker = d.worker_pid()
        for text, says in (('watch: {}\n', r'c.yaml:1:8: watch: expected a sequence'),
                           (good + 'log: {level: loud}\n', 'level=loud'),
                           (good.replace('sobel', 'sobell'), "unknown stage 'sobell'")):
            before = len(d.lines)
            self.hup(d, text, 'the configuration that was in force stays')
            d.expect_line(says, after=before)
        d.drop('a.pgm', b'P5\n8 8\n255\n' + bytes(64))
        d.expect('a.pgm')
        self.assertEqual(d.worker_pid() and os.path.exists('/proc/%d' % worker), True)
        d.stop()

    def test_folders_come_and_go(self):
        d = self.begin('watch:\n' + self.entry(''))
        d.drop('slow', b'slow')
        self.hup(d, 'watch:\n' + self.entry('') + self.entry('b'), 'reloaded: 2 folders')
        with open(os.path.join(self.dir, 'bin', 'x'), 'wb') as file:
            file.write(b'good')
        wait_for('x', lambda: os.path.exists(os.path.join(self.dir, 'bout', 'x.pgm')))
        d.expect('slow.pgm')
        self.hup(d, 'watch:\n' + self.entry('b'), 'reloaded: 1 folders')
        d.drop('late', b'good')
        time.sleep(0.5)
        self.assertIn('late', os.listdir(d.input))
        self.hup(d, 'watch:\n' + self.entry('b') + self.entry('', 'chain: sobel, name: "n-{stem}.{ext}"'),
                 'reloaded: 2 folders')
        d.expect('n-late.pgm')
        d.stop()
        d.expect_clean()

    def test_status_goes_on(self):
        """Folders stand in the order of the file, and one whose chain changed keeps what is counted since the start."""
        a, b, c = (self.entry(name) for name in ('', 'b', 'c'))
        http = os.path.join(self.dir, 'http')
        listen = 'listen: {http: {unix: %s}}\n' % http
        d = self.begin(listen + 'watch:\n' + a + b)

        def folders():
            told = sockets.ask(http, 'GET', '/v1/status').json()
            return [{'input': os.path.relpath(f['input'], self.dir), **{k: f[k] for k in ('done', 'failed')},
                     'last': f['last_error'] and f['last_error']['name']} for f in told['folders']]

        d.drop('x', b'good')
        d.expect('x.pgm')
        d.drop('y', b'truncated')
        d.expect_failed('y')
        first, other = {'input': 'in', 'done': 1, 'failed': 1, 'last': 'y'}, {'done': 0, 'failed': 0, 'last': None}
        wait_for('both counted', lambda: folders()[0] == first)
        self.hup(d, listen + 'watch:\n' + c + self.entry('', 'chain: invert') + b, 'reloaded: 3 folders')
        self.assertEqual(folders(), [{'input': 'cin', **other}, first, {'input': 'bin', **other}])
        self.hup(d, listen + 'watch:\n' + b + self.entry('', 'chain: invert'), 'reloaded: 2 folders')
        self.assertEqual(folders(), [{'input': 'bin', **other}, first])
        d.stop()

    def test_new_chain_in_a_new_worker(self):
        d = self.begin('watch:\n' + self.entry(''), fake=False)
        old = d.worker_pid()
        picture = b'P5\n8 8\n255\n' + bytes(range(64))
        d.drop('a.pgm', picture)
        d.expect('a.pgm')
        self.hup(d, 'chains: {i: invert}\nwatch:\n' + self.entry('', 'chain: i'), 'reloaded: 1 folders')
        d.drop('b.pgm', picture)
        self.assertEqual(d.expect('b.pgm')[-64:], bytes(255 - i for i in range(64)))
        self.assertNotEqual(d.worker_pid(), old)
        wait_for('the old worker to end', lambda: not os.path.exists('/proc/%d' % old))
        d.stop()
        d.expect_clean()

    def test_kernels_of_the_file(self):
        """@name is what the file said when it was accepted; another kernel is another worker."""
        folder = 'watch:\n' + self.entry('', 'chain: "fir:k=@mine:divisor=1"')
        picture = b'P5\n8 8\n255\n' + bytes(range(64))
        d = self.begin('kernels: {mine: 0_0_0/0_1_0/0_0_0}\n' + folder, fake=False)
        d.drop('a.pgm', picture)
        self.assertEqual(d.expect('a.pgm')[-64:], bytes(range(64)))
        self.hup(d, 'kernels: {mine: 0_0_0/0_2_0/0_0_0}\n' + folder, 'reloaded: 1 folders')
        d.drop('b.pgm', picture)
        self.assertEqual(d.expect('b.pgm')[-64:], bytes(2 * i for i in range(64)))
        self.hup(d, 'kernels: {other: 0_0_0/0_2_0/0_0_0}\n' + folder, 'the configuration that was in force stays')
        d.drop('c.pgm', picture)
        self.assertEqual(d.expect('c.pgm')[-64:], bytes(2 * i for i in range(64)))
        d.stop()
        d.expect_clean()

    def test_another_sandbox_is_another_worker(self):
        d = self.begin('device: {sandbox: "off"}\nwatch:\n' + self.entry(''))
        d.expect_line('its sandbox')
        for i, word in enumerate(('required', 'auto')):
            self.hup(d, 'device: {sandbox: %s}\nwatch:\n' % word + self.entry(''), 'reloaded: 1 folders')
            self.assertEqual(len(self.setups()), 2 + i)
        d.stop()

    def test_called_off_and_once_more(self):
        """A second SIGHUP while the first one's worker cannot be started."""
        d = self.begin('watch:\n' + self.entry(''))
        self.plan_starts('crash', 'crash', 'crash')
        self.hup(d, 'watch:\n' + self.entry('', 'chain: invert'), 'SIGHUP: reading')
        d.process.send_signal(1)
        d.expect_line('the new worker does not accept it: the configuration that was in force stays')
        d.expect_line('reloaded: 1 folders')
        self.assertEqual(d.count_lines('SIGHUP: reading'), 2)
        d.drop('a', b'good')
        d.expect('a.pgm')
        d.stop()
        d.expect_clean()

    def test_under_load(self):
        """Each file once, by the old rule or the new one, whatever the moment of the reload."""
        d = self.begin('watch:\n' + self.entry(''))
        names = ['%03d' % i for i in range(200)]
        for i, name in enumerate(names):
            d.drop(name, name.encode())
            if i % 40 == 20:
                self.hup(d, 'watch:\n' + self.entry('', 'chain: sobel, name: "%d-{stem}.{ext}"' % i), 'reloaded')
        wait_for('all originals', lambda: d.done() == names)
        d.stop()
        self.assertEqual(sorted(name[-7:-4] for name in d.results()), names)
        self.assertEqual(sorted(self.fake_log()), names)
        d.expect_clean()


if __name__ == '__main__':
    main()
