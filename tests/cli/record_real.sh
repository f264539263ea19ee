#!/bin/sh
# Real programs, recorded: the same output as without us, and 99 % of the
# stacks to their root.
. "$(dirname "$0")/record_lib.sh"
for program in xz sqlite3 g++; do
    command -v $program >/dev/null || exit 77
done

# recorded COMMAND...: its standard output into ./have.
recorded() {
    record 0 -- "$@" >have
    complete_above 99
}

# Threads, of a stripped library.
head -c 20000000 "$(g++ -print-prog-name=cc1plus)" >input
xz -T2 -2 -k -c --block-size=4MiB input >want
recorded xz -T2 -2 -k -c --block-size=4MiB input
cmp want have || fail "xz wrote something else"
at_least 3 "$(grep -c '^thread' dump)" "threads of xz"

# Standard input, and 200,000 rows joined.
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

# Children by fork and exec: the compiler and the assembler.
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
