#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""screen.py WINDLASS PROGRAM [OPTION]: drives the screen of `windlass top` by a
pseudo-terminal. Ctrl-L lets it draw all again, so that the words of the last
picture are together in what it writes."""
import fcntl
import os
import pty
import re
import select
import struct
import sys
import termios
import time

windlass, program, *options = sys.argv[1:]
PATIENT = 40  # s
pid, terminal = pty.fork()
if pid == 0:
    os.environ["TERM"] = "xterm"
    os.execv(windlass, [windlass, "top", "--interval", "0.3", *options,
                        program])
fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 100, 0, 0))


def read(seconds):
    """What it writes within so long."""
    parts = []
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        if not select.select([terminal], [], [], left)[0]:
            break
        try:
            part = os.read(terminal, 65536)
        except OSError:
            break
        if not part:
            break
        parts.append(part)
    return b"".join(parts).decode("latin-1")


def picture():
    """The words of a whole picture."""
    read(0.05)
    os.write(terminal, b"\x0c")
    drawn = read(0.5)
    return re.sub(r"\x1b(\[[0-9;?]*[A-Za-z]|\(B|[=>78])", " ", drawn)


def await_words(*expressions):
    """Until a picture has all of them."""
    end = time.monotonic() + PATIENT
    while time.monotonic() < end:
        shown = picture()
        if all(re.search(e, shown) for e in expressions):
            return
        if is_over():
            sys.exit(f"top: ended before {expressions}")
    sys.exit(f"top: no {expressions} in {shown!r}")


def is_over():
    """Whether it has ended, though nobody asked."""
    return os.waitpid(pid, os.WNOHANG)[0] != 0


def press(keys):
    os.write(terminal, keys)


def drive_time():
    await_words(r"turn\s+\[busy\]", r"by self", r"CPU time", r"q quit")
    press(b"s")
    await_words(r"by total")
    press(b"s")
    await_words(r"by name")
    press(b"s")
    await_words(r"by self")
    press(b"/turn\n")
    await_words(r"/turn", r"turn\s+\[busy\]")
    press(b"\n")
    await_words(r"<\s+work\s+\[busy\]")
    press(b"\n")
    press(b"/")
    press(b"\x7f" * 4 + b"\n")
    await_words(r"main\s+\[busy\]")
    press(b"t")
    await_words(r"blocked time")
    press(b"t")
    await_words(r"wall-clock time")
    press(b"p")
    await_words(r"frozen")
    press(b"p")
    press(b"w")
    end = time.monotonic() + PATIENT
    while not any(n.startswith("windlass-top.") and n.endswith(".wndl")
                  for n in os.listdir(".")):
        if time.monotonic() > end:
            sys.exit("top: w writes nothing")
        read(0.1)


def drive_heap():
    await_words(r"hold\s+\[busy\]", r"live heap")
    for words in (r"CPU time", r"blocked time", r"wall-clock time"):
        press(b"t")
        await_words(words)
        if words == r"CPU time":
            await_words(r"turn\s+\[busy\]")
    press(b"t")
    await_words(r"live heap", r"hold\s+\[busy\]")


if options:
    drive_heap()
else:
    drive_time()
press(b"q")
end = time.monotonic() + PATIENT
while True:
    read(0.1)
    done, status = os.waitpid(pid, os.WNOHANG)
    if done:
        break
    if time.monotonic() > end:
        sys.exit("top: q does not end it")
if os.waitstatus_to_exitcode(status) != 0:
    sys.exit(f"top: ends with {status:#x}")
