# SPDX-License-Identifier: MIT
"""wndl_vs_python.py RECORDING: what `windlass export -f folded` should print
of a recording none of whose binaries exist. Written from
docs/formats/wndl.md and docs/formats/folded.md alone, to check the reader."""
import collections
import struct
import sys

MAGIC = b"\x89WNDL\r\n\x1a"


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


class Payload:
    def __init__(self, data):
        self.data, self.at = data, 0

    def uleb(self):
        value = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    def sleb(self):
        start = self.at
        value = self.uleb()
        bits = 7 * (self.at - start)
        return value - (1 << bits) if value >> bits - 1 & 1 else value

    def text(self):
        size = self.uleb()
        self.at += size
        return self.data[self.at - size : self.at]


def chunks(data):
    assert data[:8] == MAGIC and struct.unpack_from("<H", data, 8)[0] == 1
    assert struct.unpack_from("<I", data, 20)[0] == crc32c(data[:20])
    at = 24
    while at + 12 <= len(data):
        kind, size = struct.unpack_from("<4sI", data, at)
        if at + 12 + size > len(data):
            return
        crc = struct.unpack_from("<I", data, at + 8 + size)[0]
        if crc == crc32c(data[at : at + 8 + size]):
            yield kind, Payload(data[at + 8 : at + 8 + size])
        at += 12 + size


class Recording:
    def __init__(self, data):
        self.programs, self.images = {}, {}
        self.threads, self.names = {}, {}
        self.nodes = collections.defaultdict(dict)
        self.counts = collections.Counter()
        for kind, payload in chunks(data):
            read = getattr(self, "read_" + kind.decode(), None)
            if read is not None:
                read(payload)

    def read_PROC(self, p):
        process = p.uleb()
        for _ in range(4):
            p.uleb()
        self.programs[process] = p.text().split(b"/")[-1]

    def read_IMAG(self, p):
        image = p.uleb()
        self.images[image] = p.text().split(b"/")[-1]

    def read_THRD(self, p):
        process, thread = p.uleb(), p.uleb()
        p.uleb(), p.uleb()
        self.threads[thread] = process
        self.names[thread] = p.text()

    def read_STAK(self, p):
        process, first, count = p.uleb(), p.uleb(), p.uleb()
        address = 0
        for own in range(first, first + count):
            parent, flags, image = own - p.uleb(), p.uleb(), p.uleb()
            address += p.sleb()
            at = address if flags & 1 or address == 0 else address - 1
            name = (
                self.images[image - 1] + b"+0x%x" % at if image else b"[no file]"
            )
            self.nodes[process][own] = parent, name

    def read_SAMP(self, p):
        thread, _, count = p.uleb(), p.uleb(), p.uleb()
        for _ in range(count):
            p.uleb(), p.uleb()
            node, end = p.uleb(), p.uleb()
            self.counts[thread, node, end] += 1

    def stack(self, thread, node, end):
        process = self.threads[thread]
        frames = []
        while node != 0:
            node, name = self.nodes[process][node]
            frames.append(name)
        if not frames:
            frames.append(b"[no stack]")
        elif end not in (0, 7):
            frames.append(b"[truncated]" if end == 1 else b"[lost]")
        processes = list(self.threads.values())
        if len(set(processes)) < len(processes):
            frames.append(self.names[thread])
        frames.append(self.programs[process])
        return tuple(reversed(frames))


def main():
    recording = Recording(open(sys.argv[1], "rb").read())
    folded = collections.Counter()
    for (thread, node, end), count in recording.counts.items():
        folded[recording.stack(thread, node, end)] += count
    clean = bytes.maketrans(
        b";" + bytes(range(32)) + b"\x7f", b":" + b" " * 33
    )
    for stack, count in sorted(folded.items()):
        frames = (frame.translate(clean) or b"?" for frame in stack)
        sys.stdout.buffer.write(b";".join(frames) + b" %d\n" % count)


main()
