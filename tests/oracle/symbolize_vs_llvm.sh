#!/bin/sh
# SPDX-License-Identifier: MIT
# Differential check of the whole symbolizer against llvm-symbolizer: mangled
# names, files, lines, columns and inlined frames of every few bytes of a C++
# program, as several compilers, linkings and ways to keep debug information
# make it.
#
#     symbolize_vs_llvm.sh FRAMESDUMP all|some
set -eu
. "$(dirname "$0")/../lib/have.sh"
export LC_ALL=C
framesdump=$1
which=$2
llvm=$(command -v llvm-symbolizer-19 || command -v llvm-symbolizer) ||
    skip "no llvm-symbolizer"
need g++
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
checked=0

# [ADDRESS, ADDRESS + SIZE) of the sections of code, in steps of 23 bytes.
addresses() {
    readelf -SW "$1" | sed -n 's/^ *\[[ 0-9]*\] \.text[^ ]* //p' |
        while read -r _ address _ size _; do
            at=$((0x$address))
            end=$((at + 0x$size))
            seq "$at" 23 "$((end - 1))"
        done | awk '{ printf "0x%x\n", $1 }'
}

# A stack a line. llvm-symbolizer names the source file of a local symbol
# from the symbol table, without a line: that is left out.
stacks() {
    sed 's/^.*:0:0$/??:0:0/' |
        awk 'BEGIN { RS = ""; FS = "\n" } { $1 = $1; print }'
}

# Symbols and debug information of $1; llvm-symbolizer reads them from $2, as
# it does not take symbols from a separate debug file.
compare() {
    addresses "$1" >"$work/addresses"
    "$llvm" --obj="${2:-$1}" --no-demangle <"$work/addresses" |
        stacks >"$work/want"
    "$framesdump" -m "$1" <"$work/addresses" | stacks >"$work/have"
    lines=$(wc -l <"$work/want")
    checked=$((checked + lines))
    [ "$lines" -gt 100 ] || failed=1
    if ! cmp -s "$work/want" "$work/have"; then
        echo "FAIL $1"
        paste -d '\n' "$work/addresses" "$work/want" "$work/have" |
            awk 'NR % 3 == 1 { at = $0 } NR % 3 == 2 { want = $0 }
                NR % 3 == 0 && want != $0 && n++ < 3 {
                    print at "\n< " want "\n> " $0 }' | cut -c 1-600
        failed=1
    fi
}

cat >"$work/a.cc" <<'END'
#include <algorithm>
#include <functional>
#include <map>
#include <regex>
#include <stdexcept>
#include <string>
#include <vector>
namespace {
struct pair { int v; bool operator<(const pair &o) const { return v < o.v; } };
}
static int helper(int x)
{
    if (x > 5)
        throw std::runtime_error("big");
    return x * 2;
}
int main(int argc, char **argv)
{
    std::map<std::string, std::vector<int>> m;
    std::regex r("a(b|c)*d");
    for (int i = 0; i < argc; i++)
        if (std::regex_match(argv[i], r))
            m[argv[i]].push_back(helper(i));
    std::vector<pair> q;
    for (int i = 0; i < 1000; i++)
        q.push_back({ i * 7 % 13 });
    std::sort(q.begin(), q.end());
    std::function<int(int)> f = [&](int x) { return q[x].v; };
    return f(3);
}
END
make_with() {
    out=$work/$1
    shift
    "$@" "$work/a.cc" -o "$out" 2>/dev/null || {
        echo "skipped: $*: not compiled"
        return 0
    }
    compare "$out"
}
# The same, where all is asked for.
more_with() {
    [ "$which" != all ] || make_with "$@"
}
make_with gcc5 g++ -O2 -g
more_with gcc4 g++ -O2 -gdwarf-4 -no-pie -gz=zlib
more_with gcc0 g++ -O0 -g
more_with gc g++ -O2 -g -ffunction-sections -Wl,--gc-sections
more_with lto g++ -O2 -g -flto=1
more_with shared g++ -O2 -g -fPIC -shared
make_with clang5 clang++ -O2 -g
more_with clang4 clang++ -O1 -gdwarf-4
more_with lines clang++ -O2 -gline-tables-only
make_with symtab g++ -O2 -Wl,--build-id=none
# 32 bits; where a cross compiler keeps the headers, they are the machine's.
headers=/usr/include/$(gcc -print-multiarch)
more_with narrow5 g++ -m32 -idirafter "$headers" -O2 -g -no-pie -fno-pie
make_with narrow4 clang++ -m32 -idirafter "$headers" -O1 -gdwarf-4 -no-pie \
    -fno-pie

if [ -f "$work/gcc5" ]; then
    objcopy --only-keep-debug "$work/gcc5" "$work/gcc5.debug"
    objcopy --strip-all --add-gnu-debuglink="$work/gcc5.debug" \
        "$work/gcc5" "$work/linked"
    compare "$work/linked" "$work/gcc5"
fi
libc=/lib/x86_64-linux-gnu/libc.so.6
id=$(readelf -n "$libc" 2>/dev/null | sed -n 's/.*Build ID: //p')
rest=${id#??}
debug=/usr/lib/debug/.build-id/${id%"$rest"}/$rest.debug
! have "$debug" || compare "$libc" "$debug"

echo "$checked stacks compared"
exit $failed
