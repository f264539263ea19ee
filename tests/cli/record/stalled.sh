#!/bin/sh
# A recorder that is stopped delays no program, and loses none: what begins and
# ends meanwhile is in the recording once the recorder goes on.
. "$(dirname "$0")/../lib/record_lib.sh"
burn=$fixtures/burn

# while_stopped COMMAND SCRIPT: runs the script in a session of its own, while
# the recorder is stopped all the time.
while_stopped() {
    rm -f r.wndl dump there go end
    "$windlass" "$1" -o r.wndl -- setsid sh -c "
        : >there
        until [ -e go ]; do sleep 0.05; done
        begin=\$(date +%s)
        $2
        echo \$((\$(date +%s) - begin)) >took
        : >end" 2>said &
    recorder=$!
    until [ -e there ] || ! kill -0 $recorder; do
        sleep 0.05
    done
    kill -STOP $recorder
    : >go
    i=0
    until [ -e end ] || [ $i -ge 3000 ]; do
        sleep 0.1
        i=$((i + 1))
    done
    sleep 0.3
    kill -CONT $recorder
    wait $recorder || fail "exit status $?: $(cat said)"
    [ -e end ] || fail "the program hung"
    "$recdump" r.wndl >dump
}

# burnt NAME SAMPLES: there is such a process, with that many samples, and it
# has a parent.
burnt() {
    awk -v name="$1\$" -v least="$2" '$1 == "process" && $8 ~ name &&
        $7 >= least && $3 >= 0 { n++ } END { exit n < 1 }' dump ||
        fail "$1 was not recorded: $(cat said)"
}

# 300 programs, and a shell that forks and does not exec. The first of them waits
# for the recorder; if each did, they would take 9 s more, and twice as much as
# forks that exec.
seconds() {
    begin=$(date +%s)
    "$@"
    echo $(($(date +%s) - begin))
}
many='i=0; while [ $i -lt 300 ]; do i=$((i + 1)); /bin/true; done'
bare=$(seconds sh -c "$many")
loop='i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); done; :'
while_stopped record "$burn 200 0; $many; ($loop)"
[ "$(cat took)" -lt $((3 * bare + 7)) ] ||
    fail "the recorder delayed it: $(cat took) s, without $bare s"
[ "$(awk '$1 == "process" && $8 ~ "true$"' dump | wc -l)" -eq 300 ] ||
    fail "not all are recorded: $(cat said)"
burnt burn 100
grep -q 'could not be recorded' said && fail "$(cat said)"
[ "$(awk '$1 == "process" && $8 ~ "sh$" && $7 >= 20' dump | wc -l)" -ge 1 ] ||
    fail "the forked shell was not recorded"

# The heap, too.
while_stopped heap "$burn 1 0"
awk '$1 == "process" && $8 ~ "burn$" { n++ } END { exit n < 1 }' dump ||
    fail "no heap: $(cat said)"

# One that cannot begin alone is named with the reason.
while_stopped record 'rm "${WINDLASS_SESSION%/socket}/go"; '"$burn 200 0"
[ "$(cat took)" -lt 80 ] || fail "the recorder delayed it: $(cat took) s"
grep -q "'burn' (process [0-9]*) could not be recorded: windlass did not answer in time\|^windlass: process [0-9]* could not be recorded: windlass did not answer in time" said ||
    fail "it is not named: $(cat said)"
grep -q '^unfollowed [0-9]* 13 ' dump || fail "no reason"

# What that one forks asks anew, once the recorder goes on.
rm -f r.wndl dump there go end late on
cat >late.sh <<END
: >late
until [ -e on ]; do sleep 0.05; done
($loop)
END
"$windlass" record -o r.wndl -- setsid sh -c '
    : >there
    until [ -e go ]; do sleep 0.05; done
    rm "${WINDLASS_SESSION%/socket}/go"
    exec sh late.sh' 2>said &
recorder=$!
until_true "the command runs" test -e there
kill -STOP $recorder
: >go
until_true "another image runs" test -e late
kill -CONT $recorder
until_true "the recorder answers" "$windlass" ctl $recorder status
: >on
wait $recorder || fail "exit status $?: $(cat said)"
"$recdump" r.wndl >dump
grep -q '^unfollowed [0-9]* 13 ' dump || fail "it was not late: $(cat said)"
awk '$1 == "process" && $8 ~ "sh$" && $7 >= 20 { n++ } END { exit n < 1 }' dump ||
    fail "the fork of a process that was late is not recorded: $(cat said)"
