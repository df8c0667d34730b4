#!/usr/bin/env python3
"""Pictures whose rows pass through (docs/architecture.md, "Rows in, rows out") end as those that are held as a whole,
which --iterations 2 asks for: the same file, or the same message and no file, wherever the input is cut or damaged.
Usage: test_rows.py SLUICE [unittest options]"""
import os
import random
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..'))
import pictures  # noqa: E402

SLUICE = os.path.abspath(sys.argv.pop(1))
CHAINS = ['luminance,sobel', 'gauss:2,median,resize:w=400', 'pad:top=40,crop:x=9:y=90:w=900:h=300', 'luminance,threshold:otsu',
          'open:3,threshold:local', 'box:3:passes=3,resize:w=200:h=200:fit=pad']


def card(folder, name):
    """A picture of three megabytes, as a file of that format."""
    path = os.path.join(folder, name)
    subprocess.run([SLUICE, 'testcard', '-q', '--size', '1300x800', '-o', path], check=True)
    return path


class Rows(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.random = random.Random(39)

    def run_on(self, path, chain, out, *options):
        out = os.path.join(self.folder.name, out)
        done = subprocess.run([SLUICE, 'run', '-q', '--device', 'native', '-c', chain, '-o', out, *options, path],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=100)
        data = None
        if os.path.exists(out):
            with open(out, 'rb') as file:
                data = file.read()
            os.unlink(out)
        return done.returncode, pictures.without_drivers(done.stderr.decode(errors='replace')), data

    def both(self, path, chain, out, *options):
        rows = self.run_on(path, chain, out, *options)
        whole = self.run_on(path, chain, out, '--iterations', '2', *options)
        self.assertEqual(rows[:2], whole[:2], (chain, options))
        self.assertTrue(rows[2] == whole[2], (chain, options, 'other bytes'))
        self.assertEqual(rows[2] is None, rows[0] != 0)
        self.assertEqual(os.listdir(self.folder.name), [os.path.basename(path)])
        return rows[0]

    def test_whole(self):
        for name in ('a.jpg', 'a.png', 'a.ppm'):
            path = card(self.folder.name, name)
            for chain, out in zip(CHAINS, ('b.png', 'b.jpg', 'b.ppm', 'b.npy', 'b.png', 'b.jpg')):
                self.assertEqual(self.both(path, chain, out), 0)
            os.unlink(path)

    def test_cut_and_damaged(self):
        for name in ('a.jpg', 'a.png', 'a.ppm'):
            path = card(self.folder.name, name)
            with open(path, 'rb') as file:
                good = file.read()
            for part in (0.3, 0.999):
                with open(path, 'wb') as file:
                    file.write(good[:int(len(good) * part)])
                self.assertEqual(self.both(path, CHAINS[0], 'b.png'), 65)
                self.assertEqual(self.both(path, CHAINS[1], 'b.jpg', '--input', 'partial=1'), 0)
            for _ in range(2):
                at = self.random.randrange(len(good) // 3, len(good))
                with open(path, 'wb') as file:
                    file.write(good[:at] + bytes([good[at] ^ 0x55]) + good[at + 1:])
                self.both(path, CHAINS[2], 'b.png')
                self.both(path, CHAINS[0], 'b.npy', '--input', 'strict=1')
            os.unlink(path)

    def several(self, path, *options):
        """Results of several chains; returns the exit code and the files."""
        wishes = [('luminance,sobel', 'b.png'), ('resize:w=400', 'c.jpg'), ('luminance,threshold:otsu', 'd.pbm'),
                  ('resize:w=90', 'e.webp'), ('luminance', 'f.tif'), ('', 'g.bmp'), ('crop:x=9:y=90:w=900:h=300', 'h.npz')]
        outs = [os.path.join(self.folder.name, out) for _, out in wishes]
        named = [part for (chain, _), out in zip(wishes, outs) for part in ('-c', chain, '-o', out)]
        done = subprocess.run([SLUICE, 'run', '-q', '--device', 'native', *named, *options, path],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=100)
        files = []
        for out in outs:
            if os.path.exists(out):
                with open(out, 'rb') as file:
                    files.append(file.read())
                os.unlink(out)
        self.assertEqual(os.listdir(self.folder.name), [os.path.basename(path)])
        return done.returncode, done.stderr, files

    def test_several(self):
        """One decoded picture for several results: all of them as from the whole, or none."""
        for name in ('a.jpg', 'a.png'):
            path = card(self.folder.name, name)
            rows = self.several(path)
            self.assertEqual((rows[0], len(rows[2])), (0, 7), rows[1])
            self.assertTrue(rows == self.several(path, '--iterations', '2'), 'other bytes')
            os.truncate(path, os.path.getsize(path) * 2 // 3)
            rows = self.several(path)
            self.assertEqual((rows[0], rows[2]), (65, []))
            self.assertEqual(rows, self.several(path, '--iterations', '2'))
            os.unlink(path)

    def test_pads(self):
        """Rows that are made of one row, of which none comes, goes, or is free meanwhile."""
        path = card(self.folder.name, 'a.png')
        for chain in ('pad:top=9000,median,rotate:180', 'pad:bottom=9000:border=edge,luminance,gauss:2,rotate:180'):
            self.assertEqual(self.both(path, chain, 'b.npy'), 0)

    def test_stdout(self):
        path = card(self.folder.name, 'a.png')
        with open(path, 'r+b') as file:
            file.truncate(os.path.getsize(path) - 100)
        done = subprocess.run([SLUICE, 'run', '-q', '--device', 'native', '-c', 'invert', '-f', 'png', '-o', '-', path],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=100)
        self.assertEqual((done.returncode, done.stdout), (65, b''))

    def test_full_disk(self):
        path = card(self.folder.name, 'a.png')
        full = os.path.join(self.folder.name, 'full.png')
        os.symlink('/dev/full', full)
        done = subprocess.run([SLUICE, 'run', '-q', '--device', 'native', '-c', 'sobel', '-o', full, path],
                              stderr=subprocess.PIPE, timeout=100)
        self.assertEqual(done.returncode, 74)
        self.assertIn(b'No space left', done.stderr)

    def test_memory(self):
        """A picture several times as large as the memory."""
        path = os.path.join(self.folder.name, 'a.png')
        subprocess.run([SLUICE, 'testcard', '-q', '--size', '4000x3000', '-o', path], check=True)
        self.assertEqual(self.run_on(path, 'luminance,gauss:2,sobel', 'b.png', '--memory', '16MiB')[0], 0)
        self.assertEqual(self.run_on(path, 'luminance,gauss:2,sobel', 'b.png', '--memory', '16MiB',
                                     '--iterations', '2')[0], 65)

    def test_strips(self):
        """The same on OpenCL, where whole planes have no room."""
        if b'(cpu)' not in subprocess.run([SLUICE, 'devices'], stdout=subprocess.PIPE).stdout:
            self.skipTest('no OpenCL on the processor')
        path = os.path.join(self.folder.name, 'a.ppm')
        subprocess.run([SLUICE, 'testcard', '-q', '--size', '3000x2000', '-o', path], check=True)
        little = ('--device', 'cpu', '--memory', '16MiB')
        for chain in ('luminance,gauss:2,sobel', 'luminance,threshold:local,resize:w=300'):
            self.assertEqual(self.run_on(path, chain, 'b.png', *little), self.run_on(path, chain, 'b.png'))
        second = os.path.join(self.folder.name, 'second.png')
        tree, seconds = ('-c', 'luminance,resize:w=300', '-o', second), []
        for options in (little, ()):
            self.assertEqual(self.run_on(path, 'luminance,sobel', 'b.png', *tree, *options),
                             self.run_on(path, 'luminance,sobel', 'b.png'))
            with open(second, 'rb') as file:
                seconds.append(file.read())
            os.unlink(second)
        self.assertEqual(*seconds)
        code, says, data = self.run_on(path, 'rotate:90', 'b.png', *little)
        self.assertEqual((code, data), (65, None))
        self.assertIn('--memory', says)


if __name__ == '__main__':
    unittest.main()
