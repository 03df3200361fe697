"""Both stages on a corpus of one's own, with accuracies before and after."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from accelerate import PartialState

from ...about import DATA, SHIPPED_NAME
from ...errors import AngelError
from ...files.atomic import write_text
from ...model.mention import Mention
from ...vocabulary.kb import ConceptKB
from ...vocabulary.names.concepts import Concept, normalize_name
from ..data.corpus import LabelledMention
from ..data.development import Development, even_sample
from ..data.sources import TrainingData
from ..models.backbones import load_backbone
from ..settings.config_tables import DevelopmentSettings, TrainingConfig
from ..stages import fine_tune, mine, train_preferences

TABLE_FILE = "table.md"
SHIPPED_KB = DATA / SHIPPED_NAME / "angel_linker" / "kb"
_GUARD_SAMPLE = 300


@dataclass(frozen=True)
class Standing:
    """Where a model stands.

    stage (str): `before`, `positive-only` or `negative-aware`.
    folder (Path | str): of the model, or what it was called.
    development (tuple[int, int, int]): hits at 1, hits among the beams, mentions.
    guard (tuple[int, int, int]): likewise on the guard set.
    """

    stage: str
    folder: Path | str
    development: tuple[int, int, int]
    guard: tuple[int, int, int]


@dataclass(frozen=True)
class Course:
    """What a course leaves.

    standings (list[Standing]): the model it began with, then what each stage made of it.
    best (Standing): the one of best development accuracy, the later one of equal ones.
    kb (Path): folder of the vocabulary.
    dev (list[Path]): development corpora as they were trained with.
    """

    standings: list[Standing]
    best: Standing
    kb: Path
    dev: list[Path]


def run_course(
    config: TrainingConfig,
    output: Path,
    *,
    train: Sequence[Path],
    dev: Sequence[Path],
    kb: str | Path,
    start: str | Path = SHIPPED_NAME,
) -> Course:
    """Train on a corpus in both stages; run again after a kill, it goes on.

    config (TrainingConfig): the recipe; what it says of the data gives way to the arguments.
    output (Path): folder for the corpora as trained on, the stages and the table.
    train (Sequence[Path]), dev (Sequence[Path]): corpora; abbreviations are expanded.
    kb (str | Path): vocabulary: a folder, a file, or `en_angel_mini` for the shipped one.
    start (str | Path): see `model.checkpoint.checkpoint_folder`.
    RETURNS (Course): accuracies before and after, and which model is best.
    RAISES (AngelError): a file that cannot be read or does not fit the vocabulary.
    """
    output.mkdir(parents=True, exist_ok=True)
    vocabulary = _vocabulary_folder(kb, output)
    with PartialState().main_process_first():
        files = {
            "train": _prepared(train, output / "corpus" / "train.json", config.data.format),
            "dev": _prepared(dev, output / "corpus" / "dev.json", config.data.format),
        }
    data = replace(
        config.data,
        kb=str(vocabulary),
        train=(str(files["train"]),),
        dev=(str(files["dev"]),),
        format=None,
    )
    config = replace(config, data=data)
    measured = TrainingData(config).development
    assert measured is not None
    guard = guard_set(config.development)

    def stand(stage: str, folder: Path | str) -> Standing:
        backbone = load_backbone(folder, config.backbone.max_source_tokens)
        return Standing(stage, folder, measured.hits(backbone), guard.hits(backbone))

    standings = [stand("before", start)]
    positive = fine_tune(config, output / "positive", start)
    standings.append(stand("positive-only", positive.folder))
    pairs = output / "pairs.jsonl"
    if mine(config, positive.folder, pairs, start):
        negative = train_preferences(config, positive.folder, output / "negative", pairs)
        standings.append(stand("negative-aware", negative.folder))
    best = max(reversed(standings), key=lambda standing: standing.development[0])
    if PartialState().is_main_process:
        write_text(output / TABLE_FILE, table(standings, best))
    return Course(standings, best, vocabulary, [files["dev"]])


def guard_set(settings: DevelopmentSettings) -> Development:
    """What a model should not forget: the synonyms of the shipped vocabulary, each to be led to
    its concept's canonical name, the only names that may be written.

    settings (DevelopmentSettings): of the search.
    RETURNS (Development): 300 synonyms at even distances, without context.
    """
    shipped = ConceptKB.from_disk(SHIPPED_KB)
    concepts = [Concept(c.concept_id, c.canonical_name) for c in shipped]
    canonical = {normalize_name(concept.canonical_name) for concept in concepts}
    synonyms = [
        LabelledMention(Mention(alias), (concept.concept_id,))
        for concept in shipped
        for alias in concept.aliases
        if normalize_name(alias) not in canonical
    ]
    return Development(even_sample(synonyms, _GUARD_SAMPLE), ConceptKB.build(concepts), settings)


def table(standings: Sequence[Standing], best: Standing) -> str:
    """RETURNS (str): accuracies in per cent as a Markdown table; the model in the pipeline is
    marked."""
    n_dev, n_guard = standings[0].development[2], standings[0].guard[2]
    lines = [
        f"| model | development acc@1 (n = {n_dev:,}) | among the beams "
        f"| guard acc@1 (n = {n_guard:,}) |",
        "|---|---|---|---|",
    ]
    for standing in standings:
        mark = " (in the pipeline)" if standing is best else ""
        dev, guard = standing.development, standing.guard
        shares = (dev[0] / dev[2], dev[1] / dev[2], guard[0] / guard[2])
        figures = " | ".join(f"{100 * share:.1f}" for share in shares)
        lines.append(f"| {standing.stage}{mark} | {figures} |")
    lines += [
        "",
        "Development: a name counts if one of its concepts is a gold one. Guard: synonyms of the "
        "shipped vocabulary, led to canonical names; what is lost there was forgotten.",
        "",
    ]
    return "\n".join(lines)


def _vocabulary_folder(kb: str | Path, output: Path) -> Path:
    from ...vocabulary.sources.build import build_vocabulary

    if kb == SHIPPED_NAME:
        return SHIPPED_KB
    path = Path(kb)
    if not path.exists():
        raise AngelError(f"The vocabulary {path} does not exist. See `spacy-angel kb list`.")
    if path.is_dir():
        return path
    with PartialState().main_process_first():
        if PartialState().is_main_process:
            build_vocabulary([path], output / "kb")
    return output / "kb"


def _prepared(files: Sequence[Path], output: Path, format: str | None) -> Path:
    from ...corpora.convert import prepare_corpus
    from ...corpora.preprocessing import Preprocessing

    if PartialState().is_main_process:
        output.parent.mkdir(exist_ok=True)
        steps = Preprocessing(abbreviations="scispacy", expand="text")
        prepare_corpus(files, output, format=format, steps=steps)
    return output
