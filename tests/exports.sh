#!/bin/sh
# exports.sh LIBRARY: the shared library exports tn_ names only, and needs the C library alone.
library=$1
command -v readelf >/dev/null || {
    echo "TENON-SKIP suite=exports reason=readelf is not installed (Debian package binutils)"
    exit 77
}
failed=0
names=$(readelf --wide --dyn-syms "$library" |
    awk '$7 != "UND" && $5 != "LOCAL" && ($4 == "FUNC" || $4 == "OBJECT") { sub(/@.*/, "", $8); print $8 }')
for name in $names; do
    case $name in
    tn__* | __gcov* | mangle_path) [ "${name#tn__}" = "$name" ] || { echo "exported, though internal: $name"; failed=1; } ;;
    tn_*) ;;
    *) echo "exported, though not ours: $name"; failed=1 ;;
    esac
done
for needed in $(readelf --wide --dynamic "$library" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'); do
    case $needed in
    libc.so.* | libm.so.* | libdl.so.* | libpthread.so.* | ld-linux*) ;;
    libgcov* | libgcc_s*) ;;
    *) echo "needed, though only libc, libm, threads and libdl may be: $needed"; failed=1 ;;
    esac
done
exit "$failed"
