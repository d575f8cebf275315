#!/bin/sh
# check-sources.sh - each .c file is listed in Makefile.am and keeps to the form.
#
# Usage: tools/check-sources.sh [TOP]; prints each breach, exits 1 on any. The
# form: first line "// name.c - what it does.", at most 1,000 lines, no tabs, no
# blanks at line ends. Guidance, printed as notes: 700 lines, 80 columns (110 in
# a .def).
cd "${1-.}" || exit 1
bad=0
for file in $(find src -name '*.c' | sort); do
    grep -q "[ 	]$file\( \|	\|\\\\\|\$\)" Makefile.am && continue
    echo "$file: not listed in Makefile.am"
    bad=1
done
for file in tests/unit/check_*.c tests/fuzz/fuzz_*.c; do
    [ -e "$file" ] || continue
    grep -q "[ 	]${file%.c}\( \|	\|\\\\\|\$\)" Makefile.am && continue
    echo "$file: not listed in Makefile.am"
    bad=1
done
find src tests -name '*.[ch]' -o -name '*.def' | sort | xargs awk '
function breach(why) {
    print FILENAME ":" FNR ": " why
    bad = 1
}
function guide() {
    if (lines > 700)
        print "note: " file ": " lines " lines"
    if (wide)
        print "note: " file ": " wide " lines beyond " limit " columns"
}
FNR == 1 {
    guide()
    file = FILENAME
    wide = 0
    n = split(FILENAME, part, "/")
    limit = FILENAME ~ /\.def$/ ? 110 : 80
    if (index($0, "// " part[n] " - ") != 1)
        breach("the first line is not \"// " part[n] " - what it does\"")
}
FNR == 1001 { breach("more than 1,000 lines") }
/\t/ { breach("a tab") }
/[ \r]$/ { breach("blanks at the end of the line") }
{
    gsub(/[\200-\277]/, "")                     # UTF-8: count first bytes
    wide += length($0) > limit
    lines = FNR
}
END {
    guide()
    exit bad
}' || bad=1
exit $bad
