#!/bin/sh
# check.sh ROOT: who includes whom. Each folder of src/ includes folders to its left only:
#
#   tables base core device graph ops autograd io nn onnx
#
# kernels/ counts as data, to the left of all. tools, bench and examples use the public headers <tenon/...> only, next to
# their own. Prints each include that breaks the rule; exit status 1 if there was one.
cd "$1" || exit 1

find src tools bench examples \( -name '*.c' -o -name '*.h' -o -name '*.def' \) -type f 2>/dev/null | sort |
    while IFS= read -r file; do
        grep -nE '^[[:space:]]*#[[:space:]]*include[[:space:]]*["<]' "$file" | sed "s|^|$file:|"
    done |
    awk '
    BEGIN {
        count = split("tables base core device graph ops autograd io nn onnx", order, " ")
        for (i = 1; i <= count; i++)
            rank[order[i]] = i
        rank["kernels"] = 0
        own["tools"] = own["bench"] = own["examples"] = 1
    }

    # "src/graph/../base/x.h" -> "src/base/x.h"
    function plain(path,    parts, n, i, out, top) {
        n = split(path, parts, "/")
        top = 0
        for (i = 1; i <= n; i++) {
            if (parts[i] == "." || parts[i] == "")
                continue
            if (parts[i] == ".." && top > 0)
                top--
            else
                out[++top] = parts[i]
        }
        path = out[1]
        for (i = 2; i <= top; i++)
            path = path "/" out[i]
        return path
    }

    function exists(path,    line, found) {
        found = (getline line < path) >= 0
        close(path)
        return found
    }

    function bad(why) {
        print file ":" line ": #include " open name (open == "<" ? ">" : "\"") ": " why
        failed = 1
    }

    {
        match($0, /^[^:]*:[0-9]+:/)
        split(substr($0, 1, RLENGTH), where, ":")
        file = where[1]
        line = where[2]
        rest = substr($0, RLENGTH + 1)
        match(rest, /["<]/)
        open = substr(rest, RSTART, 1)
        name = substr(rest, RSTART + 1)
        sub(/[">].*/, "", name)
        depth = split(file, folders, "/")
        top = folders[1]
        seen++
    }

    name ~ /^tenon\// {
        next
    }

    own[top] {
        if (open == "<") {
            split(name, first, "/")
            if (first[1] in rank && name ~ /\//)
                bad("only the public headers <tenon/...> may be used here")
            next
        }
        folder = file
        sub(/\/[^\/]*$/, "", folder)
        target = plain(folder "/" name)
        split(target, first, "/")
        if (own[first[1]] && exists(target))
            next
        if (name !~ /\.\./ && (exists("bench/" name) || exists("tools/" name)))
            next
        bad("only the public headers <tenon/...> may be used here")
        next
    }

    open == "<" {
        split(name, first, "/")
        if (name ~ /\// && first[1] in rank)
            bad("headers of src/ are written in quotes")
        next
    }

    {
        layer = folders[2]
        if (depth < 3 || !(layer in rank)) {
            bad("src/" layer " is no layer")
            next
        }
        folder = file
        sub(/\/[^\/]*$/, "", folder)
        target = plain(folder "/" name)
        if (!exists(target)) {
            target = plain("src/" name)
            if (!exists(target))
                target = plain(name)
        }
        split(target, parts, "/")
        to = parts[1] == "src" ? parts[2] : parts[1]
        if (target ~ /^(src\/)?kernels_embedded/)
            next
        if (!(to in rank))
            bad("found in no layer")
        else if (rank[to] > rank[layer])
            bad("src/" layer " lies to the left of " to)
    }

    END {
        if (!failed)
            print seen + 0 " includes are in order"
        exit failed
    }'
