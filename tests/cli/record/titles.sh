#!/bin/sh
# titles.sh WINDLASS RECDUMP FIXTURES: a process that writes a title over its
# arguments, as servers do for their workers, has that one in the report.
. "$(dirname "$0")/../lib/record_lib.sh"

cat >titled.c <<'C'
#include <string.h>
#include <time.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    struct timespec now, start;
    size_t size = (size_t)(argv[argc - 1] - argv[0]) + strlen(argv[argc - 1]);
    memset(argv[0], 0, size);
    strcpy(argv[0], "server: worker");
    clock_gettime(CLOCK_MONOTONIC, &start);
    do
        clock_gettime(CLOCK_MONOTONIC, &now);
    while (now.tv_sec < start.tv_sec + 4);
    return 7;
}
C
cc -o titled titled.c
record 7 -- ./titled an argument that gives it more room
"$windlass" report --json r.wndl >report
grep -qF '"command":["server: worker"]' report ||
    fail "not its title: $(grep -o '"command":\[[^]]*\]' report)"
grep -qF '"command":["./titled","an",' report ||
    fail "not what was started: $(grep -o '"command":\[[^]]*\]' report)"
