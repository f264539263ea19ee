#!/bin/sh
# firefox.sh EXPORTMAKE: the Firefox Profiler's own code opens what is
# written for it: its command line, npm's @firefox-devtools/profiler-cli, which
# is PROFILER_CLI (its .js file) or among the global packages.
set -eu
. "$(dirname "$0")/../../lib/have.sh"
exportmake=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
need node
package=$(npm root -g 2>/dev/null || true)/@firefox-devtools/profiler-cli
cli=${PROFILER_CLI-$package/dist/profiler-cli.js}
[ -f "$cli" ] || skip "no profiler-cli, see PROFILER_CLI"
LC_ALL=C # numbers are written as there
export LC_ALL
work=$(mktemp -d)
HOME=$work
export HOME
# shellcheck disable=SC2317 # called by the trap
finish() {
    node "$cli" stop --all >/dev/null 2>&1 || true
    rm -rf "$work"
}
trap finish EXIT
cd "$work"
failed=0

# Its daemon may take long to start, and says so by failing.
ask() {
    tries=0
    until timeout 60 node "$cli" "$@" >said 2>&1; do
        tries=$((tries + 1))
        [ $tries -lt 60 ] || { echo "$name: $*: $(cat said)"; failed=1; return; }
        sleep 1
    done
    cat said >>page
}

# shows TEXT: in what was said since the file was opened
shows() {
    grep -qF -- "$1" page || { echo "$name: does not show: $1"; failed=1; }
}

for name in threads hostile heap; do
    "$exportmake" firefox out.json "$here/golden/$name.recipe" \
        "$here/golden/$name.names" 2
    : >page
    timeout 60 node "$cli" load out.json >loaded 2>&1 || true
    ask profile info
    case $name in
    threads)
        ask thread samples-top-down --include-idle
        ask thread markers --list
        ask thread functions --thread t-1 --include-idle
        ask function info f-2
        shows '3 threads across 2 processes'
        shows 'app [pid 4711]'
        shows 'app [tid 4711] - 78.000ms'
        shows 'work;er"<b> [tid 4712] - 18.000ms'
        shows 'app!run [total: 76.9%'
        shows 'app!tiny [total: 76.9%, self: 76.9%]'
        shows 'libhelp.so!help [total: 19.2%, self: 19.2%]'
        shows '[truncated] [total: 3.8%'
        shows 'missed the deadline: too "late"'
        shows 'app!wait_for_it - self: 7ms'
        shows 'Breakpad ID: D4C3B2A1F6E51807293A4B5C6D7E8F900'
        ;;
    hostile)
        ask thread functions --include-idle
        shows "<script>alert('x')</script> - self: 1ms"
        shows '__proto__ - self: 7ms'
        ;;
    heap)
        ask counter list
        ask strategy native-retained-allocations
        ask thread samples-top-down --include-idle
        shows 'Memory (Memory) [p-0 app, pid 100]'
        shows '[4 samples]'
        shows 'app!app+0x23 [total: 53.6%'
        shows 'lib.so!malloc [total: 45.4%'
        ;;
    esac
    timeout 60 node "$cli" stop --all >/dev/null 2>&1 || true
done
exit $failed
