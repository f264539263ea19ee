# SPDX-License-Identifier: MIT
"""valgrind_xml_vs_python.py WINDLASS BUGS.cc: what `windlass check` reads in
files of Valgrind, against Python's expat: of real runs of each tool, and of
random ones. A program named valgrind hands the files over."""
import json
import os
import random
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from xml.sax.saxutils import escape

windlass, source = sys.argv[1:3]
SEGMENTS = {'other_segment_start': "The other thread's segment began at",
            'other_segment_end': 'and ended at'}
PARTS = {'fn': 'function', 'obj': 'module', 'dir': 'folder', 'file': 'file',
         'line': 'line'}
STAND_IN = '''#!/bin/sh
[ "$1" != --version ] || { echo valgrind-3.19.0; exit 0; }
for word; do
    case $word in
    --xml-file=*) cp given.xml "$(echo "${word#*=}" | sed "s/%p/$$/")" ;;
    esac
done
'''


# ---- the model

def frames_of(stack):
    frames = []
    for frame in stack.findall('frame'):
        known = {PARTS[part.tag]: part.text for part in frame
                 if part.tag in PARTS and part.text}
        if 'line' in known:
            known['line'] = int(known['line'])
        frames.append(known)
    return frames


def stacks_of(error):
    stacks, note = [], None

    def add(more, frames):
        nonlocal note
        if note is not None and more is not None:
            stacks.append({'note': note, 'frames': []})
            note = None
        if frames is None:
            note = more
            return
        stack = {} if note is None else {'note': note}
        stacks.append({**stack, 'frames': frames})
        note = None

    for part in error:
        if part.tag == 'stack':
            add(None, frames_of(part))
        elif part.tag == 'auxwhat':
            add(part.text, None)
        elif part.tag == 'xauxwhat':
            add(part.findtext('text'), None)
        elif part.tag in SEGMENTS:
            add(SEGMENTS[part.tag], None)
            for stack_of_it in part.findall('stack'):  # DRD may know none
                add(None, frames_of(stack_of_it))
    add('', None)
    return stacks


def counts_of(root, list_name, key):
    return {pair.findtext(key): int(pair.findtext('count'))
            for pair in root.findall(list_name + '/pair')}


def expected(root):
    """Of each distinct error, its text and stacks, how often it was seen."""
    times, found = counts_of(root, 'errorcounts', 'unique'), {}
    for error in root.findall('error'):
        what = error.findtext('what') or error.findtext('xwhat/text')
        row = (error.findtext('kind'), what, json.dumps(
            stacks_of(error), sort_keys=True))
        lost = error.findtext('xwhat/leakedbytes')
        size = int(lost) if lost else 0
        number = 1 if lost else times.get(error.findtext('unique'), 1)
        before = found.get(row, (0, 0))
        found[row] = (before[0] + number, before[1] + size)
    return found


def process_of(root):
    command = [line.text for line in root.findall('preamble/line')
               if line.text.startswith('Command: ')]
    states = [state.text for state in root.findall('status/state')]
    process = {'pid': int(root.findtext('pid')), 'command': command[0][9:],
               'finished': states[-1] == 'FINISHED'}
    signal = root.findtext('fatal_signal/signame')
    return {**process, 'signal': signal} if signal else process


def by_kind(rows):
    sums = {}
    for (kind, _, _), (times, size) in rows.items():
        before = sums.get(kind, (0, 0))
        sums[kind] = (before[0] + times, before[1] + size)
    return sums


def compare(name, is_real):
    command = [windlass, 'check', '-q', '-o', 'list.json', '--', '/bin/true']
    subprocess.run(command, check=False, stderr=subprocess.DEVNULL,
                   env={**os.environ, 'PATH': os.getcwd() + ':/usr/bin:/bin'})
    with open('list.json', encoding='utf-8') as file:
        told = json.load(file)
    os.remove('list.json')
    root = ElementTree.parse('given.xml').getroot()
    seen = {(e['kind'], e['what'], json.dumps(e['stacks'], sort_keys=True)):
            (e['times'], e.get('bytes', 0)) for e in told['errors']}
    wanted = expected(root)
    if is_real:  # both accesses of a race in one line are one error
        assert seen.keys() <= wanted.keys(), (name, seen, wanted)
        assert by_kind(seen) == by_kind(wanted), (name, seen, wanted)
    else:
        assert seen == wanted, (name, seen, wanted)
    assert told['damaged'] == 0, name
    assert told['processes'] == [process_of(root)], (name, told['processes'])
    hidden = {s['name']: s['times'] for s in told['suppressed']}
    assert hidden == counts_of(root, 'suppcounts', 'name'), (name, hidden)
    return len(seen)


# ---- random files

def text():
    return escape(''.join(random.choice('ab<>&"\'é(): ~') for _ in
                          range(random.randint(1, 12))).strip() or 'x')


def frame(function):
    parts = ['<ip>0x%X</ip>' % random.randrange(1 << 48)]
    if random.random() < .9:
        parts.append('<obj>/src/%s</obj>' % text())
    parts.append('<fn>%s</fn>' % escape(function))
    if random.random() < .8:
        parts += ['<dir>%s</dir>' % text(), '<file>%s</file>' % text(),
                  '<line>%d</line>' % random.randrange(1, 1 << 31)]
    return '    <frame>\n      %s\n    </frame>\n' % '\n      '.join(parts)


def stack(name):
    return '  <stack>\n%s  </stack>\n' % ''.join(
        frame('%s~%d' % (name, i)) for i in range(random.randint(1, 5)))


def error(number):
    name, lines = 'f%d<int>' % number, []
    kind = random.choice(['InvalidRead', 'Race', 'Leak_DefinitelyLost',
                          'ConflictingAccess', 'UninitValue'])
    if kind.startswith('Leak'):
        lines.append('  <xwhat>\n    <text>%s</text>\n    <leakedbytes>%d'
                     '</leakedbytes>\n    <leakedblocks>%d</leakedblocks>\n'
                     '  </xwhat>\n' % (text(), random.randrange(1 << 40),
                                       random.randrange(1, 99)))
    else:
        lines.append('  <what>%s</what>\n' % text())
    lines.append(stack(name))
    for _ in range(random.randint(0, 3)):
        lines.append(random.choice([
            '  <auxwhat>%s</auxwhat>\n' % text(),
            '  <xauxwhat><text>%s</text></xauxwhat>\n' % text(),
            '  <auxwhat>%s</auxwhat>\n%s' % (text(), stack('other')),
            '  <other_segment_start>\n%s  </other_segment_start>\n' %
            random.choice(['', stack('began')])]))
    return ('<error>\n  <unique>0x%x</unique>\n  <tid>1</tid>\n'
            '  <kind>%s</kind>\n%s</error>\n\n' % (number, kind,
                                                   ''.join(lines)))


def pairs(name, key, values):
    return '<%s>\n%s</%s>\n\n' % (name, ''.join(
        '  <pair>\n    <count>%d</count>\n    <%s>%s</%s>\n  </pair>\n' %
        (random.randrange(1, 1 << 40), key, value, key)
        for value in values), name)


def document():
    numbers = range(random.randint(0, 30))
    state = '<status>\n  <state>%s</state>\n  <time>0</time>\n</status>\n\n'
    yield ('<?xml version="1.0"?>\n\n<valgrindoutput>\n\n<preamble>\n'
           '  <line>Memcheck</line>\n  <line>Command: ./%s</line>\n'
           '</preamble>\n\n<pid>%d</pid>\n<ppid>1</ppid>\n\n' %
           (text(), random.randrange(1, 1 << 22)))
    yield state % 'RUNNING'
    yield from map(error, numbers)
    if random.random() < .3:
        yield ('<fatal_signal>\n  <signo>11</signo>\n'
               '  <signame>SIGSEGV</signame>\n</fatal_signal>\n\n')
    if random.random() < .7:
        yield state % 'FINISHED'
    yield pairs('errorcounts', 'unique', ['0x%x' % n for n in numbers
                                          if random.random() < .8])
    yield pairs('suppcounts', 'name', ['hidden%d' % i for i in
                                       range(random.randint(0, 3))])
    yield '</valgrindoutput>\n'


def main():
    for tool in 'g++', 'valgrind':
        if not shutil.which(tool):
            print('skipped: no ' + tool)
            sys.exit(77)
    random.seed(32)
    subprocess.run(['g++', '-g', '-gdwarf-4', '-O0', '-pthread', source, '-o',
                    'bugs'], check=True)
    valgrind = ['valgrind', '--xml=yes', '--xml-file=given.xml']
    runs = [('memcheck', '--leak-check=full', '--track-origins=yes', 'all'),
            ('helgrind', 'r', 'l'), ('drd', 'r')]
    real, count = {}, 0
    for tool, *words in runs:
        options = [w for w in words if w.startswith('-')]
        subprocess.run([*valgrind, '--tool=' + tool, *options, './bugs',
                        *(w for w in words if w not in options)], check=False,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        with open('given.xml', encoding='utf-8') as file:
            real[tool] = file.read()
    with open('valgrind', 'w', encoding='utf-8') as file:
        file.write(STAND_IN)
    os.chmod('valgrind', 0o755)
    files = [*real.items(), *(('random %d' % i, ''.join(document()))
                              for i in range(40))]
    for name, content in files:
        with open('given.xml', 'w', encoding='utf-8') as file:
            file.write(content)
        number = compare(name, name in real)
        assert number > 0 or name not in real, name
        count += number
    print('%d errors of %d files' % (count, len(files)))


main()
