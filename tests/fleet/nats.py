"""A small NATS client for the tests, with Python's standard library: requests, messages with headers, and JetStream's
API by its messages (docs.nats.io, reference/nats-protocol and nats_api_reference)."""
import base64
import itertools
import json
import os
import socket
import ssl
import time


class NatsError(Exception):
    pass


class ApiError(NatsError):
    """An error of JetStream's: `code` is its err_code."""

    def __init__(self, error):
        super().__init__('%s (%s)' % (error.get('description'), error.get('err_code')))
        self.code, self.text = error.get('err_code'), error.get('description')


class Message:
    def __init__(self, subject, reply, header, data):
        self.subject, self.reply, self.data = subject, reply, data
        self.status, self.headers = '', {}
        lines = header.decode().split('\r\n') if header else []
        if lines:
            self.status = lines[0][len('NATS/1.0'):].strip()
        for line in lines[1:]:
            if ':' in line:
                name, value = line.split(':', 1)
                self.headers[name] = value.strip()


def encode_headers(headers):
    return ('NATS/1.0\r\n' + ''.join('%s: %s\r\n' % pair for pair in headers.items()) + '\r\n').encode()


class Nats:
    """`sign` is a user's token and a function that signs, for credentials files."""

    def __init__(self, port, host='127.0.0.1', user=None, password=None, ca=None, timeout=10, name='test', sign=None):
        self.sock = socket.create_connection((host, port), timeout)
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.buffer, self.timeout = b'', timeout
        self.info = json.loads(self._line().split(b' ', 1)[1])
        if self.info.get('tls_required'):
            self.sock = ssl.create_default_context(cafile=ca).wrap_socket(self.sock, server_hostname=host)
        told = {'verbose': False, 'pedantic': False, 'headers': True, 'no_responders': True, 'lang': 'python',
                'version': '0', 'name': name, 'protocol': 1}
        if user is not None:
            told.update(user=user, **{'pass': password})
        if sign:
            signature = base64.urlsafe_b64encode(sign[1](self.info['nonce'].encode())).decode().rstrip('=')
            told.update(jwt=sign[0], sig=signature)
        self.inbox = '_INBOX.test%s' % os.urandom(6).hex()
        self.numbers = itertools.count(2)
        self._send(b'CONNECT %s\r\nPING\r\n' % json.dumps(told).encode())
        while True:
            line = self._line()
            if line.startswith(b'PONG'):
                break
            if line.startswith(b'-ERR'):
                raise NatsError(line.decode())
        self._send(b'SUB %s.* 1\r\n' % self.inbox.encode())

    def close(self):
        self.sock.close()

    def _send(self, data):
        self.sock.sendall(data)

    def _more(self):
        piece = self.sock.recv(1 << 20)
        if not piece:
            raise NatsError('the server has closed')
        self.buffer += piece

    def _line(self):
        while b'\r\n' not in self.buffer:
            self._more()
        line, self.buffer = self.buffer.split(b'\r\n', 1)
        return line

    def _bytes(self, size):
        pieces = [self.buffer]
        have = len(self.buffer)
        while have < size:
            piece = self.sock.recv(1 << 20)
            if not piece:
                raise NatsError('the server has closed')
            pieces.append(piece)
            have += len(piece)
        whole = b''.join(pieces)
        self.buffer = whole[size:]
        return whole[:size]

    def next(self, timeout):
        """The next message of any subscription; None after `timeout` seconds."""
        end = time.monotonic() + timeout
        while True:
            left = end - time.monotonic()
            if left <= 0 and b'\r\n' not in self.buffer:
                return None
            self.sock.settimeout(max(left, 0.001))
            try:
                line = self._line()
            except (TimeoutError, socket.timeout):
                return None
            finally:
                self.sock.settimeout(self.timeout)
            words = line.split()
            if not words:
                continue
            if words[0] == b'PING':
                self._send(b'PONG\r\n')
            elif words[0] == b'-ERR':
                raise NatsError(line.decode())
            elif words[0] in (b'MSG', b'HMSG'):
                sizes = [int(word) for word in words[-2 if words[0] == b'HMSG' else -1:]]
                reply = words[3].decode() if len(words) > (5 if words[0] == b'HMSG' else 4) else None
                body = self._bytes(sizes[-1] + 2)[:-2]
                header = sizes[0] if words[0] == b'HMSG' else 0
                return Message(words[1].decode(), reply, body[:header], body[header:])

    def subscribe(self, subject):
        self._send(b'SUB %s %d\r\n' % (subject.encode(), next(self.numbers)))

    def publish(self, subject, data=b'', headers=None, reply=''):
        head = encode_headers(headers) if headers else b''
        if headers:
            self._send(b'HPUB %s %s %d %d\r\n' % (subject.encode(), reply.encode(), len(head), len(head) + len(data)) +
                       head + data + b'\r\n')
        else:
            self._send(b'PUB %s %s %d\r\n' % (subject.encode(), reply.encode(), len(data)) + data + b'\r\n')

    def request(self, subject, data=b'', headers=None, timeout=10):
        inbox = '%s.%d' % (self.inbox, next(self.numbers))
        self.publish(subject, data, headers, inbox)
        end = time.monotonic() + timeout
        while True:
            message = self.next(end - time.monotonic())
            if message is None:
                raise NatsError('no answer to %s within %g s' % (subject, timeout))
            if message.subject == inbox:
                return message

    # ---- JetStream

    def api(self, subject, told=None, timeout=10):
        message = self.request('$JS.API.' + subject, json.dumps(told).encode() if told is not None else b'',
                               timeout=timeout)
        if message.status:
            raise NatsError('%s: %s' % (subject, message.status))
        answer = json.loads(message.data)
        if 'error' in answer:
            raise ApiError(answer['error'])
        return answer

    def put(self, subject, data=b'', headers=None, timeout=10):
        """Publishes into a stream; its sequence number once the server has it."""
        message = self.request(subject, data, headers, timeout)
        if message.status:
            raise NatsError('%s: %s' % (subject, message.status))
        answer = json.loads(message.data)
        if 'error' in answer:
            raise ApiError(answer['error'])
        return answer['seq']

    def fetch(self, stream='JOBS', consumer='fleet', seconds=1):
        """A message of a pull consumer; None: there is none. It keeps its own subject, unlike an answer."""
        inbox = '%s.%d' % (self.inbox, next(self.numbers))
        self.publish('$JS.API.CONSUMER.MSG.NEXT.%s.%s' % (stream, consumer),
                     json.dumps({'batch': 1, 'expires': int(seconds * 1e9)}).encode(), None, inbox)
        while True:
            message = self.next(seconds + 2)
            if message is None or (message.subject == inbox and message.status):
                return None
            if (message.reply or '').startswith('$JS.ACK.'):
                return message

    def get(self, stream, subject):
        """The last message of a subject; None: there is none."""
        try:
            found = self.api('STREAM.MSG.GET.' + stream, {'last_by_subj': subject})['message']
        except ApiError as error:
            if error.code == 10037:
                return None
            raise
        return Message(found['subject'], None, base64.b64decode(found.get('hdrs', '')),
                       base64.b64decode(found.get('data', '')))

    def state(self, stream, subjects=None):
        return self.api('STREAM.INFO.' + stream, {'subjects_filter': subjects} if subjects else {})['state']

    def consumer(self, stream='JOBS', name='fleet'):
        return self.api('CONSUMER.INFO.%s.%s' % (stream, name))
