#!/usr/bin/env python3
# faults.py - plants one fault each in the programs, for tests that must fail.
#
#   faults.py list                     program, fault and when it shows
#   faults.py write PROGRAMS OUT       OUT/PROGRAM-FAULT.tile for every row
#
# A row names the text to replace; if the program does not hold that text
# exactly once, this script stops: a fault that is not planted tests nothing.
import os
import sys

ALWAYS, CAUSAL = "always", "causal"  # where the fault changes the result

FA_SCALE = "(1.0 / dim)**0.5 * 1.44269504"
FA_CLEAR = "                    T.clear(acc_s)\n"
FA_SEES = "q_start + i >= kv_start + j"
MHA_SEES = "bx * block_M + i + past_len >= k * block_N + j"
MHA_INSIDE = "k * block_N + j < seq_kv"
MHA_UNCAUSAL_CLEAR = """                else:
                    T.clear(acc_s)
"""

# program, fault, where it shows, [(text, replacement), ...]
FAULTS = [
    ("fa", "scale-10-percent", ALWAYS, [(FA_SCALE, FA_SCALE + " * 1.1")]),
    ("fa", "scale-without-log2e", ALWAYS, [(FA_SCALE, "(1.0 / dim)**0.5")]),
    ("fa", "no-rescale-acc_o", ALWAYS,
     [("acc_o[i, j] = acc_o[i, j] * rescale[i]",
       "acc_o[i, j] = acc_o[i, j]")]),
    ("fa", "no-rescale-row-sum", ALWAYS,
     [("l_i[i] = l_i[i] * rescale[i] + row_sum[i]",
       "l_i[i] = l_i[i] + row_sum[i]")]),
    ("fa", "causal-strict", CAUSAL, [(FA_SEES, FA_SEES.replace(">=", ">"))]),
    ("fa", "causal-one-more", CAUSAL,
     [(FA_SEES, FA_SEES.replace("i >=", "i + 1 >="))]),
    ("fa", "no-clear-acc_s", ALWAYS, [(FA_CLEAR, "")]),
    ("fa", "last-block-dropped", ALWAYS,
     [("kv_tiles = T.ceildiv(kv_end, block_N)",
       "kv_tiles = T.ceildiv(kv_end, block_N) - 1")]),

    ("mha_fwd_bhsd", "scale-10-percent", ALWAYS,
     [(FA_SCALE, FA_SCALE + " * 1.1")]),
    ("mha_fwd_bhsd", "scale-without-log2e", ALWAYS,
     [(FA_SCALE, "(1.0 / dim)**0.5")]),
    ("mha_fwd_bhsd", "no-rescale-acc_o", ALWAYS,
     [("acc_o[i, j] *= scores_scale[i]", "acc_o[i, j] *= 1.0")]),
    ("mha_fwd_bhsd", "no-rescale-row-sum", ALWAYS,
     [("logsum[i] = logsum[i] * scores_scale[i] + scores_sum[i]",
       "logsum[i] = logsum[i] + scores_sum[i]")]),
    ("mha_fwd_bhsd", "causal-strict", CAUSAL,
     [(MHA_SEES, MHA_SEES.replace(">=", ">"))]),
    ("mha_fwd_bhsd", "causal-one-more", CAUSAL,
     [(MHA_SEES, MHA_SEES.replace("past_len >=", "past_len + 1 >="))]),
    ("mha_fwd_bhsd", "no-clear-acc_s", ALWAYS,
     [(MHA_SEES + ", 0,", MHA_SEES + ", acc_s[i, j],"),
      (MHA_INSIDE + ", 0,", MHA_INSIDE + ", acc_s[i, j],"),
      (MHA_UNCAUSAL_CLEAR, "")]),
    ("mha_fwd_bhsd", "last-block-dropped", ALWAYS,
     [("T.Pipelined(T.ceildiv(kv_end, block_N),",
       "T.Pipelined(T.ceildiv(kv_end, block_N) - 1,")]),

    # Of each of the others one, at its first small size.
    ("attention_varlen", "aligned-at-the-front", ALWAYS,
     [("past_len = k_len - q_len", "past_len = 0")]),
    ("gqa_fwd", "row-taken-for-query", ALWAYS,
     [("<= q_start + r // groups + past_len", "<= q_start + r + past_len")]),
    ("mha_bwd", "no-delta", ALWAYS,
     [("(dP_T[j, i] - delta[i])", "dP_T[j, i]")]),
    ("gqa_bwd", "no-rescale-delta", ALWAYS,
     [("row_delta[i] = row_delta[i] * rescale[i] + row_sum[i]",
       "row_delta[i] = row_delta[i] + row_sum[i]")]),
    ("flash_decoding", "past-the-sequence", ALWAYS,
     [("n + j < kv_end", "n + j < seqlen_kv")]),
    ("mla_decode_paged", "pages-taken-in-order", ALWAYS,
     [("page = block_table[by, n // page_size]",
       "page = by * max_pages + n // page_size")]),
    ("gemm_fp8_block", "scale-of-another-block", ALWAYS,
     [("scale_B[bx * block_N // GROUP, k]", "scale_B[bx, k]")]),
    ("gemm_int4", "nibbles-exchanged", ALWAYS,
     [(">> (j % 2 * 4)", ">> (4 - j % 2 * 4)")]),
    ("grouped_gemm", "groups-padded-to-tiles", ALWAYS,
     [("group_row += size", "group_row += tiles * block_M")]),
    ("gemm_splitk", "stored-not-added", ALWAYS,
     [("T.atomic_add(C[by * block_M, bx * block_N], acc)",
       "T.copy(acc, C[by * block_M, bx * block_N])")]),
    ("gemm_streamk", "stored-not-added", ALWAYS,
     [("if count == steps:", "if count > 0:")]),
    ("linear_attention", "state-not-decayed", ALWAYS,
     [("S[i, j] *= T.exp2(c[chunk - 1])", "S[i, j] *= 1.0")]),
    ("rms_norm", "mean-over-the-tile", ALWAYS,
     [("scale[i] / N + eps", "scale[i] / block_N + eps")]),
    ("layer_norm", "padding-has-variance", ALWAYS,
     [("T.if_then_else(j < N, x[i, j] - mean[i], 0.0)", "x[i, j] - mean[i]")]),
    ("softmax", "no-rescale-row-sum", ALWAYS,
     [("l[i] * T.exp2((m_prev[i] - m[i]) * LOG2E)", "l[i]")]),
    ("topk", "same-one-again", ALWAYS,
     [('x[i, j] = -T.infinity("float32")', "x[i, j] = x[i, j]")]),
]


def plant(text, edits, what):
    """`text` with every edit made, each exactly once."""
    for old, new in edits:
        found = text.count(old)
        if found != 1:
            sys.exit(f"faults.py: {what}: found {found} times, not once:\n"
                     + old)
        text = text.replace(old, new)
    return text


def write(programs, out):
    os.makedirs(out, exist_ok=True)
    for program, fault, _, edits in FAULTS:
        with open(os.path.join(programs, program + ".tile")) as file:
            text = plant(file.read(), edits, f"{program} {fault}")
        with open(os.path.join(out, f"{program}-{fault}.tile"), "w") as file:
            file.write(text)


def main(args):
    if args == ["list"]:
        for program, fault, where, _ in FAULTS:
            print(program, fault, where)
    elif len(args) == 3 and args[0] == "write":
        write(args[1], args[2])
    else:
        sys.exit("usage: faults.py list | faults.py write PROGRAMS OUT")


if __name__ == "__main__":
    main(sys.argv[1:])
