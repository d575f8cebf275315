#!/usr/bin/env python3
# json_check.py - validates tilesim's JSON against docs/json.schema.
#
#   json_check.py TILESIM TOP
#
# The documents are those of the golden tests, and some of each command.
import copy
import json
import os
import re
import subprocess
import sys
import tempfile

from jsonschema import Draft202012Validator


class Tap:
    def __init__(self):
        self.n = self.bad = 0

    def check(self, name, why_not):
        self.n += 1
        self.bad += bool(why_not)
        for line in str(why_not).splitlines() if why_not else []:
            print("#", line[:200])
        print("not ok" if why_not else "ok", self.n, "-", name, flush=True)


def why_invalid(validator, document):
    errors = sorted(validator.iter_errors(document), key=lambda e: str(e.path))
    lines = []
    for error in errors[:4]:
        best = min(error.context, default=error,
                   key=lambda e: -len(e.absolute_path))
        where = "/".join(map(str, best.absolute_path))
        lines.append(f"{where}: {best.message}")
    return "\n".join(lines)


def golden_documents(top):
    """(name, document) of each in tests/golden; what varies is shown as #."""
    folder = os.path.join(top, "tests", "golden")
    for base, _, files in sorted(os.walk(folder)):
        for file in sorted(f for f in files if f.endswith(".out")):
            path = os.path.join(base, file)
            with open(path, encoding="utf-8", errors="replace") as text:
                whole = text.read().replace('": "#"', '": 0')
            pattern = r'(?ms)^\{\n  ".*?^\}$'
            for n, found in enumerate(re.findall(pattern, whole)):
                yield f"{os.path.relpath(path, folder)} {n}", found


def printed(tilesim, *args):
    done = subprocess.run([tilesim, *args, "--json"], text=True,
                          stdin=subprocess.DEVNULL, capture_output=True)
    return done.stdout


def live_documents(tilesim, top):
    data = os.path.join(top, "tests", "data")
    gemm = os.path.join(top, "programs", "gemm.tile")
    isa = os.path.join(data, "gfx942", "kernels.hsaco")
    commands = [
        ["run", "-q", gemm, "-D", "M=20", "-D", "N=20", "-D", "K=20"],
        ["run", "-q", gemm, "-D", "M=20", "-D", "N=20", "-D", "K=20",
         "--no-ref"],
        ["run", "-q", gemm],
        ["run", "-q", gemm, "--target", "all", "-D", "M=20", "-D", "N=20",
         "-D", "K=20"],
        ["run", "-q", gemm, "--sweep", "M=16,x N=3", "-D", "K=8"],
        ["gpu", "-q", gemm, "--build-only", "-D", "M=20", "-D", "N=20",
         "-D", "K=20"],
        ["check", "-q", gemm, "-D", "M=20", "-D", "N=20", "-D", "K=20"],
        ["explain", "uninit-read"],
        ["explain", "layout", "mfma_32x32x8_f16"],
        ["explain", "device"],
        ["explain", "device", "mi300x"],
        ["exec-isa", isa, "--kernel", "row_sum", "--block", "64", "--args",
         "f32[64]", "f32[1]"],
        ["exec-isa", isa, "--kernel", "row_sum", "--block", "64", "--args",
         "f32[63]", "f32[1]"],
    ]
    for base, _, files in sorted(os.walk(data)):
        for file in sorted(files):
            path = os.path.join(base, file)
            if file.endswith("shared_access.tsv.gz"):
                commands.append(["banks", "--target", "h100", path])
            if file.endswith(".gold.gz"):
                commands.append(["matrix", path])
    for name in ("fa", "mla_decode", "rms_norm"):
        commands.append(["lds-report", "--json",
                         os.path.join(top, "programs", name + ".tile")])
    for name in ("fa", "mla_decode"):
        commands.append(["lds-report", "--json", "--sweep", "autotune",
                         os.path.join(top, "programs", name + ".tile")])
    lds = os.path.join(top, "tests", "golden", "lds")
    commands.append(["lds-report", "--target", "a100", "-D", "N=64",
                     os.path.join(lds, "small.tile"),
                     os.path.join(lds, "expect.tile"), "no such file"])
    checks = os.path.join(top, "tests", "checks")
    for name in ("clear-forgotten", "masked-row", "gemm-k24", "suppressed"):
        commands.append(["check", "-q", os.path.join(checks, name + ".tile")])
    for command in commands:
        name = " ".join(os.path.basename(word) for word in command)
        yield name, printed(tilesim, *command)


def refused(validator, document):
    """Changes that the schema must not let pass."""
    def changed(change):
        other = copy.deepcopy(document)
        change(other)
        return not list(validator.iter_errors(other))

    launch = "launches"
    cases = {
        "another schema": lambda d: d.update(schema="tilesim/2"),
        "an unknown key": lambda d: d.update(extra=1),
        "no exit code": lambda d: d.pop("exit"),
        "a text for a count": lambda d: d[launch][0].update(blocks="1"),
        "an output without a name":
            lambda d: d[launch][0]["outputs"][0].pop("name"),
    }
    return [name for name, change in cases.items() if changed(change)]


# What SARIF 2.1.0 requires of the parts that tilesim writes (its sections 3.13
# log, 3.14 run, 3.18 tool, 3.19 component, 3.27 result, 3.28 location).
def why_no_sarif(log):
    if log["version"] != "2.1.0" or len(log["runs"]) != 1:
        return "not one run of version 2.1.0"
    if set(log) != {"$schema", "version", "runs"}:
        return f"keys of the log: {sorted(log)}"
    run = log["runs"][0]
    driver = run["tool"]["driver"]
    rules = [rule["id"] for rule in driver["rules"]]
    if set(run) != {"results", "tool"} or not driver["name"]:
        return f"keys of the run: {sorted(run)}"
    if len(set(rules)) != len(rules):
        return f"rules repeat: {rules}"
    for result in run["results"]:
        if result["ruleId"] not in rules or not result["message"]["text"]:
            return f"rule or message of {result}"
        if result["level"] not in ("none", "note", "warning", "error"):
            return f"level of {result}"
        for location in result.get("locations", []):
            place = location["physicalLocation"]
            uri = place["artifactLocation"]["uri"]
            if not re.fullmatch(r"(file://)?([\w\-.~/]|%[0-9A-F]{2})+", uri):
                return f"URI {uri}"
            if place["region"]["startLine"] < 1:
                return f"region of {result}"
    return ""


def sarif_of(tilesim, *args):
    """The log, and of its results: rule, level, line, message."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "log.sarif")
        subprocess.run([tilesim, "lds-report", "--sarif", path, *args],
                       stdin=subprocess.DEVNULL, capture_output=True)
        with open(path, encoding="utf-8") as file:
            log = json.load(file)
    found = []
    for result in log["runs"][0]["results"]:
        places = result.get("locations")
        line = places and places[0]["physicalLocation"]["region"]["startLine"]
        found.append((result["ruleId"], result["level"], line,
                      result["message"]["text"]))
    return log, found


def check_sarif(tap, tilesim, top):
    lds = os.path.join(top, "tests", "golden", "lds")
    small, layouts = (os.path.join(lds, name)
                      for name in ("small.tile", "layouts.tile"))
    cases = {
        # 76,800 x 4 bytes, and the A100 has 163 KiB: half of them fit
        ("--target", "a100", small, "-D", "N=76800", "-D", "block_N=76800"): [
            ("lds-no-fit", "error", 9, "a block of 'main' takes 307,200 bytes "
             "of shared memory on a100, 140,288 more than it has; it fits "
             "with block_N=38400 (lds-report --fix 1)")],
        # 64 passes of 4 ways, as layouts.cmd counts them
        ("--target", "a100", layouts, "-D", "pitch=32"): [
            ("lds-conflict", "warning", 21, "reads of 'A_s' meet in a bank on "
             "a100, 4 at a time: 192 extra cycles; fewer with "
             "T.annotate_layout({A_s: tilelang.layout.make_swizzled_layout(A_s"
             ")}) (lds-report --fix 1)")],
        ("--target", "a100", small, "-D", "N=64"): [],
        ("--target", "a100", os.path.join(lds, "broken.tile")): [
            ("syntax-bracket", "error", 1,
             "'(' is never closed; expected ')'")],
        ("no such file",): [
            ("no-file", "error", None,
             "cannot read 'no such file': No such file or directory")],
    }
    for args, want in cases.items():
        log, found = sarif_of(tilesim, *args)
        why = why_no_sarif(log)
        if found != want:
            why += f"\nexpected {want}\nfound {found}"
        tap.check("sarif " + " ".join(map(os.path.basename, args)), why)


def main(tilesim, top):
    tap = Tap()
    with open(os.path.join(top, "docs", "json.schema")) as file:
        schema = json.load(file)
    Draft202012Validator.check_schema(schema)
    validator = Draft202012Validator(schema)
    first = None
    for documents in golden_documents(top), live_documents(tilesim, top):
        for name, text in documents:
            try:
                document = json.loads(text)
                why = why_invalid(validator, document)
                first = first or document
            except ValueError as error:
                why = f"not JSON: {error}"
            tap.check(name, why)
    run = next(json.loads(text) for name, text in golden_documents(top)
               if name.startswith("report/json.out"))
    passed = refused(validator, run)
    tap.check("the schema refuses what is wrong", ", ".join(passed))
    check_sarif(tap, tilesim, top)
    print(f"1..{tap.n}")
    return 1 if tap.bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2]))
