# SPDX-License-Identifier: MIT
"""server.py FOLDER: a server for profiles. Its port is in FOLDER/port as
soon as it listens. The first part of a path says how it answers; what it was
sent is in FOLDER/N.request (the line and the header) and FOLDER/N.body."""
import http.server
import itertools
import os
import sys
import threading

folder = sys.argv[1]
numbers = itertools.count(1)
hostile = b"no \x1b[31mprofile\x07\n<b>\xff</b>\0" + b"x" * 100000


def save(name, data):
    with open(os.path.join(folder, "part"), "wb") as file:
        file.write(data)
    os.rename(os.path.join(folder, "part"), os.path.join(folder, name))


class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        number = next(numbers)
        body = self.rfile.read(int(self.headers["Content-Length"]))
        head = self.requestline + "\n" + str(self.headers)
        save("%d.body" % number, body)
        save("%d.request" % number, head.encode())
        kind = self.path.split("/")[1]
        if kind == "silent":
            threading.Event().wait()
        elif kind == "gone":
            self.close_connection = True
        elif kind == "elsewhere":
            self.answer(307, b"", ("Location", "http://127.0.0.1:1/x"))
        elif kind == "here":
            self.answer(302, b"", ("Location", "/login"))
        elif kind in ("422", "500"):
            self.answer(int(kind), hostile)
        else:
            self.answer(200, b"{}")

    def answer(self, code, body, *headers):
        self.send_response(code)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
save("port", b"%d" % server.server_port)
server.serve_forever()
