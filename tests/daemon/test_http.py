#!/usr/bin/env python3
"""Jobs over HTTP: every page, every error, clients that are slow, many, or gone."""
import email
import io
import json
import os
import resource
import re
import shutil
import signal
import socket
import subprocess
import threading
import time
import unittest
import zipfile

from sluice_test import EMULATED, SLUICE, SLUICED, Daemon, DaemonTest, main, picture, pictures, wait_for
import sockets

PAGES = ['/livez', '/readyz', '/metrics', '/version', '/v1/stages', '/v1/devices', '/v1/chains', '/v1/status']


class HttpTest(DaemonTest):
    def serve(self, *options, fake=False, ready=True, **keywords):
        self.path = os.path.join(self.dir, 'http.sock')
        self.jobs = os.path.join(self.dir, 'jobs.sock')
        make = self.fake if fake else self.daemon
        daemon = make('--http-socket', self.path, '--jobs-socket', self.jobs, '--device', 'reference', *options,
                      **keywords)
        return daemon.start(ready)

    def get(self, target, **keywords):
        return sockets.ask(self.path, 'GET', target, **keywords)

    def post(self, query, body, **keywords):
        return sockets.ask(self.path, 'POST', '/v1/process' + query, body, **keywords)

    def expect_problem(self, answer, status, code):
        self.assertEqual(answer.status, status, answer.body)
        self.assertEqual(answer.headers['Content-Type'], 'application/problem+json')
        problem = answer.json()
        self.assertEqual((problem['code'], problem['status']), (code, status))
        self.assertTrue(problem['title'] and problem['detail'])
        return problem

    def expect_descriptors(self, daemon, before):
        wait_for('descriptors as before', lambda: sockets.descriptors(daemon) == before, 20)


class Pages(HttpTest):
    def test_pages(self):
        daemon = self.serve()
        wait_for('a description', lambda: self.get('/v1/stages').status == 200)
        before = sockets.settled_descriptors(daemon)
        for page in PAGES:
            answer = self.get(page)
            self.assertEqual(answer.status, 200, page)
            head = sockets.ask(self.path, 'HEAD', page)
            self.assertEqual((head.status, head.body), (200, b''), page)
        self.assertEqual(self.get('/livez').body, b'ok\n')
        self.assertEqual(self.get('/readyz').json()['ready'], True)
        stages = {stage['name']: stage for stage in self.get('/v1/stages').json()}
        told = json.loads(subprocess.run([SLUICE, 'stages', '--json'], check=True, capture_output=True).stdout)
        self.assertEqual([stages[stage['name']] for stage in told], told)
        devices = self.get('/v1/devices').json()  # the references: OpenCL is left alone
        self.assertLessEqual({(d['kind'], d['taken']) for d in devices}, {('native', False)})
        self.assertEqual(self.get('/v1/chains').json()[0]['chain'], 'sobel')
        self.assertEqual(self.get('/version').json()['name'], 'sluice')
        self.assertEqual(self.get('/v1/status').json()['state'], 'ready')
        self.expect_descriptors(daemon, before)
        daemon.stop()
        self.assertFalse(os.path.exists(self.path))
        self.assertFalse(os.path.exists(self.jobs))

    def test_target_with_the_servers_name(self):
        self.serve()
        for target, status in (('http://localhost/livez', 200), ('HTTP://x:80/v1/chains', 200), ('http://x', 404)):
            self.assertEqual(sockets.ask(self.path, 'GET', target).status, status, target)

    def test_metrics(self):
        self.serve()
        self.post('?chain=sobel&format=pgm', picture())
        self.post('?chain=luminance&format=pgm', picture())
        self.post('?chain=sobel', b'nonsense')
        text = self.get('/metrics').body.decode()
        for line in text.splitlines():
            self.assertRegex(line, r'^(# (HELP|TYPE) \w+ .+|\w+(\{\w+="[^"]*"(,\w+="[^"]*")*\})? [-+.0-9eE]+)$')
        self.assertIn('sluice_jobs_total{source="http",chain="sobel",result="done"} 1\n', text)
        self.assertIn('sluice_jobs_total{source="http",chain="custom",result="done"} 1\n', text)
        self.assertIn('sluice_jobs_total{source="http",chain="sobel",result="failed"} 1\n', text)

    @unittest.skipIf(EMULATED, 'ldd starts the program')
    def test_front_links_neither_opencl_nor_codecs(self):
        listed = subprocess.run(['ldd', SLUICED], check=True, capture_output=True, text=True).stdout
        self.assertIn('microhttpd', listed)
        self.assertNotRegex(listed, r'OpenCL|jpeg|libpng|libzip')

    def test_rights_of_the_socket(self):
        self.serve()
        self.assertEqual(os.stat(self.path).st_mode & 0o777, 0o660)
        self.assertEqual(os.stat(self.jobs).st_mode & 0o777, 0o660)


class Process(HttpTest):
    def test_results_are_those_of_sluice_run(self):
        daemon = self.serve()
        before = sockets.settled_descriptors(daemon)
        for chain, form in (('sobel', 'pgm'), ('luminance,box:radius=3', 'png'), ('', 'bmp')):
            answer = self.post('?chain=%s&format=%s' % (chain, form), picture(57, 31))
            self.assertEqual(answer.status, 200, answer.body)
            self.assertEqual(answer.body, self.by_sluice_run(picture(57, 31), chain, form)[''])
        self.assertEqual(answer.headers['Content-Type'], 'image/bmp')
        answer = self.post('?chain=luminance,statistics:over=99&format=json', picture(57, 31))
        self.assertEqual(answer.headers['Content-Type'], 'application/json')
        self.assertEqual(answer.body, self.by_sluice_run(picture(57, 31), 'luminance,statistics:over=99', 'json')[''])
        self.assertEqual(answer.json()['count'], 57 * 31)
        self.expect_descriptors(daemon, before)

    def test_without_a_format(self):
        self.serve()
        answer = self.post('?chain=sobel', picture())
        self.assertEqual(answer.headers['Content-Type'], 'image/png')
        answer = self.post('?chain=sobel:out=both', picture())
        self.assertEqual(answer.status, 200)
        self.assertEqual(sorted(zipfile.ZipFile(io.BytesIO(answer.body)).namelist()),
                         ['dx.npy', 'dy.npy', 'meta.json'])

    def test_named_chains(self):
        path = os.path.join(self.dir, 'c.yaml')
        with open(path, 'w', encoding='ascii') as file:
            file.write('version: 1\nchains: {edges: "luminance,sobel"}\n')
        self.serve('--config', path)
        answer = self.post('?chain=edges&format=pgm', picture())
        self.assertEqual(answer.body, self.by_sluice_run(picture(), 'luminance,sobel')[''])
        self.assertEqual(self.get('/v1/chains').json(), [{'name': 'edges', 'chain': 'luminance,sobel'},
                                                         {'name': None, 'chain': 'sobel'}])
        self.assertIn(b'source="http",chain="edges",result="done"', self.get('/metrics').body)
        answer = self.post('?chain=edge', picture())
        self.assertEqual((answer.status, answer.json()['code']), (400, 'chain'))
        self.assertIn("did you mean 'edges'?", answer.json()['detail'])

    def test_several_results(self):
        """Several chains, one picture: decoded once, each result as if it were alone, by name; all or none."""
        path = os.path.join(self.dir, 'c.yaml')
        with open(path, 'w', encoding='ascii') as file:
            file.write('version: 1\nchains: {edges: "luminance,sobel", small: "resize:w=9"}\n')
        daemon = self.serve('--config', path)
        before = sockets.settled_descriptors(daemon)
        photo = pictures.pnm(57, 31, pictures.noise(57, 31, 3), channels=3)
        chains = ['edges', 'luminance,invert', 'small', '', 'luminance,sobel:out=both', 'edges']
        texts = ['luminance,sobel', 'luminance,invert', 'resize:w=9', '', 'luminance,sobel:out=both', 'luminance,sobel']
        formats = ['pgm', 'png', 'ppm', 'png', 'pgm', 'pgm']

        def parts(answer):
            head = b'Content-Type: ' + answer.headers['Content-Type'].encode() + b'\r\n\r\n'
            form = email.message_from_bytes(head + answer.body)
            self.assertEqual(int(answer.headers['Content-Length']), len(answer.body))
            return {p.get_param('name', header='content-disposition'): (p.get_filename(), p.get_content_type(), p.get_payload(decode=True))
                    for p in form.get_payload()}

        target = '?chain=%s&format=%s' % (';'.join(chains), ';'.join(formats))
        answer = self.post(target, photo)
        self.assertEqual(answer.status, 200, answer.body)
        got = parts(answer)
        self.assertEqual(sorted(got), ['2', '4', '5.dx', '5.dy', '6', 'edges', 'small'])
        for name, index, plane in (('edges', 0, ''), ('2', 1, ''), ('small', 2, ''), ('4', 3, ''), ('5.dx', 4, 'dx'), ('5.dy', 4, 'dy')):
            self.assertEqual(got[name][2], self.by_sluice_run(photo, texts[index], formats[index])[plane], name)
        self.assertEqual((got['2'][:2], got['5.dx'][0]), (('2.png', 'image/png'), '5.dx.pgm'))
        # of luminance, sobel, invert, resize, sobel:out=both each has run once; alone they would be 9
        self.assertRegex(answer.headers['Sluice-Counts'], r', stages_run=5, stages_asked=9$')
        named = parts(self.post(target + '&name=a;b;c;d;e;f', photo))
        self.assertEqual(sorted(named), ['a', 'b', 'c', 'd', 'e.dx', 'e.dy', 'f'])
        self.assertEqual(named['c'][2], got['small'][2])
        # one format for all; auto
        got = parts(self.post('?chain=luminance;luminance,sobel:out=both', photo))
        self.assertEqual([got[n][:2] for n in '12'], [('1.png', 'image/png'), ('2.npz', 'application/zip')])
        # nothing of what fails, and the place of the mistake in the client's own text
        for query, status, says in (('?chain=edges;resize:w=9,blurr;x', 400, 'blurr'), ('?chain=edges;crop:w=99:h=9', 422, 'result 2: crop'),
                                    ('?chain=edges;small&format=png;jpg;png', 400, '3 formats for 2 results'),
                                    ('?chain=edges;small&name=a', 400, '1 name'), ('?chain=edges;small&name=a;a', 400, 'given twice'),
                                    ('?chain=edges;small&name=a;b.c', 400, 'A-Z'), ('?chain=' + ';' * 16, 400, 'the limit is 16'),
                                    ('?chain=edges;small&format=png;jpgg', 400, 'jpgg')):
            answer = self.post(query, photo)
            self.assertEqual(answer.status, status, (query, answer.body))
            self.assertIn(says, answer.json()['detail'])
        answer = self.post('?chain=edges;resize:w=9,blurr;x', photo).json()
        self.assertEqual([(e['position'], e['length']) for e in answer['errors']], [(17, 5), (23, 1)])
        self.assertEqual((answer['position'], answer['length']), (17, 5))
        text = self.get('/metrics').body.decode()
        self.assertIn('sluice_jobs_total{source="http",chain="several",result="done"} 3\n', text)
        self.assertIn('sluice_results_total{source="http",chain="edges"} 4\n', text)
        self.expect_descriptors(daemon, before)

    def test_percent_encoding_and_input(self):
        self.serve()
        frame = bytes(range(256)) * 3
        answer = self.post('?chain=%6cuminance%2Cinvert&input=raw=gray8:w=32:h=24&format=raw', frame)
        self.assertEqual((answer.status, answer.body), (200, bytes(255 - b for b in frame)))

    def test_server_timing(self):
        self.serve()
        timing = self.post('?chain=sobel&format=pgm', picture()).headers['Server-Timing']
        spans = dict(re.findall(r'([\w-]+);dur=([0-9.]+)', timing))
        self.assertLessEqual({'queue', 'decode', 'device', 'encode', 'total'}, set(spans))
        self.assertLessEqual(float(spans['decode']) + float(spans['encode']), float(spans['total']))

    def test_warnings(self):
        """What the decoder says of an odd picture comes with the answer; strict=1 refuses it."""
        daemon = self.serve()
        answer = self.post('?chain=invert&format=pgm', pictures.odd_png())
        self.assertEqual(answer.status, 200)
        self.assertEqual(answer.headers.get_all('Warning'),
                         ['299 sluice "%s"' % warning for warning in pictures.ODD_PNG_WARNINGS])
        self.assertIsNone(self.post('?format=pgm', picture()).headers['Warning'])
        problem = self.expect_problem(self.post('?input=strict=1', pictures.odd_png()), 422, 'data')
        self.assertIn('tEXt: CRC error', problem['detail'])
        wait_for('both lines in the log', lambda: daemon.count_lines('warning: png: ') >= 2)  # it is read by a thread
        self.assertEqual(daemon.count_lines('warning: png: '), 2)

    def test_keep_alive(self):
        self.serve()
        connection = sockets.Http(self.path)
        for seed in range(5):
            connection.request('POST', '/v1/process?chain=sobel&format=pgm', picture(seed=seed))
            answer = sockets.Answer(connection.getresponse())
            self.assertEqual(answer.body, self.by_sluice_run(picture(seed=seed))[''])
            connection.request('GET', '/nothing', body=b'x' * 100000)
            self.expect_problem(sockets.Answer(connection.getresponse()), 404, 'not-found')
        connection.close()

    def test_chunked_and_half_closed(self):
        self.serve()
        data = picture()
        chunks = b''.join(b'%x\r\n%s\r\n' % (len(data[i:i + 100]), data[i:i + 100])
                          for i in range(0, len(data), 100)) + b'0\r\n\r\n'
        got = sockets.raw(self.path, b'POST /v1/process?chain=sobel&format=pgm HTTP/1.1\r\nHost: x\r\nConnection: close'
                          b'\r\nTransfer-Encoding: chunked\r\n\r\n' + chunks, half_close=True)
        self.assertEqual(got.split(b'\r\n\r\n', 1)[1], self.by_sluice_run(data)[''])

    def test_curl(self):
        if not shutil.which('curl'):
            self.skipTest('no curl')
        self.serve()
        got = subprocess.run(['curl', '-sS', '--fail', '--unix-socket', self.path, '--data-binary', '@-',
                              'http://localhost/v1/process?chain=sobel&format=pgm'], input=picture(2000, 1000),
                             capture_output=True, check=True).stdout
        self.assertEqual(got, self.by_sluice_run(picture(2000, 1000))[''])

    def test_ahead_of_a_folders_backlog(self):
        """A fake job takes 0.3 s: behind a backlog of 60 it would be 18 s."""
        daemon = self.serve('--jobs', '1', fake=True)
        for i in range(60):
            daemon.drop('f%02d' % i, b'slow %d' % i, 'rename')
        wait_for('work', lambda: len(self.fake_log()) > 1)
        begin = time.monotonic()
        self.assertEqual(self.post('?chain=sobel', b'hello').body, b'hello')
        self.assertLess(time.monotonic() - begin, 6)
        daemon.process.kill()


    def test_answer_is_no_workers(self):
        """A worker that starts while an answer goes out inherits nothing of it."""
        daemon = self.serve('--jobs', '1', fake=True)
        body = bytes(8 << 20)
        with sockets.connect(self.path) as client:
            client.sendall(b'POST /v1/process?chain=sobel HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n' % len(body))
            client.sendall(body)
            self.assertEqual(client.recv(12), b'HTTP/1.1 200')
            old = daemon.worker_pid()
            os.kill(old, signal.SIGKILL)
            wait_for('another worker', lambda: daemon.worker_pid() != old)
            folder = '/proc/%d/fd' % daemon.worker_pid()
            links = [os.readlink(os.path.join(folder, name)) for name in os.listdir(folder)]
            self.assertEqual([link for link in links if 'sluice-result' in link], [])
        daemon.stop()


class Errors(HttpTest):
    def test_requests(self):
        self.serve()
        problem = self.expect_problem(self.post('?chain=luminance,sobell', picture()), 400, 'chain')
        self.assertEqual((problem['position'], problem['length']), (10, 6))
        self.assertIn("did you mean 'sobel'", problem['detail'])
        self.expect_problem(self.post('?chain=sobel:scale=x', picture()), 400, 'chain')
        self.expect_problem(self.post('?chain=' + 'a' * 51000, picture()), 400, 'chain')
        self.expect_problem(self.post('?chain=sobel&format=gif', picture()), 400, 'usage')
        self.expect_problem(self.post('?chain=sobel&input=oriented=0', picture()), 400, 'usage')
        for query in ('?chian=sobel', '?chain=sobel&chain=sobel', '?chain=%zz', '?chain=%00', '?chain=%4'):
            self.expect_problem(self.post(query, picture()), 400, 'query')
        self.expect_problem(self.get('/v2/process'), 404, 'not-found')
        answer = self.get('/v1/process')
        self.expect_problem(answer, 405, 'method')
        self.assertEqual(answer.headers['Allow'], 'POST')
        self.expect_problem(sockets.ask(self.path, 'DELETE', '/livez'), 405, 'method')

    def test_all_mistakes_of_a_chain(self):
        self.serve()
        problem = self.expect_problem(self.post('?chain=grey,sobel:scale=x,box', picture()), 400, 'chain')
        self.assertEqual((problem['position'], problem['length']), (0, 4))
        self.assertEqual([(e['position'], e['length']) for e in problem['errors']], [(0, 4), (17, 1), (19, 3)])
        self.assertEqual(problem['errors'][0]['detail'], problem['detail'])
        self.assertIn('width=W', problem['errors'][2]['detail'])
        problem = self.expect_problem(self.post('?format=avif', picture()), 400, 'usage')
        self.assertNotIn('errors', problem)

    def test_pictures(self):
        self.serve('--max-pixels', '1kP')
        self.expect_problem(self.post('?chain=sobel', b'no picture at all'), 415, 'format')
        self.expect_problem(self.post('?chain=sobel', b''), 422, 'empty')
        self.expect_problem(self.post('?chain=sobel', picture(20, 20)[:-9]), 422, 'truncated')
        self.expect_problem(self.post('?chain=sobel', b'P5\n0 4\n255\n'), 422, 'data')
        problem = self.expect_problem(self.post('?chain=sobel', picture(100, 100)), 422, 'limit')
        self.assertEqual(problem['limit'], 'max_pixels')
        self.expect_problem(self.post('?chain=box:width=9:border=crop', picture(5, 5)), 422, 'shape')
        self.expect_problem(self.post('?chain=sobel:out=both&format=png', picture(9, 9)), 422, 'shape')

    def test_one_word_for_a_fault(self):
        """Over HTTP, at the jobs socket and in `sluice run` and `submit`; and what is wrong in the request has a name."""
        daemon = self.serve('--max-pixels', '1kP', '--max-file', '1MiB')
        jobs = sockets.Jobs(self.jobs)
        whole, words = picture(9, 9), set()
        for ask, data in (({'chain': 'sobell'}, whole), ({'format': 'avif'}, whole), ({'format': 'jpg:quality=900'}, whole),
                          ({'input': 'foo=1'}, whole), ({}, b'no picture at all'), ({}, b''), ({}, whole[:-9]),
                          ({}, b'P5\n0 4\n255\n'), ({}, picture(100, 100)), ({'chain': 'box:width=99:border=crop'}, whole),
                          ({'chain': 'convert:f32', 'format': 'jpg'}, whole), ({}, bytes(2 << 20))):
            answer = self.post('?' + '&'.join('%s=%s' % one for one in ask.items()), data)
            report, _ = jobs.run(data, **ask)
            problem = answer.json() if answer.status != 200 else {'code': 'ok'}
            self.assertEqual((problem['code'], problem.get('subject')), (report['result'], report.get('subject')), ask)
            words.add(problem['code'])
            if report.get('subject') or len(data) > 1 << 20:
                continue
            path = os.path.join(self.dir, 'x')
            with open(path, 'wb') as file:
                file.write(data)
            for command in (['run', '--device', 'reference', '--max-pixels', '1kP'], ['submit', '-s', self.jobs]):
                done = subprocess.run([SLUICE, *command, '--json', '-c', ask.get('chain', ''), '-f', ask.get('format', 'png'), '-o',
                                       self.dir + '/', path], capture_output=True, check=False)
                self.assertEqual(json.loads(done.stdout)['files'][0]['result'], problem['code'], (command, ask, done.stderr))
        self.assertLessEqual({'chain', 'usage', 'format', 'empty', 'truncated', 'data', 'limit', 'shape'}, words)
        jobs.close()
        self.expect_problem(self.post('?chain=sobel:both&format=png', whole), 422, 'shape')
        daemon.expect_line('http request .*: failed: shape: several planes')

    def test_etag(self):
        """The same request gets the same tag, another one another; 304 for it, without a job."""
        daemon = self.serve('--max-pixels', '90MP')
        rgb = pictures.pnm(31, 17, pictures.noise(31, 17, 3), 3)
        tags, several = {}, '?chain=luminance;sobel:dx&format=pgm;npy'
        for query, body in (('?chain=sobel&format=pgm', rgb), ('?chain=sobel&format=pgm', rgb + b'.'), ('?chain=sobel&format=png', rgb),
                            ('?chain=sobel:scale=1&format=pgm', rgb), ('?chain=sobel&format=pgm&input=orient=0', rgb), (several, rgb),
                            (several + '&name=a;b', rgb), ('?chain=&format=pgm', b'P5\n1 1\n255\n8'), ('?chain=&format=pgm', b'P5\n1 1\n255\n9')):
            answer = self.post(query, body)
            self.assertEqual(answer.status, 200, answer.body)
            self.assertEqual(self.post(query, body).headers['ETag'], answer.headers['ETag'])
            tags[query, body] = answer.headers['ETag']
        self.assertEqual(len(set(tags.values())), len(tags))
        for header, status in (('%s', 304), ('"x", %s', 304), ('%s,"y"', 304), ('"x"', 200), ('*', 200)):
            for query in '?chain=sobel&format=pgm', several:
                tag = tags[query, rgb]
                done = daemon.metrics()['sluice_jobs_total{source="http",chain="sobel",result="done"}'] if query != several else 0
                for own in (tag, tag[2:]):
                    answer = self.post(query, rgb, headers={'If-None-Match': header % own if '%s' in header else header, 'X-Request-Id': 'mine'})
                    self.assertEqual((answer.status, answer.headers['X-Request-Id']), (status, 'mine'), header)
                    self.assertEqual(answer.headers['ETag'], tag)
                    self.assertEqual(answer.body == b'', status == 304)
                if status == 304 and query != several:
                    self.assertEqual(daemon.metrics()['sluice_jobs_total{source="http",chain="sobel",result="done"}'], done)
        # what workers are told of the configuration is a part of it
        daemon.stop()
        self.serve('--max-pixels', '80MP')
        self.assertNotEqual(self.post('?chain=sobel&format=pgm', rgb).headers['ETag'], tags['?chain=sobel&format=pgm', rgb])

    def test_configured_chains(self):
        """chains: configured: clients name chains, and write none; a reload changes it."""
        config, self.path, self.jobs = (os.path.join(self.dir, name) for name in ('named.yaml', 'http.sock', 'jobs.sock'))
        text = ('chains: {edges: sobel, soft: "box:radius=2"}\nlisten: {http: {unix: %s, chains: %s}, jobs: {unix: %s, chains: configured}}\n'
                'device: {select: reference}\n')
        with open(config, 'w', encoding='utf-8') as file:
            file.write(text % (self.path, 'configured', self.jobs))
        daemon = self.daemon()
        daemon.options = ['--config', config, '--state', daemon.state]
        daemon.start()
        self.assertEqual(self.post('?chain=edges&format=pgm', picture()).body, self.post('?chain=edges&format=pgm', picture()).body)
        self.assertEqual(self.post('?chain=edges;soft&format=pgm', picture()).status, 200)
        for chain in ('sobel', 'box:radius=2', '', 'edges;sobel', 'edges,invert', 'nothing'):
            problem = self.expect_problem(self.post('?chain=%s&format=pgm' % chain, picture()), 403, 'permission')
            self.assertIn('chains: configured', problem['detail'])
            self.assertIn('edges, soft', problem['detail'])
        jobs = sockets.Jobs(self.jobs)
        self.assertEqual(jobs.run(picture(), id=1, chain='edges', format='pgm')[0]['result'], 'ok')
        told = jobs.run(picture(), id=2, chain='sobel', format='pgm')[0]
        self.assertEqual(told['result'], 'permission')
        self.assertIn('edges, soft', told['text'])
        jobs.close()
        with open(config, 'w', encoding='utf-8') as file:
            file.write(text % (self.path, 'any', self.jobs))
        daemon.process.send_signal(signal.SIGHUP)
        wait_for('the reload', lambda: self.post('?chain=sobel&format=pgm', picture()).status == 200)

    def test_ids(self):
        """A request's own id, if it is sane, else a made one: in answers, in errors, and in lines of the log."""
        daemon = self.serve()
        for own in ('a', 'Root=1-67891233-abcdef;x', '7b0c1f6e-9d4c-4c3a-8a54-2f3f0c7d9a10', 'x' * 103):
            for answer in (self.get('/livez', headers={'X-Request-Id': own}), self.get('/nowhere', headers={'X-Request-Id': own}),
                           self.post('?chain=sobel', picture(), headers={'X-Request-Id': own}),
                           self.post('?chain=sobel', b'none', headers={'X-Request-Id': own})):
                self.assertEqual(answer.headers['X-Request-Id'], own)
                if answer.status >= 400:
                    self.assertEqual(answer.json()['request_id'], own)
        daemon.expect_line('sluiced: http request a: done in')
        daemon.expect_line('sluiced: http request a: failed: format: ')
        daemon.expect_line('sluiced: http request a: 404 not-found: there is nothing at /nowhere')
        made = set()
        for own in ('', 'x' * 104, 'a b', 'a"', '\xe4', None):
            answer = self.post('?chain=sobel', b'none', headers={'X-Request-Id': own} if own is not None else {})
            self.assertRegex(answer.headers['X-Request-Id'], '^[0-9a-f]+-[0-9a-f]+$')
            self.assertEqual(answer.json()['request_id'], answer.headers['X-Request-Id'])
            daemon.expect_line('http request %s: failed: ' % answer.headers['X-Request-Id'])
            made.add(answer.headers['X-Request-Id'])
        self.assertEqual(len(made), 6)
        jobs = sockets.Jobs(self.jobs)
        self.assertEqual(jobs.run(b'none', id=4711)[0]['id'], 4711)
        daemon.expect_line('sluiced: jobs request 4711 of process %d: failed: format: ' % os.getpid())
        jobs.close()

    def test_bodies_of_forms(self):
        """What curl -d and curl -F make of a picture is named, with what to say in their place."""
        self.serve()
        form, parts = ({'Content-Type': kind} for kind in ('application/x-www-form-urlencoded', 'multipart/form-data; boundary=x'))
        whole = picture(20, 20)
        for data, status in ((whole.replace(b'\n', b''), 415), (b'photo.jpg', 415), (b'P5 20 20 255 ' + bytes(300), 422)):
            answer = self.post('?chain=sobel', data, headers=form)
            self.assertEqual(answer.status, status)
            self.assertRegex(answer.json()['detail'], 'curl -d and --data take line ends out of a file: curl --data-binary @FILE$')
        self.assertRegex(self.post('', b'--x\r\n\r\n', headers=parts).json()['detail'], 'a form .curl -F.*--data-binary @FILE$')
        self.assertEqual(self.post('?chain=sobel', whole, headers=form).status, 200)  # --data-binary says the same type
        self.assertNotIn('curl', self.post('?chain=sobel', whole[:-9], headers=form).json()['detail'])
        self.assertNotIn('curl', self.post('?chain=crop:99:99', whole, headers=form).json()['detail'])

    def test_large_bodies(self):
        daemon = self.serve('--max-file', '1MiB')
        before = sockets.settled_descriptors(daemon)
        body = bytes(3 << 20)
        problem = self.expect_problem(self.post('?chain=sobel', body), 413, 'limit')
        self.assertEqual(problem['limit'], 'max_file')
        pieces = (bytes(1 << 16) for _ in range(48))
        self.expect_problem(self.post('?chain=sobel', pieces), 413, 'limit')
        got = sockets.raw(self.path, b'POST /v1/process?chain=sobel HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n'
                          b'Content-Length: 3000000\r\n\r\n')
        self.assertTrue(got.startswith(b'HTTP/1.1 413 '), got)
        got = sockets.raw(self.path, b'POST /v1/process?chain=sobel HTTP/1.1\r\nHost: x\r\n'
                          b'Content-Length: 99999999999\r\n\r\n')
        self.assertTrue(got.startswith(b'HTTP/1.1 413 '), got)
        self.expect_descriptors(daemon, before)

    def test_hostile_requests(self):
        daemon = self.serve()
        before = sockets.settled_descriptors(daemon)
        for data in (b'\0' * 5000, b'GET\r\n\r\n', b'GET / HTTP/9.9\r\n\r\n', b'\r\n' * 1000, b'GET /' + b'a' * 300000,
                     b'GET / HTTP/1.1\r\nHost: x\r\n' + b'X: y\r\n' * 100000,
                     b'POST /v1/process HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n\r\n',
                     b'POST /v1/process HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n'):
            try:
                sockets.raw(self.path, data, timeout=30, half_close=True)
            except (BrokenPipeError, ConnectionResetError):
                pass
        self.assertEqual(self.get('/livez').status, 200)
        self.expect_descriptors(daemon, before)

    def test_headers_that_leave_a_choice(self):
        """What a proxy in front may have read another way: one 400, and nothing behind it is read."""
        self.serve()
        for lines in ('Content-Length: 5\r\nContent-Length: 5', 'Content-Length: 5\r\nContent-Length: 6',
                      'Content-Length: 5\r\nTransfer-Encoding: chunked', 'Transfer-Encoding: chunked\r\nContent-Length: 5',
                      'Content-Length: 5\r\nHost: y'):
            for line in ('POST /v1/process?chain=sobel', 'GET /livez'):
                request = '%s HTTP/1.1\r\nHost: x\r\n%s\r\n\r\n' % (line, lines)
                answer = sockets.raw(self.path, request.encode() + b'0\r\n\r\nGET /livez HTTP/1.1\r\nHost: x\r\n\r\n', timeout=10)
                self.assertEqual(answer.count(b'HTTP/1.1 '), 1, answer)
                self.assertTrue(answer.startswith(b'HTTP/1.1 400 '), answer)
        self.assertEqual(self.get('/livez').status, 200)

    def test_crashed_worker_and_job_time(self):
        self.serve('--job-time', '1s', '--jobs', '1', fake=True)
        self.expect_problem(self.post('?chain=sobel', b'poison'), 500, 'crashed-worker')
        self.expect_problem(self.post('?chain=sobel', b'hang'), 504, 'job-time')
        self.assertEqual(self.post('?chain=sobel', b'and still').body, b'and still')

    def test_trouble_that_passes(self):
        self.serve(fake=True)
        self.assertEqual(self.post('?chain=sobel', b'full').body, b'full')

    def test_device_that_is_not_there(self):
        """A worker that never comes up: the daemon says so while it tries."""
        log = os.path.join(self.dir, 'fake-log')
        with open(log + '.starts', 'w', encoding='utf-8') as file:
            file.write('crash\n')
        daemon = self.serve(fake=True, ready=False)

        def asked():
            try:
                return self.get('/readyz')
            except (FileNotFoundError, ConnectionRefusedError):  # it is there before somebody listens
                return None
        answer = wait_for('an answer', asked)
        if answer.status != 200:
            self.expect_problem(answer, 503, answer.json()['code'])
            self.assertIn(answer.json()['code'], ('starting', 'no-device'))
            self.assertEqual(answer.headers['Retry-After'], '1')
        self.assertEqual(self.get('/livez').status, 200)
        daemon.expect_line('sluiced: ready$')

    def test_queue_full(self):
        daemon = self.serve('--jobs', '1', fake=True)
        clients, n = [], 0
        for _ in range(4):
            client = sockets.Jobs(self.jobs)
            clients.append(client)
            for i in range(64):
                fd = sockets.memory(b'hang')
                client.send([fd], id=i, chain='sobel', format='png')
                os.close(fd)
                n += 1
        wait_for('a full queue', lambda: self.get('/v1/status').json()['queue']['of_clients'] == 256)
        answer = self.post('?chain=sobel', b'x')
        self.expect_problem(answer, 429, 'busy')
        self.assertGreaterEqual(int(answer.headers['Retry-After']), 1)
        self.assertEqual(self.get('/livez').status, 200)
        for client in clients:
            client.close()
        wait_for('room', lambda: self.get('/v1/status').json()['queue']['of_clients'] <= 1)
        daemon.process.kill()

    def test_draining(self):
        daemon = self.serve('--jobs', '1', fake=True)
        connection = sockets.Http(self.path)
        connection.request('GET', '/livez')
        connection.getresponse().read()
        thread = threading.Thread(target=lambda: self.results_of.append(self.post('?chain=sobel', b'slow')))
        self.results_of = []
        thread.start()
        wait_for('work', lambda: len(self.fake_log()) == 1)
        daemon.process.terminate()
        daemon.expect_line('SIGTERM')
        connection.request('POST', '/v1/process?chain=sobel', b'x')
        self.expect_problem(sockets.Answer(connection.getresponse()), 503, 'busy')
        connection.close()
        thread.join()
        self.assertEqual(self.results_of[0].body, b'slow')  # what ran was finished and told
        daemon.wait()


class Clients(HttpTest):
    def test_slow_header_and_body(self):
        daemon = self.serve()
        before = sockets.settled_descriptors(daemon)
        begin = time.monotonic()
        slow_header = sockets.connect(self.path)
        slow_body = sockets.connect(self.path)
        slow_body.sendall(b'POST /v1/process?chain=sobel HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n')
        ends, deadline = {}, time.monotonic() + 20
        slow_header.settimeout(0.5)
        slow_body.settimeout(0.5)
        while len(ends) < 2 and time.monotonic() < deadline:
            for name, sock, byte in (('header', slow_header, b'G'), ('body', slow_body, b'x')):
                if name in ends:
                    continue
                try:  # a byte now and then puts nothing off
                    sock.send(byte)
                except OSError:
                    pass
                try:
                    got = sock.recv(65536)
                    ends[name] = (got, time.monotonic() - begin)
                except TimeoutError:
                    pass
        for name in ('header', 'body'):
            self.assertIn(name, ends)
            self.assertTrue(ends[name][0].startswith(b'HTTP/1.1 408 '), ends[name])
            self.assertIn(b'"code":"timeout"', ends[name][0])
            self.assertRegex(ends[name][0], b'\r\nX-Request-Id: [0-9a-f]+-[0-9a-f]+\r\n')
            limit = {'header': b'the header did not come within 5s"',
                     'body': b'the body came too slowly: [0-9]+B in 5s, and from 5s on at least 1KiB/s must come"'}
            self.assertRegex(ends[name][0], limit[name])
            self.assertGreater(ends[name][1], 4)
            self.assertLess(ends[name][1], 9)
        slow_header.close()
        slow_body.close()
        self.expect_descriptors(daemon, before)

    def test_too_many_connections(self):
        daemon = self.serve()
        before = sockets.settled_descriptors(daemon)
        held, most = [], resource.getrlimit(resource.RLIMIT_NOFILE)
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, most)
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(4096, most[1]), most[1]))
        while len(held) < 2100:
            try:
                held.append(sockets.connect(self.path))
            except BlockingIOError:  # they come faster than they are accepted
                time.sleep(0.01)
        wait_for('some are refused', lambda: any(b' 503 ' in self.peek(sock) for sock in held), 20)
        for sock in held:
            sock.close()
        wait_for('room', lambda: self.try_livez())
        self.expect_descriptors(daemon, before)

    @staticmethod
    def peek(sock):
        try:
            return sock.recv(200, socket.MSG_DONTWAIT | socket.MSG_PEEK)
        except BlockingIOError:
            return b''

    def try_livez(self):
        try:
            return self.get('/livez').status == 200
        except OSError:
            return False

    def test_many_at_once(self):
        self.serve()
        wanted = [self.by_sluice_run(picture(seed=i))[''] for i in range(4)]
        results, threads = {}, []

        def work(i):
            results[i] = self.post('?chain=sobel&format=pgm', picture(seed=i % 4)).body
        for i in range(60):
            threads.append(threading.Thread(target=work, args=(i,)))
            threads[-1].start()
        for thread in threads:
            thread.join()
        for i in range(60):
            self.assertEqual(results[i], wanted[i % 4])

    def test_client_that_goes_away(self):
        daemon = self.serve('--jobs', '1', '--job-time', '3s', fake=True)
        before = sockets.settled_descriptors(daemon)
        head = b'POST /v1/process?chain=sobel HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\n'
        first = sockets.connect(self.path)
        first.sendall(head + b'hang')
        wait_for('work', lambda: self.fake_log() == ['hang'])
        waiting = [sockets.connect(self.path) for _ in range(20)]
        for sock in waiting:
            sock.sendall(head + b'slow')
        wait_for('they wait', lambda: self.get('/v1/status').json()['queue']['of_clients'] == 21)
        for sock in waiting:
            sock.close()
        wait_for('they are cancelled', lambda: self.get('/v1/status').json()['queue']['of_clients'] == 1)
        first.close()
        wait_for('nothing is left', lambda: self.get('/v1/status').json()['queue']['of_clients'] == 0, 20)
        self.assertEqual(self.fake_log(), ['hang'])  # no other was begun
        self.expect_descriptors(daemon, before)

    def test_client_that_goes_away_in_the_middle(self):
        daemon = self.serve()
        before = sockets.settled_descriptors(daemon)
        for part in (b'POST /v1/process?chain=sobel HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n' + b'x' * 500,
                     b'POST /v1/pro'):
            for _ in range(20):
                sock = sockets.connect(self.path)
                sock.sendall(part)
                sock.close()
        self.expect_descriptors(daemon, before)


class Sockets(HttpTest):
    def test_left_in_a_process_that_begins(self):
        """A child of a daemon that was killed has its sockets until it becomes another program."""
        with socket.socket(socket.AF_UNIX) as left:
            left.bind(os.path.join(self.dir, 'http.sock'))
            left.listen(8)
            threading.Timer(0.3, left.close).start()
            self.serve()
            self.assertEqual(self.get('/livez').status, 200)

    def test_stale_taken_and_wrong_paths(self):
        path = os.path.join(self.dir, 'http.sock')
        left = socket.socket(socket.AF_UNIX)
        left.bind(path)
        left.close()  # nobody listens there any more
        daemon = self.serve()
        self.assertEqual(self.get('/livez').status, 200)
        second = Daemon(self, '--http-socket', path, '--device', 'reference', state='state2')
        second.start(ready=False)
        self.assertIn('somebody listens there already', second.wait(73))
        self.assertEqual(self.get('/livez').status, 200)
        daemon.stop()
        plain = os.path.join(self.dir, 'plain')
        with open(plain, 'w', encoding='ascii') as file:
            file.write('mine')
        third = Daemon(self, '--http-socket', plain, '--device', 'reference')
        third.start(ready=False)
        self.assertIn('no socket', third.wait(73))
        long = Daemon(self, '--jobs-socket', '/tmp/' + 'x' * 200, '--device', 'reference')
        long.start(ready=False)
        self.assertIn('107 bytes', long.wait(73))


main()
