#!/bin/sh
# Buffers that grow by a copy are found, too, when a length stands before their
# bytes and a NUL after them, which the copy does not repeat; and blocks that
# hold other contents are not taken for copies.
. "$(dirname "$0")/../lib/record_lib.sh"
cat >grow.c <<'C'
#include <stdlib.h>
#include <string.h>
struct text { size_t length, references; char bytes[]; };
static struct text *larger(const struct text *old, size_t length, int copies)
{
    struct text *now = malloc(sizeof *now + length + 1);
    now->length = length;
    now->references = length % 3;
    memset(now->bytes, copies ? 'x' : (int)('a' + length % 26), length);
    if (copies)
        memcpy(now->bytes, old->bytes, old->length);
    now->bytes[length] = 0;
    return now;
}
int main(int argc, char **argv)
{
    struct text *text = larger(NULL, 0, 0);
    (void)argv;
    for (size_t length = 1; length < 5000; length++) {
        struct text *now = larger(text, length, argc > 1);
        free(text);
        text = now;
    }
    return text->length == 0;
}
C
cc -g -O1 grow.c -o grow

# growths ARGUMENT...: the lines on such buffers.
growths() {
    rm -f r.wndl
    "$windlass" heap -q -o r.wndl -- ./grow "$@" || fail "exit status $?"
    "$windlass" report r.wndl |
        awk '/^Buffers that grow just enough/ { on = 1 } /^$/ { on = 0 } on'
}

growths copy >found
grep -q '1 buffer grew 4,[89][0-9]* times by copying, each time by 1 byte' \
    found || fail "not found: $(cat found)"
growths >found
[ ! -s found ] || fail "other contents are no copy: $(cat found)"
