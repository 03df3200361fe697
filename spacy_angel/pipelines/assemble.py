"""Recogniser, model and vocabulary → one pipeline that is complete on the disk."""

import json
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from ..about import SHIPPED_NAME
from ..component.checked import nested
from ..component.running import RunDtype
from ..errors import AngelError
from ..files.atomic import replacing_folder
from ..files.json_values import checked, parse_as
from ..linking.settings.linker_settings import Dtype
from ..linking.settings.presets import types_of

if TYPE_CHECKING:
    from spacy.language import Language

    from ..linking.decision.calibration import Calibration
    from ..search.generator import Generator
    from ..vocabulary.kb import ConceptKB

LINKER = "angel_linker"
ABBREVIATIONS = "abbreviation_detector"
MISSPELLED = "angel_misspelled"
CONSISTENCY = "angel_consistency"
DESCRIPTION = ("description", "author", "email", "url", "license", "sources", "notes")
"""What a description may hold, as spaCy's meta.json has it."""


class _Description(BaseModel):
    description: str | None = None
    author: str | None = None
    email: str | None = None
    url: str | None = None
    license: str | None = None
    sources: list[str | dict[str, Any]] | None = None
    notes: str | None = None


def assemble(
    model: Path | str,
    kb: Path,
    output: Path,
    *,
    tokenizer: Path | str | None = None,
    preset: str | None = None,
    ner: Path | str | None = None,
    name: str = "mini",
    dtype: RunDtype = "float32",
    storage: Dtype | None = "int8",
    length_penalty: float = 1.0,
    calibrate: Sequence[Path] = (),
    description: Path | None = None,
) -> "Calibration | None":
    """Put a pipeline together and save it: recogniser, abbreviation detector, `angel_consistency`,
    linker.

    model (Path | str): encoder-decoder, a folder or hub name, or `en_angel_mini` for the shipped.
    kb (Path): vocabulary, a folder or file, or `en_angel_mini` for the one that ships.
    output (Path): folder to write; a pipeline that stands there is replaced, other files in the
        folder stay.
    tokenizer (Path | str | None), preset (str | None): of the model, see `shipped.load`.
    ner (Path | str | None): trained pipeline, a folder or package, whose components come first
        (but for a linker and detector of its own); None: mentions are in the documents.
    name (str): what stands after `angel_` in the pipeline's name.
    dtype (RunDtype): type in which the model runs.
    storage (Dtype | None): type in which its weights are saved; int8 for the BART family, None as
        they were read.
    length_penalty (float): of the search, as it did best on the development set.
    calibrate (Sequence[Path]): development corpora, to which the ranker's weights and the threshold
        are fitted with this vocabulary, see `AngelLinker.calibrate`; a mention that it does not
        have should link to NIL.
    description (Path | None): JSON file with any of `DESCRIPTION`.
    RETURNS (Calibration | None): what was fitted, if corpora were given.
    RAISES (AngelError): a part that does not exist or does not fit, or something other than a
        pipeline at `output`; nothing is written then.
    """
    from ..corpora.registry import read_corpus
    from .calibrate import calibrate_on
    from .open import open_pipeline

    about = {} if description is None else _read_description(description)
    if output.exists() and not _is_replaceable(output):
        raise AngelError(
            f"{output} contains something other than a linking pipeline. Use a new folder."
        )
    fitted = None
    checkpoint = (model, tokenizer, preset)
    with _parts(checkpoint, kb, dtype, storage) as (generator, vocabulary):
        # The ranker and all else that ships hold for any model and vocabulary; how the search
        # goes is the model's own.
        config: dict[str, Any] = {
            "preset": "shipped",
            "dtype": dtype,
            "num_beams": None,
            "search.length_penalty": length_penalty,
            "types_by_label": types_of(kb),
        }
        nlp = _put_together(ner, config, generator, vocabulary)
        if calibrate:
            documents = chain.from_iterable(map(read_corpus, calibrate))
            fitted = calibrate_on(*open_pipeline(nlp), documents)
            config.update(fitted.settings)
            # It is put together anew, so that the words of the corpora do not stay in the vocab.
            nlp = _put_together(ner, config, generator, vocabulary)
        _describe(nlp, name, about, fitted, calibrate)
        components = _component_names(output)
        with replacing_folder(output, lambda entry: _is_ours(entry, components)) as new:
            nlp.to_disk(new)
    return fitted


@contextmanager
def _parts(
    checkpoint: tuple[Path | str, Path | str | None, str | None],
    kb: Path,
    dtype: RunDtype,
    storage: Dtype | None,
) -> "Iterator[tuple[Generator, ConceptKB]]":
    """checkpoint: model, tokenizer, preset.
    YIELDS (tuple[Generator, ConceptKB]): the model as it will be read from its folder, and the
    vocabulary; files that they map stay until the end."""
    from ..linking.settings.loaders import load_vocabulary
    from ..search.generator import Generator

    with TemporaryDirectory(prefix="spacy-angel-") as temporary:
        stored = Path(temporary) / "model"
        model, tokenizer, preset = checkpoint
        opened = Generator.from_pretrained(model, tokenizer=tokenizer, preset=preset)
        opened.to_disk(stored, storage=storage)
        generator = Generator.from_pretrained(stored, dtype=dtype, local_files_only=True)
        yield generator, load_vocabulary(kb)


def _open_base(ner: Path | str | None) -> "Language":
    """RETURNS (Language): the recogniser's pipeline without its training's settings, with
    sentences and abbreviations; spaCy's own `ner` and tokenizer read as the shipped ones do."""
    import spacy
    from spacy.tokenizer import Tokenizer

    from ..component.tokenizer import with_rules_of
    from ..corpora.biomedical_tokens import add_biomedical_tokens

    if ner is None:
        nlp = spacy.blank("en")
        add_biomedical_tokens(nlp)
    else:
        try:
            nlp = _load_recogniser(ner)
        except OSError as error:
            reason = str(error).splitlines()[0].rstrip(".")
            raise AngelError(f"{str(ner)!r} cannot be loaded as a pipeline: {reason}.") from error
        # The rest of its config holds paths of the machine that it was trained on.
        plain = type(nlp)().config
        for section in set(nlp.config) - {"nlp", "components"}:
            del nlp.config[section]
        nlp.config.update({s: plain[s] for s in plain if s not in nlp.config})
    # A class of the user's own stays.
    if type(nlp.tokenizer) is Tokenizer:
        nlp.tokenizer = with_rules_of(nlp.tokenizer)
        nlp.config["nlp"]["tokenizer"] = {"@tokenizers": "spacy_angel.Tokenizer.v1"}
    assigned = chain.from_iterable(nlp.get_pipe_meta(name).assigns for name in nlp.pipe_names)
    if "doc.sents" not in assigned:
        nlp.add_pipe("sentencizer", first=True)
    nlp.add_pipe(ABBREVIATIONS, config={"make_serializable": True})
    if ner is not None:
        nlp.add_pipe(CONSISTENCY)
    return nlp


def _load_recogniser(ner: Path | str) -> "Language":
    """RETURNS (Language): the pipeline without linker and detector, each `ner` as `angel_ner`."""
    import spacy

    from ..linking.settings.loaders import SHIPPED_PIPELINE

    folder = SHIPPED_PIPELINE if ner == SHIPPED_NAME else ner
    exclude = [LINKER, MISSPELLED, ABBREVIATIONS, CONSISTENCY]
    nlp = spacy.load(folder, exclude=exclude)
    of_spacy = [name for name in nlp.pipe_names if nlp.get_pipe_meta(name).factory == "ner"]
    if not of_spacy:
        return nlp
    components = {name: {"factory": "angel_ner"} for name in of_spacy}
    return spacy.load(folder, exclude=exclude, config={"components": components})


def _put_together(
    ner: Path | str | None, config: dict[str, Any], generator: "Generator", vocabulary: "ConceptKB"
) -> "Language":
    nlp = _open_base(ner)
    linker: Any = nlp.add_pipe(LINKER, config=nested(config))
    linker.generator, linker.kb = generator, vocabulary
    return nlp


def _describe(
    nlp: "Language",
    name: str,
    about: dict[str, Any],
    fitted: "Calibration | None",
    corpora: Sequence[Path],
) -> None:
    """Fill in meta.json; figures of the recogniser that stand there already are kept."""
    from ..about import __version__

    performance = dict(nlp.meta.get("performance", {}))
    performance.pop("calibration", None)
    if fitted is not None:
        performance["calibration"] = {"corpora": [c.name for c in corpora], **asdict(fitted)}
    compatible = ".".join(__version__.split(".")[:2])
    nlp.meta.update(
        {
            "description": "Biomedical entity linking by constrained generation of concept names",
            "license": "MIT",
            **about,
            "name": f"angel_{name}",
            "version": __version__,
            "requirements": [f"spacy-angel>={compatible}"],
            "performance": performance,
        }
    )


def _read_description(path: Path) -> dict[str, Any]:
    try:
        about = parse_as(path.read_bytes(), dict[str, Any])
        if unknown := sorted(set(about) - set(DESCRIPTION)):
            raise ValueError(f"found {unknown}")
        return checked(about, _Description).model_dump(exclude_unset=True)
    except (OSError, ValueError) as error:
        raise AngelError(
            f"Cannot use the description {path}: {error}. Expected a JSON object with any of "
            f"{DESCRIPTION}."
        ) from error


def _is_replaceable(path: Path) -> bool:
    """Never delete what is not ours: only an empty folder or a pipeline with a linker."""
    return path.is_dir() and (not any(path.iterdir()) or (path / LINKER / "kb").is_dir())


def _component_names(path: Path) -> frozenset[str]:
    """The components of the pipeline that stands there, as far as its meta.json tells."""
    try:
        meta = json.loads((path / "meta.json").read_text(encoding="utf8"))
        return frozenset((LINKER, *meta["components"]))
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return frozenset((LINKER,))


def _is_ours(entry: Path, components: Collection[str]) -> bool:
    """Whether spaCy wrote an entry: a component writes a folder or a file of its name, some of
    them with an ending (`sentencizer.json`)."""
    endings = ("", ".json", ".jsonl")
    is_component = entry.stem in components and entry.suffix in endings
    return is_component or entry.name in ("config.cfg", "meta.json", "tokenizer", "vocab")
