"""Constrained search for names: beam search, and exact search for the most probable ones."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import torch
from torch import Tensor

from ..errors import AngelError, unknown_name
from .expander import Continuations, Expander, PartialNames

_DEAD = float("-inf")


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """A name that the search found.

    name (int): index of the name in the vocabulary.
    log_prob (float): log-probability of its tokens, the end token included, in nats.
    score (float): what the search ranks by: the log-probability over `n_tokens ** length_penalty`
        in beam search, the log-probability in exact search.
    n_tokens (int): its tokens, the end token included.
    suffix (str | None): what tells its concepts apart, empty for the name alone; None where the
        search did not tell them apart.
    """

    name: int
    log_prob: float
    score: float
    n_tokens: int
    suffix: str | None = None


@dataclass
class SearchResult:
    """What the search found for a mention.

    hypotheses (list[Hypothesis]): best first; names with the same tokens have the same score.
    proven (bool): they are the k most probable names of all; only exact search can tell.
    asked (dict[str, float]): log-probabilities of further names that were asked for, as the model
        writes them, in nats.
    """

    hypotheses: list[Hypothesis] = field(default_factory=list)
    proven: bool = False
    asked: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class SearchSettings:
    """How to search.

    mode (str): `beam`: beam search; `exact`: the k names of highest log-probability (ANGEL,
        equation 1).
    num_beams (int): beams a mention; in exact search, partial names expanded at a time.
    k (int): most token sequences a mention, each of which may be of several names; beam search
        finds at most `num_beams`.
    length_penalty (float): exponent of the length in the score of beam search, 1 as published.
    max_work (int): exact search gives up its proof after so many decoded tokens a mention.
    """

    mode: Literal["beam", "exact"] = "beam"
    num_beams: int = 5
    k: int = 5
    length_penalty: float = 1.0
    max_work: int = 1000

    def __post_init__(self) -> None:
        if self.mode not in ("beam", "exact"):
            raise AngelError(unknown_name("search mode", self.mode, "beam, exact"))
        for name in ("num_beams", "k", "max_work"):
            if getattr(self, name) < 1:
                raise AngelError(f"{name} must be at least 1, not {getattr(self, name)!r}.")


class Found(NamedTuple):
    """A finished name as the search leaves it.

    state (list[int]): the trie nodes that the end token entered.
    log_prob, score (float): see `Hypothesis`.
    n_tokens (int): see `Hypothesis`.
    """

    state: list[int]
    log_prob: float
    score: float
    n_tokens: int


class _Finished:
    """The best finished names of every mention, at most `size`."""

    def __init__(self, n: int, size: int, n_tries: int, device: torch.device) -> None:
        self.size = size
        self.score = torch.full((n, size), _DEAD, device=device)
        self.log_prob = self.score.clone()
        self.n_tokens = torch.zeros(n, size, dtype=torch.int64, device=device)
        self.state = torch.full((n, size, n_tries), -1, dtype=torch.int64, device=device)

    @property
    def worst(self) -> Tensor:
        """RETURNS (Tensor): float32[n], score of the last place, -inf while one is free."""
        return self.score[:, -1]

    def add(
        self, mentions: Tensor, score: Tensor, log_prob: Tensor, n_tokens: Tensor, state: Tensor
    ) -> None:
        """mentions (Tensor): int64[m], into which rows. score, log_prob (Tensor): float32[m, c],
        -inf for none. n_tokens (Tensor): int64[m, c]. state (Tensor): int64[m, c, n_tries]."""
        merged = torch.cat((self.score[mentions], score), dim=1)
        best, column = merged.topk(self.size, dim=1)
        self.score[mentions] = best
        self.log_prob[mentions] = _take(self.log_prob[mentions], log_prob, column)
        self.n_tokens[mentions] = _take(self.n_tokens[mentions], n_tokens, column)
        states = torch.cat((self.state[mentions], state), dim=1)
        self.state[mentions] = states.gather(1, column[..., None].expand(-1, -1, states.shape[2]))

    def lists(self) -> list[list[Found]]:
        """RETURNS (list[list[Found]]): a mention's names, best first."""
        columns = (self.state, self.log_prob, self.score, self.n_tokens)
        rows = zip(*(column.tolist() for column in columns), strict=True)
        return [[name for name in map(Found, *row) if name.score > _DEAD] for row in rows]


class _Candidates:
    """Continuations arranged by mention: the best of each mention in columns.

    continuations (Continuations): sorted by mention.
    scores (Tensor): float32[m].
    n_mentions (int): rows of the arrangement.
    size (int): columns at most.
    """

    def __init__(
        self, continuations: Continuations, scores: Tensor, n_mentions: int, size: int
    ) -> None:
        mentions = continuations.longer.mentions
        counts = torch.bincount(mentions, minlength=n_mentions)
        begin = counts.cumsum(0) - counts
        width = max(int(counts.max()), size)
        grid = scores.new_full((n_mentions, width), _DEAD)
        position = torch.arange(len(mentions), device=mentions.device) - begin[mentions]
        grid[mentions, position] = scores
        self.score, column = grid.topk(size, dim=1)
        # Empty places point at continuation 0: their score says that they are none.
        self.index = torch.where(self.score > _DEAD, begin[:, None] + column, 0)
        self.longer = continuations.longer

    def states(self) -> Tensor:
        """RETURNS (Tensor): int64[n_mentions, size, n_tries]."""
        return self.longer.states[self.index]

    def ended(self, end_token: int) -> Tensor:
        """RETURNS (Tensor): bool[n_mentions, size], whether the end token came."""
        return (self.longer.tokens[self.index] == end_token) & (self.score > _DEAD)


def beam_search(expander: Expander, n_mentions: int, settings: SearchSettings) -> list[list[Found]]:
    """The hypotheses of transformers' beam search (`early_stopping=False`) under the trie.

    In every step the best `2 * num_beams` continuations of a mention are looked at: an end token
    among the first `num_beams` finishes a name, the first `num_beams` others go on. A mention is
    done when no beam is left, or `num_beams` names are finished and the best beam's score over
    its length so far is no better than the worst of them.

    expander (Expander): the batch, nothing decoded yet.
    n_mentions (int): mentions in it.
    settings (SearchSettings): beams and length penalty.
    RETURNS (list[list[Found]]): at most `num_beams` names a mention, best first; fewer where the
        beams found fewer.
    """
    beams, end = settings.num_beams, expander.walker.end_token
    device = expander.walker.device
    finished = _Finished(n_mentions, beams, len(expander.walker.tries), device)
    # The batch shrinks as mentions are done: `original` says which ones are left.
    original = torch.arange(n_mentions, device=device)
    continuations = expander.first(n_mentions)
    scores = continuations.log_probs
    n_tokens = 0
    while len(scores):
        n_tokens += 1
        candidates = _Candidates(continuations, scores, len(original), 2 * beams)
        ended = candidates.ended(end)
        length = float(n_tokens**settings.length_penalty)
        new = torch.where(ended, candidates.score, _DEAD)[:, :beams]
        finished.add(
            original,
            new / length,
            new,
            torch.full_like(new, n_tokens, dtype=torch.int64),
            candidates.states()[:, :beams],
        )
        running, column = torch.where(ended, _DEAD, candidates.score).topk(beams, dim=1)
        going = running[:, 0] / length > finished.worst[original]
        alive = (running > _DEAD) & going[:, None]
        longer = candidates.longer.pick(candidates.index.gather(1, column)[alive])
        scores = running[alive]
        n_going = int(going.sum())
        if 2 * n_going <= len(original) and n_going:
            left = torch.nonzero(going).squeeze(1)
            expander.keep(left)
            original = original[left]
            longer = longer._replace(mentions=(going.cumsum(0) - 1)[longer.mentions])
        if not len(scores):
            break
        continuations = expander.expand(longer)
        scores = scores[continuations.rows] + continuations.log_probs
    return finished.lists()


def exact_search(
    expander: Expander, n_mentions: int, settings: SearchSettings
) -> tuple[list[list[Found]], list[bool]]:
    """The `k` names of highest log-probability, best first (ANGEL, equation 1).

    A partial name's log-probability bounds that of every name under it, so the best partial names
    are expanded until none is above the k-th name found: then the names are proven. After
    `max_work` decoded tokens a mention, or where partial names had to be dropped for memory, they
    may not be.

    expander (Expander): the batch, nothing decoded yet.
    n_mentions (int): mentions in it.
    settings (SearchSettings): `k`, `num_beams` partial names at a time, `max_work`.
    RETURNS (tuple[list[list[Found]], list[bool]]): the names, and whether they are proven.
    """
    end = expander.walker.end_token
    finished = _Finished(n_mentions, settings.k, len(expander.walker.tries), expander.walker.device)
    agenda = _Agenda(n_mentions, settings, expander.walker.device)
    agenda.add(expander.first(n_mentions), None, finished, end)
    n_rounds = 0
    while agenda.total and n_rounds * settings.num_beams < settings.max_work:
        n_rounds += 1
        scores, partial_names = agenda.pop()
        agenda.add(expander.expand(partial_names), scores, finished, end)
    return finished.lists(), (agenda.bound() <= finished.worst).tolist()


class _Agenda:
    """The partial names still to be expanded in exact search, best first for every mention."""

    _MOST = 4096

    def __init__(self, n_mentions: int, settings: SearchSettings, device: torch.device) -> None:
        self.n_mentions = n_mentions
        self.settings = settings
        self.scores = torch.empty(0, device=device)
        self.lengths = torch.empty(0, dtype=torch.int64, device=device)
        self.open: PartialNames | None = None
        self.dropped = torch.full((n_mentions,), _DEAD, device=device)
        self._popped_lengths = self.lengths

    @property
    def total(self) -> int:
        """RETURNS (int): partial names on the agenda."""
        return len(self.scores)

    def bound(self) -> Tensor:
        """RETURNS (Tensor): float32[n_mentions], what a name not found can have at most."""
        bound = self.dropped.clone()
        if self.open is not None:
            bound.scatter_reduce_(0, self.open.mentions, self.scores, "amax")
        return bound

    def add(
        self,
        continuations: Continuations,
        scores: Tensor | None,
        finished: _Finished,
        end_token: int,
    ) -> None:
        """Put the ended continuations to the finished names and the others on the agenda.

        continuations (Continuations): of the partial names last popped, or of the prefixes.
        scores (Tensor | None): float32, log-probabilities of those partial names.
        finished (_Finished): takes the ended ones.
        end_token (int): ends a name.
        """
        log_probs, rows = continuations.log_probs, continuations.rows
        if scores is None:
            lengths = torch.ones_like(rows)
        else:
            log_probs = log_probs + scores[rows]
            lengths = self._popped_lengths[rows] + 1
        ended = continuations.longer.tokens == end_token
        self._finish(continuations.longer.pick(ended), log_probs[ended], lengths[ended], finished)
        self._extend(continuations.longer.pick(~ended), log_probs[~ended], lengths[~ended])
        self._prune(finished.worst)

    def pop(self) -> tuple[Tensor, PartialNames]:
        """RETURNS (tuple[Tensor, PartialNames]): of each mention the best `num_beams`, which leave
        the agenda, behind their log-probabilities."""
        assert self.open is not None
        chosen = self._rank() < self.settings.num_beams
        scores, partial_names = self.scores[chosen], self.open.pick(chosen)
        self._popped_lengths = self.lengths[chosen]
        self._retain(~chosen)
        return scores, partial_names

    def _finish(
        self, names: PartialNames, log_probs: Tensor, lengths: Tensor, finished: _Finished
    ) -> None:
        if not len(log_probs):
            return
        counts = torch.bincount(names.mentions, minlength=self.n_mentions)
        shape = (self.n_mentions, int(counts.max()))
        position = torch.arange(len(log_probs), device=log_probs.device)
        where = (names.mentions, position - (counts.cumsum(0) - counts)[names.mentions])
        score = log_probs.new_full(shape, _DEAD)
        score[where] = log_probs
        n_tokens = lengths.new_zeros(shape)
        n_tokens[where] = lengths
        state = names.states.new_full((*shape, names.states.shape[1]), -1)
        state[where] = names.states
        everyone = torch.arange(self.n_mentions, device=log_probs.device)
        finished.add(everyone, score, score, n_tokens, state)

    def _extend(self, partial_names: PartialNames, scores: Tensor, lengths: Tensor) -> None:
        if self.open is not None:
            partial_names = PartialNames(
                *(torch.cat(columns) for columns in zip(self.open, partial_names, strict=True))
            )
        scores = torch.cat((self.scores, scores))
        lengths = torch.cat((self.lengths, lengths))
        by_score = torch.argsort(scores, descending=True, stable=True)
        order = by_score[torch.argsort(partial_names.mentions[by_score], stable=True)]
        self.open, self.scores = partial_names.pick(order), scores[order]
        self.lengths = lengths[order]

    def _prune(self, worst: Tensor) -> None:
        """Drop what no longer matters, and remember the best of what memory has no room for."""
        assert self.open is not None
        self._retain(self.scores > worst[self.open.mentions])
        excess = self._rank() >= self._MOST
        if excess.any():
            self.dropped.scatter_reduce_(0, self.open.mentions[excess], self.scores[excess], "amax")
            self._retain(~excess)

    def _rank(self) -> Tensor:
        assert self.open is not None
        counts = torch.bincount(self.open.mentions, minlength=self.n_mentions)
        begin = (counts.cumsum(0) - counts)[self.open.mentions]
        return torch.arange(self.total, device=begin.device) - begin

    def _retain(self, which: Tensor) -> None:
        assert self.open is not None
        self.open, self.scores = self.open.pick(which), self.scores[which]
        self.lengths = self.lengths[which]


def hypotheses(found: Sequence[Found], expander: Expander, k: int) -> list[Hypothesis]:
    """found (Sequence[Found]): of one mention, best first. expander (Expander): whose tries they
    are of. k (int): token sequences at most. RETURNS (list[Hypothesis]): one a name."""
    return [
        Hypothesis(name, item.log_prob, item.score, item.n_tokens, suffix)
        for item in found[:k]
        for name, suffix in expander.walker.written(item.state)
    ]


def _take(old: Tensor, new: Tensor, at: Tensor) -> Tensor:
    return torch.cat((old, new), dim=1).gather(1, at)
