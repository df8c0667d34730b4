#!/usr/bin/env python3
"""Every stage runs on device native, for samples of every type: the kernels that `sluice plan` names are launched,
their results agree with the plain C reference, and native accepts every picture that the reference accepts.
Usage: test_native.py SLUICE [unittest options]"""
import json
import os
import random
import struct
import subprocess
import sys
import tempfile
import unittest

SLUICE = os.path.abspath(sys.argv.pop(1))
TYPES = {'u8': '|u1', 'u16': '<u2', 'i8': '|i1', 'i16': '<i2', 'i32': '<i4', 'f32': '<f4', 'f64': '<f8'}
CODES = {'u8': 'B', 'u16': 'H', 'i8': 'b', 'i16': 'h', 'i32': 'i', 'f32': 'f', 'f64': 'd'}
WIDTH, HEIGHT = 37, 23

# The stage is the last one of its chain. One that is not here is a chain by itself.
CHAINS = {
    'analysis': ['analysis:haar', 'analysis:cdf97:levels=2'],
    'blend': ['blend:200:opacity=0.4', 'blend:7:x=5:y=-3'],
    'box': ['box:radius=2', 'box:width=9:height=4', 'box:table=1'],
    'canny': ['canny:40:90', 'canny:200:900:norm=l2'],
    'clahe': ['clahe', 'clahe:4x3:clip=5'],
    'close': ['close:3', 'close:width=4:height=9'],
    'colour': ['colour:1_0_0/0_1_0/0.2_0.3_0.5'],
    'convert': ['convert:type=u8', 'convert:type=u16', 'convert:type=f32'],
    'crop': ['crop:x=3:y=2:w=20:h=11'],
    'demosaic': ['demosaic:rggb', 'demosaic:gbrg:bilinear'],
    'difference': ['difference:90'],
    'dilate': ['dilate:3', 'dilate:width=4:height=9'],
    'divide': ['divide:3', 'divide:3:scale=2'],
    'dwt': ['dwt:db4', 'dwt:cdf53:levels=2'],
    'erode': ['erode:3', 'erode:width=4:height=9'],
    'fir': ['fir:1_2_1/2_4_2/1_2_1', 'fir:0.1_0.2_0.7'],
    'flip': ['flip:x', 'flip:y'],
    'gain': ['gain:2:3', 'gain:0.3333'],
    'gauss': ['gauss:1.5', 'gauss:4:border=reflect'],
    'histogram': ['histogram', 'histogram:bins=16:across=3:down=2'],
    'idwt': ['dwt:db4,idwt', 'dwt:cdf97:levels=2,idwt'],
    'levels': ['levels:black=9:white=90', 'levels:black=9:white=90:gamma=2.2'],
    'luminance': ['luminance', 'luminance:bt709'],
    'mask': ['mask:1', 'mask:0:background=9'],
    'median': ['median', 'median:2', 'median:3'],
    'normalize': ['normalize', 'normalize:clip=0.1'],
    'open': ['open:3', 'open:width=4:height=9'],
    'pad': ['pad:left=3:bottom=2', 'pad:top=4:border=reflect'],
    'resize': ['resize:w=20', 'resize:w=80:enlarge=1:filter=nearest'],
    'rotate': ['rotate:90', 'rotate:180', 'rotate:30'],
    'shrink': ['dwt:db4,shrink:threshold=3', 'dwt:cdf97:levels=2,shrink:hard:threshold=bayes'],
    'sobel': ['sobel', 'sobel:dx'],
    'statistics': ['statistics', 'statistics:none:over=9:across=3'],
    'subtract': ['subtract:20'],
    'synthesis': ['analysis:haar,synthesis:haar', 'analysis:cdf97:levels=2,synthesis:cdf97:levels=2'],
    'threshold': ['threshold:t=5', 'threshold:t=otsu', 'threshold:local:radius=4'],
    'undistort': ['undistort:matrix=60_0_30/0_60_20/0_0_1:distortion=-0.2_0.05'],
    'unsharp': ['unsharp:1.5', 'unsharp:2:amount=0.5:threshold=3'],
    'warp': ['warp:0.9_-0.3_5/0.3_0.9_-4', 'warp:from=0_0/30_2/28_20/1_19:filter=cubic'],
}


def npy(name, channels, rng):
    shape = (HEIGHT, WIDTH, channels) if channels > 1 else (HEIGHT, WIDTH)
    count = WIDTH * HEIGHT * channels
    if name[0] == 'f':
        values = [rng.uniform(0, 300) for _ in range(count)]
    else:
        bits = int(name[1:])
        low, high = (0, (1 << bits) - 1) if name[0] == 'u' else (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
        values = [rng.randint(low, high) for _ in range(count)]
    head = "{'descr': '%s', 'fortran_order': False, 'shape': %s, }" % (TYPES[name], shape)
    head = head.ljust(117) + '\n'
    return (b'\x93NUMPY\x01\x00' + struct.pack('<H', len(head)) + head.encode() +
            struct.pack('<%d%s' % (count, CODES[name]), *values))


def sluice(*args):
    return subprocess.run([SLUICE, *args], capture_output=True, text=True, check=False)


class Native(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix='sluice-native-')
        rng = random.Random(15)
        cls.inputs = {}
        for name in TYPES:
            for channels in range(1, 5):
                path = os.path.join(cls.folder.name, '%s-%d.npy' % (name, channels))
                with open(path, 'wb') as file:
                    file.write(npy(name, channels, rng))
                cls.inputs[path] = name, channels

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def run_chain(self, chain, device, *options):
        """What became of each input, by its path."""
        out = os.path.join(self.folder.name, 'out') + '/'
        done = sluice('run', '-q', '--json', '--device', device, *options, '-c', chain, '-f', 'npz', '-o', out,
                      *self.inputs)
        self.assertTrue(done.stdout, '%s: %s' % (chain, done.stderr))
        return {one['input']: one for one in json.loads(done.stdout)['files']}

    def kernels(self, chain, name, profile):
        """Those that a plan for that class of device has; None: it is refused."""
        done = sluice('plan', '--json', '--profile', profile, '--type', name, '-c', chain,
                      '%dx%dx3' % (WIDTH, HEIGHT))
        if done.returncode != 0:
            return None
        plan = json.loads(done.stdout)
        return [one['kernel'] for step in plan['steps'] for one in step['passes'] for _ in range(one['launches'])]

    def check(self, chain):
        """Returns for which types it launched kernels of three channels."""
        launched = set()
        got, right = self.run_chain(chain, 'native', '--verify'), self.run_chain(chain, 'reference')
        for path, (name, channels) in self.inputs.items():
            with self.subTest(chain=chain, type=name, channels=channels):
                one, other = got[path], right[path]
                self.assertEqual((one['result'], one.get('message')), (other['result'], other.get('message')))
                if one['result'] != 'ok':
                    continue
                self.assertEqual(one['device'], 'native')
                self.assertIsNotNone(one['largest_difference'])
                if channels != 3:
                    continue
                kernels = [launch['kernel'] for launch in one['launches']]
                self.assertEqual(kernels, self.kernels(chain, name, 'native'))
                self.assertEqual(bool(kernels), bool(self.kernels(chain, name, 'cpu')))
                if kernels:
                    launched.add(name)
        return launched

    def test_the_level_of_the_emulated_processor(self):
        level = os.environ.get('NATIVE_LEVEL') or self.skipTest('no processor is named')
        devices = json.loads(sluice('devices', '--json').stdout)
        self.assertEqual([one['version'] for one in devices if one['kind'] == 'native'], [level])

    def test_every_stage_in_every_type(self):
        stages = [stage['name'] for stage in json.loads(sluice('stages', '--json').stdout)]
        self.assertEqual(sorted(set(CHAINS) - set(stages)), [])
        for stage in stages:
            launched = set().union(*(self.check(chain) for chain in CHAINS.get(stage, [stage])))
            print('%-10s kernels for %s' % (stage, ' '.join(name for name in TYPES if name in launched)))


if __name__ == '__main__':
    unittest.main(verbosity=2)
