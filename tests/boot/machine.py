#!/usr/bin/env python3
"""tests/boot/machine.py [OPTION…]: the packages on an emulated board that loses its power.

Boots a whole Debian for arm64 under qemu, with the memory and the disks of a small board and without a network: 512 MB,
3 GB for the system and 1 GB for /var. There it installs the packages, then makes the system's disk read-only for good,
boots again, and has tests/boot/check.sh go through: pictures by the folder and both sockets; what is written to the disk for
each; loads during which the power is cut (qemu is killed), each followed by a boot and a look at every result.

  --packages DIR   what cross/package.sh --arch arm64 made (packages in the checkout)
  --suite NAME     bookworm (if nothing is said) or trixie
  --cuts N         how often the power goes (10)
  --after S        seconds of load until then, of the emulator's processor time, so that it is as much on a busy host; each
                   cut comes a bit later than the one before (9)
  --memory MIB     (512)
  --work DIR       root, kernel, consoles and the journal (build-boot in the checkout); the first two are kept

A cut takes what the kernel has not handed to its disk. A disk that loses what it said it had is not modelled.

As root, on Debian: apt-get install mmdebstrap qemu-system-arm qemu-user-static e2fsprogs kmod cpio
"""
import argparse
import glob
import hashlib
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time

ROOT = os.path.realpath(os.path.join(os.path.dirname(__file__), '..', '..'))
INCLUDE = 'systemd,systemd-sysv,dbus,kmod,apparmor,curl'
MODULES = ('virtio_pci', 'virtio_mmio', 'virtio_blk', 'virtio_console', 'virtio_rng', 'ext4')
BINFMT = '/proc/sys/fs/binfmt_misc'

INIT = '''#!/bin/busybox sh
busybox mount -t proc proc /proc
busybox mount -t devtmpfs dev /dev
for module in /modules/*; do busybox insmod $module; done
until [ -b /dev/vda ] && [ -b /dev/vdb ]; do busybox sleep 0.1; done
mode=rw
busybox grep -qw ro /proc/cmdline && mode=ro
busybox mount -t ext4 -o $mode /dev/vda /system
busybox mount -t ext4 /dev/vdb /system/var
busybox mount --move /dev /system/dev
busybox umount /proc
exec busybox switch_root /system /sbin/init
'''
# Commands come a line each; what they print goes back, and at last their status.
AGENT = '''#!/bin/bash
exec 3<>/dev/hvc0
stty -F /dev/hvc0 raw -echo
trap '' HUP
echo READY >&3
while IFS= read -r command <&3; do
    bash -c "$command" </dev/null >/run/agent.out 2>&1 3>&-
    status=$?
    cat /run/agent.out >&3
    echo "ENDED $status" >&3
done
'''
AGENT_UNIT = '''[Unit]
After=multi-user.target
[Service]
ExecStart=/usr/local/sbin/agent
Environment=HOME=/root
[Install]
WantedBy=multi-user.target
'''
# Nothing here has a use for these, and under an emulator each second of a boot is many.
MASKED = ('systemd-timesyncd.service', 'apt-daily.timer', 'apt-daily-upgrade.timer', 'dpkg-db-backup.timer', 'e2scrub_all.timer',
          'e2scrub_reap.service', 'fstrim.timer', 'getty@.service', 'serial-getty@.service', 'systemd-firstboot.service')

began = time.monotonic()


def say(what):
    print('== %s (%d s)' % (what, time.monotonic() - began), flush=True)


def run(*command, **more):
    subprocess.run(command, check=True, **more)


def write(path, text, mode=0o644):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'w', encoding='utf-8') as file:
        file.write(text)
    os.chmod(path, mode)


class ForeignPrograms:
    """This machine runs arm64 programs, while a root is made."""

    def __enter__(self):
        self.entry = self.mounted = None
        if os.uname().machine == 'aarch64' or os.path.exists(BINFMT + '/qemu-aarch64'):
            return
        if not os.path.exists(BINFMT + '/register'):
            run('mount', '-t', 'binfmt_misc', 'binfmt_misc', BINFMT)
            self.mounted = BINFMT
        if not os.path.exists(BINFMT + '/qemu-aarch64'):
            with open('/usr/lib/binfmt.d/qemu-aarch64.conf', encoding='ascii') as file:
                line = file.read().strip()
            with open(BINFMT + '/register', 'w', encoding='ascii') as file:
                file.write(line)
            self.entry = BINFMT + '/qemu-aarch64'

    def __exit__(self, *_):
        if self.entry:
            with open(self.entry, 'w', encoding='ascii') as file:
                file.write('-1')
        if self.mounted:
            run('umount', self.mounted)


def packages_of(options):
    release = {'bookworm': 'deb12', 'trixie': 'deb13'}[options.suite]
    found = [path for arch in ('arm64', 'all') for path in glob.glob('%s/sluice*+%s_%s.deb' % (options.packages, release, arch))
             if '-dbgsym_' not in path]
    if not found:
        sys.exit('machine.py: no packages for %s in %s: sh cross/package.sh --arch arm64 --suite %s'
                 % (options.suite, options.packages, options.suite))
    return found


def make_system(options, packages, root):
    """A pristine Debian beside which lies what the packages depend on, since the machine cannot fetch it."""
    asked = subprocess.run(['sh', '-c', 'for p; do dpkg-deb -f "$p" Depends Pre-Depends; done', 'sh'] + packages,
                           check=True, capture_output=True).stdout + INCLUDE.encode()
    # The version that the packages ask each other for is another each time.
    stamp = hashlib.sha256(b'\n'.join(sorted(re.sub(rb' \(= [^)]*\)', b'', asked).split(b'\n')))).hexdigest()
    if os.path.exists(root + '.asked') and open(root + '.asked', encoding='ascii').read() == stamp:
        return
    say('a pristine %s for arm64' % options.suite)
    shutil.rmtree(root, ignore_errors=True)
    copies = ['--customize-hook=copy-in %s /root/new' % path for path in packages]
    with ForeignPrograms():
        run('mmdebstrap', '--quiet', '--mode=root', '--variant=apt', '--arch=arm64', '--skip=check/qemu,cleanup/apt',
            '--dpkgopt=path-exclude=/usr/share/man/*', '--dpkgopt=path-exclude=/usr/share/locale/*', '--include=' + INCLUDE,
            '--customize-hook=mkdir -p "$1/root/new"', *copies,
            '--customize-hook=chroot "$1" sh -c "apt-get -qq -y --no-install-recommends --download-only install /root/new/*.deb"',
            options.suite, root)
    write(root + '.asked', stamp)


def furnish(root, packages):
    """What is ours on the machine's disk."""
    shutil.rmtree(root + '/root/new', ignore_errors=True)
    os.makedirs(root + '/root/new')
    for path in packages:
        shutil.copy(path, root + '/root/new/')
    shutil.copy(ROOT + '/tests/boot/check.sh', root + '/root/check.sh')
    write(root + '/usr/local/sbin/agent', AGENT, 0o755)
    units = root + '/etc/systemd/system/'
    write(units + 'agent.service', AGENT_UNIT)
    links = {units + 'multi-user.target.wants/agent.service': '/etc/systemd/system/agent.service',
             units + 'local-fs.target.wants/tmp.mount': '/usr/lib/systemd/system/tmp.mount',
             units + 'tmp.mount': '/usr/share/systemd/tmp.mount'}
    if os.path.exists(root + '/usr/lib/systemd/system/tmp.mount'):
        del links[units + 'tmp.mount']
    links.update((units + name, '/dev/null') for name in MASKED)
    for link, target in links.items():
        os.makedirs(os.path.dirname(link), exist_ok=True)
        if not os.path.lexists(link):
            os.symlink(target, link)
    # Both disks are mounted by the first process, the system's for writing or not, and stay so: a mount unit would wait for
    # udev, which is not there.
    write(root + '/etc/fstab', '')
    write(root + '/etc/machine-id', hashlib.md5(b'board').hexdigest() + '\n')
    write(root + '/etc/hostname', 'board\n')
    os.makedirs(root + '/var/log/journal', exist_ok=True)


def make_kernel(options, folder):
    """Debian's kernel, and a first file system with the modules that the disks need."""
    if os.path.exists(folder + '/initrd'):
        return
    say('a kernel')
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    tree, first = folder + '/tree', folder + '/first'
    run('mmdebstrap', '--quiet', '--mode=root', '--variant=extract', '--arch=arm64',
        '--include=linux-image-cloud-arm64,busybox-static', options.suite, tree)
    if not os.path.exists(tree + '/lib'):
        os.symlink('usr/lib', tree + '/lib')
    version = os.listdir(tree + '/lib/modules')[0]
    run('depmod', '-b', tree, version)
    shutil.copy(glob.glob(tree + '/boot/vmlinuz-*')[0], folder + '/vmlinuz')
    for name in ('bin', 'modules', 'dev', 'proc', 'system'):
        os.makedirs(os.path.join(first, name))
    shutil.copy([path for path in (tree + '/usr/bin/busybox', tree + '/bin/busybox') if os.path.exists(path)][0], first + '/bin/')
    wanted = []
    for module in MODULES:
        said = subprocess.run(['modprobe', '-S', version, '-d', tree, '--show-depends', module], capture_output=True, text=True,
                              check=False).stdout
        wanted += [line.split()[1] for line in said.splitlines() if line.startswith('insmod') and line.split()[1] not in wanted]
    for i, module in enumerate(wanted):
        copy = '%s/modules/%02d-%s' % (first, i, os.path.basename(module))
        shutil.copy(module, copy)
        if copy.endswith('.xz'):
            run('xz', '-d', copy)
    write(first + '/init', INIT, 0o755)
    run('sh', '-c', 'cd "$1" && find . | cpio -o -H newc --quiet | gzip -1 >"$2"', 'sh', first, folder + '/initrd')
    shutil.rmtree(tree)
    shutil.rmtree(first)


class Machine:
    def __init__(self, options, work, kernel):
        self.options, self.work, self.kernel = options, work, kernel
        self.boots, self.process, self.mode = 0, None, 'rw'

    def boot(self):
        self.boots += 1
        begin = time.monotonic()
        agent = '%s/agent-%d' % (self.work, os.getpid())
        if os.path.exists(agent):
            os.unlink(agent)
        drives = []
        for name in ('system', 'var'):
            drives += ['-drive', 'file=%s/%s.img,format=raw,if=none,id=%s,cache=writeback' % (self.work, name, name),
                       '-device', 'virtio-blk-pci,drive=' + name]
        # pauth-impdef: signing of pointers in a way that is cheap to emulate.
        self.process = subprocess.Popen(
            ['qemu-system-aarch64', '-M', 'virt', '-cpu', 'max,pauth-impdef=on', '-accel', 'tcg,thread=multi', '-smp', '2',
             '-m', str(self.options.memory), '-display', 'none', '-nic', 'none', '-no-reboot',
             '-kernel', self.kernel + '/vmlinuz', '-initrd', self.kernel + '/initrd',
             '-append', 'console=ttyAMA0 panic=-1 quiet systemd.show_status=no ' + self.mode] + drives +
            ['-device', 'virtio-rng-pci', '-device', 'virtio-serial-pci', '-chardev', 'socket,id=agent,path=%s,server=on,wait=off' % agent,
             '-device', 'virtconsole,chardev=agent', '-serial', 'file:%s/console-%d.log' % (self.work, self.boots)],
            stdin=subprocess.DEVNULL)
        self.socket = socket.socket(socket.AF_UNIX)
        while True:
            try:
                self.socket.connect(agent)
                break
            except OSError:
                if self.process.poll() is not None:
                    raise RuntimeError('qemu does not start') from None
                time.sleep(0.1)
        self.lines = self.socket.makefile('r', encoding='utf-8', errors='replace')
        self.socket.settimeout(900)
        while self.lines.readline().strip() != 'READY':
            if self.process.poll() is not None:
                raise RuntimeError('the machine ended: console-%d.log' % self.boots)
        say('boot %d: up after %.0f s, system %s' % (self.boots, time.monotonic() - begin, self.mode))

    def send(self, command):
        self.socket.sendall(command.encode() + b'\n')

    def do(self, command, quiet=False):
        """Returns whether it succeeded, and what it printed."""
        self.send(command)
        said = []
        while True:
            line = self.lines.readline()
            if not line:
                raise RuntimeError('the machine is gone')
            if line.startswith('ENDED '):
                return int(line.split()[1]) == 0, ''.join(said)
            said.append(line)
            if not quiet:
                print('   | ' + line.rstrip(), flush=True)

    def worked(self):
        """Seconds of a processor, of its two together."""
        with open('/proc/%d/stat' % self.process.pid, encoding='ascii') as file:
            user, system = file.read().rsplit(')', 1)[1].split()[11:13]
        return (int(user) + int(system)) / os.sysconf('SC_CLK_TCK')

    def end(self, how):
        """By its power, or in good order."""
        if how == 'cut':
            os.kill(self.process.pid, signal.SIGKILL)
        else:
            self.send('systemctl poweroff')
            try:
                self.process.wait(180)
            except subprocess.TimeoutExpired:
                self.process.kill()
        self.process.wait()
        self.lines.close()
        self.socket.close()


INSTALL = ('export DEBIAN_FRONTEND=noninteractive; head -3 /proc/meminfo; '
           'apt-get -qq -y --no-install-recommends install /root/new/*.deb 2>&1 | tail -3; '
           'dpkg-query -W -f \'${Package} ${Version} ${Status}\\n\' sluice sluiced sluice-relay && systemctl is-enabled sluiced.service')


def go_through(machine, cuts, after):
    """Returns what failed."""
    failed = []

    def step(name, command):
        say(name)
        if not machine.do(command)[0]:
            failed.append(name)
            say('FAILED: ' + name)

    machine.boot()
    step('the packages are installed', INSTALL)
    machine.end('off')
    # From now on the system is as boards have it.
    machine.mode = 'ro'
    machine.boot()
    step('nothing of the system may be written', '! touch /usr/x /etc/x 2>/dev/null; head -3 /proc/meminfo; df -h / /var | cat')
    step('start', 'bash /root/check.sh start')
    step('what is written for a picture', 'bash /root/check.sh writes')
    for cut in range(cuts):
        say('load %d, and the power goes' % (cut + 1))
        machine.send('bash /root/check.sh load')
        end = machine.worked() + after + cut
        while machine.process.poll() is None and machine.worked() < end:
            time.sleep(0.1)
        machine.end('cut')
        machine.boot()
        step('after cut %d' % (cut + 1), 'bash /root/check.sh after')
    step('AppArmor has refused nothing', '! journalctl -q | grep -E "DENIED.*sluice"')
    step('no unit has failed', 'systemctl --failed --no-legend --plain | grep . && exit 1; grep -E "^(MemTotal|MemAvailable)" /proc/meminfo')
    with open(machine.work + '/journal.txt', 'w', encoding='utf-8') as file:
        file.write(machine.do('journalctl --no-pager -o short-precise -n 6000', quiet=True)[1])
    machine.end('off')
    return failed


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument('--packages', default=ROOT + '/packages')
    parser.add_argument('--suite', default='bookworm', choices=('bookworm', 'trixie'))
    parser.add_argument('--work', default=ROOT + '/build-boot')
    parser.add_argument('--cuts', type=int, default=10)
    parser.add_argument('--after', type=float, default=9)
    parser.add_argument('--memory', type=int, default=512)
    options = parser.parse_args()
    if os.geteuid() != 0:
        sys.exit('machine.py: run it as root')
    work = os.path.realpath(options.work)
    os.makedirs(work, exist_ok=True)
    root, kernel = '%s/root-%s' % (work, options.suite), '%s/kernel-%s' % (work, options.suite)
    packages = packages_of(options)
    make_system(options, packages, root)
    make_kernel(options, kernel)
    say('disks: 3 GB and 1 GB')
    furnish(root, packages)
    for name, tree, size in (('system', root, '3G'), ('var', root + '/var', '1G')):
        image = '%s/%s.img' % (work, name)
        if os.path.exists(image):
            os.unlink(image)
        run('mke2fs', '-q', '-t', 'ext4', '-d', tree, image, size, stdout=subprocess.DEVNULL)
    machine = Machine(options, work, kernel)
    try:
        failed = go_through(machine, options.cuts, options.after)
    finally:
        if machine.process and machine.process.poll() is None:
            machine.process.kill()
            machine.process.wait()
    say('FAILED: ' + ', '.join(failed) if failed else 'passed: %d cuts, nothing lost' % options.cuts)
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
