"""Clinical corpora in styles of their own, for the recogniser of six kinds: criteria of trials
(CHIA) and case reports (MACCROBAT).

    python tools/build_clinical_corpora.py DATA OUT

DATA has `more/corpora/chia.jsonl.gz` and `maccrobat2020.jsonl.gz` as JSON lines; OUT is what
`tools/build_six_types.py` wrote, where `raw/` gets a file a corpus. What they call a condition, a
sign or a drug is taken for a mention where the vocabulary has it under that kind, and left open
elsewhere; so are measurements for chemicals and genes, which some of them name.
What neither marks is no mention: so the shorthand around is learned.
"""

import gzip
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated

import typer
from build_gene_corpora import write

from spacy_angel.about import DATA
from spacy_angel.corpora.documents import CorpusDocument, GoldMention
from spacy_angel.corpora.recogniser_data import names_by_label
from spacy_angel.vocabulary.kb import ConceptKB
from spacy_angel.vocabulary.names.concepts import normalize_name

# What a kind of the corpus is called here, where the vocabulary has it; and what it may be.
_CLINICAL = ("DISEASE", "PHENOTYPE")
_NAMES = {
    **dict.fromkeys(("Condition", "Disease_disorder", "Sign_symptom"), _CLINICAL),
    **dict.fromkeys(("Drug", "Medication"), ("CHEMICAL",)),
}
_OPEN = {
    **dict.fromkeys(("Drug", "Medication"), ("GENE", "SPECIES")),
    **dict.fromkeys(("Observation", "History", "Detailed_description"), _CLINICAL),
    **dict.fromkeys(("Measurement", "Lab_value"), ("CHEMICAL", "GENE")),
    **dict.fromkeys(("Procedure", "Diagnostic_procedure", "Therapeutic_procedure"), ("CHEMICAL",)),
}
FILES = {"chia": "chia.jsonl.gz", "maccrobat": "maccrobat2020.jsonl.gz"}
Names = Mapping[str, frozenset[str]]


def build(
    data: Annotated[Path, typer.Argument(help="Folder of the corpora.")],
    output: Annotated[Path, typer.Argument(help="Folder of `tools/build_six_types.py`.")],
) -> None:
    """Write `raw/NAME.json` for each corpus."""
    kb = ConceptKB.from_disk(DATA / "en_angel_bio" / "angel_linker" / "kb")
    names = {
        label: frozenset(map(normalize_name, of_label))
        for label, of_label in names_by_label(kb).items()
    }
    for name, file in FILES.items():
        path = data / "more" / "corpora" / file
        write(name, from_json_lines(name, path, names), output)


def from_json_lines(name: str, path: Path, names: Names) -> Iterator[CorpusDocument]:
    """RETURNS (Iterator[CorpusDocument]): with labels of the recogniser, `?` behind what is left
    open; what has a gap is open as a whole."""
    for line in gzip.decompress(path.read_bytes()).decode().splitlines():
        record = json.loads(line)
        text = record["text"]
        mentions: dict[tuple[int, int, str], GoldMention] = {}
        for kind, _, spans in record["mentions"]:
            start, end = min(a for a, _ in spans), max(b for _, b in spans)
            for label in labels_of(kind, text[start:end], names, whole=len(spans) == 1):
                mentions[start, end, label] = GoldMention(start, end, text[start:end], label)
        yield CorpusDocument(f"{name}:{record['id']}", text, tuple(mentions.values()))


def labels_of(kind: str, text: str, names: Names, *, whole: bool) -> Iterator[str]:
    """RETURNS (Iterator[str]): labels that a mention of the kind has, or may have (`DISEASE?`)."""
    normal = normalize_name(text)
    spellings = {normal, normal.removesuffix("s"), normal.removesuffix("es")}
    for label in _NAMES.get(kind, ()):
        known = whole and not spellings.isdisjoint(names[label])
        yield label if known else f"{label}?"
        if label == "DISEASE" and not names["SPECIES"].isdisjoint(normal.split()):
            yield "SPECIES?"
    for label in _OPEN.get(kind, ()):
        yield f"{label}?"


if __name__ == "__main__":
    typer.run(build)
