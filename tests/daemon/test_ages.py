#!/usr/bin/env python3
"""How long originals are kept: by their age, which setting the date does not change, and by the space that they take.
CLOCK_FAULT names the preloaded library (tests/fault/clock_fault.c)."""
import os
import re
import sqlite3

from sluice_test import HERE, DaemonTest, main

LIBRARY = os.environ.get('CLOCK_FAULT')
HOUR, DAY = 3600, 86400


class Ages(DaemonTest):
    def setUp(self):
        super().setUp()
        if not LIBRARY:
            self.skipTest('a preloaded library cannot stand before a sanitizer')
        self.clocks = os.path.join(self.dir, 'clocks')
        self.set_clocks(0, 0)

    def set_clocks(self, today, boot):
        with open(self.clocks + '.new', 'w', encoding='ascii') as file:
            file.write('%d %d\n' % (today, boot))
        os.rename(self.clocks + '.new', self.clocks)

    def keeping(self, rules):
        """A daemon with these rules and a file that is done, one that failed; looked at once."""
        d = self.fake(env={'LD_PRELOAD': LIBRARY, 'SLUICE_FAULT_CLOCK': self.clocks})
        path = os.path.join(self.dir, 'c.yaml')
        with open(path, 'w', encoding='utf-8') as file:
            file.write('watch: [{input: %s, output: %s, chain: sobel, format: pgm, stable: 100ms, %s}]\n'
                       % (d.input, d.output, rules))
        d.options = ['--config', path, '--device', 'reference', '--state', d.state, '-v']
        d.start()
        d.drop('good', b'good')
        d.drop('bad', b'truncated')
        d.expect_done('good')
        d.expect_failed('bad')
        d.stop()
        self.look(d)
        return d

    def look(self, d):
        """The first scan tidies."""
        d.start()
        d.stop()

    def kept(self, d):
        return d.done() + d.failed()

    EVERYTHING = ['good', 'bad', 'bad.error.json']
    BY_AGE = 'done: {age: 2d}, failed: {age: 2d}'

    def test_date_that_jumps(self):
        d = self.keeping(self.BY_AGE)
        for jump in (40 * DAY, -40 * DAY, 0):
            self.set_clocks(jump, 0)
            self.look(d)
            self.assertEqual(self.kept(d), self.EVERYTHING, jump)

    def test_time_that_passes(self):
        """With the daemon, without it, and over a restart of the machine, which may be off for long."""
        d = self.keeping(self.BY_AGE)
        self.set_clocks(1 * DAY, 1 * DAY)
        self.look(d)
        base = sqlite3.connect(os.path.join(d.state, 'ledger.db'))
        base.execute("UPDATE clock SET boot='another', up=up+1000000, today=today-1000000")
        base.commit()
        base.close()
        with open('/proc/uptime', encoding='ascii') as file:
            up = int(float(file.read().split()[0]))
        self.set_clocks(50 * DAY, -up)
        self.look(d)
        self.assertEqual(self.kept(d), self.EVERYTHING)
        self.set_clocks(50 * DAY + 23 * HOUR, 23 * HOUR - up)
        self.look(d)
        self.assertEqual(self.kept(d), self.EVERYTHING)
        self.set_clocks(50 * DAY + 25 * HOUR, 25 * HOUR - up)
        self.look(d)
        self.assertEqual(self.kept(d), [])

    def test_hour_after_a_jump(self):
        d = self.keeping('done: {keep: 0B}, failed: {age: 1h}')
        self.assertEqual(d.done(), [])
        d.start()
        d.drop('good', b'good')
        d.expect_done('good')
        d.stop()
        for today, boot in ((40 * DAY, 0), (40 * DAY + 3500, 3500)):
            self.set_clocks(today, boot)
            self.look(d)
            self.assertEqual(self.kept(d), self.EVERYTHING)
        self.set_clocks(40 * DAY + 3700, 3700)
        self.look(d)
        self.assertEqual(self.kept(d), [])

    def test_entries_of_the_ledger(self):
        """What people may ask for outlives a jump, too."""
        d = self.keeping(self.BY_AGE)
        for jump in (40 * DAY, 41 * DAY):
            self.set_clocks(jump, jump - 40 * DAY)
            self.look(d)
        base = sqlite3.connect(os.path.join(d.state, 'ledger.db'))
        self.assertEqual(sorted(base.execute('SELECT name FROM files')), [('bad',), ('good',)])
        base.close()

    def test_sparse_file(self):
        """It takes no space: nobody goes for it."""
        d = self.keeping('failed: {keep: 100kB}')
        with open(os.path.join(d.hidden, 'failed', 'huge'), 'wb') as file:
            file.truncate(1 << 40)
        self.look(d)
        self.assertEqual(d.failed(), ['bad', 'bad.error.json', 'huge'])

    def test_shipped_configurations(self):
        """Neither the service's nor the example removes an original."""
        for folder in ('systemd', 'config'):
            with open(os.path.join(HERE, '..', '..', folder, 'sluice.yaml'), encoding='utf-8') as file:
                self.assertIsNone(re.search(r'^[^#]*\b(done|failed):\s*\{', file.read(), re.M), folder)


if __name__ == '__main__':
    main()
