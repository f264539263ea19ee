#!/bin/sh
# Processes that cannot be recorded run, and are named with the reason. Where the
# engine is perf, some of these are sampled from outside: attached.sh.
. "$(dirname "$0")/../lib/record_lib.sh"
burn=$fixtures/burn

# unfollowed REASON NAME: as the recording has it.
unfollowed() {
    awk -v reason="$1" -v name="$2" '$1 == "unfollowed" && $3 == reason &&
        $NF ~ name "$" { n++ } END { exit n != 1 }' dump ||
        fail "$2 is not there with reason $1"
}
unknown_to() {
    grep -q "'$1' (process [0-9]*) could not be recorded: $2" said ||
        fail "$1 is not named: $(cat said)"
}

cc -O1 -static -o still "$sources/burn.c"
record 4 --engine timer -- ./still 20 4
unfollowed 1 /still
unknown_to still "it is statically linked"
record 4 --engine timer -- sh -c "./still 600 1; $burn 20 0; ./still 600 2; exit 4"
[ "$(grep -c ^unfollowed dump)" -eq 2 ] || fail "not both are named"

# Its children are recorded, if they can be.
cat >starts.c <<'C'
#include <stdlib.h>
int main(int argc, char **argv) { return argc > 1 ? system(argv[1]) != 0 : 1; }
C
cc -O1 -static -o starts starts.c
record 0 --engine timer -- ./starts "sleep 0.4; exec $burn 300 0"
unfollowed 1 /starts
at_least 50 "$(samples_of 1)" "samples of the child"

# An executed program that does not tell.
record 2 --engine timer -- sh -c "exec ./still 300 2"
unfollowed 1 /still

# Seven of them: five names.
record 0 --engine timer -- sh -c 'for i in 1 2 3 4 5 6 7; do ./still 500 0 & done; wait'
[ "$(grep -c 'statically linked' said)" -eq 5 ] || fail "$(cat said)"
grep -q '2 more could not be recorded' said || fail "$(cat said)"

if have musl-gcc; then
    musl-gcc -O1 -o other "$sources/burn.c" && record 4 --engine timer -- ./other 300 4 &&
        unfollowed 3 /other
fi

# A child that no hook sees beginning; one of fork() is none.
cp "$sources/unfollowed_clones.c" clones.c
cc -O1 -o clones clones.c
record 0 -- ./clones
unfollowed 11 /clones
unknown_to clones "it was made by a bare clone()"
record 0 -- ./clones browser
[ "$(awk '$1 == "unfollowed" { print $3 }' dump)" = "11
11" ] || fail "clones in disguise: $(cat said)"
record 0 -- ./clones fork
! grep -q '^unfollowed' dump || fail "a fork is called a clone"

# A child of vfork() that takes its time is none either: it may start a program.
record 0 -- ./clones vfork
unfollowed 14 /clones
unknown_to clones "it is a child of vfork() that started no program"
record 0 -- ./clones vfork "$burn" 100 0
! grep -q '^unfollowed' dump || fail "a slow start is called unrecorded"
sampled 50 "of the program" '$NF == "burn"'

# Many, most of which end before they are looked at for the second time.
cp "$sources/unfollowed_many.c" many.c
cc -O1 -o many many.c
record 0 -- ./many
grep -q '^unfollowed' dump || fail "none of many is told"
[ "$(awk '$1 == "unfollowed" { print $3 }' dump | sort -u)" = 11 ] ||
    fail "a clone has another reason"

# Children are not looked for when they are not wanted.
record 0 --no-children -- sh -c './still 300 0'
! grep -q '^unfollowed' dump || fail "--no-children names them"
record 0 -- true
! grep -q '^unfollowed' dump || fail "somebody else is named"
