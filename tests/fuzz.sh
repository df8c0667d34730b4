#!/bin/sh
# Fuzzes each target for a time, with libFuzzer, ASan and UBSan, and prints what was done and found:
#
#     sh tests/fuzz.sh SECONDS [TARGET...]
#
# Targets are tests/fuzz/fuzz_*.c, those of the decoders by their formats; without any, all of them. What they have learnt is kept
# in build-fuzz/corpus, what was found in build-fuzz/findings: an input there fails again with
# build-fuzz/tests/fuzz_TARGET FILE. Mended, it goes into tests/fuzz/corpus/TARGET, which every run of the tests replays.
# Each run adds its lines to build-fuzz/figures; sh tests/fuzz.sh 0 prints the sums of all.
set -eu
cd "$(dirname "$0")/.."
build=${BUILD:-build-fuzz}
[ $# -gt 0 ] || { sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "$0"; exit 64; }
seconds=$1
shift
if [ ! -f "$build/build.ninja" ]; then
    for clang in ${CLANG:-clang-19 clang-18 clang-17 clang-16 clang-15 clang-14 clang}; do
        command -v "$clang" >/dev/null && break
    done
    CC=$clang meson setup "$build" -Dfuzz=true -Dnative=disabled -Doptimization=2 \
        -Db_sanitize=address,undefined -Db_lundef=false >/dev/null
fi
all=$(ninja -C "$build" -t targets all | sed -n 's/^tests\/fuzz_\([a-z]*\): .*/\1/p' | sort -u)
[ $# -gt 0 ] || set -- $all
programs=$(for target; do echo "tests/fuzz_$target"; done)
# shellcheck disable=SC2086
[ "$seconds" = 0 ] || ninja -C "$build" --quiet $programs tests/seeds-decode tests/seeds-text
mkdir -p "$build/corpus" "$build/findings"

# ASan's own stack for signals is PoCL's trouble alone, which is not here.
export ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=1:allocator_may_return_null=1"
export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
export LSAN_OPTIONS="print_suppressions=0:suppressions=$PWD/tests/lsan.supp"
export SLUICE_LOG_LEVEL=error
! command -v llvm-symbolizer >/dev/null || ASAN_SYMBOLIZER_PATH=$(command -v llvm-symbolizer)
export ASAN_SYMBOLIZER_PATH="${ASAN_SYMBOLIZER_PATH:-}"

# libFuzzer's own limit goes by the clock on the wall, so it is wide; the targets count the processor's time.
# One run until the time is over or something is found: its statistics go to build-fuzz/log.TARGET.
run_once() {
    mkdir -p "$build/corpus/$1"
    seeds=
    for folder in "$build/tests/seeds-decode/$1" "$build/tests/seeds-text/$1" "tests/fuzz/corpus/$1"; do
        [ ! -d "$folder" ] || seeds="$seeds $folder"
    done
    [ ! -f "$build/tests/seeds-text/$1.dict" ] || seeds="$seeds -dict=$build/tests/seeds-text/$1.dict"
    # shellcheck disable=SC2086
    SLUICE_RECEIVER="$PWD/$build/tests/fuzz_$1" "$build/tests/fuzz_$1" -max_total_time="$2" -max_len=65536 -timeout=120 \
        -rss_limit_mb=2048 -print_final_stats=1 -reload=0 -artifact_prefix="$build/findings/$1-" \
        "$build/corpus/$1" $seeds >"$build/log.$1" 2>&1
}

# A line of figures: target, seconds, executions, edges reached, edges there are, findings.
figures() {
    awk -v target="$1" -v seconds="$2" -v found="$3" '
        /^stat::number_of_executed_units/ { n = $2 }
        /inline 8-bit counters/ { for (i = 1; i < NF; i++) if ($(i + 1) == "inline") all = $i; sub(/\(/, "", all) }
        / cov: / { for (i = 1; i < NF; i++) if ($i == "cov:") edges = $(i + 1) }
        END { print target, seconds, n + 0, edges + 0, all + 0, found }' "$build/log.$1"
}

for target; do
    [ "$seconds" != 0 ] || break
    end=$(($(date +%s) + seconds))
    while left=$((end - $(date +%s))) && [ "$left" -gt 0 ]; do
        begun=$(date +%s) found=0
        run_once "$target" "$left" || { found=1; grep -m1 -E 'ERROR|runtime error|took [0-9]' "$build/log.$target" || true; }
        figures "$target" $(($(date +%s) - begun)) "$found" >>"$build/figures"
        [ "$found" = 0 ] || cp "$build/log.$target" "$build/findings/$target-$(date +%s).log"
        [ "$found" = 0 ] || [ $(($(date +%s) - begun)) -gt 0 ] || break # it fails at its seeds
    done
done

awk -v wanted=" $* " '
    BEGIN { printf "%-8s %12s %9s %10s %16s %8s\n", "target", "executions", "seconds", "per second", "edges", "findings" }
    index(wanted, " " $1 " ") {
        n[$1] += $3; s[$1] += $2; f[$1] += $6; if ($4 > e[$1]) e[$1] = $4; a[$1] = $5; total += $3; time += $2; found += $6
    }
    END {
        for (t in n)
            printf "%-8s %12d %9d %10d %7d of %6d %8d\n", t, n[t], s[t], n[t] / (s[t] ? s[t] : 1), e[t], a[t], f[t] | "sort"
        close("sort")
        printf "%-8s %12d %9d %10d %16s %8d\n", "all", total, time, total / (time ? time : 1), "", found
    }' "$build/figures"
