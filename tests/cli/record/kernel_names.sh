#!/bin/sh
# Where the user may see it, functions of the kernel are named, on top of the
# code that called it, and the time is that of the samples without them.
. "$(dirname "$0")/../lib/record_lib.sh"
[ "$(id -u)" -eq 0 ] || [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -le 0 ] ||
    skip "no right to sample the kernel"
grep -q -m 1 '[1-9a-f].* _text$' /proc/kallsyms || skip "kernel addresses are hidden"

record 0 --engine perf -- "$fixtures/reads" 300 >used
[ "$("$windlass" report --json r.wndl | grep -c '"kernel_stacks": *true')" -eq 1 ] ||
    skip "this machine has no perf events of the kernel"
"$windlass" export -f folded --time cpu r.wndl >folded

# ms PATTERN: of the stacks that match it.
ms() {
    awk -v pattern="$1" '{ n = $NF; $NF = "" } $0 ~ pattern { ms += n }
        END { print int(ms) }' folded
}
reads=$(ms 'read_some')
named=$(ms 'read_some.*(vfs|ksys|sys)_read')
[ $((named * 10)) -ge $((reads * 7)) ] ||
    fail "$named of $reads ms in read() are in the kernel: $(cat folded)"
[ "$(ms 'compute_some.*(vfs|ksys|sys)_read')" -eq 0 ] ||
    fail "compute_some() reads: $(cat folded)"
[ "$(ms 'read_zero.*vfs_read')" -eq 0 ] || fail "the stack is upside down"
# Nothing is counted twice.
awk '{ used = $1 + $2 } END { print used }' used >both
awk -v used="$(cat both)" '$1 == "thread" { ms += $6 / 1e6 }
    END { exit !(ms > 0.95 * used && ms < 1.1 * used) }' dump ||
    fail "sampled CPU time is not what was used: $(cat both) ms"
# Addresses of the kernel stay here.
! grep -qa 'ffffffff8' folded || fail "an address of the kernel is told"

# Children and threads, too; not while sampling is paused.
record 0 --engine perf -- sh -c '"$0" 200 & "$0" 200; wait' "$fixtures/reads"
"$windlass" export -f folded --time cpu r.wndl >folded
[ "$(ms 'read_some.*vfs_read')" -gt 100 ] || fail "no kernel of children"

# So has a recording that is read before its end, and one in memory.
for kept in "" "--buffer 8M"; do
    # shellcheck disable=SC2086 # two words, or none
    "$windlass" record -q --engine perf $kept -o early.wndl -- \
        sh -c '"$0" 700; echo' "$fixtures/reads" >/dev/null &
    recorder=$!
    sleep 0.6
    path=$("$windlass" ctl "$(pgrep -n -x reads)" dump) || fail "no dump"
    "$windlass" export -f folded --time cpu "$path" >folded
    [ "$(ms 'read_some.*vfs_read')" -gt 50 ] ||
        fail "$kept: no names of the kernel in a dump: $(cat folded)"
    wait $recorder
done

# Who may not see the kernel's addresses records as ever.
if [ "$(id -u)" -eq 0 ] && have setpriv; then
    chown 65534:65534 "$work"
    record_as="setpriv --reuid=65534 --regid=65534 --clear-groups"
    $record_as test -x "$windlass" || exit 0
    record 0 -- "$fixtures/reads" 100
    "$windlass" report r.wndl >report
    ! grep -q 'vfs_read' report || fail "another user sees the kernel"
fi
