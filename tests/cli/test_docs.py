#!/usr/bin/env python3
"""test_docs.py SLUICE SLUICED SOURCE_ROOT [PAGE…]: runs the commands of README.md and docs/ as they are written.

A command is what stands in a fence

    ```sh                   run, in a folder that the page's fences share
    ```sh daemon            … while a daemon watches in/ (its jobs socket is SLUICE_JOBS_SOCKET), with in/photo.jpg failed
    ```console              … its lines behind "$ " or "# "; the others are what is printed, and not compared
    ```sh root network      not run, for these reasons; the words are those of NOT_RUN below. They may also stand on the line
                            before, as <!-- not run: root network -->: README.md's first commands are found by those who look for ```sh
    ```yaml sluice.yaml     a file for the commands that follow
    ```python run           (or js, go) a client of the daemon at http.sock, which makes edges.png of photo.jpg; not run where its
                            language is not installed

or in an indented block whose first word is a program (PROGRAMS). Photographs and other inputs are made under the names
that the commands use. `sluiced` is started in the background, and the next command comes when it is ready.
A command that hides in a fence of another kind is an error.
"""
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

NOT_RUN = {
    'root': 'needs root',
    'systemd': 'needs systemd as process 1',
    'board': 'needs a board and its GPU',
    'network': 'needs a network',
    'proxy': 'needs the service, and programs that are not part of sluice',
    'gstreamer': 'needs GStreamer: tests/gst run it',
    'camera': 'needs a camera, a screen, or viewers',
    'browser': 'waits for a browser: tests/view runs it',
    'fleet': 'needs a NATS server: tests/fleet run it',
    'build': 'builds all of it, as was done to run this',
    'tests': 'runs all tests, this one among them',
}
PROGRAMS = {'apt-get', 'cc', 'curl', 'gcc', 'journalctl', 'meson', 'ninja', 'python3', 'sh', 'sluice', 'sluiced', 'ssh', 'sudo',
            'systemctl', 'build/src/sluice', 'build/src/sluiced'}
# A client's file, what runs it, and what tells whether that can be run.
CLIENTS = {
    'python': ('client.py', 'python3 client.py', ('python3', '-c', 'import httpx')),
    'js': ('client.js', 'node client.js', ('node', '--version')),
    'go': ('client.go', 'go run client.go', ('go', 'version')),
}
PATIENCE = 300  # seconds for one block
FENCE = re.compile(r'^\s*```\s*([\w-]*)\s*(.*?)\s*$')
NOTE = re.compile(r'^\s*<!-- not run: (.*?) -->\s*$')
# A file that a command reads or writes.
FILE = re.compile(r"(-o\s+|>\s*|--output[ =]|savez\(')?"
                  r'(?<![\w./-])((?:[\w.-]+/)*[\w-]+\.(?:jpe?g|png|bmp|pgm|npy|npz|yaml))(?![\w/])')
# A folder of pictures that a command reads.
FOLDER = re.compile(r'(?<!-o )(?<!--output )(?<!--watch )(?<![\w./-])([\w-]+)/(?=\s|$)')

# In place of the programs: what never ends by itself goes into the background, or is ended; and a table that takes half a
# minute is made of its smallest pictures (tests/cli/test_bench.py reads the tables).
SLUICED = r'''#!/bin/sh
here=$(dirname "$0")
runs() { # not a process that has ended and that nobody waits for, as in a container without an init
    case $(sed -n 's/^State:[[:space:]]*\(.\).*/\1/p' "/proc/$1/status" 2>/dev/null) in ''|Z|X) return 1;; esac
}
if [ -f "$here/pid" ]; then
    kill "$(cat "$here/pid")" && while runs "$(cat "$here/pid")"; do sleep 0.05; done
fi
case " $* " in *" --help "*|*" -V "*) exec "$REAL_SLUICED" "$@";; esac
: >"$here/log" # here, so that nobody reads of the one before
"$REAL_SLUICED" "$@" </dev/null >>"$here/log" 2>&1 &
echo $! >"$here/pid"
until grep -q 'sluiced: ready$' "$here/log"; do
    runs $! || { cat "$here/log" >&2; exit 1; }
    sleep 0.05
done
'''
SLUICE = '''#!/bin/sh
case " $* " in
*" status"*" --watch "*) timeout -s INT 3 "$REAL_SLUICE" "$@" || [ $? -eq 124 ];;
" bench "*filterbank*) shift && exec "$REAL_SLUICE" bench --max-pixels 700000 --iterations 1 "$@";;
*) exec "$REAL_SLUICE" "$@";;
esac
'''
CONFIG = '''version: 1
chains: {edges: "luminance,sobel"}
watch: [{input: in, output: out, chain: edges}]
'''


class Block:
    def __init__(self, line, language, words, text):
        self.line, self.language, self.words, self.text = line, language, words, text

    def is_command(self):
        return self.language in ('sh', 'console')

    def script(self):
        if self.language == 'sh':
            return self.text
        return ''.join(line[2:] for line in self.text.splitlines(True) if line[:2] in ('$ ', '# '))


def begins_with_a_program(text):
    words = text.split()
    return bool(words) and (words[0] in PROGRAMS or words[0] == '$' and len(words) > 1)


def find_blocks(text):
    """Fences, and paragraphs of indented blocks, in their order."""
    lines, at = text.split('\n'), 0
    while at < len(lines):
        begin = at
        fence, note = FENCE.match(lines[at]), NOTE.match(lines[at - 1]) if at > 0 else None
        at += 1
        if fence:
            while at < len(lines) and not lines[at].strip().startswith('```'):
                at += 1
            yield Block(begin + 1, fence.group(1), fence.group(2).split() + (note.group(1).split() if note else []), '\n'.join(lines[begin + 1:at]) + '\n')
            at += 1
        elif lines[begin].startswith('    ') and (begin == 0 or not lines[begin - 1].strip()):
            while at < len(lines) and lines[at].startswith('    '):
                at += 1
            body = '\n'.join(line[4:] for line in lines[begin:at]) + '\n'
            yield Block(begin + 1, 'sh' if begins_with_a_program(body) else '', [], body)


def complaint(block):
    """What is wrong with how a block is marked; None: nothing."""
    if block.is_command():
        unknown = [word for word in block.words if word != 'daemon' and word not in NOT_RUN]
        return 'no reason not to run it, nor a way to: %s' % ' '.join(unknown) if unknown else None
    if block.language in ('', 'text', 'bash', 'shell'):
        if any(begins_with_a_program(line) for line in block.text.splitlines()):
            return 'a command: mark it as ```sh, or why it cannot be run'
    return None


# ---- what commands find

def write_npy(path, shape):
    header = "{'descr': '<f4', 'fortran_order': False, 'shape': %s, }" % (shape,)
    header += ' ' * (63 - (10 + len(header)) % 64) + '\n'
    count = shape[0] * (shape[1] if len(shape) > 1 else 1)
    with open(path, 'wb') as file:
        file.write(b'\x93NUMPY\x01\x00' + struct.pack('<H', len(header)) + header.encode())
        file.write(struct.pack('<%df' % count, *((i * 37 % 256) / 2 - 60 for i in range(count))))


def runs(pid):
    """Not one that has ended and that nobody waits for, as in a container without an init."""
    try:
        with open('/proc/%d/stat' % pid, encoding='ascii', errors='replace') as file:
            return file.read().rsplit(')', 1)[1].split()[0] not in ('Z', 'X')
    except (FileNotFoundError, ProcessLookupError):
        return False


class Place:
    """A folder for one page, with the programs under the names that pages call them by."""

    def __init__(self, sluice, sluiced):
        self.dir = tempfile.mkdtemp(prefix='sluice-docs-')
        self.programs = os.path.join(self.dir, 'build', 'src')
        self.sluice = sluice
        os.makedirs(self.programs)
        for name, text in (('sluice', SLUICE), ('sluiced', SLUICED)):
            path = os.path.join(self.programs, name)
            with open(path, 'w', encoding='utf-8') as file:
                file.write(text)
            os.chmod(path, 0o755)
        home = os.path.join(self.dir, '.home')
        os.mkdir(home)
        self.env = dict(os.environ, HOME=home, REAL_SLUICE=sluice, REAL_SLUICED=sluiced, XDG_STATE_HOME=home,
                        PATH=self.programs + ':' + os.environ['PATH'], SLUICE_JOBS_SOCKET='jobs.sock')
        self.env.pop('SLUICE_LOG_LEVEL', None)  # "ready" is waited for

    def path(self, *parts):
        return os.path.join(self.dir, *parts)

    def write(self, name, text):
        with open(self.path(name), 'w', encoding='utf-8') as file:
            file.write(text)

    def make(self, name):
        path = self.path(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if name.endswith('.yaml'):
            self.write(name, CONFIG)
        elif name.endswith('.npy'):
            write_npy(path, (4096,) if 'signal' in name else (48, 64))
        else:
            is_mosaic = 'mosaic' in name  # a sensor's, of one channel
            card = self.path('.card.png') if is_mosaic else path
            subprocess.run([self.sluice, 'testcard', '-q', '--size', '320x240', '-o', card], check=True, env=self.env)
            if is_mosaic:
                subprocess.run([self.sluice, 'run', '-q', '-c', 'luminance', '-o', path, card], check=True, env=self.env)

    def prepare(self, script):
        """Makes the inputs that are not there: names that no earlier command has written."""
        written = set()
        if '*.jpg' in script:
            self.make('photo.jpg')
        for to, name in FILE.findall(script):
            if to:
                written.add(name)
            elif name not in written and not os.path.exists(self.path(name)) and not name.startswith('in/.sluice/'):
                self.make(name)
        for name in FOLDER.findall(script):
            if not os.path.exists(self.path(name)):
                self.make(os.path.join(name, name + '.jpg'))  # names of their own
        for folder in ('in', 'out'):  # of a configuration: those of the command line are made
            os.makedirs(self.path(folder), exist_ok=True)

    def run(self, script):
        """Returns what is wrong, None: nothing."""
        process = subprocess.Popen(['sh', '-eu', '-c', script], cwd=self.dir, env=self.env, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True)
        try:
            printed = process.communicate(timeout=PATIENCE)[0]
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return 'not done after %d s:\n%s' % (PATIENCE, process.communicate()[0])
        return None if process.returncode == 0 else 'exit status %d:\n%s' % (process.returncode, printed)

    def start_daemon(self):
        """With a photograph that is damaged, which has failed."""
        wrong = self.run('sluiced --watch in --output out --chain sobel --jobs-socket jobs.sock')
        os.makedirs(self.path('in'), exist_ok=True)
        with open(self.path('photo.jpg'), 'wb') as file:
            file.write(b'\xff\xd8\xff\xe0 no photograph')
        os.rename(self.path('photo.jpg'), self.path('in', 'photo.jpg'))
        end = time.monotonic() + 60
        while not wrong and not os.path.exists(self.path('in', '.sluice', 'failed', 'photo.jpg')):
            if time.monotonic() > end:
                wrong = 'no photograph has failed'
            time.sleep(0.05)
        return wrong

    def stop_daemon(self):
        try:
            with open(os.path.join(self.programs, 'pid'), encoding='ascii') as file:
                pid = int(file.read())
        except FileNotFoundError:
            return None
        os.unlink(os.path.join(self.programs, 'pid'))
        try:
            os.kill(pid, signal.SIGTERM)
        except ProcessLookupError:
            pass
        while runs(pid):
            time.sleep(0.05)
        with open(os.path.join(self.programs, 'log'), encoding='utf-8', errors='replace') as file:
            log = file.read()
        return None if 'sluiced: ended: ' in log else 'the daemon did not end in good order:\n' + log

    def try_block(self, block):
        wrong = self.start_daemon() if 'daemon' in block.words else None
        self.prepare(block.script())
        wrong = wrong or self.run(block.script())
        return self.stop_daemon() or wrong

    def try_client(self, block):
        """Returns what is wrong with it, and why it cannot be run here."""
        name, command, check = CLIENTS[block.language]
        try:
            runs = subprocess.run(check, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0
        except FileNotFoundError:
            runs = False
        if not runs:
            return None, '%s does not work here' % ' '.join(check)
        self.write(name, block.text)
        self.make('photo.jpg')
        wrong = self.run('sluiced --watch in --output out --chain invert --http-socket http.sock; rm -f edges.png; %s\n'
                         'sluice run -c luminance,sobel:scale=1 -o expected.png photo.jpg; cmp edges.png expected.png' % command)
        return self.stop_daemon() or wrong, None

    def remove(self):
        shutil.rmtree(self.dir, ignore_errors=True)


# ---- pages

class Result:
    def __init__(self):
        self.wrong, self.not_run, self.n_run = [], [], 0


def try_page(name, text, sluice, sluiced, result):
    place = Place(sluice, sluiced)
    try:
        for block in find_blocks(text):
            where = '%s:%d' % (name, block.line)
            wrong = complaint(block)
            if block.language == 'yaml' and block.words:
                place.write(block.words[0], block.text)
            reasons = [NOT_RUN[word] for word in block.words if word in NOT_RUN] if block.is_command() else []
            if 'curl ' in block.text and not shutil.which('curl'):
                reasons.append('curl is not installed')
            if 'numpy' in block.text and subprocess.call(['python3', '-c', 'import numpy'], stderr=subprocess.DEVNULL) != 0:
                reasons.append('numpy is not installed')
            if 'pywt' in block.text and subprocess.call(['python3', '-c', 'import pywt'], stderr=subprocess.DEVNULL) != 0:
                reasons.append('PyWavelets is not installed')
            if block.language in CLIENTS and 'run' in block.words:
                wrong, why_not = place.try_client(block)
                result.not_run += ['%s: %s' % (where, why_not)] if why_not else []
                result.n_run += not why_not
            if block.is_command() and not wrong:
                if reasons:
                    result.not_run.append('%s: %s' % (where, ', '.join(reasons)))
                else:
                    result.n_run += 1
                    wrong = place.try_block(block)
            if wrong:
                result.wrong.append('%s: %s\n%s' % (where, wrong, block.text))
    finally:
        place.remove()


def pages(root):
    yield 'README.md'
    for folder, folders, names in os.walk(os.path.join(root, 'docs')):
        folders.sort()
        for name in sorted(names):
            if name.endswith('.md'):
                yield os.path.relpath(os.path.join(folder, name), root)


def check_this(sluice, sluiced):
    """That what is wrong on a page is found."""
    page = '''
```sh
sluice testcard -o made.png        # found by the next one
```
    no block

```sh
sluice run -c sobel -o out.png made.png && test -f out.png
```

    sluice run -c sobell -o out.png photo.jpg

```
sluice stages
```

```sh root
false
```

```sh moon
sluice stages
```

<!-- not run: board -->
```sh
false
```

```console
$ sluice run -c invert -o b.png photo.jpg
printed
$ false
```
'''
    result = Result()
    try_page('page', page, sluice, sluiced, result)
    got = [text.split(': ')[0] + ' ' + re.sub(r'[^a-z ]', '', text.split(': ')[1].split('\n')[0]) for text in result.wrong]
    expected = ['page:11 exit status ', 'page:13 a command', 'page:21 no reason not to run it nor a way to',
                'page:30 exit status ']
    assert got == expected, (got, result.wrong)
    assert result.not_run == ['page:17: needs root', 'page:26: needs a board and its GPU'] and result.n_run == 4, (result.not_run, result.n_run)


def main():
    sluice, sluiced, root = (os.path.abspath(path) for path in sys.argv[1:4])
    wanted = sys.argv[4:]
    result = Result()
    if not wanted:
        check_this(sluice, sluiced)
    for name in wanted or pages(root):
        with open(os.path.join(root, name), encoding='utf-8') as file:
            try_page(name, file.read(), sluice, sluiced, result)
    print('%d blocks of commands were run; not run are %d:' % (result.n_run, len(result.not_run)))
    print('\n'.join('  ' + line for line in result.not_run))
    if not wanted and result.n_run < 20:
        result.wrong.append('only %d blocks were found: are they marked?' % result.n_run)
    for line in result.wrong:
        print('\n' + line)
    return 1 if result.wrong else 0


if __name__ == '__main__':
    sys.exit(main())
