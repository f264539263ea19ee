"""pe_arm64_vs_code.py CFI UNWIND CODE BASE: the rules of `unwind-info
--breakpad`, made of .pdata of ARM64, against what the code does to the stack.

The functions and how many instructions their prologues have are those of
`llvm-readobj --unwind`; what the instructions do is read from `llvm-objdump
-d`: SP and the frame pointer are followed, saved registers noted and, where
they are loaded again, forgotten. Behind an instruction that leaves the function
what held in its body holds again. The image base BASE is added to the addresses
of CFI. Prints how much was compared, and every difference.
"""
import re
import sys

from a64_code import State, agrees, instructions, ours, plain


def functions(path):
    """(start, size, instructions of the prologue, all done before it)"""
    found, start, where, ops = [], None, None, 0
    for line in open(path):
        line = line.strip()
        if line.startswith("Function:"):
            m = re.search(r"0x([0-9A-F]+)\)?$", line)
            start, part, packed = int(m[1], 16), False, True
        elif line.startswith("Fragment: Yes"):
            part = True
        elif line.startswith("FunctionLength:"):
            size = int(line.split()[1])
        elif line.startswith("Prologue ["):
            where, ops, parts = "prologue", 0, False
        elif where and line == "]":
            if where == "prologue":
                found.append((start, size, 0 if part else ops, parts or part))
            where = None
        elif line.startswith("Epilogue [") or line.startswith("Opcodes ["):
            where = "epilogue"
        elif where == "prologue":
            op = line.split(";")[-1].strip()
            if op == "end_c":
                parts = True
                where = "parent"
                found.append((start, size, ops, parts))
            elif op != "end":
                ops += 1
    return found


def main():
    base = int(sys.argv[4], 0)
    table, ends = ours(sys.argv[1], base)
    code = instructions(sys.argv[3])
    bad, same, framed, epilogues = 0, 0, 0, 0
    parent = None
    known = functions(sys.argv[2])
    if [f[0] for f in known] != sorted(ends) or \
            any(ends[f[0]] != f[0] + f[1] for f in known):
        print("other functions: %s, LLVM %s" % (sorted(ends.items()), known))
        return 1
    for start, size, prologue, is_part in known:
        state = parent.copy() if is_part else State()
        body = state if prologue == 0 else None
        quiet = None  # the rules at a nop before, which agreed
        for at in range(start, start + size, 4):
            if at == start + 4 * prologue:
                body = state.copy()
            op, args = code.get(at, ("nop", ""))
            if op == "nop" and quiet is table[at]:
                same += 1
                framed += 1
                continue
            if agrees(state, table[at]):
                same += 1
                by_fp = plain(table[at])[0][0] == "x29"
                framed += by_fp
                quiet = table[at] if op == "nop" and by_fp else None
            else:
                quiet = None
                bad += 1
                if bad < 20:
                    print("%x %s %s: %s, code: sp+%s x29+%s %s" % (at, op, args,
                          table[at], state.depth, state.fp, state.saved))
            state.run(op, args, at < start + 4 * prologue)
            if op == "sub" and args.startswith("sp, sp, #") and body:
                body = state.copy()
            if op in ("ret", "br") or \
                    op == "b" and state.depth == 0 and not state.saved:
                epilogues += 1
                state = body.copy()
        parent = body
    print("%d functions, %d instructions the same, %d of them by the frame "
          "pointer; %d epilogues" % (len(known), same, framed, epilogues))
    return bad != 0 or same == 0 or framed == 0


sys.exit(main())
