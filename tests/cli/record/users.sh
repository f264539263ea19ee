#!/bin/sh
# What two users of one machine can do to each other's recordings: nothing
# (docs/security.md). Root is the one, 65534 the other.
. "$(dirname "$0")/../lib/record_lib.sh"
burn=$fixtures/burn
[ "$(id -u)" = 0 ] || skip "not root"
need setpriv python3
chmod 755 "$work"
python=$(command -v /usr/bin/python3 python3 | head -1) # one that anybody may run
other="setpriv --reuid 65534 --regid 65534 --clear-groups"

# What we write is ours alone: recordings and dumps.
(umask 0 && "$windlass" record -q -o private.wndl true)
[ "$(stat -c %a private.wndl)" = 600 ] || fail "a recording that others read"
$other cat private.wndl >stolen 2>&1 && fail "another user read a recording"
(umask 0 && exec "$windlass" record -q --buffer 1M -o kept.wndl \
    sh -c 'until [ -e dumped ]; do sleep 0.1; done') &
recorder=$!
until "$windlass" ctl $recorder status >out 2>&1; do sleep 0.1; done
dump=$("$windlass" ctl $recorder dump) || fail "no dump"
cp "$windlass" "$burn" . # where anybody may run them
$other ./windlass --version >out || fail "not even a version: $(cat out)"
for verb in status pause dump stop; do
    $other ./windlass ctl $recorder $verb >out 2>&1 &&
        fail "another user's ctl $verb: $(cat out)"
done
[ "$(stat -c %a "$dump")" = 600 ] || fail "a dump that others read"
: >dumped
wait $recorder || fail "another user has ended a recording"

# A program of another user that knows the session's name is not recorded by it,
# and neither kills its recorder nor delays it. (The folder is closed to it; the
# socket without a file is open to all.)
"$windlass" record -q -o joined.wndl sh -c \
    'echo "$LD_PRELOAD" "$WINDLASS_SESSION" >session; sleep 2' &
recorder=$!
until [ -s session ]; do sleep 0.1; done
read -r preload session <session
chmod 644 session
ls "${session%/*}" >out && $other ls "${session%/*}" >out 2>&1 &&
    fail "another user sees into the folder of a session: $(cat out)"
$other env LD_PRELOAD="$preload" WINDLASS_SESSION="$session" \
    ./burn 50 0 >out 2>&1 || fail "another user's program died: $?"
$other "$python" - "$session" >out 2>&1 <<'END' || fail "$(cat out)"
import os, socket, struct, sys
path = sys.argv[1]
try:
    socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET).connect(path)
    sys.exit("another user is let into the folder")
except PermissionError:
    pass
for first in (b"", bytes(16), os.urandom(5000),
              struct.pack("<IIII", 0x4C544357, 2, os.getppid(), 0),
              struct.pack("<IIII", 10, 62, 0, 0)):
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.settimeout(5)
    s.connect("\0" + path)
    try:
        s.send(first)
        if s.recv(4096):
            sys.exit("another user is answered: %r" % first[:16])
    except (BrokenPipeError, ConnectionResetError):
        pass
    s.close()
END
wait $recorder || fail "a recording that another user knocked at"
"$recdump" joined.wndl >dump
! grep -q '^process .*burn' dump || fail "another user's program is recorded"
grep -q '^done 1 ' dump || fail "the recording is not finished"

# The folder of another user is not used, wherever the variable comes from.
mkdir others mine
chown 65534 others
chmod 777 mine
for name in XDG_RUNTIME_DIR TMPDIR; do
    for folder in others mine; do
        env -u XDG_RUNTIME_DIR "$name=$work/$folder" "$windlass" record -q \
            -o "$name.$folder.wndl" sh -c 'echo $WINDLASS_SESSION' >out
        ! grep -q "$work" out || fail "$name=$folder: $(cat out)"
    done
done
mkdir own
env -u XDG_RUNTIME_DIR TMPDIR="$work/own" "$windlass" record -q -o own.wndl \
    sh -c 'echo $WINDLASS_SESSION' >out
grep -q "^$work/own/windlass-" out || fail "our TMPDIR is not used: $(cat out)"

# listen FOLDER MEMFD: answers hellos there; what it sees is in ./heard.
cat >listen.py <<'END'
import fcntl, os, socket, struct, sys
folder, kind = sys.argv[1:]
os.mkdir(folder)
path = folder + "/socket"
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
s.bind(path)
os.chmod(folder, 0o755)
os.chmod(path, 0o777)
s.listen(5)
open("listening", "w").close()
memory = os.memfd_create("block", os.MFD_ALLOW_SEALING)
os.ftruncate(memory, 4096 if kind == "short" else 1 << 30)
if kind != "unsealed":
    fcntl.fcntl(memory, 1033, 2)  # F_ADD_SEALS, F_SEAL_SHRINK
while True:
    c, _ = s.accept()
    hello = c.recv(4096)
    print("hello" if hello else "gone", flush=True)
    if hello and not struct.unpack("<IIII", hello[:16])[2]:  # no refusal
        version = struct.unpack("<I", hello[:4])[0]
        os.pwrite(memory, struct.pack("<II", 0x4D485357, version), 0)
        go = struct.pack("<IIIIQIIIIQII", version, 1, 3, 1, 1000000, 1024, 0,
                         0, 0, 0, 65536, 0)
        socket.send_fds(c, [go + bytes(256)], [memory])
        print("ready" if c.recv(4096) else "refused", flush=True)
    c.close()
END
# The program's own recorder gives the preload; the session is the listener's.
"$windlass" record -q -o preload.wndl sh -c 'echo $LD_PRELOAD' >preload
answered() {
    rm -f listening heard
    $1 "$python" listen.py "$2" "$3" >heard 2>errors &
    listener=$!
    until_true "it listens" test -e listening
    LD_PRELOAD=$(cat preload) WINDLASS_SESSION=$2/socket \
        "$burn" 50 0 >out 2>&1 || fail "$2 $3: the program died: $?"
    sleep 0.2
    kill $listener || fail "the listener: $(cat errors)"
    wait $listener 2>/dev/null || true
}
chmod 777 "$work"
answered "$other" "$work/windlass-others" whole
! grep -q hello heard || fail "another user was said hello: $(cat heard)"
for kind in short unsealed; do
    answered "" "$work/windlass-$kind" $kind
    grep -q hello heard || fail "$kind: nobody was asked: $(cat heard errors)"
    ! grep -q ready heard || fail "$kind: that memory was used"
done
answered "" "$work/windlass-whole" whole
grep -q ready heard || fail "this test does not know the messages: $(cat heard)"

# Another user's answers: neither waited for, nor printed as they are.
cat >control.py <<'END'
import os, socket, sys, time
os.mkdir(sys.argv[1])
os.chmod(sys.argv[1], 0o755)
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
s.bind(sys.argv[1] + "/socket")
os.chmod(sys.argv[1] + "/socket", 0o777)
s.listen(5)
while True:
    c, _ = s.accept()
    c.recv(4096)
    c.send(b"+\x1b]0;x\x07\xc2\x9b31m\xff\nforged") if len(sys.argv) == 2 \
        else time.sleep(20)
END
speaking=$work/windlass-speaks
silent=$work/windlass-silent
$other env WINDLASS_SESSION="$speaking/socket" sleep 30 &
its=$!
$other env WINDLASS_SESSION="$silent/socket" sleep 30 &
waits=$!
$other "$python" control.py "$speaking" &
one=$!
$other "$python" control.py "$silent" silent &
two=$!
until [ -S "$speaking/socket" ] && [ -S "$silent/socket" ]; do sleep 0.1; done
# runs_sleep PID: with the environment that it is given.
runs_sleep() {
    [ "$(cat "/proc/$1/comm")" = sleep ]
}
until_true "they sleep" runs_sleep $its
until_true "they sleep" runs_sleep $waits
sleep 0.5
"$windlass" ctl $its status >answer || fail "not asked: $(cat answer)"
grep -qF '\x1b]0;x\x07\xc2\x9b31m\xff forged' answer ||
    fail "the answer: $(cat -v answer)"
status=0
timeout 10 "$windlass" ctl $waits dump >answer 2>&1 || status=$?
[ "$status" = 1 ] && grep -q 'does not answer' answer ||
    fail "a silent recorder: $status $(cat answer)"
# Root's own processes are not asked about there.
WINDLASS_SESSION=$speaking/socket sleep 30 &
ours=$!
until_true "it sleeps" runs_sleep $ours
"$windlass" ctl $ours status >answer 2>&1 && fail "asked: $(cat -v answer)"
kill $its $waits $one $two $ours
wait 2>/dev/null || true

# A recorder that is stopped delays nobody's question about others.
"$windlass" record -q -o stopped.wndl sleep 30 &
stopped=$!
until "$windlass" ctl $stopped status >out 2>&1; do sleep 0.1; done
kill -STOP $stopped
"$windlass" record -q -o running.wndl sleep 30 &
running=$!
until_true "its socket is there" test -n "$(child_of $running)"
until_true "it can be asked" timeout 5 "$windlass" ctl $running status
timeout 5 "$windlass" ctl $running status >answer 2>&1 ||
    fail "a stopped stranger: $(cat answer)"
timeout 5 "$windlass" ctl $$ status >answer 2>&1 && fail "$(cat answer)"
[ $? = 1 ] || [ -s answer ] || fail "waited for a stranger"
kill -CONT $stopped
"$windlass" ctl $stopped stop >out || fail "no stop"
"$windlass" ctl $running stop >out || fail "no stop"
pkill -P $stopped sleep || true
pkill -P $running sleep || true
wait 2>/dev/null || true

# A page is for this user alone, although all may connect.
server=$(dirname "$recdump")/servefile
if [ -x "$server" ] && command -v curl >out; then
    echo page >page.html
    mkfifo hold
    "$server" page.html <hold >address 2>errors &
    serving=$!
    exec 9>hold
    until [ -s address ]; do sleep 0.1; done
    url=$(head -1 address)
    [ "$(curl -s "$url")" = page ] || fail "no page: $(cat address errors)"
    $other curl -s "$url" >stolen && fail "another user got the page"
    [ ! -s stolen ] || fail "another user got: $(cat stolen)"
    exec 9>&-
    wait $serving || true
fi

# Kept answers are ours alone, and others' are not believed.
if command -v gcc >out; then
    echo 'int right(void) { return 1; } int main(void) { return right(); }' >p.c
    gcc -g -Wl,--build-id -o p p.c
    at=$(nm p | awk '$3 == "right" { print "0x" $1 }')
    (umask 0 && "$windlass" sym -f -e p --cache kept "$at") >plain
    grep -q right plain || fail "no name: $(cat plain)"
    [ "$(stat -c %a kept)" = 700 ] || fail "the cache's folder is not private"
    for file in kept/*; do
        [ "$(stat -c %a "$file")" = 600 ] || fail "$file is not private"
        cp "$file" copy
        chown 65534 "$file"
    done
    "$windlass" sym -f -e p --cache kept "$at" >got 2>said
    cmp -s plain got || fail "another answer: $(cat got)"
    grep -q "not read: this cache file is another user's" said ||
        fail "another's cache: $(cat said)"
fi

# A library that is cut short while the recorder reads it. strace makes the time
# between mapping and reading long enough.
if command -v strace >out && command -v gcc >out; then
    cat >l.c <<'END'
#include <time.h>
static volatile unsigned long x;
void work(void) { clock_t e = clock() + CLOCKS_PER_SEC / 2; while (clock() < e) x++; }
END
    cat >m.c <<'END'
#include <dlfcn.h>
#include <unistd.h>
int main(void)
{
    void *l = dlopen("./l.so", RTLD_NOW);
    void (*work)(void) = (void (*)(void))dlsym(l, "work");
    work();
    if (truncate("./l.so", 0) != 0)
        return 1;
    sleep(3);
    _exit(7);
}
END
    gcc -O1 -g -shared -fPIC -o l.so l.c && gcc -O1 -g -o m m.c -ldl
    status=0
    # (LeakSanitizer does not work under strace.)
    ASAN_OPTIONS=detect_leaks=0 timeout 60 strace -o trace -P "$work/l.so" -e trace=mmap \
        -e inject=mmap:delay_exit=1500000 \
        "$windlass" record -o cut.wndl ./m >out 2>said || status=$?
    if grep -q 'l.so' trace || [ -s trace ]; then
        [ "$status" = 7 ] || fail "a cut library: status $status: $(cat said)"
        "$recdump" cut.wndl >dump && grep -q '^done 1 ' dump ||
            fail "a cut library ends the recording"
    fi
fi
