"""What stands before a service: who may ask, from where, how much; and what is told of faults.

A web page that is open in a browser on this machine can send requests to it. It cannot choose the
headers `Host`, `Origin` and `Sec-Fetch-Site`, which tell it from the service's own page: another
page has another origin, and one that has made its own name lead to this machine has that as host.
"""

import asyncio
import hmac
import ipaddress
import logging
import traceback
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from ..errors import AngelError
from ..files.reading import decoded
from .limits import Limits, Refused

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

logger = logging.getLogger(__name__)

LOOPBACK = ("127.0.0.1", "::1", "localhost")
_LEAST_TOKEN = 16
_BODY_SECONDS = 60.0
# Bodies of the largest size that are held at a time, together.
_MOST_BODIES = 32
_SAFE_HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"cache-control", b"no-store"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-frame-options", b"DENY"),
)


@dataclass(frozen=True, slots=True)
class Access:
    """Who may ask.

    hosts (frozenset[str]): names by which the service is asked, without ports; empty: any, which
        only a token makes safe.
    token (str | None): that is asked for.
    open_paths (frozenset[str]): where no token is asked for: nothing of the vocabulary or of texts
        is told there.
    """

    hosts: frozenset[str] = frozenset(LOOPBACK)
    token: str | None = None
    open_paths: frozenset[str] = frozenset()


def access_for(
    host: str, token_file: Path | None, allowed: Collection[str], open_paths: Collection[str]
) -> Access:
    """What an address asks of requests.

    host (str): that the service listens on.
    token_file (Path | None): holds the secret. allowed (Collection[str]): further names by which
        it is asked. open_paths (Collection[str]): see `Access`.
    RETURNS (Access): see there.
    RAISES (AngelError): other machines reach the address and there is no token, or none in the
        file.
    """
    token = None if token_file is None else _read_token(token_file)
    if is_loopback(host):
        hosts = {*LOOPBACK, host, *allowed}
    elif token is None:
        raise AngelError(
            f"{host} is reachable from other machines, which needs a secret in --token-file."
        )
    else:
        hosts = {*allowed, host} if allowed else set()
    return Access(frozenset(map(str.lower, hosts)), token, frozenset(open_paths))


def is_loopback(host: str) -> bool:
    """host (str): name or address. RETURNS (bool): whether only this machine reaches it."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _read_token(path: Path) -> str:
    token = decoded(path.read_bytes(), path).strip()
    is_one = token.isascii() and token.isprintable() and " " not in token
    if len(token) < _LEAST_TOKEN or not is_one:
        raise AngelError(
            f"The token file {path} must be one line of {_LEAST_TOKEN} or more characters."
        )
    return token


class Guard:
    """Asks every request of HTTP for what `Access` and `Limits` say, before the application sees
    it, and answers in the place of an application that fails.

    app (ASGIApp): what is guarded. access (Access). limits (Limits): of which it holds the bytes,
        those of one request and of all that are being read and answered.
    """

    def __init__(self, app: "ASGIApp", access: Access, limits: Limits) -> None:
        self._app = app
        self._access = access
        self._limits = limits
        self._n_bytes = 0

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        if scope["type"] != "http":
            # No web socket is served; `lifespan` is the server's own.
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return
        begun = False

        async def send_safely(message: "Message") -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                names = {name for name, _ in message["headers"]}
                more = [pair for pair in _SAFE_HEADERS if pair[0] not in names]
                message = {**message, "headers": [*message["headers"], *more]}
            await send(message)

        try:
            self._check(scope)
            body = bytearray()
            try:
                receive = await self._whole_body(scope, receive, body)
                await self._app(scope, receive, send_safely)
            finally:
                self._n_bytes -= len(body)
        except Refused as refused:
            await _answer(refused.status, str(refused), send_safely)
        except Exception as error:
            # Not its text, which may be that of a document.
            last = traceback.extract_tb(error.__traceback__)[-1]
            kind = type(error).__name__
            logger.error("%s in %s, line %s", kind, last.filename, last.lineno)
            if not begun:
                await _answer(
                    500, f"The service failed ({kind}); see its log. Please report it.", send_safely
                )

    def _check(self, scope: "Scope") -> None:
        headers = _headers(scope)
        host = headers.get("host", "")
        names = self._access.hosts
        if not host or (names and _name(host) not in names):
            raise Refused(421, "The header Host is not that of this service.")
        origin = headers.get("origin")
        if origin is not None and urlsplit(origin).netloc.lower() != host.lower():
            raise Refused(403, "The header Origin is not that of this service.")
        is_open = scope["path"] in self._access.open_paths
        # A link to the page may stand anywhere; whatever else is asked, it is asked by the page.
        if headers.get("sec-fetch-site") in ("cross-site", "same-site") and not (
            is_open and headers.get("sec-fetch-mode") == "navigate"
        ):
            raise Refused(
                403,
                "The header Sec-Fetch-Site is not that of this service.",
            )
        if self._access.token is not None and not is_open:
            given = headers.get("authorization", "").encode("latin1")
            if not hmac.compare_digest(given, f"Bearer {self._access.token}".encode("latin1")):
                raise Refused(401, "A token is needed: the header `Authorization: Bearer TOKEN`.")

    async def _whole_body(self, scope: "Scope", receive: "Receive", body: bytearray) -> "Receive":
        """Reads into `body`, and counts its bytes. RETURNS (Receive): gives the body in one piece,
        then what comes after it."""
        most = self._limits.max_bytes
        too_much = Refused(413, f"The request has more than {most:,} bytes. Send it in parts.")
        declared = _headers(scope).get("content-length", "")
        if declared.isdecimal() and int(declared[:20]) > most:
            raise too_much

        async def read() -> "Message | None":
            while True:
                message = await receive()
                if message["type"] != "http.request":
                    return message
                piece = message.get("body", b"")
                body.extend(piece)
                self._n_bytes += len(piece)
                if len(body) > most:
                    raise too_much
                if self._n_bytes > most * _MOST_BODIES:
                    raise Refused(
                        429,
                        f"Requests of {most * _MOST_BODIES:,} bytes are being answered. Try again.",
                    )
                if not message.get("more_body", False):
                    return None

        try:
            after = await asyncio.wait_for(read(), _BODY_SECONDS)
        except asyncio.TimeoutError:
            raise Refused(
                408,
                f"The body did not come within {_BODY_SECONDS:g} seconds. Send the request again.",
            ) from None
        messages: list[Any] = [{"type": "http.request", "body": bytes(body), "more_body": False}]
        if after is not None:
            messages.append(after)

        async def replay() -> "Message":
            return messages.pop(0) if messages else await receive()

        return replay


def _headers(scope: "Scope") -> dict[str, str]:
    """RETURNS (dict[str, str]): by name in lower case; of those that come twice, as no browser
    sends them, both values."""
    found: dict[str, str] = {}
    for name, value in scope["headers"]:
        key, text = name.decode("latin1").lower(), value.decode("latin1")
        found[key] = f"{found[key]}, {text}" if key in found else text
    return found


def _name(host: str) -> str:
    """host (str): `name:port`, `[::1]:8000`. RETURNS (str): the name; empty where it has none."""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


async def _answer(status: int, text: str, send: "Send") -> None:
    from starlette.responses import JSONResponse

    headers = {401: {"WWW-Authenticate": "Bearer"}, 429: {"Retry-After": "1"}}
    # What is left of a body that was too large is not read.
    more = {"Connection": "close"} if status in (408, 413) else headers.get(status)
    response = JSONResponse({"error": text}, status, more)
    await response({"type": "http"}, _nothing, send)


async def _nothing() -> "Message":
    return {"type": "http.disconnect"}
