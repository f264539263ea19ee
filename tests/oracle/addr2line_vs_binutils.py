# SPDX-License-Identifier: MIT
"""addr2line_vs_binutils.py WINDLASS SOURCE_TREE [COUNT [SEED]]: random
invocations of windlass by the name of addr2line, against binutils' addr2line.
Output, errors and exit status are the same bytes, but for these:

  discriminators  addr2line writes "(discriminator N)" after lines; windlass
                  does not keep them, nor does llvm-addr2line write them.
  files alone     for a local symbol without a line, addr2line names the file
                  from the symbol table, without a line; windlass says ??:?.
  addresses       of which the two say different things for the reasons that
                  sym_vs_addr2line.sh lists and checks: they are not asked for
                  here. At most every second is such a one.
  offsets         past the end of the section of -j: binutils knows nothing;
                  windlass counts on. They are not asked for.
  symbols         of which several have a name: binutils takes the first of the
                  table, windlass the lowest address. They are not asked for,
                  nor are variables, which windlass does not know.
  help, version   the first line of the usage after a wrong option is the same;
                  the texts are windlass's own.
"""
import os
import random
import re
import shutil
import subprocess
import sys

windlass, tree = sys.argv[1:3]
count = int(sys.argv[3]) if len(sys.argv) > 3 else 200
rng = random.Random(int(sys.argv[4]) if len(sys.argv) > 4 else 38)
theirs = shutil.which('addr2line')
if theirs is None or shutil.which('gcc') is None:
    print('skipped: no addr2line, or no gcc')
    sys.exit(77)
os.symlink(windlass, 'addr2line')
ENV = dict(os.environ, LC_ALL='C')
ENV.pop('WINDLASS_DEBUG_DIRS', None)
SLIPS = ['', ',', 'zz', '0', '0x', '-1', '-', '+', ' \t fff', '12zz', '0x12,',
         'f' * 16, '1' + '0' * 16, '9' * 30, '-' + '9' * 30, 'nosuch', 'g',
         '0X1f', 'abc+5', 'deadbeef', 'nosuch+10', ', +3', '0+1']
OFFSETS = ['', '', '+4', '+0x10', '+010', ' + 5 tail', '+-0', '+', ' tail', '+zz']


def run(program, words, text):
    done = subprocess.run(['addr2line'] + words, executable=program, env=ENV,
                          input=text, capture_output=True)
    return done.returncode, done.stdout, done.stderr


def plain(out):
    """What binutils writes, without what windlass does not know."""
    out = re.sub(rb' \(discriminator \d+\)', b'', out)
    return re.sub(rb'(?m)(^|: | at )[^:/ \n?]*:\?$', rb'\1??:?', out)


class Binary:
    def __init__(self, path, *command):
        subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
        self.path = path
        self.start, self.size = self.find_text()
        at = range(self.start, self.start + self.size)
        self.agreed = self.find_agreed(at)
        self.asked = sorted(self.agreed)
        self.names = self.find_names()
        assert 2 * len(self.agreed) > len(at), (path, len(self.agreed), len(at))

    def find_text(self):
        table = subprocess.run(['readelf', '-SW', self.path], text=True,
                               capture_output=True, check=True).stdout
        found = re.search(r'\] \.text +\S+ +(\S+) \S+ (\S+)', table)
        return int(found[1], 16), int(found[2], 16)

    def find_names(self):
        """Functions that no other symbol is called like, and which no offset
        of OFFSETS leaves."""
        table = subprocess.run(['nm', '-S', self.path], text=True,
                               capture_output=True, check=True).stdout
        rows = [line.split() for line in table.split('\n')]
        names = [row[-1] for row in rows if row]
        return [row[3] for row in rows if len(row) == 4 and row[2] in 'tT' and
                names.count(row[3]) == 1 and int(row[0], 16) in self.agreed and
                all(int(row[0], 16) + i in self.agreed for i in (4, 5, 8, 16))]

    def stacks(self, program, addresses):
        text = ''.join('%x\n' % a for a in addresses).encode()
        out = plain(run(program, ['-fia', '-e', self.path], text)[1])
        return re.split(rb'(?m)^(?=0x)', out)[1:]

    def find_agreed(self, addresses):
        """Those of one C++ function without a linkage name have the name
        that binutils found first; they are left out."""
        pairs = zip(addresses, self.stacks(theirs, addresses),
                    self.stacks('./addr2line', addresses), strict=True)
        return {a for a, x, y in pairs if x == y and
                (not self.path.startswith('plus') or
                 all(re.match(rb'_Z|main$|\?\?', name)
                     for name in x.split(b'\n')[1:-1:2]))}


def build():
    with open('plus.cc', 'w') as source:
        source.write('''
#include <map>
#include <string>
#include <vector>
#include <algorithm>
int main(int argc, char **argv)
{
    std::map<std::string, std::vector<int>> m;
    for (int i = 0; i < argc; i++)
        m[argv[i]].push_back(argc * i);
    for (auto &e : m)
        std::sort(e.second.begin(), e.second.end());
    return (int)m.size();
}
''')
    base = sorted(os.path.join(tree, 'src/base', f)
                  for f in os.listdir(os.path.join(tree, 'src/base'))
                  if f.endswith('.c'))
    gcc = ['gcc', '-w', '-D_GNU_SOURCE', '-std=gnu17',
           '-I' + os.path.join(tree, 'include'), '-I' + os.path.join(tree, 'src'),
           '-fPIC']
    found = [
        Binary('dwarf5', *gcc, '-O2', '-g', '-shared', *base, '-o', 'dwarf5'),
        Binary('dwarf4', *gcc, '-O1', '-gdwarf-4', '-shared', *base, '-o',
               'dwarf4'),
        Binary('bare', *gcc, '-O2', '-shared', *base, '-o', 'bare'),
        Binary('one.o', *gcc, '-O1', '-g', '-c', base[0], '-o', 'one.o'),
        Binary('a.out', *gcc, '-O0', '-g', '-shared', *base[:4], '-o', 'a.out'),
    ]
    if shutil.which('g++'):
        found.append(Binary('plus', 'g++', '-O1', '-g', 'plus.cc', '-o', 'plus'))
    return found


def random_options(binary):
    """Options in any order and spelling, and whether a section is among
    them."""
    words = []
    if binary.path != 'a.out' or rng.random() < 0.5:
        words.append(rng.choice([['-e', binary.path], ['-e' + binary.path],
                                 ['--exe=' + binary.path],
                                 ['--ex', binary.path]]))
    for spellings in [['-a', '--addresses', '--add'], ['-f', '--functions'],
                      ['-i', '--inlines', '--inl'], ['-s', '--basenames'],
                      ['-p', '--pretty-print', '--pretty'],
                      ['-C', '--demangle', '--demangle=auto',
                       '--demangle=gnu-v3', '--demangle=none'],
                      ['-r', '-R', '--no-recurse-limit', '--recursion-limit']]:
        if rng.random() < 0.5:
            words.append([rng.choice(spellings)])
    by_section = rng.random() < 0.2
    if by_section:
        words.append(rng.choice([['-j', '.text'], ['-j.text'],
                                 ['--section=.text']]))
    rng.shuffle(words)
    return [w for group in words for w in group], by_section


def number_of(slip):
    found = re.match(r'\s*[-+]?(0[xX](?=[0-9a-fA-F]))?([0-9a-fA-F]+)', slip)
    return int(found[2], 16) if found else 0


def random_queries(binary, by_section):
    base = binary.start if by_section else 0
    texts = []
    for _ in range(rng.choice([0, 1, 1, 2, 5, 30])):
        address = rng.choice(binary.asked) - base
        texts.append(rng.choice(['%x', '0x%x', '%016X', ' 0x%x tail', '0X%x'])
                     % address)
    if not by_section and binary.names:
        texts += [rng.choice(binary.names) + rng.choice(OFFSETS)
                  for _ in range(rng.choice([0, 0, 1, 3]))]
    for slip in rng.sample(SLIPS, rng.choice([0, 0, 1, 3])):
        at = number_of(slip) + base
        if not binary.start <= at < binary.start + binary.size and \
                not (by_section and slip[:1] != '-'):
            texts.append(slip)
    rng.shuffle(texts)
    return texts


def one_answer():
    binary = rng.choice(binaries)
    words, by_section = random_options(binary)
    texts = random_queries(binary, by_section)
    text = b''
    if texts and rng.random() < 0.4:
        if any(t.startswith('-') for t in texts):
            words.append('--')
        words += texts
    else:
        text = ('\n'.join(texts) + rng.choice(['', '\n'])).encode()
    if rng.random() < 0.1 and not any(re.search(r'\s|^$', w) for w in words):
        with open('words', 'w') as file:
            file.write(' '.join(words))
        words = ['@words']
    return words, text


def one_failure():
    wrong = rng.choice([['-e', 'missing'], ['-e', '.'], ['-e', 'empty'],
                        ['-e', '/dev/null'], ['-e', 'empty/x'],
                        ['-e', 'one.o', '-j', '.nothing'],
                        ['--demangle=martian'], ['--nonsense'], ['-Z'],
                        ['--section'], ['-e'], ['--no-re'], ['--exe'],
                        ['--inlines=1']])
    return wrong, b'10\n'


def same(ours, wanted):
    if wanted[2].startswith(b'addr2line: ') and b'\nUsage' in wanted[2]:
        size = wanted[2].index(b'\n ')
        ours = ours[:2] + (ours[2][:size],)
        wanted = wanted[:2] + (wanted[2][:size],)
    return ours == (wanted[0], plain(wanted[1]), wanted[2])


def talk(program, addresses):
    """As perf talks: an address and ",", whose answer is the mark at which
    those of the address end; and only then the next."""
    with subprocess.Popen(['addr2line', '-e', 'dwarf5', '-i', '-f'],
                          executable=program, env=ENV, text=True,
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE) as a2l:
        said = []
        for address in addresses:
            a2l.stdin.write('%016x\n,\n' % address)
            a2l.stdin.flush()
            frame = None
            while frame != ['??\n', '??:0\n']:
                frame = [a2l.stdout.readline() for _ in range(2)]
                assert frame[1] != '', (program, address)
                said += frame
        a2l.stdin.close()
    return plain(''.join(said).encode())


open('empty', 'w').close()
binaries = build()
failed = 0
for i in range(count):
    words, text = one_failure() if i % 20 == 19 else one_answer()
    wanted = run(theirs, words, text)
    ours = run('./addr2line', words, text)
    if not same(ours, wanted):
        failed += 1
        print('FAIL addr2line', words, text[:200], '\n  gnu ', wanted,
              '\n  ours', ours)
        if failed == 3:
            break
asked = rng.sample(binaries[0].asked, 100)
if talk(theirs, asked) != talk('./addr2line', asked):
    failed += 1
    print('FAIL as perf talks')
print('%d invocations, %d addresses of %d binaries' % (
    count, sum(len(b.agreed) for b in binaries), len(binaries)))
sys.exit(failed != 0)
