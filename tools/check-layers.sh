#!/bin/sh
# check-layers.sh - the layer law: which folder of src/ may include which.
#
# Usage: tools/check-layers.sh [SRC]; prints each breach, exits 1 on any.
# `allow` below is the architecture of tilesim.
cd "${1-src}" || exit 1
find . -name '*.[ch]' -o -name '*.def' | sed 's|^\./||' | sort | xargs awk '
BEGIN {
    base = "support num op device"
    allow["support"] = ""
    allow["num"] = "support"
    allow["op"] = "support num"
    allow["device"] = "support num op"
    allow["ir"] = base
    allow["lang"] = allow["code"] = allow["plan"] = base " ir"
    allow["interp"] = base " code plan"
    allow["sim_lds"] = allow["check"] = base " code plan interp"
    allow["gpu_backend"] = base " ir plan"
    allow["gfx942"] = base " sim_lds"
    allow["host"] = base " ir lang code plan interp sim_lds check gpu_backend"
    allow["cli"] = allow["host"] " host gfx942"
    only["omp.h"] = "^support/parallel\\.c$"
    only["setjmp.h"] = "^lang/(stage[a-z_]*\\.c|lang_int\\.h)$"
}

function breach(why) {
    print "src/" FILENAME ":" FNR ": " why
    bad = 1
}

function has(list, word) {
    return index(" " list " ", " " word " ") > 0
}

FNR == 1 {
    me = FILENAME
    sub(/\/.*/, "", me)
    if (!(me in allow))
        breach("folder " me " has no layer")
}

match($0, /^#[ ]*include "[^"]*"/) {
    path = $0
    sub(/^[^"]*"/, "", path)
    sub(/".*/, "", path)
    dep = path
    if (!sub(/\/.*/, "", dep)) {
        if (path != "config.h")
            breach("write \"folder/" path "\"")
    } else if (dep != me && !has(allow[me], dep))
        breach(me " may not include " path)
    else if (dep != me && path ~ /_int\.h$/)
        breach(path " is private to " dep)
}

match($0, /^#[ ]*include <[^>]*>/) {
    path = $0
    sub(/^[^<]*</, "", path)
    sub(/>.*/, "", path)
    if (path in only && FILENAME !~ only[path])
        breach("<" path "> belongs to " only[path] " alone")
}

END { exit bad }'
