#!/bin/sh
# fix_vs_python.sh WINDLASS: Mozilla's form of frame in 20,000 lines made of
# its parts at random, against the regular expression that describes it. The
# lines have at most one +0x: of several, 'fix' takes all, other forms too, and
# the expression the last. Two more differences are meant: 'fix' leaves numbers
# of more than 64 bits alone, and paths with a NUL byte.
set -eu
. "$(dirname "$0")/../lib/have.sh"
windlass=$(realpath "$1")
need python3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 - <<'END'
import random, re

frame = re.compile(rb'^(.*#\d+: )(.+)\[(.+) \+0x([0-9A-Fa-f]+)\](.*)$', re.S)
parts = [b'#', b'1', b'07', b': ', b':', b' ', b'[', b']', b' +', b'+', b'0x',
         b'0X', b'1f', b'AB', b'?', b'f(int)', b'/p q', b'#12: ', b'[/none',
         b' +0x2]', b'\xff', b'\xc3\xa9', b'\0', b'\r', b'#3: a[', b'x +0x5']
ends = [b' +0x1A]', b' +0x0000000000000000ffffffffffffffff]',
        b' +0x1ffffffffffffffff]', b'+0x1]', b' +0x]', b' +0x1', b'']
random.seed(1)


def line():
    one = lambda n: b''.join(random.choice(parts) for _ in range(n))
    return one(random.randrange(9)) + random.choice(ends) + \
        one(random.randrange(4))


def fixed(text):
    m = frame.match(text)
    if not m or int(m[4], 16) >> 64 or b'\0' in m[3]:
        return text
    return b'%s%s (%s + 0x%x)%s' % (m[1], m[2], m[3], int(m[4], 16), m[5])


lines = []
found = 0
while len(lines) < 20000:
    text = line()
    if len(re.findall(rb'\+0x[0-9A-Fa-f]', text)) <= 1:
        lines.append(text)
        found += fixed(text) != text
assert found > 500, found
open('in', 'wb').write(b'\n'.join(lines))
open('wanted', 'wb').write(b'\n'.join(map(fixed, lines)))
END
"$windlass" fix in >out 2>/dev/null
cmp wanted out || {
    diff -a wanted out | cat -A | head -20
    exit 1
}
