#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""random_vs_two.py WINDLASS: the functions of random addresses in large
binaries of many languages, against llvm-symbolizer and binutils' addr2line.

Each answer that differs from both must be of one of the kinds of `KINDS`; none
may be unexplained. $WINDLASS_ADDRESSES addresses of each binary are drawn by a
fixed seed from the sections of code; if it is not set, 100 of each smaller one,
as the oracles take long for the others."""
import collections
import glob
import os
import random
import shutil
import subprocess
import sys

# Language, and where Debian or a tool chain has such a binary.
BINARIES = [
    ("C", "/usr/lib/x86_64-linux-gnu/libpython3*.so.1.0"),
    ("C++, small", "/usr/lib/x86_64-linux-gnu/libstdc++.so.6"),
    ("C++", "/usr/lib/x86_64-linux-gnu/libLLVM-*.so.1"),
    ("C++, a program", "/usr/bin/node"),
    ("Rust", "~/.rustup/toolchains/stable*/lib/librustc_driver-*.so"),
    ("Go", "/usr/lib/go*/bin/go"),
    ("Ada", "/usr/lib/x86_64-linux-gnu/libgnat-*.so"),
    ("Fortran", "/usr/lib/x86_64-linux-gnu/libgfortran.so.5"),
    ("D", "/usr/lib/x86_64-linux-gnu/libgphobos.so.3"),
    ("Haskell", "/usr/lib/ghc/base-*/libHSbase-*-ghc*.so"),
    ("OCaml", "/usr/lib/ocaml/coq-core/vernac/vernac.cmxs"),
    ("Pascal", "/usr/lib/x86_64-linux-gnu/fpc/*/ppcx64"),
    ("assembly", "/usr/lib/x86_64-linux-gnu/libcrypto.so.3"),
]
LARGE = 32 << 20  # bytes
KINDS = {
    "alias": "another symbol of the same address",
    "padding": "after the end of the function, by the size of its symbol",
    "oracles": "the oracles differ from each other, and windlass is with one",
    "plt": "a stub of the linkage table, which windlass alone names",
    "go": "a name of .gopclntab, which the oracles do not read",
    "local": "the covering symbol, where an oracle takes a label inside it",
}


def run(command, text):
    return subprocess.run(command, input=text, capture_output=True, text=True,
                          check=True).stdout.splitlines()


def sections_of_code(path):
    """Name, start, size."""
    for line in run(["readelf", "-SW", path], ""):
        words = line.replace("[ ", "[").split()
        if len(words) > 8 and words[2] == "PROGBITS" and "X" in words[7]:
            yield words[1], int(words[3], 16), int(words[5], 16)


def draw(path, count):
    rng = random.Random(path)
    parts = list(sections_of_code(path))
    chosen = rng.choices(parts, [p[2] for p in parts], k=count)
    return [(name, start + rng.randrange(size)) for name, start, size in chosen]


class Symbols:
    """Names and ends by address, of both tables."""

    def __init__(self, path):
        self.names = collections.defaultdict(set)
        self.end = {}
        for flag in "-s", "--dyn-syms":
            for line in run(["readelf", "-W", flag, path], ""):
                words = line.split()
                if len(words) < 8 or not words[0].endswith(":") or \
                        words[3] not in ("FUNC", "NOTYPE", "IFUNC", "OBJECT"):
                    continue
                start, name = int(words[1], 16), words[7].split("@")[0]
                size = int(words[2], 0)
                self.names[start].add(name)
                self.end[name, start] = start + size
        self.has_go = any(".gopclntab" in line for line in
                          run(["readelf", "-SW", path], ""))
        self.starts = collections.defaultdict(set)
        for start, names in self.names.items():
            for name in names:
                self.starts[name].add(start)

    def ends_before(self, name, address):
        """All symbols of that name have a size, and end before."""
        ends = [self.end[name, start] for start in self.starts[name]
                if start <= address]
        return bool(ends) and all(end <= address for end in ends) and \
            all(self.end[name, start] > start for start in self.starts[name])

    def covers(self, name, address):
        return any(start <= address < self.end[name, start]
                   for start in self.starts[name])

    def are_aliases(self, a, b):
        return bool(self.starts[a] & self.starts[b])


def answers(windlass, path, addresses):
    text = "".join("0x%x\n" % a for _, a in addresses)
    ours = run([windlass, "sym", "--no-demangle", "-f", "-e", path], text)[::2]
    llvm = run([LLVM, "--no-demangle", "--no-inlines", "-f=linkage",
                "--output-style=GNU", "-e", path], text)[::2]
    gnu = run(["addr2line", "-f", "-e", path], text)[::2]
    assert len(ours) == len(llvm) == len(gnu) == len(addresses), path
    return zip(addresses, ours, llvm, gnu)


def kind_of(symbols, section, address, ours, llvm, gnu):
    """Why ours is not both; None: it is not known."""
    if section.startswith(".plt"):
        return "plt"
    others = [name for name in (llvm, gnu) if name != ours]
    if ours != "??" and all(symbols.are_aliases(ours, o) for o in others):
        return "alias"
    if ours == "??" and all(symbols.ends_before(o, address) for o in others):
        return "padding"
    if symbols.has_go and ours != "??" and all(
            o == "??" or symbols.ends_before(o, address) for o in others):
        return "go"
    if ours != "??" and symbols.covers(ours, address) and \
            not any(symbols.covers(o, address) for o in others):
        return "local"
    if llvm != gnu and ours in (llvm, gnu):
        return "oracles"
    return None


def examine(windlass, language, path, count):
    symbols = Symbols(path)
    kinds = collections.Counter()
    failed = 0
    for (section, at), ours, llvm, gnu in answers(
            windlass, path, draw(path, count)):
        llvm, gnu, ours = (n.split("@")[0] or n for n in (llvm, gnu, ours))
        kind = "same" if ours == llvm == gnu else kind_of(
            symbols, section, at, ours, llvm, gnu)
        kinds[kind] += 1
        if kind is None:
            failed += 1
            print("FAIL %s 0x%x: %s, llvm-symbolizer %s, addr2line %s" % (
                path, at, ours, llvm, gnu))
    print("%s (%s): %s" % (language, os.path.basename(path), ", ".join(
        "%s %d" % (k, n) for k, n in kinds.most_common())))
    return failed


LLVM = shutil.which("llvm-symbolizer-19") or shutil.which("llvm-symbolizer")


def main():
    if LLVM is None or shutil.which("addr2line") is None:
        print("skipped: no llvm-symbolizer or no addr2line")
        sys.exit(77)
    wanted = os.environ.get("WINDLASS_ADDRESSES")
    failed = examined = 0
    for language, pattern in BINARIES:
        found = sorted(glob.glob(os.path.expanduser(pattern)))
        if not found:
            print("no binary of " + language)
        elif wanted is None and os.path.getsize(found[-1]) > LARGE:
            print("left out, as it is large: " + found[-1])
        else:
            failed += examine(
                sys.argv[1], language, found[-1], int(wanted or 100))
            examined += 1
    if examined == 0:
        print("skipped: none of the binaries")
        sys.exit(77)
    sys.exit(1 if failed else 0)


main()
