"""The service on an address, until it is told to stop."""

import socket
from collections.abc import Callable
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from ..errors import AngelError

if TYPE_CHECKING:
    from starlette.types import ASGIApp

# Connections that wait to be taken, those that are open at a time, and seconds that one may be
# open without a whole head of a request.
_BACKLOG = 64
MAX_CONNECTIONS = 256
HEAD_SECONDS = 15.0
# Files beside connections: those of the vocabulary, the log and the event loop.
_OTHER_FILES = 128


def check_extra(extra: str, *modules: str) -> None:
    """extra (str): of the command of the same name. modules (str): that it installs.
    RAISES (AngelError): one is not installed."""
    if not all(map(find_spec, modules)):
        raise AngelError(f"`spacy-angel {extra}` needs: pip install 'spacy-angel[{extra}]'.")


def serve(app: "ASGIApp", host: str, port: int, on_ready: Callable[[str], None]) -> None:
    """Answer until SIGTERM or SIGINT comes; what was asked before is answered then.

    app (ASGIApp): guarded. host (str), port (int): where; port 0 is any that is free.
    on_ready (Callable): told the address as soon as it is listened on.
    RAISES (OSError): the address cannot be had. RAISES (AngelError): the process may not open
        enough files for its connections.
    """
    import uvicorn

    _check_open_files()
    listening = _listen(host, port)
    # Paths and queries hold what was typed, tracebacks what was read; neither is logged.
    config = uvicorn.Config(
        app,
        host=host,
        port=port,
        access_log=False,
        # One line for each request that is no HTTP would fill a disk.
        log_level="error",
        http=_protocol(),
        server_header=False,
        date_header=False,
        backlog=_BACKLOG,
        timeout_keep_alive=int(HEAD_SECONDS),
        lifespan="on",
        ws="none",
    )
    shown, number = listening.getsockname()[:2]
    on_ready(f"http://[{shown}]:{number}" if ":" in shown else f"http://{shown}:{number}")
    uvicorn.Server(config).run(sockets=[listening])


def _protocol() -> Any:
    """Uvicorn's protocol, which by itself waits without end for the head of a request and takes any
    number of connections."""
    from uvicorn.protocols.http.h11_impl import H11Protocol

    class LimitedProtocol(H11Protocol):
        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            if len(self.connections) > MAX_CONNECTIONS:
                transport.abort()
            else:
                self._wait_for_head()

        def on_response_complete(self) -> None:
            self._wait_for_head()
            super().on_response_complete()

        def _wait_for_head(self) -> None:
            before = self.cycle
            self.loop.call_later(HEAD_SECONDS, self._close_if_still, before)

        def _close_if_still(self, before: Any) -> None:
            if self.cycle is before and not self.transport.is_closing():
                self.transport.abort()

    return LimitedProtocol


def _check_open_files() -> None:
    """RAISES (AngelError): connections up to the limit would use up the files of the process."""
    try:
        import resource
    except ImportError:  # Windows
        return
    needed = MAX_CONNECTIONS + _BACKLOG + _OTHER_FILES
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < needed:
        if hard != resource.RLIM_INFINITY and hard < needed:
            message = f"The service needs {needed} open files, and may have {hard}."
            raise AngelError(f"{message} Raise the limit: `ulimit -n {needed}`.")
        resource.setrlimit(resource.RLIMIT_NOFILE, (needed, hard))


def _listen(host: str, port: int) -> socket.socket:
    """Bound here, so that a port that is taken is an error with its reason."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # By the protocol asyncio knows that answers are to leave at once, and not 40 ms later.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listening.bind((host, port))
    listening.listen(_BACKLOG)
    return listening
