"""Link strings without a text, such as the cells of a column: identifiers, names, probabilities.

The recognizer is not used, and equal strings are linked once.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any, NamedTuple

from spacy.language import Language
from spacy.util import minibatch
from tqdm import tqdm

from ..corpora.docs import GOLD_SPANS
from ..corpora.documents import CorpusDocument
from ..linking.linker import AngelLinker
from ..linking.types import NIL, describe_link
from ..vocabulary.kb import ConceptKB
from .components import prepare_docs
from .load import find_linker, load

NIL_SHARE = 0.1
"""Expected share of strings without a concept; lower than in texts, since most cells of a column
name a concept."""
_BATCH = 256
# How pandas and NumPy write missing values.
_MISSING = frozenset({"nan", "NaT", "<NA>"})
MAX_CACHED = 100_000
"""Different strings whose results are kept, so that equal strings are linked once."""


class Query(NamedTuple):
    """A string to ground.

    string (str): white space is collapsed; a blank string has no concept.
    context (str): text in which it occurs, or anything else about it.
    label (str): entity type, e.g. `DISEASE`; empty: any.
    """

    string: str
    context: str = ""
    label: str = ""


class Match(NamedTuple):
    """A concept of the vocabulary.

    concept_id (str): its identifier. name (str): its canonical name.
    probability (float): that the string means it.
    """

    concept_id: str
    name: str
    probability: float


class Grounding(NamedTuple):
    """The concept of a string.

    string (str): the string, with white space collapsed.
    link (Match | None): its concept; None if the vocabulary has none.
    candidates (tuple[Match, ...]): the most probable concepts, even if it has no link.
    """

    string: str
    link: Match | None = None
    candidates: tuple[Match, ...] = ()


class Grounder:
    """Grounds strings with a pipeline.

    nlp (Language): the pipeline. linker (AngelLinker): the linker in it.
    k (int): candidates to keep.
    threshold (float | None): least probability of a link; None: the linker's.
    nil_share (float): expected share of strings without a concept; has no effect without the
        reranker.
    RAISES (AngelError): the threshold or share is invalid.
    """

    def __init__(
        self,
        nlp: Language,
        linker: AngelLinker,
        *,
        k: int = 1,
        threshold: float | None = None,
        nil_share: float = NIL_SHARE,
    ) -> None:
        self.linker = linker
        self._nlp = nlp
        self._k = k
        decision: dict[str, Any] = {"overwrite": True}
        if threshold is not None:
            decision["threshold"] = threshold
        self._settings: dict[str, dict[str, Any]] = {
            "candidates": {"span_key": GOLD_SPANS},
            "reranker": {"nil_prior": nil_share},
            "decision": decision,
        }
        linker.settings.changed(self._settings)

    def stream(self, queries: Iterable[Query]) -> Iterator[Grounding]:
        """Ground any number of strings in bounded memory.

        queries (Iterable[Query]): read batch by batch.
        YIELDS (Grounding): one per query, in the same order.
        """
        found: dict[Query, Grounding] = {}
        for batch in minibatch(map(_normalized, queries), _BATCH):
            if len(found) > MAX_CACHED:
                found.clear()
            new = [query for query in dict.fromkeys(batch) if query not in found]
            found |= zip(new, self.ground(new), strict=True)
            yield from map(found.__getitem__, batch)

    def ground(self, queries: Sequence[Query]) -> list[Grounding]:
        """queries (Sequence[Query]): a batch. RETURNS (list[Grounding]): one per query."""
        asked = [query for query in queries if query.string]
        documents = [
            CorpusDocument.of_string(str(i), query.string, query.context, query.label)
            for i, query in enumerate(asked)
        ]
        # strings are removed from spaCy's vocabulary after the batch
        zone = self._nlp.memory_zone() if documents else nullcontext()
        with zone, self.linker.using(**self._settings), self.linker.kb.reading():
            docs = list(prepare_docs(self._nlp, self.linker, documents, given=True))
            links = iter([link for (link,) in self.linker.predict(docs)])
        return [self._grounding(query, next(links) if query.string else None) for query in queries]

    def _grounding(self, query: Query, link: Any) -> Grounding:
        if link is None:
            return Grounding(query.string)
        candidates = tuple(self._match(*pair) for pair in self.linker.rank(link.candidates))
        linked = None
        if link.kb_id != NIL:
            name, probability = describe_link(link.kb_id, link.kb_ents, self.linker.kb)
            linked = Match(link.kb_id, name, round(probability or 0.0, 4))
        return Grounding(query.string, linked, candidates[: self._k])

    def _match(self, concept_id: str, probability: float) -> Match:
        concept = self.linker.kb.get(concept_id)
        name = "" if concept is None else concept.canonical_name
        return Match(concept_id, name, round(probability, 4))


def ground(
    strings: Iterable[Any],
    kb: ConceptKB | Path | str | None = None,
    *,
    contexts: Iterable[Any] | None = None,
    labels: Iterable[Any] | str = "",
    k: int = 1,
    threshold: float | None = None,
    nil_share: float = NIL_SHARE,
    pipeline: Language | Path | str | None = None,
) -> list[Grounding]:
    """Link strings, such as a column of a table.

    strings (Iterable[Any]): a list, a column of pandas or Arrow, or anything else that has
        `to_list()` or can be iterated over; missing values have no concept.
    kb (ConceptKB | Path | str | None): vocabulary, see `load`.
    contexts (Iterable[Any] | None): text around each string.
    labels (Iterable[Any] | str): entity type of each string, or of all of them.
    k (int): candidates to keep of each.
    threshold (float | None), nil_share (float): see `Grounder`.
    pipeline (Language | Path | str | None): a loaded pipeline, which must have the vocabulary
        already, or its name; see `load`.
    RETURNS (list[Grounding]): one per string, in the same order.
    RAISES (AngelError): see `load`. RAISES (ValueError): contexts or labels are more or fewer.

    EXAMPLE:
        >>> found = ground(["heart attack", "heart atack", "blue"])
        >>> print(*(one.link and one.link.concept_id for one in found))
        MESH:D009203 MESH:D009203 None
    """
    nlp = pipeline if isinstance(pipeline, Language) else load(pipeline, kb)
    grounder = Grounder(nlp, find_linker(nlp), k=k, threshold=threshold, nil_share=nil_share)
    listed = _values(strings)
    around = [""] * len(listed) if contexts is None else _values(contexts)
    kinds = [labels] * len(listed) if isinstance(labels, str) else _values(labels)
    queries = [Query(*map(as_text, row)) for row in zip(listed, around, kinds, strict=True)]
    bar = tqdm(grounder.stream(queries), "Grounding", len(queries), unit=" strings", disable=None)
    return list(bar)


def _values(column: Any) -> list[Any]:
    """RETURNS (list[Any]): plain values of a list, or of a column of pandas, Arrow or others, whose
    elements may be objects of their own."""
    convert = getattr(column, "to_list", None) or getattr(column, "to_pylist", None)
    return list(column) if convert is None else convert()


def as_text(value: Any) -> str:
    """value (Any): of a table. RETURNS (str): its text; empty for a missing value."""
    text = str(value)
    return "" if value is None or (text in _MISSING and not isinstance(value, str)) else text


def _normalized(query: Query) -> Query:
    return Query(*(" ".join(text.split()) for text in query))
