#!/bin/sh
# run_python.sh NAME PROGRAM...: NAME.py beside this file, given the programs,
# in a folder of its own, which goes away with it.
set -eu
. "$(dirname "$0")/../lib/have.sh"
here=$(cd "$(dirname "$0")" && pwd)
name=$1
shift
need python3
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
