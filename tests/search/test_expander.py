"""What a search step is given: legal continuations with stored or fresh log-probabilities."""

import torch
from support.tries import END, trie

from spacy_angel.model.interface import TokenScores
from spacy_angel.search.expander import Expander
from spacy_angel.search.walker import Walker
from spacy_angel.vocabulary.storage.trie import SearchSpace


class Decoding:
    """Gives token `t` after token `s` the logit `t / (1 + s)`, and writes down what it is fed."""

    def __init__(self, n_mentions: int) -> None:
        self.n_mentions = n_mentions
        self.n_slots = 3  # those of the prefix
        self.fed: list[dict[str, list[int]]] = []

    def first(self) -> TokenScores:
        return scores(torch.zeros(self.n_mentions))

    def feed(self, tokens, mentions, parents, depths) -> TokenScores:
        names = ("tokens", "mentions", "parents", "depths")
        columns = (tokens, mentions, parents, depths)
        self.fed.append({n: c.tolist() for n, c in zip(names, columns, strict=True)})
        self.n_slots += int(torch.bincount(mentions).max())
        return scores(tokens)

    def keep(self, mentions) -> None:
        self.n_mentions = len(mentions)


def scores(last: torch.Tensor) -> TokenScores:
    logits = torch.arange(10.0)[None] / (1 + last[:, None])
    return TokenScores(logits[None], logits.logsumexp(1))


def log_prob(token: int, last: int) -> float:
    return scores(torch.tensor([last])).at(torch.tensor([0]), torch.tensor([token])).item()


# 5 … is a chain of single children, 6 branches.
SPACE = SearchSpace((trie((5, 7, 8, END), (6, 3, END), (6, 4, END)),))


def expander(n_mentions: int, max_chain: int) -> tuple[Expander, Decoding]:
    decoding = Decoding(n_mentions)
    return Expander(decoding, Walker(SPACE, 0, END, torch.device("cpu")), max_chain), decoding


def rounded(values) -> list[float]:
    return [round(value, 5) for value in (v.item() if hasattr(v, "item") else v for v in values)]


def test_first_tokens_are_scored_without_decoding() -> None:
    found = expander(2, 8)[0].first(2)
    assert found.rows.tolist() == found.longer.mentions.tolist() == [0, 0, 1, 1]
    assert found.longer.tokens.tolist() == [5, 6, 5, 6]
    assert found.longer.parents.tolist() == found.longer.slots.tolist() == [-1] * 4
    assert rounded(found.log_probs) == rounded([log_prob(5, 0), log_prob(6, 0)] * 2)


def test_a_chain_is_decoded_in_one_pass() -> None:
    expand, decoding = expander(1, 8)
    partial_names = expand.first(1).longer
    found = expand.expand(partial_names)
    # 5 and the chain 7 8 behind it, and 6: the end token is never fed.
    [fed] = decoding.fed
    assert sorted(zip(fed["tokens"], fed["depths"], strict=True)) == [
        (5, 0),
        (6, 0),
        (7, 1),
        (8, 2),
    ]
    slot = {token: 3 + i for i, token in enumerate(fed["tokens"])}
    parents = dict(zip(fed["tokens"], fed["parents"], strict=True))
    assert parents == {5: -1, 6: -1, 7: slot[5], 8: slot[7]}
    assert found.longer.tokens.tolist() == [7, 3, 4]
    assert rounded(found.log_probs) == rounded([log_prob(7, 5), log_prob(3, 6), log_prob(4, 6)])
    # 7 is decoded already, 3 and 4 are not.
    assert found.longer.slots.tolist() == [slot[7], -1, -1]


def test_the_chain_is_then_read_from_what_is_stored() -> None:
    expand, decoding = expander(1, 8)
    partial_names = expand.first(1).longer.pick(torch.tensor([0]))
    read = []
    for _ in range(3):
        continuations = expand.expand(partial_names)
        partial_names = continuations.longer
        read += [(*partial_names.tokens.tolist(), *rounded(continuations.log_probs))]
    assert read == [
        (7, *rounded([log_prob(7, 5)])),
        (8, *rounded([log_prob(8, 7)])),
        (END, *rounded([log_prob(END, 8)])),
    ]
    assert [fed["tokens"] for fed in decoding.fed] == [[5, 7, 8]]


def test_a_chain_is_followed_no_further_than_told() -> None:
    expand, decoding = expander(1, 1)
    partial_names = expand.first(1).longer.pick(torch.tensor([0]))
    for _ in range(3):
        partial_names = expand.expand(partial_names).longer
    assert [fed["tokens"] for fed in decoding.fed] == [[5, 7], [8]]


def test_tokens_are_fed_by_mention_and_mentions_can_leave() -> None:
    expand, decoding = expander(3, 8)
    expand.expand(expand.first(3).longer)
    assert decoding.fed[0]["mentions"] == sorted(decoding.fed[0]["mentions"])
    expand.keep(torch.tensor([2]))
    assert decoding.n_mentions == 1
