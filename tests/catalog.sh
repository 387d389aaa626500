#!/bin/sh
# catalog.sh TENON INCLUDE DOCS: every public function that gives a tensor is in the catalogue, every name there is public, and
# docs/ops.md is what the command writes.
tenon=$1 include=$2 docs=$3
listed=$("$tenon" ops --json | sed -n 's/.*"name": "\([a-z0-9_]*\)".*/\1/p' | sort)
public=$(find "$include/tenon" -name '*.h' ! -name io.h -exec sed -n 's/^TN_API tn_tensor \*tn_\([a-z0-9_]*\)(.*/\1/p' {} + |
    grep -vxE 'keep|retain' | sort)
[ -n "$listed" ] && [ -n "$public" ] || { echo "no operations found"; exit 1; }
failed=0
for name in $public; do
    echo "$listed" | grep -qx "$name" || { echo "tn_$name is not in the catalogue: add a row to src/tables/operations.def"; failed=1; }
done
for name in $listed; do
    grep -qE "tn_$name\(" "$include"/tenon/*.h || { echo "the catalogue names tn_$name, which no header declares"; failed=1; }
done
[ -z "$(echo "$listed" | uniq -d)" ] || { echo "twice in the catalogue: $(echo "$listed" | uniq -d)"; failed=1; }
"$tenon" ops --markdown | diff -u "$docs/ops.md" - || { echo "docs/ops.md is out of date: tenon ops --markdown > docs/ops.md"; failed=1; }
exit "$failed"
