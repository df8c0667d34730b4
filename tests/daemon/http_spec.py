#!/usr/bin/env python3
"""The daemon, driven by schemathesis (PyPI) from GET /v1/openapi.json: requests that the document allows, and such that
it does not, a thousand of them; each answer has to be one that it describes. And whether docs/schemas are schemas.

Usage: http_spec.py [schemathesis's options]. tests/run.sh --suite http-spec installs what it needs."""
import json
import os
import shutil
import socket
import subprocess
import sys
import threading
import unittest

from sluice_test import HERE, DaemonTest, picture
import sockets

try:
    import jsonschema_rs  # comes with schemathesis
except ImportError:
    jsonschema_rs = None

OPTIONS = sys.argv[1:]
SCHEMATHESIS = shutil.which('schemathesis', path=os.path.dirname(sys.executable) + ':' + os.environ.get('PATH', ''))
CHECKS = ','.join((
    'not_a_server_error', 'status_code_conformance', 'content_type_conformance', 'response_headers_conformance',
    'response_schema_conformance', 'negative_data_rejection', 'unsupported_method', 'allow_header_conformance'))
# positive_data_acceptance is left out: no schema can say which texts are chains, nor which bytes are pictures.
CONFIG = '''[checks.negative_data_rejection]
expected-statuses = [400, 404, 405, 413, 414, 415, 422, 429, 431]
'''


def pump(source, sink):
    try:
        while True:
            piece = source.recv(65536)
            if not piece:
                break
            sink.sendall(piece)
    except OSError:
        pass
    for one in (source, sink):
        try:
            one.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
    source.close()


class Forward:
    """A TCP port of this machine that leads to the Unix socket: schemathesis knows no other."""

    def __init__(self, path):
        self.path = path
        self.server = socket.create_server(('127.0.0.1', 0))
        self.url = 'http://127.0.0.1:%d' % self.server.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client, _ = self.server.accept()
            except OSError:
                return
            daemon = sockets.connect(self.path, timeout=None)
            for pair in ((client, daemon), (daemon, client)):
                threading.Thread(target=pump, args=pair, daemon=True).start()

    def close(self):
        self.server.close()


@unittest.skipUnless(SCHEMATHESIS, 'no schemathesis: pip install -r tests/requirements.txt')
class HttpSpec(DaemonTest):
    def test_schemathesis(self):
        path = os.path.join(self.dir, 'http.sock')
        d = self.daemon('--http-socket', path, '--device', 'reference', '--max-file', '1MiB', '--settle', '50s', '--stable', '60s').start()
        for name, data in (('good', picture()), ('bad', b'no picture')):
            d.drop(name, data, 'rename')
        d.expect_done('good')
        d.expect_failed('bad')
        d.drop('waits', picture())
        forward = Forward(path)
        with open(os.path.join(self.dir, 'schemathesis.toml'), 'w', encoding='utf-8') as file:
            file.write(CONFIG)
        command = [SCHEMATHESIS, 'run', forward.url + '/v1/openapi.json', '--url', forward.url, '--checks', CHECKS,
                   '--exclude-path', '/v1/events', '--max-examples', '200', '--request-timeout', '30', '--continue-on-failure', '--no-color',
                   '--warnings', 'off', *OPTIONS]
        done = subprocess.run(command, cwd=self.dir, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        forward.close()
        print(done.stdout, file=sys.stderr)
        self.assertEqual(done.returncode, 0)
        self.assertEqual(sockets.ask(path, 'GET', '/v1/status').json()['worker']['starts'], 1)  # none has died
        d.stop()


@unittest.skipUnless(jsonschema_rs, 'no jsonschema_rs: pip install -r tests/requirements.txt')
class Schemas(unittest.TestCase):
    def test_they_are_schemas(self):
        folder = os.path.join(HERE, '../../docs/schemas')
        for name in sorted(os.listdir(folder)):
            with open(os.path.join(folder, name), encoding='utf-8') as file:
                jsonschema_rs.meta.validate(json.load(file))


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1], verbosity=2)
