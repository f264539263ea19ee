#!/bin/sh
# A recording that runs can be asked for things, and ends when it is told to.
. "$(dirname "$0")/../lib/record_lib.sh"
burn=$fixtures/burn

# started COMMAND...: waits until it is being recorded; its pid in $target.
started() {
    target=$(child_of "$recorder")
    until_true "it is being recorded" has_samples
}
has_samples() {
    "$windlass" ctl "$target" status >status.out &&
        ! grep -q ' 0 samples' status.out
}
has_more() {
    [ "$(samples_now)" -gt "$before" ]
}
samples_now() {
    "$windlass" ctl "$target" status | sed 's/.*: \([0-9]*\) samples.*/\1/'
}

"$windlass" record -o ctl.wndl "$burn" 6000 3 >out 2>said &
recorder=$!
started
"$windlass" ctl "$recorder" pause >answer || fail "no pause"
grep -q '^paused: .*ctl.wndl' answer || fail "pause: $(cat answer)"
sleep 0.2
before=$(samples_now)
sleep 0.4
[ "$(samples_now)" -eq "$before" ] || fail "samples while paused"
"$windlass" ctl "$target" resume >/dev/null || fail "no resume"
until_true "samples after the pause" has_more
[ "$("$windlass" ctl "$target" dump)" = "$work/ctl.wndl" ] || fail "dump"
[ "$("$windlass" ctl "$target" stop)" = "$work/ctl.wndl" ] || fail "stop"
"$recdump" ctl.wndl >dump
grep -q '^done 1 512 ' dump || fail "not finished when stop had answered"
grep -q '^paused' dump || fail "the pause is not told"
kill -0 $recorder || fail "the recorder did not wait for the command"
"$windlass" ctl "$target" status 2>answer && fail "status after the stop"
grep -q "in no running recording" answer || fail "after the stop: $(cat answer)"
status=0
wait $recorder || status=$?
[ "$status" -eq 3 ] || fail "exit status $status after a stop"
grep -q "out 6000" out || fail "the command did not go on"

# It ends by the clock, and begins by it.
record 3 --duration 1 -- "$burn" 3000 3
grep -q '^done 1 512 ' dump || fail "--duration: it did not end"
[ "$(samples_of 1)" -lt 2000 ] || fail "--duration: all was sampled"
at_least 20 "$(samples_of 1)" "samples in a second"
grep -q 'the command keeps running' said || fail "--duration: $(cat said)"
record 3 --delay 100 -- "$burn" 200 3
[ "$(samples_of 1)" -eq 0 ] || fail "--delay: samples before"
record 3 --delay 0.3 -- "$burn" 1200 3
at_least 100 "$(samples_of 1)" "samples after the delay"
"$windlass" record --delay 100 --duration 0.5 -o early.wndl "$burn" 4000 0 \
    >out 2>said &
recorder=$!
until_true "it can be asked" "$windlass" ctl "$recorder" status
sleep 0.8
"$windlass" ctl "$recorder" resume >/dev/null || fail "the delay does not end"
wait $recorder
grep -q 'the command keeps running' said || fail "--duration: it did not begin"

# A process that starts in a pause is paused.
"$windlass" record --delay 100 -o late.wndl \
    sh -c "$burn 300 0; touch paused; $burn 900 0" >out 2>said &
recorder=$!
until [ -e paused ]; do sleep 0.1; done
"$windlass" ctl "$recorder" start >/dev/null || fail "the delay does not end"
wait $recorder
"$recdump" late.wndl >dump
at_least 100 "$(samples_of 1)" "samples after it went on"
[ "$(samples_of 1)" -lt 1000 ] || fail "the pause was not for all"

# What is blocked when it is asked for is told up to then.
"$windlass" record -o blocked.wndl sh -c 'sleep 4; true' >out 2>said &
recorder=$!
until_true "sleep runs" pgrep -P "$(child_of $recorder)" -x sleep
sleep 1
"$windlass" ctl "$recorder" dump >answer || fail "no dump: $(cat answer)"
"$recdump" blocked.wndl >dump
"$windlass" ctl "$recorder" stop >answer || fail "no stop: $(cat answer)"
awk '$1 == "block" && $5 == "blocked" { ms[$2] += $4 / 1e6 }
    END { for (t in ms) n += ms[t] > 300; exit n < 2 }' dump ||
    fail "a dump does not tell of blocks that go on"
wait $recorder

status=0
"$windlass" ctl 1 status 2>answer || status=$?
[ "$status" -eq 1 ] || fail "process 1: $status"
"$windlass" ctl $$ jump 2>answer && fail "it can jump"
grep -q "'jump' is not an action" answer || fail "$(cat answer)"

# Where somebody else listens nobody is asked.
if [ "$(id -u)" = 0 ]; then
    "$windlass" record -q -o others.wndl "$burn" 3000 0 >out &
    recorder=$!
    started
    chown 12345 windlass-*/socket
    "$windlass" ctl "$target" status 2>answer && fail "somebody else was asked"
    wait $recorder
fi
