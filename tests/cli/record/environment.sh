#!/bin/sh
# Children of programs that make up an environment are recorded, and find it
# as it was made but for what makes them so.
. "$(dirname "$0")/../lib/record_lib.sh"
for way in execve pvpe fexecve at list v none spawn Spawnp; do
    record 7 -- "$fixtures/spawns" $way "$fixtures/burn" 30 7 >out
    [ "$(grep -c '^process .*/burn$' dump)" -eq 1 ] || fail "$way: no burn"
done

record 0 -- "$fixtures/spawns" execve /usr/bin/env >out
grep -v -e '^LD_PRELOAD=' -e '^WINDLASS_SESSION=' out | paste -sd' ' >rest
[ "$(cat rest)" = "A=1 B=2" ] || fail "environment: $(cat out)"
grep -q '^LD_PRELOAD=/.*/libwindlass-rt.so$' out || fail "preload: $(cat out)"

# What the program preloads comes after us, and once.
other=$(ldd "$fixtures/burn" | sed -n 's|.* => \(/.*/libc\.so\.6\) .*|\1|p')
[ -f "$other" ] || fail "no libc found"
for way in execve spawn; do
    SPAWNS_PRELOAD=$other
    export SPAWNS_PRELOAD
    record 0 -- "$fixtures/spawns" $way /usr/bin/env >out
    [ "$(grep -c '^LD_PRELOAD=' out)" -eq 1 ] || fail "more than one preload"
    grep -q "^LD_PRELOAD=/.*/libwindlass-rt.so:$other\$" out ||
        fail "preload: $(cat out)"
    SPAWNS_PRELOAD=$(grep '^LD_PRELOAD=' out | cut -d= -f2)
    record 0 -- "$fixtures/spawns" $way /usr/bin/env >out
    [ "LD_PRELOAD=$SPAWNS_PRELOAD" = "$(grep '^LD_PRELOAD=' out)" ] ||
        fail "preloaded twice: $(cat out)"
    unset SPAWNS_PRELOAD
done

# An environment so large that ours would not fit is passed on as it is.
record 0 -- "$fixtures/spawns" largest /bin/true
record 126 -- "$fixtures/spawns" execve /nonexistent
record 2 -- "$fixtures/spawns" spawn /nonexistent
