#!/bin/sh
# SPDX-License-Identifier: MIT
# runtime.sh WINDLASS: programs with our preloaded objects inside are clean under
# Memcheck and Helgrind, with each malloc; a planted error is still found there.
. "$(dirname "$0")/../lib/check_lib.sh"
need valgrind gcc g++
cd "$work"

gcc -g -gdwarf-4 -O0 -pthread "$here/lives.c" -o lives
g++ -g -gdwarf-4 -O0 -pthread "$here/bugs.cc" -o bugs

# inside HOW TOOL ARG...: the status of a checked program that is recorded.
inside() {
    how=$1
    tool=$2
    shift 2
    status=0
    rm -f rec.wndl
    case $how in
    record) set -- record -q -o rec.wndl -- "$windlass" check "$tool" -- "$@" ;;
    heap) set -- heap -q -o rec.wndl -- "$windlass" check "$tool" -- "$@" ;;
    esac
    LD_PRELOAD=$library timeout 100 "$windlass" "$@" >out 2>err || status=$?
}

libraries=/usr/lib/$(gcc -print-multiarch)
for library in '' "$libraries/libjemalloc.so.2" \
    "$libraries/libtcmalloc_minimal.so.4"; do
    [ -z "$library" ] || have "$library" || continue
    for tool in memcheck helgrind; do
        inside heap $tool ./lives
        [ "$status" -eq 0 ] || fail "$tool, heap, $library: status $status"
        grep -q "^$tool: 0 distinct errors; " err ||
            fail "$tool, heap, $library: errors"
    done
    inside heap memcheck ./bugs o
    [ "$status" -eq 3 ] || fail "memcheck, $library: an error is hidden"
done
library=
inside record helgrind ./lives
[ "$status" -eq 0 ] || fail "record: status $status"
inside record helgrind ./bugs r
[ "$status" -eq 3 ] || fail "record: a race is hidden"
exit 0
