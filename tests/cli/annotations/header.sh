#!/bin/sh
# SPDX-License-Identifier: MIT
# header.sh INCLUDE: windlass/annotate.h in any C and C++, with and without
# Valgrind's headers, and as nothing; its numbers are Valgrind's.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../../lib/have.sh"
include=$(realpath "$1")
need cc valgrind objdump
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

fail() {
    echo "annotations_header: $1"
    head -n 40 out 2>/dev/null || true
    exit 1
}
cp "$here/all.c" all.c
cp all.c all.cc
strict="-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror -I$include"
for language in cc:c99:all.c cc:gnu17:all.c c++:c++98:all.cc c++:c++17:all.cc \
    clang:c11:all.c clang++:c++17:all.cc; do
    compiler=${language%%:*}
    source=${language##*:}
    standard=${language#*:}
    standard=${standard%:*}
    have "$compiler" || continue
    more=
    [ "$standard" != c++98 ] || more="-Wno-long-long -Wno-variadic-macros"
    for level in -O2 -fsanitize=thread; do
        "$compiler" -std="$standard" $strict $more $level "$source" -o all \
            >out 2>&1 || fail "$compiler $standard $level"
        ./all >out 2>&1 || fail "$compiler $standard $level: status $?"
    done
done

# asks: how many requests there are in the program.
asks() {
    objdump -d all | grep -cE 'rol +\$0x3d?,%[re]di|rol +\$0x1d,%edi' || true
}
cc $strict -O2 all.c -o all
[ "$(asks)" -ge 1 ] || fail "there are no requests"
valgrind -q --error-exitcode=9 ./all >out 2>&1 || fail "Memcheck: status $?"
for no in WNDL_ANNOTATE_NOTHING NVALGRIND; do
    cc $strict -O2 -D$no all.c -o all >out 2>&1 || fail "$no"
    [ "$(asks)" -eq 0 ] || fail "$no leaves $(asks) requests"
done
# Without Valgrind's headers the requests are the same.
cc $strict -O2 -E all.c | grep -q 'include/valgrind' &&
    fail "it depends on Valgrind's headers"
cc -std=gnu11 -I"$include" -DOF_HELGRIND -c "$here/numbers.c" -o numbers.o \
    >out 2>&1 || fail "other numbers than Helgrind's or Memcheck's"
cc -std=gnu11 -I"$include" -c "$here/numbers.c" -o numbers.o >out 2>&1 ||
    fail "other numbers than DRD's"
exit 0
