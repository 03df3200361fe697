"""The vocabulary of a linker: concepts and names stored in a folder, which can be changed at run
time."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from copy import deepcopy
from dataclasses import asdict, replace
from datetime import date
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, TypedDict, get_args

import numpy as np
from pydantic import BaseModel, ConfigDict, ValidationError

from ..errors import AngelError, unknown_name
from .changes.applied_rules import AppliedRules
from .changes.overlay import Subset, VocabularyOverlay
from .changes.rules import Rule, append_rules, read_rules, write_rules
from .lookup.meaning import CloseNames
from .lookup.search_spaces import SearchSpaces
from .lookup.string_similarity import SimilarNames
from .lookup.words import KnownWords
from .names.concepts import Concept
from .species.reader import SpeciesReader
from .storage.arrays import (
    META,
    TRIES,
    damaged,
    pack,
    unpack,
    write_folder,
)
from .storage.compiled import CompiledNames, compiled_cache, open_vocabulary
from .storage.table import VOCABULARY, ConceptTable, SharedNames
from .storage.table_builder import read_table
from .storage.trie import SearchSpace
from .storage.trie_compiler import NameTokenizer

if TYPE_CHECKING:
    from typing_extensions import Unpack

RULES = "rules.tsv"
"""File in the folder of a vocabulary with the rules that change it."""


class BuildOptions(TypedDict, total=False):
    """The options of `ConceptKB.join`."""

    shared_names: SharedNames
    by_species: bool
    sources: Sequence[Mapping[str, Any]]
    steps: Sequence[Mapping[str, Any]]
    frequencies: Mapping[str, int]
    own_names: Mapping[str, Sequence[str]]


class _Meta(BaseModel):
    """The stored metadata; `by_species` is stored as `endings`."""

    model_config = ConfigDict(strict=True)

    shared_names: SharedNames
    fingerprint: str
    counts: dict[str, int]
    sources: list[dict[str, Any]]
    steps: list[dict[str, Any]]
    endings: Literal["species"] | None = None
    frequencies: dict[str, int] = {}
    own_names: dict[str, list[str]] = {}


class ConceptKB(VocabularyOverlay):
    """Concepts and names of a vocabulary.

    The search uses names in normal form (`concepts.normalize_name`), each with one index; concepts
    keep the spellings of their source. A spelling with an empty normal form, such as `+`, is kept
    with its concept but cannot be searched for; `meta["counts"]` has the number of these.

    Created by `build`, `join`, `merge`, `from_disk` or `from_bytes`. Stored files are never
    changed: changes made while running stay in memory until `to_disk` writes a new folder. The
    methods that read and change concepts are those of `VocabularyOverlay`.
    """

    def __init__(
        self, table: ConceptTable, meta: Mapping[str, Any], path: Path | None = None
    ) -> None:
        super().__init__(table, meta)
        self.path = path
        self.by_species = meta.get("endings") is not None
        """Whether the concepts of a name are distinguished by species, see `join`."""
        self.applied_rules: AppliedRules | None = None
        """Set by `with_rules`."""
        self._use(CompiledNames(meta["fingerprint"], None if path is None else path / TRIES))

    def _use(self, compiled: CompiledNames) -> None:
        """compiled (CompiledNames): tries and indexes of the stored names."""
        self._compiled = compiled
        self._spaces = SearchSpaces(self, compiled)
        self.nearest = SimilarNames(self, compiled)
        self.meanings = CloseNames(self, compiled)
        self.words = KnownWords(self, compiled)

    @classmethod
    def build(
        cls,
        concepts: Iterable[Concept],
        path: Path | str | None = None,
        **options: "Unpack[BuildOptions]",
    ) -> "ConceptKB":
        """Build a vocabulary from concepts.

        concepts (Iterable[Concept]): a stream, which is not held in memory. Concepts with the same
            identifier are joined: the first canonical name and definition are kept.
        path (Path | str | None), options (BuildOptions): see `join`.
        RETURNS (ConceptKB): the vocabulary.
        RAISES (AngelError): a concept has no identifier, or `path` holds something else.
        """
        return cls.join([concepts], path, **options)

    @classmethod
    def join(
        cls,
        vocabularies: Iterable[Iterable[Concept]],
        path: Path | str | None = None,
        *,
        shared_names: SharedNames = "all",
        by_species: bool = False,
        sources: Sequence[Mapping[str, Any]] = (),
        steps: Sequence[Mapping[str, Any]] = (),
        frequencies: Mapping[str, int] = MappingProxyType({}),
        own_names: Mapping[str, Sequence[str]] = MappingProxyType({}),
    ) -> "ConceptKB":
        """Build one vocabulary from several.

        vocabularies (Iterable[Iterable[Concept]]): in order of precedence, each as for `build`. A
            concept is joined to the concept of an earlier vocabulary that (1) has the
            same identifier, or (2) has its identifier as an alternate, or (3) is the only one whose
            identifier is among its alternates; in cases 2 and 3 its own identifier becomes an
            alternate, and the earlier concept may not have been joined to another of this
            vocabulary yet.
        path (Path | str | None): folder to write and map; None keeps the vocabulary in memory.
        shared_names (SharedNames): a name of several concepts leads to `all` of them, or only to
            the one with `fewer_names` (GenBioEL, appendix E.1).
        by_species (bool): concepts that share a name, such as genes, are of different species,
            given as types, e.g. `NCBITaxon:9606`; linkers rank them by the species that the
            document mentions.
        sources (Sequence[Mapping[str, Any]]): origin of the concepts, plain values to record.
        steps (Sequence[Mapping[str, Any]]): earlier processing steps, plain values to record.
        frequencies (Mapping[str, int]): identifier → occurrences, see `concept_ids_of`.
        own_names (Mapping[str, Sequence[str]]): identifier → names, see `own_names`.
        RETURNS, RAISES: as for `build`.
        """
        if shared_names not in get_args(SharedNames):
            known = ", ".join(get_args(SharedNames))
            raise AngelError(unknown_name("rule of shared_names", shared_names, known))
        table, counts = read_table(vocabularies, shared_names)
        meta = {
            "shared_names": shared_names,
            "endings": "species" if by_species else None,
            "fingerprint": table.fingerprint(),
            "counts": counts,
            "sources": [dict(source) for source in sources],
            "steps": [dict(step) for step in steps],
            "frequencies": dict(frequencies),
            "own_names": {i: list(names) for i, names in own_names.items()},
        }
        if path is None:
            return cls(table, meta)
        write_folder(Path(path), VOCABULARY, table.columns, meta)
        return cls.from_disk(path)

    @classmethod
    def merge(
        cls,
        kbs: Sequence["ConceptKB"],
        path: Path | str | None = None,
        *,
        shared_names: SharedNames | None = None,
    ) -> "ConceptKB":
        """Join vocabularies and record the step.

        kbs (Sequence[ConceptKB]): in order of precedence. Of a concept that occurs in several, see
            `join`, the first canonical name and definition are kept, names and types are combined.
        path (Path | str | None): see `join`.
        shared_names (SharedNames | None): see `join`; None: as in the vocabularies.
        RETURNS (ConceptKB): the joined vocabulary.
        RAISES (AngelError): they treat shared names differently, and `shared_names` is None.
        """
        metas = [kb.meta for kb in kbs]
        rules = sorted({meta["shared_names"] for meta in metas}) or ["all"]
        if shared_names is None and len(rules) > 1:
            raise AngelError(
                f"Vocabularies treat shared names differently ({' and '.join(rules)}). Choose with "
                "`--shared-names`."
            )
        frequencies: Counter[str] = Counter()
        own_names: dict[str, list[str]] = {}
        for meta in metas:
            frequencies.update(meta.get("frequencies", {}))
            for concept_id, names in meta["own_names"].items():
                own_names.setdefault(concept_id, []).extend(names)
        step = {"step": "merge", "concepts": [len(kb) for kb in kbs]}
        merged = cls.join(
            kbs,
            path,
            shared_names=shared_names or rules[0],
            by_species=any(kb.by_species for kb in kbs),
            sources=[source for meta in metas for source in meta["sources"]],
            steps=[*(step for meta in metas for step in meta["steps"]), step],
            frequencies=frequencies,
            own_names=own_names,
        )
        merged.rules = tuple(rule for kb in kbs for rule in kb.rules)
        if merged.rules and merged.path is not None:
            write_rules(merged.path / RULES, merged.rules)
        return merged

    def __reduce__(self) -> Any:
        # Another process maps the same files instead of getting a copy.
        in_folder = self.path is not None and self.path.is_dir()
        return _restore, (
            self.path.resolve() if self.path is not None and in_folder else None,
            None if in_folder else (self.table, self._compiled.folder),
            self._meta,
            self._changes,
        )

    def copy(self) -> "ConceptKB":
        """RETURNS (ConceptKB): a copy that includes the current changes and can be changed
        independently. The stored table and the data compiled from it are shared, so copying is
        cheap."""
        with self.reading():
            copied = ConceptKB(self.table, self._meta, self.path)
            copied._use(self._compiled)
            copied._restore_changes(*self._changes)
        return copied

    def with_rules(self, rules: Sequence[Rule]) -> "ConceptKB":
        """rules (Sequence[Rule]): applied after the vocabulary's own rules.
        RETURNS (ConceptKB): a copy changed by the rules. Linkers use its `applied_rules`."""
        copied = self.copy()
        copied.applied_rules = AppliedRules(copied, rules)
        return copied

    def __repr__(self) -> str:
        place = "in memory" if self.path is None else f"from {str(self.path)!r}"
        return f"<ConceptKB: {len(self):,} concepts, {self.n_names:,} names, {place}>"

    @property
    def meta(self) -> dict[str, Any]:
        """RETURNS (dict[str, Any]): plain values: `shared_names`; `endings`, which is `species` if
        built with `by_species`; `fingerprint` of the names; `counts` as of the last save;
        `sources`; `steps`, including unsaved ones; `frequencies` of concepts, if any; `own_names`
        by identifier; and, if the vocabulary was opened from a folder, `kind`, `version` and
        `columns` with checksums."""
        meta = deepcopy({**self._meta, "own_names": self._user_names})
        if self._is_edited:
            meta["steps"].append({"step": "edit"})
        return meta

    @property
    def build_options(self) -> BuildOptions:
        """RETURNS (BuildOptions): options to rebuild the vocabulary in its current state."""
        meta = self.meta
        return BuildOptions(
            shared_names=meta["shared_names"],
            by_species=self.by_species,
            sources=meta["sources"],
            steps=meta["steps"],
            frequencies=meta.get("frequencies", {}),
            own_names=meta["own_names"],
        )

    @cached_property
    def species_reader(self) -> SpeciesReader | None:
        """RETURNS (SpeciesReader | None): finds species in texts and sorts concepts by them; None
        without `by_species`."""
        return SpeciesReader(self) if self.by_species else None

    def species_ranks(self, concept_ids: Sequence[str], species_context: str) -> tuple[int, ...]:
        """concept_ids (Sequence[str]): n concepts.
        species_context (str): species context of a mention, see `SpeciesReader.context_of`.
        RETURNS (tuple[int, ...]): n species ranks, see `SpeciesReader.rank`; empty without
        `by_species`."""
        if (reader := self.species_reader) is None:
            return ()
        return tuple(reader.rank(t, species_context) for t in self.concept_types(concept_ids))

    @property
    def cui_to_entity(self) -> "ConceptKB":
        """RETURNS (ConceptKB): itself, for code written for scispaCy's `linker.kb`."""
        return self

    def edit_stored(self, rules: Iterable[Rule]) -> None:
        """Change a stored vocabulary by appending rules to `rules.tsv` in its folder.

        rules (Iterable[Rule]): `add`, `remove` and `rename`; rules that change nothing are not
            written.
        RAISES (AngelError): see `edit`; nothing is written then.
        """
        if self.path is None:
            raise AngelError("The vocabulary is in memory. Save it first: kb.to_disk(FOLDER).")
        written = []
        for rule in rules:
            version, own = self.version, self.resolve(rule.concept) or rule.concept
            self.edit(rule)
            if self.version != version:
                written.append(replace(rule, concept=own, date=date.today().isoformat()))
        if written:
            append_rules(self.path / RULES, written)

    def search_space(
        self, tokenizer: NameTokenizer, subsets: Sequence[Subset | None] = (None,)
    ) -> SearchSpace:
        """Prepare the constrained search.

        The trie of the stored names is compiled once. It is cached in memory and, if the folder is
        writable, in its subfolder `tries/`, by fingerprint of the tokenizer and names. Names added
        later are compiled to a second trie.

        tokenizer (NameTokenizer): the model's tokenizer, e.g. a `PromptEncoder`.
        subsets (Sequence[Subset | None]): subsets that mentions are limited to; None: all concepts.
        RETURNS (SearchSpace): the tries, and a mask for each subset, in the same order.
        RAISES (AngelError): a subset belongs to another vocabulary.
        """
        return self._spaces.space(tokenizer, subsets)

    def to_disk(self, path: Path | str) -> None:
        """Write the vocabulary, including changes. The compiled tries are also written, unless
        names have changed.

        path (Path | str): folder to write; an existing vocabulary is replaced.
        RAISES (AngelError): the folder has other content.
        """
        path = Path(path)
        with self.reading():
            stored = self._compacted()
        write_folder(path, VOCABULARY, stored.table.columns, stored._meta)
        is_own = self.path is not None and path.resolve() == self.path.resolve()
        if self.rules and not is_own:
            write_rules(path / RULES, self.rules)
        if stored is self:
            self._compiled.to_disk(path / TRIES)
        elif is_own:
            # the mapped files are no longer in the folder
            self.path = self._compiled.folder = None

    @classmethod
    def from_disk(cls, path: Path | str, *, rules: bool = True) -> "ConceptKB":
        """Open a stored vocabulary by mapping its files.

        path (Path | str): its folder.
        rules (bool): apply the rules of `rules.tsv` in the folder, see `apply`.
        RETURNS (ConceptKB): the vocabulary.
        RAISES (AngelError): the folder is missing, of another kind or damaged. Checksums are only
            compared for folders up to 48 MB.
        """
        path = Path(path)
        columns, meta = open_vocabulary(path, VOCABULARY)
        kb = cls(_table(columns, meta, path), meta, path)
        if rules and (path / RULES).is_file():
            found = read_rules(path / RULES)
            found.warn(str(path / RULES))
            kb.apply(found.rules)
        return kb

    def to_bytes(self) -> bytes:
        """RETURNS (bytes): the vocabulary, including changes, without tries. The tries are stored
        in the user's cache, where `from_bytes` finds them."""
        with self.reading():
            stored = self._compacted()
        if stored is self:
            with suppress(OSError):
                self._compiled.to_disk(compiled_cache())
        meta = {**stored._meta, "rules": list(map(asdict, self.rules))}
        return pack(VOCABULARY, stored.table.columns, meta)

    @classmethod
    def from_bytes(cls, data: bytes) -> "ConceptKB":
        """Load a vocabulary from a byte string.

        data (bytes): output of `to_bytes`.
        RETURNS (ConceptKB): the vocabulary, in memory.
        RAISES (AngelError): the data is truncated, damaged or in another format.
        """
        columns, meta = unpack(data, VOCABULARY)
        rules = meta.pop("rules")
        kb = cls(_table(columns, meta, Path("<bytes>")), meta)
        kb._use(CompiledNames(meta["fingerprint"], compiled_cache()))
        kb.rules = tuple(Rule(**rule) for rule in rules)
        return kb

    def _compacted(self) -> "ConceptKB":
        return self if self.version == 0 else ConceptKB.build(self, **self.build_options)


def _restore(
    path: Path | None,
    in_memory: tuple[ConceptTable, Path | None] | None,
    meta: dict[str, Any],
    changes: tuple[Any, ...],
) -> ConceptKB:
    """Restore a pickled vocabulary from its folder, or from its table and the folder of its tries,
    and reapply the changes."""
    if path is not None:
        kb = ConceptKB.from_disk(path, rules=False)
        if kb._meta["columns"] != meta["columns"]:
            raise AngelError(
                f"The vocabulary in {path} was rewritten since it was opened. Open it again."
            )
        kb._meta = meta
    else:
        assert in_memory is not None
        table, folder = in_memory
        kb = ConceptKB(table, meta)
        kb._use(CompiledNames(meta["fingerprint"], folder))
    kb._restore_changes(*changes)
    return kb


def _table(columns: Mapping[str, np.ndarray], meta: Mapping[str, Any], path: Path) -> ConceptTable:
    try:
        _Meta.model_validate(meta)
    except ValidationError as error:
        first = error.errors()[0]
        problem = f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
        raise damaged(path / META, problem) from error
    return ConceptTable(dict(columns), meta["shared_names"])
