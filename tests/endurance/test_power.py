#!/usr/bin/env python3
"""Power cuts: the file systems of input and state, and of output, are shut down in the middle of work, with all that was
not synced lost, and mounted again. A consumer takes results away meanwhile, and another program syncs. Each file has one
result, whole. In the case `fails` the disk of the results loses what is written for a moment, says so to whoever syncs
first, and works again, while the daemon goes on.

Needs root, loop devices and mkfs. CUTS is the number for each case (200), POWER_CASES=ext4,ext4-xfs-slow which: the file
system of all, or that of inputs and that of results, of which one may be slow."""
import collections
import ctypes
import errno
import fcntl
import itertools
import os
import random
import shutil
import struct
import subprocess
import sys
import threading
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'daemon'))
from sluice_test import Daemon, DaemonTest, main, picture, wait_for  # noqa: E402

CUTS = int(os.environ.get('CUTS', '200'))
# The file system of inputs, that of results if it is another one, and which of them is slow.
CASES = {'ext4': ('ext4', None, None), 'xfs': ('xfs', None, None),
         'ext4-slow': ('ext4', None, 'disk'), 'xfs-slow': ('xfs', None, 'disk'),
         'ext4-xfs': ('ext4', 'xfs', None), 'xfs-ext4': ('xfs', 'ext4', None),
         'ext4-xfs-slow': ('ext4', 'xfs', 'results'), 'xfs-slow-ext4': ('xfs', 'ext4', 'disk')}
CHOSEN = os.environ.get('POWER_CASES', ','.join([*CASES, 'fails'])).split(',')
DISK_FAULT = os.environ.get('DISK_FAULT')
SHUTDOWN = 0x8004587d       # EXT4_IOC_SHUTDOWN, XFS_IOC_GOINGDOWN
WITH_LOG, WITHOUT_LOG = 1, 2  # what is in the journal's memory is written, or lost
MKFS = {'ext4': (['mkfs.ext4', '-q', '-F'], 64 << 20), 'xfs': (['mkfs.xfs', '-q', '-f'], 320 << 20)}
FOLDERS = {'done': 'originals: done', 'gone': 'originals: delete', 'kept': 'originals: keep',
           'batch': 'originals: delete, sync: batch'}  # an older word for each


SLOW = 40       # milliseconds that each sync of a slow disk takes longer
KINDS = 60      # of pictures
BACKLOG = 60    # files
GAP = 0.1       # seconds, the longest between the ends of two disks
PAUSE = 600     # seconds, the longest until a file that met failures again and again is tried once more (docs/daemon.md)


def leave_mounts():
    """Nobody else's namespace gets a copy of our mounts, which would keep them after umount."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(0x20000) != 0 or libc.mount(b'none', b'/', None, 0x4000 | 0x40000, None) != 0:  # private, recursive
        raise unittest.SkipTest('no mount namespace: ' + os.strerror(ctypes.get_errno()))


def data_of(number):
    return picture(64 + number % KINDS, 48 + number % 6, number % KINDS)


def sync(directory, path):
    """XFS lets the sync of a directory pass that comes after the shutdown, where no machine would be left to tell; opening
    it fails then."""
    os.fsync(directory)
    os.close(os.open(path, os.O_RDONLY | os.O_DIRECTORY))


class Consumer(threading.Thread):
    """Takes each result that it sees; what it took is its own once the removal is synced. Before that a cut may bring
    the result back."""

    def __init__(self, test, folder):
        super().__init__(daemon=True)
        self.test, self.folder, self.over = test, folder, threading.Event()

    def run(self):
        out = self.test.path(self.folder, 'out')
        try:
            directory = os.open(out, os.O_RDONLY | os.O_DIRECTORY)
        except OSError:
            return
        while not self.over.wait(0.005):
            try:
                for name in sorted(os.listdir(out)):
                    if not name.startswith('.'):
                        self.take(directory, out, name)
            except OSError:
                pass  # the power is gone, or the disk fails for a moment
        os.close(directory)

    def take(self, directory, out, name):
        with open(os.path.join(out, name), 'rb') as file:
            data = file.read()
        self.test.took(self.folder, name, data, False)
        os.unlink(name, dir_fd=directory)
        sync(directory, out)
        self.test.took(self.folder, name, data, True)


class Syncer(threading.Thread):
    """Another program, which syncs the file system of the results: what is there gets onto the disk at any moment."""

    def __init__(self, path):
        super().__init__(daemon=True)
        self.disk, self.over = os.open(path, os.O_RDONLY), threading.Event()

    def run(self):
        libc, chance = ctypes.CDLL(None), random.Random(1)
        while not self.over.wait(chance.random() * 0.05):
            libc.syncfs(self.disk)
        os.close(self.disk)


@unittest.skipIf(os.getuid() != 0 or not os.path.exists('/dev/loop-control'), 'loop devices and mounts need root')
class Power(DaemonTest):
    @classmethod
    def setUpClass(cls):
        leave_mounts()

    def path(self, *parts):
        return os.path.join(self.dir, self.disks[-1] if parts[1:2] == ('out',) else 'disk', *parts)

    def mount(self, disk):
        subprocess.run(['mount', '-o', 'loop', os.path.join(self.dir, disk + '.image'), os.path.join(self.dir, disk)], check=True)

    def unmount(self, disk):
        def is_gone():
            return subprocess.run(['umount', os.path.join(self.dir, disk)], stderr=subprocess.DEVNULL, check=False).returncode == 0
        wait_for('the end of the mount', is_gone, 30)

    def make_disk(self, disk, kind):
        command, size = MKFS[kind]
        if not shutil.which(command[0]):
            self.skipTest('no %s here' % command[0])
        image, path = os.path.join(self.dir, disk + '.image'), os.path.join(self.dir, disk)
        with open(image, 'wb') as file:
            file.truncate(size)
        subprocess.run([*command, image], check=True)
        os.mkdir(path)
        try:
            self.mount(disk)
        except subprocess.CalledProcessError:
            self.skipTest('no %s can be mounted here' % kind)
        self.addCleanup(subprocess.run, ['umount', '-l', path], stderr=subprocess.DEVNULL, check=False)

    def make_folders(self):
        lines = ['watch:']
        for name, rules in FOLDERS.items():
            for part in ('in', 'out'):
                os.makedirs(self.path(name, part))
            lines.append('  - {input: %s, output: %s, chain: sobel, format: pgm, stable: 50ms, settle: 0s, %s}'
                         % (self.path(name, 'in'), self.path(name, 'out'), rules))
        for disk in self.disks:
            subprocess.run(['sync', '-f', os.path.join(self.dir, disk)], check=True)
        with open(os.path.join(self.dir, 'c.yaml'), 'w', encoding='utf-8') as file:
            file.write('\n'.join(lines) + '\n')

    def start(self):
        self.d = Daemon(self, folder=os.path.join(self.dir, 'spare'))
        if self.slow:
            self.d.env.update(LD_PRELOAD=DISK_FAULT, SLUICE_FAULT_DISK=os.path.join(self.dir, 'rule'))
            with open(self.d.env['SLUICE_FAULT_DISK'], 'w', encoding='utf-8') as file:
                file.write('sync %s/* slow:%d\n' % (os.path.join(self.dir, self.slow), SLOW))
        self.d.options = ['--config', os.path.join(self.dir, 'c.yaml'), '--device', 'reference', '--jobs', '2',
                          '--state', self.path('state')]
        self.d.start(ready=False)
        self.consumers = [Consumer(self, folder) for folder in FOLDERS] + [Syncer(self.path('done', 'out'))]
        for consumer in self.consumers:
            consumer.start()

    def end_consumers(self):
        for consumer in self.consumers:
            consumer.over.set()
        for consumer in self.consumers:
            consumer.join()

    def cut(self, how):
        """Two disks do not lose their power at the same moment."""
        disks = [os.open(os.path.join(self.dir, disk), os.O_RDONLY) for disk in self.disks]
        for i, disk in enumerate(random.sample(disks, len(disks))):
            time.sleep(GAP * random.random() if i else 0)
            fcntl.ioctl(disk, SHUTDOWN, struct.pack('I', how))
        for disk in disks:
            os.close(disk)
        self.end_consumers()
        self.d.process.kill()
        self.d.process.wait(30)
        self.d.reader.join(10)
        self.log += ['cut %d, %s' % (self.counts['cuts'], {1: 'with its log', 2: 'without'}[how])] + self.d.lines
        self.counts['cuts'] += 1
        for disk in self.disks:
            self.unmount(disk)
            self.mount(disk)

    # ---- files

    def put(self, folder, number):
        """It counts once it is on the disk; before that it is this producer's to lose."""
        name = '%06d.pgm' % number
        self.put_names[folder][name] = False
        try:
            aside, target = self.path(folder, 'in', '.%s.tmp' % name), self.path(folder, 'in', name)
            with open(aside, 'wb') as file:
                file.write(data_of(number))
                file.flush()
                os.fsync(file.fileno())
            os.rename(aside, target)
            directory = os.open(self.path(folder, 'in'), os.O_RDONLY)
            try:
                sync(directory, self.path(folder, 'in'))
            finally:
                os.close(directory)
            self.put_names[folder][name] = True
        except OSError as error:
            if error.errno not in (errno.EIO, errno.EROFS, errno.ESHUTDOWN, errno.ENODEV):
                raise

    def took(self, folder, name, data, synced):
        taken = self.taken[folder]
        self.log.append('%s/%s: %s' % (folder, name, 'the removal is synced' if synced else 'seen and read'))
        if name not in self.put_names[folder]:
            self.wrong.append('%s/%s: from nothing' % (folder, name))
        elif taken.get(name) and not synced:
            self.wrong.append('%s/%s: twice' % (folder, name))
        elif data != self.expected(int(name[:6])):
            self.wrong.append('%s/%s: %d bytes, which are not it' % (folder, name, len(data)))
        if not synced and name in taken:
            self.counts['came back'] += 1
        taken[name] = synced

    def expect_nothing_wrong(self):
        """Else with what was said of the files."""
        names = {os.path.basename(line.split(':')[0]).split('.')[0] for line in self.wrong}
        about = [line for line in self.log if line.startswith('cut ') or any(name in line for name in names)]
        self.assertEqual(self.wrong, [], '\n'.join(about[-400:]))

    def expected(self, number):
        data = data_of(number)
        if data not in self.results:
            self.results[data] = self.by_sluice_run(data)['']
        return self.results[data]

    # ---- a disk that fails

    def make_failing_disk(self):
        """The results' disk is a file with holes in a small file system in memory: where that is full, a block that was
        never written cannot be. Its journal stands elsewhere, so that the file system itself goes on."""
        store, path = os.path.join(self.dir, 'store'), os.path.join(self.dir, 'results')
        os.mkdir(store)
        os.mkdir(path)
        subprocess.run(['mount', '-t', 'tmpfs', '-o', 'size=200m', 'none', store], check=True)
        self.addCleanup(subprocess.run, ['umount', '-l', store], stderr=subprocess.DEVNULL, check=False)
        devices = []
        for image, size in (os.path.join(self.dir, 'journal.image'), 16 << 20), (os.path.join(store, 'image'), 1 << 30):
            with open(image, 'wb') as file:
                file.truncate(size)
            devices.append(subprocess.run(['losetup', '-f', '--show', image], check=True, capture_output=True, text=True).stdout.strip())
            self.addCleanup(subprocess.run, ['losetup', '-d', devices[-1]], stderr=subprocess.DEVNULL, check=False)
        subprocess.run(['mke2fs', '-q', '-O', 'journal_dev', '-b', '4096', devices[0]], check=True)
        subprocess.run(['mkfs.ext4', '-q', '-F', '-b', '4096', '-E', 'lazy_itable_init=0,nodiscard', '-J', 'device=' + devices[0],
                        devices[1]], check=True)
        subprocess.run(['mount', '-o', 'nodiscard,errors=continue', devices[1], path], check=True)
        self.addCleanup(subprocess.run, ['umount', '-l', path], stderr=subprocess.DEVNULL, check=False)

    def fail_the_disk(self, put, seconds):
        """Files come meanwhile. Afterwards whoever reads sees what is on the disk, no longer what was meant to be there."""
        store = os.path.join(self.dir, 'store')
        subprocess.run(['fstrim', os.path.join(self.dir, 'results')], check=True)  # blocks that are free were never written
        with open(os.path.join(store, 'filler'), 'wb') as file:
            size, step = 0, 128 << 20
            while step >= 4096:
                try:
                    os.posix_fallocate(file.fileno(), size, step)
                    size += step
                except OSError:
                    step //= 2
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            put()
        with open('/proc/sys/vm/drop_caches', 'w', encoding='ascii') as file:
            file.write('1')
        os.unlink(os.path.join(store, 'filler'))

    def test_fails(self):
        if 'fails' not in CHOSEN:
            self.skipTest('not among POWER_CASES')
        self.disks, self.slow = ['disk', 'results'], None
        self.make_disk('disk', 'ext4')
        self.make_failing_disk()
        self.begin()
        chance, began, numbers = random.Random(20261126), time.monotonic(), itertools.count()

        def put():
            if sum(map(len, self.put_names.values())) - sum(map(len, self.taken.values())) < BACKLOG:
                number = next(numbers)
                self.put(list(FOLDERS)[number % len(FOLDERS)], number)
            time.sleep(chance.random() * 0.02)

        self.start()
        for failure in range(CUTS):
            until = time.monotonic() + 0.3 + chance.random() * 1.2  # a file that meets many is tried again after minutes
            while time.monotonic() < until:
                put()
            self.fail_the_disk(put, chance.random() * 0.2)
            self.expect_nothing_wrong()
            if failure % 50 == 49:
                print('fails: %d failures, %d files, %d taken, %.0f s' % (failure + 1, sum(map(len, self.put_names.values())),
                                                                          sum(map(len, self.taken.values())), time.monotonic() - began), flush=True)
        self.expect_all()
        lost = sum('/out: No space left on device; tried again' in line for line in self.d.lines)
        self.assertGreater(lost, CUTS)
        print('fails: %d failures, of which the daemon met %d; %d files, each with its result; %.0f s'
              % (CUTS, lost, next(numbers), time.monotonic() - began))

    # ---- the run

    def begin(self):
        self.make_folders()
        self.put_names, self.taken = {name: {} for name in FOLDERS}, {name: {} for name in FOLDERS}
        self.wrong, self.counts, self.results, self.log = [], collections.Counter(), {}, []
        for i in range(KINDS):  # before anything is in a hurry
            self.expected(i)

    def run_case(self, case):
        inputs, results, self.slow = CASES[case]
        self.disks = ['disk', 'results'] if results else ['disk']
        for disk, kind in zip(self.disks, (inputs, results)):
            self.make_disk(disk, kind)
        self.begin()
        chance, number, began = random.Random(20261122), 0, time.monotonic()
        for cut in range(CUTS):
            self.start()
            if chance.random() < 0.7:
                wait_for('work', lambda: any('ready' in line for line in self.d.lines), 60)
            until = time.monotonic() + 0.15 + chance.random() * 0.85
            while time.monotonic() < until:
                if number - sum(map(len, self.taken.values())) > BACKLOG:
                    time.sleep(0.02)
                    continue
                self.put(list(FOLDERS)[number % len(FOLDERS)], number)
                number += 1
                time.sleep(chance.random() * 0.06)
            before = sum(map(len, self.taken.values()))
            self.cut(chance.choice((WITHOUT_LOG, WITHOUT_LOG, WITH_LOG)))
            self.expect_nothing_wrong()
            if cut % 50 == 49:
                print('%s: %d cuts, %d files, %d taken, %.0f s' % (case, cut + 1, number, before, time.monotonic() - began), flush=True)
        self.start()
        self.expect_all()
        print('%s: %d cuts, %d files (%d of them synced by their producer), %d results taken, of which %d came back after a cut '
              'that undid the removal; none lost, half or double; %.0f s'
              % (case, CUTS, number, sum(sum(n.values()) for n in self.put_names.values()), sum(map(len, self.taken.values())),
                 self.counts['came back'], time.monotonic() - began))

    def expect_all(self):
        for folder, names in self.put_names.items():
            sure = {name for name, synced in names.items() if synced}
            try:
                wait_for('all of ' + folder, lambda sure=sure, folder=folder: sure <= set(self.taken[folder]), PAUSE + 60, 0.1)
            except AssertionError:
                self.log += self.d.lines
                self.wrong += ['%s/%s: has no result' % (folder, name) for name in sorted(sure - set(self.taken[folder]))]
                self.expect_nothing_wrong()
        time.sleep(3)  # whatever would come twice
        self.end_consumers()
        self.d.stop()
        self.log += self.d.lines
        self.expect_nothing_wrong()
        for folder, names in self.put_names.items():
            sure = {name for name, synced in names.items() if synced}
            self.assertEqual(os.listdir(self.path(folder, 'in', '.sluice', 'failed')), [])
            self.assertEqual(os.listdir(self.path(folder, 'in', '.sluice', 'work')), [])
            self.assertEqual([n for n in os.listdir(self.path(folder, 'out'))], [])
            place = {'kept': ('in',), 'done': ('in', '.sluice', 'done')}.get(folder)
            if place:
                self.assertLessEqual(sure, set(os.listdir(self.path(folder, *place))))


for one in set(CHOSEN) - {'fails'}:
    setattr(Power, 'test_' + one.replace('-', '_'), lambda self, case=one: self.run_case(case))

if __name__ == '__main__':
    main()
