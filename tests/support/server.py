"""A web server on this machine that behaves well or badly, as a test asks."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

MODIFIED = "Sun, 01 Mar 2026 10:00:00 GMT"


@dataclass
class Page:
    """What stands at an address.

    content (bytes): the file.
    status (int): other than 200, that is all that is answered.
    breaks_after (list[int]): bytes after which each next answer breaks off; then they are whole.
    pause (float): seconds before the second half.
    """

    content: bytes = b""
    status: int = 200
    breaks_after: list[int] = field(default_factory=list)
    pause: float = 0.0


@dataclass
class Server:
    """pages (dict[str, Page]): by path, e.g. `/hp.obo`. seen (list[str]): paths asked for."""

    address: str
    pages: dict[str, Page]
    seen: list[str]


@contextmanager
def serving() -> Iterator[Server]:
    """YIELDS (Server): running until the end."""
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
