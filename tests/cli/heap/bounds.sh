#!/bin/sh
# bounds.sh WINDLASS RECDUMP FIXTURES HEAPDUMP MAKE_RECORDING:
# sizes that nobody can have, no memory left for what we remember, a great many
# stacks, and recordings that are larger than what is distinct in them.
. "$(dirname "$0")/../lib/record_lib.sh"
heapdump=$(realpath "$4")
make_recording=$(realpath "$5")

cp "$sources/../heap/bounds.c" .
cc -O1 -w -o bounds bounds.c
for options in "" "--mode cumulative" "--stacks partial"; do
    rm -f r.wndl
    status=0
    "$windlass" heap $options -o r.wndl -- ./bounds >out 2>said || status=$?
    [ $status -eq 7 ] || fail "'$options': status $status: $(cat said)"
    "$heapdump" r.wndl >dump
    # All blocks are in the totals, if not at a site; the libc keeps few.
    awk -v least="$(cat out)" '$1 == "snapshot" { a = $6; f = $7 }
        END { exit !(a >= least && a - f < 20) }' dump ||
        fail "'$options': not all are counted"
    [ "$options" != "--stacks partial" ] || continue
    awk '$1 == "site" && $9 == 1003 { n += $3 } $1 == "site" && $9 > 2^40 {
        huge++ } END { exit !(n == 1 && !huge) }' dump ||
        fail "'$options': what comes after is not recorded"
    grep -q 'only counted: .*no memory to remember them [1-9]' said ||
        fail "'$options': what there is no memory for: $(cat said)"
done

# A million places in stacks, and every stack is known.
cp "$sources/../heap/places.c" .
cc -O1 -fno-builtin -o places places.c
rm -f r.wndl
status=0
"$windlass" heap --mode cumulative -o r.wndl -- ./places >out 2>said ||
    status=$?
[ $status -eq 7 ] || fail "a million places: status $status: $(cat said)"
"$heapdump" r.wndl >dump
awk '$1 == "site" && $9 == 40 { sites++; blocks += $3 } END {
    exit !(sites == 524288 && blocks == 524288) }' dump ||
    fail "a million places: $(grep -c ^site dump) sites: $(cat said)"

# A recording of 300 snapshots takes no more memory than one of them: what can
# be written to is limited to a fifth of what all the counts would take.
awk -v snapshots=300 -v sites=2000 'BEGIN {
    print "meta 0 0 0 box / srv\nprocess 0 7 /gone/srv srv\nimage /gone/srv 01"
    print "heap 0 0 0"
    for (i = 0; i < sites; i++)
        printf "site 0 0 %d 0 0:%x\n", 1000 + i, 4096 + i
    for (n = 1; n <= snapshots; n++) {
        printf "wait 1000\nsnapshot 0 3 - %d 0 %d %d 0 0 0 9000000 4000 0\n",
            sites * n, sites * n * 1000, sites * n * 1000
        for (i = 0; i < sites; i++)
            printf "%s %d %d 0 1 0 0", i % 80 ? "" : i ? "\ncounts 0" : \
                "counts 0", i, n
        print ""
    }
    print "exit 0 1\ndone 0 0"
}' >recipe
"$make_recording" many.wndl <recipe 2>said || fail "$(head -c 1000 said)"
if (ulimit -d 6000 && "$windlass" --version >out 2>&1); then
    (ulimit -d 6000 && "$windlass" report many.wndl >report 2>said) ||
        fail "300 snapshots: $(cat said)"
    (ulimit -d 8000 && "$windlass" diff --snapshot 3 many.wndl many.wndl \
        >report.diff 2>said) || fail "twice 300 snapshots: $(cat said)"
    grep -q '^Live  *600,000,000 bytes in 600,000 blocks' report ||
        fail "300 snapshots: $(head -8 report)"
fi
