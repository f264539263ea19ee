#!/bin/sh
# crash.sh WINDLASS: stacks that crashing programs print, through 'windlass
# fix': functions and lines as the source has them, and as addr2line, the
# sanitizer's own symbolizer and Valgrind say.
set -eu
. "$(dirname "$0")/../../lib/have.sh"
windlass=$(realpath "$1")
need cc addr2line
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
work=$(pwd -P)
export LC_ALL=C
unset WINDLASS_DEBUG_DIRS DEBUGINFOD_URLS
failed=0

cat >crash.c <<'END'
#include <execinfo.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

volatile int sink;

static void on_crash(int number)
{
    void *frames[64];
    int count = backtrace(frames, 64); /* HANDLER */
    backtrace_symbols_fd(frames, count, 2);
    _exit(number);
}

static __attribute__((noinline)) int read_it(int *p)
{
    int before = sink;
    return before + *p; /* CRASH */
}

__attribute__((noinline)) void middle(int *p)
{
    sink = 1;
    sink = read_it(p); /* MIDDLE */
    sink = 2;
}

__attribute__((noinline, noreturn)) void never_returns(int *p)
{
    middle(p); /* NEVER */
    abort();
}

__attribute__((noinline)) void behind(void)
{
    sink = 3;
}

int main(int argc, char **argv)
{
    (void)argv;
    signal(SIGSEGV, on_crash);
    int *p = malloc(40);
    free(p);
    never_returns(argc > 1 ? p : NULL); /* MAIN */
}
END
line() { awk -v mark="/[*] $1 [*]/" '$0 ~ mark { print NR }' crash.c; }

# has FILE FUNCTION MARK: a frame of that function, at the marked line.
has() {
    if ! grep -Eq "$2 [(]?$work/crash.c:$(line "$3")(:|\)|\$)" "$1"; then
        echo "fix_crash: $1: no $2 at line $(line "$3")"
        cat "$1"
        failed=1
    fi
}
has_all() {
    has "$1" read_it CRASH
    has "$1" middle MIDDLE
    has "$1" never_returns NEVER
    has "$1" main MAIN
}

# The C library's own form, from a program at any address and from one that
# is where it was linked, with and without dynamic symbols.
flags="-g -O1 -fno-optimize-sibling-calls"
for kind in '-pie -fPIE' '-pie -fPIE -rdynamic' '-no-pie -fno-pie' \
    '-no-pie -fno-pie -rdynamic'; do
    # shellcheck disable=SC2086
    cc $flags $kind -o crash "$work/crash.c"
    ./crash 2>stack || true
    "$windlass" fix stack >fixed
    has_all fixed
    has fixed on_crash HANDLER
done

# addr2line of the same frames: calls a byte before, the crash where it was.
cc $flags -no-pie -fno-pie -o crash "$work/crash.c"
./crash 2>stack || true
"$windlass" fix stack | sed -n 's/^\([a-z_]*\) (\(.*\.c:[0-9]*\)).*/\1 \2/p' |
    grep crash.c >ours
sed -n "s|^./crash.*\[0x\(.*\)\]|\1|p" stack | awk '{ print $1, NR }' |
    while read -r address row; do
        [ "$row" -eq 2 ] || address=$(printf %x $((0x$address - 1)))
        addr2line -f -e crash "0x$address" | paste -d' ' - -
    done | sed 's/ (discriminator.*//' | grep crash.c >theirs
if ! [ -s ours ] || ! diff ours theirs; then
    echo "fix_crash: differs from addr2line"
    failed=1
fi

# AddressSanitizer, by itself and with its symbolizer: the same frames.
if cc $flags -fsanitize=address -o asan "$work/crash.c" 2>/dev/null; then
    ASAN_OPTIONS=symbolize=0 ./asan 1 2>stack || true
    "$windlass" fix stack >fixed
    has_all fixed
    ./asan 1 2>named || true
    for file in fixed named; do
        sed -n 's/^ *#\([0-9]*\) 0x[0-9a-f]* in \([a-z_]*\) .*\/\(crash.c:[0-9]*\).*/\1 \2 \3/p' \
            "$file" >"$file.rows"
    done
    if [ -s named.rows ] && ! diff fixed.rows named.rows; then
        echo "fix_crash: differs from the sanitizer's symbolizer"
        failed=1
    fi
fi

# Valgrind on the stripped program, against Valgrind on the whole one.
if have valgrind; then
    mkdir whole
    cc $flags -pie -fPIE -o whole/crash "$work/crash.c"
    strip -o crash whole/crash
    valgrind --fullpath-after= ./crash 1 >/dev/null 2>stack || true
    grep -q 'Invalid read' stack || exit $failed
    "$windlass" fix --sym-dir whole stack >fixed
    has_all fixed
    valgrind --fullpath-after= whole/crash 1 >/dev/null 2>named || true
    for file in fixed named; do
        sed -n 's/.*\(at\|by\) 0x[0-9A-F]*: \([a-z_]* (.*crash.c:.*)\)/\2/p' \
            "$file" >"$file.rows"
    done
    if ! [ -s named.rows ] || ! diff fixed.rows named.rows; then
        echo "fix_crash: differs from Valgrind"
        failed=1
    fi
fi
exit $failed
