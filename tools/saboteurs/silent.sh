#!/bin/sh
# Writes nothing: no standard output, and no file that -o names.
status=0
"$0.real" "$@" >/dev/null || status=$?
while [ $# -ge 1 ]; do
    case $1 in
    -o | --output) [ $# -lt 2 ] || rm -f "$2" ;;
    --output=*) rm -f "${1#*=}" ;;
    -o?*) rm -f "${1#-o}" ;;
    esac
    shift
done
exit $status
