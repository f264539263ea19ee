#!/bin/sh
# code_unwind.sh WINDLASS: rules from the code of a library of assembly without
# call frame information: what they are, what share of the code has them, and
# the table that is built of them.
set -eu
. "$(dirname "$0")/../../lib/have.sh"
windlass=$1
[ "$(uname -m)" = x86_64 ] || skip "not x86-64"
need gcc
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

fail() {
    echo "$*"
    failed=1
}

cat >"$work/lib.s" <<'END'
    .text
    .globl plain, aligned, lost
    .type plain, @function
    .type aligned, @function
    .type lost, @function
    .balign 16
plain:
    push %rbx
    sub $16, %rsp
    mov %rdi, %rbx
    call *%rsi
    add $16, %rsp
    pop %rbx
    ret
    .size plain, . - plain
    .balign 16
aligned:
    mov %rsp, %rax
    and $-64, %rsp
    sub $128, %rsp
    mov %rax, 64(%rsp)
    xor %eax, %eax
    vpxor %xmm0, %xmm0, %xmm0
    mov 64(%rsp), %rsp
    ret
    .size aligned, . - aligned
    .balign 16
lost:
    mov (%rdi), %rsp
    jmp *8(%rdi)
    .size lost, . - lost
    .section .note.GNU-stack,"",@progbits
END
gcc -shared -nostdlib -Wl,--build-id -o "$work/lib.so" "$work/lib.s"
address() {
    nm "$work/lib.so" | awk -v name="$1" '$3 == name { print $1 }'
}

"$windlass" unwind-info --from-code "$work/lib.so" >"$work/out" 2>&1 ||
    fail "unwind-info: $(cat "$work/out")"
for line in '^code: 3 functions' 'rules from code: 50 bytes' \
    'nothing known leads to the caller: 3 bytes' 'not reached: 0 bytes'; do
    grep -q "$line" "$work/out" || fail "no '$line' in: $(cat "$work/out")"
done
"$windlass" unwind-info --from-code --json "$work/lib.so" >"$work/out"
grep -q '"code":{"bytes":53,"made":50,"disagree":0,"lost":3,"unreached":0}' \
    "$work/out" || fail "JSON: $(cat "$work/out")"

# rule NAME OFFSET WANTED
rule() {
    at=$(printf '%x' $((0x$(address "$1") + $2)))
    "$windlass" unwind-info --from-code --lookup "$at" "$work/lib.so" \
        >"$work/out"
    grep -q "$3" "$work/out" || fail "$1+$2: $(cat "$work/out")"
}
rule plain 0 'cfa=oldSP+8 '
rule plain 5 'cfa=oldSP+32 .* BX=\*(cfa-16)'
rule aligned 3 'cfa=oldSP+8 '
rule aligned 21 'cfa=(\*(oldSP+64)+8) '

"$windlass" unwind-table build --from-code "$work/lib.so" -o "$work/t.wut" \
    2>"$work/err" || fail "build: $(cat "$work/err")"
grep -q 'rules from code: 50 of 53 bytes' "$work/err" ||
    fail "build says: $(cat "$work/err")"
"$windlass" unwind-table verify --from-code "$work/lib.so" "$work/t.wut" \
    >"$work/out" 2>"$work/err" || fail "verify: $(cat "$work/err")"
grep -q 'right at all of' "$work/out" || fail "verify: $(cat "$work/out")"

# Without the option there are none, and nothing is shown with it.
if "$windlass" unwind-table build "$work/lib.so" -o "$work/no.wut" \
    2>"$work/err"; then
    fail "a table was built of nothing"
fi
if "$windlass" unwind-table show --from-code "$work/t.wut" 2>"$work/err"; then
    fail "show took --from-code"
fi
exit "$failed"
