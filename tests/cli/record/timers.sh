#!/bin/sh
# Where perf events are refused, timers take over, and say so.
. "$(dirname "$0")/../lib/record_lib.sh"
windlass_alone=$windlass
cat >windlass <<EOF
#!/bin/sh
exec "$fixtures/noperf" "$windlass_alone" "\$@"
EOF
chmod +x windlass
windlass=$work/windlass

record 0 -- "$fixtures/burn" 400 0
grep -q "perf_event_paranoid" said || fail "the setting is not named"
at_least 5 "$(samples_of 1)" "samples"
complete_above 99.9
awk '$1 == "thread" { ms = $6 / 1e6 } END { exit !(ms > 300 && ms < 600) }' \
    dump || fail "CPU time is not near 400 ms"
record 0 -- "$fixtures/threads"
# However few ticks a busy machine leaves, they stand for the whole time.
for name in alpha beta; do
    awk -v name=$name '$1 == "thread" && $7 == name { ms += $6 / 1e6 }
        END { exit !(ms > 200 && ms < 400) }' dump ||
        fail "CPU time of $name is not near 300 ms"
done
complete_above 99.9
record 0 -- "$fixtures/forks" "$fixtures/burn"
record 133 -- "$fixtures/signals"
record 7 -- "$fixtures/execs" 50

# Timers of any rate: faster than ticks, on the whole of the CPU time.
windlass=$windlass_alone
record 0 --engine timer -r 2000 -- "$fixtures/burn" 2000 0
at_least 2000 "$(samples_of 1)" "samples at 2000 Hz of 2000 ms"
awk '$1 == "thread" { ms = $6 / 1e6 } END { exit !(ms > 1950 && ms < 2200) }' \
    dump || fail "CPU time is not near 2000 ms"
complete_above 99.9
# They leave a thread that sleeps alone, but for once.
record 0 --engine timer -r 10000 -- "$fixtures/naps"
at_least 100 "$(samples_of 1)" "samples between naps"
# Threads that no hook saw beginning are found.
record 0 --engine timer -- "$fixtures/unseen"
awk '$1 == "thread" && $5 > 50 && $6 > 500e6 && $6 < 800e6 { n++ }
    END { exit n != 3 }' dump || fail "not 3 threads of 600 ms"
# A wait that the end of a child has ended is over, whoever's timer comes then.
record 0 --engine timer -r 5000 -- sh -c 'for i in 1 2 3 4 5 6 7 8 9 10; do
    "$0" 2 0 >/dev/null 2>&1
    (sleep 0.01 & wait)
done' "$fixtures/burn"
