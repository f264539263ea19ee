#!/bin/sh
# SPDX-License-Identifier: MIT
# count.sh WINDLASS INCLUDE: a library's blocks are counted without a change to
# its sources; and what a counter gets wrong that a traversal gets right.
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
    echo "memory_count: $1"
    head -n 40 out err 2>/dev/null || true
    exit 1
}
# The library: a list of names. It knows nothing of us.
cat >names.h <<'EOS'
struct name { struct name *next; char *text; };
struct name *add_name(struct name *to, const char *text);
struct name *drop_name(struct name *first);
char *take_text(struct name *name);
EOS
cat >names.c <<'EOS'
#include "names.h"
#include <stdlib.h>
#include <string.h>
struct name *add_name(struct name *to, const char *text)
{
    struct name *name = calloc(1, sizeof *name);
    void *aligned = NULL;
    name->next = to;
    name->text = strdup(text);
    name->text = realloc(name->text, 2 * strlen(text) + 1);
    name->text = reallocarray(name->text, strlen(text) + 1, 3);
    if (posix_memalign(&aligned, 64, 200) == 0)
        free(aligned);
    free(aligned_alloc(64, 128));
    free(strndup(text, 3));
    free(malloc(10));
    free(realloc(NULL, 5));
    free(NULL);
    return name;
}
struct name *drop_name(struct name *first)
{
    struct name *next = first->next;
    free(first->text);
    free(first);
    return next;
}
/* Its caller frees the text. */
char *take_text(struct name *name)
{
    char *text = name->text;
    name->text = NULL;
    return text;
}
EOS
cat >main.c <<'EOS'
#include "names.h"
#include <stdio.h>
#include <stdlib.h>
#include <windlass/memory.h>
#include <windlass/memory_counter.h>
struct wndl_memory_counter names_count;
static struct name *first;
static struct wndl_memory_counter own;
WNDL_MEMORY_COUNTING(own, own)
static int64_t measure(void)
{
    int64_t size = 0;
    const struct name *n;
    for (n = first; n != NULL; n = n->next)
        size += (int64_t)(wndl_memory_size_of(n) +
                          wndl_memory_size_of(n->text));
    return size;
}
static void report(struct wndl_memory_sink *sink, void *data)
{
    (void)data;
    wndl_memory_yield_bytes(sink, "measured", WNDL_MEMORY_OTHER, measure(),
        "By a traversal.");
    wndl_memory_yield_bytes(sink, "counted", WNDL_MEMORY_OTHER,
        wndl_memory_counter_bytes(&names_count), "By a counter.");
    wndl_memory_yield_bytes(sink, "blocks", WNDL_MEMORY_OTHER,
        wndl_memory_counter_blocks(&names_count), "Of the counter.");
}
static struct wndl_memory_reporter reporter = WNDL_MEMORY_REPORTER(
    "names", report, NULL, WNDL_MEMORY_POLLED);
int main(int argc, char **argv)
{
    int i;
    void *block = own_realloc(own_calloc(10, 10), 1000);
    (void)argv;
    own_free(own_malloc(7));
    if (wndl_memory_counter_blocks(&own) != 1 ||
        wndl_memory_counter_bytes(&own) !=
            (int64_t)wndl_memory_size_of(block))
        return 2;
    own_free(block);
    if (wndl_memory_counter_bytes(&own) != 0)
        return 3;
    for (i = 0; i < 1000; i++)
        first = add_name(first, "a name that is not short");
    for (i = 0; i < 100; i++)
        first = drop_name(first);
    if (argc > 1) /* the program frees what the library allocated */
        free(take_text(first));
    wndl_memory_register(&reporter);
    return wndl_memory_write(1);
}
EOS
flags="-Wall -Wextra -Werror -O1 -D_GNU_SOURCE -I$include"
cc $flags -include windlass/memory_count.h -DWNDL_MEMORY_COUNT=names_count \
    -c names.c || fail "the library"
cc $flags main.c names.o -o main || fail "the program"
value() {
    "$windlass" memory --flat --verbose out 2>err |
        awk -v path="$1" '$NF == path { gsub(/,/, "", $1); print $1 }'
}
./main >out || fail "status $?"
[ -n "$(value counted)" ] || fail "nothing is counted"
[ "$(value counted)" = "$(value measured)" ] || fail "counted, and otherwise"
[ "$(value blocks)" -eq 1800 ] || fail "blocks: $(value blocks)"

# A block that leaves the library is counted for ever; a traversal sees it go.
./main leave >out || fail "status $?"
[ "$(value counted)" -gt "$(value measured)" ] ||
    fail "the counter saw what it cannot see"

# In C++.
have c++ || exit 0
cat >more.cc <<'EOS'
#include <cstdlib>
#include <string>
extern "C" { struct wndl_memory_counter names_count; }
int main()
{
    void *block = malloc(100);
    const bool is_counted = wndl_memory_counter_blocks(&names_count) == 1;
    free(block);
    return is_counted && wndl_memory_counter_bytes(&names_count) == 0 ? 0 : 1;
}
EOS
c++ $flags -include windlass/memory_count.h -DWNDL_MEMORY_COUNT=names_count \
    more.cc -o more || fail "C++"
./more || fail "C++: status $?"
