#!/bin/sh
# stack_records.sh WINDLASS: rules that are read from Breakpad symbol files are
# those of the binary that the file was written of, in text, in an unwind table
# and by an evaluator that shares nothing with ours. What is to differ: stubs in
# .plt, whose CFA Breakpad has no words for, and that signal frames are such.
set -eu
. "$(dirname "$0")/../../lib/have.sh"
windlass=$(realpath "$1")
model=$(cd "$(dirname "$0")" && pwd)/stack_records.py
need gcc python3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export LC_ALL=C

cat >program.c <<'END'
#include <alloca.h>
#include <stdio.h>
#include <string.h>
static int deep(int n, char *p)
{
    char text[100];
    if (n == 0)
        return (int)strlen(p);
    snprintf(text, sizeof text, "%d%s", n, p);
    return deep(n - 1, text) + n;
}
int on_stack(int n)
{
    char *p = alloca(n * 16);
    memset(p, 'a', n * 16);
    p[n * 16 - 1] = 0;
    return deep(n, p);
}
int main(int count, char **words)
{
    __attribute__((aligned(64))) char buffer[128];
    memset(buffer, count, sizeof buffer);
    printf("%d %s\n", on_stack(count + 3), words[0] + (buffer[3] == 127));
    return 0;
}
END

compare() { # NAME COMPILER...
    name=$1
    shift
    "$@" -g -Wl,--build-id -o "$name" program.c 2>err || {
        echo "$name: no such compiler"
        return 0
    }
    "$windlass" dump-syms -o "$name.sym" "$name" 2>err
    "$windlass" unwind-info --dump "$name" >of_binary 2>err
    "$windlass" unwind-info --dump "$name.sym" >of_records 2>err
    diff of_binary of_records >difference || :
    ! grep '^>' difference
    # At most the row of .plt that is not plain: nothing is known of its code.
    if grep '^<' difference | grep -qv '>=11'; then
        echo "$name: other rules than the binary's"
        cat difference
        exit 1
    fi
    test "$(grep -c '^<' difference)" -le 1
    test "$(wc -l <of_records)" -gt 10

    "$windlass" unwind-info --breakpad "$name.sym" >again 2>err
    python3 "$model" "$name.sym" again

    # The table has the binary's build-id, and but for .plt the binary's rules.
    "$windlass" unwind-table build -o of_records.wut "$name.sym" 2>err
    ! grep 'damaged' err
    "$windlass" unwind-table verify "$name.sym" of_records.wut
    if grep -q '^<' difference; then
        "$windlass" unwind-table verify "$name" of_records.wut 2>err && exit 1
        grep -q "wrong at 3 of" err
    else
        "$windlass" unwind-table verify "$name" of_records.wut
    fi
}
compare x86-64 gcc -O2
compare x86-64-fp gcc -O1 -fno-omit-frame-pointer
compare i386 gcc -m32 -O2
compare arm64 aarch64-linux-gnu-gcc -O2
compare arm arm-linux-gnueabihf-gcc -O2

# Frame data and FPO data of i386 as MSVC and LLVM write it.
cat >win.sym <<'END'
MODULE windows x86 5A9832E5287241C1838ED98914E9B7FF1 a.pdb
INFO CODE_ID 4B6F0E3A1000 a.exe
STACK WIN 4 1000 30 6 0 8 0 10 0 1 $T0 .raSearch = $eip $T0 ^ = $esp $T0 4 + =
STACK WIN 4 1001 2e 5 0 8 4 10 0 1 $T0 .raSearch = $eip $T0 ^ = $esp $T0 4 + = $ebp $T0 4 - ^ =
STACK WIN 4 1003 2b 3 0 8 0 0 0 1 $T0 $ebp = $eip $T0 4 + ^ = $ebp $T0 ^ = $esp $T0 8 + =
STACK WIN 4 2000 80 0 0 8 c 20 0 1 $T1 .raSearch = $T0 $T1 4 - 8 @ = $ebp $T1 4 - ^ = $eip $T1 ^ = $esp $T1 4 + = $ebx $T0 24 - ^ =
STACK WIN 4 2080 80 0 0 8 c 20 0 1 $T0 $ebp 16 @ = $eip $T0 ^ = $esp $T0 4 + = $ebx $T0 24 - ^ = $ebp $T0 8 - ^ =
STACK WIN 0 3000 20 2 0 4 8 10 0 0 1
STACK WIN 0 3040 20 2 0 4 8 10 0 0 0
STACK WIN 4 3040 20 2 0 4 0 8 0 1 $T0 .raSearch = $eip $T0 ^ = $esp $T0 4 + = $esi $T0 .cbLocals - ^ =
STACK CFI INIT 8000 20 .cfa: $esp 4 + .ra: .cfa 4 - ^
STACK CFI 8001 .cfa: $esp 8 + $ebp: .cfa 8 - ^
END
"$windlass" unwind-info --breakpad win.sym >win.cfi
python3 "$model" win.sym win.cfi
"$windlass" unwind-info --lookup 1001 --lookup 2000 win.sym >lookup
cat >expected <<'END'
0x1001: function [0x1000 .. 0x102f], STACK+0x5b
[0x1001 .. 0x1002]: let cfa=oldSP+24 in RA=*(cfa-4) SP=cfa BP=*(cfa-8) BX=oldBX
0x2000: function [0x2000 .. 0x207f], STACK+0x164
[0x2000 .. 0x207f]: let cfa=oldSP+48 in RA=*(cfa-4) SP=cfa BP=*(cfa-8) BX=*(((oldSP+40&-8)-24))
END
diff expected lookup
"$windlass" unwind-table build -o win.wut win.sym
"$windlass" unwind-table verify win.sym win.wut
"$windlass" unwind-table show win.wut | grep -q e532985a7228c141838ed98914e9b7ff

# Damage loses one function, and is told with its line.
sed 's/^STACK CFI 8001 .*/STACK CFI 8001 .cfa: $esp 8/' win.sym >damaged.sym
"$windlass" unwind-info damaged.sym >out
grep -q 'damaged records: 1; first: damaged.sym: symbols+0x[0-9a-f]*: line 12: ' out
grep -q '^STACK: 5 functions' out

# Without the build-id there is no name that the table would be found by.
grep -v CODE_ID x86-64.sym >no_id.sym
"$windlass" unwind-table build -o no_id.wut no_id.sym 2>err && exit 1
grep -q 'no_id.sym: has no INFO CODE_ID' err
grep -v STACK x86-64.sym >no_rules.sym
"$windlass" unwind-info no_rules.sym 2>err && exit 1
grep -q 'no_rules.sym: has no rules for unwinding (STACK records)' err
