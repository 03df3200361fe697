"""Constrained beam search for names."""

from dataclasses import dataclass

import torch
from torch import Tensor

from ..errors import AngelError
from .expander import Continuations, Expander

_DEAD = float("-inf")


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
