#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""examples.py WINDLASS SOURCES: every example of --help, README and docs runs.

The files and programs that the examples name are made first. An example with
an option, a value or a number of files that windlass does not take fails.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

windlass, sources = map(os.path.abspath, sys.argv[1:3])
PROGRAM = """
#include <stdlib.h>
volatile unsigned long sum;
int main(void)
{
    for (unsigned i = 0; i < 30000000; i++)
        sum += i;
    for (unsigned i = 0; i < 1000000; i++) {
        char *volatile block = malloc(100);
        free(block);
    }
    char *volatile kept = malloc(100000);
    return kept == 0;
}
"""
CPU = """app.4711.cpu app.4712.cpu monday.cpu friday.cpu old.1.cpu new.1.cpu
    main.1.cpu branch.1.cpu v1 v2 v3 v1.a v2.a v3.a old new python3 db""".split()
HEAP = """app app.4711.heap monday.heap friday.heap server.4711.heap lua conv
    game.4711.heap glxinfo.4711.heap""".split()
# They need a program that is being recorded, or a server, or a suite of tests and
# its earlier errors; or serve for ever.
LOOSE = ("check", "ctl", "memlog", "memory", "push", "view", "diff", "doctor",
         "stack", "top")


def run(command, **more):
    return subprocess.run(
        ["bash", "-c", command], capture_output=True, text=True,
        stdin=subprocess.DEVNULL, errors="replace", **more)


def make_files():
    with open("app.c", "w") as out:
        out.write(PROGRAM)
    for name, text in (("bin/make", "exec true"), ("bin/node", "exec true"),
                       ("bin/jq", "exec cat"), ("bin/flamegraph.pl", "exec cat"),
                       ("bin/pidof", "echo 1"), ("crashes", "echo '#0 0x10'")):
        os.makedirs("bin", exist_ok=True)
        with open(name, "w") as out:
            out.write("#!/bin/sh\n" + text + "\n")
        os.chmod(name, 0o755)
    for command in (
            "cc -g -O1 -o app app.c", "cc -g -shared -fPIC -o libx.so app.c",
            "windlass record -q -r 5000 -o cpu.wndl -- ./app",
            "windlass heap -q --scan --mode dark-matter -o heap.wndl -- ./app",
            "windlass export -f dmd -o dmd.json heap.wndl",
            "windlass unwind-table build -o app.wut ./app"):
        done = run(command)
        if done.returncode != 0:
            sys.exit(f"{command}: {done.stderr}")
    for name in "server test convert program game".split():
        shutil.copy("app", name)
    for name in CPU:
        shutil.copy("cpu.wndl", name + ".wndl")
    for name in HEAP:
        shutil.copy("heap.wndl", name + ".wndl")
    for name in "dmd-browser-4711 dmd-browser-4711-1 dmd-browser-4711-2".split():
        run(f"gzip -c dmd.json >{name}.json.gz")
    for name in "log.txt in t.lua app.js queries.sql".split():
        open(name, "w").close()


def of_help():
    names = run("windlass --commands").stdout.split()
    for name in names:
        text = run(f"windlass {name} --help").stdout
        on = False
        for line in text.splitlines():
            on = on or line == "Examples:"
            if on and re.match(r"  \S", line):
                yield f"{name} --help", line.strip()


def of_pages():
    pages = [os.path.join(sources, "README.md")]
    docs = os.path.join(sources, "docs")
    pages += [os.path.join(docs, p) for p in os.listdir(docs)
              if p.endswith(".md")]
    for page in sorted(pages):
        fenced = False
        for line in open(page, encoding="utf-8"):
            if line.startswith("```"):
                fenced = not fenced
            match = re.match(r"(?:\$ |    )?(.*\bwindlass [a-z].*)", line)
            if not match or not (fenced or line.startswith("    ")):
                continue
            command = match[1].strip()
            if re.match(r"(windlass|\./\w+ .*\| windlass) ", command):
                yield os.path.relpath(page, sources), command


# Libraries of packages that need not be there.
def lacks_library(command):
    return any(not os.path.exists(word) for word in command.split()
               if word.startswith("/usr/lib/"))


# Placeholders, other programs, lines that go on, sentences, services.
def is_skipped(command):
    words = r"EARLIER|FIRST|CMD|FILE|\.\.\.|URL|qemu-|lua |/builds/|bench/"
    return (re.search(words, command) is not None or command.endswith("\\")
            or not re.match(r"(windlass|\./|valgrind )", command)
            or lacks_library(command) or "27248" in command
            or "vmprof" in command or command.startswith("windlass mvp")
            or command.startswith("valgrind")
            or re.match(r"windlass [a-z-]+ (says|is|was|shows)\b", command))


# The processes with these numbers are none of ours.
def is_loose(command):
    return (verb_of(command) in LOOSE
            or re.match(r"windlass record (-p|--tree) ", command) is not None)


def verb_of(command):
    return re.search(r"windlass ([a-z-]+)", command)[1]


def fails(command):
    try:
        done = run(command, timeout=20)
    except subprocess.TimeoutExpired:
        # Valgrind takes its time.
        endless = verb_of(command) in ("check", "stack", "view")
        return None if endless else "does not end"
    if "built without the viewer" in done.stderr:
        return None
    usage = re.search(r"--help'|unknown|is missing|takes one of", done.stderr)
    if done.returncode == 2 or (usage and done.returncode != 0):
        return done.stderr
    if done.returncode != 0 and not is_loose(command):
        return f"status {done.returncode}: {done.stderr}"
    return None


def main():
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        os.environ["PATH"] = ":".join(
            (os.path.join(work, "bin"), os.path.dirname(windlass),
             os.environ["PATH"]))
        os.environ.pop("DISPLAY", None)
        for folder in "RUNTIME_DIR", "STATE_HOME", "CACHE_HOME":
            os.makedirs(folder, mode=0o700)
            os.environ["XDG_" + folder] = os.path.join(work, folder)
        make_files()
        count = bad = 0
        for where, command in sorted(set([*of_help(), *of_pages()])):
            if is_skipped(command):
                continue
            count += 1
            problem = fails(command)
            if problem:
                bad += 1
                print(f"examples: {where}: {command}: {problem.strip()}")
        os.chdir("/")
    print(f"examples: {count} run, {bad} fail")
    return bad != 0 or count < 60


sys.exit(main())
