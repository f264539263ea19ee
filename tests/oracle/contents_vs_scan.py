#!/usr/bin/env python3
"""contents_vs_scan.py WINDLASS RECORDING DMD

Who points to whom, worked out as DMD's block_analyzer.py does, from the words
of all blocks in DMD (`windlass export -f dmd` in scan mode), against the
pointers between blocks that the scan has written down. Of a block's last bytes,
which make no whole word, DMD has nothing.
"""
import json
import subprocess
import sys

windlass, recording, exported = sys.argv[1:]
WORD = 8

dmd = json.load(open(exported))
assert dmd["version"] == 5 and dmd["invocation"]["mode"] == "scan"
blocks = {int(b["addr"], 16): b for b in dmd["blockList"]}
assert len(blocks) == len(dmd["blockList"])
for b in blocks.values():
    assert len(b.get("contents", [])) == b["req"] // WORD, b["req"]
    assert b["alloc"] in dmd["traceTable"]

pointers = {start: set() for start in blocks}
for start, b in blocks.items():
    for at, word in enumerate(b.get("contents", [])):
        target = int(word, 16)
        if target in blocks and target != start:
            pointers[target].add((start, at * WORD))

found = 0
for start, expected in pointers.items():
    text = subprocess.check_output(
        [windlass, "report", "--json", "--block", f"{start:x}", recording]
    )
    said = {
        (p["address"], p["offset"])
        for p in json.loads(text)["block"]["from"]
        if not p["root"]
        and not p["conservative"]
        and p["offset"] < blocks[p["address"]]["req"] // WORD * WORD
    }
    if said != expected:
        sys.exit(f"0x{start:x}: windlass {said}, contents {expected}")
    found += len(said)
if found == 0:
    sys.exit("no pointer at all")
print(f"{found} pointers to {len(blocks)} blocks agree")
