#!/bin/sh
# contents.sh WINDLASS: `heap --keep-contents` writes the words of all blocks to
# the recording, from which `export -f dmd` writes a file in DMD's scan mode.
. "$(dirname "$0")/../lib/record_lib.sh"

cat >keeps.c <<'END'
#include <stdio.h>
#include <stdlib.h>
struct item { struct item *next; long number; char odd[5]; } *items;
long *table;
int main(void)
{
    for (long i = 0; i < 5; i++) {
        struct item *item = malloc(21);
        item->next = items;
        item->number = 0x1000 + i;
        items = item;
    }
    table = calloc(1, 300000);
    for (long i = 0; i < 300000 / 8; i += 512)
        table[i] = i + 7;
    printf("%p\n", (void *)items);
    return 0;
}
END
cc -g -O1 -o keeps keeps.c || fail "the program"
"$windlass" heap -q --scan --keep-contents -o k.wndl -- ./keeps >address ||
    fail "exit status $?"
"$windlass" export -f dmd -o k.json k.wndl || fail "no export"

# ---- what the program wrote, word for word
python3 - k.json "$(cat address)" <<'END' || fail "the words: $(head -c 900 k.json)"
import json, sys

dmd = json.load(open(sys.argv[1]))
assert dmd["invocation"] == {"dmdEnvVar": None, "mode": "scan"}
blocks = {int(b["addr"], 16): b for b in dmd["blockList"]}
at, numbers = int(sys.argv[2], 16), []
while at != 0:
    assert (blocks[at]["req"], blocks[at]["slop"]) == (21, 3)
    assert len(blocks[at]["contents"]) == 2
    at, number = (int(word, 16) for word in blocks[at]["contents"])
    numbers.append(number)
assert numbers == [0x1004, 0x1003, 0x1002, 0x1001, 0x1000], numbers
(table,) = [b for b in blocks.values() if b["req"] == 300000]
words = [int(word, 16) for word in table["contents"]]
assert len(words) == 37500
assert all(w == (0 if i % 512 else i + 7) for i, w in enumerate(words))
frames = [dmd["frameTable"][f] for f in dmd["traceTable"][table["alloc"]]]
assert frames[0].startswith("#00: main (") and "keeps.c:13)" in frames[0]
END
"$windlass" report --no-pager k.json >report || fail "no report of the file"
grep -q '^  5 blocks in heap block record ' report || fail "$(cat report)"

# ---- the pointers between blocks, from the words and from the scan
python3 "$sources/../../oracle/contents_vs_scan.py" "$windlass" k.wndl k.json ||
    fail "others point in the contents"

# ---- a recording that is cut has all contents or none
size=$(wc -c <k.wndl)
for part in 1 3 5 7 8 9; do
    head -c $((size * part / 10)) k.wndl >cut.wndl
    "$windlass" export -f dmd -o cut.json cut.wndl >out 2>&1 || continue
    ! grep -q '"mode": "scan"' cut.json || cmp -s cut.json k.json ||
        fail "of $part tenths: $(head -c 300 cut.json)"
done

# ---- without contents, and without a scan
"$windlass" heap -q --scan -o without.wndl -- ./keeps >out || fail "without"
"$windlass" export -f dmd -o without.json without.wndl || fail "no live export"
grep -q '"mode": "live"' without.json || fail "$(head -c 300 without.json)"
! "$windlass" heap -q --keep-contents -- ./keeps >out 2>errors ||
    fail "contents without a scan"
grep -q -e '--keep-contents needs --scan;' errors || fail "$(cat errors)"
