"""The catalog of published vocabularies: addresses, licenses, and how to read them."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict

from ...errors import AngelError

CATALOGUE = Path(__file__).with_name("catalogue.yml")


class Source(BaseModel):
    """An entry of the catalog. The fields are described at the top of `catalogue.yml`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    title: str
    licence: str
    terms: str
    megabytes: int
    format: str
    address: str | None = None
    release_address: str | None = None
    year: str | None = None
    unpack: tuple[str, ...] = ()
    options: Mapping[str, str] = {}
    key: str | None = None
    steps: str = ""

    def addresses(self, release: str | None = None) -> list[str]:
        """Get the possible addresses of its file.

        release (str | None): name of a release; None: the newest.
        RETURNS (list[str]): several addresses, because publishers move the newest release to
            another folder once the next one is published. `{key}` stands for the user's API key.
        RAISES (AngelError): the source has no addresses of releases, or cannot be downloaded.
        """
        if self.address is None:
            raise AngelError(f"{self.name} cannot be downloaded automatically: {self.steps}")
        is_newest = release in (None, self.year)
        if not is_newest and self.release_address is None:
            raise AngelError(
                f"Only the newest release of {self.name} can be downloaded, not {release}."
            )
        named = release or self.year or ""
        known = [self.address] if is_newest else []
        known += [self.release_address] if self.release_address and named else []
        return [address.replace("{release}", named) for address in known]


@cache
def read_catalogue(path: Path = CATALOGUE) -> dict[str, Source]:
    """path (Path): a YAML file. RETURNS (dict[str, Source]): the sources by name."""
    entries: dict[str, dict[str, Any]] = yaml.safe_load(path.read_text("utf8"))
    return {name: Source(name=name, **entry) for name, entry in entries.items()}


def find_source(name: str) -> Source:
    """name (str): name of a source. RETURNS (Source): its entry. RAISES (AngelError): there is no
    such source."""
    known = read_catalogue()
    if name not in known:
        raise AngelError(
            f"{name!r} is not in the catalog of vocabularies. Known: {', '.join(known)}."
        )
    return known[name]
