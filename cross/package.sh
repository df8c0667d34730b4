#!/bin/sh
# cross/package.sh [OPTION…]
#
# On Debian: builds the packages of the commit that is checked out, in a clean root and without a network, twice, in
# folders of different names and at different times. Ends with 1 if the two differ in a byte or lintian has an error or
# a warning. Packages go to packages/ in the checkout. A commit without the tag of its version gets the time and hash of the commit
# behind the version, so that later ones are upgrades. As root, or through sudo.
#
#   --arch NAME      amd64 or arm64; not this machine's: cross-built
#   --suite NAME     the Debian release that they are for: bookworm (if nothing is said) or trixie
#   --work DIR       where roots and logs go (build-packages in the checkout); roots are kept for the next time
#   --once           built once: nothing is said of whether they are reproducible
#   --no-install     install nothing on this machine
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
[ "$(id -u)" = 0 ] || exec sudo sh "$root/cross/package.sh" "$@"
. "$root/docs/packages.sh"
here=$(dpkg --print-architecture)
arch=$here suite=bookworm work=$root/build-packages times='first second' install=1
while [ $# -gt 0 ]; do
    case $1 in
    --arch | --suite | --work)
        [ $# -ge 2 ] || {
            echo "package.sh: $1 what?" >&2
            exit 64
        }
        case $1 in
        --arch) arch=$2 ;;
        --suite) suite=$2 ;;
        --work) work=$2 ;;
        esac
        shift
        ;;
    --once) times=first ;;
    --no-install) install=0 ;;
    -h | --help)
        sed -n '2,13s/^# \{0,1\}//p' "$0"
        exit 0
        ;;
    *)
        echo "package.sh: unknown option $1" >&2
        exit 64
        ;;
    esac
    shift
done
# Packages of the two releases are upgrades of each other, as the releases are.
case $suite/$arch in
bookworm/amd64 | bookworm/arm64) release=deb12 ;;
trixie/amd64 | trixie/arm64) release=deb13 ;;
*)
    echo "package.sh: $suite for $arch: neither bookworm nor trixie, or neither amd64 nor arm64" >&2
    exit 64
    ;;
esac
[ $install = 0 ] || install_packages mmdebstrap git
mkdir -p "$work" "$root/packages"
work=$(cd "$work" && pwd)
git() { command git -c safe.directory='*' -C "$root" "$@"; }
[ -z "$(git status --porcelain)" ] || echo "package.sh: what is not committed is not in the packages" >&2

# ---- the clean root: what debian/control asks for, and lintian

cross=
[ "$arch" = "$here" ] || cross="--host-architecture=$arch -Pcross,nocheck"
clean=$work/root-$suite-$arch
asked=$(sha256sum <"$root/debian/control")
if [ "$(cat "$clean.asked" 2>/dev/null || true)" != "$asked" ]; then
    echo "a clean root of $suite, to build for $arch"
    rm -rf "$clean" "$clean.asked"
    architectures=$here tools=lintian
    [ "$arch" = "$here" ] || architectures=$here,$arch tools=lintian,crossbuild-essential-$arch
    mkdir -p "$work/asked/debian"
    cp "$root/debian/control" "$work/asked/debian/"
    mmdebstrap --quiet --mode=root --variant=buildd --architectures="$architectures" --include="$tools" \
        --customize-hook="copy-in $work/asked /tmp" \
        --customize-hook="chroot \"\$1\" apt-get -qq -y --no-install-recommends $cross build-dep /tmp/asked" \
        --customize-hook='chroot "$1" useradd --create-home builder' \
        --customize-hook='rm -rf "$1/tmp/asked"' "$suite" "$clean" >"$work/root.log" 2>&1 || {
        tail -n 20 "$work/root.log" >&2
        exit 70
    }
    echo "$asked" >"$clean.asked"
fi

# ---- the source: this commit, under its version

source=$work/source-$suite-$arch
rm -rf "$source"
mkdir -p "$source"
git archive --prefix=sluice/ HEAD | tar -C "$source" -x
version=$(sed -n "s/^  version: '\(.*\)',/\1/p" "$source/sluice/meson.build")
released=$(sed -n '1s/.*(\(.*\)).*/\1/p' "$source/sluice/debian/changelog")
[ "$version" = "$released" ] || {
    echo "package.sh: meson.build says $version and debian/changelog $released" >&2
    exit 65
}
hash=$(git rev-parse --short=9 HEAD)
seconds=$(git log -1 --format=%ct)
git tag --points-at HEAD | grep -qx "v$version" ||
    version=$version+git$(date -u -d "@$seconds" +%Y%m%d.%H%M%S).$hash
version=$version+$release
{
    printf 'sluice (%s) %s; urgency=medium\n\n  * Built for this release from commit %s.\n\n' "$version" "$suite" "$hash"
    printf ' -- %s  %s\n\n' "$(sed -n 's/^Maintainer: //p' "$root/debian/control")" "$(date -u -R -d "@$seconds")"
    cat "$root/debian/changelog"
} >"$source/sluice/debian/changelog"

# ---- built, in a copy of the root that is gone afterwards

# in_root FOLDER COMMAND…: FOLDER is /build there; no network; nothing that is written beside it stays.
in_root() {
    folder=$1
    shift
    ended=0
    mkdir -p "$folder.over/upper" "$folder.over/work" "$folder.over/root"
    unshare --mount --pid --net --uts --ipc --fork --kill-child sh -euc '
        clean=$1 over=$2 folder=$3
        shift 3
        mount -t overlay overlay -o "lowerdir=$clean,upperdir=$over/upper,workdir=$over/work" "$over/root"
        mkdir -p "$over/root/build"
        mount --bind "$folder" "$over/root/build"
        mount -t proc proc "$over/root/proc"
        mount --rbind /dev "$over/root/dev"
        hostname builder
        exec chroot "$over/root" env -i HOME=/home/builder PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 "$@"
    ' in_root "$clean" "$folder.over" "$folder" "$@" || ended=$?
    rm -rf "$folder.over"
    return $ended
}

for time in $times; do
    folder=$work/$suite-$arch-$time
    rm -rf "$folder"
    mkdir -p "$folder/$time"
    cp -a "$source/sluice" "$folder/$time/"
    # What differs: the path, the time zone, the rights of new files, how many compile at once.
    case $time in
    first) zone=UTC mask=022 jobs=$(nproc) ;;
    second) zone=Asia/Kathmandu mask=002 jobs=$(($(nproc) + 1)) ;;
    esac
    begin=$(date +%s)
    # shellcheck disable=SC2016
    in_root "$folder" sh -euc '
        umask $1
        chown -R builder: /build
        export TZ=$2 DEB_BUILD_OPTIONS="parallel=$3 nocheck"
        cd "/build/$4/sluice"
        exec setpriv --reuid=builder --regid=builder --init-groups --no-new-privs \
            dpkg-buildpackage -b --no-sign ${5:+--host-arch="$5" -Pcross,nocheck}
    ' build "$mask" "$zone" "$jobs" "$time" "$([ "$arch" = "$here" ] || echo "$arch")" >"$folder.log" 2>&1 || {
        tail -n 40 "$folder.log" >&2
        echo "package.sh: the $time build failed: $folder.log" >&2
        exit 70
    }
    echo "$time build: $(($(date +%s) - begin)) s"
done

# ---- what is asked of them

status=0
first=$work/$suite-$arch-first/first
if [ "$times" != first ]; then
    second=$work/$suite-$arch-second/second
    (cd "$first" && sha256sum -- *.deb) >"$work/first.sums"
    (cd "$second" && sha256sum -- *.deb) >"$work/second.sums"
    if cmp -s "$work/first.sums" "$work/second.sums"; then
        echo "reproducible: $(wc -l <"$work/first.sums") packages, built twice, are equal"
    else
        diff "$work/first.sums" "$work/second.sums" >&2 || true
        echo "package.sh: the two builds differ: $first, $second" >&2
        status=1
    fi
fi
# shellcheck disable=SC2016
in_root "$work/$suite-$arch-first" sh -euc 'cd /build/first && exec setpriv --reuid=builder --regid=builder --clear-groups \
    lintian --fail-on error,warning --tag-display-limit 0 ./*.changes' && echo 'lintian: no errors, no warnings' || status=1
rm -f "$root/packages"/*+"$release"_"$arch".deb "$root/packages"/*+"$release"_all.deb
cp "$first"/*.deb "$root/packages/"
[ -z "${SUDO_UID:-}" ] || chown -R "$SUDO_UID:$SUDO_GID" "$root/packages"
(cd "$root/packages" && ls -l -- *+"$release"_all.deb ./*+"$release"_"$arch".deb | awk '{ print $5, $NF }')
exit $status
