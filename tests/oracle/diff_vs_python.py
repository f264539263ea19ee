# SPDX-License-Identifier: MIT
"""diff_vs_python.py WINDLASS MAKE_RECORDING: what `windlass diff --json` says
of random recordings of time and heaps, against the folded stacks of each."""
import json
import math
import random
import subprocess
import sys

windlass, make_recording = sys.argv[1:3]
INTERVAL = 1000000
LABELS = {'[truncated]': 1, '[lost]': 2, '[no stack]': 0}
NORMAL = 2.5758293
STUDENT = {1: 63.657, 2: 9.925, 3: 5.841, 4: 4.604}


def run(*args):
    done = subprocess.run(args, capture_output=True, text=True)
    assert done.returncode == 0, (args, done.stderr)
    return done.stdout


def stack_of(rng):
    """Recursion is likely: of each image there are five places."""
    return ' '.join('%d:%x' % (rng.randrange(3), 16 * rng.randint(1, 5))
                    for _ in range(rng.randint(1, 7)))


def cook(name, lines):
    subprocess.run([make_recording, name], check=True, text=True,
                   input='\n'.join(lines + ['exit 0 1', 'done 0 0', '']))


HEAD = ['process 0 1 /bin/app app', 'thread 0 1 app', 'image /bin/app -',
        'image /lib/libx.so -', 'image /lib/liby.so -']


def of_time(name, rng):
    lines = ['meta %d 1 1 h / app' % INTERVAL] + HEAD
    for _ in range(rng.randint(5, 30)):
        end = rng.choice([0, 0, 0, 1, 2])
        lines.append('sample 0 %d %d %s!' % (rng.randint(1, 90), end,
                                             stack_of(rng)))
    lines.append('sample 0 %d 2' % rng.randint(1, 9))
    cook(name, lines)


def of_heap(name, rng):
    lines = ['meta 0 0 0 h / app'] + HEAD + ['heap 0 1 0']
    counts = []
    for i in range(rng.randint(5, 30)):
        lines.append('site 0 %d %d %d %s' % (
            rng.choice([0, 0, 1]), rng.randint(1, 99), rng.randint(0, 9),
            stack_of(rng)))
        counts += [i, rng.randint(1, 50), 0, 0, 0, 0]
    lines.append('snapshot 0 0 - ' + ' '.join(['0'] * 12))
    lines.append('counts 0 ' + ' '.join(map(str, counts)))
    cook(name, lines)


def folded(name):
    """[(frames without the program's name, number)]"""
    stacks = []
    for line in run(windlass, 'export', '-f', 'folded', name).splitlines():
        text, number = line.rsplit(' ', 1)
        stacks.append((text.split(';')[1:], int(number)))
    return stacks


def module_of(frame):
    return frame.split('+')[0]


def sums(stacks, by):
    """{key: [self, total]}"""
    found = {}

    def add(key, which, number):
        found.setdefault(key, [0, 0])[which] += number

    for frames, number in stacks:
        if by == 'path':
            add(tuple(frames), 0, number)
            for i in range(len(frames)):
                add(tuple(frames[:i + 1]), 1, number)
            continue
        code = [f for f in frames if f not in LABELS] or frames[:1]
        if by == 'module':
            code = [module_of(f) for f in code]
        add(code[-1], 0, number)
        for key in set(code):
            add(key, 1, number)
    return found


class Side:
    def __init__(self, files, by, unit):
        self.runs = [sums(folded(f), by) for f in files]
        self.all = [sum(n for _, n in folded(f)) for f in files]
        self.unit = unit

    def values(self, key, which, share):
        return [100 * r.get(key, [0, 0])[which] / n if share else
                r.get(key, [0, 0])[which] * self.unit
                for r, n in zip(self.runs, self.all)]

    def variance(self, key, which, share, sampled):
        """Of the mean, as every sample is drawn by itself."""
        total = 0
        for r, n in zip(self.runs, self.all):
            if not sampled:
                continue
            p = r.get(key, [0, 0])[which] / n
            one = (p * (1 - p) + (p ** 2 + (1 - p) ** 2) / n) / n
            total += one * (100 if share else n * self.unit) ** 2
        return total / len(self.runs) ** 2


def mean(values):
    return sum(values) / len(values)


def squares(values):
    return sum((v - mean(values)) ** 2 for v in values)


def expected(sides, key, which, share, sampled):
    a, b = [s.values(key, which, share) for s in sides]
    noise = NORMAL * math.sqrt(sum(s.variance(key, which, share, sampled)
                                   for s in sides))
    free = len(a) + len(b) - 2
    if free:
        spread = math.sqrt((squares(a) + squares(b)) / free)
        noise = max(noise, STUDENT[free] * spread *
                    math.sqrt(1 / len(a) + 1 / len(b)))
    if share:
        noise = min(noise, 100)
    return mean(b) - mean(a), noise


def close(a, b, share):
    return abs(a - b) <= (2e-6 if share else 1) + 1e-9 * abs(b)


def check_row(row, sides, by, share, sampled):
    key = tuple(row['path']) if by == 'path' else row.get(
        'function' if by == 'fn' else 'module')
    for which, name in enumerate(['self', 'total']):
        costs = row[name]
        for i, side in enumerate(sides):
            for what in ('share', 'amount'):
                values = side.values(key, which, what == 'share')
                assert close(costs[what][i], mean(values), what == 'share')
                spread = math.sqrt(squares(values) / max(len(values) - 1, 1))
                assert close(costs[what + '_spread'][i], spread,
                             what == 'share')
        change, noise = expected(sides, key, which, share, sampled)
        assert close(costs['change'], change, share), (key, costs, change)
        assert close(costs['noise'], noise, share), (key, costs, noise)
        if abs(abs(change) - noise) > 1e-6:
            assert costs['beyond_noise'] == (abs(change) > noise)
    return key


def check(groups, by, share, sampled):
    words = ['--by', by, '--compare', 'share' if share else 'amount']
    files = groups[0] + ['--'] + groups[1]
    told = json.loads(run(windlass, 'diff', '--json', *words, *files))
    sides = [Side(g, by, INTERVAL if sampled else 1) for g in groups]
    keys = [check_row(row, sides, by, share, sampled) for row in told['rows']]
    wanted = {key for side in sides for r in side.runs for key in r}
    assert len(set(keys)) == len(keys) == told['row_count']
    assert set(keys) == wanted, (by, set(keys) ^ wanted)
    for group, side in zip(told['groups'], sides):
        assert close(group['amount'], mean(side.all) * side.unit, False)


for seed in range(6):
    rng = random.Random(seed)
    for make, sampled in (of_time, True), (of_heap, False):
        names = ['%s%d' % (make.__name__, i) for i in range(5)]
        for name in names:
            make(name, rng)
        cut = 1 + seed % 2
        for by in 'fn', 'module', 'path':
            check([names[:1], names[1:2]], by, True, sampled)
            check([names[:cut], names[cut:]], by, seed % 3 == 0, sampled)
