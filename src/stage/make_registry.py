#!/usr/bin/env python3
"""make_registry.py OUTPUT "STAGE …" KERNEL.cl…: the stages by name, and their kernels' texts."""
import os
import sys

output, stages, kernels = sys.argv[1], sorted(sys.argv[2].split()), sys.argv[3:]


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
