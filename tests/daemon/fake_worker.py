#!/usr/bin/env python3
"""A worker for tests of behaviour that the real one does not show. The first word of an input file says what it does:

    poison      crashes while it looks at the file
    poison-slow the same, after half a second; a worker of one thread, as that in quarantine is, waits for a line `good` in
                FAKE_WORKER_LOG, 20 s at most
    crash-once  the same, the first time; then takes half a second
    told        gives its job's message as its result
    stops       gives up when the time that it was told is over
    early       dies before it begins
    slow        takes 0.3 s
    waits N     until the file FAKE_WORKER_LOG.go has N lines
    hang        never answers
    aside       never answers, but goes on with others
    truncated   says so; complete otherwise
    full        says twice that the disk is full, then does it
    planes N    writes N planes
    results N   writes N results, each of one file
    twins       writes two planes of one name
    deaf N      waits for two more of them, asks for N outputs each, ends them, and only then reads
    greedy      asks for outputs without end
    tick        gives its result the same time as any other of this kind
    lies        speaks of planes that it never asked for
    keep        keeps its output open, says that it is done, and writes to it until it dies
    map         the same with a mapping
    slow-close  closes its output a moment after it has said that it is done, as a child between fork and exec would
    nonsense    sends what is no message
    babble WHAT sends messages that nobody asked for without end: `job` (about a job that it does not have), `began`,
                `pong`, `checked`, `described`, `kept`, `moved`, `working`, `ping`
    device      says three times that the device failed, then does it
    grow        keeps 64 MiB more from then on
    shouts N M  writes N lines of M bytes to stderr, then does it

Anything else is copied to the output. One job after the other, as many as are sent. Each job that
is begun is a line in the file FAKE_WORKER_LOG; what each worker is set up with is a line of JSON in
FAKE_WORKER_LOG.setups. While there are lines in FAKE_WORKER_LOG.starts, each start takes the first one
away: `crash` dies before it is ready, `refuse` says that the device fails, `missing` that there is none.
FAKE_WORKER_SLOW_START is the seconds that each start takes. FAKE_WORKER_PREPARES is the number of programs
that it seems to compile for each chain. With FAKE_WORKER_ROOM the device that was asked for has no room for a worker
of one thread beside one of several.
"""
import array
import ctypes
import json
import mmap
import os
import signal
import socket
import sys
import time

front = socket.socket(fileno=3)
LOG = os.environ.get('FAKE_WORKER_LOG')
threads = 0  # as it is set up


def receive():
    data, control, flags, _ = front.recvmsg(65536, socket.CMSG_SPACE(16))
    fds = array.array('i')
    for level, kind, raw in control:
        assert (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS)
        fds.frombytes(raw)
    assert not flags & (socket.MSG_TRUNC | socket.MSG_CTRUNC)
    return (json.loads(data) if data else None), list(fds)


def send(kind, **fields):
    front.send(json.dumps(dict(fields, type=kind)).encode())


def note(line):
    with open(LOG, 'a', encoding='utf-8') as file:
        file.write(line + '\n')
    if not line.startswith(('full', 'device', 'crash-once')):
        return 1  # nobody asks how often, and there may be many
    with open(LOG, encoding='utf-8') as file:
        return file.read().split('\n').count(line)


def count_lines(path):
    try:
        with open(path, encoding='utf-8') as file:
            return file.read().count('\n')
    except FileNotFoundError:
        return 0


def note_setup(message):
    with open(LOG + '.setups', 'a', encoding='utf-8') as file:
        file.write(json.dumps(message) + '\n')


def next_start():
    """What this start is to come to."""
    try:
        with open(LOG + '.starts', encoding='utf-8') as file:
            lines = file.read().split('\n')
    except FileNotFoundError:
        return ''
    with open(LOG + '.starts', 'w', encoding='utf-8') as file:
        file.write('\n'.join(lines[1:]))
    return lines[0]


def check(message):
    if start == 'crash':
        os.kill(os.getpid(), signal.SIGKILL)
    if start in ('refuse', 'missing'):
        send('checked', id=message['id'], result='device' if start == 'refuse' else 'no-device',
             text='fake device: ' + start)
        return
    count = int(os.environ.get('FAKE_WORKER_PREPARES', 0))
    for i in range(count + 1 if count else 0):
        send('working', prepared=i, of=count)
        time.sleep(0.4)
    send('working')
    send('checked', id=message['id'], result='ok', extension=message['format'].split(':')[0], device='fake')


def write_planes(number, first, text, names):
    for i, name in enumerate(names):
        fd = first
        if i > 0:
            send('need-output', id=number, plane=name)
            message, fds = receive()
            while message.get('type') != 'output':
                waiting.append((message, fds))
                message, fds = receive()
            assert (message['id'], message['plane']) == (number, name)
            fd = fds[0]
        os.write(fd, text + b' ' + name.encode())
        os.close(fd)
    return names


def write_results(number, first, text, count):
    for i in range(count):
        fd = first
        if i > 0:
            send('need-output', id=number, plane='', result_of=i)
            message, fds = receive()
            while message.get('type') != 'output':
                waiting.append((message, fds))
                message, fds = receive()
            assert (message['id'], message.get('plane'), message.get('result_of')) == (number, '', i)
            fd = fds[0]
        os.write(fd, text + b' ' + b'%d' % i)
        os.close(fd)


def deaf(number, count):
    """A line in the log: how many results of clients the outputs were."""
    jobs = [number]
    while len(jobs) < 3:
        message, fds = receive()
        jobs += [message['id']] if 'chain' in message else []
        for fd in fds:
            os.close(fd)
    for i in range(count):
        for job in jobs:
            send('need-output', id=job, plane='p%d' % i)
    for job in jobs:
        send('done', id=job, result='data', text='enough')
    time.sleep(0.3)
    front.settimeout(1)
    results = 0
    try:
        while results < 3 * count:
            _, fds = receive()
            results += len(fds) == 1 and os.readlink('/proc/self/fd/%d' % fds[0]).startswith('/memfd:sluice-result')
            for fd in fds:
                os.close(fd)
    except TimeoutError:
        pass
    front.settimeout(None)
    note('got %d' % results)


def keep(number, out, text, how):
    os.ftruncate(out, 4096)
    os.pwrite(out, text, 0)
    mapped = mmap.mmap(out, 4096) if how == 'map' else None
    if how == 'map':
        os.close(out)
    send('done', id=number, result='ok', planes=[''], total=1)
    if how == 'slow-close':
        time.sleep(0.1)
        os.close(out)
        return
    for i in range(10 ** 6):
        if mapped:
            mapped[0:4] = b'%04d' % (i % 10000)
        else:
            try:
                os.pwrite(out, b'%04d' % (i % 10000), 0)
            except PermissionError:  # sealed
                pass
        time.sleep(0.001)


def babble(number, what):
    send('began', id=number) if what == 'began' else None
    while True:
        if what == 'job':
            send('done', id=1 << 40, result='ok', planes=[''], total=1)
        elif what == 'began':
            send('began', id=number)
        elif what == 'checked':
            send('checked', id=0, result='ok', extension='pgm', device='fake')
        elif what == 'kept':
            send('kept', pid=1)
        elif what == 'moved':
            send('moved', id=0, result='ok', tier='gpu', device='fake', prepared=1, of=1)
        else:
            send(what, **({'result': 'ok'} if what == 'described' else {}))


def greedy(number):
    for i in range(100000):
        send('need-output', id=number, plane='p%d' % i)
        for fd in receive()[1]:
            os.close(fd)


def hang():
    """The job alone: the worker gives signs of life."""
    while True:
        message, fds = receive()
        if message is None:
            time.sleep(10000)
        elif message.get('type') == 'ping':
            send('pong')
        else:
            waiting.append((message, fds))


def shout(lines, length):
    """Does not care whether anybody hears it."""
    for i in range(lines):
        rest = (b'shout %d ' % i).ljust(length, b'x') + b'\n'
        while rest:
            try:
                rest = rest[os.write(2, rest):]
            except BlockingIOError:
                break


def run(job, fds):
    number, (given, out) = job['id'], fds
    text = os.pread(given, 1 << 20, 0)
    word = text.split(None, 1)[0].decode(errors='replace') if text.split() else ''
    if word == 'early':
        os.kill(os.getpid(), signal.SIGKILL)
    if job.get('say_began'):
        send('began', id=number)
    times = note(text.decode(errors='replace').split('\n')[0])
    if word in ('poison', 'poison-slow') or (word == 'crash-once' and times == 1):
        time.sleep(0.5 if word == 'poison-slow' else 0.05)
        for _ in range(400 if word == 'poison-slow' and threads == 1 else 0):
            with open(LOG, encoding='utf-8') as file:
                if 'good' in file.read().split('\n'):
                    break
            time.sleep(0.05)
        shout(1, 0)
        os.kill(os.getpid(), signal.SIGSEGV)
    if word == 'crash-once':
        time.sleep(0.5)
    if word == 'stops':
        time.sleep(job['time'] * 1e-9)
        send('done', id=number, result='job-time', text='took longer than it may', step='device')
        return
    if word == 'told':
        text = json.dumps(job).encode()
    if word == 'hang':
        hang()
    if word == 'aside':
        return
    if word == 'grow':
        kept.append(bytearray(b'x') * (64 << 20))
    if word == 'slow' or text.endswith(b' slow'):
        time.sleep(0.3)
    while word == 'waits' and count_lines(LOG + '.go') < int(text.split()[1]):
        time.sleep(0.01)
    if word == 'shouts':
        shout(*map(int, text.split()[1:3]))
    if word in ('keep', 'map', 'slow-close'):
        keep(number, out, text, word)
        return
    if word == 'babble':
        babble(number, text.split()[1].decode())
    if word == 'nonsense':
        front.send(b'{"type": "done", "id":')
        return
    if word == 'truncated':
        send('done', id=number, result='truncated', text='truncated fake', step='decode')
    elif word == 'full' and times <= 2:
        send('done', id=number, result='no-space', text='write: No space left on device', step='encode')
    elif word == 'device' and times <= 3:
        send('done', id=number, result='device', text='clFake: CL_OUT_OF_RESOURCES', step='device')
    elif word in ('planes', 'twins'):
        names = ['p', 'p'] if word == 'twins' else ['p%d' % i for i in range(int(text.split()[1]))]
        planes = write_planes(number, out, text, names)
        send('done', id=number, result='ok', planes=planes, total=1)
        out = -1
    elif word == 'results':
        count = int(text.split()[1])
        write_results(number, out, text, count)
        send('done', id=number, result='ok', planes=[''] * count, results_of=list(range(count)), total=1)
        out = -1
    elif word == 'deaf':
        deaf(number, int(text.split()[1]))
    elif word == 'greedy':
        greedy(number)
    elif word == 'lies':
        send('done', id=number, result='ok', planes=['a', 'b'])
    else:
        try:
            rest = text
            while rest:
                rest = rest[os.write(out, rest):]
            if word == 'tick':
                os.utime(out, ns=(10**18, 10**18))
            send('done', id=number, result='ok', planes=[''], total=1, step='write')
        except OSError as error:
            send('done', id=number, result='no-space', text='write: ' + error.strerror, step='encode')
    os.close(given)
    if out >= 0:
        os.close(out)


ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG: it may sleep when the front dies
for ignored in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1):
    signal.signal(ignored, signal.SIG_IGN)
waiting, kept, start = [], [], next_start()
while True:
    message, fds = waiting.pop(0) if waiting else receive()
    if message is None:
        sys.exit(0)
    kind = message.get('type', 'job')
    if kind == 'setup':
        note_setup(message)
        os.close(fds[0])
        threads = message['threads']
        if 'FAKE_WORKER_ROOM' in os.environ and threads == 1 and message['device'] == 'auto':
            start = 'refuse'
        time.sleep(float(os.environ.get('FAKE_WORKER_SLOW_START', 0)))
    elif kind == 'check':
        check(message)
    elif kind == 'ping':
        send('pong')
    elif kind == 'job':
        run(message, fds)
