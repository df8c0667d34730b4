#!/usr/bin/env python3
"""The front is killed: no file is lost, and every result is complete and there once."""
import os
import random
import time

from sluice_test import DaemonTest, main, picture, wait_for


class FrontDies(DaemonTest):
    def test_killed_twenty_times(self):
        """Every result once and whole, at whatever moment the front is killed."""
        d = self.daemon('--device', 'reference', '--jobs', '2')
        chance = random.Random(7)
        names = ['%03d.pgm' % i for i in range(100)]
        for i, name in enumerate(names):
            d.drop(name, picture(400, 300, i))
        for kill in range(20):
            before = len(d.results())
            d.start(ready=False)
            d.expect_line('is up after|ready')
            wait_for('something to be done', lambda n=before: len(d.results()) > n or n == 100, pause=0.001)
            time.sleep(chance.random() * 0.12)
            d.kill()
        d.start()
        d.expect_all(names)
        wait_for('all originals', lambda: d.done() == names)
        d.stop()
        self.assertEqual((d.results(), d.failed()), (names, []))
        for i, name in enumerate(names):
            if i % 9 == 0:
                self.assertEqual(d.result(name), self.by_sluice_run(picture(400, 300, i))[''])
        sizes = {os.path.getsize(os.path.join(d.output, name)) for name in names}
        self.assertEqual(len(sizes), 1)
        d.expect_clean()

    def test_killed_with_planes_and_taken_names(self):
        """Results of two files each, and numbers: still once and together."""
        d = self.daemon('--jobs', '2', chain='sobel:out=both')
        chance = random.Random(11)
        names = ['%02d' % i for i in range(40)]
        for i, name in enumerate(names):
            d.drop(name + '.pgm', picture(300, 200, i))
            if i % 4 == 0:
                with open(os.path.join(d.output, name + '.dy.pgm'), 'wb') as file:
                    file.write(b'other')
        for _ in range(8):
            d.start(ready=False)
            d.expect_line('is up after')
            time.sleep(2 * chance.random() ** 2 + 0.01)
            d.kill()
        d.start()
        wait_for('all originals', lambda: len(d.done()) == 40)
        d.stop()
        expected = [name + ('-1' if i % 4 == 0 else '') + '.%s.pgm' % plane
                    for i, name in enumerate(names) for plane in ('dx', 'dy')]
        expected += [name + '.dy.pgm' for i, name in enumerate(names) if i % 4 == 0]
        self.assertEqual(d.results(), sorted(expected))
        d.expect_clean()

    def test_failures_once_too(self):
        d = self.daemon('--jobs', '1')
        names = ['bad-%02d.pgm' % i for i in range(40)]
        for name in names:
            d.drop(name, b'nothing')
        for _ in range(8):
            before = len(d.failed()) if os.path.isdir(os.path.join(d.hidden, 'failed')) else 0
            d.start(ready=False)
            wait_for('a failure', lambda n=before: len(d.failed()) > n if os.path.isdir(
                os.path.join(d.hidden, 'failed')) and n < 80 else n == 80, pause=0.001)
            d.kill()
        d.start()
        wait_for('all failures', lambda: len(d.failed()) == 80)
        d.stop()
        self.assertEqual(d.failed(), sorted(names + [name + '.error.json' for name in names]))
        d.expect_clean()


if __name__ == '__main__':
    main()
