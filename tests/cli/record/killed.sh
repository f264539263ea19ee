#!/bin/sh
# SIGKILL for the target or the recorder, at any moment: what was recorded by
# then can be read, says whether it was cut, and nobody is left behind.
. "$(dirname "$0")/../lib/record_lib.sh"
runs=${WINDLASS_RUNS:-${4:-200}}

# Seed, then for each run: whom, and after how many ms.
awk -v runs="$runs" 'BEGIN {
    srand(20); for (i = 1; i <= runs; i++)
        printf "%d %s %.3f\n", i, rand() < 0.5 ? "target" : "recorder",
            rand() * rand() * 0.3 }' >plan

# finish STATUS: the recording goes on while children of a killed command do.
finish() {
    tries=0
    until "$recdump" r.wndl >dump && grep -q "^done 1 $1 " dump; do
        [ $tries -lt 100 ] || fail "not finished, or not $1: $(grep ^done dump)"
        tries=$((tries + 1))
        sleep 0.2
    done
}

# readable STATUS: STATUS is what DONE should say, nothing for none.
readable() {
    [ -s r.wndl ] || return 0
    [ -z "$1" ] || finish "$1"
    "$recdump" r.wndl >dump || fail "the recording cannot be read"
    "$windlass" report --no-pager r.wndl >report 2>&1 ||
        fail "no report: $(cat report)"
    if [ -z "$1" ] && ! grep -q '^done 1 0 ' dump; then
        grep -q '^done 0 ' dump || fail "neither cut nor finished"
        grep -q '^Cut short' report || fail "it is not told that it was cut"
    fi
    [ "$(samples_of 1)" -eq 0 ] || echo "$PWD" >>../kept
}

# one NUMBER WHOM DELAY
one() {
    mkdir "$1"
    cd "$1"
    "$windlass" record -q -r 5000 -o r.wndl -- "$fixtures/storm" 250 \
        >out 2>said &
    recorder=$!
    sleep "$3"
    target=
    if [ "$2" = target ]; then
        target=$(child_of $recorder) || true
    fi
    status=0
    if [ -n "$target" ]; then
        kill -KILL "$target" 2>/dev/null || true
        wait $recorder 2>/dev/null || status=$?
        case $status in
        0) readable 0 ;; # it was too late
        137) readable 265 ;;
        *) fail "status $status: $(cat said)" ;;
        esac
    else
        kill -KILL $recorder 2>/dev/null || true
        wait $recorder 2>/dev/null || status=$?
        # What goes on does not write to it any more.
        readable ""
    fi
    [ ! -s said ] || fail "it was said: $(cat said)"
    cd ..
    rm -rf "$1"
}

some() {
    while read -r number whom delay; do
        [ $((number % 2)) -ne "$1" ] || (one "$number" "$whom" "$delay") || {
            echo "run $number: $whom after $delay s" >&2
            return 1
        }
    done <plan
}

some 0 &
first=$!
some 1
wait $first
# Of runs that were killed after a moment, many had samples by then.
touch kept
at_least $((runs / 5 + 1)) "$(wc -l <kept)" "recordings with samples"

# Everything that was started ends, by itself.
left() {
    for process in /proc/[0-9]*; do
        folder=$(readlink "$process/cwd" 2>/dev/null) || continue
        case $folder in
        "$work"/*) cat "$process/comm" ;;
        esac
    done
}
for i in 1 2 3 4 5 6 7 8 9 10; do
    [ -n "$(left)" ] || exit 0
    sleep 1
done
fail "left behind: $(left)"
