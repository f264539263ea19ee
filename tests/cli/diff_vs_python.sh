#!/bin/sh
# diff_vs_python.sh WINDLASS MAKE_RECORDING: what diff says of random
# recordings, against sums of what export writes of each.
set -eu
windlass=$(realpath "$1")
make_recording=$(realpath "$2")
here=$(cd "$(dirname "$0")" && pwd)
command -v python3 >/dev/null 2>&1 || {
    echo "diff_vs_python: skipped: no python3"
    exit 77
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
PYTHONDONTWRITEBYTECODE=1 \
    python3 "$here/diff_vs_python.py" "$windlass" "$make_recording"
