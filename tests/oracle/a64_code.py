"""a64_code: what AArch64 code does to the stack, followed one instruction after
the other, for scripts that hold rules for unwinding against it.

Instructions are those of `llvm-objdump -d`; rules, of `unwind-info --breakpad`.
"""
import re


def ours(path, base):
    rows, ends, starts = {}, {}, []
    for line in open(path):
        words = line.split()
        if words[:2] != ["STACK", "CFI"]:
            continue
        init = words[2] == "INIT"
        at = int(words[3 if init else 2], 16) + base
        if init:
            ends[at] = at + int(words[4], 16)
            starts.append(at)
            rules = {}
        rules = dict(rules)
        rest = " ".join(words[5 if init else 3:])
        for name, text in re.findall(r"(\S+): (.*?)(?= \S+:|$)", rest):
            rules[name.lstrip("$")] = text
        rows[at] = rules
    table = {}
    for start in starts:
        rules = None
        for at in range(start, ends[start], 4):
            rules = rows.get(at, rules)
            table[at] = rules
    return table, ends


def plain(rules):
    saved = {}
    for name, text in rules.items():
        name = "x30" if name == ".ra" else name
        m = re.match(r"\.cfa (\d+) ([-+]) \^", text)
        if name == ".cfa":
            m = re.fullmatch(r"\$?(\w+)(?: (\d+) ([-+]))?", text)
            cfa = (m[1], int((m[3] or "+") + (m[2] or "0")))
        elif m:
            saved[name] = int(m[2] + m[1])
        elif text not in ("x30", name):
            saved[name] = text
    return cfa, saved


def instructions(path):
    code = {}
    for line in open(path):
        m = re.match(r"\s*([0-9a-f]+):\s+(\S+)\s*(.*)", line)
        if m:
            code[int(m[1], 16)] = (m[2], m[3].split("//")[0].strip())
    return code


class State:
    def __init__(self):
        self.depth, self.fp, self.saved, self.signed = 0, None, {}, False
        self.by = 0

    def copy(self):
        new = State()
        new.__dict__.update(self.__dict__)
        new.saved = dict(self.saved)
        return new

    def run(self, op, args, saves):
        number = r"#(-?0x[0-9a-f]+|-?\d+)"
        if op in ("pacibsp", "autibsp"):
            self.signed = op == "pacibsp"
            return
        m = re.fullmatch(r"sp, (sp|x29|fp), " + number + r"(, lsl #12)?", args)
        if m and op in ("add", "sub"):
            by = int(m[2], 0) << (12 if m[3] else 0)
            by = by if op == "sub" else -by
            self.depth = (self.depth if m[1] == "sp" else self.fp) + by
            return
        if op == "mov" and args == "sp, x29":
            self.depth = self.fp
            return
        if op == "sub" and re.fullmatch(r"sp, sp, x15, lsl #4", args):
            self.depth += self.by
            return
        m = re.fullmatch(r"x29, sp, " + number, args)
        if m and op == "add":
            self.fp = self.depth - int(m[1], 0)
            return
        if op == "mov" and args == "x29, sp":
            self.fp = self.depth
            return
        m = re.fullmatch(r"x15, " + number, args)
        if m and op == "mov":
            self.by = int(m[1], 0) * 16
        m = re.fullmatch(r"w15, " + number, args)
        if m and op == "mov":
            self.by = int(m[1], 0) * 16
        m = re.fullmatch(r"(?:x|w)15, " + number + r", lsl #16", args)
        if m and op == "movk":
            self.by += (int(m[1], 0) << 16) * 16
        if op == "mov" and re.match(r"sp, x\d+$", args):
            self.depth = None
            return
        m = re.fullmatch(r"(\w+), (?:(\w+), )?\[sp(?:, " + number +
                         r")?\](!)?(?:, " + number + r")?", args)
        if m and op in ("stp", "str", "ldp", "ldr"):
            self.access(op, m, saves)

    def access(self, op, m, saves):
        at = int(m[3] or "0", 0)
        if m[4]:
            self.depth -= at
            at = 0
        size = 16 if m[1][0] == "q" else 8
        for i, reg in enumerate([m[1], m[2]]):
            if not re.match(r"x\d", reg or "") or self.depth is None:
                continue
            slot = at + i * size - self.depth
            if op[0] == "s" and saves and int(reg[1:]) >= 19:
                self.saved[reg] = slot
            elif op[0] == "l" and self.saved.get(reg) == slot:
                del self.saved[reg]
                if reg == "x29":
                    self.fp = None
        if m[5]:
            self.depth -= int(m[5], 0)


def agrees(state, rules):
    (reg, offset), saved = plain(rules)
    cfa = {"sp": state.depth, "x29": state.fp}.get(reg)
    return cfa == offset and saved == state.saved
