"""What a request may hold, and how one is refused."""

from dataclasses import dataclass

from ..errors import AngelError


class Refused(AngelError):
    """A request that is not answered.

    status (int): of HTTP. message (str): one line; nothing of a text.
    """

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True, slots=True)
class Limits:
    """What one request may hold.

    max_bytes (int): of its body.
    max_documents (int): texts, documents and strings.
    max_mentions (int): that are given, strings included.
    max_waiting (int): requests that may wait at a time.
    max_characters (int): of one text, which goes through the pipeline in one piece while others
        wait.
    max_seconds (int): from a request for links to its answer.
    """

    max_bytes: int = 4 * 2**20
    max_documents: int = 2000
    max_mentions: int = 10_000
    max_waiting: int = 128
    max_characters: int = 20_000
    max_seconds: int = 300
