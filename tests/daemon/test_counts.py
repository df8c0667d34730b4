#!/usr/bin/env python3
"""Crossings to the device and copied bytes, wherever they are reported, agree with OpenCL's calls: one layer refuses
to map, so that the device layer copies, and another one records what it copies."""
import json
import os
import re
import subprocess

from sluice_test import SLUICE, DaemonTest, main, picture, pictures, wait_for
import sockets

LAYERS = ':'.join((os.environ['CL_TRACE'], os.environ['CL_LAYER']))
REFUSED = {'CL_MAP_FAILURE': -12, 'CL_INVALID_OPERATION': -59}
WIDTH, HEIGHT = 61, 43  # odd, so that rows are padded in the device's memory
ROW = 64 * 4  # at most: the bytes of a row of three channels, padded to 64


class Counts(DaemonTest):
    def setUp(self):
        super().setUp()
        self.trace = os.path.join(self.dir, 'trace')
        if subprocess.run([SLUICE, 'devices'], capture_output=True, check=False).returncode != 0:
            self.skipTest('no OpenCL device')

    def env(self, error):
        """Of a process whose OpenCL refuses to map with this error; None: it maps."""
        env = {'OPENCL_LAYERS': LAYERS, 'SLUICE_CL_TRACE': self.trace}
        if error:
            env['SLUICE_FAULT_CL'] = 'clEnqueueMapBuffer:1+:%d' % error
        return env

    def copied(self):
        """Bytes by OpenCL's function, since the last time."""
        sums = {}
        with open(self.trace, encoding='ascii') as file:
            for words in map(str.split, file):
                if words[0] == 'copy':
                    sums[words[1]] = sums.get(words[1], 0) + int(words[2])
        os.truncate(self.trace, 0)
        return sums

    def write(self, name, data):
        path = os.path.join(self.dir, name)
        with open(path, 'wb') as file:
            file.write(data)
        return path

    def rgb(self):
        return pictures.pnm(WIDTH, HEIGHT, pictures.noise(WIDTH, HEIGHT, 3), 3)

    def sluice(self, *arguments, error=None, status=0):
        done = subprocess.run([SLUICE, *arguments], capture_output=True, cwd=self.dir, check=False,
                              env=dict(os.environ, **self.env(error)))
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def check_copies(self, file, error):
        """What a report says against what OpenCL saw."""
        copied = self.copied()
        self.assertEqual((file['crossings_in'], file['crossings_out']), (1, 1))
        self.assertEqual(file['bytes_copied'], sum(copied.values()))
        if error:
            self.assertEqual(set(copied), {'clEnqueueWriteBuffer', 'clEnqueueReadBuffer'})
            self.assertTrue(WIDTH * HEIGHT * 3 <= copied['clEnqueueWriteBuffer'] <= ROW * HEIGHT, copied)
            self.assertTrue(WIDTH * HEIGHT <= copied['clEnqueueReadBuffer'] <= ROW * HEIGHT, copied)
        else:
            self.assertEqual(copied, {})


class Run(Counts):
    def test_report(self):
        self.write('in.ppm', self.rgb())
        results = []
        for error in (None, *REFUSED.values()):
            done = self.sluice('run', '--json', '-c', 'luminance,sobel', '-o', 'out.pgm', 'in.ppm', error=error)
            self.check_copies(json.loads(done.stdout)['files'][0], error)
            with open(os.path.join(self.dir, 'out.pgm'), 'rb') as file:
                results.append(file.read())
        self.assertEqual(results[1:], results[:-1])

    def test_it_is_told_once(self):
        for i in range(4):
            self.write('%d.ppm' % i, self.rgb())
        for name, error in REFUSED.items():
            done = self.sluice('run', '-c', 'luminance,sobel', '-o', 'out/', *['%d.ppm' % i for i in range(4)],
                               error=error)
            self.assertRegex(done.stderr.decode(), r'(?m)^sluice: device .* does not map its memory \(%s\)' % name)
            self.assertEqual(done.stderr.count(b'map'), 1)

    def test_other_chains(self):
        """One buffer for input and result; tables, which are written once and are no pixels; several planes."""
        self.write('in.ppm', self.rgb())
        for chain in ('invert', 'fir:identity,invert', 'dwt:db4:levels=2,idwt', 'sobel:both'):
            files = []
            for error in (None, -12):
                done = self.sluice('run', '--json', '--verify', '-c', chain, '-o', 'out.npz', 'in.ppm', error=error)
                files.append(json.loads(done.stdout)['files'][0])
                self.assertEqual((files[-1]['crossings_in'], files[-1]['crossings_out']), (1, 1))
                with open(os.path.join(self.dir, 'out.npz'), 'rb') as file:
                    files[-1]['bytes'] = file.read()
            self.assertEqual(files[0]['bytes'], files[1]['bytes'], chain)
            self.assertGreater(files[1]['bytes_copied'], files[0]['bytes_copied'])

    def test_timing_and_bench(self):
        self.write('in.ppm', self.rgb())
        done = self.sluice('run', '--timing', '-c', 'luminance,sobel', '-o', 'out.pgm', 'in.ppm', error=-12)
        told = 'handed to the device 1×, back 1×; copied by the host %d bytes' % sum(self.copied().values())
        self.assertIn(told, done.stdout.decode())
        for error in (None, -12):
            done = self.sluice('bench', '--json', '--iterations', '1', '-c', 'luminance,sobel', '-f', 'pgm',
                               '--end-to-end', 'in.ppm', error=error)
            for row in json.loads(done.stdout)['rows']:
                self.assertEqual((row['crossings_in'], row['crossings_out']), (1, 1))
                self.assertEqual(row['bytes_copied'] > 0, error is not None)

    def test_references_and_conversions(self):
        """Nothing goes to a device."""
        self.write('in.ppm', self.rgb())
        for options in (('--device', 'reference', '-c', 'sobel'), ()):
            done = self.sluice('run', '--json', *options, '-o', 'out.png', 'in.ppm')
            file = json.loads(done.stdout)['files'][0]
            self.assertEqual((file['crossings_in'], file['crossings_out'], file['bytes_copied'], file['device']),
                             (0, 0, 0, None))

    def test_raw_frames(self):
        """Read from a file they are copied into the device's memory; only a sealed one can stay where it is."""
        self.write('in.raw', bytes(range(256)) * 3)
        done = self.sluice('run', '--json', '--input', 'raw=gray8:w=32:h=24', '-c', 'invert', '-f', 'raw', '-o', 'out.raw',
                           'in.raw')
        self.assertEqual(json.loads(done.stdout)['files'][0]['bytes_copied'], 768)


class Daemon(Counts):
    def serve(self, error):
        self.http, self.jobs = os.path.join(self.dir, 'http.sock'), os.path.join(self.dir, 'jobs.sock')
        return self.daemon('--http-socket', self.http, '--jobs-socket', self.jobs, '--sandbox', 'off',
                           chain='luminance,sobel', env=self.env(error)).start()

    def metric(self, name):
        for line in sockets.ask(self.http, 'GET', '/metrics').body.decode().split('\n'):
            if line.startswith(name + ' '):
                return float(line.split()[-1])
        raise AssertionError(name)

    def test_every_place(self):
        for error in (None, -12):
            d = self.serve(error)
            self.copied()  # while it started
            total = 0
            client = sockets.Jobs(self.jobs)
            report, _ = client.run(self.rgb(), chain='luminance,sobel', format='pgm')
            client.close()
            self.check_copies(report, error)
            total += report['bytes_copied']
            answer = sockets.ask(self.http, 'POST', '/v1/process?chain=luminance,sobel&format=pgm', self.rgb())
            counts = dict(one.split('=') for one in answer.headers['Sluice-Counts'].split(', '))
            self.check_copies({name: int(value) for name, value in counts.items()}, error)
            total += int(counts['bytes_copied'])
            d.drop('a%s.ppm' % error, self.rgb(), 'rename')
            d.expect_done('a%s.ppm' % error)
            total += sum(self.copied().values())
            self.assertEqual(self.metric('sluice_bytes_copied_total'), total)
            for direction in ('in', 'out'):
                self.assertEqual(self.metric('sluice_device_crossings_total{direction="%s"}' % direction), 3)
            self.assertEqual(total > 0, error is not None)
            d.stop()

    def test_inputs_that_may_change(self):
        """The front copies them before anything else."""
        d = self.serve(None)
        client = sockets.Jobs(self.jobs)
        fd = sockets.memory(picture(), sealed=False)
        client.send([fd], id=1, chain='sobel', format='pgm')
        message, result = client.receive()
        os.close(result)
        client.close()
        self.assertEqual((message['bytes_copied'], message['crossings_in']), (len(picture()), 1))
        self.assertEqual(self.metric('sluice_bytes_copied_total'), len(picture()))
        d.stop()


class Log(DaemonTest):
    def milliseconds(self, text):
        number, unit = re.fullmatch(r'([0-9.]+)([a-z]+)', text).groups()
        return float(number) * {'ns': 1e-6, 'us': 1e-3, 'ms': 1, 's': 1e3}[unit]

    def test_queue_and_work_apart(self):
        """Of four files of 0.3 s, one after the other, the last one waits for three."""
        d = self.fake('--jobs', '1').start()
        for name in 'abcd':
            d.drop(name, b'slow', 'rename')
        d.expect_all([name + '.pgm' for name in 'abcd'])
        line = r'(\w): done in (\S+), after (\S+) in the queue: \1\.pgm$'
        wait_for('four lines', lambda: d.count_lines(line) == 4)
        told = [re.search(line, one).groups() for one in d.lines if re.search(line, one)]
        work, queue = zip(*((self.milliseconds(w), self.milliseconds(q)) for _, w, q in told))
        self.assertGreaterEqual(min(work), 300)
        self.assertGreaterEqual(max(queue), 890)  # its claim takes a moment of the first one's time
        self.assertLess(min(queue), 890)
        self.assertLess(max(work), max(queue))
        d.drop('e', b'truncated', 'link')
        d.expect_line(r'e: failed: truncated: .* \(in \S+s, after \S+s in the queue\)$')
        d.stop()


if __name__ == '__main__':
    main()
