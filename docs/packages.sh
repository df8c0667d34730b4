# The Debian packages that sluice needs, and install_packages, which installs those that are missing.
# Sourced by docs/quickstart.sh, tests/run.sh and cross/build.sh.

# To build; Clang compiles the processor's kernels. To run, OpenCL is needed for a GPU only.
packages_build="clang gcc libc6-dev meson ninja-build pkg-config python3 opencl-c-headers libjansson-dev
libjpeg62-turbo-dev libmicrohttpd-dev libpng-dev libseccomp-dev libsqlite3-dev libsystemd-dev libtiff-dev libuv1-dev
libwebp-dev libyaml-dev libzip-dev zlib1g-dev"
# The tests run kernels by OpenCL, too, on PoCL; and the module for Python.
packages_test="abigail-tools chromium curl libcmocka-dev ocl-icd-libopencl1 pocl-opencl-icd python3-cffi python3-dev python3-httpx
python3-numpy python3-venv"
# The element for GStreamer, which is built where these are (docs/gstreamer.md); and what its tests take.
packages_gstreamer="libgstreamer1.0-dev libgstreamer-plugins-base1.0-dev gstreamer1.0-plugins-base gstreamer1.0-plugins-good
gstreamer1.0-tools gir1.2-gst-plugins-base-1.0 python3-gi python3-numpy"
# What its recipes for OpenCV and RTSP take, beside that.
packages_recipes="g++ libopencv-core-dev gir1.2-gst-rtsp-server-1.0"
# For sluice-relay and sluice enqueue, which are built where these are (docs/fleet.md); and what their tests take.
packages_relay="libcurl4-openssl-dev libnats-dev libssl-dev"
packages_fleet="iproute2 iptables nginx-light openssl redis-server"
# What looks at the source (tests/analyse.py), beside GCC.
packages_analyse="clang-tidy cppcheck"
# To build for arm64 elsewhere, and to run that (cross/build.sh).
packages_cross="clang gcc gcc-aarch64-linux-gnu libc6-dev meson mmdebstrap ninja-build pkg-config python3 qemu-user-static"

# watched WORD LOG COMMAND…: runs it with its output in LOG, and says how far it is: WORD, ninja's count, if LOG has one, and
# the time, once a second on one line of a terminal, every ten seconds on a line elsewhere.
watched() {
    watched_word=$1 watched_log=$2 watched_status=0
    shift 2
    : >"$watched_log"
    (
        seconds=0
        while sleep 1 && kill -0 $$ 2>/dev/null; do
            seconds=$((seconds + 1))
            [ -t 1 ] || [ $((seconds % 10)) = 0 ] || continue
            count=$(sed -n 's/^\[\([0-9]*\)\/\([0-9]*\)\].*/: \1 of \2/p' "$watched_log" | tail -n 1)
            if [ -t 1 ]; then
                printf '\r  %s%s, %d s ' "$watched_word" "$count" $seconds
            else
                echo "  $watched_word$count, $seconds s"
            fi
        done
    ) &
    watched_ticker=$!
    "$@" >>"$watched_log" 2>&1 || watched_status=$?
    kill $watched_ticker 2>/dev/null || :
    wait $watched_ticker 2>/dev/null || :
    [ ! -t 1 ] || printf '\r%70s\r' ''
    return $watched_status
}

install_packages() {
    missing=
    for package in "$@"; do
        state=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
        [ "$state" = installed ] || missing="$missing $package"
    done
    [ -n "$missing" ] || return 0
    if [ "$(id -u)" = 0 ]; then
        as_root=
    elif command -v sudo >/dev/null; then
        as_root=sudo
    else
        echo "neither root nor sudo: please install$missing" >&2
        return 69
    fi
    if ! command -v apt-get >/dev/null; then
        echo "no apt-get here: please install what these Debian packages hold:$missing" >&2
        return 69
    fi
    echo "installing with apt${as_root:+ through sudo}:$missing"
    export DEBIAN_FRONTEND=noninteractive
    $as_root apt-get -qq update
    install_log=$(mktemp) install_status=0
    # shellcheck disable=SC2086 # a list of words
    watched installing "$install_log" $as_root apt-get -qq install -y --no-install-recommends $missing || install_status=$?
    [ $install_status = 0 ] || cat "$install_log" >&2
    rm -f "$install_log"
    return $install_status
}
