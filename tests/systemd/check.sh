#!/bin/bash
# Run as root on a throw-away machine with systemd as PID 1 and sluice installed below /usr: what the units
# promise. Prints a line for each promise; ends with 1 when one was broken. It changes the machine.
#
# Needs bash, perl-base, coreutils and systemd alone. Pictures are drawn by sluice testcard.
set -u
# Seconds for what may compile: a machine that does other things is slow.
patience=${PATIENCE:-180}
bad=0
step=$SECONDS
ok() { printf 'ok   %3d s  %s\n' $((SECONDS - step)) "$*"; step=$SECONDS; }
fail() {
    printf 'FAIL %3d s  %s\n' $((SECONDS - step)) "$*"
    journalctl -q -u sluiced -n 12 -o cat --no-pager | sed 's/^/     | /'
    bad=1
    step=$SECONDS
}
# expect WHAT SECONDS COMMAND…: until the command succeeds
expect() {
    local what=$1 until=$((SECONDS + $2))
    shift 2
    until "$@" >/dev/null 2>&1; do
        if [ $SECONDS -ge $until ]; then
            fail "$what"
            return 1
        fi
        sleep 0.1
    done
    ok "$what"
}
must() { # must WHAT COMMAND…
    local what=$1
    shift
    if "$@" >/dev/null 2>/tmp/why; then ok "$what"; else fail "$what: $(head -3 /tmp/why)"; fi
}
prop() { systemctl show -p "$1" --value "${2:-sluiced}"; }
active() { [ "$(prop ActiveState)" = active ] && [ "$(prop SubState)" = running ]; }
worker() { # the latest worker's process; neither ps nor pgrep is in every system
    local found= dir
    for dir in /proc/[0-9]*; do
        [ "$(cat "$dir/comm" 2>/dev/null)" = sluice-worker ] || continue
        [ "$(awk '{ print $3 }' "$dir/stat" 2>/dev/null)" = Z ] || found="$found ${dir#/proc/}"
    done
    echo "$found" | tr ' ' '\n' | sort -n | tail -1
}
other_worker() { [ -n "$(worker)" ] && [ "$(worker)" != "$1" ]; }
restarts_are() { [ "$(prop NRestarts)" = "$1" ] && active; }
picture_through() { # picture_through NAME: into the folder, out of the other
    sluice testcard --size 320x200 -o /tmp/card.png >/dev/null 2>&1 || sluice testcard -o /tmp/card.png
    install -m 644 /tmp/card.png "/var/lib/sluice/in/.$1.part"
    mv "/var/lib/sluice/in/.$1.part" "/var/lib/sluice/in/$1.png"
    expect "a picture through the folder ($1)" $patience test -s "/var/lib/sluice/out/$1.png"
}
http() { # http METHOD TARGET [BODY-FILE]: the answer's status and body
    perl -MSocket -e '
        my ($method, $target, $file) = @ARGV;
        my $body = "";
        if ($file) { local $/; open my $in, "<:raw", $file or die; $body = <$in>; }
        socket(my $s, AF_UNIX, SOCK_STREAM, 0) or die;
        connect($s, sockaddr_un("/run/sluice/http.sock")) or die "connect: $!";
        select $s; $| = 1; select STDOUT; binmode STDOUT;
        print $s "$method $target HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: " . length($body)
            . "\r\n\r\n$body";
        my ($head, $rest) = split /\r\n\r\n/, do { local $/; <$s> }, 2;
        print substr($head, 9, 3), "\n", $rest;' "$@"
}
is_live() { http GET /livez | grep -q '^200'; }
field() { journalctl -q -o json "SLUICE_FILE=/var/lib/sluice/in/$1.png" | grep -q '"SLUICE_CHAIN":"luminance,sobel:scale=1"'; }

systemctl stop sluiced.service sluiced-http.socket sluiced-jobs.socket 2>/dev/null
rm -rf /var/cache/sluice/*
systemctl reset-failed

# ---- the installed tree
must 'systemd-analyze verify' systemd-analyze verify sluiced.service sluiced-http.socket sluiced-jobs.socket
must 'the configuration is good' sluice check-config /etc/sluice/sluice.yaml
must 'the service user is there' id sluice

# ---- start to READY, cold and warm
# With less time than compiling takes, unless it is extended.
mkdir -p /run/systemd/system/sluiced.service.d
printf '[Service]\nTimeoutStartSec=4s\n' >/run/systemd/system/sluiced.service.d/quick.conf
systemctl daemon-reload
begin=$(date +%s%N)
must 'a cold start ends with READY' systemctl start sluiced.service
rm -r /run/systemd/system/sluiced.service.d
systemctl daemon-reload
echo "     start with an empty cache: $((($(date +%s%N) - begin) / 1000000)) ms"
must 'its worker runs as sluice' test "$(stat -c %U "/proc/$(worker)")" = sluice
prop StatusText | grep -q '^ready on ' && ok "status: $(prop StatusText)" || fail "status: $(prop StatusText)"
picture_through first
expect 'its journal line has chain and file' 10 field first
must 'results belong to the group' test "$(stat -c %G /var/lib/sluice/out/first.png)" = sluice
times=
for _ in 1 2 3 4 5; do
    systemctl stop sluiced.service 2>/dev/null
    begin=$(date +%s%N)
    systemctl start sluiced.service || fail 'a warm start'
    times="$times $((($(date +%s%N) - begin) / 1000000))"
done
echo "     start with a warm cache, ms:$times"
journalctl -q -u sluiced -o cat | grep 'is up after' | tail -1 | grep -q 'compiled: 0' &&
    ok 'a warm start compiles nothing' || fail 'a warm start compiles nothing'

# ---- activation
systemctl stop sluiced.service 2>/dev/null
must 'both sockets listen without it' systemctl is-active sluiced-http.socket sluiced-jobs.socket
test "$(stat -c '%U:%G %a' /run/sluice/http.sock)" = 'sluice:sluice 660' && ok 'rights of the sockets' ||
    fail "rights of the sockets: $(stat -c '%U:%G %a' /run/sluice/http.sock)"
systemctl is-active -q sluiced.service && fail 'it is stopped'
http POST '/v1/process?chain=edges&format=png' /tmp/card.png >/tmp/http.out
head -1 /tmp/http.out | grep -q 200 && ok 'the first HTTP client starts it and gets its picture' ||
    fail "HTTP: $(head -c 300 /tmp/http.out)"
active && ok 'it is active' || fail 'it is active'
systemctl stop sluiced.service 2>/dev/null
rm -rf /tmp/o.png
must 'the first client of the jobs socket starts it and gets its picture' \
    sluice submit -s /run/sluice/jobs.sock -c edges -o /tmp/o.png /tmp/card.png
tail -n +2 /tmp/http.out | cmp -s - /tmp/o.png && ok 'both sockets give the same result' ||
    fail 'both sockets give the same result'
cmp -s /tmp/o.png /var/lib/sluice/out/first.png && ok 'and the folder, too' || fail 'and the folder, too'
if command -v runuser >/dev/null; then
    runuser -u nobody -- sluice status -s /run/sluice/jobs.sock >/dev/null 2>&1 &&
        fail 'who is not of the group is refused' || ok 'who is not of the group is refused'
fi

# ---- reload
sed -i 's/edges: "luminance,sobel:scale=1"/edges: "luminance,sobel:scale=1"\n  soft: "box:radius=2"/' /etc/sluice/sluice.yaml
must 'systemctl reload' systemctl reload sluiced
has_soft() { http GET /v1/chains | grep -q soft; }
expect 'a good configuration is in force' $patience has_soft
cp /etc/sluice/sluice.yaml /tmp/good.yaml
echo 'nonsense: 1' >>/etc/sluice/sluice.yaml
systemctl reload sluiced && fail 'reload tells that it is wrong' || ok 'reload tells that it is wrong'
refused() { prop StatusText | grep -q refused; }
expect 'a wrong one is refused, and the status says so' $patience refused
active && is_live && ok 'and it goes on' || fail 'and it goes on'
cp /tmp/good.yaml /etc/sluice/sluice.yaml
picture_through reloaded

# ---- deaths
n=$(prop NRestarts)
old=$(worker)
kill -KILL "$old"
expect 'kill -9 of the worker: another one' $patience other_worker "$old"
test "$(prop NRestarts)" = "$n" && ok 'and the same front' || fail 'and the same front'
picture_through worker
test "$(prop OOMPolicy)" = continue && ok 'one that is killed for want of memory does not end the service' ||
    fail "OOMPolicy: $(prop OOMPolicy)"
kill -KILL "$(prop MainPID)"
expect 'kill -9 of the front: started again' $patience restarts_are $((n + 1))
expect 'and answers' $patience is_live
picture_through front

# ---- hangs
mkdir -p /run/systemd/system/sluiced.service.d
printf '[Service]\nWatchdogSec=6s\n' >/run/systemd/system/sluiced.service.d/quick.conf
systemctl daemon-reload
systemctl restart sluiced
n=$(prop NRestarts)
old=$(worker)
kill -STOP "$old"
expect 'a worker that hangs is replaced within 20 s' 20 other_worker "$old"
restarts_are "$n" && ok 'by the front itself' || fail 'by the front itself'
begin=$SECONDS
kill -STOP "$(prop MainPID)"
expect 'a front that hangs: the watchdog has it started again' 25 restarts_are $((n + 1))
test $((SECONDS - begin)) -le 16 && ok 'within its time, the abort and the restart' || fail "after $((SECONDS - begin)) s"
journalctl -q -u sluiced -o cat | grep -q 'Watchdog timeout' && ok 'it was the watchdog' || fail 'it was the watchdog'
expect 'and answers' $patience is_live
rm -r /run/systemd/system/sluiced.service.d
systemctl daemon-reload
picture_through hung

# ---- SIGUSR1, and the end
systemctl kill --kill-whom=main -s USR1 sluiced
said() { journalctl -q -u sluiced -o cat | grep -q 'sluice_worker_starts_total'; }
expect 'SIGUSR1 logs the state' 10 said
mkdir /tmp/many
for i in $(seq 40); do cp /tmp/card.png "/tmp/many/m$i.png"; done
cp /tmp/many/*.png /var/lib/sluice/in/
begin=$(date +%s%N)
systemctl stop sluiced 2>/dev/null
echo "     stop under load: $((($(date +%s%N) - begin) / 1000000)) ms"
test "$(prop Result)" = success && ok 'it drains and ends well' || fail "the end: $(prop Result)"
done_and_waiting() { echo $(($(find /var/lib/sluice/out -name 'm*.png' | wc -l) + $(find /var/lib/sluice/in -maxdepth 1 -name 'm*.png' | wc -l) + $(find /var/lib/sluice/in/.sluice/work -name 'm*.png' | wc -l))); }
test "$(done_and_waiting)" -ge 40 && ok 'each file is done or still there' || fail "files: $(done_and_waiting) of 40"
test -z "$(find /var/lib/sluice/out -name '.*' -type f)" && ok 'nothing half is left' || fail 'nothing half is left'
systemctl start sluiced
all_done() { [ "$(find /var/lib/sluice/out -name 'm*.png' | wc -l)" = 40 ]; }
expect 'the next start does the rest' $patience all_done

# ---- boards
mkdir -p /run/systemd/system/sluiced.service.d
for board in /usr/share/sluice/systemd/*.conf; do
    cp "$board" /run/systemd/system/sluiced.service.d/
    systemctl daemon-reload
    name=$(basename "$board" .conf)
    must "starts with the drop-in for $name" systemctl restart sluiced
    picture_through "with-$name"
    rm /run/systemd/system/sluiced.service.d/"$name.conf"
done
rm -r /run/systemd/system/sluiced.service.d
systemctl daemon-reload
systemctl stop sluiced

[ $bad = 0 ] && echo 'all promises kept' || echo 'some promises are broken'
exit $bad
