#!/bin/sh
# oclgrind.sh OCLGRIND PROGRAM [ARGUMENT...]: runs the program under Oclgrind; whatever Oclgrind reports is a failure.
oclgrind=$1
shift
log=$(mktemp) || exit 1
trap 'rm -f "$log"' EXIT
"$oclgrind" --data-races --uninitialized --max-errors 20 --log "$log" "$@"
status=$?
if [ -s "$log" ]; then
    echo "Oclgrind reports:"
    sed 's/^/    /' "$log" | head -200
    [ "$status" -ne 0 ] || status=1
fi
exit "$status"
