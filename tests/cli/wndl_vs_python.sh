#!/bin/sh
# wndl_vs_python.sh WINDLASS MAKE_RECORDING: our reader against one written
# from the format's description, on a recording with many stacks.
set -eu
windlass=$(realpath "$1")
make_recording=$(realpath "$2")
reader=$(dirname "$(realpath "$0")")/wndl_vs_python.py
command -v python3 >/dev/null 2>&1 || {
    echo "wndl_vs_python: skipped: no python3"
    exit 77
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# A fixed stream of numbers makes the stacks; not random, but unplanned.
awk 'BEGIN {
    print "meta 1000000 2 0 box / app"
    print "process 0 1 /gone/app app"
    print "process 1 2 /gone/k;id kid"
    print "image /gone/app 0102"
    print "image /gone/lib.so -"
    print "image [vdso] -"
    print "thread 0 1 main\nthread 0 2 work;er\nthread 1 2 kid"
    x = 1
    for (i = 0; i < 300; i++) {
        line = ""
        depth = i % 17
        for (d = 0; d < depth; d++) {
            x = (x * 69069 + 12345) % 65536
            line = sprintf("%s %s:%x%s", line, x % 5 == 4 ? "-" : x % 3,
                x % 41 * 4096 + x % 3, d == depth - 1 ? "!" : "")
        }
        x = (x * 69069 + 12345) % 65536
        printf "sample %d %d %d%s\n", x % 3, x % 7 + 1, i % 8, line
    }
    print "rename 1 renamed"
    print "done 0 0"
}' | "$make_recording" many.wndl

"$windlass" export -f folded many.wndl >ours
python3 "$reader" many.wndl >theirs
[ "$(wc -l <ours)" -gt 200 ] || {
    echo "wndl_vs_python: too few stacks to mean anything"
    exit 1
}
diff theirs ours
