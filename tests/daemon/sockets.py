"""Clients for the daemon's sockets, HTTP at a Unix socket and the jobs socket, with Python's standard library."""
import array
import fcntl
import http.client
import json
import os
import socket
import time

import openapi


class Http(http.client.HTTPConnection):
    def __init__(self, path, timeout=60):
        super().__init__('localhost', timeout=timeout)
        self.path = path

    def connect(self):
        self.sock = connect(self.path, timeout=self.timeout)


class Answer:
    def __init__(self, response):
        self.status, self.headers, self.body = response.status, response.headers, response.read()

    def json(self):
        return json.loads(self.body)


def connect(path, kind=socket.SOCK_STREAM, timeout=60):
    sock = socket.socket(socket.AF_UNIX, kind)
    sock.settimeout(timeout)
    try:
        sock.connect(path)
    except OSError:
        sock.close()
        raise
    return sock


def listens(path, kind=socket.SOCK_STREAM):
    """A socket has its name a moment before somebody listens there."""
    try:
        connect(path, kind).close()
        return True
    except (FileNotFoundError, ConnectionRefusedError):
        return False


DOCUMENT = openapi.document()


def ask_only(path, method, target, body=None, headers=None, timeout=60):
    """For tests of when something is answered, not of its form."""
    connection = Http(path, timeout)
    try:
        connection.request(method, target, body, headers or {})
        return Answer(connection.getresponse())
    finally:
        connection.close()


def ask(path, method, target, body=None, headers=None, timeout=60):
    """Whatever is answered has to be as the OpenAPI document says."""
    answer = ask_only(path, method, target, body, headers, timeout)
    if DOCUMENT:
        DOCUMENT.check(method, target, answer)
    if answer.status not in (400, 413, 414, 431) or 'problem' in answer.headers.get('Content-Type', ''):
        assert answer.headers.get('X-Request-Id'), (method, target, answer.status)  # all but libmicrohttpd's own
    return answer


def raw(path, data, timeout=60, half_close=False):
    """Sends bytes as they are; all that comes back until the end."""
    got = b''
    with connect(path, timeout=timeout) as sock:
        sock.sendall(data)
        if half_close:
            sock.shutdown(socket.SHUT_WR)
        try:
            while True:
                piece = sock.recv(65536)
                if not piece:
                    return got
                got += piece
        except ConnectionResetError:
            return got


SEAL_SHRINK, SEAL_GROW, SEAL_WRITE, SEAL_FUTURE_WRITE = 2, 4, 8, 16


def seal(fd, seals):
    fcntl.fcntl(fd, 1033, seals)  # F_ADD_SEALS


def memory(data, sealed=True):
    fd = os.memfd_create('test', os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    os.write(fd, data)
    if sealed:
        seal(fd, 1 | SEAL_SHRINK | SEAL_GROW | SEAL_WRITE)
    return fd


class Jobs:
    """A connection to the jobs socket."""

    def __init__(self, path, timeout=60):
        self.sock = connect(path, socket.SOCK_SEQPACKET, timeout)

    def send_raw(self, data, fds=()):
        control = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array('i', fds))] if fds else []
        self.sock.sendmsg([data], control)

    def send(self, fds=(), **fields):
        self.send_raw(json.dumps(fields).encode(), fds)

    def receive(self):
        """A message and its descriptor, or None; None at the end."""
        data, control, _, _ = self.sock.recvmsg(65536, socket.CMSG_SPACE(8))
        fds = array.array('i')
        for _, _, given in control:
            fds.frombytes(given)
        return (json.loads(data) if data else None), (fds[0] if fds else None)

    def run(self, data, id=1, **fields):
        """A job to its end: the report and the bytes by plane."""
        fd = memory(data)
        self.send([fd], id=id, **fields)
        os.close(fd)
        files = {}
        while True:
            message, got = self.receive()
            if got is not None:
                files[message.get('plane', '')] = read_all(got)
            if message['type'] == 'done':
                return message, files

    def close(self):
        self.sock.close()


def read_all(fd):
    with os.fdopen(fd, 'rb') as file:
        file.seek(0)
        return file.read()


def descriptors(daemon):
    return len(os.listdir('/proc/%d/fd' % daemon.process.pid))


def settled_descriptors(daemon):
    """Once what was asked before is closed."""
    counts = [descriptors(daemon)]
    while len(counts) < 10 or len(set(counts[-10:])) > 1:
        time.sleep(0.05)
        counts.append(descriptors(daemon))
    return counts[-1]
