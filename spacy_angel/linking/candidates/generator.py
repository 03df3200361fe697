"""Candidates for the mentions of a batch: names that equal a mention, names that are similar in
spelling or meaning, and names that the model generates."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, islice
from operator import attrgetter
from typing import TYPE_CHECKING

import numpy as np

from ...model.name_encoder import shipped_name_encoder
from ...vocabulary.names.entity_types import is_gene
from ...vocabulary.species.reader import ABSENT_SPECIES
from ..ranking.features import is_short
from ..ranking.ranker import LIKELY, SURE, Ranker, rank
from ..ranking.words import MAX_NAMES, abbreviates, context_overlap, split_words
from ..settings.linker_settings import LinkerSettings
from ..types import FLOOR, SPELLING, Candidate, Query
from .names import NameReader, highest_cosines, make_candidates

if TYPE_CHECKING:
    from ...search.generator import Generator

N_SIMILAR = 5
"""Number of names by string similarity per wording, and by meaning per mention."""
N_CLOSE = 12
"""Number of names with the closest static vectors, which the name encoder reranks."""
# Maximum number of similar names per mention that the model scores.
_MAX_SCORED = 8
# The model is sure of its best name from this log-probability on; otherwise it also scores the
# names with similar spelling.
_DECIDED = -2.0


@dataclass
class CandidateGenerator:
    """Finds the candidates of a batch of mentions.

    model (Generator): generates and scores names.
    names (NameReader): reads the vocabulary.
    settings (LinkerSettings): settings of the linker.
    ranker (Ranker | None): the reranker, which also predicts whether running the model may change
        the link of a mention; None: all candidates come from the model.
    """

    model: "Generator"
    names: NameReader
    settings: LinkerSettings
    ranker: Ranker | None

    def generate(self, queries: Sequence[Query]) -> None:
        """Find the candidates of the mentions. Each step processes the whole batch. Shortcuts
        reduce the number of mentions that the later, slower steps process, according to the
        reranker's probability of the best concept found so far:

            queries → left (no exact match) → searched (uncertain) → unsure (very uncertain)

        queries (Sequence[Query]): the mentions, changed in place.
        """
        self.kb = self.names.kb
        labels = dict.fromkeys([q.label for q in queries])
        subsets = list(dict.fromkeys([None, *map(self.names.subset, labels)]))
        self._number_of = {label: subsets.index(self.names.subset(label)) for label in labels}
        self._space = self.kb.search_space(self.model.prompts, subsets)
        # Which names each label allows: bool[n_names], or None for all names.
        self._masks = {label: self._space.allowed[n] for label, n in self._number_of.items()}
        left = self._match_exactly(queries)
        if self.ranker is None:
            self._search(left)
            return
        self._find_similar(left)
        searched = unsure = left
        if self.settings.candidates.shortcuts and self.ranker.unsearched is not None:
            self._read_document(queries)
            rankings = rank(left, self.ranker)
            best = [r.concepts[0][1] if r.concepts else 0.0 for r in rankings]
            searched = [q for q, p in zip(left, best, strict=True) if p < SURE or is_gene(q.label)]
            unsure = [q for q, p in zip(left, best, strict=True) if p < LIKELY]
        self._find_close(unsure)
        self._search(searched)
        self._compare_meanings(searched)
        self._read_document(queries)

    def _match_exactly(self, queries: Sequence[Query]) -> list[Query]:
        """Use the name specified by a rule, or, with shortcuts, the name that equals the mention if
        it belongs to exactly one concept.

        RETURNS (list[Query]): the mentions without such a name.
        """
        shortcuts = self.ranker is not None and self.settings.candidates.shortcuts
        self.names.find([q.text for q in queries if shortcuts])
        for q in queries:
            if q.constraint is not None and q.constraint.means is not None:
                name = self.names.index(q.constraint.rules[0].string)
            else:
                name = exact_match(q, self.names) if shortcuts else None
            q.candidates = [] if name is None else make_candidates(q, [name], self.names)
            q.matched_exactly = bool(q.candidates)
        return [q for q in queries if not q.matched_exactly]

    def _find_similar(self, queries: Sequence[Query]) -> None:
        """Find the names with the highest string similarity to a wording."""
        for q in queries:
            names: dict[int, None] = {}
            for text in q.texts:
                nearest = self.kb.nearest.find(text, N_SIMILAR + len(names), self._masks[q.label])
                new = [name for name, _ in nearest if name not in names]
                names |= dict.fromkeys(new[:N_SIMILAR])
            q.nearest = list(names)
            q.candidates = make_candidates(q, q.nearest, self.names)

    def _find_close(self, queries: Sequence[Query]) -> None:
        """Add names with a similar meaning. Of the `N_CLOSE` names with the closest static vectors,
        add the first ones, and the ones that the name encoder finds closest."""
        text_of = self.names.texts
        # Skip exact matches and short forms.
        unsure = [
            q
            for q in queries
            if q.texts.keys().isdisjoint(map(text_of.get, q.nearest)) and not is_short(q.text)
        ]
        if not unsure:
            return
        found = self.kb.meanings.find(
            [q.text for q in unsure], N_CLOSE, [self._masks[q.label] for q in unsure]
        )
        close = [
            [c.name for c in names if c.name not in q.nearest]
            for q, names in zip(unsure, found, strict=True)
        ]
        self.names.read([name for names in close for name in names])
        # Encode all texts together; the encoder keeps their vectors.
        self._embed([q.text for q in unsure] + [text_of[n] for names in close for n in names])
        for q, names in zip(unsure, close, strict=True):
            vectors = self._embed([q.text, *map(text_of.__getitem__, names)])
            order = np.argsort(-(vectors[1:] @ vectors[0]), kind="stable").tolist()
            closest = dict.fromkeys([*range(len(names))[:N_SIMILAR], *order])
            chosen = [names[i] for i in [*closest][: 2 * N_SIMILAR]]
            q.candidates += make_candidates(q, chosen, self.names)

    def _search(self, queries: Sequence[Query]) -> None:
        """Generate names with the model, and put them before the names found by similarity. For the
        mention `asthma`:

            best generated name    names found by similarity
            asthma            -0.3 dropped
            allergic asthma   -0.3 kept, with the lowest log-probability of the generated names
            allergic asthma   -5.0 kept, and scored by the model

        In a vocabulary with `by_species`, a name does not count as an exact match if the document
        mentions none of the species of its concepts.
        """
        if not queries:
            return
        from ...search.search import SearchSettings

        candidates = self.settings.candidates
        num_beams = candidates.num_beams or self.model.num_beams
        results = self.model.search(
            [q.mention for q in queries],
            self._space,
            SearchSettings(num_beams, num_beams, candidates.length_penalty),
            subsets=[self._number_of[q.label] for q in queries],
            batch_size=self.settings.runtime.batch_size,
        )
        self.names.read([h.name for hypotheses in results for h in hypotheses])
        to_score = []
        for q, hypotheses in zip(queries, results, strict=True):
            of_name = {h.name: h for h in hypotheses}
            found = make_candidates(q, list(of_name), self.names)
            for c in found:
                c.log_prob, c.score = of_name[c.name].log_prob, of_name[c.name].score
            if names := _add_found(q, found):
                to_score.append((q, names))
            q.is_searched = True
        if not to_score:
            return
        texts = self.names.texts
        values = self.model.score_names(
            [q.mention for q, _ in to_score],
            [list(map(texts.__getitem__, own)) for _, own in to_score],
            batch_size=self.settings.runtime.batch_size,
        )
        for (q, own), log_probs in zip(to_score, values, strict=True):
            scored = dict(zip(own, log_probs, strict=True))
            for c in q.candidates:
                if c.name in scored:
                    c.log_prob = c.score = scored[c.name]

    def _embed(self, texts: Sequence[str]) -> np.ndarray:
        """texts (Sequence[str]): n texts. RETURNS (np.ndarray): float32[n, d_model], their vectors,
        computed in int8 if the model is."""
        vectors = shipped_name_encoder().embed(texts, int8=self.model.dtype == "int8")
        return vectors.astype(np.float32)

    def _compare_meanings(self, queries: Sequence[Query]) -> None:
        """Set `meaning`. Mentions of genes, and mentions whose candidates are all exact matches,
        are skipped."""
        texts_of = [[*q.texts, *map(attrgetter("text"), q.candidates)] for q in queries]
        compared = [
            (q, texts)
            for q, texts in zip(queries, texts_of, strict=True)
            if not is_gene(q.label) and len(q.texts) < len(set(texts))
        ]
        if compared:
            # Encode all texts together; the encoder keeps their vectors.
            self._embed(list(chain.from_iterable(texts for _, texts in compared)))
        for q, texts in compared:
            cosines = highest_cosines(self._embed(texts), len(q.texts))
            for c, cosine in zip(q.candidates, cosines, strict=True):
                c.meaning = cosine

    def _read_document(self, queries: Sequence[Query]) -> None:
        """Set `context`, the overlap of a concept's other names with the text around the mention,
        and `coherent`, the concepts that another mention in the document names unambiguously."""
        named: dict[tuple[int, str], set[str]] = {}
        for q in queries:
            for c in q.candidates:
                if c.is_query and c.source != SPELLING and c.prior == 1.0:
                    named.setdefault((q.document, c.concept_id), set()).add(q.text)
        left = [q for q in queries if not q.matched_exactly]
        new_of = [{c.concept_id for c in q.candidates} - q.context.keys() for q in left]
        words_of = self._words_of(list(set().union(*new_of))) if any(new_of) else {}
        for q, new in zip(left, new_of, strict=True):
            if new:
                q.context |= context_overlap({c: words_of[c] for c in new}, q.mention, q.text)
            q.coherent = set()
            is_name = is_short(q.text) and any(map(attrgetter("is_query"), q.candidates))
            for c in q.candidates:
                others = named.get((q.document, c.concept_id), set()) - {q.text}
                # Beside `hyperlipidemia`, the exact name `HTN` still is hypertension.
                if others and (not is_name or any(abbreviates(q.text, name) for name in others)):
                    q.coherent.add(c.concept_id)

    def _words_of(self, concept_ids: Sequence[str]) -> dict[str, list[frozenset[str]]]:
        """RETURNS (dict[str, list[frozenset[str]]]): concept → the words of each of its names."""
        names_of = [names[:MAX_NAMES] for names in self.kb.concept_names(concept_ids)]
        texts = self.kb.name_texts(list(chain.from_iterable(names_of)))
        words = iter(map(frozenset, split_words(texts)))
        return {
            concept_id: list(islice(words, len(names)))
            for concept_id, names in zip(concept_ids, names_of, strict=True)
        }


def exact_match(query: Query, names: NameReader) -> int | None:
    """Find the name that equals a mention, if the mention can be linked without a search.

    query (Query): the mention. names (NameReader): reads the vocabulary.
    RETURNS (int | None): index of the name. It is None if there is no such name or it belongs to
        several concepts; if the mention has up to `SHORT` letters, and may thus be a short form of
        something else; if its spelling was corrected; or if the concept belongs to a species that
        the document does not mention.
    """
    if is_short(query.text) or query.texts.get(query.text) == SPELLING:
        return None
    [name] = names.find([query.text])
    concept_ids = [] if name is None else names.concepts(query, [name])[0]
    if len(concept_ids) != 1:
        return None
    ranks = names.kb.species_ranks(concept_ids, query.mention.species_context)
    return None if ranks == (ABSENT_SPECIES,) else name


def _add_found(q: Query, found: list[Candidate]) -> list[int]:
    """found (list[Candidate]): candidates from the search. RETURNS (list[int]): the similar names
    that the model has to score, see `_search`."""
    best = max(found, key=attrgetter("log_prob"), default=None)
    is_sure = best is not None and best.log_prob >= _DECIDED
    if best is not None and is_sure and best.text == q.text:
        species = {c.species for c in found if c.name == best.name}
        # Skip this if the name only belongs to species that the document does not mention.
        if species != {ABSENT_SPECIES}:
            q.candidates = found
            return []
    known = {c.name for c in found}
    others = [c for c in q.candidates if c.name not in known]
    similar = sorted(others, key=lambda c: -c.vectors - c.cosine)
    least = min([c.log_prob for c in found], default=FLOOR)
    for c in similar:
        c.log_prob = c.score = least
    q.candidates = found + similar
    return [] if is_sure else list(dict.fromkeys([c.name for c in similar]))[:_MAX_SCORED]
