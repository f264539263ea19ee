# SPDX-License-Identifier: MIT
# What the tests share that record programs of other processors, run by an
# emulator. They are called with
#   WINDLASS RECDUMP FIXTURES HEAPDUMP CMAKE BUILD ARCH
# BUILD being a folder in which the runtime for ARCH is built, once for them
# all. Beside it and our own a copy of windlass is run, as if all was installed.
. "$(dirname "$0")/../lib/record_lib.sh"
heapdump=$4
cmake=$5
build=$6
arch=$7
case $arch in
aarch64) triple=aarch64-linux-gnu emulator=qemu-aarch64 least=97 ;;
# Most of its libc says of itself that it may not be unwound: what is lost of a
# start is much where there are few samples. Without rules it would be all.
arm) triple=arm-linux-gnueabihf emulator=qemu-arm least=50 ;;
*) fail "no processor is called $arch" ;;
esac

need "$triple-gcc" "$emulator" ninja
# A program that forks while one of its threads ends may hang in the emulator,
# whose GLib has locks of its own: with malloc's, which forks respect, it goes on.
G_SLICE=always-malloc
export G_SLICE
root=/usr/$triple
need "$root/include/stdio.h" "$root/lib/libc.so.6"
# A build with a sanitizer has no folder for runtimes of other kinds.
[ -d "$(dirname "$recdump")/../../src/rt/preload" ] ||
    skip "built without runtimes of other kinds"
built=$(dirname "$windlass")/../rt
[ -d "$built/preload" ] || fail "windlass has no runtimes: $built"

"$cmake" -S "$sources/../../.." --preset "$arch" -B "$build" >made 2>&1 &&
    "$cmake" --build "$build" --parallel 2 >made 2>&1 ||
    fail "the runtime cannot be built: $(tail -20 made)"

mkdir -p cli rt
cp "$windlass" cli
cp -R "$built/preload" "$built"/libwindlass-*.so rt
mkdir -p "rt/preload/lib/$triple"
cp "$build"/src/rt/libwindlass-*.so "rt/preload/lib/$triple"
windlass=$work/cli/windlass
"$windlass" doctor >doctor 2>&1 || true
grep -qi "^ok .*qemu-$arch " doctor || fail "doctor: $(cat doctor)"

# made NAME [OPTION...]: the program of a fixture.
made() {
    name=$1
    shift
    "$triple-gcc" -std=gnu17 -D_GNU_SOURCE -O1 -g -pthread -funwind-tables "$@" \
        -o "$name" "$sources/$name.c" || fail "$name cannot be built"
}

# without_cfi NAME: the program, stripped of symbols and all that unwinders read;
# of Arm, all its entries say that it may not be unwound.
without_cfi() {
    "$triple-strip" --remove-section=.eh_frame \
        --remove-section=.eh_frame_hdr "$1"
    [ "$arch" = arm ] || return 0
    "$triple-objcopy" -O binary --only-section=.ARM.exidx \
        --set-section-flags .ARM.exidx=alloc "$1" index
    python3 - index <<'END'
import sys
data = bytearray(open(sys.argv[1], "rb").read())
for at in range(4, len(data), 8):
    data[at : at + 4] = b"\1\0\0\0"
open(sys.argv[1], "wb").write(data)
END
    "$triple-objcopy" --update-section .ARM.exidx=index "$1" 2>/dev/null
}

# table_of NAME: an unwind table of the program is found from now on.
table_of() {
    mkdir -p tables
    id=$(readelf -n "$1" | awk '/Build ID:/ { print $3 }')
    "$windlass" unwind-table build "$1" -o "tables/$id.wut" >/dev/null 2>&1
    WINDLASS_UNWIND_TABLES=$work/tables
    export WINDLASS_UNWIND_TABLES
}

# chrome_table_of NAME FILE: a table in Chromium's format, of what EXIDX says.
chrome_table_of() {
    "$triple-strip" --strip-debug -o stripped "$1"
    "$windlass" unwind-table build --format chrome-v2 stripped -o "$2" \
        2>said || fail "no table in Chromium's format: $(cat said)"
    grep -q 'of .ARM.exidx' said || fail "of other rules: $(cat said)"
}

# stacks_of NAME [OPTION...]: the stacks in r.wndl without their weights, in
# ./stacks, those of next to no weight left out; NAME's functions are named by
# whole/NAME, which nothing was taken from.
stacks_of() {
    name=$1
    shift
    mv "$name" taken
    cp "whole/$name" "$name"
    "$windlass" export -f folded "$@" -o folded.txt r.wndl 2>/dev/null ||
        fail "no export"
    mv taken "$name"
    awk '{ weight[NR] = $NF; all += $NF; sub(/ [0-9]+$/, ""); text[NR] = $0 }
        END { for (i in text) if (weight[i] * 20 > all) print text[i] }' \
        folded.txt | LC_ALL=C sort >stacks
}
