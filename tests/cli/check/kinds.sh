#!/bin/sh
# SPDX-License-Identifier: MIT
# kinds.sh WINDLASS: programs that are hard on a checker: what was found in each
# is listed, and a line says what was not; and test runners, which run as they
# are while the programs that they start are checked.
. "$(dirname "$0")/../lib/check_lib.sh"
need valgrind gcc g++
cd "$work"

gcc -g -gdwarf-4 -O0 "$here/kinds.c" -o kinds
g++ -g -gdwarf-4 -O0 -pthread "$here/bugs.cc" -o bugs

# Each forked child writes a file of its own: nothing of it is damaged.
run 3 -- ./kinds fork
said '^    InvalidWrite  in_parent \(kinds\.c:[0-9]+\)  1 time$'
said '^    InvalidWrite  in_child \(kinds\.c:[0-9]+\)  24 times$'
said '^memcheck: 2 distinct errors; 9 processes, 1 run$'
! grep '^note:' err >out || fail "a note on forks"

run 3 -n 1 -- ./kinds flood
said '^note: there were more than 1000 distinct errors in a process'
run 3 -- ./kinds avx512
said '^    InvalidWrite  in_parent '
said '^note: the program has AVX-512 instructions'

# A runner is no process that is checked, whatever it is; nor are programs that
# do not match. What ran before another program took its place is listed.
run 3 --wrap 'bug*' --wrap "$work/kinds" -- sh -c \
    './bugs o | cat; ./kinds exec ./bugs; (./kinds none); exit 5'
said '^    InvalidWrite  overrun\(\) .*  2 times$'
said '^    InvalidWrite  in_parent .*  2 times$'
said '^memcheck: 2 distinct errors; 4 processes, 1 run$'
run 5 --wrap 'nobody' -- sh -c './bugs o; exit 5'
said '^note: no program that was started matches --wrap$'

# Words of all kinds, the environment and descriptors reach a wrapped program.
cat >words.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    printf("%d", argc);
    for (int i = 0; i < argc; i++)
        printf(" [%s]", argv[i]);
    printf(" %s", getenv("GIVEN"));
    fflush(stdout);
    return write(7, " seven\n", 7) != 7;
}
END
gcc -g -gdwarf-4 words.c -o words
run 0 --wrap words -- env GIVEN=given sh -c \
    'cd /; "$0/words" "" "two words" "$(printf "a\nb")" 7>&1' "$work"
printf '4 [%s/words] [] [two words] [a\nb] given seven\n' "$work" |
    cmp -s - out || fail "the words of a wrapped program"
said '^memcheck: 0 distinct errors; 1 process, 1 run$'

# Valgrind runs 32-bit programs only with the symbols of their libc.
if gcc -m32 -g -gdwarf-4 -O0 "$here/kinds.c" -o bits32 2>cc.err; then
    status=0
    "$windlass" check -- ./bits32 >out 2>err || status=$?
    case $status in
    3) said '^    InvalidWrite  in_parent ' ;;
    125) said 'install libc6-dbg, for a 32-bit program libc6-dbg:i386' ;;
    *) fail "status $status of a 32-bit program" ;;
    esac
    run 0 --wrap 'bits*' -- sh -c './bits32; true'
    said '^note: .*/bits32 was not checked: --wrap checks x86-64 programs'
fi

# What ends windlass ends the runner, and what was found is listed.
rm -f out
"$windlass" check --wrap bugs -- sh -c './bugs o stay; echo after' \
    >out 2>err &
waited=0
until grep -qs '^stays' out; do
    [ "$waited" -lt 600 ] || fail "it does not run"
    waited=$((waited + 1))
    sleep 0.1
done
kill -TERM $!
status=0
wait $! || status=$?
kill "$(sed -n 's/^stays //p' out)" 2>/dev/null || true
[ "$status" -eq 3 ] || fail "status $status after SIGTERM"
said '^    InvalidWrite  overrun\(\) '
exit 0
