#!/bin/sh
# owner.sh WINDLASS RECDUMP FIXTURES HEAPDUMP: a program of which
# one thread allocates while another comes by now and then. All is counted,
# also where membarrier() would be the end of the process.
. "$(dirname "$0")/../lib/record_lib.sh"
heapdump=$(realpath "$4")

# The visitor of a program that is told to enters a sandbox the third time.
cp "$sources/../heap/owner.c" .
cc -O1 -pthread -o owner owner.c

cat >want <<'W'
1001 90000 90000
2001 50 50
inherited 300
W
check() {
    rm -f r.wndl dump
    status=0
    "$windlass" heap -q -o r.wndl -- "$@" >out 2>said || status=$?
    [ $status -eq 7 ] || fail "exit status $status: $*: $(cat said)"
    "$heapdump" r.wndl >dump || fail "the recording cannot be read"
    awk '$1 == "site" { a[$9] += $3; f[$9] += $4 }
        $1 == "snapshot" { p = $2; sub(/ \/.*/, ""); inherited[p] = $NF }
        END {
            for (k in a)
                if (k == 1001 || k == 2001)
                    print k, a[k], f[k]
            for (p in inherited)
                n += inherited[p]
            print "inherited", n
        }' dump | LC_ALL=C sort >have
    cmp -s want have || fail "$*: $(cat have)"
}
check ./owner
check ./owner enters
check "$fixtures/filtered" membarrier ./owner
