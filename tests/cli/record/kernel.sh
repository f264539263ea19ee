#!/bin/sh
# Time in the kernel is not lost where its samples are refused: to plain users
# under kernel.perf_event_paranoid 2. As root, the setting is made for the
# time of the test, and the test is no longer root.
. "$(dirname "$0")/../lib/record_lib.sh"
setting=/proc/sys/kernel/perf_event_paranoid
as=
if [ "$(id -u)" -eq 0 ]; then
    need setpriv flock
    # One at a time, or the setting would not be what it was in the end.
    exec 9<$setting
    flock 9
    before=$(cat $setting)
    trap 'echo "$before" >$setting; rm -rf "$work"' EXIT
    echo 2 2>/dev/null >$setting || skip "$setting cannot be written"
    chown 65534:65534 "$work"
    as="setpriv --reuid=65534 --regid=65534 --clear-groups"
    $as test -x "$windlass" || skip "others may not run windlass"
elif [ "$(cat $setting)" != 2 ]; then
    skip "$setting is not 2, and not root"
fi
windlass_alone=$windlass
cat >windlass <<END
#!/bin/sh
exec $as "$windlass_alone" "\$@"
END
chmod +x windlass
windlass=$work/windlass

record 0 --engine perf -- "$fixtures/reads" 500 >used
# By where the samples are: below read_some() and below compute_some().
"$windlass_alone" report -n 20 r.wndl >report
# The second percentage of a row: a time of 0 has no unit.
share() {
    awk -v name="$1" '{ seen = 0
        for (i = 1; i <= NF; i++) {
            if ($i ~ /^[0-9.]+%$/ && ++seen == 2) total = $i
            if ($i == name && seen == 2) { print int(total); exit }
        } }' report
}
for name in read_some compute_some; do
    share=$(share $name)
    [ "${share:-0}" -ge 40 ] && [ "$share" -le 60 ] ||
        fail "$name: ${share:-no} % instead of 50: $(cat report)"
done
awk '{ used += $1 + $2 } END { print used }' used >both
awk -v used="$(cat both)" '$1 == "thread" { ms += $6 / 1e6 }
    END { exit !(ms > 0.95 * used && ms < 1.1 * used) }' dump ||
    fail "sampled CPU time is not what was used: $(cat both) ms"
complete_above 99.9
