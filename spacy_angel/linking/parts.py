"""The parts of a linker: model, vocabulary, curation rules, weights of the reranker, and settings.
This module opens them when they are first used, saves them, and loads them."""

import json
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spacy import util
from spacy.language import Language
from spacy.vocab import Vocab
from typing_extensions import Self

from ..component.block import read_block, require_spans
from ..component.forks import use_one_thread_in_forks
from ..component.pipe import DocumentPipe
from ..component.running import OPENING
from ..errors import AngelError
from ..files.atomic import replacing
from ..vocabulary.changes.curation_file import CurationFile
from ..vocabulary.changes.rules import read_rules
from .decision.writing import set_extensions
from .mentions.labels import check_types, known_types
from .ranking.ranker import Ranker, shipped_ranker
from .settings.linker_settings import LinkerSettings
from .settings.loaders import ModelLoader, check_sources, load_checkpoint, load_vocabulary
from .settings.presets import types_of
from .shared_parts import find_part, share_parts

if TYPE_CHECKING:
    from ..search.generator import Generator
    from ..vocabulary.kb import ConceptKB

RULES_FILE, RANKER_FILE = "curation.tsv", "ranker.json"
"""Copies of the curation rules and the fitted weights, saved with a pipeline."""

_BLOCK_OF = {entry: block for block, own in LinkerSettings().to_dict().items() for entry in own}


class LinkerParts(DocumentPipe):
    """The parts of a linker; the arguments are those of `AngelLinker`."""

    def __init__(
        self,
        vocab: Vocab,
        name: str = "angel_linker",
        *,
        model: str | Path | ModelLoader | None = None,
        vocabulary: str | Path | None = None,
        settings: LinkerSettings | None = None,
        scorer: Callable | None = None,
        nlp: Language | None = None,
    ) -> None:
        self.vocab = vocab
        self.settings = (settings or LinkerSettings()).changed({})
        self._nlp = nlp
        self._config: dict[str, Any] = {}
        self.name = name
        self.scorer = scorer
        self.ranker = shipped_ranker()
        self._model_source = model
        self._vocabulary_source = vocabulary
        self._generator: Generator | None = None
        self._kb: ConceptKB | None = None
        self._curation: CurationFile | None = None
        self._frozen: ConceptKB | None = None
        self._linked_elsewhere: set[str] = set()
        if self.settings.candidates.types_by_label is None:
            self.take_types_of(vocabulary)
        self.register_attributes()
        # scispaCy's abbreviation detector warns about every text without abbreviations.
        warnings.filterwarnings("ignore", message=r"\[W036\]", module=r"scispacy\.abbreviation")

    if not TYPE_CHECKING:  # mypy reports unknown attributes by itself

        def __setattr__(self, name: str, value: Any) -> None:
            """RAISES (AttributeError): the name is the name of a setting; assigning it here would
            have no effect."""
            if block := _BLOCK_OF.get(name):
                raise AttributeError(
                    f"{name} is a setting of angel_linker: assign "
                    f"linker.settings.{block}.{name} instead of linker.{name}."
                )
            super().__setattr__(name, value)

    def register_attributes(self) -> None:
        """Register the attributes that the linker sets, under the names in its `outputs`.

        RAISES (AngelError): another component computes an attribute with the same name.
        """
        set_extensions(self.settings)

    @property
    def name(self) -> str:
        """RETURNS (str): name of the component. spaCy sets it when the component is added to a
        pipeline or renamed; from then on, the pipeline's config shows the current settings."""
        return self._name

    @name.setter
    def name(self, name: str) -> None:
        self._name = name
        if self._nlp is None or all(c is not self for _, c in self._nlp.components):
            return
        in_pipeline = next(n for n, c in self._nlp.components if c is self)
        # Keep the component's config rather than the pipeline. spaCy moves it when the component is
        # renamed, and copies of the pipeline have their own.
        self._config = self._nlp.get_pipe_config(in_pipeline)
        if self.settings.candidates.span_key is not None:
            require_spans(self._nlp, in_pipeline)
        self._nlp = None
        for block in LinkerSettings.blocks():
            getattr(self.settings, block).show_in(self._config, block)

    def __repr__(self) -> str:
        model: Any = self._generator or self._model_source or "the shipped one"
        kb: Any = self._vocabulary_source or "the shipped one" if self._kb is None else self._kb
        return f"<AngelLinker {self.name!r}: model {model}, vocabulary {kb}>"

    @property
    def generator(self) -> "Generator":
        """RETURNS (Generator): the model, opened when first used."""
        if self._generator is None:
            with OPENING:
                if self._generator is None:
                    self.generator = self.load_model(self._model_source, local_files_only=True)
            assert self._generator is not None
        return self._generator

    @generator.setter
    def generator(self, generator: "Generator") -> None:
        use_one_thread_in_forks()
        self._generator = generator

    @property
    def kb(self) -> "ConceptKB":
        """RETURNS (ConceptKB): the vocabulary, opened when first used. Concepts and names can be
        added and removed at run time, and another vocabulary can be assigned."""
        if self._kb is None:
            with OPENING:
                if self._kb is None:
                    self._kb = load_vocabulary(self._vocabulary_source)
        return self._kb

    @kb.setter
    def kb(self, kb: "ConceptKB") -> None:
        from ..vocabulary.kb import ConceptKB

        if not isinstance(kb, ConceptKB):
            remedy = "Open one with ConceptKB.from_disk."
            raise AngelError(f"angel_linker's kb: expected a ConceptKB, got {kb!r}. {remedy}")
        self._kb = kb
        self.settings.candidates.types_by_label = known_types(self.settings, kb)

    def effective_kb(self) -> "ConceptKB":
        """Apply the curation rules: those of the vocabulary, and those in the file given by the
        setting `curation`. The file is checked once per batch of documents, and reloaded if it has
        changed.

        RETURNS (ConceptKB): a copy of `kb` with the rules applied, or `kb` if there are no rules.
        RAISES (AngelError): the file cannot be read, and no earlier version of it has been read.
        """
        if self._frozen is not None:
            return self._frozen
        return self._curation_file().over(self.kb)

    @contextmanager
    def using(
        self,
        *,
        candidates: Mapping[str, Any] | None = None,
        reranker: Mapping[str, Any] | None = None,
        decision: Mapping[str, Any] | None = None,
        runtime: Mapping[str, Any] | None = None,
    ) -> Iterator[None]:
        """Use other settings within a `with` block. Changes to other settings in the block are
        kept.

        candidates (Mapping[str, Any] | None), reranker (Mapping[str, Any] | None), decision
            (Mapping[str, Any] | None), runtime (Mapping[str, Any] | None): settings of each block,
            e.g. `using(decision={"threshold": 0.7})`.
        RAISES (AngelError): an unknown setting or an invalid value.
        """
        blocks = {"candidates": candidates, "reranker": reranker}
        blocks |= {"decision": decision, "runtime": runtime}
        changed = {name: block for name, block in blocks.items() if block is not None}
        own = self.settings.to_dict()
        self.settings.assign(changed)
        try:
            yield
        finally:
            before = {name: {n: own[name][n] for n in block} for name, block in changed.items()}
            self.settings.assign(before)

    @contextmanager
    def frozen_rules(self, kb: "ConceptKB") -> Iterator[None]:
        """Use the same rules for all links and explanations within a `with` block.

        kb (ConceptKB): the vocabulary with these rules, e.g. `effective_kb()`.
        """
        self._frozen = kb
        try:
            yield
        finally:
            self._frozen = None

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Save the model, vocabulary, fitted weights, and a copy of the curation rules. Settings
        are in the pipeline's config.

        path (str | Path): a folder.
        exclude (Iterable[str]): parts to leave out: `model`, `kb`, `curation`, `ranker`.
        """
        writers: dict[str, Callable[[Path], Any]] = {
            name: partial(_write, content=content) for name, content in self._files().items()
        }
        writers["model"] = lambda p: self.generator.to_disk(p)
        writers["kb"] = lambda p: self.kb.to_disk(p)
        util.to_disk(path, writers, exclude)
        share_parts(Path(path))

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> Self:
        """Load a linker saved by `to_disk`, without using the network. If the config with which
        this component was created differs from the config of the saved pipeline, the values in
        this component's config take precedence.

        path (str | Path): a folder; the model may be missing if the config names one.
        exclude (Iterable[str]): see `to_disk`.
        RETURNS (LinkerParts): this component.
        """
        from ..vocabulary.kb import ConceptKB

        path = Path(path)
        skipped = set(exclude)
        saved = read_block(path, ("model", "vocabulary"))
        if self._model_source is not None and not find_part(path, "model").exists():
            skipped.add("model")
        # Parts that the loading config takes from elsewhere.
        others = [
            part
            for key, part in (("model", "model"), ("vocabulary", "kb"))
            if saved and self._config.get(key) not in (None, saved.get(key))
        ]

        def use_model(_: Path) -> None:
            self.generator = self.load_model(find_part(path, "model"), local_files_only=True)

        def use_rules(rules: Path) -> None:
            own = saved.get("decision", {}).get("curation")
            if not saved or self.settings.decision.curation == own:
                self.settings.decision.curation = str(rules)

        readers: dict[str, Callable[[Path], Any]] = {
            RULES_FILE: use_rules,
            RANKER_FILE: lambda p: setattr(self, "ranker", Ranker.from_disk(p)),
        }
        readers = {name: reader for name, reader in readers.items() if (path / name).exists()}
        readers["model"] = use_model
        readers["kb"] = lambda p: setattr(self, "_kb", ConceptKB.from_disk(find_part(path, "kb")))
        util.from_disk(path, readers, [*skipped, *others])
        if "model" in others:
            check_sources(self._model_source)
            self._generator = None
        if "kb" in others:
            check_sources(vocabulary=self._vocabulary_source)
            self._kb = None
            self.take_types_of(self._config.get("vocabulary"))
        if self._kb is not None or "kb" in others:
            self.check_types()
        if self.settings.decision.curation is not None:
            read_rules(Path(self.settings.decision.curation))
        return self

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """Serialize the linker to bytes.

        exclude (Iterable[str]): see `to_disk`.
        RETURNS (bytes): the serialized linker.
        """
        writers = self._files()
        writers |= {"model": lambda: self.generator.to_bytes(), "kb": lambda: self.kb.to_bytes()}
        return util.to_bytes(writers, exclude)

    def from_bytes(self, data: bytes, *, exclude: Iterable[str] = ()) -> Self:
        """Load a linker from bytes.

        data (bytes): the output of `to_bytes`.
        exclude (Iterable[str]): see `to_disk`.
        RETURNS (LinkerParts): this component.
        """
        from ..search.generator import Generator
        from ..vocabulary.kb import ConceptKB

        def use_model(data: bytes) -> None:
            runtime = self.settings.runtime
            self.generator = Generator.from_bytes(data, device=runtime.device, dtype=runtime.dtype)

        def use_rules(data: bytes) -> None:
            self.settings.decision.curation = self.settings.decision.curation or RULES_FILE
            self._curation = CurationFile(self.settings.decision.curation, data)

        readers: dict[str, Callable[[bytes], Any]] = {
            RULES_FILE: use_rules,
            RANKER_FILE: lambda b: setattr(self, "ranker", Ranker.from_dict(json.loads(b))),
            "model": use_model,
            "kb": lambda b: setattr(self, "_kb", ConceptKB.from_bytes(b)),
        }
        util.from_bytes(data, readers, exclude)
        if self._kb is not None:
            self.check_types()
        return self

    def _files(self) -> dict[str, Callable[[], bytes]]:
        """RETURNS (dict[str, Callable[[], bytes]]): name of each small file to save → function that
        returns its content."""
        files: dict[str, Callable[[], bytes]] = {}
        if self.settings.decision.curation is not None:
            files[RULES_FILE] = self._curation_file().content
        if self.ranker is not shipped_ranker():
            files[RANKER_FILE] = lambda: json.dumps(self.ranker.to_dict(), indent=1).encode()
        return files

    def _curation_file(self) -> CurationFile:
        """RETURNS (CurationFile): the file given by the setting `curation`."""
        path = self.settings.decision.curation
        if self._curation is None or self._curation.path != path:
            self._curation = CurationFile(path)
        return self._curation

    def take_types_of(self, vocabulary: Any) -> None:
        types: Any = types_of(vocabulary)
        self.settings.candidates.types_by_label = types

    def check_types(self) -> None:
        """RAISES (AngelError): a type in `types_by_label` does not occur in the vocabulary, which
        is opened if necessary."""
        check_types(self.settings, self.kb)

    def load_model(
        self, source: str | Path | ModelLoader | None, *, local_files_only: bool
    ) -> "Generator":
        load = source if callable(source) else partial(load_checkpoint, source)
        runtime = self.settings.runtime
        return load(device=runtime.device, dtype=runtime.dtype, local_files_only=local_files_only)


def _write(path: Path, content: Callable[[], bytes]) -> None:
    with replacing(path) as file:
        file.write(content())
