# SPDX-License-Identifier: MIT
"""Addresses of code, and what two symbolizers said of them, compared."""
import re
import sys


def addresses():
    base, start, size = (int(word, 0) for word in sys.stdin.read().split())
    step = 1 if size < 8192 else 3
    for address in range(base + start, base + start + size, step):
        print(hex(address))


def answers(path):
    with open(path, encoding="utf-8") as file:
        return [a.strip("\n") for a in file.read().rstrip("\n").split("\n\n")]


def without_lines(answer):
    """LLVM knows a symbol's name, or not even that."""
    return all(line == "??:0:0" for line in answer.split("\n")[1::2])


def records(path, start):
    """Ranges of the file's line records: (first, end, [(address, line)])."""
    ranges = {}
    with open(path, encoding="utf-8") as file:
        source = None
        rows = None
        for text in file:
            found = re.match(r"  (\d{4}):([0-9A-F]{8})-([0-9A-F]{8}), line", text)
            if found and found[1] == "0001":
                key = (start + int(found[2], 16), start + int(found[3], 16))
                rows = ranges.setdefault(key, [])
            elif found:
                rows = []
            elif re.match(r"\S.* \((MD5: |no checksum)", text):
                source = text[: text.rindex(" (")]
            elif rows is not None:
                for line, offset in re.findall(r"(\d+) ([0-9A-F]{8}) !?", text):
                    rows.append((start + int(offset, 16), source + ":" + line))
    return ranges


def row_at(ranges, address):
    """What the records say: the last of the rows that begin last."""
    for (first, end), rows in ranges.items():
        if first <= address < end:
            before = [row for row in rows if row[0] <= address]
            best = max((row[0] for row in before), default=None)
            return [row[1] for row in before if row[0] == best][-1:]
    return []


def explained(want, have, row):
    if without_lines(want) and have == "??\n??:0:0":
        return True
    want, have = want.split("\n"), have.split("\n")
    return want[:-1] == have[:-1] and row == [have[-1].rpartition(":")[0]]


def is_data(want, have):
    """Assemblers' local labels, which COFF symbol tables keep, and tables."""
    name = want.split("\n")[0]
    return name.startswith(".l_") or "TOR_LIST__" in name + have


def compare(at_path, want_path, have_path, *lines):
    with open(at_path, encoding="utf-8") as file:
        at = file.read().split()
    want = answers(want_path)
    have = answers(have_path)
    wrong = other = 0
    ranges = records(lines[0], int(lines[1], 0)) if lines else {}
    if not len(at) == len(want) == len(have):
        print("lengths", len(at), len(want), len(have))
        return 1
    for i, address in enumerate(at):
        if want[i] == have[i] or is_data(want[i], have[i]):
            continue
        if not want[i].strip() or want[i].startswith("\n"):
            want[i] = "??\n??:0:0"
        other += 1
        row = row_at(ranges, int(address, 0))
        if want[i] == have[i] or explained(want[i], have[i], row):
            continue
        wrong += 1
        if wrong < 4:
            print(address, "\n<", want[i], "\n>", have[i])
    named = sum(1 for answer in have if not answer.startswith("??"))
    print(len(at), "addresses,", named, "named,", other, "explained,", wrong)
    return wrong != 0 or named * 5 < len(at) * 3


if sys.argv[1] == "addresses":
    addresses()
else:
    sys.exit(compare(*sys.argv[2:]))
