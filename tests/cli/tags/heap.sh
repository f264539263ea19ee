#!/bin/sh
# SPDX-License-Identifier: MIT
# heap.sh WINDLASS INCLUDE: `windlass heap` records whose blocks are: by the
# tags of the program, with the library of tags and without it, and by
# --tag-lib, without any call.
set -eu
. "$(dirname "$0")/../../lib/have.sh"
windlass=$(realpath "$1")
library=$(realpath "$(dirname "$2")")/$(basename "$2")
include=$(realpath "$3")
need cc
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
XDG_RUNTIME_DIR=$work
WINDLASS_TABLE_CACHE=$work/tables
export XDG_RUNTIME_DIR WINDLASS_TABLE_CACHE LC_ALL=C
unset LD_PRELOAD || true

fail() {
    echo "heap_tags: $1"
    head -n 60 out err 2>/dev/null || true
    exit 1
}
flags="-Wall -Wextra -Werror -O1 -g -fno-builtin -fno-optimize-sibling-calls
    -I$include -pthread"

# ---- calls: threads, nested tags, moved blocks, others' frees
cat >calls.c <<'EOS'
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <windlass/memory_tag.h>
enum { THREADS = 8, EACH = 500 };
static const char *const names[] = {"audio", "codec/video", "network"};
static size_t bytes[3], blocks[3];
static void *shelf[THREADS][EACH];
static void keep(int tag, void *block)
{
    __atomic_fetch_add(&bytes[tag], malloc_usable_size(block), 0);
    __atomic_fetch_add(&blocks[tag], 1, 0);
}
static void *inside(void *size)
{
    keep(1, malloc((size_t)size));
    return NULL;
}
static void *work(void *context)
{
    const size_t own = (size_t)context;
    pthread_t thread;
    for (int i = 0; i < EACH; i++) {
        const int tag = i % 2;
        wndl_memory_tag(names[tag]);
        void *block = malloc(20 + (size_t)i);
        wndl_memory_tag(names[2]);
        free(malloc(8));
        shelf[own][i] = realloc(block, 3000 + (size_t)i % 7);
        if (i % 10 == 0)
            keep(2, calloc(3, 7));
        wndl_memory_untag();
        wndl_memory_untag();
        free(malloc(12));
    }
    wndl_memory_tag(names[1]);
    pthread_create(&thread, NULL, inside, (void *)(5000 + own));
    pthread_join(thread, NULL);
    wndl_memory_untag();
    return context;
}
int main(void)
{
    pthread_t threads[THREADS];
    for (size_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i++)
        for (int j = 0; j < EACH; j++)
            if (j % 3 == 0)
                free(shelf[i][j]);
            else
                keep(j % 2, shelf[i][j]);
    for (int i = 0; i < 3; i++)
        printf("%s %zu %zu\n", names[i], bytes[i], blocks[i]);
    return wndl_memory_tagging() == WNDL_MEMORY_TAGGING_NONE;
}
EOS
cc $flags calls.c -o calls || fail "calls.c"
# tags FILE: the report's tags, as the program prints them.
tags() {
    "$windlass" report --by tag "$1" 2>err | awk '/ % / && !/no tag/ {
        gsub(/,/, ""); print $5, $1, $4 }' | LC_ALL=C sort
}
# same FILE: they are as the program counted. A thread that is made in a tag has
# blocks of the libc, too.
same() {
    LC_ALL=C sort said >wanted
    tags "$1" >out
    awk 'NR == FNR { bytes[$1] = $2; blocks[$1] = $3; next }
        $1 == "codec/video" { $2 = $2 - bytes[$1]; $3 = $3 - blocks[$1]
            if ($2 < 0 || $2 > 8 * 1000 || $3 < 0 || $3 > 8) exit 1
            next }
        $2 != bytes[$1] || $3 != blocks[$1] { exit 1 }' wanted out ||
        fail "$1: other counts than the program's, $(cat wanted)"
    [ "$(wc -l <out)" -eq 3 ] || fail "$1: three tags"
}
"$windlass" heap -q -o calls.wndl -- ./calls >said 2>err || fail "calls"
same calls.wndl
# With the library below: the same.
LD_PRELOAD=$library "$windlass" heap -q -o both.wndl -- ./calls >said 2>err ||
    fail "both"
same both.wndl

# ---- filters, trees, exports
"$windlass" report --tree calls.wndl >out 2>err
grep -q 'tag: codec/video' out || fail "no tag in the tree"
"$windlass" report --tag 'codec/*' --tree calls.wndl >out 2>err
grep -q 'tag: codec/video' out && ! grep -q 'tag: audio' out ||
    fail "--tag keeps one"
"$windlass" export -f folded --tag audio -o - calls.wndl >out 2>err
grep -q '^[^;]*;*tag: audio;' out && ! grep -v 'tag: audio' out >/dev/null ||
    fail "the folded stacks of a tag"
"$windlass" report --tag nobody calls.wndl >out 2>err && fail "no such tag"
grep -q "no block has a tag that matches 'nobody'" err || fail "no such tag"

# ---- without calls: the library, what it calls, and its threads
cat >driver.c <<'EOS'
#include <pthread.h>
#include <stdlib.h>
void *middle_make(size_t size);
void *kept[64];
static void (*call_back)(void);
void driver_make(void) { kept[0] = malloc(10001); kept[1] = middle_make(10002); }
void driver_calls(void (*back)(void)) { back(); }
static void *run(void *context)
{
    kept[2] = middle_make(10004);
    call_back();
    return context;
}
void *middle_thread(void *(*routine)(void *));
void driver_starts(void (*back)(void))
{
    call_back = back;
    middle_thread(run);
}
EOS
cat >middle.c <<'EOS'
#include <pthread.h>
#include <stdlib.h>
void *middle_make(size_t size) { void *at = malloc(size); return at; }
void *middle_thread(void *(*routine)(void *))
{
    pthread_t thread;
    pthread_create(&thread, NULL, routine, NULL);
    pthread_join(thread, NULL);
    return NULL;
}
EOS
cat >main.c <<'EOS'
#include <stdlib.h>
void driver_make(void);
void driver_calls(void (*)(void));
void driver_starts(void (*)(void));
void *middle_make(size_t);
void own_calls(void (*)(void));
static void *blocks[8];
static void in_main(void) { blocks[0] = malloc(20001); }
static void in_thread(void) { blocks[1] = malloc(10008); }
int main(void)
{
    driver_make();
    driver_calls(in_main);
    driver_starts(in_thread);
    blocks[2] = middle_make(20002);
    own_calls(driver_make);
    return blocks[0] == NULL;
}
EOS
# A library of the program's own, called from the driver or calling it.
cat >own.c <<'EOS'
#include <stdlib.h>
void driver_calls(void (*)(void));
static void *block;
static void own(void) { block = malloc(40001); }
void own_calls(void (*make)(void)) { driver_calls(own); make(); }
EOS
cc $flags -shared -fPIC middle.c -o libmiddle.so
cc $flags -shared -fPIC driver.c -o libdriver.so.1 ./libmiddle.so
cc $flags -shared -fPIC own.c -o libown.so ./libdriver.so.1
cc $flags main.c -o main ./libown.so ./libdriver.so.1 ./libmiddle.so
# with WANTED OPTION...: the driver's requested bytes.
with() {
    wanted=$1
    shift
    "$windlass" heap -q -o m.wndl "$@" -- ./main >out 2>err || fail "$*"
    "$windlass" report --by tag m.wndl >out 2>err
    bytes=$(awk '$NF == "driver" { gsub(/,/, ""); print $1 }' out)
    [ "${bytes:-0}" -ge "$wanted" ] && [ "${bytes:-0}" -lt $((wanted + 2000)) ] ||
        fail "$*: driver has $bytes, not $wanted"
}
# 10001 and 10002 twice, 10004 and 10008 in its thread; 40001 is its own where
# nobody says whose that module is.
with $((20003 * 2 + 20012 + 40001)) --tag-lib 'libdriver*=driver'
with $((20003 * 2 + 20012)) --tag-lib 'libdriver*=driver' --own 'libown*'
"$windlass" report --tree --tag driver m.wndl >out 2>err
grep -q driver_make out && grep -q in_thread out && ! grep -q in_main out ||
    fail "the driver's tree"
"$windlass" heap -q -o n.wndl -- ./main >out 2>err
"$windlass" report --by tag n.wndl >out 2>err
grep -q 'no tag' out && ! grep -q driver out || fail "nothing has a tag"

# A library of Debian's: python's TLS contexts.
if have python3; then
    cat >tls.py <<'EOS'
import ssl
contexts = [ssl.create_default_context() for i in range(5)]
EOS
    "$windlass" heap -q -o p.wndl --tag-lib 'libssl*=tls' \
        --tag-lib 'libcrypto*=tls' -- python3 tls.py >out 2>err || fail "python"
    "$windlass" report --by tag --blocks peak p.wndl >out 2>err
    awk '$NF == "tls" { share = $2 } END { exit !(share > 10) }' out ||
        fail "python's TLS"
fi

# ---- bad input
for wrong in "--tag-lib libdriver" "--tag-lib =driver" "--tag-lib libdriver=" \
    "--own libown*"; do
    # shellcheck disable=SC2086
    "$windlass" heap $wrong -- true >out 2>err && fail "$wrong"
    grep -q -e --tag-lib err || fail "$wrong: no clear answer"
done
exit 0
