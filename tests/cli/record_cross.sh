#!/bin/sh
# record_cross.sh: programs of another processor are recorded as others are,
# while an emulator runs them (see cross_lib.sh for the arguments).
. "$(dirname "$0")/cross_lib.sh"

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

# So will a table in Chromium's format.
if [ "$arch" = arm ]; then
    made narrow -Wl,--build-id
    rm "tables/$id.wut"
    "$windlass" unwind-table build --format chrome-v2 narrow \
        -o "tables/$id.cuw2" >/dev/null 2>&1
    without_cfi narrow
    record 0 -- "$emulator" -L "$root" ./narrow 100
    complete_above "$least"
fi
unset WINDLASS_UNWIND_TABLES

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
