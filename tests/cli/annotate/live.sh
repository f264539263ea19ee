#!/bin/sh
# live.sh WINDLASS RECDUMP FIXTURES: the lines and instructions of a recorded
# function have the costs of its addresses, objdump finds the same instructions,
# and addr2line the same lines.
. "$(dirname "$0")/../lib/record_lib.sh"
need cc nm objdump addr2line python3

cat >hot.c <<'END_OF_C'
#include <stdlib.h>
#include <time.h>
static unsigned table[4096];
static inline __attribute__((always_inline)) unsigned mix(unsigned a)
{
    a ^= a << 13;
    a ^= a >> 17;
    return a ^ a << 5;
}
__attribute__((noinline)) unsigned hot(unsigned seed, unsigned rounds)
{
    for (unsigned i = 0; i < rounds; i++) {
        seed = mix(seed);
        table[seed % 4096] += seed / (i | 1);
    }
    return seed;
}
int main(void)
{
    unsigned seed = 1;
    while (clock() < CLOCKS_PER_SEC / 2)
        seed = hot(seed, 100000);
    return seed == 0;
}
END_OF_C
cc -g -O2 -o hot hot.c
record 0 -r 2000 -- ./hot
"$windlass" annotate --json hot r.wndl >annotated.json
"$windlass" report --json --by address r.wndl >addresses.json
objdump -d --no-show-raw-insn hot | awk '
    /^[0-9a-f]+ <hot>:/ { on = 1; next }
    /^$/ { on = 0 }
    on { sub(":", "", $1); print $1 }' >objdump.txt
xargs addr2line -a -i -e hot <objdump.txt | awk '
    /^0x/ { address = $1; getline; split($1, part, ":"); print address, part[2] }
    ' >lines.txt

nm -S hot >symbols.txt

cat >compare.py <<'END_OF_PYTHON'
import json

bad = []


def check(what, have, wanted):
    if have != wanted:
        bad.append(f"{what}: {have}, not {wanted}")


hot = json.load(open("annotated.json"))["functions"][0]
code = {one["address"]: one for one in hot["instructions"]}
start, size = next((int(words[0], 16), int(words[1], 16))
                   for words in map(str.split, open("symbols.txt"))
                   if words[-1] == "hot" and len(words) == 4)
listed = [int(line, 16) for line in open("objdump.txt")]
check("instructions", sorted(code),
      [address for address in listed if start <= address < start + size])
for line in open("lines.txt"):
    address, number = line.split()
    if int(address, 16) in code and number not in "?0":
        check(f"line of {address}", code[int(address, 16)].get("line"),
              int(number))
rows = [row for row in json.load(open("addresses.json"))["rows"]
        if row.get("module") == hot["module"] and row["address"] in code]
used = sum(row["self_ns"] for row in rows)
for row in rows:
    check(f"time at {row['address']:x}", code[row["address"]]["self_ns"],
          row["self_ns"])
for name in "lines", "instructions":
    check(name, sum(row["self_ns"] for row in hot[name]), used)
check("self", hot["self_ns"], used)
mixed = sum(row["self_ns"] for row in hot["inlined"] if row["function"] == "mix")
check("mix", mixed, sum(one["self_ns"] for one in code.values()
                        if one["function"] == "mix"))
if used < 200e6:
    bad.append(f"only {used} ns in hot")
print("\n".join(bad))
raise SystemExit(bool(bad))
END_OF_PYTHON
python3 compare.py >compared || fail "$(cat compared)"
"$windlass" annotate hot r.wndl >text
grep -Eq '^ *[0-9.]+% .* 14  +table\[seed % 4096\]' text ||
    fail "no cost at the division: $(cat text)"
