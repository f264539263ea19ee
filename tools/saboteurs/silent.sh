#!/bin/sh
# Writes nothing: no standard output, and no file that -o names or that
# exportmake writes, `exportmake FORMAT FILE ...`.
status=0
"$0.real" "$@" >/dev/null || status=$?
case $0 in
*/exportmake) rm -f "$2" ;;
esac
while [ $# -ge 1 ]; do
    case $1 in
    -o | --output) [ $# -lt 2 ] || rm -f "$2" ;;
    --output=*) rm -f "${1#*=}" ;;
    -o?*) rm -f "${1#-o}" ;;
    esac
    shift
done
exit $status
