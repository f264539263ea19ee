#!/bin/sh
# SPDX-License-Identifier: MIT
# Differential check of the names of PLT stubs against objdump, for binaries
# of this machine and for the shapes of stubs that linkers make.
#
#     plt_vs_objdump.sh ELFDUMP FRAMESDUMP
set -eu
. "$(dirname "$0")/../lib/have.sh"
export LC_ALL=C
elfdump=$1
framesdump=$2
[ "$(uname -m)" = x86_64 ] || skip "not x86-64"
need cc objdump strip
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
checked=0

same() {
    diff "$work/want" "$work/have" >"$work/diff" && return
    echo "FAIL $1"
    head -n 5 "$work/diff"
    failed=1
}

# objdump calls a function chosen at load time by its address, *ABS*+0x...:
# no name is compared then.
objdump=objdump
compare() {
    "$objdump" -dw --no-show-raw-insn -j .plt -j .plt.sec -j .plt.got "$1" \
        2>/dev/null | sed -n 's/^0*\([0-9a-f]*\) <\(.*\)@plt>:$/\1 \2/p' |
        sed 's/@.*//; s/ [*]ABS[*].*/ */' | sort >"$work/want"
    "$elfdump" plt "$1" | sort >"$work/all"
    # Where there is a .plt.sec, objdump leaves out the stubs of .plt, each of
    # which asks the loader for one function.
    grep -q ' \.plt\.sec$' "$work/all" && other=.plt || other=none
    awk -v other="$other" 'NR == FNR { name[$1] = $2; next }
        $3 != other { print $1, name[$1] == "*" ? "*" : $2 }' \
        "$work/want" "$work/all" >"$work/have"
    checked=$((checked + $(wc -l <"$work/want")))
    [ -s "$work/want" ] || failed=1
    same "$1"
    # What the symbolizer says of them.
    cut -d ' ' -f 1 "$work/all" | "$framesdump" -m "$1" |
        awk 'NR % 3 == 1' >"$work/have"
    sed 's/^[^ ]* \([^ ]*\) .*/\1@plt/' "$work/all" >"$work/want"
    same "$1: frames"
    headerless "$1"
    [ "$other" = .plt ] && grep -q ' \.plt$' "$work/all" || return 0
    sed -n 's/.* \(.*\) \.plt\.sec$/\1/p' "$work/all" | sort >"$work/want"
    sed -n 's/.* \(.*\) \.plt$/\1/p' "$work/all" | sort >"$work/have"
    same "$1: stubs that ask the loader"
}

# The same names without section headers, at the start of each stub and 6 bytes
# on; not of stubs that ask the loader, nor of AArch64's with 24 bytes.
headerless() {
    cp "$1" "$work/bare"
    case $(readelf -h "$1" | sed -n 's/ *Class: *//p') in
    ELF64) at=40,8,58,6 ;;
    *) at=32,4,46,6 ;;
    esac
    for place in "${at%,*,*}" "${at#*,*,}"; do
        dd if=/dev/zero of="$work/bare" bs=1 seek="${place%,*}" \
            count="${place#*,}" conv=notrunc 2>/dev/null
    done
    awk -v other="$other" '$3 != other { print $1, $2 }' "$work/all" |
        while read -r address name; do
            printf '%x %s\n' $((0x$address)) "$name"
            printf '%x %s\n' $((0x$address + 6)) "$name"
        done >"$work/both"
    cut -d ' ' -f 1 "$work/both" | "$framesdump" -m "$work/bare" |
        awk 'NR % 3 == 1' >"$work/have"
    sed 's/^[^ ]* //; s/$/@plt/' "$work/both" >"$work/want"
    same "$1: without section headers"
}

cat >"$work/a.c" <<'END'
#include <stdlib.h>
#include <string.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    void *(*volatile function)(size_t) = malloc;
    char *p = function(10 + strlen(argv[0]));
    puts(p == NULL ? "none" : getenv("HOME"));
    free(malloc((size_t)argc));
    return 0;
}
END
compare_made() {
    out=$work/made$checked
    "$@" -o "$out" "$work/a.c" 2>/dev/null || {
        echo "skipped: $*: not compiled"
        return 0
    }
    strip "$out"
    compare "$out"
}
headers=/usr/include/$(gcc -print-multiarch)
for linker in bfd gold lld; do
    for when in lazy now; do
        for kind in -pie -no-pie; do
            compare_made cc -m32 -idirafter "$headers" -O1 -fuse-ld=$linker \
                -Wl,-z,$when $kind
        done
    done
    for flow in none full; do
        for when in lazy now; do
            compare_made cc -O1 -fuse-ld=$linker -fcf-protection=$flow \
                -Wl,-z,$when
            # (gold does not know ibtplt.)
            [ $linker = gold ] ||
                compare_made cc -O1 -fuse-ld=$linker -fcf-protection=$flow \
                    -Wl,-z,$when -no-pie -Wl,-z,ibtplt
        done
    done
done
# Some with checks of branch targets and signed return addresses.
compare_arm() {
    compare_made aarch64-linux-gnu-gcc -O1 -Wl,-z,now "$@"
    compare_made aarch64-linux-gnu-gcc -O1 -Wl,-z,lazy "$@"
}
if have aarch64-linux-gnu-gcc; then
    objdump=aarch64-linux-gnu-objdump
    strip() {
        aarch64-linux-gnu-strip "$@"
    }
    compare_arm
    compare_arm -no-pie
    compare_arm -mbranch-protection=standard -Wl,-z,pac-plt
    compare_arm -Wl,-z,force-bti -no-pie
    compare_arm -Wl,-z,force-bti,-z,pac-plt
    unset -f strip
    objdump=objdump
fi
for binary in /usr/lib/x86_64-linux-gnu/libstdc++.so.6 /usr/bin/xz \
    /usr/lib/x86_64-linux-gnu/libLLVM-14.so.1 \
    /usr/bin/python3 /lib/x86_64-linux-gnu/libc.so.6 \
    /lib/i386-linux-gnu/libc.so.6; do
    ! have "$binary" || compare "$binary"
done

echo "$checked stubs compared"
exit $failed
