# SPDX-License-Identifier: MIT
"""A reader of callgrind files that knows nothing of windlass, and what a call
graph of stacks should be, found slowly."""
import re
from collections import defaultdict


class Callgrind:
    """self, calls and counts are by names; costs are tuples by event."""

    def __init__(self, path):
        self.self = defaultdict(lambda: defaultdict(int))
        self.calls = defaultdict(lambda: defaultdict(int))
        self.counts = defaultdict(int)
        self.lines = defaultdict(set)
        self.file_of = {}
        self.object_of = {}
        self.head = {}
        names = {'fn': {}, 'fl': {}, 'ob': {}}

        def name(space, text):
            m = re.match(r'\((\d+)\)\s*(.*)$', text, re.S)
            if not m:
                return text
            if m[2]:
                assert m[1] not in names[space], 'told twice: ' + text
                names[space][m[1]] = m[2]
            return names[space][m[1]]

        calls = None
        for line in open(path, encoding='utf-8', newline='\n'):
            line = line.rstrip('\n')
            if not line or line.startswith('#'):
                continue
            key = re.match(r'([a-z]+)(=|: ?)(.*)$', line, re.S)
            if key and key[2] != '=':
                self.head[key[1]] = key[3]
            elif key and key[1] in ('fl', 'fi', 'fe'):
                now_file = name('fl', key[3])
                if key[1] == 'fl':
                    file = now_file
            elif key and key[1] == 'ob':
                self.object = name('ob', key[3])
            elif key and key[1] == 'fn':
                fn = name('fn', key[3])
                self.file_of[fn] = file
                self.object_of[fn] = getattr(self, 'object', None)
            elif key and key[1] in ('cfi', 'cfl'):
                name('fl', key[3])
            elif key and key[1] == 'cob':
                name('ob', key[3])
            elif key and key[1] == 'cfn':
                cfn = name('fn', key[3])
            elif key and key[1] == 'calls':
                calls = int(key[3].split()[0])
            else:
                at, *costs = (int(n) for n in line.split())
                to = self.self[fn]
                if calls is not None:
                    to = self.calls[fn, cfn]
                    self.counts[fn, cfn] += calls
                    self.lines[fn, cfn].add(at)
                    calls = None
                for event, cost in zip(self.events(), costs):
                    to[event] += cost

    def events(self):
        return self.head['events'].split()

    def totals(self):
        # Zeros at the end may be left out.
        costs = [int(n) for n in self.head['totals'].split()]
        return dict(zip(self.events(), costs + [0] * len(self.events())))

    def callees(self, fn):
        return [b for a, b in self.calls if a == fn]

    def inclusive(self, fn, event):
        return self.self[fn][event] + sum(
            cost[event] for (a, b), cost in self.calls.items()
            if a == fn and b != fn)


class Expected:
    """Of (stack, {event: cost}, count), a stack a tuple, root first."""

    def __init__(self, stacks):
        self.stacks = stacks
        self.functions = {f for stack, _, _ in stacks for f in stack}
        follows = defaultdict(set)
        for stack, _, _ in stacks:
            for a, b in zip(stack, stack[1:]):
                follows[a].add(b)
        reach = {f: self.reached(f, follows) for f in self.functions}
        self.cycle_of = {}
        for f in self.functions:
            cycle = frozenset(g for g in reach[f] if f in reach[g]) | {f}
            if len(cycle) > 1:
                self.cycle_of[f] = cycle

    @staticmethod
    def reached(start, follows):
        seen, todo = set(), [start]
        while todo:
            for g in follows[todo.pop()] - seen:
                seen.add(g)
                todo.append(g)
        return seen

    def total(self, event):
        return sum(c.get(event, 0) for _, c, _ in self.stacks)

    def self(self, f, event):
        return sum(c.get(event, 0) for s, c, _ in self.stacks
                   if s and s[-1] == f)

    def through(self, functions, event):
        return sum(c.get(event, 0) for s, c, _ in self.stacks
                   if not functions.isdisjoint(s))

    def pairs(self, a, b):
        for s, c, n in self.stacks:
            if any(x == a and y == b for x, y in zip(s, s[1:])):
                yield c, n


def check(path, stacks, collapsed=True):
    """Whether the file holds just what the stacks tell."""
    got, want = Callgrind(path), Expected(stacks)
    rooted = Expected([(('[root]',) + s, c, n) for s, c, n in stacks])
    cycles = {}
    for name in {a for a, _ in got.calls}:
        if name.startswith('<cycle '):
            cycles[frozenset(got.callees(name))] = name
    if collapsed:
        assert set(cycles) == set(want.cycle_of.values()), cycles
    else:
        assert not cycles
    named = lambda f: cycles.get(want.cycle_of.get(f)) or f
    told = {f for f in got.self if any(got.self[f].values())}
    assert told <= want.functions | {'[root]'}, told - want.functions
    for event in got.events():
        total = want.total(event)
        assert got.totals()[event] == total, (event, got.totals(), total)
        assert sum(c[event] for c in got.self.values()) == total
        assert got.inclusive('[root]', event) == total
        for f in want.functions:
            assert got.self[f][event] == want.self(f, event), (f, event)
            if not collapsed or named(f) != f:
                continue
            assert got.inclusive(f, event) == want.through({f}, event), f
        for cycle, name in cycles.items():
            assert got.inclusive(name, event) == want.through(cycle, event)
    wanted = defaultdict(lambda: defaultdict(int))
    counts = defaultdict(int)
    for s, _, _ in rooted.stacks:
        for a, b in zip(s, s[1:]):
            inner = a == b or named(a) == named(b)
            key = (a, b if inner or not collapsed else named(b))
            if key + (b,) in wanted:
                continue
            wanted[key + (b,)] = True
            for c, n in rooted.pairs(a, b):
                counts[key] += n
                for event in got.events():
                    if not (inner and collapsed):
                        wanted[key][event] += c.get(event, 0)
    for key, count in counts.items():
        assert got.counts[key] == count, (key, got.counts[key], count)
        for event in got.events():
            assert got.calls[key][event] == wanted[key][event], (key, event)
    extra = {k for k in got.calls if k not in counts and k[0] not in
             cycles.values()}
    assert not extra, extra
    return got, want
