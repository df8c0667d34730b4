#!/usr/bin/env python3
"""A folder of damaged files: each is one clear line and exit 65, in little memory.

Usage: test_damaged.py SLUICE [unittest options]"""
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
import zlib

SLUICE = os.path.abspath(sys.argv.pop(1))
EXTENSIONS = ('jpg', 'png', 'bmp', 'ppm', 'npy')
MEMORY_MAX = 256 << 20  # a picture of absurd size would take at least 3.6 GB


def absurd(extension, data):
    """The file with 65500 in place of its width and height, checksums right."""
    data = bytearray(data)
    if extension == 'jpg':
        at = next(i for i in range(len(data)) if data[i] == 0xff and data[i + 1] in (0xc0, 0xc2))
        data[at + 5:at + 9] = struct.pack('>HH', 65500, 65500)
    elif extension == 'png':
        data[16:24] = struct.pack('>II', 65500, 65500)
        data[29:33] = struct.pack('>I', zlib.crc32(bytes(data[12:29])))
    elif extension == 'bmp':
        data[18:26] = struct.pack('<ii', 65500, 65500)
    elif extension == 'ppm':
        return b'P6\n65500 65500\n255\n' + bytes(data[-300:])
    else:
        head = b"{'descr': '|u1', 'fortran_order': False, 'shape': (65500, 65500, 3), }"
        return data[:8] + struct.pack('<H', 118) + head.ljust(117) + b'\n' + bytes(data[-300:])
    return bytes(data)


def flipped(extension, data):
    """One bit, where the format can tell: in a checksummed chunk, a code of the stream, the header."""
    at = {'jpg': 4, 'png': len(data) // 2, 'bmp': 14, 'ppm': 1, 'npy': 3}[extension]
    if extension == 'jpg':  # in the table of codes
        at = data.index(b'\xff\xc4') + 6
    return data[:at] + bytes([data[at] ^ 0x40]) + data[at + 1:]


def damages(extension, data):
    yield 'half', data[:len(data) // 2]
    yield 'head', data[:12]
    yield 'tail', data[:-16]
    yield 'flip', flipped(extension, data)
    yield 'huge', absurd(extension, data)
    yield 'zero', b''
    yield 'text', b'This is no picture, whatever its name says.\n'
    yield 'zeros', bytes(5000)


class Damaged(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix='sluice-damaged-')
        self.addCleanup(shutil.rmtree, self.dir)
        self.files = {}
        for extension in EXTENSIONS:
            good = os.path.join(self.dir, 'good.' + extension)
            subprocess.run([SLUICE, 'testcard', '--size', '160x120', '-o', good], check=True)
            with open(good, 'rb') as file:
                data = file.read()
            os.unlink(good)
            for damage, bad in damages(extension, data):
                self.files['%s.%s' % (damage, extension)] = bad
        for name, bad in self.files.items():
            with open(os.path.join(self.dir, name), 'wb') as file:
                file.write(bad)

    def run_measured(self, *args):
        """(exit status, lines of stderr, most bytes resident)"""
        with tempfile.TemporaryFile() as errors:
            pid = os.posix_spawn(SLUICE, [SLUICE, *args], dict(os.environ), file_actions=[
                (os.POSIX_SPAWN_DUP2, errors.fileno(), 2)])
            _, status, usage = os.wait4(pid, 0)
            errors.seek(0)
            return (os.waitstatus_to_exitcode(status), errors.read().decode().splitlines(),
                    usage.ru_maxrss * 1024)

    def test_each_apart(self):
        for name in self.files:
            with self.subTest(name=name):
                path, out = os.path.join(self.dir, name), os.path.join(self.dir, 'out.pgm')
                status, lines, memory = self.run_measured('run', '-o', out, path)
                self.assertEqual(status, 65, lines)
                self.assertEqual(len(lines), 1, lines)
                self.assertTrue(lines[0].startswith('sluice: %s: ' % path), lines)
                if name.startswith('huge'):
                    self.assertIn('--max-pixels', lines[0])
                self.assertLess(memory, MEMORY_MAX)
                self.assertFalse(os.path.exists(out))

    def test_all_together(self):
        """On the device, a run for each format; the good one among them comes out."""
        good = os.path.join(self.dir, 'good.ppm')
        subprocess.run([SLUICE, 'testcard', '--size', '160x120', '-o', good], check=True)
        for extension in EXTENSIONS:
            out = os.path.join(self.dir, 'out-' + extension)
            paths = [os.path.join(self.dir, n) for n in self.files if n.endswith('.' + extension)]
            status, lines, _ = self.run_measured('run', '-c', 'luminance,sobel', '-f', 'pgm', '-o',
                                                 out + '/', *paths, good)
            self.assertEqual(status, 1)
            for path in paths:
                told = [line for line in lines if line.startswith('sluice: %s: ' % path)]
                self.assertEqual(len(told), 1, (path, lines))
            self.assertEqual(os.listdir(out), ['good.pgm'])


if __name__ == '__main__':
    unittest.main(verbosity=2)
