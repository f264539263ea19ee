#!/bin/sh
# Children are recorded however they were made, unless that is not wanted.
. "$(dirname "$0")/../lib/record_lib.sh"
record 0 -- "$fixtures/forks" "$fixtures/burn"
cp dump whole
[ "$(grep -c '^process .*/forks$' dump)" -eq 3 ] || fail "not 3 x forks"
[ "$(grep -c '^process .*/burn$' dump)" -eq 4 ] || fail "not 4 x burn"
# process INDEX PARENT PID GENERATION HOW SAMPLES EXECUTABLE
awk '$1 == "process" && $7 < 10 { exit 1 }' dump ||
    fail "a process with fewer than 10 samples"
awk '$1 == "process" && $2 != 0 && $3 != 0 && $5 != 1 { exit 1 }' dump ||
    fail "a child without its parent"
[ "$(grep -c '^process .* 1 [12] ' dump)" -ge 1 ] ||
    fail "no new image of the same process"
awk '$1 == "process" && $5 == 1 { g++ } END { exit g != 1 }' dump ||
    fail "not one process image of generation 1"
complete_above 99.9

record 0 --no-children -- "$fixtures/forks" "$fixtures/burn"
[ "$(grep -c '^process' dump)" -eq 1 ] || fail "children were recorded"
