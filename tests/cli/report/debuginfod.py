#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""debuginfod.py FOLDER COUNT: a debuginfod server that answers when COUNT
requests have come, a little more than a second later: whoever asks for one file
at a time never gets the first. FOLDER/BUILD-ID is a debug file. Prints its
port."""
import http.server
import os
import re
import sys
import threading
import time

folder, count = sys.argv[1], int(sys.argv[2])
together = threading.Barrier(count)


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        match = re.fullmatch("/buildid/([0-9a-f]+)/debuginfo", self.path)
        path = match and os.path.join(folder, match[1])
        try:
            together.wait(timeout=30)
        except threading.BrokenBarrierError:
            path = None
        time.sleep(1.5)
        if not path or not os.path.exists(path):
            self.send_error(404)
            return
        with open(path, "rb") as file:
            data = file.read()
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
