#!/bin/sh
# code_oracle.sh CODEDUMP: rules from the code of real libraries, of which only
# the extents of functions are known, against their call frame information, at
# each instruction that is reached.
#
# "Wrong" are instructions for which both have a rule, and not the same; which
# one is right is not known here ("codedump FILE list" prints the addresses). Of
# Debian 12's libc and libcrypto it is that from code: docs/unwinding.md.
# "Unsaid" are registers that the code has overwritten and of which the
# information says nothing.
set -eu
. "$(dirname "$0")/../lib/have.sh"
codedump=$1
[ "$(uname -m)" = x86_64 ] || skip "not x86-64"
failed=0
tried=0

# check FILE REACHED EQUAL WRONG: at least so many percent of all instructions,
# and of those that are reached; at most so many.
check() {
    [ -r "$1" ] || return 0
    tried=$((tried + 1))
    "$codedump" "$1" | awk -v file="$1" -v reached="$2" -v equal="$3" \
        -v wrong="$4" '
        $3 > 9999 && $2 == "all" {
            n[0] += $3; n[1] += $5; n[2] += $7; n[3] += $9; n[4] += $11
            n[5] += $13
        }
        END {
            printf "%s: %d instructions, reached %.3f %%: equal %.4f %%, " \
                "unsaid %d, missing %d, wrong %d (%.4f %%)\n", file, n[0],
                100 * n[1] / (n[0] + !n[0]), 100 * n[2] / (n[1] + !n[1]), n[3],
                n[4], n[5], 100 * n[5] / (n[1] + !n[1])
            exit !(n[1] == n[2] + n[3] + n[4] + n[5] &&
                n[1] >= n[0] * reached / 100 && n[2] >= n[1] * equal / 100 &&
                n[5] <= n[1] * wrong / 100 && n[1] > 9999)
        }' || failed=1
}

libs=/usr/lib/x86_64-linux-gnu
check "$libs/libc.so.6" 94 99.8 0.05
check "$libs/libcrypto.so.3" 96 97.8 0.4
check /usr/bin/sqlite3 96 99.99 0.001
check /usr/bin/python3.11 95 99.99 0.001
# i386: glibc's string functions move SP without saying so.
check /usr/lib/i386-linux-gnu/libc.so.6 94 98.5 0.9
check /usr/lib/i386-linux-gnu/libm.so.6 96 99.99 0.001
# AArch64: what is missing of libc is setjmp's other half, and code after calls
# that do not return.
check /usr/aarch64-linux-gnu/lib/libc.so.6 98 99.95 0.001
check /usr/aarch64-linux-gnu/lib/libm.so.6 99.9 99.99 0.001
[ "$tried" -gt 1 ] || skip "no libraries"
exit "$failed"
