#!/bin/sh
# serve.sh SERVEFILE: a page as windlass view serves it, asked for by
# clients of all kinds.
set -eu
. "$(dirname "$0")/../../lib/have.sh"
servefile=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
need python3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
head -c 3000000 /dev/zero | tr '\0' x >page
python3 "$here/serve.py" page "$servefile" page
