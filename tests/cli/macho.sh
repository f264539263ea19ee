#!/bin/sh
# SPDX-License-Identifier: MIT
# Apple's binaries, made by clang and lld for other machines: every address of
# small programs against llvm-symbolizer and dsymutil.
#
#     macho.sh WINDLASS PART
set -eu
export LC_ALL=C
windlass=$1
part=$2
for tool in clang-19 ld64.lld-19 dsymutil-19 llvm-symbolizer-19 \
    llvm-objdump-19 llvm-lipo-19 llvm-ar-19 llvm-strip-19; do
    command -v $tool >/dev/null || exit 77
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

fail() {
    echo "FAIL $*"
    failed=1
}

cd "$work"
cat >inline.h <<'END_'
#define INLINE inline __attribute__((always_inline))
#define APART __attribute__((noinline))
INLINE int deep1(int a) { volatile int x = a; return x + 1; }
INLINE int deep2(int a)
{
    int r = deep1(a) * 2;
    for (volatile int i = 0; i < a; i = i + 1)
        r ^= i;
    return r;
}
template <class T> INLINE T deep3(T a, int k) { return deep2(a) + k; }
END_
cat >main.cc <<'END_'
#include "inline.h"
namespace ns {
template <class T> struct Box {
    T v;
    APART T get(int k) { return deep3(v, k); }
};
}
static APART int local(int a) { return deep2(a) * 3; }
int other(int);
int first(int);
int last(int);
extern "C" int plain(int x)
{
    ns::Box<int> b{x};
    return b.get(x) + local(x);
}
int main(int argc, char **)
{
    return plain(argc) + other(argc) + first(argc) + last(argc);
}
END_
cat >other.cc <<'END_'
#include "inline.h"
static APART int local(int a) { return deep2(a) * 5 + deep1(a); }
int other(int x) { return local(x) + deep3(x, 2); }
END_
cat >first.cc <<'END_'
#include "inline.h"
int unused(int x) { return deep3(x, 77); }
static APART int local(int a) { return deep1(a) * 7; }
int first(int x) { return local(x) + deep3(x, 9); }
END_
cat >last.cc <<'END_'
#include "inline.h"
static APART int local(int a) { return deep1(a) * 11; }
int last(int x) { return local(x) - deep3(x, 1); }
END_

# Program $2 for architecture $1, with objects and an archive of its own.
make_program() {
    arch=$1
    for unit in main other first last; do
        clang-19 --target="$arch-apple-macos12" -g -O1 -c $unit.cc \
            -o "$2.$unit.o"
    done
    llvm-ar-19 --format=darwin rcs "$2.a" "$2.first.o" "$2.last.o"
    ld64.lld-19 -arch "$arch" -platform_version macos 12.0 12.0 -dead_strip \
        -undefined dynamic_lookup -o "$2" "$2.main.o" "$2.other.o" "$2.a"
}

addresses() {
    llvm-objdump-19 -d --no-show-raw-insn "$1" 2>objdump.err |
        sed -n 's/^ *\([0-9a-f]*\):.*/0x\1/p'
}

# What ours says of $1, with the options behind it, is what was $2.
compare() {
    binary=$1
    want=$2
    shift 2
    "$windlass" sym -e "$binary" --style llvm "$@" <all >have 2>have.err ||
        fail "$binary $*"
    cmp -s "$want" have || {
        fail "$binary $* differs from $want"
        diff "$want" have | head -8
        head -3 have.err
    }
}

# Program $1 for $2, its addresses in `all` and what LLVM says in `want`.
begin() {
    make_program "$2" "$1"
    dsymutil-19 "$1" -o "$1.dSYM" 2>dsymutil.err
    addresses "$1" >all
    [ "$(wc -l <all)" -gt 100 ] || fail "no addresses of $1"
    llvm-symbolizer-19 --obj="$1" <all >want
    grep -q 'deep1(int)' want || fail "no inlined frames of $1"
}

dsym() {
    for arch in x86_64 arm64; do
        begin p.$arch $arch
        compare p.$arch want
        uuid=$(llvm-objdump-19 --private-headers p.$arch |
            sed -n 's/^ *uuid //p')
        "$windlass" sym --ids p.$arch | grep -q "^uuid      $uuid\$" ||
            fail "not the UUID of p.$arch"
        "$windlass" sym --ids p.$arch |
            grep -q "^breakpad  $(echo "$uuid" | tr -d -)0\$" ||
            fail "not the Breakpad id of p.$arch"
        # The bundle in another folder, and its file by another name.
        mkdir -p away
        mv p.$arch.dSYM away/
        compare p.$arch want --debug-dir away
        mv away/p.$arch.dSYM/Contents/Resources/DWARF/p.$arch \
            away/p.$arch.dSYM/Contents/Resources/DWARF/q
        compare p.$arch want --debug-dir away
        # The bundle of an app, and a dSYM for a binary.
        mkdir -p $arch/A.app/Contents/MacOS
        cp p.$arch $arch/A.app/Contents/MacOS/
        mv away/p.$arch.dSYM $arch/A.app.dSYM
        compare $arch/A.app/Contents/MacOS/p.$arch want
        compare $arch/A.app.dSYM/Contents/Resources/DWARF/q want
    done
}

# Like `want`, but with names alone for code of the units $1 (a pattern).
without() {
    awk -v pattern="$1" 'BEGIN { RS = ""; FS = "\n"; OFS = "\n" }
        $NF ~ pattern { print $(NF - 1), "??:0:0", ""; next }
        { print $0, "" }' want
}

map() {
    for arch in x86_64 arm64; do
        begin p.$arch $arch
        "$windlass" sym -e p.$arch --all-functions >functions
        rm -r p.$arch.dSYM
        compare p.$arch want
        "$windlass" sym -e p.$arch --all-functions >have
        cmp -s functions have || fail "other functions of p.$arch"
        # Only what is asked for is opened.
        main=$(llvm-nm-19 p.$arch | sed -n 's/ T _main$//p')
        mv p.$arch.a archive
        "$windlass" sym -e p.$arch 0x"$main" 2>said | grep -q main.cc ||
            fail "no line of main"
        [ ! -s said ] || fail "an archive was missed that is not needed"
        # One that is missing loses its own code, and is told of once.
        without '/first.cc:|/last.cc:' >less
        compare p.$arch less
        grep -q 'p.*\.a(.*first.o).*No such file' have.err &&
            [ "$(wc -l <have.err)" = 1 ] || fail "archive: $(cat have.err)"
        echo "#01: ???[$work/p.$arch +0x$(printf %x $((0x$main - 0x100000000)))]" |
            "$windlass" fix >fixed 2>have.err
        grep -q '^#01: main (.*main.cc:18)$' fixed || fail "fix: $(cat fixed)"
        # ... unless it is elsewhere.
        mkdir -p else
        cp archive else/p.$arch.a
        compare p.$arch want --debug-dir else
        rm else/*
        # What is no object file any more, a folder, a pipe or a device.
        for odd in main.cc inline.h; do
            cp $odd p.$arch.a
            compare p.$arch less
        done
        rm p.$arch.a
        mkdir p.$arch.a
        compare p.$arch less
        rmdir p.$arch.a
        mkfifo p.$arch.a
        compare p.$arch less
        rm p.$arch.a
        ln -s /dev/zero p.$arch.a
        compare p.$arch less
        rm p.$arch.a
        # Stale: one whose function is gone.
        mv archive p.$arch.a
        sed 's/int other/int another/' other.cc >another.cc
        mv p.$arch.other.o kept
        clang-19 --target="$arch-apple-macos12" -g -O1 -c another.cc \
            -o p.$arch.other.o
        without '/other.cc:' >less
        compare p.$arch less
        grep -q 'other.o: was built anew' have.err ||
            fail "stale: $(cat have.err)"
        mv kept p.$arch.other.o
        compare p.$arch want
    done
}

# What links like lld-14 writes the times of object files down.
stale() {
    command -v ld64.lld-14 >/dev/null || exit 77
    begin p x86_64
    rm -r p.dSYM
    ld64.lld-14 -arch x86_64 -platform_version macos 12.0 12.0 -dead_strip \
        -undefined dynamic_lookup -o p p.main.o p.other.o p.a
    dsymutil-19 p -o p.dSYM 2>dsymutil.err
    addresses p >all
    llvm-symbolizer-19 --obj=p <all >want
    rm -r p.dSYM
    compare p want
    touch -d 2001-01-01 p.other.o
    without '/other.cc:' >less
    compare p less
    grep -q 'other.o: was changed after it was linked' have.err ||
        fail "stale: $(cat have.err)"
}

$part
[ $failed = 0 ]
