#!/bin/sh
# A debugger on the program finds it as it is without us: nothing stops it.
. "$(dirname "$0")/../lib/record_lib.sh"
need gdb
burn=$fixtures/burn

# From its start.
record 0 -- gdb -q -batch -ex run --args "$burn" 300 3
! grep -q SIGTRAP said || fail "stopped: $(cat said)"
at_least 40 "$(samples_of '$NF == "burn"')" "samples of what is debugged"

# Attached while it runs.
"$windlass" record -o late.wndl "$burn" 2500 3 >out 2>said &
recorder=$!
sleep 0.7
target=$(pgrep -P "$recorder" burn)
timeout 60 gdb -q -batch -p "$target" -ex 'shell sleep 1' \
    -ex 'break _exit' -ex continue -ex 'print 40 + 2' \
    -ex detach >debugged 2>&1 || fail "gdb: $(cat debugged)"
status=0
wait $recorder || status=$?
[ "$status" -eq 3 ] || fail "exit status $status: $(cat debugged)"
grep -q '= 42' debugged || fail "gdb: $(cat debugged)"
! grep -q SIGTRAP debugged || fail "stopped: $(cat debugged)"
grep -q 'not sampled while a debugger was attached' said ||
    fail "not told: $(cat said)"
"$recdump" late.wndl >dump
at_least 50 "$(samples_of 1)" "samples before the debugger came"
