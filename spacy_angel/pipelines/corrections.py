"""Corrected links as rules, measured on documents that they were not made from."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from ..vocabulary.changes.rule_file import read_rules, write_rules
from ..vocabulary.changes.rules import Rule
from ..vocabulary.names.concepts import normalize_name
from ..vocabulary.names.identifiers import split_ids
from .components import components_before, given_doc

if TYPE_CHECKING:
    from spacy.language import Language

    from ..corpora.documents import CorpusDocument
    from ..linking.linker import AngelLinker
    from ..vocabulary.kb import ConceptKB

PARTS = 5
"""Parts of a corpus, of which each is linked under rules of the others."""
_NIL = "NIL"
# Characters on either side of a correction, more than a model reads.
_CONTEXT = 4096


@dataclass(frozen=True, slots=True)
class Decision:
    """What was decided of a gold mention.

    text (str), label (str): of the mention.
    gold (frozenset[str]): own identifiers of its concepts; empty where the vocabulary has none.
    linked_to (str): own identifier of the concept that it was linked to; empty: NIL.
    probability (float): of the most probable concept, linked to or not.
    """

    text: str
    label: str
    gold: frozenset[str]
    linked_to: str
    probability: float = 0.0

    @property
    def is_right(self) -> bool:
        """RETURNS (bool): it is linked to its concept, or to nothing where it has none."""
        return self.linked_to in self.gold if self.gold else not self.linked_to


@dataclass(frozen=True, slots=True)
class LearnedRules:
    """Rules of corrected links, and what they bring where they were not made from.

    rules (tuple[Rule, ...]): of the whole corpus.
    n_mentions (int): in documents that were held back, each once.
    n_right_before (int), n_right (int): of these, without and with rules of the other documents.
    decided (list[list[Decision]]): without them, a list a document.
    """

    rules: tuple[Rule, ...]
    n_mentions: int
    n_right_before: int
    n_right: int
    decided: list[list[Decision]]


def decisions(
    nlp: "Language", linker: "AngelLinker", documents: "Sequence[CorpusDocument]"
) -> list[list[Decision]]:
    """Link the gold mentions of a corpus.

    nlp (Language): the pipeline. linker (AngelLinker): its linker.
    documents (Sequence[CorpusDocument]): with gold mentions.
    RETURNS (list[list[Decision]]): a list a document, in their order.
    """
    from ..corpora.docs import GOLD_SPANS

    before = components_before(nlp, linker, given_mentions=True)
    # A linker that does not overwrite would hand the gold identifiers back.
    given = (given_doc(document.without_ids(), nlp) for document in documents)
    docs = nlp.pipe(given, disable=set(nlp.pipe_names).difference(before))
    found = []
    outputs = linker.settings.outputs
    with linker.using(span_key=GOLD_SPANS):
        for document, doc in zip(documents, linker.pipe(docs), strict=True):
            spans = {(s.start_char, s.end_char): s for s in doc.spans[GOLD_SPANS]}
            of_document = []
            for mention in document.mentions:
                span = spans[mention.start, mention.end]
                kb_id = span._.get(outputs.kb_id)
                gold = (linker.kb.resolve(one) for one in split_ids(mention.concept_ids))
                of_document.append(
                    Decision(
                        mention.text,
                        mention.label,
                        frozenset(filter(None, gold)),
                        "" if kb_id in ("", _NIL) else linker.kb.resolve(kb_id) or kb_id,
                        max((p for _, p in span._.get(outputs.kb_ents)), default=0.0),
                    )
                )
            found.append(of_document)
    return found


def propose_rules(
    decided: Iterable[Decision], kb: "ConceptKB", author: str = "", date: str = ""
) -> list[Rule]:
    """Rules that mend more links than they break.

    A string whose links are wrong means the concept that most of its mentions have; where none of
    them has a concept, it is never a mention. Of a string with several labels each label has a rule
    of its own. Mentions of several concepts make none.

    decided (Iterable[Decision]): corrected links.
    kb (ConceptKB): the vocabulary.
    author (str), date (str): kept with the rules.
    RETURNS (list[Rule]): in the order of the strings, with what they are made from as the reason.
    """
    by_string: defaultdict[str, list[Decision]] = defaultdict(list)
    for one in decided:
        if len(one.gold) < 2 and normalize_name(one.text):
            by_string[normalize_name(one.text)].append(one)
    rules = []
    for _, group in sorted(by_string.items()):
        labels = sorted({one.label for one in group})
        for label in labels:
            own = [one for one in group if one.label == label]
            rule = _rule(own, kb, label if len(labels) > 1 else "")
            if rule is not None:
                rules.append(replace(rule, author=author, date=date))
    return rules


def _rule(group: Sequence[Decision], kb: "ConceptKB", label: str) -> Rule | None:
    n_right = sum(one.is_right for one in group)
    golds = Counter(next(iter(one.gold), "") for one in group)
    gold, n = golds.most_common(1)[0]
    if n <= n_right:
        return None
    text = Counter(one.text for one in group).most_common(1)[0][0]
    reason = f"{n} of {len(group)} corrected or confirmed, {n_right} right before"
    if gold:
        reason += f": {kb[gold].canonical_name}"
        return Rule("means", text, label=label, concept=gold, reason=reason)
    return Rule("not-mention", text, label=label, reason=reason)


def learn_rules(
    nlp: "Language",
    linker: "AngelLinker",
    documents: "Iterable[CorpusDocument]",
    *,
    author: str = "",
    date: str = "",
) -> LearnedRules:
    """Make rules of a corpus of corrected links, and measure them on documents held back.

    The documents are taken in `PARTS` parts, each of which is linked under the rules of the others;
    then rules are made of all. Rules that the linker has already hold in all of it.

    nlp (Language): the pipeline. linker (AngelLinker): its linker.
    documents (Iterable[CorpusDocument]): with gold mentions.
    author (str), date (str): kept with the rules.
    RETURNS (LearnedRules): rules and counts; whoever asks decides whether they are used.
    """
    from ..corpora.entity_types import complete_ids

    texts = list(complete_ids(documents, linker.kb.resolve))
    before = decisions(nlp, linker, texts)
    n_right = 0
    for part in range(min(PARTS, len(texts))):
        held = texts[part::PARTS]
        others = [one for i, own in enumerate(before) if i % PARTS != part for one in own]
        n_right += n_right_under(nlp, linker, held, propose_rules(others, linker.kb))
    every = [one for own in before for one in own]
    return LearnedRules(
        tuple(propose_rules(every, linker.kb, author, date)),
        len(every),
        sum(one.is_right for one in every),
        n_right,
        before,
    )


def correction_lines(
    documents: "Sequence[CorpusDocument]", decided: Sequence[Sequence[Decision]]
) -> Iterator[str]:
    """Wrong links as `train negative --data.corrections` reads them.

    documents (Sequence[CorpusDocument]): with gold mentions.
    decided (Sequence[Sequence[Decision]]): what was decided of each.
    YIELDS (str): a line of JSON for each mention of one concept that was linked to another.
    """
    for document, own in zip(documents, decided, strict=True):
        for mention, one in zip(document.mentions, own, strict=True):
            if one.is_right or len(one.gold) != 1 or not one.linked_to:
                continue
            left = document.text[: mention.start][-_CONTEXT:].strip()
            right = document.text[mention.end :][:_CONTEXT].strip()
            row: dict[str, Any] = {"mention": mention.text, "left": left, "right": right}
            row |= {"chosen_id": min(one.gold), "rejected_ids": [one.linked_to]}
            yield json.dumps(row, ensure_ascii=False) + "\n"


def n_right_under(
    nlp: "Language",
    linker: "AngelLinker",
    documents: "Sequence[CorpusDocument]",
    rules: Sequence[Rule],
) -> int:
    """nlp (Language), linker (AngelLinker), documents (Sequence[CorpusDocument]): see `decisions`.
    rules (Sequence[Rule]): that hold beside those of the setting `curation`. RETURNS (int):
    mentions that are linked right then."""
    own = linker.settings.curation
    already = read_rules(Path(own)).rules if own is not None else ()
    with TemporaryDirectory(prefix="spacy-angel-") as folder:
        path = Path(folder) / "rules.tsv"
        write_rules([*already, *rules], path)
        with linker.using(curation=str(path)):
            linked = decisions(nlp, linker, documents)
    return sum(one.is_right for of_document in linked for one in of_document)
