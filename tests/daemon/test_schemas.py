#!/usr/bin/env python3
"""Every command's --json output is valid by docs/schemas, and changed output is not."""
import copy
import json
import os
import subprocess
import sys

from sluice_test import HERE, SLUICE, DaemonTest, main, picture, pictures, wait_for
import schema
from built import OPENCL

FOLDER = os.path.join(HERE, '../../docs/schemas')
# Of docs/schemas, what no command prints as a whole.
PARTS = {'report', 'file', 'file-report', 'bench-report'}


def objects(value):
    """All objects in a value, itself among them."""
    if isinstance(value, dict):
        yield value
    for part in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from objects(part)


class SchemaTest(DaemonTest):
    def setUp(self):
        super().setUp()
        self.schemas = schema.Schemas(FOLDER)
        self.socket = os.path.join(self.dir, 'jobs.sock')

    def put(self, name, data):
        path = os.path.join(os.fsencode(self.dir), os.fsencode(name))
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, 'wb') as file:
            file.write(data)
        return path

    def expect_refused(self, value, name, what):
        with self.assertRaises(schema.Invalid, msg='%s: %s' % (name, what)):
            self.schemas.check(value, name)

    def check_that_it_would_fail(self, value, name):
        """A member that nobody has described, one that is missing, and a time that runs backwards."""
        for i, one in enumerate(objects(value)):
            changed = copy.deepcopy(value)
            there = list(objects(changed))[i]
            there['surplus'] = 1
            self.expect_refused(changed, name, 'surplus member of %r' % one)
            del there['surplus']
            for key in [key for key in one if key.endswith('_s') and one[key] is not None]:
                there[key] = -1
                self.expect_refused(changed, name, 'negative ' + key)
                there[key] = one[key]
        if isinstance(value, dict):
            for key in self.schemas.document(name).get('required', []):
                self.expect_refused({k: v for k, v in value.items() if k != key}, name, 'no ' + key)

    def ask(self, *arguments, status=0, name=None, env=None):
        """What a command prints with --json, checked."""
        done = subprocess.run([SLUICE, *arguments, '--json'], capture_output=True, cwd=self.dir, check=False,
                              env=dict(os.environ, SLUICE_JOBS_SOCKET=self.socket, **(env or {})))
        self.assertEqual(done.returncode, status, done.stderr)
        return self.checked(json.loads(done.stdout), (name or arguments[0]) + '.json')

    def checked(self, value, name):
        try:
            self.schemas.check(value, name)
        except schema.Invalid as why:
            raise AssertionError('%s: %s\n%s' % (name, why, value)) from why
        self.check_that_it_would_fail(value, name)
        return value


class Documents(SchemaTest):
    def test_the_validator(self):
        """It can tell."""
        check = schema.Schemas(documents={'a': {
            '$ref': '#/$defs/base', 'required': ['n'], 'properties': {'n': {'type': 'integer', 'minimum': 0}},
            'unevaluatedProperties': False,
            '$defs': {'base': {'type': 'object', 'properties': {'x': {'type': ['string', 'null'], 'pattern': '^a'}}}}}})
        for good in ({'n': 0}, {'n': 2.0, 'x': None}, {'n': 1, 'x': 'ab'}):
            check.check(good, 'a')
        for bad in (1, [], {}, {'n': -1}, {'n': True}, {'n': 0.5}, {'n': 1, 'x': 'b'}, {'n': 1, 'x': 2}, {'n': 1, 'y': 1}):
            with self.assertRaises(schema.Invalid, msg=str(bad)):
                check.check(bad, 'a')
        one = schema.Schemas(documents={'b': {'oneOf': [{'type': 'array', 'items': {'enum': [0, 1]}, 'minItems': 1},
                                                        {'const': 'x'}]}})
        for good in ([0], [1, 0], 'x'):
            one.check(good, 'b')
        for bad in ([], [2], [True], 'y', None):
            with self.assertRaises(schema.Invalid, msg=str(bad)):
                one.check(bad, 'b')
        with self.assertRaises(NotImplementedError):
            schema.Schemas(documents={'c': {'uniqueItems': True}}).check([], 'c')

    def test_documents(self):
        """One for each command that takes --json; nothing refers to what is not there."""
        names = {name[:-5] for name in os.listdir(FOLDER)}
        told = subprocess.run([SLUICE, '--help'], check=True, capture_output=True, text=True).stdout
        commands = [line.split()[0] for line in told.split('\n') if line.startswith('  ') and line.split()]
        self.assertIn('plan', commands)
        for command in commands:
            described = subprocess.run([SLUICE, command, '--help'], capture_output=True, text=True, check=False).stdout
            if '--json' in described and command != 'submit':
                self.assertIn(command, names)
        self.assertEqual(names - PARTS - set(commands), set())
        for name in sorted(names):
            document = self.schemas.document(name + '.json')
            self.assertEqual((document['$id'], document['$schema'].rsplit('/', 2)[1]), (name + '.json', '2020-12'))
            for one in objects(document):
                if '$ref' in one:
                    self.schemas.resolve(one['$ref'], name + '.json')
                # Objects are closed, but for those that others extend.
                if 'object' in one.get('type', ()) and name + '.json' not in ('report.json',):
                    self.assertTrue('additionalProperties' in one or name in ('bench', 'requeue'), one)


class Commands(SchemaTest):
    def test_run(self):
        self.put('a.ppm', pictures.pnm(40, 30, pictures.noise(40, 30, 3), 3))
        self.put('small.pgm', picture(2, 2))
        self.put('bad.png', b'no picture')
        self.put(b'dir/b\xff.pgm', picture())
        run = self.ask('run', '-c', 'luminance,sobel', '-o', 'out.pgm', 'a.ppm')
        self.assertEqual(run['files'][0]['result'], 'ok')
        self.assertNotIn('message', run['files'][0])
        run = self.ask('run', '-c', 'sobel:both', '-o', 'out.npy', '--iterations', '2', '--verify', 'a.ppm')
        self.assertEqual(run['files'][0]['out']['type'], 'i8')
        self.ask('run', '-c', 'dwt:levels=2', '-o', 'out.npz', 'a.ppm')
        self.ask('run', '--device', 'reference', '-c', 'box:radius=2', '-o', 'out.png', 'a.ppm')
        run = self.ask('run', '-o', 'out.png', 'a.ppm')
        self.assertEqual((run['chain'], run['device'], run['builds']), ('', None, None))
        run = self.ask('run', '-c', 'fir:gaussian5:border=crop', '-o', 'out/', 'a.ppm', 'small.pgm', 'bad.png', 'none.png',
                       os.path.join(os.fsencode(self.dir), b'dir', b'b\xff.pgm'), status=1)
        self.assertEqual([file['result'] for file in run['files']], ['ok', 'shape', 'format', 'no-input', 'ok'])
        self.assertEqual([file.get('step') for file in run['files']], [None, 'plan', 'decode', None, None])
        self.assertEqual([file['output'] is None for file in run['files']], [False, True, True, True, False])
        self.assertIn('\ufffd', run['files'][4]['input'])

    def test_submit_is_run(self):
        """The same members everywhere, and the same values where they do not depend on time."""
        self.put('a.ppm', pictures.pnm(40, 30, pictures.noise(40, 30, 3), 3))
        self.put('bad.png', b'no picture')
        self.daemon('--jobs-socket', self.socket, chain='luminance,sobel').start()
        arguments = ('-c', 'luminance,sobel', '-o', 'out/', '-f', 'pgm', 'a.ppm', 'bad.png', 'none.png')
        self.ask('run', *arguments, status=1)  # so that both replace its result
        run, submit = [self.ask(command, *arguments, status=1, name='run') for command in ('run', 'submit')]
        self.assertEqual(list(run), list(submit))
        for a, b in zip(run['files'], submit['files']):
            self.assertEqual(set(a), set(b))
            same = set(a) - {key for key in a if key.endswith('_s')} - {'stages', 'launches'}
            self.assertEqual({key: a[key] for key in same}, {key: b[key] for key in same})
            for key in ('stages', 'launches'):
                self.assertEqual([{k: v for k, v in one.items() if not k.endswith('_s')} for one in a[key]],
                                 [{k: v for k, v in one.items() if not k.endswith('_s')} for one in b[key]])
        self.assertEqual([run[key] for key in ('chain', 'device', 'platform', 'driver')],
                         [submit[key] for key in ('chain', 'device', 'platform', 'driver')])

    def test_discovery(self):
        self.assertGreater(len(self.ask('stages')), 10)
        self.ask('stages', 'box')
        if subprocess.run([SLUICE, 'devices'], capture_output=True, check=False).returncode == 0:
            self.ask('devices')
        for options in (('-c', 'luminance,sobel'), ('-c', 'luminance,sobel', '--no-fuse'), ('-c', ''),
                        ('-c', 'sobel:both,dwt:db4', '-f', 'npz', '--profile', 'mali'),
                        ('-c', 'luminance,box:radius=4', '--board', 'odroid-n2'),
                        ('-c', 'box:radius=40', '--generic', '--profile', 'gpu')):
            self.ask('plan', *options, '64x48x3')

    def test_bench(self):
        self.put('a.ppm', pictures.pnm(40, 30, pictures.noise(40, 30, 3), 3))
        report = self.ask('bench', 'box', '--size', '64x48', '--iterations', '1', '--variants')
        self.assertIn('reference', [row['variant'] for row in report['rows']])
        self.ask('bench', 'sobel', '--size', '64x48', '--device', 'reference', '--report', 'report.json')
        with open(os.path.join(self.dir, 'report.json'), encoding='utf-8') as file:
            self.assertIsNone(self.checked(json.load(file), 'bench-report.json')['opencl'])
        self.ask('bench', 'sobel', '--size', '64x48', '--iterations', '1', '--board', 'rock5b', '--report', 'report.json')
        with open(os.path.join(self.dir, 'report.json'), encoding='utf-8') as file:
            self.assertEqual(self.checked(json.load(file), 'bench-report.json')['board'], 'rock5b')
        report = self.ask('bench', '--end-to-end', 'a.ppm', 'a.ppm', '-c', 'sobel', '-f', 'pgm', '--iterations', '1')
        self.assertEqual(len(report['rows']), 3)
        report = self.ask('bench', 'filterbank2d', '--bank', 'haar', '--iterations', '1', '--max-pixels', '600000')
        self.assertIn('psnr_db', report['rows'][0])

    def test_pictures(self):
        self.put('a.pgm', picture())
        self.put('b.pgm', picture(seed=1))
        self.assertEqual(self.ask('compare', 'a.pgm', 'a.pgm')['psnr'], None)
        self.assertGreater(self.ask('compare', 'a.pgm', 'b.pgm', status=1)['differing'], 0)
        self.ask('testcard', '-o', 'card.png', '--size', '64x48')

    def test_configuration(self):
        good = 'version: 1\nchains: {e: sobel}\nwatch:\n  - {input: in, output: out, chain: e, format: pgm}\n'
        self.put('good.yaml', good.encode())
        self.put('bad.yaml', b'version: 1\nchain: {e: sobell}\nchains: {f: "soble"}\n')
        for folder in ('in', 'out', 'cache'):
            os.makedirs(os.path.join(self.dir, folder), exist_ok=True)
        self.assertEqual(self.ask('check-config', 'good.yaml')['errors'], [])
        told = self.ask('check-config', 'bad.yaml', status=78)
        self.assertEqual([error['line'] for error in told['errors']], [2, 3])
        told = self.ask('check-config', 'bad.yaml', status=78, env={'SLUICE_LIMITS_QUEUE': 'x'})
        self.ask('doctor', '--device', 'reference', status=self.doctor_status())
        if OPENCL:
            self.ask('tune', '-c', 'invert', '--device', 'cpu', '--kinds', 'u8x1', '--max-pixels', '20000', '--cache',
                     os.path.join(self.dir, 'cache'))
        self.ask('warm', 'good.yaml', '--device', 'reference', '--cache', os.path.join(self.dir, 'cache'))

    def doctor_status(self):
        """This machine may have a problem, which is no matter here."""
        return subprocess.run([SLUICE, 'doctor', '--device', 'reference'], capture_output=True, check=False,
                              cwd=self.dir).returncode

    def test_files(self):
        d = self.fake('--jobs-socket', self.socket, '--jobs', '1', '--settle', '50s', '--stable', '60s').start()
        self.assertEqual(self.ask('status')['state'], 'ready')
        for name, data, how in (('good', b'good', 'rename'), ('closed', b'x', 'close'), ('empty', b'', 'rename'),
                                ('bad', b'truncated', 'rename'),
                                ('.hidden', b'x', 'rename')):
            d.drop(name, data, how)
        d.expect_done('good')
        wait_for('the end of the job', lambda: self.ask('why', d.in_path('good'))['state'] == 'done')
        waiting = self.ask('why', d.in_path('closed'), d.in_path('empty'), d.in_path('.hidden'))
        self.assertEqual([one['state'] for one in waiting], ['waiting', 'waiting', 'ignored'])
        self.ask('why', d.in_path('nothing'), status=66)
        d.drop('r', b'full', 'rename')
        wait_for('it to wait for another try',
                 lambda: self.ask('why', d.in_path('r'))['state'] in ('retrying', 'running', 'queued', 'done'))
        d.expect_done('r')
        d.drop('h', b'hang', 'rename')
        wait_for('it to run', lambda: self.ask('why', d.in_path('h'))['state'] == 'running')
        d.drop('q', b'x', 'rename')
        wait_for('it to wait', lambda: self.ask('why', d.in_path('q'))['state'] == 'queued')
        self.ask('status')
        self.assertEqual(self.ask('requeue', d.in_path('good'))[0]['requeued'], 1)
        self.ask('failed')
        self.assertEqual(self.ask('requeue', '--failed')['requeued'], 0)
        d.process.kill()

    def test_failed_files(self):
        self.daemon('--jobs-socket', self.socket, '--device', 'reference').start().drop('bad.png', b'no picture', 'rename')
        path = os.path.join(self.dir, 'in', 'bad.png')
        wait_for('it to fail', lambda: self.ask('why', path)['state'] == 'failed')
        self.assertEqual(self.ask('requeue', '--failed')['requeued'], 1)


if __name__ == '__main__':
    sys.exit(main())
