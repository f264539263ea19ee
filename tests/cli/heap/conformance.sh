#!/bin/sh
# conformance.sh WINDLASS RECDUMP FIXTURES HEAPDUMP: a program that
# tells what a recorder could change about it tells the same while its heap is
# recorded, with samples and without.
. "$(dirname "$0")/../lib/record_lib.sh"

# As all the others in the background, where a shell has signals ignored.
conform() {
    status=0
    "$@" "$fixtures/conform" >have 2>said &
    wait $! || status=$?
    [ "$status" -eq 42 ] || fail "exit status $status: $*: $(cat said)"
    cat said >>have
}
conform env
mv have want
for how in "heap" "heap --stacks partial" "record --heap"; do
    rm -f r.wndl
    # shellcheck disable=SC2086 # several words
    conform "$windlass" $how -q -o r.wndl --
    cmp -s want have || fail "$how: $(diff want have | head -20)"
done
