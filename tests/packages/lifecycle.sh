#!/bin/bash
# tests/packages/lifecycle.sh [OPTION…]
#
# The life of the Debian packages, in a container with a pristine Debian, its systemd and no network: they are
# installed, take pictures by the folder and both sockets, are upgraded while pictures come in and pipelines and
# programs of the library run, removed, installed again and purged. Nothing may be lost on the way, and nothing be left
# in the end but what users made. As root, on Debian: apt-get install mmdebstrap systemd-container
#
#   --suite NAME     bookworm (if nothing is said) or trixie
#   --packages DIR   what cross/package.sh made (packages in the checkout)
#   --from DIR       packages of an earlier release to upgrade from; without it these, under a lower version and with
#                    another text in their configuration
#   --work DIR       the pristine root is kept there (build-lifecycle in the checkout)
set -euo pipefail

# ---- outside: a machine to do it on

outside() {
    root=$(cd "$(dirname "$0")/../.." && pwd)
    suite=bookworm packages=$root/packages from='' work=$root/build-lifecycle
    while [ $# -gt 0 ]; do
        case $1 in
        --suite) suite=$2 ;;
        --packages) packages=$2 ;;
        --from) from=$2 ;;
        --work) work=$2 ;;
        -h | --help)
            sed -n '2,14s/^# \{0,1\}//p' "$0"
            exit 0
            ;;
        *)
            echo "lifecycle.sh: unknown option $1" >&2
            exit 64
            ;;
        esac
        shift 2
    done
    [ "$(id -u)" = 0 ] || { echo "lifecycle.sh: run it as root" >&2; exit 77; }
    case $suite in bookworm) release=deb12 ;; trixie) release=deb13 ;; *) exit 64 ;; esac
    mkdir -p "$work"
    work=$(cd "$work" && pwd)
    pristine=$work/$suite
    # What users of the element and of the library have, before they install ours.
    tools=gcc,libc6-dev,pkgconf,gstreamer1.0-tools,gstreamer1.0-plugins-base
    [ -e "$pristine.done" ] || {
        rm -rf "$pristine"
        mmdebstrap --quiet --mode=root --variant=minbase --include=systemd,systemd-sysv,dbus,curl,$tools "$suite" "$pristine"
        touch "$pristine.done"
    }

    folder=$work/run-$suite
    trap finish EXIT
    rm -rf "$folder"
    mkdir -p "$folder"/{upper,work,machine,old}
    machine=$folder/machine
    mount -t overlay overlay -o "lowerdir=$pristine,upperdir=$folder/upper,workdir=$folder/work" "$machine"
    mkdir -p "$machine/root/"{old,new}
    cp "$packages"/*+"$release"_{"$(dpkg --print-architecture)",all}.deb "$machine/root/new/"
    rm -f "$machine"/root/new/*-dbgsym_*
    if [ -n "$from" ]; then
        cp "$from"/*.deb "$machine/root/old/"
    else
        for package in "$machine"/root/new/*.deb; do
            rm -rf "$folder/old"
            dpkg-deb -R "$package" "$folder/old"
            sed -i "s/^Version: .*/Version: 0.0.1/; s/(= [^)]*)/(= 0.0.1)/g" "$folder/old/DEBIAN/control"
            [ ! -e "$folder/old/etc/sluice/sluice.yaml" ] ||
                sed -i '1i # of an earlier release' "$folder/old/etc/sluice/sluice.yaml"
            dpkg-deb --root-owner-group -Zgzip -z1 -b "$folder/old" "$machine/root/old/" >/dev/null
        done
    fi
    cp "$0" "$machine/root/lifecycle.sh"
    cp -r "$root/debian/tests" "$machine/root/"
    # What the packages depend on is fetched now: the machine itself has no network.
    chroot "$machine" sh -c 'apt-get -qq update && apt-get -qq -y --no-install-recommends --download-only install /root/new/*.deb' >"$folder/log" 2>&1 ||
        { cat "$folder/log"; exit 70; }
    boot
    echo "Debian $(cat "$machine/etc/debian_version"), $(enter systemctl --version | head -1)"
    status=0
    enter bash /root/lifecycle.sh inside || status=$?
    enter journalctl -q --no-pager -o short-precise >"$work/journal-$suite.txt" || :
    exit $status
}

# Where systemd is not this machine's first process, the container gets a cgroup of its own.
boot() {
    local keep=''
    cgroups=()
    if [ ! -d /run/systemd/system ]; then
        keep=--keep-unit
        for hierarchy in /sys/fs/cgroup/unified /sys/fs/cgroup/systemd /sys/fs/cgroup; do
            [ ! -w "$hierarchy/cgroup.procs" ] || { mkdir "$hierarchy/lifecycle-$$"; cgroups+=("$hierarchy/lifecycle-$$"); }
        done
    fi
    # With every capability and bpf: else DevicePolicy= is left out without a word.
    (
        for cgroup in "${cgroups[@]}"; do echo "$BASHPID" >"$cgroup/cgroup.procs"; done
        SYSTEMD_NSPAWN_UNIFIED_HIERARCHY=1 exec systemd-nspawn --quiet --register=no $keep --private-network --directory="$machine" \
            --machine="lifecycle$$" --hostname=board --capability=all --system-call-filter="bpf perf_event_open" \
            --resolv-conf=off --timezone=off --console=read-only --boot
    ) </dev/null >"$folder/console" 2>&1 &
    nspawn=$!
    for _ in $(seq 3000); do
        sleep 0.2
        init=$(ps -o pid= --ppid $nspawn | head -1 | tr -d ' ') || continue # ps ends with 1 where it finds none
        [ -z "$init" ] || case $(enter systemctl is-system-running 2>/dev/null) in running | degraded) return 0 ;; esac
    done
    cat "$folder/console"
    exit 70
}

enter() { nsenter -t "$init" -a env -C /root -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 "$@"; }

finish() {
    if [ -n "${nspawn:-}" ]; then
        kill -TERM "$nspawn" 2>/dev/null || :
        sleep 2
        kill -KILL "$nspawn" 2>/dev/null || :
        wait "$nspawn" 2>/dev/null || :
    fi
    for cgroup in ${cgroups[@]+"${cgroups[@]}"}; do find "$cgroup" -depth -type d -exec rmdir {} \; 2>/dev/null || :; done
    ! mountpoint -q "$folder/machine" || umount -R "$folder/machine"
}

# ---- inside

all='sluice sluiced sluice-relay sluice-doc libsluice0 libsluice-dev gstreamer1.0-sluice python3-sluice'
in=/var/lib/sluice/in
out=/var/lib/sluice/out
bad=0
patience=${PATIENCE:-300} # seconds, for a machine that does other things
begin=$SECONDS

ok() { printf 'ok   %3d s  %s\n' $((SECONDS - begin)) "$*"; begin=$SECONDS; }
fail() { printf 'FAIL %3d s  %s\n' $((SECONDS - begin)) "$*"; bad=1; begin=$SECONDS; }
must() { # must WHAT COMMAND…
    local what=$1
    shift
    if "$@" >/root/said 2>&1; then ok "$what"; else fail "$what: $(tail -3 /root/said)"; fi
}
must_not() {
    local what=$1
    shift
    if "$@" >/root/said 2>&1; then fail "$what"; else ok "$what"; fi
}
wait_for() { # wait_for SECONDS COMMAND…
    local end=$((SECONDS + $1))
    shift
    until "$@" >/dev/null 2>&1; do
        [ $SECONDS -lt $end ] || return 1
        sleep 0.2
    done
}
apt() { apt-get -qq -y --no-install-recommends -o Dpkg::Options::=--force-confold "$@" </dev/null >>/root/apt.log 2>&1; }
version() { dpkg-query -W -f '${Version}' sluiced; }

# Every path that packages or services may have made; not what apt, dpkg and the journal keep of their own work.
paths() {
    find / -xdev \( -path /proc -o -path /sys -o -path /dev -o -path /root -o -path /tmp -o -path /var/tmp -o -path /var/log \
        -o -path /var/lib/dpkg -o -path /var/lib/apt -o -path /var/cache/apt -o -path /var/cache/debconf -o -path /var/cache/ldconfig \) \
        -prune -o -print | sort
    find /run -mindepth 1 -maxdepth 1 ! -name 'systemd' ! -name 'nsenter*' ! -name agetty.reload | sort
    getent passwd | cut -d: -f1 | sed 's/^/account /'
    # GPUs belong to group render, which udev makes, too.
    getent group | cut -d: -f1 | grep -vx render | sed 's/^/group /'
}

drop() { # drop NAME: a whole file at once, as users move them there
    install -m 644 /root/card.png "$in/.$1.part" && mv "$in/.$1.part" "$in/$1.png"
}
has_result() { cmp -s /root/plain.png "$out/$1.png"; }
by_http() { curl -sS --fail --unix-socket /run/sluice/http.sock --data-binary @/root/card.png 'http://localhost/v1/process?chain=edges&format=png' -o "$1"; }
by_socket() { sluice submit -q -s /run/sluice/jobs.sock -c edges -o "$1" /root/card.png; }

# A pipeline, a program of the library, and Python: each in one process, as long as `load` runs, and in new ones.
by_gst() { gst-launch-1.0 -q videotestsrc num-buffers="$1" ! video/x-raw,format=NV12,width=640,height=480,framerate=25/1 ! sluice chain=luminance,sobel ! fakesink sync="$2"; }
by_library() { head -c $((640 * 480 * 3 / 2)) /dev/zero | /root/frames luminance,sobel 640 480 >/dev/null; }
by_python() { python3 -c "import numpy, sluice; sluice.Chain('luminance,sobel')(numpy.zeros((480, 640, 3), numpy.uint8))"; }
last_python() {
    python3 - <<'END'
import numpy, os, sluice
chain, frame, n = sluice.Chain('luminance,sobel'), numpy.zeros((480, 640, 3), numpy.uint8), 0
while not os.path.exists('/root/stop'):
    assert not chain(frame).any()
    n += 1
print(n, 'frames in one process of Python')
END
}

# Clients and a dropper, until /root/stop is there. A request that is answered by an error is made again: `told` counts these.
load() {
    local n=0
    while [ ! -e /root/stop ]; do
        drop "load-$n" && echo "load-$n" >>/root/dropped
        n=$((n + 1))
        sleep 0.05
    done &
    for way in http socket; do
        local m=0
        while [ ! -e /root/stop ]; do
            m=$((m + 1))
            rm -f "/root/$way.png"
            until by_$way "/root/$way.png" 2>>"/root/told.$way"; do
                echo again >>"/root/again.$way"
                sleep 0.1
            done
            cmp -s /root/plain.png "/root/$way.png" || echo "$m" >>/root/wrong
            echo "$m" >>"/root/done.$way"
        done &
    done
    for way in 'gst 20 false' library python; do
        while [ ! -e /root/stop ]; do
            # shellcheck disable=SC2086 # its arguments
            if by_$way >>/root/said.own 2>&1; then echo "$way" >>/root/done.own; else echo "$way" >>/root/failed.own; fi
        done &
    done
    last_python >/root/said.python 2>&1 || echo 'one Python' >>/root/failed.own &
    by_gst 250 true >>/root/said.own 2>&1 || echo 'one pipeline' >>/root/failed.own &
}
count() { [ ! -e "$1" ] || wc -l <"$1"; }
all_loaded() { for name in $(cat /root/dropped); do has_result "$name" || return 1; done; }

inside() {
    # This script is told by lines, so that a fault does not end it.
    set +e
    export DEBIAN_FRONTEND=noninteractive
    paths >/root/before

    apt install /root/old/*.deb || fail "install: $(tail -5 /root/apt.log)"
    ok "installed: $(version)"
    must 'the service runs' systemctl is-active sluiced.service
    must 'it is enabled, with its sockets' systemctl is-enabled sluiced.service sluiced-http.socket sluiced-jobs.socket
    must_not 'the relay waits until it is configured' systemctl is-enabled sluice-relay.service
    must 'the units are in order' systemd-analyze verify sluiced.service sluiced-http.socket sluiced-jobs.socket
    echo "     $(systemctl show -p StatusText --value sluiced), $(systemd-analyze security --no-pager sluiced 2>/dev/null | tail -1)"
    sluice testcard --size 640x480 -q -o /root/card.png
    sluice run -q --device reference -c luminance,sobel:scale=1 -o /root/plain.png /root/card.png
    # As README.md has it.
    cp /root/card.png "$in/first.png"
    must 'a picture that is copied into the folder comes out' wait_for "$patience" has_result first
    must 'by HTTP' by_http /root/http.png
    must 'by the jobs socket' by_socket /root/socket.png
    must 'both results are that of the chain in plain C' sh -c 'cmp /root/plain.png /root/http.png && cmp /root/plain.png /root/socket.png'
    must 'sluice doctor finds nothing wrong' sluice doctor

    must 'a pipeline runs' by_gst 5 false
    must 'a program of the library is built' sh -c 'cd /root && cp /usr/share/doc/libsluice-dev/examples/frames.c . && cc frames.c $(pkg-config --cflags --libs sluice) -o frames'
    must 'and runs' by_library
    must 'Python computes' by_python

    echo '# of the administrator' >>/etc/sluice/sluice.yaml
    load
    sleep 3
    began=$(date +%s%N)
    apt install /root/new/*.deb || fail "upgrade: $(tail -5 /root/apt.log)"
    took=$((($(date +%s%N) - began) / 1000000))
    sleep 3
    touch /root/stop
    wait
    ok "upgraded to $(version) in $took ms, while pictures came in"
    must 'the service runs' systemctl is-active sluiced.service
    must "every picture has its result: $(count /root/dropped) dropped" wait_for "$patience" all_loaded
    test -z "$(find "$in/.sluice/failed" -type f; cat /root/wrong 2>/dev/null)" && ok 'none failed, none differs' || fail 'failed, or other results'
    test "$(find "$in/.sluice/done" -name 'load-*' | wc -l)" = "$(count /root/dropped)" && ok 'each original is in done' || fail 'originals'
    test "$(find "$out" -name 'load-*' | wc -l)" = "$(count /root/dropped)" && ok 'no result twice' || fail 'more results than pictures'
    echo "     clients: $(count /root/done.http) by HTTP, $(count /root/done.socket) by the jobs socket; asked again:" \
        "$(count /root/again.http) $(count /root/again.socket)"
    sort -u /root/told.http /root/told.socket | head -5 | sed 's/^/     | /'
    test ! -s /root/failed.own && test -s /root/done.own && ok "the library, the element and Python meanwhile: $(sort /root/done.own | uniq -c | tr -s ' \n' ' ')runs, $(cat /root/said.python)" ||
        fail "the library, the element or Python: $(sort /root/failed.own | uniq -c | tr -s ' \n' ' '): $(tail -5 /root/said.own /root/said.python)"
    must 'the administrator'\''s configuration stays' grep -q '^# of the administrator' /etc/sluice/sluice.yaml

    apt remove $all || fail "remove: $(tail -5 /root/apt.log)"
    must_not 'removed: no service' systemctl is-active sluiced.service sluiced-http.socket sluiced-jobs.socket
    must_not 'no process' sh -c 'cat /proc/[0-9]*/comm | grep sluice'
    must_not 'no socket' test -e /run/sluice/http.sock
    must 'configuration and results stay' test -e /etc/sluice/sluice.yaml -a -e "$out/first.png"
    drop while-away
    apt install /root/new/*.deb || fail "install: $(tail -5 /root/apt.log)"
    must 'installed again: what was dropped meanwhile comes out' wait_for "$patience" has_result while-away
    must 'with the configuration of before' grep -q '^# of the administrator' /etc/sluice/sluice.yaml
    find "$in" "$out" -type f ! -path '*/.sluice/work/*' | sort >/root/pictures

    apt purge --auto-remove $all || fail "purge: $(tail -5 /root/apt.log)"
    paths | diff /root/before - | sed -n 's/^[<>]/&/p' >/root/left
    find "$in" "$out" -type f | sort | cmp -s - /root/pictures && ok "purged: all $(count /root/pictures) pictures are there" || fail 'pictures are gone'
    grep -v ' /var/lib/sluice' /root/left | grep -vxE '> (account|group) sluice' >/root/more &&
        fail "more than pictures and their owner is left: $(tr '\n' ' ' </root/more)" || ok 'nothing else but the account that they belong to'
    find /var/lib/sluice -type f ! -name '*.png' | grep . >/root/more && fail "no pictures: $(cat /root/more)"

    # Without pictures nothing is left at all. The packages that README.md and the pages name are enough.
    rm -rf /var/lib/sluice
    all=${all/sluice-relay sluice-doc /}
    # shellcheck disable=SC2046 # words
    apt install $(printf '/root/new/%s_*.deb ' $all) || fail "install: $(tail -5 /root/apt.log)"
    must 'installed once more' wait_for "$patience" systemctl is-active sluiced.service
    # The packages' own tests, as Debian's machines would run them.
    export AUTOPKGTEST_TMP=/root/autopkgtest
    for test in command element library python service; do
        mkdir $AUTOPKGTEST_TMP
        must "debian/tests/$test" sh -c "sh /root/tests/$test 2>&1"
        rm -r $AUTOPKGTEST_TMP
    done
    rm /var/lib/sluice/out/autopkgtest.png /var/lib/sluice/in/.sluice/done/autopkgtest.png
    apt purge --auto-remove $all || fail "purge: $(tail -5 /root/apt.log)"
    paths | diff /root/before - >/root/left && ok 'purged without pictures: nothing is left' || fail "left: $(cat /root/left)"
    [ $bad = 0 ] && echo 'the life cycle is in order' || { echo 'the life cycle is NOT in order'; tail -30 /root/apt.log; }
    exit $bad
}

if [ "${1:-}" = inside ]; then inside; else outside "$@"; fi
