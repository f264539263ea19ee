#!/bin/sh
# A debugger on the program finds it as it is without us: nothing stops it.
. "$(dirname "$0")/../lib/record_lib.sh"
need gdb
burn=$fixtures/burn

# From its start.
record 0 -- gdb -q -batch -ex run --args "$burn" 300 3
! grep -q SIGTRAP said || fail "stopped: $(cat said)"
sampled 250 "of what is debugged" '$NF == "burn"'

# Attached while it runs.
"$windlass" record -o late.wndl "$burn" 5000 3 >out 2>said &
recorder=$!
target=$(child_of $recorder)
wait_for_cpu 300 "$target"
timeout 600 gdb -q -batch -p "$target" -ex 'shell sleep 1' \
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
sampled 250 "before the debugger came"
