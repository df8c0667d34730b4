#!/usr/bin/env python3
"""emulated.py SLUICE SLUICED SLUICE_WORKER SCRIPT [ARGUMENT…]: runs a test script with programs for another
processor.

In a cross build neither a script can start the programs nor sluiced its worker: the kernel knows no such
executable, unless binfmt_misc was told, which is root's and the whole machine's. So the script is given
launchers in their place, shell scripts that run the program under the cross file's exe_wrapper (Meson
says it in MESON_EXE_WRAPPER); sluiced is told of the worker's by SLUICE_WORKER. Process ids stay
those of the programs, since nothing forks.

Scripts that say little more about another processor, and take long under an emulator, are skipped unless
SLUICE_TEST_ALL=1.
"""
import os
import shlex
import subprocess
import sys
import tempfile

SKIPPED = 77  # for Meson
LATER = 'not under an emulator, unless SLUICE_TEST_ALL=1: '
# By the script's name: why it cannot be run, or is left out.
NEVER = {
    'make': 'pages do not depend on the processor',
    'mali_cases': 'counts do not depend on the processor',
    'test_completions': 'completions do not depend on the processor',
    'test_docs': 'pages do not depend on the processor',
    'test_doctor': 'it looks at this machine, not at the emulated one',
    'test_mistakes': 'messages do not depend on the processor',
    'test_sandbox': 'qemu-user knows neither Landlock nor seccomp',
}
LONG = {
    'test_banks': 'hundreds of runs of filter banks, which tests of stages have, too',
    'test_compile': 'each start compiles with an empty cache',
    'test_bench': 'times are of the emulator',
    'test_counts': 'compiles chain after chain',
    'test_device': 'compiles every choice of every parameter',
    'test_device_fails': 'each start compiles with an empty cache',
    'test_fault': 'hundreds of starts',
    'test_fuse': 'compiles chain after chain',
    'test_generic': 'compiles chain after chain',
    'test_lasting': 'thousands of files; the memory and the wake-ups would be the emulator\'s',
    'test_load': 'load is of the emulator',
    'test_many': 'thousands of files',
    'test_memory': 'the memory would be the emulator\'s',
    'test_recycle': 'the memory would be the emulator\'s',
    'test_results': 'compiles for every type of sample, which tests of stages do, too',
    'test_schemas': 'what is printed does not depend on the processor',
    'test_self_check': 'each start compiles with an empty cache',
    'test_steady': 'the memory would be the emulator\'s',
    'test_torn_cache': 'each start compiles with an empty cache',
}
# A wrapper may name the drivers itself, where a test wants others: qemu-user takes those from here.
LAUNCHER = '''#!/bin/sh
[ -z "${OCL_ICD_VENDORS+x}" ] || export QEMU_SET_ENV="OCL_ICD_VENDORS=$OCL_ICD_VENDORS"
exec %s %s "$@"
'''
# Programs that tests are told of in the environment.
TOLD = ('SLUICE', 'SLUICED', 'SLUICE_WORKER', 'JOBS_EXAMPLE', 'UNIT_TUNED')


def launcher(folder, wrapper, program):
    """The path of an executable that runs the program under the wrapper."""
    path = os.path.join(folder, os.path.basename(program))
    with open(path, 'w', encoding='utf-8') as file:
        file.write(LAUNCHER % (wrapper, shlex.quote(os.path.abspath(program))))
    os.chmod(path, 0o755)
    return path


def is_program(path):
    """Whether it is an executable, and no library."""
    if not os.path.isfile(path) or not os.access(path, os.X_OK) or path.endswith('.so'):
        return False
    with open(path, 'rb') as file:
        return file.read(4) == b'\x7fELF'


def main():
    sluice, sluiced, worker, script, *arguments = sys.argv[1:]
    wrapper = os.environ.get('MESON_EXE_WRAPPER')
    if not wrapper:
        print('the cross file has no exe_wrapper: programs of another processor cannot be run')
        return SKIPPED
    name = os.path.splitext(os.path.basename(script))[0]
    if name in NEVER:
        print('not under an emulator: ' + NEVER[name])
        return SKIPPED
    if name in LONG and os.environ.get('SLUICE_TEST_ALL') != '1':
        print(LATER + LONG[name])
        return SKIPPED
    env = dict(os.environ, SLUICE_EMULATED='1', SLUICED_FILE=os.path.abspath(sluiced))
    told = {'SLUICE': sluice, 'SLUICED': sluiced, 'SLUICE_WORKER': worker, 'SLUICE_RECEIVER': sluiced}
    told.update((key, env[key]) for key in TOLD if key in env and key not in told)
    with tempfile.TemporaryDirectory(prefix='sluice-emulated-') as folder:
        launchers = {key: launcher(folder, wrapper, program) for key, program in told.items()}
        env.update(launchers)
        by_path = {os.path.realpath(told[key]): launchers[key] for key in told}
        for argument in arguments:
            path = os.path.realpath(argument)
            if path not in by_path and is_program(path):
                by_path[path] = launcher(folder, wrapper, path)
        arguments = [by_path.get(os.path.realpath(argument), argument) for argument in arguments]
        return subprocess.run([sys.executable, script, *arguments], env=env, check=False).returncode


if __name__ == '__main__':
    sys.exit(main())
