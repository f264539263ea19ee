# SPDX-License-Identifier: MIT
"""many_stacks.py OUT [STACKS [SAMPLES]]: writes a recording with that many
distinct stacks, 15 to 35 frames deep, and samples of them in random order, by
four threads. The bytes are always the same."""
import random
import struct
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


def nodes(count, rng):
    """Leaves of `count` stacks and (parent, image, rva) of nodes from 1 on."""
    made, index, leaves, stacks = [], {}, [], [[(0, 0x10)]]
    for _ in range(count):
        near = rng.choice(stacks[-3000:])
        stack = near[: rng.randint(max(1, len(near) - 8), len(near))]
        for _ in range(rng.randint(15, 35) - len(stack)):
            stack.append((rng.randrange(8), rng.randrange(1, 700) * 16))
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


def main(path, count=100000, samples=1000000):
    rng = random.Random(1)
    made, leaves = nodes(count, rng)
    with open(path, "wb") as out:
        head = b"\x89WNDL\r\n\x1a" + struct.pack("<HHQ", 1, 2, 0)
        out.write(head + crc32c(head))
        chunk(out, b"META", uleb(0), uleb(1700000000 * 10**9), uleb(1000000),
              uleb(1), uleb(0), text("0"), text("box"), text("/"), uleb(1),
              text("app"), uleb(0), uleb(0))
        chunk(out, b"PROC", *map(uleb, (0, 0, 1, 0, 0)), text("/opt/app"),
              text("app"))
        for i in range(8):
            chunk(out, b"IMAG", uleb(i), text(f"/opt/lib{i}.so"),
                  text("id%d" % i))
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


main(sys.argv[1], *map(int, sys.argv[2:]))
