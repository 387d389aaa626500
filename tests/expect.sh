#!/bin/sh
# expect.sh PATTERN PROGRAM [ARGUMENT...]: the program exits with 0 and prints a line that matches PATTERN.
pattern=$1
shift
output=$("$@")
status=$?
printf '%s\n' "$output"
[ "$status" -eq 0 ] || { echo "exit status $status"; exit 1; }
[ -z "$pattern" ] || printf '%s\n' "$output" | grep -q -e "$pattern" || {
    echo "expected, but not printed: $pattern"
    exit 1
}
