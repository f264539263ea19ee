#!/bin/sh
# Code whose rules are in .debug_frame alone is unwound without a table of ours:
# that of the program from its first sample on, whether the rules are in it or
# in its debug file; that of a plugin soon after it was loaded; in children too.
. "$(dirname "$0")/../lib/record_lib.sh"
[ "$(uname -m)" = x86_64 ] || skip "not x86-64"
need gcc

cat >work.h <<'END'
__attribute__((noinline)) static long inner(long n)
{
    volatile char room[100];
    long sum = 0;
    for (long i = 0; i < n; i++) {
        room[i % 100] = (char)(n + i);
        sum += room[(i * 7) % 100];
    }
    return sum;
}
END
cat >main.c <<'END'
#include "work.h"
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>
__attribute__((noinline)) static long outer(long n)
{
    volatile char room[333];
    room[3] = 1;
    return inner(n) + room[3];
}
int main(int count, char **arguments)
{
    volatile long sum = outer(30000000L);
    if (count > 1) {
        void *plugin = dlopen(arguments[1], RTLD_NOW);
        sum += ((long (*)(long))dlsym(plugin, "plug"))(200000000L);
    }
    if (count > 1 && fork() == 0) {
        sum += outer(30000000L);
        _exit(0);
    }
    return wait(0) < -1;
}
END
cat >plugin.c <<'END'
#include "work.h"
long plug(long n)
{
    volatile char room[333];
    room[3] = 1;
    return inner(n) + room[3];
}
END
flags="-g -O2 -fomit-frame-pointer -fno-asynchronous-unwind-tables
    -fno-unwind-tables"
gcc $flags -Wl,--build-id main.c -o main
gcc $flags -shared -fPIC plugin.c -o plugin.so

whole() {
    complete_above "$1"
    "$windlass" export -o folded.txt r.wndl 2>/dev/null
    grep -Eq '^main;_start;.*;main;outer;inner ' folded.txt ||
        fail "$2: $(cat folded.txt)"
}
record 0 -r 1000 -- ./main
whole 99.5 "not by .debug_frame"

record 0 -r 1000 -- ./main ./plugin.so
whole 90 "with a plugin"
grep -Eq '^main;_start;.*;main;plug;inner ' folded.txt ||
    fail "not the plugin's: $(cat folded.txt)"

objcopy --only-keep-debug main main.debug
strip main
objcopy --add-gnu-debuglink=main.debug main
record 0 -r 1000 -- ./main
whole 99.5 "not by the debug file"

# Without it there is nothing to go by.
rm main.debug
record 0 -r 1000 -- ./main
"$windlass" export -o folded.txt r.wndl 2>/dev/null
grep -q 'outer' folded.txt && fail "named without symbols"
exit 0
