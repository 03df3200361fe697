"""What is imported, and when."""

import subprocess
import sys

import pytest
import spacy
from spacy.lang.en import English

from spacy_angel.pipelines.lazy import LazyEnglish, load_folder

HEAVY = (
    *("spacy_transformers", "sklearn", "scipy", "pandas", "pyarrow", "trl", "datasets"),
    *("transformers", "torch._dynamo"),
)
SENTENCE = "She had a heart attack and was given acetylsalicylic acid."


def run(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_linking_with_what_ships_imports_nothing_that_it_does_not_use() -> None:
    code = f"""
import sys
from spacy_angel.cli.app import app
app(["link", {SENTENCE!r}], standalone_mode=False)
print("imported:", [name for name in {HEAVY!r} if name in sys.modules])
"""
    printed = run(code)
    assert "MESH:D009203" in printed
    assert printed.splitlines()[-1] == "imported: []"


def test_a_component_of_another_package_is_imported_when_it_is_named() -> None:
    code = """
import sys
from spacy_angel.pipelines.lazy import LazyEnglish
nlp = LazyEnglish()
assert "spacy_angel.linking.linker" not in sys.modules
assert nlp.has_factory("angel_linker")
assert "spacy_angel.linking.linker" in sys.modules
nlp.add_pipe("abbreviation_detector")
assert not nlp.has_factory("no_such_component")
"""
    run(code)


def test_a_folder_opens_as_with_spacy(tmp_path) -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer", config={"punct_chars": ["|"]})
    nlp.add_pipe("entity_ruler").add_patterns([{"label": "D", "pattern": "flu"}])
    nlp.to_disk(tmp_path / "en")
    config = {"components": {"sentencizer": {"overwrite": True}}}
    own = load_folder(tmp_path / "en", exclude=["entity_ruler"], config=config)
    other = spacy.load(tmp_path / "en", exclude=["entity_ruler"], config=config)
    assert isinstance(own, English)
    assert own.config == other.config
    assert own.meta == other.meta
    assert own.to_bytes() == other.to_bytes()
    assert [t.text for t in load_folder(tmp_path / "en")("flu | cold").ents] == ["flu"]


def test_the_saved_rules_of_the_tokenizer_count(tmp_path) -> None:
    nlp = spacy.blank("en")
    nlp.tokenizer.add_special_case("w/o", [{"ORTH": "w/o"}])
    nlp.tokenizer.rules = {k: v for k, v in nlp.tokenizer.rules.items() if k != "don't"}
    nlp.to_disk(tmp_path)
    own, other = load_folder(tmp_path), spacy.load(tmp_path)
    assert own.tokenizer.rules == other.tokenizer.rules == nlp.tokenizer.rules
    assert own.config["nlp"]["tokenizer"] == {"@tokenizers": "spacy.Tokenizer.v1"}
    without = load_folder(tmp_path, exclude=["tokenizer"])
    assert without.tokenizer.rules == spacy.blank("en").tokenizer.rules


def test_a_pipeline_of_another_language_opens_as_ever(tmp_path) -> None:
    spacy.blank("de").to_disk(tmp_path / "de")
    nlp = load_folder(tmp_path / "de")
    assert (nlp.lang, isinstance(nlp, LazyEnglish)) == ("de", False)


def test_a_folder_without_a_pipeline_is_told(tmp_path) -> None:
    with pytest.raises(OSError, match="config"):
        load_folder(tmp_path)
