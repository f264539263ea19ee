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
at_least 40 "$(samples_of 1)" "samples"
complete_above 98
awk '$1 == "thread" { ms = $6 / 1e6 } END { exit !(ms > 300 && ms < 600) }' \
    dump || fail "CPU time is not near 400 ms"
record 0 -- "$fixtures/threads"
for name in alpha beta; do
    at_least 30 "$(samples_of "\$7 == \"$name\"")" "samples of $name"
done
complete_above 98
record 0 -- "$fixtures/forks" "$fixtures/burn"
record 133 -- "$fixtures/signals"
record 7 -- "$fixtures/execs" 50
