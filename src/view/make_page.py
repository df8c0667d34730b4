#!/usr/bin/env python3
"""Writes the page's files as a C source: make_page.py OUTPUT FILE…"""
import os
import sys

TYPES = {'.html': 'text/html; charset=utf-8', '.css': 'text/css; charset=utf-8',
         '.js': 'text/javascript; charset=utf-8', '.svg': 'image/svg+xml'}

with open(sys.argv[1], 'w', encoding='utf-8') as out:
    out.write('/* Made by make_page.py. */\n#include "view/page.h"\n\n')
    rows = []
    for number, path in enumerate(sys.argv[2:]):
        name = os.path.basename(path)
        with open(path, 'rb') as file:
            data = file.read()
        out.write('static const unsigned char file%d[] = {\n' % number)
        for at in range(0, len(data), 24):
            out.write(','.join(str(byte) for byte in data[at:at + 24]) + ',\n')
        out.write('};\n')
        rows.append('    {"/%s", "%s", file%d, %d},\n' % ('' if name == 'index.html' else name,
                                                     TYPES[os.path.splitext(name)[1]], number, len(data)))
    out.write('\nconst struct page_file page_files[] = {\n%s    {0},\n};\n' % ''.join(rows))
