#!/usr/bin/env python3
"""GET /v1/openapi.json describes exactly the answers that the code can give, and requests made from it are answered
as it says. (sockets.ask checks the answers of all other tests against it.)"""
import glob
import json
import os
import re
import urllib.parse

from sluice_test import HERE, DaemonTest, main, picture, wait_for
import openapi
import sockets

ROOT = os.path.join(HERE, '../..')
SOURCES = ('http.c', 'http_request.c', 'http_routes.c', 'problem.c')
# What may be in a variable where problem_set is called: service_trouble's words; `code` is problem_of_fault's own.
VARIABLES = {'trouble': {'starting', 'no-device', 'draining'}}
METHODS = ('GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE')


def source(name):
    with open(os.path.join(ROOT, 'src/daemon/serve', name), encoding='utf-8') as file:
        return file.read()


class OpenApi(DaemonTest):
    def serve(self, *options, fake=False, **keywords):
        self.path = os.path.join(self.dir, 'http.sock')
        make = self.fake if fake else self.daemon
        return make('--http-socket', self.path, '--device', 'reference', *options, **keywords).start()

    def ask(self, method, target, body=None, headers=None):
        return sockets.ask(self.path, method, target, body, headers)

    def setUp(self):
        super().setUp()
        self.document = openapi.document()


class Source(OpenApi):
    """The code, against the document."""

    def test_routes(self):
        table = source('http_routes.c').split('http_routes[] = {')[1].split('};')[0]
        words = {'PAGE': 'GET, HEAD'}
        self.assertIn('#define PAGE "GET, HEAD"', source('http_routes.c'))
        routes = {}
        for path, methods, parameters in re.findall(r'\{"([^"]+)", ([A-Z]+|"[^"]*"), ([A-Z_]+|"[^"]*"),', table):
            methods, parameters = [words.get(text, text.strip('"')) for text in (methods, parameters)]
            for method in methods.split(', '):
                routes[path, method] = set(parameters.split())
        self.assertGreater(len(routes), 15)
        told = {key: {one['name'] for one in operation.get('parameters', [])}
                for key, operation in self.document.operations().items()}
        self.assertEqual(routes, told)
        bodies = {path for path, takes in re.findall(r'\{"([^"]+)",[^}]*?, (true|false), (?:true|false), \w+\}', table) if takes == 'true'}
        self.assertEqual(bodies, {path for (path, _), one in self.document.operations().items() if 'requestBody' in one})

    def problems(self):
        """(status, code) as the code sets them."""
        found = set()
        for name in SOURCES:
            calls = re.findall(r'problem_set\(\s*[^,()]+,\s*(\w+),\s*("[^"]*"|\w+)', source(name))
            self.assertEqual(len(calls) + (name == 'problem.c'), source(name).count('problem_set('), name)
            for status, code in [call for call in calls if call[1] != 'fault_name']:
                found |= {(int(status), one) for one in ({code.strip('"')} if '"' in code else VARIABLES[code])}
        text = source('problem.c')
        with open(os.path.join(ROOT, 'src/base/fault.c'), encoding='utf-8') as file:
            words = dict(re.findall(r'\[(FAULT_\w+)\] = \{"([^"]+)"', file.read()))
        rows = re.findall(r'\{(FAULT_\w+), (\d+)\}', text)
        self.assertGreater(len(rows), 10)
        found |= {(int(status), words.pop(fault)) for fault, status in rows}
        # 500 where no row fits; what is wrong in a request's own words; a format that cannot hold the result.
        words.pop('FAULT_NONE')
        found |= {(500, word) for word in words.values()} | {(422, 'format')}
        body = text.split('void problem_of_fault')[1].split('\n}\n')[0]
        self.assertEqual(set(re.findall(r'status = (\d+);', body)), {'500', '400', '422'})
        return found

    def test_problems(self):
        told = set()
        for response in self.document.root['components']['responses'].values():
            if 'content' not in response:
                continue  # libmicrohttpd's own
            properties = response['content']['application/problem+json']['schema']['properties']
            told |= {(properties['status']['const'], code) for code in properties['code']['enum']}
        self.assertEqual(self.problems(), told)
        used = set()
        for operation in self.document.operations().values():
            for status, response in operation['responses'].items():
                used |= {(int(status), code) for code in self.document.codes(response)}
        self.assertEqual(told - used, {(404, 'not-found'), (405, 'method')})

    def test_documentation(self):
        """docs/http.md has the same tables."""
        with open(os.path.join(ROOT, 'docs/http.md'), encoding='utf-8') as file:
            text = file.read()
        rows = re.findall(r'^\| (\d{3}) \| ([^|]+)\|', text, re.M)
        self.assertEqual({(int(status), code) for status, codes in rows for code in re.findall('`([a-z-]+)`', codes)},
                         self.problems())
        paths = set(re.findall(r'^\| (GET|POST) `(/[^`?]*)', text, re.M))
        self.assertEqual(paths, {(method, path) for path, method in self.document.operations() if method != 'HEAD'})

    def test_media_types(self):
        types = set()
        for path in glob.glob(os.path.join(ROOT, 'src/codec/**/*.c'), recursive=True):
            with open(path, encoding='utf-8') as file:
                types |= set(re.findall(r'\.media_type = "([^"]+)"', file.read()))
        content = self.document.paths['/v1/process']['post']['responses']['200']['content']
        self.assertEqual(set(content), types | {'multipart/form-data'})  # several results


class Requests(OpenApi):
    def test_it_is_answered(self):
        self.serve()
        answer = self.ask('GET', '/v1/openapi.json')
        with open(os.environ['SLUICE_OPENAPI'], encoding='utf-8') as file:
            self.assertEqual(answer.json(), json.load(file))
        self.assertEqual(answer.json()['info']['version'], self.ask('GET', '/version').json()['version'])

    def values(self, parameter):
        """Some that the parameter's schema allows, and some that it does not."""
        wanted = parameter['schema']
        if 'enum' in wanted or 'const' in wanted:
            return wanted.get('enum', [wanted.get('const')]), ['none', '\x01']
        if wanted['type'] == 'integer':
            return [wanted['minimum'], wanted['maximum']], [wanted['minimum'] - 1, wanted['maximum'] + 1, 'x', '1x', ' 1', '']
        if 'pattern' in wanted:
            return [os.path.join(self.dir, 'in', 'a')], ['a', '']
        return [parameter.get('example', '')], ['x' * (wanted['maxLength'] + 1)] if 'maxLength' in wanted else []

    def test_every_operation(self):
        """Each parameter with what it may be and what it may not be, unknown and repeated ones, every other method."""
        d = self.serve('--max-file', '64KiB')
        d.drop('a', picture(), 'rename')
        d.expect_done('a')
        for (path, method), operation in self.document.operations().items():
            body = picture() if path == '/v1/process' else None
            for parameter in operation.get('parameters', []):
                good, bad = self.values(parameter)
                for values, wanted in ((good, (200, 404, 422)), (bad, (400,))):
                    for value in values:
                        target = '%s?%s=%s' % (path, parameter['name'], urllib.parse.quote(str(value)))
                        self.assertIn(self.ask(method, target, body).status, wanted, target)
                target = '%s?%s=1&%s=1' % (path, parameter['name'], parameter['name'])
                self.assertEqual(self.ask(method, target, body).status, 400, target)
            for query in ('?none=1', '?%', '?a=%00'):
                self.assertEqual(self.ask(method, path + query, body).status, 400)
            if not operation.get('parameters') and (path, method) != ('/v1/events', 'GET'):  # which has no end: test_events.py
                self.assertEqual(self.ask(method, path, body).status, 200)
            if 'requestBody' in operation:
                self.assertEqual(self.ask(method, path, b'x' * (1 << 17)).status, 413)
        for path, methods in self.document.paths.items():
            for method in set(METHODS) - {one.upper() for one in methods}:
                answer = self.ask(method, path)
                self.assertEqual(answer.status, 405, (method, path))
                self.assertEqual(set(answer.headers['Allow'].split(', ')), {one.upper() for one in methods})
        for path in ('/', '/v1', '/v1/process/', '/v1/openapi', '/V1/status'):
            self.assertEqual(self.ask('GET', path).status, 404)
        for method, target, headers, status in (('GET', '/v1/status?' + 'x' * 140000, {}, 414),
                                                ('POST', '/v1/process', {'X-Long': 'x' * 140000}, 431)):
            self.assertEqual(self.ask(method, target, headers=headers).status, status)
        d.stop()

    def test_bodies(self):
        d = self.serve(chain='sobel', form='pgm')
        for query, body, status, code in (
                ('?chain=sobel&format=png', picture(), 200, None), ('?format=jpg', picture(), 200, None),
                ('?format=bmp', picture(), 200, None), ('?format=npy', picture(), 200, None),
                ('?format=npz', picture(), 200, None), ('?format=raw', picture(), 200, None),
                ('?format=pgm', picture(), 200, None), ('?chain=sobel:both', picture(), 200, None),
                ('?chain=soble', picture(), 400, 'chain'), ('?format=avif', picture(), 400, 'usage'),
                ('?input=x=1', picture(), 400, 'usage'), ('', b'no picture', 415, 'format'),
                ('', picture()[:100], 422, 'truncated'), ('', b'', 422, 'empty'),
                ('?chain=fir:gaussian5:border=crop', picture(2, 2), 422, 'shape'),
                ('?chain=sobel:both&format=pgm', picture(), 422, 'shape')):
            answer = self.ask('POST', '/v1/process' + query, body)
            self.assertEqual((answer.status, answer.json()['code'] if code else None), (status, code), query)
        d.drop('bad', b'no picture', 'rename')
        d.expect_failed('bad')
        for body, status in ((b'{"failed": true}', 200), (b'{"failed": false}', 400), (b'{"file": 7}', 400), (b'[]', 400),
                             (b'{', 400), (b'{"file": "/none"}', 404), (b'{"file": "none"}', 400), (b'{"more": 1}', 400),
                             (json.dumps({'file': d.in_path('bad')}).encode(), 200)):
            self.assertEqual(self.ask('POST', '/v1/files/requeue', body).status, status, body)
            wait_for('it has failed again', lambda: os.path.exists(os.path.join(d.hidden, 'failed', 'bad')))
        d.stop()

    def test_while_it_starts_and_ends(self):
        d = self.serve('--jobs', '1', fake=True)
        d.drop('h', b'hang', 'rename')
        wait_for('it runs', lambda: self.fake_log() == ['hang'])
        self.assertEqual(self.ask('GET', '/readyz').status, 200)
        self.assertEqual(self.ask('GET', '/v1/stages').json()['code'], 'starting')  # this worker says nothing
        d.process.terminate()
        wait_for('it drains', lambda: self.ask('GET', '/readyz').status == 503)
        for method, path in (('POST', '/v1/process'), ('POST', '/v1/files/requeue')):
            answer = self.ask(method, path, b'x')
            self.assertEqual((answer.status, answer.json()['code']), (503, 'busy'))
        d.process.kill()


if __name__ == '__main__':
    main()
