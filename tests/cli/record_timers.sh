#!/bin/sh
# Where perf events are refused, timers take over, and say so.
. "$(dirname "$0")/record_lib.sh"
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
complete_above 98
awk '$1 == "thread" { ms = $6 / 1e6 } END { exit !(ms > 300 && ms < 600) }' \
    dump || fail "CPU time is not near 400 ms"
record 0 -- "$fixtures/threads"
# However few ticks a busy machine leaves, they stand for the whole time.
for name in alpha beta; do
    awk -v name=$name '$1 == "thread" && $7 == name { ms += $6 / 1e6 }
        END { exit !(ms > 200 && ms < 400) }' dump ||
        fail "CPU time of $name is not near 300 ms"
done
complete_above 98
record 0 -- "$fixtures/forks" "$fixtures/burn"
record 133 -- "$fixtures/signals"
record 7 -- "$fixtures/execs" 50
