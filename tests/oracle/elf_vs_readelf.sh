#!/bin/sh
# SPDX-License-Identifier: MIT
# Differential check of src/obj against readelf: identity, sections, segments,
# function symbols and inflated contents, on binaries of this machine and on
# small ones of other classes and byte orders, as far as there are compilers.
#
#     elf_vs_readelf.sh ELFDUMP
set -eu
. "$(dirname "$0")/../lib/have.sh"
export LC_ALL=C
elfdump=$1
need readelf
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
checked=0

# Hexadecimal numbers without leading zeros, of either origin.
awk_lib='
function short(hex) {
    hex = tolower(hex); sub(/^0x/, "", hex); sub(/^0+/, "", hex)
    return hex == "" ? "0" : hex
}
function value(text,    i, n) {
    if (text !~ /^0x/) return text
    for (i = 3; i <= length(text); i++)
        n = n * 16 + index("0123456789abcdef", substr(text, i, 1)) - 1
    return n
}'

# INDEX NAME ADDRESS OFFSET SIZE; of compressed ones no size, since readelf
# tells the stored one and elfdump the inflated one.
sections_of_readelf() {
    readelf -SW "$1" | sed -n 's/^ *\[ *\([1-9][0-9]*\)\] /\1 /p' |
        sed 's/SYMTAB SECTION INDICES/SYMTAB_SHNDX/' |
        awk "$awk_lib"' {
            packed = NF > 10 && $8 ~ /C/ || $2 ~ /^\.zdebug_/
            print $1, $2, short($4), short($5), packed ? "-" : short($6)
        }'
}
sections_of_elfdump() {
    "$elfdump" sections "$1" | awk "$awk_lib"' $1 != 0 {
        flags = "000" $7
        packed = substr(flags, length(flags) - 2, 1) ~ /[89a-f]/ ||
            $2 ~ /^\.zdebug_/
        print $1, $2, short($4), short($5), packed ? "-" : short($6)
    }'
}

segments_of_readelf() {
    readelf -lW "$1" | awk "$awk_lib"' $1 == "LOAD" {
        print "LOAD", short($2), short($3), short($5), short($6),
            $0 ~ / [R ][W ]E / ? "E" : "-"
    }'
}
segments_of_elfdump() {
    "$elfdump" segments "$1"
}

# ADDRESS SIZE NAME of every defined function: .symtab, else .dynsym, where
# readelf appends the version to the name.
functions_of_readelf() {
    table=.dynsym
    readelf -SW "$1" | grep -q ' SYMTAB ' && table=.symtab
    readelf -sW "$1" | awk -v table="'$table'" "$awk_lib"'
        $1 == "Symbol" { wanted = index($0, table) != 0 }
        wanted && ($4 == "FUNC" || $4 == "IFUNC") && $7 != "UND" && NF > 7 {
            name = $8
            if (table ~ /dynsym/) sub(/@.*/, "", name)
            print short($2), value($3), name
        }' | sort
}
functions_of_elfdump() {
    "$elfdump" functions "$1" 2>/dev/null |
        awk "$awk_lib"' { print short($1), $2, $3 }' | sort
}

identity_of_readelf() {
    readelf -hW "$1" 2>/dev/null | awk '
        $1 == "Class:" { print tolower($2) }
        $1 == "Data:" { print "order", $0 ~ /big/ ? "big" : "little" }'
    readelf -nW "$1" 2>/dev/null |
        sed -n 's/.*Build ID: \([0-9a-f]*\)$/build-id \1/p' | head -n 1
    readelf --debug-dump=links "$1" 2>/dev/null | awk "$awk_lib"'
        $1 == "Separate" && $2 == "debug" { name = $NF }
        $1 == "CRC" { print "debuglink", name, short($3) }'
}
identity_of_elfdump() {
    "$elfdump" identity "$1" | awk "$awk_lib"'
        $1 == "class" { class = "elf" $2 }
        $1 == "build-id" && $2 != "" { id = $0 }
        $1 == "order" { print class; print; if (id != "") print id }
        $1 == "debuglink" { print $1, $2, short($3) }'
}

compare() {
    for what in identity sections segments functions; do
        ${what}_of_readelf "$1" >"$work/want"
        ${what}_of_elfdump "$1" >"$work/have"
        if ! cmp -s "$work/want" "$work/have"; then
            echo "FAIL $what of $1"
            diff "$work/want" "$work/have" | head -n 10
            failed=1
        fi
        checked=$((checked + $(wc -l <"$work/want")))
    done
}

# The contents of $2 in $1 as objcopy inflates them.
compare_inflated() {
    objcopy --decompress-debug-sections "$1" "$work/plain" 2>/dev/null ||
        return 0
    objcopy --dump-section "$2=$work/want" "$work/plain" "$work/unused"
    "$elfdump" bytes "$1" "$2" >"$work/have" || :
    if ! cmp "$work/want" "$work/have"; then
        echo "FAIL contents of $2 in $1"
        failed=1
    fi
    checked=$((checked + 1))
}

for file in /usr/bin/xz /usr/bin/sqlite3 /lib/x86_64-linux-gnu/libc.so.6 \
    "$(gcc -print-prog-name=cc1plus 2>/dev/null || :)" "$elfdump"; do
    ! have "$file" || compare "$file"
done

cat >"$work/a.c" <<'END'
static int twice(int x) { return x * 2; }
int table[100];
__attribute__((weak)) int shared(int x) { return twice(x) + table[x]; }
int main(int argc, char **argv) { (void)argv; return shared(argc); }
END
make_with() {
    out=$work/$1
    shift
    "$@" "$work/a.c" -o "$out" 2>/dev/null || {
        echo "skipped: $*: not compiled"
        return 0
    }
    compare "$out"
}
make_with plain gcc -g
make_with static gcc -g -static -no-pie
make_with zlib gcc -g -gz=zlib
make_with zdebug gcc -g -gz=zlib-gnu
make_with sections gcc -g -ffunction-sections -fdata-sections -c
make_with i386.o gcc -g -m32 -c
make_with mips.o clang --target=mips-linux-gnu -g -c
make_with mips64.o clang --target=mips64-linux-gnu -g -gz=zlib -c
make_with s390.o clang --target=s390x-linux-gnu -g -gz=zlib -c
make_with ppc.o clang --target=powerpc-linux-gnu -g -c
for file in zlib zdebug s390.o; do
    for section in .debug_info .debug_line .debug_str; do
        [ ! -f "$work/$file" ] || compare_inflated "$work/$file" $section
    done
done

# More sections than 16 bits can count, and their names' index too.
awk 'BEGIN { for (i = 0; i < 66000; i++)
    printf "void f%d(void) {}\n", i }' >"$work/many.c"
if gcc -w -O0 -ffunction-sections -fno-asynchronous-unwind-tables -c \
    "$work/many.c" -o "$work/many.o" 2>/dev/null; then
    compare "$work/many.o"
fi

echo "$checked lines compared"
exit $failed
