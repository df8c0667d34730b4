#!/usr/bin/env python3
"""`sluice` as a person and a script use it. Usage: test_cli.py SLUICE [unittest options]"""
import base64
import itertools
import json
import math
import os
import random
import shutil
import struct
import subprocess
import sys
import unittest
import zipfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..'))
import pictures  # noqa: E402
from built import needs_opencl  # noqa: E402
from folder import FolderTest  # noqa: E402

SLUICE = os.path.abspath(sys.argv.pop(1))


def full_range(y):
    """Y of limited range as grey of full range."""
    return min(255, max(0, round((y - 16) * 255 / 219)))


class Cli(FolderTest):
    def sluice(self, *args, status=0, stdin=b'', env=None):
        """Runs it; returns (stdout, stderr) as bytes and text, after a look at the exit status."""
        result = subprocess.run([SLUICE, *args], input=stdin, capture_output=True, cwd=self.dir,
                                env=dict(os.environ, **(env or {})), timeout=300)
        stderr = pictures.without_drivers(result.stderr.decode())
        self.assertEqual(result.returncode, status, '%s\n%s' % (args, stderr))
        return result.stdout, stderr

    def grey(self, name='grey.pgm', width=37, height=21, seed=1):
        samples = pictures.noise(width, height, seed=seed)
        self.write(name, pictures.pnm(width, height, samples))
        return samples

    def rgb(self, name='rgb.ppm', width=37, height=21, seed=2):
        samples = pictures.noise(width, height, 3, seed=seed)
        self.write(name, pictures.pnm(width, height, samples, 3))
        return samples


class Run(Cli):
    def test_result_is_the_definition(self):
        samples = self.rgb()
        self.sluice('run', '-c', 'luminance,sobel', '-o', 'out.pgm', 'rgb.ppm')
        grey = pictures.luminance(samples)
        self.assertEqual(pictures.read_pnm(self.read('out.pgm')),
                         (37, 21, 1, 255, pictures.sobel(37, 21, grey)))

    def test_thresholds_that_part_nothing(self):
        """Stages' warnings are in the plan and with the result, also of a fused stage."""
        self.rgb()
        for chain, says in (('luminance,threshold:0.5', 'all but 0 and below come out high; half of white is 128'),
                            ('threshold:300', 'all come out low'), ('threshold:0', 'all come out high')):
            out, _ = self.sluice('plan', '-c', chain, '37x21x3')
            self.assertIn('warning: t is ', out.decode(), chain)
            _, err = self.sluice('run', '-c', chain, '-o', 'out.png', 'rgb.ppm')
            self.assertIn('rgb.ppm: warning: threshold: t is ', err)
            self.assertIn(says, err)
        out, _ = self.sluice('plan', '-c', 'threshold:128', '37x21x3')
        self.assertNotIn('warning', out.decode())

    def test_png_by_name(self):
        samples = self.grey()
        self.sluice('run', '-c', 'sobel', '-o', 'out.png', 'grey.pgm')
        self.assertEqual(pictures.read_png(self.read('out.png')),
                         (37, 21, 1, 8, pictures.sobel(37, 21, samples)))

    def test_stdin_and_stdout(self):
        samples = self.grey()
        out, _ = self.sluice('run', '-c', 'sobel', '-f', 'pgm', '-o', '-', '-',
                             stdin=self.read('grey.pgm'))
        self.assertEqual(pictures.read_pnm(out)[4], pictures.sobel(37, 21, samples))

    def test_format_is_told_by_content(self):
        samples = self.grey('picture.jpg')
        self.sluice('run', '-o', 'out.pgm', 'picture.jpg')
        self.assertEqual(pictures.read_pnm(self.read('out.pgm'))[4], samples)

    def test_many_files_into_a_directory(self):
        for i in range(7):
            self.grey('in%d.pgm' % i, seed=i + 1)
        self.sluice('run', '-c', 'sobel', '-o', 'results/', *['in%d.pgm' % i for i in range(7)])
        self.assertEqual(sorted(os.listdir(self.path('results'))), ['in%d.png' % i for i in range(7)])

    def test_goes_on_after_a_failure(self):
        self.grey('a.pgm')
        self.write('broken.pgm', b'P5\n10 10\n255\nabc')
        self.grey('c.pgm')
        os.mkdir(self.path('out'))
        _, err = self.sluice('run', '-c', 'sobel', '-o', 'out', 'a.pgm', 'broken.pgm', 'missing.pgm',
                             'c.pgm', status=1)
        self.assertEqual(sorted(os.listdir(self.path('out'))), ['a.png', 'c.png'])
        self.assertIn('sluice: broken.pgm: truncated pnm', err)
        self.assertIn('sluice: missing.pgm: No such file', err)
        self.assertIn('2 of 4 files failed', err)

    def test_no_half_file_is_left(self):
        self.write('broken.pgm', b'P5\n10 10\n255\nabc')
        self.sluice('run', '-c', 'sobel', '-o', 'out.png', 'broken.pgm', status=65)
        self.assertEqual(os.listdir(self.dir), ['broken.pgm'])

    def test_converts_without_a_device(self):
        samples = self.grey()
        self.sluice('run', '-o', 'out.png', 'grey.pgm', env={'OCL_ICD_VENDORS': '/nonexistent'})
        self.assertEqual(pictures.read_png(self.read('out.png'))[4], samples)

    def test_reference_loads_no_opencl(self):
        samples = self.grey()
        _, err = self.sluice('run', '--device', 'reference', '-c', 'sobel', '-o', 'out.pgm', 'grey.pgm',
                             env={'LD_DEBUG': 'files'})
        self.assertNotIn('libOpenCL', err)
        self.assertEqual(pictures.read_pnm(self.read('out.pgm'))[4], pictures.sobel(37, 21, samples))

    def test_planes_get_files_of_their_own(self):
        self.grey()
        self.sluice('run', '-c', 'sobel:both', '-o', 'out.pgm', 'grey.pgm')
        self.assertEqual(sorted(os.listdir(self.dir)), ['grey.pgm', 'out.dx.pgm', 'out.dy.pgm'])
        _, err = self.sluice('run', '-c', 'sobel:both', '-f', 'pgm', '-o', '-', 'grey.pgm', status=64)
        self.assertIn('planes', err)
        self.assertIn('npz', err)

    def test_verify(self):
        self.rgb()
        self.sluice('run', '--verify', '-c', 'luminance,sobel:l1', '-o', 'out.png', 'rgb.ppm')

    def test_16_bits(self):
        samples = pictures.noise(20, 10, seed=5, maxval=65535)
        self.write('deep.pgm', pictures.pnm(20, 10, samples, maxval=65535))
        self.sluice('run', '-o', 'out.png', 'deep.pgm')
        self.assertEqual(pictures.read_png(self.read('out.png')), (20, 10, 1, 16, samples))

    def test_own_input_is_not_replaced(self):
        self.grey('a.pgm')
        self.sluice('run', '-f', 'pgm', '-o', '.', 'a.pgm', status=73)


class Formats(Cli):
    """Any format to any other: what is exact stays exact."""

    def convert(self, source, target, *options):
        self.sluice('run', *options, '-o', target, source)
        return target

    def test_round_trips(self):
        grey, rgb = self.grey(), self.rgb()
        for name, samples, channels in (('grey.pgm', grey, 1), ('rgb.ppm', rgb, 3)):
            for first in ('png', 'bmp', 'npy', 'pnm'):
                for second in ('png', 'bmp', 'npy', 'pnm'):
                    self.convert(self.convert(self.convert(name, 'a.' + first), 'b.' + second), 'c.pnm')
                    self.assertEqual(pictures.read_pnm(self.read('c.pnm')),
                                     (37, 21, channels, 255, samples), (first, second))

    def test_jpeg_is_near(self):
        self.sluice('testcard', '-o', 'card.ppm', '--size', '320x240')
        for quality, psnr in ((100, 40), (90, 28), (30, 18)):
            self.convert('card.ppm', 'card.jpg', '-f', 'jpg:quality=%d' % quality)
            out, _ = self.sluice('compare', '--json', 'card.ppm', 'card.jpg', status=1)
            self.assertGreater(json.loads(out)['psnr'], psnr)

    def test_luminance_of_a_jpeg_is_its_own(self):
        self.rgb()
        self.convert('rgb.ppm', 'rgb.jpg')
        for chain, stored in (('luminance', True), ('luminance:bt709', False), ('luminance:exact=1', False)):
            out, _ = self.sluice('run', '--json', '--verify', '-c', chain, '-o', 'y.pgm', 'rgb.jpg')
            self.assertEqual(bool(json.loads(out)['files'][0]['stored_luma']), stored, chain)

    def test_nothing_is_copied(self):
        self.rgb('big.ppm', 640, 480)
        for name in ('big.jpg', 'big.png', 'big.bmp'):
            self.convert('big.ppm', name)
            out, _ = self.sluice('run', '--json', '-c', 'sobel', '-o', 'out.png', name)
            self.assertEqual(json.loads(out)['files'][0]['bytes_copied'], 0, name)

    def test_video_is_the_same_on_every_device(self):
        self.write('frame.nv12', bytes(pictures.noise(37, 21 + 11, seed=9) + pictures.noise(11, 1, seed=2)))
        self.write('frame.yuyv', bytes(pictures.noise(76, 21, seed=8)))
        for layout in ('nv12', 'yuyv'):
            for chain in ('luminance,sobel', 'luminance:bt709', 'gauss:sigma=2', 'crop:2:2:9:9', 'invert'):
                self.sluice('run', '--verify', '--input', 'raw=%s:w=37:h=21' % layout, '-c', chain, '-o', 'out.png',
                            '--on-exists', 'overwrite', 'frame.' + layout)

    def test_raw_frames(self):
        samples = self.grey()
        self.convert('grey.pgm', 'grey.raw')
        self.assertEqual(list(self.read('grey.raw')), samples)
        self.convert('grey.raw', 'again.pgm', '--input', 'raw=gray8:w=37:h=21')
        self.assertEqual(pictures.read_pnm(self.read('again.pgm'))[4], samples)
        luma, chroma = pictures.noise(8, 6, seed=3), pictures.noise(8, 3, seed=4)
        self.write('frame.nv12', bytes(luma + chroma))
        self.convert('frame.nv12', 'y.pgm', '--input', 'raw=nv12:w=8:h=6', '-c', 'luminance')
        self.assertEqual(pictures.read_pnm(self.read('y.pgm')), (8, 6, 1, 255, [full_range(v) for v in luma]))
        self.convert('frame.nv12', 'rgb.ppm', '--input', 'raw=nv12:w=8:h=6')
        self.assertEqual(pictures.read_pnm(self.read('rgb.ppm'))[:3], (8, 6, 3))

    def test_signed_and_floating_planes(self):
        self.grey()
        self.convert('grey.pgm', 'edges.npy', '-c', 'sobel:dx')
        self.assertIn(b"'|i1'", self.read('edges.npy'))
        self.convert('edges.npy', 'edges.pgm')
        signed = [b - 256 if b > 127 else b for b in self.read('edges.npy')[128:]]
        self.assertEqual(pictures.read_pnm(self.read('edges.pgm'))[4], [v + 128 for v in signed])

    def test_cut_files(self):
        self.rgb('big.ppm', 300, 200)
        for name in ('big.jpg', 'big.png', 'big.bmp', 'big.npy'):
            self.convert('big.ppm', name)
            cut = 'cut-' + name
            self.write(cut, self.read(name)[:-5000])
            _, err = self.sluice('run', '-o', 'out.ppm', cut, status=65)
            self.assertIn('sluice: %s: truncated' % cut, err)
            self.convert(cut, 'part.ppm', '--input', 'partial=1')
            self.assertEqual(pictures.read_pnm(self.read('part.ppm'))[:3], (300, 200, 3))


def npy(descr, shape, samples):
    """An array of version 1.0, little-endian; samples in C order."""
    head = "{'descr': '%s', 'fortran_order': False, 'shape': %s, }" % (descr, tuple(shape))
    head = head.ljust(117).encode() + b'\n'
    kind = {'u1': 'B', 'i1': 'b', 'u2': 'H', 'i2': 'h', 'i4': 'i', 'f4': 'f', 'f8': 'd'}[descr[1:]]
    return b'\x93NUMPY\1\0' + struct.pack('<H', len(head)) + head + struct.pack(
        '<%d%s' % (len(samples), kind), *samples)


class Words(Cli):
    """What people try: other programs' names, several mistakes at once, formats that there are not."""

    def test_all_mistakes_of_a_chain_at_once(self):
        self.grey()
        chain = 'grey,sobel:scale=x:out=q,box'
        for command in (('run', '-o', 'x.png', 'grey.pgm'), ('plan', '8x8'), ('bench', '--end-to-end', 'grey.pgm')):
            _, err = self.sluice(command[0], '-c', chain, *command[1:], status=64)
            lines = err.splitlines()
            self.assertEqual([line.split(': ')[:2] for line in lines[::3]], [['sluice', 'chain']] * 4, err)
            self.assertEqual(lines[1::3], ['  ' + chain] * 4)
            self.assertEqual(lines[2::3], ['  ^^^^', ' ' * 19 + '^', ' ' * 25 + '^', ' ' * 27 + '^^^'])

    def test_other_programs_names(self):
        for tried, says in (('grey', 'luminance'), ('GRAY', 'luminance'), ('greyscale', 'luminance'), ('blur', 'gauss:1.5'),
                            ('Gaussian', 'gauss:1.5'), ('mean', 'box:'), ('average', 'box:'), ('negative', 'invert'),
                            ('edges', 'sobel'), ('denoise', 'shrink'), ('thumbnail', 'resize:'),
                            ('trim', 'crop:'), ('mirror', 'flip:x'), ('scale:0.5', 'gain:0.5'),
                            ('scale:0.5', 'resize')):
            _, err = self.sluice('plan', '-c', tried, '8x8', status=64)
            self.assertIn(says, err)
        _, err = self.sluice('stages', 'blur', status=64)
        self.assertIn('sluice calls it gauss:1.5', err)

    def test_foreign_formats(self):
        self.grey()
        for name in ('avif', 'HEIC', 'gif'):
            for arguments in (('-f', name, '-o', 'out'), ('-o', 'out.' + name)):
                _, err = self.sluice('run', *arguments, 'grey.pgm', status=64)
                self.assertRegex(err, '(?i)sluice writes no %s' % name)
        self.write('photo.jpg', b'\0\0\0\x20ftypavif')
        _, err = self.sluice('run', '-o', 'out.png', 'photo.jpg', status=65)
        self.assertIn('photo.jpg: unknown format: AVIF', err)

    def test_raw_by_position(self):
        self.write('frame.raw', bytes(range(12)))
        self.sluice('run', '--input', 'raw=gray8:4:3', '-o', 'out.pgm', 'frame.raw')
        self.assertEqual(pictures.read_pnm(self.read('out.pgm')), (4, 3, 1, 255, list(range(12))))
        _, err = self.sluice('run', '--input', 'raw=gray8:4:1', '-o', 'out.pgm', 'frame.raw', status=65)
        self.assertIn('3 frames of 4×1 gray8', err)


class Sizes(Cli):
    """What changes a picture's size and place, on files."""

    def photo(self, width, height, orientation=1):
        """A JPEG, whose Exif data tells the orientation."""
        self.sluice('testcard', '-o', 'card.ppm', '--size', '%dx%d' % (width, height))
        self.sluice('run', '-q', '-o', 'photo.jpg', 'card.ppm')
        self.turn('photo.jpg', orientation)

    def turn(self, name, orientation):
        exif = b'Exif\0\0MM\0*\0\0\0\x08\0\1\x01\x12\0\3\0\0\0\1\0' + bytes([orientation]) + bytes(6)
        data = self.read(name)
        self.write(name, data[:2] + b'\xff\xe1' + (len(exif) + 2).to_bytes(2, 'big') + exif + data[2:])

    def report(self, chain, *args):
        out, _ = self.sluice('run', '--json', '--verify', '-c', chain, '-o', 'out.ppm', *args, 'photo.jpg')
        return json.loads(out)['files'][0]

    def test_jpeg_is_read_reduced(self):
        """As small as it may be while it stays at least twice the result and eight more each way; verified against the same."""
        self.photo(400, 300)
        for chain, reduced, width, height in (
                ('resize:19', 8, 19, 14), ('resize:20', 8, 20, 15), ('resize:21', 4, 21, 16), ('resize:44', 4, 44, 33),
                ('resize:94', 2, 94, 71),
                ('resize:96', 1, 96, 72), ('resize:20:exact=1', 1, 20, 15), ('resize:by=0.11', 4, 44, 33),
                ('resize:10:71:fit=exact', 2, 10, 71), ('resize:20:20:fit=cover', 4, 20, 20),
                ('resize:40:25:fit=pad', 4, 40, 25), ('invert,resize:25', 1, 25, 19), ('crop:0:0:400:300,resize:25', 1, 25, 19)):
            report = self.report(chain)
            self.assertEqual((report['reduced'], report['out']['width'], report['out']['height']),
                             (reduced, width, height), chain)
            self.assertEqual(report['largest_difference'], 0, chain)
        report = self.report('luminance,resize:20')
        self.assertEqual((report['reduced'], report['stored_luma'], report['in']['width']), (8, True, 50))
        out, _ = self.sluice('run', '--timing', '-c', 'resize:20', '-o', 'out.ppm', 'photo.jpg')
        self.assertIn(b'decoded at 1/8 of its sides, which are 400x300', out)

    def test_reduced_is_near(self):
        """Smooth pictures of all sizes from 8 to 64 a side, and larger ones, in all orientations, against a full decode."""
        rng, factors, sizes = random.Random(8), ('0.1', '0.04', '0.02'), {}
        for folder in factors:
            os.mkdir(self.path('smooth' + folder))
        for width, height in itertools.product(range(8, 65), repeat=2):
            sizes.setdefault((width * 57 + height) % 3, []).append((width, height))
        for i, folder in enumerate(factors):
            for width, height in sizes[i] + [(rng.randint(65, 700), rng.randint(65, 700)) for _ in range(20)]:
                tilt = rng.uniform(-0.9, 0.9)
                across = bytes(int(128 + 100 * math.sin(2.5 * x / width + tilt)) for x in range(width))
                rows = (across.translate(bytes(int(v * (0.8 + 0.2 * math.cos(2 * y / height))) for v in range(256)))
                        for y in range(height))
                self.write('smooth%s/%dx%d.pgm' % (folder, width, height),
                           b'P5 %d %d 255\n' % (width, height) + b''.join(rows))
            self.sluice('run', '-q', '-f', 'jpg:quality=95', '-o', 'jpeg/', 'smooth' + folder)
            for name in os.listdir(self.path('jpeg')):
                self.turn('jpeg/' + name, rng.randint(1, 8))
            out, _ = self.sluice('run', '--json', '-c', 'resize:by=' + folder, '-f', 'pgm', '-o', 'reduced/', 'jpeg')
            self.assertGreater(sum(file['reduced'] > 1 for file in json.loads(out)['files']), 100)
            self.sluice('run', '-q', '-c', 'resize:exact=1:by=' + folder, '-f', 'pgm', '-o', 'whole/', 'jpeg')
            for name in os.listdir(self.path('whole')):
                pairs = list(zip(pictures.read_pnm(self.read('whole/' + name))[4],
                                 pictures.read_pnm(self.read('reduced/' + name))[4]))
                mean = sum((a - b) ** 2 for a, b in pairs) / len(pairs)
                self.assertLess(mean, 255 ** 2 / 10 ** 4.5, name)
            for folder in ('jpeg', 'whole', 'reduced'):
                shutil.rmtree(self.path(folder))

    def test_orientation(self):
        """The picture is turned before it is resized, as it is looked at; whole or reduced."""
        for orientation, turns in ((1, ''), (3, 'rotate:180,'), (6, 'rotate:90,'), (8, 'rotate:270,'), (5, 'rotate:90,flip:x,')):
            self.photo(400, 300, orientation)
            for size in (',resize:150', ''):
                out = self.report((turns + 'invert,invert' + size), '--input', 'orient=0')['out']
                os.rename(self.path('out.ppm'), self.path('expected.ppm'))
                self.report(('invert,invert' + size))
                self.sluice('compare', 'expected.ppm', 'out.ppm')
                self.assertEqual(out['width'] > out['height'], orientation < 5)
            report = self.report('resize:h=30')
            self.assertEqual(report['out']['height'], 30)
            self.assertEqual(report['reduced'], 4)

    def test_plan_tells_of_a_jpeg(self):
        out, _ = self.sluice('plan', '-c', 'luminance,resize:640', '4032x3024x3')
        self.assertIn('of a jpeg 2016x1512x1: decoded at 1/2 of its sides, its own Y channel', out.decode())
        out, _ = self.sluice('plan', '--json', '-c', 'resize:640', '4032x3024x3')
        self.assertEqual(json.loads(out)['jpeg'], {'width': 1008 * 2, 'height': 756 * 2, 'channels': 3, 'reduced': 2,
                                                   'stored_luma': False})

    def test_mistakes(self):
        self.grey('grey.pgm', 37, 21)
        for chain, status, says in (
                ('resize', 64, 'its size is missing'), ('resize:5:fit=cover', 64, 'needs both w and h'),
                ('resize:5:by=2', 64, 'either by or w'), ('crop:30:0:8:8', 65, 'outside of the picture, which is 37×21'),
                ('crop:w=2:h=2:gravity=north:x=1', 64, 'either'), ('pad:1:1:1:1:background=1_2', 65, 'background'),
                ('rotate:x', 64, '90, 180, 270'), ('flip', 64, 'axis')):
            _, err = self.sluice('run', '-c', chain, '-o', 'out.pgm', 'grey.pgm', status=status)
            self.assertIn(says, err)
            self.assertFalse(os.path.exists(self.path('out.pgm')))


class Odd(Cli):
    """What decoders only warn of is read, and told in their words."""

    def test_told_once_and_read(self):
        self.write('odd.png', pictures.odd_png())
        _, err = self.sluice('run', '-o', 'out.pgm', 'odd.png')
        self.assertEqual(err.splitlines(), ['sluice: odd.png: warning: ' + w for w in pictures.ODD_PNG_WARNINGS])
        self.assertEqual(pictures.read_pnm(self.read('out.pgm'))[:3], (4, 3, 1))
        _, err = self.sluice('run', '-q', '-o', 'out.pgm', 'odd.png')
        self.assertEqual(err, '')
        _, err = self.sluice('compare', 'odd.png', 'out.pgm')
        self.assertEqual(err.count('warning: png: '), 2)

    def test_report(self):
        self.grey()
        self.write('odd.png', pictures.odd_png())
        out, _ = self.sluice('run', '--json', '-o', 'out/', 'odd.png', 'grey.pgm')
        self.assertEqual([f['warnings'] for f in json.loads(out)['files']], [pictures.ODD_PNG_WARNINGS, []])

    def test_strict(self):
        self.write('odd.png', pictures.odd_png())
        _, err = self.sluice('run', '--input', 'strict=1', '-o', 'out.pgm', 'odd.png', status=65)
        self.assertIn('sluice: odd.png: damaged png: tEXt: CRC error', err)
        self.assertFalse(os.path.exists(self.path('out.pgm')))

    def test_truncated_is_no_warning(self):
        self.write('cut.png', pictures.odd_png(200, 200)[:-40])
        _, err = self.sluice('run', '-o', 'out.pgm', 'cut.png', status=65)
        self.assertIn('truncated png', err)
        self.sluice('run', '--input', 'partial=1', '-o', 'out.pgm', 'cut.png')


# numpy 1.24.2: savez_compressed(f, a=arange(6, dtype='>i2').reshape(2, 3), b=array([[1.5]]))
SAVEZ = base64.b64decode(
    'UEsDBBQAAAAIAAAAIQCQvN3CUgAAAIwAAAAFABQAYS5ucHkBABAAjAAAAAAAAABSAAAAAAAAAJvsF+obEMnIUMZQrZ6SWpxc'
    'pG6loG6XaaSuo6Cell9UUpSYF59flJIKEndLzClOBYoXZyQWpAL5GkY6CsaaOgq1CmQDLgYGBkYGJgZmBhYGVgBQSwMEFAAA'
    'AAgAAAAhAINtEuRLAAAAiAAAAAUAFABiLm5weQEAEACIAAAAAAAAAEsAAAAAAAAAm+wX6hsQychQxlCtnpJanFykbqWgbpNm'
    'oa6joJ6WX1RSlJgXn1+UkgoSd0vMKU4FihdnJBakAvkahjoKhpo6CrUKZAMuBjD4YQ8AUEsBAhQDFAAAAAgAAAAhAJC83cJS'
    'AAAAjAAAAAUAAAAAAAAAAAAAAIABAAAAAGEubnB5UEsBAhQDFAAAAAgAAAAhAINtEuRLAAAAiAAAAAUAAAAAAAAAAAAAAIAB'
    'iQAAAGIubnB5UEsFBgAAAAACAAIAZgAAAAsBAAAAAA==')


class Planes(Cli):
    """Frames of several planes: NPZ with all of them, other formats with a file each."""

    def npz(self, name, planes, meta=None, deflated=False):
        how = zipfile.ZIP_DEFLATED if deflated else zipfile.ZIP_STORED
        with zipfile.ZipFile(self.path(name), 'w', how) as archive:
            for plane, array in planes.items():
                archive.writestr(plane + '.npy', array)
            if meta:
                archive.writestr('meta.json', json.dumps(meta))
        return name

    def arrays(self, name):
        with zipfile.ZipFile(self.path(name)) as archive:
            self.assertIsNone(archive.testzip())
            return {n: archive.read(n) for n in archive.namelist()}

    def test_written(self):
        samples = self.grey()
        for form in ('npz', 'npz:level=9'):
            self.sluice('run', '-c', 'sobel:both', '-f', form, '-o', 'out.npz', 'grey.pgm')
            arrays = self.arrays('out.npz')
            self.assertEqual(list(arrays), ['dx.npy', 'dy.npy', 'meta.json'])
            self.sluice('run', '-c', 'sobel:both', '-o', 'out.npy', 'grey.pgm')
            for plane in ('dx', 'dy'):
                self.assertEqual(arrays[plane + '.npy'], self.read('out.%s.npy' % plane))
            meta = json.loads(arrays['meta.json'])
            self.assertEqual(meta['version'], 1)
            self.assertEqual(meta['origins'], [])
            self.assertEqual(meta['planes'][1], {'name': 'dy', 'width': 37, 'height': 21, 'channels': 1,
                                                 'type': 'i8', 'white': 127, 'zero_x': 0, 'zero_y': 0})
        self.sluice('run', '-o', 'one.npz', 'grey.pgm')
        self.assertEqual(self.arrays('one.npz')['image.npy'], npy('|u1', (21, 37), samples))

    def test_stream(self):
        self.grey()
        for form in ('npz', 'npz:1'):
            out, _ = self.sluice('run', '-c', 'sobel:both', '-f', form, '-o', '-', '-',
                                 stdin=self.read('grey.pgm'))
            self.sluice('run', '-c', 'sobel:both', '-f', form, '-o', 'out.npz', 'grey.pgm')
            self.assertEqual(out, self.read('out.npz'))

    def test_numpy(self):
        try:
            import numpy
        except ImportError:
            self.skipTest('no numpy')
        self.rgb()
        self.sluice('run', '-c', 'sobel:both', '-o', 'out.npz', 'rgb.ppm')
        with numpy.load(self.path('out.npz')) as arrays:
            self.assertEqual(arrays['dx'].shape, (21, 37, 3))
            self.assertEqual(arrays['dy'].dtype, numpy.int8)
        deep = numpy.arange(60, dtype='>i2').reshape(4, 5, 3)
        numpy.savez_compressed(self.path('in.npz'), deep=numpy.asfortranarray(deep), low=deep[0] * 0.5)
        self.sluice('run', '-o', 'again.npz', 'in.npz')
        with numpy.load(self.path('again.npz')) as arrays:
            self.assertTrue((arrays['deep'] == deep).all())
            self.assertTrue((arrays['low'] == deep[0] * 0.5).all())

    def test_savez(self):
        self.write('in.npz', SAVEZ)
        self.sluice('run', '-o', 'out.npz', 'in.npz')
        arrays = self.arrays('out.npz')
        self.assertEqual(arrays['a.npy'], npy('<i2', (2, 3), range(6)))
        self.assertEqual(arrays['b.npy'], npy('<f8', (1, 1), [1.5]))
        self.sluice('run', '-o', 'out.pgm', 'in.npz')
        self.assertEqual(pictures.read_pnm(self.read('out.a.pgm')),
                         (3, 2, 1, 65535, [32768 + i for i in range(6)]))
        self.assertEqual(pictures.read_pnm(self.read('out.b.pgm')), (1, 1, 1, 255, [2]))

    def bare(self, chain, source, env=None):
        """The planes that the chain makes, as numpy.savez writes them: in another order, without meta.json."""
        self.sluice('run', '-c', chain, '-f', 'npz', '-o', 'full.npz', source, env=env)
        arrays = self.arrays('full.npz')
        del arrays['meta.json']
        return self.npz('bare.npz', {n[:-len('.npy')]: a for n, a in sorted(arrays.items(), reverse=True)})

    def test_planes_without_meta(self):
        """What made them is said by idwt's own words; the error says which there are."""
        for width, height in ((37, 21), (36, 20), (1, 5)):
            self.grey('in.pgm', width, height)
            env = None if width == 36 else {'SLUICE_DEVICE': 'reference'}
            for transform, words in (
                    ('cdf97', 'wavelet=cdf97'), ('cdf53:levels=2', 'wavelet=cdf53'),
                    ('cdf53:levels=2:precision=reversible', 'wavelet=cdf53'),
                    ('cdf97:precision=double', 'wavelet=cdf97'),
                    ('haar:levels=1', 'wavelet=haar'), ('db4:levels=2', 'wavelet=db4'),
                    ('db2:mode=symmetric:levels=2', 'wavelet=db2:mode=symmetric'),
                    ('bior4.4:mode=zero', 'wavelet=bior4.4:mode=zero')):
                self.bare('dwt:' + transform, 'in.pgm', env)
                for size in ('', ':size=%dx%d' % (width, height)):
                    if not size and 'cdf' not in transform and (width % 2 or height % 2):
                        continue  # the even size is taken
                    self.sluice('run', '-c', 'idwt:%s:type=u8%s' % (words, size), '-o', 'out.pgm', 'bare.npz',
                                env=env)
                    self.assertEqual(self.read('out.pgm'), self.read('in.pgm'), (transform, size, width))
        self.bare('dwt:db2', 'in.pgm')
        _, err = self.sluice('run', '-c', 'idwt', '-o', 'out.pgm', 'bare.npz', status=65)
        for word in ('meta.json', 'wavelet=', 'mode=', 'precision=', 'size=WIDTHxHEIGHT', 'type='):
            self.assertIn(word, err)
        for words, says in (('wavelet=db2:size=40x40', 'expects plane'), ('wavelet=db2:size=4', 'WIDTHxHEIGHT'),
                            ('wavelet=cdf97:mode=zero', 'jpeg2000 only'), ('wavelet=db2:type=f64', 'type=')):
            _, err = self.sluice('run', '-c', 'idwt:' + words, '-o', 'out.pgm', 'bare.npz',
                                 status=64 if 'WxH' in says or 'WIDTH' in says else 65)
            self.assertIn(says, err)
        self.sluice('run', '-c', 'idwt:wavelet=haar:size=9x9', '-o', 'out.pgm', 'full.npz')  # what the planes say counts
        self.assertEqual(self.read('out.pgm'), self.read('in.pgm'))
        out, _ = self.sluice('plan', '-c', 'dwt,idwt:wavelet=haar', '8x8')
        self.assertIn('other parameters than levels do not count', out.decode())

    def test_planes_without_meta_may_be_missing_or_more(self):
        self.grey('in.pgm', 16, 16)
        self.bare('dwt:haar:levels=1', 'in.pgm')
        arrays = {n[:-4]: a for n, a in self.arrays('bare.npz').items()}
        self.npz('less.npz', {n: a for n, a in arrays.items() if n != 'HH1'})
        _, err = self.sluice('run', '-c', 'idwt:wavelet=haar', '-o', 'out.npy', 'less.npz', status=65)
        self.assertIn('plane HH1 is missing', err)
        self.npz('more.npz', dict(arrays, notes=npy('|u1', (1, 3), [1, 2, 3])))
        _, err = self.sluice('run', '-c', 'idwt:wavelet=haar', '-o', 'out.npy', 'more.npz', status=65)
        self.assertIn('1 of 5 planes belong to no transform', err)
        # Two transforms in one file, by the names before theirs.
        self.npz('two.npz', dict({'b.' + n: a for n, a in arrays.items()}, **{'a.' + n: a for n, a in arrays.items()}))
        self.sluice('run', '-c', 'idwt:wavelet=haar:type=u8', '-o', 'out.pgm', 'two.npz')
        for name in ('out.a.pgm', 'out.b.pgm'):
            self.assertEqual(self.read(name), self.read('in.pgm'))

    def test_bands_without_meta(self):
        for width, height in ((37, 21), (16, 16)):
            self.grey('in.pgm', width, height)
            env = None if width == 16 else {'SLUICE_DEVICE': 'reference'}
            for words in ('legall53:levels=3', 'cdf97:levels=2:border=cyclic', 'haar:levels=2:dims=1',
                          'cdf97:precision=double', 'sequence=haar_cdf97'):
                self.bare('analysis:' + words, 'in.pgm', env)
                back = words.replace(':levels=3', '').replace(':levels=2', '')
                self.sluice('run', '-c', 'synthesis:%s:size=%dx%d:type=u8' % (back, width, height), '-o', 'out.pgm',
                            'bare.npz', env=env)
                self.assertEqual(self.read('out.pgm'), self.read('in.pgm'), words)
        self.bare('analysis:cdf97', 'in.pgm')
        _, err = self.sluice('run', '-c', 'synthesis', '-o', 'out.pgm', 'bare.npz', status=65)
        for word in ('meta.json', 'bank=', 'size=WIDTHxHEIGHT', 'type=', 'border='):
            self.assertIn(word, err)
        _, err = self.sluice('run', '-c', 'synthesis:cdf97:size=40x40', '-o', 'out.pgm', 'bare.npz', status=65)
        self.assertIn('of a plane of 40×40', err)

    def test_a_single_plane_is_a_picture(self):
        for plane in ('image', 'arr_0'):
            self.npz('in.npz', {plane: npy('|u1', (1, 3), [1, 2, 3])})
            self.sluice('run', '-o', 'out.pgm', 'in.npz')
            self.assertEqual(pictures.read_pnm(self.read('out.pgm'))[4], [1, 2, 3])
            os.unlink(self.path('out.pgm'))

    def meta(self, mode):
        def plane(name, width, height, kind='f32'):
            return {'name': name, 'width': width, 'height': height, 'channels': 1, 'type': kind, 'white': 255,
                    'zero_x': -2, 'zero_y': 3}
        return {'version': 1,
                'planes': [plane('LL1', 2, 1), plane('HL1', 1, 1), plane('LH1', 2, 1), plane('HH1', 1, 1)],
                'origins': [{'stage': 'dwt', 'parameters': ':wavelet=cdf97:levels=1:mode=%s' % mode,
                             'plane': plane('', 3, 2, 'u8'), 'first': 0, 'count': 4}]}

    def bands(self, mode):
        return self.npz('in.npz', {'HH1': npy('<f4', (1, 1), [-1]), 'HL1': npy('<f4', (1, 1), [20.5]),
                                   'LH1': npy('<f4', (1, 2), [-3, 0]), 'LL1': npy('<f4', (1, 2), [100, 50])},
                        self.meta(mode), deflated=True)

    def test_metadata_comes_through(self):
        self.bands('jpeg2000')
        self.sluice('run', '-o', 'out.npz', 'in.npz')
        arrays = self.arrays('out.npz')
        self.assertEqual(list(arrays), ['LL1.npy', 'HL1.npy', 'LH1.npy', 'HH1.npy', 'meta.json'])
        self.assertEqual(json.loads(arrays['meta.json']), self.meta('jpeg2000'))

    def test_mosaic(self):
        self.bands('jpeg2000')
        self.sluice('run', '-o', 'out.pgm', 'in.npz')
        self.assertEqual(pictures.read_pnm(self.read('out.pgm')), (3, 2, 1, 255, [100, 50, 148, 125, 128, 127]))
        self.sluice('run', '-f', 'png:mosaic_gain=4', '-o', 'out.png', 'in.npz')
        self.assertEqual(pictures.read_png(self.read('out.png')), (3, 2, 1, 8, [100, 50, 210, 116, 128, 124]))
        for name in ('out.bmp', 'out.jpg'):
            self.sluice('run', '-o', name, 'in.npz')
            self.assertTrue(os.path.exists(self.path(name)))
        self.bands('symmetric')
        self.sluice('run', '-o', 'apart.pgm', 'in.npz')
        self.assertEqual(sorted(n for n in os.listdir(self.dir) if n.startswith('apart')),
                         ['apart.%s.pgm' % b for b in ('HH1', 'HL1', 'LH1', 'LL1')])

    def test_bad_archives(self):
        def bad(data, says):
            self.write('bad.npz', data)
            _, err = self.sluice('run', '-o', 'x.npz', 'bad.npz', status=65)
            self.assertTrue(err.startswith('sluice: bad.npz: '), err)
            self.assertIn(says, err)
        bad(SAVEZ[:-1], 'truncated npz')
        bad(SAVEZ[:100], 'truncated npz')
        bad(SAVEZ[:60] + b'????' + SAVEZ[64:], 'damaged npz')
        self.npz('in.npz', {'../../x': npy('|u1', (1, 1), [1])})
        bad(self.read('in.npz'), "called '../../x.npy'")
        self.npz('in.npz', {'a': npy('|u1', (60000, 60000), [1])})
        bad(self.read('in.npz'), '--max-pixels')
        self.npz('in.npz', {'b': npy('|u1', (1, 1), [1])}, self.meta('jpeg2000'))
        bad(self.read('in.npz'), 'lists 4 planes, 1 are there')

    def test_memory_is_bounded(self):
        zeros = npy('|u1', (5000, 1000), bytes(5000000))
        self.npz('many.npz', {'p%d' % i: zeros for i in range(60)}, deflated=True)
        self.assertLess(os.path.getsize(self.path('many.npz')), 1000000)
        _, err = self.sluice('run', '--memory', '100MiB', '-o', 'x.npz', 'many.npz', status=65)
        self.assertIn('--memory', err)

    def test_compare(self):
        one, two = npy('|u1', (1, 2), [1, 2]), npy('|u1', (1, 2), [1, 4])
        self.npz('a.npz', {'p': one, 'q': one})
        self.npz('b.npz', {'p': one, 'q': two})
        self.npz('c.npz', {'p': one})
        self.assertIn(b'differing 1\n', self.sluice('compare', 'a.npz', 'b.npz', status=1)[0])
        _, err = self.sluice('compare', 'a.npz', 'c.npz', status=65)
        self.assertIn('a.npz has 2 planes, c.npz has 1', err)

    def test_plan_shows_planes(self):
        out, _ = self.sluice('plan', '-c', 'sobel:both', '10x20')
        self.assertIn('out   dx 10x20x1 i8, dy 10x20x1 i8', out.decode())
        out, _ = self.sluice('plan', '--json', '-f', 'npz', '-c', 'sobel:both', '10x20')
        self.assertEqual([p['name'] for p in json.loads(out)['out']], ['dx', 'dy'])


class Numbers(Cli):
    """--json and --timing: what ran, and where."""

    def run_json(self, *args):
        out, _ = self.sluice('run', '--json', *args)
        return json.loads(out)

    def test_every_launch_is_named(self):
        self.rgb()
        for options, stages in (((), ['luminance+sobel', 'sink', 'sink']),
                                (('--no-fuse',), ['luminance', 'sobel', 'sink', 'sink'])):
            report = self.run_json('-c', 'luminance,sobel:both', *options, '-o', 'out.pgm', 'rgb.ppm')
            self.assertIsInstance(report['device'], str)
            file = report['files'][0]
            self.assertEqual([l['stage'] for l in file['launches']], stages)
            self.assertTrue(all(l['kernel'].startswith(l['stage'].replace('+', '_') + '_')
                                for l in file['launches']))
        self.assertTrue(all(l['run_s'] > 0 and l['queued_s'] >= 0 and l['wait_s'] >= 0
                            for l in file['launches']))

    def test_nothing_is_copied(self):
        self.write('big.pgm', pictures.pnm(4000, 3000, bytes(12000000)))
        file = self.run_json('-c', 'sobel', '-o', 'out.pgm', 'big.pgm')['files'][0]
        self.assertEqual((file['bytes_copied'], file['crossings_in'], file['crossings_out']), (0, 1, 1))
        self.assertEqual((file['in']['width'], file['in']['height']), (4000, 3000))

    @needs_opencl
    def test_second_start_compiles_nothing(self):
        self.grey()
        env = {'SLUICE_CACHE_DIR': self.path('cache'), 'SLUICE_DEVICE': 'cpu'}
        out, _ = self.sluice('run', '--json', '-c', 'sobel', '-o', 'out.pgm', 'grey.pgm', env=env)
        self.assertEqual((json.loads(out)['builds'], json.loads(out)['cache_hits']), (1, 0))
        out, _ = self.sluice('run', '--json', '-c', 'sobel', '-o', 'out.pgm', 'grey.pgm', env=env)
        self.assertEqual((json.loads(out)['builds'], json.loads(out)['cache_hits']), (0, 1))

    def test_one_compile_serves_all_sizes(self):
        for i in range(12):
            self.grey('in%d.pgm' % i, width=10 + i, height=5 + 3 * i)
        os.mkdir(self.path('out'))
        report = self.run_json('-c', 'sobel', '-o', 'out', *['in%d.pgm' % i for i in range(12)])
        self.assertLessEqual(report['builds'] + report['cache_hits'], 1)
        self.assertEqual(len(report['files']), 12)

    def test_launches_are_those_of_the_plan(self):
        self.rgb('rgb.ppm', 300, 200)
        report = self.run_json('-c', 'luminance,sobel', '-o', 'out.pgm', 'rgb.ppm')
        out, _ = self.sluice('plan', '--json', '-c', 'luminance,sobel', '300x200x3')
        plan = json.loads(out)
        self.assertEqual(plan['launches'], len(report['files'][0]['launches']))
        kernels = [p['kernel'] for s in plan['steps'] for p in s['passes']]
        self.assertEqual(kernels, [l['kernel'] for l in report['files'][0]['launches']])

    def test_timing_table(self):
        self.grey()
        out, _ = self.sluice('run', '--timing', '--iterations', '3', '-c', 'sobel', '-o', 'out.pgm',
                             'grey.pgm')
        text = out.decode()
        for word in ('queued ms', 'wait ms', 'run ms', 'sobel_magnitude_u8', 'copied by the host 0 bytes',
                     'decode', 'encode'):
            self.assertIn(word, text)

    def test_iterations_change_nothing(self):
        self.grey()
        self.sluice('run', '-c', 'sobel,sobel,sobel', '-o', 'once.pgm', 'grey.pgm')
        self.sluice('run', '--iterations', '5', '-c', 'sobel,sobel,sobel', '-o', 'often.pgm', 'grey.pgm')
        self.assertEqual(self.read('once.pgm'), self.read('often.pgm'))

    @needs_opencl
    def test_dump_and_load_binary(self):
        self.grey()
        self.sluice('run', '--dump-binary', 'program.bin', '-c', 'sobel', '-o', 'a.pgm', 'grey.pgm')
        self.assertGreater(os.path.getsize(self.path('program.bin')), 100)
        self.sluice('run', '--load-binary', 'program.bin', '-c', 'sobel', '-o', 'b.pgm', 'grey.pgm')
        self.assertEqual(self.read('a.pgm'), self.read('b.pgm'))
        self.write('garbage.bin', b'no program')
        _, err = self.sluice('run', '--load-binary', 'garbage.bin', '-c', 'sobel', '-o', 'c.pgm',
                             'grey.pgm', status=70)
        self.assertRegex(err, '--load-binary garbage.bin: not written by --dump-binary, .*: CL_INVALID_BINARY')
        for options, says in (
                (('-c', 'box:radius=2'), ['another chain or another kind of picture']),
                (('-c', 'sobel', '--input', 'raw=rgb24:4:4'), ['another chain or another kind of picture']),
                (('-c', 'sobel', '--cl-flags=-DX'), ["for compiler options '", "(here '", "-DX')"])):
            self.write('frame.raw', bytes(48))
            _, err = self.sluice('run', '--load-binary', 'program.bin', *options, '-o', 'c.pgm',
                                 'frame.raw' if 'raw=rgb24:4:4' in options else 'grey.pgm', status=70)
            for word in ['--load-binary program.bin: the program was made for '] + says:
                self.assertIn(word, err)
        with open(self.path('program.bin'), 'r+b') as dumped:
            dumped.seek(-1, os.SEEK_END)
            last = dumped.read(1)[0]
            dumped.seek(-1, os.SEEK_END)
            dumped.write(bytes([last ^ 1]))
        _, err = self.sluice('run', '--load-binary', 'program.bin', '-c', 'sobel', '-o', 'c.pgm', 'grey.pgm', status=70)
        self.assertIn('--load-binary program.bin: the file is damaged', err)
        _, err = self.sluice('run', '--dump-binary', 'nowhere/p.bin', '-c', 'sobel', '-o', 'd.pgm',
                             'grey.pgm', status=73)
        self.assertTrue(err.startswith('sluice: --dump-binary nowhere/p.bin: '), err)
        self.assertFalse(os.path.exists(self.path('d.pgm')))

    @needs_opencl
    def test_bad_compiler_flags_are_named(self):
        self.grey()
        _, err = self.sluice('run', '--cl-flags=-no-such-flag', '-c', 'sobel', '-o', 'a.pgm', 'grey.pgm',
                             status=70)
        self.assertRegex(err, 'clBuildProgram: CL_')


class Mistakes(Cli):
    """One line each, with the exit status of sysexits.h."""

    def complains(self, status, says, *args, **kwargs):
        _, err = self.sluice(*args, status=status, **kwargs)
        self.assertTrue(err.startswith('sluice: '), err)
        self.assertIn(says, err)
        return err

    def test_chain_errors_have_a_caret(self):
        self.grey()
        err = self.complains(64, "did you mean 'sobel'", 'run', '-c', 'luminance,sobell', '-o', 'x.png',
                             'grey.pgm')
        lines = err.splitlines()
        self.assertEqual(lines[1].index('sobell'), lines[2].index('^'))
        self.assertEqual(lines[2].count('^'), 6)
        self.complains(64, 'a number', 'run', '-c', 'sobel:scale=3x', '-o', 'x.png', 'grey.pgm')

    def test_usage(self):
        self.grey()
        self.complains(64, 'which command')
        self.complains(64, "did you mean 'run'", 'rnu')
        self.complains(64, 'no input', 'run', '-c', 'sobel')
        self.complains(64, "did you mean '--chain'", 'run', '--chian', 'sobel', 'grey.pgm')
        self.complains(64, 'needs a value', 'run', '-c')
        self.complains(64, 'unknown option', 'run', '-z', 'grey.pgm')
        self.complains(64, '--iterations', 'run', '--iterations', '0', 'grey.pgm')
        self.complains(64, 'max-pixels', 'run', '--max-pixels', 'many', 'grey.pgm')
        self.complains(64, 'unknown output format', 'run', '-f', 'gif', 'grey.pgm')
        self.complains(64, 'no extension', 'run', '-o', 'result', 'grey.pgm')
        self.complains(64, '--format', 'run', '-o', '-', 'grey.pgm')
        self.complains(64, 'directory', 'run', '-o', 'x.png', 'grey.pgm', 'grey.pgm')
        self.complains(64, 'ascii', 'run', '-f', 'pgm:ascii=7', '-o', 'x.pgm', 'grey.pgm')
        self.complains(64, 'orient', 'run', '--input', 'oreint=0', '-o', 'x.pgm', 'grey.pgm')
        self.complains(64, "option '--json' takes no value", 'run', '--json=1', 'grey.pgm')
        self.complains(64, "option '--help' takes no value", 'run', '--help=all')
        self.complains(64, "unknown command 'rnu'", 'help', 'rnu')

    def test_operands_of_commands_that_have_none(self):
        for command in ('devices', 'status', 'doctor', 'testcard'):
            self.complains(64, "no operands, such as 'grey.pgm'", command, 'grey.pgm')
        self.complains(64, 'one file at a time', 'check-config', 'a.yaml', 'b.yaml')

    def test_result_over_its_input(self):
        """A folder's name may lead there by mistake; a file's that is written out may not."""
        self.grey()
        before = self.read('grey.pgm')
        self.complains(73, 'would replace its own input', 'run', '-c', 'invert', '-f', 'pgm', 'grey.pgm')
        self.assertEqual(self.read('grey.pgm'), before)
        self.sluice('run', '-c', 'invert', '-o', 'grey.pgm', 'grey.pgm')
        self.assertEqual(self.read('grey.pgm')[-1], 255 - before[-1])

    def test_bad_data(self):
        self.grey()
        self.complains(65, 'empty file', 'run', '-o', 'x.png', self.write('empty.png', b''))
        self.complains(65, 'unknown format', 'run', '-o', 'x.png', self.write('text.png', b'hello there'))
        self.complains(65, 'truncated', 'run', '-o', 'x.png', self.write('t.pgm', b'P5\n9 9\n255\n'))
        self.complains(65, 'maxval', 'run', '-o', 'x.png', self.write('m.pgm', b'P5\n1 1\n0\n1'))
        self.complains(65, 'leaves nothing', 'run', '-c', 'sobel:border=crop', '-o', 'x.png',
                       self.write('small.pgm', b'P5\n2 2\n255\nabcd'))

    def test_limits(self):
        self.grey()
        self.complains(65, '--max-pixels', 'run', '--max-pixels', '776P', '-o', 'x.png', 'grey.pgm')
        self.complains(65, '--max-file', 'run', '--max-file', '100B', '-o', 'x.png', 'grey.pgm')
        self.complains(65, 'max-pixels', 'run', '-o', 'x.png',
                       self.write('huge.pgm', b'P5\n60000 60000\n255\n'))
        self.complains(65, '--memory', 'run', '--memory', '1MiB', '-c', 'sobel', '-o', 'x.png',
                       self.write('big.pgm', pictures.pnm(2000, 1000, bytes(2000000))))

    def test_raw_options(self):
        self.grey()
        self.complains(64, 'needs w= and h=', 'run', '--input', 'raw=nv12', '-o', 'x.png', 'grey.pgm')
        self.complains(64, 'raw=', 'run', '--input', 'w=10', '-o', 'x.png', 'grey.pgm')
        self.complains(64, "did you mean 'yuyv'", 'run', '--input', 'raw=yuv:w=1:h=1', '-o', 'x.png',
                       'grey.pgm')
        self.complains(65, 'truncated raw', 'run', '--input', 'raw=gray8:w=100:h=100', '-o', 'x.png',
                       'grey.pgm')

    def test_files(self):
        self.grey()
        self.complains(66, 'No such file', 'run', '-o', 'x.png', 'missing.pgm')
        self.complains(66, 'directory', 'run', '-o', 'x.png', '.')
        self.complains(73, 'nowhere', 'run', '-o', 'nowhere/x.png', 'grey.pgm')
        self.complains(74, 'No space', 'run', '-f', 'pgm', '-o', '/dev/full', 'grey.pgm')
        if os.getuid() != 0:
            os.chmod(self.path('grey.pgm'), 0)
            self.complains(77, 'Permission', 'run', '-o', 'x.png', 'grey.pgm')

    def test_devices(self):
        self.grey()
        self.complains(69, 'no-such-device', 'run', '--device', 'no-such-device', '-c', 'sobel', '-o',
                       'x.png', 'grey.pgm')
        self.complains(69, 'OpenCL', 'run', '--device', 'cpu', '-c', 'sobel', '-o', 'x.png', 'grey.pgm',
                       env={'OCL_ICD_VENDORS': '/nonexistent'})
        self.complains(69, 'no-such-device', 'run', '-c', 'sobel', '-o', 'x.png', 'grey.pgm',
                       env={'SLUICE_DEVICE': 'no-such-device'})


class Others(Cli):
    def test_help_and_version(self):
        out, _ = self.sluice('--version')
        self.assertRegex(out.decode(), r'^sluice \d+\.\d+\.\d+\n$')
        self.assertEqual(self.sluice('-V')[0], out)
        self.assertIn(b'commands:', self.sluice('--help')[0])
        for command in ('run', 'compare', 'stages', 'devices', 'plan', 'testcard'):
            out, _ = self.sluice(command, '--help')
            self.assertEqual(self.sluice('help', command)[0], out)
            self.assertIn(('usage: sluice %s' % command).encode(), out)
            self.assertEqual(self.sluice(command, '-h')[0], out)

    def test_compare(self):
        self.write('a.pgm', pictures.pnm(2, 2, [0, 10, 20, 30]))
        self.write('b.pgm', pictures.pnm(2, 2, [0, 10, 24, 30]))
        self.write('c.pgm', pictures.pnm(4, 1, [0, 10, 20, 30]))
        self.write('d.pgm', pictures.pnm(2, 2, [0, 10, 20, 30], maxval=65535))
        self.assertEqual(self.sluice('compare', 'a.pgm', 'a.pgm')[0],
                         b'mse 0\npsnr inf\nmax_abs 0\ndiffering 0\n')
        out, _ = self.sluice('compare', 'a.pgm', 'b.pgm', status=1)
        self.assertEqual(out, b'mse 4\npsnr 42.1102\nmax_abs 4\ndiffering 1\n')
        self.sluice('compare', 'a.pgm', 'c.pgm', status=65)
        self.sluice('compare', 'a.pgm', 'd.pgm')  # by value, whatever the types
        self.sluice('compare', 'a.pgm', 'missing.pgm', status=66)
        self.sluice('compare', 'a.pgm', status=64)
        out, _ = self.sluice('compare', '--json', 'a.pgm', 'b.pgm', status=1)
        self.assertEqual(json.loads(out)['differing'], 1)

    def test_compare_what_is_not_finite(self):
        def row(name, *values):
            header = "{'descr': '<f4', 'fortran_order': False, 'shape': (1, %d), }" % len(values)
            self.write(name, b'\x93NUMPY\x01\x00' + struct.pack('<H', 118) + header.ljust(117).encode() + b'\n' +
                       struct.pack('<%df' % len(values), *values))

        inf, nan = float('inf'), float('nan')
        row('flat.npy', 1, 1)
        row('ramp.npy', 1, 2)
        row('inf.npy', 1, inf)
        row('nan.npy', nan, 2)
        row('late.npy', nan, 7)
        for a, b, told in (('flat', 'ramp', ['0.5', '-inf', '1', '1']), ('ramp', 'inf', ['inf', '-inf', 'inf', '1']),
                           ('ramp', 'nan', ['nan', 'nan', 'nan', '1']),
                           ('late', 'ramp', ['nan', 'nan', 'nan', '2']), ('inf', 'ramp', ['inf', 'nan', 'inf', '1']),
                           ('nan', 'nan', ['0', 'inf', '0', '0'])):
            status = int(told[3] != '0')
            out, _ = self.sluice('compare', a + '.npy', b + '.npy', status=status)
            self.assertEqual([line.split()[1] for line in out.decode().splitlines()], told)
            out, _ = self.sluice('compare', '--json', a + '.npy', b + '.npy', status=status)
            self.assertEqual(json.loads(out)['differing'], int(told[3]))

    def test_stages(self):
        out, _ = self.sluice('stages')
        self.assertIn(b'sobel: ', out)
        self.assertNotIn(b'sink', out)
        out, _ = self.sluice('stages', 'sobel')
        for word in ('scale', 'from 0.001 to 1000', 'default 0.125', 'reflect (reflect101, mirror)'):
            self.assertIn(word, out.decode())
        _, err = self.sluice('stages', 'sobell', status=64)
        self.assertIn("did you mean 'sobel'", err)
        names = [s['name'] for s in json.loads(self.sluice('stages', '--json')[0])]
        self.assertIn('luminance', names)

    @needs_opencl
    def test_devices(self):
        out, _ = self.sluice('devices', '--device', 'cpu')
        self.assertEqual(out.decode().count('* platform'), 1)
        devices = json.loads(self.sluice('devices', '--json')[0])
        self.assertEqual(sum(d['taken'] for d in devices), 1)
        native = [d for d in devices if d['kind'] == 'native']
        if native:
            self.assertEqual((len(native), native[0]['platform_index']), (1, -1))
            out, _ = self.sluice('devices', '--device', 'native')
            self.assertIn('\n* native: ', '\n' + out.decode())

    def test_no_opencl(self):
        """Without a loader's drivers the processor is there, by its own kernels."""
        if not any(d['kind'] == 'native' for d in json.loads(self.sluice('devices', '--json')[0])):
            self.skipTest('built without native kernels')
        self.grey()
        none = {'OCL_ICD_VENDORS': '/nonexistent'}
        out, _ = self.sluice('run', '--json', '-c', 'sobel', '-o', 'x.pgm', 'grey.pgm', env=none)
        self.assertEqual(json.loads(out)['device'], 'native')
        self.sluice('devices', env=none)
        _, err = self.sluice('run', '--device', 'native', '--cl-flags=-DX', '-c', 'sobel', '-o', 'y.pgm', 'grey.pgm',
                             status=64)
        self.assertIn('are for OpenCL', err)

    def test_plan(self):
        out, _ = self.sluice('plan', '-c', 'luminance,sobel', '1920x1080x3')
        text = out.decode()
        self.assertIn('chain luminance:weights=bt601:exact=0,sobel:out=magnitude:scale=0.125', text)
        self.assertIn('1920x1080x1 u8', text)
        self.sluice('plan', '-c', 'sobel', '10', status=64)
        self.sluice('plan', '-c', 'sobel', '10x10x5', status=64)
        self.sluice('plan', '-c', 'sobel:border=crop', '2x2', status=65)
        self.sluice('plan', '-c', 'sobel', '--profile', 'toaster', '10x10', status=64)
        self.sluice('plan', '-c', 'sobel', '--board', 'toaster', '10x10', status=64)
        self.sluice('plan', '-c', 'sobel', '--board', 'rock5b', '--profile', 'mali', '10x10', status=64)
        told = self.sluice('plan', '-c', 'sobel', '--board', 'rock5b', '4096x3072')[0].decode()
        self.assertIn('Mali-G610, 4 cores at 1000 MHz', told)
        self.assertIn('ms at least', told)
        for profile in ('cpu', 'gpu', 'mali'):
            out, _ = self.sluice('plan', '--profile', profile, '--source', '-c', 'sobel', '10x10',
                                 env={'OCL_ICD_VENDORS': '/nonexistent'})
            self.assertIn(b'__kernel', out)

    def test_testcard(self):
        self.sluice('testcard', '-o', 'card.ppm', '--size', '64x48')
        self.assertEqual(pictures.read_pnm(self.read('card.ppm'))[:3], (64, 48, 3))
        for name in ('card.npy', 'card.npz'):
            self.sluice('testcard', '-o', name, '--size', '64x48')
            self.sluice('run', '-o', 'again.ppm', name)
            self.assertEqual(self.read('again.ppm'), self.read('card.ppm'))
        self.sluice('testcard', '--size', '0x48', status=64)
        out, _ = self.sluice('testcard', '--json', '-o', 'card.ppm', '--size', '64x48')
        self.assertEqual(json.loads(out), {'output': 'card.ppm', 'width': 64, 'height': 48, 'channels': 3})
        self.sluice('testcard', '--json', '-o', '-', '-f', 'ppm', status=64)


if __name__ == '__main__':
    unittest.main(verbosity=2)
