#!/usr/bin/env python3
"""silent_fs.py MOUNTPOINT: a FUSE file system that never answers, in Python without a library. Needs root.

A file exists under every name, and the name says which requests get no answer: `FLUSH`, `GETATTR-FLUSH`; `none` is an
ordinary file of 64 KiB. Prints "mounted" when it is ready. When it is killed, calls that wait for it fail.
"""
import ctypes
import errno
import os
import struct
import subprocess
import sys

SIZE = 65536
OPCODES = {1: 'LOOKUP', 2: 'FORGET', 3: 'GETATTR', 4: 'SETATTR', 14: 'OPEN', 15: 'READ', 16: 'WRITE', 17: 'STATFS', 18: 'RELEASE',
           20: 'FSYNC', 25: 'FLUSH', 26: 'INIT', 27: 'OPENDIR', 29: 'RELEASEDIR', 36: 'INTERRUPT', 42: 'BATCH_FORGET'}
NO_ANSWER = ('FORGET', 'INTERRUPT', 'BATCH_FORGET')
WRITEBACK_CACHE = 1 << 16


def attributes(node):
    mode = 0o40777 if node == 1 else 0o100666
    return struct.pack('<6Q3I7I', node, SIZE, SIZE // 512, 0, 0, 0, 0, 0, 0, mode, 1, 0, 0, 0, 4096, 0)


class FileSystem:
    def __init__(self, path):
        self.fd, self.names = os.open('/dev/fuse', os.O_RDWR | os.O_CLOEXEC), ['', '/']
        libc = ctypes.CDLL(None, use_errno=True)
        options = 'fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other' % self.fd
        if libc.mount(b'silent', path.encode(), b'fuse', 6, options.encode()) != 0:
            raise OSError(ctypes.get_errno(), 'mount')

    def answer(self, name, node, body):
        """The bytes of the answer, or an error's negative number."""
        if name == 'INIT':
            return struct.pack('<4I2H2I2H8I', 7, 31, 65536, WRITEBACK_CACHE, 16, 12, 65536, 1, 0, 0, *[0] * 8)
        if name == 'LOOKUP':
            child = body.split(b'\0')[0].decode()
            if child not in self.names:
                self.names.append(child)
            node = self.names.index(child)
            return struct.pack('<4Q2I', node, 0, 1000, 0, 0, 0) + attributes(node)
        if name in ('GETATTR', 'SETATTR'):
            return struct.pack('<Q2I', 0, 0, 0) + attributes(node)
        if name in ('OPEN', 'OPENDIR'):
            return struct.pack('<Q2I', 1, 0, 0)
        if name == 'READ':
            offset, size = struct.unpack_from('<QI', body, 8)
            return b'x' * max(0, min(size, SIZE - offset))
        if name == 'WRITE':
            return struct.pack('<2I', struct.unpack_from('<I', body, 16)[0], 0)
        if name == 'STATFS':
            return struct.pack('<5Q10I', *[1 << 20] * 5, 4096, 255, 4096, *[0] * 7)
        return b'' if name in ('FLUSH', 'RELEASE', 'FSYNC', 'RELEASEDIR') else -errno.ENOSYS

    def serve(self):
        while True:
            request = os.read(self.fd, 1 << 18)
            _, code, unique, node = struct.unpack_from('<2I2Q', request)
            name = OPCODES.get(code, str(code))
            if name in NO_ANSWER or name in self.names[node].split('-'):
                continue
            answer = self.answer(name, node, request[40:])
            error, data = (answer, b'') if isinstance(answer, int) else (0, answer)
            try:
                os.write(self.fd, struct.pack('<IiQ', 16 + len(data), error, unique) + data)
            except FileNotFoundError:
                pass  # whoever asked was killed meanwhile


def main():
    file_system = FileSystem(sys.argv[1])
    print('mounted', flush=True)
    file_system.serve()


if __name__ == '__main__':
    main()
