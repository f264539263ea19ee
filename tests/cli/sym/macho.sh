#!/bin/sh
# SPDX-License-Identifier: MIT
# Apple's binaries, made by clang and lld for other machines: every address of
# small programs against llvm-symbolizer and dsymutil.
#
#     macho.sh WINDLASS PART
set -eu
. "$(dirname "$0")/../../lib/have.sh"
export LC_ALL=C
windlass=$1
part=$2
here=$(cd "$(dirname "$0")" && pwd)
need clang-19 ld64.lld-19 dsymutil-19 llvm-symbolizer-19 \
    llvm-objdump-19 llvm-lipo-19 llvm-ar-19 llvm-strip-19
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

# What LLVM says of the addresses in `all` of $1: in `named`; and in `want`, but
# without names of padding, where the function before has ended. It is what has
# a name and no line, because all code has lines.
ask_llvm() {
    llvm-symbolizer-19 --obj="$1" <all >named
    without '^$' >want
}

# Program $1 for $2, its addresses in `all` and what LLVM says in `want`.
begin() {
    make_program "$2" "$1"
    dsymutil-19 "$1" -o "$1.dSYM" 2>dsymutil.err
    addresses "$1" >all
    [ "$(wc -l <all)" -gt 100 ] || fail "no addresses of $1"
    ask_llvm "$1"
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

# DWARF 5, a library, whose code is at other addresses than a program's, and a
# program of 32 bits, the only one of that size that lld links.
kinds() {
    for kind in 5 lib 32; do
        arch=arm64
        target=arm64-apple-macos12
        platform='macos 12.0 12.0'
        version=-gdwarf-4
        type=-execute
        case $kind in
        5) version=-gdwarf-5 ;;
        lib) type=-dylib ;;
        32)
            arch=arm64_32
            target=arm64_32-apple-watchos6
            platform='watchos 6.0 6.0'
            ;;
        esac
        for unit in main other first last; do
            clang-19 --target=$target -g $version -O1 -c $unit.cc -o $unit.o
        done
        # shellcheck disable=SC2086
        ld64.lld-19 -arch $arch -platform_version $platform $type \
            -undefined dynamic_lookup -o k.$kind \
            main.o other.o first.o last.o
        dsymutil-19 k.$kind -o k.$kind.dSYM 2>dsymutil.err
        addresses k.$kind >all
        [ "$(wc -l <all)" -gt 100 ] || fail "no addresses of $kind"
        ask_llvm k.$kind
        grep -q 'deep1(int)' want || fail "no inlined frames of $kind"
        compare k.$kind want
        rm -r k.$kind.dSYM
        compare k.$kind want
    done
}

# Members of an archive that are called the same: dsymutil takes the first one
# for each, so that what it says of the same objects by themselves counts.
namesakes() {
    for arch in x86_64 arm64; do
        mkdir -p one two
        for unit in main other first last; do
            clang-19 --target="$arch-apple-macos12" -g -O1 -c $unit.cc \
                -o $unit.o
        done
        cp first.o one/x.o
        cp last.o two/x.o
        for order in 'first last one two' 'last first two one'; do
            # shellcheck disable=SC2086
            set -- $order
            begin_namesakes "$@"
            compare p want
            rm both.a first.o last.o
            without '/first.cc:|/last.cc:' >less
            compare p less
            grep -q '2 files of .*both.a(x.o): .*No such file' have.err ||
                fail "namesakes: $(cat have.err)"
            cp one/x.o first.o
            cp two/x.o last.o
        done
    done
}

# Links $1.o and $2.o, and an archive of $3/x.o and $4/x.o in their place.
begin_namesakes() {
    link="-arch $arch -platform_version macos 12.0 12.0 -dead_strip"
    # shellcheck disable=SC2086
    ld64.lld-19 $link -undefined dynamic_lookup -o apart \
        main.o other.o "$1.o" "$2.o"
    dsymutil-19 apart -o apart.dSYM
    addresses apart >all
    ask_llvm apart
    rm -rf apart.dSYM both.a
    llvm-ar-19 --format=darwin qcs both.a "$3/x.o" "$4/x.o"
    # shellcheck disable=SC2086
    ld64.lld-19 $link -undefined dynamic_lookup -o p main.o other.o both.a
    addresses p | cmp -s all - || fail "other code of $*"
}

# What only has lines is known by the debug map alone: dsymutil copies nothing
# of it. LLVM reads the object file.
assembler() {
    cat >code.s <<'END_'
.globl _entry
_entry:
        nop
        nop
        ret
END_
    clang-19 --target=x86_64-apple-macos12 -g -c code.s -o code.o
    clang-19 --target=x86_64-apple-macos12 -g -O1 -c other.cc -o other.o
    ld64.lld-19 -arch x86_64 -platform_version macos 12.0 12.0 -dylib \
        -undefined dynamic_lookup -o p other.o code.o
    dsymutil-19 p -o p.dSYM
    entry=$(llvm-nm-19 p | sed -n 's/ T _entry$//p')
    for step in 0 1 2; do
        printf '0x%x\n' $((0x$entry + step))
    done >all
    seq 0 2 | llvm-symbolizer-19 --obj=code.o |
        awk -F: '{ sub("^" ENVIRON["PWD"], ""); $NF = 0; OFS = ":" } 1' \
        >by_llvm
    sed -n 's/.*code.s:\([0-9]*\).*/\1/p' by_llvm | xargs >lines
    [ "$(cat lines)" = "3 4 5" ] || fail "lines: $(cat lines)"
    "$windlass" sym -e p --style llvm <all >have
    printf 'entry\n??:0:0\n\n' >none
    cat none none none | cmp -s have - || fail "by the dSYM: $(cat have)"
    rm -r p.dSYM
    "$windlass" sym -e p --style llvm <all >have
    [ "$(sed -n 's/.*code.s:\([0-9]*\).*/\1/p' have | xargs)" = "3 4 5" ] ||
        fail "by the map: $(cat have)"
}

# Like `want`, but with names alone for code of the units $1 (a pattern), and
# for the padding in them.
without() {
    awk -v pattern="$1" 'BEGIN { RS = ""; FS = "\n"; OFS = "\n" }
        $NF != "??:0:0" { lost = $NF ~ pattern }
        NF == 2 && $NF == "??:0:0" && !lost { $1 = "??" }
        lost { print $(NF - 1), "??:0:0", ""; next }
        { print $0, "" }' named
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
        mv p.$arch.other.o kept
        cp archive p.$arch.a
        without '/other.cc:' >no_other
        compare p.$arch no_other
        grep -q 'other.o: .*No such file' have.err ||
            fail "an object file: $(cat have.err)"
        mv kept p.$arch.other.o
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
        grep -q 'other.o: was built again' have.err ||
            fail "stale: $(cat have.err)"
        mv kept p.$arch.other.o
        compare p.$arch want
    done
}

# What links like lld-14 writes the times of object files down.
stale() {
    need ld64.lld-14
    begin p x86_64
    rm -r p.dSYM
    ld64.lld-14 -arch x86_64 -platform_version macos 12.0 12.0 -dead_strip \
        -undefined dynamic_lookup -o p p.main.o p.other.o p.a
    dsymutil-19 p -o p.dSYM 2>dsymutil.err
    addresses p >all
    ask_llvm p
    rm -r p.dSYM
    compare p want
    touch -d 2001-01-01 p.other.o
    without '/other.cc:' >less
    compare p less
    grep -q 'other.o: was changed after it was linked' have.err ||
        fail "stale: $(cat have.err)"
}

fat() {
    for arch in x86_64 arm64; do
        begin p.$arch $arch
        mv all all.$arch
        mv want want.$arch
    done
    # dsymutil wants lipo to make a bundle for both.
    for kind in '' -fat64; do
        rm -rf p p.dSYM
        llvm-lipo-19 -create p.x86_64 p.arm64 $kind -output p
        mkdir -p p.dSYM/Contents/Resources/DWARF
        llvm-lipo-19 -create $kind -output p.dSYM/Contents/Resources/DWARF/p \
            p.*.dSYM/Contents/Resources/DWARF/p.*
        for from in bundle objects; do
            for arch in x86_64 arm64; do
                cp all.$arch all
                compare p want.$arch --arch $arch
            done
            rm -rf p.dSYM
        done
        [ "$("$windlass" sym --list-arches p | xargs)" = "x86_64 arm64" ] ||
            fail "architectures of $kind"
        "$windlass" sym --list-arches p p.arm64 >have
        printf '%s\n' 'p: x86_64' 'p: arm64' 'p.arm64: arm64' |
            cmp -s - have || fail "architectures of several: $(cat have)"
        "$windlass" sym --ids p >ids
        for arch in x86_64 arm64; do
            "$windlass" sym --ids p.$arch | sed 1d
        done >each
        sed '/^file/d' ids | cmp -s - each || fail "ids of $kind"
        "$windlass" sym --arch ppc -e p 0 2>said && fail "no such architecture"
        grep -q 'has nothing for the architecture ppc' said ||
            fail "ppc: $(cat said)"
    done
    # An archive for both.
    llvm-lipo-19 -create p.x86_64.a p.arm64.a -output both.a
    for arch in x86_64 arm64; do
        cp both.a p.$arch.a
        cp all.$arch all
        rm -rf p.$arch.dSYM
        compare p.$arch want.$arch
    done
    # An object file for both.
    llvm-lipo-19 -create p.x86_64.other.o p.arm64.other.o -output both.o
    for arch in x86_64 arm64; do
        cp both.o p.$arch.other.o
        cp all.$arch all
        compare p.$arch want.$arch
    done
    # Where there is but one, it is that.
    llvm-lipo-19 -create p.arm64 -output p
    cp all.arm64 all
    compare p want.arm64
}

# Names alone of $1. To LLVM a symbol reaches to the next symbol, whatever it is
# of; to us up to the next function, which LC_FUNCTION_STARTS tells, and
# __mh_execute_header is none.
compare_symbols() {
    llvm-objdump-19 --macho --function-starts "$1" | sed 1d >starts
    llvm-symbolizer-19 --obj="$1" --verbose <all |
        awk '/Function start address: / { start = $NF }
            FNR == 1 || ended { name = $0; ended = 0 }
            $0 == "" { print name, start; start = "-"; ended = 1 }' >llvm
    "$windlass" sym -e "$1" --style llvm <all |
        awk 'FNR % 3 == 1' | paste -d ' ' all - llvm >both
    python3 - <<'END_' || fail "symbols of $1 and LLVM's"
starts = [int(line.split()[0], 16) for line in open("starts")]
known = 0
for line in open("both"):
    at, ours, theirs, start = line.split()
    begin = max((s for s in starts if s <= int(at, 16)), default=0)
    same = ours == theirs
    known += same and ours != "??"
    if not same and (ours != "??" or int(start, 16) >= begin):
        raise SystemExit(line)
raise SystemExit(known < 50)
END_
}

stripped() {
    for arch in x86_64 arm64; do
        begin p.$arch $arch
        llvm-nm-19 p.$arch | awk '$2 == "T" { print $1, substr($3, 2) }' |
            grep -v _mh_ | sort >exported
        mv p.$arch.dSYM hidden
        # Stabs and locals gone: functions end where they did.
        cp p.$arch full
        ld64.lld-19 -arch $arch -platform_version macos 12.0 12.0 -dylib \
            -undefined dynamic_lookup -o lib p.$arch.main.o p.$arch.other.o \
            p.$arch.first.o p.$arch.last.o
        rm p.$arch.*.o p.$arch.a
        "$windlass" sym -e full --all-functions 2>said | grep -v _ZL >before
        llvm-strip-19 -x p.$arch
        mv hidden p.$arch.dSYM
        compare p.$arch want
        rm -r p.$arch.dSYM
        compare_symbols p.$arch
        "$windlass" sym -e p.$arch --all-functions >have
        grep -vxFf before have && fail "other extents of p.$arch"
        [ "$(wc -l <have)" = "$(wc -l <exported)" ] || fail "stripped p.$arch"
        # No symbol is left, but the exports are.
        "$windlass" sym -e lib --all-functions 2>said |
            grep -v 'ZL\|ZN2ns' >before
        # LC_SYMTAB without symbols.
        python3 - lib <<'END_'
import struct, sys
data = bytearray(open(sys.argv[1], "rb").read())
at = 32
for _ in range(struct.unpack_from("<I", data, 16)[0]):
    command, size = struct.unpack_from("<II", data, at)
    if command == 2:
        struct.pack_into("<I", data, at + 12, 0)
    at += size
open(sys.argv[1], "wb").write(data)
END_
        "$windlass" sym -e lib --all-functions >have
        cmp -s before have || { fail "exports of lib"; diff before have; }
    done
}

# Text with each address, fixed by native debug information and by our own
# symbol file; brackets are what tells the two apart. Symbols of Mach-O have no
# sizes: what fills the room to the next function is of no FUNC record.
round_trip() {
    for arch in x86_64 arm64; do
        begin p.$arch $arch
        awk '{ sub("0x1", "0x"); print "#01: ???['"$work/p.$arch"' +" $1 "]" }' \
            all >text
        "$windlass" fix --inlines <text | tr '[]' '()' >want
        grep -q 'deep1.*inlined' want || fail "no inlined frames"
        id=$("$windlass" sym --ids p.$arch | sed -n 's/^breakpad  //p')
        for from in bundle map; do
            mkdir -p s/p.$arch/"$id"
            "$windlass" dump-syms p.$arch -o s/p.$arch/"$id"/p.$arch.sym \
                2>said || fail "dump-syms: $(cat said)"
            head -1 s/p.$arch/"$id"/p.$arch.sym |
                grep -qx "MODULE mac $arch $id p.$arch" || fail "MODULE"
            mv p.$arch hidden
            mv p.$arch.main.o gone
            "$windlass" fix -b s --inlines <text | tr '[]' '()' >have
            diff want have | sed -n 's/^< //p' | grep -v ' + 0x' | head -3 |
                grep . && fail "round trip by $from of p.$arch"
            [ "$(wc -l <want)" = "$(wc -l <have)" ] || fail "lines"
            mv hidden p.$arch
            mv gone p.$arch.main.o
            rm -rf s p.$arch.dSYM
        done
    done
}

# Object files by themselves, of processors that lld does not link for too.
objects() {
    for target in i386-apple-macosx10.12 x86_64-apple-macosx10.12 \
        armv7-apple-ios9 arm64-apple-macos12 arm64_32-apple-watchos6; do
        clang-19 --target=$target -g -O1 -c main.cc -o x.o
        seq 0 2 400 | awk '{ printf "0x%x\n", $1 }' >all
        llvm-symbolizer-19 --obj=x.o <all >want
        grep -q 'deep1(int)' want || fail "no inlined frames of $target"
        compare x.o want
    done
}

# PowerPC's code and debug information of ELF programs, as Mach-O.
big_endian() {
    for cpu in powerpc/18 powerpc64/0x01000012; do
        for version in 4 5; do
            clang-19 --target=${cpu%/*}-linux-gnu -gdwarf-$version -O1 -c \
                main.cc -o main.o
            clang-19 --target=${cpu%/*}-linux-gnu -gdwarf-$version -O1 -c \
                other.cc -o other.o
            ld.lld-19 --unresolved-symbols=ignore-all -e main main.o other.o \
                -o elf 2>lld.err || fail "$(head -1 lld.err)"
            python3 "$here/macho_wrap.py" elf x ${cpu#*/}
            addresses elf >all
            [ "$(wc -l <all)" -gt 50 ] || fail "no addresses of $cpu"
            llvm-symbolizer-19 --obj=x <all >want
            grep -q 'deep1(int)' want || fail "no inlined frames of $cpu"
            compare x want
        done
    done
}

# $1 made a link to $2: what was $1 is said to be of no use, within seconds, and
# the rest is answered as in the file $3.
expect_odd() {
    ln -sfn "$2" "$1"
    timeout 20 "$windlass" sym -e p --style llvm <all >have 2>said ||
        fail "$2 as $1: status $?"
    cmp -s have "$3" || fail "$2 as $1: other answers"
    grep -q "/$1[^ ]*: not a regular file\$" said ||
        grep -q "/$1[^ ]*: a folder" said ||
        grep -q "/$1[^ ]*: the file is empty" said ||
        grep -q "cannot open [^ ]*/$1[^ ]*: Too many" said ||
        fail "$2 as $1: $(cat said)"
    [ "$(wc -l <said)" = 1 ] || fail "$2 as $1: $(cat said)"
    rm "$1"
}

# Devices and all that is no file, in the place of an object file, an archive,
# the file of a dSYM bundle and the binary. Nothing waits or is read for ever.
odd_files() {
    begin p x86_64
    mkdir folder
    mkfifo pipe
    ln -s loop loop
    : >empty
    python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("socket")'
    mv p.dSYM away
    mv p.a archive
    mv p.other.o object
    for odd in /dev/zero /dev/null /dev/full /dev/tty /proc/self/mem \
        "$work/folder" "$work/pipe" "$work/loop" "$work/empty" \
        "$work/socket"; do
        cp archive p.a
        without '/other.cc:' >less
        expect_odd p.other.o "$odd" less
        rm p.a
        cp object p.other.o
        without '/first.cc:|/last.cc:' >less
        expect_odd p.a "$odd" less
        # What the bundle lacks, the objects have.
        cp archive p.a
        mkdir -p p.dSYM/Contents/Resources/DWARF
        expect_odd p.dSYM/Contents/Resources/DWARF/p "$odd" want
        rm -r p.dSYM p.other.o p.a
        ln -sfn "$odd" q
        timeout 20 "$windlass" sym -e q 0 >have 2>said &&
            fail "$odd is no binary"
        grep -q '^windlass: error: \(cannot open \)*q: .' said || fail "$odd: $(cat said)"
    done
}

# Cut off anywhere, and with other formats' files in the places of ours: an
# error or an answer, and soon.
hostile() {
    begin p x86_64
    cp all each
    echo 0x100000400 >all
    for size in $(seq 1 97 2000) $(seq 2000 1009 "$(wc -c <p)"); do
        head -c "$size" p >q
        timeout 20 "$windlass" sym -e q <all >have 2>said ||
            grep -q '^windlass: error: q: .' said || fail "q of $size bytes"
    done
    bundle=p.dSYM/Contents/Resources/DWARF/p
    cp $bundle whole
    # A bundle of another build is none: one bit of the UUID is another.
    python3 - $bundle <<'END_'
import struct, sys
data = bytearray(open(sys.argv[1], "rb").read())
at = 32
while struct.unpack_from("<I", data, at)[0] != 0x1b:
    at += struct.unpack_from("<I", data, at + 4)[0]
data[at + 23] ^= 1
# No line of it is right either.
line = data.index(b"__debug_line\0") + 48
offset = struct.unpack_from("<I", data, line)[0]
data[offset:offset + 64] = bytes(64)
open(sys.argv[1], "wb").write(data)
END_
    cp each all
    compare p want
    echo 0x100000400 >all
    grep -q '/p: the debug file belongs to another build' have.err ||
        fail "of another build: $(cat have.err)"
    for size in $(seq 1 1009 "$(wc -c <whole)"); do
        head -c "$size" whole >$bundle
        timeout 20 "$windlass" sym -e p <all >have 2>said ||
            fail "a bundle of $size bytes"
    done
    rm -r p.dSYM
    for unit in main other; do
        cp p.$unit.o whole
        for size in $(seq 1 149 "$(wc -c <whole)"); do
            head -c "$size" whole >p.$unit.o
            timeout 20 "$windlass" sym -e p --all-functions >have 2>said ||
                fail "p.$unit.o of $size bytes"
        done
        for odd in p p.a inline.h "$windlass"; do
            cp "$odd" p.$unit.o
            timeout 20 "$windlass" sym -e p --all-functions >have 2>said ||
                fail "$odd as an object"
            grep -q "p.$unit.o" said || fail "nothing is said of $odd"
        done
        cp whole p.$unit.o
    done
    # An archive in an archive is no object.
    cp p.a whole
    cp p.a p.first.o
    rm p.a
    llvm-ar-19 --format=gnu rcS p.a p.first.o p.last.o
    timeout 20 "$windlass" sym -e p --all-functions >have 2>said
    grep -q 'p.a(p.first.o): not a Mach-O object file' said ||
        fail "an archive in an archive: $(cat said)"
    # One that is cut off says where.
    size=$(($(wc -c <whole) - 200))
    head -c $size whole >p.a
    timeout 20 "$windlass" sym -e p --all-functions >have 2>said
    grep -q 'p.a(p.last.o): archive+0x[0-9a-f]*: a member reaches past' said ||
        fail "half an archive: $(cat said)"
}

$part
[ $failed = 0 ]
