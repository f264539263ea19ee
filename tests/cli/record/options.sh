#!/bin/sh
# Options by the environment: for record, and for programs without a wrapper.
. "$(dirname "$0")/../lib/record_lib.sh"
burn=$fixtures/burn
rt=$(cd "$(dirname "$windlass")/../rt" && pwd)/libwindlass-rt.so

# A recording that is there is kept, any other file is in the way.
"$windlass" record -q -o twice.wndl true
cp twice.wndl once.wndl
"$windlass" record -o twice.wndl true 2>said || fail "twice: $(cat said)"
cmp once.wndl twice.wndl.old || fail "the old recording was not kept"
grep -q 'is now twice.wndl.old$' said || fail "not said: $(cat said)"
echo mine >twice.wndl.old
status=0
"$windlass" record -o twice.wndl touch ran 2>said || status=$?
[ "$status" -eq 125 ] || fail "a text made room: $status"
grep -q 'twice.wndl.old: .* no recording; name another file' said ||
    fail "$(cat said)"
[ "$(cat twice.wndl.old)" = mine ] || fail "a text was overwritten"
[ ! -e ran ] || fail "the command ran"

# Below the command line.
WINDLASS_OPTIONS="rate=100,output=env.wndl quiet" \
    "$windlass" record "$burn" 500 3 2>said && fail "not the status"
[ "$(cat said)" = "err 500" ] || fail "quiet: $(cat said)"
"$recdump" env.wndl >dump
grep -q '^limits [0-9]* [0-9]* 512' dump || fail "no limits"
[ "$(samples_of 1)" -lt 70 ] || fail "the rate was not taken"
WINDLASS_OPTIONS="rate=100 max-frames=100 threads=nobody" \
    record 3 -r 1000 --threads main -- "$burn" 300 3
at_least 100 "$(samples_of 1)" "samples at the rate of the command line"
grep -q '^limits [0-9]* [0-9]* 100 ' dump || grep -q '^limits 1 0 100 ' dump ||
    fail "max-frames: $(grep ^limits dump)"
WINDLASS_OPTIONS="rat=100" "$windlass" record true 2>said && fail "taken"
grep -q "WINDLASS_OPTIONS: unknown option 'rat=100'" said ||
    fail "$(cat said)"

# finished FILE: waits until the recording is.
finished() {
    until_true "$1 is finished" is_finished "$1"
}
is_finished() {
    "$recdump" "$1" >dump && grep -q '^done 1' dump
}

# Without a wrapper, with a child.
start=$(date +%s)
status=0
LD_PRELOAD=$rt WINDLASS_OPTIONS="output=alone.wndl rate=500" \
    sh -c "$burn 400 0; $burn 200 0; exit 7" >out 2>said || status=$?
[ "$status" -eq 7 ] || fail "exit status $status"
[ "$(cat said)" = "err 400
err 200" ] || fail "something was said: $(cat said)"
finished alone.wndl
at_least 100 "$(samples_of 1)" "samples"
[ "$(grep -c '^process' dump)" -ge 3 ] || fail "not all processes"
complete_above 99.9
grep -q '^done 1 512 ' dump || fail "a status that nobody knows"

# It can be asked, by the program's number.
LD_PRELOAD=$rt WINDLASS_OPTIONS="output=asked.wndl" "$burn" 4000 0 >out 2>said &
program=$!
until_true "it can be asked" "$windlass" ctl $program status
"$windlass" ctl $program status >answer || fail "not asked"
grep -q "^recording .*asked.wndl" answer || fail "$(cat answer)"
[ "$("$windlass" ctl $program stop)" = "$work/asked.wndl" ] || fail "stop"
finished asked.wndl
wait $program || fail "the program did not survive the stop"

# What is wrong is said, and the program runs.
status=0
LD_PRELOAD=$rt WINDLASS_OPTIONS="rate=0" "$burn" 20 6 >out 2>said || status=$?
[ "$status" -eq 6 ] || fail "rate=0: exit status $status"
grep -q "WINDLASS_OPTIONS: --rate takes" said || fail "$(cat said)"
grep -q "see WINDLASS_OPTIONS=help" said || fail "$(cat said)"
grep -q "runs unrecorded" said || fail "$(cat said)"
echo mine >mine.wndl
LD_PRELOAD=$rt WINDLASS_OPTIONS="output=mine.wndl" "$burn" 20 6 >out 2>said &&
    fail "an output that is there: not the status"
grep -q "name another file with output=" said || fail "$(cat said)"
[ "$(cat mine.wndl)" = mine ] || fail "a file was overwritten"
for bad in "-d 1e-12" "--delay 0.0009" "--threads ," "--threads a,,b" \
    "--threads a,"; do
    status=0
    # shellcheck disable=SC2086
    "$windlass" record $bad -o no.wndl true 2>said || status=$?
    [ "$status" -eq 2 ] || fail "$bad: exit status $status"
    [ ! -e no.wndl ] || fail "$bad: recorded"
done
LD_PRELOAD=$rt WINDLASS_OPTIONS=help sh -c 'echo ran' >out 2>said ||
    fail "help fails"
grep -q '^  threads=PATTERN' said || fail "help: $(cat said)"
grep -q '^  no-children ' said || fail "help: $(cat said)"
[ ! -s out ] || fail "help runs the program"

"$windlass" --help | grep -q '^  collect ' && fail "collect is for ourselves"
"$windlass" record --help | grep -q WINDLASS_OPTIONS ||
    fail "record --help does not tell of WINDLASS_OPTIONS"
