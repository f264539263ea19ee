# SPDX-License-Identifier: MIT
# What the tests of record/ and heap/ share: `sources` is where the fixtures
# come from. They are called with
#   WINDLASS RECDUMP FIXTURES
# and run in a folder of their own, which goes away with them.
set -eu
. "$(dirname "$0")/../../lib/have.sh"
windlass=$1
recdump=$2
fixtures=$3
sources=$(cd "$(dirname "$0")/../../fixtures/record" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
# A recorder that is killed leaves its folder behind: let it be in here.
XDG_RUNTIME_DIR=$work
WINDLASS_TABLE_CACHE=$work/tables
export XDG_RUNTIME_DIR WINDLASS_TABLE_CACHE

fail() {
    echo "FAILED: $*" >&2
    if [ -f dump ]; then
        sed 's/^/    /' dump | head -60 >&2
    fi
    exit 1
}

# record STATUS [OPTION...] -- COMMAND...: records into ./r.wndl, expects this
# exit status, and leaves the recording's content in ./dump and what windlass
# said in ./said.
record() {
    expected=$1
    shift
    rm -f r.wndl dump
    status=0
    # shellcheck disable=SC2086 # a prefix of words, or nothing
    ${record_as-} "$windlass" record -o r.wndl "$@" 2>said || status=$?
    [ "$status" -eq "$expected" ] ||
        fail "exit status $status instead of $expected: $*: $(cat said)"
    "$recdump" r.wndl >dump || fail "the recording cannot be read"
    grep -q '^done 1 ' dump || fail "the recording is not finished"
}

# samples_of 'AWK CONDITION': samples of the threads for which it holds.
samples_of() {
    awk "\$1 == \"thread\" && ($1) { n += \$5 } END { print n + 0 }" dump
}

# child_of PID: the recorder's command, once it runs. Fails if the recorder ends
# before. (Another child of the recorder is a copy of itself.)
child_of() {
    while [ -e "/proc/$1/exe" ]; do
        for child in $(cat "/proc/$1/task/$1/children"); do
            of=$(readlink "/proc/$child/exe") || continue
            [ "$of" = "$(readlink "/proc/$1/exe")" ] || {
                echo "$child"
                return
            }
        done
    done 2>/dev/null
    return 1
}

# wait_for_cpu MS PID: until the process's first thread has used that much.
wait_for_cpu() {
    while [ "$(awk '{ print int($1 / 1e6) }' "/proc/$2/schedstat")" -lt "$1" ]; do
        sleep 0.02
    done
}

# at_least NUMBER COUNT WHAT
at_least() {
    [ "$2" -ge "$1" ] || fail "$2 $3, fewer than $1"
}

# sampled MS WHAT [AWK CONDITION]: the samples of the threads for which it holds
# stand for that much of CPU time, and for at most 40 ms each on average. A
# machine that is made to wait by another one ticks late: then there are fewer
# samples, each of which stands for more. What is lost is the time after the last
# tick alone, so that MS has to be less than what is used by tens of ms.
sampled() {
    at_least "$1" "$(awk "\$1 == \"thread\" && (${3:-1}) { ns += \$6 }
        END { print int(ns / 1e6) }" dump)" "ms of CPU time in samples: $2"
    at_least $(($1 / 40)) "$(samples_of "${3:-1}")" "samples: $2"
}

# until_true WHAT COMMAND...: waits until it succeeds. It has two minutes, which
# is no matter of time but of whether it ever does.
until_true() {
    awaited=$1
    shift
    tries=1200
    until "$@" >/dev/null 2>&1; do
        tries=$((tries - 1))
        [ $tries -gt 0 ] || fail "not even after two minutes: $awaited"
        sleep 0.1
    done
}

# is_gone PID
is_gone() {
    ! kill -0 "$1"
}

# Nearly all stacks must reach the root: more than PERCENT. Of programs whose code
# all has rules README.md shows 100.0 %, so 99.9 is usual: of a few hundred
# stacks none may be lost.
complete_above() {
    awk -v least="$1" '
        $1 == "end" { all += $3 }
        $1 == "end" && $2 == 0 { complete = $3 }
        END { exit !(all > 0 && 100 * complete > least * all) }' dump ||
        fail "not more than $1 % of the stacks are complete"
}

# The same of those that come to the root, if only by a guess: no rules say who
# called generated code.
rooted_above() {
    awk -v least="$1" '
        $1 == "end" { all += $3 }
        $1 == "end" && ($2 == 0 || $2 == 7) { rooted += $3 }
        END { exit !(all > 0 && 100 * rooted > least * all) }' dump ||
        fail "not more than $1 % of the stacks come to the root"
}

# The engines that this machine allows, as words for --engine: the machine is
# asked, and not the windlass under test. There is always one: a test of none
# would pass, so that one that cannot ask tries an engine that there is not.
engines() {
    "$(dirname "$recdump")/machine" || echo none
}
