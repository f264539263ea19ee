#!/bin/sh
# SPDX-License-Identifier: MIT
# places.sh WINDLASS INCLUDE: where logs are: one of a process with libraries
# that do not see each other, none where there is no room, and none of others.
here=$(cd "$(dirname "$0")" && pwd)
. "$(dirname "$0")/memlog_lib.sh"
flags="-O1 -std=c11 -I$include"
for name in one two; do
    cc $flags -fPIC -shared -DNAME=$name "$here/library.c" -o $name.so ||
        fail "cannot compile library.c"
done
cc $flags "$here/places.c" -o places -ldl || fail "cannot compile places.c"

# Two libraries and the program: one log, one type of what they share.
WINDLASS_MEMLOG=4m ./places ./one.so ./two.so >said || fail "places: $?"
[ "$(cat said)" = logs ] || fail "there is no log"
[ "$(ls run/windlass/*.ring | wc -l)" -eq 1 ] || fail "not one log"
memlog show
for event in one two 'shared: size 100 B, one' 'shared: size 100 B, two'; do
    [ "$(grep -c "] $event\$" out)" -eq 2 ] || fail "not two of '$event'"
done
memlog list
grep -q ' 20010 *0 *0  places$' out || fail "not 20,010 events"

[ "$(id -u)" = 0 ] || {
    echo "skipped: not root"
    exit 0
}
need unshare setpriv mount

# Another user's programs do not come into this one's folder, nor see its logs.
chmod 755 "$work" places
other="setpriv --reuid 65534 --regid 65534 --clear-groups"
before=$(ls run/windlass | wc -l)
mkdir -m 700 other-run
chown 65534:65534 other-run
$other env XDG_RUNTIME_DIR="$work/run" ./places >said || fail "another's program"
[ "$(ls run/windlass | wc -l)" -eq "$before" ] || fail "another user's log is here"
cp "$windlass" ./windlass-copy
$other env XDG_RUNTIME_DIR="$work/run" XDG_STATE_HOME="$work/other-run/state" \
    ./windlass-copy memlog list >out 2>err || fail "another user's list"
grep -q ' places$' out && grep -q "20010" out && fail "another user sees a log"
$other env XDG_RUNTIME_DIR="$work/other-run" ./places >said || fail "its own"
[ "$(cat said)" = logs ] || fail "another user has no log"
memlog show
grep -q 'other-run' err && fail "another user's folder was read"
rm -rf /dev/shm/windlass-65534

# A file system without room, and one that is read-only: the program runs on.
cat >without.sh <<'EOS'
set -e
rm -rf small kept
mkdir -m 700 small kept
for folder in small /dev/shm; do
    mount -t tmpfs -o size="$1",mode=700 none $folder
    [ "$2" != full ] || cat /dev/zero >$folder/zeros 2>/dev/null || true
    [ "$2" != ro ] || mount -o remount,ro $folder
done
export XDG_RUNTIME_DIR="$PWD/small" XDG_STATE_HOME="$PWD/kept"
./places >said
"$3" memlog list >out 2>err
EOS
unshare -m sh without.sh 64k full "$windlass" || fail "a full file system: $?"
[ "$(cat said)" = 'does not log' ] || fail "a log on a full file system"
unshare -m sh without.sh 16k rw "$windlass" || fail "no room for a log: $?"
[ "$(cat said)" = 'does not log' ] || fail "a log without room"
unshare -m sh without.sh 8m ro "$windlass" || fail "read-only: $?"
[ "$(cat said)" = 'does not log' ] || fail "a log on a read-only file system"
# Room for the head and some blocks: what found none is counted.
unshare -m sh without.sh 512k rw "$windlass" || fail "little room: $?"
[ "$(cat said)" = logs ] || fail "no log with little room"
grep -q ' places$' out || fail "a log with little room is not listed"
exit 0
