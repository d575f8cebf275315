"""Launches of configs.json: program, its row, what each size defines."""
import json


def launches(folder, sizes, settings):
    """`sizes`: "odd", or "odd/1" for the first; `settings(size)` gives texts
    of definitions, one launch for each."""
    with open(f"{folder}/configs.json") as f:
        programs = json.load(f)["programs"]
    for name, p in programs.items():
        for word in sizes:
            size, _, most = word.partition("/")
            values = p["sizes"].get(size, [])
            for one in values[:int(most)] if most else values:
                for more in settings(p, size):
                    d = dict(w.split("=", 1) for w in more.split())
                    d.update(w.split("=", 1) for w in one.split())
                    yield name, p, d


def words(folder, p, d):
    out = ["--kernel", p["kernel"]]
    for key, value in d.items():
        out += ["-D", f"{key}={value}"]
    return out + [f"{folder}/{p['file']}"]
