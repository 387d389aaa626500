#!/bin/sh
# mnist.sh PROGRAM DATA DEVICE: examples/04_mnist learns; killed after its first epoch and started again it goes on with the
# same losses, bit for bit, and draws its curve.
program=$1 data=$2 device=$3
[ -f "$data" ] || {
    echo "TENON-SKIP suite=example_04_mnist reason=there is no $data; scripts/mnist fetches it"
    exit 77
}
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/whole" "$folder/killed"

fail() {
    echo "$1"
    head -50 "$folder"/*.txt
    exit 1
}

"$program" --device "$device" --data "$data" --epochs 2 --out "$folder/whole" >"$folder/whole.txt" 2>&1 || fail "it does not learn"

"$program" --device "$device" --data "$data" --epochs 2 --out "$folder/killed" >"$folder/killed.txt" 2>&1 &
child=$!
while ! grep -q '^epoch 1 ' "$folder/killed.txt"; do
    kill -0 "$child" 2>/dev/null || fail "it ended before it was killed"
    sleep 0.01
done
kill -9 "$child"
wait "$child" 2>/dev/null
"$program" --device "$device" --data "$data" --epochs 2 --out "$folder/killed" >"$folder/resumed.txt" 2>&1 || fail "it does not go on"
grep -q '^goes on after epoch 1 ' "$folder/resumed.txt" || fail "it began anew"

for text in killed resumed; do
    grep '^epoch ' "$folder/$text.txt" | while IFS= read -r line; do
        grep -qxF "$line" "$folder/whole.txt" || echo "$line"
    done
done >"$folder/differ"
[ ! -s "$folder/differ" ] || fail "other losses than without the kill: $(cat "$folder/differ")"
grep -q '^epoch 2 ' "$folder/resumed.txt" || fail "it did not come to the end"
cmp "$folder/whole/mnist.svg" "$folder/killed/mnist.svg" || fail "another curve"
grep -q '<polyline' "$folder/whole/mnist.svg" || fail "no curve"
cat "$folder/whole.txt" "$folder/resumed.txt"
