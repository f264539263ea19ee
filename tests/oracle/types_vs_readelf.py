#!/usr/bin/env python3
# types_vs_readelf.py TYPEDUMP: structs and unions as windlass reads them from
# DWARF, compared with a second reader, of readelf's text, and with what the
# compiler says of offsets and sizes.
import collections
import os
import re
import shutil
import subprocess
import sys
import tempfile

typedump = os.path.realpath(sys.argv[1])

SOURCE = r"""
#include <stddef.h>
#include <stdio.h>
typedef unsigned short u16;
enum color { RED, GREEN = 70000 };
struct inner { char a; const u16 b[3]; volatile double c; };
union either { int i; float f; struct inner s; char text[40]; };
struct unknown;
struct node {
    struct node *next;
    struct unknown *never;
    enum color color;
    unsigned low : 3, mid : 7;
    unsigned long long high : 40;
    signed char sign : 4;
    struct inner many[2][3];
    union { int x; long y; };
    struct { char p, q; } pair;
    union either either;
    int (*call)(int, char);
    _Bool yes;
    char tail[];
};
struct packed { char a; int b; short c; } __attribute__((packed));
struct node *a_node;
struct packed *a_packed;
#define OF(s, m) printf(#s " " #m " %zu\n", offsetof(struct s, m))
int main(void)
{
    OF(node, next); OF(node, color); OF(node, many); OF(node, pair);
    OF(node, either); OF(node, call); OF(node, yes); OF(packed, b);
    OF(packed, c); OF(inner, c);
    return a_node != NULL || a_packed != NULL;
}
"""

CXX = r"""
namespace shape {
struct Base { virtual ~Base() {} long id; };
class Other { public: char tag; };
template <class T> struct Pair { T first, second; static int shared; };
class Square : public Base, Other {
    int side : 5;
    Pair<short> pair;
    int Square::*member;
    Other &other;
public:
    Square(Other &o) : side(1), member(nullptr), other(o) {}
    struct Nested { unsigned char deep; Pair<double> d; } nested;
};
}
shape::Square *square(shape::Other &o) { return new shape::Square(o); }
int main() { return 0; }
"""


def number(text):
    text = text.strip().split()[0].rstrip(',')
    return int(text, 0)


class Die:
    def __init__(self, tag, parent, unit):
        self.tag, self.parent, self.unit = tag, parent, unit
        self.attrs, self.children = {}, []


def value_of(text):
    # "(indirect string, offset: 0x1c): long" and the like.
    text = re.sub(r'^\((?:indirect|alt|indexed|offset)[^)]*\): ', '', text)
    return text


def read(path):
    out = subprocess.run(['readelf', '--debug-dump=info', path],
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                         check=True).stdout.decode(errors='replace')
    dies, signatures, stack = {}, {}, []
    section, unit, offset, signature, die = '', None, 0, None, None
    for line in out.splitlines():
        m = re.match(r'\s*Compilation Unit @ offset (0x)?([0-9a-f]+)', line)
        if m:
            unit, stack, signature = (section, int(m[2], 16)), [], None
            continue
        m = re.match(r'Contents of the (\S+) section', line)
        if m:
            section = m[1]
            continue
        m = re.match(r'\s+Signature:\s+(?:0x)?([0-9a-f]+)', line)
        if m:
            signature = int(m[1], 16)
            continue
        m = re.match(r'\s+Type Offset:\s+0x([0-9a-f]+)', line)
        if m:
            signatures[signature] = (section, unit[1] + int(m[1], 16))
            continue
        m = re.match(r' <([0-9a-f]+)><([0-9a-f]+)>: Abbrev Number: '
                     r'\d+(?: \(DW_TAG_(\w+)\))?', line)
        if m:
            depth = int(m[1], 16)
            if m[3] is None:
                continue
            del stack[depth:]
            die = Die(m[3], stack[-1] if stack else None, unit)
            if stack:
                stack[-1].children.append(die)
            stack.append(die)
            dies[section, int(m[2], 16)] = die
            continue
        m = re.match(r'\s+<[0-9a-f]+>\s+DW_AT_(\w+)\s*:\s*(.*)', line)
        if m and die is not None:
            die.attrs[m[1]] = value_of(m[2].strip())
    return dies, signatures


class Model:
    def __init__(self, path):
        self.dies, self.signatures = read(path)
        self.named = collections.defaultdict(list)
        for die in self.dies.values():
            if die.tag in ('structure_type', 'class_type', 'union_type') and \
                    'declaration' not in die.attrs and self.name(die):
                self.named[self.name(die)].append(die)

    def name(self, die):
        if 'name' not in die.attrs:
            return None
        if 'specification' in die.attrs:
            return self.name(self.refer(die, 'specification'))
        parts = [die.attrs['name']]
        parent = die.parent
        while parent is not None:
            if parent.tag in ('subprogram', 'lexical_block'):
                return None
            if parent.tag in ('namespace', 'structure_type', 'class_type',
                              'union_type', 'module') and \
                    'name' in parent.attrs:
                parts.insert(0, parent.attrs['name'])
            parent = parent.parent
        return '::'.join(parts)

    def refer(self, die, attr):
        text = die.attrs.get(attr)
        if text is None:
            return None
        m = re.match(r'signature: (?:0x)?([0-9a-f]+)', text)
        if m:
            return self.dies[self.signatures[int(m[1], 16)]]
        m = re.match(r'<?0x([0-9a-f]+)>?$', text)
        if m is None:
            sys.exit('types: what is the reference ' + text)
        return self.dies[die.unit[0], int(m[1], 16)]

    def whole(self, die):
        if 'declaration' in die.attrs and 'signature' in die.attrs:
            return self.refer(die, 'signature')
        if 'declaration' in die.attrs and self.named[self.name(die)]:
            return self.named[self.name(die)][0]
        return die

    def size(self, die):
        if die is None:
            return 0
        die = self.whole(die)
        if die.tag == 'array_type':
            total = 1
            for s in die.children:
                if s.tag == 'subrange_type':
                    if 'count' in s.attrs:
                        total *= number(s.attrs['count'])
                    elif 'upper_bound' in s.attrs:
                        total *= number(s.attrs['upper_bound']) + 1
                    else:
                        total = 0
            return total * self.size(self.refer(die, 'type'))
        if 'byte_size' in die.attrs:
            return number(die.attrs['byte_size'])
        if die.tag in ('typedef', 'const_type', 'volatile_type',
                       'atomic_type', 'restrict_type', 'enumeration_type'):
            return self.size(self.refer(die, 'type'))
        return 8 if 'pointer' in die.tag and die.tag[:3] == 'poi' or \
            'reference' in die.tag else 0

    def location(self, die):
        text = die.attrs.get('data_member_location')
        if text is None:
            return 0
        m = re.search(r'\(DW_OP_plus_uconst: (\d+)\)', text)
        if m:
            return int(m[1])
        return None if 'block' in text else number(text)

    def member(self, die):
        type_ = self.refer(die, 'type')
        at, bits = self.location(die), 0
        if at is None or (die.tag == 'inheritance' and
                          'data_member_location' not in die.attrs):
            return None
        at *= 8
        if 'bit_size' in die.attrs:
            bits = number(die.attrs['bit_size'])
        if 'data_bit_offset' in die.attrs:
            at += number(die.attrs['data_bit_offset'])
        elif 'bit_offset' in die.attrs:
            storage = number(die.attrs['byte_size']) \
                if 'byte_size' in die.attrs else self.size(type_)
            at += 8 * storage - number(die.attrs['bit_offset']) - bits
        name = die.attrs.get('name', '')
        if die.tag == 'inheritance':
            name = type_.attrs.get('name', '')
            type_ = self.whole(type_)
            name = name or type_.attrs.get('name', '')
        return '  %d %d %d %s' % (at, bits, self.size(type_), name)

    def layout(self, die):
        lines = []
        for child in die.children:
            if child.tag == 'inheritance' or (
                    child.tag == 'member' and
                    'declaration' not in child.attrs):
                line = self.member(child)
                if line is not None:
                    lines.append(line)
        return lines


def compare(path, most):
    model = Model(path)
    # Of several structs of one name, any may be meant.
    wanted = {}
    for name, dies in sorted(model.named.items()):
        layouts = {'\n'.join(model.layout(d)) for d in dies}
        if len(layouts) == 1:
            kind = 'union' if dies[0].tag == 'union_type' else 'struct'
            size = number(dies[0].attrs.get('byte_size', '0'))
            wanted[name] = '%s %d %s\n%s' % (kind, size, name,
                                             layouts.pop())
    step = max(1, len(wanted) // most)
    names = list(wanted)[::step]
    out = subprocess.run([typedump, path] + names, stdout=subprocess.PIPE)
    if out.returncode != 0:
        sys.exit('types: %s: exit code %d' % (path, out.returncode))
    want = '\n'.join(wanted[n].rstrip('\n') for n in names) + '\n'
    got = out.stdout.decode()
    if want != got:
        for w, g in zip(want.splitlines(), got.splitlines()):
            if w != g:
                print('types: %s: readelf says\n%s\nand windlass\n%s' %
                      (path, w, g))
                break
        sys.exit('types: %s: otherwise than readelf says' % path)
    return names


def check_offsets(path, program):
    for line in subprocess.run([program], stdout=subprocess.PIPE,
                               check=True).stdout.decode().splitlines():
        struct, member, at = line.split()
        out = subprocess.run([typedump, path, struct],
                             stdout=subprocess.PIPE).stdout.decode()
        if not re.search(r'^  %d 0 \d+ %s$' % (8 * int(at), member), out,
                         re.M):
            sys.exit('types: %s is not at byte %s of %s:\n%s' %
                     (member, at, struct, out))


def build(compiler, source, options, out):
    run = subprocess.run([compiler, '-w', '-o', out, source] + options,
                         stderr=subprocess.PIPE)
    if run.returncode != 0:
        sys.exit(run.stderr.decode())


def main():
    work = tempfile.mkdtemp()
    os.chdir(work)
    with open('t.c', 'w') as f:
        f.write(SOURCE)
    with open('t.cc', 'w') as f:
        f.write(CXX)
    count = 0
    for c, cxx in (('gcc', 'g++'), ('clang', 'clang++')):
        if shutil.which(c) is None:
            print('skipped: no', c)
            continue
        for version in (2, 3, 4, 5):
            options = [['-gdwarf-%d' % version]]
            if version >= 4:
                options.append(options[0] + ['-fdebug-types-section'])
            if version >= 5:
                options.append(options[0] + ['-gdwarf64'])
            for o in options:
                build(c, 't.c', o + ['-gstrict-dwarf'] if version < 4 else o,
                      't')
                names = compare('./t', 10000)
                if not {'node', 'packed'} <= set(names):
                    sys.exit('types: only %s in %s' % (names, o))
                check_offsets('./t', './t')
                build(cxx, 't.cc', o, 'tt')
                names += compare('./tt', 10000)
                if not any(n.endswith('::Nested') for n in names):
                    sys.exit('types: only %s in %s' % (names, o))
                count += len(names)
    count += len(compare(typedump, 300))
    os.chdir('/')
    shutil.rmtree(work)
    print('types: %d types are the same' % count)


main()
