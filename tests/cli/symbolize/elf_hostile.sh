#!/bin/sh
# SPDX-License-Identifier: MIT
# Files made to cost: sections that lie in a sparse file of 4 GB, and a
# compressed section that claims much. Each must end with what is left, say
# where the damage is, and take no more memory than small files do.
#
#     elf_hostile.sh FRAMESDUMP SOURCES
set -eu
. "$(dirname "$0")/../../lib/have.sh"
export LC_ALL=C
framesdump=$1
need gcc readelf nm truncate
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$2/elf_variants.c" "$work/a.c"
cd "$work"
failed=0
gcc -O2 -g a.c -o plain
readelf -h plain | grep -q 'Class: *ELF64' || skip "not 64-bit"
inside=$(nm plain | awk '$3 == "outer" { print "0x" $1 }')
headers=$(readelf -h plain |
    sed -n 's/.*Start of section headers: *\([0-9]*\).*/\1/p')

# Sanitizers need more than any limit.
limit=400000
! nm "$framesdump" 2>/dev/null | grep -q '__[at]san_init' || limit=

# $2, of eight bytes, little-endian, to offset $3 of $1.
patch() {
    i=0
    value=$2
    while [ $i -lt 8 ]; do
        # shellcheck disable=SC2059
        printf "\\$(printf %03o $((value & 255)))"
        value=$((value >> 8))
        i=$((i + 1))
    done | dd of="$1" bs=1 seek="$3" conv=notrunc 2>/dev/null
}
size_field() {
    index=$(readelf -SW plain |
        sed -n "s/^ *\[ *\([0-9]*\)\] \\$1 .*/\1/p" | head -n 1)
    echo $((headers + 64 * index + 32))
}

# Two addresses, one that no debug information covers; memory of the program
# itself, not of the file's pages, is limited.
ask() {
    printf '%s\n0x1\n' "$inside" >addresses
    (
        [ -z "$limit" ] || ulimit -d "$limit"
        exec "$framesdump" "$1" <addresses >answers 2>said
    ) || {
        echo "FAIL $2: status $?, $(cat said)"
        failed=1
    }
    grep -q '^outer$' answers || {
        echo "FAIL $2: $(head -n 3 answers)"
        failed=1
    }
}
told() {
    grep -q "$2" said || {
        echo "FAIL $1: told '$(cat said)' instead of '$2'"
        failed=1
    }
}

for name in .debug_info .debug_abbrev .debug_line .debug_str .debug_aranges \
    .debug_rnglists .debug_line_str; do
    field=$(size_field $name)
    readelf -SW plain | grep -q " \\$name " || continue
    # Zeros to the end of a file that is large enough, but has holes.
    cp plain large
    truncate -s 4G large || skip "no files of 4 GiB"
    patch large 4000000000 "$field"
    ask large "sparse $name"
    # More than the file has.
    cp plain short
    patch short 4000000000 "$field"
    ask short "short $name"
    told "short $name" "short: \\$name+0x0: .*past the end of the file"
done

# A symbol table of zeros is one of symbols that are nowhere.
cp plain large
truncate -s 4G large
patch large 64000000 "$(size_field .symtab)"
printf '%s\n' "$inside" | "$framesdump" large >answers 2>said
grep -q 'a\.c:' answers || {
    echo "FAIL sparse .symtab: $(cat answers)"
    failed=1
}
rm -f large

# A compressed section that claims more than its bytes can give.
gcc -O2 -g -gz=zlib a.c -o bomb
offset=$(readelf -SW bomb | sed 's/^ *\[ *[0-9]*\] //' |
    awk '$1 == ".debug_info" { print $4 }')
patch bomb 300000000 $((0x$offset + 8))
ask bomb "bomb"
told bomb 'bomb: \.debug_info+0x0: claims to inflate to more than'

exit $failed
