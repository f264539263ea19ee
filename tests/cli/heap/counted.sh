#!/bin/sh
# counted.sh WINDLASS RECDUMP FIXTURES HEAPDUMP: the totals of real
# programs are what an independent counter between them and the allocator has
# counted. The compiler and sqlite3, what of them there is.
. "$(dirname "$0")/../lib/record_lib.sh"
heapdump=$(realpath "$4")
counter=$fixtures/counter.so
tried=0

# The recording's last snapshot, of the program that COMMAND becomes.
counted() {
    rm -f r.wndl count
    "$windlass" heap -q -o r.wndl -- env LD_PRELOAD="$counter" \
        COUNTER="$work/count" "$@" >out 2>said </dev/null ||
        fail "exit status $?: $*: $(cat said)"
    "$heapdump" r.wndl >dump || fail "the recording cannot be read"
    # Process, number, why, name, allocs, frees, requested, usable, freed,
    # reallocs: that of the last process.
    [ -s count ] || fail "$1: nothing counted it"
    have=$(awk '$1 == "snapshot" { n = $6 " " $7 " " $8 " " $11 }
        END { print n }' dump)
    want=$(awk '{ print $1, $2, $3, $4 }' count)
    [ "$have" = "$want" ] || fail "$1: recorded $have, counted $want"
    tried=$((tried + 1))
}

if have sqlite3; then
    cat >script <<END
create table t(a integer primary key, b text);
with recursive x(i) as (select 1 union all select i + 1 from x where i < 20000)
    insert into t select i, 'name' || i from x;
select sum(length(json_object('a', a, 'b', json_array(1, b)))) from t;
END
    counted sqlite3 :memory: ".read script"
fi
compiler=$(gcc -print-prog-name=cc1plus 2>/dev/null || true)
if have "$compiler"; then
    printf '%s\n' '#include <map>' '#include <string>' \
        'std::map<std::string, int> numbers;' >x.cc
    if g++ -E x.cc >x.ii 2>/dev/null; then
        counted "$compiler" -fpreprocessed -quiet -fsyntax-only x.ii
    fi
fi
[ $tried -ne 0 ] || skip "no program to count"
