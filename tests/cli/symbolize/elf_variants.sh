#!/bin/sh
# SPDX-License-Identifier: MIT
# Differential check of what ELF files may look like: a small program with
# inlined functions in every container, each against the tools that read it.
# Which they are is said at each; a compiler or tool that is not there leaves
# its variants out.
#
#     elf_variants.sh FRAMESDUMP SOURCES
set -eu
. "$(dirname "$0")/../../lib/have.sh"
export LC_ALL=C
framesdump=$1
llvm=$(command -v llvm-symbolizer-19 || command -v llvm-symbolizer) ||
    skip "no llvm-symbolizer"
need gcc eu-addr2line
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
checked=0
cp "$2/elf_variants.c" "$work/a.c"
cd "$work"

fail() {
    echo "FAIL $*"
    failed=1
}

# Every third byte of [$1, $1 + $2), $1 being decimal.
addresses() {
    seq "$1" 3 "$(($1 + $2 - 1))" | awk '{ printf "0x%x\n", $1 }'
}

# ADDRESS SIZE of section $2 of $1, decimal.
section() {
    set -- $(readelf -SW "$1" | sed 's/^ *\[ *[0-9]*\] //' |
        awk -v name="$2" '$1 == name { print $3, $5; exit }')
    echo "$((0x$1)) $((0x$2))"
}

# A stack a line. llvm-symbolizer names the source file of a local symbol
# from the symbol table, without a line: that is left out.
stacks() {
    sed 's/^.*:0:0$/??:0:0/' |
        awk 'BEGIN { RS = ""; FS = "\n" } { $1 = $1; print }'
}

# The answers in `have` and `want` for `addresses`; $1 says of what, $2 how
# many there must be.
judge() {
    lines=$(wc -l <want)
    checked=$((checked + lines))
    [ "$lines" -ge "${2:-20}" ] || fail "$1: only $lines answers"
    grep -q -v '^??' want || fail "$1: all unknown"
    cmp -s want have && return 0
    fail "$1"
    paste -d '\n' addresses want have | awk 'NR % 3 == 1 { at = $0 }
        NR % 3 == 2 { want = $0 }
        NR % 3 == 0 && want != $0 && n++ < 3 {
            print at "\n< " want "\n> " $0 }' | cut -c 1-300
}

# All that is known of the code of $1, against llvm-symbolizer, which reads
# $2 (or the same).
like_llvm() {
    addresses $(section "${2:-$1}" .text) >addresses
    "$llvm" --obj="${2:-$1}" --no-demangle <addresses | stacks >want
    "$framesdump" -m "$1" <addresses | stacks >have
    judge "$1" 1000
}

# Names only, as eu-addr2line tells them for the code of $2.
names_like_elfutils() {
    addresses $(section "$2" .text) >addresses
    eu-addr2line -f -e "$1" <addresses | awk 'NR % 2 == 1' >want
    "$framesdump" -m "$1" <addresses | stacks | sed 's/ .*//' >have
    judge "$1" 1000
}

# ---- compressed. llvm-symbolizer 19 does not read .zdebug_*: it is given
# the same program as it was before.
gcc -O2 -g a.c -o plain
like_llvm plain
gcc -O2 -g -gz=zlib a.c -o zlib
like_llvm zlib
gcc -O2 -g -gz=zlib-gnu a.c -o zdebug
objcopy --decompress-debug-sections zdebug zdebug.plain
like_llvm zdebug zdebug.plain
if have llvm-objcopy-19; then
    llvm-objcopy-19 --compress-debug-sections=zstd plain zstd
    like_llvm zstd
fi

# ---- compressed and damaged: names are left, and the damage is told
damage() {
    set -- "$1" $(readelf -SW "$1" | sed 's/^ *\[ *[0-9]*\] //' |
        awk '$1 ~ /debug_info$/ { print $4 }')
    printf '\377\377\377\377' | dd of="$1" bs=1 seek=$((0x$2 + 24)) \
        conv=notrunc 2>/dev/null
    nm "$1" | awk '$3 == "outer" { print "0x" $1 }' |
        "$framesdump" "$1" >have 2>said
    grep -q '^outer$' have || fail "damaged $1: no name"
    grep -q "$1: .*debug_info+0x[0-9a-f]*: damaged z" said ||
        fail "damaged $1: $(cat said)"
}
for kind in zlib zdebug zstd; do
    [ ! -f $kind ] || damage $kind
done

# ---- MiniDebugInfo: llvm-symbolizer and addr2line do not read it. elfutils
# does; and llvm-symbolizer tells the same names of the unstripped program.
gcc -O2 -g -rdynamic a.c -o mini.whole
strip -g mini.whole -o mini.symbols
strip mini.whole -o mini
nm -D mini.whole --format=posix --defined-only | awk '{ print $1 }' |
    sort >mini.dynamic
nm mini.whole --format=posix --defined-only |
    awk '$2 ~ /^[tT]$/ { print $1 }' | sort | comm -13 mini.dynamic - >mini.keep
objcopy -S --remove-section .gnu_debuglink --remove-section .comment \
    --keep-symbols=mini.keep mini.symbols mini.inner 2>/dev/null
if have xz; then
    xz -c mini.inner >mini.xz
    objcopy --add-section .gnu_debugdata=mini.xz mini
    addresses $(section mini .text) >addresses
    "$llvm" --obj=mini.symbols --no-demangle <addresses | stacks >want
    "$framesdump" -m mini <addresses | stacks >have
    judge mini
    names_like_elfutils mini mini
fi

# ---- in an archive: what is stored is read in place, what is compressed is
# told, and so is what is not there
if have zip; then
    mkdir -p lib
    cp plain lib/stored.so
    cp plain lib/packed.so
    zip -q -0 a.apk lib/stored.so
    zip -q -9 a.apk lib/packed.so
    addresses $(section plain .text) >addresses
    "$llvm" --obj=plain --no-demangle <addresses | stacks >want
    "$framesdump" -m 'a.apk!/lib/stored.so' <addresses | stacks >have
    judge 'a.apk!/lib/stored.so'
    ! "$framesdump" 'a.apk!/lib/packed.so' </dev/null 2>said &&
        grep -q 'packed.so: .* compressed in the archive' said ||
        fail "a compressed member: $(cat said)"
    ! "$framesdump" 'a.apk!/lib/none.so' </dev/null 2>said &&
        grep -q 'none.so: .*no such file in the archive' said ||
        fail "an absent member: $(cat said)"
fi

# ---- without section headers: elfutils alone names functions. What is in
# no symbol it names after the one before; we do not.
headerless() {
    class=$(readelf -h "$1" | sed -n 's/ *Class: *ELF//p')
    cp "$1" "$2"
    if [ "$class" = 64 ]; then
        printf '\0\0\0\0\0\0\0\0' | dd of="$2" bs=1 seek=40 conv=notrunc
        printf '\0\0\0\0\0\0' | dd of="$2" bs=1 seek=58 conv=notrunc
    else
        printf '\0\0\0\0' | dd of="$2" bs=1 seek=32 conv=notrunc
        printf '\0\0\0\0\0\0' | dd of="$2" bs=1 seek=46 conv=notrunc
    fi 2>/dev/null
}
for width in 64 32; do
    for style in sysv gnu; do
        gcc -m$width -O2 -fPIC -shared -Wl,--hash-style=$style \
            -idirafter /usr/include/x86_64-linux-gnu a.c \
            -o with$width$style.so 2>/dev/null || {
            echo "skipped: -m$width: not compiled"
            continue
        }
        headerless with$width$style.so without$width$style.so
        readelf -sDW with$width$style.so >/dev/null
        nm -D --defined-only with$width$style.so |
            awk '$2 == "T" { print "0x" $1 }' >addresses
        eu-addr2line -f -e without$width$style.so <addresses |
            awk 'NR % 2 == 1' >want
        "$framesdump" -m without$width$style.so <addresses | stacks |
            sed 's/ .*//' >have
        judge "without$width$style.so" 4
    done
done

# ---- relocations that a link left and applied (ld -q, a kernel's vmlinux)
gcc -O2 -g -no-pie -Wl,-q a.c -o left
readelf -SW left | grep -q ' \.rela\.debug_info ' || fail "left: no relocations"
like_llvm left

# ---- object files. llvm-symbolizer reads .text only, and takes a symbol of
# any section for the name of the outermost function there: that is left out.
# addr2line reads this machine's relocations only. elfutils names all, but of
# functions that are inlined into each other in pieces it leaves out some and
# repeats others: it is asked where they are few. What lies between functions
# is left out: it may be named after the one before.
elfutils_stacks() {
    eu-addr2line -a -f -i -j "$1" -e "$2" | awk '
        /^0x/ { if (NR > 1) print line; line = ""; next }
        { sub(/ inlined at .*/, ""); sub(/^\?\?:0$/, "??:0:0") }
        { line = line == "" ? $0 : line " " $0 }
        END { print line }'
}
unnamed() {
    awk '{ $(NF - 1) = "-"; print }'
}
object() {
    for name in .text .init.text .text.startup; do
        index=$(readelf -SW "$1" | sed 's/^ *\[ *\([0-9]*\)\] /\1 /' |
            awk -v name=$name '$2 == name { print $1; exit }')
        readelf -sW "$1" | awk -v section="$index" '$4 == "FUNC" &&
            $7 == section { print $2, $3 }' |
            while read -r value size; do
                addresses $((0x$value)) "$size"
            done >addresses
        "$framesdump" -m -j $name "$1" <addresses | stacks >have
        if [ $name = .text ]; then
            "$llvm" --obj="$1" --no-demangle <addresses | stacks |
                unnamed >want
            unnamed <have >have.unnamed
            mv have.unnamed have
            judge "$1 $name" 1000
        else
            elfutils_stacks $name "$1" <addresses >want
            judge "$1 $name" 4
        fi
    done
}
gcc -O2 -g -c a.c -o a.o
object a.o
gcc -O2 -g -gz=zlib -c a.c -o a-zlib.o
object a-zlib.o
gcc -O2 -g -gdwarf-4 -fdebug-types-section -c a.c -o a-types.o
object a-types.o
ld -r a.o -o a.ko
object a.ko
gcc -m32 -idirafter /usr/include/x86_64-linux-gnu -O2 -g -c a.c -o a-32.o \
    2>/dev/null && object a-32.o
for machine in aarch64-linux-gnu arm-linux-gnueabihf; do
    $machine-gcc -O2 -g -c a.c -o $machine.o 2>/dev/null && object $machine.o
done
# Big-endian, with symbols in .opd instead of .text. llvm-symbolizer tells the
# innermost of inlined frames only: where that is has to do.
if powerpc64-linux-gnu-gcc -O2 -g -c a.c -o ppc64.o 2>/dev/null; then
    addresses 0 "$(section ppc64.o .text | sed 's/.* //')" |
        "$framesdump" -j .text ppc64.o | stacks >all
    addresses 0 "$(section ppc64.o .text | sed 's/.* //')" |
        paste -d ' ' - all | grep -v ' ??' >known
    sed 's/ .*//' known >addresses
    sed 's/^[^ ]* //' known >have
    eu-addr2line -j .text -e ppc64.o <addresses >want
    sed -i 's/^[^ ]* \([^ ]*\).*/\1/' have
    judge ppc64.o
fi

echo "$checked answers compared"
exit $failed
