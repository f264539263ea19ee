#!/bin/sh
# unwind_info.sh WINDLASS: `windlass unwind-info` of a library whose rules are
# known, of damaged ones, and against GNU readelf on large ones.
#
# What readelf cannot say is made equal first: it has "u" for undefined and for
# no rule alike, and "exp" for any expression; it tells of each row, also where
# nothing that we tell has changed.
set -eu
. "$(dirname "$0")/../../lib/have.sh"
windlass=$1
here=$(dirname "$0")
lib=$here/../../lib
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

fail() {
    echo "$*"
    failed=1
}

[ "$(uname -m)" = x86_64 ] || skip "not x86-64"

# --- every kind of rule

cat >"$work/rules.s" <<'END'
        .text
        .globl simple
simple: .cfi_startproc
        push %rbp
        .cfi_def_cfa_offset 16
        .cfi_offset %rbp, -16
        mov %rsp, %rbp
        .cfi_def_cfa_register %rbp
        push %rbx
        .cfi_offset %rbx, -24
        pop %rbx
        .cfi_restore %rbx
        leave
        .cfi_def_cfa %rsp, 8
        .cfi_restore %rbp
        ret
        .cfi_endproc
        # Nothing covers these 16 bytes.
        .skip 16, 0xcc
        .globl odd
odd:    .cfi_startproc
        .cfi_undefined %rip
        nop
        .cfi_register %rip, %rdi
        nop
        .cfi_restore %rip
        .cfi_undefined %rbx
        .cfi_escape 0x16, 0x06, 0x02, 0x77, 0x10    # RBP is RSP+16
        nop
        .cfi_escape 0x10, 0x06, 0x05, 0x77, 0x10, 0x06, 0x23, 0x08
        .cfi_val_offset %rbx, -32
        nop
        .cfi_escape 0x0f, 0x03, 0x77, 0x08, 0xff    # no such operator
        nop
        .cfi_endproc
        .globl handler
handler: .cfi_startproc
        .cfi_signal_frame
        nop
        .cfi_endproc
END
cc -shared -nostdlib -Wl,--build-id=none -Wl,-Ttext=0x1000 \
    -o "$work/rules.so" "$work/rules.s"

cat >"$work/dump.expected" <<'END'
[0x1000 .. 0x1000]: let cfa=oldSP+8 in RA=*(cfa-8) SP=cfa BP=oldBP BX=oldBX
[0x1001 .. 0x1003]: let cfa=oldSP+16 in RA=*(cfa-8) SP=cfa BP=*(cfa-16) BX=oldBX
[0x1004 .. 0x1004]: let cfa=oldBP+16 in RA=*(cfa-8) SP=cfa BP=*(cfa-16) BX=oldBX
[0x1005 .. 0x1005]: let cfa=oldBP+16 in RA=*(cfa-8) SP=cfa BP=*(cfa-16) BX=*(cfa-24)
[0x1006 .. 0x1006]: let cfa=oldBP+16 in RA=*(cfa-8) SP=cfa BP=*(cfa-16) BX=oldBX
[0x1007 .. 0x1007]: let cfa=oldSP+8 in RA=*(cfa-8) SP=cfa BP=oldBP BX=oldBX
[0x1018 .. 0x1018]: let cfa=oldSP+8 in RA=unknown SP=cfa BP=oldBP BX=oldBX
[0x1019 .. 0x1019]: let cfa=oldSP+8 in RA=oldDI SP=cfa BP=oldBP BX=oldBX
[0x101a .. 0x101a]: let cfa=oldSP+8 in RA=*(cfa-8) SP=cfa BP=oldSP+16 BX=unknown
[0x101b .. 0x101b]: let cfa=oldSP+8 in RA=*(cfa-8) SP=cfa BP=*(*(oldSP+16)+8) BX=cfa-32
[0x101c .. 0x101c]: let cfa=expr{7708ff} in RA=*(cfa-8) SP=cfa BP=*(*(oldSP+16)+8) BX=cfa-32
[0x101d .. 0x101d]: let cfa=oldSP+8 in RA=*(cfa-8) SP=cfa BP=oldBP BX=oldBX (signal frame)
END
cat >"$work/breakpad.expected" <<'END'
STACK CFI INIT 1000 8 .cfa: $rsp 8 + .ra: .cfa 8 - ^
STACK CFI 1001 .cfa: $rsp 16 + $rbp: .cfa 16 - ^
STACK CFI 1004 .cfa: $rbp 16 +
STACK CFI 1005 $rbx: .cfa 24 - ^
STACK CFI 1006 $rbx: $rbx
STACK CFI 1007 .cfa: $rsp 8 + $rbp: $rbp
STACK CFI INIT 1018 5 .cfa: $rsp 8 + .ra: .undef
STACK CFI 1019 .ra: $rdi
STACK CFI 101a .ra: .cfa 8 - ^ $rbx: .undef $rbp: $rsp 16 +
STACK CFI 101b $rbx: .cfa 32 - $rbp: $rsp 16 + ^ 8 + ^
STACK CFI 101c .cfa: .undef
STACK CFI INIT 101d 1 .cfa: $rsp 8 + .ra: .cfa 8 - ^
END
cat >"$work/sums.expected" <<'END'
.eh_frame: 3 functions, 12 rows, 12 ranges, 10 distinct rules
CFI covers 46.6 % of .text (14 of 30 bytes)
rows, by how the caller is found:
  by the stack or frame pointer: 6
  outermost frames: 1
  by all registers (slow): 5
rejected: nothing
END
cat >"$work/lookup.expected" <<'END'
0x1005: function [0x1000 .. 0x1007], .eh_frame+0x18
[0x1005 .. 0x1005]: let cfa=oldBP+16 in RA=*(cfa-8) SP=cfa BP=*(cfa-16) BX=*(cfa-24)
0x1008: no call frame information
END

# same NAME OPTIONS...
same() {
    name=$1
    shift
    "$windlass" unwind-info "$@" "$work/rules.so" >"$work/$name"
    diff "$work/$name.expected" "$work/$name" || fail "$name differs (> ours)"
}
same dump --dump
same breakpad --breakpad
same sums
same lookup --lookup 1005 --lookup 0x1008

"$windlass" unwind-info --json --lookup 1005 "$work/rules.so" |
    python3 -c '
import json, sys
j = json.load(sys.stdin)
assert j["rows"] == 12 and j["rules"] == 10 and j["functions"] == 3, j
assert j["sections"] == [
    {"name": ".text", "start": 4096, "bytes": 30, "covered": 14}], j
assert j["lookups"][0]["rule"].startswith("let cfa=oldBP+16 in "), j
assert all(r["count"] == 0 for r in j["rejected"].values()), j
' || fail "the JSON differs"

# --- damage loses what is damaged, and says where

# damage NAME OFFSET BYTES: a copy with bytes of its .eh_frame overwritten.
at=$(readelf -SW "$work/rules.so" |
    sed -n 's/.* \.eh_frame  *[A-Z]*  *[0-9a-f]* \([0-9a-f]*\) .*/\1/p')
damage() {
    cp "$work/rules.so" "$work/$1.so"
    printf '%b' "$3" | dd of="$work/$1.so" bs=1 conv=notrunc \
        seek=$((0x$at + $2)) 2>/dev/null
    "$windlass" unwind-info "$work/$1.so" >"$work/out" ||
        fail "$1 is not read at all"
    "$windlass" unwind-info --dump "$work/$1.so" >/dev/null 2>"$work/err"
    grep -q 'some of it was rejected' "$work/err" || fail "$1: nothing said"
}
# The first FDE points to no CIE.
damage cie 28 '\377'
grep -q "damaged records: 1; first: .*cie.so: .eh_frame+0x18: an FDE points" \
    "$work/out" || fail "damaged record"
grep -q '2 functions, 6 rows' "$work/out" || fail "the rest is lost"
# A length beyond the section.
damage length 24 '\377\377'
grep -q 'damaged records: 1; first: .*a record is longer' "$work/out" ||
    fail "damaged length"
# An unknown augmentation in the first CIE, which two of three use.
damage augmentation 10 'Q'
grep -q 'records of an unsupported kind: 2; first: ' "$work/out" || fail "augmentation"
# An instruction that there is none of, behind the first two rows.
damage program 42 '\077'
grep -q 'damaged programs: 1, [0-9]* bytes of code; first: ' "$work/out" ||
    fail "damaged program"

for file in "$work/rules.s" /dev/null "$work"; do
    "$windlass" unwind-info "$file" >"$work/out" 2>"$work/err" &&
        fail "$file is no binary"
    grep -q "^windlass: error: .*$file" "$work/err" || fail "$file: no error"
done
cc -c -o "$work/rules.o" "$work/rules.s"
"$windlass" unwind-info "$work/rules.o" 2>&1 | grep -q 'not a program' ||
    fail "an object file"
"$windlass" unwind-info --dump --json "$work/rules.so" 2>/dev/null &&
    fail "options that exclude each other"
"$windlass" unwind-info --lookup zz "$work/rules.so" 2>/dev/null &&
    fail "not an address"

# --- large ones, against readelf

# Neighbours of one rule as one.
merge='{
    at = $1; end = $2
    rule = substr($0, length($1) + length($2) + 3)
    if (at == last && rule == before) { last = end; next }
    if (NR > 1) print from, last, before
    from = at; last = end; before = rule
}
END { print from, last, before }'

libs=$(ldconfig -p | sed -n \
    's/^\t\(libc\.so\.6\|libstdc++\.so\.6\) .*=> //p' |
    grep -v -e /libx32/ -e '/lib32/')
for file in $libs /usr/bin/python3; do
    have "$file" || continue
    wide=1
    readelf -h "$file" | grep -q 'Class: *ELF32' && wide=0
    readelf --debug-dump=frames-interp "$file" 2>/dev/null |
        awk -v section=.eh_frame -f "$lib/readelf_rows.awk" >"$work/rows"

    "$windlass" unwind-info --dump "$file" |
        awk -f "$lib/let_dump.awk" | awk "$merge" >"$work/ours"
    awk -f "$lib/let_rows.awk" "$work/rows" | LC_ALL=C sort -n |
        awk "$merge" >"$work/theirs"
    diff "$work/ours" "$work/theirs" >"$work/diff" || {
        fail "$file: rules differ from readelf (< ours):"
        head -n 10 "$work/diff"
    }

    base=$(readelf -lW "$file" | awk '$1 == "LOAD" { print $3; exit }')
    if [ "$base" = 0x0000000000000000 ] || [ "$base" = 0x00000000 ]; then
        "$windlass" unwind-info --breakpad "$file" |
            awk -v wide=$wide -f "$lib/stack_cfi_rows.awk" |
            LC_ALL=C sort >"$work/ours"
        # Rows that say nothing new are not in ours.
        grep -v ' FDE ' "$work/rows" | sed -E \
            -e 's/ [A-Z0-9]+=(same|exp|\[exp\])(,|$)//g' -e 's/,$//' \
            -e 's/(CFA=[^ ]*:)$/\1 /' |
            LC_ALL=C sort >"$work/theirs"
        LC_ALL=C comm -23 "$work/ours" "$work/theirs" >"$work/diff"
        [ ! -s "$work/diff" ] || {
            fail "$file: STACK CFI differs from readelf:"
            head -n 10 "$work/diff"
        }
    fi
    echo "$file: $(wc -l <"$work/rows") rows"
done
exit $failed
