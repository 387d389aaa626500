#!/bin/sh
# selftest.sh: check.sh lets good includes pass and names each bad one.
here=$(cd "$(dirname "$0")" && pwd) || exit 1
root=$(mktemp -d) || exit 1
trap 'rm -rf "$root"' EXIT
mkdir -p "$root/src/base" "$root/src/core" "$root/src/device/opencl" "$root/src/graph" "$root/src/tables" \
    "$root/kernels" "$root/tools" "$root/examples" "$root/bench"
failed=0

# write FILE LINE...
write() {
    path=$root/$1
    shift
    printf '%s\n' "$@" >"$path"
}

# expect STATUS PATTERN
expect() {
    output=$(sh "$here/check.sh" "$root" 2>&1)
    status=$?
    if [ "$status" -ne "$1" ] || ! printf '%s\n' "$output" | grep -q -e "$2"; then
        printf 'expected status %s and "%s", got status %s and:\n%s\n' "$1" "$2" "$status" "$output"
        failed=1
    fi
}

write src/tables/status.def 'X(OK)'
write kernels/scalar.h '/* text */'
write src/base/error.h '#include <stdio.h>' '#include <tenon/base.h>'
write src/core/shape.h '#include "base/error.h"' '#include "../tables/status.def"'
write src/device/opencl/loader.h '#include "core/shape.h"' '#include "../opencl/loader.h"'
write src/graph/plan.c '#include "device/opencl/loader.h"' '#include "kernels/scalar.h"' '#  include "plan.h"'
write src/graph/plan.h ''
write tools/tenon.h ''
write tools/main.c '#include "tenon.h"' '#include <tenon/tenon.h>' '#include <string.h>'
write examples/one.c '#include <tenon/tenon.h>'
expect 0 'in order'

write src/base/bad.c '#include "core/shape.h"'
expect 1 'src/base/bad.c:1: .*src/base lies to the left of core'
rm "$root/src/base/bad.c"

write src/core/bad.c '' '#include "../device/opencl/loader.h"'
expect 1 'src/core/bad.c:2: .*src/core lies to the left of device'
rm "$root/src/core/bad.c"

write src/core/bad.c '#include "nowhere.h"'
expect 1 'found in no layer'
rm "$root/src/core/bad.c"

write src/core/bad.c '#include <base/error.h>'
expect 1 'in quotes'
rm "$root/src/core/bad.c"

write tools/bad.c '#include "../src/core/shape.h"'
expect 1 'tools/bad.c:1: .*public headers'
write tools/bad.c '#include "core/shape.h"'
expect 1 'tools/bad.c:1: .*public headers'
rm "$root/tools/bad.c"

write examples/bad.c '#include <core/shape.h>'
expect 1 'examples/bad.c:1: .*public headers'
rm "$root/examples/bad.c"

expect 0 'in order'
exit "$failed"
