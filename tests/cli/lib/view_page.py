"""Reads the page of 'windlass view': docs/formats/view.md."""

import base64
import gzip
import json
import re
import struct
import sys


def column(data, c):
    size = {"u8": 1, "u32": 4, "f64": 8}[c["type"]]
    count, offset = c["length"], c["offset"]
    assert offset % 8 == 0 and offset + count * size <= len(data), c
    raw = data[offset : offset + count * size]
    if c.get("planes"):
        plain = bytearray(len(raw))
        for byte in range(size):
            plain[byte::size] = raw[byte * count : (byte + 1) * count]
        raw = bytes(plain)
    form = {"u8": "B", "u32": "I", "f64": "d"}[c["type"]]
    values = list(struct.unpack("<%d%s" % (count, form), raw))
    if c.get("delta"):
        last = 0
        for i, value in enumerate(values):
            last += value
            values[i] = last = last % (1 << 32) if form == "I" else last
    return values


class Page:
    def __init__(self, text):
        """The whole page, or what stands for it."""
        head = re.findall(
            '<script type="application/json" id="windlass-head">(.*?)</script>',
            text, re.S)
        data = re.findall(
            '<script type="text/plain" id="windlass-data">(.*?)</script>',
            text, re.S)
        later = re.findall(
            '<script type="text/plain" id="windlass-later">(.*?)</script>',
            text, re.S)
        assert len(head) == len(data) == len(later) == 1
        assert "<" not in head[0]
        assert re.fullmatch("[A-Za-z0-9+/]*={0,2}", data[0])
        assert re.fullmatch("[A-Za-z0-9+/]*={0,2}", later[0])
        self.head = json.loads(head[0])
        raws = [gzip.decompress(base64.b64decode(d[0])) for d in (data, later)]
        assert self.head["format"] == 2
        self.columns = {c["name"]: column(raws[c.get("later", False)], c)
                        for c in self.head["columns"]}
        assert len(self.columns) == len(self.head["columns"])
        self.strings, start = [], 0
        text = bytes(self["strings.bytes"])
        for end in self["strings.ends"]:
            self.strings.append(text[start:end].decode("utf-8"))
            start = end
        assert self.strings[0] == "" and start == len(text)
        self.check()

    def __getitem__(self, name):
        return self.columns[name]

    def check(self):
        """What readers rely on."""
        def within(name, size):
            assert all(v < size for v in self[name]), name

        def alike(*names):
            assert len({len(self[name]) for name in names}) == 1, names

        head, strings = self.head, len(self.strings)
        threads, nodes = len(head["threads"]), len(self["nodes.parent"])
        alike(*(n for n in self.columns if n.startswith("functions.")))
        alike(*(n for n in self.columns if n.startswith("locations.")))
        for table in "nodes", "samples", "blocks", "marks", "pauses":
            alike(*(n for n in self.columns if n.startswith(table + ".")))
        for name in ("functions.name", "functions.file", "locations.file",
                     "marks.text"):
            within(name, strings)
        within("functions.module", len(head["modules"]))
        within("locations.function", len(self["functions.name"]))
        for node, parent in enumerate(self["nodes.parent"]):
            assert parent < node or node == parent == 0
        assert all(l < len(self["locations.function"])
                   for l in self["nodes.location"][1:])
        for table in "samples", "blocks":
            within(table + ".thread", threads)
            within(table + ".node", nodes)
        within("marks.thread", threads)
        for time in "samples.time", "blocks.start", "marks.time":
            thread = self[time.split(".")[0] + ".thread"]
            order = list(zip(thread, self[time]))
            assert order == sorted(order), time
        self.check_sums()
        for i, heap in enumerate(head["heaps"]):
            assert heap["process"] < len(head["processes"])
            within("heap%d.stacks.node" % i, nodes)
            stacks = len(self["heap%d.stacks.node" % i])
            within("heap%d.sizes.stack" % i, stacks)
            for table in "stacks", "curve", "sizes":
                alike(*(n for n in self.columns
                        if n.startswith("heap%d.%s." % (i, table))))
        for process in head["processes"]:
            assert process["recording"] < len(head["recordings"])
        for thread in head["threads"]:
            assert thread["process"] < len(head["processes"])
        for source in head["sources"]:
            assert source["file"] < strings and source["text"] < strings
        for code in head["code"]:
            assert code["function"] < len(self["functions.name"])
            assert code["text"] < strings

    def check_sums(self):
        """They are those of samples, then of blocks, in their order."""
        sums = {}
        of_thread = [self.head["processes"][t["process"]]["recording"]
                     for t in self.head["threads"]]
        for table in "samples", "blocks":
            thread, node, end = (
                self[table + "." + n] for n in ("thread", "node", "end"))
            cpu = self["samples.cpu"] if table == "samples" else None
            for i in range(len(node)):
                row = sums.setdefault(
                    (of_thread[thread[i]], node[i], end[i]), [0, 0])
                row[0] += cpu is not None
                row[1] += cpu[i] if cpu is not None else 0
        told = zip(*(self["sums." + n] for n in (
            "recording", "node", "end", "samples", "cpu")))
        assert list(told) == [(*k, *v) for k, v in sums.items()]

    def name(self, node):
        function = self["locations.function"][self["nodes.location"][node]]
        return self.strings[self["functions.name"][function]]

    def stack(self, node):
        """Names, root first."""
        names = []
        while node != 0:
            names.append(self.name(node))
            node = self["nodes.parent"][node]
        return names[::-1]

    def dump(self):
        for key, value in self.head.items():
            if key in ("program", "columns"):
                continue
            rows = value if isinstance(value, list) else [value]
            for row in rows:
                print(key, json.dumps(row))
        for c in self.head["columns"]:
            values = self[c["name"]]
            if c["name"] == "strings.bytes":
                values = self.strings
            form = "".join(
                k[0] for k in ("delta", "planes", "later") if c.get(k))
            print(c["name"], c["type"], form, json.dumps(values))


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as file:
        Page(file.read()).dump()
