#!/usr/bin/env python3
"""check_abi.py [--write] HEADER LIBRARY ABI DUMP SYMBOLS: holds what programs were compiled against.

ABI lists every function with its arguments, every enum's number, and every member of a struct with its offset and size,
as a compiler sees them, and the library's symbols. Nor may the library call what would change its process (EFFECTS). A line that is missing or differs breaks programs: then the soname has
to change. A line that is new goes into the list (--write). SYMBOLS is debian/libsluice0.symbols, which has to name every
symbol. DUMP is the same as abidw (libabigail) has it, from the library's debugging information; where abidiff is installed, it
compares, and what it calls incompatible fails."""
import os
import re
import shutil
import subprocess
import sys
import tempfile


def without_comments(text):
    return re.sub(r'/\*.*?\*/', ' ', text, flags=re.S)


def words(text):
    return ' '.join(text.split())


def functions(text):
    for found in re.finditer(r'^SLUICE_API\s+([^;]+);', text, re.M):
        yield 'function ' + words(found.group(1))


def structs(text):
    for name, body in re.findall(r'^struct (\w+) \{(.*?)^\};', text, re.M | re.S):
        members = []
        for line in body.split(';'):
            line = words(line)
            if line:
                for part in line.split(','):
                    members.append(re.search(r'(\w+)(?:\[\w+\])?$', part.strip()).group(1))
        yield name, members


def constants(text):
    for body in re.findall(r'^enum \w+ \{(.*?)^\};', text, re.M | re.S):
        yield from re.findall(r'\b(SLUICE_\w+)\s*=', body)


def measured(header, text):
    lines = ['#include <stdio.h>', '#include "%s"' % header, 'int main(void) {']
    for name, members in structs(text):
        lines.append('printf("struct %s %%zu bytes\\n", sizeof(struct %s));' % (name, name))
        for member in members:
            lines.append('printf("struct %s.%s at %%zu, %%zu bytes\\n", offsetof(struct %s, %s), sizeof(((struct %s *)0)->%s));'
                         % (name, member, name, member, name, member))
    for constant in constants(text):
        lines.append('printf("%s %%d\\n", (int)%s);' % (constant, constant))
    lines.append('return 0; }')
    with tempfile.TemporaryDirectory() as folder:
        source, program = os.path.join(folder, 'abi.c'), os.path.join(folder, 'abi')
        with open(source, 'w', encoding='utf-8') as file:
            file.write('\n'.join(lines) + '\n')
        subprocess.run(['cc', '-std=c11', '-pedantic-errors', '-Wall', '-Wextra', '-Werror', source, '-o', program], check=True)
        return subprocess.run([program], check=True, capture_output=True, text=True).stdout.splitlines()


def symbols(library):
    printed = subprocess.run(['nm', '-D', '--defined-only', '--with-symbol-versions', library], check=True, capture_output=True,
                             text=True).stdout
    return sorted(line.split()[2].replace('@@', '@') for line in printed.splitlines() if line.split()[1] != 'A')


# What would change the process that the library is a guest of. (`sigaction` is called to put back what a driver's
# compiler has changed, `pthread_sigmask` while threads are started that are to handle no signals; test_library.c looks at both ends.)
EFFECTS = {'setenv', 'putenv', 'unsetenv', 'clearenv', 'mallopt', 'atexit', 'on_exit', 'abort', 'exit', '_exit', 'quick_exit', 'umask',
           'signal', 'sigprocmask', 'stderr', 'stdout', 'perror', 'printf', 'vprintf', '__printf_chk', 'puts',
           'setlocale', 'chdir', 'fork', 'vfork', 'posix_spawn', 'execve', 'system', 'popen'}


def effects(library):
    printed = subprocess.run(['nm', '-D', '--undefined-only', library], check=True, capture_output=True, text=True).stdout
    return sorted({line.split()[-1].split('@')[0] for line in printed.splitlines()} & EFFECTS)


def by_libabigail(header, library, dump):
    if not shutil.which('abidiff') or '.debug_info' not in subprocess.run(['readelf', '-S', '-W', library], check=True, capture_output=True,
                                                                          text=True).stdout:
        print('without abidiff, or debugging information')
        return []
    if '--write' in sys.argv:
        subprocess.run(['abidw', '--hd', os.path.dirname(header), '--drop-private-types', '--exported-interfaces-only', '--no-architecture',
                        '--no-elf-needed', '--no-corpus-path', '--no-comp-dir-path', '--no-show-locs', '--type-id-style', 'hash',
                        '--out-file', dump, library], check=True)
    compared = subprocess.run(['abidiff', '--no-architecture', '--no-added-syms', dump, library], capture_output=True, text=True)
    if compared.returncode != 0:
        return ['abidiff: ' + compared.stdout + compared.stderr]
    print('abidiff: compatible')
    return []


def main():
    arguments = [a for a in sys.argv[1:] if a != '--write']
    header, library, abi, dump, packaged = map(os.path.abspath, arguments)
    with open(header, encoding='utf-8') as file:
        text = without_comments(file.read())
    exported = symbols(library)
    declared = {re.search(r'(\w+)\(', line).group(1) for line in functions(text)}
    complaints = ['the library exports %s, which the header does not have' % s for s in exported if s.split('@')[0] not in declared]
    complaints += ['the library lacks %s' % name for name in sorted(declared) if name + '@SLUICE_0' not in exported]
    complaints += ['the library calls %s, which is not a guest\'s to call' % name for name in effects(library)]
    now = sorted(functions(text)) + measured(header, text) + ['symbol ' + s for s in exported]
    if '--write' in sys.argv:
        with open(abi, 'w', encoding='utf-8') as file:
            file.write('\n'.join(now) + '\n')
    with open(abi, encoding='utf-8') as file:
        before = file.read().splitlines()
    complaints += ['gone or changed: ' + line for line in before if line not in now]
    complaints += ['new (check_abi.py --write lists it): ' + line for line in now if line not in before]
    with open(packaged, encoding='utf-8') as file:
        named = set(re.findall(r'^ (\w+@SLUICE_0) ', file.read(), re.M))
    complaints += ['%s is not the same in %s' % (s, packaged) for s in sorted((named - {'SLUICE_0@SLUICE_0'}) ^ set(exported))]
    with tempfile.TemporaryDirectory() as folder:
        for language, compiler in (('c', 'cc'), ('c++', 'c++')):
            if shutil.which(compiler):
                alone = subprocess.run([compiler, '-x', language, '-Wall', '-Wextra', '-pedantic-errors', '-Werror',
                                        '-fsyntax-only', header], cwd=folder)
                if alone.returncode != 0:
                    complaints.append('the header alone does not compile as ' + language)
    complaints += by_libabigail(header, library, dump)
    print('\n'.join(complaints) if complaints else '%d lines keep their meaning' % len(now))
    return 1 if complaints else 0


sys.exit(main())
