#!/usr/bin/env python3
"""An analyser over src/: fails on a finding that is not in the list of those that were read.

usage: analyse.py TOOL BUILD [FILE...]

TOOL is gcc (-fanalyzer), cppcheck or clang-tidy (with the checks of .clang-tidy); BUILD is a build folder, of which
compile_commands.json is taken. The list is tests/analyse.txt: findings, a line each, and behind them, indented, why they are
wrong. A finding is known by its file, its check and the text of its line, so that it is read again when that line changes.
The list was made with Debian 12's versions (GCC 12, Cppcheck 2.10, clang-tidy 14); others may find something else."""

import concurrent.futures
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LIST = os.path.join(ROOT, 'tests', 'analyse.txt')
FINDING = re.compile(r'(\S+?):(\d+):(?:\d+:)? (?:warning|error|portability): (.*) \[([\w.,=-]+)\]$', re.MULTILINE)

# Analysers look at one file at a time, and so do not know that fault_set never returns 0.
FAULTS = '''#include "base/fault.h"
#define fault_set(...) \\
    ({ int set_ = fault_set(__VA_ARGS__); if (set_ == 0) __builtin_unreachable(); set_; })
'''
# Macros of headers that Cppcheck does not read, because the whole of them takes hours.
MACROS = '''#define TAILQ_HEAD(name, type) struct name { struct type *tqh_first; struct type **tqh_last; }
#define TAILQ_ENTRY(type) struct { struct type *tqe_next; struct type **tqe_prev; }
#define TAILQ_FOREACH(var, head, field) for ((var) = (head)->tqh_first; (var); (var) = (var)->field.tqe_next)
#define STAILQ_HEAD(name, type) struct name { struct type *stqh_first; struct type **stqh_last; }
#define STAILQ_ENTRY(type) struct { struct type *stqe_next; }
#define STAILQ_FOREACH(var, head, field) for ((var) = (head)->stqh_first; (var); (var) = (var)->field.stqe_next)
#define LIST_HEAD(name, type) struct name { struct type *lh_first; }
#define LIST_ENTRY(type) struct { struct type *le_next; struct type **le_prev; }
#define LIST_FOREACH(var, head, field) for ((var) = (head)->lh_first; (var); (var) = (var)->field.le_next)
#define json_array_foreach(array, i, value) \\
    for (i = 0; i < json_array_size(array) && (value = json_array_get(array, i)); i++)
#define json_object_foreach(object, key, value) \\
    for (key = json_key(object); key && (value = json_value(key)); key = json_next(object, key))
#define PNG_LIBPNG_VER_STRING ""
'''
# Cppcheck's messages that are of style, or that it gives because it reads no header of a system.
CPPCHECK = ['--enable=warning,portability', '--inline-suppr', '--suppress=invalidPointerCast', '--suppress=missingInclude',
            '--suppress=preprocessorErrorDirective', '--suppress=*:/usr/*']


def commands(build):
    """The compiler's folder and its arguments, by a file's path below ROOT."""
    with open(os.path.join(build, 'compile_commands.json'), encoding='utf-8') as file:
        entries = json.load(file)
    found = {}
    for entry in entries:
        name = os.path.relpath(os.path.join(entry['directory'], entry['file']), ROOT)
        if name.startswith('src/'):
            words = shlex.split(entry['command'])
            found[name] = entry['directory'], [w for w in words if re.match(r'-([IDUO]|std|isystem|f(?!diag))', w)]
    return found


def look(tool, build, folder, name, directory, words):
    path = os.path.join(ROOT, name)
    faults = [] if name == 'src/base/fault.c' else ['-include', os.path.join(folder, 'faults.h')]
    if tool == 'gcc':
        command = ['gcc', *words, *faults, '-fanalyzer', '-fdiagnostics-plain-output', '-ftrack-macro-expansion=0', '-S', '-o', '/dev/null', path]
    elif tool == 'clang-tidy':
        command = ['clang-tidy', '--quiet', '-p', build, *('--extra-arg=' + w for w in faults), path]
    else:
        own = [w for w in words if w[:2] in ('-I', '-D', '-U')]
        command = ['cppcheck', '--quiet', *CPPCHECK, '--include=' + os.path.join(folder, 'macros.h'), *own,
                   '--template={file}:{line}:{column}: {severity}: {message} [{id}]', path]
    done = subprocess.run(command, cwd=directory, capture_output=True, text=True, check=False)
    if done.returncode and not FINDING.search(done.stdout + done.stderr):
        print(done.stdout + done.stderr)
        raise SystemExit('%s of %s ended with %d' % (tool, name, done.returncode))
    for file, line, message, check in FINDING.findall(done.stdout + done.stderr):
        place = os.path.relpath(os.path.join(directory, file), ROOT)
        if place.startswith('src/'):
            with open(os.path.join(ROOT, place), encoding='utf-8') as source:
                text = source.read().split('\n')[int(line) - 1].strip()
        else:  # a macro or an inline function of a system's header, as used by this file
            place, text = name, os.path.basename(place)
        check = re.sub(r'^CWE-\d+\] \[', '', check).replace('-Wanalyzer-', '')
        yield '%s: %s: %s' % (place, check, text), '%s:%s: %s' % (place, line, re.sub(r' \[CWE-\d+\]', '', message))


def listed():
    with open(LIST, encoding='utf-8') as file:
        return {line for line in file.read().split('\n') if line and line[0] not in ' #'}


def main():
    tool, build, *only = sys.argv[1:]
    build = os.path.abspath(build)
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (('faults.h', FAULTS), ('macros.h', MACROS)):
            with open(os.path.join(folder, name), 'w', encoding='utf-8') as file:
                file.write(text)
        files = {n: c for n, c in commands(build).items() if not only or n in only}
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            looks = [pool.submit(lambda n=n, c=c: list(look(tool, build, folder, n, *c))) for n, c in sorted(files.items())]
            read, found, unread = listed(), set(), set()
            for key, message in (one for done in looks for one in done.result()):
                found.add(key)
                if key not in read | unread:
                    unread.add(key)
                    print('%s\n    %s' % (key, message), flush=True)
    print('%s: %d files, %d findings, %d of them not in tests/analyse.txt' % (tool, len(files), len(found), len(unread)))
    return len(unread) > 0


if __name__ == '__main__':
    sys.exit(main())
