#!/bin/sh
# wndl_vs_python.sh WINDLASS MAKE_RECORDING HEAPDUMP: our reader against one
# written from the format's description, on a recording with many stacks.
set -eu
. "$(dirname "$0")/../lib/have.sh"
windlass=$(realpath "$1")
make_recording=$(realpath "$2")
heapdump=$(realpath "$3")
reader=$(dirname "$(realpath "$0")")/wndl_vs_python.py
need python3
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
        if (i % 3 == 0)
            printf "block %d %d %d %d %d%s\n", x % 3, x % 4 + 1,
                x * 4099 % 9999999, i % 4 == 3, i % 8, line
    }
    print "heap 0 3 0\nheap 1 0 4096"
    for (i = 0; i < 300; i++) {
        line = ""
        depth = i % 13
        for (d = 0; d < depth; d++) {
            x = (x * 69069 + 12345) % 65536
            line = sprintf("%s %s:%x", line, x % 5 == 4 ? "-" : x % 3,
                x % 41 * 4096 + x % 3)
        }
        printf "site %d %d %d %d%s\n", i % 2, i % 8, x * 37, i % 16, line
        if (i % 5 == 0)
            printf "growth %d %d 2 %d %d %d %d 1 4096%s\n", i % 2, i / 5 % 2,
                i, x * 100, x, x * 3, line
        if (i % 7 == 0)
            printf "wrong %d %d %d %x%s\n", i % 2, i % 3 + 1, i + 1,
                x * 4096, line
        if (i % 21 == 0)
            printf "mixed %d %d %d %d %x%s / %s\n", i % 2, i % 6, i % 5,
                i + 1, x * 16, line, last
        last = line
        if (i % 50 == 0)
            printf "live %d 5 %d %d 7 %d 0\n", i % 2, x, i, x * 4096
        if (i % 60 == 0)
            printf "memory %d %d %d %d %d %d %d 3 4 5 6 7 %d%s\n", i % 2, x,
                i, x * 3, x * 9, x * 4096, i, i + 1, i % 120 ? " 9 10" : ""
        if (i % 60 == 3)
            printf "place %d %d %d %d %d file_%d%s\n", i % 2, i % 11, x * 99,
                x * 4096, i % 5, i, line
    }
    for (n = 0; n < 3; n++)
        for (process = 0; process < 2; process++) {
            printf "snapshot %d %d name_%d %d 7 800 900 50 3 2 99999 %d 1 / " \
                "1 0 2 0 0 4 4\n", process, n, n, x, n
            line = ""
            for (i = n; i < 150; i += 1 + n + process) {
                x = (x * 69069 + 12345) % 65536
                line = line sprintf(" %d %d %d %d %d %d", i, x, x % 100,
                    x % 50, x % 20, x * 32768)
                if (i % 3 == 0) {
                    print "counts " process line
                    line = ""
                }
            }
            print "counts " process line
        }
    print "leaks 0 3 1 0 0 9 0 5 6 149 7 0 0\nleaks 1"
    print "leaks 0 148 1 1 1\ntogether 1 7 8 90 149 0 16"
    for (i = 0; i < 150; i++)
        print "reported 0 " i, i % 3, 7 * i + 1, "0:20 0:" i % 3 + 30 " / 0:20"
    print "rename 1 renamed"
    print "image /gone/app.so.1 0102\nsample 0 1 0 0:20 3:30!"
    print "done 0 0"
}' | "$make_recording" many.wndl

least=200
for time in cpu wall blocked; do
    "$windlass" export -f folded --time $time many.wndl >ours
    python3 "$reader" many.wndl $time >theirs
    [ "$(wc -l <ours)" -gt $least ] || {
        echo "wndl_vs_python: too few stacks to mean anything"
        exit 1
    }
    diff theirs ours
    least=70
done

python3 "$reader" many.wndl kernel >kernel.wndl
"$windlass" export -f folded --time cpu kernel.wndl >ours
python3 "$reader" kernel.wndl cpu >theirs
[ "$(grep -c 'k_' ours)" -gt 5 ] || {
    echo "wndl_vs_python: too few functions of the kernel to mean anything"
    exit 1
}
diff theirs ours

"$heapdump" many.wndl >ours
python3 "$reader" many.wndl heap >theirs
[ "$(grep -c '^site' ours)" -gt 80 ] || {
    echo "wndl_vs_python: too few sites to mean anything"
    exit 1
}
diff theirs ours
