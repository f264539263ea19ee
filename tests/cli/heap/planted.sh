#!/bin/sh
# planted.sh WINDLASS RECDUMP: buffers that grow just enough,
# planted in a program of Debian's (zpipe.c, which zlib1g-dev brings as source),
# are found and named, with the figures that the program counted itself; the
# one that doubles is not. The program as it is has none.
. "$(dirname "$0")/../lib/record_lib.sh"

source=/usr/share/doc/zlib1g-dev/examples/zpipe.c
need "$source"

# What is compressed is kept too, in four buffers.
cp "$sources/../heap/planted.h" .
sed -e '/#include "zlib.h"/a #include "planted.h"' \
    -e '/have = CHUNK - strm.avail_out;/a keep_all(out, have);' \
    "$source" >zpipe_planted.c
[ "$(diff "$source" zpipe_planted.c | grep -c '^>')" -eq 3 ] ||
    fail "the patch does not fit $source"
cc -g -O1 -o zpipe "$source" -lz || fail "zpipe.c as it is"
cc -g -O1 -I. -o zpipe_planted zpipe_planted.c -lz || fail "zpipe.c patched"
awk 'BEGIN { srand(7); for (i = 0; i < 300000; i++) print rand() }' >input

# heap PROGRAM [OPTION...]: what is told of buffers, without the commas in
# numbers, into `growth`; what the program counted into `counted`.
heap() {
    program=$1
    shift
    rm -f r.wndl
    "$windlass" heap -q -o r.wndl "$@" -- "./$program" <input >packed \
        2>counted || fail "exit status $?: $program $*: $(cat counted)"
    "$windlass" report r.wndl >report || fail "no report: $program $*"
    sed 's/\([0-9]\),\([0-9]\)/\1\2/g' report |
        awk '/^Buffers that grow just enough/ { on = 1 } /^$/ { on = 0 } on' \
            >growth
}

# told FUNCTION HOW STEP: one buffer, as often and to as much as was counted.
told() {
    growths=$(awk -v name="$1" '$1 == name { print $2 }' counted)
    bytes=$(awk -v name="$1" '$1 == name {
        print $3 " bytes allocated for " $4 " bytes;" }' counted)
    at_least 20 "$growths" "growths that were planted: $1"
    grep -A2 "^  1 buffer grew $growths times by $2, each time by $3:\$" \
        growth >here || fail "$1: not by $2: $(cat growth counted)"
    grep -q "^    $bytes" here || fail "$1: not $bytes: $(cat here)"
    grep -q "^    #01: $1 (.*planted.h:" here || fail "$1: not named: $(cat here)"
}

for mode in live cumulative; do
    heap zpipe --mode $mode
    [ ! -s growth ] || fail "there is none as it is: $(cat growth)"
    mv packed packed.as_is
    heap zpipe_planted --mode $mode
    cmp -s packed packed.as_is || fail "it no longer does what it did"
    told keep_by_one realloc "1 byte"
    told keep_by_pages realloc "4096 bytes"
    told keep_by_copying copying "[0-9]* to [0-9]* bytes"
    grep -q '^keep_by_doubling 1[0-9] ' counted || fail "$(cat counted)"
    ! grep -q keep_by_doubling growth || fail "doubling is told: $(cat growth)"
done
