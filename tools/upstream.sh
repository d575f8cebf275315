#!/bin/bash
# upstream.sh - runs the files of an upstream checkout and says what holds.
#
#   tools/upstream.sh DIR [PATTERN]
#
# DIR is a checkout of tile-ai/tilelang; nothing of it is kept. How each example
# file is run, and what its outputs are compared with, is data:
# tests/data/upstream.tsv. PATTERN (a regular expression) chooses among the
# files. TILESIM is the program, LIMIT the seconds a file may take (120), COMMIT
# the name of a checkout without git's records, JOBS the threads of a run.
#
# With CHECK=1 the examples go through `tilesim check` instead of `run`; what it
# finds is held against tests/data/upstream_checks.tsv.
#
# A line per file: parse, stage, run, what it is compared with, verdict, seconds
# and, where it fails, the first error. Nothing passes that only ran: a file
# needs a verdict of tilesim or a check of its own, and exit 0.
set -u
top=$(cd "$(dirname "$0")/.." && pwd)
dir=$(cd "${1:?usage: tools/upstream.sh DIR [PATTERN]}" && pwd) || exit 2
pattern=${2:-.}
tilesim=${TILESIM:-tilesim}
python=${TILESIM_PYTHON:-python3}
limit=${LIMIT:-120}
command=run
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
declare -A count
add() { count[$1]=$((${count[$1]:-0} + 1)); }
of() { echo "${count[$1]:-0}"; }

# Without git's own records: a number for the files, to tell checkouts apart.
files_hash() {
    (cd "$dir" && find examples benchmark testing/python -name '*.py' -print0 \
        | LC_ALL=C sort -z | xargs -0 sha256sum | sha256sum | cut -c1-16)
}
if commit=$(git -C "$dir" rev-parse HEAD 2>/dev/null) \
    && [ "$(git -C "$dir" rev-parse --show-toplevel)" = "$dir" ]; then
    echo "upstream $commit"
else
    echo "upstream ${COMMIT:-of a commit not recorded}, files $(files_hash)"
fi
"$tilesim" --version | head -1

# Examples run from a copy whose reference functions tell that they are called.
examples=$work/examples
cp -r "$dir/examples" "$examples"
cp -r "$dir/benchmark" "$work/benchmark"
"$python" "$top/tools/upstream-refs.py" "$top/tests/data/upstream.tsv" \
    "$examples" | sort >"$work/references"
: >"$work/evaluated"

# ---- parse: every Python file
while read -r file; do
    add files
    if timeout 20 "$tilesim" dump --stage=ast "$dir/$file" >/dev/null \
            2>"$work/err"; then
        add parsed
    else
        echo "not parsed: $file: $(grep -m1 error: "$work/err")"
    fi
done < <(cd "$dir" && find examples benchmark testing/python -name '*.py' \
              | grep -E "$pattern" | sort)

# ---- one run: sets rc, seconds, why
run() {
    local from
    from=$(date +%s%N)
    timeout "$limit" "$tilesim" "$command" "$@" >"$work/out" 2>"$work/err" </dev/null
    rc=$?
    seconds=$(awk -v n=$(($(date +%s%N) - from)) 'BEGIN{printf "%.1f", n / 1e9}')
    why=$(grep -am1 'error: ' "$work/err" | sed "s|$dir/||g;s|$work/||g")
    [ $rc = 124 ] && why="longer than $limit s"
}

# The program of "call CODE": the file is m.
caller() {
    local name
    name=$(basename "$1" .py)
    {
        echo "import sys"
        echo "sys.path.append('$(dirname "$examples/$1")')"
        echo "sys.path.append('$top/tests/upstream')"
        echo "import torch"
        echo "import torch.nn.functional as F"
        echo "import tilelang"
        echo "import tilelang.language as T"
        echo "import $name as m"
        echo "if __name__ == '__main__':"
        echo "$2" | sed 's/; /\n/g' | sed 's/^/    /'
    } >"$work/call_$name.py"
    echo "$work/call_$name.py"
}

example() {             # file class how compared-with why-not
    local verdict=fail stage=no ran=no how=$3 words small
    local options=(--json ${JOBS:+-j "$JOBS"})
    case $how in
    extern*)
        read -r _ words how <<<"$how"
        ${CC:-cc} -O1 -shared -fPIC -o "$work/extern.so" \
            "$top/tests/upstream/$words" || return
        options+=(--extern "$work/extern.so") ;;
    esac
    case $how in
    on*)
        read -r _ target how <<<"$how"
        options+=(--target "$target") ;;
    esac
    case $how in
    script*)
        read -ra words <<<"${how#script}"
        cd "$(dirname "$examples/$1")" || return
        run "${options[@]}" "$(basename "$1")" -- "${words[@]}"
        cd "$top" || return ;;
    call*)
        run "${options[@]}" "$(caller "$1" "${how#call }")" ;;
    refused*)
        run "${options[@]}" "$(caller "$1" "m.main()")" ;;
    driver*)
        run "${options[@]}" "$top/tests/upstream/${how#driver }" -- \
            "$(dirname "$examples/$1")" ;;
    *)
        rc=77 seconds=- why="no arguments for it in tests/data/upstream.tsv"
        : >"$work/out" ;;
    esac
    if [ $command = check ]; then
        checked "$1"
        return
    fi
    read -r launched judged checks small \
        <<<"$("$python" "$top/tools/upstream-sizes.py" "$work/out")"
    case $how,$rc in
    refused*,3)
        if grep -aqE "${how#refused }" "$work/err"; then
            rc=0 launched=1 checks=1 why=
        fi ;;
    esac
    [ "$launched" != 0 ] && stage=yes
    [ "$launched" != 0 ] && [ $rc = 0 ] && ran=yes
    if [ $ran = yes ]; then
        verdict="ran only"
        [ "$checks" != 0 ] && verdict=pass
        [ "$judged" != 0 ] && verdict=pass
    fi
    add "$2"
    [ $ran = yes ] && add "ran $2"
    [ "$verdict" = pass ] && add "pass $2"
    printf '%-62s %-4s stage %-3s run %-3s %s s, compared with %s: %s%s\n' \
           "$1" "$2" $stage $ran "$seconds" "$4" "$verdict" "${why:+ ($why)}"
    if [ "$verdict" = pass ]; then
        grep -ahoE '@evaluated [^ ]+ [^ ]+' "$work/out" "$work/err" \
            >>"$work/evaluated"
        sizes "$small" "$5"
    fi
}

# The findings of a file: confirmed by the table, or not.
checked() {             # file
    local found listed
    found=$("$python" -c '
import json, os, sys
try:
    findings = json.load(open(sys.argv[1]))["findings"]
except ValueError:
    sys.exit()
for f in findings:
    print(f["id"], os.path.basename(f["file"]) + ":" + str(f["line"]), sep="\t")
' "$work/out" | sort -u)
    listed=$(awk -F'\t' -v f="$1" '$1 == f { print $2 "\t" $3 }' \
                 "$top/tests/data/upstream_checks.tsv" | sort -u)
    add checked
    if [ "$rc" -gt 1 ]; then
        add "not run"
        echo "$1: not run: $why"
    elif [ "$found" = "$listed" ]; then
        add "as listed"
        [ -n "$found" ] && echo "$1: as listed:" $found
    else
        echo "$1: not as listed"
        diff <(echo "$listed") <(echo "$found")
    fi
}

# What the sizes leave untried; the table says why, if the file is the cause.
sizes() {               # untried why-not
    if [ -z "$1" ]; then
        add "tried"
    elif [ -n "$2" ]; then
        add "not tried"
        echo "    untried: $1 (why: $2)"
    else
        add "unexplained"
        echo "    untried: $1"
    fi
}

[ -n "${CHECK-}" ] && command=check
cp "$top/tests/data/upstream.tsv" "$work/rows.tsv"      # as it is now
while IFS=$'\t' read -r file class how with whynot; do
    case $file in \#*) continue ;; esac
    echo "examples/$file" | grep -qE "$pattern" || continue
    [ -f "$dir/examples/$file" ] || continue
    example "$file" "$class" "$how" "$with" "$whynot"
done <"$work/rows.tsv"

if [ $command = check ]; then
    echo "$(of checked) checked: $(of "as listed") as listed," \
         "$(of "not run") not run"
    [ $(($(of "as listed") + $(of "not run"))) = "$(of checked)" ]
    exit
fi

# ---- test functions
# A file is good when at least one of its functions asserts values, and every
# value that its functions assert holds. Generated code is not compared: a file
# of "generated code" ran to its end and asserts nothing besides; one that
# "stopped" could not go on without it. Why a file is not good is data too:
# tests/data/upstream_tests.tsv.
number() {              # words: the figure before them in $tests
    echo "$tests" | grep -oE "[0-9]+ $1" | cut -d' ' -f1 | grep . || echo 0
}

verdict_of_tests() {
    if [ -z "$tests" ]; then
        echo "not run"
    elif [ "$(number failed)" != 0 ]; then
        echo failed
    elif [ "$(number 'stopped at')" != 0 ]; then
        echo stopped
    elif [ $(($(number passed) + $(number 'with generated'))) != 0 ]; then
        echo good
    elif [ $(($(number 'about generated') + $(number expecting))) != 0 ]; then
        echo "generated code"
    elif [ "$(number asserting)" != 0 ]; then
        echo "asserts nothing"
    else
        echo "other hardware"
    fi
}

listed() {
    awk -F'\t' -v f="$1" '$1 == f { print $2; found = 1 }
                          END { if (!found) print "good" }' \
        "$top/tests/data/upstream_tests.tsv"
}

for folder in language issue kernel; do
    for file in "$dir"/testing/python/$folder/*.py; do
        name=${file#"$dir"/}
        echo "$name" | grep -qE "$pattern" || continue
        grep -qE '^ *def test' "$file" || continue
        run --tests "$file"
        tests=$(grep -aE '^[0-9]+ passed, ' "$work/out" | tail -1)
        verdict=$(verdict_of_tests)
        add "test"
        add "test $verdict"
        was=$(listed "$name")
        if [ "$was" != "$verdict" ]; then
            add "test unlisted"
            verdict="$verdict, listed as $was"
        fi
        printf '%-62s %s s, %s: %s%s\n' "$name" "$seconds" \
               "${tests:-not run}" "$verdict" "${why:+ ($why)}"
    done
done

# Reference functions that were called in a file whose comparisons hold; and
# the others, why being data: tests/data/upstream_refs.tsv.
references() {
    awk '{ print $2 "\t" $3 }' "$work/evaluated" | sort -u >"$work/called"
    echo "reference functions evaluated and matched:" \
         "$(comm -12 "$work/references" "$work/called" | wc -l) of" \
         "$(wc -l <"$work/references")"
    comm -23 "$work/references" "$work/called" | awk -F'\t' '
        NR == FNR { why[$1 "\t" $2] = $3; next }
        { print "  not evaluated: " $1 ": " $2 ": " why[$0] }' \
        "$top/tests/data/upstream_refs.tsv" -
}

echo
echo "parse: $(of parsed) of $(of files)"
for class in tile simt ws arch bench; do
    echo "$class example files: $(of "ran $class") of $(of $class) run," \
         "$(of "pass $class") with a comparison that holds"
done
echo "sizes: $(of tried) files with 2 blocks along each grid dimension," \
     "2 trips of each pipelined loop and a ragged edge;" \
     "$(of "not tried") whose text says otherwise; $(of unexplained) to do"
references
percent() {             # a b
    awk -v a="$1" -v b="$2" 'BEGIN { printf "%.1f %%", b ? 100 * a / b : 0 }'
}
all=$(of test) good=$(of "test good") other=$(of "test other hardware")
unseen=$(of "test generated code") nothing=$(of "test asserts nothing")
failed=$(($(of "test failed") + $(of "test not run")))
ran=$((good + unseen + nothing))
here=$((all - other))
echo "test files of language, issue, kernel: $all, $other of them for other" \
     "hardware only"
echo "  through all their functions, every asserted value holds: $ran of $here" \
     "($(percent $ran $here); $(percent $ran "$all") of all)"
echo "    assert values (good): $good"
echo "    assert on generated code only, which is not compared: $unseen"
echo "    assert nothing: $nothing"
echo "  failed: $(of "test failed"), not run: $(of "test not run")," \
     "stopped at generated code: $(of "test stopped")"
echo "  strictly (good): $(percent "$good" "$all") of all," \
     "$(percent "$good" $((good + failed))) of those that assert values"
[ "$(of "test unlisted")" = 0 ] \
    || echo "  not as tests/data/upstream_tests.tsv says: $(of "test unlisted")"
