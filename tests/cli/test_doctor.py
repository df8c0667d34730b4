#!/usr/bin/env python3
"""sluice doctor finds each fault of a machine that the test plants, and names its fix. sluice warm fills the kernel
cache, from which the daemon then starts."""
import grp
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..'))
from built import needs_opencl  # noqa: E402

SLUICE, SLUICED, SHIM = sys.argv[1:4]
del sys.argv[1:4]

CONFIG = '''version: 1
chains: {edges: "luminance,sobel"}
limits: {min_free: %s}
watch:
  - {input: %s/in, output: %s/out, chain: edges, format: pgm%s}
'''


class Case(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix='sluice-doctor-')
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)
        os.chmod(self.dir, 0o755)
        self.root = os.path.join(self.dir, 'root')
        for name in ('in', 'out', 'root/dev/dri', 'root/proc/sys/fs/inotify'):
            os.makedirs(os.path.join(self.dir, name))
        for name, value in (('max_user_instances', 128), ('max_user_watches', 8192), ('max_queued_events', 16384)):
            self.write('root/proc/sys/fs/inotify/' + name, '%d\n' % value)
        self.config = self.write('sluice.yaml', self.text())

    def text(self, min_free='0%', more=''):
        return CONFIG % (min_free, self.dir, self.dir, more)

    def write(self, name, text, mode=0o644):
        path = os.path.join(self.dir, name)
        with open(path, 'w', encoding='utf-8') as file:
            file.write(text)
        os.chmod(path, mode)
        return path

    def path(self, name):
        return os.path.join(self.dir, name)


@unittest.skipIf(SHIM == 'none', 'nothing can be preloaded before a sanitizer')
class Doctor(Case):
    def doctor(self, *options, status=0, device='reference', **env):
        variables = dict(os.environ, LD_PRELOAD=SHIM, SHIM_ROOT=self.root, **env)
        variables.pop('SLUICE_CONFIG', None)
        run = subprocess.run([SLUICE, 'doctor', '--json', '--config', self.config, '--device', device, *options],
                             env=variables, capture_output=True, text=True, timeout=300)
        self.assertEqual(run.returncode, status, run.stdout + run.stderr)
        self.told = json.loads(run.stdout)
        for finding in self.told['findings']:
            self.assertEqual(finding['level'] == 'ok', finding['fix'] is None, finding)
            self.assertNotIn('\n', finding['text'] + (finding['fix'] or ''))
        return self.told

    def expect(self, level, check, text, fix):
        """Exactly one finding that is not ok, and it is this one."""
        bad = [f for f in self.told['findings'] if f['level'] != 'ok']
        self.assertEqual(len(bad), 1, bad)
        self.assertEqual((bad[0]['level'], bad[0]['check']), (level, check), bad)
        self.assertRegex(bad[0]['text'], text)
        self.assertRegex(bad[0]['fix'], fix)
        self.assertEqual((self.told['problems'], self.told['warnings']),
                         (int(level == 'problem'), int(level == 'warning')))

    def test_sound(self):
        self.doctor()
        self.assertEqual((self.told['problems'], self.told['warnings']), (0, 0))
        checks = {f['check'] for f in self.told['findings']}
        self.assertLessEqual({'user', 'config', 'worker', 'landlock', 'node', 'cache', 'loader', 'input', 'output',
                              'max_user_watches'}, checks)

    def test_device(self):
        """With a real one: it opens, compiles and agrees."""
        run = subprocess.run([SLUICE, 'devices', '--json'], capture_output=True, text=True)
        if run.returncode != 0:
            self.skipTest('no OpenCL device')
        told = self.doctor(device='auto')
        self.assertIn('computes what the references do', [f for f in told['findings'] if f['check'] == 'device'][0]['text'])

    def test_text(self):
        os.rmdir(self.path('out'))
        run = subprocess.run([SLUICE, 'doctor', '-q', '--config', self.config, '--device', 'reference'],
                             capture_output=True, text=True)
        self.assertEqual((run.returncode, run.stderr), (1, ''))
        self.assertRegex(run.stdout, r'^problem  output %s: No such file or directory\n         fix: install -d .*\n$'
                         % self.path('out'))

    # ---- OpenCL

    def test_icd(self):
        vendors = self.path('vendors')
        os.mkdir(vendors)
        self.doctor(device='cpu', status=1, OCL_ICD_VENDORS=vendors)
        bad = {f['check']: f for f in self.told['findings'] if f['level'] == 'problem'}
        self.assertEqual(set(bad), {'icd', 'device'})
        self.assertRegex(bad['icd']['text'], 'no driver')
        self.assertRegex(bad['icd']['fix'], 'apt-get install .*pocl-opencl-icd')
        self.write('vendors/mali.icd', 'libmali-that-is-not-there.so.1\n')
        self.write('vendors/empty.icd', '')
        self.write('vendors/notes.txt', 'no icd\n')
        self.doctor(device='cpu', status=1, OCL_ICD_VENDORS=vendors)
        bad = [f['text'] for f in self.told['findings'] if f['check'] == 'icd']
        self.assertEqual(len(bad), 2, bad)
        self.assertRegex(bad[0], r'empty\.icd names no library')
        self.assertRegex(bad[1], r'mali\.icd: libmali-that-is-not-there\.so\.1 does not load: .*No such file')

    @needs_opencl
    def test_deadly_driver(self):
        """A driver that kills whoever loads it kills a child alone."""
        source = self.write('deadly.c', '#include <stdlib.h>\n__attribute__((constructor)) static void f(void) '
                                        '{ abort(); }\n')
        compiler = shutil.which('cc') or shutil.which('gcc')
        if not compiler:
            self.skipTest('no compiler')
        library = self.path('libdeadly.so')
        subprocess.run([compiler, '-shared', '-fPIC', '-o', library, source], check=True)
        os.mkdir(self.path('vendors'))
        self.write('vendors/deadly.icd', library + '\n')
        self.doctor(device='auto', status=1, OCL_ICD_VENDORS=self.path('vendors'))
        bad = {f['check']: f['text'] for f in self.told['findings'] if f['level'] == 'problem'}
        self.assertRegex(bad['icd'], 'kills the process that loads it .Aborted')
        self.assertRegex(bad['device'], 'its driver kills the process')

    def test_no_such_device(self):
        told = self.doctor(device='nonesuch-gpu', status=1)
        self.assertRegex([f for f in told['findings'] if f['level'] == 'problem'][0]['text'], 'nonesuch-gpu')

    # ---- nodes

    def node(self, name, mode, gid=0):
        path = self.write('root/dev/' + name, '', mode)
        if os.geteuid() != 0:
            self.skipTest('what another user may open needs root')
        os.chown(path, 0, gid)
        for folder in ('in', 'out'):
            os.chmod(self.path(folder), 0o777)
        self.doctor('--user', 'nobody', SLUICE_CACHE_DIR=self.cache_for_all())

    def test_node_of_a_group(self):
        self.node('mali0', 0o660, grp.getgrnam('video').gr_gid)
        self.expect('warning', 'node', r'/dev/mali0: nobody may not open it \(group video, mode 0660\)',
                    r'usermod -aG video nobody')

    def test_node_of_nobody(self):
        self.node('dri/renderD128', 0o600)
        self.expect('warning', 'node', r'/dev/dri/renderD128: nobody may not open it', r'udev rule .*MODE="0660"')

    def test_node_that_opens(self):
        self.node('dri/renderD128', 0o666)
        self.assertTrue(any('renderD128: nobody may open it' in f['text'] for f in self.told['findings']))

    def test_no_gpu(self):
        self.doctor(device='gpu', status=1)
        bad = {f['check']: f for f in self.told['findings'] if f['level'] == 'problem'}
        self.assertRegex(bad['node']['text'], 'no GPU node')
        self.assertRegex(bad['node']['fix'], 'mali_kbase, panfrost or panthor')

    # ---- cache

    def test_cache_noexec(self):
        cache = self.path('cache')
        self.doctor(status=1, SLUICE_CACHE_DIR=cache, SHIM_MOUNTS=cache + '=noexec')
        self.expect('problem', 'cache', 'noexec', 'remount,exec')

    def test_cache_not_there(self):
        self.write('file', '')
        cache = self.path('file/cache')
        self.doctor(status=1, SLUICE_CACHE_DIR=cache)
        self.expect('problem', 'cache', 'cannot be written to', 'mkdir -p %s' % cache)

    def test_cache_of_another(self):
        if os.geteuid() != 0:
            self.skipTest('the cache of another user needs root')
        for name in ('in', 'out'):
            os.chmod(self.path(name), 0o777)
        self.doctor('--user', 'nobody', status=1, SLUICE_CACHE_DIR=self.path('cache'))
        self.expect('problem', 'cache', 'nobody may not write there', 'chown -R nobody')

    def test_cache_full(self):
        cache = self.path('cache')
        self.doctor(SLUICE_CACHE_DIR=cache, SHIM_MOUNTS=cache + '=full')
        self.expect('warning', 'cache', 'are free', 'free some space')

    # ---- limits and worker

    def test_inotify(self):
        for name, value in (('max_user_instances', 2), ('max_user_watches', 3), ('max_queued_events', 64)):
            path = 'root/proc/sys/fs/inotify/' + name
            with open(self.path(path), encoding='ascii') as file:
                before = file.read()
            self.write(path, '%d\n' % value)
            self.doctor()
            self.expect('warning', name, r'fs\.inotify\.%s is %d:' % (name, value), r'sysctl -w fs\.inotify\.%s=' % name)
            self.write(path, before)

    def test_worker(self):
        self.doctor(status=1, SLUICE_WORKER=self.path('nothing'))
        self.expect('problem', 'worker', 'no worker program', 'install')
        other = self.write('worker', '#!/bin/sh\necho sluice-worker 0.0.9\n', 0o755)
        self.doctor(status=1, SLUICE_WORKER=other)
        self.expect('problem', 'worker', r"is 'sluice-worker 0\.0\.9', and sluice is", 'install')

    # ---- folders

    def test_missing_folder(self):
        os.rmdir(self.path('in'))
        self.doctor(status=1)
        self.expect('problem', 'input', 'No such file', 'install -d -o')

    def test_read_only(self):
        self.doctor(status=1, SHIM_MOUNTS='%s=readonly' % self.path('out'))
        self.expect('problem', 'output', 'read-only', 'remount,rw')
        self.doctor(status=1, SHIM_MOUNTS='%s=readonly' % self.path('in'))
        self.expect('problem', 'input', 'read-only', 'claim: none')
        self.write('sluice.yaml', self.text(more=', claim: none, originals: keep'))
        self.doctor(SHIM_MOUNTS='%s=readonly' % self.path('in'))

    def test_rights(self):
        if os.geteuid() != 0:
            self.skipTest('folders of another user need root')
        os.chmod(self.path('out'), 0o777)
        self.doctor('--user', 'nobody', status=1, SLUICE_CACHE_DIR=self.cache_for_all())
        self.expect('problem', 'input', r'nobody may not write there \(mode 0755\)', 'chown nobody')

    def cache_for_all(self):
        path = self.path('cache')
        os.mkdir(path)
        os.chmod(path, 0o777)
        return path

    def test_network(self):
        self.doctor(SHIM_MOUNTS='%s=nfs' % self.path('in'))
        self.expect('warning', 'input', 'on NFS: it is read every 2 s', 'local folder')
        self.write('sluice.yaml', self.text(more=', mode: inotify'))
        self.doctor(status=1, SHIM_MOUNTS='%s=nfs' % self.path('in'))
        self.expect('problem', 'input', 'does not see what others write', 'mode: auto')

    def test_space(self):
        self.write('sluice.yaml', self.text(min_free='1GiB'))
        self.doctor(status=1, SHIM_MOUNTS='%s=full' % self.path('out'))
        self.expect('problem', 'space', 'min_free is 1GiB: nothing is taken', 'min_free')

    def test_hooks(self):
        hook = self.write('tell', '#!/bin/sh\n', mode=0o755)
        self.write('sluice.yaml', self.text(more=', on_done: /bin/sh -c x, on_failed: %s -v' % hook))
        self.doctor()
        os.chmod(hook, 0o644)
        self.doctor(status=1)
        self.expect('problem', 'on_failed', 'tell: [a-z]+ may not execute it', 'chmod a\\+x ' + hook)
        os.unlink(hook)
        self.doctor(status=1)
        self.expect('problem', 'on_failed', 'tell: No such file', 'path of a program')

    def test_one_folder(self):
        os.rmdir(self.path('out'))
        os.symlink(self.path('in'), self.path('out'))
        self.doctor(status=1)
        self.expect('problem', 'output', 'input and output are one folder', 'two folders')

    # ---- what it is told

    def test_config(self):
        self.write('sluice.yaml', self.text() + 'nonsense: 1\nmore: 2\n')
        self.doctor(status=1)
        self.expect('problem', 'config', r'sluice\.yaml:6:1: .*nonsense', 'sluice check-config')

    def test_config_that_cannot_be_read(self):
        """It is one problem with its reason; everything else is looked at all the same."""
        missing, folder = self.path('missing.yaml'), self.path('in')
        for path, text in ((missing, 'No such file'), (folder, 'is a directory')):
            self.config = path
            told = self.doctor(status=1)
            self.expect('problem', 'config', '^%s: .*%s' % (re.escape(path), text), 'name the file')
            self.assertIn('worker', {f['check'] for f in told['findings']})
            run = subprocess.run([SLUICE, 'doctor', '--device', 'reference'], capture_output=True, text=True,
                                 env=dict(os.environ, LD_PRELOAD=SHIM, SHIM_ROOT=self.root, SLUICE_CONFIG=path))
            self.assertEqual((run.returncode, run.stderr), (1, ''))
            self.assertRegex(run.stdout, r'problem  %s: .*%s' % (re.escape(path), text))

    def test_config_of_another(self):
        """What root can read the daemon's user may not be able to."""
        if os.geteuid() != 0:
            self.skipTest('a file of another user needs root')
        for name in ('in', 'out'):
            os.chmod(self.path(name), 0o777)
        os.chmod(self.config, 0o600)
        self.doctor('--user', 'nobody', status=1, SLUICE_CACHE_DIR=self.cache_for_all())
        self.expect('problem', 'config', r'nobody may not read it \(mode 0600\)', 'chmod')

    def test_environment(self):
        self.doctor(status=1, SLUICE_LIMITS_MEMORY='much')
        self.expect('problem', 'environment', 'SLUICE_LIMITS_MEMORY', 'unset')

    def test_user(self):
        self.doctor('--user', 'nobody-of-this-name', status=1)
        self.expect('problem', 'user', 'no user', 'sysusers')

    def test_usage(self):
        self.assertEqual(subprocess.run([SLUICE, 'doctor', 'x'], capture_output=True).returncode, 64)


class Warm(Case):
    def setUp(self):
        super().setUp()
        run = subprocess.run([SLUICE, 'devices', '--json'], capture_output=True, text=True)
        if run.returncode != 0 or not json.loads(run.stdout):
            self.skipTest('no OpenCL device')
        self.cache = self.path('cache')
        self.env = dict(os.environ)
        self.env.pop('SLUICE_CACHE_DIR', None)

    def warm(self, *options, status=0):
        run = subprocess.run([SLUICE, 'warm', self.config, '--json', '--cache', self.cache, *options], env=self.env,
                             capture_output=True, text=True, timeout=600)
        self.assertEqual(run.returncode, status, run.stderr)
        return json.loads(run.stdout) if status == 0 else run.stderr

    def start(self, prefix=()):
        """A start of the daemon, to READY: programs compiled, taken from the cache, and its log."""
        env = dict(self.env, SLUICE_CACHE_DIR=self.cache, SLUICE_LOG_LEVEL='info')
        daemon = subprocess.Popen([*prefix, SLUICED, '--config', self.config, '--state', self.path('state')], env=env,
                                  stderr=subprocess.PIPE, text=True)
        log, found = '', None
        for line in daemon.stderr:
            log += line
            found = found or re.search(r'programs compiled: (\d+), from the cache: (\d+)', line)
            if 'sluiced: ready' in line:
                break
        daemon.terminate()
        daemon.communicate(timeout=60)
        self.assertTrue(found, log)
        return int(found[1]), int(found[2]), log

    @needs_opencl
    def test_start(self):
        """One chain, so that it is short, on a device with a compiler. Compiled once; then neither warm nor a start compiles anything; nor
        does one that cannot write to the cache."""
        self.write('sluice.yaml', self.text().replace('luminance,sobel', 'invert'))
        self.env['SLUICE_DEVICE'] = 'cpu'
        self.env['SLUICE_DEVICE_WAIT'] = 'true'
        first = self.warm()
        self.assertGreater(first['compiled'], 0)
        self.assertEqual(first['cached'], 0)
        self.assertEqual(first['cache'], self.cache)
        again = self.warm()
        self.assertEqual((again['compiled'], again['cached']), (0, first['compiled']))
        builds, hits, _ = self.start()
        self.assertEqual((builds, hits), (0, first['compiled']))

        unshare = ['unshare', '-m'] if os.geteuid() == 0 else ['unshare', '-rm']
        mount = ['sh', '-c', 'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && exec "$@"', self.cache]
        if subprocess.run([*unshare, *mount, 'true'], capture_output=True).returncode != 0:
            self.skipTest('nothing can be mounted here: a read-only cache is not looked at')
        shutil.rmtree(os.path.join(self.cache, 'pocl'), ignore_errors=True)
        before = sorted(os.listdir(self.cache))
        self.env['XDG_CACHE_HOME'] = self.path('xdg')
        builds, hits, log = self.start([*unshare, *mount])
        self.assertEqual((builds, hits), (0, first['compiled']), log)
        self.assertNotIn('cannot be used', log)
        self.assertEqual(sorted(os.listdir(self.cache)), before)

    def test_refused(self):
        self.write('sluice.yaml', self.text().replace('luminance,sobel', 'luminance,sobell'))
        self.assertRegex(self.warm(status=78), r"sluice\.yaml:2:17: chain 'luminance,sobell': .*sobel")
        self.write('sluice.yaml', self.text() + 'nonsense: 1\n')
        self.assertRegex(self.warm(status=78), 'nonsense')
        self.write('file', '')
        self.cache = self.path('file/cache')
        self.write('sluice.yaml', self.text())
        self.assertRegex(self.warm(status=73), 'cannot be written to')
        self.cache = 'relative'
        self.assertRegex(self.warm(status=64), 'absolute')
        self.assertEqual(subprocess.run([SLUICE, 'warm'], capture_output=True).returncode, 64)


if __name__ == '__main__':

    unittest.main(verbosity=2)
