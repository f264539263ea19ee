# SPDX-License-Identifier: MIT
"""merge_vs_python.py WINDLASS MAKE_RECORDING: what `windlass merge` makes of
random stacks in each format that it reads, against a slow implementation."""
import gzip
import random
import re
import shutil
import subprocess
import sys

import callgrind_file

windlass, make_recording = sys.argv[1:3]
HOSTILE = ['(1) x', 'fn=(2) y', 'calls=3 4', '# no comment', '12 34', '+3 9',
           '<script>"&\'', 'f(int, char) const [clone .cold]', 'é\u2028ü',
           'x\x1b[0m\ty', '\x01\x02', 'totals: 1', 'operator()', 'n' * 100000]


def tamed(name):
    name = ''.join(' ' if c < ' ' or c == '\x7f' else c for c in name)
    return name.lstrip(' ') or '???'


def merge(*files, options=()):
    done = subprocess.run([windlass, 'merge', '-o', 'out', *options, *files],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stderr


def random_stacks(count, names):
    stacks = []
    for _ in range(count):
        stack, at = ['main'], random.randrange(len(names))
        for _ in range(random.choice([0, 1, 3, 9])):
            stack.append(names[at])
            at = random.randrange(at, min(at + 4, len(names)))
            at = max(0, at - (random.random() < .1))
        stacks.append((tuple(stack), random.randrange(1, 99)))
    return stacks


def by_event(stacks, event):
    return [(s, {event: n}, n) for s, n in stacks]


def write(path, text):
    open(path, 'w', encoding='utf-8', newline='\n').write(text)


def write_folded(path, stacks):
    write(path, ''.join('%s %d\n' % (';'.join(s), n) for s, n in stacks))


# ---- Valgrind's text: a frame has one line, by its name

def line_of(name):
    return 1 + sum(name.encode()) % 1000


def valgrind_frame(word, name):
    place = 'a.c:%d' % line_of(name) if len(name) % 2 else 'in /lib/a b.so'
    return '==7==    %s 0x%X: %s (%s)\n' % (word, id(name), name, place)


def write_valgrind(path, stacks):
    out = ['==7== Memcheck, a memory error detector\n==7==\n']
    for stack, times in stacks:
        for _ in range(times):
            for i, name in enumerate(reversed(stack)):
                out.append(valgrind_frame('by' if i else 'at', name))
            out.append('==7==\n')
    write(path, ''.join(out))


# ---- what perf script prints

def write_perf(path, stacks):
    out = ['# perf script\n#\n']
    for i, (stack, period) in enumerate(stacks):
        out.append('%s %d/%d [%03d] %d.%06d: %10d cycles:u: \n' % (
            'my app' if i % 3 else '    app', 7, i, i % 4, i, i, period))
        for f in reversed(stack):
            out.append('\t%16x %s+0x%x (/usr/bin/app)\n' % (id(f), f, i))
        out.append('\n')
    write(path, ''.join(out))


def check_perf():
    names = ['h%d(int (*)(char), x)' % i for i in range(20)]
    stacks = random_stacks(150, names)
    write_perf('p.txt', stacks)
    assert 'warning' not in merge('p.txt')
    callgrind_file.check('out', [(s, {'cycles_u': n, 'Samples': 1}, 1)
                                 for s, n in stacks])


# ---- pprof's profiles, by an encoder of messages of our own

def uleb(n):
    return bytes([n & 127 | 128]) + uleb(n >> 7) if n > 127 else bytes([n])


def number(field, value):
    return uleb(field << 3) + uleb(value)


def message(field, inner):
    return uleb(field << 3 | 2) + uleb(len(inner)) + inner


def write_pprof(path, stacks):
    """Every third function is inlined into its caller, and has no address."""
    texts = ['', 'samples', 'count', 'cpu', 'nanoseconds', '/bin/app']
    index = lambda text: texts.index(text) if text in texts else (
        texts.append(text) or len(texts) - 1)
    ids, functions, locations, out = {}, {}, [], []

    def function(name):
        if name not in functions:
            functions[name] = len(functions) + 1
            out.append(message(5, number(1, functions[name]) +
                               number(2, index(name)) +
                               number(4, index(name[0] + '.c'))))
        return functions[name]

    def location(names):
        if names not in ids:
            ids[names] = len(ids) + 1
            lines = b''.join(message(4, number(1, function(n)) +
                                     number(2, line_of(n))) for n in names)
            out.append(message(4, number(1, ids[names]) + number(2, 1) +
                               number(3, 4096 * len(ids)) + lines))
        return ids[names]

    for stack, value in stacks:
        places, inlined = [], ()
        for i, name in enumerate(reversed(stack)):
            inlined += (name,)
            if i % 3 or i == len(stack) - 1:
                places.append(location(inlined))
                inlined = ()
        out.append(message(2, message(1, b''.join(map(uleb, places))) +
                           message(2, uleb(value) + uleb(1000 * value))))
    random.shuffle(out)
    types = (message(1, number(1, 1) + number(2, 2)) +
             message(1, number(1, 3) + number(2, 4)))
    mapping = message(3, number(1, 1) + number(5, 5))
    strings = b''.join(message(6, t.encode()) for t in texts)
    data = types + b''.join(out) + mapping + strings
    if path.endswith('.gz'):
        half = len(data) // 2 # a file may have several members
        data = gzip.compress(data[:half]) + gzip.compress(data[half:])
    open(path, 'wb').write(data)


def check_pprof(path):
    stacks = random_stacks(150, ['f%d(x<char>)' % i for i in range(20)])
    write_pprof(path, stacks)
    assert 'warning' not in merge(path)
    got, _ = callgrind_file.check('out', [
        (s, {'samples': n, 'cpu': 1000 * n}, n) for s, n in stacks])
    for (a, b), lines in got.lines.items():
        if a != '[root]' and not a.startswith('<cycle '):
            assert lines == {line_of(a)}, (a, b, lines)


def check_folded(seed):
    names = ['f%d' % i for i in range(20)] + HOSTILE * (seed % 2)
    stacks = random_stacks(200, names)
    write_folded('a.folded', stacks)
    want = [(tuple(map(tamed, s)), n) for s, n in stacks]
    for collapse in True, False:
        merge('a.folded', options=() if collapse else ('--cycles=keep',))
        callgrind_file.check('out', by_event(want, 'Samples'), collapse)
    check_annotated(sum(n for _, n in stacks))


def check_annotated(total):
    """Nothing in the file is anything else than it should be."""
    told = subprocess.run(['callgrind_annotate', '--auto=no', 'out'],
                          check=True, capture_output=True)
    assert b'WARNING' not in told.stderr, told.stderr
    assert b'%s (100.0%%)  PROGRAM TOTALS' % f'{total:,}'.encode() in \
        told.stdout, told.stdout[:2000]


def check_valgrind():
    stacks = [(s, 1 + n % 5) for s, n in
              random_stacks(100, ['g%d(int, long)' % i for i in range(20)])]
    write_valgrind('v.txt', stacks)
    merge('v.txt')
    got, _ = callgrind_file.check('out', by_event(stacks, 'Stacks'))
    for (a, b), lines in got.lines.items():
        if a in ('[root]',) or a.startswith('<cycle '):
            continue
        assert lines == {line_of(a) if len(a) % 2 else 0}, (a, b, lines)


def check_cut():
    """Of 16 frames at most, what has 16 and does not begin in main is cut."""
    stacks = [(tuple('f%d' % (i % 9) for i in range(16)), 3),
              (('main',) + tuple('f%d' % i for i in range(15)), 2),
              (('signal', 'f1'), 1)]
    write_valgrind('v.txt', stacks)
    merge('v.txt')
    stacks[0] = (('[truncated]',) + stacks[0][0], 3)
    callgrind_file.check('out', by_event(stacks, 'Stacks'))


def check_several():
    """Sums of different kinds: a recording of time and heap, two others."""
    recipe = '''meta 1000 1 1 h / app
process 0 1 /usr/bin/app app
image /none/app -
thread 0 1 app
sample 0 4 0 0:10 0:20!
sample 0 2 1 0:20!
heap 0 0 0
site 0 0 100 12 0:10 0:30
snapshot 0 0 - 3 0 300 336 0 0 0 336 1 0
counts 0 0 3 0 3 0 0
done 0 0
'''
    subprocess.run([make_recording, 'r.wndl'], input=recipe, text=True,
                   check=True)
    stacks = random_stacks(50, ['f%d' % i for i in range(9)])
    write_folded('a.folded', stacks)
    # Functions of a file are others than those of none.
    others = [(('clone',) + tuple('v' + f for f in s[1:]), n)
              for s, n in stacks]
    write_valgrind('v.txt', others)
    assert 'warning' not in merge('r.wndl', 'a.folded', 'v.txt', 'r.wndl')
    subprocess.run([windlass, 'export', '-f', 'pprof', '-o', 'r.pb.gz',
                    'r.wndl'], check=True, capture_output=True)
    merge('r.pb.gz', options=('-o', 'exported'))
    exported = callgrind_file.Callgrind('exported')
    assert 6 in exported.totals().values(), exported.totals()
    assert 6000 in exported.totals().values(), exported.totals()
    assert exported.inclusive('[truncated]', exported.events()[0]) == 2
    want = by_event(stacks, 'Samples') + by_event(others, 'Stacks')
    want += [(('app+0xf', 'app+0x20'), {'CPU': 4000, 'Samples': 4}, 4),
             (('[truncated]', 'app+0x20'), {'CPU': 2000, 'Samples': 2}, 2),
             (('app+0xf', 'app+0x2f'), {'Bytes': 336, 'Blocks': 3}, 3)] * 2
    callgrind_file.check('out', want)
    got = callgrind_file.Callgrind('out')
    assert got.events() == ['CPU', 'Samples', 'Bytes', 'Blocks', 'Stacks']


# ---- callgrind files

def body(path):
    return [line for line in open(path) if not re.match('cmd: |event: ', line)]


def check_again():
    """A graph that is read and written is the same; twice is twice."""
    stacks = random_stacks(200, ['f%d' % i for i in range(20)])
    write_folded('a.folded', stacks)
    merge('a.folded', options=('--cycles', 'keep', '-o', 'once'))
    merge('once', options=('--cycles', 'keep', '-o', 'again'))
    assert body('once') == body('again')
    merge('once', 'a.folded', 'once')
    callgrind_file.check('out', by_event(stacks * 3, 'Samples'))
    # A collapsed one has another function for each cycle.
    merge('out', 'out', options=('-o', 'twice'))
    once, twice = map(callgrind_file.Callgrind, ('out', 'twice'))
    assert twice.totals()['Samples'] == 2 * once.totals()['Samples']
    assert twice.inclusive('[root]', 'Samples') == twice.totals()['Samples']
    for f, cost in once.self.items():
        assert twice.self[f]['Samples'] == 2 * cost['Samples'], f


def self_costs(path):
    told = subprocess.run(
        ['callgrind_annotate', '--threshold=100', '--show-percs=no',
         '--auto=no', path], check=True, capture_output=True, text=True).stdout
    costs = {}
    for line in told.split('file:function\n')[1].splitlines()[1:]:
        m = re.match(r'((?:[\d,]+ +)+) (\S.*?:.*?)(?: \[[^]]*\])?$',
                     line.strip())
        if m:
            numbers = tuple(int(n.replace(',', '')) for n in m[1].split())
            if any(numbers):
                costs[m[2]] = numbers
    return costs


def check_valgrinds_own():
    """What callgrind_annotate tells of a real run, and of two of it."""
    for options in (), ('--dump-instr=yes', '--collect-jumps=yes'):
        subprocess.run(['valgrind', '--tool=callgrind', *options,
                        '--callgrind-out-file=cg', '/bin/true'], check=True,
                       capture_output=True)
        assert 'warning' not in merge('cg')
        want = self_costs('cg')
        assert len(want) > 100, want
        got = self_costs('out')
        assert got == want, set(got.items()) ^ set(want.items())
        merge('cg', 'cg')
        assert self_costs('out') == {f: tuple(2 * n for n in cost)
                                     for f, cost in want.items()}
        read = callgrind_file.Callgrind('out')
        assert read.inclusive('[root]', 'Ir') == read.totals()['Ir']


def refused(*files):
    done = subprocess.run([windlass, 'merge', *files], capture_output=True,
                          text=True)
    assert done.returncode == 1 and not done.stdout, done
    return done.stderr


def check_errors():
    write('a.folded', 'a;b 1\n')
    write('none', 'nothing of it\n')
    write('large', 'a 18446744073709551615\nb 1\n')
    write('odd', 'a;b 1\nodd\n\nodder\nc 2\nd 3\n')
    assert 'none: unknown profile format' in refused('a.folded', 'none')
    assert 'large: line 2: ' in refused('large')
    assert 'No such file' in refused('a.folded', 'absent')
    assert 'never overwritten' in refused('-o', 'r.wndl', 'a.folded')
    assert 'odd: skipped 2 lines that could not be read; the first is ' \
        'line 2: ' in merge('odd')
    done = subprocess.run([windlass, 'merge', '-'], input=b'a;b 1\n',
                          capture_output=True, check=True)
    assert b'cmd: windlass merge -\n' in done.stdout


if not shutil.which('callgrind_annotate'):
    print('skipped: no callgrind_annotate')
    sys.exit(77)
random.seed(1)
for seed in range(6):
    check_folded(seed)
for _ in range(5):
    check_valgrind()
    check_perf()
    check_pprof('p.pb')
    check_pprof('p.pb.gz')
check_cut()
check_several()
check_again()
check_valgrinds_own()
check_errors()
