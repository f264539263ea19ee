#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""random_loads.py make SEED, or check SEED BITS JSON: a program of random loads
of memory whose contents are known, and whether its profile is that of a model.
Programs of 32 bits load an integer of 8 bytes in halves: these are left out."""
import json
import random
import struct
import sys

SPACE = 1 << 20  # bytes of memory that is read
SECTOR, PAGE = 128, 4096

# C's type, bytes, and how Python packs it.
TYPES = [("uint8_t", "B"), ("int8_t", "b"), ("uint16_t", "H"), ("int16_t", "h"),
         ("uint32_t", "I"), ("int32_t", "i"), ("uint64_t", "Q"),
         ("int64_t", "q"), ("float", "f"), ("double", "d")]

# How the loads of one function are made: in C, of `p`.
KINDS = {
    "plain": "return *(const volatile {t} *)p;",
    "add": "return __atomic_fetch_add(({t} *)p, ({t})0, __ATOMIC_SEQ_CST);",
    "expect": "{t} e = 1; __atomic_compare_exchange_n(({t} *)p, &e, e, 0,"
              " __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); return e;",
    "vector": "__asm__ volatile(\"movups (%0), %%xmm0\" : : \"r\"(p) : "
              "\"xmm0\"); return 0;",
}


class Function:
    def __init__(self, rng, number):
        self.name = "load_%d" % number
        self.type, self.code = rng.choice(TYPES)
        self.size = struct.calcsize("<" + self.code)
        self.kind = "plain"
        if self.code in "iIqQ" and self.size == 4 and rng.random() < 0.4:
            self.kind = rng.choice(["add", "expect"])
        elif self.code in "bhiq" and rng.random() < 0.4:
            self.kind = "vector"
        self.values = rng.choice(["small", "signed", "any", "one", "flag"])
        self.spread = rng.choice([64, 4096, 65536, SPACE])
        self.aligned = self.kind in ("add", "expect") or rng.random() < 0.5

    def value(self, rng):
        bits = 8 * self.size
        if self.code in "fd":
            number = {"small": rng.randrange(8), "signed": rng.randrange(-4, 4),
                      "any": rng.random() * 1e6 - 5e5, "one": 1.5,
                      "flag": 0.0}[self.values]
            return struct.pack("<" + self.code, number)
        number = {"small": rng.randrange(13), "signed": rng.randrange(-9, 9),
                  "any": rng.randrange(1 << bits), "one": 77,
                  "flag": 64 * rng.randrange(2)}[self.values]
        return (number % (1 << bits)).to_bytes(self.size, "little")

    def bytes(self):
        return 16 if self.kind == "vector" else self.size

    def address(self, rng):
        place = rng.randrange(self.spread - 16)
        return place - place % self.size if self.aligned else place


def plan(seed):
    """The functions, and what they do: function, where, value, thread, and
    whether the memory is a stack's."""
    rng = random.Random(seed)
    functions = [Function(rng, i) for i in range(24)]
    steps = []
    for _ in range(3000):
        number = rng.randrange(len(functions))
        f = functions[number]
        steps.append((number, f.address(rng), f.value(rng), rng.randrange(3),
                      rng.random() < 0.2))
    # One thread after the other.
    return functions, sorted(steps, key=lambda step: step[3])


HEAD = """#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
static unsigned char *memory;
"""

TAIL = """
struct step { int function; unsigned at, thread, of_stack, size;
              unsigned char value[8]; };
static const struct step steps[] = {
%(steps)s};
enum { COUNT = sizeof steps / sizeof *steps };
static void __attribute__((noinline)) do_step(const struct step *s)
{
    unsigned char on_stack[64] __attribute__((aligned(16)));
    unsigned char *p = s->of_stack ? on_stack + s->at %% 32 : memory + s->at;
    if (s->of_stack)
        p = on_stack + (s->at %% 32) / 16 * 16;
    memcpy(p, s->value, s->size);
    switch (s->function) {
%(cases)s    }
    __asm__ volatile("" : : "r"(p) : "memory");
}
static void *run(void *thread)
{
    for (int i = 0; i < COUNT; i++)
        if (steps[i].thread == (unsigned)(uintptr_t)thread)
            do_step(&steps[i]);
    return NULL;
}
int main(void)
{
    memory = mmap(NULL, %(space)d, PROT_READ | PROT_WRITE,
        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    run((void *)0);
    for (uintptr_t i = 1; i < 3; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, run, (void *)i);
        pthread_join(thread, NULL);
    }
    return 0;
}
"""


def make(seed):
    functions, steps = plan(seed)
    print(HEAD)
    for f in functions:
        print("static %s __attribute__((noinline, noipa)) %s(void *p)\n{ %s }"
              % (f.type, f.name, KINDS[f.kind].format(t=f.type)))
    rows = "".join("{%d, %d, %d, %d, %d, {%s}},\n" % (
        number, at, thread, of_stack, len(value),
        ", ".join(map(str, value))) for number, at, value, thread, of_stack
        in steps)
    cases = "".join("    case %d: (void)%s(p); break;\n" % (i, f.name)
                    for i, f in enumerate(functions))
    print(TAIL % {"steps": rows, "cases": cases, "space": SPACE})


class Model:
    def __init__(self, function):
        self.function = function
        self.sectors, self.pages = set(), set()
        self.bits = []

    def load(self, at, value):
        last = at + self.function.bytes() - 1
        self.sectors.update(range(at // SECTOR, last // SECTOR + 1))
        self.pages.update(range(at // PAGE, last // PAGE + 1))
        self.bits.append(int.from_bytes(value, "little"))

    def expected(self):
        found = {"loads": len(self.bits), "sectors": len(self.sectors),
                 "pages": len(self.pages), "bytes": self.function.bytes()}
        if self.function.kind == "vector":
            return found
        width = 8 * self.function.size
        columns = [{b >> i & 1 for b in self.bits} for i in range(width)]
        varies = [len(c) == 2 for c in columns]
        sign = [b >> (width - 1) & 1 for b in self.bits]
        copies = [all(b >> i & 1 == s for b, s in zip(self.bits, sign))
                  for i in range(width)]
        constant = sum(not v for v in varies)
        if varies[width - 1]:
            constant += sum(copies) - 1
        found["constant_bits"] = constant
        found["wasted"] = constant * len(self.sectors)
        found["varying"] = hex(sum(v << i for i, v in enumerate(varies)))
        found["sign_bits"] = hex(sum(c << i for i, c in enumerate(copies))
                                 if varies[width - 1] else 0)
        return found


def check(seed, bits, path):
    functions, steps = plan(seed)
    models = [Model(f) for f in functions]
    for number, at, value, _, of_stack in steps:
        if not of_stack:
            models[number].load(at, value)
    profile = json.load(open(path))
    bad = 0
    for model in models:
        name = model.function.name
        rows = [r for r in profile["sites"] + profile["vectors"]
                if r["function"] == name and r["loads"] > 3]
        if not model.bits or (bits == 32 and model.function.code in "qQ"
                              and model.function.kind == "plain"):
            continue
        wanted = model.expected()
        if len(rows) != 1 or any(rows[0][k] != v for k, v in wanted.items()):
            bad += 1
            print(name, model.function.kind, model.function.type,
                  "\n wanted", wanted, "\n found", rows)
    sys.exit(bad != 0)


if sys.argv[1] == "make":
    make(int(sys.argv[2]))
else:
    check(int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
