#!/bin/sh
# held.sh WINDLASS RECDUMP: of a program that keeps blocks alive in the usual
# ways, `report` names who holds them and by what chain, what would be freed
# with each place, and the block whose loss lost a whole tree.
. "$(dirname "$0")/../lib/record_lib.sh"

c++ -g -O1 -o holders "$sources/../heap/holders.cpp" || fail "the program"
"$windlass" heap -q --scan -o r.wndl -- ./holders >address ||
    fail "exit status $?"

# ask OPTION...: the report without commas in numbers, into `report`.
ask() {
    "$windlass" report --no-pager -n 50 "$@" r.wndl >plain 2>errors ||
        fail "$*: exit status $?: $(cat errors)"
    sed 's/\([0-9]\),\([0-9]\)/\1\2/g' plain >report
}

# has PATTERN: a line of the report.
has() {
    grep -q "$1" report || fail "no line '$1': $(cat report)"
}

# ---- chains: BLOCKS of a place, who points to them, and which root
# held PLACE BLOCKS BYTES ROOT
held() {
    ask --who-holds "$1"
    has "^ *$3 .* $2  $1(.*) (holders.cpp"
    has "^ *$3 .* $2 .*$4"
}

held make_value 100 7200 \
    '< make_entry(entry\*) (holders.cpp.*, at offset 8, in `of`$'
has '< fill_cache() (holders.cpp.*, at several offsets$'
has '< `cache` of holders, at offset 0$'
held make_entry 100 2400 '< fill_cache() (holders.cpp'
held make_link 100 4000 '< `chain` of holders, at offset 0$'
has 'make_link(link_node\*) .*, which hold each other$'
held make_item 100 5600 '~ `items` of holders, at offset 0$'
has 'make_item() .*, which hold each other$'
held make_registered 100 7200 '< main (holders.cpp:.*, which hold each other'
has '< `registry` of holders, at offset 0$'
held make_captured 1 72 '< set_callback() (holders.cpp.*, at offset 0$'
has '< `callback` of holders, at offset 0$'
held make_listener 100 5600 '< `events` of holders, at offset 0$'

# ---- what would be freed
ask --retained
# The entries with the values, 2400 + 7200 bytes; the array with all of it.
has '^ *[0-9]* *9600 .* 2400 .* 100  make_entry'
has '^ *[0-9]* *9688 .* 88 .* 1  fill_cache()'
has '^ *9688 .* 0 .* 0  `cache` of holders$'
# ---- the lost tree, by its root alone: 101 blocks of 808 bytes
sed -n '/^Leaks:/,$p' report >leaks
grep -q '^ *81608 .* 808 .* 1  make_lost_root()' leaks ||
    fail "the lost tree: $(cat leaks)"
! grep -q make_lost_child leaks || fail "a child leads: $(cat leaks)"
has '; no root leads to 81608 bytes in 101 blocks$'
# The search for leaks and Valgrind agree; usable bytes are 8 more than 800.
"$windlass" report --no-pager r.wndl >leaks || fail "no report"
grep -A1 '^Leaks' leaks >/dev/null || fail "$(cat leaks)"
if have valgrind; then
    valgrind --leak-check=full --show-leak-kinds=all --xml=yes \
        --xml-file=memcheck ./holders >out || fail "valgrind"
    grep -q '<text>800 bytes in 1 blocks are definitely lost' memcheck ||
        grep -q '<text>80,800 .* bytes in 1 blocks are definitely' memcheck ||
        fail "Valgrind finds others: $(cat memcheck)"
    # All blocks of each line: reached or lost.
    python3 "$sources/../../oracle/holders_vs_valgrind.py" "$windlass" r.wndl \
        memcheck holders.cpp || fail "Valgrind reaches others"
fi

# LeakSanitizer tells the same: by requested bytes, as Valgrind.
if c++ -g -O1 -fsanitize=leak -o sanitized "$sources/../heap/holders.cpp" \
    2>errors; then
    ./sanitized >out 2>leaks || true # it ends with 23
    grep -q '^Direct leak of 800 byte(s) in 1 object' leaks &&
        grep -q '^Indirect leak of 80000 byte(s) in 100 object' leaks &&
        [ "$(grep -c ' leak of ' leaks)" -eq 2 ] ||
        fail "LeakSanitizer finds others: $(cat leaks)"
fi

# ---- one block, by an address in it
ask --block "$(printf '%x' $(($(cat address) + 8)))"
has '^Block 0x[0-9a-f]*: 88 bytes, allocated at fill_cache()'
has '^9688 bytes would be freed with it$'
has '^  0x[0-9a-f]* + 0  `cache` of holders$'
[ "$(grep -c ' make_entry(entry\*) (holders' report)" -eq 10 ] ||
    fail "not the ten buckets: $(cat report)"
# An entry of the first: its members by name, as its type is known.
entry=$(sed -n 's/^ *0x\([0-9a-f]*\) .* make_entry(.*/\1/p' report | sed -n 1p)
ask --block "$entry"
has '^  0x[0-9a-f]* + 8  make_value() (holders.cpp:[0-9]*), in `of`$'

# ---- all blocks of a site, by its number
ask --retained
site=$(awk '/ make_entry\(/ { print $1; exit }' report)
ask --site "$site"
has "^Site $site: 2400 bytes in 100 blocks, allocated at make_entry("
has '^9600 bytes would be freed with them$'
sed -n '/^Who points/,/^$/p' report | grep -q \
    '^ *10  fill_cache() (.*, at several offsets$' || fail "$(cat report)"
sed -n '/^What they/,/^$/p' report >to
grep -q '^ *100  make_value() (.*, at offset 8, in `of`$' to || fail "$(cat report)"
grep -q '^ *90  make_entry(entry\*) (.*, at offset 0, in `next`$' to ||
    fail "$(cat report)"
sed -n '/^The shortest chain/,$p' report >chain
[ "$(wc -l <chain)" -eq 3 ] && grep -q ' `cache` of holders$' chain ||
    fail "the chain: $(cat report)"
ask --retained
ask --site "$(awk '/ make_item\(/ { print $1; exit }' report)"
has '^ *99  ~ make_item() (.*, at offset 32, in `in_list.next`$'
"$windlass" report --json --retained --site "$site" r.wndl >json ||
    fail "no JSON of a site"
python3 - json <<'END' || fail "the JSON: $(cat json)"
import json, sys

h = json.load(open(sys.argv[1]))
site = h["site"]
assert h["by_place"][site["site"] - 1]["site"] == site["site"]
assert (site["blocks"], site["own"], site["retained"]) == (100, 2400, 9600)
assert site["lost_blocks"] == 0 and len(site["chain"]) == 2
pointers = {p["place"].split("(")[0]: p for p in site["to"]}
assert pointers["make_value"]["pointers"] == 100
assert pointers["make_value"]["offset"] == 8
assert pointers["make_value"]["member"] == "of"
assert pointers["make_entry"]["pointers"] == 90
END
! "$windlass" report --site 999 r.wndl >out 2>errors || fail "a site 999"
grep -q 'has [0-9]* sites, as --retained numbers them; there is no site 999$' \
    errors || fail "$(cat errors)"

# ---- as JSON: the tables, the chains of `make_value`, and the block
"$windlass" report --json --retained --who-holds make_value \
    --block "$(cat address)" r.wndl >json || fail "no JSON"
python3 - json <<'END' || fail "the JSON: $(cat json)"
import json, sys

h = json.load(open(sys.argv[1]))
assert (h["format"], h["version"]) == ("windlass-holders", 1)
assert (h["lost_bytes"], h["lost_blocks"]) == (81608, 101)
place = {t["place"].split("(")[0]: t for t in h["by_place"]}
assert place["make_entry"]["retained"] == 9600, place["make_entry"]
assert place["make_entry"]["own"] == 2400
assert [t["retained"] for t in h["leaks"]] == [81608]
steps, chain = h["steps"], [s for s in h["steps"] if s["root"]]
assert len(chain) == 1 and chain[0]["offset"] == 0, chain
assert chain[0]["place"] == "`cache` of holders"
assert "member" not in chain[0] # of a global
names, at = [], chain[0]
while "holds" in at:
    at = steps[at["holds"]]
    names.append(at["place"].split("(")[0])
assert names == ["fill_cache", "make_entry", "make_value"], names
assert (at["blocks"], at["bytes"], at["cycle"]) == (100, 7200, False)
assert [s.get("member") for s in steps if s["place"].startswith("make_entry(")
    ] == ["of"], steps
block = h["block"]
assert (block["size"], block["retained"], block["lost"]) == (88, 9688, False)
assert len(block["to"]) == 10 and [p["root"] for p in block["from"]] == [True]
END

# ---- what grew by holder: a cache that is filled further
cat >grows.c <<'END'
#include <stdlib.h>
struct kept { struct kept *next; long more[4]; } *kept;
int main(int count, char **words)
{
    (void)count;
    for (int left = atoi(words[1]); left > 0; left--) {
        struct kept *k = calloc(1, sizeof *k);
        k->next = kept;
        kept = k;
    }
    return 0;
}
END
cc -g -O1 -o grows grows.c || fail "the program that grows"
for count in 10 30; do
    "$windlass" heap -q --scan -o $count.wndl -- ./grows $count ||
        fail "grows: exit status $?"
done
"$windlass" diff --no-pager --retained 10.wndl 30.wndl >report ||
    fail "no diff"
has '^Scans: +800 bytes in +20 blocks$'
has '^ *+800 *1,200 *+20  main (grows.c:7)$'
has '^ *+800 *1,200 *+0  `kept` of grows$'
"$windlass" diff --json --retained 30.wndl 10.wndl >json || fail "no JSON"
python3 - json <<'END' || fail "the JSON: $(cat json)"
import json, sys

h = json.load(open(sys.argv[1]))
assert (h["format"], h["version"]) == ("windlass-holder-changes", 1)
assert h["earlier_blocks"] - h["later_blocks"] == 20
assert [(r["earlier"], r["later"]) for r in h["by_root"]] == [(1200, 400)]
assert len(h["by_place"]) == 1 and h["by_place"][0]["later_blocks"] == 10
END
"$windlass" diff --no-pager --retained 30.wndl 30.wndl >report || fail "same"
has '^No place or root retains more or less\.$'

# ---- the same worked out from the format alone, a block left out at a time
python3 "$sources/../../oracle/holders_vs_python.py" "$windlass" r.wndl 15 ||
    fail "Python finds others"

# ---- pointers with tags in their upper bits
cat >tagged.c <<'END'
#include <stdint.h>
#include <stdlib.h>
uintptr_t box;
__attribute__((noinline)) static void *make_boxed(void)
{
    return calloc(1, 100);
}
/* Far below what is left of the stack at the end. */
__attribute__((noinline)) static void fill_box(void)
{
    volatile char room[65536];
    room[0] = 0;
    box = (uintptr_t)make_boxed() | (uintptr_t)0xfff8 << 48;
}
int main(void)
{
    fill_box();
    return 0;
}
END
cc -g -O1 -o tagged tagged.c || fail "the tagged program"
for mask in '' '--pointer-mask 0xffffffffffff'; do
    # shellcheck disable=SC2086 # two words or none
    "$windlass" heap -q --scan $mask -o tagged.wndl -- ./tagged ||
        fail "tagged: exit status $?"
    "$windlass" report --no-pager --who-holds make_boxed tagged.wndl >with
    "$windlass" report --no-pager tagged.wndl >>with
    [ -n "$mask" ] || cp with without
done
grep -q '< `box` of tagged, at offset 0$' with || fail "no box: $(cat with)"
grep -q '^No definite leaks' with || fail "a leak with the mask: $(cat with)"
! grep -q '< `box`' without && ! grep -q '^No definite leaks' without ||
    fail "a box without the mask: $(cat without)"
! "$windlass" heap -q --pointer-mask 12x -- ./tagged 2>errors ||
    fail "a mask 12x"
grep -q "takes bits in hex, .*, not '12x'" errors || fail "$(cat errors)"

# ---- in the middle of a run, of a program that frees all before it ends
cat >tidy.c <<'END'
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
static void note(int number)
{
    (void)number;
}
struct kept { struct kept *next; long more[4]; } *kept;
void *volatile used;
int main(void)
{
    signal(SIGUSR1, note);
    for (int i = 0; i < 5000; i++) {
        struct kept *k = calloc(1, sizeof *k);
        k->next = kept;
        kept = k;
    }
    for (int i = 0; i < 3000 && access("seen", F_OK) != 0; i++) {
        free(used = malloc(100));
        usleep(10000);
    }
    for (struct kept *next; kept != NULL; kept = next) {
        next = kept->next;
        free(kept);
    }
    /* Its handled signals, which the scan blocks meanwhile, are so no more. */
    sigset_t blocked;
    sigprocmask(SIG_BLOCK, NULL, &blocked);
    return sigismember(&blocked, SIGUSR1);
}
END
cc -g -O1 -o tidy tidy.c || fail "the tidy program"
"$windlass" heap -q --scan --snapshot-every 0.2 -o tidy.wndl -- ./tidy &
tidy=$!
# A snapshot's scan is there with the next drain; the first may be too early.
is_scanned() {
    "$windlass" report --who-holds main tidy.wndl 2>errors >plain &&
        grep -q ' 5,000  main (tidy.c' plain
}
until_true "a scan while it runs" is_scanned
: >seen
wait $tidy || fail "the tidy program: exit status $?"
sed 's/\([0-9]\),\([0-9]\)/\1\2/g' plain >report
has '^ *200000 .* 5000  main (tidy.c:14), which hold each other$'
has '^ *200000 .* 5000 .*< `kept` of tidy, at offset 0$'
! "$windlass" report --who-holds main tidy.wndl | grep -q 'tidy.c:14' ||
    fail "what was freed is held at the end"

# ---- blocks that a thread of x86-64 has in a register alone, or on its stack;
# one thread waits in a call that goes on, one blocks the signal that asks it
cat >threads.c <<'END'
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>
#define KEPT "r12"
static _Atomic int ready;
void *volatile used;
__attribute__((noinline)) static void *make_kept(void)
{
    return calloc(1, 100);
}
static void *keep(void *unused)
{
    register void *kept __asm__(KEPT) = make_kept();
    __asm__ volatile("" : "+r"(kept));
    for (ready++; access("enough", F_OK) != 0;)
        for (volatile int i = 0; i < 1000000; i++)
            __asm__ volatile("" : "+r"(kept));
    free(kept);
    return unused;
}
__attribute__((noinline)) static void *make_waiting(void)
{
    return calloc(1, 200);
}
static void *waits(void *unused)
{
    void *volatile kept = make_waiting();
    struct pollfd none = {.fd = -1};
    for (ready++; access("enough", F_OK) != 0;)
        if (poll(&none, 1, 500) != 0)
            exit(1);
    free(kept);
    return unused;
}
__attribute__((noinline)) static void *make_deaf(void)
{
    return calloc(1, 300);
}
static void *is_deaf(void *unused)
{
    void *volatile kept = make_deaf();
    unsigned long long all = ~0ULL;
    long result;
    /* By the instruction: windlass keeps the signal open in spite of the call. */
    __asm__ volatile("xor %%r10, %%r10\n\tmov $8, %%r10d\n\tsyscall"
                     : "=a"(result)
                     : "a"(SYS_rt_sigprocmask), "D"(0), "S"(&all), "d"(0)
                     : "rcx", "r10", "r11", "memory");
    for (ready++; access("enough", F_OK) != 0;)
        usleep(10000);
    free(kept);
    return unused;
}
int main(void)
{
    pthread_t threads[3];
    pthread_create(&threads[0], NULL, keep, NULL);
    pthread_create(&threads[1], NULL, waits, NULL);
    pthread_create(&threads[2], NULL, is_deaf, NULL);
    while (ready < 3 || access("enough", F_OK) != 0) {
        free(used = malloc(100));
        usleep(10000);
    }
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
END
are_kept() {
    for asked in 'make_kept registers' 'make_waiting stack' \
        'make_deaf whole stack'; do
        "$windlass" report --who-holds "${asked%% *}" threads.wndl 2>&1 |
            grep -q " < ${asked#* } of " || return 1
    done
    # The function whose part of its thread's stack has the pointer.
    "$windlass" report --retained -n 50 threads.wndl >plain || return 1
    "$windlass" report --site \
        "$(awk '/ make_waiting \(/ { print $1; exit }' plain)" \
        threads.wndl >plain || return 1
    grep -q ' stack of thread [0-9]*, waits (threads.c:[0-9]*)' plain
}
if [ "$(uname -m)" = x86_64 ]; then
    cc -g -O1 -o threads threads.c -lpthread || fail "the threads"
    rm -f enough
    "$windlass" heap -q --scan --snapshot-every 0.3 -o threads.wndl -- \
        ./threads &
    threads=$!
    until_true "what threads keep" are_kept
    : >enough
    wait $threads || fail "the threads: exit status $?"
fi

# ---- a program that writes to its memory while its copy is scanned
cat >busy.c <<'END'
#include <stdlib.h>
#include <unistd.h>
void *volatile used;
/* A table of so many pointers, whose pages it writes to. */
int main(int count, char **words)
{
    (void)count;
    const size_t size = strtoul(words[1], NULL, 10);
    void **table = malloc(size * sizeof *table);
    void *first = malloc(100);
    for (size_t i = 0; i < size; i++)
        table[i] = first;
    while (access("enough", F_OK) != 0) {
        for (size_t i = 0; i < size; i += 512)
            table[i] = first;
        free(used = malloc(100));
    }
    return 0;
}
END
cc -g -O1 -o busy busy.c || fail "the busy program"
# busy WORDS TEXT OPTION...: a report on it says TEXT while it runs.
busy() {
    words=$1 said=$2
    shift 2
    rm -f enough
    "$windlass" heap -q --scan --snapshot-every 0.3 "$@" -o busy.wndl -- \
        ./busy "$words" &
    busy=$!
    says() {
        "$windlass" report --retained busy.wndl >plain 2>&1
        grep -q "$said" plain
    }
    until_true "'$said'" says
    : >enough
    wait $busy || fail "the busy program: exit status $?"
}
busy 300000 '; the program wrote to at most [0-9,]* bytes of pages meanwhile$'
busy 10000000 'wrote to more memory meanwhile than --scan-memory allows$' \
    --scan-memory 4k

# ---- what cannot be answered
! "$windlass" report --block 10 r.wndl >out 2>errors || fail "a block at 0x10"
grep -q 'no block of the scanned heap is at 0x10$' errors || fail "$(cat errors)"
! "$windlass" report --block 1x r.wndl >out 2>errors || fail "an address 1x"
ask --who-holds nowhere_at_all
has '^No block that is left was allocated at a place with `nowhere_at_all`\.$'
"$windlass" heap -q -o without.wndl -- ./holders >out || fail "without a scan"
! "$windlass" diff --retained r.wndl without.wndl >out 2>errors ||
    fail "a diff of no scan"
grep -q "without.wndl: the heap was not scanned" errors || fail "$(cat errors)"
! "$windlass" report --retained without.wndl >out 2>errors ||
    fail "of no scan"
grep -q "was not scanned: 'windlass heap --scan' does$" errors ||
    fail "$(cat errors)"
! "$windlass" report --retained --snapshot 999 r.wndl >out 2>errors ||
    fail "of a snapshot that is not there"
grep -q 'r.wndl: no heap has a snapshot 999;' errors || fail "$(cat errors)"
# A windlass with a sanitizer does not start there.
if (ulimit -v 600000 && "$windlass" --version >out 2>&1); then
    (ulimit -v 600000 && "$windlass" heap -q --scan -o small.wndl -- ./holders) \
        >out || fail "in a small address space"
    ! "$windlass" report --retained small.wndl >out 2>errors ||
        fail "of no room"
    grep -q 'could not be scanned' errors || fail "$(cat errors)"
fi
