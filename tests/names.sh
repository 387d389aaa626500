#!/bin/sh
# names.sh TENON [--write]: the public functions of NumPy and PyTorch (tests/data/names/) against Tenon's. Prints what is missing
# and why, and compares the tables of docs/from-pytorch.md with what these files say; --write makes them anew.
#
# A line of such a file is a name, and behind it, where Tenon has it under another name or as an expression, " = that"; where
# Tenon does not have it, " : why".
tenon=$1 write=$2
root=$(cd "$(dirname "$0")/.." && pwd)
names=$root/tests/data/names page=$root/docs/from-pytorch.md
mark='<!-- from here on written by tests/names.sh -->'
export LC_ALL=C
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# name, arguments, name in PyTorch of each operation; then the other public functions
"$tenon" ops --json | sed -n 's/.*"name": "\([^"]*\)".*"arguments": "\([^"]*\)".*"torch": "\([^"]*\)".*/\1\t\2\t\3/p' >"$work/operations"
grep -ho '\btn_[a-z0-9_]*(' "$root"/include/tenon/*.h | sed 's/^tn_//;s/($//' | sort -u >"$work/public"
[ -s "$work/operations" ] || { echo "$tenon lists no operations"; exit 1; }

# file, name, mapping, reason of each line
for file in "$names"/*.txt; do
    sed "s|^|$(basename "$file" .txt)\t|" "$file"
done | awk -F '\t' -v OFS='\t' '{
    line = $2; reason = mapping = ""
    if (match(line, / : /)) { reason = substr(line, RSTART + 3); line = substr(line, 1, RSTART - 1) }
    if (match(line, / = /)) { mapping = substr(line, RSTART + 3); line = substr(line, 1, RSTART - 1) }
    print $1, line, mapping, reason
}' >"$work/lines"

# Missing names by reason, as "reason: count: names"; says what is wrong with a line, and ends with 1 then.
check() {
    awk -F '\t' '
        FILENAME ~ /public$/ { public[$1] = 1; next }
        FILENAME ~ /operations$/ { torch[$1] = $3; next }
        # the functions that a mapping names are public; an empty list is not
        function all_there(mapping,    name, count) {
            if (mapping !~ /tn_/) return mapping in public
            while (match(mapping, /tn_[a-z0-9_]+/)) {
                name = substr(mapping, RSTART + 3, RLENGTH - 3)
                mapping = substr(mapping, RSTART + RLENGTH)
                if (!(name in public)) return 0
                count++
            }
            return count > 0
        }
        # one of the functions in text is tn_name, or another one that PyTorch calls the same
        function named(text, name, theirs,    word, count, i) {
            gsub(/tn_/, "", text)
            count = split(text, word, /[^a-z0-9_]+/)
            for (i = 1; i <= count; i++) if (word[i] == name || torch[word[i]] == theirs) return 1
            return 0
        }
        function fault(text) { print text > "/dev/stderr"; failed = 1 }
        {
            wanted = $3 ? $3 : $2
            if (!$4 && !all_there(wanted)) fault($1 "." $2 ": Tenon has no " wanted "; say what it is called there, or why it is missing")
            if ($4 && ($3 ? all_there($3) : $2 in public)) fault($1 "." $2 " is there, so its reason must go: " $4)
            if ($4) { count[$4]++; list[$4] = list[$4] " " $1 "." $2 } else have[$1]++
            all[$1]++
            short = $1; sub(/^torch\.?/, "", short)
            if ($1 ~ /^torch/) known[short (short ? "." : "") $2] = known["any." $2] = known["any." $2] " " wanted " "
        }
        END {
            for (name in torch) {
                theirs = torch[name]
                if (theirs !~ /^[a-zA-Z0-9_.]+$/ || theirs ~ /_$/) continue
                key = theirs; sub(/.*\./, "any.", key); if (key !~ /\./) key = "any." key
                if (!(key in known)) fault("the catalogue says that PyTorch calls tn_" name " " theirs ", which no file lists")
                else if (!named(known[key], name, theirs)) fault("the catalogue says that PyTorch calls tn_" name " " theirs ", the files say" known[key])
            }
            for (reason in count) printf "%s: %d:%s\n", reason, count[reason], list[reason]
            for (file in all) printf "zz %s: %d of %d there\n", file, have[file], all[file]
            exit failed
        }' "$work/public" "$work/operations" "$work/lines" >"$work/missing"
    status=$?
    grep -v '^zz ' "$work/missing" | sort | fold -s -w 132
    sed -n 's/^zz //p' "$work/missing" | sort
    return $status
}

# Markdown: for each module of PyTorch the names that are the same, then a table of the others; last what is missing.
tables() {
    sort -s -k1,1 "$work/lines" | awk -F '\t' '
        FILENAME ~ /operations$/ { call[$1] = "tn_" $1 "(" $2 ")"; next }
        $1 !~ /^torch/ { next }
        $1 != module { flush(); module = $1; same = table = "" }
        $4 { missing[$4] = missing[$4] ", " ($1 == "torch" ? "" : substr($1, 7) ".") $2; next }
        !$3 { same = same (same ? ", " : "") $2; next }
        { table = table "| `" $2 "` | `" ($3 ~ /tn_/ ? $3 : $3 in call ? call[$3] : "tn_" $3) "` |\n" }
        function flush() {
            if (!module) return
            print "\n## " module "\n"
            if (same) print "With `tn_` in front: " same ".\n"
            printf "| %s | Tenon |\n|---|---|\n%s", module, table
        }
        END {
            flush()
            print "\n## Not there\n"
            for (reason in missing) print "- **" reason "**: " substr(missing[reason], 3) | "sort"
        }' "$work/operations" -
}

check || exit 1
grep -oE '\btn_[a-z0-9_]+' "$page" | sort -u >"$work/said"
grep -ohE '\btn_[a-z0-9_]+' "$root"/include/tenon/*.h | sort -u | comm -23 "$work/said" - | grep . && {
    echo "docs/from-pytorch.md names these functions, which no header declares"
    exit 1
}
{
    sed "\|^$mark\$|,\$d" "$page"
    echo "$mark"
    tables
} >"$work/page"
if [ "$write" = --write ]; then
    cp "$work/page" "$page"
    exit
fi
diff -u "$page" "$work/page" || { echo "docs/from-pytorch.md is out of date: tests/names.sh $tenon --write"; exit 1; }
