#!/usr/bin/env python3
"""Nobody waits for a GPU's compiler: jobs run on native at once, and a chain moves to the GPU when its programs are
compiled. The GPU is PoCL, with a layer that calls it one and makes its compiler slower."""
import json
import os
import subprocess
import threading
import time
import unittest

from sluice_test import SLUICE, DaemonTest, main, picture, wait_for
import sockets

LAYER, WRONG = os.environ['CL_LAYER'], os.environ['CL_WRONG']
# Seconds a program: a chain has some forty, for all kinds of pictures, so two each take minutes.
SLOW = '2' if os.environ.get('SLUICE_TEST_ALL') == '1' else '0.2'
GPU = {'OPENCL_LAYERS': LAYER, 'SLUICE_FAULT_CL_GPU': '1', 'SLUICE_DEVICE': 'auto'}


@unittest.skipUnless(os.environ.get('DEFAULT_FALLBACK', 'native') == 'native', 'no native kernels')
class Background(DaemonTest):
    def serve(self, *options, chain='invert', env=None, **how):
        self.path = os.path.join(self.dir, 'jobs.sock')
        self.http = os.path.join(self.dir, 'http.sock')
        env = dict(GPU, SLUICE_CACHE_DIR=os.path.join(self.dir, 'cache'), **(env or {}))
        return self.start('--jobs-socket', self.path, '--http-socket', self.http, '--jobs', '2', *options, chain=chain,
                          env=env, **how)

    def chains(self):
        return sockets.ask(self.http, 'GET', '/v1/status').json()['worker']['chains']

    def tier(self):
        return self.chains()[0]['tier']

    def chains_on(self):
        text = sockets.ask(self.http, 'GET', '/metrics').body.decode()
        return [line for line in text.splitlines() if line.startswith('sluice_chains{')]

    def run_job(self, chain, seed=1, jobs=None):
        """The device that it ran on, and its result."""
        connection = jobs or sockets.Jobs(self.path, 300)
        done, files = connection.run(picture(61, 43, seed=seed), chain=chain, format='pgm')
        if not jobs:
            connection.close()
        self.assertEqual(done['result'], 'ok', done)
        return done['device'], files['']

    def by_reference(self, chain, seed=1):
        return subprocess.run([SLUICE, 'run', '-q', '--device', 'reference', '-c', chain, '-f', 'pgm', '-o', '-', '-'],
                              input=picture(61, 43, seed=seed), check=True, capture_output=True).stdout

    def test_each_picture_goes_where_it_is_sooner_done(self):
        """`sluice tune` has found native faster up to 640x480: the chain moves to the GPU, small pictures stay."""
        level, grows = ','.join(['0.001'] * 6), ','.join(str(0.00002 * 4 ** i) for i in range(6))
        subprocess.run([os.environ['UNIT_TUNED'], 'invert', 'u8', '1', level, grows], check=True,
                       env=dict(os.environ, SLUICE_CACHE_DIR=os.path.join(self.dir, 'cache'), **GPU))
        d = self.serve()
        wait_for('the chain to move', lambda: self.tier() == 'gpu')
        jobs = sockets.Jobs(self.path, 300)
        for width, height, native in ((61, 43, True), (1100, 1024, False), (300, 300, True)):
            done, files = jobs.run(picture(width, height), chain='invert', format='pgm')
            self.assertEqual((done['result'], done['device'] == 'native'), ('ok', native), done)
            self.assertEqual(files[''][-1], 255 - picture(width, height)[-1])
        jobs.close()
        d.stop()

    def test_a_slow_compiler_keeps_nobody_waiting(self):
        begin = time.monotonic()
        d = self.serve(env={'SLUICE_FAULT_CL_SLOW': SLOW})
        ready = time.monotonic()
        self.assertEqual(self.run_job('invert')[0], 'native')
        first = time.monotonic()
        print('ready after %.3f s, the first picture after %.3f s more' % (ready - begin, first - ready))
        self.assertEqual(self.tier(), 'native')
        self.assertEqual(self.chains()[0]['why'], None)
        self.assertEqual(d.count_lines('runs on device'), 0)
        right = {seed: self.by_reference('invert', seed) for seed in range(5)}
        devices, wrong, stop = [], [], threading.Event()

        def client():
            """One job after the other, all the time."""
            jobs = sockets.Jobs(self.path, 300)
            while not stop.is_set():
                seed = len(devices) % 5
                device, result = self.run_job('invert', seed, jobs)
                devices.append(device)
                if result != right[seed]:
                    wrong.append((device, seed))
                time.sleep(0.05)
            jobs.close()
        thread = threading.Thread(target=client)
        thread.start()
        self.addCleanup(stop.set)
        wait_for('progress', lambda: (self.chains()[0]['preparing'] or {}).get('done', 0) > 0)
        wait_for('the GPU', lambda: self.tier() == 'gpu', 300)
        # Pictures have the size that the worker prepares chains for at its start, on native: they move like others.
        wait_for('jobs on the GPU', lambda: devices[-1] != 'native', 300)
        count = len(devices)
        wait_for('more of them', lambda: len(devices) > count + 20)
        stop.set()
        thread.join()
        self.assertEqual(wrong, [])
        moved = [i for i, device in enumerate(devices) if device != 'native']
        self.assertGreater(moved[0], 10)
        self.assertEqual(moved, list(range(moved[0], len(devices))))  # between two jobs, once
        d.expect_line(r'chain invert runs on device .* \(gpu\) from now on')
        self.assertEqual(self.chains_on(), ['sluice_chains{tier="gpu"} 1'])
        self.assertEqual(d.report()['starts'], 1)
        # a folder's file goes there, too, and nothing was lost
        d.drop('a.pgm', picture(61, 43, seed=3))
        self.assertEqual(d.expect('a.pgm'), right[3])
        d.stop()

    def test_clients_chains_go_the_same_way(self):
        d = self.serve(chain='', env={'SLUICE_FAULT_CL_SLOW': '1'})
        right = self.by_reference('threshold:t=99')
        self.assertEqual(self.run_job('threshold:t=99'), ('native', right))

        def on_gpu():
            device, result = self.run_job('threshold:t=99')
            self.assertEqual(result, right)
            return device != 'native'
        wait_for('the GPU', on_gpu, pause=0.3)
        # numbers are arguments: another one needs no other kernel
        device, result = self.run_job('threshold:t=50')
        self.assertNotEqual(device, 'native')
        self.assertEqual(result, self.by_reference('threshold:t=50'))
        d.stop()

    def test_a_wrong_program_stays_alone(self):
        d = self.serve(env={'OPENCL_LAYERS': '%s:%s' % (LAYER, WRONG),
                            'SLUICE_WRONG': '(SRC)SRC_MAX - =(SRC)(SRC_MAX - 1) - '})
        d.expect_line('chain invert does NOT RUN on the device that was chosen and stays on native: stage invert: .* differ')
        self.assertEqual(self.run_job('invert'), ('native', self.by_reference('invert')))
        chain = self.chains()[0]
        self.assertEqual((chain['tier'], chain['preparing']), ('native', None))
        self.assertIn('stage invert', chain['why'])
        self.assertEqual(self.chains_on(), ['sluice_chains{tier="native"} 1'])
        told = subprocess.run([SLUICE, 'status', '--socket', self.path], capture_output=True, text=True, check=True)
        self.assertIn('chain invert: stays on native: stage invert', told.stdout)
        wait_for('another chain on the GPU', lambda: self.run_job('threshold:t=99')[0] != 'native', pause=0.3)
        self.assertEqual(d.report()['starts'], 1)
        d.stop()

    def test_a_device_that_cannot_be_opened(self):
        d = self.serve(env={'SLUICE_DEVICE': 'gpu', 'SLUICE_FAULT_CL': 'clCreateContext:1+:-5'})
        self.assertEqual(self.run_job('invert'), ('native', self.by_reference('invert')))
        d.expect_line("FALLING BACK to 'native'; it is tried again in 30s")
        wait_for('the next worker', lambda: d.report()['starts'] == 2)
        self.assertEqual(self.run_job('invert')[0], 'native')
        d.stop()

    def test_waiting_for_the_device(self):
        d = self.serve(env={'SLUICE_DEVICE_WAIT': 'true'})
        self.assertEqual(self.tier(), 'gpu')
        self.assertNotEqual(self.run_job('invert')[0], 'native')
        d.stop()

    def test_a_device_that_is_not_there(self):
        d = self.daemon('--device', 'no-such-device').start(ready=False)
        self.assertIn('no-such-device', d.wait(69))


if __name__ == '__main__':
    main()
