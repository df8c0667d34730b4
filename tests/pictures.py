"""Pictures for the tests, with Python's standard library: reads and writes PNM, and reads PNG. Also knows the lines
that drivers print to a program's stderr."""
import struct
import zlib


def without_drivers(stderr):
    """What our programs said. PoCL warns of a processor that does not tell its clock frequency, as emulated
    ones do not."""
    return ''.join(line for line in stderr.splitlines(keepends=True) if not line.startswith('pocl warning: '))


def noise(width, height, channels=1, seed=1, maxval=255):
    """Samples row after row, pseudo-random, the same for the same seed."""
    state, samples = seed, []
    for _ in range(width * height * channels):
        state = (state * 1664525 + 1013904223) & 0xffffffff
        samples.append((state >> 16) * (maxval + 1) >> 16)
    return samples


def pnm(width, height, samples, channels=1, maxval=255):
    """The bytes of a raw PGM or PPM."""
    head = b'P%d\n%d %d\n%d\n' % (6 if channels == 3 else 5, width, height, maxval)
    if maxval > 255:
        return head + struct.pack('>%dH' % len(samples), *samples)
    return head + bytes(samples)


def png_chunk(kind, data):
    return struct.pack('>I4s', len(data), kind) + data + struct.pack('>I', zlib.crc32(kind + data))


def odd_png(width=4, height=3):
    """A grey PNG that libpng reads with two warnings: a chunk of text with a wrong CRC, a tRNS of a wrong length."""
    text = bytearray(png_chunk(b'tEXt', b'Title\0moon'))
    text[-1] ^= 1
    rows = b''.join(b'\0' + bytes((x + y) % 256 for x in range(width)) for y in range(height))
    return (b'\x89PNG\r\n\x1a\n' + png_chunk(b'IHDR', struct.pack('>IIBBBBB', width, height, 8, 0, 0, 0, 0)) +
            bytes(text) + png_chunk(b'tRNS', b'\0\1\2') + png_chunk(b'IDAT', zlib.compress(rows)) +
            png_chunk(b'IEND', b''))


ODD_PNG_WARNINGS = ['png: tEXt: CRC error', 'png: tRNS: invalid']


def read_pnm(data):
    """(width, height, channels, maxval, samples) of a raw PGM or PPM without comments."""
    magic, size, maxval, rest = data.split(b'\n', 3)
    width, height = map(int, size.split())
    channels, maxval = {b'P5': 1, b'P6': 3}[magic], int(maxval)
    count = width * height * channels
    if maxval > 255:
        return width, height, channels, maxval, list(struct.unpack('>%dH' % count, rest))
    assert len(rest) == count, 'length %d, expected %d' % (len(rest), count)
    return width, height, channels, maxval, list(rest)


def read_png(data):
    """(width, height, channels, depth, samples) of a PNG that is not interlaced."""
    assert data[:8] == b'\x89PNG\r\n\x1a\n'
    at, body = 8, b''
    while at < len(data):
        length, kind = struct.unpack('>I4s', data[at:at + 8])
        chunk = data[at + 8:at + 8 + length]
        assert zlib.crc32(kind + chunk) == struct.unpack('>I', data[at + 8 + length:at + 12 + length])[0]
        if kind == b'IHDR':
            width, height, depth, colour, _, _, interlace = struct.unpack('>IIBBBBB', chunk)
            assert interlace == 0
        if kind == b'IDAT':
            body += chunk
        at += 12 + length
    channels = {0: 1, 2: 3, 4: 2, 6: 4}[colour]
    step = channels * depth // 8
    row_bytes = width * step
    raw, rows, above = zlib.decompress(body), [], bytes(row_bytes)
    for y in range(height):
        kind, row = raw[y * (row_bytes + 1)], bytearray(raw[y * (row_bytes + 1) + 1:(y + 1) * (row_bytes + 1)])
        for i in range(row_bytes):
            left = row[i - step] if i >= step else 0
            up, corner = above[i], above[i - step] if i >= step else 0
            if kind == 1:
                add = left
            elif kind == 2:
                add = up
            elif kind == 3:
                add = (left + up) // 2
            elif kind == 4:
                p = left + up - corner
                pa, pb, pc = abs(p - left), abs(p - up), abs(p - corner)
                add = left if pa <= pb and pa <= pc else up if pb <= pc else corner
            else:
                add = 0
            row[i] = (row[i] + add) & 255
        rows.append(bytes(row))
        above = row
    flat = b''.join(rows)
    samples = list(struct.unpack('>%dH' % (len(flat) // 2), flat)) if depth == 16 else list(flat)
    return width, height, channels, depth, samples


def sobel(width, height, samples):
    """The magnitude of interface and manual, border edge, of one grey channel of 8 bits."""
    def at(x, y):
        return samples[min(max(y, 0), height - 1) * width + min(max(x, 0), width - 1)]
    out = []
    for y in range(height):
        for x in range(width):
            dx = at(x + 1, y - 1) - at(x - 1, y - 1) + 2 * (at(x + 1, y) - at(x - 1, y)) \
                + at(x + 1, y + 1) - at(x - 1, y + 1)
            dy = at(x - 1, y - 1) + 2 * at(x, y - 1) + at(x + 1, y - 1) \
                - at(x - 1, y + 1) - 2 * at(x, y + 1) - at(x + 1, y + 1)
            n, m = dx * dx + dy * dy, 0
            while (8 * (m + 1) - 4) ** 2 <= n:
                m += 1
            out.append(min(m, 255))
    return out


def luminance(samples):
    return [(samples[i] * 19595 + samples[i + 1] * 38470 + samples[i + 2] * 7471 + 32768) >> 16
            for i in range(0, len(samples), 3)]
