# SPDX-License-Identifier: MIT
"""holders_vs_python.py WINDLASS RECORDING COUNT: what `windlass report --block`
says that blocks of a scanned heap retain and who points to them, for COUNT
blocks spread over the heap, against the same worked out here by leaving each
block out. Written from docs/formats/wndl.md alone."""
import re
import subprocess
import sys

from wndl_vs_python import chunks


class Scan:
    def __init__(self, data):
        self.sizes, self.bytes = [], b""
        for kind, payload in chunks(data):
            if kind == b"HPAR":
                self.read_sites(payload)
            elif kind == b"HSCN":
                self.read_part(payload)
        self.addresses, self.sites, self.edges, self.roots = [], [], [], []
        self.read_graph()

    def read_sites(self, p):
        _, first, count = p.uleb(), p.uleb(), p.uleb()
        assert first == len(self.sizes)
        for _ in range(count):
            _, _, requested, slop = (p.uleb() for _ in range(4))
            self.sizes.append(requested + slop)

    def read_part(self, p):
        _, _, end, position = (p.uleb() for _ in range(4))
        assert end == 1
        part = p.text()
        self.bytes = part if position == 0 else self.bytes + part

    def read_pointers(self, p, target):
        found, word = [], 0
        while distance := p.uleb():
            word += distance
            difference = p.uleb() >> 1
            target += difference >> 1 ^ -(difference & 1)
            found.append((word - 1, target))
        return found

    def read_graph(self):
        from wndl_vs_python import Payload

        p, address = Payload(self.bytes), 0
        for number in range(p.uleb()):
            address += 8 * p.uleb()
            site = p.uleb()
            self.addresses.append(address)
            self.sites.append(site)
            self.edges.append(self.read_pointers(p, number))
        while p.at < len(p.data):
            _, _, _, _ = (p.uleb() for _ in range(4))
            p.text()
            self.roots.append(self.read_pointers(p, 0))

    def size(self, block):
        return self.sizes[self.sites[block] - 1] if self.sites[block] else 8

    def reached(self, without=None):
        left = [t for root in self.roots for _, t in root if t != without]
        seen = set()
        while left:
            block = left.pop()
            if block not in seen:
                seen.add(block)
                left += [t for _, t in self.edges[block] if t != without]
        return seen


def ask(windlass, recording, address):
    command = [windlass, "report", "--no-pager", "-n", "100000", "--block"]
    text = subprocess.run(
        command + ["%x" % address, recording],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    retained = re.search(r"^([\d,]+) bytes? would be freed with it", text, re.M)
    part = re.search(r"^Who points to it.*\n((?:  .*\n)*)", text, re.M)
    blocks = re.findall(
        r"^  ~?0x([0-9a-f]+) \+ (\d+)  ", part.group(1) if part else "", re.M
    )
    return (
        int(retained.group(1).replace(",", "")),
        {(int(a, 16), int(o)) for a, o in blocks},
        "it is lost" in text,
    )


def main():
    windlass, recording, count = sys.argv[1:]
    scan = Scan(open(recording, "rb").read())
    known = {address: i for i, address in enumerate(scan.addresses)}
    alive, wrong, held = scan.reached(), 0, 0
    step = max(1, len(scan.addresses) // int(count))
    for block in range(0, len(scan.addresses), step):
        retained, pointers, lost = ask(windlass, recording, scan.addresses[block])
        from_blocks = {
            (scan.addresses[i], 8 * word)
            for i, edges in enumerate(scan.edges)
            for word, target in edges
            if target == block
        }
        said = {(a, o) for a, o in pointers if a in known}
        wrong += said != from_blocks or lost != (block not in alive)
        if block in alive:
            freed = alive - scan.reached(without=block)
            wrong += retained != sum(map(scan.size, freed))
            held += len(freed) > 1
    assert not wrong, "%d of the answers are wrong" % wrong
    assert held, "no block holds another"
    assert len(alive) < len(scan.addresses), "no block is lost"


main()
