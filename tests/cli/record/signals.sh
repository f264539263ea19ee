#!/bin/sh
# The signal we use is the program's own as far as it can tell.
. "$(dirname "$0")/../lib/record_lib.sh"
status=0
"$fixtures/signals" || status=$?
[ "$status" -eq 133 ] || fail "not even alone: $status"
record 133 -- "$fixtures/signals"
at_least 200 "$(samples_of 1)" "samples"
if have node; then
    record 5 -- node -e 'for (let i = 0, s = 0; i < 3e8; i++) s += i;
        process.exit(5)'
    at_least 20 "$(samples_of 1)" "samples of node"
fi

# A wait that the program's own signal interrupts ends, whatever that masks.
for engine in $(engines); do
    record 7 --engine "$engine" -- "$fixtures/alarms" >out ||
        fail "$engine: $(cat out) alarms did not end the wait"
done

# A child that resets all handlers by syscall(), as browsers do before they start
# a program in it, does not die of our signals.
have gcc || exit 0
cat >resets.c <<'END'
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static void burn(long ms)
{
    clock_t end = clock() + ms * (CLOCKS_PER_SEC / 1000);
    while (clock() < end)
        ;
}
int main(void)
{
    static const long standard[8];
    int status = -1;
    for (int i = 0; i < 5; i++) {
        pid_t child = fork();
        if (child == 0) {
            burn(20);
            for (long number = 1; number < 32; number++)
                syscall(SYS_rt_sigaction, number, standard, 0, 8);
            burn(60);
            execl("/bin/true", "true", (char *)0);
            _exit(1);
        }
        if (waitpid(child, &status, 0) != child || status != 0)
            break;
    }
    printf("%d\n", status);
    return status != 0;
}
END
gcc -O1 -o resets resets.c
for engine in $(engines); do
    record 0 --engine "$engine" -- ./resets >out
    [ "$(cat out)" = 0 ] || fail "$engine: a child died: $(cat out)"
done
