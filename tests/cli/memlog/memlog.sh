#!/bin/sh
# SPDX-License-Identifier: MIT
# memlog.sh WINDLASS INCLUDE: a program with the public header, its log while it
# runs and after it was killed, and files that are not to be read.
set -eu
. "$(dirname "$0")/../../lib/have.sh"
windlass=$(realpath "$1")
include=$(realpath "$2")
need cc
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
mkdir -m 700 run state
XDG_RUNTIME_DIR=$work/run
XDG_STATE_HOME=$work/state
export XDG_RUNTIME_DIR XDG_STATE_HOME LC_ALL=C
unset WINDLASS_MEMLOG || true

fail() {
    echo "memlog: $1"
    cat out err 2>/dev/null || true
    exit 1
}
memlog() {
    "$windlass" memlog "$@" >out 2>err || fail "memlog $*: status $?"
}

# The header is everyone's: any C or C++, pedantic, and nothing if so wished.
cat >all.c <<'EOS'
#include <windlass/memlog.h>
#include <unistd.h>
static struct wndl_memlog_type gc = {
    "gc", WNDL_MEMLOG_COLLECTION, 0, {{"generation", ""}}, {0, 0}};
static struct wndl_memlog_type size = {
    "size", WNDL_MEMLOG_REPORT, 0, {{NULL, NULL}}, {0, 0}};
static struct wndl_memlog_type jit = {
    "jit", WNDL_MEMLOG_CODE, 0, {{NULL, NULL}}, {0, 0}};
static struct wndl_memlog_type clicked = {
    "clicked", WNDL_MEMLOG_ACTION, 0, {{NULL, NULL}}, {0, 0}};
int main(int argc, char **argv)
{
    const int64_t small[] = {100000000};
    const int64_t code[] = {0x7f0000, 810000000};
    const int64_t collected[] = {812000000, 640000000, 38000000, 2};
    const int64_t big[] = {1100000000};
    char byte;
    (void)argv;
    wndl_memlog_append(&size, small, 1);
    wndl_memlog_append(&jit, code, 2);
    wndl_memlog_begin(&gc, NULL, 0);
    wndl_memlog_end(&gc, collected, 4);
    wndl_memlog_append_text(&clicked, NULL, 0, "extension Xyzzy loaded");
    wndl_memlog_append(&size, big, 1);
    while (argc > 1 && read(0, &byte, 1) == 1)
        if (write(1, &byte, 1) == 1)
            wndl_memlog_append_text(&clicked, NULL, 0, "again");
    return !wndl_memlog_active();
}
EOS
# (In C++ the guard does what begin and end do in C.)
sed -e 's/wndl_memlog_begin(&gc, NULL, 0);/{ wndl_memlog_scope scope(\&gc);/' \
    -e 's/wndl_memlog_end(&gc, collected, 4);/scope.set(collected, 4); }/' \
    all.c >all.cc
strict="-Wall -Wextra -Wpedantic -Wshadow -Werror -O1 -I$include"
for language in cc:c99:all.c cc:c11:all.c c++:c++11:all.cc; do
    compiler=${language%%:*}
    source=${language##*:}
    standard=${language#*:}
    have "$compiler" || continue
    "$compiler" -std="${standard%:*}" $strict -DWNDL_MEMLOG_DISABLE "$source" \
        -o none || fail "$compiler $standard, disabled"
    nm none | grep wndl_memlog && fail "disabled, and not gone"
    "$compiler" -std="${standard%:*}" $strict "$source" -o all ||
        fail "$compiler $standard"
    ./all || fail "$compiler $standard: no log"
    memlog show --process all
    [ "$(grep -c ' gc end: 812 MB -> 640 MB, reclaimed 172 MB in 38 ms, gen' out)" -eq 1 ] ||
        fail "not one collection"
    rm -rf run/windlass state/windlass
done

# Off by the environment: nothing is there.
WINDLASS_MEMLOG=off ./all && fail "on, where it is off"
memlog list --process all # programs of other tests may have logs in /dev/shm
[ "$(wc -l <out)" -eq 1 ] || fail "a log that nobody wrote"

# While it runs; turned off and on; killed.
mkfifo to from
./all wait <to >from &
pid=$!
exec 3>to 4<from
step() {
    printf x >&3
    head -c 1 <&4 >/dev/null
    printf x >&3 # the first one's event is logged before this is read
    head -c 1 <&4 >/dev/null
}
step
memlog show "$pid"
grep -q " all\[$pid\] clicked: extension Xyzzy loaded\$" out || fail "the text"
before=$(grep -c ' clicked: again$' out) || fail "no event of the loop"
memlog off "$pid"
step
memlog show "$pid"
after=$(grep -c ' clicked: again$' out)
[ "$after" -le $((before + 1)) ] || fail "logged while it is off"
memlog on "$pid"
step
step
memlog show "$pid"
[ "$(grep -c ' clicked: again$' out)" -gt $((after + 1)) ] || fail "not on again"
memlog list
grep -q "^$pid *runs .* all\$" out || fail "it does not run"
kill -9 "$pid"
wait "$pid" 2>/dev/null || true
memlog list
grep -q "^$pid *ended .* all\$" out || fail "it has not ended"
[ -z "$(ls run/windlass | grep ring)" ] || fail "its log was not moved"
memlog summary
grep -q "^all\[$pid\]: RSS grew 1 GB between .*; 81 % of it in 1 mapping of code;" out ||
    fail "the summary"
memlog show --json --role action --type clicked
grep -q '"role":"action","fields":\[\],"text":"extension Xyzzy loaded"}$' out ||
    fail "JSON"
grep -q '"type":"gc"' out && fail "the role was not asked for"

# What is not the user's alone is left out, and said.
kept=state/windlass/memlog
ring=$(ls $kept | grep "^$pid-") # logs of other tests are moved there, too
cp $kept/"$ring" mine
cp mine run/windlass/open.ring
chmod 644 run/windlass/open.ring
ln -s "$work/mine" run/windlass/link.ring
cp mine run/windlass/two.ring
chmod 600 run/windlass/two.ring
ln run/windlass/two.ring other-name
printf WNDL >run/windlass/cut.ring
chmod 600 run/windlass/cut.ring
memlog list --process all
[ "$(wc -l <out)" -eq 2 ] || fail "not the one log"
memlog list --process none
[ "$(wc -l <out)" -eq 1 ] || fail "logs of others than asked for"
for said in 'open.ring: others may' 'link.ring: it is a symbolic link' \
    'two.ring: it has another name' 'cut.ring'; do
    grep -q "left out .*$said" err || fail "nothing is said of $said"
done
"$windlass" memlog show cut-not-there >out 2>err && fail "a file that is not there"
"$windlass" memlog nothing >out 2>err && fail "no action"
"$windlass" memlog show 999999999 >out 2>err && fail "no process"
memlog show mine
grep -q ' gc end: ' out || fail "a file that is named"
exit 0
