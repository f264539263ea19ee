# SPDX-License-Identifier: MIT
"""A PDB file with the same streams in blocks of another size and order.

    repack_pdb.py IN OUT BLOCK_SIZE [SEED] [STREAM=FILE...]

With SEED the blocks are shuffled. Streams may be replaced by files, or by
nothing with "STREAM=".
"""
import random
import struct
import sys

MAGIC = b"Microsoft C/C++ MSF 7.00\r\n\x1aDS\0\0\0"


def streams_of(data):
    block, _, _, size, _, at = struct.unpack_from("<6I", data, 32)

    def gather(numbers, size):
        return b"".join(data[n * block : (n + 1) * block] for n in numbers)[:size]

    count = -(-size // block)
    directory = gather(struct.unpack_from(f"<{count}I", data, at * block), size)
    total = struct.unpack_from("<I", directory)[0]
    sizes = struct.unpack_from(f"<{total}I", directory, 4)
    place = 4 + 4 * total
    for size in sizes:
        size = 0 if size == 0xFFFFFFFF else size
        count = -(-size // block)
        yield gather(struct.unpack_from(f"<{count}I", directory, place), size)
        place += 4 * count


def pack(streams, block, seed):
    """Block 0 is the header, 1 and 2 say which are free; so do those a
    distance of as many blocks as a block has bytes apart."""
    blocks = {}
    numbers = []
    wanted = [-(-len(stream) // block) for stream in streams]
    words = 1 + len(streams) + sum(wanted)
    directory_blocks = -(-4 * words // block)
    # The list of the directory's blocks is in blocks that follow each other.
    listing_blocks = -(-4 * directory_blocks // block)
    listing = 3
    total = sum(wanted) + directory_blocks
    at = listing + listing_blocks
    while len(numbers) < total:
        if at % block not in (1, 2):
            numbers.append(at)
        at += 1
    if seed is not None:
        random.Random(seed).shuffle(numbers)
    of_streams = []
    for stream, count in zip(streams, wanted):
        own, numbers = numbers[:count], numbers[count:]
        of_streams.append(own)
        for i, number in enumerate(own):
            blocks[number] = stream[i * block : (i + 1) * block]
    directory = struct.pack(
        f"<{words}I",
        len(streams),
        *map(len, streams),
        *(number for own in of_streams for number in own),
    )
    for i, number in enumerate(numbers):
        blocks[number] = directory[i * block : (i + 1) * block]
    where = struct.pack(f"<{len(numbers)}I", *numbers)
    for i in range(listing_blocks):
        blocks[listing + i] = where[i * block : (i + 1) * block]
    blocks[0] = MAGIC + struct.pack(
        "<6I", block, 1, at, len(directory), 0, listing
    )
    return b"".join(blocks.get(i, b"").ljust(block, b"\0") for i in range(at))


def main(source, target, block, *rest):
    seed = None
    with open(source, "rb") as file:
        streams = list(streams_of(file.read()))
    for word in rest:
        if "=" not in word:
            seed = int(word)
            continue
        number, path = word.split("=")
        streams[int(number)] = open(path, "rb").read() if path else b""
    with open(target, "wb") as file:
        file.write(pack(streams, int(block), seed))


main(*sys.argv[1:])
