# SPDX-License-Identifier: MIT
"""Mangled names: changed, and what two demanglers made of them compared."""
import random
import re
import sys


def change():
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789?@$_"
    source = random.Random(5)
    names = sys.stdin.read().split()
    changed = set()
    for _ in range(6000):
        name = list(source.choice(names))
        at = source.randrange(1, len(name))
        new = source.choice(["", source.choice(letters)])
        name[at : at + source.randrange(2)] = new
        changed.add("".join(name))
    print("\n".join(sorted(changed)))


def answers(path):
    """llvm-undname tells each name, then what it means if it knows that."""
    found = {}
    with open(path, encoding="utf-8") as file:
        for block in file.read().split("\n\n"):
            lines = block.strip("\n").split("\n")
            found[lines[0]] = lines[1] if len(lines) > 1 else "?"
    return found


def compare(names, want, have, which):
    with open(names, encoding="utf-8") as file:
        names = file.read().split()
    with open(have, encoding="utf-8") as file:
        have = file.read().split("\n")
    want = answers(want)
    wrong = read = 0
    for name, ours in zip(names, have):
        theirs = want.get(name) or "?"
        read += ours != "?" and theirs != "?"
        if ours == theirs or (which == "both" and "?" in (ours, theirs)):
            continue
        if re.search("::0x[0-9A-F]{8}", theirs) and "::0x" not in ours:
            continue
        wrong += 1
        if wrong < 5:
            print(name, "\n<", theirs, "\n>", ours)
    print(len(names), "names,", read, "read by both,", wrong, "not the same")
    return wrong != 0 or read < 200


if sys.argv[1] == "change":
    change()
else:
    sys.exit(compare(*sys.argv[2:]))
