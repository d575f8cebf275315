#!/bin/sh
# check-exports.sh - a function that no other file calls is static, or gone.
#
# Usage: tools/check-exports.sh TOP LIBRARY OBJECT...; the objects are linked
# with the library. What a test names counts as called. exec_NAME are called
# within exec.c, where a table of all files' names them.
top=$1
shift
nm -A "$@" | awk '
NF < 3 { next }
$(NF - 1) == "T" { defined[$NF] = $1 }
$(NF - 1) == "U" { used[$NF] }
END {
    for (name in defined)
        if (!(name in used) && name !~ /^(main|exec_[A-Z]+)$/)
            print defined[name], name
}' | sort | {
    status=0
    while read -r object name; do
        grep -qw "$name" "$top"/tests/*/*.c && continue
        echo "$object $name: no other file calls it"
        status=1
    done
    exit $status
}
