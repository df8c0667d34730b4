#!/usr/bin/env python3
"""Which metadata of an input its result keeps (Exif, colour profile, XMP, density), for good and for hostile files;
pictures of one bit; and floats whose white is 1. Usage: test_metadata.py SLUICE [unittest options]"""
import json
import os
import struct
import subprocess
import sys
import unittest
import zlib

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..'))
import pictures  # noqa: E402
from folder import FolderTest  # noqa: E402

SLUICE = os.path.abspath(sys.argv.pop(1))
XMP = b'http://ns.adobe.com/xap/1.0/\0'
THUMBNAIL = b'\xff\xd8THE PICTURE AS IT WAS\xff\xd9'


def exif(order='<', orientation=6, thumbnail=THUMBNAIL, date=b'2026:11:22 17:54:00\0'):
    """A TIFF structure: orientation and date in IFD0, a thumbnail in IFD1."""
    text = 8 + 2 + 2 * 12 + 4
    second = text + len(date)
    data = struct.pack(order + '2sHI', b'II' if order == '<' else b'MM', 42, 8)
    data += struct.pack(order + 'HHHIHH', 2, 0x0112, 3, 1, orientation, 0)
    data += struct.pack(order + 'HHII', 0x0132, 2, len(date), text)
    data += struct.pack(order + 'I', second if thumbnail else 0) + date
    if thumbnail:
        data += struct.pack(order + 'HHHII', 2, 0x0201, 4, 1, second + 2 + 24 + 4)
        data += struct.pack(order + 'HHIII', 0x0202, 4, 1, len(thumbnail), 0) + thumbnail
    return data


def profile(space=b'RGB ', size=3000):
    data = bytearray(i * 31 & 255 for i in range(size))
    data[0:4] = struct.pack('>I', size)
    data[16:20] = space
    data[36:40] = b'acsp'
    return bytes(data)


def segment(marker, data):
    return struct.pack('>BBH', 255, marker, len(data) + 2) + data


def icc_segments(data, piece=1000):
    parts = [data[i:i + piece] for i in range(0, len(data), piece)]
    return [segment(0xe2, b'ICC_PROFILE\0' + bytes((i + 1, len(parts))) + part) for i, part in enumerate(parts)]


def segments_of(jpeg):
    """Marker and content of each segment in front of the scan."""
    at, found = 2, []
    while jpeg[at + 1] != 0xda:
        length = struct.unpack('>H', jpeg[at + 2:at + 4])[0]
        found.append((jpeg[at + 1], jpeg[at + 4:at + 2 + length]))
        at += 2 + length
    return found


def chunks_of(png):
    at, found = 8, []
    while at < len(png):
        length, kind = struct.unpack('>I4s', png[at:at + 8])
        data = png[at + 8:at + 8 + length]
        assert zlib.crc32(kind + data) == struct.unpack('>I', png[at + 8 + length:at + 12 + length])[0]
        found.append((kind.decode(), data))
        at += 12 + length
    return found


def chunk(kind, data):
    return struct.pack('>I', len(data)) + kind + data + struct.pack('>I', zlib.crc32(kind + data))


class Sluice(FolderTest):
    def setUp(self):
        super().setUp()
        self.plain = {}
        for kind in ('jpg', 'png'):
            with open(self.path('plain.ppm'), 'wb') as file:
                file.write(b'P6\n12 8\n255\n' + bytes(pictures.noise(12, 8, 3)))
            self.run_sluice('-o', self.path('plain.' + kind), self.path('plain.ppm'))
            self.plain[kind] = self.read('plain.' + kind)

    def run_sluice(self, *arguments, status=0):
        done = subprocess.run([SLUICE, 'run', '-q', '--device', 'reference', *arguments], capture_output=True, text=True)
        self.assertEqual(done.returncode, status, '%s: %s' % (arguments, done.stderr))
        return done.stderr


class Metadata(Sluice):
    def jpeg(self, *segments, density=b'\1\1\1\54\1\54\0\0'):
        jfif = segment(0xe0, b'JFIF\0\1' + density)
        rest = self.plain['jpg'][2:]
        rest = rest[2 + struct.unpack('>H', rest[2:4])[0]:]  # without its own JFIF
        return b'\xff\xd8' + jfif + b''.join(segments) + rest

    def png(self, *chunks):
        return self.plain['png'][:33] + b''.join(chunks) + self.plain['png'][33:]

    def result(self, source, name='out.jpg', *options, chain='levels:gamma=1.1'):
        source = self.write('in', source)
        self.run_sluice('-c', chain, *options, '-o', self.path(name), source)
        return segments_of(self.read(name)) if name.endswith('.jpg') else chunks_of(self.read(name))

    def of_kind(self, found, marker, begins=b''):
        return [data[len(begins):] for kind, data in found if kind == marker and data.startswith(begins)]

    def test_kept(self):
        icc = profile()
        source = self.jpeg(segment(0xe1, b'Exif\0\0' + exif()), segment(0xe1, XMP + b'<x/>'), *icc_segments(icc))
        found = self.result(source)
        self.assertEqual(self.of_kind(found, 0xe0, b'JFIF\0')[0][2:7], b'\1\1\54\1\54')
        block, = self.of_kind(found, 0xe1, b'Exif\0\0')
        self.assertIn(b'2026:11:22 17:54:00', block)
        self.assertEqual(struct.unpack('<H', block[18:20])[0], 1)  # upright
        self.assertNotIn(b'AS IT WAS', block)
        self.assertEqual(block[34:38], bytes(4))  # and no second directory
        self.assertEqual(b''.join(part[2:] for part in self.of_kind(found, 0xe2, b'ICC_PROFILE\0')), icc)
        self.assertEqual(self.of_kind(found, 0xe1, XMP), [])
        found = self.result(source, 'out.jpg', '-f', 'jpg:meta=all')
        self.assertEqual(self.of_kind(found, 0xe1, XMP), [b'<x/>'])
        found = self.result(source, 'out.jpg', '-f', 'jpg:meta=strip')
        self.assertEqual({kind for kind, _ in found} & {0xe1, 0xe2}, set())
        self.assertEqual(self.of_kind(found, 0xe0, b'JFIF\0')[0][2:7], b'\0\0\1\0\1')

    def test_to_png_and_back(self):
        icc = profile()
        source = self.jpeg(segment(0xe1, b'Exif\0\0' + exif('>')), segment(0xe1, XMP + b'<x/>'), *icc_segments(icc))
        for level in ('1', '6'):
            found = self.result(source, 'out.png', '-f', 'png:meta=all:level=' + level)
            names = [kind for kind, _ in found]
            self.assertLess(names.index('iCCP'), names.index('IDAT'))
            self.assertEqual(self.of_kind(found, 'pHYs'), [struct.pack('>IIB', 11811, 11811, 1)])
            self.assertEqual(zlib.decompress(self.of_kind(found, 'iCCP', b'ICC profile\0\0')[0]), icc)
            self.assertEqual(self.of_kind(found, 'iTXt', b'XML:com.adobe.xmp\0\0\0\0\0'), [b'<x/>'])
            self.assertEqual(self.of_kind(found, 'eXIf')[0][18:20], b'\0\1')
            back = self.result(self.read('out.png'), 'back.jpg', '-f', 'jpg:meta=all')
            self.assertEqual(self.of_kind(back, 0xe0, b'JFIF\0')[0][2:7], b'\1\1\54\1\54')
            self.assertEqual(self.of_kind(back, 0xe1, XMP), [b'<x/>'])
            self.assertEqual(b''.join(part[2:] for part in self.of_kind(back, 0xe2, b'ICC_PROFILE\0')), icc)

    def test_orientation(self):
        source = self.jpeg(segment(0xe1, b'Exif\0\0' + exif(orientation=6)))
        for option, expected in (('orient=1', 1), ('orient=0', 6)):
            block, = self.of_kind(self.result(source, 'out.jpg', '--input', option), 0xe1, b'Exif\0\0')
            self.assertEqual(struct.unpack('<H', block[18:20])[0], expected)

    def test_profiles_that_do_not_fit(self):
        for space, chain, kept in ((b'RGB ', 'invert', True), (b'RGB ', 'luminance', False), (b'GRAY', 'luminance', True),
                                   (b'GRAY', 'invert', False), (b'CMYK', 'invert', False)):
            found = self.result(self.jpeg(*icc_segments(profile(space))), chain=chain)
            self.assertEqual(bool(self.of_kind(found, 0xe2)), kept, (space, chain))

    def test_hostile_jpeg(self):
        """Refused or left out; the picture comes all the same, and nothing is read that is not there."""
        good, icc = exif(), profile()
        blocks = [b'', b'II', good[:7], good[:12], good[:30], b'II*\0' + b'\xff' * 4, b'II*\0\2\0\0\0' + b'\1' * 40,
                  good[:34] + b'\xff\xff\xff\xff' + good[38:], good[:34] + struct.pack('<I', 8) + good[38:],
                  good[:8] + b'\xff\xff' + good[10:], b'II*\0\x08\0\0\0' + b'\xff' * 60000]
        strips = struct.pack('<HHHII', 2, 0x0111, 4, 15000, 40) + struct.pack('<HHIII', 0x0117, 4, 15000, 40, 0)
        blocks.append(struct.pack('<2sHIHI', b'II', 42, 8, 0, 14) + strips + b'\x0e\0\0\0' * 15000)
        sets = [[segment(0xe1, b'Exif\0\0' + block)] for block in blocks]
        sets += [[segment(0xe2, b'ICC_PROFILE\0' + ends)] for ends in (b'', b'\1', b'\0\0x', b'\2\1x', b'\1\2x', b'\1\1')]
        sets += [icc_segments(icc)[:-1], icc_segments(icc) + icc_segments(icc)[:1], icc_segments(profile(size=200)[:-1]),
                 [segment(0xe2, b'ICC_PROFILE\0' + bytes((i % 255 + 1, 255)) + bytes(65000)) for i in range(300)],
                 [segment(0xe1, b'Exif\0\0' + bytes(65000)) for _ in range(300)],
                 [segment(0xe1, XMP + bytes(65000)) for _ in range(300)]]
        for segments in sets:
            found = self.result(self.jpeg(*segments), 'out.jpg', '-f', 'jpg:meta=all')
            self.assertEqual(self.of_kind(found, 0xe2), [], segments[0][:40])
            self.assertLess(len(self.read('out.jpg')), 1 << 17)

    def test_large(self):
        """Up to 1 MiB each; in JPEG Exif and XMP must fit a segment."""
        big = profile(size=1 << 20)
        found = self.result(self.jpeg(*icc_segments(big, 65000)))
        self.assertEqual(b''.join(part[2:] for part in self.of_kind(found, 0xe2, b'ICC_PROFILE\0')), big)
        found = self.result(self.jpeg(*icc_segments(profile(size=(1 << 20) + 1), 65000)))
        self.assertEqual(self.of_kind(found, 0xe2), [])
        whole = exif(thumbnail=b'') + bytes(100000)
        found = self.result(self.png(chunk(b'eXIf', whole)), 'out.png')
        self.assertEqual(len(self.of_kind(found, 'eXIf')[0]), len(whole))
        self.assertEqual(self.of_kind(self.result(self.png(chunk(b'eXIf', whole))), 0xe1), [])

    def test_hostile_png(self):
        icc = profile()
        bomb = zlib.compress(bytes(64 << 20))
        for name, data in ((b'iCCP', b'x\0\0' + bomb), (b'iCCP', b'x\0\1' + zlib.compress(icc)), (b'iCCP', b'x' * 100),
                           (b'iCCP', b'x\0\0' + zlib.compress(icc)[:-9]), (b'iCCP', b'x'), (b'pHYs', bytes(9)),
                           (b'pHYs', b'\xff' * 9), (b'pHYs', b''), (b'eXIf', b''), (b'eXIf', b'MM\0*\0\0'),
                           (b'iTXt', b'XML:com.adobe.xmp\0\1\0\0\0' + bomb), (b'iTXt', b'XML:com.adobe.xmp\0\0\0abc'),
                           (b'iTXt', b'XML:com.adobe.xmp\0')):
            found = self.result(self.png(chunk(name, data)), 'out.png', '-f', 'png:meta=all')
            self.assertEqual([kind for kind, _ in found if kind not in ('IHDR', 'IDAT', 'IEND')], [], (name, data[:30]))
        wrong = bytearray(chunk(b'eXIf', exif()))
        wrong[-1] ^= 1
        self.assertEqual(self.of_kind(self.result(self.png(bytes(wrong)), 'out.png'), 'eXIf'), [])


class Bitmaps(Sluice):
    def test_one_bit(self):
        """17 pixels a row: white where x + y is a multiple of 3."""
        grey = bytes(255 * ((x + y) % 3 == 0) for y in range(5) for x in range(17))
        source = self.write('in.pgm', b'P5\n17 5\n255\n' + grey)
        rows = [[(x + y) % 3 == 0 for x in range(17)] for y in range(5)]
        packed = [bytes(sum(row[8 * i + b] << (7 - b) for b in range(8) if 8 * i + b < 17) for i in range(3)) for row in rows]
        self.run_sluice('-f', 'png:bits=1', '-o', self.path('out.png'), source)
        found = dict(chunks_of(self.read('out.png')))
        self.assertEqual(found['IHDR'], struct.pack('>IIBBBBB', 17, 5, 1, 0, 0, 0, 0))
        self.run_sluice('-o', self.path('back.pgm'), self.path('out.png'))
        self.assertEqual(self.read('back.pgm'), self.read('in.pgm'))
        self.run_sluice('-o', self.path('out.pbm'), source)
        black = [bytes(255 ^ b for b in row[:2]) + bytes([(255 ^ row[2]) & 128]) for row in packed]
        self.assertEqual(self.read('out.pbm'), b'P4\n17 5\n' + b''.join(black))
        self.run_sluice('-f', 'pbm:ascii=1', '-o', self.path('text.pbm'), source)
        for name in ('out.pbm', 'text.pbm'):
            self.run_sluice('-o', self.path('back.pgm'), self.path(name))
            self.assertEqual(self.read('back.pgm'), self.read('in.pgm'))
        deep = self.write('deep.pgm', b'P5\n2 1\n65535\n' + b'\xff\xff\0\0')
        self.run_sluice('-f', 'pbm', '-o', self.path('deep.pbm'), deep)
        self.assertEqual(self.read('deep.pbm'), b'P4\n2 1\n\x40')

    def test_refused(self):
        grey = self.write('grey.pgm', b'P5\n3 1\n255\n\0\x80\xff')
        for form in ('png:bits=1', 'pbm'):
            said = self.run_sluice('-f', form, '-o', self.path('out.x'), grey, status=65)
            self.assertIn('pixel (1, 0) is 128', said)
            self.assertIn('threshold', said)
            said = self.run_sluice('-f', form, '-o', self.path('out.x'), self.path('plain.png'), status=65)
            self.assertIn('luminance,threshold', said)
        self.run_sluice('-c', 'luminance,threshold:local', '-f', 'png:bits=1', '-o', self.path('out.png'), self.path('plain.png'))


class White(Sluice):
    def npy(self, name, values, kind='<f4'):
        head = "{'descr': '%s', 'fortran_order': False, 'shape': (1, %d), }" % (kind, len(values))
        head = head.ljust(117) + '\n'
        return self.write(name, b'\x93NUMPY\x01\x00' + struct.pack('<H', len(head)) + head.encode() +
                          struct.pack('<%d%s' % (len(values), 'f' if kind == '<f4' else 'd'), *values))

    def pixels(self, chain, source, *options):
        self.run_sluice('-c', chain, *options, '-o', self.path('out.pgm'), source)
        return self.read('out.pgm').split(b'\n', 3)[3]

    def test_there_and_back(self):
        source = self.write('in.pgm', b'P5\n4 1\n255\n\0\x7f\x80\xff')
        self.assertEqual(self.pixels('convert:type=f32,invert', source), b'\xff\x80\x7f\0')
        self.assertEqual(self.pixels('convert:type=f32,threshold:128', source), b'\0\0\xff\xff')
        self.assertEqual(self.pixels('convert:type=f32,levels:gamma=1', source), b'\0\x7f\x80\xff')
        self.assertEqual(self.pixels('convert:type=f32,normalize:0', source), b'\0\x7f\x80\xff')
        deep = self.write('deep.pgm', b'P5\n2 1\n65535\n\1\0\xff\xff')
        self.assertEqual(self.pixels('convert:type=f32', deep), b'\1\0\xff\xff')
        self.run_sluice('-c', 'convert:type=f32', '-f', 'jpg', '-o', self.path('out.jpg'), deep)

    def test_one_is_white(self):
        source = self.npy('unit.npy', [0, 0.2, 0.5, 1])
        for options, expected in ((('--input', 'white=1'), b'\0\x33\x80\xff'), ((), b'\0\0\0\1')):
            self.assertEqual(self.pixels('', source, *options), expected)
        self.assertEqual(self.pixels('convert:u8', source, '--input', 'white=1'), b'\0\x33\x80\xff')
        self.assertEqual(self.pixels('invert', source, '--input', 'white=1'), b'\xff\xcc\x80\0')
        said = subprocess.run([SLUICE, 'run', '-o', self.path('out.pgm'), source], capture_output=True, text=True).stderr
        self.assertEqual(said.count('white=1'), 1)
        for told in (['--input', 'white=1'], ['--input', 'white=255']):
            said = subprocess.run([SLUICE, 'run', *told, '-o', self.path('out.pgm'), source], capture_output=True, text=True).stderr
            self.assertNotIn('white', said)
        said = subprocess.run([SLUICE, 'run', '-o', self.path('out.pgm'), self.npy('big.npy', [0, 2])], capture_output=True, text=True).stderr
        self.assertNotIn('white', said)

    def test_told(self):
        source = self.npy('unit.npy', [0, 0.2, 0.6, 1])
        self.run_sluice('--input', 'white=1', '-c', 'dwt:haar', '-o', self.path('bands.npz'), source)
        self.assertEqual(self.pixels('idwt', self.path('bands.npz')), b'\0\x33\x99\xff')
        told = subprocess.run([SLUICE, 'run', '--json', '--input', 'white=1', '-c', 'convert:u16', '-o', self.path('out.png'), source],
                              capture_output=True, text=True, check=True).stdout
        told = json.loads(told)['files'][0]
        self.assertEqual((told['in']['white'], told['out']['white']), (1, 65535))
        plan = subprocess.run([SLUICE, 'plan', '-c', 'convert:f32,invert', '4x4'], capture_output=True, text=True, check=True).stdout
        self.assertIn('4x4x1 f32 white 255', plan)


if __name__ == '__main__':
    unittest.main(verbosity=2)
