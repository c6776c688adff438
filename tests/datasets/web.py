"""A server on this machine whose files, answers and moods a test decides."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Web:
    """What it serves and how; `asked` has the path and the Range of each request."""

    files: dict[str, bytes] = field(default_factory=dict)
    etags: dict[str, str] = field(default_factory=dict)
    ranges: bool = True
    heeds: bool = True  # whether If-Range is heeded
    endless: bool = False  # whether no length is told
    shift: int = 0  # by how many bytes the answer to a range begins too late
    break_after: list[int | None] = field(
        default_factory=list
    )  # bytes of the next answers, then the line drops
    status: list[int] = field(default_factory=list)  # of the next answers
    redirect: dict[str, str] = field(default_factory=dict)
    gate: threading.Event | None = None  # the second half of a file waits for it
    asked: list[tuple[str, str | None]] = field(default_factory=list)
    url: str = ""

    def etag(self, path: str) -> str:
        return self.etags.get(path, "")


@contextmanager
def serve(web: Web) -> Iterator[Web]:
    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

        def do_GET(self) -> None:
            web.asked.append((self.path, self.headers.get("Range")))
            if web.status and (code := web.status.pop(0)) != 200:
                return self.send_error(code)
            if self.path in web.redirect:
                self.send_response(302)
                self.send_header("Location", web.redirect[self.path])
                return self.end_headers()
            if self.path not in web.files:
                return self.send_error(404)
            return self.answer(web.files[self.path])

        def answer(self, content: bytes) -> None:
            total, etag = len(content), web.etag(self.path)
            wanted = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
            valid = self.headers.get("If-Range") in (None, etag) or not web.heeds
            start = int(wanted[1]) if wanted and web.ranges and valid else 0
            if start > total:
                return self.send_error(416)
            begin = start + web.shift if start else 0
            self.send_response(206 if start else 200)
            if start:
                self.send_header("Content-Range", f"bytes {begin}-{total - 1}/{total}")
            if not web.endless:
                self.send_header("Content-Length", str(total - begin))
            if etag:
                self.send_header("ETag", etag)
            self.end_headers()
            return self.body(content[begin:])

        def body(self, piece: bytes) -> None:
            limit = web.break_after.pop(0) if web.break_after else None
            if limit is not None:
                self.wfile.write(piece[:limit])
                self.close_connection = True
                return
            half = len(piece) // 2
            self.wfile.write(piece[:half])
            if web.gate is not None:
                self.wfile.flush()
                web.gate.wait(30)
            self.wfile.write(piece[half:])

        def handle(self) -> None:
            with suppress(ConnectionError, TimeoutError):  # the client has gone
                super().handle()

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    web.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield web
    finally:
        if web.gate is not None:
            web.gate.set()
        server.shutdown()
        server.server_close()
        thread.join()
