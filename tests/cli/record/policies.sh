#!/bin/sh
# In the sandboxes of well-known programs a program does what it does alone, with
# each answer to a forbidden call. It is sampled on in there, or sampling stops
# before and is said to.
. "$(dirname "$0")/../lib/record_lib.sh"
policies=$fixtures/policies
"$policies" docker kill >out || [ $? -eq 7 ] ||
    skip "no such sandbox: $(uname -m), status $?"

# same NAME OTHERWISE [exec]: runs alone, leaves that in ./alone, and with heap.
same() {
    status=0
    "$policies" "$@" >alone || status=$?
    [ "$status" -eq 7 ] || fail "$*: not even alone: $status"
    rm -f h.wndl
    status=0
    "$windlass" heap -q -o h.wndl -- "$policies" "$@" >out || status=$?
    [ "$status" -eq 7 ] || fail "heap, $*: exit status $status"
    cmp alone out || fail "heap, $*: another output"
}

# goes_on NAME OTHERWISE HOW ENGINE: in NAME's sandbox it is sampled to its end.
# It uses 60 ms outside and 200 inside, half of it in a thread that begins there:
# only perf samples that.
goes_on() {
    least=120
    [ "$4" = timer ] || [ "$4" = tick ] || least=200
    record 7 --engine "$4" -- "$policies" "$1" "$2" "$3" >out
    cmp alone out || fail "$*: another output"
    sampled $least "$*"
    ! grep -q 'its sandbox' said || fail "$*: $(cat said)"
}

# ends NAME OTHERWISE ENGINE: sampling ends before NAME's sandbox.
ends() {
    record 7 --engine "$3" -- "$policies" "$1" "$2" >out
    cmp alone out || fail "$*: another output"
    sampled 30 "$*"
    grep -q 'its sandbox forbids it' said || fail "$*: $(cat said)"
}

engines=$(engines | grep -v outside)
for otherwise in kill errno trap; do
    for name in docker systemd chromium firefox; do
        same $name $otherwise
        goes_on $name $otherwise here auto
    done
    same openssh $otherwise
    ends openssh $otherwise auto
done
for engine in $engines; do
    for name in docker systemd chromium firefox; do
        goes_on $name kill here "$engine"
    done
    ends openssh kill "$engine"
done

# The filter was there before the program, whose threads are sampled all.
for name in docker systemd; do
    for otherwise in kill errno; do
        same $name $otherwise exec
        goes_on $name $otherwise exec auto
    done
done
