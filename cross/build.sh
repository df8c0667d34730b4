#!/bin/sh
# cross/build.sh [OPTION…] [-- MESON-OPTION…]
#
# On Debian for amd64: builds sluice for arm64, runs its tests under qemu-user with PoCL for arm64, and
# makes an archive of the installed files for a board (docs/boards.md). Needs root, or sudo, to install what
# is missing here and to unpack arm64 packages; neither adds a foreign architecture to this machine.
#
#   --suite NAME     the board's Debian release: bookworm (if nothing is said) or trixie
#   --work DIR       where all of it goes (build-cross in the checkout); kept for the next time
#   --no-install     install no packages
#   --no-test        build only
#   --tests SUITE    of the tests, those of one suite: unit, stage, cli, daemon, fault, fuzz
#   --targets LIST   build only these of the build's targets, and stop there
#   --full           also tests that take long under an emulator and say little about arm64
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
. "$root/docs/packages.sh"
suite=bookworm work=$root/build-cross install=1 test=1 tests= full=0 targets=
while [ $# -gt 0 ]; do
    case $1 in
    --suite | --work | --tests | --targets)
        [ $# -ge 2 ] || {
            echo "build.sh: $1 what?" >&2
            exit 64
        }
        case $1 in
        --suite) suite=$2 ;;
        --work) work=$2 ;;
        --tests) tests="--suite $2" ;;
        --targets) targets=$2 ;;
        esac
        shift
        ;;
    --no-install) install=0 ;;
    --no-test) test=0 ;;
    --full) full=1 ;;
    -h | --help)
        sed -n '2,14s/^# \{0,1\}//p' "$0"
        exit 0
        ;;
    --)
        shift
        break
        ;;
    *)
        echo "build.sh: unknown option $1" >&2
        exit 64
        ;;
    esac
    shift
done
case $suite in
bookworm | trixie) ;;
*)
    echo "build.sh: $suite: neither bookworm nor trixie" >&2
    exit 64
    ;;
esac
mkdir -p "$work"
work=$(cd "$work" && pwd)
sysroot=$work/sysroot-$suite
build=$work/$suite
tree=$work/tree-$suite

if [ $install = 1 ]; then
    # shellcheck disable=SC2086 # lists of words
    install_packages $packages_cross
fi

# The libraries of a native build, for arm64; its tools run here.
libraries=
for package in $packages_build $packages_relay $packages_test; do
    case $package in
    *-dev | *-headers | ocl-icd-* | pocl-*) libraries="$libraries $package" ;;
    esac
done
as_root=
[ "$(id -u)" = 0 ] || as_root=sudo
# shellcheck disable=SC2086
$as_root sh "$root/cross/sysroot.sh" "$suite" "$sysroot" $libraries

cat >"$work/$suite.ini" <<EOF
[constants]
sysroot = '$sysroot'
cross = '$root/cross'
EOF
if [ ! -f "$build/build.ninja" ] || [ $# -gt 0 ]; then
    rm -rf "$build"
    # Units belong below /usr also where Debian 12's systemd names /lib, which is a link there.
    meson setup "$build" "$root" --cross-file "$root/cross/aarch64-debian.ini" --cross-file "$work/$suite.ini" \
        --prefix=/usr --sysconfdir=/etc --localstatedir=/var -Dlibdir=lib/aarch64-linux-gnu \
        -Dkernel_cache="$work/kernels-$suite" "$@"
fi
# shellcheck disable=SC2086 # a list of words
ninja -C "$build" --quiet $targets
[ -z "$targets" ] || exit 0

status=0
if [ $test = 1 ]; then
    # An emulator is 4 to 15 times slower than this machine.
    # shellcheck disable=SC2086
    SLUICE_TEST_ALL=$full meson test -C "$build" --no-rebuild --print-errorlogs \
        --num-processes "$(nproc)" --timeout-multiplier 10 $tests || status=1
fi

rm -rf "$tree"
DESTDIR=$tree meson install -C "$build" --no-rebuild --quiet --strip
# Debian's /lib is a link to /usr/lib: an archive with a folder of that name would replace it.
for folder in bin sbin lib; do
    if [ -d "$tree/$folder" ]; then
        mkdir -p "$tree/usr/$folder"
        cp -a "$tree/$folder/." "$tree/usr/$folder/"
        rm -r "${tree:?}/$folder"
    fi
done
version=$("$root/cross/emulate" "$sysroot" "$tree/usr/bin/sluice" --version | awk '{ print $2 }')
archive=$work/sluice-$version-$suite-arm64.tar.gz
(cd "$tree" && tar --sort=name --owner=0 --group=0 --numeric-owner -czf "$archive" -- *)
echo "for a board with $suite: $archive"
exit $status
