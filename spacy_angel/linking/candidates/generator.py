"""Candidates for the queries of a batch: names that equal or resemble a mention, in letters or in
meaning, and names that the model writes for it."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ...model.name_encoder import shipped_name_encoder
from ...vocabulary.names.entity_types import is_gene
from ...vocabulary.species.reader import ABSENT_SPECIES
from ..mentions.permitted import subset_of_label
from ..ranking.concepts import EXACT_MATCH_PROBABILITY
from ..ranking.context import MAX_NAMES, content_words, context_overlap, words_around
from ..ranking.features import is_short
from ..ranking.ranker import LIKELY, SURE, Ranker
from ..settings.linker_settings import LinkerSettings
from ..types import FLOOR, Candidate, Query
from .names import FoundName, NameReader

if TYPE_CHECKING:
    from ...search.generator import Generator
    from ...vocabulary.kb import ConceptKB

N_SIMILAR = 5
"""Names by string similarity for each wording, and by meaning for each mention."""
N_CLOSE = 12
"""Names by their word pieces' vectors that the encoder chooses among."""
# Similar names that the model scores.
_MAX_SCORED = 8
# The search has decided if its best name is the mention itself, at this log-probability or above;
# under it, the model scores the names that are similar as strings.
_DECIDED = -2.0


class CandidateGenerator:
    """Finds the candidates of a batch of queries, within the semantic types of their labels.

    model (Generator): searches for names and scores them.
    kb (ConceptKB): the vocabulary that is searched.
    settings (LinkerSettings): how.
    ranker (Ranker | None): tells for which mentions a search may change the link; None: the model
        alone finds candidates.
    n_similar (int): names by string similarity for each wording.
    """

    def __init__(
        self,
        model: "Generator",
        kb: "ConceptKB",
        settings: LinkerSettings,
        ranker: Ranker | None,
        n_similar: int = N_SIMILAR,
    ) -> None:
        self.model = model
        self.kb = kb
        self.settings = settings
        self.ranker = ranker
        self.n_similar = n_similar
        self.words: dict[str, list[frozenset[str]]] = {}
        """Concept → words of its names."""
        self._static: dict[str, np.ndarray] = {}

    def generate(self, queries: Sequence[Query]) -> None:
        """queries (Sequence[Query]): get their candidates. With shortcuts, equal mentions of a
        document with equal labels are looked for once."""
        if not self.settings.candidates.shortcuts:
            self._generate(queries)
            return
        first: dict[object, Query] = {}
        for q in queries:
            key = (q.document, q.label, q.text, q.mention.species_context, q.constraint)
            first.setdefault(key, q)
        self._generate(list(first.values()))
        for q in queries:
            key = (q.document, q.label, q.text, q.mention.species_context, q.constraint)
            found = first[key]
            q.candidates, q.context, q.coherent = found.candidates, found.context, found.coherent
            q.is_searched, q.matched_exactly = found.is_searched, found.matched_exactly

    def _generate(self, queries: Sequence[Query]) -> None:
        subset_of = {
            label: subset_of_label(label, self.kb, self.settings)
            for label in dict.fromkeys(q.label for q in queries)
        }
        subsets = list(dict.fromkeys([None, *subset_of.values()]))
        self.number_of = {label: subsets.index(subset) for label, subset in subset_of.items()}
        self.space = self.kb.search_space(self.model.prompts, subsets)
        self.names = NameReader(self.kb, subset_of)
        self._match_exactly(queries)
        left = [q for q in queries if not q.matched_exactly]
        if self.ranker is None:
            self._search(left)
            return
        self._find_similar(left)
        searched, unsure = self._choose(queries, left)
        self._find_close(unsure)
        self._score_names(searched, self._search(searched))
        self._compare_meaning(searched)
        self._read_document(queries)

    def _match_exactly(self, queries: Sequence[Query]) -> None:
        """Take the name that needs no search: by a rule, or as the name of one concept."""
        log_prob = math.log(EXACT_MATCH_PROBABILITY)
        shortcuts = self.ranker is not None and self.settings.candidates.shortcuts
        for q in queries:
            name = None
            if q.constraint is not None and q.constraint.means is not None:
                name = self.kb.name_index(q.constraint.rules[0].string)
                if name is not None and q.constraint.means not in self.kb.concept_ids_of(name):
                    name = None
            elif shortcuts:
                name = self.names.exact_match(q)
            if name is not None:
                q.candidates = self.names.candidates(q, [FoundName(name, log_prob, log_prob)])
                q.matched_exactly = True

    def _find_similar(self, queries: Sequence[Query]) -> None:
        """Find the names whose letters are similar to those of a wording."""
        for q in queries:
            names: dict[int, None] = {}
            for text in q.texts:
                nearest = self.kb.nearest.find(text, self.n_similar + len(names), self._mask(q))
                new = [name for name, _ in nearest if name not in names][: self.n_similar]
                names |= dict.fromkeys(new)
            q.nearest = list(names)
            q.candidates = self.names.candidates(q, list(map(FoundName, names)))
        self._compare_vectors(queries)

    def _choose(
        self, queries: Sequence[Query], left: Sequence[Query]
    ) -> tuple[list[Query], list[Query]]:
        """RETURNS (tuple[list[Query], list[Query]]): the mentions to search for, all of those left
        without shortcuts; and those for which names that are close in meaning are looked for."""
        if self.ranker is None or not self.settings.candidates.shortcuts:
            return list(left), list(left)
        self._read_document(queries)
        certainty = self.ranker.certainty(left)
        pairs = [
            (q, p) for q, p in zip(left, certainty, strict=True) if is_gene(q.label) or p < SURE
        ]
        return [q for q, _ in pairs], [q for q, p in pairs if p < LIKELY]

    def _find_close(self, queries: Sequence[Query]) -> None:
        """Add names that are close in meaning, if other words may be meant: those with the closest
        vectors of word pieces, and of some more those that the name encoder finds closest."""
        unsure = [q for q in queries if self._needs_meaning(q)]
        found = self.kb.meanings.find(
            [q.text for q in unsure], N_CLOSE, [self._mask(q) for q in unsure]
        )
        close = [
            [c.name for c in names if c.name not in q.nearest]
            for q, names in zip(unsure, found, strict=True)
        ]
        self.names.read([name for names in close for name in names])
        text_of = self.names.texts
        texts = [q.text for q in unsure] + [text_of[n] for names in close for n in names]
        index = {text: i for i, text in enumerate(dict.fromkeys(texts))}
        vectors = shipped_name_encoder().embed(list(index)).astype(np.float32)
        for q, names in zip(unsure, close, strict=True):
            own = vectors[[index[text_of[name]] for name in names]]
            order = np.argsort(-(own @ vectors[index[q.text]]), kind="stable").tolist()
            closest = dict.fromkeys([*range(len(names))[: self.n_similar], *order])
            chosen = [names[i] for i in [*closest][: 2 * self.n_similar]]
            more = self.names.candidates(q, list(map(FoundName, chosen)))
            q.candidates += [replace(c, is_similar=False) for c in more]
        self._compare_vectors(unsure)

    def _needs_meaning(self, q: Query) -> bool:
        """Whether other words may be meant: not of an exact match, a short form, or a gene."""
        if is_short(q.text):
            return False
        return not any([self.names.texts[name] in q.texts for name in q.nearest])

    def _search(self, queries: Sequence[Query]) -> list[list[int]]:
        """Search for names, and put them before those that were found by similarity.

        RETURNS (list[list[int]]): for each mention the similar names that the model is to score.
            E.g. of `asthma`:

                best of the search     similar names
                asthma            -0.3 none
                allergic asthma   -0.3 candidates, with the least log-probability of the search's
                allergic asthma   -5.0 candidates, and the model scores them

            `asthma` of an absent species alone counts as another name.
        """
        from ...search.search import SearchSettings

        settings = self.settings
        num_beams = settings.candidates.num_beams or self.model.num_beams
        results = self.model.search(
            [q.mention for q in queries],
            self.space,
            SearchSettings(num_beams, num_beams, settings.candidates.length_penalty),
            subsets=[self.number_of[q.label] for q in queries],
            batch_size=settings.runtime.batch_size,
        )
        to_score = []
        for q, hypotheses in zip(queries, results, strict=True):
            names = [FoundName(h.name, h.log_prob, h.score) for h in hypotheses]
            found = self.names.candidates(q, names)
            to_score.append(self._add_found(q, found))
            q.is_searched = True
        return to_score

    def _add_found(self, q: Query, found: list[Candidate]) -> list[int]:
        """found (list[Candidate]): of the search. RETURNS (list[int]): see `_search`."""
        by_letters = {c.name for c in q.candidates if c.is_similar}
        for c in found:
            c.is_similar = c.name in by_letters
        best = max(found, key=lambda c: c.log_prob, default=None)
        if best is not None and best.log_prob >= _DECIDED and best.text == q.text:
            species = {c.species for c in found if c.name == best.name}
            # A name that only a species has which the document does not name is hardly meant.
            if species != {ABSENT_SPECIES}:
                q.candidates = found
                return []
        known = {c.name for c in found}
        similar = [c for c in q.candidates if c.name not in known]
        similar.sort(key=lambda c: -c.vectors - c.cosine)
        least = min([c.log_prob for c in found], default=FLOOR)
        for c in similar:
            c.log_prob = c.score = least
        q.candidates = found + similar
        if best is not None and best.log_prob >= _DECIDED:
            return []
        return list(dict.fromkeys(c.name for c in similar))[:_MAX_SCORED]

    def _score_names(self, queries: Sequence[Query], names: Sequence[Sequence[int]]) -> None:
        """names (Sequence[Sequence[int]]): for each mention those that the model is to score."""
        asked = [(q, own) for q, own in zip(queries, names, strict=True) if own]
        values = self.model.score_names(
            [q.mention for q, _ in asked],
            [self.kb.name_texts(own) for _, own in asked],
            batch_size=self.settings.runtime.batch_size,
        )
        for (q, own), log_probs in zip(asked, values, strict=True):
            scored = dict(zip(own, log_probs, strict=True))
            for c in q.candidates:
                if c.name in scored:
                    c.log_prob = c.score = scored[c.name]

    def _compare_vectors(self, queries: Sequence[Query]) -> None:
        """Compare names and wordings by the static vectors of their words."""
        worded = [q for q in queries if not is_gene(q.label)]
        for q, cosines in zip(worded, self._cosines(worded, self._static_vectors), strict=True):
            for c, cosine in zip(q.candidates, cosines, strict=True):
                c.vectors = cosine

    def _static_vectors(self, texts: Sequence[str]) -> np.ndarray:
        """texts (Sequence[str]): n. RETURNS (np.ndarray): float32[n, d], each text computed once
        for the generator."""
        new = [text for text in texts if text not in self._static]
        if new:
            self._static.update(zip(new, shipped_name_encoder().static_vectors(new), strict=True))
        return np.array([self._static[text] for text in texts])

    def _compare_meaning(self, queries: Sequence[Query]) -> None:
        """Compare names and wordings by the name encoder, and those of the search by the static
        vectors of their words."""
        self._compare_vectors(queries)
        worded = [q for q in queries if not is_gene(q.label)]
        for q, cosines in zip(
            worded, self._cosines(worded, shipped_name_encoder().embed), strict=True
        ):
            for c, cosine in zip(q.candidates, cosines, strict=True):
                c.meaning = cosine

    def _cosines(
        self, queries: Sequence[Query], vectors_of: Callable[[Sequence[str]], np.ndarray]
    ) -> list[list[float]]:
        """vectors_of (Callable): n texts → float[n, d], normalized. RETURNS (list[list[float]]): of
        each candidate the greatest cosine with a wording; 1 if all names are wordings."""
        compared = [q for q in queries if not all([c.is_query for c in q.candidates])]
        texts = [text for q in compared for text in (*q.texts, *[c.text for c in q.candidates])]
        index = {text: i for i, text in enumerate(dict.fromkeys(texts))}
        vectors = vectors_of(list(index)).astype(np.float32)
        cosines = []
        for q in queries:
            if all([c.is_query for c in q.candidates]):
                cosines.append([1.0] * len(q.candidates))
                continue
            left = vectors[[index[text] for text in q.texts]]
            right = vectors[[index[c.text] for c in q.candidates]]
            cosines.append((left @ right.T).max(axis=0).tolist())
        return cosines

    def _read_document(self, queries: Sequence[Query]) -> None:
        """Read what the rest of the document says of the concepts found: whether words of their
        other names occur around the mention, and whether another mention, in other words, names
        them beyond doubt, because it is a name of that concept alone."""
        named: dict[int, dict[str, set[str]]] = {}
        for q in queries:
            for c in q.candidates:
                if c.is_exact and not c.has_homonyms:
                    of = named.setdefault(q.document, {})
                    of.setdefault(c.concept_id, set()).add(q.text)
        self._read_words([c.concept_id for q in queries for c in q.candidates])
        for q in queries:
            of = named.get(q.document, {})
            ids = {c.concept_id for c in q.candidates}
            q.coherent = {c for c in ids if of.get(c, set()) - {q.text}}
            if q.matched_exactly or ids <= q.context.keys():
                continue
            around = words_around(q.mention)
            for concept_id in ids - q.context.keys():
                words = self.words[concept_id]
                q.context[concept_id] = context_overlap(words, around, q.text)

    def _read_words(self, concept_ids: Sequence[str]) -> None:
        new = [c for c in dict.fromkeys(concept_ids) if c not in self.words]
        if not new:
            return
        names_of = [names[:MAX_NAMES] for names in self.kb.concept_names(new)]
        texts = iter(self.kb.name_texts([name for names in names_of for name in names]))
        for concept_id, names in zip(new, names_of, strict=True):
            self.words[concept_id] = content_words([next(texts) for _ in names])

    def _mask(self, q: Query) -> np.ndarray | None:
        """RETURNS (np.ndarray | None): bool[n_names], the names that the label allows; None:
        all."""
        return self.space.allowed[self.number_of[q.label]]
