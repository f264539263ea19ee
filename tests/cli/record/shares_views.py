# SPDX-License-Identifier: MIT
"""shares_views.py WINDLASS: whether every view and every export of
r.wndl, a recording of the fixture `calls`, has the shares that ./told tells,
within 2 percentage points; status 1 if not. Status 3 if one of them does not
agree with the report, which has nothing to do with how it was sampled."""
import collections
import json
import os
import subprocess
import sys

import callgrind_file
import export_vs_folded

windlass = sys.argv[1]
THREADS = 'direct', 'deep', 'mutual'
CYCLE = {'ping', 'pong'}


def run(*args):
    done = subprocess.run([windlass, *args], capture_output=True, text=True)
    assert done.returncode == 0, (args, done.stderr)
    return done.stdout


def told():
    found = {'self': {}, 'total': {}, 'thread': collections.Counter()}
    for line in open('told'):
        what, function, thread, ns = line.split()
        found[what][function] = int(ns)
        if what == 'self':
            found['thread'][thread] += int(ns)
    found['all'] = sum(found['self'].values())
    return found


def by_stacks(stacks):
    """Of (thread or None, frames, cost)."""
    found = {'self': collections.Counter(), 'total': collections.Counter(),
             'thread': collections.Counter(), 'all': 0}
    for thread, frames, cost in stacks:
        found['all'] += cost
        if thread is not None:
            found['thread'][thread] += cost
        if frames:
            found['self'][frames[-1]] += cost
        for function in set(frames):
            found['total'][function] += cost
    return found


def report(*options):
    top = json.loads(run('report', '--json', *options, 'r.wndl'))
    return top, {
        'self': {r['function']: r['self_ns'] for r in top['rows']
                 if 'function' in r},
        'total': {r['function']: r['total_ns'] for r in top['rows']
                  if 'function' in r},
        'thread': {r['name']: r['self_ns'] for r in top['threads']},
        'all': sum(r['self_ns'] for r in top['threads']),
    }


def tree(nodes):
    frames = [()]
    for node in nodes[1:]:
        name = node.get('function') or node['label']
        frames.append(frames[node['parent']] + (name,))
        if node['self_ns']:
            yield None, frames[-1], node['self_ns']


def by_thread(top):
    return {'self': {}, 'total': {}, 'all': sum(
        r['self_ns'] for r in top['rows']),
        'thread': {r['name']: r['self_ns'] for r in top['rows']}}


def folded(text):
    for line in text.splitlines():
        stack, cost = line.rsplit(' ', 1)
        frames = stack.split(';')
        yield frames[1], frames[2:], int(cost)


def export(format, suffix=''):
    path = 'out.' + format + suffix
    run('export', '-f', format, '-o', path, 'r.wndl')
    return path


def exported(format, path):
    return by_stacks((thread, stack, cost) for _, thread, stack, cost in
                     export_vs_folded.READERS[format](path, 'cpu'))


def callgrind(path):
    """Members of a cycle have no total of their own."""
    got = callgrind_file.Callgrind(path)
    event = 'cpu' if 'cpu' in got.events() else got.events()[0]
    cycles = {tuple(sorted(got.callees(f))): f for f, _ in got.calls
              if f.startswith('<cycle ')}
    assert list(cycles) == [tuple(sorted(CYCLE))], cycles
    total = {f: got.inclusive(f, event) for f in got.file_of if f not in CYCLE}
    total['ping'] = got.inclusive(cycles[tuple(sorted(CYCLE))], event)
    return {'self': {f: c[event] for f, c in got.self.items()},
            'total': total, 'thread': {}, 'all': got.totals()[event]}


def merged(path):
    run('merge', '-o', 'merged', path)
    return callgrind('merged')


def difference(by, name):
    top = json.loads(run('diff', '--json', '--by', by, 'r.wndl', 'r.wndl'))
    found = {'self': {}, 'total': {}, 'thread': {},
             'all': top['groups'][0]['amount']}
    for row in top['rows']:
        assert row['self']['change'] == row['total']['change'] == 0
        for what in ('self', 'total') if by == 'fn' else ('thread',):
            cost = row['self' if what == 'thread' else what]
            found[what][row[name]] = cost['amount'][1]
    return found


def views():
    top, found = report('--tree')
    yield 'report', found
    yield 'tree', by_stacks(tree(top['tree']))
    yield 'by thread', by_thread(report('--by', 'thread')[0])
    yield 'diff', difference('fn', 'function')
    yield 'diff by thread', difference('thread', 'thread')
    run('export', '-f', 'folded', '-o', 'folded', 'r.wndl')
    yield 'folded', by_stacks(folded(open('folded').read()))
    yield 'json', by_stacks(tree(json.load(open(export('json')))['tree']))
    for format in 'speedscope', 'firefox':
        yield format, exported(format, export(format))
    yield 'pprof', exported('pprof', export('pprof', '.gz'))
    yield 'callgrind', callgrind(export('callgrind'))
    yield 'merged', merged('r.wndl')
    yield 'merged from folded', merged('folded')
    yield 'merged from pprof', merged('out.pprof.gz')
    if subprocess.run([windlass, 'view', '-o', 'page.html', 'r.wndl'],
                      capture_output=True).returncode == 0:
        yield 'page', exported('view', 'page.html')


def compare(name, found, want, slack):
    off = []
    for what in 'self', 'total', 'thread':
        if not found[what]:
            continue
        for key in THREADS if what == 'thread' else want['self']:
            if what == 'total' and key not in found[what]:
                assert key == 'pong', (name, key)
                continue
            have = 100 * found[what].get(key, 0) / found['all']
            share = 100 * want[what][key] / want['all']
            if abs(have - share) > slack:
                off.append('%s: %s %s: %.2f %%, not %.2f %%' % (
                    name, what, key, have, share))
    return off


def main():
    want, first, wrong, unlike = told(), None, [], []
    for name, found in views():
        first = first or {w: {k: found[w][k] for k in want[w]}
                          for w in ('self', 'total', 'thread')} | {
                              'all': found['all']}
        wrong += compare(name, found, want, 2)
        if 'folded' not in name: # where a stack has at least one sample
            unlike += compare(name, found, first, .3)
    print('\n'.join(unlike or wrong))
    sys.exit(3 if unlike else 1 if wrong else 0)


if __name__ == '__main__':
    main()
