#!/usr/bin/env python3
"""find.py SOURCE_ROOT STAGE…: the files of these stages and their kernels, a path a line.

A stage NAME is src/stage/NAME.c and NAME_ref.c, or stage_NAME is defined in a folder of src/stage/,
of which every .c file is taken. Kernels are the files of cl/, those of cl/prelude/, and those of its folders
that are called like a stage or a stage's folder."""
import glob
import os
import re
import sys


def definition(root, stage):
    """The file that defines stage_NAME."""
    alone = os.path.join(root, 'src/stage', stage + '.c')
    if os.path.exists(alone):
        return alone
    found = []
    for path in glob.glob(os.path.join(root, 'src/stage/*/*.c')):
        with open(path, encoding='utf-8') as file:
            if re.search(r'(?m)^const struct stage stage_%s =' % stage, file.read()):
                found.append(path)
    if len(found) != 1:
        sys.exit('stage %s: neither a file src/stage/%s.c nor one in a folder of src/stage that defines stage_%s'
                 % (stage, stage, stage))
    return found[0]


def main():
    root, stages = sys.argv[1], sys.argv[2:]
    sources, folders = set(), {'prelude', *stages}
    for stage in stages:
        path = definition(root, stage)
        folder = os.path.dirname(path)
        if folder == os.path.join(root, 'src/stage'):
            sources |= {path, path[:-2] + '_ref.c'}
        else:
            folders.add(os.path.basename(folder))
            sources |= set(glob.glob(os.path.join(folder, '*.c')))
    kernels = glob.glob(os.path.join(root, 'cl/*.cl'))
    for folder in folders:
        kernels += glob.glob(os.path.join(root, 'cl', folder, '*.cl'))
    print('\n'.join(sorted(sources) + sorted(kernels)))


if __name__ == '__main__':
    main()
