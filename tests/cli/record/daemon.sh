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
until_true "it ends" is_gone "$other"
"$recdump" d.wndl >dump
grep -q '^done 1 6 ' dump || fail "not finished"
sampled 2500 "of the one that was left"

# It ends by a signal.
said=$("$windlass" record -o t.wndl sh -c "$burn 60000 0 >out 2>err & echo \$! >left" 2>&1)
other=$(echo "$said" | sed -n "s/.*windlass ctl \([0-9]*\) stop.*/\1/p")
kill -TERM "$other"
until_true "SIGTERM ends it" is_gone "$other"
kill "$(cat left)" || fail "the signal came with the end of the process only"
"$recdump" t.wndl >dump
grep -q '^done 1 0 ' dump || fail "ended, but not finished"

# It ends when it is told to; the process does not.
said=$("$windlass" record -o e.wndl sh -c "$burn 2500 0 >ran 2>err & exit 0" 2>&1)
other=$(echo "$said" | sed -n "s/.*windlass ctl \([0-9]*\) stop.*/\1/p")
[ "$("$windlass" ctl "$other" stop)" = "$work/e.wndl" ] || fail "stop"
"$recdump" e.wndl >dump
grep -q '^done 1 0 ' dump || fail "stopped, but not finished"
until_true "the process goes on" test -s ran
[ "$(cat ran)" = "out 2500" ] || fail "the process did not go on"
