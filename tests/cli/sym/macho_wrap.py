# SPDX-License-Identifier: MIT
"""Wraps code, debug information and symbols of a linked ELF program in Mach-O
of the same size and byte order, for processors that no linker of ours makes
Mach-O for.

    macho_wrap.py ELF MACHO CPU
"""
import struct
import sys

elf = open(sys.argv[1], "rb").read()
cpu = int(sys.argv[3], 0)
wide = elf[4] == 2
order = "<" if elf[5] == 1 else ">"
word = "Q" if wide else "I"


def elf_sections():
    at = struct.unpack_from(order + word, elf, 40 if wide else 32)[0]
    each, count, strings = struct.unpack_from(
        order + "HHH", elf, 58 if wide else 46)
    form = order + ("IIQQQQIIQQ" if wide else "10I")
    rows = [struct.unpack_from(form, elf, at + i * each) for i in range(count)]
    names = rows[strings][4]
    for row in rows:
        end = elf.index(b"\0", names + row[0])
        name = elf[names + row[0]:end].decode()
        content = b"" if row[1] == 8 else elf[row[4]:row[4] + row[5]]
        yield name, row, content


sections = list(elf_sections())
text = next(s for s in sections if s[0] == ".text")
debug = [s for s in sections if s[0].startswith(".debug_")]
table = next(s for s in sections if s[0] == ".symtab")[2]
strings = next(s for s in sections if s[0] == ".strtab")[2]
base = text[1][3] & ~0xfff

names = bytearray(b"\0")
symbols = b""
count = 0
step = 24 if wide else 16
for at in range(0, len(table), step):
    if wide:
        name, info, _, index, value, _ = struct.unpack_from(
            order + "IBBHQQ", table, at)
    else:
        name, value, _, info, _, index = struct.unpack_from(
            order + "IIIBBH", table, at)
    if info & 15 != 2:
        continue
    end = strings.index(b"\0", name)
    symbols += struct.pack(order + "IBBH" + word, len(names),
                           0x0f if info >> 4 else 0x0e, 1, 0, value)
    names += b"_" + strings[name:end] + b"\0"
    count += 1

header_size = 32 if wide else 28
segment_size, section_size = (72, 80) if wide else (56, 68)
commands = 2 * segment_size + (1 + len(debug)) * section_size + 24
at = header_size + commands
blob = b""
total = (at + len(text[2]) + sum(len(s[2]) for s in debug) + len(symbols) +
         len(names))


def place(content):
    global blob
    where = at + len(blob)
    blob += content
    return where


def section(name, segment, addr, content, flags):
    out = struct.pack("16s16s", name.encode()[:16], segment.encode())
    out += struct.pack(order + 2 * word, addr, len(content))
    out += struct.pack(order + "7I", place(content), 0, 0, 0, flags, 0, 0)
    return out + (b"\0" * 4 if wide else b"")


def segment(name, addr, size, parts):
    body = b"".join(parts)
    out = struct.pack(order + "II", 0x19 if wide else 1,
                      segment_size + len(body))
    out += struct.pack("16s", name.encode())
    out += struct.pack(order + 4 * word, addr, size, 0, total)
    return out + struct.pack(order + "4I", 7, 5, len(parts), 0) + body


load = segment("__TEXT", base, max(text[1][3] + len(text[2]) - base, total),
               [section("__text", "__TEXT", text[1][3], text[2], 0x80000400)])
load += segment("__DWARF", 0, total, [
    section("__" + s[0][1:], "__DWARF", 0, s[2], 0x02000000) for s in debug])
load += struct.pack(order + "6I", 2, 24, place(symbols), count,
                    place(bytes(names)), len(names))
head = struct.pack(order + "7I", 0xfeedfacf if wide else 0xfeedface, cpu, 0,
                   2, 3, len(load), 0) + (b"\0" * 4 if wide else b"")
assert len(load) == commands
open(sys.argv[2], "wb").write(head + load + blob)
