#!/bin/sh
# kcachegrind.sh EXPORTMAKE WINDLASS MAKE_RECORDING: KCachegrind, on a
# screen that nobody sees, opens what is written for it. It says so by its
# window's title, and that it cannot by another window.
set -eu
. "$(dirname "$0")/../../lib/have.sh"
exportmake=$(realpath "$1")
windlass=$(realpath "$2")
make_recording=$(realpath "$3")
here=$(cd "$(dirname "$0")" && pwd)
for program in kcachegrind xvfb-run xwininfo xauth dbus-run-session; do
    command -v $program >/dev/null || skip "no $program"
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
mkdir -m 700 run home home/.config
printf '[TipOfDay]\nRunOnStart=false\n' >home/.config/kcachegrindrc
HOME=$work/home XDG_RUNTIME_DIR=$work/run QT_QPA_PLATFORM=xcb LC_ALL=C.UTF-8
export HOME XDG_RUNTIME_DIR QT_QPA_PLATFORM LC_ALL
unset XDG_CONFIG_HOME || true
failed=0

# Until one of its windows has the title $2, or is about an error.
cat >look.sh <<'EOF'
kcachegrind "$1" >said 2>&1 &
for _ in $(seq 600); do
    xwininfo -root -tree >windows
    grep -qF -e "\"$2" -e '"Error ' windows && break
    kill -0 $! || { touch died; break; }
    sleep 0.2
done
kill $!
wait
EOF

# opens FILE TITLE: once more where somebody else has taken the screen's number,
# and where the program has ended before it showed anything
opens() {
    for _ in 1 2 3 4 5; do
        rm -f windows died
        timeout 300 dbus-run-session -- xvfb-run -a sh look.sh "$1" "$2" \
            >look.log 2>&1 || true
        [ ! -s windows ] || [ -e died ] || break
    done
    grep -qF "\"$2" windows || {
        echo "$1: no window with the title $2"
        grep -i -F -e error -e kcachegrind windows || true
        cat look.log said
        failed=1
    }
    # It names the line of what it does not understand.
    ! grep -F 'Loading "' said || failed=1
}

"$make_recording" in.wndl <"$here/golden/threads.recipe"
"$windlass" export -f callgrind -o callgrind.out.threads in.wndl 2>err
opens callgrind.out.threads 'callgrind.out.threads [app --fast]'

for name in hostile hostile_heap; do
    "$exportmake" callgrind "callgrind.out.$name" "$here/golden/$name.recipe" \
        "$here/golden/$name.names" 0
    opens "callgrind.out.$name" "callgrind.out.$name [app --fast <b>]"
done

# A test that cannot fail would be none.
sed 2q callgrind.out.threads >callgrind.out.cut
(opens callgrind.out.cut Error >/dev/null)
grep -qF 'No data found' said || { echo "takes a cut file"; failed=1; }
exit $failed
