#!/bin/sh
# push.sh WINDLASS MAKE_RECORDING: profiles that are sent to a server arrive
# there, as protoc reads them; what a server may answer is told.
set -eu
. "$(dirname "$0")/../../lib/have.sh"
windlass=$(realpath "$1")
make_recording=$(realpath "$2")
here=$(cd "$(dirname "$0")" && pwd)
need python3 protoc
ldconfig -p | grep -q -e 'libcurl\.so\.4' -e 'libcurl-gnutls\.so\.4' ||
    skip "no libcurl"
work=$(mktemp -d)
server=
# shellcheck disable=SC2317 # called by the trap
finish() {
    [ -z "$server" ] || kill "$server"
    wait
    rm -rf "$work"
}
trap finish EXIT
cd "$work"
LC_ALL=C
export LC_ALL
unset WINDLASS_OPTIONS WINDLASS_PUSH_HEADER http_proxy https_proxy all_proxy \
    HTTP_PROXY HTTPS_PROXY ALL_PROXY || true
failed=0
fail() {
    echo "FAIL $*"
    failed=1
}

python3 "$here/server.py" . >server.log 2>&1 &
server=$!
tries=0
until [ -s port ]; do
    kill -0 $server || { cat server.log; exit 1; }
    tries=$((tries + 1))
    [ $tries -lt 600 ] || { echo "the server does not start"; exit 1; }
    sleep 0.1
done
url=http://127.0.0.1:$(cat port)

"$make_recording" time.wndl <"$here/../export/golden/threads.recipe"
"$make_recording" heap.wndl <"$here/../export/golden/heap.recipe"
"$windlass" export -f pprof -o time.pprof time.wndl 2>err
"$windlass" export -f pprof -o heap.pprof heap.wndl 2>err
count=0

# push STATUS ARGUMENT...: what it says is in `said`
push() {
    want=$1
    shift
    status=0
    "$windlass" push "$@" >out 2>said || status=$?
    [ $status -eq "$want" ] || fail "push $*: status $status: $(cat said)"
    [ ! -s out ] || fail "push $*: prints $(cat out)"
}

# says TEXT: so does `said`
says() {
    grep -qF -- "$1" said || fail "does not say '$1': $(cat said)"
}

# arrived PROFILE LINE...: one more request, of those lines, with that profile
arrived() {
    count=$((count + 1))
    [ -f $count.request ] || { fail "no request $count"; return; }
    tr -d '\r' <$count.request >request
    profile=$1
    shift
    for line in "$@"; do
        grep -qxF -- "$line" request || fail "no '$line' in $(cat request)"
    done
    # The bytes of an export, and to a decoder of another's a profile.
    python3 "$here/body.py" $count.body >sent.pprof
    cmp sent.pprof "$profile" || fail "request $count has another profile"
    gzip -dc sent.pprof | protoc --proto_path="$here/../export/golden" \
        --decode=windlass.Profile pprof.proto >decoded
    grep -q '^sample {' decoded || fail "request $count has no samples"
    grep -qxF 'string_table: "process"' decoded ||
        fail "request $count does not tell programs apart"
}

# Pyroscope's first way: what it is is in the address.
push 0 "$url" time.wndl
says "sent app's process_cpu profile"
arrived time.pprof "POST /ingest?name=app&from=1763719200000000000\
&until=1763719200121400000&format=pprof&spyName=windlass HTTP/1.1" \
    'Content-Type: application/octet-stream' 'User-Agent: windlass'
for name in app kid; do
    grep -qxF "string_table: \"$name\"" decoded || fail "no program $name"
done
push 0 --name a/b.c --label env=pro+d --label x_1='a b&c#%' "$url/base/" \
    heap.wndl
says "sent a/b.c's memory profile"
arrived heap.pprof "POST /base/ingest?name=a%2Fb.c%7Benv%3Dpro%2Bd%2Cx_1%3D\
a%20b%26c%23%25%7D&from=1763719200000000000&until=1763719200003500000\
&format=pprof&spyName=windlass HTTP/1.1"

# Its second, and Parca's: everything is in the body.
push 0 --api push --label env=prod "$url" time.wndl
arrived time.pprof 'POST /push.v1.PusherService/Push HTTP/1.1' \
    'Content-Type: application/json'
python3 "$here/body.py" $count.body labels >labels
cat >want <<'EOF'
__delta__=false
__name__=process_cpu
env=prod
service_name=app
EOF
diff want labels || fail "other labels"
push 0 --api parca --label env=prod "$url/api/profiles/writeraw" heap.wndl
arrived heap.pprof 'POST /api/profiles/writeraw HTTP/1.1'
python3 "$here/body.py" $count.body labels >labels
cat >want <<'EOF'
__name__=memory
env=prod
service_name=app
EOF
diff want labels || fail "other labels"

# Who asks.
WINDLASS_PUSH_HEADER='Authorization: Bearer secret' "$windlass" push \
    -H 'X-Scope-OrgID: us' "$url" time.wndl 2>said
arrived time.pprof 'Authorization: Bearer secret' 'X-Scope-OrgID: us'
push 0 "http://me:secret@${url#http://}" time.wndl
arrived time.pprof "Authorization: Basic $(printf me:secret | base64)"
! grep -q secret said || fail "tells the password: $(cat said)"
push 1 "http://me:secret@${url#http://}/here" time.wndl
says '/login; nothing was sent there'
! grep -q secret said || fail "tells the password: $(cat said)"
push 1 "http://me:sec/ret@${url#http://}/here" time.wndl
! grep -q ret@ said || fail "tells the password: $(cat said)"

# What may go wrong there.
for code in 422 500; do
    push 1 "$url/$code" time.wndl
    says "$url/$code: the server answered $code: no  [31mprofile  <b>"
    [ "$(wc -c <said)" -lt 500 ] || fail "says too much"
    count=$((count + 1))
done
push 1 "$url/elsewhere" time.wndl
says 'redirects to http://127.0.0.1:1/x; nothing was sent there'
push 1 "$url/gone" time.wndl
says 'Empty reply from server'
push 1 --timeout 0.5 "$url/silent" time.wndl
says 'timed out'
push 1 http://127.0.0.1:1 time.wndl
says 'http://127.0.0.1:1: Failed to connect to 127.0.0.1 port 1'
push 1 --timeout 5 http://me:secret@host.invalid time.wndl
says 'http://host.invalid: '
! grep -q secret said || fail "tells the password: $(cat said)"

# Without the library.
mkdir none
echo none >none/libcurl.so.4
cp none/libcurl.so.4 none/libcurl-gnutls.so.4
status=0
LD_LIBRARY_PATH=$work/none "$windlass" push "$url" time.wndl 2>said ||
    status=$?
[ $status -eq 1 ] || fail "without libcurl: status $status"
says 'cannot load libcurl.so.4; install it (Debian: libcurl4)'

# What cannot be sent.
push 1 "$url" no-such-file
"$make_recording" none.wndl <"$here/../report/golden/no_samples.recipe"
push 1 "$url" none.wndl
says 'neither samples nor a heap'
push 2 ftp://127.0.0.1 time.wndl
push 2 "$url/?a=b" time.wndl
push 2 -H 'no colon' "$url" time.wndl
push 2 -H "$(printf 'A: b\nC: d')" "$url" time.wndl
push 2 --label a "$url" time.wndl
push 2 --label __a=b "$url" time.wndl
push 2 --label 1a=b "$url" time.wndl
push 2 --label 'a=b,c' "$url" time.wndl
push 2 --name 'a{b' "$url" time.wndl
exit $failed
