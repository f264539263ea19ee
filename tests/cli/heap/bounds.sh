#!/bin/sh
# bounds.sh WINDLASS RECDUMP FIXTURES HEAPDUMP MAKE_RECORDING:
# sizes that nobody can have, no memory left for what we remember, a great many
# stacks, and recordings that are larger than what is distinct in them.
. "$(dirname "$0")/../lib/record_lib.sh"
heapdump=$(realpath "$4")
make_recording=$(realpath "$5")

cat >bounds.c <<'C'
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static const volatile size_t sizes[] = {SIZE_MAX, SIZE_MAX - 1,
    SIZE_MAX - 4096, SIZE_MAX / 2 + 1, PTRDIFF_MAX, PTRDIFF_MAX - 4096};
enum { SIZES = sizeof sizes / sizeof sizes[0], LEAST = 100000, ROOM = 16 << 20 };

static int is_refused(void *block)
{
    int refused = block == NULL && errno == ENOMEM;
    errno = 0;
    return refused;
}

/* That a block which cannot be moved stays what it was. */
static int keeps(char *block, size_t size)
{
    memset(block, 7, 100);
    int kept = is_refused(realloc(block, size)) &&
               is_refused(reallocarray(block, size, 2)) && block[0] == 7 &&
               block[99] == 7;
    free(block);
    return kept;
}

static int refuses(size_t size)
{
    void *aligned = NULL;
    errno = 0;
    return is_refused(malloc(size)) && is_refused(calloc(size, 1)) &&
           is_refused(calloc(size, size)) && is_refused(calloc(2, size)) &&
           keeps(malloc(100), size) && memalign(64, size) == NULL &&
           aligned_alloc(4096, size) == NULL && valloc(size) == NULL &&
           posix_memalign(&aligned, 64, size) == ENOMEM && aligned == NULL &&
           posix_memalign(&aligned, 3, 100) == EINVAL;
}

/* There is room in the libc's heap from then on, and nowhere else. */
static int limit_address_space(void)
{
    unsigned long pages = 0;
    if (!mallopt(M_MMAP_THRESHOLD, 2 * ROOM) ||
        !mallopt(M_TRIM_THRESHOLD, 4 * ROOM))
        return 1;
    void *volatile room = malloc(ROOM);
    free(room);
    FILE *statm = fopen("/proc/self/statm", "r");
    if (statm == NULL || fscanf(statm, "%lu", &pages) != 1)
        return 1;
    fclose(statm);
    const struct rlimit no_more = {pages * 4096, RLIM_INFINITY};
    return setrlimit(RLIMIT_AS, &no_more);
}

/* As many as there is room for, each of which leads to the one before. */
static int fill(void)
{
    void **last = NULL, **block;
    int count = 0;
    for (; (block = malloc(24)) != NULL; count++) {
        *block = last;
        last = block;
    }
    for (; last != NULL; last = block) {
        block = *last;
        free(last);
    }
    return count;
}

int main(void)
{
    for (size_t i = 0; i < SIZES; i++) {
        if (!refuses(sizes[i]))
            return 3;
    }
    if (limit_address_space() != 0)
        return 4;
    int count = fill();
    void *volatile block = malloc(1003);
    free(block);
    dprintf(1, "%d\n", count);
    return count < LEAST ? 5 : 7;
}
C
cc -O1 -w -o bounds bounds.c
for options in "" "--mode cumulative" "--stacks partial"; do
    rm -f r.wndl
    status=0
    "$windlass" heap $options -o r.wndl -- ./bounds >out 2>said || status=$?
    [ $status -eq 7 ] || fail "'$options': status $status: $(cat said)"
    "$heapdump" r.wndl >dump
    # All blocks are in the totals, if not at a site; the libc keeps few.
    awk -v least="$(cat out)" '$1 == "snapshot" { a = $6; f = $7 }
        END { exit !(a >= least && a - f < 20) }' dump ||
        fail "'$options': not all are counted"
    [ "$options" != "--stacks partial" ] || continue
    awk '$1 == "site" && $9 == 1003 { n += $3 } $1 == "site" && $9 > 2^40 {
        huge++ } END { exit !(n == 1 && !huge) }' dump ||
        fail "'$options': what comes after is not recorded"
    grep -q 'only counted: .*no memory to remember them [1-9]' said ||
        fail "'$options': what there is no memory for: $(cat said)"
done

# A million places in stacks, and every stack is known.
cat >places.c <<'C'
#include <stdlib.h>

__attribute__((noinline)) static void go(int depth)
{
    if (depth == 0) {
        free(malloc(40));
        return;
    }
    go(depth - 1);
    __asm__ volatile("");
    go(depth - 1);
    __asm__ volatile("");
}

int main(void)
{
    go(19);
    return 7;
}
C
cc -O1 -fno-builtin -o places places.c
rm -f r.wndl
status=0
"$windlass" heap --mode cumulative -o r.wndl -- ./places >out 2>said ||
    status=$?
[ $status -eq 7 ] || fail "a million places: status $status: $(cat said)"
"$heapdump" r.wndl >dump
awk '$1 == "site" && $9 == 40 { sites++; blocks += $3 } END {
    exit !(sites == 524288 && blocks == 524288) }' dump ||
    fail "a million places: $(grep -c ^site dump) sites: $(cat said)"

# A recording of 300 snapshots takes no more memory than one of them: what can
# be written to is limited to a fifth of what all the counts would take.
awk -v snapshots=300 -v sites=2000 'BEGIN {
    print "meta 0 0 0 box / srv\nprocess 0 7 /gone/srv srv\nimage /gone/srv 01"
    print "heap 0 0 0"
    for (i = 0; i < sites; i++)
        printf "pair 0 0 %d 0 0:%x\n", 1000 + i, 4096 + i
    for (n = 1; n <= snapshots; n++) {
        printf "wait 1000\nsnapshot 0 3 - %d 0 %d %d 0 0 0 9000000 4000 0\n",
            sites * n, sites * n * 1000, sites * n * 1000
        for (i = 0; i < sites; i++)
            printf "%s %d %d 0 1 0 0", i % 80 ? "" : i ? "\ncounts 0" : \
                "counts 0", i, n
        print ""
    }
    print "exit 0 1\ndone 0 0"
}' >recipe
"$make_recording" many.wndl <recipe 2>said || fail "$(head -c 1000 said)"
if (ulimit -d 6000 && "$windlass" --version >out 2>&1); then
    (ulimit -d 6000 && "$windlass" report many.wndl >report 2>said) ||
        fail "300 snapshots: $(cat said)"
    (ulimit -d 8000 && "$windlass" diff --snapshot 3 many.wndl many.wndl \
        >report.diff 2>said) || fail "twice 300 snapshots: $(cat said)"
    grep -q '^Live  *600,000,000 bytes in 600,000 blocks' report ||
        fail "300 snapshots: $(head -8 report)"
fi
