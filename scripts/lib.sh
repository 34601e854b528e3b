# shellcheck shell=bash
# What setup, run and test share; sourced, never run. Leaves the shell in the repository's root.
# Talk goes to stderr: stdout belongs to the program that is run in the end.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
mkdir -p build/deps

say() { printf '%s\n' "$*" >&2; }
die() { say "error: $*"; exit 1; }

# logged LOG WHAT COMMAND...: runs COMMAND silently; if it fails, shows the end of LOG and gives up.
logged() {
    local log=$1 what=$2
    shift 2
    "$@" >>"$log" 2>&1 && return
    tail -n 40 "$log" >&2
    die "$what failed; the whole log is $log"
}

# progress WHAT: reads lines that hold a count like 12/340 (ninja's, ctest's) and keeps the reader informed:
# in place on a terminal, else now and then a line. Says nothing when nothing is to be done.
progress() {
    local what=$1 line n m shown=-1
    while IFS= read -r line; do
        [[ $line =~ ^[[:space:]]*\[?([0-9]+)/([0-9]+) ]] || continue
        n=${BASH_REMATCH[1]} m=${BASH_REMATCH[2]}
        ((n > 0)) || continue
        if [[ -t 2 ]]; then
            printf '\r%s: %d of %d\033[K' "$what" "$n" "$m" >&2
        elif ((n * 4 / m > shown)); then
            say "$what: $n of $m"
            shown=$((n * 4 / m))
        fi
    done
    if [[ -t 2 && -n ${n:-} ]]; then say; fi
}

# has_clang: the compiler of the preset `fuzz` is here, with libFuzzer and the sanitizers.
has_clang() {
    command -v clang++-16 >/dev/null &&
        [[ -f $(clang++-16 -print-file-name="libclang_rt.fuzzer-$(uname -m).a") ]]
}

# build_preset PRESET [TARGET...]: configures if something that configuring depends on has changed, then builds.
# ninja itself sees changed CMake files; new presets and new solvers it does not.
build_preset() {
    local preset=$1 dir=build/$1 log=build/$1.log newer=never
    shift
    export CXX=${CXX:-g++}
    if [[ -z ${CMAKE_CXX_COMPILER_LAUNCHER:-} ]] && command -v ccache >/dev/null; then
        export CMAKE_CXX_COMPILER_LAUNCHER=ccache
    fi
    : >"$log"
    [[ ! -f $dir/.configured ]] ||
        newer=$(find CMakePresets.json build/deps/ -maxdepth 2 -type f -newer "$dir/.configured")
    if [[ -n $newer ]]; then
        say "configuring $dir"
        logged "$log" "configuring $dir" cmake --preset "$preset"
        touch "$dir/.configured"
    fi
    if ! cmake --build "$dir" --parallel "$(nproc)" ${1:+--target "$@"} 2>&1 | tee -a "$log" |
        progress "building $dir"; then
        grep -A 12 -m 5 -E 'error|FAILED|undefined reference' "$log" >&2 || tail -n 40 "$log" >&2
        die "building $dir failed; the whole log is $log"
    fi
}
