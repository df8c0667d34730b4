#!/usr/bin/env python3
"""`sluice run` on many pictures: folders, names, what is there already, progress, signals.
Usage: test_batch.py SLUICE [unittest options]"""
import json
import os
import pty
import re
import resource
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..'))
import pictures  # noqa: E402
from built import needs_opencl  # noqa: E402

SLUICE = os.path.abspath(sys.argv.pop(1))
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # nohup, which may have started this, ignores it for its children


class Batch(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix='sluice-batch-')
        self.addCleanup(shutil.rmtree, self.dir)

    def path(self, name):
        return os.path.join(self.dir, name)

    def write(self, name, data):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), 'wb') as file:
            file.write(data)
        return name

    def read(self, name):
        with open(self.path(name), 'rb') as file:
            return file.read()

    def grey(self, *names, width=8, height=6):
        """Pictures that differ from each other, by their names' sum."""
        for name in names:
            self.write(name, pictures.pnm(width, height, pictures.noise(width, height, seed=sum(name.encode()))))
        return names[0] if len(names) == 1 else list(names)

    def sluice(self, *args, status=0, stdin=b'', **env):
        done = subprocess.run([SLUICE, *args], input=stdin, capture_output=True, cwd=self.dir,
                              env=dict(os.environ, **env), timeout=300)
        err = pictures.without_drivers(done.stderr.decode(errors='replace'))
        self.assertEqual(done.returncode, status, '%s\n%s' % (args, err))
        return done.stdout.decode(), err

    def run_(self, *args, **kwargs):
        return self.sluice('run', *args, **kwargs)

    def tree(self, root):
        """All files below, as paths from there."""
        return sorted(os.path.relpath(os.path.join(at, name), self.path(root))
                      for at, _, names in os.walk(self.path(root)) for name in names)

    def summary(self, err):
        line = err.splitlines()[-1]
        self.assertRegex(line, r'^sluice: \d+ files?: \d+ done')
        return line


class Folders(Batch):
    def test_pictures_of_a_folder(self):
        self.grey('in/a.pgm', 'in/b.pgm', 'in/sub/c.pgm')
        _, err = self.run_('-o', 'out', 'in')
        self.assertEqual(self.tree('out'), ['a.png', 'b.png'])
        self.assertIn('sluice: made the directory out\n', err)
        self.assertIn('1 directory below left out (-r takes it)', self.summary(err))

    def test_all_below_keep_their_places(self):
        self.grey('in/a.pgm', 'in/sub/a.pgm', 'in/sub/deeper/c.pgm')
        for operand in ('in', 'in/', './in//'):
            _, err = self.run_('-r', '-f', 'pgm', '-o', 'out', operand)
            self.assertEqual(self.tree('out'), ['a.pgm', 'sub/a.pgm', 'sub/deeper/c.pgm'])
            for name in self.tree('out'):
                self.assertEqual(self.read('out/' + name), self.read('in/' + name))
            self.assertIn('3 files: 3 done', err)
            shutil.rmtree(self.path('out'))

    def test_what_is_no_picture_is_skipped(self):
        self.grey('in/a.pgm', 'in/.hidden.pgm', 'in/.git/x.pgm', 'in/half.pgm.part', 'else/b.pgm')
        self.write('in/notes.txt', b'hello')
        self.write('in/empty.png', b'')
        os.symlink('../else/b.pgm', self.path('in/link.pgm'))
        os.symlink('../else', self.path('in/linked'))
        os.mkfifo(self.path('in/pipe.pgm'))
        _, err = self.run_('-r', '-o', 'out', 'in')
        self.assertEqual(self.tree('out'), ['a.png'])
        self.assertIn('6 files: 1 done, 5 skipped (2 no pictures, 3 links or the like)', self.summary(err))
        self.assertNotIn('hidden', err)
        _, err = self.run_('-v', '-r', '-o', 'out', 'in')
        for line in ('in/notes.txt: no picture: left out', 'in/link.pgm: a link: left out',
                     'in/pipe.pgm: no file: left out', 'in/a.pgm -> out/a.png (replaced)'):
            self.assertIn(line + '\n', err)
        summary = json.loads(self.run_('--json', '-r', '-o', 'out', 'in')[0])['summary']
        self.assertEqual([summary[k] for k in ('files', 'done', 'replaced', 'failed', 'skipped', 'skipped_no_pictures',
                                               'skipped_links')], [6, 1, 1, 0, 5, 2, 3])
        self.run_('-o', 'named/', 'in/link.pgm')  # what is named itself is taken
        self.run_('-o', 'named/', 'in/notes.txt', status=65)

    def test_broken_pictures_fail_alone(self):
        self.grey('in/a.pgm', 'in/c.pgm')
        self.write('in/b.pgm', b'P5\n10 10\n255\nabc')
        _, err = self.run_('-o', 'out', 'in', status=1)
        self.assertEqual(self.tree('out'), ['a.png', 'c.png'])
        self.assertIn('sluice: in/b.pgm: truncated pnm', err)
        self.assertIn('sluice: 1 of 3 files failed:\n  in/b.pgm (truncated)\n', err)
        self.assertIn('3 files: 2 done, 1 failed', self.summary(err))

    def test_raw_frames(self):
        self.write('in/a.gray', bytes(range(48)))
        self.write('in/b.gray', b'P5\n' + bytes(45))
        self.run_('--input', 'raw=gray8:w=8:h=6', '-f', 'raw', '-o', 'out', 'in')
        for name in 'ab':
            self.assertEqual(self.read('out/%s.raw' % name), self.read('in/%s.gray' % name))

    def test_folders_files_and_stdin_together(self):
        self.grey('in/a.pgm', 'b.pgm', 'c.pgm')
        self.run_('-o', 'out', 'in', 'b.pgm', '-', stdin=self.read('c.pgm'))
        self.assertEqual(self.tree('out'), ['a.png', 'b.png', 'stdin.png'])

    def test_results_are_never_fed_back(self):
        self.grey('in/a.pgm', 'in/sub/b.pgm')
        for _ in range(3):
            self.run_('-r', '-f', 'pgm', '-o', 'in/out', 'in')
            self.assertEqual(self.tree('in/out'), ['a.pgm', 'sub/b.pgm'])
        os.symlink('in/out', self.path('link'))
        self.run_('-r', '-f', 'pgm', '-o', 'link', 'in')
        self.assertEqual(self.tree('in/out'), ['a.pgm', 'sub/b.pgm'])
        before = self.tree('in')
        _, err = self.run_('-o', 'in', 'in', status=64)
        self.assertIn('in is the folder for results, too', err)
        self.assertIn('-o DIRECTORY/', err)
        self.assertEqual(self.tree('in'), before)

    def test_no_picture_at_all(self):
        os.makedirs(self.path('in/sub'))
        _, err = self.run_('-o', 'out', 'in', status=66)
        self.assertIn('sluice: there is no picture in in; -r takes the directories below, too\n', err)
        self.run_('-o', 'out', 'missing/', status=66)

    def test_folders_that_cannot_be_read(self):
        self.grey('in/a.pgm', 'in/shut/b.pgm')
        deep = 'in/' + '/'.join('%d' % i for i in range(40))
        self.grey(deep + '/c.pgm')
        os.chmod(self.path('in/shut'), 0)
        self.addCleanup(os.chmod, self.path('in/shut'), 0o700)
        _, err = self.run_('-r', '-o', 'out', 'in', status=1)
        self.assertIn('a folder below more than 32 others is not read', err)
        self.assertIn('a.png', self.tree('out'))
        if os.getuid() != 0:
            self.assertIn('sluice: in/shut: Permission denied\n', err)

    @unittest.skipIf(os.environ.get('SLUICE_EMULATED') == '1', "the memory would be the emulator's")
    def test_memory_does_not_grow_with_the_folder(self):
        """Beyond the list of names itself."""
        picture = pictures.pnm(4, 4, bytes(16))
        # A sanitizer keeps what was freed for a while.
        env = dict(os.environ, ASAN_OPTIONS=os.environ.get('ASAN_OPTIONS', '') + ':quarantine_size_mb=0')

        def peak(count):
            self.write('in%d/first' % count, picture)
            for i in range(count):
                os.link(self.path('in%d/first' % count), self.path('in%d/%06d' % (count, i)))
            process = subprocess.Popen([SLUICE, 'run', '--json', '-q', '--name', '{name}.{ext}', '-f', 'pgm', '-o',
                                        'out', 'in%d' % count], cwd=self.dir, stdout=subprocess.DEVNULL, env=env)
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = status
            self.assertEqual(status, 0)
            return usage.ru_maxrss
        self.assertLess(peak(12000) - peak(300), 8000)  # of which the list is 300

    def test_order_is_that_of_the_names(self):
        self.grey('in/b.pgm', 'in/a.pgm', 'in/z/a.pgm', 'in/c.pgm', 'first.pgm')
        report = json.loads(self.run_('--json', '-r', '-o', 'out', 'first.pgm', 'in')[0])
        self.assertEqual([file['input'] for file in report['files']],
                         ['first.pgm', 'in/a.pgm', 'in/b.pgm', 'in/c.pgm', 'in/z/a.pgm'])
        self.assertEqual(report['files'][4]['output'], 'out/z/a.png')

    def test_names_that_are_no_utf8(self):
        os.makedirs(self.path('in'))
        with open(os.path.join(os.fsencode(self.dir), b'in/\xff\xe9.pgm'), 'wb') as file:
            file.write(pictures.pnm(1, 1, [7]))
        report = json.loads(self.run_('--json', '-o', 'out', 'in')[0])
        self.assertEqual(report['files'][0]['input'], 'in/\ufffd\ufffd.pgm')
        self.assertEqual(os.listdir(os.fsencode(self.path('out'))), [b'\xff\xe9.png'])


class Out(Batch):
    """What -o means."""

    def test_a_folder_is_made(self):
        self.grey('a.pgm', 'b.pgm')
        for out, inputs in (('one', ['a.pgm', 'b.pgm']), ('two/', ['a.pgm', 'b.pgm']), ('three/', ['a.pgm'])):
            _, err = self.run_('-o', out, *inputs)
            self.assertIn('sluice: made the directory %s\n' % out, err)
            self.assertEqual(self.tree(out), [name[0] + '.png' for name in inputs])
            _, err = self.run_('-o', out, *inputs)
            self.assertNotIn('made', err)
        _, err = self.run_('-q', '-o', 'four/', 'a.pgm')
        self.assertEqual(err, '')

    def test_several_results_in_one_file(self):
        self.grey('a.pgm', 'b.pgm', 'there')
        for args, status in ((('-o', 'x.png', 'a.pgm', 'b.pgm'), 64), (('-o', 'there', 'a.pgm', 'b.pgm'), 64),
                             (('-o', 'x.tif', 'a.pgm', 'b.pgm'), 64), (('-o', '-', '-f', 'png', 'a.pgm', '.'), 64),
                             (('-o', 'x.png', '.'), 66), (('-o', 'nowhere/out', 'a.pgm', 'b.pgm'), 73)):
            before = self.tree('.')
            _, err = self.run_(*args, status=status)
            self.assertEqual(self.tree('.'), before)
            self.assertEqual(err.count('\n'), 1, err)
            self.assertIn('directory', err.lower())

    def test_names(self):
        self.grey('in/a.b.pgm', 'in/c.pgm')
        for template, chain, results in (
                ('{stem}-{chain}.{ext}', 'invert,abs', ['a.b-invert,abs.png', 'c-invert,abs.png']),
                ('{name}.{ext}', '', ['a.b.pgm.png', 'c.pgm.png']),
                ('x-{stem}{ext}.{ext}', '', ['x-a.bpng.png', 'x-cpng.png'])):
            self.run_('--name', template, '-c', chain, '--device', 'reference', '-o', 'out', 'in')
            self.assertEqual(self.tree('out'), results)
            shutil.rmtree(self.path('out'))
        days = [time.strftime('%Y-%m-%d', time.gmtime())]
        self.run_('--name', '{date}-{stem}.{ext}', '-o', 'out', 'in/c.pgm', 'in/a.b.pgm')
        days.append(time.strftime('%Y-%m-%d', time.gmtime()))
        self.assertIn(self.tree('out')[1], ['%s-c.png' % day for day in days])
        self.write('sluice.yaml', b'version: 1\nchains: {soft: "box:3"}\n')
        self.run_('--config', 'sluice.yaml', '-c', 'soft', '--name', '{stem}-{chain}.{ext}', '-o', 'named/', 'in/c.pgm')
        self.assertEqual(self.tree('named'), ['c-soft.png'])

    def test_names_that_are_none(self):
        self.grey('a.pgm')
        for template, says in (('{stem}', '.{ext}'), ('x.png', '.{ext}'), ('{steam}.{ext}', '{stem}'),
                               ('../{stem}.{ext}', "no '/'")):
            _, err = self.run_('--name', template, '-o', 'out/', 'a.pgm', status=64)
            self.assertIn('sluice: --name: ', err)
            self.assertIn(says, err)
        _, err = self.run_('--name', '{stem}-1.{ext}', '-o', 'x.png', 'a.pgm', status=64)
        self.assertIn('--name is for results in a directory', err)

    def test_results_of_one_name_fail_alone(self):
        self.grey('a/x.pgm', 'b/x.pgm', 'b/y.pgm', 'y.pgm', 'z.pgm')
        self.write('b/z.txt', b'no picture, so z.pgm is alone')
        _, err = self.run_('-o', 'out', 'a', 'b', 'y.pgm', 'z.pgm', status=1)
        self.assertEqual(self.tree('out'), ['z.png'])
        for one, other, result in (('a/x.pgm', 'b/x.pgm', 'x'), ('b/x.pgm', 'a/x.pgm', 'x'), ('b/y.pgm', 'y.pgm', 'y'),
                                   ('y.pgm', 'b/y.pgm', 'y')):
            self.assertIn('sluice: %s: it and %s would both be written to out/%s.png' % (one, other, result), err)
        self.assertIn('4 of 5 files failed', err)
        self.grey('c/p.pgm')
        self.write('c/p.bmp', self.read('c/p.pgm'))
        _, err = self.run_('-o', 'out2', 'c', status=1)
        self.assertIn('(--name {name}.{ext} keeps them apart)', err)
        self.run_('-o', 'out2', '--name', '{name}.{ext}', 'c')
        self.assertEqual(self.tree('out2'), ['p.bmp.png', 'p.pgm.png'])

    def test_an_input_that_is_named_twice_is_done_once(self):
        self.grey('in/a.pgm', 'in/b.pgm')
        _, err = self.run_('-o', 'out', 'in/a.pgm', 'in', './in/b.pgm')
        self.assertIn('2 files: 2 done', self.summary(err))

    def test_name_and_format_agree(self):
        self.grey('a.pgm')
        for form, name in (('pnm', 'x.pbm'), ('png', 'one.pbm'), ('png', 'x.jpg'), ('jpg', 'x.PNG'), ('npy', 'x.npz'),
                           ('npz', 'x.npy'), ('raw', 'x.bmp'), ('bmp', 'x.pgm'), ('png:level=3', 'x.tiff'),
                           ('png', 'x.webp'), ('jpg', 'x.heic'), ('pgm', 'x.raw')):
            _, err = self.run_('-f', form, '-o', name, 'a.pgm', status=64)
            self.assertIn("sluice: '%s' is no name for --format " % name, err)
        self.assertEqual(self.tree('.'), ['a.pgm'])
        for form, name in (('png', 'plain'), ('png', 'x.v2'), ('pnm', 'x.pgm'), ('jpeg', 'x.jpe'), ('jpg', 'x.JPEG'),
                           ('raw', 'x.bin'), ('bmp', 'x.dib'), ('png', '.png'), ('npy', 'x.npy')):
            self.run_('-f', form, '-o', name, 'a.pgm')
            self.assertTrue(os.path.exists(self.path(name)), name)
        os.mkdir(self.path('dir.jpg'))
        self.run_('-f', 'png', '-o', 'dir.jpg', 'a.pgm')
        self.assertEqual(self.tree('dir.jpg'), ['a.png'])

    def test_links(self):
        self.grey('a.pgm', 'far/target.pgm')
        os.symlink('far/target.pgm', self.path('link.pgm'))
        os.symlink('link.pgm', self.path('twice.pgm'))
        for link in ('link.pgm', 'twice.pgm'):
            self.run_('-c', 'invert', '--device', 'reference', '-o', link, 'a.pgm')
            self.assertTrue(os.path.islink(self.path(link)))
            self.assertEqual([255 - v for v in pictures.read_pnm(self.read('far/target.pgm'))[4]],
                             pictures.read_pnm(self.read('a.pgm'))[4])
            self.grey('far/target.pgm')
        self.assertEqual(self.tree('far'), ['target.pgm'])
        os.symlink('nowhere.pgm', self.path('dangling.pgm'))
        _, err = self.run_('-o', 'dangling.pgm', 'a.pgm', status=73)
        self.assertIn('dangling.pgm is a link to what is not there', err)
        self.assertFalse(os.path.exists(self.path('nowhere.pgm')))

    def test_options_given_twice(self):
        """They are about a further result, which needs a name of its own."""
        self.grey('a.pgm')
        for twice in (('-c', 'sobel', '-c', 'box:3'), ('-o', 'x.png', '--output', 'x.png'), ('-f', 'png', '--format=png')):
            _, err = self.run_(*twice, 'a.pgm', status=64)
            self.assertRegex(err, r"^sluice: two results of a.pgm would both be written to .*; give each its own -o or --name\n$")
        self.run_('--device', 'gpu', '--device', 'reference', '-q', '-q', '-o', 'x.png', 'a.pgm')


class Several(Batch):
    """Several results of one picture, which is decoded once."""
    CHAINS = ('luminance,box:radius=2,sobel', 'luminance,box:radius=2', 'resize:w=20', '', 'luminance,invert')

    def setUp(self):
        super().setUp()
        for name in ('in/a.ppm', 'in/b.ppm'):
            self.write(name, pictures.pnm(60, 40, pictures.noise(60, 40, 3, seed=sum(name.encode())), channels=3))

    def of_each(self, output):
        return [arg for i, chain in enumerate(self.CHAINS) for arg in ('-c', chain, *output(i))]

    def test_equal_to_runs_of_their_own(self):
        for device in ('native', 'reference'):
            out, _ = self.run_('--device', device, '--json', *self.of_each(lambda i: ('-o', 'all/', '--name', '{stem}-%d.{ext}' % i)),
                               'in')
            for i, chain in enumerate(self.CHAINS):
                self.run_('--device', device, '-c', chain, '-o', 'one%d/' % i, 'in')
                for name in 'ab':
                    self.assertEqual(self.read('all/%s-%d.png' % (name, i)), self.read('one%d/%s.png' % (i, name)), chain)
            for file in json.loads(out)['files']:
                self.assertEqual([os.path.basename(r['output']) for r in file['results']],
                                 ['%s-%d.png' % (file['input'][3], i) for i in range(5)])
                self.assertEqual([(r['out']['width'], r['out']['channels'], r['n_planes']) for r in file['results']],
                                 [(60, 1, 1), (60, 1, 1), (20, 3, 1), (60, 3, 1), (60, 1, 1)])
                self.assertEqual(sum(r['bytes'] for r in file['results']), file['bytes_out'])
                self.assertEqual((file['stages_run'], file['stages_asked']), (5, 8))
                # what is counted is what has run
                self.assertEqual(sum(s['stage'].startswith('luminance') for s in file['stages']), device == 'native')
            self.assertEqual(json.loads(out)['chain'].count(';'), 4)

    def test_formats_places_and_stdout(self):
        self.run_('-c', 'luminance', '-o', 'grey.png', '-c', '', '-o', 'copy/', '-f', 'ppm', '-o', 'grey.jpg', 'in/a.ppm')
        self.assertEqual(self.read('grey.png')[1:4], b'PNG')
        self.assertEqual(self.read('grey.jpg')[:3], b'\xff\xd8\xff')
        self.assertEqual(self.read('copy/a.ppm'), self.read('in/a.ppm'))
        out = subprocess.run([SLUICE, 'run', '-c', '', '-o', '-', '-f', 'ppm', '-c', 'luminance', '-o', 'two.png', 'in/a.ppm'],
                             cwd=self.dir, capture_output=True, check=True).stdout
        self.assertEqual(out, self.read('in/a.ppm'))
        self.assertEqual(self.read('two.png'), self.read('grey.png'))
        _, err = self.run_('-o', '-', '-f', 'ppm', '-o', '-', 'in/a.ppm', status=64)
        self.assertIn('both want stdout', err)

    def test_all_or_none(self):
        # a result that cannot be computed, that cannot be written, whose name cannot be had
        _, err = self.run_('-c', 'invert', '-o', 'x.png', '-c', 'crop:w=99:h=9', '-o', 'y.png', 'in/a.ppm', status=65)
        self.assertRegex(err, r'in/a.ppm: result 2: crop: ')
        _, err = self.run_('-c', 'invert', '-o', 'x.png', '-c', 'wavelet,invert', '-o', 'y.png', 'in/a.ppm', status=64)
        self.assertIn('wavelet,invert\n  ^^^^^^^', err)
        os.makedirs(self.path('taken/a-2.png/is a folder'))
        _, err = self.run_('-c', 'invert', '-o', 'taken/', '-c', 'luminance', '--name', '{stem}-2.{ext}', 'in/a.ppm', status=73)
        self.assertEqual(self.tree('taken'), [])
        self.assertEqual(os.listdir(self.path('taken')), ['a-2.png'])
        self.assertFalse(os.path.exists(self.path('x.png')) or os.path.exists(self.path('y.png')))
        many = [arg for i in range(17) for arg in ('-o', '%d.png' % i)]
        _, err = self.run_(*many, 'in/a.ppm', status=64)
        self.assertEqual(err, 'sluice: run: more than 16 results of one picture\n')

    def test_names_that_are_taken(self):
        two = ('-f', 'ppm', '-c', 'invert', '-o', 'out/', '-c', 'luminance', '-o', 'grey/', '-f', 'pgm')
        self.run_(*two, 'in')
        os.unlink(self.path('grey/b.pgm'))
        self.write('out/b.ppm', b'old')
        _, err = self.run_('--on-exists', 'skip', *two, 'in')
        self.assertIn('2 files: 1 done, 1 skipped (1 there already)', self.summary(err))
        self.assertEqual(self.read('out/b.ppm'), b'old')  # what is there stays, what is missing is made
        os.unlink(self.path('grey/a.pgm'))
        self.run_('--on-exists', 'number', *two, 'in')
        self.assertEqual(self.tree('out'), ['a-1.ppm', 'a.ppm', 'b-1.ppm', 'b.ppm'])
        self.assertEqual(self.tree('grey'), ['a-1.pgm', 'b-1.pgm', 'b.pgm'])
        os.unlink(self.path('out/b.ppm'))
        _, err = self.run_('--on-exists', 'fail', *two, 'in/b.ppm', status=73)
        self.assertIn('grey/b.pgm is there already', err)
        self.assertFalse(os.path.exists(self.path('out/b.ppm')))
        # a result of one picture and one of another
        self.write('in/a-g.ppm', self.read('in/b.ppm'))
        _, err = self.run_('-o', 'new/', '-c', 'invert', '--name', '{stem}-g.{ext}', '-c', '', '--name', '{stem}.{ext}', 'in', status=1)
        self.assertIn('would both be written to new/a-g.png', err)

    def test_plan(self):
        out, _ = self.sluice('plan', '--profile', 'native', *self.of_each(lambda i: ('-f', 'png')), '60x40x3')
        self.assertIn('5 results: 5 stages run, in place of 8\n', out)
        self.assertIn('gives result 4', out.split('\n1 ')[0])
        out, _ = self.sluice('plan', '--json', '--profile', 'native', *self.of_each(lambda i: ()), '60x40x3')
        plan = json.loads(out)
        self.assertEqual([r['step'] for r in plan['results']], [3, 2, 4, 0, 5])
        self.assertEqual([s['of'] for s in plan['steps']], [0, 1, 2, 0, 1])
        self.assertEqual((plan['stages_run'], plan['stages_asked']), (5, 8))


class Exists(Batch):
    def setUp(self):
        super().setUp()
        self.grey('in/a.pgm', 'in/b.pgm', 'in/c.pgm')
        self.write('out/a.pgm', b'old')

    def test_overwrite(self):
        _, err = self.run_('-f', 'pgm', '-o', 'out', 'in')
        self.assertIn('3 files: 3 done (1 replaced)', self.summary(err))
        self.assertEqual(self.read('out/a.pgm'), self.read('in/a.pgm'))

    def test_skip(self):
        out, err = self.run_('--on-exists', 'skip', '-f', 'pgm', '--json', '-o', 'out', 'in')
        self.assertIn('3 files: 2 done, 1 skipped (1 there already)', self.summary(err))
        self.assertEqual(self.read('out/a.pgm'), b'old')
        self.assertEqual([file['result'] for file in json.loads(out)['files']], ['skipped', 'ok', 'ok'])
        _, err = self.run_('--on-exists', 'skip', '-f', 'pgm', '-o', 'out/a.pgm', 'in/a.pgm')
        self.assertIn('in/a.pgm: skipped: out/a.pgm is there already', err)

    def test_number(self):
        self.write('out/a-1.pgm', b'old, too')
        _, err = self.run_('--on-exists', 'number', '-v', '-f', 'pgm', '-o', 'out', 'in')
        self.assertIn('in/a.pgm -> out/a-2.pgm\n', err)
        self.assertEqual(self.tree('out'), ['a-1.pgm', 'a-2.pgm', 'a.pgm', 'b.pgm', 'c.pgm'])
        self.assertEqual(self.read('out/a-2.pgm'), self.read('in/a.pgm'))
        self.run_('--on-exists', 'number', '-f', 'pgm', '-o', 'single', 'in/b.pgm')
        self.run_('--on-exists', 'number', '-f', 'pgm', '-o', 'single', 'in/b.pgm')
        self.assertEqual(self.read('single-1'), self.read('in/b.pgm'))

    def test_numbers_keep_results_of_one_name_apart(self):
        folders = ['p%d' % i for i in range(9)]
        for folder in folders:
            self.grey(folder + '/same.pgm')
        self.run_('--on-exists', 'number', '-f', 'pgm', '-o', 'new', *folders)
        for i, folder in enumerate(folders):
            self.assertEqual(self.read('new/same%s.pgm' % ('-%d' % i if i else '')), self.read(folder + '/same.pgm'))

    def test_fail(self):
        _, err = self.run_('--on-exists', 'fail', '-f', 'pgm', '-o', 'out', 'in', status=1)
        self.assertIn('sluice: in/a.pgm: out/a.pgm is there already (--on-exists fail)\n', err)
        self.assertEqual((self.read('out/a.pgm'), self.tree('out')), (b'old', ['a.pgm', 'b.pgm', 'c.pgm']))
        self.run_('--on-exists', 'fail', '-o', 'out/a.pgm', 'in/a.pgm', status=73)
        _, err = self.run_('--on-exists', 'maybe', '-o', 'out', 'in', status=64)
        self.assertIn('overwrite, skip, number, fail', err)

    def test_planes_stay_together(self):
        """A result of several files is there already when one of them is."""
        self.write('out/a.dy.npy', b'old')
        rules = {'skip': (0, []), 'fail': (1, []), 'number': (0, ['a-1.dx.npy', 'a-1.dy.npy']),
                 'overwrite': (0, ['a.dx.npy'])}
        for rule, (status, more) in rules.items():
            _, err = self.run_('--on-exists', rule, '--device', 'reference', '-c', 'sobel:both', '-f', 'npy', '-o', 'out',
                               'in/a.pgm', 'in/b.pgm', status=status)
            self.assertEqual([n for n in self.tree('out') if n[0] == 'a'], sorted(['a.pgm', 'a.dy.npy'] + more), err)
            self.assertEqual(self.read('out/a.dy.npy') == b'old', rule != 'overwrite')
            for name in more:
                os.unlink(self.path('out/' + name))
            for name in ('b.dx.npy', 'b.dy.npy'):
                os.unlink(self.path('out/' + name))

    def test_own_input(self):
        before = self.read('in/a.pgm')
        _, err = self.run_('-c', 'invert', '--device', 'reference', '-f', 'pgm', '-o', 'in', 'in/a.pgm', status=73)
        self.assertIn('would replace its own input', err)
        self.assertEqual(self.read('in/a.pgm'), before)
        self.run_('--on-exists', 'number', '-f', 'pgm', '-o', 'in', 'in/a.pgm')
        self.assertEqual(self.read('in/a-1.pgm'), before)


class Everybody(Batch):
    """Trouble that no picture is at fault of is told once and ends the run."""

    def setUp(self):
        super().setUp()
        self.grey(*['in/%02d.pgm' % i for i in range(40)])

    def told_once(self, status, says, *args, **kwargs):
        _, err = self.run_(*args, status=status, **kwargs)
        self.assertEqual(len([line for line in err.splitlines() if re.search(says, line)]), 1, err)
        self.assertNotIn('in/', err)
        self.assertNotIn('failed', err)
        return err

    def test_no_device(self):
        err = self.told_once(69, 'no-such-device', '--device', 'no-such-device', '-c', 'sobel', '-o', 'out', 'in')
        self.assertIn('40 files: 0 done, 40 left', err)
        self.told_once(69, 'OpenCL', '--device', 'cpu', '-c', 'sobel', '-o', 'out', 'in', OCL_ICD_VENDORS='/nonexistent')
        out, _ = self.run_('--json', '--device', 'no-such-device', '-c', 'sobel', '-o', 'out', 'in', status=69)
        self.assertEqual({(file['result'], file['output']) for file in json.loads(out)['files']}, {('no-device', None)})

    @needs_opencl
    def test_a_compiler_that_refuses(self):
        self.told_once(70, 'clBuildProgram', '--cl-flags=-no-such-flag', '-c', 'sobel', '-o', 'out', 'in')

    def test_no_place_for_results(self):
        self.write('file', b'')
        self.told_once(73, 'file/ is there and is no directory|Not a directory', '-o', 'file/', 'in')
        os.mkdir(self.path('shut'), 0o500)
        if os.getuid() != 0:
            self.told_once(77, 'shut/: Permission denied', '-o', 'shut', 'in')
        else:
            self.told_once(73, '/proc/self/: ', '-o', '/proc/self', 'in')

    def test_a_place_that_goes_away(self):
        """Like a stick that is pulled: what was done counts, nothing else is tried."""
        self.grey(*['many/%03d.pgm' % i for i in range(300)], width=60, height=60)
        process = subprocess.Popen([SLUICE, 'run', '--threads', '1', '-f', 'png:level=9', '--device', 'reference', '-c',
                                    'box:31:passes=9', '-o', 'out', 'many'], cwd=self.dir, stderr=subprocess.PIPE)
        while len(self.tree('out') if os.path.exists(self.path('out')) else []) < 3:
            time.sleep(0.01)
        os.rename(self.path('out'), self.path('gone'))
        err = process.communicate()[1].decode()
        self.assertEqual(process.returncode, 73, err)
        self.assertRegex(err, r'300 files: \d+ done, .*left')
        self.assertLess(err.count('\n'), 6, err)


class Ends(Batch):
    def big(self, count=8):
        """Pictures that take a while to be written."""
        self.grey('in/0.pgm', width=900, height=900)
        for i in range(1, count):
            shutil.copy(self.path('in/0.pgm'), self.path('in/%d.pgm' % i))
        return ['run', '-f', 'png:level=9', '-o', 'out', 'in']

    def interrupt(self, number, *args):
        """Sends it when a result is being written; what is left in out. Again if it had ended by itself by then."""
        for _ in range(20):
            outcome = self.interrupt_once(number, *args)
            if outcome[0] != 0:
                break
            for name in outcome[2]:
                os.unlink(self.path('out/' + name))
        return outcome

    def interrupt_once(self, number, *args):
        process = subprocess.Popen([SLUICE, *args], cwd=self.dir, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        while process.poll() is None and not any(name.endswith('.tmp') for name in self.tree('out')):
            time.sleep(0.001)
        process.send_signal(number)
        err = process.communicate()[1].decode()
        return process.returncode, err, self.tree('out')

    def test_signals(self):
        args = self.big()
        for number, status in ((signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)):
            for _ in range(5):
                returned, err, left = self.interrupt(number, *args)
                self.assertEqual(returned, status, err)
                self.assertRegex(err, r'(interrupted: \d of 8 files done|made the directory out)\n$')
                self.assertFalse([name for name in left if name.startswith('.')], left)
                for name in left:
                    pictures.read_png(self.read('out/' + name))
                shutil.rmtree(self.path('out'))

    def test_signals_that_are_ignored(self):
        """As nohup and a shell's & have it."""
        args = self.big(2)
        process = subprocess.Popen(['sh', '-c', "trap '' INT HUP; exec \"$@\"", 'sh', SLUICE, *args], cwd=self.dir,
                                   stderr=subprocess.DEVNULL)
        while process.poll() is None and not any(name.endswith('.tmp') for name in self.tree('out')):
            time.sleep(0.001)
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGHUP)
        self.assertEqual(process.wait(), 0)
        self.assertEqual(self.tree('out'), ['0.png', '1.png'])

    def test_a_single_picture(self):
        self.big(1)
        os.mkdir(self.path('out'))
        returned, _, left = self.interrupt(signal.SIGTERM, 'run', '-f', 'png:level=9', '-o', 'out/x.png', 'in/0.pgm')
        self.assertEqual((returned, left), (143, []))

    def test_nobody_listens(self):
        """A reader that goes away ends the run, and nothing unfinished stays."""
        self.grey(*['in/%03d.pgm' % i for i in range(300)])
        process = subprocess.Popen([SLUICE, 'run', '--json', '-o', 'out', 'in'], cwd=self.dir, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        process.stdout.close()
        with process.stderr:
            err = process.stderr.read().decode()
        self.assertEqual((process.wait(), err.count('sluice: stdout: Broken pipe\n')), (74, 1), err)
        self.assertFalse([name for name in self.tree('out') if name[0] == '.'])
        self.assertLess(len(self.tree('out')), 300)

    def test_skip_goes_on_where_it_stopped(self):
        args = self.big(6)
        while len([name for name in self.tree('out') if name[0] != '.']) < 2:
            shutil.rmtree(self.path('out'), ignore_errors=True)
            process = subprocess.Popen([SLUICE, *args], cwd=self.dir, stderr=subprocess.DEVNULL)
            while len(self.tree('out')) < 3:
                time.sleep(0.001)
            process.terminate()
            process.wait()
        done = len(self.tree('out'))
        _, err = self.sluice(*args, '--on-exists', 'skip')
        self.assertIn('6 files: %d done, %d skipped (%d there already)' % (6 - done, done, done), err)


class Progress(Batch):
    def terminal(self, *args, **env):
        """What a terminal is shown, and the exit status."""
        master, slave = pty.openpty()
        process = subprocess.Popen([SLUICE, *args], cwd=self.dir, stderr=slave, stdout=subprocess.DEVNULL,
                                   stdin=subprocess.DEVNULL, env=dict(os.environ, **{'TERM': 'xterm', **env}))
        os.close(slave)
        shown = b''
        while True:
            select.select([master], [], [])
            try:
                shown += os.read(master, 65536)
            except OSError:
                break
        os.close(master)
        return shown.decode(), process.wait()

    def test_bar(self):
        self.grey(*['in/%d.pgm' % i for i in range(30)], width=700, height=700)
        self.write('in/broken.pgm', b'P5\n10 10\n255\nabc')
        shown, status = self.terminal('run', '-f', 'png:level=9', '-o', 'out', 'in')
        self.assertEqual(status, 1)
        frames = shown.split('\r')
        self.assertTrue(any(re.match(r'\[#+\.+\] \d+/31  \d+\.\d MP/s  .* left', frame) for frame in frames), shown)
        self.assertTrue(any('1 failed' in frame and frame.startswith('[') for frame in frames), shown)
        self.assertTrue(any(frame.startswith('[' + 30 * '#' + '] 31/31') for frame in frames), shown)
        self.assertRegex(frames[-2], r'sluice: 31 files: 30 done, 1 failed; 14\.[67]\d*MP in [0-9.]+(ms|s|min), [0-9.]+ MP/s$')
        self.assertIn('\x1b[K', shown)

    @needs_opencl
    def test_what_is_prepared(self):
        self.grey('in/a.pgm', 'in/b.pgm')
        shown, status = self.terminal('run', '-c', 'fir:1_2_3/4_5_6/7_8_9,box:7,sobel', '-o', 'out', 'in',
                                      '--device', 'cpu', SLUICE_CACHE_DIR=self.path('cache'))
        self.assertEqual(status, 0)
        self.assertRegex(shown, r'0/2  (opening the device|compiling kernels for u8 of 1 channel|running kernels)')

    def test_plain_lines(self):
        self.grey('in/a.pgm', 'in/b.pgm')
        _, piped = self.run_('-o', 'out', 'in')
        self.assertEqual(self.summary(piped).split(';')[0], 'sluice: 2 files: 2 done')
        self.assertFalse(set(piped) & {'\r', '\x1b'})
        for env in ({'TERM': 'dumb'}, {'NO_COLOR': '1'}):
            shown, _ = self.terminal('run', '-o', 'out', 'in', **env)
            self.assertNotIn('\x1b', shown)
            self.assertRegex(shown, r'^sluice: 2 files: 2 done \(2 replaced\); .*\r\n$')
        self.assertEqual(self.terminal('run', '-q', '-o', 'out', 'in')[0], '')
        self.assertEqual(self.terminal('run', '-o', 'x.png', 'in/a.pgm')[0], '')

    def test_verify(self):
        self.grey('in/a.pgm', 'in/b.pgm')
        for args, says in ((('-c', 'sobel', '-o', 'x.png', 'in/a.pgm'), r'verified: equal\n'),
                           (('-c', 'sobel', '-o', 'out', 'in'), r'verified: equal\n'),
                           (('-c', 'convert:f32,fir:1_2_3/4_5_6/7_8_9:divisor=7,sobel', '-o', 'x.npy', 'in/a.pgm'),
                            r'verified: (equal|largest difference \d.*)\n'),
                           (('-o', 'x.png', 'in/a.pgm'), r'verified: nothing, no device has computed\n')):
            out, _ = self.run_('--verify', *args)
            self.assertRegex(out, '^%s$' % says)
        out, err = self.sluice('run', '--verify', '-c', 'sobel', '-f', 'raw', '-o', '-', 'in/a.pgm')
        self.assertIn('verified: equal\n', err)
        self.assertEqual(len(out.encode('utf-8', 'surrogateescape')) > 0, True)
        report = json.loads(self.run_('--verify', '--json', '-c', 'sobel', '-o', 'x.png', 'in/a.pgm')[0])
        self.assertEqual(report['files'][0]['largest_difference'], 0)

    def test_verbose_names_each_result(self):
        self.grey('in/a.pgm', 'in/b.pgm')
        _, err = self.run_('-v', '--device', 'reference', '-c', 'sobel:both', '-f', 'npy', '-o', 'out', 'in')
        self.assertIn('in/a.pgm -> out/a.dx.npy, out/a.dy.npy\nin/b.pgm -> out/b.dx.npy, out/b.dy.npy\n', err)


class Commands(Batch):
    def test_version_and_help(self):
        version = self.sluice('version')[0]
        self.assertRegex(version, r'^sluice \d+\.\d+\.\d+\n$')
        self.assertEqual([self.sluice(word)[0] for word in ('--version', '-V')], [version] * 2)
        general = self.sluice('help')[0]
        self.assertIn('commands:', general)
        self.assertEqual([self.sluice(word)[0] for word in ('--help', '-h')], [general] * 2)
        commands = re.findall(r'^  ([a-z-]+)\s', general.split('commands:\n')[1].split('\n\n')[0], re.M)
        self.assertIn('run', commands)
        for command in commands:
            if command in ('enqueue', 'view') and os.environ.get('SLUICE_EMULATED') == '1':
                continue  # programs of their own, which `sluice` starts
            self.assertEqual(self.sluice('help', command)[0], self.sluice(command, '--help')[0])
        self.assertIn("did you mean 'submit'", self.sluice('help', 'submitt', status=64)[1])
        self.sluice('help', 'run', 'warm', status=64)
        self.sluice('version', 'run', status=64)

    def test_warm(self):
        self.write('sluice.yaml', b'version: 1\nchains: {soft: "box:3"}\n')
        said = []
        env = {'SLUICE_CACHE_DIR': self.path('cache')}
        for args in (('--config', 'sluice.yaml'), ('sluice.yaml',)):
            said.append(self.sluice('warm', *args, **env)[0])
        said.append(self.sluice('warm', SLUICE_CONFIG='sluice.yaml', **env)[0])
        for line in said:
            self.assertRegex(line, r'programs compiled: \d+, there already: \d+|native: nothing is to be compiled')
        self.assertIn('which configuration?', self.sluice('warm', status=64, SLUICE_CONFIG='')[1])
        for args in (('--config', 'sluice.yaml', 'sluice.yaml'), ('sluice.yaml', 'sluice.yaml')):
            self.assertIn('one configuration', self.sluice('warm', *args, status=64)[1])


if __name__ == '__main__':
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))  # many files, few descriptors
    unittest.main(verbosity=2)
