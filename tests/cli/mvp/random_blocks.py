#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""random_blocks.py make SEED BITS | check SEED BITS FILE

Writes a C program that allocates, uses and frees random blocks; and compares
the profile of it, as JSON, with what a model of its own says: blocks, elements,
fields and their bits, bytes that nothing reads or writes, equal fields, pairs.
"""
import json
import random
import sys

STRUCTS, ARRAYS, STEPS = 6, 4, 4000


class Field:
    def __init__(self, rng, offset, size):
        self.offset, self.size = offset, size
        self.values = rng.choice(["few", "one", "small", "any", "signed"])
        self.read = rng.random() < 0.8
        self.written = rng.random() < 0.9
        self.copy_of = None

    def value(self, rng):
        top = 1 << 8 * self.size
        return {"few": rng.choice([1, 5, top - 3]), "one": 77,
                "small": rng.randrange(100), "any": rng.randrange(top),
                "signed": rng.randrange(-9, 9) % top}[self.values]


class Type:
    """A line that allocates: blocks of one struct, or arrays of them."""

    def __init__(self, rng, number, bits):
        self.number, self.is_array = number, number >= STRUCTS
        self.cleared = rng.random() < 0.5
        self.fields, offset = [], 0
        for _ in range(rng.randrange(2, 6)):
            size = rng.choice([1, 2, 4, 8 if bits == 64 else 4])
            offset = (offset + size - 1) // size * size
            offset += rng.choice([0, 0, size])
            self.fields.append(Field(rng, offset, size))
            offset += size
        self.size = (offset + 7) // 8 * 8
        wide = [f for f in self.fields if f.size >= 4]
        if len(wide) > 1 and wide[0].size == wide[-1].size:
            wide[-1].copy_of = wide[0]
            wide[0].written = wide[-1].written = True
        if self.is_array:
            # Enough of its accesses to show the size of an element.
            for f in self.fields:
                f.read = f.written = True


def plan(seed, bits):
    rng = random.Random(seed)
    types = [Type(rng, i, bits) for i in range(STRUCTS + ARRAYS)]
    steps, live, slot = [], {}, 0

    def put(block, field, index, value):
        if not field.written:
            return
        steps.append(("set", block, field, index, value))
        for other in block[1].fields:
            if other.copy_of is field:
                steps.append(("set", block, other, index, value))

    def begin(kind):
        nonlocal slot
        count = rng.randrange(3, 40) if kind.is_array else 1
        block = (slot, kind, count)
        slot += 1
        steps.append(("new", block))
        live[block[0]] = block
        for index in range(count):
            for field in kind.fields:
                if field.copy_of is None:
                    put(block, field, index, field.value(rng))
            if kind.is_array:
                for field in kind.fields:
                    steps.append(("get", block, field, index))

    for kind in types:
        begin(kind)
    while len(steps) < STEPS:
        block = live[rng.choice(sorted(live))]
        field = rng.choice(block[1].fields)
        index = rng.randrange(block[2])
        what = rng.random()
        if what < 0.1:
            begin(rng.choice(types))
        elif what < 0.18 and len(live) > 1:
            steps.append(("end", block))
            del live[block[0]]
        elif what < 0.4:
            if field.copy_of is None:
                put(block, field, index, field.value(rng))
        elif field.read and field.written:
            steps.append(("get", block, field, index))
    return types, steps, slot


HEAD = """#include <stdint.h>
#include <stdlib.h>
struct step { unsigned char op, type, field; unsigned short slot, count;
              uint64_t value; };
static unsigned char *slots[%(slots)d];
struct twin { long count; struct half *half; };
struct half { long values[3]; };
static struct twin *twins[200];
#define NOINLINE __attribute__((noinline, noipa))
NOINLINE static struct half *new_half(void)
{ return calloc(1, sizeof(struct half)); }
NOINLINE static struct twin *new_twin(void)
{ return malloc(sizeof(struct twin)); }
NOINLINE static void make_twins(void)
{
    for (int i = 0; i < 200; i++) {
        twins[i] = new_twin();
        twins[i]->half = new_half();
        twins[i]->count = i;
    }
    for (int i = 0; i < 150; i++) {
        struct half *half = twins[i]->half;
        if (i & 1)
            free(half);
        free(twins[i]);
        if (!(i & 1))
            free(half);
    }
}
"""

TAIL = """
int main(void)
{
    make_twins();
    for (unsigned i = 0; i < sizeof steps / sizeof *steps; i++) {
        const struct step *s = &steps[i];
        if (s->op == 0)
            slots[s->slot] = new[s->type](s->count);
        else if (s->op == 1)
            free(slots[s->slot]);
        else if (s->op == 2)
            set[s->type][s->field](slots[s->slot], s->count, s->value);
        else
            get[s->type][s->field](slots[s->slot], s->count);
    }
    return 0;
}
"""


def make(seed, bits):
    types, steps, slots = plan(seed, bits)
    print(HEAD % {"slots": slots})
    for t in types:
        call = "malloc(n * %d)" % t.size
        if t.cleared:
            call = "calloc(n, %d)" % t.size
        print("NOINLINE static void *new_%d(unsigned n) { return %s; }"
              % (t.number, call))
        for i, f in enumerate(t.fields):
            name, ctype = "%d_%d" % (t.number, i), "uint%d_t" % (8 * f.size)
            print("NOINLINE static void set_%s(void *p, unsigned n, uint64_t v)"
                  "\n{ *(volatile %s *)((char *)p + n * %d + %d) = v; }"
                  % (name, ctype, t.size, f.offset))
            print("NOINLINE static void get_%s(void *p, unsigned n)"
                  "\n{ (void)*(volatile %s *)((char *)p + n * %d + %d); }"
                  % (name, ctype, t.size, f.offset))
    count = len(types)
    print("static void *(*const new[])(unsigned) = {%s};"
          % ", ".join("new_%d" % i for i in range(count)))
    for verb, extra in (("set", ", uint64_t"), ("get", "")):
        rows = ", ".join("{%s}" % ", ".join(
            "%s_%d_%d" % (verb, t.number, i) for i in range(len(t.fields)))
            for t in types)
        print("static void (*const %s[][8])(void *, unsigned%s) = {%s};"
              % (verb, extra, rows))
    print("static const struct step steps[] = {")
    for step in steps:
        slot, kind, n = step[1]
        number = kind.number
        if step[0] == "new":
            print("{0, %d, 0, %d, %d, 0}," % (number, slot, n))
        elif step[0] == "end":
            print("{1, %d, 0, %d, 0, 0}," % (number, slot))
        else:
            field = kind.fields.index(step[2])
            value = step[4] if step[0] == "set" else 0
            print("{%d, %d, %d, %d, %d, %dU%s}," % (
                2 if step[0] == "set" else 3, number, field, slot, step[3],
                value, "LL"))
    print("};" + TAIL)


def bits_of(values, size):
    width = 8 * size
    varies = [len({v >> i & 1 for v in values}) == 2 for i in range(width)]
    sign = [all(v >> i & 1 == v >> (width - 1) & 1 for v in values)
            for i in range(width)]
    return (sum(b << i for i, b in enumerate(varies)),
            sum(b << i for i, b in enumerate(sign)) if varies[-1] else 0)


def run(steps):
    """Values that each field was read with, and blocks at their ends."""
    memory, reads, ends, written = {}, {}, {}, set()
    for step in steps:
        slot, kind, count = step[1]
        if step[0] == "new":
            memory[slot] = bytearray(kind.size * count)
        elif step[0] == "end":
            ends.setdefault(kind.number, []).append(memory.pop(slot))
        else:
            field = step[2]
            at = step[3] * kind.size + field.offset
            where = slice(at, at + field.size)
            if step[0] == "set":
                memory[slot][where] = step[4].to_bytes(field.size, "little")
                written.add((kind.number, field.offset))
            else:
                reads.setdefault((kind.number, field.offset), []).append(
                    int.from_bytes(memory[slot][where], "little"))
    kinds = {step[1][0]: step[1][1].number for step in steps}
    for slot, data in memory.items():
        ends.setdefault(kinds[slot], []).append(data)
    return reads, ends, written


def equal_offsets(kind, blocks):
    """Fields that equal an earlier 4 or 8 bytes in all blocks, and vary."""
    found = {}
    for f in kind.fields:
        if f.size < 4 or len({bytes(b[f.offset:f.offset + 4])
                              for b in blocks}) == 1:
            continue
        for at in range(0, f.offset, 4):
            if all(b[at:at + 4] == b[f.offset:f.offset + 4] for b in blocks):
                if all(b[at:at + f.size] == b[f.offset:f.offset + f.size]
                       for b in blocks):
                    found[f.offset] = at
                break
    return found


def expected(kind, reads, ends, written):
    fields, unread, unwritten = [], set(range(kind.size)), set(range(kind.size))
    equal = {}
    if not kind.is_array and kind.cleared and len(ends) > 1:
        equal = equal_offsets(kind, ends)
    for f in kind.fields:
        if (kind.number, f.offset) in written:
            unwritten -= set(range(f.offset, f.offset + f.size))
        values = reads.get((kind.number, f.offset))
        if values is None:
            continue
        unread -= set(range(f.offset, f.offset + f.size))
        varying, signs = bits_of(values, f.size)
        row = {"offset": f.offset, "bytes": f.size, "loads": len(values),
               "varying": hex(varying), "sign_bits": hex(signs)}
        if len(set(values)) <= 8:
            row["values"] = sorted(set(values))
        row["equals"] = equal.get(f.offset) if varying else None
        fields.append(row)
    if kind.cleared:
        unwritten = set()
    return {"fields": fields, "unread": unread, "unwritten": unwritten,
            "blocks": len(ends), "block_bytes": sum(map(len, ends)),
            "element_bytes": kind.size,
            "elements": sum(map(len, ends)) // kind.size}


def found_in(row, kind):
    fields = []
    for f in row["fields"]:
        new = {k: f[k] for k in
               ("offset", "bytes", "loads", "varying", "sign_bits")}
        if f["values"]:
            new["values"] = sorted(int(v, 16) for v in f["values"])
        new["equals"] = f.get("equals")
        if not kind.cleared:
            new["equals"] = None
        fields.append(new)
    gaps = [(set(range(g["start"], g["end"])), g) for g in row["gaps"]]
    return {"fields": fields,
            "unread": set().union(*(b for b, g in gaps if g["is_unread"])),
            "unwritten": set().union(
                *(b for b, g in gaps if g["is_unwritten"])),
            **{k: row[k] for k in
               ("blocks", "block_bytes", "element_bytes", "elements")}}


def check(seed, bits, path):
    types, steps, _ = plan(seed, bits)
    reads, ends, written = run(steps)
    profile = json.load(open(path))
    bad = 0
    for kind in types:
        rows = [d for d in profile["data"]
                if d["allocated_by"].startswith("new_%d " % kind.number)]
        wanted = expected(kind, reads, ends[kind.number], written)
        if len(rows) != 1 or found_in(rows[0], kind) != wanted:
            bad += 1
            print("type", kind.number, "\n wanted", wanted, "\n found ",
                  found_in(rows[0], kind) if rows else None)
    pairs = [(p["allocated_by"].split()[0], p["child_allocated_by"].split()[0],
              p["offset"], p["pairs"]) for p in profile["pairs"]]
    if pairs != [("new_twin", "new_half", bits // 8, 200)]:
        bad += 1
        print("pairs", pairs)
    sys.exit(bad != 0)


if sys.argv[1] == "make":
    make(int(sys.argv[2]), int(sys.argv[3]))
else:
    check(int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
