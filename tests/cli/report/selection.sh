#!/bin/sh
# selection.sh WINDLASS MAKE_RECORDING [--bless]: parts of a recording, and its
# stacks below a function or upside down, against selection_golden/*.expected.
cases=selection_golden
. "$(dirname "$0")/../lib/golden_lib.sh"

try_all() {
    try report --thread idle "$1"
    try report --thread main --by thread "$1"
    try report --process 4714 --time wall "$1"
    try report --from 0.25 --to 300ms --by thread "$1"
    try report --around "frame 1" --margin 20ms --time wall --marks "$1"
    try report --around frame --margin 1us --from 1 --by thread "$1"
    try report --filter +0x11ff --filter "!+0x340" "$1"
    try report --function server+0x12ff --module libhelp.so "$1"
    try report --focus server+0x11ff "$1"
    try report --focus server+0x11ff --tree "$1"
    try report --callers libhelp.so+0x340 "$1"
    try report --invert --time wall --min-percent 1 "$1"
    try report --thread idle --json "$1"
    try export --thread server --time wall "$1"
    try export --callers server+0x100f "$1"
    try export --filter "!0x11ff" "$1"
    try report --ignore libhelp.so+0x340 "$1"
    try report --callees server+0x11ff "$1"
    try report --collapse-recursion --tree "$1"
    try report --by file -n 3 "$1"
    try report --by address -n 3 "$1"
    try report --by address --json -n 2 "$1"
    try report --by address -n 2 -o rows.txt "$1"
    try annotate --callers server+0x11ff "$1"
    try annotate --asm --time wall libhelp.so+0x340 "$1"
    try annotate --json --time wall --process 4714 server+0x100f "$1"
    try report --process 4714 "$1"
    try report --function libhelp.so+0x340 --time blocked "$1"
    # What is refused, and how.
    try report --callees server+0x11ff --callers server+0x11ff "$1"
    try report --ignore server "$1"
    try annotate server+0x11f "$1"
    try annotate --heap server+0x11ff "$1"
    try report --thread nobody "$1"
    try report --from 2 --to 1 "$1"
    try report --from 1h "$1"
    try report --to -1 "$1"
    try report --from 900 "$1"
    try report --around nothing "$1"
    try report --focus 0x11ff "$1"
    try report --callers SERVER "$1"
    try report --focus server+0x11ff --invert "$1"
    try report --invert --by line "$1"
    try report --blocks peak --thread main "$1"
    try report --module libhlep.so "$1"
    try report --filter "!" "$1"
    try report --margin 3ms "$1"
}

check_recipes try_all
exit $failed
