#!/bin/sh
# A program that replaces itself again and again lives, and keeps its pid.
. "$(dirname "$0")/../lib/record_lib.sh"
record 7 -r 10000 -- "$fixtures/execs" 200
[ "$(grep -c '^process' dump)" -eq 201 ] || fail "not 201 images"
awk '$1 == "process" { pids[$4] = 1 }
    END { for (p in pids) n++; exit n != 1 }' dump || fail "not one pid"
awk '$1 == "process" && $5 != $2 { exit 1 }' dump || fail "generations"

# So does one that makes the call itself, past our hooks: no signal of ours that
# was raised inside the call reaches the new image.
for engine in $(engines); do
    record 7 -r 20000 --engine "$engine" -- "$fixtures/rawexecs" 60 >out ||
        fail "$engine: $(cat out)"
done

# A program whose file gets another name goes on being recorded.
cp "$fixtures/burn" named
record 3 -- sh -c 'exec ./named 1200 3 >out' &
recorder=$!
until_true "it runs" sh -c "ls -l /proc/[0-9]*/exe | grep -q $work/named"
sleep 0.3
mv named renamed
wait $recorder || fail "renamed: $(cat said)"
"$recdump" r.wndl >dump
sampled 800 "of the renamed program"
grep -q 'could not be recorded' said && fail "renamed: $(cat said)"
true
