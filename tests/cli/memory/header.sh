#!/bin/sh
# SPDX-License-Identifier: MIT
# header.sh WINDLASS INCLUDE: windlass/memory.h in any C and C++, in static
# programs, with other allocators.
set -eu
. "$(dirname "$0")/../../lib/have.sh"
windlass=$(realpath "$1")
include=$(realpath "$2")
need cc
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
mkdir -m 700 run
XDG_RUNTIME_DIR=$work/run
export XDG_RUNTIME_DIR LC_ALL=C
unset WINDLASS_MEMORY LD_PRELOAD || true

fail() {
    echo "memory_header: $1"
    head -n 60 out err 2>/dev/null || true
    exit 1
}
cat >all.c <<'EOS'
#include <windlass/memory.h>
#include <stdlib.h>
static void *blocks[100000];
static void report(struct wndl_memory_sink *sink, void *data)
{
    size_t size = wndl_memory_size_of(NULL);
    int i;
    (void)data;
    for (i = 0; i < 100000; i++)
        size += wndl_memory_size_of(blocks[i]);
    wndl_memory_yield_bytes(sink, "explicit/blocks", WNDL_MEMORY_HEAP,
        (int64_t)size, "Blocks.");
}
static struct wndl_memory_reporter reporter = WNDL_MEMORY_REPORTER(
    "blocks", report, NULL, WNDL_MEMORY_POLLED);
int main(void)
{
    int i;
    for (i = 0; i < 100000; i++)
        blocks[i] = malloc(40);
    if (!wndl_memory_register(&reporter))
        return 1;
    wndl_memory_poll();
    i = wndl_memory_write(1);
    wndl_memory_unregister(&reporter);
    return i;
}
EOS
cp all.c all.cc
# share NAME: all but LEAST bytes in thousand of the heap are reported.
share() {
    "$windlass" memory --verbose out >tree 2>err || fail "$1: not read"
    awk -v least="$2" '
        / blocks: / { reported = value($0) }
        / heap-allocated: / { allocated = value($0) }
        function value(line) {
            gsub(/,/, "", line)
            match(line, /[0-9]+ B/)
            return substr(line, RSTART, RLENGTH - 2) + 0
        }
        END {
            exit !(reported >= 4000000 &&
                reported <= allocated * (1 + least / 1000) &&
                reported >= allocated * (1 - least / 1000))
        }' tree || { cat tree; fail "$1: much is not reported"; }
}
strict="-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror -O1 -I$include"
for language in cc:c99:all.c cc:gnu17:all.c c++:c++98:all.cc c++:c++17:all.cc \
    clang:c11:all.c; do
    compiler=${language%%:*}
    source=${language##*:}
    standard=${language#*:}
    standard=${standard%:*}
    have "$compiler" || continue
    more=
    [ "$standard" != c++98 ] || more="-Wno-long-long -Wno-variadic-macros"
    "$compiler" -std="$standard" $strict $more "$source" -o all ||
        fail "$compiler $standard"
    ./all >out 2>err || fail "$compiler $standard: status $?"
    share "$compiler $standard" 20
done
cc -static $strict all.c -o static && {
    ./static >out 2>err || fail "static: status $?"
    share "static" 20
}
cc $strict all.c -o all
for allocator in jemalloc.so.2 tcmalloc_minimal.so.4; do
    library=/usr/lib/$(cc -print-multiarch)/lib$allocator
    have "$library" || continue
    LD_PRELOAD=$library ./all >out 2>err || fail "$allocator: status $?"
    share "$allocator" 30
    grep -q '"heap-allocated".*"estimated"' out && fail "$allocator: estimated"
done
library=/usr/lib/$(cc -print-multiarch)/libmimalloc.so.2
if have "$library"; then
    LD_PRELOAD=$library ./all >out 2>err || fail "mimalloc: status $?"
    grep -q '"heap-committed"' out || fail "mimalloc: nothing committed"
    grep -q '"heap-allocated"' out && fail "mimalloc: it does not say that"
fi
exit 0
