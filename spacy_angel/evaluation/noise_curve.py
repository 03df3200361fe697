"""Accuracy over the edits in each mention, for one kind of noise or several."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from ..corpora.documents import CorpusDocument, CorpusReport
from ..corpora.noise import KINDS, Noise, noisy_document
from ..errors import AngelError

CURVE = (1, 2)
"""Edits in each mention where none are given; without any is the evaluation itself."""
NOISY_MENTIONS = "mentions_with_noise"
"""Counter of the mentions that have a place for the noise."""


def noise_levels(values: Sequence[str]) -> list[Noise]:
    """What is asked for on the command line.

    values (Sequence[str]): e.g. `typo`, which is `CURVE`, or `ocr:3`, which is three edits alone.
    RETURNS (list[Noise]): each once, here `typo:1`, `typo:2`, `ocr:3`.
    RAISES (AngelError): a value is of another form, or there is no such kind.
    """
    levels: dict[Noise, None] = {}
    for value in values:
        kind, colon, edits = value.partition(":")
        if not kind or (colon and not (edits.isdecimal() and int(edits))):
            raise AngelError(
                f"--noise needs a kind, e.g. `typo` or `ocr:1`, not {value!r}. Kinds: "
                f"{', '.join(KINDS)}."
            )
        for number in (int(edits),) if colon else CURVE:
            levels[Noise(kind, number)] = None
    return list(levels)


def add_noise_to(
    documents: Iterable[CorpusDocument],
    noise: Noise,
    seed: int,
    labels: Collection[str],
    report: CorpusReport,
) -> Iterator[CorpusDocument]:
    """Documents with noise in their mentions.

    documents (Iterable[CorpusDocument]): as they are read, nothing expanded yet.
    noise (Noise), seed (int): see `corpora.noise`.
    labels (Collection[str]): of the mentions that are evaluated; without, all.
    report (CorpusReport): gets `NOISY_MENTIONS`, of these mentions.
    RETURNS (Iterator[CorpusDocument]): one by one.
    """
    for document in documents:
        noisy = noisy_document(document, noise, seed)
        pairs = zip(document.mentions, noisy.mentions, strict=True)
        changed = (a.text != b.text and (not labels or a.label in labels) for a, b in pairs)
        report.count(NOISY_MENTIONS, sum(changed))
        yield noisy


def curve_point(metrics: Mapping[str, Any]) -> dict[str, float]:
    """metrics (Mapping[str, Any]): of an evaluation. RETURNS (dict[str, float]): accuracy at 1 in
    per cent by each count, and `changed`, the per cent of the mentions that have noise."""
    n_mentions = metrics["mentions"] + metrics["nil"]
    counts = metrics["run"]["corpus_report"]["counts"]
    return {
        **{count: metrics[count]["acc@1"] for count in ("lenient", "strict", "kb_id")},
        "changed": 100 * counts.get(NOISY_MENTIONS, 0) / n_mentions,
    }
