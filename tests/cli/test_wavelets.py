#!/usr/bin/env python3
"""test_wavelets.py SLUICE: the wavelet stages as a user runs them, compared with PyWavelets, or with numbers that it
gave where it is not installed."""
import json
import os
import struct
import subprocess
import sys
import tempfile

try:
    import numpy
    import pywt
except ImportError:
    pywt = None

SLUICE = sys.argv[1]

# pywt.wavedec2(picture, 'db2', 'symmetric', 1) of rows 1 2 3 4 / 5 6 7 9, PyWavelets 1.1.1.
STORED = {
    'LL1': [4.5, 5.222196, 9.875, 8.5, 9.13069, 14.625],
    'LH1': [-3.464102, -3.384855, -4.113621, 3.464102, 3.384855, 4.113621],
}


def write_npy(path, rows, width, data, code):
    header = "{'descr': '%s', 'fortran_order': False, 'shape': (%d, %d), }" % (code, rows, width)
    header += ' ' * (-(len(header) + 11) % 64) + '\n'
    with open(path, 'wb') as file:
        file.write(b'\x93NUMPY\x01\x00' + struct.pack('<H', len(header)) + header.encode() + data)


def read_npy(path):
    with open(path, 'rb') as file:
        data = file.read()
    start = 10 + struct.unpack('<H', data[8:10])[0]
    return struct.unpack('<%df' % ((len(data) - start) // 4), data[start:])


def run(folder, chain, source, expect=0):
    target = os.path.join(folder, 'out.npy')
    done = subprocess.run([SLUICE, 'run', '-q', '-c', chain, '-o', target, source],
                          stderr=subprocess.PIPE, text=True)
    assert done.returncode == expect, (chain, done.returncode, done.stderr)
    return done.stderr


def check_stored(folder):
    source = os.path.join(folder, 'in.npy')
    write_npy(source, 2, 4, bytes([1, 2, 3, 4, 5, 6, 7, 9]), '|u1')
    run(folder, 'dwt:db2:levels=1:mode=symmetric', source)
    for plane, expected in STORED.items():
        got = read_npy(os.path.join(folder, 'out.%s.npy' % plane))
        assert len(got) == len(expected), plane
        assert max(abs(a - b) for a, b in zip(got, expected)) < 1e-4, (plane, got)


def check_pywt(folder, wavelet, mode, levels, shape, kind):
    source = os.path.join(folder, 'in.npy')
    random = numpy.random.default_rng(levels + shape[0])
    picture = random.integers(0, numpy.iinfo(kind).max + 1, shape).astype(kind)
    numpy.save(source, picture)
    run(folder, 'dwt:%s:levels=%d:mode=%s' % (wavelet, levels, mode), source)
    bands = pywt.wavedec2(picture.astype(float), wavelet, mode, levels)
    expected = {'LL%d' % levels: bands[0]}
    for i, details in enumerate(bands[1:]):
        for name, band in zip(('LH', 'HL', 'HH'), details):
            expected['%s%d' % (name, levels - i)] = band
    for plane, band in expected.items():
        got = numpy.load(os.path.join(folder, 'out.%s.npy' % plane))
        extent = max(numpy.ptp(band), 1)
        assert got.shape == band.shape, (wavelet, mode, plane, got.shape, band.shape)
        assert abs(got - band).max() <= 1e-5 * extent, (wavelet, mode, plane)
    run(folder, 'dwt:%s:levels=%d:mode=%s,idwt' % (wavelet, levels, mode), source)
    assert (numpy.load(os.path.join(folder, 'out.npy')) == picture).all(), (wavelet, mode)


def plan(*arguments):
    return subprocess.run([SLUICE, 'plan', *arguments, '64x64'], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True)


def check_plans():
    """What single precision cannot do is a warning; doubles on a device without them an error that
    names a device."""
    for chain, kind, expected in (('dwt:bior3.1,idwt', 'u8', 'dwt: '), ('dwt:rbio2.2', 'u16', 'dwt: '),
                                  ('dwt:rbio2.2', 'u8', None), ('dwt:bior3.1:precision=double', 'u8', None)):
        done = plan('--json', '--type', kind, '-c', chain)
        assert done.returncode == 0, done.stderr
        warnings = json.loads(done.stdout)['warnings']
        assert len(warnings) == (expected is not None), (chain, kind, warnings)
        assert not expected or (warnings[0].startswith(expected) and 'double' in warnings[0]), warnings
    for chain in ('dwt:precision=double', 'analysis:haar:precision=double'):
        done = plan('--profile', 'mali', '-c', chain)
        assert done.returncode == 69 and '--device' in done.stderr, (done.returncode, done.stderr)


def planes_of(folder, chain, source):
    for name in os.listdir(folder):
        if name.startswith('out.'):
            os.remove(os.path.join(folder, name))
    run(folder, chain, source)
    return {name.split('.')[1]: read_npy(os.path.join(folder, name))
            for name in os.listdir(folder) if name.startswith('out.')}


def check_only(folder):
    """only= changes the planes whose names fit, and no others; and says what cannot be."""
    source = os.path.join(folder, 'in.npy')
    write_npy(source, 40, 64, bytes((7 * i * i + i // 3) % 251 for i in range(40 * 64)), '|u1')
    plain = planes_of(folder, 'dwt:haar:levels=2', source)
    gained = planes_of(folder, 'dwt:haar:levels=2,gain:2:only=LL*/HH1/x', source)
    shrunk = planes_of(folder, 'dwt:haar:levels=2,shrink:threshold=9:only=*H1', source)
    assert set(plain) == set(gained) == set(shrunk) and len(plain) == 7, list(gained)
    for name, values in plain.items():
        assert gained[name] == tuple(v * (2 if name in ('LL2', 'HH1') else 1) for v in values), name
        soft = tuple(v - 9 if v > 9 else v + 9 if v < -9 else 0 for v in values)
        assert shrunk[name] == (soft if name in ('LH1', 'HH1') else values), name
    for chain, says in (('dwt,gain:2:only=XX*', 'there are LL3, HL3, LH3, HH3, HL2'),
                        ('gain:2:only=LL*', 'one plane without a name'),
                        ('dwt,resize:4:only=LL*', 'is for stages that keep them'),
                        ('dwt,dwt:only=LL*', 'is for stages that keep them'),
                        ('dwt,idwt:only=*', 'is for stages that keep them'),
                        ('dwt,clahe:only=LL*', 'clahe takes samples of type u8, u16, not f32; put convert:type=u16:only=LL* in front'),
                        ('dwt,clahe', 'put convert:type=u16 in front')):
        told = run(folder, chain, source, 65)
        assert says in told, (chain, told)
    # planes of several types beside each other, and back
    run(folder, 'dwt:levels=2,convert:u8:only=LL*,clahe:2x2:only=LL*,convert:f32:only=LL*,idwt', source)
    done = subprocess.run([SLUICE, 'run', '-q', '--verify', '-c', 'dwt:levels=2,convert:u8:only=HH*,convert:u16:only=LL*', '-o',
                           os.path.join(folder, 'types.npz'), source], stderr=subprocess.PIPE, text=True)
    assert done.returncode == 0, done.stderr


def main():
    check_plans()
    with tempfile.TemporaryDirectory() as folder:
        check_stored(folder)
        check_only(folder)
        if not pywt:
            print('PyWavelets is not here: stored numbers only')
            return 0
        # reflect only where no side is 1: PyWavelets 1.1.1 does not come back from that
        cases = [('haar', 'periodization'), ('db2', 'symmetric'), ('db20', 'periodization'),
                 ('sym7', 'zero'), ('coif3', 'reflect'), ('bior1.3', 'constant'),
                 ('bior3.5', 'periodic'), ('bior6.8', 'periodization'), ('rbio2.4', 'symmetric')]
        for i, (wavelet, mode) in enumerate(cases):
            shape = [(33, 47), (64, 120), (3, 200), (17, 5)][i % 4]
            check_pywt(folder, wavelet, mode, 2, shape, 'u1' if i % 2 else 'u2')
    print('%d cases agree' % len(cases))
    return 0


sys.exit(main())
