#!/bin/sh
# newest.sh WINDLASS MAKE_RECORDING: which recordings are meant when no file is
# named, and what ls lists.
set -eu
windlass=$(realpath "$1")
make_recording=$(realpath "$2")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/here"
cd "$work/here"
failed=0

fail() {
    echo "newest: $*"
    cat ../out ../err
    failed=1
}

# says TEXT ARGUMENT...: on stderr.
says() {
    text=$1
    shift
    "$windlass" "$@" >../out 2>../err || true
    grep -qF -- "$text" ../err || fail "windlass $*: not said: $text"
}

# make NAME AGE [heap]: a recording, AGE minutes old.
make() {
    interval=1000000
    [ -z "${3-}" ] || interval=0
    {
        echo "meta $interval 1 1 box / $1"
        echo "process 0 7 /gone/srv srv"
        [ -z "${3-}" ] || echo "heap 0 0 0"
        echo "done 0 0"
    } >../recipe
    "$make_recording" "$1" <../recipe
    touch -d "$2 minutes ago" "$1"
}

"$windlass" ls >../out 2>../err || fail "ls of nothing"
grep -q 'no recordings in this folder' ../err || fail "not said"
says 'no recording of yours is in this folder' report

make old.wndl 30
make odd-name 10
make new.wndl 20
printf 'hello, world\n' >text.wndl # newer, and none
mkdir below
cp new.wndl below/newest.wndl
for command in report export; do
    says 'the newest recording here: odd-name' $command
done
says 'the newest recordings here: new.wndl, then odd-name' diff
"$windlass" report 2>../err | grep -q '^Command *odd-name' ||
    fail "report of another one"
says 'LATER is missing' diff old.wndl
"$windlass" report old.wndl 2>../err | grep -q '^Command *old.wndl' ||
    fail "a named file is not taken"
grep -q 'newest' ../err && fail "the newest, although one is named"

# Heaps are compared with heaps.
make heap.wndl 15 heap
make heap2.wndl 5 heap
says 'the newest recordings here: heap.wndl, then heap2.wndl' diff
rm heap.wndl heap2.wndl

"$windlass" ls >../out 2>../err
[ "$(awk 'NR > 1 && NF { print $1 }' ../out | tr '\n' ' ')" = \
    "odd-name new.wndl old.wndl Next: " ] || fail "ls: another order"
grep -q '^new.wndl .* 0 samples  *new.wndl$' ../out || fail "ls: another row"
"$windlass" ls -n 1 below | grep -q '^below/newest.wndl ' || fail "ls FOLDER"
head -c 30 old.wndl >cut.wndl
"$windlass" ls | grep -q '^cut.wndl ' || fail "ls: one that is cut short"
rm cut.wndl

# A name like an option, and files of other users.
cp odd-name ./-x.wndl
says 'the newest recording here: ./-x.wndl' report
rm ./-x.wndl
if [ "$(id -u)" = 0 ]; then
    chown 1 odd-name
    says 'the newest recording here: new.wndl' report
    chown 1 ./*
    says "(name others')" report
fi
exit "$failed"
