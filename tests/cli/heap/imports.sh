#!/bin/sh
# imports.sh WINDLASS RECDUMP FIXTURES HEAPDUMP: an executable's
# own malloc stands before the preloaded one. What its libraries and plugins
# allocate is recorded; what it allocates by itself passes by, unharmed.
. "$(dirname "$0")/../lib/record_lib.sh"
heapdump=$(realpath "$4")

cat >own.c <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void __libc_free(void *);
void *malloc(size_t n) { return __libc_malloc(n); }
void *calloc(size_t n, size_t m) { return __libc_calloc(n, m); }
void *realloc(void *p, size_t n) { return __libc_realloc(p, n); }
void free(void *p) { __libc_free(p); }
size_t malloc_usable_size(void *p) { return p == NULL ? 0 : ((size_t *)p)[-1] - 1; }
/* As Mozilla's, and as that hidden from what the library imports. */
void *moz_xmalloc(size_t n) { return malloc(n); }
void *moz_xcalloc(size_t n, size_t m) { return calloc(n, m); }
void *moz_xrealloc(void *p, size_t n) { return realloc(p, n); }
void *moz_xmemdup(const void *p, size_t n) { return memcpy(malloc(n), p, n); }
char *moz_xstrdup(const char *s) { return moz_xmemdup(s, strlen(s) + 1); }
char *strndup(const char *s, size_t n)
{
    char *p = calloc(1, n + 1);
    return memcpy(p, s, n);
}
static size_t arenas;
void *moz_arena_malloc(size_t a, size_t n) { arenas += a; return malloc(n); }
void *moz_arena_calloc(size_t a, size_t n, size_t m) { arenas += a; return calloc(n, m); }
void *moz_arena_realloc(size_t a, void *p, size_t n) { arenas += a; return realloc(p, n); }
void moz_arena_free(size_t a, void *p) { arenas += a; free(p); }
void *library_make(int);
void library_free(void *);
size_t library_mozilla(void);
int main(int argc, char **argv)
{
    (void)argc;
    for (int i = 0; i < 100; i++)
        library_make(i);
    for (int round = 0; round < 3; round++) {
        void *plugin = dlopen(argv[1], round % 2 ? RTLD_LAZY : RTLD_NOW);
        void *(*make)(int) = (void *(*)(int))dlsym(plugin, "plugin_make");
        library_make(0); /* whose call finds the plugin */
        for (int i = 0; i < 50; i++)
            make(i);
        dlclose(plugin);
    }
    void *volatile mine = malloc(3001);
    library_free(mine);
    size_t asked = library_mozilla();
    return asked != arenas || puts("done") < 0;
}
C
cat >library.c <<'C'
#include <stdlib.h>
#include <string.h>
extern void *moz_xmalloc(size_t) __attribute__((weak));
extern void *moz_xcalloc(size_t, size_t) __attribute__((weak));
extern void *moz_xrealloc(void *, size_t) __attribute__((weak));
extern void *moz_xmemdup(const void *, size_t) __attribute__((weak));
extern char *moz_xstrdup(const char *) __attribute__((weak));
extern void *moz_arena_malloc(size_t, size_t) __attribute__((weak));
extern void *moz_arena_calloc(size_t, size_t, size_t) __attribute__((weak));
extern void *moz_arena_realloc(size_t, void *, size_t) __attribute__((weak));
extern void moz_arena_free(size_t, void *) __attribute__((weak));
static char text[8000];
size_t library_mozilla(void)
{
    size_t asked = 0;
    memset(text, 'x', 7500);
    for (size_t i = 0; i < 20; i++) {
        void *volatile plain = moz_xmalloc(7001);
        plain = moz_xrealloc(plain, 7002);
        void *volatile copy = moz_xmemdup(text, 7003);
        free(copy);
        copy = moz_xcalloc(2, 3502);
        char *volatile name = moz_xstrdup(text);
        name = strndup(text, 7004);
        void *volatile in = moz_arena_malloc(i, 7005);
        in = moz_arena_realloc(i, in, 7006);
        void *volatile cleared = moz_arena_calloc(i, 2, 3504);
        moz_arena_free(i, cleared);
        asked += 4 * i;
        (void)name;
    }
    return asked;
}
void library_free(void *);
void *library_make(int i)
{
    void *volatile block = malloc(1001 + i % 2);
    if (i % 2)
        library_free(block);
    return block;
}
void library_free(void *block) { free(block); }
C
cat >plugin.c <<'C'
#include <stdlib.h>
void *plugin_make(int i)
{
    void *volatile block = calloc(3, 701);
    block = realloc(block, 5000);
    if (i % 2)
        free(block);
    void *volatile aligned = aligned_alloc(64, 6400);
    if (i % 2)
        free(aligned);
    return block;
}
C
cc -O1 -shared -fPIC -o liblibrary.so library.c
cc -O1 -rdynamic -o own own.c -L. -llibrary -Wl,-rpath,"$work"

# counts REQUESTED: "ALLOCS FREES" of all sites of that size.
counts() {
    awk -v size="$1" '$1 == "site" && $9 == size { a += $3; f += $4 }
        END { print a + 0, f + 0 }' dump
}
expect() {
    [ "$(counts "$1")" = "$2" ] || fail "$3: $1 bytes: $(counts "$1"), not $2"
}

for flags in "" "-Wl,-z,relro,-z,now" "-Wl,-z,norelro,-z,lazy -fno-plt"; do
    cc -O1 -shared -fPIC $flags -o plugin.so plugin.c
    for mode in live cumulative; do
        rm -f r.wndl
        "$windlass" heap --mode $mode -o r.wndl -- ./own ./plugin.so \
            >out 2>said || fail "it does not run: $(cat said)"
        [ "$(cat out)" = "done" ] || fail "another output"
        grep -q '^windlass: 1 heap where the executable has an allocator inside' said ||
            fail "what is not seen is not told: $(cat said)"
        "$windlass" report r.wndl >report
        grep -q '^Wrong frees: those of what was never .* not known of 1 heap,' \
            report || fail "what is not looked for is not told: $(cat report)"
        grep -q '^Leaks: not looked for in 1 heap, as blocks may have been freed' \
            report && ! grep -q '^Leaks, ' report ||
            fail "leaks that may be none: $(cat report)"
        "$heapdump" r.wndl >dump || fail "the recording cannot be read"
        expect 1001 "53 0" "a library"
        expect 1002 "50 50" "a library that frees"
        expect 2103 "150 150" "plugins"
        expect 5000 "150 75" "plugins that free"
        expect 3001 "0 0" "what the executable does by itself"
        expect 7001 "20 20" "moz_xmalloc"
        expect 7002 "20 0" "moz_xrealloc"
        expect 7003 "20 20" "moz_xmemdup"
        expect 7004 "20 0" "moz_xcalloc"
        expect 7501 "20 0" "moz_xstrdup"
        expect 7005 "40 20" "moz_arena_malloc, the executable's strndup"
        expect 7006 "20 0" "moz_arena_realloc"
        expect 7008 "20 20" "moz_arena_calloc"
        # Not the executable's: the libc's, whose block it then frees.
        expect 6400 "150 75" "what its allocator does not have"
        [ "$(awk '$1 == "wrong" { n[$3] += $4 }
            END { for (kind in n) print kind, n[kind] }' dump)" = "3 75" ] ||
            fail "not just the other allocator's: $(grep '^wrong' dump)"
    done
done

# Beside one whose leaks are known: what is said of leaks is of that one.
cat >starts.c <<'C'
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    if (fork() == 0)
        return argc > 1 ? execv(argv[1], argv + 1) : 1;
    int status = 1;
    return wait(&status) < 0 || status != 0;
}
C
cc -O1 -o starts starts.c
rm -f r.wndl
"$windlass" heap -o r.wndl -- ./starts ./own ./plugin.so >out 2>said ||
    fail "it does not start another: $(cat said)"
"$windlass" report r.wndl >report
# (The forked child has a heap of its own until it becomes another program.)
grep -q '^No definite leaks in 1 heap, not known of 2 others$' report ||
    fail "which leaks there are none of: $(cat report)"

# An executable at a fixed address has a stub of its own in the place of a
# function whose address it takes. The strdup behind it is the libc's, whose
# malloc was counted already.
cat >fixed.c <<'C'
#include <stdio.h>
#include <string.h>
extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void __libc_free(void *);
void *malloc(size_t n) { return __libc_malloc(n); }
void *calloc(size_t n, size_t m) { return __libc_calloc(n, m); }
void *realloc(void *p, size_t n) { return __libc_realloc(p, n); }
void free(void *p) { __libc_free(p); }
char *library_dup(const char *);
int main(void)
{
    char *(*volatile dup)(const char *) = strdup;
    char *volatile copy = dup("x");
    char text[7600] = {0};
    memset(text, 'x', 7599);
    for (int i = 0; i < 20; i++)
        copy = library_dup(text);
    return copy == NULL || puts("done") < 0;
}
C
cat >dup.c <<'C'
#include <string.h>
char *library_dup(const char *text) { return strdup(text); }
C
cc -O1 -shared -fPIC -o libdup.so dup.c
cc -O1 -no-pie -fno-pie -rdynamic -o fixed fixed.c -L. -ldup \
    -Wl,-rpath,"$work"
rm -f r.wndl
"$windlass" heap -o r.wndl -- ./fixed >out 2>said ||
    fail "at a fixed address it does not run: $(cat said)"
[ "$(cat out)" = "done" ] || fail "another output at a fixed address"
"$heapdump" r.wndl >dump || fail "the recording cannot be read"
expect 7600 "20 0" "a strdup that the executable has a stub of"
