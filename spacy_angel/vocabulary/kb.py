"""The vocabulary of a linker: concepts and names in a folder, changed while running."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from copy import deepcopy
from dataclasses import asdict, replace
from datetime import date
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, TypedDict, get_args

import numpy as np
from pydantic import BaseModel, ConfigDict, ValidationError

from ..errors import AngelError, unknown_name
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
from .storage.compiled import COMPILING, CompiledNames, compiled_cache, open_vocabulary
from .storage.table import COLUMNS, OPTIONAL_COLUMNS, ConceptTable, SharedNames
from .storage.table_builder import read_table
from .storage.trie import SearchSpace
from .storage.trie_compiler import NameTokenizer

if TYPE_CHECKING:
    from typing_extensions import Unpack

KIND = "spacy-angel vocabulary"
VERSION = 1
RULES = "rules.tsv"
"""In the folder of a vocabulary: the rules that change it."""


class BuildOptions(TypedDict, total=False):
    """The options of `ConceptKB.join`."""

    shared_names: SharedNames
    by_species: bool
    sources: Sequence[Mapping[str, Any]]
    steps: Sequence[Mapping[str, Any]]
    frequencies: Mapping[str, int]
    own_names: Mapping[str, Sequence[str]]


class _Counts(BaseModel):
    model_config = ConfigDict(strict=True)

    concepts: int
    names: int
    spellings: int


class _Meta(BaseModel):
    """What is stored beside the columns; in the layout, `by_species` is `endings`."""

    model_config = ConfigDict(strict=True)

    shared_names: SharedNames
    fingerprint: str
    counts: _Counts
    sources: list[dict[str, Any]]
    steps: list[dict[str, Any]]
    endings: Literal["species"] | None = None
    frequencies: dict[str, int] = {}
    own_names: dict[str, list[str]] = {}


class ConceptKB(VocabularyOverlay):
    """Concepts and names of a vocabulary.

    The search works with names in normal form (`concepts.normalize_name`), each of which has one
    index; concepts keep the spellings of their source. A spelling whose normal form is empty is
    kept with its concept but cannot be found by the search; `meta["counts"]` says how many there
    are.

    Made by `build`, `join`, `merge`, `from_disk` or `from_bytes`. What is stored is never changed:
    changes made while running lie over it until `to_disk` writes them to a new folder. The methods
    that read and change it are those of `VocabularyOverlay`.
    """

    def __init__(
        self, table: ConceptTable, meta: Mapping[str, Any], path: Path | None = None
    ) -> None:
        super().__init__(table, meta)
        self.path = path
        self.by_species = meta.get("endings") is not None
        """Concepts of one name are told apart by species, see `join`."""
        self._species_reader: SpeciesReader | None = None
        self._use(CompiledNames(meta["fingerprint"], None if path is None else path / TRIES))

    def _use(self, compiled: CompiledNames) -> None:
        """compiled (CompiledNames): of the stored names, gets tries and indexes."""
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
        """Lay out a vocabulary.

        concepts (Iterable[Concept]): read once, never held all together. Concepts of one
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
        """Lay out several vocabularies as one.

        vocabularies (Iterable[Iterable[Concept]]): in order of precedence, each read once, as for
            `build`. A concept is joined to the concept of an earlier vocabulary that (1) has the
            same identifier, or (2) has its identifier as an alternate, or (3) is the only one whose
            identifier is among its alternates; in cases 2 and 3 its own identifier becomes an
            alternate, and the earlier concept may not have been joined to another of this
            vocabulary yet.
        path (Path | str | None): folder to write and map; None keeps the vocabulary in memory.
        shared_names (SharedNames): a name of several concepts leads to `all` of them, or to the
            one with `fewer_names` (GenBioEL, appendix E.1).
        by_species (bool): the concepts of a name, such as genes, are of different species, given as
            types, e.g. `NCBITaxon:9606`; linkers order them by the species that the document is
            about.
        sources (Sequence[Mapping[str, Any]]): plain values on where it comes from, to be recorded.
        steps (Sequence[Mapping[str, Any]]): what was done to it before, to be recorded.
        frequencies (Mapping[str, int]): how often concepts were seen, see `concept_ids_of`.
        own_names (Mapping[str, Sequence[str]]): by identifier, see `own_names`.
        RETURNS, RAISES: as for `build`.
        """
        if shared_names not in get_args(SharedNames):
            known = ", ".join(get_args(SharedNames))
            raise AngelError(unknown_name("rule of shared_names", shared_names, known))
        table, counts = read_table(vocabularies, shared_names)
        meta = {
            "shared_names": shared_names,
            "endings": "species" if by_species else None,
            "fingerprint": table.fingerprint(by_species),
            "counts": counts,
            "sources": [dict(source) for source in sources],
            "steps": [dict(step) for step in steps],
            "frequencies": dict(frequencies),
            "own_names": {i: list(names) for i, names in own_names.items()},
        }
        if path is None:
            return cls(table, meta)
        write_folder(Path(path), KIND, VERSION, table.columns, meta)
        return cls.from_disk(path)

    @classmethod
    def merge(
        cls,
        kbs: Sequence["ConceptKB"],
        path: Path | str | None = None,
        *,
        shared_names: SharedNames | None = None,
    ) -> "ConceptKB":
        """Join vocabularies; the step is recorded.

        kbs (Sequence[ConceptKB]): in order of precedence: if a concept is in several, see `join`,
            the first canonical name and definition are kept, names and types are combined.
        path (Path | str | None): see `join`.
        shared_names (SharedNames | None): see `join`; None is the rule of all of them.
        RETURNS (ConceptKB): the joined vocabulary.
        RAISES (AngelError): their rules differ and `shared_names` is not given.
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
        # What is in a folder is not copied: a process that gets it maps the same files.
        in_folder = self.path is not None and self.path.is_dir()
        return _restore, (
            self.path.resolve() if self.path is not None and in_folder else None,
            None if in_folder else (self.table, self._compiled.folder),
            *(self._meta, self._log, self._user_names, self.rules, self._is_edited),
        )

    def copy(self) -> "ConceptKB":
        """RETURNS (ConceptKB): the vocabulary as it is now, to be changed independently. What is
        stored, and what was compiled from it, is shared, so a copy costs next to nothing."""
        with self.reading():
            copied = ConceptKB(self.table, self._meta, self.path)
            copied._use(self._compiled)
            copied._restore_changes(self._log, self._user_names, self.rules, self._is_edited)
        return copied

    def __repr__(self) -> str:
        place = "in memory" if self.path is None else f"from {str(self.path)!r}"
        return f"<ConceptKB: {len(self):,} concepts, {self.n_names:,} names, {place}>"

    @property
    def meta(self) -> dict[str, Any]:
        """RETURNS (dict[str, Any]): plain values: `shared_names`; `endings`, `species` for
        `build(by_species=True)`; `fingerprint` of the names; `counts` as last stored;
        `sources`; `steps`, including those since then; `frequencies` of concepts, if mentions of a
        corpus were added; `own_names` by identifier; and `kind`, `version` and `columns` with their
        checksums, if it was opened from a folder."""
        meta = deepcopy({**self._meta, "own_names": self._user_names})
        if self._is_edited:
            meta["steps"].append({"step": "edit"})
        return meta

    @property
    def build_options(self) -> BuildOptions:
        """RETURNS (BuildOptions): those with which it would be built anew as it is now."""
        meta = self.meta
        return BuildOptions(
            shared_names=meta["shared_names"],
            by_species=self.by_species,
            sources=meta["sources"],
            steps=meta["steps"],
            frequencies=meta.get("frequencies", {}),
            own_names=meta["own_names"],
        )

    @property
    def species_reader(self) -> SpeciesReader | None:
        """RETURNS (SpeciesReader | None): finds the species in texts and sorts concepts by them;
        None without `by_species`."""
        if self._species_reader is None and self.by_species:
            with COMPILING:
                self._species_reader = self._species_reader or SpeciesReader(self)
        return self._species_reader

    def species_ranks(self, concept_ids: Sequence[str], species_context: str) -> tuple[int, ...]:
        """concept_ids (Sequence[str]): concepts. species_context (str): what the document says, see
        `SpeciesReader.context_of`. RETURNS (tuple[int, ...]): of each, see `SpeciesReader.rank`;
        empty without `by_species`."""
        if (reader := self.species_reader) is None:
            return ()
        return tuple(reader.rank(t, species_context) for t in self.concept_types(concept_ids))

    @property
    def cui_to_entity(self) -> "ConceptKB":
        """RETURNS (ConceptKB): itself: `kb[identifier]`, as scispaCy's `linker.kb`."""
        return self

    @property
    def alias_to_cuis(self) -> Mapping[str, set[str]]:
        """RETURNS (Mapping[str, set[str]]): identifiers by name as its source writes it, else with
        other capitals, as scispaCy's `linker.kb`."""
        return _IdsBySpelling(self)

    def edit_stored(self, rules: Iterable[Rule]) -> None:
        """Change a stored vocabulary: by rules that are appended to `rules.tsv` in its folder.

        rules (Iterable[Rule]): `add`, `remove` and `rename`; those that change nothing are not
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

    def subset(
        self,
        types: Collection[str] | str | None = None,
        concept_ids: Collection[str] | str | None = None,
        *,
        branch: str | None = None,
        free_types: Collection[str] = (),
        excluded: Collection[str] = (),
    ) -> Subset:
        """Choose a part of the vocabulary for the search.

        types (Collection[str] | str | None): concepts with one of these semantic types, and those
            that have none, of which nobody knows that they are something else; one may be given
            alone; None: any.
        concept_ids (Collection[str] | str | None): these concepts, or one, alternate identifiers
            resolve; None: all. With several conditions, a concept must meet all of them.
        branch (str | None): this concept and all below it in the hierarchy, by any identifier of
            its; None: all.
        free_types (Collection[str]): say nothing about a concept: one that has no others is treated
            as one without types.
        excluded (Collection[str]): concepts that are not in, by their own identifiers.
        RETURNS (Subset): for `search_space`.
        RAISES (AngelError): a type or an identifier is unknown.
        """
        types = (types,) if isinstance(types, str) else types
        concept_ids = (concept_ids,) if isinstance(concept_ids, str) else concept_ids
        if unknown := sorted(set(types or ()) - self.types):
            known = sorted(self.types)
            raise AngelError(
                f"The vocabulary has no concepts of the types {unknown}. Its types: {known}."
            )
        own = None if concept_ids is None else frozenset(map(self._resolved, concept_ids))
        if branch is not None:
            below = self.ids_below(branch)
            own = below if own is None else own & below
        wanted = None if types is None else frozenset(types)
        return Subset(wanted, own, self, frozenset(free_types), frozenset(excluded))

    def search_space(
        self, tokenizer: NameTokenizer, subsets: Sequence[Subset | None] = (None,)
    ) -> SearchSpace:
        """Compile what has to be compiled, and nothing that was before.

        The trie of the stored names is kept in memory and, if the folder can be written, in its
        `tries/` by fingerprint of tokenizer and names; names added since are a second trie.

        tokenizer (NameTokenizer): the model's, e.g. a `PromptEncoder`.
        subsets (Sequence[Subset | None]): what mentions will be limited to; None: everything.
        RETURNS (SearchSpace): the tries, and a mask per subset in the same order.
        RAISES (AngelError): a subset belongs to another vocabulary.
        """
        return self._spaces.space(tokenizer, subsets)

    def to_disk(self, path: Path | str) -> None:
        """Write the vocabulary, including changes, with the tries in use if they still fit.

        path (Path | str): folder; a vocabulary that is there is replaced.
        RAISES (AngelError): it holds something else.
        """
        path = Path(path)
        with self.reading():
            stored = self._compacted()
        write_folder(path, KIND, VERSION, stored.table.columns, stored._meta)
        is_own = self.path is not None and path.resolve() == self.path.resolve()
        if self.rules and not is_own:
            write_rules(path / RULES, self.rules)
        if stored is self:
            self._compiled.to_disk(path / TRIES)
        elif is_own:
            # what is mapped is no longer what the folder holds
            self.path = self._compiled.folder = None

    @classmethod
    def from_disk(cls, path: Path | str, *, rules: bool = True) -> "ConceptKB":
        """Open a stored vocabulary by mapping its files.

        path (Path | str): its folder.
        rules (bool): apply the rules of `rules.tsv` in the folder, see `apply`; otherwise the
            vocabulary is as it was built.
        RETURNS (ConceptKB): the vocabulary.
        RAISES (AngelError): the folder is missing, of another kind or damaged; the
            bytes of folders over 48 MB are not compared with their checksums.
        """
        path = Path(path)
        columns, meta = open_vocabulary(path, KIND, VERSION, COLUMNS, OPTIONAL_COLUMNS)
        kb = cls(_table(columns, meta, path), meta, path)
        if rules and (path / RULES).is_file():
            found = read_rules(path / RULES)
            found.warn(str(path / RULES))
            kb.apply(found.rules)
        return kb

    def to_bytes(self) -> bytes:
        """RETURNS (bytes): the vocabulary, including changes, without tries; these are put into the
        user's cache, where `from_bytes` finds them."""
        with self.reading():
            stored = self._compacted()
        if stored is self:
            with suppress(OSError):
                self._compiled.to_disk(compiled_cache())
        meta = {**stored._meta, "rules": list(map(asdict, self.rules))}
        return pack(KIND, VERSION, stored.table.columns, meta)

    @classmethod
    def from_bytes(cls, data: bytes) -> "ConceptKB":
        """Read what `to_bytes` made.

        data (bytes): the byte string.
        RETURNS (ConceptKB): the vocabulary, in memory.
        RAISES (AngelError): the bytes are truncated, damaged or something else.
        """
        columns, meta = unpack(data, KIND, VERSION, COLUMNS, OPTIONAL_COLUMNS)
        rules = meta.pop("rules")
        kb = cls(_table(columns, meta, Path("<bytes>")), meta)
        kb._use(CompiledNames(meta["fingerprint"], compiled_cache()))
        kb.rules = tuple(Rule(**rule) for rule in rules)
        return kb

    def _compacted(self) -> "ConceptKB":
        return self if self.version == 0 else ConceptKB.build(self, **self.build_options)


class _IdsBySpelling(Mapping[str, set[str]]):
    """Name → identifiers of the concepts whose source writes it so, else with other capitals."""

    def __init__(self, kb: ConceptKB) -> None:
        self._kb = kb

    def __getitem__(self, spelling: str) -> set[str]:
        concepts, folded = self._kb.find(spelling), spelling.casefold()
        concept_ids = {c.concept_id for c in concepts if spelling in c.names} or {
            c.concept_id for c in concepts if folded in map(str.casefold, c.names)
        }
        if not concept_ids:
            raise KeyError(spelling)
        return concept_ids

    def __iter__(self) -> Iterator[str]:
        names = (name for i in range(self._kb.n_names) for name in self._kb.spellings_of(i))
        return (name for name in names if name in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)


def _restore(
    path: Path | None,
    in_memory: tuple[ConceptTable, Path | None] | None,
    meta: dict[str, Any],
    *changes: Any,
) -> ConceptKB:
    """RETURNS (ConceptKB): the vocabulary of a folder, or of a table with the folder of its tries,
    as it was pickled."""
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
