# redis.sh: redis-server, whose reporters run where its event loop polls.
wishes="without twice all"
suspect='hash[A-Za-z]*'

build() {
    fetch redis
    [ -f source/src/redis_reports.c ] ||
        patch -s -d source -p1 <"$here/redis.patch"
    cp "$here/redis_reports.c" source/src
    make -j2 -C source/src redis-server MALLOC=libc USE_SYSTEMD=no \
        BUILD_TLS=no OPTIMIZATION=-O1 REDIS_CFLAGS="-I$include" \
        >make.log 2>&1 || fail "redis-server is not built: see $PWD/make.log"
}
# serve COMMAND...: starts the server by it, and fills it.
serve() {
    "$@" source/src/redis-server --save '' --port 0 --unixsocket socket \
        >log 2>&1 &
    started=$!
    python3 "$here/redis_fill.py" socket >pid ||
        fail "the server is not filled: see $PWD/log"
}
