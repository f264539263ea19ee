#!/bin/sh
# pe_unwind.sh WINDLASS: the rules that come of .pdata, in programs of which the
# compiler has written the same in .debug_frame: LLVM reads that.
set -eu
. "$(dirname "$0")/../../lib/have.sh"
windlass=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
need x86_64-w64-mingw32-gcc llvm-readobj-19 llvm-dwarfdump-19 \
    llvm-objdump-19 llvm-objcopy-19 python3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export LC_ALL=C
unset WINDLASS_DEBUG_DIRS

cat >program.c <<'END_C'
#include <stdio.h>
#include <string.h>
__attribute__((noinline)) int leaf(int a)
{
    return a * 3;
}
__attribute__((noinline)) int many(int *p, int n)
{
    int s = 0;
    for (int i = 0; i < n; i++) {
        s += leaf(p[i]) * i;
        if (s > 1000) {
            printf("%d\n", s);
            s -= p[0];
        }
    }
    return s;
}
__attribute__((noinline)) int dynamic(int n)
{
    char *p = __builtin_alloca(n);
    memset(p, n, n);
    return printf("%s", p) + many((int *)p, n / 4);
}
__attribute__((noinline)) double vectors(double a, double b, double c, int n)
{
    double r = a;
    for (int i = 0; i < n; i++) {
        r = r * b + c / a;
        printf("%f", r);
    }
    return r + a + b + c;
}
__attribute__((noinline)) int large(int n)
{
    char buf[70000];
    memset(buf, n, sizeof buf);
    return many((int *)buf, n);
}
int tail(int n)
{
    return n > 3 ? many(&n, 1) + dynamic(n) : dynamic(n * n);
}
int main(int argc, char **argv)
{
    (void)argv;
    return tail(argc) + large(argc) + (int)vectors(argc, argc, argc, argc);
}
END_C

failed=0
fail() {
    echo "pe_unwind: $*"
    failed=1
}

check() {
    "$windlass" unwind-info "$1" >said
    grep -q '^rejected: nothing' said || fail "$1: $(cat said)"
    count=$(llvm-readobj-19 --unwind "$1" | grep -c 'RuntimeFunction {')
    grep -q "^.pdata: $count functions," said || fail "$1: not $count functions"
    "$windlass" unwind-info --breakpad "$1" >ours
    llvm-dwarfdump-19 --debug-frame "$1" >theirs
    llvm-objdump-19 -d --no-show-raw-insn "$1" >code
    python3 "$here/../../oracle/stack_cfi_vs_llvm.py" ours theirs code 0x140000000 ||
        fail "$1: differs"
    "$windlass" dump-syms "$1" 2>/dev/null | grep '^STACK' >dumped
    cmp -s ours dumped || fail "$1: dump-syms has other rules"
    "$windlass" unwind-table build -o table "$1" 2>/dev/null
    "$windlass" unwind-table verify "$1" table || fail "$1: its table is wrong"
}

for level in 0 2 s; do
    x86_64-w64-mingw32-gcc -O$level -g -Wl,--build-id \
        -o program$level.exe program.c
    check program$level.exe
done
x86_64-w64-mingw32-gcc -O2 -fno-omit-frame-pointer -g -Wl,--build-id \
    -o framed.exe program.c
check framed.exe

# --- a record is known by its place in .pdata; without any, by .debug_frame

address=$(llvm-readobj-19 --unwind program2.exe |
    sed -n 's/.*StartAddress: many (0x\(.*\))/\1/p')
"$windlass" unwind-info --lookup "$address" program2.exe >said
offset=$(sed -n 's/.*\.pdata+0x\([0-9a-f]*\)$/\1/p' said)
[ -n "$offset" ] && [ $((0x$offset % 12)) -eq 0 ] || fail "$(cat said)"

# --- cut off: what is behind is lost, and said

size=$(stat -c %s program2.exe)
start=$(llvm-objdump-19 -h program2.exe | awk '$2 == ".pdata" { print $3 }')
[ -n "$start" ] || fail "no .pdata"
at=$(llvm-readobj-19 -S program2.exe |
    awk '/Name: .pdata/ { found = 1 } found && /PointerToRawData/ { print $2; exit }')
head -c $((at + 30)) program2.exe >cut.exe
"$windlass" unwind-info cut.exe >said
grep -q 'damaged records: [0-9]*; first: cut.exe: .pdata+0x0: ' said ||
    fail "cut: $(cat said)"
[ "$size" -gt $((at + 30)) ] || fail "nothing was cut off"
exit $failed
