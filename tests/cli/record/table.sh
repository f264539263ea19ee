#!/bin/sh
# A stripped program without .eh_frame, with its unwind table at hand: the same
# stacks as it has with it, of running and of blocked code. A table that is
# another's, damaged or full of lies does no harm.
. "$(dirname "$0")/../lib/record_lib.sh"
[ "$(uname -m)" = x86_64 ] || skip "not x86-64"
need "$fixtures/tabled" objcopy readelf

id=$(readelf -n "$fixtures/tabled" | awk '/Build ID:/ { print $3 }')
[ -n "$id" ] || skip "programs have no build-id here"
mkdir whole stripped tables other
cp "$fixtures/tabled" whole/tabled
objcopy --strip-all --remove-section=.eh_frame \
    --remove-section=.eh_frame_hdr whole/tabled stripped/tabled
"$windlass" unwind-table build whole/tabled -o "tables/$id.wut" 2>said ||
    fail "the table cannot be built: $(cat said)"

# Where names are: not where unwinders look.
debug=debug/.build-id/$(echo "$id" | cut -c 1-2)
mkdir -p "$debug"
objcopy --only-keep-debug whole/tabled \
    "$debug/$(echo "$id" | cut -c 3-).debug"

# usual_stacks: those with a fifth of the samples and more, in ./stacks; what
# burn() calls, such as the clock, counts for burn().
usual_stacks() {
    "$windlass" export --debug-dir debug -o folded.txt r.wndl 2>/dev/null
    awk '{ weight = $NF; all += weight; sub(/ [0-9]+$/, "")
            sub(/;burn;.*/, ";burn"); of[$0] += weight }
        END { for (text in of) if (of[text] * 5 > all) print text }' \
        folded.txt | sort >stacks
}

# blocked_above PERCENT: of the stacks of waits(), so many come from main().
goes_blocked() {
    "$windlass" export --debug-dir debug --time blocked -o folded.txt r.wndl \
        2>/dev/null
    awk '/;waits;/ { all += $NF } /;main;outer;waits;/ { with += $NF }
        END { exit !(all > 0 && with == all) }' folded.txt
}

record 0 -r 1000 -- whole/tabled 300 300
complete_above 99.9
usual_stacks
grep -q 'main;down;down;.*;inner;burn' stacks ||
    fail "not even as a whole: $(cat folded.txt)"
mv stacks expected
goes_blocked || fail "not even as a whole: $(cat folded.txt)"

# Without a table its code is followed to its returns, unless told otherwise.
record 0 --unwind cfi -r 1000 -- stripped/tabled 300 300
"$windlass" export --debug-dir debug -o folded.txt r.wndl 2>/dev/null
grep -q 'main;down' folded.txt && fail "main was found without a table"

WINDLASS_UNWIND_TABLES=$work/other:$work/tables
export WINDLASS_UNWIND_TABLES
for engine in auto timer; do
    record 0 --engine $engine -r 1000 -- stripped/tabled 300 300
    complete_above 99.9
    usual_stacks
    cmp -s expected stacks ||
        fail "$engine: other stacks: $(cat expected stacks)"
    goes_blocked || fail "$engine: blocked: $(cat folded.txt)"
    grep -q 'CFI covers.*tabled' said &&
        fail "$engine: tells of CFI that was not read: $(cat said)"
done

# Folders are named from where windlass was started, however many they are.
WINDLASS_UNWIND_TABLES=$(printf 'none%04d:' $(seq 1000))other:tables
record 0 -r 1000 -- sh -c 'cd stripped && exec ./tabled 300 0'
complete_above 99.9
usual_stacks
cmp -s expected stacks || fail "from another folder: $(cat expected stacks)"
WINDLASS_UNWIND_TABLES=$work/other:$work/tables

# The program's own table comes first where there is .eh_frame too.
record 0 -r 1000 -- whole/tabled 300 0
complete_above 99.9
usual_stacks
cmp -s expected stacks || fail "with both: $(cat expected stacks)"

# --- tables that are no good

for at in 13 15 17 33 65 300 700; do
    cp "tables/$id.wut" "other/$id.wut"
    printf '\377\377\377\377\377\377' | dd of="other/$id.wut" bs=1 seek=$at \
        conv=notrunc 2>/dev/null
    record 0 -r 1000 -- stripped/tabled 50 20
done

# tells_why REASON: it is said at the end, of that file alone.
tells_why() {
    grep "^windlass: warning: .*$id.wut" said >warned || true
    grep -q "other/$id.wut: $1; it was found for $work/stripped/tabled\$" \
        warned && [ "$(wc -l <warned)" -eq 1 ] ||
        fail "not told that it $1: $(cat said)"
}

head -c 500 "tables/$id.wut" >"other/$id.wut"
record 0 -r 1000 -- stripped/tabled 100 20
complete_above 99.9
tells_why "an unwind table cut short"
"$windlass" unwind-table build "$windlass" -o "other/$id.wut" 2>/dev/null ||
    fail "no table of windlass itself"
record 0 -r 1000 -- stripped/tabled 100 20
complete_above 99.9
tells_why "an unwind table for another binary, by its build-id"
cp "tables/$id.wut" "other/$id.wut"
printf '\003' | dd of="other/$id.wut" bs=1 seek=12 conv=notrunc 2>/dev/null
record 0 -r 1000 -- stripped/tabled 100 20
complete_above 99.9
tells_why "unsupported unwind table version (expected 2)"
cp "tables/$id.wut" "other/$id.wut"
record 0 -r 1000 -- stripped/tabled 100 20
grep "$id.wut" said && fail "told of a good table"

# Of what its first bytes show to be no table of the program, nothing else is
# read: its memory would be seen to grow by all of it.
have python3 || exit 0
large=$((300 * 1024)) # KiB
for as in zeros cut longer text; do
    rm -f r.wndl "other/$id.wut"
    case $as in
    cut) cp "tables/$id.wut" "other/$id.wut" ;;
    longer)
        cp "tables/$id.wut" "other/$id.wut"
        # Its size, at 20, is told to be the file's: its parts are too short.
        printf '\000\000\300\022' | dd of="other/$id.wut" bs=1 seek=20 \
            conv=notrunc 2>/dev/null
        ;;
    text) echo "no table" >"other/$id.wut" ;;
    esac
    truncate -s ${large}K "other/$id.wut"
    peak=$(python3 -c 'import resource, subprocess, sys
assert subprocess.call(sys.argv[1:], stderr=subprocess.DEVNULL) == 0
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)' \
        "$windlass" record -o r.wndl -r 1000 -- stripped/tabled 100 20) ||
        fail "$as: not recorded"
    [ "$peak" -lt $large ] || fail "$as: $peak KiB of memory were used"
done
