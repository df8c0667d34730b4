"""What the fleet's tests are made of: a hub, machines (each a sluiced and its relay) and a store, all of them the
real programs, driven with Python's standard library. NATS_SERVER names the NATS server; without it, it is the newest
of those in PATH, in SLUICE_NATS_SERVERS (paths joined by colons) and beside this Python."""
import base64
import glob
import hashlib
import http.server
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(HERE, '..', 'daemon'))
sys.path.insert(0, HERE)
from sluice_test import SLUICE, Daemon, DaemonTest, PATIENCE, picture, wait_for  # noqa: E402
from nats import ApiError, Nats, NatsError  # noqa: E402,F401

RELAY = os.path.abspath(os.environ.get('RELAY_PROGRAM', '/nonexistent'))
EXAMPLES = os.path.join(ROOT, 'docs', 'examples', 'fleet')


def version_of(server):
    try:
        told = subprocess.run([server, '--version'], capture_output=True, text=True, timeout=20).stdout
        return tuple(int(n) for n in re.search(r'v(\d+)\.(\d+)\.(\d+)', told).groups())
    except (OSError, AttributeError):
        return (0, 0, 0)


def servers():
    """All servers that are here, as {path: version}, the newest last."""
    found = [os.environ.get('NATS_SERVER'), shutil.which('nats-server'), '/usr/sbin/nats-server',
             os.path.join(os.path.dirname(sys.executable), 'nats-server')]
    found += os.environ.get('SLUICE_NATS_SERVERS', '').split(':')
    found += glob.glob(os.path.join(ROOT, 'build-cache', 'nats-*', '**', 'nats-server'), recursive=True)
    versions = {os.path.realpath(path): version_of(path) for path in found if path and os.path.exists(path)}
    return dict(sorted(versions.items(), key=lambda pair: pair[1]))


def good_server():
    """The one to test with, or None: 2.10 or later."""
    if os.environ.get('NATS_SERVER'):
        return os.environ['NATS_SERVER']
    good = [path for path, version in servers().items() if version >= (2, 10)]
    return good[-1] if good else None


def kill_line_library():
    """Path of the library that ends a relay at a chosen step (kill_line.c)."""
    if not os.environ.get('KILL_LINE_LIBRARY'):
        raise unittest.SkipTest('libraries are not preloaded into a build with sanitizers')
    return os.environ['KILL_LINE_LIBRARY']


def old_server():
    old = [path for path, version in servers().items() if (2, 0) < version < (2, 10)]
    return old[0] if old else None


def free_port():
    with socket.socket() as sock:
        sock.bind(('127.0.0.1', 0))
        return sock.getsockname()[1]


class Hub:
    """A NATS server with its files."""

    def __init__(self, test, server=None, config='', jetstream=True, sync=True, port=None):
        self.test, self.server = test, server or good_server()
        self.port = port or free_port()
        self.dir = os.path.join(test.dir, 'hub%d' % self.port)
        os.makedirs(self.dir)
        self.path = os.path.join(self.dir, 'nats.conf')
        self.log = os.path.join(self.dir, 'log')
        always = ', sync_interval: always' if sync and version_of(self.server) >= (2, 10) else ''
        self.text = 'port: %d\nmax_payload: 8MB\n' % self.port
        if jetstream:
            self.text += 'jetstream { store_dir: "%s"%s }\n' % (self.dir, always)
        self.configure(config)
        self.process = None
        test.addCleanup(self.kill)

    def configure(self, config):
        with open(self.path, 'w', encoding='utf-8') as file:
            file.write(self.text + config)

    def start(self, wait=True):
        self.process = subprocess.Popen([self.server, '-c', self.path, '-l', self.log])
        if wait:
            wait_for('the hub', self._answers)
        return self

    def _answers(self):
        try:
            with socket.create_connection(('127.0.0.1', self.port), 1) as sock:
                return sock.recv(4) == b'INFO'
        except OSError:
            return False

    def kill(self):
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def reload(self):
        self.process.send_signal(signal.SIGHUP)
        time.sleep(0.5)

    def streams(self, credentials=None, ca=None, **env):
        # Three streams must have their room on this disk, of which the server takes three quarters.
        told = dict(os.environ, BYTES=str(2 << 30))
        told.update({name.upper(): str(value) for name, value in env.items()})
        if credentials:
            told['NATS_CREDENTIALS'] = credentials
        if ca:
            told['NATS_CA'] = ca
        run = subprocess.run(['sh', os.path.join(EXAMPLES, 'streams.sh'), '127.0.0.1:%d' % self.port], env=told,
                             capture_output=True, text=True)
        self.test.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        return run.stdout

    def client(self, **keywords):
        client = Nats(self.port, **keywords)
        self.test.addCleanup(client.close)
        return client


class Relay(Daemon):
    """One sluice-relay. `settings` become the section relay of its configuration."""

    def __init__(self, test, hub, jobs_socket, name='relay', env=None, limits='', **settings):
        self.test = test
        self.dir = os.path.join(test.dir, name)
        os.makedirs(self.dir, exist_ok=True)
        self.config = os.path.join(self.dir, 'sluice.yaml')
        self.settings = {'servers': ['nats://127.0.0.1:%d' % hub.port] if hub else [], 'name': name,
                         'metrics': os.path.join(self.dir, 'metrics'), **settings}
        self.jobs_socket, self.limits = jobs_socket, limits
        self.write()
        self.options = ['--config', self.config]
        self.env = dict(os.environ, SLUICE_LOG_LEVEL='debug', **(env or {}))
        self.process, self.lines, self.reader = None, [], None
        self.prefix, self.pass_fds = [], ()

    def write(self):
        """JSON is YAML, too."""
        with open(self.config, 'w', encoding='utf-8') as file:
            file.write('version: 1\nlog: {level: debug}\n')
            if self.limits:
                file.write('limits: {%s}\n' % self.limits)
            if self.jobs_socket:
                file.write('listen: {jobs: {unix: %s}}\n' % self.jobs_socket)
            file.write('relay: %s\n' % json.dumps({k: v for k, v in self.settings.items() if v is not None}))

    def start(self, ready=True):
        self.lines = []
        self.process = subprocess.Popen([*self.prefix, RELAY, *self.options], stderr=subprocess.PIPE,
                                        stdin=subprocess.DEVNULL, env=self.env, pass_fds=self.pass_fds)
        self.reader = threading.Thread(target=self._read, args=(self.process.stderr, self.lines), daemon=True)
        self.reader.start()
        self.test.addCleanup(self._end)
        if ready:
            self.expect_line('the streams are there')
            self.expect_line('sluiced takes jobs')
        return self

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.reader.join(10)

    def metrics(self):
        with open(self.settings['metrics'], encoding='utf-8') as file:
            return {line.split()[0]: float(line.split()[1]) for line in file if not line.startswith('#')}


class Machine:
    """A sluiced, and a relay beside it."""

    def __init__(self, test, hub, name, daemon_options=(), env=None, fake=False, **settings):
        self.test, self.name = test, name
        folder = os.path.join(test.dir, name)
        os.makedirs(folder, exist_ok=True)
        self.socket = os.path.join(folder, 'jobs.sock')
        make = test.fake if fake else test.daemon
        self.daemon = make('--jobs-socket', self.socket, *daemon_options, folder=folder, env=env)
        self.relay = Relay(test, hub, self.socket, name, **settings)

    def start(self):
        self.daemon.start()
        self.relay.start()
        return self

    def stop(self):
        self.relay.stop()
        self.daemon.stop()


class Store:
    """Files by GET and PUT over HTTP, with the troubles that `trouble(method, path, count)` asks for: a status, or
    a function of the handler. `requests` are (method, path, headers)."""

    def __init__(self, test, host='127.0.0.1'):
        self.files, self.requests, self.trouble, self.conditional = {}, [], None, True
        self.lock = threading.Lock()
        store = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = 'HTTP/1.1'

            def log_message(self, *_):
                pass

            def answer(self, status, body=b'', **headers):
                self.send_response(status)
                self.send_header('Content-Length', str(len(body)))
                for name, value in headers.items():
                    self.send_header(name, value)
                self.end_headers()
                if self.command != 'HEAD':
                    self.wfile.write(body)

            def troubled(self):
                path = self.path.split('?')[0]
                with store.lock:
                    store.requests.append((self.command, self.path, dict(self.headers)))
                    count = sum(1 for request in store.requests if request[:2] == (self.command, self.path))
                trouble = store.trouble(self.command, path, count) if store.trouble else None
                if callable(trouble):
                    trouble(self)
                elif trouble:
                    self.answer(trouble, b'no', **({'Location': 'http://127.0.0.1:1/x'} if trouble // 100 == 3 else {}))
                return bool(trouble)

            def do_GET(self):
                path = self.path.split('?')[0]
                if self.troubled():
                    return
                with store.lock:
                    data = store.files.get(path)
                self.answer(200 if data is not None else 404, data if data is not None else b'')

            def do_PUT(self):
                path = self.path.split('?')[0]
                data = self.rfile.read(int(self.headers['Content-Length']))
                if self.troubled():
                    return
                with store.lock:
                    there = path in store.files
                    refused = there and store.conditional and self.headers.get('If-None-Match') == '*'
                    if not refused:
                        store.files[path] = data
                self.answer(412 if refused else 204 if there else 201)

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_):
                """A relay that was killed in the middle is no error."""

        self.server = Server((host, 0), Handler)
        self.port = self.server.server_address[1]
        self.url = 'http://%s:%d' % (host, self.port)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        test.addCleanup(self.server.server_close)
        test.addCleanup(self.server.shutdown)


class Nginx:
    """nginx with a configuration's `http` block; `pem` and `key` are for those who need them."""

    def __init__(self, test, name, http_block):
        self.dir = os.path.join(test.dir, name)
        os.makedirs(self.dir)
        path = os.path.join(self.dir, 'nginx.conf')
        with open(path, 'w', encoding='utf-8') as file:
            file.write('%spid %s/pid;\nerror_log %s/error.log;\nworker_processes 1;\nevents { worker_connections 512; }\n' % (
                'user root;\n' if os.geteuid() == 0 else '', self.dir, self.dir))
            file.write('http { access_log %s/access.log;\n' % self.dir)
            for kind in ('client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'):
                file.write('%s_temp_path %s/%s;\n' % (kind, self.dir, kind))
            file.write(http_block + '}\n')
        self.process = subprocess.Popen(['nginx', '-c', path, '-p', self.dir, '-e', self.dir + '/start.log', '-g', 'daemon off;'],
                                        stdin=subprocess.DEVNULL)
        test.addCleanup(self.stop)
        wait_for('nginx', lambda: os.path.exists(os.path.join(self.dir, 'pid')) and
                 os.path.getsize(os.path.join(self.dir, 'pid')) > 0, 20)

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait()


class NginxStore:
    """Files below a folder by GET and PUT."""

    def __init__(self, test):
        self.root, self.port = os.path.join(test.dir, 'store'), free_port()
        os.makedirs(os.path.join(self.root, 'in'))
        os.makedirs(os.path.join(self.root, 'out'))
        self.url = 'http://127.0.0.1:%d' % self.port
        self.nginx = Nginx(test, 'store-nginx', 'server { listen 127.0.0.1:%d; root %s; client_max_body_size 0; '
                           'location /out/ { dav_methods PUT; } }' % (self.port, self.root))

    def write(self, name, data):
        with open(os.path.join(self.root, 'in', name), 'wb') as file:
            file.write(data)

    def read(self, name):
        with open(os.path.join(self.root, 'out', name), 'rb') as file:
            return file.read()


class FleetTest(DaemonTest):
    def hub(self, *args, streams=True, **keywords):
        hub = Hub(self, *args, **keywords).start()
        if streams:
            hub.streams()
        return hub

    def machine(self, hub, name='one', **keywords):
        return Machine(self, hub, name, **keywords)

    def put_job(self, client, name, data=b'', klass='test', chain='sobel', form='pgm', **headers):
        told = {'Sluice-Chain': chain, 'Sluice-Format': form}
        told.update({'Sluice-' + key.replace('_', '-'): value for key, value in headers.items()})
        return client.put('sluice.jobs.%s.%s' % (klass, name), data, {k: v for k, v in told.items() if v is not None})

    def result(self, client, name, seconds=PATIENCE):
        """The message in DONE, once it is there."""
        return wait_for('result %s' % name, lambda: client.get('DONE', 'sluice.done.' + name), seconds, 0.05)

    def expect_ok(self, client, name, data, chain='sobel', form='pgm'):
        message = self.result(client, name)
        self.assertEqual(message.headers.get('Sluice-Status'), 'ok', message.headers)
        self.assertEqual(message.data, self.by_sluice_run(data, chain, form)[''])
        self.assertEqual(message.headers['Sluice-SHA256'], hashlib.sha256(message.data).hexdigest())
        return message

    def expect_failed(self, client, name, code):
        message = self.result(client, name)
        self.assertEqual(message.headers.get('Sluice-Status'), 'failed', message.headers)
        self.assertEqual(message.headers['Sluice-Code'], code, message.headers)
        self.assertEqual(message.data, b'')
        return message

    def expect_empty(self, client, seconds=PATIENCE):
        """The queue is: each job was acknowledged."""
        wait_for('an empty queue', lambda: client.state('JOBS')['messages'] == 0, seconds, 0.05)


def skip(why):
    print('skipped: ' + why, file=sys.stderr)
    sys.exit(77)


def main():
    if not os.path.exists(RELAY):
        skip('sluice-relay is not built (-Drelay=enabled tells what is missing)')
    if not good_server():
        skip('no nats-server of 2.10 or later is here (tests/run.sh installs one): %s' % (servers() or 'none at all'))
    print('with %s %s' % (good_server(), '.'.join(map(str, version_of(good_server())))), file=sys.stderr)
    unittest.main(verbosity=2)


__all__ = ['ApiError', 'EXAMPLES', 'FleetTest', 'HERE', 'Hub', 'Machine', 'Nats', 'NatsError', 'Nginx', 'NginxStore', 'PATIENCE', 'RELAY', 'ROOT', 'Relay',
           'SLUICE', 'Store', 'base64', 'free_port', 'good_server', 'hashlib', 'json', 'kill_line_library', 'main', 'old_server', 'os', 'picture', 're',
           'servers', 'shutil', 'signal', 'skip', 'socket', 'subprocess', 'sys', 'threading', 'time', 'unittest', 'version_of', 'wait_for']
