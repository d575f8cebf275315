#!/bin/bash
# measure.sh - access.cu's rows under hardware counters; needs a GPU and ncu.
#
#     measure.sh ACCESS ROWS OUT [SECONDS]
#
# ACCESS is the built program. Leaves OUT/counters.csv (a line a row, in the
# order of OUT/rows.txt) and OUT/machine.txt. Stops after so many seconds.
set -euo pipefail
access=$1 rows=$2 out=$3 limit=${4:-400}
metrics=(
    l1tex__t_requests_pipe_lsu
    l1tex__t_sectors_pipe_lsu
    l1tex__t_output_wavefronts_pipe_lsu
    l1tex__t_set_accesses_pipe_lsu
    l1tex__data_pipe_lsu_wavefronts
    l1tex__data_pipe_lsu_wavefronts_mem_lgds
    l1tex__data_pipe_lsu_wavefronts_mem_shared
    l1tex__data_bank_conflicts_pipe_lsu_mem_shared
    l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ldgsts
    l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_atom
    lts__t_requests_srcunit_tex
    lts__t_sectors_srcunit_tex
    lts__t_sectors_srcunit_tex_op_read
    lts__t_sectors_srcunit_tex_op_write
    lts__t_sectors_srcunit_tex_op_red
    lts__t_sectors_srcunit_tex_op_atom
)
list=$(printf ',%s.sum' "${metrics[@]}")
list=${list:1}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
split -l 150 "$rows" "$work/part."
: >"$out/rows.txt"
echo "$list" >"$out/counters.csv"
nvidia-smi --query-gpu=name,driver_version,compute_cap \
    --format=csv,noheader >"$out/machine.txt"
ncu --version | tail -n 1 >>"$out/machine.txt"
for part in "$work"/part.*; do
    [[ $SECONDS -lt $limit ]] || break
    ncu --clock-control none --metrics "$list" --csv --page raw \
        "$access" "$part" >"$work/raw.csv" 2>"$work/err" || {
        tail -n 5 "$work/raw.csv" "$work/err"
        exit 1
    }
    python3 - "$work/raw.csv" "$list" >>"$out/counters.csv" <<'PYTHON'
import csv
import sys
lines = [l for l in open(sys.argv[1]) if l.startswith('"')]
rows = csv.DictReader(lines)
for row in rows:
    if row["ID"]:
        print(*(row[m].replace(",", "") for m in sys.argv[2].split(",")),
              sep=",")
PYTHON
    cat "$part" >>"$out/rows.txt"
    echo "$(wc -l <"$out/rows.txt") rows in $SECONDS s"
done
[[ $(($(wc -l <"$out/rows.txt") + 1)) -eq $(wc -l <"$out/counters.csv") ]]
