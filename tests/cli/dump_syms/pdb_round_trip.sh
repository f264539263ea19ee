#!/bin/sh
# SPDX-License-Identifier: MIT
# Of programs for Windows, a symbol file that dump-syms writes says what their
# PDB file or DWARF says, at every address of their functions, inlined calls too.
# Of what fills the space between functions it says nothing; a PDB file's public
# symbols and DWARF's lines reach into that.
#
#     pdb_round_trip.sh WINDLASS
set -eu
. "$(dirname "$0")/../../lib/have.sh"
export LC_ALL=C
windlass=$1
here=$(cd "$(dirname "$0")" && pwd)
need clang-19 lld-link-19 ld.lld-19
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
failed=0
. "$here/../lib/pdb_sources.sh"
mkdir there

# NAME: by the binary, then by the symbol file without it. They are said to be
# of lines in other brackets.
check() {
    "$windlass" sym -e "there/$1.exe" --all-functions |
        while read -r range _; do
            i=$((${range%-*} & 0xffff))
            end=$((${range#*-} & 0xffff))
            while [ $((i += 1)) -lt $end ]; do
                printf '#01: ???[there/%s.exe +0x%x]\n' "$1" $i
            done
        done >frames
    "$windlass" fix --inlines frames | tr '()' '[]' >wanted
    "$windlass" dump-syms -o a.sym "there/$1.exe" 2>/dev/null
    id=$(head -n 1 a.sym | cut -d ' ' -f 4)
    symbols=symbols/$1.pdb/$id
    mkdir -p "$symbols"
    mv a.sym "$symbols/$1.sym"
    mv there gone
    "$windlass" fix --inlines -b symbols frames 2>errors | tr '()' '[]' >out
    mv gone there
    cmp -s wanted out || {
        echo "FAIL $1: $(diff wanted out | head -n 6) $(head -n 2 errors)"
        failed=1
    }
    asked="ns::shape::walk(int)"
    "$windlass" sym -fCi -e "there/$1.exe" "$asked" | tail -n 2 |
        head -n 1 | grep -qFx "$asked" || {
        echo "FAIL $1: $asked has another name"
        failed=1
    }
    named=$(grep -c 'a\.cc:' out) || true
    inlined=$(grep -c 'deep' out) || true
    [ "$named" -gt 600 ] && [ "$inlined" -gt 50 ] || {
        echo "FAIL $1: $named lines of a.cc, $inlined with an inlined call"
        failed=1
    }
}

for machine in x86_64 i686 aarch64; do
    for source in a.cc b.c; do
        clang-19 --target=$machine-pc-windows-msvc -O1 -g -gcodeview \
            -fno-rtti -c $source -o $source.obj
    done
    lld-link-19 /debug /nodefaultlib /entry:start /subsystem:console \
        "/out:there/$machine.exe" "/pdb:there/$machine.pdb" a.cc.obj b.c.obj
    check $machine
done
for source in a.cc b.c; do
    clang-19 --target=x86_64-w64-mingw32 -O1 -g -fno-rtti -fno-exceptions \
        -c $source -o $source.obj
done
ld.lld-19 -m i386pep -e start -o there/dwarf.exe a.cc.obj b.c.obj
check dwarf
exit $failed
