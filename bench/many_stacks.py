# SPDX-License-Identifier: MIT
"""many_stacks.py OUT [STACKS [SAMPLES [BINARY...]]]: writes a recording with
that many distinct stacks, 15 to 35 frames deep, and samples of them in random
order, by four threads. The bytes are always the same. The frames are at random
places of the functions of the position-independent binaries, or of files that
are not there."""
import random
import re
import struct
import subprocess
import sys

TABLE = []
for i in range(256):
    for _ in range(8):
        i = i >> 1 ^ (0x82F63B78 if i & 1 else 0)
    TABLE.append(i)


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ TABLE[(crc ^ byte) & 0xFF]
    return struct.pack("<I", crc ^ 0xFFFFFFFF)


def uleb(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def sleb(value):
    out = bytearray()
    while not -0x40 <= value < 0x40:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value & 0x7F)
    return bytes(out)


def text(s):
    return uleb(len(s)) + s.encode()


def chunk(out, kind, *parts):
    payload = b"".join(parts)
    body = kind + struct.pack("<I", len(payload)) + payload
    out.write(body + crc32c(body))


PLACES = 2000  # of a binary that are in stacks


def said(*command):
    return subprocess.run(command, capture_output=True, text=True,
                          check=True).stdout


class Absent:
    """Eight files that are not there."""
    images = [(f"/opt/lib{i}.so", b"id%d" % i) for i in range(8)]

    def place(self, rng):
        return rng.randrange(8), rng.randrange(1, 700) * 16


class Present:
    """Binaries, and places in their functions."""

    def __init__(self, binaries, rng):
        self.images, self.places = [], []
        for image, binary in enumerate(binaries):
            build_id = re.search(r"Build ID: ([0-9a-f]+)",
                                 said("readelf", "-n", binary))[1]
            self.images.append((binary, bytes.fromhex(build_id)))
            known = [(int(a, 16), int(s, 16)) for a, s in re.findall(
                r"^([0-9a-f]+) ([0-9a-f]+) [tT] ", said("nm", "-S", binary),
                re.M) if int(s, 16) > 8]
            for _ in range(PLACES):
                start, size = rng.choice(known)
                self.places.append((image, start + rng.randrange(1, size)))

    def place(self, rng):
        return rng.choice(self.places)


def nodes(count, rng, code):
    """Leaves of `count` stacks and (parent, image, rva) of nodes from 1 on."""
    made, index, leaves, stacks = [], {}, [], [[(0, 0x10)]]
    for _ in range(count):
        near = rng.choice(stacks[-3000:])
        stack = near[: rng.randint(max(1, len(near) - 8), len(near))]
        for _ in range(rng.randint(15, 35) - len(stack)):
            stack.append(code.place(rng))
        stacks.append(stack)
        node = 0
        for place in stack:
            key = (node, place)
            if key not in index:
                made.append((node,) + place)
                index[key] = len(made)
            node = index[key]
        leaves.append(node)
    return made, leaves


def main(path, count=100000, samples=1000000, *binaries):
    count, samples = int(count), int(samples)
    rng = random.Random(1)
    code = Present(binaries, rng) if binaries else Absent()
    made, leaves = nodes(count, rng, code)
    with open(path, "wb") as out:
        head = b"\x89WNDL\r\n\x1a" + struct.pack("<HHQ", 1, 2, 0)
        out.write(head + crc32c(head))
        chunk(out, b"META", uleb(0), uleb(1700000000 * 10**9), uleb(1000000),
              uleb(1), uleb(0), text("0"), text("box"), text("/"), uleb(1),
              text("app"), uleb(0), uleb(0))
        chunk(out, b"PROC", *map(uleb, (0, 0, 1, 0, 0)), text("/opt/app"),
              text("app"))
        for i, (name, build_id) in enumerate(code.images):
            chunk(out, b"IMAG", uleb(i), text(name),
                  uleb(len(build_id)) + build_id)
        for i in range(4):
            chunk(out, b"THRD", uleb(0), uleb(i), uleb(i + 1), uleb(0),
                  text(f"worker {i}"))
        for first in range(0, len(made), 50000):
            part, last = [], 0
            for i, (parent, image, rva) in enumerate(made[first:first + 50000]):
                own = first + i + 1
                part += [uleb(own - parent), uleb(2), uleb(image + 1),
                         sleb(rva - last)]
                last = rva
            chunk(out, b"STAK", uleb(0), uleb(first + 1),
                  uleb(len(part) // 4), *part)
        for at in range(0, samples, 10000):
            part = []
            for i in range(at, min(at + 10000, samples)):
                part += [uleb(4000000), uleb(1000000 + i % 1000),
                         uleb(leaves[i] if i < count else rng.choice(leaves)),
                         uleb(0)]
            chunk(out, b"SAMP", uleb(at // 10000 % 4), uleb(at * 1000000),
                  uleb(len(part) // 4), *part)
        chunk(out, b"DONE", *map(uleb, (samples * 1000000, 0, 1, 0, 0, 0)))


main(*sys.argv[1:])
