#!/usr/bin/env python3
"""The shape of src/, held by a test: which folder may include which, and where foreign libraries may be
used. Usage: check_includes.py SOURCE_ROOT"""
import os
import re
import sys

# What each folder may include, besides itself and the C library.
ALLOWED = {
    'base': set(),
    'param': {'base'},
    'bank': {'base', 'param'},
    'config': {'base', 'param', 'bank'},
    'image': {'base'},
    'codec': {'base', 'param', 'image'},
    'device': {'base', 'image'},
    'stage': {'base', 'param', 'bank', 'image', 'device/profile.h'},
    'chain': {'base', 'param', 'bank', 'image', 'device', 'stage'},
    'engine': {'base', 'param', 'bank', 'image', 'codec', 'device', 'stage', 'chain'},
    'worker': {'base', 'param', 'bank', 'config', 'image', 'codec', 'device', 'stage', 'chain', 'engine'},
    'daemon': {'base', 'param', 'bank', 'config', 'worker/find.h', 'worker/message.h', 'version.h'},
    'relay': {'base', 'param', 'bank', 'config', 'worker/client.h', 'version.h'},
    'cli': {'base', 'param', 'bank', 'config', 'image', 'codec', 'device', 'stage', 'chain', 'engine',
            'worker/client.h', 'worker/find.h', 'worker/message.h', 'worker/describe.h', 'relay/hub.h', 'relay/job.h',
            'version.h'},
}
ALLOWED['worker'].add('version.h')

# Foreign headers, and the folders (or files) that may include them.
FOREIGN = {
    r'CL/': {'device'},
    r'(jpeglib|jerror|turbojpeg|png|zlib|libdeflate|zip)\.h': {'codec'},
    r'uv\.h': {'daemon'},
    r'microhttpd\.h': {'daemon'},
    r'sqlite3\.h': {'daemon'},
    r'yaml\.h': {'config'},
    r'systemd/': {'daemon'},
    r'seccomp\.h': {'worker'},
    r'jansson\.h': {'codec', 'worker', 'daemon', 'cli', 'relay'},
    r'(nats|curl|openssl)/': {'relay'},
}

INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]', re.M)


def check(path, folder, complaints):
    with open(path, encoding='utf-8') as file:
        text = file.read()
    for bracket, name in INCLUDE.findall(text):
        if bracket == '<':
            for pattern, folders in FOREIGN.items():
                if re.match(pattern, name) and folder not in folders:
                    complaints.append('%s: <%s> belongs to %s alone' % (path, name, ', '.join(sorted(folders))))
            continue
        other = name.split('/')[0]
        if other != folder and other not in ALLOWED[folder] and name not in ALLOWED[folder]:
            complaints.append('%s: "%s" is not below %s' % (path, name, folder))
    if folder == 'stage' and path.endswith('_ref.c') and re.search(r'\.cl\b', text.split('*/', 1)[-1]):
        complaints.append('%s: a reference shares nothing with kernels' % path)


def main():
    root = os.path.join(sys.argv[1], 'src')
    complaints, files = [], 0
    for folder in sorted(os.listdir(root)):
        directory = os.path.join(root, folder)
        if not os.path.isdir(directory):
            continue
        if folder not in ALLOWED:
            complaints.append('src/%s is no module of docs/architecture.md' % folder)
            continue
        for name in sorted(os.listdir(directory)):
            if name.endswith(('.c', '.h')):
                files += 1
                check(os.path.join(directory, name), folder, complaints)
    print('\n'.join(complaints) if complaints else '%d files keep the rules' % files)
    return 1 if complaints or files == 0 else 0


sys.exit(main())
