#!/usr/bin/env python3
"""jobs.py SOCKET FILE WIDTH HEIGHT: raw grey frames of a file through sluiced, two at a time.

A frame goes into a sealed memory file, which the daemon takes as it is; the result comes back as one.
"""
import array
import fcntl
import json
import os
import socket
import sys

AHEAD = 2
F_ADD_SEALS, ALL_SEALS = 1033, 1 | 2 | 4 | 8  # seal, shrink, grow, write


def memory_file(frame):
    fd = os.memfd_create('frame', os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    os.write(fd, frame)
    fcntl.fcntl(fd, F_ADD_SEALS, ALL_SEALS)
    return fd


def send(daemon, number, frame, width, height):
    job = {'id': number, 'chain': 'luminance,invert', 'input': 'raw=gray8:w=%d:h=%d' % (width, height),
           'format': 'raw'}
    fd = memory_file(frame)
    rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array('i', [fd]))]
    daemon.sendmsg([json.dumps(job).encode()], rights)
    os.close(fd)


def receive(daemon):
    """The report and the bytes of one result."""
    data, control, _, _ = daemon.recvmsg(65536, socket.CMSG_SPACE(4))
    if not data:
        sys.exit('the daemon has hung up')
    report = json.loads(data)
    if report['result'] != 'ok':
        sys.exit('frame %d: %s' % (report['id'], report['text']))
    fds = array.array('i')
    fds.frombytes(control[0][2])
    with os.fdopen(fds[0], 'rb') as file:
        return report, os.pread(file.fileno(), report['bytes_out'], 0)


def main():
    path, name, width, height = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    daemon = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    daemon.connect(path)
    with open(name, 'rb') as file:
        frames = iter(lambda: file.read(width * height), b'')
        sent, results, done = 0, {}, 0
        for frame in frames:
            send(daemon, sent, frame, width, height)
            sent += 1
            if sent - done >= AHEAD:
                report, result = receive(daemon)
                results[report['id']] = (report, result)
                done += 1
        while done < sent:
            report, result = receive(daemon)
            results[report['id']] = (report, result)
            done += 1
    for number in sorted(results):  # answers come as they are done, not as they were asked for
        report, result = results[number]
        print('frame %d: %d bytes, %.3f ms' % (number, len(result), report['total_s'] * 1e3))


main()
