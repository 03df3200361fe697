"""Checks before a request reaches the service: host, origin, token and size; and error answers.

A web page that is open in a browser can send requests to this machine, but it cannot choose the
headers `Host` and `Origin`. They distinguish it from the service's own page: another page has
another origin, and one whose domain name was made to resolve to this machine (DNS rebinding) has
that name as the host.
"""

import asyncio
import hmac
import ipaddress
import logging
import re
import traceback
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse

from ..errors import AngelError
from ..files.reading import decoded
from .limits import Limits, Refused

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

logger = logging.getLogger(__name__)

OPEN_PATHS = ("/", "/page/page.js", "/page/page.css", "/health", "/openapi.json")
"""Paths that need no token: the page and the description of the service."""
LOOPBACK = ("127.0.0.1", "::1", "localhost")
_MIN_TOKEN = 16
_BODY_SECONDS = 60.0
_SAFE_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Resource-Policy": "same-origin",
}
_HEADERS = {401: {"WWW-Authenticate": "Bearer"}, 429: {"Retry-After": "1"}}


@dataclass(frozen=True, slots=True)
class Access:
    """Who may send requests.

    hosts (frozenset[str]): accepted host names, without ports; empty for any, which is only safe
        with a token.
    token (str | None): that requests must send.
    """

    hosts: frozenset[str] = frozenset(LOOPBACK)
    token: str | None = None


def access_for(host: str, token_file: Path | None, allowed: Collection[str]) -> Access:
    """Who may send requests to an address.

    host (str): that the service listens on.
    token_file (Path | None): file with the token. allowed (Collection[str]): further host names.
    RETURNS (Access): see there.
    RAISES (AngelError): other machines reach the address and there is no token, or the file has no
        valid one.
    """
    token = None if token_file is None else _read_token(token_file)
    if is_loopback(host):
        hosts = {*LOOPBACK, host, *allowed}
    elif token is None:
        raise AngelError(f"{host} is reachable from other machines; it needs a --token-file.")
    else:
        hosts = {*allowed, host} if allowed else set()
    return Access(frozenset(map(str.lower, hosts)), token)


def is_loopback(host: str) -> bool:
    """host (str): name or address. RETURNS (bool): whether only this machine reaches it."""
    with suppress(ValueError):
        return ipaddress.ip_address(host).is_loopback
    return host == "localhost"


def _read_token(path: Path) -> str:
    token = decoded(path.read_bytes(), path).strip()
    if not re.fullmatch(rf"[!-~]{{{_MIN_TOKEN},}}", token):
        raise AngelError(f"{path} must have one line of {_MIN_TOKEN} or more characters.")
    return token


class Guard:
    """Middleware that checks every HTTP request against `Access` and `Limits`, and answers if the
    application fails.

    app (ASGIApp): the application. access (Access): who may send requests.
    limits (Limits): of the body.
    """

    def __init__(self, app: "ASGIApp", access: Access, limits: Limits) -> None:
        self._app = app
        self._access = access
        self._limits = limits

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        if scope["type"] != "http":  # the server refuses web sockets
            await self._app(scope, receive, send)
            return
        has_begun = False

        async def send_safely(message: "Message") -> None:
            nonlocal has_begun
            if message["type"] == "http.response.start":
                has_begun = True
                headers = MutableHeaders(scope=message)
                for name, value in _SAFE_HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        try:
            self._check(scope["path"], Headers(scope=scope))
            body = await asyncio.wait_for(self._read(Request(scope, receive)), _BODY_SECONDS)
            messages = [{"type": "http.request", "body": body, "more_body": False}]

            async def receive_again() -> "Message":
                return messages.pop() if messages else await receive()

            await self._app(scope, receive_again, send_safely)
        except ClientDisconnect:
            pass
        except asyncio.TimeoutError:
            text = f"The body took more than {_BODY_SECONDS:g} seconds."
            await problem(408, text)(scope, receive, send_safely)
        except Refused as refused:
            await problem(refused.status, str(refused))(scope, receive, send_safely)
        except Exception as error:
            # Not its text, which may quote a document.
            last = traceback.extract_tb(error.__traceback__)[-1]
            kind = type(error).__name__
            logger.error("%s in %s, line %s", kind, last.filename, last.lineno)
            if not has_begun:
                text = f"The service failed ({kind}); see its log. Please report it."
                await problem(500, text)(scope, receive, send_safely)

    def _check(self, path: str, headers: Headers) -> None:
        # No browser sends one of these headers twice.
        host, origin = (", ".join(headers.getlist(name)) for name in ("host", "origin"))
        hosts = self._access.hosts
        if not host or (hosts and _hostname(host) not in hosts):
            raise Refused(421, "The Host header does not match this service.")
        if "origin" in headers and urlsplit(origin).netloc.lower() != host.lower():
            raise Refused(403, "The Origin header does not match this service.")
        if self._access.token is not None and path not in OPEN_PATHS:
            given = headers.get("authorization", "").encode("latin1")
            if not hmac.compare_digest(given, f"Bearer {self._access.token}".encode("latin1")):
                raise Refused(401, "A token is needed: the header `Authorization: Bearer TOKEN`.")

    async def _read(self, request: Request) -> bytes:
        limit, body = self._limits.max_bytes, bytearray()
        async for piece in request.stream():
            body += piece
            if len(body) > limit:
                raise Refused(413, f"The request has more than {limit:,} bytes. Send it in parts.")
        return bytes(body)


def _hostname(host: str) -> str:
    """host (str): `name:port`, `[::1]:8000`. RETURNS (str): the name; empty if there is none."""
    with suppress(ValueError):
        return urlsplit(f"//{host}").hostname or ""
    return ""


def problem(status: int, text: str, headers: Mapping[str, str] | None = None) -> JSONResponse:
    """status (int): HTTP status code. text (str): what is wrong, in one line, without any text of
    the request. headers (Mapping[str, str] | None): None for those of the status.
    RETURNS (JSONResponse): the answer."""
    headers = _HEADERS.get(status) if headers is None else headers
    return JSONResponse({"error": text}, status, headers)
