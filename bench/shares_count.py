#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""shares_count.py ROOT READELF TABLES: counts the stacks that recdump -s prints,
for bench/shares. It reads standard input and prints four numbers:

- all stacks
- complete stacks
- incomplete stacks whose first or last frame is in code that may not be unwound
  by .ARM.exidx ("forbidden")
- incomplete stacks where one of these is in code of a module of ROOT without an
  entry ("untold"), unless the folder TABLES has a table of the module

With WHERE set, the last frames of the forbidden and of the other incomplete
stacks go to standard error, most frequent first."""
import bisect
import collections
import os
import re
import subprocess
import sys

root, readelf, tables = sys.argv[1:]
ENTRY = re.compile(r"^0x([0-9a-f]+)(?: <.*>)?: (.*)")


def index_of(path):
    """Addresses of its entries, and whether they forbid to unwind."""
    said = subprocess.run(
        [readelf, "-u", path], capture_output=True, text=True
    ).stdout
    found = (ENTRY.match(line) for line in said.splitlines())
    entries = sorted(
        (int(m[1], 16), "cantunwind" in m[2]) for m in found if m
    )
    return [e[0] for e in entries], [e[1] for e in entries]


def original(path):
    """The module of ROOT, whose copy without entries was recorded."""
    for folder in ("/usr/bin/", "/usr/lib/", "/lib/"):
        at = path.find(folder, path.find("bench-shares"))
        if at >= 0 and os.path.exists(root + path[at:]):
            return root + path[at:]
    return path


images, indexes, framed = {}, {}, set()


def told(frame):
    """What .ARM.exidx says of a frame's code."""
    image, _, address = frame.partition("+")
    path = images.get(image, "")
    if readelf == "-" or image in framed or not path.startswith(root):
        return "something"
    if path not in indexes:
        indexes[path] = index_of(path)
    starts, forbids = indexes[path]
    at = bisect.bisect_right(starts, int(address, 16)) - 1
    if at < 0:
        return "untold"
    return "forbidden" if forbids[at] else "something"


everything = complete = 0
incomplete, ends = collections.Counter(), collections.Counter()
for line in sys.stdin:
    words = line.split()
    if line.startswith("image "):
        images[words[1]] = original(words[3])
        if tables and os.path.exists(f"{tables}/{words[2]}.wut"):
            framed.add(words[1])
    elif line.startswith("end "):
        everything += int(words[2])
        complete += int(words[2]) if words[1] == "0" else 0
    elif line.startswith("incomplete "):
        said = {told(words[-1]), told(words[2])} if len(words) > 2 else set()
        where = next((w for w in ("forbidden", "untold") if w in said), "rest")
        incomplete[where] += 1
        if where != "untold":
            image, _, address = words[-1].partition("+")
            leaf = "leaf" if len(words) == 3 else "caller"
            path = images.get(image, "")
            ends[f"{where} {words[1]} {leaf} {path} {address}"] += 1

print(everything, complete, incomplete["forbidden"], incomplete["untold"])
if os.environ.get("WHERE"):
    for what, count in ends.most_common(12):
        print("   ", count, what, file=sys.stderr)
