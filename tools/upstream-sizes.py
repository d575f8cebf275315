# upstream-sizes.py - what one example of upstream did, from `run --json`.
#
#   upstream-sizes.py FILE
#
# Prints three words and a text: launches, launches held to a reference, checks
# of the script's own; then what the sizes leave untried, or nothing. Tried is
# each kernel with 2 blocks or more along each dimension of its grid, each
# pipelined loop with 2 trips or more, and some tile that is cut off by the
# edge of a tensor.
import json
import sys


def most(sizes, key, values):
    old = sizes.setdefault(key, list(values))
    sizes[key] = [max(a, b) for a, b in zip(old, values)]


def untried(launched):
    grids, trips, ragged = {}, {}, False
    for run in launched:
        ragged = ragged or run["ragged"]
        for i, grid in enumerate(run["grids"]):
            most(grids, (run["kernel"], run.get("line"), i), grid)
        for loop in run["pipelined"]:
            most(trips, (loop["loop"], loop.get("line")), [loop["trips"]])
    words = []
    for (kernel, _, _), grid in sorted(grids.items()):
        if min(grid) < 2:
            words.append(f"{kernel}: {' x '.join(map(str, grid))} blocks")
    for (loop, line), (n,) in sorted(trips.items()):
        if n < 2:
            words.append(f"loop {loop} of line {line}: {n} trips")
    if not ragged:
        words.append("no tile at a ragged edge")
    return "; ".join(words)


def main():
    with open(sys.argv[1], encoding="utf-8", errors="replace") as f:
        text = f.read()
    try:
        document = json.loads(text)
    except ValueError:
        print(0, 0, 0)
        return
    judged = sum(1 for x in document["launches"] if x.get("compared"))
    print(len(document["launched"]), judged, document["checks"],
          untried(document["launched"]))


main()
