#!/bin/sh
# Scanning stacks where there is neither unwind information nor a frame pointer:
# only when asked, and told of.
. "$(dirname "$0")/../lib/record_lib.sh"
[ "$(uname -m)" = x86_64 ] || skip "not x86-64"
bare=$fixtures/bare

record 0 -v -r 1000 -- "$bare" 400
grep -q 'by scanning the stack' said && fail "scanned without being asked"
grep -Eq '^windlass: CFI covers [0-9.]+ % of \.text of .*/bare, [0-9]+ node' \
    said || fail "no coverage of modules: $(cat said)"
"$windlass" report r.wndl >report.txt
"$windlass" export -o folded.txt r.wndl 2>/dev/null
grep -q '^main;.*burn' folded.txt && fail "main was found without a scan"

# What is lost is named.
record 0 --unwind cfi -r 1000 -- "$bare" 200
"$windlass" report r.wndl >report.txt
grep -Eq '^ +lost in: [a-z_]+ \[bare\] \([0-9]+\)' report.txt ||
    fail "not where stacks were lost: $(head -12 report.txt)"
grep -Eq '^ +remedy: .*--unwind scan' report.txt || fail "no remedy"
"$windlass" report --json r.wndl >report.json
grep -Eq '"module":"bare","samples":[1-9][0-9]*,"remedy":".*--unwind scan"' \
    report.json || fail "no place in JSON: $(grep -A5 lost_in report.json)"

"$windlass" unwind-info "$bare" | sed -n 's/ of \.text .*//p' >share
record 0 -r 1000 -- "$bare" 100
grep '^windlass: CFI covers ' said | grep -qF "$(cat share) of .text of bare" ||
    fail "not the coverage of bare: $(cat share), $(cat said)"

record 0 -v -r 1000 --unwind scan -- "$bare" 400
grep -q 'frames: .*[0-9] by scanning the stack' said || fail "not told: $(cat said)"
# Such stacks come to the root, by a guess.
rooted_above 90
(complete_above 10) 2>/dev/null && fail "guesses are called complete"
"$windlass" report -n 1 r.wndl | grep -Eq '^ +guessed: [0-9,]+ ' ||
    fail "no word of guesses: $("$windlass" report -n 1 r.wndl)"
"$windlass" export -o folded.txt r.wndl 2>/dev/null
grep -q '~main;.*burn' folded.txt ||
    fail "main was not found, or no guess is marked: $(cat folded.txt)"

# Blocked threads' stacks, which are seen from outside, the same.
record 0 -- "$bare" 400 wait
"$windlass" export --time blocked -o folded.txt r.wndl 2>/dev/null
grep -q 'main;.*wait_for' folded.txt && fail "blocked, scanned without being asked"
record 0 --unwind scan -- "$bare" 400 wait
"$windlass" export --time blocked -o folded.txt r.wndl 2>/dev/null
grep -q 'main;.*wait_for' folded.txt || fail "blocked: $(cat folded.txt)"
