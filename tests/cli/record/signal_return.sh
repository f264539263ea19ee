#!/bin/sh
# The frame that a signal handler returns to has a name: its address is exact,
# though it is stored as a return address.
. "$(dirname "$0")/../lib/record_lib.sh"
need gcc

cat >handled.c <<'END'
#include <signal.h>
static volatile long sum;
static void handle(int number)
{
    for (long i = 0; i < 100000000; i++)
        sum += i * number;
}
int main(void)
{
    signal(SIGUSR1, handle);
    raise(SIGUSR1);
    return 0;
}
END
gcc -O1 -g handled.c -o handled
record 0 -- ./handled
complete_above 98
"$windlass" export -o folded.txt r.wndl 2>/dev/null
grep -Eq '^[^ ]*main;.*;(__restore_rt|__kernel_rt_sigreturn|<signal handler called>);handle ' \
    folded.txt || fail "no name: $(cat folded.txt)"
