#!/bin/sh
# A program that tells what a recorder could change about it tells the same
# with each engine. As many runs as the fourth argument says, or
# WINDLASS_RUNS.
. "$(dirname "$0")/../lib/record_lib.sh"
runs=${WINDLASS_RUNS:-${4:-10}}
pattern=${WINDLASS_SECTIONS-}
conform() {
    # shellcheck disable=SC2086 # no pattern is no argument
    "$@" "$fixtures/conform" $pattern
}

# As all the others in the background, where a shell has signals ignored.
status=0
conform env >want 2>&1 &
wait $! || status=$?
[ "$status" -eq 42 ] || fail "not even alone: $status: $(cat want)"

# run_some ENGINE FIRST: every second run, in a folder of its own.
run_some() {
    mkdir -p "$1.$2"
    cd "$1.$2"
    i=$2
    while [ "$i" -le "$runs" ]; do
        # Ticks seldom and often.
        rate=$((i % 3 == 0 ? 10000 : 1000))
        status=0
        rm -f r.wndl
        conform "$windlass" record -q -r $rate --engine "$1" -o r.wndl -- \
            >have 2>said || status=$?
        if [ $status -ne 42 ] || [ -s said ] || ! cmp -s ../want have; then
            echo "$1, run $i at $rate Hz: status $status" >>../differ
            { cat said; diff ../want have || true; } | head -20 >>../differ
        fi
        "$recdump" r.wndl >dump && grep -q '^done 1 42 ' dump ||
            echo "$1, run $i: no recording" >>../differ
        i=$((i + 2))
    done
}

for engine in $(engines); do
    run_some "$engine" 1 &
    first=$!
    run_some "$engine" 2 &
    wait $first || fail "$engine: the runs ended early"
    wait $! || fail "$engine: the runs ended early"
done
[ ! -e differ ] || fail "it is told something else:
$(head -n 200 differ)"
