#!/bin/sh
# All memory of a process, not its heap alone: the parts in the report sum to the
# resident memory that the kernel says at the same moment, and what is mapped, a
# thread's stack and freed blocks are in the parts of their name.
. "$(dirname "$0")/../lib/record_lib.sh"
cat >use.c <<'C'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
enum { MIB = 1 << 20 };
static int ends[2];
static void *use_stack(void *unused)
{
    char used[4 * MIB], end;
    memset(used, 1, sizeof used);
    (void)!write(ends[1], used, 1);
    for (;;)
        pause();
    (void)end;
    return unused;
}
static long rss(void)
{
    long kib = 0;
    char line[200];
    FILE *file = fopen("/proc/self/smaps_rollup", "r");
    while (fgets(line, sizeof line, file) != NULL && kib == 0)
        (void)!sscanf(line, "Rss: %ld", &kib);
    fclose(file);
    return kib;
}
int main(void)
{
    enum { SMALL = 40000 };
    static void *small[SMALL];
    pthread_t thread;
    char byte;
    memset(mmap(NULL, 48 * MIB, PROT_READ | PROT_WRITE,
        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 1, 48 * MIB);
    memset(malloc(16 * MIB), 1, 16 * MIB);
    for (int i = 0; i < SMALL; i++)
        memset(small[i] = malloc(1000), 1, 1000);
    for (int i = 0; i < SMALL; i += 2)
        free(small[i]);
    (void)!pipe(ends);
    pthread_create(&thread, NULL, use_stack, NULL);
    (void)!read(ends[0], &byte, 1);
    printf("%ld\n", rss());
    return 0;
}
C
cc -O1 use.c -o use -pthread 2>cc.err || fail "$(cat cc.err)"
"$windlass" heap -q --no-leaks -o r.wndl -- ./use >rss || fail "exit status $?"
"$windlass" report --json r.wndl >r.json || fail "no report"
"$windlass" report r.wndl >r.txt || fail "no report in text"
python3 - "$(cat rss)" r.json r.txt <<'P' || fail "$(head -n 30 r.txt)"
import json, re, sys

rss = int(sys.argv[1]) << 10
memory = json.load(open(sys.argv[2]))["processes"][0]["memory"]
parts = ("live", "kept", "mapped", "stacks", "code", "data", "shared",
         "windlass", "kernel")
for at in memory:
    assert at["resident"] == sum(at[part] for part in parts), at
last = memory[-1]
print("kernel %d, report %s" % (rss, last))
assert abs(last["resident"] - rss) < rss / 100
for part, mib in ("live", 16 + 19), ("kept", 19), ("mapped", 48), ("stacks", 4):
    assert mib << 20 <= last[part] < mib * 5 // 4 << 20, part
text = open(sys.argv[3]).read()
table = re.search("^Resident memory\n.*\n((?:  .*\n)+)", text, re.M)[1]
number = re.compile(r"(?<![\d.,])\d[\d,]*(?![\d.,%])")
cells = [number.findall(line)[-1] for line in table.splitlines()]
*cells, all, _, _ = [int(cell.replace(",", "")) for cell in cells]
assert sum(cells) == all == last["resident"], cells
assert text[: text.index("Held at the peak")].count("\n") < 25
P
