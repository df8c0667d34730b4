#!/usr/bin/env python3
"""The manual pages, from what the programs say of themselves: --help, the table of settings, the stages.

    make.py SLUICE SLUICED FOLDER [SLUICE_RELAY]          writes them (ninja man)
    make.py --check SLUICE SLUICED FOLDER [SLUICE_RELAY]  1 when one differs from what is there, or a formatter complains

The pages are part of the source, because a build for another machine cannot run its programs."""
import json
import os
import re
import shutil
import subprocess
import sys

DATE = '2026-11-21'
VERSION = None  # sluice --version says it


def ask(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          stdin=subprocess.DEVNULL).stdout.decode()


# ---- roff

def escape(text):
    """Text as roff takes it: characters that would mean something, and those that an ASCII terminal lacks."""
    text = text.replace('\\', '\\e').replace('-', '\\-').replace("'", '\\(aq').replace('`', '\\(ga')
    text = text.replace('^', '\\(ha').replace('~', '\\(ti').replace('…', '...').replace('×', '\\(mu')
    text = text.replace('−', '\\-').replace('·', '\\(pc').replace('√', '\\(sr').replace('²', '\\(S2')
    text = text.replace('Σ', '\\(*S').replace('⌊', '\\(lf').replace('⌋', '\\(rf').replace('≥', '\\(>=')
    return '\\&' + text if text.startswith('.') else text


def inline(text):
    """Escaped; `words` in backquotes and **these** are bold, *these* italic."""
    parts = re.split(r'(`[^`]+`|\*\*[^*]+\*\*|(?<![\w*])\*[^*\s][^*]*\*(?![\w*]))', text)
    out = ''
    for part in parts:
        if part.startswith('`') and part.endswith('`') and len(part) > 2:
            out += '\\fB' + escape(part[1:-1]) + '\\fR'
        elif part.startswith('**'):
            out += '\\fB' + escape(part[2:-2]) + '\\fR'
        elif part.startswith('*') and part.endswith('*') and len(part) > 2:
            out += '\\fI' + escape(part[1:-1]) + '\\fR'
        else:
            out += escape(part)
    return '\\&' + out if out.startswith('.') else out


def lines_of(text):
    """A text as lines of roff: a sentence begins a line, and none is long."""
    lines = []
    outside = r'(?=[^`]*(?:`[^`]*`[^`]*)*$)'  # of `words` in backquotes
    for part in re.split(r'(?<=[.:;?!])(?<!e\.g\.) +(?=[A-Z*`])%s|\n' % outside, text):
        line = ''
        for word in inline(part).split():
            if line and len(line) + 1 + len(word) > 78:
                lines.append(line)
                line = ''
            line += (' ' if line else '') + word
        lines.append(line)
    return ['\\&' + line if line.startswith('.') else line for line in lines if line]


def sentence(text, values=()):
    """With a capital, unless it begins with a value, which would not be understood in capitals."""
    value = re.match(r'(auto|haar)\b|\w*\d|\w:', text) or text.split(' ')[0] in values
    return (text if value else text[:1].upper() + text[1:]) + '.'


class Page:
    def __init__(self, name, section, what):
        self.lines = ['.\\" Made by docs/man/make.py (ninja man). Do not edit.',
                      '.TH %s %d "%s" "sluice %s" "sluice"' % (name.upper(), section, DATE, VERSION)]
        self.section('Name')
        self.lines.append('%s \\- %s' % (escape(name), escape(what)))
        self.fresh = False

    def section(self, title):
        self.lines.append('.SH %s' % title.upper())
        self.fresh = True

    def subsection(self, title):
        self.lines.append('.SS %s' % escape(title))
        self.fresh = True

    def text(self, text):
        """Paragraphs, between them empty lines; one of lines that are indented is set as it is."""
        for paragraph in re.split(r'\n\s*\n', text.strip('\n')):
            lines = paragraph.split('\n')
            if all(line.startswith('    ') for line in lines):
                self.example(line[4:] for line in lines)
                continue
            if not self.fresh:
                self.lines.append('.PP')
            self.fresh = False
            self.lines += lines_of(' '.join(line.strip() for line in lines))

    def example(self, lines):
        if not self.fresh:
            self.lines.append('.PP')
        self.fresh = False
        self.lines += ['.RS 4', '.EX', *(escape(line) for line in lines), '.EE', '.RE']

    def item(self, tag, text):
        self.lines += ['.TP', tag, *lines_of(text)]
        self.fresh = False

    def items(self, pairs):
        for tag, text in pairs:
            self.item(inline(tag), text)

    def __str__(self):
        return '\n'.join(self.lines) + '\n'


# ---- what the programs say

class Help:
    """--help, taken apart."""

    def __init__(self, text):
        head, rest = text.split('\noptions:\n', 1)
        self.usage, self.summary = [part.strip() for part in head.split('\n\n', 1)]
        self.usage = self.usage[len('usage: '):]
        self.options, details = [], []
        for line in rest.split('\n'):
            match = re.match(r'  (-\w, |    )(--[\w-]+)((?: \S+)?)\s{2,}(.*)$', line)
            if match and not details:
                self.options.append(((match[1] + match[2]).strip(), match[3].strip(), match[4]))
            else:
                details.append(line)
        self.details = '\n'.join(details).strip('\n')
        assert self.options and self.options[-1][0] == '-h, --help', text


def add_options(page, options, but=()):
    for names, value, text in options:
        if names.split('--')[-1] in but:
            continue
        bold = ', '.join('\\fB%s\\fR' % escape(name) for name in names.split(', '))
        default = re.search(r' \[([^\[\]]+)\]$', text)
        text = text[:default.start()] if default else text
        page.item(bold + (' \\fI%s\\fR' % escape(value) if value else ''),
                  sentence(text + (' (default: `%s`)' % default[1] if default else '')))


def add_details(page, details):
    """Sentences, and lines that are commands."""
    for paragraph in filter(None, re.split(r'\n\s*\n', details)):
        group = []
        for line in paragraph.split('\n'):
            command = re.match(r'\s*(sluiced?|curl) ', line) is not None
            if group and group[0] != command:
                add_group(page, group)
                group = []
            group = group or [command]
            group.append(line)
        add_group(page, group)


def add_group(page, group):
    if group[0]:
        page.example(line.strip() for line in group[1:])
    else:
        page.text('\n'.join(group[1:]))


# ---- what is common to pages

EXIT_STATUS = [
    ('0', 'All done.'),
    ('1', 'At least one of several jobs failed; `compare`: the pictures differ; `doctor`: there is a problem.'),
    ('64', 'A wrong command line, or a chain that is none; the place is marked.'),
    ('65', 'Damaged or unknown data, an empty file, a limit exceeded.'),
    ('66', 'No such input.'),
    ('69', 'No device, or no daemon.'),
    ('70', 'A defect of sluice, or results that `--verify` finds to differ.'),
    ('73', 'An output cannot be made.'),
    ('74', 'Reading or writing failed.'),
    ('75', 'The daemon has no room for the job now: try again later.'),
    ('77', 'Not permitted.'),
    ('78', 'A wrong configuration or environment.'),
    ('129, 130, 143', '`run` and `submit` were ended by SIGHUP, SIGINT or SIGTERM. Nothing unfinished is left behind.'),
]
SHARED_OPTIONS = {'device', 'platform-index', 'device-index', 'cl-flags', 'dump-binary', 'load-binary', 'max-pixels',
                  'max-file', 'memory', 'threads', 'config', 'json', 'quiet', 'verbose', 'help'}
ENVIRONMENT = [
    ('SLUICE_DEVICE', 'The device, where `--device` does not say it.'),
    ('SLUICE_CONFIG', 'The configuration, where `--config` does not say it.'),
    ('SLUICE_LOG_LEVEL', '`error`, `warning`, `info` or `debug`.'),
    ('SLUICE_CACHE_DIR', 'Where compiled kernels are kept: else `$CACHE_DIRECTORY`, `$XDG_CACHE_HOME/sluice` or '
     '`~/.cache/sluice`. One that cannot be written to is read, and the next of them is written.'),
    ('SLUICE_JOBS_SOCKET', "The daemon's jobs socket, for `submit` and `status`."),
    ('SLUICE_WORKER', 'Another worker program.'),
    ('OCL_ICD_VENDORS', 'Where the OpenCL loader finds its drivers.'),
]


def sluice_page(sluice, commands):
    page = Page('sluice', 1, 'filter pictures through chains of kernels, on a GPU or the processor')
    page.section('Synopsis')
    page.text('`sluice` *COMMAND* [*OPTIONS*] ...')
    page.section('Description')
    page.text('`sluice` runs chains of filters on pictures, on an OpenCL device or in plain C, and asks `sluiced`(8) '
              'to do so.\nChains and their stages are in `sluice-chain`(7).')
    page.section('Commands')
    helps = {name: Help(ask(sluice, name, '--help')) for name in commands}
    shared = {}
    for name, told in helps.items():
        page.subsection(told.usage)
        page.text(told.summary)
        own = [option for option in told.options if option[0].split('--')[-1] not in SHARED_OPTIONS]
        add_options(page, own)
        add_details(page, told.details)
        for option in told.options:
            shared.setdefault(option[0].split('--')[-1], option)
    page.section('Common options')
    page.text('Each command takes those of these that mean something to it: `sluice` *COMMAND* `--help` lists them.')
    add_options(page, [option for name, option in shared.items() if name in SHARED_OPTIONS])
    page.text('What a command prints with `--json` is described by a JSON Schema: `schemas/`*COMMAND*`.json` among '
              "sluice's\ndocumentation, of `submit` that of `run`. Times are in seconds; their names end in `_s`.")
    page.section('Exit status')
    page.items(EXIT_STATUS)
    page.section('Environment')
    page.items(ENVIRONMENT)
    page.section('Examples')
    page.text('''Edges of a photograph:

    sluice run -c luminance,sobel:scale=1 -o edges.png photo.jpg

A folder of them, blurred:

    sluice run -r -c luminance,box:radius=4 -f jpg:quality=80 -o out photos/

What a chain would do, and what is wrong with this machine:

    sluice plan -c luminance,sobel:scale=1 1920x1080x3
    sluice doctor''')
    page.section('See also')
    page.text('`sluiced`(8), `sluice-relay`(8), `sluice.yaml`(5), `sluice-chain`(7)')
    return page


SIGNALS = [
    ('SIGTERM', 'Take nothing new, let running jobs finish within `limits.shutdown`; all else stays in its place for the '
     'next start. Once more: give up what runs. So does `SIGINT`.'),
    ('SIGHUP', 'Read the configuration again. One that is wrong changes nothing.'),
    ('SIGUSR1', 'Log the state and all metrics.'),
]


def sluiced_page(sluiced):
    told = Help(ask(sluiced, '--help'))
    page = Page('sluiced', 8, 'run chains on pictures that are put into folders, or sent by clients')
    page.section('Synopsis')
    page.text('`sluiced` `--config` *FILE* [*OPTIONS*]\n\n'
              '`sluiced` `--watch` *DIR* `--output` *DIR* `--chain` *CHAIN* [*OPTIONS*]')
    page.section('Description')
    page.text('''`sluiced` takes every picture that is put into a watched folder, runs a chain on it, and puts the result into
another folder. Originals go to *DIR*/.sluice/done, or with the reason to *DIR*/.sluice/failed. Nothing is lost, and no
result appears before it is whole, whatever happens in between.

It starts `sluice-worker`, which decodes, computes and encodes, and replaces it when it dies, hangs, grows or is old. It
needs neither root nor systemd.''')
    page.section('Options')
    page.text('Each may stand in the configuration, too, see `sluice.yaml`(5); what is said here comes before it.')
    add_options(page, told.options)
    page.section('Signals')
    page.items(SIGNALS)
    page.section('As a service')
    page.text('''The unit sluiced.service is notified when the device, the kernels of the configured chains, folders and
sockets are ready; a start is given more time while it compiles. Its watchdog is fed by the loop, which for its part
replaces a worker that gives no sign of life. Sockets that a service manager hands over are taken in place of those that
the configuration names: a stream for HTTP, packets for jobs.

In the journal, lines about a job have the fields `SLUICE_JOB`, `SLUICE_CHAIN` and `SLUICE_FILE`:

    journalctl -u sluiced SLUICE_FILE=/var/lib/sluice/in/photo.jpg''')
    page.section('Exit status')
    page.items([('0', 'Ended by a signal, in good order.'),
                ('64', 'Wrong options, chain or format.'), ('66', 'The configuration file is missing.'),
                ('69', 'No device, or no worker that comes up.'),
                ('70', 'A defect of sluice, memory is out, or a device that fails without a fallback.'),
                ('73', 'A socket cannot be made, or nothing says where the state directory is.'),
                ('74', 'The disk did not answer at the end.'), ('77', 'The configuration file may not be read.'),
                ('78', 'The configuration or the environment is wrong.')])
    page.section('Environment')
    page.items([row for row in ENVIRONMENT if row[0] != 'SLUICE_JOBS_SOCKET'])
    page.text('Each setting has a variable of its own, named in `sluice.yaml`(5).')
    page.section('Files')
    page.items([('/etc/sluice/sluice.yaml', "The service's configuration."),
                ('/var/lib/sluice', 'Its state: the ledger, and the folders of the installed configuration.'),
                ('/var/cache/sluice', 'Compiled kernels.'),
                ('/run/sluice', 'The sockets http.sock and jobs.sock.')])
    page.section('See also')
    page.text('`sluice`(1), `sluice.yaml`(5), `sluice-chain`(7), `systemd.service`(5)')
    return page


def relay_page(relay):
    told = Help(ask(relay, '--help'))
    page = Page('sluice-relay', 8, 'jobs of a fleet, from a NATS JetStream to sluiced')
    page.section('Synopsis')
    page.text('`sluice-relay` `--config` *FILE* [*OPTIONS*]')
    page.section('Description')
    page.text('''`sluice-relay` takes jobs from a queue that many machines share, has this machine's `sluiced`(8) do them by its
jobs socket, and stores the results. A job is acknowledged when the hub has its result, so nothing is lost with a machine,
and each job has one result.

It reads the section `relay` of `sluice.yaml`(5). docs/fleet.md says how a fleet is made, what to watch, and what each
message means.''')
    page.section('Options')
    add_options(page, told.options)
    page.section('Signals')
    page.items([('SIGTERM', 'Take no new jobs; running ones have `limits.shutdown` to end, then they are given back. '
                 'Once more: give them back at once. So does `SIGINT`.')])
    page.section('Exit status')
    page.items([('0', 'Ended by a signal, once its jobs were done or given back.'), ('64', 'Wrong options.'),
                ('69', 'No server answers within 60 s of the start, or it is older than 2.10.'),
                ('70', 'Memory is out, or a job does not end.'), ('77', 'Credentials or a certificate are refused.'),
                ('78', 'The configuration is wrong, or a file that it names is missing.')])
    page.section('Environment')
    page.items([('SLUICE_CONFIG', 'The configuration, where `--config` is not given.'),
                ('SLUICE_JOBS_SOCKET', "The daemon's jobs socket, where the configuration has none.")])
    page.text('Each setting has a variable of its own, named in `sluice.yaml`(5).')
    page.section('See also')
    page.text('`sluiced`(8), `sluice`(1), `sluice.yaml`(5)')
    return page


def table_rows(text):
    """The sections of check-config --reference: title, sentence, rows of cells."""
    for part in re.split(r'^### ', text, flags=re.M)[1:]:
        title, body = part.split('\n', 1)
        sentence = body.strip().split('\n')[0]
        lines = [line for line in body.split('\n') if line.startswith('|')]
        cells = [[cell.strip() for cell in re.split(r'(?<!\\)\|', line)[1:-1]] for line in lines]
        yield title.replace('`', ''), sentence, cells[0], cells[2:]


def yaml_page(sluice):
    page = Page('sluice.yaml', 5, 'configuration of sluiced')
    page.section('Description')
    page.text('''A strict subset of YAML: mappings, lists and plain or quoted values; no anchors, aliases, tags or merge
keys. A key that is unknown or there twice is an error. Values with a unit need it: `5s`, `200ms`, `7d`; `64MiB`, `1GB`;
`100MP`. The command line overrides the environment, which overrides the file, which overrides the defaults.

    sluice check-config FILE

lists all errors at once. After `SIGHUP` (systemctl reload sluiced) the file is read again.''')
    page.section('Example')
    page.text('''    version: 1
    chains:
      edges: "luminance,sobel:scale=1"
    listen:
      http: {unix: /run/sluice/http.sock, mode: "0660", group: sluice}
    watch:
      - input: /var/lib/sluice/in
        output: /var/lib/sluice/out
        chain: edges
        format: png
        done: {keep: 1GiB, age: 7d}     # without it all originals are kept''')
    page.section('Sections')
    page.items([
        ('version', '`1`.'),
        ('chains', 'Chains by name, for folders and clients.'),
        ('kernels', 'Matrices by name, for stages that take `@name`.'),
        ('banks', 'Filter banks by name, likewise.'),
        ('cameras', 'Calibrations by name, for `undistort`: a file of OpenCV or ROS, or its keys.'),
        ('pictures', 'Files of second pictures by name, for `subtract`, `divide`, `difference`, `mask` and `blend`.'),
        ('listen', '`http` and `jobs`, each `{unix: PATH, mode: "0660", group: NAME, chains: any}`. With `chains: configured` clients name chains of this '
                   'file and write none.'),
        ('relay', 'What `sluice-relay`(8) and `sluice enqueue` read. `servers`, `get` and `put` are lists; `tls` is '
         '`{ca: FILE}`.'),
        ('watch', 'A list of folders. Besides the keys below: `done` and `failed`, each `{keep: SIZE, age: DURATION}`, '
         'how much is kept; `ignore`, a list of patterns of names that are left alone.')])
    for title, summary, head, rows in table_rows(ask(sluice, 'check-config', '--reference')):
        page.subsection(title)
        page.text(summary)
        for row in rows:
            cell = dict(zip(head, row))
            text = sentence(row[-1]) + '\nA value of: ' + cell['value'].replace('`', '') + '.'
            if cell['default']:
                text += '\nDefault: %s.' % cell['default'].replace(',', ', ')
            for name in ('environment', 'option'):
                if cell.get(name):
                    text += '\n%s: %s.' % (name.capitalize(), cell[name])
            page.item(inline(row[0]), text.replace('\\|', '|'))
    page.section('Files')
    page.items([('/etc/sluice/sluice.yaml', "The service's.")])
    page.section('See also')
    page.text('`sluiced`(8), `sluice-chain`(7), `sluice`(1)')
    return page


def limit(param):
    if param.get('choices'):
        return ', '.join('`%s`' % choice for choice in param['choices'])
    low, high = param.get('min'), param.get('max')
    if low is None or high is None or param['type'] in ('matrix', 'text'):
        return ''
    return 'from %s to %s' % tuple('%d' % end if end == int(end) else repr(end) for end in (low, high))


def chain_page(sluice):
    page = Page('sluice-chain', 7, 'chains of stages')
    page.section('Description')
    page.text('''A chain is stages joined by commas:

    stage[:arg[:arg...]][,stage...]

An argument is *name*=*value*, or a value alone, which the first parameter that has none yet takes, in the order in which
they are listed. Values are made of A-Z a-z 0-9 . _ - / @, nothing that a shell, a URL or YAML would treat specially, so nothing is quoted but patterns with `*`. The numbers of a list
are joined by `_`, the rows of a matrix by `/`. `@name` is a kernel or a bank of the configuration. Blanks around commas
do not count. An empty chain only converts formats.

    luminance,sobel:scale=1
    luminance:bt709,fir:-1_-1_-1/-1_9_-1/-1_-1_-1:divisor=1,box:radius=4:method=sat
    luminance,dwt:cdf97:levels=4,shrink:soft:threshold=universal,idwt

Where planes have names (behind `dwt`, `analysis`, `sobel:both`), every stage takes `only=`*PATTERN*: it changes the planes whose names fit, and the others stay. `*` stands for any characters, `/` joins several
patterns. The stage must keep the number, sizes and channels of planes.

    luminance,dwt:db4:levels=3,gain:2:only=HL*/LH*,idwt

An error names the stage, the parameter, the value and what is allowed; all errors of a chain are reported at once. `sluice plan` prints a chain with every parameter
written out.

Borders are named as in numpy.pad: `edge` repeats the last sample, `reflect` and `symmetric` mirror the picture (without the
last sample, and with it), `wrap` repeats the picture, `zero` is black. With `crop` only positions whose whole window lies inside come out.''')
    page.section('Stages')
    for stage in json.loads(ask(sluice, 'stages', '--json')):
        page.subsection(stage['name'])
        page.text(sentence(stage['summary']))
        for param in stage['params']:
            allowed = limit(param)
            text = sentence((param['help'] or '').strip(), param.get('choices') or ())
            if param['default'] not in (None, ''):
                text += '\nDefault: `%s`.' % param['default']
            if param.get('required'):
                text += '\nMust be given.'
            page.item('\\fB%s\\fR (%s)' % (escape(param['name']), escape(param['type'])),
                      text + ('\nAllowed: %s.' % allowed if allowed else ''))
    page.section('See also')
    page.text('`sluice`(1), `sluice.yaml`(5), `sluiced`(8)')
    return page


def complaints(path):
    """Of formatters, as far as they are there."""
    found = ''
    if shutil.which('groff'):
        run = subprocess.run(['groff', '-man', '-Tutf8', '-Kutf8', '-ww', '-rHY=0', '-z', path], capture_output=True, text=True)
        found += run.stdout + run.stderr
    if shutil.which('mandoc'):
        run = subprocess.run(['mandoc', '-T', 'lint', '-W', 'style', path], capture_output=True, text=True)
        found += run.stdout + run.stderr
    return found


def main():
    global VERSION
    check = sys.argv[1] == '--check'
    sluice, sluiced, folder, *relay = sys.argv[1 + check:]
    VERSION = ask(sluice, '--version').split()[1]
    told = ask(sluice, '--help')
    commands = re.findall(r'^  ([a-z-]+)\s+\S', told.split('commands:\n', 1)[1].split('\n\n')[0], re.M)
    pages = {'sluice.1': sluice_page(sluice, commands), 'sluiced.8': sluiced_page(sluiced),
             'sluice.yaml.5': yaml_page(sluice), 'sluice-chain.7': chain_page(sluice)}
    if relay:
        pages['sluice-relay.8'] = relay_page(relay[0])
    status = 0
    for name, page in pages.items():
        path = os.path.join(folder, name)
        if not check:
            with open(path, 'w', encoding='utf-8') as file:
                file.write(str(page))
            continue
        with open(path, encoding='utf-8') as file:
            if file.read() != str(page):
                print('%s is not what the programs say: run ninja man' % path)
                status = 1
        found = complaints(path)
        if found:
            print(found)
            status = 1
    if check and not (shutil.which('groff') or shutil.which('mandoc')):
        print('neither groff nor mandoc is here: pages are compared, not formatted')
    return status


sys.exit(main())
