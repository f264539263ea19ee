#!/bin/sh
# SIGKILL for the target, the recorder or both, at any moment, while CPU time or
# a heap is recorded: what was recorded by then can be read, says whether it was
# cut, and nobody is left behind. WINDLASS_RUNS says how many are killed.
. "$(dirname "$0")/../lib/record_lib.sh"
runs=${WINDLASS_RUNS:-${4:-200}}

# Seed, then for each run: what is recorded, who is killed, after how many s, and
# 1 for every fourth: that the target has used 20 ms first, so that there are
# samples.
awk -v runs="$runs" 'BEGIN {
    split("target recorder both", whom)
    srand(20); for (i = 1; i <= runs; i++)
        printf "%d %s %s %.3f %d\n", i,
            i % 4 == 1 || rand() < 0.5 ? "record" : "heap",
            i % 4 == 1 ? "target" : whom[1 + int(3 * rand())],
            rand() * rand() * 0.3, i % 4 == 1 }' >plan

# finish STATUS: the recording goes on while children of a killed command do.
finish() {
    tries=0
    until "$recdump" r.wndl >dump && grep -q "^done 1 $1 " dump; do
        [ $tries -lt 100 ] || fail "not finished, or not $1: $(grep ^done dump)"
        tries=$((tries + 1))
        sleep 0.2
    done
}

# never_began: the target was killed before it could be recorded, or before its
# heap was, and a heap is reported as missing for that.
never_began() {
    ! grep -q '^counts ' dump || return 1
    if grep -q '^process ' dump; then
        grep -q 'no heap: its processes ended before theirs' report
    else
        grep -q 'no heap: no process could be recorded' report
    fi
}

# readable STATUS: STATUS is what DONE should say, nothing for none.
readable() {
    [ -s r.wndl ] || return 0
    [ -z "$1" ] || finish "$1"
    "$recdump" r.wndl >dump || fail "the recording cannot be read"
    status=0
    "$windlass" report --no-pager r.wndl >report 2>&1 || status=$?
    [ $status -eq 0 ] ||
        grep -q 'no heap yet:.* killed before the first snapshot' report ||
        never_began || fail "no report: $status $(cat report)"
    if [ -z "$1" ] && ! grep -q '^done 1 0 ' dump; then
        grep -q '^done 0 ' dump || fail "neither cut nor finished"
        grep -Eq '^Cut short|the end .* is missing|no heap yet' report ||
            fail "it is not told that it was cut"
    fi
    if [ "$(samples_of 1)" -ne 0 ] || grep -q '^counts ' dump; then
        echo "$PWD" >>../kept
    fi
}

# one NUMBER COMMAND WHOM DELAY USED
one() {
    mkdir "$1"
    cd "$1"
    case $2 in
    record) set -- "$@" -r 5000 ;;
    heap) set -- "$@" --snapshot-every 0.1 ;;
    esac
    folder=$1
    command=$2
    whom=$3
    delay=$4
    used=$5
    shift 5
    "$windlass" "$command" -q "$@" -o r.wndl -- "$fixtures/storm" 250 \
        >out 2>said &
    recorder=$!
    sleep "$delay"
    target=
    if [ "$whom" != recorder ]; then
        target=$(child_of $recorder) || true
    fi
    [ "$used" = 0 ] || [ -z "$target" ] || wait_for_cpu 20 "$target" 2>/dev/null ||
        true
    status=0
    if [ "$whom" = both ]; then
        # shellcheck disable=SC2086 # a pid, or nothing
        kill -KILL $target $recorder 2>/dev/null || true
        wait $recorder 2>/dev/null || status=$?
        readable ""
    elif [ -n "$target" ]; then
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
    rm -rf "$folder"
}

some() {
    while read -r number command whom delay used; do
        [ $((number % 2)) -ne "$1" ] ||
            (one "$number" "$command" "$whom" "$delay" "$used") || {
            echo "run $number: $command, $whom after $delay s" >&2
            return 1
        }
    done <plan
}

some 0 &
first=$!
some 1
wait $first
# In every fourth run there were samples by then.
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
