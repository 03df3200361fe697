"""The service on an address, until it is told to stop."""

import socket
from collections.abc import Callable
from importlib.util import find_spec
from typing import TYPE_CHECKING

from ..errors import AngelError

if TYPE_CHECKING:
    from starlette.types import ASGIApp

# Connections that wait to be taken, and seconds that an idle one is kept.
_BACKLOG = 512
_IDLE = 15


def check_extra(extra: str, *modules: str) -> None:
    """extra (str): of the command of the same name. modules (str): that it installs.
    RAISES (AngelError): one is not installed."""
    if not all(map(find_spec, modules)):
        raise AngelError(f"`spacy-angel {extra}` needs: pip install 'spacy-angel[{extra}]'.")


def serve(app: "ASGIApp", host: str, port: int, on_ready: Callable[[str], None]) -> None:
    """Answer until SIGTERM or SIGINT comes; what was asked before is answered then.

    app (ASGIApp): guarded. host (str), port (int): where; port 0 is any that is free.
    on_ready (Callable): told the address as soon as it is listened on.
    RAISES (OSError): the address cannot be had.
    """
    import uvicorn

    listening = _listen(host, port)
    # Paths and queries hold what was typed, tracebacks what was read; neither is logged.
    config = uvicorn.Config(
        app,
        host=host,
        port=port,
        access_log=False,
        log_level="warning",
        server_header=False,
        date_header=False,
        backlog=_BACKLOG,
        timeout_keep_alive=_IDLE,
        lifespan="on",
        ws="none",
    )
    shown, number = listening.getsockname()[:2]
    on_ready(f"http://[{shown}]:{number}" if ":" in shown else f"http://{shown}:{number}")
    uvicorn.Server(config).run(sockets=[listening])


def _listen(host: str, port: int) -> socket.socket:
    """Bound here, so that a port that is taken is an error with its reason."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # By the protocol asyncio knows that answers are to leave at once, and not 40 ms later.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listening.bind((host, port))
    listening.listen(_BACKLOG)
    return listening
