#!/usr/bin/env python3
# unwind_table_vs_readelf.py DUMP ROWS: 'windlass unwind-table show --dump'
# against 'readelf -wF': CFA, return address and RBP at each row's start.
# Expressions are readelf's "exp", and not compared.
import bisect
import re
import sys

NAMES = {"rsp": "SP", "rbp": "BP"}

starts, texts = [], []
for line in open(sys.argv[1]):
    start, text = re.match(r"\[0x([0-9a-f]+) \.\. 0x[0-9a-f]+\]: (.*)", line).groups()
    starts.append(int(start, 16))
    texts.append(text)


def expected(row):
    """What the dump's line has to hold; None: cannot be told."""
    cfa, rbp, ra = row["CFA"], row.get("rbp", "u"), row["ra"]
    if ra == "u":
        return []
    if not re.fullmatch(r"(rsp|rbp)\+\d+", cfa) or ra != "c-8":
        return None
    words = ["let cfa=old%s+%s in RA=*(cfa-8) SP=cfa" % (NAMES[cfa[:3]], cfa[4:])]
    if rbp == "u":
        words.append("BP=oldBP")
    elif rbp[:2] == "c-":
        words.append("BP=*(cfa-%s)" % rbp[2:])
    return words


columns, compared, wrong = [], 0, 0
for line in open(sys.argv[2]):
    fields = line.split()
    if fields[:1] == ["LOC"]:
        columns = fields
    if not fields or len(fields) != len(columns) or not re.fullmatch(r"[0-9a-f]{16}", fields[0]):
        continue
    row = dict(zip(columns, fields))
    pc = int(row["LOC"], 16)
    words = expected(row)
    if words is None or pc == 0:
        continue
    text = texts[bisect.bisect_right(starts, pc) - 1]
    compared += 1
    if not all(word in text for word in words):
        wrong += 1
        if wrong <= 5:
            print("%x: readelf %s, table %s" % (pc, row, text))
print("%d rows compared, %d differ" % (compared, wrong))
sys.exit(wrong != 0 or compared < 1000)
