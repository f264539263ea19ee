#!/bin/sh
# SPDX-License-Identifier: MIT
# glue.sh WINDLASS INCLUDE EXAMPLES: the examples that bring the collectors of
# other languages into the log.
examples=$(realpath "$3")
. "$(dirname "$0")/memlog_lib.sh"
cp "$examples"/memlog_* .
flags="-O2 -Wall -Wextra -Wpedantic -Werror -I$include"

cat >main.c <<'EOS'
#include <stdlib.h>
void memlog_glibc_report(void);
void memlog_glibc_trim(void);
int main(void)
{
    free(malloc(1000000));
    memlog_glibc_report();
    memlog_glibc_trim();
    return 0;
}
EOS
cc $flags -D_GNU_SOURCE main.c memlog_glibc.c -o with_glibc ||
    fail "cannot compile memlog_glibc.c"
./with_glibc || fail "with_glibc: $?"
memlog show --process with_glibc
grep -q ' glibc heap: used .*, free .*, mapped .*, could be trimmed ' out ||
    fail "no report of glibc"
grep -q ' malloc_trim: .* -> .*, reclaimed .* in ' out || fail "no trimming"

sed 's/_glibc_trim/_jemalloc_purge/; s/_glibc_/_jemalloc_/' main.c >main_je.c
cc $flags -D_GNU_SOURCE main_je.c memlog_jemalloc.c -o with_jemalloc -ldl ||
    fail "cannot compile memlog_jemalloc.c"
./with_jemalloc || fail "with_jemalloc: $?"
memlog list
grep -q ' with_jemalloc$' out && fail "jemalloc is reported where it is not"
jemalloc=/usr/lib/$(cc -print-multiarch)/libjemalloc.so.2
if have "$jemalloc"; then
    LD_PRELOAD=$jemalloc ./with_jemalloc || fail "with_jemalloc: $?"
    memlog show --process with_jemalloc
    grep -q ' jemalloc: resident .*, allocated .*, active .*, retained .*' out ||
        fail "no report of jemalloc"
    grep -q ' jemalloc purge: .* -> .*, reclaimed .* in ' out || fail "no purge"
fi

cc $flags -fPIC -shared memlog_gc.c -o memlog_gc.so ||
    fail "cannot compile memlog_gc.c"
python=$(command -v /usr/bin/python3 python3 | head -1)
"$python" -c '
import gc, memlog_python
class Node: pass
for _ in range(1000):
    node = Node()
    node.itself = node
del node
gc.collect()' || fail "python: $?"
memlog show --type gc
grep -q ' gc: .* -> .*, reclaimed .* in .*, generation 2, objects [1-9][0-9]* objects$' out ||
    fail "no collection of CPython"

have node && have /usr/include/node/node_api.h || exit 0
node -e 'new (require("v8").GCProfiler)()' 2>/dev/null || {
    echo "skipped: no node 18.15"
    exit 0
}
cc $flags -fPIC -shared -I/usr/include/node memlog_node.c -o memlog_node.node ||
    fail "cannot compile memlog_node.c"
node --expose-gc -r ./memlog_node.js -e 'gc()' || fail "node: $?"
memlog show --type gc
grep -q ' gc: .* -> .*, reclaimed .* in .*, [A-Z][A-Za-z-]*$' out ||
    fail "no collection of V8"
exit 0
