#!/bin/sh
# check-globals.sh - there is no mutable file-scope data.
#
# Usage: tools/check-globals.sh LIBRARY; prints each object in a writable
# section, exits 1 on any. Tables of constants (.data.rel.ro) are not meant.
#
# Allowed:
#   cancelled   support/parallel.c: a signal handler has no argument
#   best        num/lanes_pick.c: the CPU's instruction set, found once
allowed='^(cancelled|best)(\.[0-9]+)?$'

list=$("${OBJDUMP-objdump}" -t "$1") || exit 1
echo "$list" | awk -v allowed="$allowed" '
/:     file format/ { sub(/:.*/, ""); file = $0 }
{
    name = $NF
    if (!match($0, /[ \t](\.data|\.bss|\.tdata|\.tbss|\*COM\*)[^ \t]*[ \t]/))
        next
    section = substr($0, RSTART + 1, RLENGTH - 2)
    if (section ~ /^\.data\.rel\.ro/ || name == section || name ~ allowed)
        next
    print file ": mutable data: " name " in " section
    bad = 1
}
END { exit bad }'
