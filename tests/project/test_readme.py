"""What README.md and the model card say of the shipped pipeline is true."""

import importlib.util
import re

import pytest
from support.helpers import ROOT

README = ROOT / "README.md"
CARD = ROOT / "docs/model_card.md"


@pytest.fixture(scope="module")
def script():
    path = ROOT / "tools/document_shipped.py"
    spec = importlib.util.spec_from_file_location("document_shipped", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_first_example_prints_what_stands_below_it(script) -> None:
    text = README.read_text("utf8")
    assert script.example_output(text) == script.EXAMPLE.search(text)["output"]
    assert len(script.EXAMPLE.search(text)["code"].splitlines()) == 8


def test_links_become_rows_own_mentions_are_linked_and_the_vocabulary_changes() -> None:
    import spacy_angel

    blocks = re.findall(r"```python\n(.*?)```", README.read_text("utf8"), re.DOTALL)
    names = {"nlp": spacy_angel.load()}
    for start in ("texts = [", "from spacy_angel.vocabulary.concepts"):
        (block,) = (block for block in blocks if block.startswith(start))
        exec(block, names)
    assert [row[0] for row in names["rows"]] == [0, 0, 1]
    assert [row[3] for row in names["rows"]] == ["MESH:D001241", "MESH:D009203", "MESH:D003924"]
    assert [ent._.kb_id for ent in names["doc"].ents] == ["MESH:D005334"]
    assert names["linker"].kb["MY:1"].aliases == ("example disease",)
    assert "MESH:D014693" not in names["linker"].kb


@pytest.mark.parametrize("path", [README, CARD], ids=lambda path: path.name)
def test_the_table_is_that_of_what_ships(script, path) -> None:
    from spacy_angel.linking.loaders import SHIPPED_PIPELINE

    text = path.read_text("utf8")
    assert script.with_table(text, script.shipped_table(SHIPPED_PIPELINE)) == text


def test_the_config_block_is_the_component_s_default() -> None:
    from thinc.api import Config

    from spacy_angel.linking.factory import DEFAULT_CONFIG

    block = re.search(r"```ini\n(.*?)```", README.read_text("utf8"), re.DOTALL)[1]
    shown = Config().from_str(block)["components"]["angel_linker"]
    assert shown.pop("factory") == "angel_linker"
    assert shown == DEFAULT_CONFIG
