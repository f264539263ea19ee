#!/bin/sh
# unwind_aarch64_live.sh SOURCES: the unwinder in a process of AArch64, by an
# emulator that may be interrupted at each instruction. It comes to the end of
# 99 of 100 stacks and more; less than 90 are taken for a failure, for it is by
# chance where so few signals come. Its frames must be those of libgcc's
# unwinder, which itself fails at times where return addresses are signed.
set -eu
sources=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
cross=aarch64-linux-gnu-gcc

command -v "$cross" >/dev/null && command -v qemu-aarch64 >/dev/null || exit 77
root=/usr/aarch64-linux-gnu
[ -r "$root/include/stdio.h" ] && [ -r "$root/lib/libc.so.6" ] || exit 77

cd "$sources"
"$cross" -std=gnu17 -D_GNU_SOURCE -O1 -fPIC -Wall -Wextra -Werror -shared \
    -Wl,-z,defs -Iinclude -Isrc -o "$work/libunwinder.so" src/base/bytes.c \
    src/base/status.c src/os/dlfind.c src/os/line.c src/os/maps.c \
    src/os/own_memory.c src/cfi/*.c src/unwind/*.c

# run NAME OPTIONS...
run() {
    name=$1
    shift
    "$cross" -std=gnu17 -D_GNU_SOURCE -Iinclude -Isrc "$@" \
        -o "$work/$name" tests/fixtures/unwind/sampled_a64.c \
        "$work/libunwinder.so" -Wl,-rpath,"$work" -Wl,-z,now
    # shellcheck disable=SC2086 # an argument or none
    qemu-aarch64 -singlestep -L "$root" "$work/$name" $compare >"$work/out" || {
        echo "$name: fails with $?"
        failed=1
    }
    sed "s/^/$name: /" "$work/out"
    awk '{ kinds++; good += $2 > 0 && $4 * 100 >= $2 * 90 && $6 == 0 }
        END { exit kinds != 4 || good != 4 }' "$work/out" || failed=1
}
compare=
run signed -O2 -mbranch-protection=standard
compare=yes
run bare -O1 -fomit-frame-pointer
exit $failed
