#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""wasm_vs_llvm.py WINDLASS: functions, inlined calls and lines of every byte of
the code of WebAssembly modules that clang and wasm-ld make, against
llvm-symbolizer; and which functions begin where, against llvm-objdump, also
of a module without DWARF.

llvm-symbolizer is asked for the names of DWARF alone: it looks addresses up
among symbols by their offset in the file, but in DWARF by their offset in the
code, so that other functions lend their names."""
import re
import shutil
import subprocess
import sys

ONE = """
#include "one.h"
int step(int);
struct pair { int a, b; };
static int table[4];
__attribute__((noinline)) int sum(int n)
{
    int s = 0;
    for (int i = 0; i < n; i++)
        s += twice(step(i)) + table[i & 3];
    return s;
}
__attribute__((noinline)) int dropped(int n) { return n * 77; }
__attribute__((noinline)) static int local(struct pair *p)
{
    return twice(p->a) * twice(p->b);
}
int top(int n)
{
    struct pair p = {n, sum(n)};
    table[n & 3] = local(&p);
    return twice(table[0]);
}
"""
HEADER = """
static inline __attribute__((always_inline)) int twice(int n)
{
    return 2 * n;
}
"""
TWO = """
int host(int);
__attribute__((noinline)) int step(int i)
{
    if (i > 2)
        return host(i);
    return i ^ (i >> 3);
}
"""


def run(*command, text=None):
    return subprocess.run(command, input=text, capture_output=True, text=True,
                          check=True).stdout


def make(name, bits, flags, link_flags):
    parts = []
    for source in "one", "two":
        parts.append("%s.%s.o" % (name, source))
        run("clang-19", "--target=wasm" + bits, "-g", "-ffunction-sections",
            *flags, "-c", source + ".c", "-o", parts[-1])
    run("wasm-ld-19", "-mwasm" + bits, "--no-entry", "--export=top",
        "--allow-undefined", "--gc-sections", *link_flags, *parts, "-o", name)
    return [name] + parts


def code_size(path):
    for line in run("llvm-objdump-19", "-h", path).splitlines():
        words = line.split()
        if len(words) > 2 and words[1] == "CODE":
            return int(words[2], 16)
    raise SystemExit("no code in " + path)


def differing_lines(windlass, path):
    """The number of addresses, and those whose answers differ."""
    addresses = "".join("0x%x\n" % at for at in range(code_size(path)))
    theirs = run("llvm-symbolizer-19", "--functions=short", "--obj=" + path,
                 text=addresses).split("\n\n")
    ours = run(windlass, "sym", "--style", "llvm", "-e", path,
               text=addresses).split("\n\n")
    named = sum(not answer.startswith("??") for answer in ours)
    if len(ours) != len(theirs) or named < len(ours) * 3 // 4:
        yield "%s: %d answers, %d of LLVM, %d with names" % (
            path, len(ours), len(theirs), named)
    for at, (our, their) in enumerate(zip(ours, theirs)):
        if our != their:
            yield "%s 0x%x: %r, llvm-symbolizer %r" % (path, at, our, their)


def take_number(module, at):
    """A LEB128, and the place after it."""
    number = shift = 0
    while True:
        number |= (module[at] & 0x7f) << shift
        shift += 7
        at += 1
        if module[at - 1] < 0x80:
            return number, at


def code_of(module):
    """The place of the contents of the code section."""
    at = 8
    while module[at] != 10:
        size, at = take_number(module, at + 1)
        at += size
    return take_number(module, at + 1)[1]


def differing_functions(windlass, path):
    """LLVM has functions begin at their size, and counts from the file."""
    with open(path, "rb") as file:
        module = file.read()
    found = re.findall(r"^([0-9a-f]+) <(\S+)>:", run(
        "llvm-objdump-19", "-d", path), re.M)
    code, theirs = int(found[0][0], 16), []
    for at, name in found[1:]:
        place = int(at, 16) - code + code_of(module)
        theirs.append((take_number(module, place)[1] - code_of(module), name))
    ours = [(int(line.split("-")[0], 16), line.split()[1]) for line in run(
        windlass, "sym", "--all-functions", "-e", path).splitlines()]
    if ours != theirs or not ours:
        yield "%s: functions %s, llvm-objdump %s" % (path, ours, theirs)


def main():
    for tool in "clang-19", "wasm-ld-19", "llvm-symbolizer-19":
        if shutil.which(tool) is None:
            print("skipped: no " + tool)
            sys.exit(77)
    windlass = sys.argv[1]
    failures = []
    for name, text in ("one.c", ONE), ("one.h", HEADER), ("two.c", TWO):
        with open(name, "w", encoding="ascii") as out:
            out.write(text)
    for name, bits, flags, link_flags in (
            ("plain", "32", ["-O1", "-gdwarf-4"], []),
            ("five", "32", ["-O0", "-gdwarf-5"], ["--build-id"]),
            ("wide", "64", ["-O2", "-gdwarf-5"], ["-O2"])):
        for path in make(name, bits, flags, link_flags):
            failures += differing_lines(windlass, path)
            failures += differing_functions(windlass, path)
        run("llvm-objcopy-19", "--strip-debug", name)
        failures += differing_functions(windlass, name)
    print("\n".join("FAIL " + line for line in failures[:20]))
    sys.exit(1 if failures else 0)


main()
