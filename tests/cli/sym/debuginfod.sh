#!/bin/sh
# SPDX-License-Identifier: MIT
# Debug files from a server: Debian's own, on the loopback interface.
#
#     debuginfod.sh WINDLASS SOURCES
set -eu
. "$(dirname "$0")/../../lib/have.sh"
export LC_ALL=C
windlass=$1
need debuginfod
ldconfig -p 2>/dev/null | grep -q libdebuginfod.so.1 ||
    skip "no libdebuginfod.so.1"
need gcc
work=$(mktemp -d)
server=
stop() {
    [ -z "$server" ] || kill "$server" 2>/dev/null || :
    wait 2>/dev/null || :
    rm -rf "$work"
}
trap stop EXIT
failed=0
fail() {
    echo "FAIL $*"
    failed=1
}
export HOME="$work"
unset DEBUGINFOD_URLS WINDLASS_DEBUG_DIRS || :
cd "$work"
mkdir served empty

cp "$2/elf_variants.c" a.c
gcc -O2 -g a.c -Wl,--build-id -o program
objcopy --only-keep-debug program served/program.debug
at=$(nm program | awk '$3 == "outer" { print "0x" $1 }')
strip program

# A program of which the server has all, and this machine a core alone.
gcc -O1 -g "$2/../../cli/stack/crash.c" -pthread -Wl,--build-id -o served/crash
cp served/crash crash
(ulimit -c unlimited && ./crash divide) >core.log 2>&1 || :
for made in core.[0-9]*; do
    [ ! -e "$made" ] || mv "$made" core
done
rm crash

# A port that nobody has: the server ends at once on one that is taken.
tries=0
until [ -n "$server" ] || [ $tries -ge 10 ]; do
    tries=$((tries + 1))
    port=$((20000 + ($$ + tries * 997) % 30000))
    debuginfod -p $port -d :memory: -F served >server.log 2>&1 &
    server=$!
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        sleep 0.2
        kill -0 "$server" 2>/dev/null || break
        grep -q 'started http server' server.log && break
    done
    kill -0 "$server" 2>/dev/null || server=
done
[ -n "$server" ] ||
    skip "debuginfod does not start here: $(tail -n 1 server.log)"
export DEBUGINFOD_URLS="http://127.0.0.1:$port" DEBUGINFOD_TIMEOUT=20

# Not asked, not done.
export DEBUGINFOD_CACHE_PATH="$work/cache-none"
"$windlass" sym -e program -f -i "$at" >plain
grep -q 'a\.c' plain && fail "fetched without being asked"
[ ! -e "$work/cache-none" ] || fail "a cache without being asked"

# The server reads its folder in its own time; a miss is cached too.
tries=0
while :; do
    export DEBUGINFOD_CACHE_PATH="$work/cache-$tries"
    "$windlass" sym --debuginfod -e program -f -i "$at" >fetched
    ! grep -q 'a\.c:' fetched || break
    tries=$((tries + 1))
    [ $tries -lt 40 ] || break
    sleep 0.5
done
grep -q 'a\.c:' fetched || fail "no lines: $(cat fetched)"
seq 0 4 60 | while read -r i; do printf '0x%x\n' $((at + i)); done |
    "$windlass" sym --debuginfod -e program -f -i >all
grep -q '^in2$' all || fail "no inlined functions: $(cat all)"
eu-addr2line -f -i -e served/program.debug "$at" 2>/dev/null |
    sed -n 's/.*\(a\.c:[0-9]*\).*/\1/p' | head -n 1 >want
grep -q -F "$(cat want)" fetched || fail "other lines than eu-addr2line's"

# The other commands that look for debug files.
echo "#01: ???[$work/program +$at]" | "$windlass" fix --debuginfod >fixed
grep -q 'a\.c:' fixed || fail "fix: $(cat fixed)"
for command in report export; do
    "$windlass" $command --help | grep -q -- --debuginfod ||
        fail "$command has no --debuginfod"
done

# The binary of a core is fetched, if that is asked for.
if [ -s core ]; then
    "$windlass" stack --core core >cored
    grep -q 'divide (' cored && fail "a binary without being asked"
    "$windlass" stack --core core --debuginfod >cored || fail "exit status $?"
    grep -q ': divide (.*crash.c' cored || fail "the binary is not fetched"
else
    echo "skipped: no core files here: $(cat /proc/sys/kernel/core_pattern)"
fi

# No server that has it, none that answers, none at all: names are left, or
# nothing, but never an error.
for urls in "http://127.0.0.1:1" ""; do
    export DEBUGINFOD_URLS="$urls" DEBUGINFOD_CACHE_PATH="$work/cache-x$urls"
    "$windlass" sym --debuginfod -e program -f "$at" >none 2>said ||
        fail "'$urls': $(cat said)"
    cmp -s none plain || "$windlass" sym -e program -f "$at" | cmp -s - none ||
        fail "'$urls': $(cat none)"
done

[ $failed = 0 ] && echo "fetched from $port after $((tries + 1)) tries"
exit $failed
