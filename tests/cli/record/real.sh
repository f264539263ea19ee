#!/bin/sh
# Real programs, recorded: the same output as without us, and 99 % of the
# stacks to their root.
. "$(dirname "$0")/../lib/record_lib.sh"
# recorded COMMAND...: its standard output into ./have.
recorded() {
    record 0 -- "$@" >have
    complete_above 99.5
}

# Threads, of a stripped library.
real_xz() {
    head -c 20000000 "$(g++ -print-prog-name=cc1plus)" >input
    xz -T2 -2 -k -c --block-size=4MiB input >want
    recorded xz -T2 -2 -k -c --block-size=4MiB input
    cmp want have || fail "xz wrote something else"
    at_least 3 "$(grep -c '^thread' dump)" "threads of xz"
}

# Standard input, and 200,000 rows joined.
real_sqlite3() {
    cat >script.sql <<'END'
create table a(id integer primary key, x integer, t text);
with recursive c(n) as (select 1 union all select n + 1 from c
    where n < 200000)
    insert into a select n, n * 7919 % 100003, 'text' || n from c;
create index i on a(x);
select count(*), sum(b.id), max(a.t) from a join a b on b.x = a.id % 100003;
END
    sqlite3 :memory: <script.sql >want
    recorded sqlite3 :memory: <script.sql
    cmp want have || fail "sqlite3 wrote something else"
}

# Children by fork and exec: the compiler and the assembler.
real_gxx() {
    cat >program.cc <<'END'
#include <algorithm>
#include <cstdio>
#include <map>
#include <numeric>
#include <string>
#include <vector>

struct point {
    double x, y;
};

static double distance_of(const point &a, const point &b)
{
    return (a.x - b.x) * (a.x - b.x) + (a.y - b.y) * (a.y - b.y); // hot
}

int main()
{
    std::vector<point> points(3000);
    for (size_t i = 0; i < points.size(); i++)
        points[i] = {double(i * 7919 % 1000), double(i * 104729 % 1000)};
    double sum = 0;
    for (int round = 0; round < 8; round++)
        for (const auto &a : points)
            for (const auto &b : points)
                sum += 1 / (1 + distance_of(a, b));
    std::map<std::string, int> names;
    for (int i = 0; i < 50000; i++)
        names[std::to_string(i % 777)]++;
    printf("%.3f %zu\n", sum, names.size());
}
END
    g++ -O2 -g -c program.cc -o want.o
    recorded g++ -O2 -g -c program.cc -o have.o
    cmp want.o have.o || fail "g++ wrote something else"
    for child in cc1plus as; do
        grep -q "^process .*$child" dump || fail "$child is not there"
    done

    # What was compiled: its inlined function, and the line of it.
    g++ want.o -o program
    ./program >want
    recorded ./program
    cmp want have || fail "the program wrote something else"
    "$windlass" report --no-pager --tree r.wndl >tree
    grep -q 'distance_of.*(inlined)' tree || fail "no inlined frame: $(cat tree)"
    line=$(grep -n '// hot' program.cc | cut -d: -f1)
    "$windlass" report --no-pager --by line r.wndl >lines
    grep -q "program.cc:$line " lines || fail "line $line is not hot: $(cat lines)"
}

# Hundreds of short children: a build of our own code.
real_make() {
    base=$(cd "$sources/../../../src/base" && pwd)
    cat >Makefile <<END
objects = \$(patsubst $base/%.c,%.o,\$(wildcard $base/*.c))
base.a: \$(objects)
	ar rcD \$@ \$(objects)
%.o: $base/%.c
	sh -c 'cc -O2 -D_GNU_SOURCE -I$base/.. -I$base/../../include -c \$< -o \$@'
END
    mkdir want.build have.build
    (cd want.build && make -s -j2 -f ../Makefile)
    recorded make -s -j2 -C have.build -f ../Makefile
    cmp want.build/base.a have.build/base.a || fail "make built something else"
    at_least 30 "$(grep -c '^process' dump)" "processes of make"
}

# Children and threads that share files: packing a repository.
real_git() {
    export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
    awk 'BEGIN {
        for (i = 1; i <= 400; i++) {
            text = ""
            for (line = 1; line <= 300; line++)
                text = text sprintf("line %d of %d\n", line,
                    line % 40 == i % 40 ? i * line : line)
            printf "commit refs/heads/main\nmark :%d\n", i
            printf "committer A <a@b> %d +0000\n", 1600000000 + i * 60
            from = (i > 1) ? "from :" (i - 1) "\n" : ""
            printf "data 6\nchange\n%s", from
            printf "M 644 inline file%d\ndata %d\n%s\n", i % 9, length(text),
                text
        }
    }' >history
    git init -q want.git
    git -C want.git config pack.threads 1
    git -C want.git fast-import --quiet <history
    git -C want.git repack -q -a -d -F --window=1 --depth=1
    cp -a want.git have.git
    git -C want.git gc -q --aggressive --prune=now
    record 0 -r 4000 -- git -C have.git gc -q --aggressive --prune=now
    complete_above 99.5
    (cd want.git/.git/objects/pack && cat -- *.pack) >want
    (cd have.git/.git/objects/pack && cat -- *.pack) >have
    cmp want have || fail "git gc packed something else"
    git -C have.git fsck --strict >/dev/null 2>&1 || fail "git gc broke it"
    at_least 5 "$(grep -c '^process' dump)" "processes of git"
}

redis_load() {
    for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
        redis-cli -s redis.sock ping >/dev/null 2>&1 && break
        sleep 0.1
    done
    redis-benchmark -s redis.sock -n 20000 -q -P 4 -t set,get,lpush,zadd \
        >/dev/null 2>&1
    awk 'BEGIN { for (i = 0; i < 2000; i++)
        print "incrby n " i "\nappend s " i "\nzadd z " i * 7919 % 997 " m" i
        print "get n\nstrlen s\nzrange z 0 20\nbgsave" }' |
        redis-cli -s redis.sock
    sleep 0.3
    redis-cli -s redis.sock shutdown save
}

# A server that sleeps in epoll_wait, and its threads in the background.
real_redis() {
    redis="redis-server --port 0 --unixsocket redis.sock --logfile log
        --appendonly yes"
    # shellcheck disable=SC2086 # a list of words
    $redis >/dev/null &
    redis_load >want
    wait $! || fail "redis-server fails by itself"
    rm -rf dump.rdb appendonlydir redis.sock
    redis_load >have &
    # shellcheck disable=SC2086
    record 0 -- $redis >/dev/null
    wait $!
    cmp want have || fail "redis-server answered something else"
    complete_above 99.5
    at_least 3 "$(grep -c '^thread' dump)" "threads of redis-server"
}

# An interpreter, with threads and a child.
real_python3() {
    cat >script.py <<'END'
import collections
import hashlib
import json
import re
import subprocess
import sys
import threading

def count_words(text):
    return collections.Counter(re.findall(r"\w+", text))

text = " ".join(f"word{i * 7919 % 1009}" for i in range(60000))
results = {}
def work(name):
    results[name] = sorted(count_words(text).items())[:50]
threads = [threading.Thread(target=work, args=(f"t{i}",)) for i in range(3)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(hashlib.sha256(json.dumps(results, sort_keys=True).encode()).hexdigest())
print(subprocess.run(["sh", "-c", "echo from a child; exit 3"],
    capture_output=True, text=True))
sys.exit(7)
END
    /usr/bin/python3 script.py >want || true
    record 7 -- /usr/bin/python3 script.py >have
    cmp want have || fail "python3 wrote something else"
    complete_above 99.5
}

# Code that is made while it runs.
real_node() {
    cat >script.js <<'END'
const crypto = require("crypto");
const { execFileSync } = require("child_process");
let points = [];
for (let i = 0; i < 200000; i++)
    points.push({ x: i * 7919 % 1000, y: i * 104729 % 1000 });
let sum = 0;
for (let round = 0; round < 60; round++)
    for (const p of points) sum += Math.sqrt(p.x * p.x + p.y * p.y) % 7;
points.sort((a, b) => a.x - b.x || a.y - b.y);
const hash = crypto.createHash("sha256").update(JSON.stringify(points));
console.log(sum.toFixed(3), hash.digest("hex"));
console.log(execFileSync("sh", ["-c", "echo from a child"]).toString());
setTimeout(() => process.exit(5), 50);
END
    node script.js >want || true
    record 5 -- node script.js >have
    cmp want have || fail "node wrote something else"
    rooted_above 95
}

# All, or those that are named; without those that are not here.
for part in ${WINDLASS_PARTS:-xz sqlite3 gxx make git redis python3 node}; do
    case $part in
    gxx) program=g++ ;;
    redis) program=redis-benchmark ;;
    python3) program=/usr/bin/python3 ;;
    *) program=$part ;;
    esac
    if have $program; then
        real_$part
    else
        echo "skipped: no $program"
    fi
done
