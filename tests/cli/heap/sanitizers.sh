#!/bin/sh
# sanitizers.sh WINDLASS RECDUMP FIXTURES: programs with a
# sanitizer's runtime run as without us, and it is said that their heaps are
# not recorded.
. "$(dirname "$0")/../lib/record_lib.sh"

cp "$sources/../heap/runs.c" .
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0
export ASAN_OPTIONS
# ThreadSanitizer knows where addresses may be chosen, and the kernel may
# choose others by chance.
fixed=
if setarch -R true 2>/dev/null; then
    fixed='setarch -R'
fi
may_run() {
    [ "$1" != thread ] || [ -n "$fixed" ] ||
        [ "$(cat /proc/sys/vm/mmap_rnd_bits 2>/dev/null || echo 32)" -le 28 ]
}

# runs COMMAND...: as it does without us.
runs() {
    status=0
    "$@" >out 2>said || status=$?
    [ "$status" -eq 7 ] && [ "$(cat out)" = "done" ]
}

tried=0
for compiler in gcc clang; do
    for flags in -fsanitize=address -fsanitize=thread -fsanitize=leak \
        '-fsanitize=address -static-libasan' \
        '-fsanitize=thread -static-libtsan'; do
        kind=${flags#-fsanitize=}
        kind=${kind%% *}
        $compiler -g -pthread $flags -o runs runs.c 2>/dev/null || continue
        may_run "$kind" && runs $fixed ./runs || continue
        tried=$((tried + 1))
        for command in heap 'record --heap'; do
            rm -f r.wndl
            runs "$windlass" $command -o r.wndl -- $fixed ./runs ||
                fail "$compiler $flags, $command: $status: $(cat out said)"
            grep -q "with a sanitizer's runtime.* not recorded$" said ||
                fail "$compiler $flags, $command: no reason: $(cat said)"
        done
        "$windlass" doctor ./runs >said ||
            fail "$compiler $flags: doctor: $(cat said)"
        grep -q '^no  *heap .*sanitizer' said ||
            fail "$compiler $flags: doctor: $(cat said)"
    done
done

# One that leaves malloc alone.
if cc -g -pthread -fsanitize=undefined -o runs runs.c 2>/dev/null &&
    runs ./runs; then
    tried=$((tried + 1))
    rm -f r.wndl
    runs "$windlass" heap -o r.wndl -- ./runs ||
        fail "undefined: $status: $(cat out said)"
    grep -q ' live in ' said && ! grep -q "sanitizer's runtime" said ||
        fail "undefined: $(cat said)"
fi
[ "$tried" -ne 0 ] || skip "no sanitizer"
