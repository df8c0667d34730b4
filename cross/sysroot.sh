#!/bin/sh
# cross/sysroot.sh SUITE FOLDER PACKAGE… (as root)
#
# Fills FOLDER with the files of arm64 packages and all that they depend on, from the Debian release
# SUITE, unless it holds just these already. The packages' scripts are not run, so no arm64 program is
# either, and this machine's own packages stay as they are.
set -eu

case ${1:-} in
-h | --help)
    sed -n '2,6s/^# \{0,1\}//p' "$0"
    exit 0
    ;;
esac
[ $# -ge 3 ] || {
    echo "usage: sysroot.sh SUITE FOLDER PACKAGE…" >&2
    exit 64
}
suite=$1
folder=$2
shift 2
wanted="$suite $*"
[ "$(cat "$folder/.holds" 2>/dev/null || true)" != "$wanted" ] || exit 0

echo "filling $folder with arm64 packages of $suite"
rm -rf "$folder"
mkdir -p "$(dirname "$folder")"
mmdebstrap --quiet --mode=root --variant=extract --arch=arm64 \
    --include="$(printf '%s,' "$@")" "$suite" "$folder"
rm -rf "$folder/var/cache/apt" "$folder/var/lib/apt/lists"
# Links to libraries begin at /, which is this machine's to a linker and to qemu.
find "$folder/usr" "$folder/lib" -xtype l -lname '/*' | while IFS= read -r link; do
    target=$folder$(readlink "$link")
    [ ! -e "$target" ] || ln -sfnr "$target" "$link"
done
# Debian 13's packages hold /usr/lib alone; the link beside it is made by a package's script.
[ -e "$folder/lib" ] || ln -s usr/lib "$folder/lib"
echo "$wanted" >"$folder/.holds"
