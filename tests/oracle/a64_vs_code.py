"""a64_vs_code.py CFI NM CODE BASE: the rules of `unwind-info --breakpad` of
functions of AArch64, made of __unwind_info, against what the code does to the
stack at every instruction that branches lead to from the function's start.

Each path is followed (`llvm-objdump -d` has the instructions, `llvm-nm -n` the
functions); where two meet they have to agree. The image base BASE is added to
the addresses of CFI. Prints how much was compared, and every difference.
"""
import re
import sys

from a64_code import State, agrees, instructions, ours, plain


class Path(State):
    def copy(self):
        new = Path()
        new.__dict__.update(self.__dict__)
        new.saved = dict(self.saved)
        return new

    def access(self, op, m, saves):
        """The first store of a register saves it, any later one does not."""
        if self.depth is None:
            return
        before = dict(self.saved)
        super().access(op, m, saves)
        if op[0] == "s":
            self.saved.update(before)

    def run(self, op, args, saves=True):
        if self.depth is None and re.match(r"sp, sp, |x29, sp", args):
            return
        by_register = re.match(r"sp, \w+, [xw]", args) or \
            op == "and" and args.startswith("sp, ")
        super().run(op, args, saves)
        if by_register:
            self.depth = None

    def told(self):
        return (self.depth, self.fp, tuple(sorted(self.saved.items())))


def follow(start, end, code):
    """{address: state before it}, and where paths do not agree."""
    states, bad, todo = {}, [], [(start, Path())]
    while todo:
        at, state = todo.pop()
        while start <= at < end:
            if at in states:
                if states[at].told() != state.told():
                    bad.append(at)
                break
            states[at] = state.copy()
            op, args = code[at]
            state.run(op, args)
            m = re.search(r"0x([0-9a-f]+)(?: <|$)", args)
            branches = op == "b" or op.startswith(("b.", "cb", "tb"))
            if branches and m:
                todo.append((int(m[1], 16), state.copy()))
            if op in ("b", "br", "ret", "brk", "udf"):
                break
            at += 4
    return states, bad


def main():
    base = int(sys.argv[4], 0)
    table, ends = ours(sys.argv[1], base)
    code = instructions(sys.argv[3])
    starts = [int(line.split()[0], 16) for line in open(sys.argv[2])
              if line.split()[1] in "Tt"]
    bad, same, framed, moved = 0, 0, 0, 0
    for start in starts:
        if start not in ends:
            continue
        states, differ = follow(start, ends[start], code)
        bad += len(differ)
        for at in differ:
            print("%x: paths that meet do not agree" % at)
        for at, state in sorted(states.items()):
            rules = table.get(at)
            if rules and agrees(state, rules):
                same += 1
                framed += plain(rules)[0][0] == "x29"
                moved += state.depth != 0 and plain(rules)[0][0] == "sp"
                continue
            bad += 1
            if bad < 20:
                print("%x %s: %s, code: sp+%s x29+%s %s" % (at, code[at],
                      rules, state.depth, state.fp, state.saved))
    print("%d functions, %d instructions the same, %d of them by the frame "
          "pointer, %d by SP behind a change of it" %
          (len(ends), same, framed, moved))
    return bad != 0 or same == 0 or moved == 0


sys.exit(main())
