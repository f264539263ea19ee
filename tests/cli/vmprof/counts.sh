#!/bin/sh
# counts.sh WINDLASS SPIN BLOCKS PATCH: programs of known numbers, and exactly
# these in the results: stacks, heap sites, and code that is written again.
set -eu
windlass=$(realpath "$1")
spin=$(realpath "$2")
blocks=$(realpath "$3")
patch=$(realpath "$4")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export LC_ALL=C

fail() {
    echo "counts: $1"
    shift
    for file in "$@"; do
        cat "$file"
    done
    exit 1
}

# A stack each 1,000 instructions, in the block of code in which it is due.
# spin_deep has 100 callers, and is cut everywhere; nothing else is.
"$windlass" vmprof -q --stacks-every 1000 -o spin.vm -- "$spin"
nm -n "$spin" >symbols
python3 - >out 2>&1 <<'END' || fail "stacks are not right" out
import bisect
names = [line.split() for line in open("symbols")]
starts = [int(n[0], 16) for n in names]
wanted = {"spin_long": 3000, "spin_short": 1000, "spin_deep": 400}
seen = dict.fromkeys(wanted, 0)
due = 0
for line in open("spin.vm"):
    words = line.split()
    if words[0] == "instructions":
        instructions = int(words[1])
    if words[0] != "stack":
        continue
    at, weight, ips = int(words[2]), int(words[3]), words[4:]
    due += 1000 * weight
    assert due <= at < due + 100, (due, at)
    name = names[bisect.bisect_right(starts, int(ips[0], 16)) - 1][2]
    is_cut = ips[-1] == "cut"
    assert is_cut == (name == "spin_deep" or len(ips) > 64), line
    assert not is_cut or len(ips) == 65, line
    if name in seen:
        seen[name] += weight
assert instructions // 1000 - due // 1000 in (0, 1), (instructions, due)
for name, count in wanted.items():
    assert seen[name] in (count, count + 1), seen
END
"$windlass" vmprof --show spin.vm --recording spin.wndl 2>err
"$windlass" report --no-pager spin.wndl >out
cut=$(grep -c '^stack .* cut$' spin.vm)
grep -q "^Samples .* 0 dropped, $cut truncated, 0 lost;" out ||
    fail "$cut stacks were cut" out

# The same program again has the same stacks.
grep '^stack ' spin.vm >first
"$windlass" vmprof -q --stacks-every 1000 -o spin.vm -- "$spin"
grep '^stack ' spin.vm | diff first - || fail "two runs differ"

# Heap sites: 40 pages five times in room for eight, and 100 small blocks.
"$windlass" vmprof -q --blocks --mem 32K,4M -o blocks.vm -- "$blocks"
for size in 32K 4M; do
    "$windlass" vmprof --show blocks.vm --show-mem "$size" --json >$size.json
done
python3 - >out 2>&1 <<'END' || fail "sites are not right" out 32K.json
import json
def sites(size):
    found = {}
    for site in json.load(open(size + ".json"))["sites"]:
        found[site["allocated_by"].split()[0]] = site
    return found
pages, small = sites("32K")["some_pages"], sites("32K")["small_block"]
assert (pages["blocks"], pages["bytes"]) == (1, 40 * 4096), pages
assert (small["blocks"], small["bytes"]) == (100, 4800), small
assert pages["df1"] == 40, pages
assert pages["dfc"] + pages["dfd"] == 4 * 40, pages
pages = sites("4M")["some_pages"]
assert (pages["df1"], pages["dfc"], pages["dfd"]) == (40, 0, 0), pages
END

# Code that is translated again and again counts once, with all of its runs:
# its two instructions, each of 200 versions ten times.
"$windlass" vmprof -q --page 4K -o patch.vm -- "$patch" ||
    fail "the program saw code of before"
[ "$(awk '$1 == "ran" && $3 == 2000' patch.vm | wc -l)" -ge 2 ] ||
    fail "no code ran 2,000 times"
awk '$1 == "ran" { print $2 }' patch.vm | sort | uniq -d >twice
[ ! -s twice ] || fail "instructions that are listed twice" twice
awk '$1 == "instructions" { i = $2 } $1 == "ran" { sum += $3 }
    END { exit i != sum }' patch.vm || fail "a sum is not that of its parts"
echo "counts: all right"
