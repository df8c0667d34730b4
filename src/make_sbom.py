"""Writes a CycloneDX bill of materials (ECMA-424, version 1.5) of the programs: the libraries that they are linked with, in
the versions that they were built with. OpenCL's driver is chosen by each machine and loaded when it is used.

usage: make_sbom.py OUTPUT VERSION NAME=VERSION..."""

import json
import sys
import uuid

# By pkg-config's names: the shared library, its licence as SPDX calls it, and whom the programs have it for.
LIBRARIES = {
    "jansson": ("libjansson.so.4", "MIT", "JSON"),
    "libjpeg": ("libjpeg.so.62", "IJG", "JPEG (libjpeg-turbo)"),
    "libpng": ("libpng16.so.16", "libpng-2.0", "PNG"),
    "libtiff-4": ("libtiff.so.6", "libtiff", "TIFF"),
    "libwebp": ("libwebp.so.7", "BSD-3-Clause", "WebP"),
    "libwebpmux": ("libwebpmux.so.3", "BSD-3-Clause", "WebP, metadata"),
    "libzip": ("libzip.so.4", "BSD-3-Clause", "NPZ, read"),
    "zlib": ("libz.so.1", "Zlib", "deflate"),
    "yaml-0.1": ("libyaml-0.so.2", "MIT", "configuration"),
    "libseccomp": ("libseccomp.so.2", "LGPL-2.1-only", "the worker's sandbox"),
    "sqlite3": ("libsqlite3.so.0", "blessing", "the ledger"),
    "libuv": ("libuv.so.1", "MIT", "the daemon's loop"),
    "libmicrohttpd": ("libmicrohttpd.so.12", "LGPL-2.1-or-later", "HTTP"),
    "libsystemd": ("libsystemd.so.0", "LGPL-2.1-or-later", "readiness, watchdog, journal"),
    "libnats": ("libnats.so.3", "Apache-2.0", "the relay's queue"),
    "libcurl": ("libcurl.so.4", "curl", "the relay's URLs"),
    "libcrypto": ("libcrypto.so.3", "Apache-2.0", "SHA-256, for the relay"),
}


def component(name, version):
    soname, licence, use = LIBRARIES[name]
    return {
        "type": "library",
        "bom-ref": name,
        "name": name,
        "version": version,
        "description": use,
        "licenses": [{"license": {"id": licence}}],
        "properties": [{"name": "soname", "value": soname}],
    }


def main():
    output, version, *parts = sys.argv[1:]
    parts = [part.split("=", 1) for part in parts]
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "serialNumber": uuid.uuid5(uuid.NAMESPACE_URL, "sluice " + version + repr(parts)).urn,
        "version": 1,
        "metadata": {"component": {
            "type": "application",
            "bom-ref": "sluice",
            "name": "sluice",
            "version": version,
            "licenses": [{"license": {"id": "Apache-2.0"}}],
        }},
        "components": [component(name, of) for name, of in parts],
        "dependencies": [{"ref": "sluice", "dependsOn": [name for name, _ in parts]}],
    }
    with open(output, "w", encoding="utf-8") as file:
        json.dump(document, file, indent=2)
        file.write("\n")


main()
