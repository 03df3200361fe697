"""The first example of the README prints what the README says."""

import re

import pytest
from helpers import ROOT

README = ROOT / "README.md"


def test_the_first_example_prints_what_stands_below_it(capsys: pytest.CaptureFixture) -> None:
    text = README.read_text("utf8")
    code, output = re.search(r"```python\n(.*?)```\n\n```text\n(.*?)```", text, re.DOTALL).groups()
    exec(code, {})
    assert capsys.readouterr().out == output


def test_the_config_block_is_the_component_s_default() -> None:
    from thinc.api import Config

    from spacy_angel.linker import DEFAULT_CONFIG

    block = re.search(r"```ini\n(.*?)```", README.read_text("utf8"), re.DOTALL)[1]
    shown = Config().from_str(block)["components"]["angel_linker"]
    assert shown.pop("factory") == "angel_linker"
    assert shown == Config().from_str(DEFAULT_CONFIG)["angel_linker"]


def test_the_numbers_of_what_ships_are_true() -> None:
    from safetensors import safe_open

    from spacy_angel.sources import SHIPPED_MODEL, load_vocabulary

    text = " ".join(README.read_text("utf8").split())
    kb = load_vocabulary(None)
    assert f"{len(kb)} common diseases and chemicals" in text
    assert f"{kb.n_names:,} names" in text
    with safe_open(SHIPPED_MODEL / "model.safetensors", "pt") as weights:
        n = sum(weights.get_tensor(key).numel() for key in weights.keys())  # noqa: SIM118
    assert f"({n / 1e6:.1f} million weights, {2 * n / 1e6:.1f} MB)" in text
