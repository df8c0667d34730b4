#!/usr/bin/env python3
"""Each stage is whole: source, reference, kernels, test and documentation page. The page shows a picture and names every
parameter that the program knows, with its choices; those may be on a stage's page that it links to. No macro of kernels stands
unused.
Usage: check_stages.py SOURCE_ROOT SLUICE STAGE…"""
import glob
import json
import os
import re
import subprocess
import sys


def files_with(root, pattern, found):
    """The files src/stage/**/PATTERN in which a line begins with what the expression finds."""
    paths = glob.glob(os.path.join(root, 'src/stage/**', pattern), recursive=True)
    return [path for path in paths if re.search('(?m)^' + found, open(path, encoding='utf-8').read())]


def check_source(root, stage, complaints):
    """A stage is defined once; its reference is, too, in a file for references, and a header declares it."""
    defined = files_with(root, '*.c', 'const struct stage stage_%s =' % stage)
    references = set(re.findall(r'\.(?:reference|at|sample|value) = (\w+)', ''.join(open(path, encoding='utf-8').read() for path in defined)))
    own = references & {stage + '_' + kind for kind in ('reference', 'at', 'sample', 'value')} or references
    if len(defined) != 1 or len(own) != 1:
        complaints.append('stage_%s with its reference is missing' % stage)
    for reference in own:
        for pattern, found in (('*_ref.c', r'(int|double|float) %s\('), ('*.h', r'((stage_(reference|at|sample)|window_value) (\w+, )*%s[,;]|int %s\()')):
            if len(files_with(root, pattern, found.replace('%s', reference))) != 1:
                complaints.append('%s is not in one file %s' % (reference, pattern))


def kernels_of(root, stage):
    """A stage's own, or those that it shares with the others of its folder."""
    folders = [os.path.basename(os.path.dirname(path))
               for path in files_with(root, '*.c', 'const struct stage stage_%s =' % stage)]
    return [path for name in ['**/' + stage] + [folder + '/*' for folder in folders]
            for path in glob.glob(os.path.join(root, 'cl', name + '.cl'), recursive=True)]


def read_all(root, *patterns):
    paths = [path for pattern in patterns for path in glob.glob(os.path.join(root, pattern), recursive=True)]
    return '\n'.join(open(path, encoding='utf-8').read() for path in paths)


def check_macros(root, complaints):
    """A macro of cl/ is named again there, or what its name begins with is, where names are put together; or by what writes
    kernels' definitions, or by the page for those who write kernels."""
    kernels = re.sub(r'(?s)/\*.*?\*/|//[^\n]*', '', read_all(root, 'cl/**/*.cl', 'cl/**/*.h'))
    text = re.sub(r'(?m)^\s*#\s*(define|undef)\s+\w+', '', kernels)
    other = read_all(root, 'src/**/*.c', 'src/**/*.h', 'docs/kernels.md')
    named = set(re.findall(r'\w+', text + other))
    begun = tuple(set(re.findall(r'\b\w+_\b', text)) | set(re.findall(r'\b\w+_(?=%)', other)))
    for name in sorted(set(re.findall(r'(?m)^\s*#\s*define\s+(\w+)', kernels)) - named):
        if not name.startswith(begun):
            complaints.append('cl: no kernel uses the macro %s' % name)


def main():
    root, sluice, stages = sys.argv[1], sys.argv[2], sys.argv[3:]
    complaints = []
    known = {s['name']: s for s in json.loads(subprocess.check_output([sluice, 'stages', '--json']))}
    if sorted(known) != sorted(stages):
        complaints.append('sluice stages has %s, the list %s' % (sorted(known), sorted(stages)))
    for stage in stages:
        check_source(root, stage, complaints)
        for path in ('tests/stage/test_%s.c', 'docs/stages/%s.md'):
            if len(glob.glob(os.path.join(root, path % stage), recursive=True)) != 1:
                complaints.append('%s is missing' % (path % stage))
        if not kernels_of(root, stage):
            complaints.append('%s has no kernel in cl/' % stage)
        page = os.path.join(root, 'docs/stages/%s.md' % stage)
        if os.path.exists(page):
            with open(page, encoding='utf-8') as file:
                text = file.read()
            if '](../pictures/' not in text:
                complaints.append('docs/stages/%s.md shows no picture' % stage)
            linked = text
            for other in sorted(set(re.findall(r'\]\((\w+)\.md', text))):
                with open(os.path.join(root, 'docs/stages/%s.md' % other), encoding='utf-8') as file:
                    linked += file.read()
            for param in known.get(stage, {}).get('params', []):
                words = [(param['name'], text)] + [(choice, linked) for choice in param.get('choices', [])]
                for word, where in words:
                    if '`%s' % word not in where and '=%s' % word not in where:
                        complaints.append('docs/stages/%s.md does not name %s' % (stage, word))
    check_macros(root, complaints)
    print('\n'.join(complaints) if complaints else '%d stages are whole' % len(stages))
    return 1 if complaints else 0


sys.exit(main())
