#!/bin/sh
# run.sh CMAKE BUILD_DIR CC VERSION DEVICE: installs Tenon into a folder with a space in its name, builds a project outside the
# tree against it by find_package and by pkg-config, shared and static, and runs each program from / on DEVICE.
cmake=$1 build=$2 cc=$3 version=$4 device=$5
here=$(cd "$(dirname "$0")" && pwd) || exit 1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
prefix="$work/in stalled"
failed=0

# quietly COMMAND...: shows what the command said only when it fails
quietly() {
    "$@" >"$work/log" 2>&1 || {
        cat "$work/log"
        echo "failed: $*"
        exit 1
    }
}

# check WHAT PROGRAM
check() {
    output=$(cd / && LD_LIBRARY_PATH="$libdir${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" "$2" "$device" 2>&1)
    status=$?
    echo "$1: $output"
    if [ "$status" -ne 0 ] || [ "$output" != "3 on $device" ]; then
        echo "$1: expected \"3 on $device\" and exit status 0, got exit status $status"
        failed=1
    fi
}

quietly "$cmake" --install "$build" --prefix "$prefix"
pc=$(find "$prefix" -name tenon.pc)
[ -n "$pc" ] || { echo "tenon.pc was not installed"; exit 1; }
libdir=$(dirname "$(dirname "$pc")")

mkdir "$work/consumer"
cp "$here/CMakeLists.txt" "$here/consumer.c" "$work/consumer"
quietly "$cmake" -S "$work/consumer" -B "$work/consumer/build" -DCMAKE_C_COMPILER="$cc" \
    -DCMAKE_PREFIX_PATH="$prefix" -DTENON_VERSION="$version"
quietly "$cmake" --build "$work/consumer/build"
check "find_package, shared" "$work/consumer/build/consumer_shared"
check "find_package, static" "$work/consumer/build/consumer_static"

if command -v pkg-config >/dev/null; then
    PKG_CONFIG_PATH=$(dirname "$pc")
    export PKG_CONFIG_PATH
    for kind in tenon tenon-static; do
        # pkg-config escapes spaces for a shell to read.
        flags=$(pkg-config --cflags --libs "$kind") || exit 1
        eval "set -- $flags"
        quietly "$cc" -std=c11 "$work/consumer/consumer.c" -o "$work/$kind" "$@"
        check "pkg-config $kind" "$work/$kind"
    done
else
    echo "TENON-SKIP suite=install reason=pkg-config is not installed (Debian package pkg-config)"
fi

command=$(find "$prefix" -path '*/bin/tenon')
if [ -n "$command" ]; then
    (cd / && "$command" devices >/dev/null) || { echo "the installed tenon command does not run"; failed=1; }
else
    echo "the tenon command was not installed"
    failed=1
fi
exit "$failed"
