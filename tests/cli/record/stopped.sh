#!/bin/sh
# A process that starts while the recorder is stopped, and is stopped and
# continued there itself, is recorded.
. "$(dirname "$0")/../lib/record_lib.sh"
mkfifo gate
"$windlass" record -o r.wndl -- \
    sh -c ": >ready; read nothing <gate; $fixtures/burn 1000 3; exit 3" 2>said &
recorder=$!
until_true "the command runs" test -e ready
sleep 0.3
kill -STOP $recorder
trap 'kill -CONT $recorder 2>/dev/null || true; rm -rf "$work"' EXIT
echo >gate
child=$(child_of "$(child_of $recorder)") || fail "the program did not start"
kill -STOP "$child" # as it asks the recorder, or a little later
sleep 0.2
kill -CONT "$child"
sleep 0.2
kill -CONT $recorder
status=0
wait $recorder || status=$?
[ $status -eq 3 ] || fail "exit status $status: $(cat said)"
"$recdump" r.wndl >dump
[ "$(awk '$1 == "process" && $8 ~ /burn$/ && $7 >= 200' dump | wc -l)" -eq 1 ] ||
    fail "it was not recorded: $(cat said)"
