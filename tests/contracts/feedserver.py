"""A process that serves registries and agent cards over HTTP, well and badly.

`python feedserver.py` prints its port. The first part of a path says how it behaves, up to a "~"; `GET /asked` tells every request so far;
`POST /tell` replaces what a registry or card holds.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

asked: list[dict[str, Any]] = []
told: dict[str, Any] = {}  # by the first part of a path: the entries of a registry, or a card
lock = threading.Lock()
OFFICIAL = "io.modelcontextprotocol.registry/official"


class Feeds(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_POST(self) -> None:
        told.update(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.answer(200, {})

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        place, _, rest = parts.path.removeprefix("/").partition("/")
        if place == "asked":
            self.answer(200, asked)
            return
        parameters = dict(parse_qsl(parts.query))
        with lock:
            asked.append({"place": place, "path": rest, "etag": self.headers["If-None-Match"], **parameters})
            times = sum(one["place"] == place and one["path"] == rest for one in asked)
        behaviour = place.partition("~")[0]
        if behaviour == "drops" and times == 2:
            self.close_connection = True  # without a word
        elif behaviour == "elsewhere":
            self.answer(302, {}, Location=f"/{told[place]}/{rest}?{parts.query}")
        elif behaviour == "otherscheme":
            self.answer(302, {}, Location="ftp://127.0.0.1/x")
        elif behaviour == "circle":
            self.answer(302, {}, Location=self.path)
        elif behaviour == "huge":
            self.flood()
        elif behaviour == "slow":
            time.sleep(3)
            self.answer(200, {})
        elif behaviour == "drip":
            self.drip()
        elif behaviour == "page":
            self.answer(200, "<html>Welcome</html>")
        elif rest.endswith(".json") and behaviour == "card":
            self.card(told[place])
        elif rest == "v0.1/servers" and told.get(place) is not None and behaviour != "card":
            self.registry(behaviour, told[place], parameters, times)
        else:
            self.answer(404, {"error": "secret-echo"})

    def card(self, card: Any) -> None:
        etag = f'"{hashlib.sha256(json.dumps(card).encode()).hexdigest()[:8]}"'
        if self.headers["If-None-Match"] == etag:
            self.answer(304, None, ETag=etag)
        else:
            self.answer(200, card, ETag=etag)

    def registry(self, behaviour: str, entries: list[Any], parameters: dict[str, str], times: int) -> None:
        start = int(parameters.get("cursor", "0"))
        if behaviour == "broken" and start:
            self.answer(500, {"error": "secret-echo"})
            return
        if behaviour == "recovers" and times == 2:
            self.answer(503, {})
            return
        since = parameters.get("updated_since", "")
        entries = [entry for entry in entries if entry["_meta"][OFFICIAL]["updatedAt"] >= since]
        if not since:
            entries = [entry for entry in entries if entry["_meta"][OFFICIAL]["status"] != "deleted"]
        size = int(parameters["limit"])
        metadata: dict[str, Any] = {"count": len(entries[start : start + size])}
        if start + size < len(entries):
            metadata["nextCursor"] = str(start + size)
        if behaviour == "loop":
            metadata["nextCursor"] = str(size)
        self.answer(200, {"servers": entries[start : start + size], "metadata": metadata})

    def flood(self) -> None:
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self.send_response(200)
            self.send_header("Connection", "close")
            self.end_headers()
            for _ in range(1000):
                self.wfile.write(b" " * 1024 * 1024)
        self.close_connection = True

    def drip(self) -> None:
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self.send_response(200)
            self.send_header("Connection", "close")
            self.end_headers()
            for _ in range(100):
                self.wfile.write(b" ")
                self.wfile.flush()
                time.sleep(0.1)
        self.close_connection = True

    def answer(self, status: int, value: Any, **headers: str) -> None:
        payload = b"" if value is None else value.encode() if isinstance(value, str) else json.dumps(value).encode()
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # the client gave up, as some tests want
            self.send_response(status)
            for name, header in {"Content-Length": str(len(payload)), "Retry-After": "0", **headers}.items():
                self.send_header(name, header)
            self.end_headers()
            self.wfile.write(payload)

    def log_message(self, format: str, *args: object) -> None:
        pass


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", 0), Feeds)
    server.daemon_threads = True
    print(server.server_port, flush=True)
    server.serve_forever()
