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
# a program in it, does not die of our signals. A thread is told what it has set
# so, and is sampled on.
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
cat >kept.c <<'END'
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
struct action {
    void (*handler)(int);
    unsigned long flags;
    void (*restorer)(void);
    unsigned long mask;
};
static volatile int arrived;
static void note(int number)
{
    arrived += number;
}
static void burn(long ms)
{
    clock_t end = clock() + ms * (CLOCKS_PER_SEC / 1000);
    while (clock() < end)
        ;
}
static void *work(void *unused)
{
    static const int numbers[] = {SIGPROF, SIGTRAP};
    struct action now, standard;
    unsigned long all = ~0ul, before, mask;
    memset(&standard, 0, sizeof standard);
    for (int i = 0; i < 2; i++) {
        signal(numbers[i], note);
        syscall(SYS_rt_sigaction, numbers[i], &standard, &now, 8);
        printf("%d ", now.handler == note);
        syscall(SYS_rt_sigaction, numbers[i], 0, &now, 8);
        printf("%d ", now.handler == SIG_DFL);
        signal(numbers[i], note);
    }
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, 8);
    burn(100);
    raise(SIGTRAP);
    printf("%d ", arrived);
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, 0, &mask, 8);
    printf("%d ", (mask & 1ul << (SIGTRAP - 1)) != 0);
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, &mask, 8);
    printf("%d\n", arrived);
    for (int i = 0; i < 2; i++)
        syscall(SYS_rt_sigaction, numbers[i], &standard, 0, 8);
    burn(100);
    return unused;
}
int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    pthread_join(thread, NULL);
    return 7;
}
END
gcc -O1 -o kept kept.c
./kept >alone || [ $? -eq 7 ] || fail "kept: not even alone"
for engine in $(engines); do
    record 7 --engine "$engine" -- ./kept >out
    cmp alone out || fail "$engine: $(cat out)"
    [ "$engine" = outside ] || sampled 150 "of a thread that sets actions"
done

# A bare system call that blocks SIGTRAP leaves none of the event's pending: the
# next image, which is not recorded, does not die of it.
engines | grep -qx perf && [ "$(uname -m)" = x86_64 ] || exit 0
cat >waits.c <<'END'
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
static void set_mask(long how, unsigned long set)
{
    long result = 14; /* rt_sigprocmask */
    register long bytes __asm__("r10") = 8;
    __asm__ volatile("syscall"
                     : "+a"(result)
                     : "D"(how), "S"(&set), "d"(0L), "r"(bytes)
                     : "rcx", "r11", "memory");
}
int main(int count, char **arguments)
{
    if (count > 1) {
        set_mask(SIG_UNBLOCK, 1ul << (SIGTRAP - 1));
        return 7;
    }
    set_mask(SIG_BLOCK, 1ul << (SIGTRAP - 1));
    clock_t end = clock() + CLOCKS_PER_SEC / 20;
    while (clock() < end)
        ;
    execl("./again", arguments[0], "again", (char *)0);
    return 1;
}
END
gcc -O1 -static -o again waits.c
gcc -O1 -o waits waits.c
record 7 -r 20000 -- ./waits
