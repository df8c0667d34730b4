#!/usr/bin/env python3
"""Strangers at `sluice view`: without the token, from other sites, with odd paths, many at once. Nothing is read that the command
did not name. Usage: test_strangers.py SLUICE [unittest options]"""
import http.client
import http.server
import os
import re
import socket
import subprocess
import sys
import threading
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, '..')]
import browser  # noqa: E402
import pictures  # noqa: E402
from folder import FolderTest  # noqa: E402

SLUICE = os.path.abspath(sys.argv.pop(1))
PATHS = ('start', 'chain?chain=sobel', 'picture?file=0', 'plan?chain=sobel', 'result?chain=sobel', 'alive', 'thumb?file=/etc/passwd', 'daemon/status',
         'daemon/requeue?failed=1', 'nothing')


class Strangers(FolderTest):
    def setUp(self):
        super().setUp()
        for name in ('photo.pgm', 'other.pgm'):
            self.write(name, pictures.pnm(16, 12, pictures.noise(16, 12)))
        self.process = subprocess.Popen([SLUICE, 'view', '--no-open', 'photo.pgm'], cwd=self.dir, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(self.end)
        self.url = self.process.stdout.readline().decode().strip()
        port, self.token = re.fullmatch(r'http://127\.0\.0\.1:(\d+)/#([0-9a-f]{32})', self.url).groups()
        self.port = int(port)

    def end(self):
        self.process.terminate()
        self.assertEqual(self.process.wait(20), 0)
        said = self.process.stderr.read().decode()
        self.process.stdout.close()
        self.process.stderr.close()
        self.assertNotRegex(said, 'Sanitizer|runtime error')

    def ask(self, path, method='GET', host=None, token=True, body=None, **headers):
        """(status, body, headers)"""
        client = http.client.HTTPConnection('127.0.0.1', self.port, timeout=30)
        try:
            client.putrequest(method, path, skip_host=True)
            if host != '':
                client.putheader('Host', host or '127.0.0.1:%d' % self.port)
            if token:
                client.putheader('Sluice-Token', self.token if token is True else token)
            for name, value in headers.items():
                client.putheader(name.replace('_', '-'), value)
            if body:
                client.putheader('Content-Length', str(len(body)))
            client.endheaders(body)
            answer = client.getresponse()
            return answer.status, answer.read() if path != '/api/alive' or answer.status != 200 else b'', dict(answer.getheaders())
        finally:
            client.close()

    def raw(self, data, seconds=10):
        """What comes back until the connection is closed."""
        with socket.create_connection(('127.0.0.1', self.port), seconds) as s:
            s.sendall(data)
            got = b''
            try:
                while piece := s.recv(65536):
                    got += piece
            except (TimeoutError, ConnectionResetError):
                pass
            return got

    def works(self):
        status, body, _ = self.ask('/api/start')
        self.assertEqual(status, 200)
        self.assertIn(b'photo.pgm', body)

    def test_the_owner(self):
        self.works()
        for host in ('localhost:%d' % self.port, '127.0.0.1:8080', 'localhost', '[::1]:9'):  # forwarded ports are other ones
            self.assertEqual(self.ask('/api/start', host=host)[0], 200)
        status, body, headers = self.ask('/', token=False)
        self.assertEqual(status, 200)
        self.assertNotIn(self.token.encode(), body)
        self.assertIn("default-src 'self'", headers['Content-Security-Policy'])
        self.assertIn("frame-ancestors 'none'", headers['Content-Security-Policy'])
        self.assertEqual(headers['X-Content-Type-Options'], 'nosniff')
        self.assertEqual(headers['Cross-Origin-Resource-Policy'], 'same-origin')
        self.assertEqual(self.ask('/api/start')[2]['Cache-Control'], 'no-store')

    def test_no_token(self):
        for path in PATHS:
            for token in (False, '0' * 32, self.token[:-1], self.token + '0', self.token.upper() if self.token != self.token.upper() else 'x'):
                for method in ('GET', 'POST'):
                    self.assertEqual(self.ask('/api/' + path, method, token=token)[0], 401, (path, method))
        # not by the query either, which would be in logs and histories
        self.assertEqual(self.ask('/api/start?token=%s&Sluice-Token=%s' % (self.token, self.token), token=False)[0], 401)

    def test_other_hosts_and_origins(self):
        for host in ('evil.example', '127.0.0.1.evil.example', 'localhost.evil.example:80', '127.0.0.1:80x', '127.0.0.1:%d@evil.example' % self.port, '0.0.0.0', '[::]', 'x'):
            self.assertEqual(self.ask('/api/start', host=host)[0], 403, host)
            self.assertEqual(self.ask('/', host=host, token=False)[0], 403, host)
        self.assertEqual(self.ask('/api/start', host='')[0] // 100, 4)
        own = 'http://127.0.0.1:%d' % self.port
        self.assertEqual(self.ask('/api/start', Origin=own)[0], 200)
        for origin in ('http://evil.example', 'null', 'http://127.0.0.1:1', 'https://127.0.0.1:%d' % self.port, own + '.evil.example', 'http://localhost:%d' % self.port, ''):
            self.assertEqual(self.ask('/api/start', Origin=origin)[0], 403, origin)
        for site in ('cross-site', 'same-site', 'x'):
            self.assertEqual(self.ask('/api/start', Sec_Fetch_Site=site)[0], 403, site)
            # a link may lead to the page, in a tab of its own, and to nothing else
            visit = {'Sec_Fetch_Site': site, 'Sec_Fetch_Mode': 'navigate', 'Sec_Fetch_Dest': 'document'}
            self.assertEqual(self.ask('/', token=False, **visit)[0], 200)
            self.assertEqual(self.ask('/api/start', **visit)[0], 403)
            self.assertEqual(self.ask('/main.js', token=False, **visit)[0], 403)
            self.assertEqual(self.ask('/', 'POST', token=False, **visit)[0], 403)
            self.assertEqual(self.ask('/', token=False, host='evil.example', **visit)[0], 403)
            self.assertEqual(self.ask('/', token=False, Origin='http://evil.example', **visit)[0], 403)
            self.assertEqual(self.ask('/', token=False, **{**visit, 'Sec_Fetch_Dest': 'iframe'})[0], 403)
            self.assertEqual(self.ask('/', token=False, **{**visit, 'Sec_Fetch_Mode': 'no-cors'})[0], 403)
        for method in ('OPTIONS', 'PUT', 'DELETE', 'TRACE', 'PATCH', 'CONNECT'):
            self.assertIn(self.ask('/api/start', method)[0], (400, 403, 405, 501), method)

    def test_paths(self):
        for path in ('/../photo.pgm', '/photo.pgm', '/%2e%2e/%2e%2e/etc/passwd', '//etc/passwd', '/api/../start', '/api//start', '/api/start/', '/view.css/..', '/.', '/api/', '/index.html',
                     '/api/photo.pgm', '/' + 'a' * 5000):
            self.assertEqual(self.ask(path)[0], 404, path)
        for file in ('1', '99999999', '4294967295', '99999999999999999999'):
            self.assertEqual(self.ask('/api/picture?file=' + file)[0], 404, file)
        # what is no number is the first file, and nothing else
        first = self.ask('/api/picture?file=0')[1]
        for file in ('-1', 'other.pgm', '../other.pgm', '/etc/passwd', '0x1', '%00'):
            status, body, _ = self.ask('/api/picture?file=' + file)
            self.assertEqual((status, body[-192:]), (200, first[-192:]), file)
        # of a daemon there is nothing here
        for path in ('thumb?file=' + self.dir + '/photo.pgm', 'daemon/status', 'daemon/files?file=/etc/passwd'):
            self.assertEqual(self.ask('/api/' + path)[0], 404)
        # a file that has become another one's link is still the one that was named; a chain reads no file
        self.assertEqual(self.ask('/api/picture?chain=fir:@../../etc/passwd')[0], 400)
        self.assertEqual(self.ask('/api/result?format=/etc/passwd')[0], 400)
        self.works()

    def test_sizes(self):
        self.assertIn(b' 4', self.raw(b'GET /' + b'a' * 300000 + b' HTTP/1.1\r\nHost: localhost\r\n\r\n')[:16])
        self.assertIn(b' 4', self.raw(b'GET / HTTP/1.1\r\nHost: localhost\r\nX: ' + b'a' * 300000 + b'\r\n\r\n')[:16])
        self.raw(b'POST /api/start HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999\r\n\r\n' + b'a' * 200000, 3)
        self.assertEqual(self.ask('/api/start', 'POST', body=b'a' * 1000)[0], 404)
        self.assertEqual(self.ask('/api/picture?chain=resize:w=1000000:h=1000000:fit=exact')[0], 422)
        self.assertEqual(self.ask('/api/picture?chain=' + ','.join(['invert'] * 65))[0], 400)
        self.assertEqual(self.ask('/api/picture?x=4294967295&y=4294967295&width=4294967295&height=4294967295&every=4294967295')[0], 200)
        self.works()

    def test_a_hundred_connections(self):
        many = [socket.create_connection(('127.0.0.1', self.port), 10) for _ in range(100)]
        try:
            for s in many[::3]:
                s.sendall(b'GET /api/start HTTP/1.1\r\nHost: localhost\r\nX: ')
            for _ in range(5):
                begun = time.monotonic()
                self.works()
                self.assertLess(time.monotonic() - begun, 5)
            # who shows no token is cut, also when he goes on sending
            end = time.monotonic() + 20
            open_ = set(many)
            while open_ and time.monotonic() < end:
                for s in list(open_):
                    try:
                        s.settimeout(0.01)
                        s.sendall(b'a')
                        if s.recv(1000) == b'':
                            open_.discard(s)
                    except TimeoutError:
                        pass
                    except OSError:
                        open_.discard(s)
                time.sleep(0.1)
            self.assertEqual(len(open_), 0)
        finally:
            for s in many:
                s.close()
        self.works()

    def test_loopback_alone(self):
        with open('/proc/net/tcp', encoding='ascii') as file:
            at = [line.split()[1] for line in file if line.split()[1].endswith(':%04X' % self.port) and line.split()[3] == '0A']
        self.assertEqual(at, ['0100007F:%04X' % self.port])

    @unittest.skipUnless(browser.find(), 'no chromium')
    def test_another_sites_page(self):
        """What a page of another site can do with a browser that has the view open: nothing."""
        view, token = 'http://127.0.0.1:%d' % self.port, self.token
        body = ('''<!doctype html><title>evil</title><iframe id=f src="%s/"></iframe><img id=i src="%s/api/picture?file=0">
<form id=g method=post target=f2 action="%s/api/daemon/requeue?failed=1"><input name=a></form><iframe name=f2></iframe><script src="%s/api/start"></script>''' % (view, view, view, view)).encode()

        class Evil(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(200)
                self.send_header('Content-Type', 'text/html')
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass
        evil = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Evil)
        threading.Thread(target=evil.serve_forever, daemon=True).start()
        own = browser.Browser()
        try:
            page = own.open('http://localhost:%d/' % evil.server_port)
            page.wait('document.title === "evil" && document.readyState === "complete"')
            self.assertEqual(page.run('fetch("%s/api/start", {headers: {"Sluice-Token": "%s"}}).then(() => "read", () => "refused")' % (view, token)), 'refused')
            self.assertEqual(page.run('fetch("%s/api/start", {mode: "no-cors"}).then(a => a.type, () => "refused")' % view), 'refused')  # Cross-Origin-Resource-Policy
            self.assertEqual(page.run('fetch("%s/", {mode: "no-cors"}).then(a => a.type, () => "refused")' % view), 'refused')
            self.assertEqual(page.run('document.getElementById("i").naturalWidth'), 0)
            page.run('document.getElementById("g").submit()')
            time.sleep(0.5)
            self.assertEqual(page.run('(() => { try { return document.getElementById("f").contentDocument.title } catch { return "refused" } })() || "refused"'), 'refused')
        finally:
            own.close()
            evil.shutdown()
            evil.server_close()
        self.works()


if __name__ == '__main__':
    unittest.main()
