"""Limits of the service, and how it refuses a request."""

from dataclasses import dataclass

from ..errors import AngelError


class Refused(AngelError):
    """A request that the service does not answer.

    status (int): HTTP status code. message (str): one line, without any text of the request.
    """

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of a request.

    max_bytes (int): size of the body. Each open connection may hold as much.
    max_documents (int): texts, documents and strings.
    max_waiting (int): requests that wait for links at the same time.
    max_characters (int): length of a text. Finding its mentions cannot be interrupted, so other
        requests wait for it.
    max_seconds (int): from a request for links to its answer.
    """

    max_bytes: int = 2**20
    max_documents: int = 2000
    max_waiting: int = 128
    max_characters: int = 10_000
    max_seconds: int = 300
