#!/bin/sh
# Programs that cannot be recorded run as they do without us.
. "$(dirname "$0")/../lib/record_lib.sh"
# Whatever runs the tests may leave descriptors open.
exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-
unlimited=18446744073709551615
samples_of_process() {
    awk -v name="/$1\$" '$1 == "process" && $7 ~ name { n += $6 }
        END { print n + 0 }' dump
}
# refused REASON NAME: as in docs/formats/wndl.md, UNFO.
refused() {
    grep -Eq "^unfollowed [0-9]+ $1 .*/$2\$" dump ||
        fail "$2 is not among the unrecorded: $(cat said)"
}
# same [NAME SOFT HARD]...: the program in these limits says what it says
# without us; $taken MiB of the address space may be ours.
taken=8
same() {
    "$fixtures/limits" "$@" "$fixtures/limits" >alone || [ $? -eq 7 ] ||
        fail "not even alone: $*"
    record 7 -- "$fixtures/limits" "$@" "$fixtures/limits" >out
    grep -v '^mib' alone >expected
    grep -v '^mib' out | diff expected - || fail "limits: $*"
    awk -v had="$(sed -n 's/^mib //p' alone)" \
        -v taken=$taken '$1 == "mib" { exit !($2 >= had - taken) }' out ||
        fail "memory is missing: $* $(tail -n 1 alone) $(tail -n 1 out)"
}

# The runtime of Go and ours would fight for the signals. With perf events it is
# sampled from outside: outside.sh.
record 7 --engine timer -- "$fixtures/gopher"
[ "$(samples_of_process gopher)" -eq 0 ] || fail "gopher has samples"
refused 4 gopher

# Address space is the program's first.
same as 200000000 200000000
[ "$(samples_of 1)" -lt 50 ] || fail "samples in 200 MB"
refused 9 limits
taken=200
same as 2000000000 2000000000
sampled 160 "in 2 GB"

# A soft limit on descriptors is lifted for a moment; a hard one stands.
for most in 4 5 6 7 8; do
    same nofile $most $most
    [ $most -ne 4 ] || refused 8 limits
    same nofile $most 64
    sampled 160 "with $most descriptors"
done

same core 0 0 memlock 0 0 sigpending 0 0
same stack 200000 $unlimited
sampled 160 "with a large stack"

# A sandbox that kills is left alone; one that does not is not noticed. Where it
# kills for events alone, timers are used.
record 7 -- "$fixtures/filtered" socket "$fixtures/burn" 50 7 >out
[ "$(samples_of_process burn)" -eq 0 ] || fail "samples without socket"
record 7 -- "$fixtures/filtered" perf_event_open "$fixtures/burn" 200 7 >out
sampled 160 "in a sandbox without events"
for call in socket perf_event_open; do
    status=0
    "$windlass" heap -q -o h.wndl -- "$fixtures/filtered" $call \
        "$fixtures/burn" 50 7 >out || status=$?
    rm -f h.wndl
    [ $status -eq 7 ] || fail "heap without $call: exit status $status"
done
record 7 -- "$fixtures/filtered" none "$fixtures/burn" 200 7 >out
sampled 160 "in a harmless sandbox"

# It may give back whatever it finds mapped.
record 7 -- "$fixtures/unmaps"
sampled 160 "before and after unmapping"

if have valgrind; then
    record 7 -- valgrind -q --error-exitcode=9 --track-fds=yes \
        "$fixtures/burn" 20 7 >out
    [ "$(samples_of_process burn)" -eq 0 ] || fail "samples under Valgrind"
    refused 5 '.*valgrind.*'
fi

# A runtime of another version is told for what it is, however long its hello.
have python3 || exit 0
cat >other.py <<'END'
import os, socket, struct, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
s.connect(os.environ["WINDLASS_SESSION"])
s.send(struct.pack("<IIIII", int(sys.argv[1]), 62, 0, 0, 0)[:int(sys.argv[2])] +
       bytes(max(0, int(sys.argv[2]) - 20)))
sys.exit(7 if s.recv(1) == b"" else 1)
END
ours=$(sed -n 's/^ *WNDL_SHM_VERSION = \([0-9]*\),.*/\1/p' \
    "$sources/../../../src/rec/shm.h")
for hello in "$((ours - 1)) 20" "$((ours + 1)) 20" "$ours 24" "$ours 16" \
    '300 4'; do
    record 7 -- python3 other.py $hello
    refused 12 '.*python.*'
    grep -q 'it loaded the recorder of another version of windlass' said ||
        fail "$hello: $(cat said)"
    [ "$(grep -c '^unfollowed' dump)" -eq 1 ] || fail "$hello: told twice"
done
for noise in '0 16' '70000 16' '8 3'; do
    record 7 -- python3 other.py $noise
    grep -q '^unfollowed' dump && fail "$noise: taken for a hello: $(cat said)"
done

# One that is gone before it is looked at has no name, and is told all the same.
cat >gone.py <<'END'
import os, signal, socket, struct, sys
recorder = os.getppid()
os.kill(recorder, signal.SIGSTOP)
child = os.fork()
if child == 0:
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.connect(os.environ["WINDLASS_SESSION"])
    s.send(struct.pack("<IIIII", int(sys.argv[1]), 62, 9, 0, 0))
    os._exit(0)
os.waitpid(child, 0)
with open("child", "w") as file:
    file.write(str(child))
os.kill(recorder, signal.SIGCONT)
sys.exit(7)
END
record 7 -- sh -c 'unset LD_PRELOAD; exec python3 gone.py '"$ours"
grep -q "^windlass: process $(cat child) could not be recorded: there was no memory" said ||
    fail "gone: $(cat said)"
exit 0
