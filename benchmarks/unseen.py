"""Measure linking outside the data that the linker was fitted on: unseen vocabularies, look-alikes
in lay words and clinical shorthand, and drugs that MeSH lacks. All mentions are given.

    python benchmarks/unseen.py links DATA
    python benchmarks/unseen.py look-alikes --pipeline en_angel_bio
    python benchmarks/unseen.py drugs DATA

DATA contains `more/ontologies/` for `links`, and the inputs of `scripts/fit_ranker.py` for `drugs`.
An older release of the Cell Ontology (CL) was among the vocabularies used for fitting.
"""

import json
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import typer
from false_kinds import percent

from spacy_angel.corpora.docs import GOLD_SPANS, to_doc
from spacy_angel.corpora.documents import CorpusDocument, GoldMention
from spacy_angel.vocabulary.kb import ConceptKB
from spacy_angel.vocabulary.lookup.tfidf import TrigramTfidf
from spacy_angel.vocabulary.names.concepts import normalize_name
from spacy_angel.vocabulary.sources.formats.registry import read_vocabulary

app = typer.Typer(add_completion=False, help=__doc__)

HERE = Path(__file__).parent
VOCABULARIES = {name: f"{name}.obo.gz" for name in ("PO", "ZFA", "PATO", "ECO", "BTO")} | {
    "CL": "CL_2026_synonyms.tsv.gz"
}
LINKER = "angel_linker"
# The linker and the components it depends on; the others find mentions.
USED = ("sentencizer", "angel_abbreviations", LINKER)
NIL = "NIL"
N_BINS, MOST_DRUGS = 15, 600
# Many of the nearest names by tf-idf may belong to the same concept.
LEAST_SIMILARITY, NEAREST = 0.6, 50
LAY_WORDS = (
    "malaise, teeth were hurting, bloated, brain zaps, diahrea, Blighted ovum, thirst, "
    "Volume loss, respiratory distress, HLD"
)

Data = Annotated[Path, typer.Argument(help="Folder of the data.")]
Pipeline = Annotated[str, typer.Option(help="Name or folder of one.")]


class Answer(NamedTuple):
    """The output of a system for a mention.

    ranked (list[str]): concepts, best first, regardless of the threshold.
    kb_id (str): the final link, an identifier or `NIL`.
    probability (float | None): probability of the first concept, 0 if there is none; None if the
        system has no probabilities.
    """

    ranked: list[str]
    kb_id: str
    probability: float | None = None


@app.command()
def links(
    data: Data,
    pipeline: Pipeline = "en_angel_mini",
    threads: Annotated[int, typer.Option(help="Threads on a CPU.")] = 2,
) -> None:
    """Print a Markdown table that compares the linker, tf-idf and exact match on unseen
    vocabularies: proportions of mentions whose concept is in the vocabulary, `absent linked` for
    the other mentions, and `ECE` for all."""
    import torch

    torch.set_num_threads(threads)
    nlp, rows = _open(pipeline), _read("unseen.jsonl")
    answers: dict[str, list[tuple[str | None, Answer]]] = {}
    print("| vocabulary | system | mentions | right first | in five | written right ", end="")
    print(f"| written wrong | absent linked | ECE |\n|---|---|{'--:|' * 7}")
    for name, file in VOCABULARIES.items():
        own = [row for row in rows if row["vocabulary"] == name]
        concepts = read_vocabulary(data / "more" / "ontologies" / file)
        kb = ConceptKB.build(c for c in concepts if c.concept_id.startswith(f"{name}:"))
        gold = [row["concept"] and kb.resolve(row["concept"]) for row in own]
        systems = {"linker": _by_linker(nlp, kb, own)}
        systems |= {"tf-idf": _by_similarity(kb, own), "exact match": _by_name(kb, own)}
        for system, some in systems.items():
            pairs = list(zip(gold, some, strict=True))
            answers.setdefault(system, []).extend(pairs)
            print(f"| {name} | {system} | {' | '.join(figures(pairs))} |", flush=True)
    for system, pairs in answers.items():
        print(f"| all | {system} | {' | '.join(figures(pairs))} |")


def figures(pairs: Sequence[tuple[str | None, Answer]]) -> list[str]:
    """pairs (Sequence[tuple[str | None, Answer]]): for each mention, the correct concept, or None
    if the vocabulary lacks it, and the answer.
    RETURNS (list[str]): cells of a row."""
    here = [(gold, answer) for gold, answer in pairs if gold]
    absent = [answer.kb_id != NIL for gold, answer in pairs if not gold]
    counts = (
        sum(answer.ranked[:1] == [gold] for gold, answer in here),
        sum(gold in answer.ranked[:5] for gold, answer in here),
        sum(answer.kb_id == gold for gold, answer in here),
        sum(answer.kb_id not in (gold, NIL) for gold, answer in here),
    )
    shares = [percent(count, len(here)) for count in counts]
    return [str(len(pairs)), *shares, percent(sum(absent), len(absent)), _calibration_error(pairs)]


def _calibration_error(pairs: Sequence[tuple[str | None, Answer]]) -> str:
    probabilities = [answer.probability for _, answer in pairs]
    if None in probabilities:
        return "–"
    p = np.array(probabilities, float)
    right = np.array([answer.ranked[:1] == [gold] for gold, answer in pairs])
    gaps = np.bincount(np.minimum((p * N_BINS).astype(int), N_BINS - 1), weights=right - p)
    return f"{100 * np.abs(gaps).sum() / len(p):.1f}"


def _by_linker(nlp: Any, kb: ConceptKB, rows: Sequence[dict[str, Any]]) -> list[Answer]:
    linker = nlp.get_pipe(LINKER)
    linker.settings.candidates.types_by_label = {}
    linker.kb = kb
    answers = []
    for span in _linked(nlp, map(_document, rows)):
        concepts = dict(linker.rank(span._.candidates))
        # Among equally probable concepts, the reranker puts the first candidate first.
        first = span._.candidates[0]["concept_id"] if concepts else ""
        ranked = sorted(concepts, key=lambda c: (-round(concepts[c], 9), c != first))
        answers.append(Answer(ranked, span._.kb_id, max(concepts.values(), default=0.0)))
    return answers


def _by_similarity(kb: ConceptKB, rows: Sequence[dict[str, Any]]) -> list[Answer]:
    tfidf = TrigramTfidf(kb.name(i) for i in range(kb.n_names))
    nearest = tfidf.nearest([normalize_name(row["mention"]) for row in rows], NEAREST)
    answers = []
    for own, (similarity, *_) in zip(*nearest, strict=True):
        ranked = list(dict.fromkeys(c for i in own if i >= 0 for c in kb.concept_ids_of(i)))
        answers.append(Answer(ranked, ranked[0] if similarity >= LEAST_SIMILARITY else NIL))
    return answers


def _by_name(kb: ConceptKB, rows: Sequence[dict[str, Any]]) -> list[Answer]:
    indices = [kb.name_index(row["mention"]) for row in rows]
    found = [[] if i is None else kb.concept_ids_of(i) for i in indices]
    return [Answer(ids, ids[0] if ids else NIL) for ids in found]


@app.command()
def look_alikes(pipeline: Pipeline = "en_angel_mini") -> None:
    """Print how many look-alikes link to a concept with another meaning, and which; then the links
    of lay words, first as separate texts and then as one list."""
    nlp, rows = _open(pipeline), _read("look_alikes.jsonl")
    kb = nlp.get_pipe(LINKER).kb
    spans = list(_linked(nlp, map(_document, rows)))
    linked = [(row, span) for row, span in zip(rows, spans, strict=True) if span._.kb_id != NIL]
    wrong = [pair for pair in linked if not _is_right(*pair, kb)]
    print(f"{pipeline}: {len(rows)} mentions, {len(linked)} linked, {len(wrong)} wrongly\n")
    print("| | mention | label | linked to | right |\n|---|---|---|---|---|")
    for row, span in wrong:
        right = ", ".join(row["right"]) or "–"
        print(f"| {row['id']} | {span} | {span.label_} | {_shown(span, kb)} | {right} |")
    print("\n| lay words | label | alone | in a list |\n|---|---|---|---|")
    for label in ("DISEASE", "PHENOTYPE"):
        alone = _linked(nlp, [_listed(word, label) for word in LAY_WORDS.split(", ")])
        in_list = _linked(nlp, [_listed(LAY_WORDS, label)])
        for one, other in zip(alone, in_list, strict=True):
            print(f"| {one} | {label} | {_shown(one, kb)} | {_shown(other, kb)} |")


def _is_right(row: dict[str, Any], span: Any, kb: ConceptKB) -> bool:
    right = {normalize_name(name) for name in row["right"]}
    return not right.isdisjoint(map(normalize_name, kb[span._.kb_id].names))


def _shown(span: Any, kb: ConceptKB) -> str:
    if span._.kb_id == NIL:
        return NIL
    concept_id, probability = span._.kb_ents[0]
    return f"{kb[concept_id].canonical_name} ({concept_id}, {probability:.2f})"


def _listed(text: str, label: str) -> CorpusDocument:
    items = re.finditer(r"[^, ][^,]*", text)
    mentions = (GoldMention(item.start(), item.end(), item[0], label) for item in items)
    return CorpusDocument(label, text, tuple(mentions))


@app.command()
def drugs(data: Data, pipeline: Pipeline = "en_angel_mini") -> None:
    """Print how many drugs are linked that neither MeSH nor the pipeline's vocabulary has."""
    sys.path.insert(0, str(HERE.parent / "scripts"))
    from ranker_sets import share_of, unknown_drugs, with_drugs

    nlp = _open(pipeline)
    known = nlp.get_pipe(LINKER).kb.name_index
    # The reranker was fitted on the others.
    names = [name for name in unknown_drugs(data) if share_of("drug" + name) >= 0.5]
    spans = list(islice(_linked(nlp, with_drugs(data, names)), MOST_DRUGS))
    for some in (spans, [span for span in spans if known(span.text) is None]):
        linked = sum(span._.kb_id != NIL for span in some)
        print(f"{pipeline}: {percent(linked, len(some))} % of {len(some)} drugs linked")


def _read(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (HERE / "sentences" / name).read_text("utf8").splitlines()]


def _document(row: dict[str, Any]) -> CorpusDocument:
    mention = GoldMention(row["start"], row["end"], row["mention"], row.get("label", ""))
    return CorpusDocument(row["id"], row["text"], (mention,))


def _open(pipeline: str) -> Any:
    import spacy_angel

    nlp: Any = spacy_angel.load(pipeline)
    nlp.get_pipe(LINKER).settings.candidates.span_key = GOLD_SPANS
    return nlp


def _linked(nlp: Any, documents: Iterable[CorpusDocument]) -> Iterator[Any]:
    others = [name for name in nlp.pipe_names if name not in USED]
    for doc in nlp.pipe((to_doc(document, nlp) for document in documents), disable=others):
        yield from doc.spans[GOLD_SPANS]


if __name__ == "__main__":
    app()
