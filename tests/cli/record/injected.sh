#!/bin/sh
# A call of the start that fails once loses no process: strace makes each fail
# in turn.
. "$(dirname "$0")/../lib/record_lib.sh"
have strace || exit 77
strace -o /dev/null -e inject=getppid:error=EIO true 2>/dev/null || exit 77

# Each call of the start: it is recorded or named. (All errors take minutes:
# inject_start.py by hand.)
if have python3; then
    for command in record heap; do
        python3 "$(dirname "$0")/../lib/inject_start.py" "$windlass" \
            "$recdump" "$fixtures" $command EIO >injected ||
            fail "$command: $(cat injected)"
        grep -q 'recorded' injected || fail "$command: $(cat injected)"
    done
fi

# The calls of the talk with the recorder, none of which the loader makes.
for call in socket setsockopt connect getsockopt sendmsg recvmsg; do
    for error in EAGAIN ENOMEM; do
        record 3 -- strace -o trace -e trace=$call \
            -e inject=$call:error=$error:when=1 "$fixtures/burn" 100 3 >out
        grep -q INJECTED trace || fail "$call was not made"
        [ "$(awk '$1 == "process" && $8 ~ "burn$" && $7 >= 1' dump | wc -l)" \
            -eq 1 ] || fail "lost by $error of $call: $(cat said)"
    done
done

# One whose engine cannot start is said, also while a debugger is there.
record 3 -- strace -o trace -e trace=timer_create \
    -e inject=timer_create:error=EAGAIN:when=1 "$fixtures/burn" 100 3 >out
grep -q INJECTED trace || fail "timer_create was not made"
grep -q 'was not sampled: .*: Resource temp' said || fail "not said: $(cat said)"
