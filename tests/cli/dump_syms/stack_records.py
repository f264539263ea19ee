"""stack_records.py SYM CFI: what STACK records of a Breakpad symbol file come
to, computed with numbers, against the same of the STACK CFI records CFI that
`unwind-info --breakpad` made of them. At the start of each range of either,
and in its middle, both are run over made-up registers and memory, and all of
the caller's registers compared. Prints how many places were compared; fails
with the first that differ.

Of STACK WIN the innermost range holds, of equal ones frame data. What cannot be
run is left out, of STACK CFI with its function unless its CFA is .undef, and
CFI must have left it out.
"""
import re
import sys

REGS = {
    "x86_64": ("rip", "rsp", "rax rbx rcx rdx rsi rdi rbp r8 r9 r10 r11 r12 "
               "r13 r14 r15", 8),
    "x86": ("eip", "esp", "eax ebx ecx edx esi edi ebp", 4),
    "arm": ("lr", "sp", " ".join("r%d" % i for i in range(13)), 4),
    "arm64": ("x30", "sp", " ".join("x%d" % i for i in range(30)), 8),
}


class Cannot(Exception):
    pass


class Machine:
    def __init__(self, name):
        self.ra, self.sp, rest, self.word = REGS[name]
        self.mask = (1 << 8 * self.word) - 1
        self.regs = {self.ra: 0x401234, self.sp: 0x7ffe1230}
        for i, reg in enumerate(rest.split()):
            self.regs[reg] = 0x7ffe2000 + 0x338 * i

    def read(self, address):
        return (address * 0x9e3779b97f4a7c15 >> 7) & self.mask

    def run(self, words, values, assigned=None):
        """Postfix; with `assigned`, a program of assignments."""
        stack = []
        for word in words:
            if word == "=" and assigned is not None:
                if len(stack) < 2 or not isinstance(stack[-2], str):
                    raise Cannot
                value = self.value(stack.pop(), values)
                name = stack.pop()
                values[name] = assigned[name] = value
            elif word == "^":
                stack.append(self.read(self.value(stack.pop(), values)))
            elif len(word) == 1 and word in "+-*%@/":
                b = self.value(stack.pop(), values)
                a = self.value(stack.pop(), values)
                result = {"+": lambda: a + b, "-": lambda: a - b,
                          "*": lambda: a * b, "%": lambda: a % b,
                          "/": lambda: a // b, "@": lambda: a & ~(b - 1)}
                stack.append(result[word]() & self.mask)
            elif re.fullmatch(r"-?\d+", word):
                stack.append(int(word) & self.mask)
            else:
                stack.append(word)
        if assigned is None:
            if len(stack) != 1:
                raise Cannot
            return self.value(stack[0], values)
        if stack:
            raise Cannot
        return None

    def value(self, item, values):
        if not isinstance(item, str):
            return item
        if item not in values:
            raise Cannot
        return values[item]

    def by_cfi(self, rules):
        values = {"$" + name: v for name, v in self.regs.items()}
        values.update(self.regs)
        caller = dict(self.regs)
        if rules[".cfa"] == [".undef"]:
            raise Cannot
        cfa = self.run(rules[".cfa"], values)
        values[".cfa"] = cfa
        caller[self.sp] = cfa
        for name, words in rules.items():
            name = name.lstrip("$")
            name = self.ra if name == ".ra" else name
            if name in caller:
                caller[name] = None if words == [".undef"] else \
                    self.run(words, values)
        return caller

    def by_win(self, record):
        values = {"$" + name: v for name, v in self.regs.items()}
        start = values["$esp"] + record["locals"] + record["saved"]
        values.update({
            ".raSearch": start, ".raSearchStart": start,
            ".cbLocals": record["locals"], ".cbSavedRegs": record["saved"],
            ".cbParams": record["params"], ".cbCalleeParams": 0})
        assigned = {}
        program = record["program"]
        if program is None:
            assigned = {"$eip": self.read(start), "$esp": start + 4}
            if record["bp"]:
                assigned["$ebp"] = self.read(values["$esp"] +
                                             record["saved"] - 8)
        else:
            self.run(program, values, assigned)
        if "$eip" not in assigned or "$esp" not in assigned:
            raise Cannot
        caller = dict(self.regs)
        for name in ("eip", "esp", "ebp", "ebx", "esi", "edi"):
            caller[name] = assigned.get("$" + name, caller[name])
        return caller


def read(path):
    machine, cfi, win, rules, end, function = "", [], [], None, 0, 0
    for line in open(path):
        words = line.split()
        if words[:1] == ["MODULE"]:
            machine = words[2]
        if words[:2] == ["STACK", "WIN"]:
            n = [int(w, 16) for w in words[2:12]]
            win.append({
                "type": n[0], "start": n[1], "size": n[2], "params": n[5],
                "saved": n[6], "locals": n[7],
                "program": words[12:] if n[9] else None,
                "bp": not n[9] and words[12:] == ["1"]})
        if words[:2] != ["STACK", "CFI"]:
            continue
        init = words[2] == "INIT"
        start = int(words[3 if init else 2], 16)
        if init:
            end, rules = start + int(words[4], 16), {}
            function += 1
        elif cfi:
            cfi[-1][1] = start
        rules = dict(rules)
        name = None
        for word in words[5 if init else 3:]:
            if word.endswith(":"):
                name = word[:-1]
                rules[name] = []
            else:
                rules[name].append(word)
        cfi.append([start, end, rules, function])
    return machine, cfi, win


def at(cfi, win, address, machine):
    """The caller's registers, or None where nothing is said."""
    best = None
    for record in win:
        if record["start"] <= address < record["start"] + record["size"]:
            key = (-record["start"], record["size"], -record["type"])
            if best is None or key < best[0]:
                best = key, record
    try:
        if best is not None:
            return machine.by_win(best[1])
        for start, end, rules, _ in cfi:
            if start <= address < end:
                return machine.by_cfi(rules)
    except (Cannot, IndexError):
        pass
    return None


def main():
    name, cfi, win = read(sys.argv[1])
    _, made, _ = read(sys.argv[2])
    machine = Machine(name)
    places = set()
    lost = set()
    for start, end, rules, function in cfi:
        try:
            if rules[".cfa"] != [".undef"]:
                machine.by_cfi(rules)
        except (Cannot, IndexError, KeyError):
            lost.add(function)
    cfi = [row for row in cfi if row[3] not in lost]
    for start, end, _, _ in cfi + made:
        places.update((start, (start + end) // 2, end - 1))
    for record in win:
        start, size = record["start"], record["size"]
        places.update((start, start + size // 2, start + size - 1))
    told = 0
    cfi_at, made_at = {}, {}
    for table, into in ((cfi, cfi_at), (made, made_at)):
        for row in table:
            for place in places:
                if row[0] <= place < row[1]:
                    into[place] = row
    for place in sorted(places):
        wanted = at([cfi_at[place]] if place in cfi_at else [], win, place,
                    machine)
        got = at([made_at[place]] if place in made_at else [], [], place,
                 machine)
        if wanted != got:
            sys.exit("at 0x%x: %s, not %s" % (place, got, wanted))
        told += wanted is not None
    print("%d places of %d" % (told, len(places)))


main()
