#!/bin/sh
# All memory of a process, not its heap alone: the parts in the report sum to the
# resident memory that the kernel says at the same moment, and what is mapped, a
# thread's stack and freed blocks are in the parts of their name. Whose they are is
# known: what called mmap, the modules, the arenas.
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
    static void *blocks[3000];
    for (int i = 0; i < 3000; i++)
        memset(blocks[i] = malloc(1000), 1, 1000);
    for (int i = 0; i < 3000; i += 2)
        free(blocks[i]);
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
for part, mib in ("live", 16 + 20), ("kept", 20), ("mapped", 48), ("stacks", 4):
    assert mib << 20 <= last[part] < mib * 5 // 4 << 20, part
mapped = [p for p in last["places"] if p["kind"] == "mapped"]
assert [p["callers"][0] for p in mapped] == ["main"], mapped
assert 48 << 20 <= mapped[0]["bytes"] <= last["mapped"], mapped
for kind in "code", "data":
    places = [p for p in last["places"] if p["kind"] == kind]
    assert sum(p["bytes"] for p in places) == last[kind], (kind, places)
    assert "libc.so.6" in [p["file"] for p in places]
arenas = [p for p in last["places"] if p["kind"] == "heap"]
inside = last["live"] + last["kept"] - (16 << 20)
assert abs(sum(p["bytes"] for p in arenas) - inside) < 1 << 16, arenas
kept = [p["bytes"] - p["live"] for p in arenas]
assert len(arenas) == 2 and min(kept) > 1400 * 1000, arenas
assert abs(sum(kept) - last["kept"]) < 1 << 16, arenas
text = open(sys.argv[3]).read()
assert re.search(r"^  of what is mapped.*\n  .*  main \(use ", text, re.M)
table = re.search("^Resident memory\n.*\n((?:  .*\n)+)", text, re.M)[1]
number = re.compile(r"(?<![\d.,])\d[\d,]*(?![\d.,%])")
cells = [number.findall(line)[-1] for line in table.splitlines()]
*cells, all, _, _ = [int(cell.replace(",", "")) for cell in cells]
assert sum(cells) == all == last["resident"], cells
assert text[: text.index("Held at the peak")].count("\n") < 25
P
