"""stack_cfi_vs_llvm.py CFI DWARF CODE BASE [HOW [NM]]: the rules of `unwind-info
--breakpad`, made of .pdata, against `llvm-dwarfdump --debug-frame`, which the
compiler wrote beside it, at every instruction (`llvm-objdump -d`) that both
tell of. Prints how many were compared and those that differ. The image base
BASE is added to the addresses of CFI.

HOW is for what Apple's compilers write: "whole" expects rules of epilogues that
LLVM's are without; "bodies" compares the last rule of each of LLVM's functions,
which it has no addresses for in object files of arm64: their order is that of
`llvm-nm -n` in NM.

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
            m = re.fullmatch(r"\$?(\w+) (\d+) ([-+])|\$?(\w+)", text)
            out["cfa"] = (m[4], 0) if m and m[4] else \
                (m[1], int(m[3] + m[2])) if m else text
            continue
        name = "rip" if name == ".ra" else name
        m = re.fullmatch(r"\.cfa (\d+) ([-+]) \^", text)
        if m:
            out[name] = int(m[2] + m[1])
        elif text not in ("$" + name, name, "x30"):
            out[name] = text
    return out


def their_name(name):
    if name[0] == "W":  # as arm64's are called there
        name = name.replace("W30", "RIP").replace("WSP", "SP")
        name = name.replace("W", "X")
    return name.lower()


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
        rules = {"cfa": (their_name(m[2]), int(m[3] or 0))}
        for reg, offset in re.findall(r"([RW]\w+)=\[CFA([-+]\d+)\]", m[4]):
            rules[their_name(reg)] = int(offset)
        if start < end:
            rows[start] = (end, rules)
            last = start
    return rows


def bodies(path, nm):
    starts = [int(line.split()[0], 16) for line in open(nm)
              if line.split()[1] in "Tt" and "ltmp" not in line]
    fdes = []
    for line in open(path):
        m = re.search(r" FDE .* pc=([0-9a-f]+)\.\.\.([0-9a-f]+)", line)
        if m:
            fdes.append((int(m[1], 16), int(m[2], 16), []))
        elif fdes:
            fdes[-1][2].append(line)
    assert len(fdes) == len(starts), (len(fdes), len(starts))
    rows = {}
    for to, (start, end, lines) in zip(starts, fdes):
        lines = [line for line in lines if line.startswith("  0x")]
        m = re.match(r"  0x([0-9a-f]+): CFA=(\w+)(?:\+(\d+))?(.*)", lines[-1])
        rules = {"cfa": (their_name(m[2]), int(m[3] or 0))}
        for reg, offset in re.findall(r"([RW]\w+)=\[CFA([-+]\d+)\]", m[4]):
            rules[their_name(reg)] = int(offset)
        rows[to + int(m[1], 16) - start] = (to + end - start, rules)
    return rows


def by_address(rows):
    return {at: rules for start, (end, rules) in rows.items()
            for at in range(start, end)}


def instructions(path):
    for line in open(path):
        m = re.match(r"\s*([0-9a-f]+):\s+(\S+)", line)
        if m:
            yield int(m[1], 16), m[2]


def kind(op, ours, theirs, how):
    if ours == theirs:
        return "same"
    if how and op.startswith(("pop", "ret", "jmp")) and \
            (ours["cfa"] == ("rsp", 8) or
             op.startswith("pop") and ours["cfa"][0] == "rsp"):
        return "epilogue"
    if how == "bodies" and op.startswith(("ldp", "ldr", "add", "ret", "b")) and \
            ours["cfa"][0] == "sp" and \
            all(theirs.get(reg) == at for reg, at in ours.items()
                if reg != "cfa"):
        return "epilogue"
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
    how = sys.argv[5] if len(sys.argv) > 5 else ""
    a = by_address(ours(sys.argv[1], int(sys.argv[4], 0)))
    b = bodies(sys.argv[2], sys.argv[6]) if how == "bodies" \
        else theirs(sys.argv[2])
    b = by_address(b)
    counts = {}
    for at, op in instructions(sys.argv[3]):
        if at not in b:
            continue
        k = kind(op, a[at], b[at], how) if at in a else "only LLVM's"
        if how and k == "other register":
            k = "different"
        counts[k] = counts.get(k, 0) + 1
        if k in ("different", "only LLVM's"):
            print("%x %s: %s, LLVM %s" % (at, op, a.get(at), b[at]))
    print(", ".join("%s %d" % item for item in sorted(counts.items())))
    total = sum(counts.values())
    return ("different" in counts or "only LLVM's" in counts or
            total == 0 or
            counts.get("same", 0) < total * (0.5 if how else 0.97))


sys.exit(main())
