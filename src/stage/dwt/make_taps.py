#!/usr/bin/env python3
"""make_taps.py wavelets.txt OUTPUT.c: the table of wavelets' filters, and their names as a parameter has them. The rbio
family is bior the other way round (src/stage/dwt/wavelet.c)."""
import sys

with open(sys.argv[1], encoding='utf-8') as file:
    wavelets = [line.split(None, 1) for line in file if not line.startswith('#')]
names = [name for name, _ in wavelets]
names = ['cdf97', 'cdf53', 'haar', *names, *('rbio' + name[4:] for name in names if name.startswith('bior'))]
with open(sys.argv[2], 'w', encoding='utf-8') as out:
    out.write('/* Made by src/stage/dwt/make_taps.py. */\n#include "stage/dwt/wavelet.h"\n\n')
    entries = ''
    for i, (name, filters) in enumerate(wavelets):
        filters = [taps.split() for taps in filters.split('/')]
        for k, taps in enumerate(filters):
            out.write(f'static const double taps_{i}_{k}[] = {{{", ".join(taps)}}};\n')
        entries += f'    {{"{name}", {len(filters[0])}, taps_{i}_0, taps_{i}_{len(filters) - 1}}},\n'
    out.write(f'\nconst struct wavelet_taps wavelet_taps[] = {{\n{entries}    {{0}},\n}};\n\n')
    choices = ''.join(f'    {{"{name}", {i}}},\n' for i, name in enumerate(names))
    out.write(f'const struct param_choice wavelet_choices[] = {{\n{choices}    {{NULL, 0}},\n}};\n')
