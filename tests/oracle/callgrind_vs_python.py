# SPDX-License-Identifier: MIT
"""callgrind_vs_python.py WINDLASS MAKE_RECORDING: call graphs of random
recordings against those of a slow implementation, and callgrind_annotate."""
import random
import re
import shutil
import subprocess
import sys

import callgrind_file

windlass, make_recording = sys.argv[1:3]
INTERVAL = 1000
LABELS = {1: '[truncated]', 3: '[lost]'}


def record(name, recipe):
    subprocess.run([make_recording, name], input=recipe, text=True,
                   check=True)


def export(name, *options):
    subprocess.run([windlass, 'export', '-f', 'callgrind', '-o', 'out',
                    *options, name], check=True, stderr=subprocess.DEVNULL)


def frames_of(stack):
    return ' '.join('0:%x' % f for f in stack)


def walk(depth, functions):
    """Calls among neighbours, so that cycles are many but not all."""
    at, stack = random.randrange(functions), []
    for _ in range(depth):
        stack.append(0x1000 + 16 * at)
        step = random.choice([-1, 0, 1, 1, 1, 2, 2, 3])
        at = (at + step) % functions if random.random() < .03 else \
            max(0, min(functions - 1, at + step))
    return stack


def named(stack):
    return tuple('app+0x%x' % (f - (i + 1 < len(stack))) for i, f in
                 enumerate(stack))


def annotated(path):
    """What callgrind_annotate tells, by function."""
    told = subprocess.run(
        ['callgrind_annotate', '--inclusive=yes', '--threshold=100',
         '--show-percs=no', '--auto=no', path], check=True,
        capture_output=True, text=True)
    assert 'WARNING' not in told.stderr, told.stderr
    costs = {}
    for line in told.stdout.splitlines():
        m = re.match(r'\s*([\d,]+)((?: +[\d,.]+)*)  (\S*?):(.*?)( \[.*\])?$',
                     line)
        if m:
            costs[m[4]] = int(m[1].replace(',', ''))
        m = re.match(r'\s*([\d,]+).*PROGRAM TOTALS', line)
        if m:
            costs[None] = int(m[1].replace(',', ''))
    return costs


def check_annotated(got, want):
    event = got.events()[0]
    costs = annotated('out')
    assert costs[None] == want.total(event), costs
    for f in want.functions:
        if f not in want.cycle_of and want.through({f}, event):
            assert costs[f] == want.through({f}, event), (f, costs.get(f))
    assert costs['[root]'] == want.total(event)


def a_recording(seed):
    random.seed(seed)
    head = ('meta %d 1 1 h / app\nprocess 0 1 /usr/bin/app app\n'
            'image /none/app -\nthread 0 1 app\n' % INTERVAL)
    lines, stacks = [], []
    functions = random.choice([3, 10, 40])
    for _ in range(random.choice([1, 30, 150])):
        stack = walk(random.choice([0, 1, 2, 5, 12, 30]), functions)
        # Return addresses: a frame's code is before them. None is a leaf's.
        texts = ['0:%x' % f for f in stack[:-1]]
        texts += ['0:%x!' % f for f in stack[-1:]]
        end = random.choice([0, 0, 0, 0, 1, 3]) if stack else 2
        count = random.randrange(1, 9)
        if random.random() < .8:
            lines.append('sample 0 %d %d %s' % (count, end, ' '.join(texts)))
            costs = {'CPU': count * INTERVAL, 'Samples': count}
        else:
            lines.append('block 0 %d 7400 0 %d %s'
                         % (count, end, ' '.join(texts)))
            costs = {'Blocked': count * 7400, 'Samples': count}
        label = ('[no stack]',) if not stack else \
            (LABELS[end],) if end in LABELS else ()
        stacks.append((label + named(stack), costs, count))
    return head + '\n'.join(lines) + '\n', stacks


def check_time(seed):
    recipe, stacks = a_recording(seed)
    record('cpu.wndl', recipe)
    for options in (), ('--cycles', 'keep'):
        export('cpu.wndl', '--time', 'wall', *options)
        got, want = callgrind_file.check('out', stacks, not options)
    if seed % 5 == 0:
        export('cpu.wndl', '--time', 'wall')
        check_annotated(callgrind_file.Callgrind('out'), want)
    export('cpu.wndl')
    on_cpu = [s for s in stacks if 'CPU' in s[1]]
    callgrind_file.check('out', on_cpu)


def check_heap(seed):
    random.seed(seed)
    lines = ['meta 1 1 1 h / app', 'process 0 1 /usr/bin/app app',
             'image /none/app -', 'thread 0 1 app', 'heap 0 1 0']
    stacks, counts = [], []
    total = [0] * 11
    for i in range(60):
        stack = walk(random.choice([1, 3, 8]), 20)
        size, slop = random.randrange(1, 100), random.randrange(9)
        lines.append('site 0 0 %d %d %s' % (size, slop, frames_of(stack)))
        allocs = random.randrange(1, 50)
        frees = random.randrange(allocs + 1)
        counts.append('%d %d %d 0 0 0' % (i, allocs, frees))
        live = allocs - frees
        names = tuple('app+0x%x' % (f - 1) for f in stack)
        if live:
            stacks.append((names, {'Bytes': live * (size + slop),
                                   'Blocks': live}, live))
        total[0] += allocs
        total[1] += frees
    lines.append('snapshot 0 0 - ' + ' '.join(map(str, total)))
    lines.append('counts 0 ' + ' '.join(counts))
    record('heap.wndl', '\n'.join(lines) + '\ndone 0 0\n')
    export('heap.wndl', '--blocks', 'live')
    got, _ = callgrind_file.check('out', stacks)
    assert got.events() == ['Bytes', 'Blocks']
    export('heap.wndl', '--blocks', 'live', '--value', 'blocks')
    got, _ = callgrind_file.check('out', stacks)
    assert got.events() == ['Blocks', 'Bytes']


if not shutil.which('callgrind_annotate'):
    print('skipped: no callgrind_annotate')
    sys.exit(77)
for seed in range(40):
    check_time(seed)
for seed in range(5):
    check_heap(seed)
