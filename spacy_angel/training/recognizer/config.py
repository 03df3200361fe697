"""Settings for training a recognizer: a file in spaCy's config format, read into dataclasses.

    [corpora.biored]
    path = "BioRED_TrainDev.PubTator"

    [corpora.biored.labels]
    Gene = "GENE"                a label in the corpus and the label that is learned
    FamilyName = "GENE?"         may or may not be one: its words are ignored for GENE
    Variant = ""                 not used

All mentions of the listed labels without a question mark must be annotated in the corpus. Other
labels are not learned from its texts.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...errors import AngelError
from ..course.config import read_config
from ..settings.config_tables import OptimizerSettings, Strict

IGNORED = "?"


@dataclass(frozen=True)
class RecognizerCorpus(Strict):
    """A training corpus.

    path (str): file, in any corpus format.
    labels (dict[str, str]): see above. Other spellings of a listed label are recognized
        (`GeneOrGeneProduct` for `Gene`); other labels are errors.
    format (str | None): corpus format; None: inferred from the file.
    strict (bool): stop at the first error in the file; if false, skip what cannot be read.
    without_mentions (float): share of the texts without mentions that are used.
    copies (float): how often each text is used per epoch; 0.25: a quarter of the texts, once.
    """

    path: str
    labels: dict[str, str]
    format: str | None = None
    strict: bool = True
    without_mentions: float = 1.0
    copies: float = 1

    @property
    def annotated(self) -> frozenset[str]:
        """RETURNS (frozenset[str]): the labels that are annotated in it."""
        return frozenset(v for v in self.labels.values() if v and not v.endswith(IGNORED))


@dataclass(frozen=True)
class RecognizerSettings(Strict):
    """The recognizer and its initial model.

    labels (tuple[str, ...]): labels to find.
    start (str): model whose encoder is used: folder, hub name, or `en_angel_mini`. A BERT becomes
        the encoder of a BART.
    source (str): recognizer to continue from instead, to which labels may be added: the folder of a
        recognizer or of a pipeline with one, or `en_angel_mini` or `en_angel_bio`; empty for none.
    window (int), overlap (int): see `recognition.finder.FinderConfig`.
    train_embeddings (bool): also train the token embeddings. If false, most weights stay those of
        the linker, and updates are faster.
    """

    labels: tuple[str, ...]
    start: str = "en_angel_mini"
    source: str = ""
    window: int = 128
    overlap: int = 24
    train_embeddings: bool = False


@dataclass(frozen=True)
class RecognizerData(Strict):
    """How texts become training examples.

    Documents are assigned by the last decimal digit of the MD5 of the article's identifier, so that
    the parts of an article are never separated, even across corpora.

    choose (tuple[int, ...]): digits of the documents that are used to choose the checkpoint.
    test (tuple[int, ...]): digits of the documents that are only evaluated at the end.
    epochs (int): number of epochs; each uses other windows.
    swapped (float): share of the texts, from the second epoch on, in which mentions are replaced by
        others with the same label.
    layouts (float): share of the texts, from the second epoch on, whose layout is rewritten, see
        `layouts.rewrite_layout`.
    seed (int): random seed.
    """

    choose: tuple[int, ...] = (0,)
    test: tuple[int, ...] = (1,)
    epochs: int = 3
    swapped: float = 0.3
    layouts: float = 0.0
    seed: int = 0


@dataclass(frozen=True)
class RecognizerConfig(Strict):
    """The complete config.

    recogniser (RecognizerSettings), corpora (dict[str, RecognizerCorpus]), optimizer
    (OptimizerSettings), data (RecognizerData).
    trainer (dict[str, Any]): see `TrainingConfig`.
    """

    recogniser: RecognizerSettings
    corpora: dict[str, RecognizerCorpus]
    optimizer: OptimizerSettings
    data: RecognizerData = field(default_factory=RecognizerData)
    trainer: dict[str, Any] = field(default_factory=dict)


def load_recognizer_config(
    path: Path, overrides: Mapping[str, Any] | None = None
) -> RecognizerConfig:
    """Read a config file.

    path (Path): file in spaCy's config format.
    overrides (Mapping[str, Any] | None): dotted names to values.
    RETURNS (RecognizerConfig): with all values checked.
    RAISES (AngelError): unknown, missing, or mistyped settings, which the message lists; or a
        corpus has a label that the recognizer does not have.
    """
    config = read_config(path, overrides, RecognizerConfig)
    known = config.recogniser.labels
    problems = [
        f"corpora.{name}: the label {label!r} is none of {', '.join(known)}"
        for name, corpus in config.corpora.items()
        for label in sorted(
            {v.removesuffix(IGNORED) for v in corpus.labels.values()} - {"", *known}
        )
    ]
    annotated = frozenset().union(*(corpus.annotated for corpus in config.corpora.values()))
    problems += [f"no corpus annotates {label!r}" for label in known if label not in annotated]
    if problems:
        raise AngelError(f"The config {path} is not valid: {'; '.join(problems)}.")
    return config
