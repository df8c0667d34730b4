#!/usr/bin/env python3
"""The bill of materials names each library that a program is linked with, but for the C library's own, and no other.

usage: check_sbom.py SBOM PROGRAM..."""

import json
import re
import subprocess
import sys

C_LIBRARY = re.compile(r"lib(c|m|dl|pthread|rt|gcc_s)\.so|ld-linux")


def stem(soname):
    """Without numbers, which differ between systems."""
    return re.sub(r"\.so.*|[\d.-]+\.so.*", "", soname)


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        document = json.load(file)
    told = {stem(p["value"]): c for c in document["components"] for p in c["properties"] if p["name"] == "soname"}
    needed = set()
    for program in sys.argv[2:]:
        dynamic = subprocess.run(["readelf", "-dW", program], capture_output=True, text=True, check=True).stdout
        found = re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic)
        needed |= {stem(name) for name in found if not C_LIBRARY.match(name)}
    for name in sorted(needed - set(told)):
        print(f"{name} is linked and not told of")
    for name in sorted(set(told) - needed):
        print(f"{name} is told of and not linked")
    for name, part in told.items():
        if not part["version"] or not part["licenses"]:
            print(f"{name} has no version or licence")
            return 1
    print(f"{len(needed)} libraries")
    return needed != set(told)


sys.exit(main())
