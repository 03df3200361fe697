"""Docstrings in spaCy's style become Google's, which the site's API reference is made from."""

import griffe
import pytest
from docstring_sections import SpacyDocstrings, to_google


@pytest.mark.parametrize(
    ("text", "google"),
    [
        ("BELB (Garda et al. 2023): a benchmark.", "BELB (Garda et al. 2023): a benchmark."),
        ("Only prose.\n\n    a drawing\n", "Only prose.\n\n    a drawing\n"),
        (
            "Read.\n\npath (Path): a file,\n    gzipped or not.\nRETURNS (int): its lines.\n"
            "RAISES (AngelError): none there.",
            "Read.\n\nArgs:\n    path (Path): a file, gzipped or not.\n\n"
            "Returns:\n    int: its lines.\n\nRaises:\n    AngelError: none there.",
        ),
        (
            "rows, tokens (Tensor): int64[m]. RETURNS (Tensor): float32[m].",
            "Args:\n    rows (Tensor): int64[m].\n    tokens (Tensor): int64[m].\n\n"
            "Returns:\n    Tensor: float32[m].",
        ),
        (
            "model (str | None), kb (Mapping[str, int]), scorer\n    (Call()): likewise.",
            "Args:\n    model (str | None): likewise.\n    kb (Mapping[str, int]): likewise.\n"
            "    scorer (Call()): likewise.",
        ),
        (
            "path (Path), RETURNS: as `read`.",
            "Args:\n    path (Path): as `read`.\n\nReturns:\n    as `read`.",
        ),
        ("Load.\n\nRETURNS (Pipeline).", "Load."),
    ],
)
def test_sections(text: str, google: str) -> None:
    assert to_google(text) == google


def test_a_data_class_has_attributes(tmp_path) -> None:
    (tmp_path / "rows.py").write_text(
        "from dataclasses import dataclass\n\n@dataclass(frozen=True)\nclass Row:\n"
        '    """A row.\n\n    n (int): its number.\n    """\n\n    n: int\n'
    )
    module = griffe.load(
        "rows",
        search_paths=[tmp_path],
        extensions=griffe.load_extensions(SpacyDocstrings),
    )
    assert module["Row"].docstring.value == "A row.\n\nAttributes:\n    n (int): its number."
