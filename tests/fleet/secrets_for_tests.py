"""Makes certificates and NATS credentials for the fleet's tests, with the command openssl and Python's standard
library."""
import base64
import json
import os
import subprocess
import time


def openssl(*words, stdin=None):
    return subprocess.run(['openssl', *words], input=stdin, capture_output=True, check=True).stdout


class Authority:
    """A CA, and certificates from it."""

    def __init__(self, folder, name='ca'):
        self.folder, self.name = folder, name
        self.path = os.path.join(folder, name + '.pem')
        self.key = os.path.join(folder, name + '.key')
        openssl('req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '30', '-subj',
                '/CN=%s' % name, '-keyout', self.key, '-out', self.path)

    def certificate(self, name, names='IP:127.0.0.1,DNS:localhost', days=30):
        """Paths of certificate and key; days below 0: it has expired."""
        path, key, request = (os.path.join(self.folder, name + end) for end in ('.pem', '.key', '.csr'))
        extensions = os.path.join(self.folder, name + '.ext')
        with open(extensions, 'w', encoding='ascii') as file:
            file.write('subjectAltName=%s\n' % names)
        openssl('req', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-subj', '/CN=' + name, '-keyout', key,
                '-out', request)
        openssl('x509', '-req', '-in', request, '-CA', self.path, '-CAkey', self.key, '-CAcreateserial', '-days', str(days),
                '-extfile', extensions, '-out', path)
        return path, key


def checksum(data):
    """CRC-16/XMODEM, which ends an nkey."""
    crc = 0
    for byte in data:
        crc ^= byte << 8
        for _ in range(8):
            crc = (crc << 1 ^ 0x1021 if crc & 0x8000 else crc << 1) & 0xffff
    return crc.to_bytes(2, 'little')


def base32(data):
    return base64.b32encode(data + checksum(data)).decode().rstrip('=')


def base64url(data):
    return base64.urlsafe_b64encode(data).decode().rstrip('=')


class Key:
    """An nkey: `kind` is O, A or U, for operator, account and user."""
    PREFIX = {'O': 14 << 3, 'A': 0, 'U': 20 << 3}

    def __init__(self, folder, kind):
        self.kind, self.path = kind, os.path.join(folder, '%s-%s.pem' % (kind, os.urandom(4).hex()))
        openssl('genpkey', '-algorithm', 'ed25519', '-out', self.path)
        raw = openssl('pkey', '-in', self.path, '-outform', 'DER')[-32:]
        public = openssl('pkey', '-in', self.path, '-pubout', '-outform', 'DER')[-32:]
        prefix = self.PREFIX[kind]
        self.public = base32(bytes([prefix]) + public)
        self.seed = base32(bytes([18 << 3 | prefix >> 5, (prefix & 31) << 3]) + raw)

    def sign(self, data):
        message = self.path + '.message'
        with open(message, 'wb') as file:
            file.write(data)
        return openssl('pkeyutl', '-sign', '-rawin', '-inkey', self.path, '-in', message)

    def token(self, subject, name, nats, issued=None):
        """A JWT that this key signs for `subject`."""
        claims = {'jti': base64url(os.urandom(16)), 'iat': issued or int(time.time()), 'iss': self.public, 'name': name,
                  'sub': subject, 'nats': dict(nats, version=2)}
        text = base64url(json.dumps({'typ': 'JWT', 'alg': 'ed25519-nkey'}).encode()) + '.' + base64url(json.dumps(claims).encode())
        return text + '.' + base64url(self.sign(text.encode()))


class Operator:
    """An operator with one account: the server's configuration, and users' credentials."""

    def __init__(self, folder):
        self.folder = folder
        self.operator, self.account, self.system = Key(folder, 'O'), Key(folder, 'A'), Key(folder, 'A')
        self.revoked = {}

    def config(self):
        limits = {'subs': -1, 'data': -1, 'payload': -1, 'imports': -1, 'exports': -1, 'wildcards': True, 'conn': -1, 'leaf': -1,
                  'mem_storage': -1, 'disk_storage': -1, 'streams': -1, 'consumer': -1}
        def account(key, name, **told):
            return self.operator.token(key.public, name, dict({'type': 'account', 'limits': limits,
                                                               'default_permissions': {'pub': {}, 'sub': {}}}, **told))
        operator = self.operator.token(self.operator.public, 'operator', {'type': 'operator', 'system_account': self.system.public})
        no_storage = {name: limit for name, limit in limits.items() if name not in ('mem_storage', 'disk_storage', 'streams', 'consumer')}
        return 'operator: "%s"\nsystem_account: %s\nresolver: MEMORY\nresolver_preload: { %s: "%s", %s: "%s" }\n' % (
            operator, self.system.public, self.account.public, account(self.account, 'fleet', revocations=self.revoked),
            self.system.public, account(self.system, 'system', limits=no_storage))

    def user(self, name):
        """The path of a credentials file, and the user's key."""
        key, path = Key(self.folder, 'U'), os.path.join(self.folder, name + '.creds')
        token = self.account.token(key.public, name, {'type': 'user', 'subs': -1, 'data': -1, 'payload': -1, 'pub': {}, 'sub': {}})
        with open(path, 'w', encoding='ascii') as file:
            file.write('-----BEGIN NATS USER JWT-----\n%s\n------END NATS USER JWT------\n\n'
                       '-----BEGIN USER NKEY SEED-----\n%s\n------END USER NKEY SEED------\n' % (token, key.seed))
        return path, key

    def revoke(self, key):
        self.revoked[key.public] = int(time.time()) + 1
