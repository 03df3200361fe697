"""Measure links over vocabularies that nothing was fitted on, and of look-alikes.

    python benchmarks/unseen.py DATA
    python benchmarks/unseen.py DATA --pipeline FOLDER --rows rows.jsonl

The mentions of sentences/unseen.jsonl, 30 of 50 in each vocabulary with a concept in it, in wording
that is no name there; and those of sentences/look_alikes.jsonl, lay symptoms and everyday words,
with both shipped pipelines. Beside the linker stand an exact match and the most similar name by
3-gram tf-idf. DATA has `more/ontologies/`.
"""

import json
from collections import defaultdict
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import typer

import spacy_angel
from spacy_angel.corpora.docs import GOLD_SPANS, to_doc
from spacy_angel.corpora.documents import CorpusDocument, GoldMention
from spacy_angel.evaluation.baselines import BASELINES
from spacy_angel.evaluation.confidence import calibration_error
from spacy_angel.pipelines.load import find_linker
from spacy_angel.vocabulary.kb import ConceptKB
from spacy_angel.vocabulary.sources.formats.registry import read_vocabulary

SENTENCES = Path(__file__).parent / "sentences"
VOCABULARIES = {
    **{name: f"{name}.obo.gz" for name in ("PO", "ZFA", "PATO", "ECO", "BTO")},
    "CL": "CL_2026_synonyms.tsv.gz",
}
K = 5


class Answer(NamedTuple):
    """concepts (list[tuple[str, float]]): best first, with probability or score.
    is_written (bool): whether the first is the link."""

    concepts: list[tuple[str, float]]
    is_written: bool


def main(
    data: Annotated[Path, typer.Argument(exists=True, help="Folder with more/ontologies/.")],
    pipeline: Annotated[str, typer.Option(help="A folder, or one that ships.")] = "en_angel_mini",
    rows: Annotated[Path | None, typer.Option(help="JSON lines of every mention.")] = None,
) -> None:
    """Print two tables in Markdown."""
    written: list[dict[str, Any]] = []
    nlp = spacy_angel.load(pipeline)
    unseen = _read("unseen.jsonl")
    print("| | first | in five | right | wrong | absent linked | ECE |")
    print("|---|--:|--:|--:|--:|--:|--:|")
    answers: defaultdict[str, list[tuple[dict[str, Any], Answer]]] = defaultdict(list)
    for name, file in VOCABULARIES.items():
        items = [item for item in unseen if item["vocabulary"] == name]
        kb = ConceptKB.build(read_vocabulary(data / "more" / "ontologies" / file))
        find_linker(nlp).types_by_label = {}
        find_linker(nlp).kb = kb
        systems = {"linker": link(nlp, items)}
        for baseline, build in BASELINES.items():
            ranked = build(kb)([item["mention"] for item in items], K)
            systems[baseline] = [Answer(list(one.concepts), bool(one.concepts)) for one in ranked]
        for system, found in systems.items():
            answers[system] += zip(items, found, strict=True)
        print(f"| {name} | {figures(list(zip(items, systems['linker'], strict=True)))} |")
        written += [
            item | {"found": answer.concepts[:K], "written": answer.is_written}
            for item, answer in zip(items, systems["linker"], strict=True)
        ]
    for system, pairs in answers.items():
        print(f"| all, {system} | {figures(pairs)} |")
    print("\n| look-alikes | linked right | linked wrong | of |\n|---|--:|--:|--:|")
    for name in ("en_angel_mini", "en_angel_bio"):
        items = _read("look_alikes.jsonl")
        nlp = spacy_angel.load(name)
        kb = find_linker(nlp).kb
        counts = {True: 0, False: 0}
        for item, answer in zip(items, link(nlp, items), strict=True):
            concept = answer.concepts[0][0] if answer.is_written else None
            names = {kb.name(i) for i in kb.names_of(concept)} if concept else set()
            if concept:
                counts[not names.isdisjoint(item["right"])] += 1
            row = {"pipeline": name, "canonical": kb[concept].canonical_name if concept else ""}
            written.append(item | row | {"found": answer.concepts[:K], "written": bool(concept)})
        print(f"| {name} | {counts[True]} | {counts[False]} | {len(items)} |")
    if rows is not None:
        rows.write_text("".join(json.dumps(row) + "\n" for row in written), encoding="utf8")


def link(nlp: Any, items: list[dict[str, Any]]) -> list[Answer]:
    """RETURNS (list[Answer]): of each mention by the linker of a pipeline."""
    linker = find_linker(nlp)
    documents = [
        CorpusDocument(
            item["id"],
            item["text"],
            (GoldMention(item["start"], item["end"], item["mention"], item.get("label", "X"), ""),),
        )
        for item in items
    ]
    with linker.using(span_key=GOLD_SPANS):
        docs = list(linker.pipe(to_doc(document, nlp) for document in documents))
    found = []
    for doc in docs:
        (span,) = doc.spans[GOLD_SPANS]
        shares: defaultdict[str, float] = defaultdict(float)
        for candidate in span._.candidates:
            shares[candidate["concept_id"]] += candidate["probability"]
        ranked = sorted(shares.items(), key=lambda pair: -pair[1])
        found.append(Answer(ranked, span._.kb_id not in ("", "NIL")))
    return found


def figures(pairs: list[tuple[dict[str, Any], Answer]]) -> str:
    """RETURNS (str): the cells of a row: of the mentions with a concept right first, right among
    five, linked right and linked wrong; of the others linked; and the calibration error."""
    inside = [(item["concept"], answer) for item, answer in pairs if item["concept"]]
    absent = [answer.is_written for item, answer in pairs if not item["concept"]]
    first = [bool(a.concepts) and a.concepts[0][0] == gold for gold, a in inside]
    in_five = [gold in [concept for concept, _ in a.concepts[:K]] for gold, a in inside]
    linked = [a.is_written for _, a in inside]
    right = np.array(first) & np.array(linked)
    shares = [np.mean(first), np.mean(in_five), right.mean(), np.mean(linked) - right.mean()]
    best = [a.concepts[0] if a.concepts else ("", 0.0) for _, a in pairs]
    error = calibration_error(
        [probability for _, probability in best],
        [concept == item["concept"] for (concept, _), (item, _) in zip(best, pairs, strict=True)],
    )
    return " | ".join(f"{100 * value:.0f}" for value in (*shares, np.mean(absent))) + f" | {error:.1f}"


def _read(name: str) -> list[dict[str, Any]]:
    lines = (SENTENCES / name).read_text(encoding="utf8").splitlines()
    return [json.loads(line) for line in lines]


if __name__ == "__main__":
    typer.run(main)
