"""Serve an application on an address until the process is told to stop."""

import sys
from typing import TYPE_CHECKING, Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

if TYPE_CHECKING:
    from starlette.types import ASGIApp

MAX_CONNECTIONS = 128
"""Open connections. One more closes the oldest that is not waiting for an answer."""
HEAD_SECONDS = 15.0
"""Time for the head of a request, from the connection or the previous answer on."""


class LimitedProtocol(H11Protocol):
    """Uvicorn's protocol, with limits on connections and on the time for the head of a request."""

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._wait_for_head()
        if len(self.connections) > MAX_CONNECTIONS:
            idle: list[Any] = [one for one in self.connections if one.is_idle]  # type: ignore
            min(idle, key=lambda one: one.idle_since).transport.abort()

    def on_response_complete(self) -> None:
        self._wait_for_head()
        super().on_response_complete()

    @property
    def is_idle(self) -> bool:
        """RETURNS (bool): no request is being answered."""
        return self.cycle is None or self.cycle.response_complete

    def _wait_for_head(self) -> None:
        self.idle_since = since = self.loop.time()
        self.loop.call_later(HEAD_SECONDS, self._close_if_idle, since)

    def _close_if_idle(self, since: float) -> None:
        if self.is_idle and self.idle_since == since:
            self.transport.abort()


class Server(uvicorn.Server):
    """Uvicorn with limits. `run` prints the address to standard error and answers requests until
    SIGTERM or SIGINT arrives, then those in progress. It exits if it cannot listen.

    app (ASGIApp): a guarded application.
    host (str), port (int): address to listen on; port 0 is any free port.
    path (str): printed after the address.
    """

    def __init__(self, app: "ASGIApp", host: str, port: int, path: str = "") -> None:
        # Paths and queries contain what users typed, tracebacks what the service read: neither is
        # logged. A line for each invalid request could fill a disk.
        config = uvicorn.Config(
            app,
            host=host,
            port=port,
            http=LimitedProtocol,
            ws="none",
            lifespan="on",
            access_log=False,
            log_level="error",
            server_header=False,
        )
        super().__init__(config)
        self._path = path

    async def startup(self, sockets: Any = None) -> None:
        """Listen, and print the address."""
        await super().startup(sockets)
        print(f"{self.address}{self._path}", file=sys.stderr, flush=True)

    @property
    def address(self) -> str:
        """RETURNS (str): of the running server, e.g. `http://127.0.0.1:8000`."""
        host, port = self.servers[0].sockets[0].getsockname()[:2]
        return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
