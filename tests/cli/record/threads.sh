#!/bin/sh
# All threads are sampled, also those that block all signals, by their names.
. "$(dirname "$0")/../lib/record_lib.sh"
record 0 -- "$fixtures/threads"
for name in alpha beta; do
    at_least 40 "$(samples_of "\$7 == \"$name\"")" "samples of $name"
done
# Those that live 2 ms are all there, with their CPU time.
at_least 203 "$(grep -c '^thread' dump)" "threads"
awk '$1 == "thread" { ms += $6 / 1e6 } $1 == "ended" { ms += $4 / 1e6 }
    END { exit !(ms > 950 && ms < 1500) }' dump ||
    fail "the threads' CPU time is not near 1000 ms"
complete_above 99.9

# Threads that queue for a CPU from their first moment on are not blocked;
# the first one is, until they have ended.
cp "$sources/threads_queue.c" queue.c
cc -O1 -pthread -o queue queue.c
queue() {
    record 0 -- ./queue
    sed -n 's/.* dropped, in \([0-9.]*\) s.*/\1/p
        s/.*: \([0-9.]*\) s of threads. time were spent blocked.*/\1/p' said |
        awk '{ n[NR] = $1 } END { exit !(NR == 2 && n[2] < n[1] + 15) }'
}
# Others that want the machine, too, may keep a thread from ever running.
queue || queue || queue ||
    fail "threads that queue are blocked: $(cat said)"
