"""Gold documents with noise in their mentions, for fitting the reranker and for invented notes."""

import re
from dataclasses import replace
from random import Random

from spacy_angel.corpora.documents import CorpusDocument
from spacy_angel.corpora.noise import (
    Edit,
    Rule,
    add_noise,
    change_number,
    change_spelling,
    choose_edits,
)
from spacy_angel.corpora.text_changes import replace_spans


def noisy_document(
    document: CorpusDocument, kind: str, edits: int = 1, context: float = 0.0, seed: int = 0
) -> CorpusDocument:
    """document (CorpusDocument): of mentions that overlap, the first gets noise. kind (str): of
    `corpora.noise.KINDS`. edits (int): in each mention. context (float): share of the other words
    with one edit. seed (int): with the identifier of the document, fixes the choices.
    RETURNS (CorpusDocument): with offsets moved and the step `noise=…`."""
    chosen: list[Edit] = []
    done = 0
    for mention in sorted(document.mentions, key=lambda m: (m.start, m.end)):
        if mention.start >= done:
            chance = Random(f"{seed} {document.doc_id} {mention.start}")
            chosen += choose_edits(mention.text, kind, edits, chance, mention.start)
            done = mention.end
    chance = Random(f"{seed} {document.doc_id} context")
    for word in re.finditer(r"\S+", document.text) if context else ():
        start, end = word.span()
        is_outside = all(end <= m.start or m.end <= start for m in document.mentions)
        if chance.random() < context and is_outside:
            chosen += choose_edits(word[0], kind, 1, chance, start)
    changed = replace_spans(document, sorted(chosen))
    return replace(changed, steps=(*document.steps, f"noise={kind}:{edits}"))


def altered(name: str, is_disease: bool, rng: Random) -> str:
    """RETURNS (str): the name with a typo, in another word order, number or spelling, or with a
    word that adds nothing."""
    words = name.split()
    added = ("{}, unspecified", "{} NOS", "severe {}") if is_disease else ("normal {}", "{} (NOS)")
    forms = [
        add_noise(name, "typo", 1, rng) if len(name) > 4 else name,
        f"{words[1]} of {words[0]}"
        if len(words) == 2 and name.replace(" ", "").isalpha()
        else name,
        _changed(name, change_number, rng),
        _changed(name, change_spelling, rng),
        rng.choice(added).format(name),
    ]
    return rng.choice([form for form in forms if form != name])


def _changed(text: str, rule: Rule, rng: Random) -> str:
    places = list(rule(text))
    if not places:
        return text
    start, end, new = rng.choice(places)
    return text[:start] + rng.choice(new) + text[end:]
