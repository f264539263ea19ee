#!/bin/sh
# Doubles the byte in the middle of standard output, and of the file that -o
# names or that exportmake writes, `exportmake FORMAT FILE ...`.
double() {
    half=$(($(wc -c <"$1") / 2))
    head -c $((half + 1)) "$1"
    tail -c +$((half + 1)) "$1"
}
double_file() {
    [ -f "$1" ] || return 0
    double "$1" >"$output"
    cat "$output" >"$1"
}
output=$(mktemp)
status=0
"$0.real" "$@" >"$output" || status=$?
[ ! -s "$output" ] || double "$output" || status=1
case $0 in
*/exportmake) double_file "$2" ;;
esac
while [ $# -ge 1 ]; do
    case $1 in
    -o | --output) [ $# -lt 2 ] || double_file "$2" ;;
    --output=*) double_file "${1#*=}" ;;
    -o?*) double_file "${1#-o}" ;;
    esac
    shift
done
rm -f "$output"
exit $status
