"""Constrained beam search for names: the search, and a step of it, which decodes the legal
continuations of partial names."""

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from ..errors import AngelError
from ..model.interface import Decoding
from .walker import Walker

_DEAD = float("-inf")
# Log-probabilities are never above 0, so this value means that none is stored.
_NONE = 1.0


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """A name found by the search.

    name (int): index of the name in the vocabulary.
    log_prob (float): log-probability of its tokens, including the end token, in nats.
    score (float): log-probability divided by its number of tokens, including the end token, to the
        power of `length_penalty`; names are ranked by it.
    """

    name: int
    log_prob: float
    score: float


@dataclass(frozen=True)
class SearchSettings:
    """Settings of the beam search.

    num_beams (int): beams per mention.
    k (int): maximum number of token sequences per mention, each of which may belong to several
        names; at most `num_beams` are found.
    length_penalty (float): exponent of the length in the score, 1 as published.
    """

    num_beams: int = 5
    k: int = 5
    length_penalty: float = 1.0

    def __post_init__(self) -> None:
        for name in ("num_beams", "k"):
            if getattr(self, name) < 1:
                raise AngelError(f"{name} must be at least 1, not {getattr(self, name)!r}.")


class PartialNames(NamedTuple):
    """Partial names, sorted by mention.

    mentions (Tensor): int64[n], index of the mention.
    states (Tensor): int64[n, n_tries], nodes of the tries.
    tokens (Tensor): int64[n], the last token.
    parents (Tensor): int64[n], slot of the token before the last, -1 for the prefix.
    slots (Tensor): int64[n], slot of the last token, -1 if it is not decoded yet.
    """

    mentions: Tensor
    states: Tensor
    tokens: Tensor
    parents: Tensor
    slots: Tensor

    def pick(self, which: Tensor) -> "PartialNames":
        """which (Tensor): indices or a mask. RETURNS (PartialNames): the selected ones."""
        mentions, states, tokens, parents, slots = self
        return PartialNames(
            mentions[which], states[which], tokens[which], parents[which], slots[which]
        )


class Continuations(NamedTuple):
    """Partial names extended by one token.

    rows (Tensor): int64[m], index of the partial name, ascending.
    log_probs (Tensor): float32[m], log-probability of the token.
    longer (PartialNames): the extended partial names.
    """

    rows: Tensor
    log_probs: Tensor
    longer: PartialNames


class Expander:
    """Decodes partial names and returns their legal continuations, for a batch of mentions.

    A partial name with a single legal continuation is decoded together with the chain of single
    tokens that follows. Their log-probabilities are stored by slot, so the search can still proceed
    token by token.

    decoding (Decoding): the batch.
    walker (Walker): the names.
    max_chain (int): maximum number of tokens of a chain that are decoded in advance.
    """

    def __init__(self, decoding: Decoding, walker: Walker, max_chain: int) -> None:
        self.decoding = decoding
        self.walker = walker
        self.max_chain = max_chain
        self._log_probs = torch.empty(0)
        self._slots = torch.empty(0)

    def first(self, n_mentions: int) -> Continuations:
        """n_mentions (int): number of mentions in the batch. RETURNS (Continuations): all first
        tokens, one row per mention."""
        device = self.walker.device
        mentions = torch.arange(n_mentions, device=device)
        nowhere = torch.full_like(mentions, -1)
        roots = PartialNames(mentions, self.walker.roots(n_mentions), nowhere, nowhere, nowhere)
        self._log_probs = torch.full((n_mentions, self.decoding.n_slots), _NONE, device=device)
        self._slots = torch.full(self._log_probs.shape, -1, dtype=torch.int64, device=device)
        return self._continue(roots, self.decoding.first(), mentions)

    def expand(self, partial_names: PartialNames) -> Continuations:
        """partial_names (PartialNames): partial names, decoded or not. RETURNS (Continuations): all
        of their legal continuations, with exact log-probabilities."""
        new = torch.nonzero(partial_names.slots < 0).squeeze(1)
        rows = torch.full_like(partial_names.mentions, -1)
        scores = None
        if len(new):
            slots, rows_of_new, scores = self._decode(partial_names.pick(new))
            rows[new] = rows_of_new
            partial_names = partial_names._replace(
                slots=partial_names.slots.index_copy(0, new, slots)
            )
        return self._continue(partial_names, scores, rows)

    def keep(self, mentions: Tensor) -> None:
        """mentions (Tensor): int64[m], the mentions to continue with."""
        self.decoding.keep(mentions)
        self._log_probs = self._log_probs[mentions]
        self._slots = self._slots[mentions]

    def _decode(self, new: PartialNames) -> tuple[Tensor, Tensor, Tensor]:
        """RETURNS (tuple[Tensor, Tensor, Tensor]): the slot of each partial name, its row in the
        scores, and the scores."""
        n = len(new.mentions)
        heads = torch.arange(n, device=new.mentions.device)
        which, tokens, following = [heads], [new.tokens], []  # lists of int64[n_at_depth]
        token, state = self.walker.only_children(new.states)
        following.append(token)
        for _ in range(self.max_chain):
            next_token, next_state = self.walker.only_children(state)
            goes_on = next_token >= 0
            if not goes_on.any():
                break
            heads = heads[goes_on]
            which.append(heads)
            tokens.append(token[goes_on])
            following.append(next_token[goes_on])
            token, state = next_token[goes_on], next_state[goes_on]
        return self._decode_chains(new, which, tokens, following)

    def _decode_chains(
        self,
        new: PartialNames,
        which: list[Tensor],
        tokens: list[Tensor],
        following: list[Tensor],
    ) -> tuple[Tensor, Tensor, Tensor]:
        """which, tokens, following (list[Tensor]): by depth, the partial names whose chains get
        there, the tokens to decode, and the single tokens after them (-1: several).

        Of the chain `my o card`, where several tokens may follow `card`, and 5 is a free slot:

            depth           0           1
            token           my          o
            slot            5           6
            parent          that of my  5
            following       o           card
            `_log_probs`    of o        of card    by slot
            `_slots`        6           -1         by slot: that of the following token

        So the search gets `o` and `card` without the model, and `card` is decoded where it is
        expanded itself."""
        device = new.mentions.device
        begin = self.decoding.n_slots
        heads = torch.cat(which)
        depths = torch.repeat_interleave(torch.tensor(list(map(len, which)), device=device))
        # Of k tokens in all, int64[k] in the order of `which`: heads, depths, slots, parents, rows.
        # `order` sorts them by mention, as `feed` wants them: int64[k] mentions, position.
        mentions, order = torch.sort(new.mentions[heads], stable=True)
        counts = torch.bincount(mentions, minlength=len(self._slots))
        slots = torch.empty_like(heads)
        position = torch.arange(len(heads), device=device)
        slots[order] = begin + position - (counts.cumsum(0) - counts)[mentions]
        chain = torch.full((len(new.mentions), len(which)), -1, device=device)
        chain[heads, depths] = slots
        parents = torch.where(
            depths == 0, new.parents[heads], chain[heads, (depths - 1).clamp_min(0)]
        )
        scores = self.decoding.feed(
            torch.cat(tokens)[order], mentions, parents[order], depths[order]
        )
        rows = torch.empty_like(heads)
        rows[order] = position
        self._store(new.mentions[heads], slots, rows, torch.cat(following), scores)
        ahead = depths > 0
        self._slots[new.mentions[heads[ahead]], parents[ahead]] = slots[ahead]
        n = len(new.mentions)
        return slots[:n], rows[:n], scores

    def _store(
        self, mentions: Tensor, slots: Tensor, rows: Tensor, following: Tensor, scores: Tensor
    ) -> None:
        gap = (0, self.decoding.n_slots - self._slots.shape[1])
        self._log_probs = torch.nn.functional.pad(self._log_probs, gap, value=_NONE)
        self._slots = torch.nn.functional.pad(self._slots, gap, value=-1)
        log_probs = scores[rows, following.clamp_min(0)]
        self._log_probs[mentions, slots] = torch.where(following < 0, _NONE, log_probs)

    def _continue(
        self, partial_names: PartialNames, scores: Tensor | None, rows: Tensor
    ) -> Continuations:
        """Find all legal continuations of n partial names.

        partial_names (PartialNames): n partial names, decoded.
        scores (Tensor | None): scores of the tokens after those that were just decoded.
        rows (Tensor): int64[n], row of `scores` for each partial name, -1 for none.
        RETURNS (Continuations): m continuations. Inside a chain, the log-probability and slot are
            those stored by `_decode_chains`; otherwise, the log-probability is read from `scores`,
            and the token has no slot yet.
        """
        children = self.walker.children(partial_names.states)
        mentions = partial_names.mentions[children.rows]  # [m]
        parents = partial_names.slots[children.rows]  # [m]
        stored = self._log_probs[mentions, parents]
        # Slot -1, the prefix, reads the last column, in which nothing is stored.
        stored = torch.where(parents < 0, _NONE, stored)
        log_probs = stored
        if scores is not None:
            fresh = scores[rows[children.rows].clamp_min(0), children.tokens]
            log_probs = torch.where(stored > 0, fresh, stored)
        slots = torch.where(stored > 0, -1, self._slots[mentions, parents])
        longer = PartialNames(mentions, children.states, children.tokens, parents, slots)
        return Continuations(children.rows, log_probs, longer)


class _Finished:
    """The best finished names of n mentions, at most `size` each.

    score, log_prob (Tensor): float32[n, size], -inf for none.
    state (Tensor): int64[n, size, n_tries], the trie nodes that the end token entered.
    """

    def __init__(self, n: int, size: int, n_tries: int, device: torch.device) -> None:
        self.score = torch.full((n, size), _DEAD, device=device)
        self.log_prob = self.score.clone()
        self.state = torch.full((n, size, n_tries), -1, dtype=torch.int64, device=device)

    def add(self, mentions: Tensor, log_prob: Tensor, length: float, state: Tensor) -> None:
        """mentions (Tensor): int64[m], rows to add to. log_prob (Tensor): float32[m, c], -inf for
        none. length (float): denominator of the score.
        state (Tensor): int64[m, c, n_tries]."""
        merged = torch.cat((self.score[mentions], log_prob / length), dim=1)
        self.score[mentions], column = merged.topk(self.score.shape[1], dim=1)
        log_probs = torch.cat((self.log_prob[mentions], log_prob), dim=1)
        self.log_prob[mentions] = log_probs.gather(1, column)
        states = torch.cat((self.state[mentions], state), dim=1)
        self.state[mentions] = states.gather(1, column[..., None].expand(-1, -1, states.shape[2]))

    def hypotheses(self, expander: Expander, k: int) -> list[list[Hypothesis]]:
        """expander (Expander): looks up names. k (int): maximum number of token sequences. RETURNS
        (list[list[Hypothesis]]): the names of each mention, best first."""
        columns = (self.state, self.log_prob, self.score)
        return [
            [
                Hypothesis(name, log_prob, score)
                for state, log_prob, score in list(zip(*row, strict=True))[:k]
                if score > _DEAD
                for name in expander.walker.names(state)
            ]
            for row in zip(*map(Tensor.tolist, columns), strict=True)
        ]


def beam_search(
    expander: Expander, n_mentions: int, settings: SearchSettings
) -> list[list[Hypothesis]]:
    """Run the beam search of transformers (`early_stopping=False`), constrained to the trie.

    In each step, the best `2 * num_beams` continuations of a mention are considered: an end token
    among the first `num_beams` finishes a name, and the first `num_beams` others are continued. A
    mention is finished if no beam is left, or if `num_beams` names are finished and the score of
    the best beam, over its current length, is not better than the worst of them.

    expander (Expander): the batch, with nothing decoded yet.
    n_mentions (int): number of mentions in it.
    settings (SearchSettings): beams and length penalty.
    RETURNS (list[list[Hypothesis]]): names for each mention, best first.
    """
    beams, end_token = settings.num_beams, expander.walker.end_token
    device = expander.walker.device
    finished = _Finished(n_mentions, beams, len(expander.walker.tries), device)
    # The batch shrinks as mentions are finished; `original` has the indices of the others.
    original = torch.arange(n_mentions, device=device)
    continuations = expander.first(n_mentions)
    scores = continuations.log_probs
    n_tokens = 0
    while len(scores):
        n_tokens += 1
        length = float(n_tokens**settings.length_penalty)
        best, index = _best_continuations(continuations, scores, len(original), 2 * beams)
        longer = continuations.longer
        ended = (longer.tokens[index] == end_token) & (best > _DEAD)
        finished.add(
            original,
            torch.where(ended, best, _DEAD)[:, :beams],
            length,
            longer.states[index[:, :beams]],
        )
        running, column = torch.where(ended, _DEAD, best).topk(beams, dim=1)
        # As long as there are fewer than `num_beams` finished names, the worst score is -inf.
        going = running[:, 0] / length > finished.score[original, -1]
        alive = (running > _DEAD) & going[:, None]
        longer = longer.pick(index.gather(1, column)[alive])
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
    return finished.hypotheses(expander, settings.k)


def _best_continuations(
    continuations: Continuations, scores: Tensor, n_mentions: int, size: int
) -> tuple[Tensor, Tensor]:
    """The best continuations of each mention.

    continuations (Continuations): m of them, sorted by mention.
    scores (Tensor): float32[m].
    n_mentions (int): rows of the result.
    size (int): columns of the result.
    RETURNS (tuple[Tensor, Tensor]): float32[n_mentions, size] scores, -inf for none, and
        int64[n_mentions, size] indices of continuations, 0 for none.
    """
    mentions = continuations.longer.mentions
    counts = torch.bincount(mentions, minlength=n_mentions)
    begin = counts.cumsum(0) - counts
    grid = scores.new_full((n_mentions, max(int(counts.max()), size)), _DEAD)
    position = torch.arange(len(mentions), device=mentions.device) - begin[mentions]
    grid[mentions, position] = scores
    best, column = grid.topk(size, dim=1)
    return best, torch.where(best > _DEAD, begin[:, None] + column, 0)
