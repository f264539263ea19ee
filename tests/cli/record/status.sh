#!/bin/sh
# The command's exit status, streams and file are what they are without us.
. "$(dirname "$0")/../lib/record_lib.sh"
burn=$fixtures/burn

record 0 -- "$burn" 200 0
at_least 30 "$(samples_of 1)" "samples"
complete_above 99.9
grep -Eq "windlass (report|view) r.wndl" said || fail "the next command is not told"
grep -q 'samples kept, 0 dropped' said || fail "no word of what was dropped"
grep -q '^err 200$' said || fail "the command's stderr is lost"
"$windlass" record -o "it's.wndl" -- true 2>said
[ "$(tail -n 1 said | sed 's/view/report/')" = \
    "    windlass report 'it'\\''s.wndl'" ] ||
    fail "the next command cannot be typed: $(cat said)"

record 3 -q "$burn" 20 3
[ "$(cat said)" = "err 20" ] || fail "--quiet says: $(cat said)"
grep -q '^done 1 3 ' dump || fail "status 3 is not in the recording"
record 139 -- "$burn" 20 -11
grep -q '^done 1 267 ' dump || fail "signal 11 is not in the recording"

record 0 -v -- "$burn" 2500 0
grep -q 'processes run, [0-9]* samples; frames: [0-9]' said ||
    fail "-v counts nothing: $(cat said)"
grep -q '^windlass: frames: [0-9]* by CFI' said ||
    fail "-v: no frames in the summary: $(cat said)"
record 0 --engine outside -- sleep 0.4
grep -q '^limits 4 ' dump || fail "not seen from outside"
grep -q 'spent blocked' said || fail "outside: $(cat said)"
record 0 --engine outside -- "$burn" 1000 0
grep -q "none of the command's .* are in samples" said || fail "$(cat said)"
"$windlass" report --json r.wndl >report.json
used=$(sed -n 's/.*"unsampled_cpu_ns": *\([0-9]*\).*/\1/p' report.json |
    sort -n | tail -1)
at_least 500000000 "${used:-0}" "ns of CPU time seen from outside"

[ "$("$windlass" record -q "$burn" 5 0 2>/dev/null)" = "out 5" ] ||
    fail "the command's stdout is not as it was"
ls burn.*.cpu.wndl >/dev/null || fail "no file under the standard name"
"$windlass" record -q -o '%n-%h-%%.w' "$burn" 5 0 >/dev/null 2>&1
[ -f "burn-$(uname -n)-%.w" ] || fail "the pattern was not filled in: $(ls)"

# expect STATUS WORDS ARGUMENT...: trouble that leaves no file behind.
expect() {
    expected=$1
    words=$2
    shift 2
    rm -f t.wndl
    status=0
    "$windlass" record "$@" >out 2>said || status=$?
    [ "$status" -eq "$expected" ] || fail "$status, not $expected: $*"
    grep -q -- "$words" said || fail "'$words' is not in: $(cat said)"
    [ ! -f t.wndl ] || fail "a recording was left behind: $*"
    [ ! -s out ] || fail "something was said on stdout: $*"
}
expect 127 "/no/such" -o t.wndl /no/such
expect 127 "nosuchcommand" -o t.wndl nosuchcommand
: >plain
expect 126 "plain" -o t.wndl ./plain
expect 126 "Permission" -o t.wndl "$work"
expect 2 "error: COMMAND is missing" -o t.wndl
expect 2 "name of a file" -o - "$burn" 5 0
[ ! -e ./- ] || fail "a file has the name -"
expect 2 "rate" -r 0 -o t.wndl "$burn" 5 0
expect 2 "at most 20000 (a sample every 50 us), not '60000'" -r 60000 -o t.wndl "$burn" 5 0
real=$windlass
printf '#!/bin/sh\nexec "%s" "%s" "$@"\n' "$fixtures/noperf" "$real" >no
chmod +x no
windlass=$work/no
expect 125 "perf_event_paranoid is -*[0-9], and --engine timer" \
    --engine perf -o t.wndl "$burn" 5 0
windlass=$real
expect 125 "/no/such/t.wndl: .* another file with -o" -o /no/such/t.wndl "$burn" 5 0

echo precious >kept
status=0
"$windlass" record -o kept "$burn" 5 0 >/dev/null 2>said || status=$?
[ "$status" -eq 125 ] || fail "a file was written over"
[ "$(cat kept)" = precious ] || fail "a file was written over"

mkdir "with space"
mkdir "with space/cli" "with space/rt"
cp "$windlass" "with space/cli/windlass"
cp "$(dirname "$windlass")/../rt/libwindlass-rt.so" "with space/rt/"
status=0
"with space/cli/windlass" record "$burn" 5 0 2>said || status=$?
[ "$status" -eq 125 ] || fail "preloaded from a path with a space"
grep -q "spaces" said || fail "no word of the space: $(cat said)"

# What cannot load the recorder runs all the same, and that is told.
runs_alone() {
    "$@" -O1 -o alone "$sources/burn.c" 2>/dev/null || {
        echo "skipped: $*: not compiled"
        return 0
    }
    status=0
    "$windlass" record -o alone.wndl ./alone 20 4 >out 2>said || status=$?
    [ "$status" -eq 4 ] || fail "$*: exit status $status: $(cat said)"
    grep -q "could not be recorded: it is\|sampled with another engine" said ||
        fail "$*: $(cat said)"
    rm -f alone alone.wndl
}
runs_alone cc -static
if have musl-gcc; then
    runs_alone musl-gcc
fi

if have valgrind; then
    status=0
    "$windlass" record -o v.wndl valgrind -q "$burn" 20 4 >out 2>said ||
        status=$?
    [ "$status" -eq 4 ] || fail "valgrind: $status: $(cat said)"
fi
