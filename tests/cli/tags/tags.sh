#!/bin/sh
# SPDX-License-Identifier: MIT
# tags.sh LIBRARY INCLUDE: libwindlass-tags counts the blocks of each tag,
# exactly, with any allocator, and has a clear answer to whatever is wrong.
set -eu
. "$(dirname "$0")/../../lib/have.sh"
folder_of_library=$(realpath "$(dirname "$1")")
library=$folder_of_library/$(basename "$1")
include=$(realpath "$2")
sources=$(realpath "$(dirname "$0")")
need cc
need c++
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
unset LD_PRELOAD || true

fail() {
    echo "tags: $1"
    head -n 40 out 2>/dev/null || true
    exit 1
}
flags="-Wall -Wextra -Werror -O1 -fno-builtin -I$include -pthread"
c++ -std=c++17 $flags "$sources/exact.cc" -o exact || fail "exact.cc"
cc $flags "$sources/bad.c" -o bad || fail "bad.c"
cat >plugin.c <<'EOS'
#include <stdlib.h>
#include <windlass/memory_tag.h>
void *make(void)
{
    wndl_memory_tag("a plugin's");
    void *block = malloc(100);
    wndl_memory_untag();
    return block;
}
EOS
cc $flags -shared -fPIC plugin.c -o plugin.so

# With each allocator, in the reserved space and in tables.
folder=/usr/lib/$(cc -print-multiarch)
for allocator in "" libjemalloc.so.2 libtcmalloc_minimal.so.4 libmimalloc.so.2; do
    other=${allocator:+$folder/$allocator}
    [ -z "$other" ] || have "$other" || continue
    LD_PRELOAD="$library $other" ./exact 16 3000 >out ||
        fail "${allocator:-libc}: status $?"
    LD_PRELOAD="$library $other" ./bad ./plugin.so >out ||
        fail "${allocator:-libc}: bad: status $?"
    (
        ulimit -v 2000000
        LD_PRELOAD="$library $other" ./exact 4 3000 >out
    ) || fail "${allocator:-libc}: limited: status $?"
done
(
    ulimit -v 300000
    LD_PRELOAD=$library ./bad ./plugin.so >out
) || fail "ulimit -v 300000: status $?"

# Linked instead of preloaded.
cc $flags "$sources/bad.c" -o linked -Wl,--no-as-needed "$library" \
    "-Wl,-rpath,$folder_of_library" || fail "linking"
./linked ./plugin.so >out || fail "linked: status $?"

# With nothing: no tag, no count, no error.
cat >nothing.c <<'EOS'
#include <windlass/memory_tag.h>
int main(void)
{
    struct wndl_memory_tag_amount is = {1, 1};
    struct wndl_memory_tag_misses misses = {1, 1, 1, 1};
    uint32_t tag = wndl_memory_tag("nothing");
    wndl_memory_tag_enter(tag);
    wndl_memory_tag_missed(&misses);
    return tag != 0 || wndl_memory_untag() || wndl_memory_tag_current() != 0 ||
        wndl_memory_tagged("nothing", &is) || is.bytes != 0 ||
        misses.unopened != 0 || wndl_memory_tagging() != 0;
}
EOS
cp nothing.c nothing.cc
strict="-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror -I$include"
for language in cc:c99:nothing.c cc:gnu17:nothing.c c++:c++98:nothing.cc \
    c++:c++17:nothing.cc clang:c11:nothing.c; do
    compiler=${language%%:*}
    standard=${language#*:}
    have "$compiler" || continue
    more=
    [ "${standard%:*}" != c++98 ] || more="-Wno-long-long"
    "$compiler" -std="${standard%:*}" $strict $more "${language##*:}" \
        -o nothing || fail "$language"
    ./nothing || fail "$language without the library: status $?"
done

# Another malloc comes first: that is said, and not "0 blocks".
cat >own.c <<'EOS'
#include <stddef.h>
#include <windlass/memory_tag.h>
static char pool[1 << 20];
static size_t used;
void *malloc(size_t size)
{
    void *at = pool + used;
    used += (size + 15) & ~(size_t)15;
    return at;
}
void *calloc(size_t count, size_t size) { return malloc(count * size); }
void *realloc(void *at, size_t size) { return at ? NULL : malloc(size); }
void free(void *at) { (void)at; }
int main(void)
{
    struct wndl_memory_tag_amount is;
    wndl_memory_tag("own");
    return wndl_memory_tagging() != WNDL_MEMORY_TAGGING_BYPASSED ||
        wndl_memory_tagged("own", &is);
}
EOS
cc $flags -fno-builtin own.c -o own
LD_PRELOAD=$library ./own || fail "a malloc of the program's own"

# The C++ library comes with a plugin that alone sees it. Its new has a tag, and
# throws where there is no memory.
cat >late.cc <<'EOS'
#include <new>
#include <string>
#include <vector>
static int *volatile kept;
extern "C" int late()
{
    std::vector<std::string> *v = new std::vector<std::string>(100, "x");
    v->push_back(std::string(1000, 'y'));
    delete v;
    if (::operator new(size_t(1) << 60, std::nothrow) != NULL)
        return 1;
    try {
        volatile size_t size = size_t(1) << 60;
        ::operator delete(::operator new(size));
    } catch (const std::bad_alloc &) {
        kept = new int[1000];
        return kept == NULL;
    }
    return 2;
}
EOS
cat >host.c <<'EOS'
#include <dlfcn.h>
#include <windlass/memory_tag.h>
int main(void)
{
    struct wndl_memory_tag_amount is;
    void *plugin = dlopen("./late.so", RTLD_NOW | RTLD_LOCAL);
    int (*late)(void) = plugin ? (int (*)(void))dlsym(plugin, "late") : 0;
    if (late == 0)
        return 9;
    wndl_memory_tag("late");
    int wrong = late();
    wndl_memory_untag();
    return wrong || !wndl_memory_tagged("late", &is) || is.bytes < 4000;
}
EOS
c++ $flags -shared -fPIC late.cc -o late.so
cc $flags host.c -o host
LD_PRELOAD=$library ./host || fail "a plugin in C++: status $?"
exit 0
