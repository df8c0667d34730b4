#!/usr/bin/env python3
"""All programs of configured chains are compiled before READY, as a trace of OpenCL's calls shows
(tests/cli/cl_trace.c)."""
import os
import random
import struct
import zlib

from sluice_test import DaemonTest, main, picture, wait_for

CL_TRACE = os.environ['CL_TRACE']


def chunk(name, data):
    return struct.pack('>I', len(data)) + name + data + struct.pack('>I', zlib.crc32(name + data))


class Compile(DaemonTest):
    def trace(self):
        with open(os.path.join(self.dir, 'trace'), encoding='utf-8') as file:
            return [line.split() for line in file]

    def test_500_files_one_context_and_nothing_is_compiled_after_ready(self):
        env = {'SLUICE_CACHE_DIR': os.path.join(self.dir, 'cache'), 'OPENCL_LAYERS': CL_TRACE,
               'SLUICE_CL_TRACE': os.path.join(self.dir, 'trace'),
               'SLUICE_DEVICE_SANDBOX': 'off'}  # it keeps the layer from its file
        d = self.daemon('--jobs', '2', chain='luminance,sobel', form='png', env=env).start()
        before = [line for line in self.trace() if line[0] == 'build']
        self.assertTrue(before)
        # One a program, so that a start may take as long as it must: 1 to 4 channels of 8 and of 16 bits.
        self.assertEqual(d.count_lines(r'has [1-8] of 8 programs of chain 1 ready'), 8)
        random.seed(1)
        names = ['%03d.png' % i for i in range(500)]
        for i, name in enumerate(names):
            d.drop(name, self.some_picture(i))
        d.expect_all(names)
        wait_for('all originals', lambda: d.done() == names)
        trace = self.trace()
        self.assertEqual([line for line in trace if line[0] == 'build'], before)
        self.assertEqual([line for line in trace if line[0] == 'context'], [['context', str(d.worker_pid())]])
        self.assertEqual({line[1] for line in trace if line[0] == 'build'}, {str(d.worker_pid())})
        self.assertEqual(d.metrics()['sluice_kernel_builds_total'], len(before))
        d.stop()

    @staticmethod
    def some_picture(i):
        """Grey and colour, 8 and 16 bits, with and without alpha, of all sizes."""
        width, height = 1 + i * 7 % 90, 1 + i * 5 % 70
        if i % 8 < 2:
            return picture(width, height, i)
        if i % 8 == 2:
            return b'P6\n%d %d\n255\n' % (width, height) + random.randbytes(width * height * 3)
        if i % 8 == 3:
            return b'P6\n%d %d\n65535\n' % (width, height) + random.randbytes(width * height * 6)
        if i % 8 == 4:
            return b'P5\n%d %d\n65535\n' % (width, height) + random.randbytes(width * height * 2)
        channels, bits, kind = {5: (2, 8, 4), 6: (4, 8, 6), 7: (4, 16, 6)}[i % 8]
        rows = b''.join(b'\0' + random.randbytes(width * channels * bits // 8) for _ in range(height))
        return (b'\x89PNG\r\n\x1a\n' + chunk(b'IHDR', struct.pack('>IIBBBBB', width, height, bits, kind, 0, 0, 0))
                + chunk(b'IDAT', zlib.compress(rows, 1)) + chunk(b'IEND', b''))


if __name__ == '__main__':
    main()
