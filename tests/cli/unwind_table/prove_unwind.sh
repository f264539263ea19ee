#!/bin/sh
# prove_unwind.sh WINDLASS: unwind rules against the calls of programs that run
# step by step: rules from code that has no others are right, and call frame
# information that leaves out a push is found to be wrong.
set -eu
. "$(dirname "$0")/../../lib/have.sh"
windlass=$1
[ "$(uname -m)" = x86_64 ] || skip "not x86-64"
need gcc
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
failed=0

fail() {
    echo "$*"
    failed=1
}

cat >main.c <<'END'
long step(long (*call)(long), long n);
static volatile long sink;

__attribute__((noinline)) static long inner(long n)
{
    volatile char room[64];
    room[n % 64] = 1;
    return n * 3 + room[n % 64];
}

int main(void)
{
    for (long i = 0;; i++)
        sink += step(inner, i);
}
END
# Without CFI; and with one that does not say what its pushes do.
cat >step.s <<'END'
    .text
    .globl step
    .type step, @function
step:
    BEGIN
    push %rbx
    push %rbp
    sub $24, %rsp
    mov %rdi, %rax
    mov %rsi, %rdi
    mov %rsi, %rbx
    xor %ebp, %ebp
    .rept 12
    add $1, %rbx
    .endr
    call *%rax
    add %rbx, %rax
    add $24, %rsp
    pop %rbp
    pop %rbx
    ret
    END
    .size step, . - step
    .section .note.GNU-stack,"",@progbits
END
sed '/BEGIN/d; /END/d' step.s >honest.s
sed 's/BEGIN/.cfi_startproc/; s/END/.cfi_endproc/' step.s >liar.s
for name in honest liar; do
    gcc -O1 -fcf-protection=none -o $name main.c $name.s
done

# prove STATUS OPERAND...: in ./out
prove() {
    wanted=$1
    shift
    status=0
    timeout 60 "$windlass" unwind-table prove --windows 12 --steps 2000 "$@" \
        >out 2>err || status=$?
    [ "$status" -eq "$wanted" ] ||
        fail "prove $*: status $status: $(cat out err)"
}

prove 0 --all -- ./honest
grep -Eq '^12 windows, [0-9]{5} instructions, ' out || fail "$(cat out)"
for row in '\.eh_frame' code prologue body epilogue all; do
    grep -Eq "^$row +[0-9]+ +100\.0000 +0 +0 +0\$" out ||
        fail "not all right, $row: $(cat out)"
done
grep -Eq '^whole stacks right: ([0-9]+) of \1$' out || fail "$(cat out)"
grep -q '^wrong' out && fail "something is wrong: $(cat out)"

# Only the library that is named is judged.
prove 1 libc.so.6 -- ./honest
grep -q 'no instruction could be judged' err || fail "libc: $(cat out err)"
prove 0 honest -- ./honest

prove 1 ./liar -- ./liar
grep -Eq "^wrong by \.eh_frame: $work/liar\+0x[0-9a-f]+, [0-9]+ times" out ||
    fail "the liar was not found: $(cat out)"
grep -Eq '^code ' out && fail "code with rules got others: $(cat out)"

for words in prove 'prove --all' 'prove honest' 'prove --all --dump -- ./honest' \
    'show --windows 3 honest' 'verify --all honest honest'; do
    status=0
    # shellcheck disable=SC2086 # several words
    "$windlass" unwind-table $words >out 2>err || status=$?
    [ "$status" -eq 2 ] || fail "$words: status $status: $(cat err)"
done
prove 1 --all -- ./none
grep -q './none: cannot run it under ptrace' err || fail "none: $(cat err)"
exit "$failed"
