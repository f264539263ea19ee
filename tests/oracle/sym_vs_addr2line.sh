#!/bin/sh
# SPDX-License-Identifier: MIT
# Differential check of `windlass sym` against GNU addr2line and
# llvm-symbolizer, on code of our own.
#
#     sym_vs_addr2line.sh WINDLASS SOURCE_TREE
#
# GNU style: where stacks agree, all options must give the same bytes (but for
# C++ functions without a mangled name in DWARF: what addr2line calls them
# depends on what it was asked before). Where they do not agree, the reason is
# one of these:
#
#   discriminators  addr2line writes "(discriminator N)" after lines; we do
#                   not keep them, nor does llvm-addr2line write them.
#   files alone     for a local symbol without a line, addr2line names the
#                   file from the symbol table, without a line; we say ??:?.
#   padding         between functions addr2line names the one before; no
#                   symbol and no DWARF says so, and we say ??.
#   the rest        llvm-addr2line must say what we say: names of clones,
#                   which are in the symbol only; binutils 2.40 names a wrong
#                   file for some calls in DWARF 5.
#
# JSON: what it says must be what llvm-symbolizer's JSON says; and each function
# of --all-functions must be found at its addresses, and each symbol among them.
#
# LLVM style: all bytes must be those of llvm-symbolizer, but for what it says
# of files alone; in C++ with mangled names, as its demangler spells them
# otherwise (">>" for "> >").
set -eu
. "$(dirname "$0")/../lib/have.sh"
export LC_ALL=C
windlass=$(realpath "$1")
tree=$(realpath "$2")
llvm=$(command -v llvm-symbolizer-19 || command -v llvm-symbolizer) ||
    skip "no llvm-symbolizer"
llvm_addr2line=$(command -v llvm-addr2line-19 ||
    command -v llvm-addr2line) || skip "no llvm-addr2line"
need addr2line gcc
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
failed=0

fail() {
    echo "FAIL $*"
    failed=1
}

# Every 17th byte of .text.
addresses() {
    readelf -SW "$1" | sed -n 's/^ *\[[ 0-9]*\] \.text *//p' |
        while read -r _ address _ size _; do
            seq $((0x$address)) 17 $((0x$address + 0x$size - 1))
        done | awk '{ printf "0x%x\n", $1 }'
}

without_discriminators() {
    sed 's/ (discriminator [0-9]*)//'
}

# A stack a line; files without a line are left out, and LLVM's :0 is :?.
stacks() {
    without_discriminators | sed 's/:0$/:?/; s/ at [^ ]*:?$/ at ??:?/
        s/?? ??:?$/?? at ??:?/' |
        awk '/^0x/ && NR > 1 { print stack; stack = "" }
            { stack = stack $0 } END { print stack }'
}

# Addresses where we and addr2line agree to `agreed`, or if that is no more than
# luck to `unsure`; others must have a reason.
compare_stacks() {
    addr2line -fiap "$@" -e prog <addresses | stacks >gnu
    "$windlass" sym -fiap "$@" -e prog <addresses | stacks >ours
    "$llvm_addr2line" -fiap "$@" -e prog <addresses |
        sed 's/^0x\([0-9a-f]*\): /\1 /' | awk '
            /^[0-9a-f]+ / { sub(/^[0-9a-f]+ /, sprintf("0x%16s: ", $1))
                head = substr($0, 1, 18); gsub(/ /, "0", head)
                $0 = head substr($0, 19) } { print }' |
        stacks >llvm
    plain='^$'
    [ "$name" != c++ ] || plain='(: |by[)] )[a-z]'
    paste -d '\n' gnu ours llvm | awk -v plain="$plain" '
        NR % 3 == 1 { gnu = $0; next }
        NR % 3 == 2 { ours = $0; next }
        gnu == ours {
            unsure = gnu ~ plain
            print substr(gnu, 1, 18) >(unsure ? "unsure" : "agreed")
            next }
        ours ~ /^0x[0-9a-f]*: \?\? at \?\?:\?$/ && gnu ~ / at \?\?:\?$/ {
            padding++; next }
        ours == $0 { llvm++; next }
        { print "gnu  " gnu "\nours " ours "\nllvm " $0 >"odd" }
        END { printf "%d padding, %d as llvm says; ", padding, llvm }'
}

# The same bytes, whatever the options.
compare_bytes() {
    for options in -a -f -i -fi -fia -fip -fipsa -s -pa "-f -C" "-i -p -C"; do
        # shellcheck disable=SC2086
        addr2line $options -e prog <some | without_discriminators |
            sed 's/^[^:/ ]*:?$/??:?/; s/ at [^:/ ]*:?$/ at ??:?/
                s/: [^:/ ]*:?$/: ??:?/' >gnu
        # shellcheck disable=SC2086
        "$windlass" sym $options -e prog <some >ours
        cmp -s gnu ours || fail "addr2line $options" \
            "$(diff gnu ours | head -n 3)"
    done
}

compare_llvm() {
    mangled=
    [ "$name" != c++ ] || mangled=--no-demangle
    for options in "" -a -p -s -ap --no-demangle; do
        # shellcheck disable=SC2086
        "$llvm" $options $mangled -e prog <some | sed 's/^[^/ ]*:0:0$/??:0:0/
            s/ at [^/ ]*:0:0$/ at ??:0:0/' >llvm
        # shellcheck disable=SC2086
        "$windlass" sym --style llvm $options $mangled -e prog <some >ours
        cmp -s llvm ours || fail "llvm-symbolizer $options" \
            "$(diff llvm ours | head -n 3)"
    done
}

compare_json() {
    have python3 || return 0
    "$llvm" --output-style=JSON --no-demangle -e prog <some >llvm
    "$windlass" sym --style json --no-demangle -e prog <some >ours
    "$windlass" sym --style json --no-demangle -e prog --all-functions >all
    sed -n 's/.*"ranges":\[{"address":"\(0x[0-9a-f]*\)".*/\1/p' all |
        "$windlass" sym --style json --no-demangle -e prog >starts
    nm -S prog >symbols
    python3 "$work/check.py" || fail "JSON"
}

# compare NAME [OPTION...]: options for all.
compare() {
    name=$1
    shift
    rm -f agreed odd
    addresses prog >addresses
    compare_stacks "$@"
    echo "$name: $(wc -l <agreed) of $(wc -l <addresses) agree"
    [ "$(wc -l <agreed)" -gt 500 ] || fail "few stacks agree"
    [ ! -s odd ] || fail "$(head -n 6 odd)"
    awk 'NR % 6 == 1' agreed >some
    printf '0\n0x0\n\n fff \nzz zz\nffffffffffffffff\n' >>some
    compare_bytes
    awk 'NR % 6 == 1' agreed >some
    compare_llvm
    compare_json
}

cat >check.py <<'END'
import json, sys

def lines(name):
    return [json.loads(line) for line in open(name)]

def theirs(frame):
    file = frame["FileName"] if frame["Line"] else ""
    return (frame["FunctionName"], file, frame["Line"], frame["Column"])

def ours(frame):
    return (frame.get("mangled", ""), frame.get("file", ""),
            frame.get("line", 0), frame.get("column", 0))

bad = []
for a, b in zip(lines("llvm"), lines("ours"), strict=True):
    want = [theirs(f) for f in a["Symbol"]]
    have = [ours(f) for f in b["frames"]]
    if want != have or a["Address"] != b["address"]:
        bad.append((want, have))
functions = lines("all")
for function, start in zip(functions, lines("starts"), strict=True):
    found = start["frames"][-1]["mangled"]
    # The part at the lowest address may be the cold one.
    if found != function["mangled"] and len(function["ranges"]) == 1:
        bad.append((function, start))
starts = {r["address"] for f in functions for r in f["ranges"]}
for words in (line.split() for line in open("symbols")):
    if len(words) == 4 and words[2] in "tTwW":
        if hex(int(words[0], 16)) not in starts:
            bad.append(words)
for why in bad[:3]:
    print(why)
sys.exit(bool(bad) or len(functions) < 50)
END

build() {
    gcc -w -D_GNU_SOURCE -std=gnu17 "-I$tree/include" "-I$tree/src" \
        -shared -fPIC "$@" -o prog
}

cat >plus.cc <<'END'
#include <algorithm>
#include <map>
#include <regex>
#include <string>
#include <vector>
static int helper(int x) { return x > 5 ? throw x : x * 2; }
int main(int argc, char **argv)
{
    std::map<std::string, std::vector<int>> m;
    std::regex r("a(b|c)*d");
    for (int i = 0; i < argc; i++)
        if (std::regex_match(argv[i], r))
            m[argv[i]].push_back(helper(i));
    for (auto &e : m)
        std::sort(e.second.begin(), e.second.end());
    return (int)m.size();
}
END
if g++ -O1 -g plus.cc -o prog 2>/dev/null; then
    compare c++
fi
build -O2 -gdwarf-4 "$tree"/src/base/*.c "$tree"/src/cfi/*.c
compare dwarf4
build -O2 -g "$tree"/src/base/*.c "$tree"/src/cfi/*.c
compare dwarf5
build -O0 -g "$tree"/src/base/*.c
compare unoptimised
exit $failed
