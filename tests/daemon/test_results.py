#!/usr/bin/env python3
"""What comes out: results, their names, originals, and the reasons of failures."""
import io
import json
import os
import re
import struct
import subprocess
import time
import zipfile
import zlib

import sockets
from sluice_test import SLUICE, SLUICED, DaemonTest, main, picture, pictures, wait_for


class Results(DaemonTest):
    def test_same_bytes_as_sluice_run(self):
        inputs = {'grey': picture(61, 43, 1), 'one': picture(1, 1, 2), 'wide': picture(997, 3, 3),
                  'deep': pictures.pnm(31, 17, pictures.noise(31, 17, maxval=65535), maxval=65535),
                  'rgb': pictures.pnm(53, 29, pictures.noise(53, 29, 3), 3),
                  'text': b'P2\n# a comment\n3 2\n9\n0 1 2 3 4 9\n'}
        for chain, form in (('luminance,sobel', 'pgm'), ('sobel:scale=1', 'ppm'), ('', 'pgm:ascii=1'),
                            ('luminance:bt709', 'pnm')):
            d = self.start(chain=chain, form=form, out='out-%d' % len(os.listdir(self.dir)))
            extension = form.split(':')[0]
            for name, data in inputs.items():
                d.drop(name + '.img', data)
            d.expect_all('%s.%s' % (name, extension) for name in inputs)
            for name, data in inputs.items():
                self.assertEqual(d.result('%s.%s' % (name, extension)),
                                 self.by_sluice_run(data, chain, form)[''], (chain, form, name))
            d.stop()

    def test_reference_device(self):
        data = picture(50, 40)
        d = self.start('--device', 'reference')
        d.drop('a.pgm', data)
        self.assertEqual(d.expect('a.pgm'), self.by_sluice_run(data)[''])
        log = d.stop()
        self.assertIn('is up after', log)
        self.assertIn('no device', log)

    def test_planes_get_files_of_their_own(self):
        data = picture(45, 33)
        expected = self.by_sluice_run(data, 'sobel:out=both', 'pgm')
        self.assertEqual(sorted(expected), ['dx', 'dy'])
        d = self.start(chain='sobel:out=both')
        d.drop('a.pgm', data)
        d.expect_all(['a.dx.pgm', 'a.dy.pgm'])
        for plane, bytes_ in expected.items():
            self.assertEqual(d.result('a.%s.pgm' % plane), bytes_)
        d.expect_done('a.pgm')
        d.expect_line('a.pgm: done in .*: a.dx.pgm, a.dy.pgm')
        self.assertEqual(d.results(), ['a.dx.pgm', 'a.dy.pgm'])
        d.stop()
        d.expect_clean()

    def test_once(self):
        """--once: what is in the folders, what comes meanwhile, and the end."""
        d = self.daemon('--once', '--stable', '100ms')
        for i in range(40):
            d.drop('%d.pgm' % i, picture(seed=i))
        d.drop('empty.pgm', b'')
        d.start(ready=False)
        d.wait(0)
        self.assertEqual(len(d.results()), 40)
        self.assertEqual(len(d.done()), 40)
        d.expect_clean()
        d.start(ready=False) # nothing is left
        d.wait(0)
        d.drop('bad.pgm', b'nonsense')
        d.drop('good.pgm', picture(seed=99))
        d.start(ready=False)
        d.wait(1)
        self.assertEqual(d.failed(), ['bad.pgm', 'bad.pgm.error.json'])
        self.assertIn('all files are done: 1 done, 1 failed', d.log())
        lost = self.daemon('--once', '--stable', '100ms', out='lost')
        lost.options[lost.options.index('--output') + 1] = '/dev/null/nowhere'
        lost.drop('a.pgm', picture())
        lost.start(ready=False)
        lost.wait(74)
        self.assertIn('a.pgm', os.listdir(lost.input))
        none = subprocess.run([SLUICED, '--once', '--http-socket', os.path.join(self.dir, 'h.sock'), '--state', d.state],
                              capture_output=True, text=True, check=False)
        self.assertEqual(none.returncode, 64)
        self.assertIn('--once: there is no folder', none.stderr)

    def test_several(self):
        """Several results of each picture, each with its chain, format, name and folder: all or none, decoded once, and
        told one by one."""
        config, http, jobs = (os.path.join(self.dir, name) for name in ('several.yaml', 'http.sock', 'jobs.sock'))
        watch, out = os.path.join(self.dir, 'in'), os.path.join(self.dir, 'out')
        with open(config, 'w', encoding='utf-8') as file:
            file.write('chains: {edges: "luminance,sobel"}\nwatch:\n  - {input: %s, output: %s, format: pgm, outputs: [\n'
                       '    {chain: edges, folder: e/f}, {chain: "luminance,box:radius=2", name: "{stem}-soft.{ext}"},\n'
                       '    {chain: "luminance,sobel:out=both", name: "{stem}-s.{ext}"}, {chain: "crop:8:0:40:30", format: png}]}\n' % (watch, out))
        d = self.daemon()
        d.options = ['--config', config, '--state', d.state, '--http-socket', http, '--jobs-socket', jobs]
        d.start()
        data = picture(64, 48)
        d.drop('a.pgm', data)
        expected = {'e/f/a.pgm': ('luminance,sobel', 'pgm', ''), 'a-soft.pgm': ('luminance,box:radius=2', 'pgm', ''),
                    'a-s.dx.pgm': ('luminance,sobel:out=both', 'pgm', 'dx'), 'a.png': ('crop:8:0:40:30', 'png', ''),
                    'a-s.dy.pgm': ('luminance,sobel:out=both', 'pgm', 'dy')}
        d.expect_done('a.pgm')
        for name, (chain, form, plane) in expected.items():
            self.assertEqual(d.result(name), self.by_sluice_run(data, chain, form)[plane], name)
        d.expect_done('a.pgm')
        d.expect_line('a.pgm: done in .*: e/f/a.pgm, a-soft.pgm, a-s.dx.pgm, a.png, a-s.dy.pgm')
        why = json.loads(subprocess.run([SLUICE, 'why', '--json', os.path.join(watch, 'a.pgm')], capture_output=True, check=True, env={**os.environ, 'SLUICE_JOBS_SOCKET': jobs}).stdout)
        self.assertEqual([(os.path.relpath(r['path'], out), r['exists']) for r in why['results']], [(name, True) for name in list(expected)[:4]])
        for name in ('e/f/a.pgm', 'a.png'):
            why = json.loads(subprocess.run([SLUICE, 'why', '--json', os.path.join(out, name)], capture_output=True, check=True, env={**os.environ, 'SLUICE_JOBS_SOCKET': jobs}).stdout)
            self.assertEqual((why['state'], why['folder'], why['name']), ('done', watch, 'a.pgm'))
        # one that cannot be: none is published, and it is named
        d.drop('b.pgm', picture(20, 48))
        reason = d.expect_failed('b.pgm')
        self.assertRegex(reason['message'], '^result 4: crop')
        metrics = sockets.ask(http, 'GET', '/metrics').body.decode()
        self.assertIn('\nsluice_results_total{source="watch",chain="edges"} 1\n', metrics)
        d.stop()
        self.assertEqual(d.results(), ['a-s.dx.pgm', 'a-s.dy.pgm', 'a-soft.pgm', 'a.png', 'e'])
        d.expect_clean()

    def test_npz_holds_all_planes(self):
        data = picture(45, 33)
        d = self.start(chain='sobel:out=both', form='npz')
        d.drop('a.pgm', data)
        d.expect_all(['a.npz'])
        with zipfile.ZipFile(io.BytesIO(d.result('a.npz'))) as archive:
            self.assertEqual(archive.namelist(), ['dx.npy', 'dy.npy', 'meta.json'])
            self.assertIsNone(archive.testzip())
        d.expect_done('a.pgm')
        d.stop()
        d.expect_clean()

    def test_many_planes_of_many_jobs(self):
        d = self.start(chain='sobel:out=both')
        names = ['%02d' % i for i in range(60)]
        for i, name in enumerate(names):
            d.drop(name + '.pgm', picture(seed=i))
        d.expect_all('%s.%s.pgm' % (name, plane) for name in names for plane in ('dx', 'dy'))
        for i in (0, 31, 59):
            expected = self.by_sluice_run(picture(seed=i), 'sobel:out=both')
            self.assertEqual(d.result('%02d.dy.pgm' % i), expected['dy'])
        d.stop()
        d.expect_clean()

    def test_as_many_planes_as_there_may_be(self):
        d = self.fake().start()
        d.drop('a', b'planes 256')
        d.expect_all('a.p%d.pgm' % i for i in range(256))
        self.assertEqual(d.result('a.p255.pgm'), b'planes 256 p255')
        d.expect_done('a')
        d.stop()
        d.expect_clean()

    def test_results_appear_whole(self):
        """Nobody who reads OUT sees less than all of a result."""
        d = self.start()
        data = picture(1500, 1500)
        size, seen = None, 0
        d.drop('a.pgm', data)
        path = os.path.join(d.output, 'a.pgm')
        wait_for('the result', lambda: os.path.exists(path), pause=0)
        size = os.path.getsize(path)
        expected = self.by_sluice_run(data)['']
        self.assertEqual(size, len(expected))
        self.assertEqual(d.result('a.pgm'), expected)
        self.assertEqual(seen, 0)
        d.stop()


class Names(DaemonTest):
    def test_number_where_the_result_exists(self):
        d = self.start()
        for i in range(3):
            d.drop('a.pgm', picture(seed=i))
            wait_for('original %d' % i, lambda n=i + 1: len(d.done()) == n)
        d.drop('a.ppm', pictures.pnm(3, 3, pictures.noise(3, 3, 3), 3))  # another input, the same result
        wait_for('the fourth', lambda: len(d.done()) == 4)
        self.assertEqual(d.results(), ['a-1.pgm', 'a-2.pgm', 'a-3.pgm', 'a.pgm'])
        self.assertEqual(d.done(), ['a-1.pgm', 'a-2.pgm', 'a.pgm', 'a.ppm'])
        for i, name in enumerate(('a.pgm', 'a-1.pgm', 'a-2.pgm')):
            self.assertEqual(d.result(name), self.by_sluice_run(picture(seed=i))[''])
        d.stop()

    def test_planes_keep_together(self):
        d = self.daemon(chain='sobel:out=both')
        with open(os.path.join(d.output, 'a.dy.pgm'), 'wb') as file:
            file.write(b'somebody else')
        d.drop('a.pgm', picture())
        d.start()
        d.expect_done('a.pgm')
        self.assertEqual(d.results(), ['a-1.dx.pgm', 'a-1.dy.pgm', 'a.dy.pgm'])
        self.assertEqual(d.result('a.dy.pgm'), b'somebody else')
        d.stop()

    def test_hundreds_of_one_name(self):
        d = self.fake('--jobs', '1').start()
        for i in range(120):
            d.drop('same.pgm', b'%d' % i)
            wait_for('original %d' % i, lambda n=i + 1: len(d.done()) == n)
        self.assertEqual(len(d.results()), 120)
        self.assertEqual(d.result('same-119.pgm'), b'119')
        d.stop()

    def test_number_among_the_failed(self):
        d = self.start()
        for i in range(3):
            d.drop('bad.pgm', b'nothing %d' % i)
            wait_for('failure %d' % i, lambda n=i + 1: len(d.failed()) == 2 * n)
        self.assertEqual(d.failed(), ['bad-1.pgm', 'bad-1.pgm.error.json', 'bad-2.pgm',
                                      'bad-2.pgm.error.json', 'bad.pgm', 'bad.pgm.error.json'])
        with open(os.path.join(d.hidden, 'failed', 'bad-2.pgm'), 'rb') as file:
            self.assertEqual(file.read(), b'nothing 2')
        self.assertEqual(d.expect_failed('bad-2.pgm')['file'], 'bad.pgm')
        d.stop()


class Failures(DaemonTest):
    def test_bad_pictures_and_their_neighbours(self):
        d = self.start('--max-pixels', '1MP', '--max-file', '100kB')
        bad = {'garbage.pgm': (b'no picture at all', 'format', 'decode'),
               'damaged.pgm': (b'P5\n10 x\n255\n', 'data', 'decode'),
               'large.pgm': (b'P5\n10000 10000\n255\n' + bytes(100), 'limit', 'decode'),
               'long.pgm': (b'P5\n' + bytes(200000), 'limit', 'read')}
        for i, (name, (data, _, _)) in enumerate(bad.items()):
            d.drop('good-%d.pgm' % i, picture(seed=i))
            d.drop(name, data)
        d.expect_all('good-%d.pgm' % i for i in range(len(bad)))
        for name, (data, code, step) in bad.items():
            reason = d.expect_failed(name)
            self.assertEqual((reason['code'], reason['stage'], reason['file']), (code, step, name), reason)
            self.assertEqual((reason['chain'], reason['format'], reason['attempts']), ('sobel', 'pgm', 1))
            self.assertTrue(reason['message'])
            self.assertRegex(reason['time'], r'^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ$')
            with open(os.path.join(d.hidden, 'failed', name), 'rb') as file:
                self.assertEqual(file.read(), data)
        self.assertIn('--max-pixels', d.expect_failed('large.pgm')['message'])
        self.assertIn('--max-file', d.expect_failed('long.pgm')['message'])
        log = d.stop()
        self.assertEqual(len(re.findall(r': failed: ', log)), len(bad))
        d.expect_clean()

    def convert(self, form):
        return self.by_sluice_run(pictures.pnm(64, 48, pictures.noise(64, 48, 3), 3), '', form)['']

    def test_damaged_files_of_each_kind(self):
        png, jpg = self.convert('png'), self.convert('jpg')
        flipped = bytearray(png)
        flipped[png.index(b'IDAT') + 40] ^= 4  # the chunk's checksum is wrong now
        scan = jpg.index(b'\xff\xda')
        body = b'IHDR' + struct.pack('>IIBBBBB', 0x7fffffff, 0x7fffffff, 16, 6, 0, 0, 0)
        bomb = png[:12] + body + struct.pack('>I', zlib.crc32(body)) + png[33:]
        bad = {'flipped.png': (bytes(flipped), 'data'),
               'header-flipped.jpg': (jpg[:scan + 4] + b'\x7f' + jpg[scan + 5:], 'data'),
               'cut.jpg': (jpg[:len(jpg) // 2], 'truncated'),
               'cut.png': (png[:len(png) // 2], 'truncated'),
               'absurd.png': (bomb, 'limit'),
               'letter.jpg': (b'Dear Sir, this is no picture.\n', 'format'),
               'zeros.png': (bytes(5000), 'format')}
        d = self.start(chain='luminance,sobel', form='png')
        for i, (name, (data, _)) in enumerate(bad.items()):
            d.drop('before-%d.jpg' % i, jpg)
            d.drop(name, data)
            d.drop('after-%d.jpg' % i, png)  # a PNG with a JPEG's name: what counts is the content
        d.expect_all('%s-%d.png' % (when, i) for i in range(len(bad)) for when in ('before', 'after'))
        for name, (data, code) in bad.items():
            reason = d.expect_failed(name)
            self.assertEqual((reason['code'], reason['stage']), (code, 'decode'), reason)
            self.assertTrue(reason['message'] and '\n' not in reason['message'], reason)
        for when, data in (('before', jpg), ('after', png)):
            expected = self.by_sluice_run(data, 'luminance,sobel', 'png')['']
            for i in range(len(bad)):
                self.assertEqual(d.result('%s-%d.png' % (when, i)), expected)
        self.assertEqual(d.report()['starts'], 1)
        log = d.stop()
        self.assertEqual(len(re.findall(r': failed: ', log)), len(bad))
        self.assertEqual(len(d.results()), 2 * len(bad))
        d.expect_clean()

    def test_how_to_read(self):
        """--input is the same as that of `sluice run`."""
        jpg = self.convert('jpg')
        d = self.start('--input', 'partial=1', chain='')
        d.drop('cut.jpg', jpg[:len(jpg) * 3 // 4])
        whole = pictures.read_pnm(self.by_sluice_run(jpg, '', 'ppm')[''])
        self.assertEqual(pictures.read_pnm(d.expect('cut.pgm'))[:2], whole[:2])
        d.stop()
        frame = bytes(range(48))
        d = self.start('--input', 'raw=gray8:w=8:h=6', chain='', out='frames')
        d.drop('frame.raw', frame)
        self.assertEqual(d.expect('frame.pgm'), b'P5\n8 6\n255\n' + frame)
        d.stop()

    def test_odd_pictures(self):
        """They are read, and the log has what the decoder says of them; strict=1 refuses them."""
        d = self.start(chain='')
        d.drop('odd.png', pictures.odd_png())
        d.expect('odd.pgm')
        for warning in pictures.ODD_PNG_WARNINGS:
            d.expect_line('odd.png: warning: ' + warning)
        d.stop()
        d = self.start('--input', 'strict=1', chain='', out='strict')
        d.drop('odd.png', pictures.odd_png())
        self.assertIn('tEXt: CRC error', d.expect_failed('odd.png')['message'])
        d.stop()

    def test_a_picture_that_the_chain_cannot_take(self):
        d = self.start(chain='sobel:border=crop')
        d.drop('tiny.pgm', picture(1, 1))
        self.assertEqual(d.expect_failed('tiny.pgm')['stage'], 'plan')
        self.assertEqual(d.expect_failed('tiny.pgm')['code'], 'shape')
        d.stop()

    def test_what_passes_by_itself_is_tried_again(self):
        d = self.fake().start()
        begin = time.monotonic()
        d.drop('a', b'full')
        self.assertEqual(d.expect('a.pgm'), b'full')
        self.assertGreater(time.monotonic() - begin, 5.9)  # 1 s, then 5 s
        self.assertEqual(self.fake_log(), ['full'] * 3)
        d.expect_line('No space left on device; tried again in 1s')
        self.assertEqual(d.failed(), [])
        d.stop()
        d.expect_clean()

    def test_a_worker_that_lies_about_its_results(self):
        d = self.fake().start()
        d.drop('a', b'lies')
        d.expect_line('wrote 1 results and speaks of 2; tried again in 1s')
        d.drop('b', b'good')
        d.expect('b.pgm')
        d.stop()
        self.assertEqual(d.results(), ['b.pgm'])
        d.expect_clean()

    def test_a_worker_that_names_a_plane_twice(self):
        """Two results of one name would push each other from number to number for ever."""
        d = self.fake('--jobs', '1').start()
        d.drop('a', b'twins')
        d.expect_line("the worker is killed: message 'done': planes holds a name twice")
        self.assertEqual(d.expect_failed('a')['code'], 'crashed-worker')
        d.stop()
        self.assertEqual(d.results(), [])
        d.expect_clean()

    def test_a_worker_that_asks_without_end(self):
        d = self.fake('--jobs', '1').start()
        d.drop('a', b'greedy')
        d.expect_line('the worker asks for more than 256 outputs of one job: it is killed')
        self.assertEqual(d.expect_failed('a')['code'], 'crashed-worker')
        d.drop('b', b'planes 256')
        d.expect('b.p255.pgm')
        d.stop()  # and with it all that was logged has been read
        self.assertEqual(d.count_lines('more than 256 outputs'), 2)
        self.assertEqual(len(d.results()), 256)
        d.expect_clean()

    def test_a_worker_that_talks_nonsense(self):
        d = self.fake('--jobs', '1').start()
        d.drop('a', b'nonsense')
        d.expect_line('the worker is killed: a message that is no JSON')
        self.assertEqual(d.expect_failed('a')['code'], 'crashed-worker')
        d.drop('b', b'good')
        d.expect('b.pgm')
        d.stop()

    def test_a_worker_that_keeps_its_output(self):
        """Nothing is placed that it could still change: the file fails, and the worker is killed."""
        d = self.fake('--jobs', '1').start()
        for how in ('keep', 'map'):
            d.drop(how, how.encode())
            reason = d.expect_failed(how)
            self.assertEqual((reason['code'], reason['stage'], reason['attempts']), ('crashed-worker', 'worker', 1))
            self.assertIn('kept a result open', reason['message'])
        self.assertEqual(d.results(), [])
        wait_for('what is told', lambda: d.count_lines('kept a result open .*: it is killed') == 2)
        d.drop('slow', b'slow-close')
        d.expect('slow.pgm')
        d.stop()
        d.expect_clean()

    def test_a_worker_that_keeps_a_clients_result(self):
        path = os.path.join(self.dir, 'jobs.sock')
        d = self.fake('--jobs', '1', '--jobs-socket', path).start()
        client = sockets.Jobs(path)
        self.addCleanup(client.close)
        fd = sockets.memory(b'map')
        client.send([fd], id=1, chain='sobel')
        message, result = client.receive()
        self.assertEqual((message['result'], result), ('crashed-worker', None))
        self.assertIn('kept a result open', message['text'])
        d.expect_line('kept a result open .*: it is killed')
        fd = sockets.memory(b'keep')  # sealed, so its descriptor is of no use
        client.send([fd], id=2, chain='sobel')
        message, result = client.receive()
        self.assertEqual(message['result'], 'ok')
        self.assertEqual(sockets.fcntl.fcntl(result, 1034) & 15, 15) # F_GET_SEALS
        first = os.pread(result, 4, 0)
        time.sleep(0.2)
        self.assertEqual(os.pread(result, 4, 0), first)
        os.close(result)
        d.process.kill()

    def test_a_worker_that_talks_without_end(self):
        """Whatever nobody asked for: a few lines of the log, and it is killed."""
        d = self.fake('--jobs', '1').start()
        more = ['began', 'described', 'kept', 'moved', 'working', 'ping'] if os.environ.get('SLUICE_LONG') else []
        for what in ['job', 'pong', 'checked'] + more: # each next worker starts later
            before = len(d.lines)
            d.drop(what, b'babble ' + what.encode())
            self.assertEqual(d.expect_failed(what)['code'], 'crashed-worker')
            self.assertLess(len(d.lines) - before, 100, what) # two workers, and their starts
        d.drop('b', b'good')
        d.expect('b.pgm')
        d.stop()


if __name__ == '__main__':
    main()
