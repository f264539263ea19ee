#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""dark_matter.py WINDLASS RECORDING TOLD: what a recording says of the blocks
of tests/cli/heap/dark_matter.c is what the program told of them, in blocks and
bytes, as a DMD file and as text; and the text is that of dmd_vs_python.py."""
import json
import subprocess
import sys

import dmd_vs_python as model


def run(*arguments):
    return subprocess.run(
        arguments, capture_output=True, check=True
    ).stdout.decode()


def told(path):
    """(function, reports) -> [blocks, requested, usable]."""
    rows = [line.split() for line in open(path, encoding="ascii")]
    return {
        (r[0], int(r[1])): [int(n) for n in r[2:]] for r in rows if len(r) == 5
    }


def recorded(dmd):
    sums = {}
    for block in dmd["blockList"]:
        stack = [f.split()[0] for f in model.stack_texts(dmd, block["alloc"])]
        made = [f for f in stack if f.startswith("make_")]
        if not made:
            continue
        row = sums.setdefault((made[0], len(block.get("reps", []))), [0, 0, 0])
        num = block.get("num", 1)
        row[0] += num
        row[1] += num * block["req"]
        row[2] += num * (block["req"] + block.get("slop", 0))
    return sums


def reporters(dmd):
    """reports -> the functions that made them, of the program's own."""
    names = {}
    for block in dmd["blockList"]:
        reps = block.get("reps", [])
        for trace in reps:
            stack = [f.split()[0] for f in model.stack_texts(dmd, trace)]
            own = [
                f for f in stack if f.startswith(("measure_", "make_"))
            ]
            names.setdefault(len(reps), set()).add(own[0] if own else "?")
    return names


def main(windlass, recording, path):
    text = run(windlass, "export", "-f", "dmd", "-o", "-", recording)
    with open("dark.json", "w", encoding="utf-8") as file:
        file.write(text)
    dmd = json.loads(text)
    good = True
    want, have = told(path), recorded(dmd)
    want = {k: v for k, v in want.items() if v[0]}
    if want != have or len(want) < 12:
        print("dark_matter: told %s\nrecorded %s" % (want, have))
        good = False
    made = {"make_list", "make_tree", "make_string", "make_table"}
    owners = reporters(dmd)
    if owners != {
        1: made | {"measure_owned"},
        2: made | {"measure_owned", "measure_again"},
    }:
        print("dark_matter: reported by %s" % owners)
        good = False
    o = model.Options(frames=24)
    good &= model.check(windlass, "report", [dmd], ["dark.json"], o)
    # The recording's own text has the same records.
    got = run(windlass, "report", "--alloc-fns", "-f", "24", "-n", "1000",
              "--no-pager", recording)
    expected = model.expected("report", [dmd], ["dark.json"], o)
    records = expected.split(model.RULE, 2)[2]
    if records.strip() not in got:
        print("dark_matter: the records of the text are others")
        good = False
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:4]))
