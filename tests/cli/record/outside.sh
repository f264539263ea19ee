#!/bin/sh
# outside.sh: programs that cannot be recorded from inside have whole stacks all
# the same: of code without call frame information, through signal handlers, down
# to where a process, a thread or a goroutine begins.
. "$(dirname "$0")/../lib/record_lib.sh"
case $(uname -m) in
x86_64) ;;
*) skip "another processor" ;;
esac
need musl-gcc go

cat >work.c <<'C'
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

enum { COUNT = 10000 };

static int compare(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

/* Sorts in the C library for ms of CPU time. */
__attribute__((noinline)) static void work(int ms)
{
    static _Thread_local int values[COUNT];
    struct timespec now;
    do {
        for (int i = 0; i < COUNT; i++)
            values[i] = rand();
        qsort(values, COUNT, sizeof values[0], compare);
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    } while (now.tv_sec * 1000 + now.tv_nsec / 1000000 < ms);
}

static void *run(void *ms)
{
    work(*(int *)ms);
    return NULL;
}

static void on_signal(int signal)
{
    work(300 * (signal != 0));
}

int main(void)
{
    int ms = 200;
    pthread_t thread;
    pthread_create(&thread, NULL, run, &ms);
    signal(SIGUSR1, on_signal);
    raise(SIGUSR1);
    pthread_join(thread, NULL);
    return 0;
}
C

# whole PROGRAM FRAMES: it is sampled from outside, all its stacks are complete,
# and these frames, from the outermost on, are in some.
whole() {
    record 0 -- "./$1"
    at_least 300 "$(samples_of 1)" "samples of $1"
    complete_above 99
    "$windlass" export -f folded -o folded r.wndl 2>said ||
        fail "no folded stacks: $(cat said)"
    grep -q "$2" folded || fail "no $2 in $(cut -c 1-200 folded | head -n 5)"
}

musl-gcc -O2 -static -o still work.c
whole still ';_start;.*main;raise;.*__restore_rt;work;qsort_r;'
whole still ';__clone;start;run;work;qsort_r;'
# The first has no symbols for the start of a thread: the code leads to it.
musl-gcc -O2 -o moving work.c
whole moving ';_start;[^;]*;main;raise;.*;work;'
whole moving ';libc.so+[^;]*;run;work;'

cat >work.go <<'GO'
package main

func sum(n int) int {
	s := 1
	for i := 0; i < n; i++ {
		s = s*31 + i
	}
	return s
}

func work(done chan int) {
	s := 0
	for i := 0; i < 400; i++ {
		s += sum(1000000)
	}
	done <- s
}

func main() {
	done := make(chan int)
	go work(done)
	println(<-done)
}
GO
CGO_ENABLED=0 GOCACHE=$work/cache GOFLAGS=-mod=mod go build -gcflags=-l -o gone work.go
whole gone ';runtime.goexit[^;]*;.*main.work;main.sum'

# With cgo, Go's runtime still owns all signals. C code that it calls is on
# another stack.
sed -i 's/^package main$/package main\n\n\/\/ #include <stdlib.h>\nimport "C"/
    s/s += sum(1000000)/s += sum(1000000) + int(C.abs(1))/' work.go
CGO_ENABLED=1 GOCACHE=$work/cache go build -gcflags=-l -o with_cgo work.go
whole with_cgo ';runtime.goexit[^;]*;.*main.work;main.sum'
! grep -q '^unfollowed' dump || fail "it is named as one that is not recorded"

# Other rights: root may look.
[ "$(id -u)" -eq 0 ] || skip "not root"
cp "$fixtures/burn" other
chown nobody other
chmod 4755 other
record 3 -- ./other 350 3
sampled 250 "of a set-user-ID program" 1
complete_above 99
