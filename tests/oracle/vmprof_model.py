#!/usr/bin/env python3
"""vmprof_model.py TRACE SHIFT FRAMES...: page faults of a trace of accesses.

Reads what Valgrind's own tool lackey prints with --trace-mem=yes and keeps
memory of FRAMES pages of 1 << SHIFT bytes by a clock. Prints a line for each
number of frames: instructions, accesses to data, and the first touches, clean
and dirty faults of both. It shares nothing with the tool it is held against.
"""
import sys


class Memory:
    def __init__(self, frames):
        self.room = frames
        self.frames = []  # page of each frame
        self.hand = 0
        self.referenced = {}
        self.dirty = {}
        self.counts = {"I": [0, 0, 0], "D": [0, 0, 0]}

    def make_room(self):
        """The frame that a new page takes, and whether a dirty one left."""
        if len(self.frames) < self.room:
            self.frames.append(None)
            return len(self.frames) - 1, False
        while self.referenced[self.frames[self.hand]]:
            self.referenced[self.frames[self.hand]] = False
            self.hand = (self.hand + 1) % self.room
        frame = self.hand
        page = self.frames[frame]
        was_dirty = self.dirty.pop(page)
        del self.referenced[page]
        self.hand = (self.hand + 1) % self.room
        return frame, was_dirty

    def touch(self, kind, page, is_write, is_first):
        if page not in self.referenced:
            frame, was_dirty = self.make_room()
            self.frames[frame] = page
            self.dirty[page] = False
            fault = 0 if is_first else 2 if was_dirty else 1
            self.counts[kind][fault] += 1
        self.referenced[page] = True
        self.dirty[page] = self.dirty[page] or is_write


def accesses(path):
    """Each access of the trace: kind, address, size, whether it writes."""
    modes = {"I ": ["I"], " L": ["L"], " S": ["S"], " M": ["L", "S"]}
    with open(path, errors="replace") as trace:
        for line in trace:
            for mode in modes.get(line[:2], []):
                address, _, size = line[3:].partition(",")
                yield ("I" if mode == "I" else "D", int(address, 16),
                       int(size), mode == "S")


def main():
    shift = int(sys.argv[2])
    memories = [Memory(int(frames)) for frames in sys.argv[3:]]
    totals = {"I": 0, "D": 0}
    seen = set()
    for kind, address, size, is_write in accesses(sys.argv[1]):
        totals[kind] += 1
        for page in range(address >> shift, (address + size - 1 >> shift) + 1):
            for memory in memories:
                memory.touch(kind, page, is_write, page not in seen)
            seen.add(page)
    for memory in memories:
        print(totals["I"], totals["D"],
              *memory.counts["I"], *memory.counts["D"])


main()
