#!/usr/bin/env python3
"""The programs and our libraries are hardened as the build asked the compiler and the linker.

usage: check_hardening.py MACHINE FORTIFIED PROGRAM... -- LIBRARY...

MACHINE is x86_64, aarch64 or another; FORTIFIED yes or no. Programs are position-independent, their tables of
addresses are read-only once they run (RELRO, all symbols bound at the start), no memory is both writable and
executable, no folder of the build is looked into for libraries, and they check their stacks and calls of the C library.
LIBRARIES are archives of ours, of which every object has landing pads for indirect jumps (IBT and SHSTK, BTI and PAC): a
program as a whole is marked so only where the C library's start files are."""

import re
import subprocess
import sys

marks = {"x86_64": ("IBT", "SHSTK"), "aarch64": ("BTI", "PAC")}


def readelf(what, path):
    done = subprocess.run(["readelf", "-W", what, path], capture_output=True, text=True, check=True)
    return done.stdout


def look_at_program(path, fortified):
    header, segments = readelf("-h", path), readelf("-l", path)
    dynamic, symbols = readelf("-d", path), readelf("--dyn-syms", path)
    flags = {line.split()[0]: line[line.rindex("0x") - 8:] for line in segments.splitlines() if line.startswith("  GNU_")}
    loads = [line for line in segments.splitlines() if line.startswith("  LOAD")]
    yield "is position-independent", re.search(r"Type:\s+DYN", header) and "PIE" in dynamic
    yield "has RELRO", "GNU_RELRO" in flags
    yield "binds all symbols at its start", "BIND_NOW" in dynamic or re.search(r"FLAGS_1.*NOW", dynamic)
    yield "has a stack that is not executable", "GNU_STACK" in flags and "E" not in flags["GNU_STACK"]
    yield "has no memory that is writable and executable", loads and not any("RWE" in line for line in loads)
    yield "has no relocations in its text", "TEXTREL" not in dynamic
    yield "names no folder for libraries", "RPATH" not in dynamic and "RUNPATH" not in dynamic
    yield "checks its stack", "__stack_chk_fail" in symbols
    if fortified:
        yield "checks calls of the C library", re.search(r"__\w+_chk@", symbols.replace("__stack_chk_fail", ""))


def look_at_library(path, machine):
    """Objects without the marks, by their names."""
    for part in readelf("-n", path).split("\nFile: ")[1:]:
        name = part.split("\n", 1)[0]
        if not all(mark in part for mark in marks[machine]):
            yield name


def main():
    machine, fortified, *rest = sys.argv[1:]
    at = rest.index("--")
    bad = 0
    for path in rest[:at]:
        for what, holds in look_at_program(path, fortified == "yes"):
            if not holds:
                print(f"{path}: not so: it {what}")
                bad += 1
    for path in rest[at + 1:] if machine in marks else ():
        for name in look_at_library(path, machine):
            print(f"{name} lacks {' or '.join(marks[machine])}")
            bad += 1
    print(f"{at} programs, {len(rest) - at - 1} libraries, {bad} things missing")
    return bad > 0


sys.exit(main())
