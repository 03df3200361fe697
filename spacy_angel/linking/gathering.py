"""Names for mentions from two sides: what the search found, and what is near by letters."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..vocabulary.concepts import normalize_name
from ..vocabulary.hints import shares_in_order
from ..vocabulary.letters import Alike
from ..vocabulary.taxa import is_taxon
from .context import said_around, telling_words, words_around
from .evidence import FLOOR, Evidence, FoundName, weigh
from .ranking import ConceptsOf, NameScore

if TYPE_CHECKING:
    from ..model.mention import Mention
    from ..vocabulary.kb import ConceptKB

# Endings of a name by letters that the model is asked for, the likeliest ones.
_MOST_ENDINGS = 6
# The search has decided where its best name is the mention itself, at this log-probability or
# above; under it, the model is asked for the names that are near by letters.
_DECIDED = -2.0


@dataclass(frozen=True, slots=True)
class Wanted:
    """A mention that is looked for.

    mention (Mention): as the model reads it.
    document (int): number of its document.
    concepts (ConceptsOf): those of a name that the mention may have, where the document says
        which is the likeliest, in that order.
    allowed (np.ndarray | None): bool[n_names], the names of its subset; None: all.
    tells_apart (bool): the model writes endings, so that each is a name of its own.
    """

    mention: "Mention"
    document: int
    concepts: ConceptsOf
    allowed: np.ndarray | None = None
    tells_apart: bool = False


class Gathering:
    """The evidence for some mentions: names that the search found, and names that are near by
    letters; those of a document speak for each other.

    Tell it what was found for each mention (`add`), answer what the model thinks of the names that
    it gives back (`answer`), then `finish`.

    wanted (Sequence[Wanted]): n mentions.
    kb (ConceptKB): the vocabulary that is searched.
    n_near (int): names by letters for each mention.
    """

    def __init__(self, wanted: Sequence[Wanted], kb: "ConceptKB", n_near: int) -> None:
        self._wanted = wanted
        self._kb = kb
        self._n_near = n_near
        self._texts = [normalize_name(item.mention.text) for item in wanted]
        self._found: dict[int, list[FoundName]] = {}
        self._near: dict[int, list[FoundName]] = {}

    def add(self, i: int, hypotheses: Sequence[NameScore]) -> list[str]:
        """i (int): a mention. hypotheses (Sequence[NameScore]): names that the search found for
        it, best first, or the one that was taken without it. RETURNS (list[str]): names near by
        letters that the model is to be asked for, as it writes them: none where it has decided."""
        item, text = self._wanted[i], self._texts[i]
        found = self._found[i] = _names_found(item, self._kb, text, hypotheses)
        if _is_decided(found, text):
            return []
        near = self._near[i] = _names_near(item, self._kb, text, found, self._n_near)
        if _best(found) >= _DECIDED:
            return []
        return [self._kb.written(name.name, name.ending) for name in near]

    def answer(self, i: int, log_probs: Sequence[float]) -> None:
        """i (int): a mention. log_probs (Sequence[float]): of the names that `add` gave."""
        pairs = zip(self._near[i], log_probs, strict=True)
        self._near[i] = [_with_log_prob(name, log_prob) for name, log_prob in pairs]

    def finish(self) -> list[Evidence]:
        """RETURNS (list[Evidence]): one a mention."""
        words: dict[str, list[frozenset[str]]] = {}
        names = [
            _with_context(self._found[i] + self._near.get(i, []), item, self._kb, words)
            for i, item in enumerate(self._wanted)
        ]
        agreed = _agreed(self._wanted, self._texts, names)
        return [
            weigh(text, found, concepts, respelled=item.mention.respelled)
            for text, found, concepts, item in zip(
                self._texts, names, agreed, self._wanted, strict=True
            )
        ]


def _names_found(
    item: Wanted, kb: "ConceptKB", mention: str, hypotheses: Sequence[NameScore]
) -> list[FoundName]:
    """The names of the search."""
    meant = [(h, item.concepts(h.name, h.ending)) for h in hypotheses]
    meant = [(h, concepts) for h, concepts in meant if concepts]
    looks = kb.nearest.compare(mention, [h.name for h, _ in meant])
    return [
        _found_name(item, kb, mention, _Written(h.name, h.ending, concepts), h, alike)
        for (h, concepts), alike in zip(meant, looks, strict=True)
    ]


def _names_near(
    item: Wanted, kb: "ConceptKB", mention: str, found: Sequence[FoundName], n_near: int
) -> list[FoundName]:
    """Names by letters that the search did not find, at most `n_near`; of a name with endings
    also those endings that it did not find."""
    known = {(name.name, name.ending) for name in found}
    found_names = {name.name for name in found}
    least = min((name.log_prob for name in found), default=FLOOR)
    near: list[FoundName] = []
    n_new = 0
    for name, alike in kb.nearest.find(mention, n_near + len(found_names), item.allowed):
        is_new = name not in found_names
        if is_new and n_new == n_near:
            continue
        options = [w for w in _endings(item, kb, name) if (name, w.ending) not in known]
        n_new += bool(is_new and options)
        unasked = _Unasked(least, least)
        near += [_found_name(item, kb, mention, option, unasked, alike) for option in options]
    return near


class _Written(NamedTuple):
    """A name as the model writes it, and the concepts of it that the mention may have."""

    name: int
    ending: str | None
    concepts: Sequence[str]


class _Unasked(NamedTuple):
    """Scores of a name that the model has not been asked for."""

    log_prob: float
    score: float


def _endings(item: Wanted, kb: "ConceptKB", name: int) -> list[_Written]:
    """The ways to write a name: one, or with each ending, the likeliest first."""
    if not item.tells_apart:
        concepts = item.concepts(name, None)
        return [_Written(name, None, concepts)] if concepts else []
    told = kb.endings_of(name)
    places = {concept_id: place for place, concept_id in enumerate(item.concepts(name, None))}
    ways = [
        _Written(name, ending, allowed)
        for ending, concepts in told.items()
        if (allowed := [c for c in concepts if c in places])
    ]
    ways.sort(key=lambda way: min(places[c] for c in way.concepts))
    return ways[:_MOST_ENDINGS]


def _found_name(
    item: Wanted,
    kb: "ConceptKB",
    mention: str,
    written: _Written,
    scores: "NameScore | _Unasked",
    alike: Alike,
) -> FoundName:
    name, ending, concepts = written
    text = kb.name(name)
    # Only of the mention itself is it asked whether it is canonical, and who else has it.
    is_mention = text == mention
    canonical = [c for c in concepts if is_mention and kb.names_of(c)[0] == name]
    has_others = ending is not None and is_mention
    return FoundName(
        name,
        text,
        scores.log_prob,
        scores.score,
        alike,
        tuple(concepts),
        frozenset(canonical),
        ending,
        has_others and len(item.concepts(name, None)) > len(concepts),
        # Where the model has no say, the document has.
        shares_in_order(len(concepts)) if kb.endings and len(concepts) > 1 else (),
        kb.places_of(concepts, item.mention.hint),
        frozenset(c for c in canonical if kb.endings and _is_spelled_so(item, kb, c)),
        frozenset(c for c in concepts if is_mention and kb.endings and kb.is_second_name(name, c)),
    )


def _is_spelled_so(item: Wanted, kb: "ConceptKB", concept_id: str) -> bool:
    return kb[concept_id].canonical_name == item.mention.text


def _with_context(
    names: Sequence[FoundName],
    item: Wanted,
    kb: "ConceptKB",
    words: dict[str, list[frozenset[str]]],
) -> list[FoundName]:
    """The names with what the words around the mention say of their concepts.

    words (dict[str, list[frozenset[str]]]): `telling_words` by concept, gets what it lacks.
    """
    around = words_around(item.mention)
    mention = normalize_name(item.mention.text)
    said: dict[str, float] = {}
    for name in names:
        for concept_id in name.concepts:
            if concept_id not in said:
                if concept_id not in words:
                    words[concept_id] = telling_words(map(kb.name, kb.names_of(concept_id)))
                said[concept_id] = said_around(words[concept_id], around, mention)
    return [replace(name, said=tuple(said[c] for c in name.concepts)) for name in names]


def _best(found: Sequence[FoundName]) -> float:
    return max((name.log_prob for name in found), default=FLOOR)


def _is_decided(found: Sequence[FoundName], mention: str) -> bool:
    best = max(found, key=lambda name: name.log_prob, default=None)
    return best is not None and best.text == mention and best.log_prob >= _DECIDED


def _with_log_prob(name: FoundName, log_prob: float) -> FoundName:
    return replace(name, log_prob=log_prob, score=log_prob)


def _agreed(
    wanted: Sequence[Wanted], mentions: Sequence[str], names: Sequence[Sequence[FoundName]]
) -> list[set[str]]:
    """For each mention those of its concepts that another mention of the document, in other words,
    names without a doubt: it is a name of that concept alone. A text that speaks of patients says
    nothing of what its mice are: of a species both have a word, as `E. coli` and `Escherichia coli`
    do."""
    named: defaultdict[int, defaultdict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for item, mention, item_names in zip(wanted, mentions, names, strict=True):
        for name in item_names:
            if name.text == mention and name.is_of_one:
                named[item.document][name.concepts[0]].add(mention)
    return [
        {
            concept_id
            for concept_id in {c for name in item_names for c in name.concepts}
            if concept_id in named[item.document]
            and speak_for(concept_id, named[item.document][concept_id], mention)
        }
        for item, mention, item_names in zip(wanted, mentions, names, strict=True)
    ]


def speak_for(concept_id: str, others: set[str], mention: str) -> bool:
    """concept_id (str): a concept. others (set[str]): mentions of a document that name it.
    mention (str): another or one of them. RETURNS (bool): whether they make it likelier for it."""
    others = others - {mention}
    if not is_taxon(concept_id):
        return bool(others)
    words = set(mention.split())
    return any(not words.isdisjoint(other.split()) for other in others)
