#!/usr/bin/env python3
"""Every call of OpenCL that a daemon makes, at its start and under its jobs: once or from then on it fails, takes long, gives
nonsense, or the device is lost. Whatever happens, each picture has its result, the same as without, health is answered,
and the daemon ends in order.

A call, a place and a kind of fault each need a daemon: SLUICE_LONG=1 tries all of them, else a few by turns (SLUICE_TURN,
the day if it is not told)."""
import os
import re
import time
import unittest

import sockets
from sluice_test import EMULATED, DaemonTest, main, picture

CL_LAYER = os.environ['CL_LAYER']
KINDS = [':%d:-5', ':%d+:-5', ':%d:delay500', ':%d+:delay20', ':%d:garbage', ':%d+:garbage', ':%d:lost']
FILES = 6
TRIED = int(os.environ.get('SLUICE_TRIED') or 8)  # of an ordinary run


class DeviceCalls(DaemonTest):
    def serve(self, folder, **env):
        os.mkdir(os.path.join(self.dir, folder))
        self.http = os.path.join(self.dir, folder, 'h')
        return self.daemon('--device', 'cpu', '--fallback', 'reference', '--jobs', '1', '--http-socket', self.http,
                           folder=os.path.join(self.dir, folder), env={'OPENCL_LAYERS': CL_LAYER, **env})

    def work(self, d):
        names = ['%d.pgm' % i for i in range(FILES)]
        for i, name in enumerate(names):
            d.drop(name, picture(30 + 40 * i, 30, i))
        d.expect_all(names)
        self.assertEqual(sockets.ask(self.http, 'GET', '/livez').status, 200)
        return {name: d.result(name) for name in names}

    def count(self):
        """How often each function is called in a daemon's life; and what comes out."""
        counts = os.path.join(self.dir, 'counts')
        d = self.serve('count', SLUICE_FAULT_COUNT=counts, SLUICE_DEVICE_SANDBOX='off')  # it writes a file at its end
        d.start()
        results = self.work(d)
        d.stop()
        with open(counts, encoding='ascii') as file:
            return dict((name, int(n)) for name, n in (line.split() for line in file)), results

    def try_one(self, fault, expected):
        d = self.serve(re.sub(r'\W', '_', fault), SLUICE_FAULT_CL=fault)
        try:
            d.start()
            self.assertEqual(self.work(d), expected)
            self.assertEqual(d.failed(), [])
            d.stop()
            d.expect_clean()
        except AssertionError as error:
            raise AssertionError('%s: %s\n%s' % (fault, error, d.log())) from None

    @unittest.skipIf(EMULATED, 'layers are of this machine')
    def test_every_call(self):
        counts, expected = self.count()
        self.assertGreater(len([n for n in counts.values() if n]), 8)
        faults = [name + kind % n for name, count in sorted(counts.items()) if count
                  for n in sorted({1, (count + 1) // 2, count}) for kind in KINDS]
        turn = int(os.environ.get('SLUICE_TURN') or time.time() // 86400)
        if os.environ.get('SLUICE_LONG') != '1':
            step = max(1, len(faults) // TRIED)
            faults = sorted({'clCreateKernel:12:garbage', *faults[turn % step::step]})  # no kernel, and no error
        for fault in faults:
            self.try_one(fault, expected)
        print('%d faults of %d functions' % (len(faults), len([n for n in counts.values() if n])))


if __name__ == '__main__':
    main()
