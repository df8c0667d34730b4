#!/usr/bin/env python3
"""The shape of src/, held by a test: which folder may include which, and where foreign libraries may be
used. Usage: check_includes.py SOURCE_ROOT"""
import os
import re
import sys

# What each room may include, besides itself and the C library: rooms, folders of rooms, or single headers.
PIXELS = {'base', 'param', 'bank', 'config', 'image', 'codec', 'device', 'stage', 'chain', 'engine'}
DAEMON = {'base', 'param', 'bank', 'config', 'worker/find.h', 'worker/json_text.h', 'worker/message.h', 'version.h'}
COMMANDS = PIXELS | {'worker/daemon.h', 'worker/describe.h', 'worker/find.h', 'worker/json_text.h', 'worker/message.h',
                     'version.h'}
ALLOWED = {
    'base': set(),
    'param': {'base'},
    'bank': {'base', 'param', 'image/frame.h'},
    'config': {'base', 'param', 'bank', 'relay/settings.h'},
    'image': {'base'},
    'codec': {'base', 'param', 'bank/bank.h', 'bank/definitions.h', 'image'},
    'codec/array': {'base', 'image', 'codec'},
    'codec/deflate': set(),
    'device': {'base', 'image', 'version.h'},
    'device/opencl': {'base', 'device', 'version.h'},
    'device/native': {'base', 'device', 'image'},
    'stage': {'base', 'param', 'bank', 'image', 'device/profile.h'},
    'chain': {'base', 'param', 'bank', 'image', 'device', 'stage', 'version.h'},
    'library': {'base', 'param', 'bank', 'image', 'device', 'stage', 'chain', 'version.h'},
    'gst': {'base', 'param', 'bank', 'image', 'codec', 'config'},
    'python': set(),
    'kernels': {'base', 'param', 'bank', 'image', 'stage', 'chain'},
    'engine': PIXELS - {'config'},
    'worker': PIXELS | {'version.h'},
    'daemon/spool': DAEMON,
    'daemon/work': DAEMON,
    'daemon/watch': DAEMON | {'daemon/spool', 'daemon/work'},
    'daemon/serve': DAEMON | {'daemon/spool', 'daemon/work', 'daemon/watch'},
    'daemon/front': DAEMON | {'daemon'},
    'relay': {'base', 'param', 'bank', 'config', 'worker/daemon.h', 'version.h'},
    'cli': COMMANDS | {'relay/hub.h'},
    'bench': COMMANDS | {'cli'},
    'doctor': COMMANDS | {'cli'},
    'view': COMMANDS | {'cli'},
}

# Foreign headers, and the folders (or files) that may include them.
FOREIGN = {
    r'CL/': {'device/opencl'},
    r'(jpeglib|jerror|turbojpeg|png|zlib|libdeflate|zip)\.h': {'codec'},
    r'uv\.h': {'daemon/watch', 'daemon/work', 'daemon/serve', 'daemon/front'},
    r'microhttpd\.h': {'daemon/serve', 'view'},
    r'sqlite3\.h': {'daemon/spool'},
    r'yaml\.h': {'config'},
    r'systemd/': {'daemon/front', 'daemon/serve'},
    r'seccomp\.h': {'worker'},
    r'jansson\.h': {'codec', 'worker', 'daemon', 'relay', 'cli', 'bench', 'doctor', 'view'},
    r'(nats|curl|openssl)/': {'relay'},
    r'gst/': {'gst'},
}

INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]', re.M)


def room_of(path):
    """The room that a file of src/ stands in: the longest name of ALLOWED in front of it."""
    rooms = [room for room in ALLOWED if path.startswith(room + '/')]
    return max(rooms, key=len, default=None)


def below(room, header):
    return any(header == name or header.startswith(name + '/') for name in ALLOWED[room] | {room})


def check(path, text, complaints):
    room = room_of(path)
    if not room:
        complaints.append('src/%s stands in no room of docs/architecture.md' % path)
        return
    for bracket, name in INCLUDE.findall(text):
        if bracket == '"':
            if not below(room, name):
                complaints.append('src/%s: "%s" is not below %s' % (path, name, room))
            continue
        for pattern, rooms in FOREIGN.items():
            if re.match(pattern, name) and not any((room + '/').startswith(r + '/') for r in rooms):
                complaints.append('src/%s: <%s> belongs to %s alone' % (path, name, ', '.join(sorted(rooms))))
    if room == 'stage' and path.endswith('_ref.c') and re.search(r'\.cl\b', text.split('*/', 1)[-1]):
        complaints.append('src/%s: a reference shares nothing with kernels' % path)


def circles(texts):
    """Groups of files that include each other, a source counted with the header of its name."""
    def unit(path):
        return re.sub(r'(_internal)?\.[ch]$', '', path)
    graph = {}
    for path, text in texts.items():
        graph.setdefault(unit(path), set()).update(
            unit(name) for bracket, name in INCLUDE.findall(text) if bracket == '"' and unit(name) != unit(path))
    reach = {}
    for start in graph:
        seen, todo = set(), [start]
        while todo:
            for other in graph.get(todo.pop(), ()):
                if other not in seen:
                    seen.add(other)
                    todo.append(other)
        reach[start] = seen
    return sorted({tuple(sorted(b for b in reach[a] if a in reach.get(b, ()))) for a in graph if a in reach[a]})


def main():
    root, texts, complaints = os.path.join(sys.argv[1], 'src'), {}, []
    for folder, _, names in os.walk(root):
        for name in names:
            if name.endswith(('.c', '.h')):
                path = os.path.join(folder, name)
                with open(path, encoding='utf-8') as file:
                    texts[os.path.relpath(path, root)] = file.read()
    for path, text in sorted(texts.items()):
        check(path, text, complaints)
    complaints += ['these include each other: ' + ' '.join(group) for group in circles(texts)]
    print('\n'.join(complaints) if complaints else '%d files keep the rules' % len(texts))
    return 1 if complaints or not texts else 0


sys.exit(main())
