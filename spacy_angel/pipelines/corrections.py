"""Rules from corrected links, measured on documents that they were not made from."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory

from spacy.language import Language

from ..corpora.docs import GOLD_SPANS
from ..corpora.documents import CorpusDocument
from ..corpora.entity_types import complete_ids
from ..linking.linker import AngelLinker
from ..linking.types import NIL
from ..vocabulary.changes.rules import Rule, read_rules, write_rules
from ..vocabulary.kb import ConceptKB
from ..vocabulary.names.concepts import normalize_name
from ..vocabulary.names.identifiers import split_ids
from .components import prepare_docs

_FOLDS = 5


@dataclass(frozen=True, slots=True)
class Decision:
    """A gold mention and its link.

    text (str), label (str): of the mention.
    gold (frozenset[str]): own identifiers of its concepts; empty if the vocabulary has none.
    linked_to (str): own identifier of the concept that it was linked to; empty for NIL.
    """

    text: str
    label: str
    gold: frozenset[str]
    linked_to: str

    @property
    def is_right(self) -> bool:
        """RETURNS (bool): it is linked to its concept, or to nothing if it has none."""
        return self.linked_to in (self.gold or {""})


def learn_rules(
    nlp: Language, linker: AngelLinker, documents: Iterable[CorpusDocument]
) -> tuple[list[Rule], list[list[Decision]], list[list[Decision]]]:
    """Make rules from a corpus of corrected links, and measure them by cross-validation. Rules that
    the linker has already stay in effect.

    nlp (Language): the pipeline. linker (AngelLinker): its linker.
    documents (Iterable[CorpusDocument]): with gold mentions.
    RETURNS (tuple[list[Rule], list[list[Decision]], list[list[Decision]]]): the rules of the whole
        corpus; the links of each document without them; and its links, fold by fold, under the
        rules of the other folds. The caller decides whether to use the rules.
    """
    corpus = list(complete_ids(documents, linker.kb.resolve))
    before = decisions(nlp, linker, corpus)
    own = linker.settings.decision.curation
    own_rules = read_rules(Path(own)).rules if own is not None else ()
    after: list[list[Decision]] = []
    with TemporaryDirectory(prefix="spacy-angel-") as folder:
        for fold in range(min(_FOLDS, len(corpus))):
            others = chain(*(row for i, row in enumerate(before) if i % _FOLDS != fold))
            path = Path(folder) / f"{fold}.tsv"
            write_rules(path, [*own_rules, *propose_rules(others, linker.kb)])
            with linker.using(decision={"curation": str(path)}):
                after += decisions(nlp, linker, corpus[fold::_FOLDS])
    return propose_rules(chain(*before), linker.kb), before, after


def decisions(
    nlp: Language, linker: AngelLinker, documents: Sequence[CorpusDocument]
) -> list[list[Decision]]:
    """Link the gold mentions of a corpus.

    nlp (Language): the pipeline. linker (AngelLinker): its linker.
    documents (Sequence[CorpusDocument]): with gold mentions.
    RETURNS (list[list[Decision]]): one list per document.
    """
    # A linker that does not overwrite would return the gold identifiers.
    docs = prepare_docs(nlp, linker, [document.without_ids() for document in documents], given=True)
    kb, attribute = linker.kb, linker.settings.outputs.kb_id
    found = []
    with linker.using(candidates={"span_key": GOLD_SPANS}):
        for document, doc in zip(documents, linker.pipe(docs), strict=True):
            row = []
            for mention, span in zip(document.mentions, doc.spans[GOLD_SPANS], strict=True):
                gold = filter(None, map(kb.resolve, split_ids(mention.concept_ids)))
                kb_id = span._.get(attribute)
                linked_to = "" if kb_id in ("", NIL) else kb.resolve(kb_id) or kb_id
                row.append(Decision(mention.text, mention.label, frozenset(gold), linked_to))
            found.append(row)
    return found


def propose_rules(decided: Iterable[Decision], kb: ConceptKB) -> list[Rule]:
    """Make the rules that correct more links than they break.

    A string whose links are wrong means the concept that most of its mentions have; if most have no
    concept, it is never linked. If a string occurs with several labels, each label gets its own
    rule. Mentions of several concepts are ignored.

    decided (Iterable[Decision]): corrected links.
    kb (ConceptKB): the vocabulary.
    RETURNS (list[Rule]): in the order of the strings; the reason states the basis of each.
    """
    by_string: defaultdict[tuple[str, str], list[Decision]] = defaultdict(list)
    for one in decided:
        if len(one.gold) < 2 and (name := normalize_name(one.text)):
            by_string[name, one.label].append(one)
    n_labels = Counter(name for name, _ in by_string)
    rules = []
    for (name, label), group in sorted(by_string.items()):
        n_right = sum(one.is_right for one in group)
        gold, n = Counter(next(iter(one.gold), "") for one in group).most_common(1)[0]
        if n <= n_right:
            continue
        reason = f"{n} of {len(group)} corrected or confirmed, {n_right} right before"
        rule = Rule(
            "prefer" if gold else "exclude",
            Counter(one.text for one in group).most_common(1)[0][0],
            label=label if n_labels[name] > 1 else "",
            concept=gold,
            reason=f"{reason}: {kb[gold].canonical_name}" if gold else reason,
        )
        rules.append(rule)
    return rules
