"""Build `en_angel_bio`: a recognizer of six entity types, abbreviations, and the linker with the
shipped weights and a vocabulary of all six types that is small enough to ship.

    python scripts/shipped/build_bio.py DATA RECOGNISER -o FOLDER

DATA is the same as for `build_six_types.py`; RECOGNISER is the output of
`spacy-angel train recogniser`. `build_bio_vocabulary` builds the vocabulary.
"""

import shutil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import spacy
import typer
from build_bio_vocabulary import SOURCES, vocabulary
from spacy.language import Language

from spacy_angel.about import SHIPPED_NAME, __version__, shipped_folder
from spacy_angel.corpora.biomedical_tokens import add_biomedical_tokens
from spacy_angel.files.atomic import replacing_folder
from spacy_angel.linking.settings.linker_settings import types_of
from spacy_angel.pipelines.assemble import ABBREVIATIONS, CONSISTENCY, LINKER, MISSPELLED
from spacy_angel.recognition.finder import MentionFinder
from spacy_angel.search.generator import Generator
from spacy_angel.vocabulary.storage.arrays import compress_folder

RECOGNISER = "angel_recogniser"
# Chosen on everyday sentences, trial criteria, case reports, and BioRED, see
# docs/notebook/recognition.md
DROP_UNLINKED_BELOW = 0.6
TYPES_BY_LABEL = types_of("en_angel_bio")
# Replaced; the vocab would contain words from earlier training texts.
ANEW = ["ner", RECOGNISER, MISSPELLED, ABBREVIATIONS, CONSISTENCY, LINKER, "vocab"]


def build(
    data: Annotated[Path, typer.Argument(help="Folder of the vocabularies.")],
    recogniser: Annotated[Path, typer.Argument(help="Folder of the recogniser's model.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder of the pipeline.")],
    model: Annotated[Path | None, typer.Option(help="In place of the one that ships.")] = None,
) -> None:
    """Write the pipeline. Its linker has the settings and, unless another model is given, the model
    of `en_angel_mini`, which is referred to and not copied."""
    shipped = spacy.util.load_config(shipped_folder() / "config.cfg").interpolate()
    settings = dict(shipped["components"][LINKER])
    del settings["factory"], settings["scorer"], settings["candidates"]["types_by_label"]
    encoder = {
        "labels": [*TYPES_BY_LABEL],
        # Spans of a group with the same offsets share their attributes, so a disease that is also
        # a phenotype is in `doc.ents`.
        "span_labels": [*TYPES_BY_LABEL][2:],
        "secondary": ["PHENOTYPE"],
    }
    nlp: Any = with_mentions(recogniser, "mentions", encoder)
    settings["decision"]["drop_unlinked_below"] = DROP_UNLINKED_BELOW
    settings["model"] = None if model else SHIPPED_NAME
    linker = nlp.add_pipe(LINKER, config=settings)
    nlp.meta.update(
        name="angel_bio",
        version=__version__,
        description="Six kinds of biomedical mentions, found and linked",
        license="MIT",
        sources=SOURCES,
        requirements=[f"{one}>={__version__}" for one in ("spacy-angel", SHIPPED_NAME)],
    )
    with TemporaryDirectory(prefix="spacy-angel-") as temporary:
        linker.kb = vocabulary(data, Path(temporary, "kb"))
        linker.settings.candidates.types_by_label = TYPES_BY_LABEL
        if model is not None:
            stored = Path(temporary, "model")
            Generator.from_pretrained(str(model)).to_disk(stored, storage="int8")
            linker.generator = Generator.from_pretrained(stored, local_files_only=True)
        with replacing_folder(output, lambda entry: entry.name != "__init__.py") as new:
            nlp.to_disk(new, exclude=[LINKER])
            linker.to_disk(new / LINKER, exclude=[] if model else ["model"])
            shutil.copy(Path(temporary, "kb/NOTICE.txt"), new / LINKER / "kb")
            compress_folder(new / LINKER / "kb")


def with_mentions(recogniser: Path, group: str | None, settings: dict[str, Any]) -> Language:
    """recogniser (Path): folder of its model. group (str | None): span group for all mentions,
    including overlapping ones. settings (dict[str, Any]): additional settings of the recognizer.
    RETURNS (Language): all components before the linker."""
    # Keeps the tokenizer and the sentence splitter of the shipped pipeline.
    nlp: Any = spacy.load(shipped_folder(), exclude=ANEW)
    # The recognizer splits words itself; tokens only determine the limits of its mentions.
    add_biomedical_tokens(nlp)
    settings = {"span_key": group, "skip_variants": True, "dtype": "auto", **settings}
    nlp.add_pipe(RECOGNISER, config=settings).finder = MentionFinder.from_disk(recogniser)
    nlp.add_pipe("angel_matcher", MISSPELLED, config={"names": "none", "misspelled": True})
    nlp.add_pipe(ABBREVIATIONS, config={"make_serializable": True})
    nlp.add_pipe(CONSISTENCY, config={"span_key": group})
    return nlp


if __name__ == "__main__":
    typer.run(build)
