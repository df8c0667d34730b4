#!/usr/bin/env python3
"""Configuration: what is refused and how that is said, which place wins, the example, the reference."""
import json
import os
import signal
import subprocess
import threading
import unittest

import sockets
from sluice_test import HERE, SLUICE, SLUICED, DaemonTest, main, picture

ROOT = os.path.join(HERE, '..', '..')


class CheckTest(DaemonTest):
    def check(self, text, status=78):
        """The complaints, without what stands before them."""
        path = os.path.join(self.dir, 'c.yaml')
        with open(path, 'w', encoding='utf-8') as file:
            file.write(text)
        result = subprocess.run([SLUICE, 'check-config', path], capture_output=True, text=True, timeout=60)
        self.assertEqual(result.returncode, status, result.stderr)
        head = 'sluice: %s:' % path
        lines = result.stderr.splitlines()
        self.marks = [line for line in lines if line.startswith('  ')]  # a chain, then carets
        lines = [line for line in lines if line not in self.marks]
        for line in lines:
            self.assertTrue(line.startswith(head), line)
        lines = [line[len(head):] for line in lines]
        self.warnings = [line for line in lines if ': warning: ' in line]
        return [line for line in lines if line not in self.warnings]

    def folder(self, *parts):
        path = os.path.join(self.dir, *parts)
        os.makedirs(path, exist_ok=True)
        return path


class Check(CheckTest):
    def test_good(self):
        self.assertEqual(self.check('version: 1\nchains: {e: "sobel"}\n'
                                    'watch:\n  - {input: a, output: b, chain: e}\n', 0), [])

    def test_all_errors_at_once_with_their_places(self):
        lines = self.check('version: 1\n'
                           'chains: {e: "luminence"}\n'
                           'limits:\n'
                           '  max_pixels: 100\n'
                           '  max_fiel: 1MiB\n'
                           'watch:\n'
                           '  - {input: a, output: a, chain: e}\n'
                           '  - {input: b, output: c, chain: e, stable: 5}\n'
                           'log: {level: loud}\n')
        for place, words in (('4:15:', 'max_pixels=100: expected a number of pixels such as 100MP'),
                             ('5:3:', "did you mean 'max_file'?"),
                             ('7:5:', 'input and output are one folder'),
                             ('8:45:', 'stable=5: expected a duration such as 5s'),
                             ('9:14:', 'level=loud'),
                             ('2:13:', "unknown stage 'luminence'; did you mean 'luminance'?")):
            self.assertTrue(any(line.startswith(place) and words in line for line in lines),
                            (place, words, lines))
        self.assertEqual(len(lines), 6, lines)

    def test_all_errors_of_a_chain(self):
        lines = self.check('chains: {e: "grey,sobel:scale=x,box"}\n')
        self.assertEqual([line.split(' ')[0] for line in lines], ['1:13:'] * 3)
        for line, says in zip(lines, ('luminance', 'scale=x', 'width=W')):
            self.assertIn(says, line)
        self.assertEqual(self.marks[::2], ['  grey,sobel:scale=x,box'] * 3)
        self.assertEqual(self.marks[1::2], ['  ^^^^', ' ' * 19 + '^', ' ' * 21 + '^^^'])

    def test_what_a_folder_with_errors_says_besides(self):
        lines = self.check('watch:\n'
                           '  - {input: a, orginals: keep,\n'
                           '     chain: "sobell",\n'
                           '     format: jpgg}\n'
                           '  - {chain: sobel, output: b,\n'
                           '     read: partial=2}\n')
        for place, words in (('2:16:', "did you mean 'originals'?"), ('2:5:', 'output is missing'),
                             ('3:13:', "did you mean 'sobel'?"), ('4:14:', "did you mean 'jpg'?"),
                             ('5:5:', 'input is missing'), ('6:12:', 'partial')):
            self.assertTrue(any(line.startswith(place) and words in line for line in lines), (place, words, lines))
        self.assertEqual(len(lines), 6, lines)

    def test_nearly_the_name_of_a_chain(self):
        head = 'version: 1\nchains: {edges: "sobel", outlines: "sobel,invert"}\nwatch:\n'
        for chain, guess in (('egdes', 'edges'), ('outline', 'outlines'), ('quite-different', None), ('edgse,invert', None),
                             ('edges:1', None), ('fir', None)):
            lines = self.check(head + '  - {input: a, output: b, chain: "%s"}\n' % chain)
            if guess:
                self.assertEqual(len(lines), 1, lines)
                self.assertEqual(lines[0], "4:34: chain: '%s' is no stage and no chain; did you mean '%s'?" % (chain, guess))
            else:
                self.assertNotIn('no stage and no chain', ''.join(lines))
        self.check(head + '  - {input: a, output: b, chain: edges}\n', 0)
        self.assertNotIn('no stage and no chain', self.check('chains: {edges: sobel, more: egdes}\n')[0])

    def test_sockets(self):
        """The place of each error is that of the value that is wrong."""
        long = '/' + 107 * 'x'
        self.assertEqual(self.check('listen: {http: {mode: "0660", unix: run/a}, jobs:\n'
                                    '  {group: users, mode: "0680",\n'
                                    '   unix: %s}}\n' % long),
                         ["1:37: http: unix: 'run/a' is no absolute path",
                          "3:10: jobs: unix: a socket's path has at most 107 bytes",
                          '2:24: jobs: mode: \'0680\': expected octal digits such as "0660"'])
        self.assertEqual(self.check('listen:\n  http: {unix: /run/a, chains: some}\n'), ["2:32: http: chains: 'some': expected any or configured"])
        self.assertEqual(self.check('listen:\n  http: {mode: "0660"}\n'), ['2:9: http: unix is missing'])
        self.assertEqual(self.check('listen: {http: {unix: /run/a, mode: "660"}, jobs: {unix: %s}}\n' % long[:-1], 0),
                         [])

    def test_what_yaml_may_not(self):
        for text, words in (('version: 1\nversion: 1\n', "2:1: the configuration: 'version' is there twice"),
                            ('a: &x {}\nb: *x\n', 'anchors and aliases'),
                            ('log: !!str {level: info}\n', 'tags have no place'),
                            ('log: {level: info}\n---\nlog: {}\n', 'a second document'),
                            ('log: [level\n', ''),
                            ('version: 2\n', "version: '2'")):
            lines = self.check(text)
            self.assertTrue(any(words in line for line in lines), (text, lines))

    def test_units(self):
        for key, bare in (('max_file', '1000'), ('memory', '1e9'), ('job_time', '60'), ('min_free', '5')):
            self.assertRegex(self.check('limits: {%s: %s}\n' % (key, bare))[0], '%s.*expected' % key)
        self.check('limits: {max_file: 1GB, job_time: 200ms, min_free: 2.5%, jobs: 3, max_pixels: 0.5MP}\n', 0)

    def test_folder_rules(self):
        for rule, words in (('on_exists: maybe', 'number, overwrite, fail'),
                            ('originals: burn', 'done, delete, keep'),
                            ('name: "{stem}"', 'does not end with .{ext}'),
                            ('name: "a/{stem}.{ext}"', "no '/'"),
                            ('name: "{what}.{ext}"', 'there are {stem} {ext} {name} {chain} {date}'),
                            ('recursive: maybe', 'expected true or false'),
                            ('done: {keep: 5}', 'keep=5'),
                            ('ignore: "*.tmp"', 'expected a sequence'),
                            ('format: pgn', "unknown output format 'pgn'"),
                            ('read: partial=2', 'partial')):
            lines = self.check('watch: [{input: a, output: b, chain: "sobel", %s}]\n' % rule)
            self.assertEqual(len(lines), 1, lines)
            self.assertIn(words, lines[0])
        self.assertIn('output is missing', self.check('watch: [{input: a, chain: sobel}]\n')[0])
        self.assertIn('watched twice', self.check('watch: [{input: a, output: b, chain: sobel}, '
                                                  '{input: a, output: c, chain: sobel}]\n')[0])

    def test_folders_are_looked_at(self):
        """What keeps a start from coming to anything may be mended by then: warnings."""
        good, file = self.folder('good'), os.path.join(self.dir, 'file')
        with open(file, 'w', encoding='ascii'):
            pass
        self.assertEqual(self.check('watch:\n  - {input: %s, output: %s, chain: sobel}\n'
                                    % (good, self.folder('out')), 0), [])
        self.assertEqual(self.warnings, [])
        self.assertEqual(self.check('watch:\n  - {input: %s/none, output: %s, chain: sobel}\n' % (good, file), 0), [])
        self.assertEqual(self.warnings, [
            '2:13: warning: watch: input: %s/none: no such folder; sluiced waits until that is mended' % good,
            '2:%d: warning: watch: output: %s: not a folder; sluiced waits until that is mended'
            % (len('  - {input: /none, output: ') + len(good) + 1, file)])
        path = os.path.join(self.dir, 'c.yaml')
        told = json.loads(subprocess.run([SLUICE, 'check-config', '--json', path], capture_output=True, check=True).stdout)
        hooks = 'on_done: /bin/sh -c x, on_failed: %s -v' % file
        self.assertEqual(self.check('watch:\n  - {input: %s, output: %s/out, chain: sobel, %s}\n' % (good, self.dir, hooks), 0), [])
        self.assertEqual(self.warnings, ['2:5: warning: watch: on_failed: %s: may not be executed by this user' % file])
        self.assertEqual((told['good'], told['errors'], [w['line'] for w in told['warnings']]), (True, [], [2, 2]))
        self.assertEqual(told['warnings'][0]['text'],
                         'watch: input: %s/none: no such folder; sluiced waits until that is mended' % good)

    @unittest.skipIf(os.geteuid() == 0, 'root may write anywhere')
    def test_folders_that_may_not_be_written_to(self):
        locked, out = self.folder('locked'), self.folder('out')
        os.chmod(locked, 0o500)
        text = 'watch:\n  - {input: %s, output: %s, chain: sobel%s}\n'
        self.check(text % (locked, out, ''), 0)
        self.assertIn('input: %s: may not be written to by this user' % locked, self.warnings[0])
        self.check(text % (locked, out, ', claim: none'), 0)
        self.assertEqual(self.warnings, [])
        self.check(text % (out, locked, ''), 0)
        self.assertIn('output: %s: may not be written to by this user' % locked, self.warnings[0])

    def test_chains_named_like_a_stage(self):
        self.assertEqual(self.check('chains:\n  edges: sobel\n  sobel: "luminance,sobel"\n  dw: sobel\n'),
                         ["3:10: chains: 'sobel' is the name of a stage, so 'chain: sobel' could mean either: "
                          'give the chain another name'])

    def test_json(self):
        path = os.path.join(self.dir, 'j.yaml')
        for text, status, errors in (
                ('chains: {e: "sobel"}\nwatch: [{input: a, output: b, chain: e}]\n', 0, []),
                ('chains:\n  e: "sobell"\nlimtis: {}\n', 78, [(3, 1, "'limtis'"), (2, 6, "'sobell'")])):
            with open(path, 'w', encoding='utf-8') as file:
                file.write(text)
            result = subprocess.run([SLUICE, 'check-config', '--json', path], capture_output=True, text=True, timeout=60)
            self.assertEqual(result.returncode, status, result.stderr)
            told = json.loads(result.stdout)
            self.assertEqual((told['file'], told['good'], told['chains'], told['watched_folders']),
                             (path, not errors, 1, len(errors) == 0))
            self.assertEqual(sorted((e['line'], e['column']) for e in told['errors']), sorted(e[:2] for e in errors))
            for line, _, word in errors:
                self.assertIn(word, next(e['text'] for e in told['errors'] if e['line'] == line))

    def test_example_and_reference(self):
        example = os.path.join(ROOT, 'config', 'sluice.yaml')
        subprocess.run([SLUICE, 'check-config', '-q', example], check=True)
        printed = subprocess.run([SLUICE, 'check-config', '--reference'], capture_output=True, text=True,
                                 check=True).stdout
        with open(os.path.join(ROOT, 'docs', 'configuration.md'), encoding='utf-8') as file:
            page = file.read()
        self.assertEqual(page.split('<!-- from here: sluice check-config --reference -->\n')[1], printed)
        with open(example, encoding='utf-8') as file:
            text = file.read()
        for line in printed.splitlines():
            if line.startswith('| `') and line.split('`')[1] != 'state':
                self.assertIn(line.split('`')[1] + ':', text)


class Loops(CheckTest):
    """Results that would be taken for new pictures: by check-config, at a start, and by a reload."""

    def watch(self, *folders):
        """Each: input, output, and what else."""
        return 'watch:\n' + ''.join(
            '  - {input: %s, output: %s, chain: sobel, format: pgm%s}\n'
            % (os.path.join(self.dir, i), os.path.join(self.dir, o), ''.join(', ' + m for m in more))
            for i, o, *more in folders)

    def expect(self, words, *folders):
        """Refused with these words, with the place of the first folder of the circle; None: allowed."""
        lines = self.check(self.watch(*folders), 78 if words else 0)
        self.assertEqual(len(lines), 1 if words else 0, lines)
        if words:
            self.assertRegex(lines[0], r'^\d+:5: watch: results would be taken for new pictures')
            self.assertIn(words, lines[0])
        path = os.path.join(self.dir, 'c.yaml')
        env = dict(os.environ, SLUICE_WORKER='/bin/false')
        started = subprocess.run([SLUICED, '--config', path, '--device', 'reference', '--state', self.folder('state')],
                                 capture_output=True, text=True, timeout=120, env=env)
        if words:
            self.assertEqual((started.returncode, started.stderr), (78, 'sluiced: %s:%s\n' % (path, lines[0])))
        else:
            self.assertNotEqual(started.returncode, 78, started.stderr)

    def test_direct(self):
        self.folder('a')
        self.expect('input and output are one folder', ('a', 'a'))
        self.expect('input and output are one folder', ('a', 'a/../a'))

    def test_through_links(self):
        self.folder('a', 'sub')
        os.symlink('a', os.path.join(self.dir, 'link'))
        os.symlink('link/sub', os.path.join(self.dir, 'deep'))
        self.expect('input and output are one folder', ('a', 'link'))
        self.expect('input and output are one folder', ('link', 'a'))
        self.expect('is below input', ('link', 'deep', 'recursive: true'))
        self.expect('round a circle', ('a', 'deep'), ('a/sub', 'link'))
        self.expect(None, ('a', 'deep'))

    def test_below_a_recursive_input(self):
        self.folder('a', 'out', 'deep')
        self.folder('ab')
        self.folder('a', '.hidden')
        self.expect('is below input', ('a', 'a/out', 'recursive: true'))
        self.expect('is below input', ('a', 'a/out/deep', 'recursive: true'))
        self.expect(None, ('a', 'a/out'))
        self.expect(None, ('a', 'ab', 'recursive: true'))
        self.expect(None, ('a', 'a/.hidden', 'recursive: true'))
        self.expect(None, ('a', 'a/out/deep', 'recursive: true', 'ignore: ["ou?"]'))
        self.expect(None, ('a/out', 'a', 'recursive: true'))

    def test_circles(self):
        for name in 'abcdefgh':
            self.folder(name)
        self.expect('round a circle of folders: from %s to %s, from %s to %s'
                    % tuple(os.path.join(self.dir, name) for name in 'abba'), ('a', 'b'), ('b', 'a'))
        self.expect('round a circle', ('a', 'b'), ('c', 'a'), ('b', 'c'))
        self.expect('round a circle', *zip('abcdefgh', 'bcdefgha'))
        self.expect('round a circle', ('a', 'b', 'recursive: true'), ('b', 'a/deep/down'))
        self.expect(None, ('a', 'b'), ('b', 'c'))
        self.expect(None, ('a', 'c'), ('b', 'c'), ('c', 'd'))
        self.expect(None, ('a', 'b'), ('b', 'a/deep/down'))

    def test_folders_that_are_not_there_yet(self):
        self.folder('a')
        os.symlink('a', os.path.join(self.dir, 'link'))
        self.expect('is below input', ('a', 'link/none/of/these', 'recursive: true'))
        self.expect('input and output are one folder', ('a/none', 'link/x/../none'))

    def test_watched_twice(self):
        self.folder('a')
        os.symlink('a', os.path.join(self.dir, 'link'))
        lines = self.check(self.watch(('a', 'b'), ('link', 'c'), ('a', 'd')))
        self.assertEqual(lines, ['3:5: watch: %s/link is watched twice: %s/a leads there, too' % (self.dir, self.dir),
                                 '4:5: watch: %s/a is watched twice' % self.dir])

    def test_through_mounts(self):
        """A folder that is mounted in a second place, whole or in part, and one mounted below an input."""
        script = ('mount --bind "$1/a" "$1/m" && mount --bind "$1/a/sub" "$1/n" && mount --bind "$1/o" "$1/a/p" && '
                  'shift && exec "$@"')
        for name in ('a/sub', 'a/p', 'm', 'n', 'o'):
            self.folder(*name.split('/'))
        mounted = ['unshare', '-rm', 'sh', '-c', script, 'sh', self.dir]
        if subprocess.run([*mounted, 'true'], capture_output=True, check=False).returncode:
            self.skipTest('no mounts in a user namespace here')
        path = os.path.join(self.dir, 'c.yaml')
        for words, folders in (('input and output are one folder', [('a', 'm')]),
                               ('round a circle', [('a', 'n'), ('a/sub', 'm')]),
                               ('is below input', [('a', 'n', 'recursive: true')]),
                               ('is below input', [('a', 'o', 'recursive: true')]),
                               ('watched twice', [('a/sub', 'x'), ('n', 'y')]),
                               (None, [('a', 'n')]), (None, [('a', 'o')]), (None, [('n', 'm', 'recursive: true')])):
            with open(path, 'w', encoding='utf-8') as file:
                file.write(self.watch(*folders))
            done = subprocess.run([*mounted, SLUICE, 'check-config', path], capture_output=True, text=True, check=False,
                                  timeout=60)
            self.assertEqual(done.returncode, 78 if words else 0, (folders, done.stderr))
            if words:
                self.assertIn(words, done.stderr)

    def test_on_the_command_line(self):
        self.folder('a')
        os.symlink('a', os.path.join(self.dir, 'link'))
        for output in ('a', 'link'):
            done = subprocess.run([SLUICED, '-w', 'a', '-o', output, '-c', 'sobel'], capture_output=True, text=True,
                                  cwd=self.dir, check=False, timeout=60)
            self.assertEqual((done.returncode, done.stderr),
                             (78, 'sluiced: results would be taken for new pictures: input and output are one folder '
                                  '(%s/a, %s/%s)\n' % (self.dir, self.dir, output)))

    def test_reload(self):
        for name in 'abc':
            self.folder(name)
        path = os.path.join(self.dir, 'c.yaml')
        d = self.fake()
        d.options = ['--config', path, '--state', d.state]
        d.input, d.output = self.folder('a'), self.folder('b')
        with open(path, 'w', encoding='utf-8') as file:
            file.write(self.watch(('a', 'b')))
        d.start()
        os.symlink('a', os.path.join(self.dir, 'link'))
        for words, folders in ((', round a circle', [('a', 'b'), ('b', 'c'), ('c', 'a')]),
                               (': input and output are one folder', [('a', 'a')]),
                               (': input and output are one folder', [('a', 'link')]),
                               (': output .* is below input', [('link', 'a/sub', 'recursive: true')])):
            with open(path, 'w', encoding='utf-8') as file:
                file.write(self.watch(*folders))
            checked = subprocess.run([SLUICE, 'check-config', path], capture_output=True, check=False, timeout=60)
            self.assertEqual(checked.returncode, 78, folders)  # what `systemctl reload` ends with
            before = len(d.lines)
            d.process.send_signal(signal.SIGHUP)
            d.expect_line('c.yaml:2:5: watch: results would be taken for new pictures' + words, after=before)
            d.expect_line('the configuration that was in force stays', after=before)
        d.drop('x', b'good')
        self.assertEqual(d.expect('x.pgm'), b'good')
        with open(path, 'w', encoding='utf-8') as file:
            file.write(self.watch(('a', 'b'), ('b', 'c')))
        d.process.send_signal(signal.SIGHUP)
        d.expect_line('reloaded: 2 folders')
        d.stop()


class Pictures(CheckTest):
    """Second pictures: wrong ones are told with their place, and one that changes counts from a reload on."""

    def put(self, name, data):
        path = os.path.join(self.dir, name)
        with open(path + '.new', 'wb') as file:
            file.write(data)
        os.rename(path + '.new', path)

    def test_wrong_ones(self):
        self.put('good.pgm', picture())
        self.put('half.pgm', picture()[:-50])
        self.put('text.pgm', b'no picture at all')
        self.put('empty.pgm', b'')
        lines = self.check('pictures:\n  a: gone.pgm\n  b: empty.pgm\n  c: .\n  d: [1]\n')
        self.assertEqual([line.split(' ')[0] for line in lines], ['2:6:', '3:6:', '4:6:', '5:6:'], lines)
        for line, says in zip(lines, ('gone.pgm: No such file', 'empty.pgm: the file is empty', 'no regular file', 'pictures')):
            self.assertIn(says, line)
        lines = self.check('pictures:\n  a: half.pgm\n  b: text.pgm\n  c: good.pgm\nchains:\n  x: subtract:@c\n  y: subtract:@e\n')
        self.assertEqual([line.split(' ')[0] for line in lines], ['2:6:', '3:6:', '7:6:'], lines)
        for line, says in zip(lines, ("picture 'a': ", "picture 'b': ", "no picture 'e' is defined")):
            self.assertIn(says, line)
        lines = self.check('limits: {max_pixels: 1MP}\npictures: {%s}\n' % ', '.join('p%d: good.pgm' % i for i in range(17)))
        self.assertEqual(len(lines), 1)
        self.assertIn('more than 16', lines[0])

    def darker(self, data, dark):
        """What subtract makes of two pictures as picture() gives them."""
        head = len(data) - 40 * 30
        return data[:head] + bytes(max(a - b, 0) for a, b in zip(data[head:], dark[head:]))

    def test_a_picture_that_changes(self):
        first, second = picture(seed=1), picture(seed=2)
        self.put('dark.pgm', first)
        d = self.daemon('--config', os.path.join(self.dir, 'c.yaml'), '--jobs-socket', os.path.join(self.dir, 'jobs'),
                        '--http-socket', os.path.join(self.dir, 'http'), chain='subtract:@dark')
        self.put('c.yaml', b'pictures: {dark: dark.pgm}\n')
        d.start()
        d.drop('a.pgm', picture(seed=5))
        self.assertEqual(d.expect('a.pgm'), self.darker(picture(seed=5), first))
        os.unlink(os.path.join(self.dir, 'dark.pgm'))  # workers have what was read, also new ones
        os.kill(d.worker_pid(), signal.SIGKILL)
        d.drop('b.pgm', picture(seed=6))
        self.assertEqual(d.expect('b.pgm'), self.darker(picture(seed=6), first))
        for data, says in ((None, 'No such file'), (second[:-7], "c.yaml:1:18: picture 'dark': ")):
            if data:
                self.put('dark.pgm', data)
            before = len(d.lines)
            d.process.send_signal(signal.SIGHUP)
            d.expect_line(says, after=before)
            d.expect_line('the configuration that was in force stays', after=before)
        d.drop('c.pgm', picture(seed=7))
        self.assertEqual(d.expect('c.pgm'), self.darker(picture(seed=7), first))
        self.put('dark.pgm', second)
        before, answers = len(d.lines), []

        def ask(seed):
            answer = sockets.ask(os.path.join(self.dir, 'http'), 'POST', '/v1/process?chain=subtract:@dark&format=pgm', picture(seed=seed))
            answers.append((seed, answer.status, answer.body))
        threads = [threading.Thread(target=ask, args=(seed,)) for seed in range(20, 32)]
        for i, thread in enumerate(threads):  # while others come, in the folder and over HTTP
            d.drop('r%d.pgm' % i, picture(seed=i))
            thread.start()
            if i == 5:
                d.process.send_signal(signal.SIGHUP)
        for thread in threads:
            thread.join()
        d.expect_line('reloaded', after=before)
        for seed, status, body in answers:
            self.assertEqual(status, 200, body)
            self.assertIn(body, [self.darker(picture(seed=seed), dark) for dark in (first, second)])
        for i in range(len(threads)):
            self.assertIn(d.expect('r%d.pgm' % i), [self.darker(picture(seed=i), dark) for dark in (first, second)])
        d.drop('d.pgm', picture(seed=8))
        self.assertEqual(d.expect('d.pgm'), self.darker(picture(seed=8), second))
        answers.clear()
        ask(40)
        self.assertEqual(answers, [(40, 200, self.darker(picture(seed=40), second))])
        path = os.path.join(self.dir, 'e.pgm')
        self.put('e.pgm', picture(seed=9))
        done = subprocess.run([SLUICE, 'submit', '--socket', os.path.join(self.dir, 'jobs'), '-c', 'subtract:@dark', '-o',
                               path + '.out', '-f', 'pgm', path], capture_output=True, text=True, check=False, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (0, ''))
        with open(path + '.out', 'rb') as file:
            self.assertEqual(file.read(), self.darker(picture(seed=9), second))
        d.drop('wide.pgm', picture(width=41))
        says = "subtract: picture 'dark' is 40×30, and this one 41×30"
        self.assertIn(says, str(d.expect_failed('wide.pgm')))
        answer = sockets.ask(os.path.join(self.dir, 'http'), 'POST', '/v1/process?chain=subtract:@dark', picture(width=41))
        self.assertEqual((answer.status, answer.json()['code']), (422, 'shape'))
        self.assertIn(says, answer.json()['detail'])
        d.stop()


class Environment(DaemonTest):
    """Keys of folders as variables."""

    def refuse(self, *lines, status=78, options=(), **env):
        done = subprocess.run([SLUICED, *options], capture_output=True, text=True, cwd=self.dir, check=False, timeout=60,
                              env=dict(os.environ, **env))
        self.assertEqual((done.returncode, done.stderr.splitlines()),
                         (status, ['sluiced: ' + line for line in lines]))

    def test_misspelt(self):
        self.refuse('SLUICE_WATCH_CHIAN: there is no such setting; did you mean SLUICE_WATCH_CHAIN?',
                    SLUICE_WATCH_CHIAN='sobel', SLUICE_WATCH_INPUT='a', SLUICE_WATCH_OUTPUT='b')
        self.refuse('SLUICE_WATCH_0_FORMT: there is no such setting; did you mean SLUICE_WATCH_0_FORMAT?',
                    SLUICE_WATCH_0_FORMT='png')
        done = subprocess.run([SLUICED], capture_output=True, text=True, check=False, timeout=60,
                              env=dict(os.environ, SLUICE_WATCH='in'))
        self.assertEqual(done.returncode, 78)
        self.assertIn('SLUICE_WATCH: there is no such setting', done.stderr)

    def test_wrong_values(self):
        whole = {'SLUICE_WATCH_INPUT': 'a', 'SLUICE_WATCH_OUTPUT': 'b', 'SLUICE_WATCH_CHAIN': 'sobel'}
        for name, value, words in (('STABLE', '5', 'stable=5: expected a duration'), ('NAME', 'x', "name: 'x' does not end"),
                                   ('ON_EXISTS', 'maybe', 'on_exists=maybe: expected .*overwrite'),
                                   ('DONE', 'keep=5', 'keep=5: expected a size'), ('RECURSIVE', 'maybe', "'maybe': expected true or false"),
                                   ('FAILED', 'keep=1GiB:aeg=7d', "'aeg=7d': expected keep=SIZE or age=TIME")):
            done = subprocess.run([SLUICED], capture_output=True, text=True, check=False, timeout=60,
                                  env=dict(os.environ, **whole, **{'SLUICE_WATCH_' + name: value}))
            self.assertEqual(done.returncode, 78, done.stderr)
            self.assertRegex(done.stderr, '^sluiced: SLUICE_WATCH_%s: .*%s' % (name, words))

    def test_numbers(self):
        self.refuse('SLUICE_WATCH_7_INPUT: there is no folder 7; the next one is number 0', SLUICE_WATCH_7_INPUT='x')
        both = {'SLUICE_WATCH_%d_%s' % (i, key): '%s%d' % (key, i) for i in (0, 1) for key in ('INPUT', 'OUTPUT')}
        self.refuse('SLUICE_WATCH_STABLE: there are 2 folders: name one by its number, as in SLUICE_WATCH_0_STABLE',
                    SLUICE_WATCH_STABLE='1s', **both)
        self.refuse('what is to be done? --chain CHAIN is missing, or SLUICE_WATCH_1_CHAIN (see sluiced --help)',
                    status=64, SLUICE_WATCH_0_CHAIN='sobel', **both)

    def test_two_folders_without_a_file(self):
        env = {'SLUICE_STATE': os.path.join(self.dir, 'state'), 'SLUICE_DEVICE': 'reference'}
        for i, form in ((0, 'pgm'), (1, 'npy')):
            for key, name in (('INPUT', 'in%d'), ('OUTPUT', 'out%d')):
                env['SLUICE_WATCH_%d_%s' % (i, key)] = os.path.join(self.dir, name % i)
                os.mkdir(os.path.join(self.dir, name % i))
            env.update({'SLUICE_WATCH_%d_CHAIN' % i: 'sobel', 'SLUICE_WATCH_%d_FORMAT' % i: form})
        d = self.daemon(env=env)
        d.options = []
        d.start()
        for i, result in ((0, 'a.pgm'), (1, 'a.npy')):
            with open(os.path.join(self.dir, 'in%d' % i, 'a.pgm'), 'wb') as file:
                file.write(picture())
            d.output = os.path.join(self.dir, 'out%d' % i)
            d.expect(result)
        d.stop()

    def start_config(self, text, *options, **env):
        path = os.path.join(self.dir, 'c.yaml')
        with open(path, 'w', encoding='utf-8') as file:
            file.write(text)
        d = self.fake(env=env)
        d.options = ['--config', path, '--state', d.state, *options]
        return d.start()

    def test_between_file_and_command_line(self):
        """Over the file's; under the command line's, whose folder takes keys without a number."""
        text = ('watch: [{input: %s/in, output: %s/out, chain: sobel, format: png, ignore: ["*.skip"], done: {keep: 0B}}]\n'
                % (self.dir, self.dir))
        d = self.start_config(text, SLUICE_WATCH_FORMAT='pgm', SLUICE_WATCH_0_IGNORE='*.no,*.never', SLUICE_WATCH_DONE='')
        d.expect_line("chain 'sobel', results as pgm in")
        d.drop('b.no', b'good')
        d.drop('c.never', b'good')
        d.drop('d.skip', b'good')
        self.assertEqual(d.expect('d.pgm'), b'good')
        d.stop()
        self.assertEqual(d.results(), ['d.pgm'])
        d = self.start_config(text, '--watch', d.input, '--output', d.output, '--chain', 'invert', '--format', 'npy',
                              SLUICE_WATCH_FORMAT='pgm', SLUICE_WATCH_0_CHAIN='sobel', SLUICE_WATCH_ON_EXISTS='fail')
        d.expect_line("chain 'invert', results as npy in")
        with open(os.path.join(d.output, 'e.npy'), 'wb'):
            pass
        d.drop('e', b'good')
        self.assertEqual(d.expect_failed('e')['code'], 'exists')
        d.stop()

    def test_whose_the_error_is(self):
        """A chain of the environment is not told as one of the file."""
        path = os.path.join(self.dir, 'c.yaml')
        d = self.daemon(env={'SLUICE_WATCH_CHAIN': 'sobell'})
        with open(path, 'w', encoding='utf-8') as file:
            file.write('watch: [{input: %s, output: %s, chain: sobel}]\n' % (d.input, d.output))
        d.options = ['--config', path, '--state', d.state]
        log = d.start(ready=False).wait(78)
        self.assertIn("sluiced: chain: unknown stage 'sobell'", log)


class Precedence(DaemonTest):
    def start_with(self, text, *options, **env):
        path = os.path.join(self.dir, 'c.yaml')
        with open(path, 'w', encoding='utf-8') as file:
            file.write(text)
        d = self.daemon(env=env)
        d.options = ['--config', path, '--device', 'reference', '--state', d.state, *options]
        return d

    def config(self, limits):
        return ('limits: {%s}\nchains: {mine: sobel}\n'
                'watch: [{input: %s, output: %s, chain: mine, format: pgm}]\n'
                % (limits, os.path.join(self.dir, 'in'), os.path.join(self.dir, 'out')))

    def test_later_places_win(self):
        big = picture(100, 100)
        for limits, env, options, good in (('max_pixels: 1MP', {}, (), True),
                                           ('max_pixels: 1kP', {}, (), False),
                                           ('max_pixels: 1kP', {'SLUICE_LIMITS_MAX_PIXELS': '1MP'}, (), True),
                                           ('max_pixels: 1MP', {'SLUICE_LIMITS_MAX_PIXELS': '1kP'}, (), False),
                                           ('max_pixels: 1MP', {'SLUICE_LIMITS_MAX_PIXELS': '1kP'},
                                            ('--max-pixels', '1MP'), True)):
            d = self.start_with(self.config(limits), *options, **env).start()
            name = 'a%d.pgm' % len(os.listdir(self.dir + '/in/.sluice/done') +
                                   os.listdir(self.dir + '/in/.sluice/failed'))
            d.drop(name, big)
            if good:
                d.expect(name)
            else:
                self.assertEqual(d.expect_failed(name)['code'], 'limit')
            d.stop()

    def test_sockets_alone(self):
        """No folder and no chain: clients bring their own."""
        socket = os.path.join(self.dir, 'h')
        d = self.start_with('listen: {http: {unix: %s}}\n' % socket).start()
        answer = sockets.ask(socket, 'POST', '/v1/process?chain=sobel&format=pgm', picture(40, 30))
        self.assertEqual((answer.status, answer.body), (200, self.by_sluice_run(picture(40, 30))['']))
        d.stop()
        d = self.start_with('log: {level: info}\n').start(ready=False)
        self.assertIn('neither a folder to watch nor a socket', d.wait(78))

    def test_refused_at_start(self):
        d = self.start_with('watch: [{input: x}]\nlog: {level: loud}\n')
        d.start(ready=False)
        log = d.wait(78)
        self.assertIn('c.yaml:1:9: watch: output is missing', log)
        self.assertIn('c.yaml:2:14: log: level=loud', log)
        d = self.start_with(self.config('').replace('sobel', 'sobell')).start(ready=False)
        self.assertRegex(d.wait(78), r"c.yaml:3:\d+: chain: unknown stage 'sobell'")
        d = self.start_with(self.config(''), SLUICE_LIMITS_MAX_PIXLES='1MP').start(ready=False)
        self.assertIn('did you mean SLUICE_LIMITS_MAX_PIXELS?', d.wait(78))
        d = self.start_with(self.config(''), SLUICE_LIMITS_MEMORY='12').start(ready=False)
        self.assertIn('SLUICE_LIMITS_MEMORY', d.wait(78))
        result = subprocess.run([SLUICED, '--config', '/nowhere.yaml'], capture_output=True, text=True,
                                timeout=60)
        self.assertEqual(result.returncode, 66)
        self.assertIn('/nowhere.yaml', result.stderr)


if __name__ == '__main__':
    main()
