#!/bin/sh
# merge_vs_python.sh WINDLASS MAKE_RECORDING: profiles of many kinds, merged,
# against a slow implementation.
set -eu
windlass=$(realpath "$1")
make_recording=$(realpath "$2")
here=$(cd "$(dirname "$0")" && pwd)
command -v python3 >/dev/null 2>&1 || {
    echo "merge_vs_python: skipped: no python3"
    exit 77
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$here" python3 \
    "$here/merge_vs_python.py" "$windlass" "$make_recording"
