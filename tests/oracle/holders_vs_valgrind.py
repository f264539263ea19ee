#!/usr/bin/env python3
"""holders_vs_valgrind.py WINDLASS RECORDING XML SOURCE

Which blocks of a scanned heap a root leads to, and which are lost, against what
Valgrind's memcheck says of another run of the program: the number of blocks of
each line that allocates, of SOURCE and of std::function. XML is of
`valgrind --leak-check=full --show-leak-kinds=all --xml=yes`. A block to whose
middle alone something points is possibly lost for Valgrind; a scan reaches it
by a conservative pointer. Frames of the wrapper of SOURCE are passed over, as
windlass does.
"""
import json
import re
import subprocess
import sys
import xml.etree.ElementTree as xml

windlass, recording, errors, source = sys.argv[1:]
REACHED = {"Leak_StillReachable", "Leak_PossiblyLost"}
LOST = {"Leak_DefinitelyLost", "Leak_IndirectlyLost"}
WRAPPER = "hand_out("


def is_compared(file):
    return file in (source, "std_function.h")


def line_of(error):
    """The line of the innermost frame in a file that is compared."""
    for frame in error.find("stack").iter("frame"):
        is_wrapper = frame.findtext("fn", "").startswith(WRAPPER)
        if is_compared(frame.findtext("file")) and not is_wrapper:
            return frame.findtext("file"), int(frame.findtext("line"))
    return None


def add(counts, line, reached, lost):
    before = counts.get(line, (0, 0))
    counts[line] = (before[0] + reached, before[1] + lost)


def of_valgrind():
    counts = {}
    for error in xml.parse(errors).getroot().iter("error"):
        kind = error.findtext("kind")
        blocks = int(error.findtext("xwhat/leakedblocks", "0"))
        line = line_of(error)
        if line is not None and kind in REACHED | LOST:
            add(counts, line, *((blocks, 0) if kind in REACHED else (0, blocks)))
    return counts


def report(*options):
    return json.loads(
        subprocess.check_output(
            [windlass, "report", "--json", *options, recording]
        )
    )


def of_windlass():
    counts = {}
    for row in report("--retained")["by_place"]:
        at = re.search(r"\((?:.*/)?([^/]*):(\d+)\)", row["place"])
        if at is None or not is_compared(at[1]):
            continue
        lost = report("--site", str(row["site"]))["site"]["lost_blocks"]
        add(counts, (at[1], int(at[2])), row["blocks"] - lost, lost)
    return counts


ours, theirs = of_windlass(), of_valgrind()
if ours != theirs or len(ours) < 5:
    sys.exit(f"windlass: {sorted(ours.items())}\nValgrind: {sorted(theirs.items())}")
print(f"{len(ours)} lines with {sum(a + b for a, b in ours.values())} blocks agree")
