#!/bin/sh
# fetch.sh DIR [FROM]: has npm fetch what the package-lock.json beside this, or
# in FROM, names into DIR/node_modules, once. Fails, and says why, when that
# cannot be.
set -eu
here=$(cd "${2-$(dirname "$0")}" && pwd)
mkdir -p "$1"
cd "$1"
exec 9>lock
flock 9
cmp -s "$here/package-lock.json" fetched && exit 0
command -v npm >/dev/null || { echo "skipped: no npm"; exit 1; }
cp "$here/package.json" "$here/package-lock.json" "$here/.npmrc" .
timeout 300 npm ci --ignore-scripts --fetch-retries=1 >said 2>&1 || {
    echo "skipped: npm fetches nothing here: $(grep -m 1 -i err said)"
    exit 1
}
cp "$here/package-lock.json" fetched
