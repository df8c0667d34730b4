#!/bin/bash
# tests/boot/check.sh start | writes | load | after
#
# Run as root inside a machine (a board, or an emulated one) on which sluice and its units are installed.
# It shows what the daemon promises across power cuts:
#
#   start   once: the service is started, and a photograph comes out filtered by the folder and by both sockets
#   writes  what is written to the disk for each photograph beyond its result, and whether anything else is
#   load    without end: photographs are dropped as fast as the disk takes them, and sent to both sockets. Cut the power
#           meanwhile.
#   after   at the next boot: every photograph that was accepted has its whole result, just one, and its
#           original; nothing else is left. load and after may be repeated.
#
# Accepted is what was in the watched folder when its dropper had synced it: a file is written and synced
# under a hidden name, renamed, the folder is synced, and then its name is put down in $list, synced too.
# A photograph that is sent to a socket is its client's until it is answered; answers are compared when they come.
# Results are compared byte for byte with those of the chain's definition in plain C, made by `start`.
set -u

input=${SLUICE_BOOT_INPUT:-/var/lib/sluice/in}
output=${SLUICE_BOOT_OUTPUT:-/var/lib/sluice/out}
chain=${SLUICE_BOOT_CHAIN:-luminance,sobel:scale=1}
unit=sluiced.service
models=/var/tmp/sluice-boot # photographs, what comes of them, what was accepted
list=$models/accepted
answers=$models/answers # of the sockets: how often there was one, and how often another than it should be
hidden=$input/.sluice
faults=0
umask 022
export HOME=/root # the cache of kernels is below

fault() {
    echo "FAULT: $*"
    faults=$((faults + 1))
}

# wait_until SECONDS COMMAND…
wait_until() {
    end=$((SECONDS + $1))
    shift
    until "$@"; do
        [ $SECONDS -lt $end ] || return 1
        sleep 0.5
    done
}

# What `wait_until` asks for
is_active() { systemctl is-active --quiet $unit; }
is_there() { [ -e "$output/$1" ]; }
nothing_waits() { [ -z "$(files "$input" 1)$(claimed)" ]; }

# In work/INSTANCE/SERIAL/; beside the serials lies the instance's lock
claimed() { find "$hidden/work" -mindepth 3 -type f ! -name '.*' 2>/dev/null; }

# Regular files in a folder, to a depth, but hidden ones at the top of it
files() { find "$1" -mindepth 1 -maxdepth "$2" -path "$hidden" -prune -o -type f ! -name '.*' -print 2>/dev/null; }

make_models() {
    mkdir -p $models
    : >$list
    : >$answers
    i=0
    # Of several sizes, so that a cut meets jobs in all of their steps; small, so that none is over its
    # time (limits.job_time) on a machine that is emulated.
    for size in 160x120 200x150 321x243 400x300; do
        sluice testcard --size $size -q -o "$models/$i.jpg" || return 1
        sluice run -q --device reference -c "$chain" -o "$models/$i.png" "$models/$i.jpg" || return 1
        i=$((i + 1))
    done
    sync
}

drop() { # model, name
    cp "$models/$1.jpg" "$input/.$2" && sync "$input/.$2" && mv "$input/.$2" "$input/$2.jpg" &&
        sync "$input" && echo "$2" >>$list && sync $list
}

start() {
    # The packages do both, and where they are installed the system may be read-only by now.
    id sluice >/dev/null 2>&1 || { systemd-sysusers && systemd-tmpfiles --create; } || fault "no user or no folders"
    systemctl is-enabled --quiet $unit || systemctl enable --quiet $unit || fault "cannot be enabled"
    began=$SECONDS
    systemctl start --no-block $unit || fault "does not start"
    wait_until 500 is_active || fault "is not active"
    echo "active after $((SECONDS - began)) s"
    make_models || fault "no photographs"
    drop 2 first-2
    if wait_until 400 is_there first-2.png; then
        cmp "$models/2.png" "$output/first-2.png" || fault "another result than the chain is defined to give"
        echo "first-2.jpg came out as first-2.png"
    else
        fault "no result of the first photograph"
    fi
    wait_until 60 nothing_waits
    for way in http jobs; do
        rm -f /run/sluice-boot.png
        if ! by_$way 1 /run/sluice-boot.png; then
            fault "no answer by the $way socket"
        elif ! cmp "$models/1.png" /run/sluice-boot.png; then
            fault "another answer by the $way socket"
        else
            echo "the $way socket answers with the same picture"
        fi
    done
    echo "AppArmor: $(cat "/proc/$(systemctl show -p MainPID --value $unit)/attr/current" 2>/dev/null || echo none)"
    sluice devices || fault "no device"
    systemctl show -p ActiveState,StatusText,MemoryCurrent,NRestarts $unit
}

# by_http MODEL RESULT, by_jobs: a photograph through a socket
by_http() { curl -sS --fail --unix-socket /run/sluice/http.sock --data-binary "@$models/$1.jpg" -o "$2" \
    "http://localhost/v1/process?chain=$chain&format=png"; }
by_jobs() { sluice submit -q -s /run/sluice/jobs.sock -c "$chain" -f png --on-exists overwrite -o "$2" "$models/$1.jpg"; }

ask() { # way, without end
    n=0
    while :; do
        if by_"$1" $((n % 4)) "/run/sluice-boot-$1.png" 2>/dev/null; then
            cmp -s "$models/$((n % 4)).png" "/run/sluice-boot-$1.png" && echo "$1 right" >>$answers || echo "$1 wrong" >>$answers
            sync $answers
        else
            sleep 1
        fi
        n=$((n + 1))
    done
}

load() {
    for way in http jobs; do ask $way & done
    boot=$(cut -c1-8 /proc/sys/kernel/random/boot_id)
    n=0
    while :; do
        drop $((n % 4)) "$boot-$n-$((n % 4))"
        n=$((n + 1))
    done
}

after() {
    wait_until 240 is_active || fault "is not active after the cut"
    wait_until 450 nothing_waits || fault "still waiting: $(files "$input" 1 | wc -l) files," \
        "$(claimed | wc -l) claimed"
    sleep 3 # the last one's end, and time for a late second result
    accepted=$(wc -l <$list)
    lost=0 torn=0
    while read -r name; do
        if ! is_there "$name.png"; then
            lost=$((lost + 1))
            fault "$name: no result"
        elif ! cmp -s "$models/${name##*-}.png" "$output/$name.png"; then
            torn=$((torn + 1))
            fault "$name: another result, of $(stat -c %s "$output/$name.png") bytes"
        fi
        cmp -s "$models/${name##*-}.jpg" "$hidden/done/$name.jpg" || fault "$name: its original is not in done"
    done <$list
    # A name that was cut off before it was put down may have been taken, too; whole, then.
    results=$(find "$output" -mindepth 1 | wc -l)
    originals=$(files "$hidden/done" 1 | wc -l)
    for result in "$output"/*; do
        name=$(basename "$result" .png)
        cmp -s "$models/${name##*-}.png" "$result" || fault "$result: not whole, or nobody's"
    done
    [ "$results" = "$originals" ] || fault "$results results of $originals originals"
    [ $((results - accepted)) -le "$(cuts)" ] || fault "$results results of $accepted accepted"
    find "$output" "$hidden/failed" "$hidden/done" -mindepth 1 -name ".*" | grep . && fault "left over"
    files "$hidden/failed" 9 | grep . && fault "failed"
    claimed | grep . && fault "still claimed"
    echo "accepted: $accepted; lost: $lost; torn: $torn; results: $results; originals: $originals;" \
        "taken up again after cuts: $(journalctl -q -u $unit | awk '/ taken up again/ {
            for (i = 1; i < NF; i++) if ($(i + 1) ~ /^files?$/) n += $i } END { print n + 0 }')"
    echo "answers of the sockets: $(grep -c right $answers) right, $(grep -c wrong $answers) wrong"
    grep wrong $answers && fault "another answer than the chain is defined to give"
    for way in http jobs; do by_$way 1 /run/sluice-boot.png || fault "no answer by the $way socket"; done
    # What the dropper had not finished is not the daemon's: hidden names are never taken.
    find "$input" -maxdepth 1 -name '.*-*' -delete
}

# Bytes that this machine's disk was told to write since it was booted
written() {
    sync
    disk=$(basename "$(findmnt -n -o SOURCE -T "$input")")
    awk '{ print $7 * 512 }' "/sys/class/block/$disk/stat"
}
processes() { # bytes that the kernel has written for processes of a name
    for dir in /proc/[0-9]*; do
        [ "$(cat "$dir/comm" 2>/dev/null)" != "$1" ] || sed -n 's/^write_bytes: //p' "$dir/io"
    done | awk '{ n += $1 } END { print n + 0 }'
}
bytes() { find "$1" -maxdepth 1 -name "$2" -printf '%b\n' | awk '{ n += $1 * 512 } END { print n + 0 }'; }

writes() {
    wait_until 60 nothing_waits
    count=40
    mkdir -p $models/elsewhere
    # The same photographs into a folder that nobody watches: what dropping costs.
    begun=$(written)
    i=0
    while [ $i -lt $count ]; do
        cp $models/0.jpg "$models/elsewhere/.$i" && sync "$models/elsewhere/.$i" &&
            mv "$models/elsewhere/.$i" "$models/elsewhere/$i.jpg" && sync $models/elsewhere
        i=$((i + 1))
    done
    dropping=$(($(written) - begun))
    rm -r $models/elsewhere
    touch /run/sluice-boot-mark
    begun=$(written)
    front=$(processes sluiced) worker=$(processes sluice-worker) journal=$(processes systemd-journal)
    i=0
    while [ $i -lt $count ]; do
        cp $models/0.jpg "$input/.writes-$i-0" && sync "$input/.writes-$i-0" &&
            mv "$input/.writes-$i-0" "$input/writes-$i-0.jpg" && sync "$input" && echo "writes-$i-0" >>$list
        i=$((i + 1))
    done
    wait_until 300 nothing_waits || fault "still waiting"
    sleep 3
    all=$(($(written) - begun))
    results=$(bytes "$output" 'writes-*')
    echo "a photograph, bytes: dropped $((dropping / count)), its result $((results / count))," \
        "all that the disk was told to write $((all / count))," \
        "beyond dropping and result $(((all - dropping - results) / count))"
    echo "of these, by process: sluiced $((($(processes sluiced) - front) / count))," \
        "sluice-worker $((($(processes sluice-worker) - worker) / count))," \
        "journald $((($(processes systemd-journal) - journal) / count))"
    find / -xdev -newer /run/sluice-boot-mark -type f ! -path '/proc/*' ! -path '/sys/*' >/run/sluice-boot-written
    find /var -xdev -newer /run/sluice-boot-mark -type f ! -path "$input/*" ! -path "$output/*" ! -path "$models/*" \
        ! -path '/var/log/journal/*' ! -path '/var/lib/sluice/ledger.db*' >>/run/sluice-boot-written
    grep -v '^/run/' /run/sluice-boot-written && fault "written, and neither spool nor ledger nor journal"
}

# How many boots have loaded: the last file of each may not have been put down
cuts() { journalctl --list-boots -q | wc -l; }

case ${1:-} in
start | writes | load | after) "$1" ;;
-h | --help)
    sed -n '2,18s/^# \{0,1\}//p' "$0"
    exit 0
    ;;
*)
    echo "usage: check.sh start | writes | load | after" >&2
    exit 64
    ;;
esac
if [ $faults != 0 ]; then
    echo "$faults faults; the journal's end:"
    journalctl -q -u $unit -n 40 --no-pager
    exit 1
fi
