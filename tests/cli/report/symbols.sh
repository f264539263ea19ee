#!/bin/sh
# symbols.sh WINDLASS MAKE_RECORDING: what report says of a binary with
# debug information, with it in another folder, stripped, replaced, gone.
set -eu
. "$(dirname "$0")/../../lib/have.sh"
windlass=$(realpath "$1")
make_recording=$(realpath "$2")
need cc nm readelf objcopy strip
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export LC_ALL=C

cat >program.c <<'END'
static volatile int sink;
static inline __attribute__((always_inline)) void tiny(int n)
{
    sink += n;
}
static __attribute__((noinline)) void busy(int n)
{
    tiny(n);
    tiny(n + 1);
}
int main(int argc, char **argv)
{
    (void)argv;
    busy(argc);
    return sink == 0;
}
END
cc -g -O1 -fno-ipa-icf -Wl,--build-id -o program program.c
build_id=$(readelf -n program | sed -n 's/.*Build ID: //p')

# Image base to symbol: both svma, from nm and the first PT_LOAD.
base=$(readelf -lW program | awk '$1 == "LOAD" { print $3; exit }')
rva() {
    svma=$(nm program | awk -v name="$1" '$3 == name { print $1 }')
    printf '%x' "$((0x$svma - base + $2))"
}
{
    echo "meta 1000000 1 1 box / ./program"
    echo "process 0 7 $work/program ./program"
    echo "thread 0 7 program"
    echo "image $work/program $build_id"
    # main, one past its first byte: a return address; then busy's first.
    echo "sample 0 30 0 0:$(rva main 1) 0:$(rva busy 0)!"
    echo "done 0 0"
} | "$make_recording" program.wndl
{
    echo "meta 1000000 1 1 box / ./program"
    echo "process 0 7 $work/program ./program"
    echo "image $work/program $build_id"
    echo "heap 0 0 0"
    echo "site 0 0 100 0 0:$(rva busy 1) 0:$(rva main 1)"
    echo "snapshot 0 0 - 1 0 100 100 0 0 0 100 0 0"
    echo "counts 0 0 1 0 1 0 0"
    echo "done 0 0"
} | "$make_recording" heap.wndl

failed=0
# expect WHAT PATTERN FILE: a line of the report must match.
expect() {
    if ! grep -Eq "$2" "$3"; then
        echo "report_symbols: $1: no line matches: $2"
        cat "$3"
        failed=1
    fi
}

"$windlass" report program.wndl >full
expect "debug information" '100.0% +30.00 ms +100.0% +30.00 ms  (tiny|busy) +program.c' full
expect "debug information" '0.0% +0 +100.0% +30.00 ms  main +program.c:1[1-4] ' full
if grep -q 'Without symbols' full; then
    echo "report_symbols: debug information: complains of missing symbols"
    failed=1
fi
"$windlass" report --tree program.wndl >tree
expect "tree" '100.0% +30.00 ms +0.0%  main  program.c:1[1-4]  \[program\]$' tree
"$windlass" report --by line program.wndl >lines
expect "lines" "$work/program.c:(3|4|7|8) +(busy|tiny)" lines
"$windlass" export program.wndl >folded
expect "folded" '^program;main;busy(;tiny)? 30$' folded

# The program is cut short as soon as it is mapped.
cat >cut.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

int madvise(void *start, size_t size, int advice)
{
    struct stat st;
    const char *path = getenv("CUT");
    int (*next)(void *, size_t, int) =
        (int (*)(void *, size_t, int))dlsym(RTLD_NEXT, "madvise");
    if (path != NULL && stat(path, &st) == 0 && (size_t)st.st_size == size &&
        truncate(path, 4096) != 0)
        abort();
    return next(start, size, advice);
}
END
cp program whole
if cc -shared -fPIC -o cut.so cut.c -ldl; then
    for command in report export; do
        cp whole program
        status=0
        ASAN_OPTIONS=verify_asan_link_order=0 CUT=$work/program \
            LD_PRELOAD=$work/cut.so "$windlass" $command program.wndl \
            >out 2>said || status=$?
        if [ $status -ne 0 ] || [ ! -s out ] || ! grep -q 'cut short' said; then
            echo "report_symbols: $command: status $status when a program is" \
                "cut short: $(cat said)"
            failed=1
        fi
    done
    cp whole program
fi

mkdir -p "debug/.build-id/${build_id%"${build_id#??}"}"
debug=debug/.build-id/${build_id%"${build_id#??}"}/${build_id#??}.debug
objcopy --only-keep-debug program "$debug"
strip program
"$windlass" report -v --debug-dir "$work/debug" program.wndl >separate 2>said
WINDLASS_DEBUG_DIRS="/none:$work/debug" \
    "$windlass" report program.wndl >separate_too
cmp separate separate_too || {
    echo "report_symbols: not the same by WINDLASS_DEBUG_DIRS"
    failed=1
}
expect "verbose" "/program: names and lines from $work/$debug" said

# Another build's in its place is sound, and is not said to be damaged.
cp program right
printf 'int main(void) { return 1; }\n' >other.c
cc -g -Wl,--build-id -o program other.c
mv "$debug" whole.debug
objcopy --only-keep-debug program "$debug"
mv right program
"$windlass" report -v --debug-dir "$work/debug" program.wndl >out 2>said
expect "another build's" \
    "/program: a debug file is not used: .*belongs to another build" said
if grep -q damaged said; then
    echo "report_symbols: another build's debug file is said to be damaged"
    failed=1
fi
mv whole.debug "$debug"

tail -n +2 full >full.body
tail -n +2 separate >separate.body
cmp full.body separate.body || failed=1

export DPKG_ADMINDIR=$work/dpkg
mkdir -p dpkg/info
echo /usr/bin/other >dpkg/info/other.list
"$windlass" report program.wndl >stripped
expect "stripped" '100.0% +100.0%  .*/program: exported names only' stripped
expect "stripped" 'symbols: 100.0% of the CPU time was in code without' stripped
expect "stripped" '^  the -dbgsym or -dbg packages,$' stripped
expect "stripped" 'or ask a server \(--debuginfod\)' stripped
expect "stripped" '^  --debug-dir DIR$' stripped
expect "stripped" '100.0% +30.00 ms +100.0% +30.00 ms  program\+0x[0-9a-f]+ ' stripped

# dpkg knows the file, and others with names that have its name in them.
printf '%s\n' /. "$work/program.1" "$work/program" >dpkg/info/box-tools:amd64.list
echo "$work/programs" >dpkg/info/box-other.list
"$windlass" report program.wndl >packaged
expect "packaged" '^  box-tools-dbgsym,$' packaged
expect "packaged" "packages are in Debian's archive debian-debug" packaged
"$windlass" report heap.wndl >packaged
expect "a heap" 'without names: install box-tools-dbgsym,$' packaged
mv dpkg/info/box-tools:amd64.list dpkg/info/python3.11-minimal.list
"$windlass" report heap.wndl >packaged
expect "Python" 'without names: install python3.11-dbg,$' packaged

cc -Wl,--build-id -o program other.c
"$windlass" report program.wndl >replaced
expect "replaced" '/program: not used: replaced after the recording' replaced

printf 'not a program' >program
"$windlass" report -v program.wndl >garbage 2>said
expect "verbose garbage" 'warning: .*/program: no symbols: ' said
expect "garbage" '/program: not used: damaged or unknown format' garbage

rm program
"$windlass" report program.wndl >gone
expect "gone" '/program: not used: cannot be opened' gone
if grep -q dbgsym gone; then
    echo "report_symbols: gone: advises debug files, which would not help"
    failed=1
fi
exit $failed
