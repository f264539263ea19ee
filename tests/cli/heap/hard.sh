#!/bin/sh
# hard.sh WINDLASS RECDUMP FIXTURES HEAPDUMP: what a recorder that
# looks into blocks, or asks for their sizes, could break.
. "$(dirname "$0")/../lib/record_lib.sh"
heapdump=$(realpath "$4")

cp "$sources/../heap/hard.c" .
# An allocator that tells no sizes: the libc would look before its blocks.
cp "$sources/../heap/bare.c" .
cp "$sources/../heap/uses.c" .
# A pool of aligned blocks beside the libc's: what is before them may not be
# read.
cp "$sources/../heap/pool.c" .
cp "$sources/../heap/aligned.c" .
cc -O1 -o hard hard.c
cc -O1 -shared -fPIC -o libpool.so pool.c
cc -O1 -o aligned aligned.c -Wl,--no-as-needed -L. -lpool -Wl,-rpath,"$work"
cc -O1 -shared -fPIC -o libbare.so bare.c
cc -O1 -o uses uses.c -L. -lbare -Wl,-rpath,"$work"
for options in "" "--mode cumulative" "--stacks partial"; do
    for program in ./hard ./uses ./aligned; do
        rm -f r.wndl
        status=0
        "$windlass" heap $options -o r.wndl -- $program 2>said || status=$?
        [ "$status" -eq 7 ] ||
            fail "$program with '$options': status $status: $(cat said)"
    done
done
for options in "" "--stacks partial"; do
    for program in ./uses ./aligned; do
        rm -f r.wndl
        "$windlass" heap -q $options -o r.wndl -- $program || true
        "$heapdump" r.wndl >dump
        awk '$1 == "site" && $9 == 3001 { a += $3; f += $4 }
            END { exit !(a == 50 && f == 25) }' dump ||
            fail "$program with '$options': an allocator without sizes"
    done
done

# In a sandbox that kills for any call but what threads need, all is counted;
# in one without any call the thread's blocks are counted, but at no site.
for options in "" "--mode cumulative" "--stacks partial"; do
    for kind in heap strict; do
        status=0
        rm -f r.wndl
        "$windlass" heap $options -o r.wndl -- "$fixtures/sandbox" $kind \
            >out 2>said || status=$?
        [ "$status" -eq 7 ] && [ "$(cat out)" = "done" ] ||
            fail "sandbox $kind with '$options': $status: $(cat said)"
        [ "$options" != "--stacks partial" ] || continue
        "$heapdump" r.wndl >dump
        [ $kind = heap ] || continue
        awk '$1 == "site" && $9 == 103 { a += $3; f += $4 }
            $1 == "site" && $9 == 101 && $3 == 3000 && $4 == 3000 { old = 1 }
            END { exit !(a == 360000 && f == 180000 && old) }' dump ||
            fail "sandbox with '$options': not all blocks"
    done
done
rm -f r.wndl
"$windlass" heap -o r.wndl -- "$fixtures/sandbox" strict >out 2>said || true
grep -q 'only counted: made while the recorder was busy or had to pause 10[01]$' \
    said || fail "without any call: $(cat said)"

# A program that gives up the processor's clock.
cp "$sources/../heap/clock.c" .
cc -O1 -o clock clock.c
for mode in live cumulative; do
    status=0
    rm -f r.wndl
    "$windlass" heap --mode $mode -o r.wndl -- ./clock 2>said || status=$?
    [ "$status" -eq 7 ] || fail "without a clock: status $status: $(cat said)"
    "$heapdump" r.wndl >dump
    awk '$1 == "site" && $9 == 10007 { a += $3; f += $4 }
        END { exit !(a == 1000 && f == 500) }' dump ||
        fail "without a clock: not all blocks"
done

# A thousand coroutines take turns. Their stacks are not looked up in the list
# of mappings, which cannot be opened here; they are unmapped, and others come.
cp "$sources/../heap/turns.c" .
cc -O1 -o turns turns.c
status=0
rm -f r.wndl
"$windlass" heap -o r.wndl -- ./turns 2>said || status=$?
[ "$status" -eq 7 ] || fail "coroutines: status $status: $(cat said)"
grep -q '^windlass: 100.00 % of the allocations' said ||
    fail "coroutines: $(cat said)"
"$heapdump" r.wndl >dump
awk '$1 == "site" && $9 == 1001 { a += $3 } END { exit !(a == 25250) }' dump ||
    fail "coroutines: not all blocks"

# Plugins that come and go at the same place, more often than there is room for
# in the list of modules, and in the keys of stacks.
cp "$sources/../heap/reload.c" .
for size in 1009 2003; do
    cat >plugin.c <<C
#include <stdlib.h>
__attribute__((noinline)) static void make_$size(void)
{
    void *volatile block = malloc($size);
    (void)block;
}
void make(void)
{
    make_$size();
    __asm__ volatile("");
}
C
    cc -g -O1 -fno-optimize-sibling-calls -shared -fPIC -o plugin$size.so \
        plugin.c
done
cc -g -O1 -o reload reload.c
# reload TIMES: into `have`, "BLOCKS SIZE FUNCTION" of what plugins allocated.
reload() {
    rm -f r.wndl
    "$windlass" heap --no-leaks -o r.wndl -- ./reload ./plugin1009.so \
        ./plugin2003.so "$1" 2>said || fail "plugins: $(cat said)"
    "$windlass" report --json r.wndl | sed 's/},/&\n/g' >report
    sed -n 's/^{"blocks":\([0-9]*\),"usable":[0-9]*,"requested":\([0-9]*\).*"stack":\["\(make_[0-9]*\) .*/\1 \2 \3/p' \
        report | awk '{ print $1, $2 / $1, $3 }' | sort -u >have
}
reload 600
[ "$(cat have)" = "300 1009 make_1009
300 2003 make_2003" ] || fail "plugins: $(cat have)"
reload 9000
[ "$(cat have)" = "4500 1009 make_1009
4500 2003 make_2003" ] || fail "plugins that come back often: $(cat have)"

# A debugger sees what the program makes, one thread, and nothing of ours.
cp "$sources/../heap/traced.c" .
cc -o traced traced.c -lpthread
status=0
./traced || status=$?
if [ $status -eq 7 ]; then
    rm -f r.wndl
    "$windlass" heap -q -o r.wndl -- ./traced || status=$?
    [ $status -eq 7 ] || fail "exit status $status of what traces another"
fi
