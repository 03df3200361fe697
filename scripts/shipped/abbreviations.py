"""Collect abbreviations of diseases and chemicals from texts that define them.

    python abbreviations.py DATA KB --output ../../spacy_angel/data/abbreviations.tsv

A row has an abbreviation, one of its meanings, the number of texts that define it so, and words
that are typical of texts about this meaning. Texts used for measuring are left out.
"""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Annotated

import spacy
import typer
from build_training_data import BIORED, CDR, DEV, NCBI, TMVAR, documents, number
from mentioned import CORPORA, mentioned, raw_texts

from spacy_angel import ConceptKB
from spacy_angel.linking.mentions.abbreviations import context_words, word_weight
from spacy_angel.vocabulary.names.concepts import normalize_name

_SHORT = re.compile(r"[A-Z][A-Za-z]{0,2}[A-Z]{1,3}s?")
_TYPE = re.compile(r"([CD])\d*|(F)03")  # tree numbers of diseases, chemicals, mental disorders
_HEADING = re.compile(r"\b(?:TITLE|ABSTRACT|BODY)\b[^\n]*")
_MIN_TEXTS, _MAX_TEXTS, _MAX_WORDS, _MAX_NAMES, _N_STEM = 2, 300, 24, 48, 5
_BEGINNING = 4_000  # characters of a text whose words count
_MIN_SHARE, _MIN_WORDS = 3, 4
Meaning = tuple[str, str]
"""Abbreviation and identifier of a concept."""


def collect(
    data: Annotated[Path, typer.Argument(help="Folder of the corpora.")],
    kb: Annotated[Path, typer.Argument(help="The vocabulary of en_angel_bio.")],
    output: Annotated[Path, typer.Option(help="File to write.")],
) -> None:
    """Write the table of abbreviations."""
    vocabulary = ConceptKB.from_disk(kb)
    texts = list(dict.fromkeys(_texts(data)))
    every: defaultdict[Meaning, Counter[str]] = defaultdict(Counter)
    for short, long_form in _definitions(texts):
        concept_ids = [
            c.concept_id for c in vocabulary.find(long_form) if any(map(_TYPE.fullmatch, c.types))
        ]
        if concept_ids:
            every[short, concept_ids[0]][normalize_name(long_form)] += 1
    total: Counter[str] = Counter()
    for (short, _), names in every.items():
        total[short] += names.total()
    forms = {m: names for m, names in every.items() if total[m[0]] >= _MIN_TEXTS}
    concept_of = {name: concept_id for (_, concept_id), own in forms.items() for name in own}
    for concept_id in {concept_id for _, concept_id in forms}:
        own = vocabulary.name_texts(vocabulary.concept_names([concept_id])[0][:_MAX_NAMES])
        concept_of |= {n: concept_id for n in own if len(n) > _N_STEM and n not in concept_of}
    words = _typical_words(texts, concept_of)
    rows = [
        (
            short,
            str(names.total()),
            "|".join(n for n, _ in names.most_common(2)),
            " ".join(words.get(concept_id, ())[: _MIN_WORDS + 2 * names.total()]),
        )
        for (short, concept_id), names in forms.items()
    ]
    rows.sort(key=lambda row: (row[0], -int(row[1]), row[2]))
    output.write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf8")


def _texts(data: Path) -> Iterable[str]:
    """YIELDS (str): articles and abstracts."""
    held = {document.doc_id for document in documents(data, [*DEV, TMVAR, BIORED])}
    own = documents(data, [*CORPORA, NCBI.format("train"), CDR.format("Training")])
    kept = (d.text for d in own if d.doc_id not in held and number(d.doc_id) % 10 > 1)
    return chain(raw_texts(data), kept)


def _definitions(texts: Iterable[str]) -> Iterable[Meaning]:
    """YIELDS (tuple[str, str]): an abbreviation and its long form, once for each text."""
    nlp = spacy.blank("en")
    nlp.max_length = 10**7
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("angel_abbreviations")
    for doc in nlp.pipe(texts):
        yield from dict.fromkeys(
            (a.text.removesuffix("s"), a._.long_form.text.replace("’", "'"))
            for a in doc._.abbreviations
            if _SHORT.fullmatch(a.text)
        )


def _typical_words(texts: Sequence[str], names: Mapping[str, str]) -> dict[str, list[str]]:
    """names (Mapping[str, str]): names of concepts. RETURNS (dict[str, list[str]]): the words that
    distinguish texts that name a concept, without the words of its names."""
    n_with: Counter[str] = Counter()
    n_texts: Counter[str] = Counter()
    n_both: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for text, found in zip(texts, mentioned(names, texts), strict=True):
        words = context_words(_HEADING.sub("", text[:_BEGINNING]))
        n_with.update(words)
        own: defaultdict[str, set[str]] = defaultdict(set)
        for name in found:
            own[names[name]].update(word[:_N_STEM] for word in name.split())
        for concept_id, stems in own.items():
            if n_texts[concept_id] < _MAX_TEXTS:
                n_texts[concept_id] += 1
                n_both[concept_id].update(w for w in words if w[:_N_STEM] not in stems)
    typical = {}
    for concept_id, counts in n_both.items():
        gains = {}
        for word, n in counts.items():
            share = n / (n_texts[concept_id] + 2) / ((n_with[word] + 1) / len(texts))
            if n > 1 and share > _MIN_SHARE:
                gains[word] = n * math.log(share) * word_weight(word)
        typical[concept_id] = sorted(gains, key=gains.__getitem__, reverse=True)[:_MAX_WORDS]
    return typical


if __name__ == "__main__":
    typer.run(collect)
