#!/usr/bin/env python3
"""Adding a stage takes only its own files. To prove it, this adds the stages of tests/toys, a per-pixel one and a stencil,
to a copy of the tree, builds that, and runs them on every device. What docs/kernels.md shows of toyerode is what is built, and
its other texts of small windows compile in the same place.

Usage: check_toys.py SOURCE_ROOT KERNEL_CACHE CLANG DEVICE… (CLANG may be empty; devices: of cpu and native those that are built)"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

TOYS = {'toygamma': 'toygamma:0.5', 'toyerode': 'luminance,toyerode:reflect,invert'}
FOLDERS = ('cl', 'config', 'cross', 'debian', 'docs', 'include', 'src', 'systemd', 'tests')
FILES = ('CHANGELOG.md', 'CONTRIBUTING.md', 'LICENSE', 'README.md', 'meson.build', 'meson_options.txt')


def run(*command, **more):
    process = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, **more)
    if process.returncode != 0:
        sys.exit('%s:\n%s' % (' '.join(command), process.stdout[-8000:]))
    return process.stdout


def copy_with_toys(source, tree):
    for name in FOLDERS:
        shutil.copytree(os.path.join(source, name), os.path.join(tree, name), ignore=shutil.ignore_patterns('__pycache__'))
    for name in FILES:
        shutil.copy(os.path.join(source, name), tree)
    shutil.copytree(os.path.join(tree, 'tests/toys'), tree, dirs_exist_ok=True)


def check_page(tree):
    """Returns the texts of small windows that docs/kernels.md shows beside that of toyerode."""
    with open(os.path.join(tree, 'docs/kernels.md'), encoding='utf-8') as file:
        blocks = [re.sub(r'(?m)^    ', '', block) for block in re.findall(r'(?m)(?:^    .*\n)+', file.read())]
    shown = set()
    for path, first in (('cl/toyerode.cl', '#include'), ('src/stage/toyerode.c', 'const struct stage'), ('src/stage/toyerode_ref.c', 'float')):
        with open(os.path.join(tree, path), encoding='utf-8') as file:
            text = file.read()
        if text[text.index(first):] not in blocks:
            sys.exit('docs/kernels.md does not show %s as it is' % path)
        shown.add(text[text.index(first):])
    return [block for block in blocks if block.startswith('#include "numbers.cl"') and block not in shown]


def check_vectors(tree):
    """The vectors of toyerode, as its program prints them, and as docs/kernels.md shows two of them."""
    printed = run(sys.executable, os.path.join(tree, 'tests/stage/toyerode_vectors.py'))
    with open(os.path.join(tree, 'tests/stage/test_toyerode.c'), encoding='utf-8') as file:
        if 'vectors[] = {\n%s};' % printed not in file.read():
            sys.exit('tests/toys: test_toyerode.c has not the vectors that toyerode_vectors.py prints')
    with open(os.path.join(tree, 'docs/kernels.md'), encoding='utf-8') as file:
        shown = re.findall(r'(?m)^    (    \{"border=.*\n)', file.read())
    wrong = [line for line in shown if line not in printed]
    if not shown or wrong:
        sys.exit('docs/kernels.md shows vectors that toyerode_vectors.py does not print:\n%s' % ''.join(wrong))


def compile_texts(texts, tree, sluice, clang, env):
    """Puts each into the programs of toyerode in place of its own text."""
    with open(os.path.join(tree, 'cl/toyerode.cl'), encoding='utf-8') as file:
        own = file.read()
    own = own[own.index('#define'):own.index('#include "window.cl"')]
    for profile, kernel in (('gpu', 'packed_toyerode'), ('mali', 'columns_toyerode')):
        program = run(sluice, 'plan', '--source', '--profile', profile, '-c', 'toyerode', '640x480', env=env)
        if kernel not in program or own not in program:
            sys.exit('%s: no kernel %s with the text of toyerode' % (profile, kernel))
        for text in texts:
            text = text[text.index('#define'):text.index('#include "window.cl"')]
            run(clang, '-fsyntax-only', '-x', 'cl', '-cl-std=CL1.2', '--target=spir64', '-Xclang', '-finclude-default-header',
                '-Xclang', '-fdeclare-opencl-builtins', '-Werror', '-Wall', '-Wno-unused', '-Wno-constant-logical-operand', '-',
                input=program.replace(own, text))


def main():
    os.nice(10)  # it only computes: beside it tests of the daemon wait, and measure how long
    source, cache, clang, *devices = sys.argv[1:]
    features = ['-D%s=%s' % (feature, 'enabled' if device in devices else 'disabled')
                for feature, device in (('native', 'native'), ('opencl', 'cpu'))]
    with tempfile.TemporaryDirectory(prefix='sluice-') as tree:
        build, sluice = os.path.join(tree, 'build'), os.path.join(tree, 'build/src/sluice')
        env = dict(os.environ, CCACHE_BASEDIR=tree, CCACHE_NOHASHDIR='1', SLUICE_CACHE_DIR=cache)
        copy_with_toys(source, tree)
        texts = check_page(tree)
        check_vectors(tree)
        run('meson', 'setup', build, tree, *features, '-Drelay=disabled', '-Dlibsystemd=disabled', '-Doptimization=0', '-Ddebug=false',
            '-Dkernel_cache=' + cache, env=env)
        run('ninja', '-C', build, 'src/sluice', *('tests/test_' + name for name in TOYS), env=env)
        run('python3', os.path.join(tree, 'docs/pictures/make.py'), sluice, *TOYS, env=env)
        run('python3', os.path.join(tree, 'docs/contents.py'), env=env)
        run('python3', os.path.join(tree, 'docs/contents.py'), '--check', env=env)
        known = run('python3', os.path.join(tree, 'src/stage/find.py'), tree).split()
        print(run('python3', os.path.join(tree, 'tests/check_stages.py'), tree, sluice, *known, env=env), end='')
        if clang:
            compile_texts(texts, tree, sluice, clang, env)
        for name, chain in TOYS.items():
            said = run(os.path.join(build, 'tests/test_' + name), '--bench=u8 x1', '--seed', '7', env=env)
            print(said, end='')
            if 'seed 7\n' not in said or not re.search(r'(?m)^%s.* [0-9.]+x  %s\S*, of [0-9]+$' % (name, name), said):
                sys.exit('test_%s --bench --seed 7 says no seed, or times nothing' % name)
            unknown = subprocess.run([os.path.join(build, 'tests/test_' + name)], capture_output=True, text=True, check=False,
                                     env=dict(env, HARNESS_TEST='test_vector'))
            if unknown.returncode == 0 or 'HARNESS_TEST=test_vector: there is no such test; expected test_' not in unknown.stderr:
                sys.exit('test_%s with the name of no test: %s' % (name, unknown.stderr))
            for device in devices:
                out = run(sluice, 'run', '--verify', '--timing', '--device', device, '-c', chain, '-o', os.path.join(tree, 'out.png'),
                          os.path.join(tree, 'docs/pictures/cat.jpg'), env=env)
                if name not in out:
                    sys.exit('%s on %s: no kernel of %s:\n%s' % (chain, device, name, out))
                print(out, end='')


main()
