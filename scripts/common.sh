# Read by the scripts beside this file: where things are, how they speak, how they build.
# shellcheck shell=bash

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
logs=$root/build/logs

if [ -t 1 ] && [ -z "${NO_COLOR:-}" ] && [ "${TERM:-dumb}" != dumb ]; then
    bold=$'\e[1m' red=$'\e[31m' green=$'\e[32m' yellow=$'\e[33m' plain=$'\e[0m'
else
    bold='' red='' green='' yellow='' plain=''
fi
export bold red green yellow plain

say() { printf '%s\n' "$*"; }
heading() { printf '\n%s%s%s\n' "$bold" "$*" "$plain"; }
warn() { printf '%s%s%s\n' "$yellow" "$*" "$plain" >&2; }
die() {
    printf '%s%s%s\n' "$red" "$*" "$plain" >&2
    exit 1
}
have() { command -v "$1" >/dev/null 2>&1; }

# Prints the comment at the head of the calling script, from its second line to the first line that is no comment.
usage() { sed -n '2,/^[^#]/{ /^#/!d; s/^# \{0,1\}//; p; }' "$0"; }

# progress LABEL: reads lines and shows the latest one: in place on a terminal, else one every ten seconds.
progress() {
    local label=$1 line begin=$SECONDS last=$SECONDS width
    if [ -t 1 ]; then
        width=$(tput cols 2>/dev/null || echo 80)
        while IFS= read -r line || [ -n "$line" ]; do
            line="  $label: $line"
            printf '\r\e[K%s' "${line:0:$((width - 1))}"
        done
        printf '\r\e[K  %s: %d s\n' "$label" "$((SECONDS - begin))"
    else
        printf '  %s ...\n' "$label"
        while IFS= read -r line || [ -n "$line" ]; do
            if [ $((SECONDS - last)) -ge 10 ]; then
                printf '    %s\n' "${line:0:140}"
                last=$SECONDS
            fi
        done
        printf '  %s: %d s\n' "$label" "$((SECONDS - begin))"
    fi
}

# logged LABEL LOG COMMAND...: runs the command with progress; on failure shows the end of its log.
logged() {
    local label=$1 log=$2 status
    shift 2
    mkdir -p "$(dirname "$log")"
    "$@" 2>&1 | tee "$log" | progress "$label"
    status=${PIPESTATUS[0]}
    if [ "$status" -ne 0 ]; then
        warn "  $label failed (exit status $status). From $log:"
        { grep -E -A4 'error:|CMake Error|^E: ' "$log" || tail -15 "$log"; } | head -40 | sed 's/^/    /' >&2
    fi
    return "$status"
}

# build PRESET [CMAKE OPTION...]: configures and builds build/PRESET, with Ninja where it is installed.
build() {
    local preset=$1 generator=()
    shift
    # A folder that is already configured keeps its generator. One that was copied or moved is configured afresh.
    local cache=$root/build/$preset/CMakeCache.txt
    if [ -f "$cache" ] && ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$root" "$cache"; then
        rm -rf "$root/build/$preset"
    fi
    if [ ! -f "$cache" ] && have ninja; then
        generator=(-G Ninja)
    fi
    (cd "$root" && logged "configure $preset" "$logs/$preset-configure.log" \
        cmake --preset "$preset" "${generator[@]}" "$@") &&
        logged "build $preset" "$logs/$preset-build.log" \
            cmake --build "$root/build/$preset" --parallel "$(nproc)"
}
