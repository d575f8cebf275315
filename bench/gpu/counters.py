"""The profiler's counters of each kind of shared access in emitted kernels:
wavefronts, and those that an access without bank conflicts would take.

usage: counters.py OUT.json [PROGRAM...]

ncu attributes them to SASS instructions; here they are summed by mnemonic.
"""

import os
import subprocess
import sys
import tempfile

import common
import sass

CASES = {
    "fa": "seq_len=512 heads=2",
    "mha_fwd_bhsd": "heads=2 seq_q=1024 seq_kv=1024",
    "gqa_fwd": "",
    "mha_bwd": "",
    "gqa_bwd": "",
    "gemm": "M=1024 N=1024 K=1024",
    "softmax": "M=128 N=4096",
    "rms_norm": "M=128 N=4096",
    "layer_norm": "M=128 N=2048",
    "flash_decoding": "",
    "linear_attention": "",
    "gemm_int4": "",
    "gemm_fp8_block": "",
    "grouped_gemm": "",
    "mla_decode": "",
    "attention_varlen": "",
}


def profile(entry, words, folder):
    """The profiler's source page, one row a SASS instruction."""
    report = os.path.join(folder, "p.ncu-rep")
    run = [os.path.abspath(common.tilesim()), "gpu", common.program(entry),
           "--kernel", entry["kernel"], *common.defines(words), "--no-ref",
           "-q"]
    done = subprocess.run(
        ["ncu", "--clock-control", "none", "--section", "SourceCounters",
         "-f", "-o", report, *run], cwd=folder, capture_output=True, text=True)
    if not os.path.exists(report):
        return None, (done.stdout + done.stderr)[-400:]
    page = subprocess.run(
        ["ncu", "-i", report, "--page", "source", "--print-source", "sass",
         "--csv", "--print-units", "base"],
        cwd=folder, capture_output=True, text=True)
    return page.stdout, ""


def sums(page):
    """{(kernel, mnemonic): [executed, wavefronts, ideal]}"""
    out = {}
    for kernel, code in sass.profiled(page):
        for text, counts in code:
            if not sass.is_shared(text):
                continue
            cell = out.setdefault((kernel, sass.mnemonic(text)), [0, 0, 0])
            for i, n in enumerate(counts):
                cell[i] += n
    return out


def main():
    configs, rows = common.configs(), []
    for name, words in CASES.items():
        if sys.argv[2:] and name not in sys.argv[2:]:
            continue
        entry = configs[name]
        words = words or entry["sizes"]["default"][0]
        with tempfile.TemporaryDirectory() as folder:
            page, log = profile(entry, words, folder)
        if page is None:
            rows.append({"program": name, "size": words, "error": log})
            print("%-18s %s" % (name, log[-100:]), flush=True)
            continue
        for (kernel, op), (executed, waves, ideal) in sums(page).items():
            rows.append({"program": name, "size": words, "kernel": kernel,
                         "instruction": op, "executed": executed,
                         "wavefronts": waves, "ideal": ideal})
            print("%-18s %-16s %-20s %9d wavefronts, %9d beyond the ideal" % (
                name, kernel[:16], op, waves, waves - ideal), flush=True)
    common.write(sys.argv[1], rows)


if __name__ == "__main__":
    main()
