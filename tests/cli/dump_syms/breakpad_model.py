#!/usr/bin/env python3
"""breakpad_model.py FILE.sym <ADDRESSES: what the symbol file says of each
address, by the words of the format's description and nothing of ours, written
as 'windlass sym -Cfia' does."""
import bisect
import sys


class Function:
    def __init__(self, start, size, name):
        self.start, self.end, self.name = start, start + size, name
        self.lines, self.inlines = [], []


def read(path):
    files, origins, functions, publics = {}, {}, [], []
    for line in open(path):
        word, _, rest = line.rstrip("\n").partition(" ")
        if word == "FILE":
            number, _, name = rest.partition(" ")
            files[number] = name
        elif word == "INLINE_ORIGIN":
            number, _, name = rest.partition(" ")
            origins[number] = name
        elif word == "FUNC":
            start, size, _, name = rest.split(" ", 3)
            functions.append(Function(int(start, 16), int(size, 16), name))
        elif word == "PUBLIC":
            start, _, name = rest.split(" ", 2)
            publics.append((int(start, 16), name))
        elif word == "INLINE":
            depth, call_line, call_file, origin, *ranges = rest.split()
            ranges = [int(number, 16) for number in ranges]
            functions[-1].inlines.append(
                (int(depth), call_line, call_file, origin,
                 list(zip(ranges[::2], ranges[1::2]))))
        elif word not in ("MODULE", "INFO", "STACK"):
            size, number, name = rest.split()
            functions[-1].lines.append(
                (int(word, 16), int(size, 16), number, name))
    return files, origins, functions, sorted(publics)


def frames_of(function, address, files, origins):
    place = None
    for start, size, number, name in function.lines:
        if start <= address < start + size:
            place = (files[name], number)
    calls = [call for call in function.inlines
             if any(s <= address < s + size for s, size in call[4])]
    calls.sort(key=lambda call: -call[0])
    assert [call[0] for call in calls] == list(range(len(calls)))[::-1]
    for _, call_line, call_file, origin, _ in calls:
        yield origins[origin], place
        place = (files[call_file], call_line)
    yield function.name, place


def main():
    files, origins, functions, publics = read(sys.argv[1])
    functions.sort(key=lambda function: function.start)
    starts = [function.start for function in functions]
    public_starts = [start for start, _ in publics]
    for line in sys.stdin:
        address = int(line, 16)
        print("0x%016x" % address)
        at = bisect.bisect_right(starts, address) - 1
        below = functions[at] if at >= 0 else None
        if below and address < below.end:
            for name, place in frames_of(below, address, files, origins):
                print(name)
                known = place and place[1] != "0"
                print("%s:%s" % place if known else
                      (place[0] if place else "??") + ":?")
            continue
        at = bisect.bisect_right(public_starts, address) - 1
        if at >= 0 and (not below or publics[at][0] > below.start):
            print(publics[at][1] + "\n??:?")
        else:
            print("??\n??:0")


main()
