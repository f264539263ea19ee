#!/bin/sh
# new.sh WINDLASS RECDUMP FIXTURES HEAPDUMP: C++'s operators new
# and delete, of every form, are counted once each whoever defines them: the
# C++ library, an allocator that is preloaded or linked, the executable.
. "$(dirname "$0")/../lib/record_lib.sh"
heapdump=$(realpath "$4")
c++ --version >out 2>&1 || exit 77

cat >news.cpp <<'C'
#include <cstdio>
#include <cstdlib>
#include <new>
#include <thread>
struct alignas(64) wide { char bytes[1920]; };
/* So that no pair of new and delete is left out. */
static void *volatile kept;
template <typename T> static T *keep(T *block)
{
    kept = block;
    return static_cast<T *>(kept);
}
/* Each form on its own line; one in `every` stays. */
template <typename Make, typename End>
static void times(int count, int every, Make make, End end)
{
    for (int i = 0; i < count; i++) {
        auto block = keep(make());
        if (i % every != 0)
            end(block);
    }
}
static const std::align_val_t by_32{32};
static bool throws()
{
    try {
        keep(operator new(static_cast<size_t>(-1) / 4));
    } catch (const std::bad_alloc &) {
        return true;
    }
    return false;
}
int main(int argc, char **)
{
    times(10, 2, [] { return operator new(1001); },
        [](void *p) { operator delete(p); });
    times(20, 2, [] { return new char[1003]; }, [](char *p) { delete[] p; });
    times(30, 3, [] { return operator new(1005, std::nothrow); },
        [](void *p) { operator delete(p, std::nothrow); });
    times(40, 4, [] { return operator new[](1007, std::nothrow); },
        [](void *p) { operator delete[](p, std::nothrow); });
    times(50, 5, [] { return new wide; }, [](wide *p) { delete p; });
    times(60, 6, [] { return new wide[2]; }, [](wide *p) { delete[] p; });
    times(70, 7, [] { return operator new(1120, by_32, std::nothrow); },
        [](void *p) { operator delete(p, by_32, std::nothrow); });
    times(80, 8, [] { return operator new[](1152, by_32, std::nothrow); },
        [](void *p) { operator delete[](p, 1152, by_32); });
    times(90, 9, [] { return operator new(1009); },
        [](void *p) { operator delete(p, std::size_t{1009}); });
    times(100, 10, [] { return operator new[](1011); },
        [](void *p) { operator delete[](p, std::size_t{1011}); });
    times(10, 10, [] { return std::malloc(1013); }, std::free);
    std::thread([] {
        times(20, 5, [] { return new char[1015]; },
            [](char *p) { delete[] p; });
    }).join();
    /* Another one ends by it: mimalloc, which is not built as C++. */
    if (argc > 1 && !throws())
        return 3;
    return std::puts("done") < 0;
}
C
cat >want <<'END'
1001 10 5
1003 20 10
1005 30 20
1007 40 30
1009 90 80
1011 100 90
1013 10 9
1015 20 16
1120 70 60
1152 80 70
1920 50 40
3840 60 50
END
c++ -std=c++17 -O1 -o news news.cpp -pthread
c++ -std=c++17 -O1 -no-pie -o fixed news.cpp -pthread
c++ -std=c++17 -O1 -Wl,-z,now -o now news.cpp -pthread

# counted WHAT COMMAND...: what is recorded is what is wanted; only of one size
# where the loader allocates, too.
only=
counted() {
    what=$1
    shift
    rm -f r.wndl dump
    "$windlass" heap -o r.wndl -- "$@" >out 2>said ||
        fail "$what: exit status $?: $(cat said)"
    [ "$(cat out)" = "done" ] || fail "$what: $(cat out)"
    "$heapdump" r.wndl >dump || fail "$what: the recording cannot be read"
    awk -v only="$only" '$1 == "site" && $9 > 1000 && $9 < 4000 &&
            $9 % 512 != 0 && (only == "" || $9 == only) {
            a[$9] += $3; f[$9] += $4 }
        END { for (size in a) print size, a[size], f[size] }' dump |
        sort -n >have
    cmp -s want have || fail "$what: $(diff want have)"
    ! grep -q '^wrong' dump || fail "$what: $(grep '^wrong' dump)"
}

for program in news fixed now; do
    counted "the C++ library, $program" ./$program throw
done

tried=
for name in jemalloc.so.2 tcmalloc_minimal.so.4 mimalloc.so.2; do
    file=$(cc -print-file-name=lib$name)
    [ -f "$file" ] || continue
    tried="$tried $name"
    throw=throw
    [ $name != mimalloc.so.2 ] || throw=
    for program in news fixed now; do
        LD_PRELOAD=$file counted "$name, $program" ./$program $throw
    done
    c++ -std=c++17 -O1 -Wl,--no-as-needed -o linked news.cpp "$file" -pthread
    counted "$name, linked" ./linked $throw
done

# One whose new gives a part of what its malloc gave, and which ends the program
# that asks it about anything else than it gave.
cat >padded.cpp <<'C'
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
extern "C" void *__libc_malloc(size_t);
extern "C" void __libc_free(void *);
struct alignas(16) head { size_t size, mark; };
static head *head_of(void *block)
{
    head *h = static_cast<head *>(block) - 1;
    if (h->mark != 0x77c0ffee)
        std::abort();
    return h;
}
extern "C" void *malloc(size_t n)
{
    void *h = n > SIZE_MAX / 4 ? nullptr : __libc_malloc(sizeof(head) + n);
    return h == nullptr ? nullptr : new (h) head{n, 0x77c0ffee} + 1;
}
extern "C" void free(void *block)
{
    if (block != nullptr) {
        head *h = head_of(block);
        h->mark = 0;
        __libc_free(h);
    }
}
extern "C" void *calloc(size_t n, size_t m)
{
    void *block = malloc(n * m);
    return block == nullptr ? nullptr : std::memset(block, 0, n * m);
}
extern "C" void *realloc(void *from, size_t n)
{
    void *block = malloc(n);
    if (block != nullptr && from != nullptr) {
        size_t size = head_of(from)->size;
        std::memcpy(block, from, size < n ? size : n);
        free(from);
    }
    return block;
}
extern "C" size_t malloc_usable_size(void *block)
{
    return block == nullptr ? 0 : head_of(block)->size;
}
static void *some(size_t n)
{
    void *block = malloc(n);
    return block != nullptr ? block : throw std::bad_alloc();
}
void *operator new(size_t n) { return static_cast<char *>(some(n + 16)) + 16; }
void operator delete(void *p) noexcept
{
    if (p != nullptr)
        free(static_cast<char *>(p) - 16);
}
void *operator new(size_t n, std::align_val_t to)
{
    size_t mask = static_cast<size_t>(to) - 1;
    char *all = static_cast<char *>(some(n + mask + 33));
    char *block = all + 32;
    block += -reinterpret_cast<uintptr_t>(block) & mask;
    std::memcpy(block - sizeof all, &all, sizeof all);
    return block;
}
void operator delete(void *p, std::align_val_t) noexcept
{
    void *all;
    if (p != nullptr) {
        std::memcpy(&all, static_cast<char *>(p) - sizeof all, sizeof all);
        free(all);
    }
}
C
c++ -std=c++17 -O1 -shared -fPIC -o libpadded.so padded.cpp
mv want unpadded
awk '{ print $1 + ($1 == 1013 ? 0 : $1 > 1900 ? 96 : $1 > 1100 ? 64 : 16),
        $2, $3 }' unpadded | sort -n >want
for program in news fixed now; do
    LD_PRELOAD=$work/libpadded.so counted "padded, $program" ./$program throw
done
c++ -std=c++17 -O1 -Wl,--no-as-needed -o linked news.cpp libpadded.so \
    -Wl,-rpath,"$work" -pthread
counted "padded, linked" ./linked throw

# Plugins, which are relocated while the loader allocates; what the C++ library
# makes in its own code, bound at the first call.
cat >plugin.cpp <<'C'
#include <string>
#include <vector>
extern "C" void plugin_run()
{
    std::vector<std::string> all;
    for (int i = 0; i < 50; i++)
        all.push_back(std::string(2000, 'y'));
}
C
cat >host.c <<'C'
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
static void *volatile block;
int main(void)
{
    for (int round = 0; round < 3; round++) {
        void *plugin = dlopen("./plugin.so", round % 2 ? RTLD_LAZY : RTLD_NOW);
        void (*run)(void) = (void (*)(void))dlsym(plugin, "plugin_run");
        block = malloc(78);
        free(block);
        run();
        dlclose(plugin);
    }
    return puts("done") < 0;
}
C
c++ -O1 -shared -fPIC -o plugin.so plugin.cpp
cc -O1 -o host host.c
c++ -O1 -Wl,--no-as-needed -o host_cpp -x c++ host.c
echo "2001 150 150" >want
only=2001
for name in "" $tried; do
    for program in host host_cpp; do
        LD_PRELOAD=${name:+$(cc -print-file-name=lib$name)} \
            counted "${name:-no allocator}, a plugin of $program" ./$program
    done
done

only=

# An executable with both of its own: what a library calls is led to us. One
# with operators of its own alone keeps them.
cat >library.cpp <<'C'
void *library_make() { return new char[1003]; }
void library_free(void *block) { delete[] static_cast<char *>(block); }
C
cat >own.cpp <<'C'
#include <cstdio>
#include <cstdlib>
#include <new>
void *library_make();
void library_free(void *);
#ifdef WITH_MALLOC
extern "C" void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t);
extern "C" void *__libc_realloc(void *, size_t);
extern "C" void __libc_free(void *);
extern "C" void *malloc(size_t n) { return __libc_malloc(n); }
extern "C" void *calloc(size_t n, size_t m) { return __libc_calloc(n, m); }
extern "C" void *realloc(void *p, size_t n) { return __libc_realloc(p, n); }
extern "C" void free(void *p) { __libc_free(p); }
void *operator new(size_t n) { return malloc(n); }
void operator delete(void *p) noexcept { free(p); }
#else
static char pool[1024 * 1024];
static size_t used;
void *operator new(size_t n)
{
    used += n;
    return pool + used - n;
}
void operator delete(void *p) noexcept
{
    if (p < pool || p >= pool + sizeof pool)
        abort();
}
#endif
void *operator new[](size_t n) { return operator new(n); }
void operator delete[](void *p) noexcept { operator delete(p); }
void operator delete(void *p, size_t) noexcept { operator delete(p); }
void operator delete[](void *p, size_t) noexcept { operator delete(p); }
int main()
{
    for (int i = 0; i < 30; i++) {
        void *block = library_make();
        if (i % 3)
            library_free(block);
    }
    return std::puts("done") < 0;
}
C
c++ -O1 -shared -fPIC -o liblibrary.so library.cpp
echo "1003 30 20" >want
for relocated in lazy now; do
    c++ -O1 -rdynamic -DWITH_MALLOC -Wl,-z,$relocated -o own own.cpp -L. \
        -llibrary -Wl,-rpath,"$work"
    counted "the executable's, $relocated" ./own
done
c++ -O1 -rdynamic -o own own.cpp -L. -llibrary -Wl,-rpath,"$work"
: >want
counted "operators alone" ./own
for name in $tried; do
    LD_PRELOAD=$(cc -print-file-name=lib$name) counted "$name beside" ./own
done
[ -n "$tried" ] || exit 77
