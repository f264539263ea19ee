#!/bin/sh
# breakpad_vs_lldb.sh WINDLASS: LLDB reads what 'dump-syms' wrote and finds the
# functions and lines there that 'sym' finds in the binary. Inlined calls it
# does not tell: LLDB 19 takes no INLINE record, not even of a hand-made file.
set -eu
. "$(dirname "$0")/../lib/have.sh"
windlass=$(realpath "$1")
ask=$(cd "$(dirname "$0")" && pwd)/breakpad_lldb.py
need gcc strip nm lldb-19
[ "$(uname -m)" = x86_64 ] || skip "not x86-64"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export LC_ALL=C HOME="$work"
unset WINDLASS_DEBUG_DIRS

cat >program.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static inline int innermost(const char *s, int n)
{
    return (int)strlen(s) + (n > 4 ? abs(n) : n);
}
static inline int middle(const char *s, int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += innermost(s, i) ^ innermost(s + i, n);
    return sum;
}
__attribute__((noinline)) static int outer(const char *s, int n)
{
    return n < 0 ? abort(), 0 : middle(s, n) + middle(s + 1, n + 1);
}
__attribute__((noinline)) static int many(int n)
{
    switch (n) {
    case 1:
        return puts("one");
    case 2:
        return printf("%d", n);
    case 3:
        return outer("three", n);
    default:
        return n > 8 ? many(n / 2) + many(n / 3) : n;
    }
}
int main(int argc, char **argv)
{
    return outer(argv[0], argc) + many(argc);
}
END
gcc -g -O2 -Wl,--build-id -o program program.c
"$windlass" dump-syms -o program.sym program
strip -o stripped program

# Every byte of the program's own functions.
nm -S program | awk '$4 ~ /^(outer|many|main)/ { print $1, $2 }' |
    while read -r start size; do
        at=$((0x$start))
        end=$((at + 0x$size))
        while [ $at -lt $end ]; do
            printf '%x\n' $at
            at=$((at + 1))
        done
    done >asked
"$windlass" sym -e program -fiC -a <asked | awk '
    function put() {
        if (address != "")
            print address "\t" function_name "\t" place
    }
    /^0x/ { put(); sub(/^0x0*/, ""); address = $0; place = ""; n = 0; next }
    n++ % 2 == 0 { function_name = $0; next }
    place == "" { place = $0 }
    END { put() }' >wanted
lldb-19 -b -Q -o "command script import $ask" -o "script import \
breakpad_lldb; breakpad_lldb.run('stripped', 'program.sym', 'asked', 'out')" \
    >log 2>&1 || true
[ -s out ] || {
    echo "breakpad_vs_lldb: LLDB said nothing:"
    tail -n 5 log
    exit 1
}
diff wanted out >differences || {
    echo "breakpad_vs_lldb: they disagree:"
    head -n 10 differences
    exit 1
}
[ "$(wc -l <wanted)" -gt 200 ] || {
    echo "breakpad_vs_lldb: only $(wc -l <wanted) addresses"
    exit 1
}
echo "breakpad_vs_lldb: $(wc -l <wanted) addresses agree"
