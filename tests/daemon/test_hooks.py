#!/usr/bin/env python3
"""What is told of a file's end: the report beside the results, hooks, and events on the jobs socket.

Environment HOOKS_FILES=N: that many files in test_each_once; 10000 take three minutes."""
import json
import os
import socket
import subprocess

import sockets
from sluice_test import HERE, PATIENCE, SLUICE, DaemonTest, main, picture, wait_for

import schema  # beside pictures.py

FILES = int(os.environ.get('HOOKS_FILES', '60'))


class Hooks(DaemonTest):
    def hook(self, name, text):
        path = os.path.join(self.dir, name)
        with open(path, 'w', encoding='utf-8') as file:
            file.write('#!/bin/sh\n' + text)
        os.chmod(path, 0o755)
        return path

    def lines(self, name='told'):
        try:
            with open(os.path.join(self.dir, name), encoding='utf-8') as file:
                return file.read().splitlines()
        except FileNotFoundError:
            return []

    def has_ended(self, pid):
        try:
            with open('/proc/%d/stat' % pid, encoding='utf-8') as file:
                return file.read().split(') ')[1][0] == 'Z'
        except FileNotFoundError:
            return True

    def test_each_once(self):
        """Every end once, in the order of the ends, one at a time, and only when the result is whole and has its name."""
        told = os.path.join(self.dir, 'told')
        hook = self.hook('hook', 'mkdir "$1/running" || echo two at once >> "$1/told"\n'
                         'size=$([ -n "$SLUICE_RESULT_1" ] && wc -c < "$SLUICE_RESULT_1")\n'
                         'echo "$2 $SLUICE_VERDICT $SLUICE_FILE $SLUICE_RESULTS $size $SLUICE_REASON" >> "$1/told"\nrmdir "$1/running"\n')
        d = self.daemon('--on-done', '%s %s  a' % (hook, self.dir), '--on-failed', '%s %s b' % (hook, self.dir), '--hook-time', '60s', '--once',
                        '--stable', '1ms')
        for i in range(FILES):
            d.drop('%d.pgm' % i, b'nonsense' if i % 50 == 7 else picture(seed=i % 100), 'rename')
        d.start(ready=False)
        d.wait(1, 600 if FILES > 1000 else PATIENCE)
        size = len(d.result('0.pgm'))
        self.assertEqual(sorted(self.lines()), sorted('b failed %d.pgm   format' % i if i % 50 == 7 else 'a done %d.pgm 1 %d ' % (i, size)
                                                      for i in range(FILES)))
        ends = [line.split()[2] for line in self.lines()]
        logged = [line.split('/in/')[1].split(':')[0] if '/in/' in line else line.split(': ')[1] for line in d.lines
                  if ': done in ' in line or ': failed: ' in line]
        self.assertEqual([name.split()[-1] for name in logged], ends)
        self.assertTrue(os.path.exists(told))

    def test_bad_ones(self):
        """Hooks that fail, hang, leave children, flood, or are not there: told, and no picture is lost or late."""
        hook = self.hook('hook', 'case $SLUICE_FILE in\n'
                         'fails*) exit 3 ;;\n'
                         'hangs*) sleep 1000 & echo $! > "$1/child"; trap "" TERM INT; sleep 1000 ;;\n'
                         'forks*) sleep 1000 & echo $! > "$1/left" ;;\n'
                         'floods*) yes "$SLUICE_FILE says too much" | head -c 20000000 ;;\n'
                         'reads*) read line; echo "read <$line> in $PWD" ;;\n'
                         'tells*) env | grep -v "^SLUICE_[VFORC]" | grep -E "SLUICE_|LISTEN|NOTIFY" >> "$1/told"; kill -9 $$ ;;\n'
                         'esac\necho "$SLUICE_FILE" >> "$1/told"\n')
        d = self.start('--on-done', '%s %s' % (hook, self.dir), '--hook-time', '400ms', '--settle', '10ms',
                       env={'LISTEN_FDNAMES': 'x'})
        names = ['fails', 'hangs', 'forks', 'floods', 'reads', 'tells', 'last']
        for name in names:
            d.drop(name + '.pgm', picture(seed=len(name)))
            d.expect(name + '.pgm')
            d.expect_line('%s.pgm: done in' % name)
        wait_for('the last hook', lambda: 'last.pgm' in self.lines())
        self.assertEqual(self.lines(), ['forks.pgm', 'reads.pgm', 'last.pgm'])
        for line in ('fails.pgm: on_done: the program ended with status 3', 'hangs.pgm: on_done: the program had not ended after 400 ms',
                     r'on_done \(pid \d+\) has written 200 lines', 'floods.pgm: on_done: the program had not ended', 'read <> in /', 'tells.pgm: on_done: the program ended by signal 9'):
            d.expect_line(line.replace('400 ms', '400 ?ms'))
        for name in 'child', 'left': # what it has started has gone with it
            pid = int(self.lines(name)[0])
            wait_for('the end of ' + name, lambda pid=pid: self.has_ended(pid))
        self.assertLess(sum('says too much' in line for line in d.lines), 300)
        self.assertEqual(d.done(), sorted(name + '.pgm' for name in names))
        d.stop()
        d.expect_clean()
        gone = self.start('--on-done', '/nowhere/hook', '--state', os.path.join(self.dir, 'state2'), out='out2')
        gone.drop('a.pgm', picture())
        gone.drop('b.pgm', picture(seed=2))
        gone.expect_all(['a.pgm', 'b.pgm'])
        gone.expect_line('b.pgm: on_done: /nowhere/hook cannot be started: no such file')
        gone.stop()
        done = subprocess.run([*gone.prefix, os.environ['SLUICED'], *gone.options[:8], '--on-done', 'relative'], capture_output=True, text=True)
        self.assertEqual(done.returncode, 64)
        self.assertIn("expected a program's absolute path", done.stderr)

    def test_at_the_end(self):
        """A stopping daemon waits for hooks, as for jobs, and no longer than for jobs."""
        hook = self.hook('hook', 'sleep 0.3; echo "$SLUICE_FILE" >> "$1/told"\n')
        d = self.start('--on-done', '%s %s' % (hook, self.dir), '--shutdown', '60s')
        for i in range(5):
            d.drop('%d.pgm' % i, picture(seed=i))
        d.expect_all('%d.pgm' % i for i in range(5))
        d.stop()
        self.assertEqual(sorted(self.lines()), ['%d.pgm' % i for i in range(5)])
        d = self.start('--on-done', '%s %s' % (self.hook('slow', 'sleep 100'), self.dir), '--shutdown', '300ms')
        for i in range(5, 8):
            d.drop('%d.pgm' % i, picture(seed=i))
        d.expect_all('%d.pgm' % i for i in range(5, 8))
        d.stop()
        self.assertIn('2 ends were not told to their hooks', d.log())

    def test_report(self):
        """The report beside the results: of each job one, under all or none, never in another's place."""
        d = self.start('--report', 'file', chain='luminance,sobel;luminance,box:radius=2', form='pgm;png')
        d.drop('a.pgm', picture())
        d.expect_all(['a.pgm', 'a.png', 'a.report.json'])
        told = json.loads(d.result('a.report.json'))
        self.assertEqual((told['file'], told['chain'], told['format'], told['attempts']),
                         ('a.pgm', 'luminance,sobel;luminance,box:radius=2', 'pgm;png', 1))
        schema.Schemas(os.path.join(HERE, '../../docs/schemas')).check(told, 'file-report.json')
        self.assertEqual((told['report']['in']['width'], told['report']['in']['height']), (40, 30))
        d.drop('a.pgm', picture(seed=3)) # the same number for all
        d.expect_all(['a-1.pgm', 'a-1.png', 'a-1.report.json'])
        d.drop('bad.pgm', b'nonsense')
        d.expect_failed('bad.pgm')
        why = json.loads(subprocess.run([SLUICE, 'why', '--json', os.path.join(d.input, 'a.pgm'), '--config', '/dev/null'],
                                        capture_output=True, text=True).stdout or '{}')
        self.assertNotIn('report', json.dumps(why.get('result', '')))
        self.assertEqual(d.results(), ['a-1.pgm', 'a-1.png', 'a-1.report.json', 'a.pgm', 'a.png', 'a.report.json'])
        d.stop()
        d.expect_clean()

    def follow(self, **more):
        jobs = sockets.Jobs(self.jobs)
        jobs.send(id=7, type='events', **more)
        first = jobs.receive()[0]
        self.assertEqual((first['type'], first['id'], first['result']), ('events', 7, 'ok'), first)
        return jobs

    def until(self, jobs, name):
        found = []
        while not found or found[-1]['data'].get('name') != name or found[-1]['event'] == 'begun':
            found.append(jobs.receive()[0])
            self.assertEqual((found[-1]['type'], found[-1]['id']), ('event', 7))
        return found

    def test_events(self):
        """A subscription on the jobs socket: all that happens, beside jobs; one that never reads is not waited for."""
        self.jobs = os.path.join(self.dir, 'jobs.sock')
        d = self.start('--jobs-socket', self.jobs, '--settle', '0s')
        jobs, deaf = self.follow(), self.follow()
        deaf.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
        for i in range(3):
            d.drop('%d.pgm' % i, b'nonsense' if i == 1 else picture(seed=i), 'rename')
            d.expect_line('%d.pgm: (done|failed)' % i)
        told = self.until(jobs, '2.pgm')
        self.assertEqual([(one['event'], one['data']['name']) for one in told if 'name' in one['data']],
                         [(what, '%d.pgm' % i) for i in range(3) for what in ('begun', 'failed' if i == 1 else 'done')])
        self.assertEqual([one['data']['results'] for one in told if one['event'] == 'done'], [['0.pgm'], ['2.pgm']])
        self.assertEqual([one['number'] for one in told], list(range(told[0]['number'], told[0]['number'] + len(told))))
        # on the same connection, and of a client
        jobs.send([memory := sockets.memory(picture())], id=8, chain='invert', format='pgm')
        os.close(memory)
        got = [jobs.receive()[0] for _ in range(3)]
        self.assertEqual(sorted((one['type'], one['id'], one.get('event')) for one in got),
                         [('done', 8, None), ('event', 7, 'begun'), ('event', 7, 'done')])
        later = self.follow(after=str(got[0].get('number', got[1].get('number'))))
        self.assertEqual(later.receive()[0]['number'], got[0].get('number', got[1].get('number')) + 1)
        later.send(id=9, type='events', after='x')
        self.assertEqual(later.receive()[0]['result'], 'data')
        # many more than the ring has, which one client reads and another one does not
        for i in range(400):
            d.drop('m%d.pgm' % i, picture(seed=i), 'rename')
        seen, lost = [], 0
        while 'm399.pgm' not in seen or len(seen) + lost < 400:
            one = jobs.receive()[0]
            lost += one['data']['lost'] if one['event'] == 'lost' else 0
            seen += [one['data']['name']] if one['event'] == 'done' else []
            if lost:
                break
        self.assertEqual(len(seen), len(set(seen)))
        d.expect_all(['m%d.pgm' % i for i in range(400)])
        if FILES > 1000: # it takes half a minute
            d.expect_line('process .* does not read its results or events: it is cut off')
        for one in jobs, later, deaf:
            one.close()
        d.stop()


if __name__ == '__main__':
    main()
