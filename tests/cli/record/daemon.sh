#!/bin/sh
# What outlives the command goes on being recorded, without holding anybody.
. "$(dirname "$0")/../lib/record_lib.sh"
burn=$fixtures/burn

# The reader of the pipe is not kept waiting for the one that goes on.
said=$("$windlass" record -o d.wndl sh -c "(setsid $burn 3000 0 >/dev/null 2>&1 &) ; exit 6" \
    2>&1 </dev/null) && fail "not the command's status"
other=$(echo "$said" | sed -n "s/.*windlass ctl \([0-9]*\) stop.*/\1/p")
[ -n "$other" ] || fail "not told who goes on: $said"
kill -0 "$other" || fail "the pipe was held until all had ended"
"$windlass" ctl "$other" status >/dev/null || fail "it cannot be asked"
i=0
while kill -0 "$other" 2>/dev/null && [ $i -lt 120 ]; do
    sleep 0.5
    i=$((i + 1))
done
"$recdump" d.wndl >dump
grep -q '^done 1 6 ' dump || fail "not finished"
at_least 1500 "$(samples_of 1)" "samples of the one that was left"

# It ends by a signal.
said=$("$windlass" record -o t.wndl sh -c "$burn 2500 0 >out 2>err & exit 0" 2>&1)
other=$(echo "$said" | sed -n "s/.*windlass ctl \([0-9]*\) stop.*/\1/p")
kill -TERM "$other"
i=0
while kill -0 "$other" 2>/dev/null && [ $i -lt 20 ]; do
    sleep 0.1
    i=$((i + 1))
done
[ ! -s out ] || fail "the signal came with the end of the process only"
kill -0 "$other" 2>/dev/null && fail "SIGTERM did not end it"
"$recdump" t.wndl >dump
grep -q '^done 1 0 ' dump || fail "ended, but not finished"

# It ends when it is told to; the process does not.
said=$("$windlass" record -o e.wndl sh -c "$burn 2500 0 >ran 2>err & exit 0" 2>&1)
other=$(echo "$said" | sed -n "s/.*windlass ctl \([0-9]*\) stop.*/\1/p")
[ "$("$windlass" ctl "$other" stop)" = "$work/e.wndl" ] || fail "stop"
"$recdump" e.wndl >dump
grep -q '^done 1 0 ' dump || fail "stopped, but not finished"
i=0
while [ ! -s ran ] && [ $i -lt 120 ]; do
    sleep 0.5
    i=$((i + 1))
done
[ "$(cat ran)" = "out 2500" ] || fail "the process did not go on"
