"""Both training stages on a corpus, with accuracies before and after."""

import shutil
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from ...about import SHIPPED_NAME, shipped_folder
from ...corpora.convert import prepare_corpus, prepared_documents
from ...corpora.documents import CorpusReport
from ...corpora.preprocessing import Preprocessing
from ...corpora.registry import write_corpus
from ...errors import AngelError
from ...files.markdown import markdown_table
from ...model.mention import Mention
from ...vocabulary.kb import ConceptKB
from ...vocabulary.names.concepts import Concept, normalize_name
from ..data.corpus import LabelledMention, TrainingData, label_files
from ..data.development import Development, even_sample
from ..models.backbones import load_backbone
from ..settings.config_tables import DataSettings, DevelopmentSettings, TrainingConfig, as_plain
from ..stages import fine_tune, mine, train_preferences
from .run_folder import RUN_FILE, lock_run_folder, processes, read_result, write_result

_SHIPPED_KB = Path("angel_linker", "kb")
_REGRESSION_SAMPLE = 300
_STEPS = Preprocessing(abbreviations="scispacy", expand="text")


@dataclass(frozen=True)
class StageResult:
    """Accuracy of the model after a stage.

    stage (str): `before`, `positive-only`, or `negative-aware`.
    folder (str): folder or name of the model.
    development (tuple[int, int, int]): hits at 1, hits among the beams, number of mentions.
    regression (tuple[int, int, int]): the same on the regression set.
    """

    stage: str
    folder: str
    development: tuple[int, int, int]
    regression: tuple[int, int, int]


@dataclass(frozen=True)
class TrainingRun:
    """The result of both stages.

    results (list[StageResult]): of the initial model, then of each stage.
    kb (Path): folder of the vocabulary.
    calibrate (Path): documents on which checkpoints were chosen, unpreprocessed.
    held_out (Path): documents used neither for training nor for choosing checkpoints.
    """

    results: list[StageResult]
    kb: Path
    calibrate: Path
    held_out: Path

    @property
    def best(self) -> StageResult:
        """The result with the best development accuracy; on a tie, the earlier one."""
        return max(self.results, key=lambda result: result.development[0])

    def table(self) -> str:
        """RETURNS (str): accuracies in percent as a Markdown table, in which the best model is
        marked."""
        rows = []
        for result in self.results:
            (top1, top_k, n), (known, _, n_known) = result.development, result.regression
            rows.append(
                {
                    "model": result.stage + (" (best)" if result is self.best else ""),
                    f"development acc@1 (n = {n:,})": 100 * top1 / n,
                    "among the beams": 100 * top_k / n,
                    f"regression acc@1 (n = {n_known:,})": 100 * known / n_known,
                }
            )
        note = (
            "Development: a name counts if one of its concepts is a gold concept. On a tie the "
            "earlier model is the best one. Regression: synonyms in the shipped vocabulary, linked "
            "to canonical names; a lower value means that the model has forgotten some."
        )
        return f"{markdown_table(rows)}\n\n{note}\n"


def run_stages(
    config: TrainingConfig,
    output: Path,
    *,
    train: Sequence[Path],
    dev: Sequence[Path],
    kb: str | Path,
    start: str = SHIPPED_NAME,
) -> TrainingRun:
    """Train on a corpus in both stages. To continue an interrupted run, call it again.

    config (TrainingConfig): the recipe; the arguments override its settings of the data.
    output (Path): folder for the preprocessed corpora and the stages; only the best of the models
        is kept.
    train (Sequence[Path]), dev (Sequence[Path]): corpora; abbreviations are expanded. Every second
        document of `dev` is held out, if there are several.
    kb (str | Path): vocabulary: a folder, a file, or `en_angel_mini` for the shipped one.
    start (str): see `model.checkpoint.checkpoint_folder`.
    RETURNS (TrainingRun): accuracies before and after, and the best model.
    RAISES (AngelError): a file cannot be read or does not match the vocabulary, or the folder
        belongs to another run.
    """
    files = {"train": [*map(str, train)], "dev": [*map(str, dev)], "start": start}
    this_run = {"settings": as_plain(config), **files}
    if (output / RUN_FILE).exists():
        # First, so that nothing of another run is overwritten.
        lock_run_folder(output, this_run)
    vocabulary = _vocabulary_folder(kb, output)
    corpora = output / "corpus"
    train_file, dev_file = corpora / "train.json", corpora / "dev.json"
    choose, held_out = corpora / "choose.json", corpora / "held_out.json"
    with processes().main_process_first():
        if processes().is_main_process:
            documents = list(prepared_documents(dev, CorpusReport()))
            write_corpus(documents[::2], choose)
            write_corpus(documents[1::2] or documents, held_out)
            prepare_corpus(train, train_file, steps=_STEPS)
            prepare_corpus([choose], dev_file, steps=_STEPS)
            lock_run_folder(output, this_run)
    data = DataSettings(str(vocabulary), (str(train_file),), (str(dev_file),))
    config = replace(config, data=data)
    # Check this before training rather than after it.
    label_files([str(held_out)], "dev", TrainingData(config).kb)
    if (done := read_result(output, list[StageResult])) is not None:
        return TrainingRun(done, vocabulary, choose, held_out)
    development = TrainingData(config).development
    assert development is not None
    regression = regression_set(config.development)

    def evaluate_stage(stage: str, folder: Path | str) -> StageResult:
        backbone = load_backbone(folder, config.backbone.max_source_tokens)
        hits = development.hits(backbone), regression.hits(backbone)
        return StageResult(stage, str(folder), *hits)

    results = [evaluate_stage("before", start)]
    positive = fine_tune(config, output / "positive", start)
    results.append(evaluate_stage("positive-only", positive.folder))
    pairs = output / "pairs.jsonl"
    if mine(config, positive.folder, pairs):
        negative = train_preferences(config, positive.folder, output / "negative", pairs)
        results.append(evaluate_stage("negative-aware", negative.folder))
    run = TrainingRun(results, vocabulary, choose, held_out)
    if processes().is_main_process:
        write_result(output, [asdict(result) for result in results])
        for result in results[1:]:
            if result is not run.best:
                shutil.rmtree(result.folder)
    processes().wait_for_everyone()
    return run


def regression_set(settings: DevelopmentSettings) -> Development:
    """Make a set of mentions that the model should not forget: synonyms in the shipped vocabulary,
    to be linked to the canonical names of their concepts; no other names are allowed.

    settings (DevelopmentSettings): settings of the search.
    RETURNS (Development): 300 evenly spaced synonyms, without context.
    """
    shipped = ConceptKB.from_disk(shipped_folder() / _SHIPPED_KB)
    concepts = [Concept(c.concept_id, c.canonical_name) for c in shipped]
    canonical = {normalize_name(concept.canonical_name) for concept in concepts}
    synonyms = [
        LabelledMention(Mention(alias), (concept.concept_id,))
        for concept in shipped
        for alias in concept.aliases
        if normalize_name(alias) not in canonical
    ]
    sample = even_sample(synonyms, _REGRESSION_SAMPLE)
    return Development(sample, ConceptKB.build(concepts), settings)


def _vocabulary_folder(kb: str | Path, output: Path) -> Path:
    from ...vocabulary.sources.build import build_vocabulary

    if kb == SHIPPED_NAME:
        return shipped_folder() / _SHIPPED_KB
    path = Path(kb)
    if not path.exists():
        raise AngelError(f"The vocabulary {path} does not exist. See `spacy-angel kb fetch`.")
    if path.is_dir():
        return path
    with processes().main_process_first():
        if processes().is_main_process:
            build_vocabulary([path], output / "kb")
    return output / "kb"
