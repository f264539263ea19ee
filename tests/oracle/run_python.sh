#!/bin/sh
# run_python.sh NAME PROGRAM...: NAME.py beside this file, given the programs,
# in a folder of its own, which goes away with it.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
name=$1
shift
command -v python3 >/dev/null 2>&1 || {
    echo "$name: skipped: no python3"
    exit 77
}
for program; do
    shift
    set -- "$@" "$(realpath "$program")"
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
PYTHONDONTWRITEBYTECODE=1
PYTHONPATH=$here/../cli/lib
export PYTHONDONTWRITEBYTECODE PYTHONPATH
python3 "$here/$name.py" "$@"
