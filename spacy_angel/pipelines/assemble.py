"""Assembling of pipelines from a recognizer, a model, and a vocabulary."""

from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import spacy
from spacy.language import Language
from spacy.tokenizer import Tokenizer

from ..about import SHIPPED_NAME, __version__, shipped_folder
from ..component.tokenizer import with_rules_of
from ..corpora.biomedical_tokens import add_biomedical_tokens
from ..corpora.registry import read_corpus
from ..errors import AngelError
from ..files.atomic import replacing_folder
from ..linking.decision.calibration import Calibration
from ..linking.settings.linker_settings import types_of
from ..search.generator import Dtype, Generator
from ..vocabulary.sources.installed import load_vocabulary
from .components import calibrate_on
from .load import LINKER, load_folder

ABBREVIATIONS = "angel_abbreviations"
MISSPELLED = "angel_misspelled"
CONSISTENCY = "angel_consistency"


def assemble(
    model: Path | str,
    kb: Path,
    output: Path,
    *,
    ner: Path | str | None = None,
    name: str = "mini",
    storage: Dtype | None = "int8",
    length_penalty: float = 1.0,
    calibrate: Sequence[Path] = (),
) -> Calibration | None:
    """Assemble and save a pipeline of recognizer, abbreviation detector, `angel_consistency`, and
    linker.

    model (Path | str): encoder-decoder: a folder, a hub name, or `en_angel_mini`. If it has no
        tokenizer or an unknown preset, load it with `load.load` and save the result instead.
    kb (Path): vocabulary: a folder, a file, or `en_angel_mini`.
    output (Path): folder to write; an existing pipeline is replaced, other files are kept.
    ner (Path | str | None): trained pipeline whose components come first, without a linker or
        abbreviation detector; a folder or package. None if the documents already have mentions.
    name (str): the pipeline is called `angel_{name}`.
    storage (Dtype | None): type of the saved weights: int8 for the BART family; None for the type
        in which they were read.
    length_penalty (float): length penalty of the search; use the best value on development data.
    calibrate (Sequence[Path]): development corpora on which the reranker and the threshold are
        calibrated, see `AngelLinker.calibrate`; mentions whose concept is not in the vocabulary
        should get NIL.
    RETURNS (Calibration | None): the fitted values, if corpora were given.
    RAISES (AngelError): a part does not exist or does not fit, or `output` contains something other
        than a pipeline. Nothing is written then.
    """
    is_new = not output.exists() or (output.is_dir() and not any(output.iterdir()))
    if not is_new and not (output / LINKER / "kb").is_dir():
        raise AngelError(f"{output} is not empty and is not a linking pipeline. Use a new folder.")
    with TemporaryDirectory(prefix="spacy-angel-") as temporary:
        # Read back from disk, so that calibration sees the weights as they will be loaded.
        stored = Path(temporary) / "model"
        Generator.from_pretrained(model).to_disk(stored, storage=storage)
        # The shipped settings work with any model and vocabulary; the search depends on the model.
        config = {
            "candidates": {
                "num_beams": None,
                "length_penalty": length_penalty,
                "types_by_label": types_of(kb),
            }
        }
        nlp = _open_base(ner)
        linker: Any = nlp.add_pipe(LINKER, config=config)
        linker.generator = Generator.from_pretrained(stored, local_files_only=True)
        linker.kb = load_vocabulary(kb)
        nlp.meta.update(
            description="Biomedical entity linking by constrained generation of concept names",
            name=f"angel_{name}",
            version=__version__,
            requirements=[f"spacy-angel>={__version__}"],
        )
        performance = nlp.meta.setdefault("performance", {})
        performance.pop("calibration", None)
        fitted = None
        if calibrate:
            # The words of the corpora do not stay in the vocab.
            with nlp.memory_zone():
                fitted = calibrate_on(nlp, linker, chain.from_iterable(map(read_corpus, calibrate)))
            performance["calibration"] = {
                "corpora": [c.name for c in calibrate],
                **fitted.to_dict(),
            }
        with replacing_folder(output, lambda entry: False) as new:
            nlp.to_disk(new)
    return fitted


def _open_base(ner: Path | str | None) -> Language:
    """RETURNS (Language): the recognizer's pipeline without its training settings, with sentence
    boundaries, an abbreviation detector, and the tokenizer of the shipped pipelines."""
    if ner is None:
        nlp = spacy.blank("en")
        add_biomedical_tokens(nlp)
    else:
        folder = shipped_folder() if ner == SHIPPED_NAME else ner
        nlp = load_folder(folder, exclude=[LINKER, MISSPELLED, ABBREVIATIONS, CONSISTENCY])
        # The rest of the config has paths of the machine that trained it.
        own = {section: nlp.config[section] for section in ("nlp", "components")}
        nlp.config = type(nlp)().config.merge(own)
    if type(nlp.tokenizer) is Tokenizer:  # not one of the user's own class
        nlp.tokenizer = with_rules_of(nlp.tokenizer)
        nlp.config["nlp"]["tokenizer"] = {"@tokenizers": "spacy_angel.Tokenizer.v1"}
    if not any("doc.sents" in nlp.get_pipe_meta(name).assigns for name in nlp.pipe_names):
        nlp.add_pipe("sentencizer", first=True)
    nlp.add_pipe(ABBREVIATIONS, config={"make_serializable": True})
    if ner is not None:
        nlp.add_pipe(CONSISTENCY)
    return nlp
