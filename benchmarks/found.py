"""Count what pipelines find in texts that no recogniser has learned from: sentences of patients'
reviews of drugs (PsyTAR), entries of trial registers (NeuroTrialNER), texts on rare diseases
(RareDis), and sentences of case reports with an adverse event (ADE).

    python benchmarks/found.py DATA
    python benchmarks/found.py DATA --pipeline PIPELINE --pipeline en_angel_bio

DATA has `psytar/all_train.txt.gz` and `more/corpora/NAME.jsonl.gz`. A mention is found where an
entity of its kind shares a character with it: diseases and symptoms are one kind here. Not all is
marked in these corpora, so the share of the entities that lie over something marked is a lower
bound of the precision. What a recogniser finds is counted, before spelling and links add or drop
anything; a mention with gaps goes from its first to its last character.
"""

import gzip
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer
from false_kinds import Entity, overlap, percent

DISEASE, CHEMICAL, OTHER = "disease or symptom", "chemical", ""
KINDS = {"DISEASE": DISEASE, "PHENOTYPE": DISEASE, "CHEMICAL": CHEMICAL}
CORPORA = {
    "neurotrialner_dev": {"CONDITION": DISEASE, "DRUG": CHEMICAL},
    "raredis_dev": dict.fromkeys(
        ("RAREDISEASE", "SKINRAREDISEASE", "DISEASE", "SIGN", "SYMPTOM"), DISEASE
    ),
    "ade_corpus": {"AdverseEvent": DISEASE, "Drug": CHEMICAL},
}
REVIEWS = "psytar/all_train.txt.gz"


class Text(NamedTuple):
    """text (str). marked (list[Entity]): in it, with their kind as label: `DISEASE`, `CHEMICAL` or
    `OTHER`."""

    text: str
    marked: list[Entity]


def corpora(data: Path) -> Iterator[tuple[str, list[Text]]]:
    """data (Path): folder. YIELDS (tuple[str, list[Text]]): name and texts of each corpus."""
    with gzip.open(data / REVIEWS, "rt", encoding="utf8") as file:
        yield "psytar", list(reviews(file))
    for name, kinds in CORPORA.items():
        with gzip.open(data / "more/corpora" / f"{name}.jsonl.gz", "rt", encoding="utf8") as file:
            yield name, [_text(json.loads(line), kinds) for line in file]


def reviews(lines: Iterable[str]) -> Iterator[Text]:
    """lines (Iterable[str]): a word and its tag (`B-ADR`) each, empty between sentences.
    YIELDS (Text): a sentence; whatever is marked is a disease or symptom."""
    text, marked = "", list[Entity]()
    for line in (*lines, "\n"):
        word, _, tag = line.rstrip("\n").partition("\t")
        if word:
            text += f" {word}" if text else word
            start = len(text) - len(word)
            if tag.startswith("I") and marked:
                start = marked.pop().start
            if tag != "O":
                marked.append(Entity(start, len(text), DISEASE))
        elif text:
            yield Text(text, marked)
            text, marked = "", []


def _text(record: dict[str, Any], kinds: dict[str, str]) -> Text:
    marked = []
    for label, _, spans in record["mentions"]:
        start, end = min(a for a, _ in spans), max(b for _, b in spans)
        marked.append(Entity(start, end, kinds.get(label, OTHER)))
    return Text(record["text"], marked)


def count(texts: list[Text], found: list[list[Entity]]) -> Counter[tuple[str, str]]:
    """texts (list[Text]), found (list[list[Entity]]): entities of each. RETURNS (Counter): by kind
    `marked` and `hit` mentions, `found` entities and those `over` something marked."""
    counts: Counter[tuple[str, str]] = Counter()
    for text, entities in zip(texts, found, strict=True):
        for mention in (m for m in text.marked if m.label):
            counts[mention.label, "marked"] += 1
            here = (e for e in entities if e.label == mention.label and overlap(e, mention))
            counts[mention.label, "hit"] += any(here)
        for entity in (e for e in entities if e.label):
            counts[entity.label, "found"] += 1
            counts[entity.label, "over"] += any(overlap(entity, m) for m in text.marked)
    return counts


def _finder(name: str) -> Callable[[list[Text]], list[list[Entity]]]:
    import spacy_angel

    nlp = spacy_angel.load(name)
    for component in {"angel_misspelled", "abbreviation_detector", "angel_linker"}.intersection(
        nlp.pipe_names
    ):
        nlp.disable_pipe(component)

    def find(texts: list[Text]) -> list[list[Entity]]:
        return [
            [Entity(e.start_char, e.end_char, KINDS.get(e.label_, OTHER)) for e in doc.ents]
            for doc in nlp.pipe([one.text for one in texts])
        ]

    return find


def main(
    data: Annotated[Path, typer.Argument(help="Folder of the corpora.")],
    pipeline: Annotated[list[str] | None, typer.Option(help="Name or folder of one.")] = None,
) -> None:
    """Print a Markdown table; what a pipeline finds is counted before it is linked."""
    finders = {name: _finder(name) for name in pipeline or ["en_angel_mini", "en_angel_bio"]}
    print("| corpus | kind | mentions | pipeline | found | entities | over something marked |")
    print("|---|---|--:|---|--:|--:|--:|")
    for corpus, texts in corpora(data):
        for name, find in finders.items():
            counts = count(texts, find(texts))
            for kind in (DISEASE, CHEMICAL):
                if marked := counts[kind, "marked"]:
                    found = counts[kind, "found"]
                    over = percent(counts[kind, "over"], found)
                    recall = percent(counts[kind, "hit"], marked)
                    cells = f"{name} | {recall} | {found:,} | {over}"
                    print(f"| {corpus} | {kind} | {marked:,} | {cells} |", flush=True)


if __name__ == "__main__":
    typer.run(main)
