#!/usr/bin/env python3
"""test_python.py PACKAGES SLUICE [SOURCE_ROOT]: the module `sluice` in the folder PACKAGES, against the command, and the page
docs/python.md. Ends with 77 where cffi or numpy are missing, or the module was not built."""
import ctypes
import doctest
import gc
import multiprocessing
import os
import pickle
import re
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import warnings

try:
    import cffi # noqa: F401
    import numpy
except ImportError as missing:
    print('skipped: %s: install python3-cffi and python3-numpy' % missing)
    sys.exit(77)

packages, command, *more = sys.argv[1:]
command = os.path.abspath(command)
sys.path.insert(0, packages)
try:
    import sluice
except ModuleNotFoundError:
    print('skipped: the module was not built: install python3-cffi and python3-dev, and set up the build anew')
    sys.exit(77)

NATIVE = sluice.Device('native', threads=2)
TYPES = ('uint8', 'uint16', 'float32')
# What a stage is given that needs something, and what comes before a stage that takes transforms.
CHAINS = {
    'analysis': 'analysis:haar', 'synthesis': 'analysis:haar,synthesis', 'idwt': 'dwt:levels=2,idwt', 'dwt': 'dwt:levels=2',
    'shrink': 'dwt:levels=2,shrink,idwt', 'fir': 'fir:1_2_1/2_4_2/1_2_1', 'resize': 'resize:w=30:h=20', 'crop': 'crop:3:2:20:10',
    'box': 'box:radius=2', 'convert': 'convert:f32', 'pad': 'pad:left=3:top=2', 'gain': 'gain:factor=1.5',
    'rotate': 'rotate:90', 'flip': 'flip:x', 'erode': 'erode:radius=1', 'dilate': 'dilate:radius=1', 'open': 'open:radius=1',
    'close': 'close:radius=1', 'gauss': 'gauss:sigma=2', 'median': 'median:radius=1', 'colour': 'colour:sepia',
    'threshold': 'threshold:otsu', 'demosaic': 'demosaic:rggb', 'canny': 'canny:60:160', 'warp': 'warp:0.9_-0.3_5/0.3_0.9_-4',
    'undistort': 'undistort:matrix=60_0_30/0_60_20/0_0_1:distortion=-0.2_0.05', 'blend': 'blend:200:opacity=0.4',
    'subtract': 'subtract:20', 'difference': 'difference:90', 'divide': 'divide:3:scale=2', 'mask': 'mask:1',
}
# A child that ends as any other process does, and its parent, which was in the middle of something.
FORK = '''
import os, sys, numpy
sys.path.insert(0, sys.argv[1])
import sluice
own = sluice.Chain('gauss:sigma=3', sluice.Device('native', threads=2))
large = numpy.random.default_rng(1).integers(0, 256, (1200, 1600), numpy.uint8)
wanted = own(large)
stream = own.stream(2)
stream.put(large)
child = os.fork()
if child == 0:
    stream.close()
    sys.exit(0 if numpy.array_equal(own(large), wanted) else 3)
assert os.waitpid(child, 0)[1] == 0
assert numpy.array_equal(stream.get(), wanted) and numpy.array_equal(own(large), wanted)
'''


def chain(text, **options):
    return sluice.Chain(text, NATIVE, **options)


def picture(shape, dtype='uint8', seed=1):
    dtype = numpy.dtype(dtype)
    top = 255 if dtype.kind == 'f' else numpy.iinfo(dtype).max
    return (numpy.random.default_rng(seed).random(shape) * top).astype(dtype)


def run(text, folder, names):
    """What the command makes of NPY files: for each, arrays by names, or what it says is wrong."""
    os.makedirs(os.path.join(folder, 'out'), exist_ok=True)
    done = subprocess.run([command, 'run', '--device', 'native', '-c', text, '-f', 'npz', '-q', '-o', os.path.join(folder, 'out/'),
                           *(os.path.join(folder, name + '.npy') for name in names)], capture_output=True, text=True, timeout=300)
    results = {}
    for name in names:
        path = os.path.join(folder, 'out', name + '.npz')
        if os.path.exists(path):
            with numpy.load(path) as file:
                results[name] = {key: file[key] for key in file.files if key != 'meta.json'}
            os.remove(path)
        else:
            results[name] = done.stderr
    return results


class Stages(unittest.TestCase):
    def test_as_the_command(self):
        """Every stage with u8, u16 and f32 of 1, 3 and 4 channels, bit by bit; and what one refuses the other does, too."""
        kinds = [(dtype, channels) for dtype in TYPES for channels in (1, 3, 4)]
        compared = refused = 0
        with tempfile.TemporaryDirectory() as folder:
            inputs = {}
            for dtype, channels in kinds:
                inputs['%s-%d' % (dtype, channels)] = picture((37, 53) if channels == 1 else (37, 53, channels), dtype)
            for name, array in inputs.items():
                numpy.save(os.path.join(folder, name + '.npy'), array)
            for stage in sluice.stages():
                text = CHAINS.get(stage.name, stage.name)
                for name, wanted in run(text, folder, inputs).items():
                    with self.subTest(chain=text, input=name):
                        if isinstance(wanted, str):
                            with self.assertRaises(sluice.Error) as caught:
                                chain(text)(inputs[name])
                            self.assertIn(caught.exception.message, wanted)
                            refused += 1
                            continue
                        made = chain(text)(inputs[name])
                        made = made if isinstance(made, dict) else {'': made}
                        if len(made) == 1:
                            wanted, made = {'': list(wanted.values())[0]}, {'': list(made.values())[0]}
                        self.assertEqual(set(made), set(wanted))
                        for key, array in made.items():
                            self.assertEqual(array.dtype, wanted[key].dtype)
                            numpy.testing.assert_array_equal(array, wanted[key].reshape(array.shape))
                            compared += 1
        print('%d planes equal, %d inputs refused alike' % (compared, refused))
        self.assertGreater(compared, 300)

    def test_as_data(self):
        found = {stage.name: stage for stage in sluice.stages()}
        self.assertEqual(list(found), sorted(found))
        self.assertGreaterEqual(len(found), 31)
        radius = {one.name: one for one in found['box'].parameters}['radius']
        self.assertEqual((radius.kind, radius.min), ('numbers', 0))
        self.assertIn('integers', radius.allowed)
        self.assertTrue(all(stage.summary and all(one.help and one.kind for one in stage.parameters) for stage in found.values()))


class Arrays(unittest.TestCase):
    def test_strided_views(self):
        """Rows apart, rows from a wider array, and offsets: read where they lie."""
        base = picture((60, 90, 3), 'uint16')
        sobel = chain('luminance,sobel')
        for view in (base[::2], base[5:, 7:50], base[3::3, 1:2], base[10:11, 4:80]):
            numpy.testing.assert_array_equal(sobel(view), sobel(numpy.ascontiguousarray(view)))
        grey = picture((64, 64))
        invert = chain('invert')
        numpy.testing.assert_array_equal(invert(grey[:, :1]), 255 - grey[:, :1])
        numpy.testing.assert_array_equal(invert(grey[:1, ::64]), 255 - grey[:1, :1])
        numpy.testing.assert_array_equal(invert(grey[:, :, None]), 255 - grey)

    def test_out(self):
        """Written where it is wanted, and nowhere else."""
        given = picture((31, 41, 3))
        for text in ('invert', 'sobel', 'crop:2:3:20:10', 'rotate:90', 'gauss:sigma=1.5', 'luminance,sobel'):
            wanted = chain(text)(given)
            room = numpy.full(tuple(side + 10 for side in wanted.shape[:2]) + wanted.shape[2:], 77, wanted.dtype)
            out = room[4:4 + wanted.shape[0], 3:3 + wanted.shape[1]]
            self.assertIs(chain(text)(given, out=out), out)
            numpy.testing.assert_array_equal(out, wanted)
            out[...] = 77
            self.assertTrue((room == 77).all(), text)
            whole = numpy.empty_like(wanted)
            self.assertIs(chain(text)(given, out=whole), whole)
            numpy.testing.assert_array_equal(whole, wanted)
        for bad, says in (
                (numpy.empty((31, 40, 3), 'uint8'), 'where (31, 41, 3) uint8 comes out'),
                (numpy.empty((31, 41, 3), 'uint16'), 'where (31, 41, 3) uint8 comes out'),
                (numpy.empty((31, 82, 3), 'uint8')[:, ::2], 'ascontiguousarray'),
                (given, 'overlap')):
            with self.assertRaisesRegex(sluice.Error, says.replace('(', r'\(').replace(')', r'\)')):
                chain('invert')(given, out=bad)
        for locked in (numpy.empty((31, 41, 3), 'uint8'), numpy.empty((40, 41, 3), 'uint8')[:31], numpy.empty((31, 50, 3), 'uint8')[:, :41]):
            locked.flags.writeable = False
            with self.assertRaisesRegex(sluice.Error, 'only for reading'):
                chain('invert')(given, out=locked)

    def test_never_copied(self):
        """What would need a copy is an error that says what makes it."""
        given = picture((20, 30, 4))
        for bad in (given[::-1], given[:, ::-1], given[:, ::2], given[..., :3], given[..., ::-1], given.transpose(1, 0, 2),
                    numpy.broadcast_to(given[:1], given.shape), numpy.asfortranarray(given)):
            with self.assertRaisesRegex(sluice.Error, 'ascontiguousarray') as caught:
                chain('flip:x')(bad)
            self.assertEqual(caught.exception.code, 'usage')
            numpy.testing.assert_array_equal(chain('flip:x')(numpy.ascontiguousarray(bad)), bad[:, ::-1])

    def test_shapes_and_types(self):
        invert = chain('invert')
        for bad, says in (
                (numpy.zeros(5, 'uint8'), 'H×W'), (numpy.zeros((2, 2, 2, 2), 'uint8'), 'H×W'), (numpy.zeros((0, 5), 'uint8'), 'no pixel'),
                (numpy.zeros((3, 20, 20), 'uint8'), 'moveaxis'), (numpy.zeros((2, 2), 'uint32'), 'float32'),
                (numpy.zeros((2, 2), bool), 'bool'), (numpy.zeros((2, 2), '>u2'), r'samples of >u2.*astype\(numpy.uint16'), (numpy.uint8(3), 'H×W'),
                (numpy.zeros((2, 2), 'int64'), 'int64')):
            with self.assertRaisesRegex(sluice.Error, says):
                invert(bad)
        for bad in ([[1, 2]], 'text', 7, None):
            with self.assertRaises(TypeError):
                invert(bad)
        misaligned = numpy.frombuffer(bytes(41), 'uint8')[1:].view('uint16').reshape(4, 5)
        with self.assertRaisesRegex(sluice.Error, 'multiple of a sample'):
            invert(misaligned)
        for dtype in ('uint8', 'int8', 'uint16', 'int16', 'int32', 'float32', 'float64'):
            self.assertEqual(chain('flip:x')(picture((4, 5), dtype)).dtype, dtype)

    def test_buffers(self):
        """Whatever has a buffer."""
        given = picture((6, 8))
        for other in (memoryview(given), memoryview(bytearray(given)).cast('B', (6, 8)), (ctypes.c_uint8 * 8 * 6).from_buffer(given)):
            numpy.testing.assert_array_equal(chain('invert')(other), 255 - given)
        room = bytearray(48)
        chain('invert')(given, out=memoryview(room).cast('B', (6, 8)))
        self.assertEqual(bytes(room), (255 - given).tobytes())
        with self.assertRaisesRegex(sluice.Error, 'only for reading'):
            chain('invert')(given, out=memoryview(bytes(48)).cast('B', (6, 8)))

    def test_planes(self):
        given = picture((32, 48))
        forward, back = chain('dwt:levels=2'), chain('idwt:wavelet=cdf97:type=u8')
        planes = forward(given)
        self.assertEqual(list(planes), ['LL2', 'HL2', 'LH2', 'HH2', 'HL1', 'LH1', 'HH1'])
        numpy.testing.assert_array_equal(back(planes), given)
        apart = {name: plane.copy() for name, plane in planes.items()}
        with self.assertRaisesRegex(sluice.Error, r'sluice\.pack'):
            back(apart)
        numpy.testing.assert_array_equal(back(sluice.pack(apart)), given)
        again = sluice.pack({name: numpy.zeros_like(plane) for name, plane in planes.items()})
        self.assertIs(forward(given, out=again), again)
        for name, plane in planes.items():
            numpy.testing.assert_array_equal(again[name], plane)
        self.assertEqual(forward.result((32, 48))['HH1'], ((16, 24), numpy.dtype('float32')))
        with self.assertRaisesRegex(sluice.Error, 'HH1'):
            forward(given, out=sluice.pack({name: plane for name, plane in planes.items() if name != 'HH1'}))
        banks = chain('analysis:haar')(given)
        numpy.testing.assert_array_equal(banks.zeros.keys() - banks.keys(), set())

    def test_result(self):
        self.assertEqual(chain('luminance,sobel').result((480, 640, 3)), ((480, 640), numpy.dtype('uint8')))
        self.assertEqual(chain('sobel:out=both').result((48, 64), 'uint8')['dx'].dtype, numpy.dtype('int8'))
        self.assertEqual(chain('rotate:90').result((4, 6, 3), 'f4'), ((6, 4, 3), numpy.dtype('float32')))
        self.assertEqual(chain('resize:w=30:h=20').result((72, 64), layout='NV12'), ((20, 27, 3), numpy.dtype('uint8')))
        with self.assertRaisesRegex(sluice.Error, 'reaches outside'):
            chain('crop:w=100:h=100').result((9, 9))

    def test_white(self):
        given = numpy.float32([[0, 0.25, 1]])
        numpy.testing.assert_array_equal(chain('invert')(given, white=1), 1 - given)
        numpy.testing.assert_array_equal(chain('invert')(given), 255 - given)

    def test_layouts(self):
        """Video frames as OpenCV has them; BGR is RGB that lies the other way round."""
        colour = picture((24, 32, 3))
        gauss = chain('gauss:sigma=1')
        numpy.testing.assert_array_equal(gauss(numpy.ascontiguousarray(colour[..., ::-1]), layout='BGR'), gauss(colour))
        four = picture((24, 32, 4))
        numpy.testing.assert_array_equal(gauss(four, layout='RGBx'), gauss(numpy.ascontiguousarray(four[..., :3])))
        nv12 = picture((36, 32))
        i420 = nv12.copy()
        chroma = nv12[24:].reshape(12, 16, 2)
        i420[24:30] = chroma[..., 0].reshape(6, 32)
        i420[30:] = chroma[..., 1].reshape(6, 32)
        self.assertEqual(gauss(nv12, layout='NV12').shape, (24, 32, 3))
        numpy.testing.assert_array_equal(gauss(nv12, layout='NV12:bt709'), gauss(i420, layout='I420:bt709'))
        self.assertFalse((gauss(nv12, layout='NV12') == gauss(nv12, layout='NV12:bt709:full')).all())
        padded = numpy.zeros((36, 50), 'uint8')[:, :32]
        padded[...] = nv12
        numpy.testing.assert_array_equal(gauss(nv12, layout='NV12'), gauss(padded, layout='NV12'))
        numpy.testing.assert_array_equal(chain('luminance')(nv12, layout='NV12:full'), nv12[:24])
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, 'frame.raw'), 'wb') as file:
                file.write(nv12.tobytes())
            subprocess.run([command, 'run', '-q', '--device', 'native', '-c', 'gauss:sigma=1', '--input', 'raw=nv12:32:24', '-o', os.path.join(folder, 'o.npy'),
                            os.path.join(folder, 'frame.raw')], check=True)
            numpy.testing.assert_array_equal(numpy.load(os.path.join(folder, 'o.npy')), gauss(nv12, layout='NV12'))
        numbers = numpy.random.default_rng(5).integers(0, 1 << 12, (9, 40), numpy.uint16)
        for name, bits, of in (('RAW10', 2, 4), ('RAW12', 4, 2)):
            values = numbers & (1 << 8 + bits) - 1
            low = (values & (1 << bits) - 1).reshape(9, -1, of) << numpy.arange(of) * bits
            packed = numpy.dstack([(values >> bits).reshape(9, -1, of), low.sum(2)]).reshape(9, -1).astype('u1')
            numpy.testing.assert_array_equal(chain('')(packed, layout=name), values)
            numpy.testing.assert_array_equal(chain('sobel')(packed, layout=name), chain('sobel')(values))
            with tempfile.TemporaryDirectory() as folder:
                packed.tofile(os.path.join(folder, 'frame.raw'))
                subprocess.run([command, 'run', '-q', '--device', 'native', '--input', 'raw=%s:40:9' % name.lower(), '-o', os.path.join(folder, 'o.npy'),
                                os.path.join(folder, 'frame.raw')], check=True)
                numpy.testing.assert_array_equal(numpy.load(os.path.join(folder, 'o.npy')), values)
            with self.assertRaisesRegex(sluice.Error, 'bytes, where'):
                gauss(numpy.ascontiguousarray(packed[:, 1:]), layout=name)
        nv16 = numpy.concatenate([nv12[:24], numpy.repeat(nv12[24:], 2, axis=0)])  # rows have the chroma that they shared
        numpy.testing.assert_array_equal(gauss(nv16, layout='NV16'), gauss(nv12, layout='NV12'))
        p010 = numpy.random.default_rng(6).integers(0, 1 << 16, (36, 32), numpy.uint16)
        y, cb, cr = (p010[:24] >> 6).astype('i8'), *(numpy.kron((p010[24:, k::2] >> 6).astype('i8'), numpy.ones((2, 2), 'i8')) - 512 for k in (0, 1))
        r, b = (int(numpy.rint(65535 / 896 * 8192 * 2 * (1 - share))) for share in (0.2627, 0.0593))
        luma = (y - 64) * int(numpy.rint(65535 / 876 * 8192))
        green = [int(numpy.rint(65535 / 896 * 8192 * 2 * (1 - share) * share / 0.678)) for share in (0.0593, 0.2627)]
        rgb = numpy.dstack([luma + r * cr, luma - green[0] * cb - green[1] * cr, luma + b * cb]) + 4096 >> 13
        numpy.testing.assert_array_equal(chain('')(p010, layout='P010:bt2020'), numpy.clip(rgb, 0, 65535))
        numpy.testing.assert_array_equal(chain('luminance:bt2020')(p010, layout='P010:bt2020'), numpy.clip(luma + 4096 >> 13, 0, 65535))
        for layout, array, says in (('NV99', nv12, 'NV12'), ('NV12:bt7', nv12, 'bt709'), ('NV12', nv12[:34], r'H·3/2'), ('NV12', colour, 'NV12'),
                                    ('I420', padded, 'packed'), ('BGR', nv12, r'\(H, W, 3\)'), ('GRAY16_LE', nv12, 'uint16')):
            with self.assertRaisesRegex(sluice.Error, says):
                gauss(array, layout=layout)


# What NPUs ask for, by its definitions in numpy (docs/stages/convert.md, resize.md, colour.md, gain.md).

def axis_weights(length, to):
    """Of resize:filter=bilinear: for each sample of the result the weights of the source's, in 2^-14ths, as a matrix."""
    table = numpy.zeros((to, length), numpy.int64)
    step = length / to
    span = max(1.0, step)
    for x in range(to):
        centre = ((2 * x + 1) * length - to) / (2 * to)
        distances = numpy.arange(length) - centre
        weights = numpy.where(abs(distances) < span, 1 - abs(distances / span), 0.0)
        weights = weights[weights > 0] / sum(weights[weights > 0])
        first = int(numpy.flatnonzero(abs(distances) < span)[0])
        ends = numpy.floor(16384 * numpy.cumsum(weights) + 0.5).astype(numpy.int64)
        table[x, first:first + len(weights)] = numpy.diff(ends, prepend=0)
    return table if length != to else 16384 * numpy.eye(to, dtype=numpy.int64)


def letterbox(array, width, height, background, nearest):
    """resize:W:H:fit=pad:enlarge=1 of bytes."""
    rows, columns = array.shape[:2]
    across = columns * height >= rows * width # the width decides
    by, of = (width, columns) if across else (height, rows)
    to = [max(1, (2 * side * by + of) // (2 * of)) for side in (rows, columns)]
    if nearest:
        lines, places = ([(2 * i + 1) * side // (2 * new) for i in range(new)] for side, new in zip((rows, columns), to))
        small = array[lines][:, places]
    else:
        along = numpy.einsum('xw,hwc->hxc', axis_weights(columns, to[1]), array.astype(numpy.int64)) + 128 >> 8
        small = numpy.clip(numpy.einsum('yh,hxc->yxc', axis_weights(rows, to[0]), along) + (1 << 19) >> 20, 0, 255).astype(numpy.uint8)
    out = numpy.empty((height, width, array.shape[2]), numpy.uint8)
    out[:] = background
    top, left = (height - to[0]) // 2, (width - to[1]) // 2
    out[top:top + to[0], left:left + to[1]] = small
    return out


def quantized(array, dtype, scale, zero):
    limits = numpy.iinfo(dtype)
    return numpy.clip(numpy.rint(array.astype(numpy.float32) / numpy.float32(scale)) + zero, limits.min, limits.max).astype(dtype)


def random_tensor(chance):
    """A chain, a picture for it, and what numpy makes of that."""
    given = chance.integers(0, 256, (*chance.integers(1, 50, 2), 3), numpy.uint8)
    made, steps = given, []
    for step in chance.permutation(['flip', 'crop', 'rotate'])[:chance.integers(0, 3)]:
        if step == 'flip':
            made, text = made[:, ::-1], 'flip:x'
        elif step == 'rotate':
            made, text = numpy.rot90(made, -1), 'rotate:90'
        else:
            x, y = (int(chance.integers(0, side)) for side in (made.shape[1], made.shape[0]))
            made, text = made[y:, x:], 'crop:%d:%d:%d:%d' % (x, y, made.shape[1] - x, made.shape[0] - y)
        steps.append(text)
    width, height = (int(side) for side in chance.integers(1, 70, 2))
    colours, nearest = [int(v) for v in chance.integers(0, 256, 3)], chance.random() < 0.5
    made = letterbox(made, width, height, colours, nearest)
    steps.append('resize:%d:%d:fit=pad:enlarge=1:filter=%s:background=%s' % (
        width, height, 'nearest' if nearest else 'bilinear', '_'.join(map(str, colours))))
    if chance.random() < 0.7: # (v / 255 - mean) / deviation, as a factor and what is added
        mean, deviation = chance.uniform(0.2, 0.6, 3), chance.uniform(0.1, 0.4, 3)
        factors, added = ([float('%.7f' % v) for v in vector] for vector in (1 / (255 * deviation), -mean / deviation))
        made = made.astype(numpy.float32) * numpy.float32(factors) + numpy.float32(added)
        rows = ['_'.join('%.7f' % (factors[c] if c == i else 0) for i in range(3)) for c in range(3)]
        steps.append('convert:f32,colour:m=%s:offset=%s' % ('/'.join(rows), '_'.join('%.7f' % v for v in added)))
    kind = chance.choice(['f32', 'f16', 'i8', 'u8', 'same'])
    text = 'convert:type=%s' % kind
    if kind in ('i8', 'u8'):
        scale, zero = float('%.6f' % chance.uniform(0.002, 0.1 if made.dtype == numpy.float32 else 3)), int(chance.integers(-128, 128))
        made, text = quantized(made, 'int8' if kind == 'i8' else 'uint8', scale, zero), '%s:scale=%.6f:zero=%d' % (text, scale, zero)
    elif kind != 'same':
        made = made.astype('float32' if kind == 'f32' else 'float16')
    if kind == 'same' or chance.random() < 0.7:
        made, text = made.transpose(2, 0, 1), text + ':layout=chw'
    return ','.join([*steps, text]), numpy.ascontiguousarray(given), numpy.ascontiguousarray(made)


class Tensors(unittest.TestCase):
    def same(self, made, wanted, what):
        self.assertEqual((made.shape, made.dtype), (wanted.shape, wanted.dtype), what)
        self.assertEqual(made.tobytes(), wanted.tobytes(), what)

    def test_random(self):
        """50 chains, to the last bit."""
        chance = numpy.random.default_rng(5)
        for _ in range(50):
            text, given, wanted = random_tensor(chance)
            own = chain(text)
            self.assertEqual(own.result(given.shape), (wanted.shape, wanted.dtype), text)
            self.same(own(given), wanted, text)
            self.same(own(given, out=numpy.empty(wanted.shape, wanted.dtype)), wanted, text)

    def test_files(self):
        chance = numpy.random.default_rng(6)
        with tempfile.TemporaryDirectory() as folder:
            for _ in range(3):
                text, given, wanted = random_tensor(chance)
                numpy.save(os.path.join(folder, 'in.npy'), given)
                subprocess.run([command, 'run', '--device', 'native', '-q', '--on-exists', 'overwrite', 'in.npy',
                                *(part for form in ('npy', 'npz', 'raw') for part in ('-c', text, '-o', 'out.' + form))],
                               cwd=folder, check=True, timeout=60)
                self.same(numpy.load(os.path.join(folder, 'out.npy')), wanted, text)
                with numpy.load(os.path.join(folder, 'out.npz')) as file:
                    self.same(file['image'], wanted, text)
                with open(os.path.join(folder, 'out.raw'), 'rb') as file:
                    self.assertEqual(file.read(), wanted.tobytes(), text)
                subprocess.run([command, 'run', '--device', 'native', '-q', '--on-exists', 'overwrite', '-o', 'again.npz', 'out.npz'],
                               cwd=folder, check=True, timeout=60)
                with numpy.load(os.path.join(folder, 'again.npz')) as file:
                    self.same(file['image'], wanted, text)

    def test_f16(self):
        """All of them, and what numpy rounds to them."""
        every = numpy.arange(1 << 16, dtype=numpy.uint16).view(numpy.float16).reshape(256, 256)
        every = numpy.where(numpy.isnan(every), numpy.float16(1), every)
        self.same(chain('convert:f32')(every), every.astype(numpy.float32), 'f32 of f16')
        near = numpy.float32(every[:, :, None]) * numpy.float32([1, 1 + 2**-11, 1 - 2**-12])
        with numpy.errstate(over='ignore'):
            self.same(chain('convert:f16')(near), near.astype(numpy.float16), 'f16 of f32')
        self.same(chain('flip:x')(every), numpy.ascontiguousarray(every[:, ::-1]), 'flip')

    def test_one_tensor_of_a_batch(self):
        given, batch = picture((20, 30, 3)), numpy.zeros((4, 3, 20, 30), numpy.float16)
        chain('convert:f16:layout=chw')(given, out=batch[2])
        self.same(batch[2], given.astype(numpy.float16).transpose(2, 0, 1), 'in its place')
        self.assertFalse(batch[[0, 1, 3]].any())
        with self.assertRaisesRegex(sluice.Error, 'follow each other'):
            chain('convert:f16:layout=chw')(given, out=batch[:3, 0])


class Mistakes(unittest.TestCase):
    def test_places(self):
        """All mistakes of a text, each below its place; in characters, not bytes."""
        with self.assertRaises(sluice.Error) as caught:
            chain('sobal,box:radius=x')
        error = caught.exception
        self.assertEqual((error.code, error.position, error.length), ('chain', 0, 5))
        self.assertEqual([one.position for one in error.mistakes], [0, 17])
        self.assertIn('\n  sobal,box:radius=x\n  ^^^^^', str(error))
        self.assertIn('\n                   ^', str(error))
        self.assertNotIn('\n', error.message)
        with self.assertRaises(sluice.Error) as caught:
            chain('invert,ünbekannt,sobal')
        self.assertEqual([one.position for one in caught.exception.mistakes], [7, 17])
        with self.assertRaises(sluice.Error) as caught:
            chain('invert\0')
        self.assertEqual(caught.exception.code, 'chain')
        with self.assertRaises(sluice.Error) as caught:
            chain('crop:w=100:h=100')(picture((5, 5)))
        self.assertEqual((caught.exception.code, caught.exception.position), ('shape', None))
        self.assertIsNone(caught.exception.__context__)
        with self.assertRaises(sluice.Error) as caught:
            sluice.Device('no such device')
        self.assertEqual(caught.exception.code, 'no-device')

    def test_errors_of_other_threads(self):
        """An error is the thread's that made it."""
        wrong = [numpy.frombuffer(bytes(41), 'uint8')[1:].view('uint16').reshape(4, 5), 'multiple of a sample']
        same = picture((64, 64), 'uint16')
        failed = []

        def work(given, out, says):
            invert = chain('invert')
            for _ in range(300):
                try:
                    invert(given, out=out)
                    failed.append('no error')
                except sluice.Error as error:
                    if says not in str(error):
                        failed.append(str(error))
        threads = [threading.Thread(target=work, args=args) for args in ((wrong[0], None, wrong[1]), (same, same, 'overlap')) * 3]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
        self.assertEqual(failed, [])


class Chains(unittest.TestCase):
    def test_texts(self):
        own = sluice.Chain('luminance,box:radius=3', NATIVE)
        self.assertIn('weights=bt601', own.text)
        self.assertEqual(sluice.Chain(own.text).short, own.short)
        self.assertEqual(repr(own), 'Chain(%r)' % own.short)
        numpy.testing.assert_array_equal(chain('')(picture((3, 3))), picture((3, 3)))

    def test_pictures(self):
        dark = numpy.random.default_rng(1).integers(0, 900, (31, 47), numpy.uint16)
        flat = numpy.random.default_rng(2).integers(0, 60000, (31, 47), numpy.uint16)
        frame = numpy.random.default_rng(3).integers(0, 65536, (31, 47), numpy.uint16)
        f = numpy.where(flat != 0, flat.mean(dtype='f8') / numpy.maximum(flat, 1), 0).astype('f4')
        expected = numpy.clip(numpy.rint(numpy.where(frame > dark, frame - dark, 0).astype('f4') * f), 0, 65535).astype('u2')
        even = chain('subtract:@dark,divide:@flat', pictures={'dark': dark, 'flat': flat})
        dark[:] = 0  # it is a copy
        numpy.testing.assert_array_equal(even(frame), expected)
        numpy.testing.assert_array_equal(pickle.loads(pickle.dumps(even))(frame), expected)
        with self.assertRaisesRegex(sluice.Error, '47×31, and this one 46×31'):
            even(frame[:, 1:])
        with self.assertRaisesRegex(sluice.Error, 'no picture'):
            chain('subtract:@light', pictures={'dark': dark})
        with self.assertRaisesRegex(sluice.Error, 'picture dark'):
            chain('subtract:@dark', pictures={'dark': dark[0]})

    def test_kernels(self):
        kernel = [[1, 2, 1], [2, 4, 2], [1, 2, 1]]
        own = chain('fir:@mine', kernels={'mine': kernel})
        numpy.testing.assert_array_equal(own(picture((20, 20))), chain('fir:1_2_1/2_4_2/1_2_1')(picture((20, 20))))
        with self.assertRaises(sluice.Error):
            chain('fir:@other', kernels={'mine': kernel})
        with self.assertRaises(sluice.Error):
            chain('fir:@mine', kernels={'mine': [1, 2, 1]})
        for kernels in ({'a b': kernel}, {'mine': [[numpy.nan]]}):
            with self.assertRaises(sluice.Error):
                chain('fir:@mine', kernels=kernels)

    def test_banks(self):
        """The same as in a configuration: here and back, and refused unless it reconstructs or says that it need not."""
        half = numpy.sqrt(0.5)
        mine = {'sampling': (2, 2), 'analysis': {'horizontal': [{'taps': [half, half], 'zero': 1}, {'taps': numpy.array([-half, half]), 'zero': 1}]},
                'synthesis': {'horizontal': [{'taps': [half, half]}, {'taps': [half, -half]}]}}
        own = chain('analysis:@mine,synthesis:@mine', banks={'mine': mine})
        photo = picture((31, 47))
        numpy.testing.assert_array_equal(own(photo), photo)
        numpy.testing.assert_array_equal(pickle.loads(pickle.dumps(own))(photo), photo)
        lines = dict(mine, sampling=(2, 1), **{of: dict(mine[of], vertical=[{'taps': [1]}]) for of in ('analysis', 'synthesis')})
        self.assertEqual([plane.shape for plane in chain('analysis:@mine', banks={'mine': lines})(photo).values()], [(31, 24)] * 2)
        skewed = dict(mine, synthesis={'horizontal': [{'taps': [half, 0.7]}, {'taps': [half, -half]}]})
        with self.assertRaisesRegex(sluice.Error, "bank 'mine'.*does not reconstruct"):
            chain('analysis:@mine', banks={'mine': skewed})
        chain('analysis:@mine', banks={'mine': dict(skewed, lossy=True)})
        for bad, says in (({}, 'sampling'), (dict(mine, sampling=(2,)), 'expected'), (dict(mine, factor=2), "no key 'factor'"), ([], 'expected'),
                          (dict(mine, synthesis={'horizontal': []}), '2 horizontal filters of analysis, 0 of synthesis'),
                          (dict(mine, analysis={'horizontal': [{'taps': [numpy.nan]}, {'taps': [1]}]}), 'taps up to'),
                          (dict(mine, analysis=3), 'expected'), (dict(mine, sampling=(2, -1)), 'expected')):
            with self.assertRaisesRegex(sluice.Error, "bank '?mine'?: .*" + says):
                chain('analysis:@mine', banks={'mine': bad})
        for bad in (None, b'sobel', 3):
            with self.assertRaisesRegex(TypeError, 'a chain is a text'):
                sluice.Chain(bad)

    def test_pickled(self):
        for one in (chain('luminance,sobel'), chain('fir:@mine', kernels={'mine': numpy.ones((3, 3))})):
            again = pickle.loads(pickle.dumps(one))
            numpy.testing.assert_array_equal(again(picture((9, 9, 3))), one(picture((9, 9, 3))))
            self.assertEqual(again.device.info, one.device.info)

    def test_forked(self):
        """A child computes with what its parent made, on threads of its own."""
        own = chain('gauss:sigma=3')
        large = picture((1200, 1600))
        wanted = own(large)
        with warnings.catch_warnings():
            warnings.simplefilter('ignore')
            with multiprocessing.get_context('fork').Pool(2) as pool:
                for made in pool.map(own, [large] * 4):
                    numpy.testing.assert_array_equal(made, wanted)
        numpy.testing.assert_array_equal(own(large), wanted)
        done = subprocess.run([sys.executable, '-c', FORK, packages], timeout=300)
        self.assertEqual(done.returncode, 0)

    def test_plans_are_bounded(self):
        own = chain('invert')
        for side in range(1, 200):
            own(numpy.zeros((1, side), 'uint8'))
        self.assertLessEqual(len(own._plans), 64)

    def test_devices(self):
        self.assertIn('native', [one.kind for one in sluice.devices()])
        self.assertEqual((NATIVE.info.kind, NATIVE.info.threads, NATIVE.info.in_place), ('native', 2, True))
        reference = sluice.Chain('luminance,sobel', sluice.Device('reference'))
        numpy.testing.assert_array_equal(reference(picture((20, 30, 3))), chain('luminance,sobel')(picture((20, 30, 3))))


class Use(unittest.TestCase):
    def test_threads(self):
        """Eight threads, one chain, sizes that come and go."""
        own = chain('luminance,sobel')
        inputs = [picture((20 + 7 * i, 300, 3), seed=i) for i in range(12)]
        wanted = [own(one) for one in inputs]
        failed = []

        def work(first):
            for i in range(60):
                number = (first + i) % len(inputs)
                out = numpy.empty_like(wanted[number]) if i % 2 else None
                if not (own(inputs[number], out=out) == wanted[number]).all():
                    failed.append((first, number))
        threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
        self.assertEqual(failed, [])

    def test_other_threads_run(self):
        """The lock of Python is given up while a chain computes: its thread counts on."""
        own, counted, stop = sluice.Chain('gauss:sigma=20', sluice.Device('native', threads=1)), [0], threading.Event()
        given = picture((4000, 4000))
        own(given)

        def count():
            while not stop.is_set():
                counted[0] += 1
                stop.wait(0.0005)
        thread = threading.Thread(target=count)
        before = sys.getswitchinterval()
        sys.setswitchinterval(1000) # nobody is made to give it up
        try:
            thread.start()
            while counted[0] < 3:
                stop.wait(0.001)
            begin = counted[0]
            own(given)
            end = counted[0]
        finally:
            sys.setswitchinterval(before)
            stop.set()
            thread.join()
        self.assertGreater(end, begin + 2)

    def test_stream(self):
        own = chain('invert')
        frames = [numpy.full((40, 50), i, 'uint8') for i in range(20)]
        for depth in (1, 2, 5, None):
            with own.stream(depth) as stream:
                self.assertEqual([made[0, 0] for made in stream.map(frames)], [255 - i for i in range(20)])
                self.assertEqual(len(stream), 0)
        stream = own.stream(2)
        out = numpy.empty((40, 50), 'uint8')
        stream.put(frames[1], out=out)
        for frame in frames[2:6]:
            stream.put(frame)
        self.assertEqual(len(stream), 5)
        self.assertIs(stream.get(), out)
        self.assertEqual([stream.get()[0, 0] for _ in range(4)], [253, 252, 251, 250])
        with self.assertRaises(IndexError):
            stream.get()
        with self.assertRaises(sluice.Error):
            stream.put(frames[0], out=frames[0])
        stream.put(frames[3])
        del stream # waits
        with self.assertRaises(ValueError):
            own.stream(0)

    @unittest.skipUnless('cpu' in {one.kind for one in sluice.devices()}, 'no OpenCL on the processor')
    def test_opencl(self):
        """A device with memory of its own: strides on both sides, several pictures in flight, several threads."""
        own, native = sluice.Chain('luminance,sobel', sluice.Device('cpu')), chain('luminance,sobel')
        frames = [picture((40, 60, 3), seed=i) for i in range(12)]
        wanted = [native(frame) for frame in frames]
        room = numpy.zeros((20, 70), 'uint8')
        own(frames[0][::2, 10:50], out=room[:, 7:47])
        numpy.testing.assert_array_equal(room[:, 7:47], native(frames[0][::2, 10:50]))
        self.assertFalse(room[:, :7].any() or room[:, 47:].any())
        for depth in (1, 2, 3, None):
            with own.stream(depth) as stream:
                numpy.testing.assert_array_equal(list(stream.map(frames)), wanted)
        equal = []

        def work():
            for frame, result in zip(frames, wanted):
                equal.append(numpy.array_equal(own(frame), result))
        threads = [threading.Thread(target=work) for _ in range(4)]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
        self.assertEqual(equal, [True] * 48)

    def test_nothing_is_kept(self):
        """Memory after ten thousand calls, and references after some."""
        given = picture((64, 64, 3))
        own, planes, out = chain('luminance,sobel'), chain('dwt:levels=1'), numpy.empty((64, 64), 'uint8')

        def resident():
            gc.collect()
            with open('/proc/self/statm', encoding='ascii') as file:
                return int(file.read().split()[1]) * os.sysconf('SC_PAGE_SIZE')

        def calls(n):
            for i in range(n):
                own(given)
                own(given, out=out)
                own(given[::2])
                if i % 10 == 0:
                    planes(given[..., 0].copy())
                    try:
                        chain('sobal')
                    except sluice.Error:
                        pass
                    chain('invert')(given)
                    with own.stream(2) as stream:
                        stream.put(given)
        calls(300)
        before, counts = resident(), [sys.getrefcount(one) for one in (given, out, own, given.dtype)]
        calls(3400) # more than 10,000 frames
        self.assertLess(resident() - before, 2 << 20)
        self.assertEqual([sys.getrefcount(one) for one in (given, out, own, given.dtype)], counts)
        made = own(given)
        self.assertEqual(sys.getrefcount(made), 2)
        self.assertTrue(made.flags.owndata)

    def test_cost(self):
        """What Python adds to the call of the library, the shortest of many."""
        given, out = picture((16, 16)), numpy.empty((16, 16), 'uint8')
        own = chain('invert')
        plan, source, target, _ = own._ready(given, out, None, None)

        def shortest(call):
            spans = []
            for _ in range(3000):
                begin = time.perf_counter_ns()
                call()
                spans.append(time.perf_counter_ns() - begin)
            return min(spans) / 1000
        bare = shortest(lambda: sluice._process(plan.handle, plan.device, source, plan.in_bytes, target, plan.out_bytes))
        calls = {'a new array': lambda: own(given), 'out=': lambda: own(given, out=out), 'rows apart': lambda: own(given[::2])}
        costs = {name: shortest(call) - bare for name, call in calls.items()}
        print('the library %.2f µs, and beside it: %s' % (bare, ', '.join('%s %.2f µs' % one for one in costs.items())))
        self.assertLess(max(costs.values()), 6)

    @unittest.skipUnless(more, 'no source')
    def test_page(self):
        """docs/python.md, as it is written."""
        page = os.path.join(more[0], 'docs/python.md')
        try:
            import cv2 # noqa: F401
            flags = 0
        except ImportError:
            flags = None
        with open(page, encoding='utf-8') as file:
            text = file.read()
        if flags is None: # what needs OpenCV stands between these
            before, rest = text.split('<!-- cv2 -->')
            text = before + rest.split('<!-- /cv2 -->')[1]
        parser, runner = doctest.DocTestParser(), doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
        text = re.sub(r'```\w*', '', text)
        test = parser.get_doctest(text, {}, 'python.md', page, 0)
        with tempfile.TemporaryDirectory() as folder:
            before = os.getcwd()
            os.chdir(folder)
            try:
                runner.run(test)
            finally:
                os.chdir(before)
        self.assertEqual(runner.failures, 0)
        self.assertGreater(runner.tries, 25)
        self.assertEqual(doctest.testmod(sluice).failed, 0)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1], verbosity=1)
