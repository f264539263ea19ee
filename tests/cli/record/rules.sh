#!/bin/sh
# Stacks go through generated code without frame pointers when the program has
# told the recorder how.
. "$(dirname "$0")/../lib/record_lib.sh"
[ "$(uname -m)" = x86_64 ] || skip "not x86-64"
rules=$fixtures/rules
need "$rules"

record 0 -r 1000 -- "$rules" 300
"$windlass" export -o folded.txt r.wndl 2>/dev/null
grep -q 'main;.*burn' folded.txt && fail "main was found without rules"

record 0 -r 1000 -- "$rules" 300 use
complete_above 99.9
"$windlass" export -o folded.txt r.wndl 2>/dev/null
grep -q 'main;.*burn' folded.txt || fail "main was not found: $(cat folded.txt)"

# Nobody records: nothing happens.
"$rules" 10 use || fail "alone it fails"
