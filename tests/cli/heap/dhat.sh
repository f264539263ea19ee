#!/bin/sh
# dhat.sh WINDLASS RECDUMP FIXTURES HEAPDUMP: what Valgrind's DHAT
# counts of a program is what is recorded of it: blocks, and bytes requested.
. "$(dirname "$0")/../lib/record_lib.sh"
heapdump=$(realpath "$4")
valgrind --tool=dhat --version >out 2>&1 || skip "no valgrind"
tried=0

# counts COMMAND...: sets `ours` and `theirs` to "BYTES BLOCKS".
counts() {
    rm -f r.wndl dump
    "$windlass" heap -q -o r.wndl -- "$@" >out 2>said </dev/null ||
        fail "exit status $?: $*: $(cat said)"
    "$heapdump" r.wndl >dump || fail "the recording cannot be read"
    ours=$(awk '$1 == "snapshot" { print $8, $6 }' dump)
    valgrind --tool=dhat --dhat-out-file=dhat.json "$@" >out 2>said \
        </dev/null || fail "valgrind: $*: $(cat said)"
    theirs=$(sed -n 's/,//g; s/^==.* Total: *\(.*\) bytes in \(.*\) blocks$/\1 \2/p' \
        said)
    [ -n "$theirs" ] || fail "valgrind says no total: $(cat said)"
    tried=$((tried + 1))
}

if have sqlite3; then
    cat >script <<END
create table t(a integer primary key, b text);
with recursive x(i) as (select 1 union all select i + 1 from x where i < 2000)
    insert into t select i, 'name' || i from x;
select sum(length(json_object('a', a, 'b', json_array(1, b)))) from t;
END
    counts sqlite3 :memory: ".read script"
    [ "$ours" = "$theirs" ] || fail "sqlite3: $ours, DHAT counts $theirs"
fi
# How much cc1plus allocates differs from run to run, with the addresses that it
# gets. cc1 differs by its collector's tables: of 2,064 bytes for each 4 GiB of
# address space that its pages are in, and of 32,768 for each 16 MiB.
compiler=$(gcc -print-prog-name=cc1 2>/dev/null || true)
if have "$compiler"; then
    echo 'int add(int a, int b) { return a + b; }' >x.c
    counts "$compiler" -quiet x.c -o /dev/null
    echo "$ours $theirs" | awk '{
        bytes = $1 - $3; blocks = $2 - $4
        wide = (bytes - 2064 * blocks) / (32768 - 2064)
        narrow = blocks - wide
        exit !(wide == int(wide) && wide >= -3 && wide <= 3 &&
            narrow >= -3 && narrow <= 3)
    }' || fail "cc1: $ours, DHAT counts $theirs"
fi
[ $tried -ne 0 ] || skip "no program to compare"
