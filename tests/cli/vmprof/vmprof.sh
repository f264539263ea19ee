#!/bin/sh
# vmprof.sh WINDLASS WALK: runs, their status and their results; what is shown
# of results; and what is said where a run is not possible.
set -eu
windlass=$(realpath "$1")
walk=$(realpath "$2")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export LC_ALL=C

fail() {
    echo "vmprof: $1"
    shift
    for file in "$@"; do
        cat "$file"
    done
    exit 1
}

# run STATUS ARG...: windlass vmprof; leaves ./out and ./err.
run() {
    wanted=$1
    shift
    status=0
    "$windlass" vmprof "$@" >out 2>err || status=$?
    [ "$status" -eq "$wanted" ] ||
        fail "status $status instead of $wanted: $*" err
}

# said PATTERN FILE: a line must match.
said() {
    grep -Eq -e "$1" "$2" || fail "no line of $2 matches: $1" "$2"
}

# The report after a run: the function that walks, the knee, the mapping.
run 0 --mem 400K,800K,2M -o walk.%p.vm -- "$walk" 7
[ ! -s out ] || fail "something was printed for the program" out
said '^windlass: results: walk\.[0-9]+\.vm$' err
said '^VM I accesses: [0-9,]+  \([0-9,]+ clean faults \+ [0-9,]+ dirty' err
said '  800 KB  .*<- knee$' err
said '2 MB +0 ' err
said 'walk_at_random|main  \[' err
results=$(echo walk.*.vm)
[ -f "$results" ] || fail "there is no file of results"

# The same again from the file, in each form; a size of those simulated.
run 0 --show "$results" --show-mem 800K
said '^.*, 800 KB of memory in pages of 4 KB$' out
run 0 --show "$results" -n 1
said '^ .* +0  .*/walk$|^[0-9]+ more mappings: -n [0-9]+$' out
run 0 --show "$results" --json
python3 - out <<'END' || fail "the JSON is not right" out
import json, sys
d = json.load(open(sys.argv[1]))
lines = sum(line["self"].get("ia", 0) for line in d["lines"])
assert lines == d["ia"], (lines, d["ia"])
data = sum(line["self"].get("dfd", 0) for line in d["lines"])
assert data == d["memories"][0]["dfd"], data
mappings = sum(m["dfd"] for m in d["mappings"])
assert mappings == data, (mappings, data)
assert sum(t["dfd"] for t in d["time"]) == data
END
run 0 --show "$results" --callgrind graph
said '^events: Ia If1 Ifc Ifd Da Df1 Dfc Dfd$' graph
run 1 --show "$results" --show-mem 900K
said 'no memory of 921600 bytes was simulated' err
head -c 300 "$results" >cut
run 1 --show cut
said '^windlass: error: cut: the last line is missing' err

# A command of several lines is one line of the results.
run 0 -q -o lines.vm -- sh -c 'exit 0
end'
run 0 --show lines.vm
said '^.*sh -c exit 0 end: process' out

# The start, for linkers.
run 0 -q --startup 100000 -o start.vm -- "$walk" 7
run 0 --show start.vm --order-file order
said '^_start$' order
said '^main$' order
[ "$(sort order | uniq -d | wc -l)" -eq 0 ] || fail "a name twice" order
run 0 --show start.vm --section-order-file order
said '^\.text\.main$' order

# Two runs side by side; stacks as a recording.
run 0 -q --mem 400K -o other.vm -- "$walk" 8
"$windlass" diff start.vm other.vm >out 2>err &&
    fail "sizes differ, but nothing was said" out
said 'no memory of 67108864 bytes was simulated' err
"$windlass" diff "$results" other.vm >out 2>err || fail "no diff" err
said ' faults$' out
said ' in 400 KB of memory$' out
said ' (walk_at_random|main)$' out
for option in --json '--by line' '--plot x.svg' '--filter x' --heap; do
    status=0
    # shellcheck disable=SC2086 # two words
    "$windlass" diff $option "$results" other.vm >out 2>err || status=$?
    [ $status = 2 ] && grep -q 'only -n and the options' err ||
        fail "diff $option: status $status" err
done
"$windlass" diff -n 1 "$results" other.vm >out 2>err || fail "no diff" err
[ "$(sed '1,/^Faults:/d' out | wc -l)" -eq 2 ] || fail "not one row" out
run 0 -q --stacks-every 1000 -o stacks.vm -- "$walk" 7
run 0 --show stacks.vm --recording stacks.wndl
"$windlass" report --no-pager stacks.wndl >out
said '^Samples .* 0 dropped, 0 truncated, 0 lost; stacks 100\.0% complete$' out
said '^Sampled +every 1,000 instructions, counted under Valgrind' out
said 'main|walk_at_random' out

# The program's own status and signals.
run 7 -q -o status.vm -- sh -c 'exit 7'
run 143 -q -o killed.vm -- sh -c 'kill -TERM $$'
[ -f killed.vm ] || fail "a program that a signal ended left no results"

# No results: Valgrind cannot run it, or the tool cannot write; not even those
# of an earlier run are shown.
cp status.vm stale.vm
run 127 -o stale.vm -- ./nothing
said 'the run left no results' err
printf 'int main(void) { return 0; }\n' >dwarf64.c
if cc -g -gdwarf64 -o dwarf64 dwarf64.c 2>cc.err; then
    run 1 -q -o dwarf64.vm -- ./dwarf64
    said 'left no results.*; if it gives up on debug information, strip' err
    strip dwarf64
    run 0 -q -o dwarf64.vm -- ./dwarf64
fi
run 1 -q -o no/such/folder.vm -- true
said 'the run left no results' err
run 2 -o '%q{HOME}' -- true
said 'only %p stands for something' err

# AVX-512, which Valgrind has not.
printf 'int main(void) { __asm__("vpxorq %%zmm0, %%zmm0, %%zmm0"); }\n' >avx.c
if cc -o avx avx.c 2>cc.err; then
    run 132 -q -o avx.vm -- ./avx
    said 'SIGILL ended the command: .*AVX-512.*a build without them' err
    [ -f avx.vm ] || fail "nothing was left of a program that SIGILL ended"
fi

# Set-user-ID programs are not run.
cp "$walk" set_uid
chmod u+s set_uid
run 125 -q -o set_uid.vm -- ./set_uid
said 'set_uid is set-user-ID, .*run a copy without these rights$' err
printf '#!%s/set_uid\n' "$PWD" >script
chmod +x script
run 125 -q -o set_uid.vm -- ./script
said 'set_uid is set-user-ID' err

# A fork counts for itself, an exec writes what was counted.
run 0 -q -o fork.%p.vm -- sh -c 'true & wait; exec true'
[ "$(ls fork.*.vm | wc -l)" -ge 1 ] || fail "no results of a fork"

# Programs that it starts have results of their own.
run 0 -q --trace-children -o tree.%p.vm -- sh -c '/bin/true; exec /bin/echo'
[ "$(grep -l '^command /bin/true' tree.*.vm | wc -l)" -eq 1 ] &&
    [ "$(grep -l '^command /bin/echo' tree.*.vm | wc -l)" -eq 1 ] ||
    fail "no results of the programs that were started"

# What was counted before an exec is a part of the run, and says so.
run 0 -q -o part.vm -- sh -c 'exec /bin/true'
run 0 --show part.vm
said '^A part of the run: the program went on' out
run 0 --show status.vm
! grep -q '^A part of the run' out || fail "the whole run is no part" out

# Results of an earlier run are there whole while new ones are written.
[ -z "$(ls ./*.part 2>/dev/null)" ] || fail "parts of files are left"

# What is not possible.
run 2
said 'COMMAND is missing' err
run 2 --show a b
for sizes in 1X 0 1M, ,1M 1MM ''; do
    run 2 --mem "$sizes" -- true
    said '--mem takes up to 16 sizes' err
done
PATH=/nowhere run 125 -- /bin/true
said 'cannot find valgrind; install it' err
mkdir other
printf '#!/bin/sh\necho valgrind-1.2.3\n' >other/valgrind
chmod +x other/valgrind
PATH=$work/other:$PATH run 125 -- /bin/true
said 'valgrind is valgrind-1\.2\.3, but this windlass was built for' err
echo "vmprof: all right"
