#!/usr/bin/env python3
# unwind_table_vs_readelf.py DUMP ROWS: 'windlass unwind-table show --dump'
# against 'readelf -wF': CFA, return address and frame pointer at each row's
# start; so 'windlass unwind-info --dump'. Expressions are readelf's "exp", and
# not compared. "u" is undefined or as it was: AArch64's return address can be
# either, which llvm-dwarfdump tells (cfi_vs_readelf.sh).
import bisect
import re
import sys

NAMES = {"rsp": "SP", "rbp": "BP", "sp": "SP", "x29": "FP"}

starts, texts = [], []
for line in open(sys.argv[1]):
    start, text = re.match(r"\[0x([0-9a-f]+) \.\. 0x[0-9a-f]+\]: (.*)", line).groups()
    starts.append(int(start, 16))
    texts.append(text)


def saved(rule):
    return "*(cfa-%s)" % rule[2:] if rule != "c+0" else "*(cfa)"


def expected_a64(row):
    cfa, fp, ra = row["CFA"], row.get("x29", "u"), row.get("ra", "u")
    match = re.fullmatch(r"(sp|x29|x\d+)\+(\d+)", cfa)
    if not match:
        return None
    reg = NAMES.get(match.group(1), match.group(1).upper())
    words = ["let cfa=old%s%s in" % (reg, "" if match.group(2) == "0" else "+" + match.group(2))]
    if ra[:2] == "c-":
        words.append(" RA=%s SP=" % saved(ra))
    elif ra in ("u", "s"):
        # x15 is the return address of libc's TLS descriptors, by their CIE.
        words.append((" RA=oldLR SP=", " RA=oldX15 SP=", " RA=unknown SP="))
    if fp[:2] == "c-":
        words.append(" FP=%s" % saved(fp))
    elif fp in ("u", "s"):
        words.append((" FP=oldFP", " FP=unknown"))
    return words


def expected(row):
    """What the dump's line has to hold; None: cannot be told."""
    if is_a64:
        return expected_a64(row)
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


is_a64 = " FP=" in "".join(texts[:100])
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
    if not all(any(w in text for w in ([word] if isinstance(word, str) else word)) for word in words):
        wrong += 1
        if wrong <= 5:
            print("%x: readelf %s, table %s" % (pc, row, text))
print("%d rows compared, %d differ" % (compared, wrong))
sys.exit(wrong != 0 or compared < int(sys.argv[3] if len(sys.argv) > 3 else 1000))
