#!/usr/bin/env python3
"""Run by `meson install`: puts the configuration in its place, unless there is one already, which is somebody's
work. It is nothing that `ninja uninstall` knows of, for the same reason.

usage: install.py SOURCE SYSCONFDIR"""
import os
import shutil
import sys

source, sysconfdir = sys.argv[1:]
target = os.environ.get('DESTDIR', '') + os.path.join(sysconfdir, 'sluice', 'sluice.yaml')
if os.path.lexists(target):
    print('%s is there already and stays as it is' % target)
else:
    os.makedirs(os.path.dirname(target), mode=0o755, exist_ok=True)
    shutil.copyfile(source, target)
    os.chmod(target, 0o644)
    print('Installing %s' % target)
