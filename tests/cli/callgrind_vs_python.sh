#!/bin/sh
# callgrind_vs_python.sh WINDLASS MAKE_RECORDING: call graphs against a slow
# implementation's and callgrind_annotate's figures.
set -eu
windlass=$(realpath "$1")
make_recording=$(realpath "$2")
here=$(cd "$(dirname "$0")" && pwd)
command -v python3 >/dev/null 2>&1 || {
    echo "callgrind_vs_python: skipped: no python3"
    exit 77
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$here" python3 \
    "$here/callgrind_vs_python.py" "$windlass" "$make_recording"
