"""stack_cfi_vs_llvm.py CFI DWARF CODE BASE: the rules of `unwind-info
--breakpad`, made of .pdata, against `llvm-dwarfdump --debug-frame`, which the
compiler wrote beside it, at every instruction (`llvm-objdump -d`) that both
tell of. Prints how many were compared and those that differ. The image base
BASE is added to the addresses of CFI.

Differences that are to be, each counted:
 - padding behind a return or jump, which nothing runs: DWARF may go on as
   before it;
 - DWARF by the frame pointer where .pdata is by the stack pointer, or the other
   way round: both are right, and not comparable without running it;
 - a register that .pdata tells to be saved right behind its push and DWARF
   somewhat later: until then it has the same value in both places;
 - "ret" with a CFA other than the stack pointer and a word: gcc's errors.
"""
import re
import sys


def ours(path, base):
    rows = []
    for line in open(path):
        words = line.split()
        if words[:2] != ["STACK", "CFI"]:
            continue
        init = words[2] == "INIT"
        start = int(words[3 if init else 2], 16) + base
        if init:
            end = start + int(words[4], 16)
            rules = {}
        rest = " ".join(words[5 if init else 3:])
        rules = dict(rules)
        for name, text in re.findall(r"(\S+): (.*?)(?= \S+:|$)", rest):
            rules[name.lstrip("$")] = text
        if not init:
            rows[-1][1] = start
        rows.append([start, end, rules])
    return {start: (end, plain(rules)) for start, end, rules in rows}


def plain(rules):
    out = {}
    for name, text in rules.items():
        if name == ".cfa":
            m = re.fullmatch(r"\$(\w+) (\d+) ([-+])|\$(\w+)", text)
            out["cfa"] = (m[4], 0) if m and m[4] else \
                (m[1], int(m[3] + m[2])) if m else text
            continue
        name = "rip" if name == ".ra" else name
        m = re.fullmatch(r"\.cfa (\d+) ([-+]) \^", text)
        if m:
            out[name] = int(m[2] + m[1])
        elif text != "$" + name:
            out[name] = text
    return out


def theirs(path):
    rows, end = {}, 0
    last = None
    for line in open(path):
        m = re.search(r" FDE .* pc=([0-9a-f]+)\.\.\.([0-9a-f]+)", line)
        if m:
            last, end = None, int(m[2], 16)
            continue
        m = re.match(r"  0x([0-9a-f]+): CFA=(\w+)(?:\+(\d+))?(.*)", line)
        if not m or end == 0:
            continue
        start = int(m[1], 16)
        if last is not None:
            rows[last] = (start, rows[last][1])
        rules = {"cfa": (m[2].lower(), int(m[3] or 0))}
        for reg, offset in re.findall(r"(R\w+)=\[CFA([-+]\d+)\]", m[4]):
            rules[reg.lower()] = int(offset)
        if start < end:
            rows[start] = (end, rules)
            last = start
    return rows


def by_address(rows):
    return {at: rules for start, (end, rules) in rows.items()
            for at in range(start, end)}


def instructions(path):
    for line in open(path):
        m = re.match(r"\s*([0-9a-f]+):\s+(\S+)", line)
        if m:
            yield int(m[1], 16), m[2]


def kind(op, ours, theirs):
    if ours == theirs:
        return "same"
    if op.startswith(("nop", "xchg", "int3", "data16", "cs")):
        return "padding"
    if ours["cfa"][0] != theirs["cfa"][0]:
        return "other register"
    if op.startswith("ret") and ours["cfa"] == ("rsp", 8):
        return "ret"
    if ours["cfa"] == theirs["cfa"] and theirs.items() <= ours.items():
        return "told earlier"
    return "different"


def main():
    a = by_address(ours(sys.argv[1], int(sys.argv[4], 0)))
    b = by_address(theirs(sys.argv[2]))
    counts = {}
    for at, op in instructions(sys.argv[3]):
        if at not in b:
            continue
        k = kind(op, a[at], b[at]) if at in a else "only LLVM's"
        counts[k] = counts.get(k, 0) + 1
        if k in ("different", "only LLVM's"):
            print("%x %s: %s, LLVM %s" % (at, op, a.get(at), b[at]))
    print(", ".join("%s %d" % item for item in sorted(counts.items())))
    total = sum(counts.values())
    return ("different" in counts or "only LLVM's" in counts or
            counts.get("same", 0) < total * 0.97)


sys.exit(main())
