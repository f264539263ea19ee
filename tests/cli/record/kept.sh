#!/bin/sh
# kept.sh WINDLASS RECDUMP FIXTURES HEAPDUMP: what was recorded before a kill is
# in the recording. A killed target loses nothing; a killed recorder, alone or
# with the target, what came after its last chunk, which it writes ten times a
# second (docs/profile.md).
. "$(dirname "$0")/../lib/record_lib.sh"
heapdump=$(realpath "$4")

# The recorder must get its CPU for that, whatever else the machine does.
if chrt -R -f 1 true 2>/dev/null; then
    record_as="chrt -R -f 1"
fi

# started WINDLASS-ARGUMENT...: into r.wndl. Sets `recorder` and, once the
# command has started, `target`.
started() {
    rm -f r.wndl dump
    # shellcheck disable=SC2086 # a prefix of words, or nothing
    ${record_as-} "$windlass" "$@" >out 2>said &
    recorder=$!
    target=$(child_of $recorder)
}

# killed WHOM: `target`, `recorder` or `both`.
killed() {
    case $1 in
    target) kill -KILL "$target" ;;
    recorder) kill -KILL "$recorder" ;;
    both) kill -KILL "$recorder" "$target" ;;
    esac
    wait "$recorder" 2>/dev/null || true
    kill -KILL "$target" 2>/dev/null || true
}

# CPU time in ms: at which the target still ran, and what the recording has.
used_ms() {
    echo $(($(od -An -t u8 worked) / 1000000))
}
recorded_ms() {
    awk '$1 == "thread" { ns += $6 } END { print int(ns / 1e6) }' dump
}

# record_and_kill MS WHOM: sets `used` and `have`.
record_and_kill() {
    rm -f worked
    started record -q -r 1000 -o r.wndl -- "$fixtures/worked" worked
    wait_for_cpu "$1" "$target"
    used=$(used_ms)
    killed "$2"
    [ "$2" = recorder ] || used=$(used_ms)
    "$recdump" r.wndl >dump || fail "$2 killed: no recording"
    have=$(recorded_ms)
    at_least $(($1 / 2)) "$used" "ms at which the target still ran"
}

# kept_but MS: of what the last one used, at most MS are lost, in samples of 1 ms.
kept_but() {
    [ $((used - have)) -le "$1" ] && [ "$(samples_of 1)" -ge $((have * 9 / 10)) ]
}

# lost_at_most MS WHOM. Where a machine is made to wait by another one, the last
# tick comes up to 60 ms late, in 1 of 300 recordings: each has two tries, so that
# 1 of 30,000 runs fails for that. A recorder that loses what came after its last
# chunk, 0 to 100 ms, passes in 1 of 20 runs, and fails in the next.
lost_at_most() {
    for ms in 250 400 650; do
        record_and_kill $ms "$2"
        kept_but "$1" || record_and_kill $ms "$2"
        kept_but "$1" ||
            fail "$2 killed after $used ms of CPU time: $have are recorded"
    done
}
lost_at_most 20 target
# The time between two chunks, and the time that one takes.
lost_at_most 130 recorder
lost_at_most 130 both

# kept SITES WHOM [OPTION...]: of 40 blocks all are in the recording.
kept() {
    whom=$1
    shift
    rm -f ready never
    started heap -q -o r.wndl "$@" -- \
        "$fixtures/heaps" keep 40 1013 tell ready wait never
    while [ ! -f ready ]; do sleep 0.05; done
    # Two snapshots, where there are any.
    sleep 0.5
    killed "$whom"
    "$heapdump" r.wndl >dump || fail "heap, $whom killed: no recording"
    allocated=$(awk '$1 == "site" && $9 == 1013 { n += $3 } END { print n + 0 }' \
        dump)
    [ "$allocated" -eq 40 ] ||
        fail "heap, $whom killed: $allocated blocks of 40"
}
kept target
kept recorder --snapshot-every 0.2
kept both --snapshot-every 0.2
