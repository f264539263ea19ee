#!/bin/sh
# hard.sh WINDLASS RECDUMP FIXTURES HEAPDUMP: what a recorder that
# looks into blocks, or asks for their sizes, could break.
. "$(dirname "$0")/../lib/record_lib.sh"
heapdump=$(realpath "$4")

cat >hard.c <<'C'
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* A larger block that may not be read is born before a smaller one goes. */
static void protect(void)
{
    for (int i = 0; i < 100; i++) {
        void *volatile small = malloc(40000), *larger;
        memset(small, 1, 40000);
        if (posix_memalign(&larger, 4096, 65536) != 0)
            _exit(2);
        memset(larger, 1, 65536);
        if (mprotect(larger, 65536, i % 2 ? PROT_NONE : PROT_READ) != 0)
            _exit(3);
        free(small);
        mprotect(larger, 65536, PROT_READ | PROT_WRITE);
        free(larger);
    }
}

/* A child frees what its parent made, and makes others of other sizes. */
static void inherit(void)
{
    void *volatile blocks[200];
    for (int i = 0; i < 200; i++)
        blocks[i] = calloc(1, 24 + (size_t)i % 7);
    if (fork() == 0) {
        for (int i = 0; i < 200; i++) {
            void *volatile large = calloc(1, ((size_t)i + 1) << 16);
            free(blocks[i]);
            free(large);
        }
        _exit(0);
    }
    int status;
    if (wait(&status) < 0 || status != 0)
        _exit(4);
    for (int i = 0; i < 200; i++)
        free(blocks[i]);
}

int main(void)
{
    protect();
    inherit();
    return 7;
}
C
# An allocator that tells no sizes: the libc would look before its blocks.
cat >bare.c <<'C'
#define _GNU_SOURCE
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
void *malloc(size_t size)
{
    void *p = mmap(NULL, size + 1, PROT_READ | PROT_WRITE,
        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}
void free(void *p) { (void)p; }
void *calloc(size_t n, size_t m) { return malloc(n * m); }
void *realloc(void *old, size_t size)
{
    void *p = malloc(size);
    if (old != NULL && p != NULL)
        memcpy(p, old, size < 4096 ? size : 4096);
    return p;
}
C
cat >uses.c <<'C'
#include <stdlib.h>
int main(void)
{
    for (int i = 0; i < 50; i++) {
        void *volatile p = malloc(3001);
        if (i % 2)
            free(p);
    }
    return 7;
}
C
# A pool of aligned blocks beside the libc's: what is before them may not be
# read.
cat >pool.c <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
enum { SIZE = 1 << 24, PAGE = 4096 };
static char *pool;
static size_t used;
int posix_memalign(void **to, size_t alignment, size_t size)
{
    if (pool == NULL)
        pool = mmap(NULL, SIZE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    *to = pool + used + PAGE;
    used += 2 * PAGE;
    return alignment > PAGE || size > PAGE ||
           mprotect(*to, PAGE, PROT_READ | PROT_WRITE) != 0;
}
void free(void *p)
{
    static void (*others)(void *);
    if (pool != NULL && (uintptr_t)p - (uintptr_t)pool < SIZE)
        return;
    if (others == NULL)
        *(void **)&others = dlsym(RTLD_NEXT, "free");
    others(p);
}
C
cat >aligned.c <<'C'
#include <stdlib.h>
int main(void)
{
    for (int i = 0; i < 50; i++) {
        void *p;
        if (posix_memalign(&p, 64, 3001) != 0)
            return 1;
        if (i % 2)
            free(p);
    }
    return 7;
}
C
cc -O1 -o hard hard.c
cc -O1 -shared -fPIC -o libpool.so pool.c
cc -O1 -o aligned aligned.c -Wl,--no-as-needed -L. -lpool -Wl,-rpath,"$work"
cc -O1 -shared -fPIC -o libbare.so bare.c
cc -O1 -o uses uses.c -L. -lbare -Wl,-rpath,"$work"
for options in "" "--mode cumulative" "--stacks partial"; do
    for program in ./hard ./uses ./aligned; do
        rm -f r.wndl
        status=0
        "$windlass" heap $options -o r.wndl -- $program 2>said || status=$?
        [ "$status" -eq 7 ] ||
            fail "$program with '$options': status $status: $(cat said)"
    done
done
for options in "" "--stacks partial"; do
    for program in ./uses ./aligned; do
        rm -f r.wndl
        "$windlass" heap -q $options -o r.wndl -- $program || true
        "$heapdump" r.wndl >dump
        awk '$1 == "site" && $9 == 3001 { a += $3; f += $4 }
            END { exit !(a == 50 && f == 25) }' dump ||
            fail "$program with '$options': an allocator without sizes"
    done
done

# In a sandbox that kills for any call but what threads need, all is counted;
# in one without any call the thread's blocks are counted, but at no site.
for options in "" "--mode cumulative" "--stacks partial"; do
    for kind in heap strict; do
        status=0
        rm -f r.wndl
        "$windlass" heap $options -o r.wndl -- "$fixtures/sandbox" $kind \
            >out 2>said || status=$?
        [ "$status" -eq 7 ] && [ "$(cat out)" = "done" ] ||
            fail "sandbox $kind with '$options': $status: $(cat said)"
        [ "$options" != "--stacks partial" ] || continue
        "$heapdump" r.wndl >dump
        [ $kind = heap ] || continue
        awk '$1 == "site" && $9 == 103 { a += $3; f += $4 }
            $1 == "site" && $9 == 101 && $3 == 3000 && $4 == 3000 { old = 1 }
            END { exit !(a == 360000 && f == 180000 && old) }' dump ||
            fail "sandbox with '$options': not all blocks"
    done
done
rm -f r.wndl
"$windlass" heap -o r.wndl -- "$fixtures/sandbox" strict >out 2>said || true
grep -q 'only counted: made while the recorder was at work or had to keep still 10[01]$' \
    said || fail "without any call: $(cat said)"

# A program that gives up the processor's clock.
cat >clock.c <<'C'
#include <stdlib.h>
#include <sys/prctl.h>
int main(void)
{
    (void)prctl(PR_SET_TSC, PR_TSC_SIGSEGV);
    for (int i = 0; i < 1000; i++) {
        void *volatile p = malloc(10007);
        if (i % 2)
            free(p);
    }
    return 7;
}
C
cc -O1 -o clock clock.c
for mode in live cumulative; do
    status=0
    rm -f r.wndl
    "$windlass" heap --mode $mode -o r.wndl -- ./clock 2>said || status=$?
    [ "$status" -eq 7 ] || fail "without a clock: status $status: $(cat said)"
    "$heapdump" r.wndl >dump
    awk '$1 == "site" && $9 == 10007 { a += $3; f += $4 }
        END { exit !(a == 1000 && f == 500) }' dump ||
        fail "without a clock: not all blocks"
done

# A thousand coroutines take turns. Their stacks are not looked up in the list
# of mappings, which cannot be opened here; they are unmapped, and others come.
cat >turns.c <<'C'
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <ucontext.h>
enum { TURNS = 5, MOST = 1000, PAGE = 4096 };
static ucontext_t back, all[MOST];
static char *stacks[MOST];
__attribute__((noinline)) static void make(void)
{
    void *volatile p = malloc(1001);
    free(p);
}
static void run(int me)
{
    for (;;) {
        make();
        swapcontext(&all[me], &back);
    }
}
/* Guarded at its lower end, as the next one's is that lies above. */
static void begin(int i, size_t size)
{
    stacks[i] = mmap(NULL, size, PROT_READ | PROT_WRITE,
        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mprotect(stacks[i], PAGE, PROT_NONE) != 0)
        _Exit(3);
    getcontext(&all[i]);
    all[i].uc_stack.ss_sp = stacks[i] + PAGE;
    all[i].uc_stack.ss_size = size - PAGE;
    makecontext(&all[i], (void (*)(void))run, 1, i);
}
static void take_turns(int count)
{
    for (int turn = 0; turn < TURNS; turn++)
        for (int i = 0; i < count; i++)
            swapcontext(&back, &all[i]);
}
int main(void)
{
    const struct rlimit none = {0, 0};
    free(malloc(1));
    if (setrlimit(RLIMIT_NOFILE, &none) != 0)
        return 3;
    for (size_t pages = 4; pages <= 64; pages *= 2) {
        for (int i = 0; i < MOST; i++)
            begin(i, pages * PAGE);
        take_turns(MOST);
        take_turns(10);
        for (int i = 0; i < MOST; i++)
            munmap(stacks[i], pages * PAGE);
    }
    return 7;
}
C
cc -O1 -o turns turns.c
status=0
rm -f r.wndl
"$windlass" heap -o r.wndl -- ./turns 2>said || status=$?
[ "$status" -eq 7 ] || fail "coroutines: status $status: $(cat said)"
grep -q '^windlass: 100.00 % of the allocations' said ||
    fail "coroutines: $(cat said)"
"$heapdump" r.wndl >dump
awk '$1 == "site" && $9 == 1001 { a += $3 } END { exit !(a == 25250) }' dump ||
    fail "coroutines: not all blocks"

# Plugins that come and go at the same place, more often than there is room for
# in the list of modules: what is in none of them is not taken for the others'.
cat >reload.c <<'C'
#include <dlfcn.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    for (int i = 0; i < atoi(argv[3]); i++) {
        void *plugin = dlopen(argv[1 + i % 2], RTLD_NOW);
        void (*make)(void) = (void (*)(void))dlsym(plugin, "make");
        make();
        dlclose(plugin);
    }
    return argc != 4;
}
C
for size in 1009 2003; do
    cat >plugin.c <<C
#include <stdlib.h>
__attribute__((noinline)) static void make_$size(void)
{
    void *volatile block = malloc($size);
    (void)block;
}
void make(void)
{
    make_$size();
    __asm__ volatile("");
}
C
    cc -g -O1 -fno-optimize-sibling-calls -shared -fPIC -o plugin$size.so \
        plugin.c
done
cc -g -O1 -o reload reload.c
# reload TIMES: into `have`, "BLOCKS SIZE FUNCTION" of what plugins allocated.
reload() {
    rm -f r.wndl
    "$windlass" heap --no-leaks -o r.wndl -- ./reload ./plugin1009.so \
        ./plugin2003.so "$1" 2>said || fail "plugins: $(cat said)"
    "$windlass" report --json r.wndl | sed 's/},/&\n/g' >report
    sed -n 's/^{"blocks":\([0-9]*\),"usable":[0-9]*,"requested":\([0-9]*\).*"stack":\["\(make_[0-9]*\) .*/\1 \2 \3/p' \
        report | awk '{ print $1, $2 / $1, $3 }' | sort -u >have
}
reload 600
[ "$(cat have)" = "300 1009 make_1009
300 2003 make_2003" ] || fail "plugins: $(cat have)"
reload 6000
awk '{ exit !($2 == substr($3, 6)) }' have && [ "$(wc -l <have)" -eq 2 ] ||
    fail "plugins without room: $(cat have)"

# A debugger sees what the program makes, one thread, and nothing of ours.
cat >traced.c <<'C'
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BLOCKS = 5000 };

static void *blocks[BLOCKS];

static void *wait_for_end(void *nothing)
{
    pause();
    return nothing;
}

/* Blocks enough for a copy, and a thread. */
static int be_traced(void)
{
    pthread_t thread;
    ptrace(PTRACE_TRACEME, 0, NULL, NULL);
    raise(SIGSTOP);
    for (int i = 0; i < BLOCKS; i++)
        blocks[i] = malloc(24);
    return pthread_create(&thread, NULL, wait_for_end, NULL);
}

int main(void)
{
    int status, made = 0;
    pid_t child = fork(), one;
    if (child == 0)
        return be_traced();
    waitpid(child, &status, 0);
    ptrace(PTRACE_SETOPTIONS, child, NULL,
        PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK);
    ptrace(PTRACE_CONT, child, NULL, NULL);
    while ((one = waitpid(-1, &status, __WALL)) > 0) {
        int event = WIFSTOPPED(status) ? status >> 16 : 0;
        int sig = WIFSTOPPED(status) ? WSTOPSIG(status) : 0;
        made += event != 0;
        if (one == child && !WIFSTOPPED(status) && status != 0)
            return 1;
        ptrace(PTRACE_CONT, one, NULL,
            sig == SIGTRAP || sig == SIGSTOP ? 0L : (long)sig);
    }
    return made == 1 ? 7 : made;
}
C
cc -o traced traced.c -lpthread
status=0
./traced || status=$?
if [ $status -eq 7 ]; then
    rm -f r.wndl
    "$windlass" heap -q -o r.wndl -- ./traced || status=$?
    [ $status -eq 7 ] || fail "exit status $status of what traces another"
fi
