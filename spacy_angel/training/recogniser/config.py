"""Settings of a recogniser's training: a file in spaCy's config format → plain dataclasses.

    [corpora.biored]
    path = "BioRED_TrainDev.PubTator"

    [corpora.biored.labels]
    Gene = "GENE"                a mention of the corpus and its label here
    FamilyName = "GENE?"         may or may not be one: its words are left open for GENE
    Variant = ""                 read over

A corpus annotates the labels that stand there without question mark, everywhere; its texts say
nothing of the others, for which they are left open: nothing is learned there, but from a teacher.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...errors import AngelError
from ..course.config import check_values, read_values
from ..settings.config_tables import OptimizerSettings, Strict

OPEN = "?"


@dataclass(frozen=True)
class RecogniserCorpus(Strict):
    """A corpus to learn from.

    path (str): file, of any corpus format.
    labels (dict[str, str]): see above; a mention whose label is missing has that of another
        spelling of it (`GeneOrGeneProduct` that of Gene), and is an error where there is none.
    format (str | None): corpus format; None: inferred from the file.
    strict (bool): refuse the file at its first fault; if not, leave out what the fault spoils.
    left_open (dict[str, tuple[str, ...]]): label to strings that this corpus does not mark, but
        others do, in small letters, e.g. `{"SPECIES": ["patients"]}`.
    names (dict[str, str]): label to a vocabulary, a folder or file: in the texts to learn from its
        names are taken for mentions with the label, and whatever else the corpus marks is left open
        for it. For labels of which there is hardly any annotation.
    without_mentions (float): share of the texts without any mention that are kept.
    copies (float): how many times each text is read a pass; 0.25: of the texts a quarter.
    silver (bool): annotated by another system: learned from, never measured on.
    """

    path: str
    labels: dict[str, str]
    format: str | None = None
    strict: bool = True
    left_open: dict[str, tuple[str, ...]] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    without_mentions: float = 1.0
    copies: float = 1
    silver: bool = False

    @property
    def annotated(self) -> frozenset[str]:
        """RETURNS (frozenset[str]): labels that it annotates everywhere."""
        return frozenset(v for v in self.labels.values() if v and not v.endswith(OPEN))


@dataclass(frozen=True)
class RecogniserSettings(Strict):
    """The recogniser and where it begins.

    labels (tuple[str, ...]): what it finds.
    start (str): model whose encoder it begins with: folder, hub name or `en_angel_mini`. A BERT
        becomes a BART's encoder; any other that is no encoder-decoder (MPNet, RoBERTa) makes a
        teacher, which does not go into a pipeline.
    layers (int): of a BERT or a source, evenly spaced; 0 for all.
    frozen_layers (int): so many of the encoder's lowest layers stay as they are, which makes an
        update of a large one a quarter faster at 4 of 12.
    teachers (tuple[str, ...]): recognisers, of teachers mostly, named as a source is, from the mean
        of whose probabilities it learns beside the annotation; one that stands twice counts twice.
        They cut words into the same pieces, and read each window as it is learned from: a masked
        word is masked for them, too.
    source (str): recogniser that it goes on from in the place of a start, and to whose labels it
        adds: folder of one or of a pipeline that has one, or `en_angel_mini` or `en_angel_bio`;
        empty for none.
    window (int), overlap (int): see `recognition.finder.FinderConfig`.
    train_embeddings (bool): change the vectors of the pieces as well. Without, most of the weights
        stay those of the linker that they were taken from, and an update is faster.
    compiled (bool): compile the encoder's layers first, which takes a minute and makes the updates
        on a GPU faster.
    """

    labels: tuple[str, ...]
    start: str = "en_angel_mini"
    layers: int = 0
    frozen_layers: int = 0
    teachers: tuple[str, ...] = ()
    source: str = ""
    window: int = 128
    overlap: int = 24
    train_embeddings: bool = False
    compiled: bool = False


@dataclass(frozen=True)
class RecogniserData(Strict):
    """How texts become examples.

    The last decimal digit of the MD5 of an article's id says whether its documents are for
    choosing, for the last look, or to learn from, whichever corpora they stand in.

    choose (tuple[int, ...]): digits of the documents on which the best checkpoint is chosen.
    last_look (tuple[int, ...]): digits of those which are only measured on at the end.
    never (tuple[str, ...]): files of corpora none of whose articles is learned from, wherever else
        they stand.
    passes (int): times that each text is read, each time in other windows.
    swapped (float): share of the readings, from the second pass on, in which mentions have the
        place of others with their label.
    restyled (float): share of them in which the text is written as notes are (`note_text`).
    masked (float): share of the words, from the second pass on, that the encoder does not see, but
        the tokenizer's mask in their place: what they are has to be read from the others.
    names (tuple[str, ...]): vocabularies whose names are put in the place of mentions, folders or
        pipelines that ship; see `corpora.recogniser_data.names_by_label`.
    seed (int): of all that.
    """

    choose: tuple[int, ...] = (0,)
    last_look: tuple[int, ...] = (1,)
    never: tuple[str, ...] = ()
    passes: int = 3
    swapped: float = 0.3
    restyled: float = 0.15
    masked: float = 0.0
    names: tuple[str, ...] = ()
    seed: int = 0


@dataclass(frozen=True)
class ReadingSettings(Strict):
    """Texts in which nothing is marked, with masked words that the encoder predicts (`reading`).

    texts (tuple[str, ...]): files, of any corpus format.
    lower_cased (tuple[str, ...]): files whose texts have lost their capitals.
    windows (int): of these texts that are read beside the examples of each update; 0: none.
    masked (float): share of a window's words.
    weight (float): of the loss of masked words, beside that of the tags.
    taught (int): windows of `texts`, with nothing masked, of which the teachers' probabilities are
        learned with each update.
    taught_weight (float): of the loss of these, beside that of the tags.
    """

    texts: tuple[str, ...] = ()
    lower_cased: tuple[str, ...] = ()
    windows: int = 64
    masked: float = 0.15
    weight: float = 0.05
    taught: int = 0
    taught_weight: float = 2.0

    @property
    def files(self) -> tuple[str, ...]:
        """RETURNS (tuple[str, ...]): all of them."""
        return (*self.texts, *self.lower_cased)


@dataclass(frozen=True)
class RecogniserConfig(Strict):
    """The whole recipe.

    recogniser (RecogniserSettings), data (RecogniserData), corpora (dict[str, RecogniserCorpus]),
    reading (ReadingSettings), optimizer (OptimizerSettings).
    """

    recogniser: RecogniserSettings
    corpora: dict[str, RecogniserCorpus]
    optimizer: OptimizerSettings
    data: RecogniserData = field(default_factory=RecogniserData)
    reading: ReadingSettings = field(default_factory=ReadingSettings)


def load_recogniser_config(
    path: Path, overrides: Mapping[str, Any] | None = None
) -> RecogniserConfig:
    """Read a config file.

    path (Path): file in spaCy's config format.
    overrides (Mapping[str, Any] | None): dotted names to values.
    RETURNS (RecogniserConfig): every value checked.
    RAISES (AngelError): unknown, missing or mistyped settings, each named; a corpus with a label
        that the recogniser does not have.
    """
    config = check_values(path, read_values(path, overrides), RecogniserConfig)
    known = config.recogniser.labels
    problems = [
        f"corpora.{name}: the label {label!r} is none of {', '.join(known)}"
        for name, corpus in config.corpora.items()
        for label in sorted({v.removesuffix(OPEN) for v in corpus.labels.values()} - {"", *known})
    ]
    problems += [
        f"corpora.{name}.names: {label!r} is none of {', '.join(known)}, or annotated there"
        for name, corpus in config.corpora.items()
        for label in sorted(set(corpus.names) - (set(known) - corpus.annotated))
    ]
    if config.reading.taught and not (config.recogniser.teachers and config.reading.texts):
        problems.append("reading.taught: there are no recogniser.teachers, or no reading.texts")
    if twice := sorted({*config.reading.texts} & {*config.reading.lower_cased}):
        problems.append(f"reading: {', '.join(twice)} stands in texts and in lower_cased")
    annotated = frozenset().union(*(corpus.annotated for corpus in config.corpora.values()))
    if not config.recogniser.teachers:
        problems += [f"no corpus annotates {label!r}" for label in known if label not in annotated]
    if problems:
        raise AngelError(f"The config {path} is not valid: {'; '.join(problems)}.")
    return config
