#!/bin/sh
# unwind_aarch64.sh WINDLASS: `windlass unwind-info` and `unwind-table` of
# AArch64: of a library whose rules are known, and against GNU readelf on
# Debian's libraries. cfi_vs_readelf.sh holds the rows against llvm-dwarfdump,
# which knows more than readelf.
set -eu
. "$(dirname "$0")/../../lib/have.sh"
windlass=$1
here=$(dirname "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

fail() {
    echo "$*"
    failed=1
}

need aarch64-linux-gnu-gcc

# --- every kind of rule

cat >"$work/rules.s" <<'END'
        .text
        .globl framed
framed: .cfi_startproc
        paciasp
        .cfi_negate_ra_state
        stp x29, x30, [sp, -32]!
        .cfi_def_cfa_offset 32
        .cfi_offset x29, -32
        .cfi_offset x30, -24
        mov x29, sp
        .cfi_def_cfa_register x29
        str x19, [sp, 16]
        .cfi_offset x19, -16
        .cfi_remember_state
        ldp x29, x30, [sp], 32
        .cfi_def_cfa sp, 0
        .cfi_restore x29
        .cfi_restore x30
        .cfi_restore x19
        autiasp
        .cfi_negate_ra_state
        ret
        .cfi_restore_state
        nop
        .cfi_endproc
        # Nothing covers these 32 bytes.
        .skip 32
        .globl odd
odd:    .cfi_startproc
        .cfi_undefined x30
        nop
        .cfi_register x30, x9
        nop
        .cfi_offset x30, -16    // alone
        .cfi_def_cfa_offset 16
        nop
        .cfi_def_cfa x12, 65536
        nop
        .cfi_def_cfa sp, 65536
        nop
        .cfi_offset x29, -2000
        nop
        .cfi_escape 0x0f, 0x03, 0x8f, 0x08, 0x06    // CFA = *(SP+8)
        nop
        .cfi_escape 0x10, 0x1e, 0x02, 0x8d, 0x10    // x30 at FP+16
        nop
        .cfi_endproc
END
aarch64-linux-gnu-gcc -shared -nostdlib -Wa,-march=armv8.3-a \
    -Wl,-Ttext=0x10000 -o "$work/rules.so" "$work/rules.s"

cat >"$work/dump.expected" <<'END'
[0x10000 .. 0x10003]: let cfa=oldSP in RA=oldLR SP=cfa FP=oldFP
[0x10004 .. 0x10007]: let cfa=oldSP in RA=oldLR SP=cfa FP=oldFP (RA signed)
[0x10008 .. 0x1000b]: let cfa=oldSP+32 in RA=*(cfa-24) SP=cfa FP=*(cfa-32) (RA signed)
[0x1000c .. 0x10013]: let cfa=oldFP+32 in RA=*(cfa-24) SP=cfa FP=*(cfa-32) (RA signed)
[0x10014 .. 0x10017]: let cfa=oldSP in RA=oldLR SP=cfa FP=oldFP (RA signed)
[0x10018 .. 0x1001b]: let cfa=oldSP in RA=oldLR SP=cfa FP=oldFP
[0x1001c .. 0x1001f]: let cfa=oldFP+32 in RA=*(cfa-24) SP=cfa FP=*(cfa-32) (RA signed)
[0x10040 .. 0x10043]: let cfa=oldSP in RA=unknown SP=cfa FP=oldFP
[0x10044 .. 0x10047]: let cfa=oldSP in RA=oldX9 SP=cfa FP=oldFP
[0x10048 .. 0x1004b]: let cfa=oldSP+16 in RA=*(cfa-16) SP=cfa FP=oldFP
[0x1004c .. 0x1004f]: let cfa=oldX12+65536 in RA=*(cfa-16) SP=cfa FP=oldFP
[0x10050 .. 0x10053]: let cfa=oldSP+65536 in RA=*(cfa-16) SP=cfa FP=oldFP
[0x10054 .. 0x10057]: let cfa=oldSP+65536 in RA=*(cfa-16) SP=cfa FP=*(cfa-2000)
[0x10058 .. 0x1005b]: let cfa=*(oldSP+8) in RA=*(cfa-16) SP=cfa FP=*(cfa-2000)
[0x1005c .. 0x1005f]: let cfa=*(oldSP+8) in RA=*(oldFP+16) SP=cfa FP=*(cfa-2000)
END
cat >"$work/breakpad.expected" <<'END'
STACK CFI INIT 10000 20 .cfa: sp .ra: x30
STACK CFI 10008 .cfa: sp 32 + .ra: .cfa 24 - ^ x29: .cfa 32 - ^
STACK CFI 1000c .cfa: x29 32 +
STACK CFI 10010 x19: .cfa 16 - ^
STACK CFI 10014 .cfa: sp .ra: x30 x19: x19 x29: x29
STACK CFI 1001c .cfa: x29 32 + .ra: .cfa 24 - ^ x19: .cfa 16 - ^ x29: .cfa 32 - ^
STACK CFI INIT 10040 20 .cfa: sp .ra: .undef
STACK CFI 10044 .ra: x9
STACK CFI 10048 .cfa: sp 16 + .ra: .cfa 16 - ^
STACK CFI 1004c .cfa: x12 65536 +
STACK CFI 10050 .cfa: sp 65536 +
STACK CFI 10054 x29: .cfa 2000 - ^
STACK CFI 10058 .cfa: sp 8 + ^
STACK CFI 1005c .ra: x29 16 + ^
END
cat >"$work/sums.expected" <<'END'
.eh_frame: 2 functions, 16 rows, 15 ranges, 12 distinct rules
CFI covers 66.6 % of .text (64 of 96 bytes)
rejected: nothing
END
cat >"$work/lookup.expected" <<'END'
0x10009: function [0x10000 .. 0x1001f], .eh_frame+0x14
[0x10008 .. 0x1000b]: let cfa=oldSP+32 in RA=*(cfa-24) SP=cfa FP=*(cfa-32) (RA signed)
0x10020: no call frame information
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
same lookup --lookup 10009 --lookup 0x10020
"$windlass" unwind-info --json --lookup 10009 "$work/rules.so" |
    python3 -c '
import json, sys
j = json.load(sys.stdin)
assert j["rows"] == 16 and j["functions"] == 2, j
assert j["lookups"][0]["rule"].endswith(" FP=*(cfa-32) (RA signed)"), j
assert all(r["count"] == 0 for r in j["rejected"].values()), j
' || fail "the JSON differs"

# The same rules by a table, but for what is between functions.
"$windlass" unwind-table build "$work/rules.so" -o "$work/rules.wut" \
    2>"$work/err" || fail "build: $(cat "$work/err")"
"$windlass" unwind-table show --dump "$work/rules.wut" |
    grep -v 'no information' >"$work/dump"
diff "$work/dump.expected" "$work/dump" || fail "the table's rows differ"

# The toggle of signing is another machine's instruction elsewhere.
if cc -shared -nostdlib -o "$work/x86.so" -x assembler - <<'END'
        .globl f
f:      .cfi_startproc
        .cfi_escape 0x2d
        ret
        .cfi_endproc
END
then
    [ "$(uname -m)" != x86_64 ] ||
        "$windlass" unwind-info "$work/x86.so" | grep -q 'damaged programs: 1' ||
        fail "x86-64 knows the signing of return addresses"
fi

# --- rules from code without call frame information

cat >"$work/code.s" <<'END'
        .text
        .globl framed, spare, lost
        .type framed, %function
        .type spare, %function
        .type lost, %function
framed: stp x29, x30, [sp, -32]!
        mov x29, sp
        str x19, [sp, 16]
        mov x19, x0
        blr x1
        ldr x19, [sp, 16]
        ldp x29, x30, [sp], 32
        ret
        .size framed, . - framed
spare:  mov x15, x30
        bl 1f
        ret x15
1:      add x0, x0, 1
        ret
        .size spare, . - spare
lost:   ldr x9, [x0]
        mov sp, x9
        ldr x30, [x0, 8]
        br x30
        .size lost, . - lost
END
aarch64-linux-gnu-gcc -shared -nostdlib -Wl,--build-id -Wl,-Ttext=0x10000 \
    -o "$work/code.so" "$work/code.s"
"$windlass" unwind-info --from-code --json "$work/code.so" >"$work/out"
grep -q '"code":{"bytes":68,"made":60,"disagree":0,"lost":8,"unreached":0}' \
    "$work/out" || fail "shares: $(cat "$work/out")"
"$windlass" unwind-info --from-code --lookup 1000c --lookup 10028 \
    "$work/code.so" >"$work/out" 2>"$work/err"
for rule in 'cfa=oldFP+32 in RA=\*(cfa-24) SP=cfa FP=\*(cfa-32)' \
    'cfa=oldSP in RA=oldX15 SP=cfa FP=oldFP'; do
    grep -q "$rule" "$work/out" || fail "no $rule: $(cat "$work/out")"
done
"$windlass" unwind-table build --from-code "$work/code.so" \
    -o "$work/code.wut" 2>"$work/err" || fail "build: $(cat "$work/err")"
"$windlass" unwind-table verify --from-code "$work/code.so" \
    "$work/code.wut" >"$work/out" 2>"$work/err" || fail "$(cat "$work/out")"

# --- large ones, against readelf

cat >"$work/a.c" <<'END'
int g(void *a);
int locals(int n) { volatile int a[20]; a[n] = 1; return a[n + 1]; }
int vla(int n) { int a[n]; return g(a) + g(a); }
int big(int n) { char a[70000]; return g(a) + n; }
int huge(int n) { char a[1700000]; return g(a) + n; }
END
aarch64-linux-gnu-gcc -O2 -mbranch-protection=pac-ret -shared -nostdlib -fPIC \
    -fstack-clash-protection -o "$work/a.so" "$work/a.c"
aarch64-linux-gnu-gcc -O2 -fno-asynchronous-unwind-tables -fno-unwind-tables \
    -g -shared -nostdlib -fPIC -o "$work/debug_frame.so" "$work/a.c"

libs=/usr/aarch64-linux-gnu/lib
for file in "$work/a.so" "$work/debug_frame.so" "$libs/libc.so.6" \
    "$libs/libstdc++.so.6" "$libs/ld-linux-aarch64.so.1"; do
    have "$file" || continue
    "$windlass" unwind-table build "$file" -o "$work/table.wut" 2>"$work/err" ||
        fail "$file: build: $(cat "$work/err")"
    "$windlass" unwind-table verify "$file" "$work/table.wut" >"$work/out" ||
        fail "$file: verify: $(cat "$work/out")"
    "$windlass" unwind-table show "$work/table.wut" >"$work/out"
    grep -q '^unwind table, version 2, AArch64, build-id [0-9a-f]' \
        "$work/out" || fail "show says: $(head -n 1 "$work/out")"
    readelf -wF "$file" >"$work/rows" 2>/dev/null || true
    "$windlass" unwind-table show --dump "$work/table.wut" >"$work/dump"
    python3 "$here/../../oracle/unwind_table_vs_readelf.py" "$work/dump" "$work/rows" 10 ||
        fail "$file: the table's rows are not readelf's"
    "$windlass" unwind-info --dump "$file" >"$work/dump"
    python3 "$here/../../oracle/unwind_table_vs_readelf.py" "$work/dump" "$work/rows" 10 ||
        fail "$file: the rows are not readelf's"

    [ "$file" != "$work/debug_frame.so" ] || continue
    readelf --debug-dump=frames-interp "$file" 2>/dev/null |
        awk -v section=.eh_frame -v a64=1 -f "$here/../../lib/readelf_rows.awk" |
        grep -v ' FDE ' | sed -E \
            -e 's/ [A-Z0-9]+=(same|exp|\[exp\])(,|$)//g' -e 's/,$//' \
            -e 's/(CFA=[^ ]*:)$/\1 /' | LC_ALL=C sort >"$work/theirs"
    "$windlass" unwind-info --breakpad "$file" |
        awk -v a64=1 -f "$here/../../lib/stack_cfi_rows.awk" |
        LC_ALL=C sort >"$work/ours"
    [ "$(wc -l <"$work/ours")" -gt 10 ] || fail "$file: no STACK CFI"
    # Rows that say nothing new are not in ours.
    LC_ALL=C comm -23 "$work/ours" "$work/theirs" >"$work/diff"
    [ ! -s "$work/diff" ] || {
        fail "$file: STACK CFI differs from readelf:"
        head -n 10 "$work/diff"
    }
done
exit $failed
