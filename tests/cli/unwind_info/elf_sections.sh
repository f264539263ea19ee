#!/bin/sh
# elf_sections.sh WINDLASS: all call frame information that ELF files have: both
# sections, that of the debug file, and that of files without section headers.
set -eu
. "$(dirname "$0")/../../lib/have.sh"
windlass=$(realpath "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
unset WINDLASS_DEBUG_DIRS || true

fail() {
    echo "$*"
    exit 1
}

[ "$(uname -m)" = x86_64 ] || skip "not x86-64"
need gcc python3

# --- .debug_frame for the code that .eh_frame leaves out

cat >two.c <<'END'
__attribute__((noinline)) int inner(int x)
{
    volatile char room[333];
    room[x % 333] = 1;
    return room[3];
}
int outer(int x) { return inner(x) + 1; }
END
echo 'int other(int x) { volatile char room[99]; room[x % 99] = 1; return room[3]; }' \
    >other.c
none="-fno-asynchronous-unwind-tables -fno-unwind-tables"
flags="-g -O2 -fPIC -fomit-frame-pointer -fcf-protection=none"
gcc $flags $none -c two.c
gcc $flags -c other.c
gcc -nostdlib -shared -Wl,--build-id -Wl,-Bsymbolic two.o other.o -o both.so
start_of() { nm both.so | awk -v name="$1" '$3 == name { print "0x" $1 }'; }

# rule_of NAME FILE: what the rules say of the function's 32nd byte.
rule_of() {
    at=$(printf %x $(($(start_of "$1") + 32)))
    "$windlass" unwind-info --lookup "$at" "$2"
}
rule_of inner both.so | grep -q 'cfa=oldSP+' ||
    fail "inner: $(rule_of inner both.so)"
rule_of inner both.so | grep -q ', .debug_frame+0x' ||
    fail "inner's record: $(rule_of inner both.so)"
rule_of other both.so | grep -q ', .eh_frame+0x' ||
    fail "other's record: $(rule_of other both.so)"
"$windlass" unwind-info both.so | head -1 |
    grep -q '^.eh_frame and .debug_frame: 3 functions' ||
    fail "both: $(LC_ALL=C "$windlass" unwind-info both.so)"
"$windlass" unwind-info both.so | grep -q '^rejected: nothing' || fail "rejected"
"$windlass" unwind-table build both.so -o both.wut 2>said
grep -q 'of .eh_frame and .debug_frame' said || fail "table: $(cat said)"
"$windlass" unwind-table verify both.so both.wut >said || fail "verify: $(cat said)"

# Where both have rules, those of .eh_frame are used.
gcc -c -x assembler - -o twice.o <<'END'
        .text
        .cfi_sections .eh_frame, .debug_frame
        .globl twice
twice:  .cfi_startproc
        sub $24, %rsp
        .cfi_def_cfa_offset 32
        call *%rax
        add $24, %rsp
        .cfi_def_cfa_offset 8
        ret
        .cfi_endproc
END
gcc -nostdlib -shared twice.o -o twice.so
"$windlass" unwind-info twice.so | head -1 | grep -q '^.eh_frame: 1 functions' ||
    fail "twice: $("$windlass" unwind-info twice.so)"

# --- .debug_frame of the debug file

"$windlass" unwind-info --dump both.so >expected
"$windlass" dump-syms both.so | grep '^STACK' >expected.sym
objcopy --only-keep-debug both.so both.debug
cp both.so bare.so
strip bare.so
"$windlass" unwind-info bare.so | head -1 | grep -q '^.eh_frame: 1 functions' ||
    fail "stripped: $("$windlass" unwind-info bare.so)"
id=$(readelf -n both.so | awk '/Build ID:/ { print $3 }')
rest=${id#??}
mkdir -p "debug/.build-id/${id%"$rest"}"
cp both.debug "debug/.build-id/${id%"$rest"}/$rest.debug"
WINDLASS_DEBUG_DIRS=debug "$windlass" unwind-info --dump bare.so >seen
cmp -s expected seen || fail "by build-id: $(diff expected seen)"
WINDLASS_DEBUG_DIRS=debug "$windlass" unwind-table build bare.so -o bare.wut 2>said
cmp -s both.wut bare.wut || fail "another table: $(cat said)"
"$windlass" dump-syms --debug-dir debug bare.so | grep '^STACK' >seen
cmp -s expected.sym seen || fail "dump-syms: $(diff expected.sym seen)"
rm -r debug
objcopy --add-gnu-debuglink=both.debug bare.so
mkdir .debug
mv both.debug .debug
"$windlass" unwind-info --dump bare.so >seen
cmp -s expected seen || fail "by debuglink: $(diff expected seen)"
echo damage >>.debug/both.debug
"$windlass" unwind-info bare.so | head -1 | grep -q '^.eh_frame: 1 functions' ||
    fail "a damaged debug file was used"

# --- files without section headers

gcc $flags -shared other.c -o headed.so
python3 - <<'END'
import struct
data = bytearray(open("headed.so", "rb").read())
struct.pack_into("<Q", data, 40, 0)  # e_shoff
struct.pack_into("<HHH", data, 58, 64, 0, 0)
open("headless.so", "wb").write(data)
END
for what in --dump --breakpad; do
    "$windlass" unwind-info $what headed.so >expected
    "$windlass" unwind-info $what headless.so >seen
    cmp -s expected seen || fail "headless $what: $(diff expected seen)"
done
"$windlass" dump-syms headed.so | grep '^STACK' >expected
"$windlass" dump-syms headless.so | grep '^STACK' >seen
cmp -s expected seen || fail "headless symbols: $(diff expected seen)"
"$windlass" unwind-table build headless.so -o headless.wut 2>said ||
    fail "headless table: $(cat said)"
"$windlass" unwind-table verify headed.so headless.wut >said ||
    fail "headless table: $(cat said)"
