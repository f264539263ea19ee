#!/bin/sh
# dmd_vs_python.sh WINDLASS: reports on DMD files of each mode and their
# differences, against a second implementation.
set -eu
command -v python3 >/dev/null || exit 77
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
PYTHONDONTWRITEBYTECODE=1 python3 "$(dirname "$0")/dmd_vs_python.py" \
    "$(realpath "$1")" "$work"
