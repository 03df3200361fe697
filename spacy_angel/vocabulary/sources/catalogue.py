"""Published vocabularies by name: where they are, under which terms, how they are read."""

from collections.abc import Collection, Mapping
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
        return self._of_taxa(address, release or self.year, taxa)

    def alternatives(self, release: str | None, taxa: Collection[str]) -> list[list[str]]:
        """release (str | None), taxa (Collection[str]), RAISES (AngelError): see `addresses`.
        RETURNS (list[list[str]]): addresses to be tried in this order: a publisher moves the newest
            release to another folder when the next one comes out."""
        known = [self.addresses(release, taxa)]
        if self.release_address is not None and (release or self.year):
            known.append(self._of_taxa(self.release_address, release or self.year, taxa))
        return known

    def _of_taxa(
        self, address: str | None, release: str | None, taxa: Collection[str]
    ) -> list[str]:
        address = (address or "").replace("{release}", release or "")
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
