# SPDX-License-Identifier: MIT
"""wndl_vs_python.py RECORDING TIME: what `windlass export -f folded --time
TIME` should print of a recording none of whose binaries exist; with `heap` for
TIME, what tests/lib/heapdump.c should; with `kernel`, the recording with samples
of the kernel. Written from docs/formats/wndl.md and
docs/formats/folded.md alone, to check the reader."""
import collections
import struct
import sys

MAGIC = b"\x89WNDL\r\n\x1a"


def crc_of_byte(crc):
    for _ in range(8):
        crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc


CRC = [crc_of_byte(byte) for byte in range(256)]


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ CRC[(crc ^ byte) & 0xFF]
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


# ---- a recording with samples of the kernel


def uleb(value):
    out = b""
    while value >= 0x80:
        out += bytes([value & 0x7F | 0x80])
        value >>= 7
    return out + bytes([value])


def listed(head, rows):
    numbers = [*head, len(rows), *(number for row in rows for number in row)]
    return b"".join(n if type(n) is bytes else uleb(n) for n in numbers)


def chunk(kind, payload):
    data = struct.pack("<4sI", kind, len(payload)) + payload
    return data + struct.pack("<I", crc32c(data))


def with_kernel(data):
    """Stacks f <- g <- entry and others, some without a name, and samples of
    thread 0 that stand for time in the kernel: of one interval or many, with
    enough samples of the kernel, too few, or none."""
    ends = [at for at in range(len(data) - 12) if data[at : at + 4] == b"DONE"]
    text = lambda s: uleb(len(s)) + s
    image = chunk(b"IMAG", b"\x09" + text(b"[kernel]") + text(b""))
    rows = [(i % 3 + 1 if i > 2 else 1, i == 3, 10, 16) for i in range(12)]
    nodes = chunk(b"KSTK", listed((0, 1), rows))
    begin = 10**12
    ticks = [(400_000, 1, i % 13) for i in range(200)] + [(7, 99, 3)] * 5
    kernel = chunk(b"KSMP", listed((begin,), ticks))
    samples = [(1_000_000 * (i % 4), 1_000_000 * (i % 5) + i, i % 3 + 1,
                64 * (i % 3 > 0)) for i in range(90)]
    own = chunk(b"SAMP", listed((0, begin), samples))
    names = [(gap, text(b"k_%d" % gap)) for gap in (15, 16, 32, 64)]
    symbols = chunk(b"KSYM", listed((9,), names))
    return (data[: ends[-1]] + image + nodes + kernel + own + symbols
            + data[ends[-1] :])


# ---- the reader


class Heap:
    """Of one process; the lines that each chunk makes."""

    def __init__(self, head):
        self.head = head
        self.pairs = []
        self.number = self.reports_of = None
        self.lines = collections.defaultdict(list)


class Recording:
    def __init__(self, data):
        self.heaps = {}
        self.places = collections.defaultdict(dict)
        self.programs, self.images = {}, {}
        self.threads, self.names = {}, {}
        self.nodes = collections.defaultdict(dict)
        self.outside = collections.defaultdict(dict)
        self.kernel = collections.defaultdict(dict)
        self.interval = 0
        self.samples, self.blocks = [], []
        self.kernel_samples = []
        self.kernel_names, self.tids = {}, {}
        self.paths = {}
        for kind, payload in chunks(data):
            if kind == b"IMAG":
                self.learn_image(payload)
        for kind, payload in chunks(data):
            read = getattr(self, "read_" + kind.decode(), None)
            if read is not None:
                read(payload)

    def read_META(self, p):
        p.uleb(), p.uleb()
        self.interval = p.uleb()

    def read_PROC(self, p):
        process = p.uleb()
        for _ in range(4):
            p.uleb()
        self.programs[process] = p.text().split(b"/")[-1]

    def learn_image(self, p):
        """Its name may come behind what is in it."""
        number, path, build = p.uleb(), p.text(), p.text()
        self.images[number] = (bool(build), build or path)
        self.paths[self.images[number]] = path.split(b"/")[-1]

    def read_THRD(self, p):
        process, thread, self.tids[thread] = p.uleb(), p.uleb(), p.uleb()
        p.uleb()
        self.threads[thread] = process
        self.names[thread] = p.text()

    def read_STAK(self, p):
        self.read_nodes(p, self.nodes)

    def read_OSTK(self, p):
        self.read_nodes(p, self.outside)

    def read_nodes(self, p, trees):
        process, first, count = p.uleb(), p.uleb(), p.uleb()
        address = 0
        for own in range(first, first + count):
            parent, flags, image = own - p.uleb(), p.uleb(), p.uleb()
            address += p.sleb()
            place = "%d+0x%x" % (image - 1, address) if image else "0x%x" % address
            if trees is self.nodes:
                self.places[process][own] = parent, place
            at = address if flags & 1 or address == 0 else address - 1
            name = b"[no file]"
            if image:
                name = self.paths[self.images[image - 1]] + b"+0x%x" % at
            trees[process][own] = parent, name

    def read_KSTK(self, p):
        self.read_nodes(p, self.kernel)

    def read_KSMP(self, p):
        time, count = p.uleb(), p.uleb()
        for _ in range(count):
            time += p.uleb()
            self.kernel_samples.append((time, p.uleb(), p.uleb()))

    def read_KSYM(self, p):
        image, count, at = p.uleb(), p.uleb(), 0
        path = self.paths[self.images[image]]
        for _ in range(count):
            at += p.uleb()
            self.kernel_names[path + b"+0x%x" % at] = p.text()

    def read_SAMP(self, p):
        thread, time, count = p.uleb(), p.uleb(), p.uleb()
        for _ in range(count):
            time += p.uleb()
            cpu, node, end = p.uleb(), p.uleb(), p.uleb()
            stack = self.stack(thread, node, end % 64)
            self.samples.append((cpu, stack, time if end >= 64 else None))

    def join(self):
        """The samples, those in the kernel with its stacks: docs, KSMP."""
        left = [s for s in self.kernel_samples if s[2] in self.kernel[0]]
        for cpu, (thread, stack), time in self.samples:
            of = [s for s in left if s[1] == self.tids[thread]
                  and time is not None and s[0] <= time]
            left = [s for s in left if s not in of]
            most = max(1, (cpu + self.interval // 2) // self.interval)
            of = of[-most:]
            for i, (_, _, node) in enumerate(of):
                part = cpu // (len(of) - i)
                cpu -= part
                frames = self.frames(self.kernel[0], node)
                names = [self.kernel_names.get(f, f) for f in frames]
                yield part, (thread, stack + tuple(reversed(names)))
            if not of:
                yield cpu, (thread, stack)

    def read_BLOK(self, p):
        thread, _, count = p.uleb(), p.uleb(), p.uleb()
        for _ in range(count):
            _, duration, kind = p.uleb(), p.uleb(), p.uleb()
            node, end = p.uleb(), p.uleb()
            stack = self.outside_stack(thread, node, end, kind == 1)
            self.blocks.append((kind, duration, stack))

    def place(self, process, node):
        """The stack of a heap's chunks, leaf first."""
        places = ""
        while node != 0:
            node, place = self.places[process][node]
            places += " " + place
        return places

    def read_HEAP(self, p):
        process, flags, below = p.uleb(), p.uleb(), p.uleb()
        self.heaps[process] = Heap(
            "heap %d %d %d %d" % (process, flags & 1, flags >> 1 & 1, below)
        )

    def read_HPAR(self, p):
        process, first, count = p.uleb(), p.uleb(), p.uleb()
        heap = self.heaps[process]
        assert first == len(heap.pairs)
        for _ in range(count):
            node, end, requested, slop = (p.uleb() for _ in range(4))
            stack = self.place(process, node)
            heap.pairs.append((end, requested, slop, stack))

    def read_HSNP(self, p):
        process, number, _, why = (p.uleb() for _ in range(4))
        heap, text = self.heaps[process], p.text().decode()
        totals = [p.uleb() for _ in range(p.uleb())]
        missed = [p.uleb() for _ in range(p.uleb())]
        del totals[8:9]
        totals += [0] * (9 - len(totals))
        missed = (missed + [0] * 6)[:5] + [sum(missed[5:])]
        heap.number = number
        heap.lines["site"] = []
        heap.lines["snapshot"].append(
            "snapshot %d %d %d '%s' %s / %s"
            % (
                process,
                number,
                why,
                text,
                " ".join(map(str, totals)),
                " ".join(map(str, missed)),
            )
        )

    def read_HCNT(self, p):
        process, number, count = p.uleb(), p.uleb(), p.uleb()
        heap, pair = self.heaps[process], 0
        assert number == heap.number
        for _ in range(count):
            pair += p.uleb()
            end, requested, slop, stack = heap.pairs[pair]
            counts = [p.uleb() for _ in range(5)] + [end, requested, slop]
            heap.lines["site"].append(
                "site %d %s%s" % (process, " ".join(map(str, counts)), stack)
            )

    def read_HTIM(self, p):
        process, _, count = p.uleb(), p.uleb(), p.uleb()
        for _ in range(count):
            _, *live = p.uleb(), p.uleb(), p.uleb()
            self.heaps[process].lines["live"].append(
                "live %d %d %d" % (process, *live)
            )

    def read_HMEM(self, p):
        process, _ = p.uleb(), p.uleb()
        numbers = [p.uleb() for _ in range(4)]
        kinds = [p.uleb() for _ in range(p.uleb())]
        kinds = (kinds[:7] + [0] * 7)[:7] + [sum(kinds[7:])]
        self.heaps[process].lines["memory"].append(
            "memory %d %s" % (process, " ".join(map(str, numbers + kinds)))
        )

    def read_HWHO(self, p):
        process, count = p.uleb(), p.uleb()
        for _ in range(count):
            node, kind, size = p.uleb(), min(p.uleb(), 7), p.uleb()
            start, live, name = p.uleb(), p.uleb(), p.text().decode()
            stack = self.place(process, node)
            self.heaps[process].lines["place"].append(
                "place %d %d %d %d %d %s%s"
                % (process, kind, size, start, live, name, stack)
            )

    def read_HLEK(self, p):
        process, count, pair = p.uleb(), p.uleb(), 0
        heap = self.heaps[process]
        for _ in range(count):
            pair += p.uleb()
            _, requested, slop, stack = heap.pairs[pair]
            counts = [p.uleb() for _ in range(3)] + [requested, slop]
            heap.lines["leak"].append(
                "leak %d %s%s" % (process, " ".join(map(str, counts)), stack)
            )

    def read_stacks(self, p, name, fields):
        process, count = p.uleb(), p.uleb()
        for _ in range(count):
            stack = self.place(process, p.uleb())
            numbers = [str(p.uleb()) for _ in range(fields)]
            self.heaps[process].lines[name].append(
                "%s %d %s%s" % (name, process, " ".join(numbers), stack)
            )

    def read_HGRO(self, p):
        self.read_stacks(p, "growth", 8)

    def read_HWRO(self, p):
        self.read_stacks(p, "wrong", 3)

    def read_HMIX(self, p):
        process, count = p.uleb(), p.uleb()
        for _ in range(count):
            freed, taken = (self.place(process, p.uleb()) for _ in range(2))
            taken_by, freed_by, times, address = (p.uleb() for _ in range(4))
            line = "wrong %d 3 %d %d%s" % (process, times, address, freed)
            if taken:
                line += " taken %d %d%s" % (
                    taken_by if taken_by < 5 else 0, freed_by, taken)
            self.heaps[process].lines["wrong"].append(line)

    def read_HTOG(self, p):
        process, count = p.uleb(), p.uleb()
        heap = self.heaps[process]
        for _ in range(count):
            pair, other, blocks = p.uleb(), p.uleb(), p.uleb()
            heap.lines["together"].append(
                "together %d %d %d %d"
                % (process, blocks, heap.pairs[pair][1], heap.pairs[other][1])
            )

    def read_HREP(self, p):
        process, number, _, _, count = (p.uleb() for _ in range(5))
        heap = self.heaps[process]
        if number != heap.reports_of:
            heap.lines["reported"] = []
            heap.reports_of = number
        for _ in range(count):
            pair, reports, blocks = p.uleb(), p.uleb(), p.uleb()
            first, _, again, _ = (p.uleb() for _ in range(4))
            _, requested, slop, stack = heap.pairs[pair]
            line = "reported %d %d %d %d %d%s" % (
                process, reports, blocks, requested, slop, stack)
            for node in (first, again)[:reports]:
                line += " by" + self.place(process, node)
            heap.lines["reported"].append(line)

    def say_heaps(self):
        kinds = "snapshot live memory place site leak growth wrong together reported"
        kinds = kinds.split()
        for heap in self.heaps.values():
            print(heap.head)
            for kind in kinds:
                for line in heap.lines[kind]:
                    print(line)

    def frames(self, tree, node):
        frames = []
        while node != 0:
            node, name = tree[node]
            frames.append(name)
        return frames

    def below_thread(self, thread, frames):
        return thread, tuple(reversed(frames))

    def stack(self, thread, node, end):
        frames = self.frames(self.nodes[self.threads[thread]], node)
        if not frames:
            frames.append(b"[no stack]")
        elif end not in (0, 7):
            frames.append(b"[truncated]" if end == 1 else b"[lost]")
        return self.below_thread(thread, frames)

    def outside_stack(self, thread, node, end, waiting):
        frames = self.frames(self.outside[self.threads[thread]], node)
        if waiting:
            frames.append(b"[waiting for a CPU]")
        elif not frames:
            frames.append(b"[no stack]")
        elif end not in (0, 7):
            frames.append(b"[truncated]" if end == 1 else b"[lost]")
        return self.below_thread(thread, frames)

    def whole(self, thread, frames):
        """Names of threads may change until the end."""
        processes = list(self.threads.values())
        start = [self.programs[self.threads[thread]]]
        if len(set(processes)) < len(processes):
            start.append(self.names[thread])
        return tuple(start) + frames


def main():
    data = open(sys.argv[1], "rb").read()
    time = sys.argv[2]
    if time == "kernel":
        sys.stdout.buffer.write(with_kernel(data))
        return
    recording = Recording(data)
    if time == "heap":
        recording.say_heaps()
        return
    spent = collections.Counter()
    if time != "blocked":
        for cpu, stack in recording.join():
            spent[recording.whole(*stack)] += cpu
    if time != "cpu":
        for kind, duration, stack in recording.blocks:
            if kind == 0 or time == "wall":
                spent[recording.whole(*stack)] += duration
    clean = bytes.maketrans(
        b";" + bytes(range(32)) + b"\x7f", b":" + b" " * 33
    )
    unit = recording.interval
    for stack, ns in sorted(spent.items()):
        frames = (frame.translate(clean) or b"?" for frame in stack)
        count = max(1, (2 * ns + unit) // (2 * unit))
        sys.stdout.buffer.write(b";".join(frames) + b" %d\n" % count)


if __name__ == "__main__":
    main()
