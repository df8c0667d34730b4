#!/usr/bin/env python3
"""Every call of OpenCL that a daemon makes, from its start to its end: once or from then on it fails, takes long, never
returns, gives nonsense, or the device is lost. Whatever happens, each picture has its result, the same as without (but for
one that waits alone for a call that never returns: it took longer than job_time), health is answered, and the daemon ends in
order.

LIVES are the ways in which a daemon comes to call every function of OpenCL that sluice has. A life, a call, a place (the
first, the middle and the last call) and a kind of fault each need a daemon: SLUICE_LONG=1 tries all of them, SLUICE_AT_ONCE=N
at once, else a few by turns (SLUICE_TURN, the day if it is not told)."""
import collections
import concurrent.futures
import functools
import os
import re
import shutil
import time
import unittest

import sockets
from sluice_test import EMULATED, DaemonTest, main, picture, wait_for

CL_LAYER = os.environ['CL_LAYER']
LONG = os.environ.get('SLUICE_LONG') == '1'
AT_ONCE = int(os.environ.get('SLUICE_AT_ONCE') or 1)
KINDS = ['-5', 'delay500', 'garbage', 'lost', 'hang']
KINDS_FROM_THEN_ON = ['-5', 'delay20', 'garbage', 'hang']
FILES = 6
TRIED = int(os.environ.get('SLUICE_TRIED') or 8)  # of an ordinary run
SETTLED = 20 if LONG else 5  # seconds that a chain is given to move to the device, where no call hangs
# A worker that hangs before it is ready is killed after 300 s, twice: then the fallback does the work.
HANG_LIMIT = 900
COLD_LIMIT = 300  # PoCL compiles each program, also where the cache was emptied
# Options, an environment, a chain, and the faults that a life has anyway. Jobs of the first one run on native until the device is
# ready beside them; in the others they wait for it. A function is tried in the first two lives, or in the first that calls
# it. GPU: PoCL is called one, since where none is there native takes its place.
# STRIPS: the last picture is larger than a buffer may be, so it goes by strips, whose rows the device copies.
GPU = ['--device', 'auto'], {'SLUICE_FAULT_CL_GPU': '1'}, 'invert'
WAIT = ['--device', 'auto', '--fallback', 'reference'], {'SLUICE_FAULT_CL_GPU': '1', 'SLUICE_DEVICE_WAIT': 'true'}, 'invert'
STRIPS = WAIT[0], {**WAIT[1], 'SLUICE_FAULT_CL_BUFFER': '1000000'}, 'sobel'
LIVES = {
    'background': (*GPU, ''),
    'wait': (*STRIPS, ''),
    'copies': (*WAIT, 'clEnqueueMapBuffer:1+:-12'),
    'no-program': (*WAIT, 'clBuildProgram:1+:-11'),
    'cold': (*WAIT, ''),  # no kernels are cached
}
if os.environ.get('DEFAULT_FALLBACK', 'native') != 'native':
    del LIVES['background']
Try = collections.namedtuple('Try', 'life fault')


class DeviceCalls(DaemonTest):
    def setUp(self):
        super().setUp()
        self.caches = {}  # of a life of each chain

    def serve(self, name, life, fault, **env):
        """A daemon in a folder of its own, and what it says over HTTP."""
        folder = os.path.join(self.dir, name)
        os.mkdir(folder)
        options, settings, chain, always = LIVES[life]
        faults = ','.join(filter(None, (always, fault)))
        # A cache of its own, because it is emptied after a worker that died while it started.
        cache = os.path.join(folder, 'cache')
        if life != 'cold' and chain in self.caches:
            shutil.copytree(self.caches[chain], cache)
        env.update(settings, SLUICE_CACHE_DIR=cache, OPENCL_LAYERS=CL_LAYER, **({'SLUICE_FAULT_CL': faults} if faults else {}))
        http = os.path.join(folder, 'h')
        return http, self.daemon(*options, '--jobs', '1', '--job-time', '5s', '--http-socket', http, chain=chain,
                                 folder=folder, env=env)

    def work(self, d, http, seconds=90, settled=SETTLED):
        """Files before the chain has moved to the device, or has been given up there, and files after that."""
        names = ['%d.pgm' % i for i in range(FILES)]
        for begin in range(0, FILES, FILES // 2):
            for i in range(begin, begin + FILES // 2):
                d.drop(names[i], picture(30 + 40 * i, 30, i) if i + 1 < FILES else picture(1500, 1040, i))
            wait_for('an end of each', lambda: self.ended(d) >= set(names[:begin + FILES // 2]), seconds)
            self.settle(http, settled)
        self.assertEqual(sockets.ask(http, 'GET', '/livez').status, 200)
        return {name: d.result(name) for name in os.listdir(d.output)}

    @staticmethod
    def ended(d):
        return set(os.listdir(d.output)) | {name for name in d.failed() if name.endswith('.pgm')}

    @staticmethod
    def settle(http, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            worker = sockets.ask(http, 'GET', '/v1/status').json()['worker']
            if all(chain['tier'] != 'native' or chain['why'] for chain in worker['chains']):
                break
            time.sleep(0.05)

    @functools.lru_cache(None)
    def count(self, life):
        """How often each function is called in a daemon's life; and what comes out."""
        counts = os.path.join(self.dir, 'counts-' + life)
        # outside the sandbox, because it writes a file at its end
        http, d = self.serve('count-' + life, life, '', SLUICE_FAULT_COUNT=counts, SLUICE_DEVICE_SANDBOX='off')
        d.start(ready=False)
        d.expect_line(r'sluiced: ready$', COLD_LIMIT)
        results = self.work(d, http)
        d.stop()
        self.caches.setdefault(LIVES[life][2], os.path.join(d.dir, 'cache'))
        with open(counts, encoding='ascii') as file:
            return {name: int(n) for name, n in (line.split() for line in file)}, results

    def try_one(self, one, expected):
        name = re.sub(r'\W', '_', one.life + one.fault)
        http, d = self.serve(name, one.life, one.fault)
        hangs = one.fault.endswith(':hang')
        seconds, settled = (HANG_LIMIT, 5) if hangs else (COLD_LIMIT, SETTLED)
        try:
            d.start(ready=False)
            d.expect_line(r'sluiced: ready$', seconds)
            results = self.work(d, http, seconds, settled)
            self.assertEqual(results, expected)
            self.assertEqual(d.failed(), [])
            d.stop()
            d.expect_clean()
        except AssertionError as error:
            raise AssertionError('%s %s: %s\n%s' % (*one, error, d.log())) from None
        finally:
            d._end()

    def faults(self, life, calls):
        return [Try(life, '%s:%d%s:%s' % (name, n, then, kind)) for name, count in sorted(calls.items()) if count
                for n in sorted({1, (count + 1) // 2, count})
                for then, kinds in (('', KINDS), ('+', KINDS_FROM_THEN_ON)) for kind in kinds]

    @unittest.skipIf(EMULATED, 'layers are of this machine')
    def test_every_call(self):
        tries, seen, waits, expected = [], set(), {}, {}
        self.count('cold')  # others of its chain have its kernels
        for life in LIVES:
            calls, results = self.count(life)
            waits[life] = calls['clWaitForEvents']
            self.assertEqual(results, expected.setdefault(LIVES[life][2], results), life)
            new = {name: n for name, n in calls.items() if n and (life == 'wait' or name not in seen)}
            tries += self.faults(life, new)
            seen |= set(new)
        never = set(calls) - seen
        self.assertEqual(never, set(), 'functions that no life calls')
        turn = int(os.environ.get('SLUICE_TURN') or time.time() // 86400)
        if not LONG:
            # No kernel, and no error; a driver that never says which devices it has; one that hangs in the only
            # running job.
            always = [Try('wait', 'clCreateKernel:10:garbage'), Try('background', 'clGetPlatformIDs:1:hang'),
                      Try('background', 'clWaitForEvents:%d:hang' % waits.get('background', 0))]
            short = [one for one in tries if one.life == 'background' or not one.fault.endswith('hang')]
            step = max(1, len(short) // TRIED)
            tries = [one for one in always if one.life in LIVES] + short[turn % step::step]
        with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
            wrong = [str(one.exception()) for one in [pool.submit(self.try_one, one, expected[LIVES[one.life][2]]) for one in tries]
                     if one.exception()]
        print('%d faults of %d functions in %d lives, %d wrong' % (len(tries), len(seen), len(LIVES), len(wrong)))
        self.assertEqual(wrong, [], '\n\n'.join(wrong))


if __name__ == '__main__':
    main()
