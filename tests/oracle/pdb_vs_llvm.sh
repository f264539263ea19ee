#!/bin/sh
# SPDX-License-Identifier: MIT
# Programs for Windows, made by clang and lld: names (mangled, and once not),
# files, lines and inlined frames of every address of their code against
# llvm-symbolizer.
#
#     pdb_vs_llvm.sh FRAMESDUMP PART
#
# The peer is not followed in two things. Where a function has lines of several
# files, or two at one address, it takes some other row than the last that
# begins at or before the address: there llvm-pdbutil shows the row that we
# take. And it names code of a module without symbols after the last symbol of
# the module before.
set -eu
. "$(dirname "$0")/../lib/have.sh"
export LC_ALL=C
framesdump=$1
part=$2
here=$(cd "$(dirname "$0")" && pwd)
need clang-19 lld-link-19 ld.lld-19 llvm-symbolizer-19 \
    llvm-readobj-19 llvm-pdbutil-19 python3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
failed=0
checked=0

# What of each program's code is where, then both answers.
compare() {
    llvm-readobj-19 --file-headers --sections "$1" |
        awk '/ImageBase/ { base = $2 }
            /^ *Name:/ { name = $2 } /VirtualSize/ { size = $2 }
            /VirtualAddress/ && name == ".text" { print base, $2, size }' |
        head -n 1 >range
    python3 "$here/pdb_vs_llvm.py" addresses <range >addresses
    llvm-symbolizer-19 --obj="$1" ${2---no-demangle} <addresses >want
    "$framesdump" ${2--m} "$1" <addresses >have
    set -- "$1"
    if [ -f "${1%.exe}.pdb" ]; then
        llvm-pdbutil-19 dump -l "${1%.exe}.pdb" >lines
        read -r base start _ <range
        set -- "$1" lines "$((base + start))"
    fi
    program=$1
    shift
    python3 "$here/pdb_vs_llvm.py" compare addresses want have "$@" || {
        echo "FAIL $program"
        failed=1
    }
    checked=$((checked + $(wc -l <addresses)))
}

. "$here/../cli/lib/pdb_sources.sh"

# MACHINE OPTIMIZE
windows() {
    for source in a.cc b.c; do
        clang-19 --target="$1-pc-windows-msvc" "-$2" -g -gcodeview -fno-rtti \
            -ffunction-sections -c $source -o $source.obj
    done
    lld-link-19 /debug /nodefaultlib /entry:start /subsystem:console \
        "/out:$1-$2.exe" "/pdb:$1-$2.pdb" a.cc.obj b.c.obj
    compare "$1-$2.exe"
    [ "$2" != O1 ] || compare "$1-$2.exe" ""
}

# MACHINE EMULATION ENTRY: with DWARF, and with a PDB file.
mingw() {
    for format in dwarf pdb; do
        options=-g
        output=
        [ $format = dwarf ] || {
            options="-g -gcodeview"
            output=--pdb=$1-pdb.pdb
        }
        for source in a.cc b.c; do
            # shellcheck disable=SC2086 # lists of words
            clang-19 --target="$1-w64-mingw32" -O1 $options -fno-rtti \
                -fno-exceptions -c $source -o $source.obj
        done
        # shellcheck disable=SC2086
        ld.lld-19 -m "$2" -e "$3" $output -o "$1-$format.exe" a.cc.obj b.c.obj
        # There the peer leaves the '_' before mangled names.
        case $1-$format in
        i686-dwarf) compare "$1-$format.exe" "" ;;
        *) compare "$1-$format.exe" ;;
        esac
    done
}

case $part in
x64) set -- x86_64 ;;
x86) set -- i686 ;;
arm64) set -- aarch64 ;;
mingw)
    mingw i686 i386pe _start
    mingw x86_64 i386pep start
    mingw aarch64 arm64pe start
    [ $failed = 0 ] || exit 1
    need x86_64-w64-mingw32-gcc
    cat >c.c <<'END'
#include <stdio.h>
#include <stdlib.h>
static inline __attribute__((always_inline)) int sq(int x)
{
    return x * x + rand();
}
__attribute__((noinline)) static int f(int x) { return sq(x) + sq(x + 1); }
int main(int argc, char **argv)
{
    (void)argv;
    printf("%d\n", f(argc));
    return 0;
}
END
    # With a PDB file, and without all else.
    clang-19 --target=x86_64-w64-mingw32 -O2 -g -gcodeview -fuse-ld=lld \
        --ld-path="$(command -v ld.lld-19)" -Wl,-s,--pdb=pdb.pdb c.c -o pdb.exe
    compare pdb.exe
    x86_64-w64-mingw32-gcc -O2 -g c.c -o dwarf.exe
    compare dwarf.exe
    x86_64-w64-mingw32-gcc -O2 c.c -o symbols.exe
    compare symbols.exe
    set --
    ;;
esac
for machine; do
    for optimize in O0 O1 O2; do
        windows "$machine" $optimize
    done
done
echo "$checked addresses compared"
[ "$checked" -gt 500 ] || failed=1
exit $failed
