#!/bin/sh
# check-headers.sh - each header compiles alone.
#
# Usage: tools/check-headers.sh [SRC]; CC is the compiler. A header that is a
# part of other files says "Included by" who in its opening comment.
cd "${1-src}" || exit 1
find . -name '*.h' | sort | {
    bad=0
    while read -r header; do
        sed '/^$/q' "$header" | grep -q '^//.*Included by' && continue
        printf '#include "%s"\n' "${header#./}" |
            ${CC-cc} -std=gnu11 -Wall -Wextra -Wno-unused-function \
                -Wno-unused-variable -Wno-unused-const-variable \
                -DLANES_ISA=generic -Werror -fsyntax-only -I. -x c - || bad=1
    done
    exit $bad
}
