#!/bin/sh
# SPDX-License-Identifier: MIT
# suppressions.sh WINDLASS FILE: our suppressions hide what is right in Debian's
# libraries, and no planted error of a program; each entry has a reason.
. "$(dirname "$0")/../lib/check_lib.sh"
file=$(realpath "$2")
glib=/usr/lib/x86_64-linux-gnu/libglib-2.0.so.0
need valgrind g++ python3 $glib
cd "$work"

# A group of entries follows a comment, and no entry skips frames.
awk '/^# [^-]/ { reason = 1 }
    /^$/ { reason = 0 }
    /^{/ && !reason { print "no reason: line " NR; bad = 1 }
    /^ *\.\.\./ { print "frames are skipped: line " NR; bad = 1 }
    END { exit bad }' "$file" >out || fail "the file"

g++ -g -gdwarf-4 -O0 -pthread "$here/planted.cc" $glib -o planted ||
    fail "planted.cc is not compiled"

# places TOOL NUMBER: the functions in all stacks of the errors of a run.
places() {
    "$windlass" check "$1" -q -o list.json -- ./planted "$2" >out 2>err || true
    python3 -c 'import json
for e in json.load(open("list.json"))["errors"]:
    for stack in e["stacks"]:
        for frame in stack["frames"]:
            print(frame.get("function", "?"))'
}

# finds TOOL NUMBER FUNCTION: an error is there whose stacks have the function.
finds() {
    places "$1" "$2" >found
    grep -Eq "^($3)(\\(|\$)" found || fail "$1: error $2 is hidden"
}

for tool in helgrind drd; do
    # Without the file there are many.
    valgrind -q --tool=$tool ./planted 0 >out 2>err || true
    [ "$(grep -c 'Possible data race\|Conflicting' err)" -gt 5 ] ||
        fail "$tool reports nothing that is to be suppressed"
    places $tool 0 >found
    [ ! -s found ] || fail "$tool: what is right is reported"
    finds $tool 1 push_unlocked
    finds $tool 2 insert_unlocked
    finds $tool 3 in_pool
    finds $tool 4 'in_callback|count'
    finds $tool 5 change_pointee
done
for number in 6 7 8; do
    finds memcheck $number main
done
exit 0
