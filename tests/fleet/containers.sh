#!/bin/bash
# tests/fleet/containers.sh [WORK]
#
# The ten commands of docs/fleet.md, as they are written there, on four machines: containers with a systemd of their
# own, one with Debian 13 for the hub and three with Debian 12, on a bridge without a way out. Then: results, the relay's
# sandbox, restarts, the order of ends, credentials that are gone. WORK keeps the root file systems (build-containers).
#
# For a throw-away machine with Debian 12, as root: apt-get install mmdebstrap systemd-container iproute2 openssl
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(realpath -m "${1:-$root/build-containers}")
[ "$(id -u)" = 0 ] || { echo "containers.sh: run it as root" >&2; exit 77; }
mkdir -p "$work"
cd "$work"
step() { echo "== $* ($SECONDS s)"; }
bad=0
expect() { # expect WHAT SECONDS COMMAND…: until it succeeds
    local what=$1 until=$((SECONDS + $2))
    shift 2
    until "$@" >/dev/null 2>&1; do
        [ $SECONDS -lt $until ] || { echo "FAIL $what"; bad=1; return 0; }
        sleep 0.2
    done
    echo "ok   $what"
}

# ---- machines

[ -e trixie.done ] || { step "Debian 13"; rm -rf trixie
    mmdebstrap --quiet --mode=root --variant=minbase --include=systemd,systemd-sysv,dbus,nats-server,python3 trixie trixie; touch trixie.done; }
[ -e bookworm.done ] || { step "Debian 12"; rm -rf bookworm
    mmdebstrap --quiet --mode=root --variant=minbase \
        --include="systemd,systemd-sysv,dbus,$(tr -s ' \n' ',,' <"$root/docs/examples/fleet/packages" | sed 's/,$//')" bookworm bookworm
    touch bookworm.done; }
step "sluice"
[ -f build/build.ninja ] || meson setup build "$root" --prefix=/usr --sysconfdir=/etc --localstatedir=/var \
    -Dsystemd_unit_dir=/usr/lib/systemd/system -Dtests=false -Drelay=enabled >build.log
ninja -C build >build.log
rm -rf tree && DESTDIR=$work/tree meson install -C build --no-rebuild >>build.log
net=10.$((RANDOM % 100 + 100)).7
bridge=slbr$$
pids=() groups=()
end() {
    for pid in "${pids[@]}"; do kill -TERM "$pid" 2>/dev/null || :; done
    sleep 2
    for pid in "${pids[@]}"; do kill -KILL "$pid" 2>/dev/null || :; wait "$pid" 2>/dev/null || :; done
    for group in "${groups[@]}"; do find "$group" -depth -type d -exec rmdir {} \; 2>/dev/null || :; done
    for name in hub board1 board2 board3; do ! mountpoint -q "m/$name/m" || umount -R "m/$name/m"; done
    ip link del "$bridge" 2>/dev/null || :
}
trap end EXIT
ip link add "$bridge" type bridge
ip addr add "$net.1/24" dev "$bridge"
ip link set "$bridge" up
hosts="127.0.0.1 localhost
$net.2 hub
$net.3 board1
$net.4 board2
$net.5 board3"

start() { # start NAME SUITE ADDRESS
    local name=$1 folder=$work/m/$1 pid=
    rm -rf "$folder" && mkdir -p "$folder"/{u,w,m}
    mount -t overlay overlay -o "lowerdir=$work/$2,upperdir=$folder/u,workdir=$folder/w" "$folder/m"
    echo "$hosts" >"$folder/m/etc/hosts"
    # The controllers stay where this machine has them; each container has a v2 tree of its own.
    local keep=
    if [ ! -d /run/systemd/system ]; then
        keep=--keep-unit
        for d in /sys/fs/cgroup/unified /sys/fs/cgroup/systemd /sys/fs/cgroup; do
            [ ! -w "$d/cgroup.procs" ] || { mkdir "$d/fleet-$$-$name"; groups+=("$d/fleet-$$-$name"); }
        done
    fi
    (for d in "${groups[@]}"; do case $d in *-"$name") echo "$BASHPID" >"$d/cgroup.procs" ;; esac; done
        SYSTEMD_NSPAWN_UNIFIED_HIERARCHY=1 exec systemd-nspawn --quiet --register=no $keep --network-veth --directory="$folder/m" \
            --machine="$name$$" --hostname="$name" --capability=all --system-call-filter="bpf perf_event_open" --resolv-conf=off \
            --timezone=off --console=read-only --boot) </dev/null >"$folder/console" 2>&1 &
    pids+=($!)
    for _ in $(seq 150); do
        sleep 0.2
        pid=$(ps -o pid= --ppid "${pids[-1]}" | head -1 | tr -d ' ')
        [ -z "$pid" ] || case $(nsenter -t "$pid" -a systemctl is-system-running 2>/dev/null) in running | degraded) break ;; esac
    done
    echo "$pid" >"$folder/pid"
    local far=ve-$name$$
    ip link set "${far:0:15}" master "$bridge" up
    nsenter -t "$pid" -n ip addr add "$net.$3/24" dev host0
    nsenter -t "$pid" -n ip link set host0 up
}
on() { # on NAME COMMAND…
    local pid
    pid=$(cat "$work/m/$1/pid")
    shift
    nsenter -t "$pid" -a env -C / -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 "$@"
}
step "four machines"
start hub trixie 2
for i in 1 2 3; do start board$i bookworm $((i + 2)); done

# ---- the desk: ssh and scp go to the containers

rm -rf desk && mkdir -p desk/bin desk/photos
cat >desk/bin/ssh <<END
#!/bin/sh
host=\${1#root@}
shift
exec nsenter -t "\$(cat $work/m/\$host/pid)" -a env -C / -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin sh -c "\$*"
END
cat >desk/bin/scp <<END
#!/bin/sh
# scp -r FROM root@HOST:TO
host=\${3#root@}
exec cp -r "\$2" "$work/m/\${host%%:*}/m\${host#*:}"
END
printf '#!/bin/sh\nexec %s "$@"\n' "$work/build/src/sluice" >desk/bin/sluice
chmod +x desk/bin/*
ln -s "$root" desk/sluice
(cd tree && tar -czf ../desk/sluice.tar.gz -- *) # as cross/build.sh does
for i in $(seq 12); do build/src/sluice testcard --size $((200 + i))x160 -o desk/photos/p$i.png; done
echo "$hosts" >desk/hosts
sed -n '/tests\/fleet\/containers.sh runs these/,/^```$/p' "$root/docs/fleet.md" | sed '1,2d;$d' >desk/commands
[ "$(wc -l <desk/commands)" = 10 ] || { echo "FAIL docs/fleet.md has not ten commands"; exit 1; }
step "ten commands"
PATH=$work/desk/bin:$PATH unshare -m bash -euc 'mount --bind "$1/hosts" /etc/hosts; cd "$1"; while read -r line; do echo "$ $line"; eval "$line" </dev/null; done <commands' \
    x "$work/desk" 2>&1 | sed 's/^/   /' || { echo "FAIL a command"; bad=1; }

# ---- what came of it

step "results"
for i in $(seq 12); do
    build/src/sluice run -q -c luminance,sobel:scale=1 -o desk/expected.png "desk/photos/p$i.png"
    cmp -s desk/expected.png "desk/edges/p$i.png" && echo "ok   edges/p$i.png" || { echo "FAIL edges/p$i.png"; bad=1; }
done
enqueue() { # enqueue CHAIN: a new job each time
    PATH=$work/desk/bin:$PATH unshare -m bash -euc 'mount --bind "$1/hosts" /etc/hosts; cd "$1"
        sluice enqueue -q --timeout 60s -s tls://hub --ca fleet/ca.pem --credentials fleet/producer.creds --again -c "$2" -o more/ photos/*.png' x "$work/desk" "$1"
}
enqueue invert || { echo "FAIL enqueue"; bad=1; }
for b in board1 board2 board3; do
    step $b
    expect "the service runs" 10 on $b systemctl is-active sluice-relay
    expect "metrics" 20 on $b grep -q 'sluice_relay_link_up 1' /run/sluice-relay/metrics.prom
    pid=$(on $b systemctl show -p MainPID --value sluice-relay)
    [ "$(on $b systemctl show -p User --value sluice-relay)" = sluice-relay ] || { echo "FAIL user"; bad=1; }
    on $b sh -c "tr '\\0' ' ' </proc/$pid/cmdline; echo; grep -E '^(CapEff|NoNewPrivs|Seccomp):' /proc/$pid/status | tr '\\n' ' '; echo" | sed 's/^/     /'
    on $b sh -c "grep -q 'Max core file size *0 *0' /proc/$pid/limits" && echo "ok   no core dumps" || { echo "FAIL core dumps"; bad=1; }
    password=$(cut -d: -f2 desk/fleet/$b/nats.creds)
    on $b journalctl -q --no-pager >journal-$b.txt
    ! grep -q "$password" journal-$b.txt && echo "ok   no secret in the journal" || { echo "FAIL secret in the journal"; bad=1; }
    on $b systemd-analyze security --no-pager sluice-relay | tail -1 | sed 's/^/     /'
done
step "ends"
on board1 systemctl kill -s KILL sluice-relay
expect "the relay comes back after SIGKILL" 30 on board1 sh -c '[ "$(systemctl show -p NRestarts --value sluice-relay)" = 1 ] && systemctl is-active sluice-relay'
on board2 systemctl stop sluiced
expect "it ends with sluiced, before it" 40 on board2 sh -c '! systemctl is-active sluice-relay && ! systemctl is-active sluiced'
on board2 sh -c 'journalctl -q -o cat -u sluiced -u sluice-relay --no-pager | tail -12' | sed 's/^/     /'
enqueue abs && echo "ok   two machines do what three did" || { echo "FAIL enqueue"; bad=1; }
on board2 systemctl start sluiced
expect "and is started with it" 40 on board2 systemctl is-active sluice-relay
step "a stolen board"
on hub sed -i '/user: "board3"/,/} }/d' /etc/nats-server.conf
on hub systemctl kill -s HUP nats-server # as reload does; this small system has no program `kill`
expect "board3 is refused" 40 on board3 sh -c 'journalctl -q -u sluice-relay --no-pager | grep -q "the server refuses the credentials"'
expect "with 77, and tried again later" 40 on board3 sh -c '[ "$(systemctl show -p NRestarts --value sluice-relay)" -ge 1 ]'
on board3 systemctl show -p ExecMainStatus -p NRestarts sluice-relay | sed 's/^/     /'
enqueue invert && echo "ok   the others go on" || { echo "FAIL enqueue"; bad=1; }
step "$([ $bad = 0 ] && echo 'all is well' || echo 'something FAILED')"
exit $bad
