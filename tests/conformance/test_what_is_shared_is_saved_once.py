"""Linkers with one model or vocabulary save it once; bytes bring no compiling."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import spacy
from spacy import Language
from support.tiny_linker import blocks, concepts

from spacy_angel.errors import AngelError
from spacy_angel.vocabulary.kb import ConceptKB
from spacy_angel.vocabulary.lookup import search_spaces


@pytest.fixture
def two(make: Callable[..., Language], model: str) -> Language:
    """Linkers with the same model; the second one has a vocabulary of its own."""
    nlp = make(types_by_label={"DISEASE": []})
    config = blocks(model=model, vocabulary=None, types_by_label={"DRUG": []})
    nlp.add_pipe("angel_linker", name="drugs", config=config)
    nlp.get_pipe("drugs").kb = ConceptKB.build(c for c in concepts() if "T121" in c.types)
    return nlp


def test_two_linkers_save_their_model_once(two: Language, tmp_path: Path) -> None:
    for _ in range(2):
        two.to_disk(tmp_path / "saved")
        saved = sorted(p.parent.name for p in tmp_path.rglob("*") if p.name in ("model", "kb"))
        assert saved == ["angel_linker", "angel_linker", "drugs"]
        text = "migraine and aspirin"
        again = spacy.load(tmp_path / "saved")(text)
        assert [e.kb_id_ for e in again.ents] == [e.kb_id_ for e in two(text).ents]
    # alone it is complete
    two.get_pipe("drugs").to_disk(tmp_path / "drugs")
    assert (tmp_path / "drugs/model").is_dir()
    (tmp_path / "saved/angel_linker/model/config.json").write_text("{}")
    with pytest.raises(AngelError, match="has changed since it was saved"):
        two.get_pipe("drugs").from_disk(tmp_path / "saved/drugs")


def test_bytes_are_read_without_compiling(
    make: Callable[..., Language], vocabulary: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(vocabulary, tmp_path / "kb", ignore=shutil.ignore_patterns("tries"))
    nlp = make(vocabulary=str(tmp_path / "kb"))
    expected = [ent.kb_id_ for ent in nlp("heart attack and aspirin").ents]
    data = nlp.to_bytes()
    monkeypatch.setattr(search_spaces, "compile_names", None)
    assert [e.kb_id_ for e in make().from_bytes(data)("heart attack and aspirin").ents] == expected
