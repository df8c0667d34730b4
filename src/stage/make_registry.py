#!/usr/bin/env python3
"""make_registry.py OUTPUT DEPFILE "STAGE …" KERNEL.cl…: the stages by name, and their kernels' texts.

Fails when the source has other stages or kernels by now than when meson configured: every file that may define a stage, and
every folder that may have a new one, is in the file of dependencies."""
import os
import sys

sys.dont_write_bytecode = True
import find

output, depfile, stages, kernels = sys.argv[1], sys.argv[2], sorted(sys.argv[3].split()), sys.argv[4:]
root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
changed = set(stages) ^ set(find.definitions(root))
if not changed:
    there = [path for path in find.files_of(root, stages) if path.endswith('.cl')]
    changed = {os.path.realpath(path) for path in kernels} ^ {os.path.realpath(path) for path in there}
if changed:
    sys.exit('came or went since this build was configured: %s. Run: meson setup --reconfigure %s' %
             (', '.join(sorted(changed)), os.getcwd()))
with open(depfile, 'w', encoding='utf-8') as out:
    out.write('%s:%s\n' % (output, ''.join(' ' + path.replace(' ', '\\ ') for path in find.watched(root))))


def c_string(text):
    lines = []
    for line in text.splitlines():
        escaped = line.replace('\\', '\\\\').replace('"', '\\"')
        lines.append('    "%s\\n"' % escaped)
    return '\n'.join(lines)


with open(output, 'w', encoding='utf-8') as out:
    out.write('/* Made by src/stage/make_registry.py. */\n#include "stage/stage.h"\n\n')
    out.write('#include <string.h>\n\n')
    for stage in stages:
        out.write('extern const struct stage stage_%s;\n' % stage)
    out.write('\nconst struct stage *const stage_registry[] = {\n')
    for stage in stages:
        out.write('    &stage_%s,\n' % stage)
    out.write('    NULL,\n};\n\n')
    out.write('static const struct {\n    const char *name, *text;\n} sources[] = {\n')
    for path in kernels:
        name = os.path.splitext(os.path.basename(path))[0]
        with open(path, encoding='utf-8') as f:
            out.write('    {"%s",\n%s},\n' % (name, c_string(f.read())))
    out.write('};\n\n')
    out.write('const char *stage_source(const char *name)\n{\n'
              '    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++)\n'
              '        if (strcmp(sources[i].name, name) == 0)\n'
              '            return sources[i].text;\n'
              '    return NULL;\n}\n')
