#!/bin/sh
# finding-pages.sh DIR - a page for each finding of `tilesim check`, as
# `tilesim explain ID` has it. docs.tap compares them with docs/findings.
top=$(cd "$(dirname "$0")/.." && pwd)
tilesim=${TILESIM-$top/tilesim}
dir=${1:?usage: tools/finding-pages.sh DIR}
mkdir -p "$dir" || exit 1

for id in $(sed -n 's/^FINDING([A-Z_0-9]*, "\([a-z0-9-]*\)".*/\1/p' \
    "$top/src/check/finding.def"); do
    {
        "$tilesim" explain "$id" | sed "1s/^$id: \(.*\)/# $id\n\n*\1*/"
        # shellcheck disable=SC2016 # code quotes of the page
        printf '\n`tilesim explain %s` prints this page; [checks](../checks.md) has the rest.\n' "$id"
    } >"$dir/$id.md" || exit 1
done
