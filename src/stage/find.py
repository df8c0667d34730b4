#!/usr/bin/env python3
"""find.py SOURCE_ROOT STAGE…: the files of these stages and their kernels, a path a line.

A stage NAME is src/stage/NAME.c and NAME_ref.c, or stands with all that belongs to it in a folder of
src/stage/, of which every .c file is taken. Kernels are the files of cl/, and those of its folders
that are called like a stage or a stage's folder."""
import glob
import os
import sys

root, stages = sys.argv[1], sys.argv[2:]
sources, folders = set(), set(stages)
for stage in stages:
    alone = os.path.join(root, 'src/stage', stage + '.c')
    if os.path.exists(alone):
        sources |= {alone, alone[:-2] + '_ref.c'}
        continue
    found = glob.glob(os.path.join(root, 'src/stage/*', stage + '.c'))
    if len(found) != 1:
        sys.exit('stage %s: no file src/stage/%s.c or src/stage/*/%s.c' % (stage, stage, stage))
    folder = os.path.dirname(found[0])
    folders.add(os.path.basename(folder))
    sources |= set(glob.glob(os.path.join(folder, '*.c')))
kernels = glob.glob(os.path.join(root, 'cl/*.cl'))
for folder in folders:
    kernels += glob.glob(os.path.join(root, 'cl', folder, '*.cl'))
print('\n'.join(sorted(sources) + sorted(kernels)))
