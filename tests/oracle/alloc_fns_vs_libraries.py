# SPDX-License-Identifier: MIT
"""alloc_fns_vs_libraries.py WINDLASS: the allocation functions that
--ignore-alloc-fns leaves out, compared with the symbol tables of libraries.

Of each library that is installed, the exported functions whose names match its
pattern allocate, except for those that another pattern names. Each of the
former must be left out of a stack, and none of the latter. The packages are
libjemalloc2, libmimalloc2.0, libtcmalloc-minimal4 (./run test installs these),
libglib2.0-0 and nodejs; without any of them the test is skipped.
"""
import ctypes.util
import json
import re
import shutil
import subprocess
import sys

windlass = sys.argv[1]
LIBC = r'(posix_)?memalign|aligned_alloc|p?valloc|malloc|[cm]alloc|realloc'
# What is found by name but allocates nothing that the caller gets: sizes,
# statistics, hooks, memory of a kind that has no caller.
LIBRARIES = [
    ('jemalloc', 'jemalloc', r'.*alloc.*|.*memalign.*|operator new.*',
     r'malloc_.*|[dnsx]allocx|sdallocx'),
    ('mimalloc', 'mimalloc', r'.*alloc.*|.*memalign.*|mi_.*(dup.*|new.*|realpath)'
     r'|operator new.*',
     r'(mi_)?malloc_(good_|usable_)?size|mi_heap_new(_in_arena)?|mi_new_handler'),
    ('tcmalloc', 'tcmalloc_minimal', r'tc_.*(alloc|memalign|new).*|' + LIBC +
     r'|__libc_.*alloc.*|operator new.*|tcmalloc::allocate_full_.*',
     r'tc_malloc_(size|stats)|tc_nallocx|tc_(query|set)_new_mode|tc_get_.*'),
    ('GLib', 'glib-2.0', r'g_(try_)?(m|re)alloc.*|g_aligned_alloc.*|g_mem_chunk_'
     r'alloc.*|g_slice_(alloc|copy).*|g_(str|mem).?dup.*|g_.*rc_box_(alloc|dup).*'
     r'|g_s?list_alloc', r''),
    ('Node', shutil.which('node'), r'node::(Unchecked)?[MCR]e?alloc.*|'
     r'node::.*ArrayBufferAllocator::(Alloc|Realloc).*|'
     r'node::crypto::MallocOpenSSL.*|node::mem::.*::[MCR]e?allocImpl.*|'
     r'node::MaybeStackBuffer<.*AllocateSufficientStorage.*|uv__.*(alloc|dup).*|'
     r'CRYPTO_.*(alloc|memdup|strn?dup)|ares_(m|re)alloc(_zero)?|ares_strdup|'
     r'nghttp2_mem_.*alloc|v8::ArrayBuffer::Allocator::Reallocate.*|'
     r'v8::base::([MC]|Re)alloc\(.*', r'.*::~.*'),
]


def path_of(name):
    """The library's file: what the loader of a process finds by this name."""
    if name is None or name.startswith('/'):
        return name
    found = ctypes.util.find_library(name)
    if found is None:
        return None
    loaded = subprocess.run(['/sbin/ldconfig', '-p'], capture_output=True, text=True,
                            check=True).stdout
    lines = re.findall(r'(?m)^\s*' + re.escape(found) + r' .*x86-64.* => (.*)$',
                       loaded) or \
        re.findall(r'(?m)^\s*' + re.escape(found) + r' .* => (.*)$', loaded)
    return lines[0] if lines else None


def functions_of(path):
    table = subprocess.run(['nm', '-DC', '--defined-only', path], text=True,
                           capture_output=True, check=True).stdout
    rows = re.findall(r'(?m)^[0-9a-f]+ [TWti] (.*?)(?:@.*)?$', table)
    return sorted(set(rows))


def left_out(names):
    """The names that a report leaves out at the top of a stack."""
    frames = {'u': '#00: user (u.c:1)'}
    blocks, traces = [], {}
    for i, name in enumerate(names):
        frames['f%d' % i] = '#00: %s (m.c:1)' % name
        traces['t%d' % i] = ['f%d' % i, 'u']
        blocks.append({'req': 8, 'alloc': 't%d' % i})
    with open('d.json', 'w') as file:
        json.dump({'version': 5, 'blockList': blocks, 'traceTable': traces,
                   'invocation': {'dmdEnvVar': '1', 'mode': 'live'},
                   'frameTable': frames}, file)
    report = subprocess.run(
        [windlass, 'report', '--no-pager', '--no-fix-stacks', '--rows', '100000',
         '--ignore-alloc-fns', 'd.json'],
        capture_output=True, text=True, check=True).stdout
    kept = set(re.findall(r'#01: (.*) \(m\.c:1\)', report))
    assert '#01: user (u.c:1)' in report
    return [name for name in names if name not in kept]


failed = 0
read = 0
for title, name, pattern, except_for in LIBRARIES:
    path = path_of(name)
    if path is None:
        print('%s: not installed' % title)
        continue
    names = [n for n in functions_of(path) if re.fullmatch(pattern, n)]
    others = [n for n in names if except_for and re.fullmatch(except_for, n)]
    wanted = [n for n in names if n not in others]
    known = left_out(names)
    read += 1
    print('%s: %d functions allocate, %d others' % (title, len(wanted),
                                                    len(others)))
    for n in wanted:
        if n not in known:
            failed += 1
            print('FAIL %s: %s allocates, and is not known' % (title, n))
    for n in others:
        if n in known:
            failed += 1
            print('FAIL %s: %s is known, and does not allocate' % (title, n))
    if len(wanted) < 8:
        failed += 1
        print('FAIL %s: found too few in %s' % (title, path))
if read == 0:
    print('skipped: no such library is installed')
    sys.exit(77)
sys.exit(failed != 0)
