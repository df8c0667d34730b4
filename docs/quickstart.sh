#!/bin/sh
# docs/quickstart.sh [PICTURE…]
#
# From a bare Debian to filtered pictures: installs what is missing, builds, starts the daemon on
# temporary folders (no root, no systemd), drops the pictures into the watched one (or a test card that
# sluice draws), waits, and says where the results are, how long each phase took, and what to try next.
# Environment: CHAIN (luminance,sobel:scale=1), FORMAT (png), BUILD (the build folder: build).
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
chain=${CHAIN:-luminance,sobel:scale=1}
format=${FORMAT:-png}
build=${BUILD:-$root/build}
. "$root/docs/packages.sh"

case ${1:-} in
-h | --help)
    sed -n '2,7s/^# \{0,1\}//p' "$0"
    exit 0
    ;;
esac
for picture in "$@"; do
    [ -f "$picture" ] || {
        echo "quickstart: $picture: no such file" >&2
        exit 66
    }
done

now() { date +%s.%N; }
took() { awk -v a="$1" -v b="$(now)" 'BEGIN { printf "%.1f s", b - a }'; }

begin=$(now)
# shellcheck disable=SC2086 # lists of words
install_packages $packages_build
installed=$(took "$begin")

begin=$(now)
echo "building in $build"
if [ ! -f "$build/build.ninja" ]; then
    watched configuring "$build.log" meson setup "$build" "$root" -Dbuildtype=release -Dtests=false || {
        cat "$build.log" >&2
        exit 70
    }
fi
watched building "$build.log" ninja -C "$build" || {
    cat "$build.log" >&2
    exit 70
}
built=$(took "$begin")

work=$(mktemp -d "${TMPDIR:-/tmp}/sluice-quickstart-XXXXXX")
mkdir "$work/in" "$work/out" "$work/state"
daemon=
stop() {
    if [ -n "$daemon" ]; then
        kill "$daemon" 2>/dev/null || true
        wait "$daemon" 2>/dev/null || true
    fi
    daemon=
}
trap stop EXIT
trap 'exit 130' INT TERM

begin=$(now)
echo "starting sluiced --watch $work/in --output $work/out --chain $chain --format $format"
"$build/src/sluiced" --verbose --watch "$work/in" --output "$work/out" --state "$work/state" \
    --chain "$chain" --format "$format" >"$work/log" 2>&1 &
daemon=$!
until grep -q ' ready' "$work/log"; do
    kill -0 "$daemon" 2>/dev/null || {
        cat "$work/log" >&2
        exit 70
    }
    sleep 0.05
done
started=$(took "$begin")

begin=$(now)
if [ $# = 0 ]; then
    picture=$work/testcard.png
    "$build/src/sluice" testcard -q -o "$picture"
    cp "$picture" "$work/in/"
    count=1
else
    picture=$1
    cp -- "$@" "$work/in/"
    count=$#
fi
finished() { find "$work/in/.sluice/done" "$work/in/.sluice/failed" -type f ! -name '*.error.json' 2>/dev/null | wc -l; }
while [ "$(finished)" -lt "$count" ]; do
    kill -0 "$daemon" 2>/dev/null || {
        cat "$work/log" >&2
        exit 70
    }
    sleep 0.05
done
processed=$(took "$begin")
stop

echo
for result in "$work"/out/*; do
    [ -f "$result" ] && echo "$result"
done
failed=$(find "$work/in/.sluice/failed" -name '*.error.json' 2>/dev/null | wc -l)
[ "$failed" = 0 ] || {
    echo "$failed failed; the reasons:"
    cat "$work"/in/.sluice/failed/*.error.json
}
echo
echo "install $installed, build $built, start $started, $count picture(s) $processed"
echo "results in $work/out, the daemon's log in $work/log"
# As README.md goes on: from here, if sluice was built here.
programs=$build/src
[ "$programs" != "$PWD/build/src" ] || programs=build/src
echo
echo "to try next:"
echo "  $programs/sluice run -c luminance,threshold:otsu -o black-and-white.png $picture"
echo "  $programs/sluice stages"
echo "  $programs/sluice plan -c $chain 6016x4016x3"
[ "$failed" = 0 ]
