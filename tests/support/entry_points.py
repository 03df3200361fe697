"""Entry points as another installed package would bring them."""

import pytest

from spacy_angel.training.settings import registry


class _Entry:
    def __init__(self, name: str, value: object) -> None:
        self.name = name
        self.value = value

    def load(self) -> object:
        return self.value


def install(monkeypatch: pytest.MonkeyPatch, group: str, **entries: object) -> None:
    """group (str): of the entry points. entries (object): name to what it gives."""

    def entry_points(*, group: str) -> list[_Entry]:
        return [_Entry(*item) for item in entries.items()] if group == wanted else []

    wanted = group
    monkeypatch.setattr(registry, "entry_points", entry_points)
