#!/usr/bin/env python3
"""The messages for common mistakes: runs the commands of mistakes.txt and compares what they print.
Usage: test_mistakes.py SLUICE SLUICED [--write | unittest options]; --write puts what is printed into mistakes.txt."""
import ctypes
import json
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest
import zipfile
import zlib

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..'))
import pictures  # noqa: E402
from built import needs_opencl  # noqa: E402

LIST = os.path.join(HERE, 'mistakes.txt')
SLUICE, SLUICED = (os.path.abspath(sys.argv.pop(1)) for _ in range(2))
POCL = '/etc/OpenCL/vendors/pocl.icd'  # alone, where there is a GPU, too
PATIENCE = 60  # seconds


def png(width, height, channels=3):
    rows = b''.join(b'\0' + bytes((x * 5 + y * 3 + c) & 255 for x in range(width) for c in range(channels))
                    for y in range(height))
    head = struct.pack('>IIBBBBB', width, height, 8, {1: 0, 3: 2}[channels], 0, 0, 0)
    return (b'\x89PNG\r\n\x1a\n' + pictures.png_chunk(b'IHDR', head) +
            pictures.png_chunk(b'IDAT', zlib.compress(rows, 0)) + pictures.png_chunk(b'IEND', b''))


def npy(kind, size, *shape):
    """An array of zeros."""
    count = size
    for side in shape:
        count *= side
    head = "{'descr': '%s', 'fortran_order': False, 'shape': %s, }" % (kind, shape)
    head = head.ljust(117) + '\n'
    return b'\x93NUMPY\x01\x00' + struct.pack('<H', len(head)) + head.encode() + bytes(count)


PHOTO = png(32, 24)
FILES = {
    'photo.png': PHOTO,
    'photo.ppm': pictures.pnm(32, 24, pictures.noise(32, 24, 3), 3),
    'grey.png': png(32, 24, 1),
    'small.png': png(16, 12),
    'wide.pgm': b'P5\n4000 4000\n255\n',
    'large.pgm': pictures.pnm(400, 300, bytes(120000)),
    'photos/good.pgm': pictures.pnm(8, 6, pictures.noise(8, 6)),
    'photos/bad.png': PHOTO[:100] + b'?' + PHOTO[101:],
    'empty.png': b'',
    'notes.png': b'Buy milk.\n',
    'texts/notes.txt': b'Buy milk.\n',
    'cut.png': PHOTO[:1200],
    'damaged.png': PHOTO[:100] + b'?' + PHOTO[101:],
    'film.gif': b'GIF89a' + bytes(60),
    'web.jpg': b'\0\0\0\x20ftypavif' + bytes(60),
    'formats/film.gif': b'GIF89a' + bytes(60),
    'formats/web.avif': b'\0\0\0\x20ftypavif' + bytes(60),
    'formats/grey.png': png(32, 24, 1),
    'numbers.json': b'{"mean":1}\n',
    'page.pdf': b'%PDF-1.7\n%\xe2\xe3\xcf\xd3\n',
    'frame.raw': bytes(range(256)) * 3,
    'ramp.npy': npy('<f8', 8, 6, 8),
    'integers.npy': npy('<i4', 4, 6, 8),
    'complex.npy': npy('<c8', 8, 6, 8),
    'seven.npy': npy('|u1', 1, 6, 8, 7),
    'edges.yaml': b'version: 1\nkernels:\n  soft: 1_2_1/2_4_2/1_2_1\nchains:\n  edges: luminance,sobel\n',
    'secret.png': PHOTO,
    'secrets/photo.png': PHOTO,
    'readonly/notes.txt': b'Buy milk.\n',
}
ARCHIVES = {
    'texts.npz': {'notes.txt': b'Buy milk.\n'},
    'bands.npz': {name + '.npy': npy('<f4', 4, 3, 4) for name in ('LL1', 'HL1', 'LH1', 'HH1')},
    'planes.npz': {'one.npy': npy('<f4', 4, 6, 8), 'two.npy': npy('<f4', 4, 6, 8)},
}
VARIES = (  # from machine to machine, and from run to run
    (r'there is .* device \d+\)', 'there is DEVICE'),
    (r'(nor a binary of this device): .*', r'\1: WHAT OPENCL SAYS'),
    (r'in \S+, \S+ MP/s', 'in TIME'),
    (r'"request_id":"[0-9a-f]+-[0-9a-f]+"', '"request_id":"ID"'),
    (r'(?m)^\d{4}-\d\d-\d\dT[\d:.]+Z', 'TIME'),
    (r'there are abs, [\w, ]*', 'there are STAGES'),  # a new stage is no new message
)
MODES = {'secret.png': 0, 'secrets': 0, 'readonly': 0o555}


def as_a_user():
    """Between fork and exec: root is bound by the modes of files, too (no CAP_DAC_OVERRIDE, no CAP_DAC_READ_SEARCH)."""
    for capability in (1, 2):
        ctypes.CDLL(None).prctl(24, capability, 0, 0, 0)  # PR_CAPBSET_DROP


class Place:
    """The folder where all is typed, and the daemon there."""

    def __init__(self):
        self.dir = os.path.realpath(tempfile.mkdtemp(prefix='sluice-'))
        for name, data in FILES.items():
            os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
            self.write(name, data)
        for name, members in ARCHIVES.items():
            with zipfile.ZipFile(self.path(name), 'w') as archive:
                for member, data in members.items():
                    archive.writestr(member, data)
        os.symlink('nowhere/edges.png', self.path('dangling.png'))
        self.write('.curlrc', b'silent\nshow-error\nunix-socket=http.sock\nwrite-out="\\nHTTP %{http_code}\\n"\n')
        os.mkdir(self.path('bin'))
        for program in (SLUICE, SLUICED):
            os.symlink(program, self.path('bin/' + os.path.basename(program)))
        for name, mode in MODES.items():
            os.chmod(self.path(name), mode)
        kept = {name: value for name, value in os.environ.items()
                if not name.startswith('SLUICE_') or name == 'SLUICE_CACHE_DIR'}
        self.env = dict(kept, SLUICE_DEVICE='reference', HOME=self.dir, CURL_HOME=self.dir, LC_ALL='C.UTF-8',
                        PATH=self.path('bin') + ':' + os.environ['PATH'])
        if os.path.exists(POCL):
            self.env['OCL_ICD_VENDORS'] = POCL
        self.daemon = None

    def path(self, name):
        return os.path.join(self.dir, name)

    def write(self, name, data):
        with open(self.path(name), 'wb') as file:
            file.write(data)

    def start_daemon(self):
        """And wait until it has failed the picture that is damaged."""
        with open(self.path('daemon.log'), 'wb') as log:
            self.daemon = subprocess.Popen(
                [SLUICED, '--watch', 'photos', '--output', 'results', '--chain', 'luminance', '--state', 'state',
                 '--http-socket', 'http.sock', '--jobs-socket', 'jobs.sock', '--max-pixels', '100kP', '--stable', '50ms'],
                cwd=self.dir, env=self.env, stderr=log, preexec_fn=as_a_user)
        end = time.monotonic() + PATIENCE
        while not os.path.exists(self.path('photos/.sluice/failed/bad.png.error.json')):
            assert time.monotonic() < end and self.daemon.poll() is None, open(self.path('daemon.log')).read()
            time.sleep(0.02)

    def type(self, command):
        """What is printed, and the exit status."""
        shell = subprocess.Popen(['sh', '-c', command], cwd=self.dir, env=self.env, stdin=subprocess.DEVNULL,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=as_a_user,
                                 start_new_session=True)
        try:
            out, err = shell.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:  # a daemon that starts all the same
            os.killpg(shell.pid, signal.SIGKILL)
            out, err = shell.communicate()
        printed = pictures.without_drivers(err.decode(errors='replace'))
        if command.startswith('curl '):
            printed += out.decode(errors='replace').lstrip('\n')
        elif out:
            printed += 'STDOUT: ' + out.decode(errors='replace')
        for pattern, word in VARIES:
            printed = re.sub(pattern, word, printed)
        return printed.replace(self.dir, 'DIR'), shell.returncode

    def remove(self):
        if self.daemon:
            self.daemon.terminate()
            self.daemon.wait()
        for name in MODES:
            os.chmod(self.path(name), 0o755)
        shutil.rmtree(self.dir)


class Mistake:
    """An entry of the list."""

    def __init__(self, text):
        lines = text.split('\n')
        self.what, self.command = lines[0], lines[1][2:]
        self.yaml = ''.join(line[2:] + '\n' for line in lines if re.match('>( |$)', line))
        self.typed = [line for line in lines if re.match(r'[#$>]( |$)', line)]
        self.printed = [line for line in lines[len(self.typed):]]

    def made(self, place):
        """The entry, with what is printed now."""
        if self.yaml:
            place.write('sluice.yaml', self.yaml.encode())
        printed, status = place.type(self.command)
        return '\n'.join(self.typed + printed.splitlines() + ['[%d]' % status])


def read_list():
    """The list's paragraphs: text, or mistakes."""
    with open(LIST, encoding='utf-8') as file:
        return [Mistake(part) if part.startswith('# ') else part for part in file.read().rstrip('\n').split('\n\n')]


class Mistakes(unittest.TestCase):
    maxDiff = None

    @needs_opencl
    def test_all(self):
        place = Place()
        self.addCleanup(place.remove)
        place.start_daemon()
        for entry in read_list():
            if isinstance(entry, Mistake):
                with self.subTest(entry.what):
                    self.assertEqual(entry.made(place), '\n'.join(entry.typed + entry.printed))


def write_list():
    place = Place()
    try:
        place.start_daemon()
        parts = [entry.made(place) if isinstance(entry, Mistake) else entry for entry in read_list()]
    finally:
        place.remove()
    with open(LIST, 'w', encoding='utf-8') as file:
        file.write('\n\n'.join(parts) + '\n')


if __name__ == '__main__':
    if sys.argv[1:] == ['--write']:
        write_list()
    else:
        unittest.main()
