#!/bin/sh
# SPDX-License-Identifier: MIT
# messages.sh WINDLASS: with --gdb the program waits at its first error for gdb,
# which sees the line at fault; with --log-socket Valgrind's messages go where they
# are to; and the list comes all the same.
. "$(dirname "$0")/../lib/check_lib.sh"
need valgrind gcc g++ python3
cd "$work"

# await COMMAND...: until it succeeds.
await() {
    waited=0
    until "$@"; do
        [ "$waited" -lt 300 ] || fail "no end of waiting: $*"
        waited=$((waited + 1))
        sleep 0.1
    done
}

gcc -g -gdwarf-4 -O0 "$here/kinds.c" -o kinds
cat >listen.py <<'END'
import socket
server = socket.create_server(("127.0.0.1", 0))
server.settimeout(60)
with open("port.new", "w") as file:
    file.write(str(server.getsockname()[1]))
__import__("os").rename("port.new", "port")
connection, _ = server.accept()
with open("heard", "wb") as heard:
    while part := connection.recv(4096):
        heard.write(part)
END
python3 listen.py &
await [ -s port ]
run 3 --log-socket "127.0.0.1:$(cat port)" -- ./kinds avx512
wait $! || fail "nobody was connected"
grep -q 'Unrecognised instruction at address' heard ||
    fail "the messages were not sent: $(cat heard)"
said '^    InvalidWrite  in_parent '
! grep -q 'Unrecognised instruction' err || fail "messages are here, too"

have gdb && have vgdb || skip "no gdb"
g++ -g -gdwarf-4 -O0 -pthread "$here/bugs.cc" -o bugs
"$windlass" check --gdb -- ./bugs o >out 2>err &
await grep -q 'action on error. vgdb me' err
gdb -batch -nx \
    -ex "target remote | $(sed -n 's/.*target remote | //p' err | sed -n 1p)" \
    -ex bt -ex detach ./bugs >seen 2>&1 || fail "gdb: $(cat seen)"
grep -q '^#0  overrun () at .*/bugs\.cc:[0-9]*$' seen || fail "gdb: $(cat seen)"
status=0
wait $! || status=$?
[ "$status" -eq 3 ] || fail "status $status after gdb has let go"
said '^    InvalidWrite  overrun\(\) '
exit 0
