#!/bin/sh
# run.sh SOURCE SCRATCH CMAKE CTEST GENERATOR CC: a new operation costs what the README says. Applies the two patches beside this script
# to a copy of the sources, builds what their tests need, without optimisation, and runs these.
#   elementwise.patch   one row and one prototype: the suites that take every row of the table do the rest
#   structured.patch    an operation with a kernel of its own, and its suite
source=$1 scratch=$2 cmake=$3 ctest=$4 generator=$5 cc=$6
patches=$source/tests/contributing
command -v patch >/dev/null || {
    echo "TENON-SKIP suite=contributing reason=patch is not installed (Debian package patch)"
    exit 77
}

fail() {
    echo "contributing: $*"
    exit 1
}

# apply PATCH: it must fit without doubt
apply() {
    patch -d "$scratch/source" -p1 -s -F 1 -i "$patches/$1" || fail "$1 does not fit; the place it changes has moved: make it anew"
}

# build TARGET...: from what has changed
build() {
    "$cmake" --build "$scratch/build" --target "$@" >"$scratch/log" 2>&1 || {
        grep -A4 'error' "$scratch/log" | head -40
        fail "the copy does not build"
    }
}

# suites REGEX: prints what they say, fails where one does
suites() {
    "$ctest" --test-dir "$scratch/build" --verbose --no-tests=error -R "$1" >"$scratch/log" 2>&1
    status=$?
    grep -E '^[0-9]+: (TENON-|.*:F:)|Passed|Failed' "$scratch/log"
    [ "$status" -eq 0 ] || fail "suites that match $1 failed"
}

touched=$(sed -n 's/^+++ b\///p' "$patches/elementwise.patch" | sort | tr '\n' ' ')
[ "$touched" = "include/tenon/ops.h src/tables/elementwise.def " ] || fail "elementwise.patch touches $touched"
row=$(sed -n 's/^+EW[A-Z]*(\([a-z0-9_]*\),.*/\1/p' "$patches/elementwise.patch")

unset TENON_TEST_LONG
rm -rf "$scratch"
mkdir -p "$scratch/source/tests"
for part in CMakeLists.txt cmake include kernels src; do cp -R "$source/$part" "$scratch/source/"; done
for part in "$source"/tests/*; do
    case $part in */data) ;; *) cp -R "$part" "$scratch/source/tests/" ;; esac
done

apply elementwise.patch
apply structured.patch
"$cmake" -S "$scratch/source" -B "$scratch/build" -G "$generator" -DCMAKE_C_COMPILER="$cc" -DCMAKE_BUILD_TYPE=Debug \
    -DCMAKE_C_FLAGS_DEBUG=-O0 -DTENON_WERROR=ON -DTENON_TOOLS=OFF -DTENON_EXAMPLES=OFF -DTENON_BENCH=OFF >"$scratch/log" 2>&1 ||
    fail "the copy cannot be configured: $(grep -A3 'CMake Error' "$scratch/log")"
build test_sweep test_rows test_gradients test_ema
suites '^(sweep|rows|gradients)\.host$'
swept=$(grep -o " $row [0-9]*" "$scratch/build/Testing/Temporary/LastTest.log" | head -1)
[ "${swept##* }" -gt 0 ] || fail "no case of $row in the sweep"
echo "contributing:$swept cases in the sweep"
suites '^ema\.(host|pocl)$'
rm -rf "$scratch"
