#!/usr/bin/env python3
"""Configuration: what is refused and how that is said, which place wins, the example, the reference."""
import json
import os
import subprocess

import sockets
from sluice_test import HERE, SLUICE, SLUICED, DaemonTest, main, picture

ROOT = os.path.join(HERE, '..', '..')


class Check(DaemonTest):
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
        return [line[len(head):] for line in lines]

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
                self.assertTrue(lines[0].startswith("4:34: chain: unknown stage '%s'" % chain), lines)
                self.assertTrue(lines[0].endswith("; did you mean the chain '%s'?" % guess), lines)
            else:
                self.assertNotIn('did you mean the chain', ''.join(lines))
        self.check(head + '  - {input: a, output: b, chain: edges}\n', 0)
        self.assertNotIn('did you mean the chain', self.check('chains: {edges: sobel, more: egdes}\n')[0])

    def test_sockets(self):
        """The place of each error is that of the value that is wrong."""
        long = '/' + 107 * 'x'
        self.assertEqual(self.check('listen: {http: {mode: "0660", unix: run/a}, jobs:\n'
                                    '  {group: users, mode: "0680",\n'
                                    '   unix: %s}}\n' % long),
                         ["1:37: http: unix: 'run/a' is no absolute path",
                          "3:10: jobs: unix: a socket's path has at most 107 bytes",
                          '2:24: jobs: mode: \'0680\': expected octal digits such as "0660"'])
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
