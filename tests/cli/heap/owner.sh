#!/bin/sh
# owner.sh WINDLASS RECDUMP FIXTURES HEAPDUMP: a program of which
# one thread allocates while another comes by now and then. All is counted,
# also where membarrier() would be the end of the process.
. "$(dirname "$0")/../lib/record_lib.sh"
heapdump=$(realpath "$4")

# The visitor of a program that is told to enters a sandbox the third time.
cat >owner.c <<'C'
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
enum { BLOCKS = 300, OWN = 90000, VISITS = 5, CHANGED = 10 };
static void *volatile blocks[BLOCKS];
static pthread_barrier_t begin, end;
static int enters;
static void enter(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {sizeof code / sizeof code[0], code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        _exit(3);
}
static void *visit(void *none)
{
    for (int n = 0; n < VISITS; n++) {
        pthread_barrier_wait(&begin);
        if (enters && n == 2)
            enter();
        for (int i = 0; i < CHANGED; i++) {
            free(blocks[i]);
            blocks[i] = malloc(2001);
        }
        pthread_barrier_wait(&end);
    }
    return none;
}
int main(int count, char **arguments)
{
    pthread_t thread;
    int status;
    (void)arguments;
    enters = count > 1;
    pthread_barrier_init(&begin, NULL, 2);
    pthread_barrier_init(&end, NULL, 2);
    pthread_create(&thread, NULL, visit, NULL);
    for (int i = 0; i < OWN; i++) {
        free(blocks[i % BLOCKS]);
        blocks[i % BLOCKS] = malloc(1001);
        if ((i + 1) % (OWN / VISITS) == 0) {
            pthread_barrier_wait(&begin);
            pthread_barrier_wait(&end);
        }
    }
    if (fork() == 0) {
        for (int i = 0; i < BLOCKS; i++)
            free(blocks[i]);
        _exit(0);
    }
    if (wait(&status) < 0 || status != 0)
        return 4;
    for (int i = 0; i < BLOCKS; i++)
        free(blocks[i]);
    pthread_join(thread, NULL);
    return 7;
}
C
cc -O1 -pthread -o owner owner.c

cat >want <<'W'
1001 90000 90000
2001 50 50
inherited 300
W
check() {
    rm -f r.wndl dump
    status=0
    "$windlass" heap -q -o r.wndl -- "$@" >out 2>said || status=$?
    [ $status -eq 7 ] || fail "exit status $status: $*: $(cat said)"
    "$heapdump" r.wndl >dump || fail "the recording cannot be read"
    awk '$1 == "site" { a[$9] += $3; f[$9] += $4 }
        $1 == "snapshot" { p = $2; sub(/ \/.*/, ""); inherited[p] = $NF }
        END {
            for (k in a)
                if (k == 1001 || k == 2001)
                    print k, a[k], f[k]
            for (p in inherited)
                n += inherited[p]
            print "inherited", n
        }' dump | LC_ALL=C sort >have
    cmp -s want have || fail "$*: $(cat have)"
}
check ./owner
check ./owner enters
check "$fixtures/filtered" membarrier ./owner
