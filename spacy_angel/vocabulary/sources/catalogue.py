"""Published vocabularies by name: where they are, under which terms, how they are read."""

from collections.abc import Collection, Mapping
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict

from ...errors import AngelError

CATALOGUE = Path(__file__).with_name("catalogue.yml")


class Source(BaseModel):
    """An entry of the catalogue; what the fields mean stands at the head of `catalogue.yml`."""

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
    checksum: str | None = None
    checksum_address: str | None = None
    unpack: tuple[str, ...] = ()
    options: Mapping[str, str] = {}
    taxa: Mapping[str, str] = {}
    other_taxa: str | None = None
    key: str | None = None
    steps: str = ""

    def addresses(self, release: str | None = None, taxa: Collection[str] = ()) -> list[str]:
        """Where its files are.

        release (str | None): of which release; None: the newest.
        taxa (Collection[str]): identifiers of NCBI Taxonomy; none: those of the catalogue's first.
        RETURNS (list[str]): addresses; `{key}` in them stands for the user's.
        RAISES (AngelError): it has no addresses of releases, is not by taxa, or cannot be fetched.
        """
        if self.address is None:
            raise AngelError(f"{self.name} cannot be downloaded automatically: {self.steps}")
        if release is not None and self.release_address is None:
            raise AngelError(
                f"Only the newest release of {self.name} can be downloaded, not {release}."
            )
        if taxa and not self.taxa:
            known = ", ".join(source.name for source in read_catalogue().values() if source.taxa)
            raise AngelError(f"{self.name} has no option --taxon. These have: {known}.")
        is_newest = release is None or release == self.year
        address = self.address if is_newest else self.release_address
        assert address is not None
        return self._of_taxa(address, release or self.year, taxa)

    def places(
        self, release: str | None, taxa: Collection[str], today: date
    ) -> list[tuple[str | None, list[str]]]:
        """Where its files may be: a publisher that counts releases by years brings out the next
        one before the year, and moves what was the newest to another folder then.

        release (str | None), taxa (Collection[str]), RAISES (AngelError): see `addresses`.
        today (date): to know which year's may be there.
        RETURNS (list[tuple[str | None, list[str]]]): releases with their addresses, to be tried in
            this order; without a release the newest first.
        """
        known = self.addresses(release, taxa)
        if self.year is None or not self.year.isdecimal() or self.release_address is None:
            return [(release or self.year, known)]
        assert self.address is not None
        if release is not None:
            other = self.address if release != self.year else self.release_address
            return [(release, known), (release, self._of_taxa(other, release, taxa))]
        last = max(today.year + 1, int(self.year))
        newer = [str(year) for year in range(last, int(self.year), -1)]
        return [
            *((year, self._of_taxa(self.address, year, taxa)) for year in newer),
            (self.year, known),
            (self.year, self._of_taxa(self.release_address, self.year, taxa)),
        ]

    def _of_taxa(self, address: str, release: str | None, taxa: Collection[str]) -> list[str]:
        address = address.replace("{release}", release or "")
        if not self.taxa:
            return [address]
        wanted = list(taxa) or [next(iter(self.taxa))]
        if self.other_taxa is not None and not set(wanted) <= self.taxa.keys():
            return [self.other_taxa]
        return [address.replace("{taxon_file}", self.taxa[taxon]) for taxon in wanted]


@cache
def read_catalogue(path: Path = CATALOGUE) -> dict[str, Source]:
    """path (Path): a YAML file. RETURNS (dict[str, Source]): the sources by name."""
    entries: dict[str, dict[str, Any]] = yaml.safe_load(path.read_text("utf8"))
    return {name: Source(name=name, **entry) for name, entry in entries.items()}


def find_source(name: str) -> Source:
    """name (str): of a source. RETURNS (Source): its entry. RAISES (AngelError): there is none."""
    known = read_catalogue()
    if name not in known:
        raise AngelError(
            f"{name!r} is not in the catalog of vocabularies. Known: {', '.join(known)}."
        )
    return known[name]
