"""make_ffi.py HEADER SHIM OUTPUT: writes the C source of sluice._sluice, which gives Python the library's header and the shim.

The declarations are the header's own, without its lines for the preprocessor, and the shim's first lines of functions.
"""
import re
import sys

import cffi


def declarations(header, shim):
    text = re.sub(r'/\*.*?\*/', '', header, flags=re.S)
    constants = re.findall(r'^#define (\w+) (\d+)$', text, re.M)
    text = re.sub(r'^#(?:.*\\\n)*.*\n', '', text, flags=re.M)
    text = text.replace('extern "C" {\n', '', 1)
    text = re.sub(r'\n}\s*$', '\n', text).replace('SLUICE_API ', '')
    functions = re.findall(r'^static ([^;={]*\))\n\{', shim, re.M)
    return ''.join('#define %s %s\n' % one for one in constants) + text + ''.join(one + ';\n' for one in functions)


def main():
    header, shim, output = sys.argv[1:]
    with open(header, encoding='utf-8') as file:
        header = file.read()
    with open(shim, encoding='utf-8') as file:
        shim = file.read()
    ffi = cffi.FFI()
    ffi.cdef(declarations(header, shim))
    ffi.set_source('sluice._sluice', shim)
    ffi.emit_c_code(output)


main()
