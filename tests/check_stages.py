#!/usr/bin/env python3
"""Each stage is whole: source, reference, kernels, test and documentation page. The page shows a picture and names every
parameter that the program knows, with its choices; those may be on a stage's page that it links to.
Usage: check_stages.py SOURCE_ROOT SLUICE STAGE…"""
import glob
import json
import os
import re
import subprocess
import sys


def kernels_of(root, stage):
    """A stage's own, or those that it shares with the others of its folder."""
    folders = [os.path.basename(os.path.dirname(path))
               for path in glob.glob(os.path.join(root, 'src/stage/*/%s.c' % stage))]
    return [path for name in ['**/' + stage] + [folder + '/*' for folder in folders]
            for path in glob.glob(os.path.join(root, 'cl', name + '.cl'), recursive=True)]


def main():
    root, sluice, stages = sys.argv[1], sys.argv[2], sys.argv[3:]
    complaints = []
    known = {s['name']: s for s in json.loads(subprocess.check_output([sluice, 'stages', '--json']))}
    if sorted(known) != sorted(stages):
        complaints.append('sluice stages has %s, the list %s' % (sorted(known), sorted(stages)))
    for stage in stages:
        for path in ('src/stage/**/%s.c', 'src/stage/**/%s.h', 'src/stage/**/%s_ref.c',
                     'tests/stage/test_%s.c', 'docs/stages/%s.md'):
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
    print('\n'.join(complaints) if complaints else '%d stages are whole' % len(stages))
    return 1 if complaints else 0


sys.exit(main())
