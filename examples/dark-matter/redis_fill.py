#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""redis_fill.py SOCKET: fills a Redis server with strings, hashes, lists, sets
and sorted sets, some 60 MB, and prints its process id."""
import socket
import sys
import time

SCRIPT = """
local x = string.rep('x', 90)
for i = 1, 60000 do redis.call('SET', 'string:' .. i, x .. i) end
for i = 1, 20000 do
    redis.call('HSET', 'hash:' .. i, 'name', x, 'mail', x, 'n', i)
end
for i = 1, 100000 do redis.call('HSET', 'big hash', 'field:' .. i, x .. i) end
for i = 1, 100000 do redis.call('RPUSH', 'list:' .. i % 100, x .. i) end
for i = 1, 60000 do redis.call('SADD', 'set:' .. i % 20, 'member:' .. i) end
for i = 1, 60000 do redis.call('ZADD', 'rank:' .. i % 20, i, 'm:' .. i) end
for i = 1, 20000 do redis.call('EXPIRE', 'string:' .. i, 100000) end
return 'filled'
"""


def connect(path):
    for _ in range(600):
        try:
            s = socket.socket(socket.AF_UNIX)
            s.connect(path)
            return s
        except OSError:
            time.sleep(0.1)
    sys.exit("redis_fill: nobody listens at " + path)


def ask(s, *words):
    data = b"*%d\r\n" % len(words)
    for word in words:
        word = word.encode()
        data += b"$%d\r\n%s\r\n" % (len(word), word)
    s.sendall(data)
    answer = b""
    while not answer.endswith(b"\r\n"):
        answer += s.recv(65536)
    return answer


def main(path):
    s = connect(path)
    if b"filled" not in ask(s, "EVAL", SCRIPT, "0"):
        sys.exit("redis_fill: the script failed")
    info = ask(s, "INFO", "server").decode()
    print(info.split("process_id:")[1].split()[0])


if __name__ == "__main__":
    main(sys.argv[1])
