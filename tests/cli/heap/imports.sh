#!/bin/sh
# imports.sh WINDLASS RECDUMP FIXTURES HEAPDUMP: an executable's
# own malloc stands before the preloaded one. What its libraries and plugins
# allocate is recorded; what it allocates by itself passes by, unharmed.
. "$(dirname "$0")/../lib/record_lib.sh"
heapdump=$(realpath "$4")

cp "$sources/../heap/own.c" .
cp "$sources/../heap/library.c" .
cp "$sources/../heap/plugin.c" .
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
        grep -q '^windlass: 1 heap with an allocator in the executable' said ||
            fail "what is not seen is not told: $(cat said)"
        "$windlass" report r.wndl >report
        grep -q '^Wrong frees: frees of memory that was never .* not known in 1 heap,' \
            report || fail "what is not looked for is not told: $(cat report)"
        grep -q '^Leaks: not searched in 1 heap, where blocks may have been freed' \
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
cp "$sources/../heap/starts.c" .
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
cp "$sources/../heap/fixed.c" .
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
