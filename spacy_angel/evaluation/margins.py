"""Figure 3 of the paper: how much more probable the right name is than similar wrong ones."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..corpora.documents import CorpusDocument
from ..model.mention import Mention
from ..vocabulary.lookup.tfidf import TrigramTfidf
from ..vocabulary.names.concepts import normalize_name
from ..vocabulary.names.identifiers import split_ids
from .counts import percent
from .plots import new_figure

if TYPE_CHECKING:
    from ..search.generator import Generator
    from ..vocabulary.kb import ConceptKB

_BINS = 10


def margins(
    documents: Iterable[CorpusDocument], model: "Generator", kb: "ConceptKB", negatives: int = 10
) -> list[dict[str, Any]]:
    """Compare the most probable name of the gold concept with the nearest names of other concepts.

    documents (Iterable[CorpusDocument]): preprocessed documents with gold mentions.
    model (Generator): scores the names.
    kb (ConceptKB): the vocabulary.
    negatives (int): names of other concepts per mention, the most similar ones.
    RETURNS (list[dict[str, Any]]): by similarity of mention and wrong name, in ten bins: `name`,
        `mentions` (pairs), the `mean` difference in nats and `below`, the percentage of wrong names
        that are more probable; both None for an empty bin.
    """
    mentions = [
        (Mention(gold.read_as or gold.text, doc.text[: gold.start], doc.text[gold.end :]), ids)
        for doc in documents
        for gold in doc.mentions
        if (ids := {i for raw in split_ids(gold.concept_ids) if (i := kb.resolve(raw))})
    ]
    tfidf = TrigramTfidf().fit(kb.name(i) for i in range(kb.n_names))
    texts = [normalize_name(mention.text) for mention, _ in mentions]
    # The most similar names are mostly the concept's own, hence the factor.
    nearest = zip(*tfidf.nearest(texts, 5 * negatives), strict=True)
    bins: list[list[float]] = [[] for _ in range(_BINS)]
    for (mention, ids), (indices, similarities) in zip(mentions, nearest, strict=True):
        right = sorted({i for concept_id in ids for i in kb.names_of(concept_id)})
        wrong = [
            (int(i), float(similarity))
            for i, similarity in zip(indices, similarities, strict=True)
            if i >= 0 and ids.isdisjoint(kb.concept_ids_of(int(i)))
        ][:negatives]
        names = [kb.name(i) for i in [*right, *(i for i, _ in wrong)]]
        scores = model.log_probs([mention] * len(names), names)
        best = max(scores[: len(right)])
        for (_, similarity), score in zip(wrong, scores[len(right) :], strict=True):
            bins[min(int(similarity * _BINS), _BINS - 1)].append(best - score)
    return [
        {
            "name": f"{number / _BINS:.1f}-{(number + 1) / _BINS:.1f}",
            "mentions": len(own),
            "mean": float(np.mean(own)) if own else None,
            "below": percent([difference < 0 for difference in own]) if own else None,
        }
        for number, own in enumerate(bins)
    ]


def margins_table(systems: Mapping[str, Sequence[Mapping[str, Any]]]) -> list[dict[str, Any]]:
    """systems (Mapping[str, Sequence[Mapping[str, Any]]]): what `margins` returned, by system.
    RETURNS (list[dict[str, Any]]): the rows of a table, see `report.markdown_table`."""
    return [
        {"similarity": own[0]["name"], "pairs": own[0]["mentions"]}
        | {name: one["mean"] for name, one in zip(systems, own, strict=True)}
        | {f"wrong name above, %, {n}": one["below"] for n, one in zip(systems, own, strict=True)}
        for own in zip(*systems.values(), strict=True)
    ]


def plot_margins(systems: Mapping[str, Sequence[Mapping[str, Any]]], path: Path) -> None:
    """systems (Mapping[str, Sequence[Mapping[str, Any]]]): what `margins` returned, by system.
    path (Path): PNG to write."""
    figure, axes = new_figure("Log-probability of the best right name minus wrong names")
    for name, bins in systems.items():
        axes.plot([one["name"] for one in bins], [one["mean"] for one in bins], "o-", label=name)
    axes.set(xlabel="similarity of mention and wrong name", ylabel="difference, nats")
    axes.legend()
    figure.savefig(path, dpi=150)
