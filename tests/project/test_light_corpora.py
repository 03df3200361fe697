"""What the recogniser of six kinds finds, for the light one to learn from."""

import json
from pathlib import Path
from random import Random

from build_light_corpora import LONGEST, SHORTEST, paragraphs, read_by

from spacy_angel.corpora.documents import CorpusDocument
from spacy_angel.recognition.found import FoundMention


class Finder:
    """In the place of the recogniser: says the same of each text."""

    def find(self, texts: list[str]) -> list[list[FoundMention]]:
        one = [
            FoundMention(0, 7, "PHENOTYPE", 0.9),
            FoundMention(0, 7, "DISEASE", 0.8),
            FoundMention(12, 16, "GENE", 0.9),
            FoundMention(20, 27, "CHEMICAL", 0.74),
            FoundMention(28, 32, "PHENOTYPE", 0.9),
        ]
        return [one for _ in texts]


def test_what_is_not_sure_is_left_open() -> None:
    text = "Anaemia, as BRCA or iodine, pale."
    (read,) = read_by(Finder(), [CorpusDocument("1", text)])  # type: ignore[arg-type]
    assert [(m.start, m.label) for m in read.mentions] == [
        *((0, "DISEASE"), (20, "CHEMICAL?"), (28, "DISEASE?"))
    ]


def test_two_paragraphs_of_an_article(tmp_path: Path) -> None:
    fitting = [letter * (SHORTEST + 1) for letter in "abc"]
    text = "\n".join(["short", *fitting, "d" * LONGEST])
    line = json.dumps({"id": "PMC1", "text": text}) + "\n"
    (tmp_path / "articles.jsonl").write_text(line, encoding="utf8")
    parts = paragraphs(tmp_path / "articles.jsonl", Random(3))
    assert sorted(part.doc_id for part in parts) == ["PMC1-0", "PMC1-1"]
    assert {part.text for part in parts} < {*fitting}
