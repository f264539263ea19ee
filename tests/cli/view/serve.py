# SPDX-License-Identifier: MIT
"""serve.py FILE COMMAND...: whether COMMAND, which prints an address,
serves FILE there, to whom it should and to nobody else. Its standard input is
ours to close."""
import re
import select
import socket
import subprocess
import sys

PATIENCE = 60


def ask(port, data, half=False):
    """What is said to `data`: status and headers, and the body."""
    with socket.create_connection(("127.0.0.1", port), PATIENCE) as s:
        s.sendall(data)
        if half:
            s.shutdown(socket.SHUT_WR)
        answer = b""
        while True:
            part = s.recv(1 << 16)
            if not part:
                break
            answer += part
    head, _, body = answer.partition(b"\r\n\r\n")
    return head.decode(), body


def request(path, host, method="GET", more=""):
    text = "%s %s HTTP/1.1\r\nHost: %s\r\n%s\r\n" % (method, path, host, more)
    return text.encode()


def status(answer):
    assert answer[0].startswith("HTTP/1.1 "), answer
    return int(answer[0].split(" ")[1])


def check(port, path, page):
    us = "127.0.0.1:%d" % port

    def says(wanted, data):
        answer = ask(port, data)
        assert status(answer) == wanted, (data[:200], answer[0])
        assert wanted == 200 or len(answer[1]) < 100, answer
        assert "no-store" in answer[0] and "nosniff" in answer[0]
        assert "default-src 'none'" in answer[0]
        assert "Access-Control" not in answer[0]
        return answer

    for host in us, "localhost:%d" % port, us + " ", "\t" + us:
        head, body = says(200, request(path, host))
        assert body == page, (len(body), len(page))
        assert "text/html; charset=utf-8" in head
        assert "Content-Length: %d\r\n" % len(page) in head
    head, body = ask(port, request(path, us, "HEAD"))
    assert "200 OK\r\n" in head and body == b"", (head, body)
    assert "Content-Length: %d\r\n" % len(page) in head
    head, body = ask(port, request("/", us, "HEAD"))
    assert "404 Not Found\r\n" in head and body == b"", (head, body)
    assert says(200, request(path[:-1], us))[1] == page
    says(200, request(path, us, more="X: " + 6000 * "x" + "\r\n"))
    for host in ("evil.example", "evil.example:%d" % port, "127.0.0.1", "",
                 "localhost", "127.0.0.1:%d" % (port + 1), us + "0",
                 "x" + us, us + ".evil.example", us + "\r\nHost: " + us,
                 us + "\r\nhost: evil.example", "[::1]:%d" % port):
        says(403, request(path, host))
    says(403, ("GET %s HTTP/1.1\r\n\r\n" % path).encode())
    says(403, ("GET %s HTTP/1.1\r\n\r\n\r\nHost: %s\r\n\r\n" % (path, us)).encode())
    other = path[:5] + ("1" if path[5] == "0" else "0") + path[6:]
    for wrong in ("/", "", "/favicon.ico", path[:-2], path[1:], path + "x", path + "?x",
                  path.upper() if path.upper() != path else "/x", other,
                  "/" + path, path * 2, "/etc/passwd", path + "../etc/passwd",
                  "http://%s%s" % (us, path), "/%00" + path):
        says(404 if wrong else 400, request(wrong, us).replace(b"GET  ", b"GET "))
    for method in "HEADS", "POST", "PUT", "OPTIONS", "get", "":
        answer = says(405, request(path, us, method))
        assert "Allow: GET, HEAD" in answer[0]
    for bad in (b"GET\r\n", b"GET / FTP/1.1\r\n", b"GET " + path.encode() + b"\r\n"):
        says(400, bad + b"Host: " + us.encode() + b"\r\n\r\n")
    says(400, b"GET /\0 HTTP/1.1\r\nHost: " + us.encode() + b"\r\n\r\n")
    says(431, b"GET /" + 9000 * b"x")
    assert ask(port, b"GET " + path.encode(), half=True) == ("", b"")
    assert ask(port, b"", half=True) == ("", b"")


def check_slow(port, path, page):
    """Those that say nothing, or take nothing, are in nobody's way."""
    us = "127.0.0.1:%d" % port
    idle = []
    for i in range(100):
        s = socket.create_connection(("127.0.0.1", port), PATIENCE)
        idle.append(s)
        if i % 2:
            s.sendall(request(path, us)[: 1 + i % 60])
        elif i % 4:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
            s.sendall(request(path, us))
        answer = ask(port, request(path, us))
        assert status(answer) == 200 and answer[1] == page
    for s in idle:
        s.close()
    assert ask(port, request(path, us))[1] == page


def main(file, *command):
    with open(file, "rb") as f:
        page = f.read()
    server = subprocess.Popen(command, stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE)
    try:
        assert select.select([server.stdout], [], [], PATIENCE)[0], "no address"
        url = server.stdout.readline().decode()
        found = re.fullmatch(r"http://127\.0\.0\.1:(\d+)(/[0-9a-f]{32}/)\n", url)
        assert found, url
        port, path = int(found.group(1)), found.group(2)
        with open("/proc/net/tcp", encoding="ascii") as f:
            listening = [row.split()[1] for row in f if " 0A " in row]
        assert "0100007F:%04X" % port in listening, listening
        check(port, path, page)
        check_slow(port, path, page)
        assert server.poll() is None
        if "view" in command:
            server.terminate()
        server.stdin.close()
        assert server.wait(PATIENCE) == 0, server.returncode
    finally:
        server.kill()


main(*sys.argv[1:])
