#!/bin/sh
# headers.sh INCLUDE CC CXX OPENCL_HEADERS: each public header alone, as C11 and as C++17, without a warning.
include=$1 cc=$2 cxx=$3 opencl=$4
failed=0
count=0

# compile LANGUAGE HEADER COMPILER OPTION...
compile() {
    language=$1 header=$2
    shift 2
    count=$((count + 1))
    # Twice: an include guard is part of the contract.
    printf '#include <tenon/%s>\n#include <tenon/%s>\n' "$header" "$header" |
        "$@" -x "$language" -Wall -Wextra -Wpedantic -Werror -fsyntax-only -I "$include" ${opencl:+-isystem "$opencl"} - || {
        echo "tenon/$header does not compile alone as $language"
        failed=1
    }
}

for path in "$include"/tenon/*.h; do
    header=${path##*/}
    compile c "$header" "$cc" -std=c11
    [ "$cxx" = missing ] || compile c++ "$header" "$cxx" -std=c++17
done
[ "$count" -gt 0 ] || { echo "no public header found in $include/tenon"; exit 1; }
[ "$failed" -eq 0 ] || exit 1
if [ "$cxx" = missing ]; then
    echo "TENON-SKIP suite=headers reason=no C++ compiler: the headers were compiled as C11 only"
    exit 77
fi
echo "$count compilations"
