#!/bin/sh
# A program that enters a sandbox is sampled on in there, by no call that the
# sandbox would kill for.
. "$(dirname "$0")/../lib/record_lib.sh"
"$fixtures/sandbox" >out || [ $? -eq 7 ] || fail "not even alone: $?"
for engine in $(engines); do
    for rate in 1000 10000; do
        record 7 --engine "$engine" -r $rate -- "$fixtures/sandbox" >out
        [ "$(cat out)" = done ] || fail "$engine: $(cat out)"
        case $engine in
        perf)
            # One thread began before it, two inside: 200 ms each.
            sampled 860 "at $rate Hz"
            complete_above 99.9
            ;;
        tick | timer)
            at_least 25 "$(samples_of 1)" "samples"
            ;;
        esac
    done
done

# One that forbids even the calls that nearly all allow is not noticed either:
# recording ends before it is entered, and that is said.
for how in prctl seccomp threads; do
    "$fixtures/strictbox" $how >out || [ $? -eq 7 ] ||
        skip "no sandbox of $how"
    for engine in $(engines); do
        [ "$engine" = outside ] && continue
        record 7 --engine "$engine" -- "$fixtures/strictbox" $how >out
        [ "$(cat out)" = done ] || fail "$engine, $how: $(cat out)"
        at_least 10 "$(samples_of 1)" "samples from before"
        grep -q 'its sandbox forbids it' said || fail "not named: $(cat said)"
    done
    rm -f r.wndl
    status=0
    "$windlass" heap -q -o r.wndl -- "$fixtures/strictbox" $how >out ||
        status=$?
    [ $status -eq 7 ] || fail "heap, $how: exit status $status"
done

# Of a filter that no function brings we learn nothing: we say what happened.
if "$fixtures/strictbox" bare >out || [ $? -eq 7 ]; then
    for engine in $(engines); do
        [ "$engine" = outside ] && continue
        record 159 --engine "$engine" -- "$fixtures/strictbox" bare >out
        grep -q 'ended by SIGSYS: its sandbox' said || fail "bare: $(cat said)"
    done
    record 7 --engine outside -- "$fixtures/strictbox" bare >out
    ! grep -q 'ended by' said || fail "outside: $(cat said)"
fi

# Only the thread that burns has used the CPU.
record 0 --engine timer -- "$fixtures/privileges"
sampled 320 "of a thread when another one gave up"
