#!/bin/sh
# unwind_live.sh WINDLASS SOURCES aarch64|arm|i386: the unwinder in a process of
# another processor, by an emulator that may be interrupted at each instruction.
# It comes to the end of 99 of 100 stacks and more; less than 90 are taken for a
# failure, for it is by chance where so few signals come, and libgcc changes
# return addresses in its frames while it throws. Complete stacks have to go by
# the calls that the program knows of; where x30 or lr is only guessed to be of
# the caller, few do not. A walk from a call has to be complete.
#
# AArch64: its frames must be those of libgcc's unwinder, which itself fails at
# times where return addresses are signed, and where ld.so binds a symbol at its
# first call: all are bound beforehand.
# 32-bit Arm: by .ARM.exidx and code, and by a table alone. Most of its C library
# and of what throws exceptions says that it may not be unwound: incomplete stacks
# that begin or end there are counted apart.
# i386: without an emulator, by .eh_frame and by a table alone. There are no C++
# libraries of it: frames are left as exceptions do by libgcc's unwinder in C. It
# is not compared with: it faults in code of the C library.
set -eu
. "$(dirname "$0")/../../lib/have.sh"
windlass=$1
sources=$2
machine=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
emulator=
options=
throws=tests/fixtures/unwind/sampled_throws.cc
case $machine in
i386)
    prefix=i386
    # Headers of the kernel are there for both.
    options="-m32 -idirafter /usr/include/$(gcc -print-multiarch)"
    throws=tests/fixtures/unwind/sampled_cleanups.c
    ;;
aarch64)
    prefix=aarch64-linux-gnu
    ;;
arm)
    prefix=arm-linux-gnueabihf
    ;;
esac
root=/usr/$prefix
gcc=$prefix-gcc
gxx=$prefix-g++
objcopy=$prefix-objcopy
if [ "$machine" = i386 ]; then
    gcc=gcc
    gxx=gcc
    objcopy=objcopy
    echo 'int main(void) { return 0; }' >"$work/main.c"
    gcc -m32 -o "$work/main" "$work/main.c" 2>/dev/null &&
        "$work/main" || skip "no libc of $machine"
else
    emulator="qemu-$machine -singlestep -L $root"
    need $gcc $gxx $objcopy qemu-$machine python3
    need "$root/include/stdio.h" "$root/lib/libc.so.6" "$root/lib/libstdc++.so.6"
fi

cd "$sources"
flags="-std=gnu17 -D_GNU_SOURCE -Iinclude -Isrc -funwind-tables $options"
# shellcheck disable=SC2086 # several words
$gcc $flags -O1 -fPIC -Wall -Wextra -Werror -shared -Wl,-z,defs \
    -o "$work/libunwinder.so" src/base/bytes.c src/base/status.c \
    src/os/dlfind.c src/os/line.c src/os/loader_list.c src/os/maps.c \
    src/os/own_memory.c \
    src/cfi/*.c src/unwind/*/*.c

# build NAME OPTIONS...
build() {
    name=$1
    shift
    # shellcheck disable=SC2086
    $gcc $flags "$@" -c -o "$work/$name.o" \
        tests/fixtures/unwind/sampled.c
    # shellcheck disable=SC2086
    $gxx $options -fexceptions -funwind-tables "$@" -c -o "$work/throws.o" \
        "$throws"
    # shellcheck disable=SC2086
    $gxx $options -o "$work/$name" "$work/$name.o" "$work/throws.o" \
        "$work/libunwinder.so" -Wl,-rpath,"$work" -Wl,-z,now -Wl,--build-id
}

# run NAME ARGUMENTS...
run() {
    name=$1
    shift
    # shellcheck disable=SC2086
    $emulator "$work/$name" "$@" >"$work/out" || {
        echo "$name: fails with $?"
        failed=1
    }
    sed "s/^/$name: /" "$work/out"
    awk '{ n++; good += $2 > 0 && $2 - $4 - $6 <= $2 / 10 && $8 <= $2 / 25 && $10 == 0 }
        END { exit n < 4 || good != n }' "$work/out" || failed=1
}

if [ "$machine" = aarch64 ]; then
    build signed -O2 -mbranch-protection=standard
    run signed
    build bare -O1 -fomit-frame-pointer
    LD_BIND_NOW=1
    export LD_BIND_NOW
    run bare -c
    # The sampler's look at interrupted code, which may be execute-only or gone:
    # emulators' calls heed what their loads do not.
    cat >"$work/look.c" <<'END'
#include "rt/arch/arch.h"
#include <sys/mman.h>
int main(void)
{
    static const int kinds[] = {
        PROT_READ, PROT_READ | PROT_EXEC, PROT_EXEC, PROT_NONE};
    char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memcpy(page, WNDL_ARCH_SYSCALL, WNDL_ARCH_SYSCALL_BYTES);
    for (int i = 0; i < 4; i++) {
        if (mprotect(page, 4096, kinds[i]) != 0 ||
            wndl_arch_is_syscall((uintptr_t)page) !=
                ((kinds[i] & PROT_READ) != 0))
            return 1 + i;
    }
    return 0;
}
END
    # shellcheck disable=SC2086
    $gcc $flags -O1 -o "$work/look" "$work/look.c" src/os/own_memory.c
    $emulator "$work/look" || {
        echo "code that may not be read is read: $?"
        failed=1
    }
elif [ "$machine" = i386 ]; then
    build bare -O2 -fomit-frame-pointer
    run bare
    build framed -O0
    run framed
    # With nothing but the table.
    "$windlass" unwind-table build "$work/bare" -o "$work/bare.wut" 2>/dev/null
    $objcopy --strip-all --remove-section=.eh_frame \
        --remove-section=.eh_frame_hdr "$work/bare" "$work/table"
    run table "$work/bare.wut"
else
    build thumb -O2 -mthumb
    run thumb
    awk '$1 == "exceptions" { good = $4 > $2 / 2 } END { exit !good }' \
        "$work/out" || {
        echo "CANTUNWIND code is not followed to its return"
        failed=1
    }
    build arm -O1 -marm -g
    run arm
    # The same again, with nothing but the table.
    "$windlass" unwind-table build "$work/arm" -o "$work/arm.wut" 2>/dev/null
    $objcopy -O binary --only-section=.ARM.exidx \
        --set-section-flags .ARM.exidx=alloc "$work/arm" "$work/exidx"
    python3 - "$work/exidx" <<'END'
import sys
data = bytearray(open(sys.argv[1], "rb").read())
for at in range(4, len(data), 8):
    data[at : at + 4] = b"\1\0\0\0"  # CANTUNWIND
open(sys.argv[1], "wb").write(data)
END
    $objcopy --strip-all --update-section .ARM.exidx="$work/exidx" \
        "$work/arm" "$work/table" 2>/dev/null
    run table "$work/arm.wut"
fi
exit $failed
