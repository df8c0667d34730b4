#!/usr/bin/env python3
"""find.py SOURCE_ROOT: the stages for chains that people write, a name a line.
find.py SOURCE_ROOT STAGE…: the files of these stages and their kernels, a path a line.

A stage is there when a file of src/stage/, or of a folder there, defines stage_NAME. Its files are src/stage/NAME.c and
NAME_ref.c, or every .c file of that folder. Kernels are the files of cl/, those of cl/prelude/, and those of its folders
that are called like a stage or a stage's folder."""
import glob
import os
import re
import sys


def definitions(root):
    """Of each stage the file that defines it, and whether it is for plans alone."""
    found = {}
    for path in sorted(glob.glob(os.path.join(root, 'src/stage/*.c')) + glob.glob(os.path.join(root, 'src/stage/*/*.c'))):
        with open(path, encoding='utf-8') as file:
            for name, text in re.findall(r'(?ms)^const struct stage stage_(\w+) =(.*?;)$', file.read()):
                if name in found:
                    sys.exit('stage %s: both %s and %s define it' % (name, found[name][0], path))
                found[name] = path, '.internal = true' in text
    return found


def watched(root):
    """What changes when a stage or a file of one comes or goes."""
    folders = ('src/stage/', 'src/stage/*/', 'cl/', 'cl/*/')
    return sorted(path for name in (*folders, 'src/stage/*.c', 'src/stage/*/*.c') for path in glob.glob(os.path.join(root, name)))


def files_of(root, stages):
    known, sources, folders = definitions(root), set(), {'prelude', *stages}
    for stage in stages:
        path = known[stage][0]
        folder = os.path.dirname(path)
        if folder == os.path.join(root, 'src/stage'):
            sources |= {path, path[:-2] + '_ref.c'}
        else:
            folders.add(os.path.basename(folder))
            sources |= set(glob.glob(os.path.join(folder, '*.c')))
    kernels = glob.glob(os.path.join(root, 'cl/*.cl'))
    for folder in folders:
        kernels += glob.glob(os.path.join(root, 'cl', folder, '*.cl'))
    return sorted(sources) + sorted(kernels)


if __name__ == '__main__':
    if len(sys.argv) == 2:
        print('\n'.join(sorted(name for name, (_, internal) in definitions(sys.argv[1]).items() if not internal)))
    else:
        print('\n'.join(files_of(sys.argv[1], sys.argv[2:])))
