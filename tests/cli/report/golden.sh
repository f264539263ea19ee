#!/bin/sh
# golden.sh WINDLASS MAKE_RECORDING [--bless]: what report and export
# print for the recordings of golden/*.recipe, against golden/*.expected.
cases=golden
. "$(dirname "$0")/../lib/golden_lib.sh"

# The same without the head of the report.
try_table() {
    try "$@" | awk '
        NR == 1 { print }
        /^ +self \(|^ share |^ total |^No |^ +time \(s/ { on = 1 }
        on || /^Shares/'
}

try_all() {
    try report "$1"
    try_table report --by line -n 3 "$1"
    try_table report --by module "$1"
    try_table report --by thread "$1"
    try report --tree --min-percent 1 "$1"
    try_table report --time blocked "$1"
    try_table report --time wall --tree "$1"
    try_table report --marks "$1"
    try report --tree --json --marks "$1"
    try report --time wall --json --by thread "$1"
    try export -f folded "$1"
    try export -f folded --time blocked "$1"
    try export -f folded --time wall "$1"
}

check_recipes try_all
exit $failed
