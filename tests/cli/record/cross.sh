#!/bin/sh
# cross.sh: programs of another processor are recorded as others are,
# while an emulator runs them (see cross_lib.sh for the arguments).
. "$(dirname "$0")/../lib/cross_lib.sh"

# What works, and what waits, does so as if nobody looked.
made emulated
record 0 -- "$emulator" -L "$root" ./emulated >output
[ ! -s output ] || fail "emulated: $(cat output)"
[ "$(grep -c '^process ' dump)" -eq 2 ] || fail "not the program and its child"
grep -q '^unfollowed' dump && fail "something is not recorded"
complete_above "$least"
grep -q "^image .*$work/emulated\$" dump || fail "the program is no image"
grep -q "^image .* $root/lib/libc" dump || fail "its libc is no image"
grep '^image .*qemu' dump && fail "the emulator is an image"

# Each of its functions is known, below those that called it.
"$windlass" export -f folded -o folded r.wndl >/dev/null
for stack in 'main;.*in_main;work' 'main;.*descend;descend;.*;work' \
    'run;in_thread;work' 'main;.*raises;.*on_signal;in_handler;work' \
    'main;.*in_child;work'; do
    grep -q "$stack" folded || fail "no $stack: $(head -50 folded)"
done
# What is spent in them is what they say that they spend.
awk '/;in_main;work/ { main += $NF } /;in_thread;work/ { thread += $NF }
    END { exit !(main > 0 && thread > 0 && main < 3 * thread &&
        thread < 3 * main) }' folded ||
    fail "in_main and in_thread are not alike: $(grep in_ folded)"

# A signal at each instruction, of prologues too, and more of them than such an
# emulator can handle: the program goes on all the same.
made narrow
record 0 -r 2000 -- "$emulator" -singlestep -L "$root" ./narrow 100
# (Of Arm a walk takes so long there that some threads get few samples.)
names=main
if [ "$arch" != arm ]; then
    complete_above $((least - 10))
    names="in_thread descend around main"
fi
"$windlass" report r.wndl --no-pager --tree >report
for name in $names; do
    grep -q "[^a-z_]$name " report || fail "no $name: $(cat report)"
done

# Without call frame information an unwind table will do.
made narrow -Wl,--build-id
table_of narrow
without_cfi narrow
record 0 -- "$emulator" -L "$root" ./narrow 100
complete_above "$least"

# burning: stacks_of narrow, as far as to what burns. Where the program starts,
# and how often it reads the clock, a sample comes only now and then.
burning() {
    stacks_of narrow
    sed -E 's/;(burn|inlined);.*/;\1/' stacks | LC_ALL=C sort -u |
        grep -E ';(burn|inlined)$' >burns || true
    mv burns stacks
}

# same_as_exidx WHAT [OPTION...]: so are the stacks of narrow, recorded with
# these options; nothing else is needed to come to main.
same_as_exidx() {
    what=$1
    shift
    record 0 "$@" -- "$emulator" -L "$root" ./narrow 200
    complete_above 90
    burning
    cmp -s expected stacks || fail "$what: other stacks than by EXIDX:
$(cat expected stacks)"
    record 0 --unwind cfi "$@" -- "$emulator" -L "$root" ./narrow 200
    burning
    grep -q 'main;descend;.*;burn$' stacks || fail "$what: no main by it alone"
}

# So will a table in Chromium's format: by it the stacks are those of EXIDX.
if [ "$arch" = arm ]; then
    mkdir whole other
    made narrow -Wl,--build-id
    cp narrow whole
    rm "tables/$id.wut"
    chrome_table_of narrow "tables/$id.cuw2"
    unset WINDLASS_UNWIND_TABLES
    record 0 -- "$emulator" -L "$root" ./narrow 200
    burning
    mv stacks expected
    grep -q 'narrow thread;__clock_gettime' folded.txt &&
        fail "what the libc does near a thread's start is taken for it"
    grep -q 'main;descend;.*;burn$' expected || fail "few: $(cat folded.txt)"
    without_cfi narrow
    # (By what its code does it would be.)
    record 0 --unwind cfi -- "$emulator" -L "$root" ./narrow 200
    burning
    grep -q main stacks && fail "main was found without a table"
    grep -q '^windlass: CFI covers 0\.0 % of \.text of narrow' said ||
        fail "what may not be unwound counts as covered: $(cat said)"
    WINDLASS_UNWIND_TABLES=$work/tables
    export WINDLASS_UNWIND_TABLES
    same_as_exidx "by build-id"
fi
unset WINDLASS_UNWIND_TABLES

# Of a program without a build-id, attached by an option; one of ours as well.
if [ "$arch" = arm ]; then
    made narrow -Wl,--build-id=none
    cp narrow whole
    chrome_table_of narrow narrow.cuw2
    "$windlass" unwind-table build narrow -o narrow.wut 2>/dev/null
    without_cfi narrow
    for table in narrow.cuw2 narrow.wut; do
        same_as_exidx "$table" --unwind-table narrow=$table
        same_as_exidx "$table, by path" --unwind-table ./narrow=$table
    done

    # Another module's: refused by name where that shows; else it does no harm.
    cp "$root/lib/libc.so.6" other/narrow
    chrome_table_of other/narrow libc.cuw2
    "$windlass" record --unwind-table narrow=libc.cuw2 -o none.wndl -- \
        "$emulator" -L "$root" ./narrow 20 2>said && fail "it is taken"
    grep -q 'libc.cuw2: ' said || fail "not by name: $(cat said)"
    echo "exec $emulator -L $root ./narrow 50" >run.sh
    record 0 --unwind-table narrow=libc.cuw2 -- sh run.sh
    grep -q "libc.cuw2: .*it was not used for $work/narrow\$" said ||
        fail "not told: $(cat said)"
    made emulated
    chrome_table_of emulated emulated.cuw2
    python3 - narrow.cuw2 <<'END'
import sys
data = open(sys.argv[1], "rb").read()
for n in range(20):
    lie = bytearray(data)
    for at in range(32 + n, len(lie), 20):
        lie[at] = (lie[at] * 31 + 7 * n + at) % 256
    open("lie.%d" % n, "wb").write(lie)
END
    record 0 --unwind-table emulated=narrow.cuw2 -- \
        "$emulator" -L "$root" ./emulated >output
    for lie in emulated.cuw2 lie.*; do
        record 0 --unwind-table narrow=$lie -- sh run.sh
    done
fi

# What an emulator runs without a runtime is told of.
cat >still.c <<'C'
#include <unistd.h>
int main(void)
{
    sleep(1);
    return 4;
}
C
"$triple-gcc" -O1 -static -o still still.c
record 4 -- "$emulator" -L "$root" ./still
grep -q "run by an emulator" said || fail "not told: $(cat said)"
