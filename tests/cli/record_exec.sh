#!/bin/sh
# A program that replaces itself again and again lives, and keeps its pid.
. "$(dirname "$0")/record_lib.sh"
record 7 -r 10000 -- "$fixtures/execs" 200
[ "$(grep -c '^process' dump)" -eq 201 ] || fail "not 201 images"
awk '$1 == "process" { pids[$4] = 1 }
    END { for (p in pids) n++; exit n != 1 }' dump || fail "not one pid"
awk '$1 == "process" && $5 != $2 { exit 1 }' dump || fail "generations"
