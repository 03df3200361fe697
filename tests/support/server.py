"""A local web server with configurable misbehavior."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

MODIFIED = "Sun, 01 Mar 2026 10:00:00 GMT"


@dataclass
class Page:
    """The content and behavior of an address.

    breaks_after (list[int]): bytes after which each of the next responses is cut off.
    pause (float): seconds before the second half is sent.
    """

    content: bytes = b""
    status: int = 200
    breaks_after: list[int] = field(default_factory=list)
    pause: float = 0.0


@dataclass
class Server:
    """A running server: its pages by path, e.g. `/hp.obo`, and the requested paths."""

    address: str
    pages: dict[str, Page]
    seen: list[str]


@contextmanager
def serving() -> Iterator[Server]:
    """Run a server until the block ends."""
    pages: dict[str, Page] = {}
    seen: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            seen.append(self.path)
            page = pages.get(self.path.partition("?")[0], Page(status=404))
            if page.status != 200:
                self.send_error(page.status)
            else:
                self._send(page)

        def _send(self, page: Page) -> None:
            self.send_response(200)
            self.send_header("Content-Length", str(len(page.content)))
            self.send_header("Last-Modified", MODIFIED)
            self.end_headers()
            whole = page.breaks_after.pop(0) if page.breaks_after else len(page.content)
            self.wfile.write(page.content[: whole // 2])
            self.wfile.flush()
            time.sleep(page.pause)
            self.wfile.write(page.content[whole // 2 : whole])
            if whole < len(page.content):
                self.close_connection = True

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield Server(f"http://127.0.0.1:{server.server_port}", pages, seen)
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
