#!/bin/sh
# Fuzzes each target for a time, with libFuzzer, ASan and UBSan, and prints what was done and found:
#
#     sh tests/fuzz.sh [-j N] SECONDS [TARGET...]
#
# Targets are tests/fuzz/fuzz_*.c, those of the decoders by their formats; without any, all of them, one after another. With -j,
# N processes run at once: several for a target where there are more of them than targets, first for those with the fewest
# executions so far. What the targets have learnt is kept in build-fuzz/corpus, what was found in build-fuzz/findings: an input
# there fails again with build-fuzz/tests/fuzz_TARGET FILE. Mended, it goes into tests/fuzz/corpus/TARGET, which every run of the
# tests replays. Each run adds its lines to build-fuzz/figures; sh tests/fuzz.sh 0 prints the sums of all.
#
# BUILD names another build folder. One that was brought from elsewhere without its build.ninja, with tests/fuzz_* and
# tests/seeds-*, is run as it is.
set -eu
cd "$(dirname "$0")/.."
build=$(realpath -m "${BUILD:-build-fuzz}") # spool's target leaves this folder
jobs=1
[ "${1:-}" != -j ] || { jobs=$2 && shift 2; }
[ $# -gt 0 ] || { sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "$0"; exit 64; }
seconds=$1
shift
if [ ! -d "$build/tests" ]; then
    for clang in ${CLANG:-clang-19 clang-18 clang-17 clang-16 clang-15 clang-14 clang}; do
        command -v "$clang" >/dev/null && break
    done
    CC=$clang meson setup "$build" -Dfuzz=true -Doptimization=2 \
        -Db_sanitize=address,undefined -Db_lundef=false >/dev/null
fi
if [ -f "$build/build.ninja" ]; then
    all=$(ninja -C "$build" -t targets all | sed -n 's/^tests\/fuzz_\([a-z]*\): .*/\1/p' | sort -u)
else
    all=$(cd "$build/tests" && ls | sed -n 's/^fuzz_\([a-z]*\)$/\1/p')
fi
[ $# -gt 0 ] || set -- $all
programs=$(for target; do echo "tests/fuzz_$target"; done)
# shellcheck disable=SC2086
[ "$seconds" = 0 ] || [ ! -f "$build/build.ninja" ] || ninja -C "$build" --quiet $programs tests/seeds-decode tests/seeds-text
mkdir -p "$build/corpus" "$build/findings"
touch "$build/figures"

# ASan's own stack for signals is PoCL's trouble alone, which is not here.
export ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=1:allocator_may_return_null=1"
export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
export LSAN_OPTIONS="print_suppressions=0:suppressions=$PWD/tests/lsan.supp"
symbolizer=$(command -v llvm-symbolizer || ls /usr/lib/llvm-*/bin/llvm-symbolizer 2>/dev/null | tail -n 1)
[ -z "$symbolizer" ] || export ASAN_SYMBOLIZER_PATH="$symbolizer"

# libFuzzer's own limit goes by the clock on the wall, so it is wide; the targets count the processor's time.
# One run until the time is over or something is found, with its output in a file.
run_once() { # TARGET SECONDS LOG
    mkdir -p "$build/corpus/$1"
    seeds=
    for folder in "$build/tests/seeds-decode/$1" "$build/tests/seeds-text/$1" "$PWD/tests/fuzz/corpus/$1"; do
        [ ! -d "$folder" ] || seeds="$seeds $folder"
    done
    [ ! -f "$build/tests/seeds-text/$1.dict" ] || seeds="$seeds -dict=$build/tests/seeds-text/$1.dict"
    # shellcheck disable=SC2086
    "$build/tests/fuzz_$1" -max_total_time="$2" -max_len=65536 -timeout=120 \
        -rss_limit_mb=2048 -print_final_stats=1 -reload=$((jobs > 1)) -artifact_prefix="$build/findings/$1-" \
        "$build/corpus/$1" $seeds >"$3" 2>&1
}

# A line of figures: target, seconds, executions, edges reached, edges there are, findings, features.
figures() { # TARGET SECONDS FOUND LOG
    awk -v target="$1" -v seconds="$2" -v found="$3" '
        /^stat::number_of_executed_units/ { n = $2 }
        /inline 8-bit counters/ { for (i = 1; i < NF; i++) if ($(i + 1) == "inline") all = $i; sub(/\(/, "", all) }
        / cov: / { for (i = 1; i < NF; i++) if ($i == "cov:") edges = $(i + 1); else if ($i == "ft:") features = $(i + 1) }
        END { print target, seconds, n + 0, edges + 0, all + 0, found, features + 0 }' "$4"
}

# What was found, in a line: the sanitizer's, or the target's own before it aborts.
what() { # TARGET LOG
    awk -v target="$1" '/runtime error:|ERROR: [A-KM-Z]/ { before = $0 }
        /runtime error:|ERROR: / { print target ": " before; exit }
        { before = $0 }' "$2"
}

fuzz() { # TARGET LOG
    end=$(($(date +%s) + seconds))
    while left=$((end - $(date +%s))) && [ "$left" -gt 0 ]; do
        begun=$(date +%s) found=0
        run_once "$1" "$left" "$2" || { found=1 && what "$1" "$2"; }
        figures "$1" $(($(date +%s) - begun)) "$found" "$2" >>"$build/figures"
        [ "$found" = 0 ] || cp "$2" "$build/findings/$1-$(date +%s%N).log"
        [ "$found" = 0 ] || [ $(($(date +%s) - begun)) -gt 0 ] || break # it fails at its seeds
    done
}

# The targets in turn, again and again where there are more processes: lane I has the turns I, I + N, I + 2N ...
ordered=$(awk -v wanted="$*" '
    BEGIN { n = split(wanted, names, " "); for (i = 1; i <= n; i++) sum[names[i]] = 0 }
    $1 in sum { sum[$1] += $3 }
    END { for (name in sum) print sum[name], name }' "$build/figures" | sort -n | cut -d' ' -f2)
turns=$(($# > jobs ? $# : jobs))
lane() { # I
    turn=$1
    while [ "$turn" -lt "$turns" ]; do
        # shellcheck disable=SC2086
        set -- $ordered
        shift $((turn % $#))
        fuzz "$1" "$build/log.$1.$turn"
        turn=$((turn + jobs))
    done
}
if [ "$seconds" != 0 ]; then
    rm -f "$build"/log.*
    for i in $(seq 0 $((jobs - 1))); do
        lane "$i" &
    done
    wait
fi

awk -v wanted=" $* " '
    BEGIN {
        printf "%-8s %12s %9s %10s %16s %9s %8s\n", "target", "executions", "seconds", "per second", "edges", "features",
            "findings"
    }
    index(wanted, " " $1 " ") {
        n[$1] += $3; s[$1] += $2; f[$1] += $6; a[$1] = $5; total += $3; time += $2; found += $6
        if ($4 > e[$1]) e[$1] = $4
        if ($7 > ft[$1]) ft[$1] = $7
    }
    END {
        for (t in n)
            printf "%-8s %12d %9d %10d %7d of %6d %9d %8d\n", t, n[t], s[t], n[t] / (s[t] ? s[t] : 1), e[t], a[t], ft[t],
                f[t] | "sort"
        close("sort")
        printf "%-8s %12d %9d %10d %16s %9s %8d\n", "all", total, time, total / (time ? time : 1), "", "", found
    }' "$build/figures"
