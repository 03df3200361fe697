"""The vocabulary of a linker: concepts and names stored in a folder, which can be changed at run
time."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from datetime import date
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from ..errors import AngelError
from .changes.applied_rules import AppliedRules
from .changes.overlay import Subset, VocabularyOverlay
from .changes.rules import Rule, append_rules, read_rules, write_rules
from .lookup.meaning import CloseNames
from .lookup.search_spaces import SearchSpaces
from .lookup.string_similarity import SimilarNames
from .lookup.words import KnownWords
from .names.concepts import Concept
from .species.reader import SpeciesReader
from .storage.arrays import META, TRIES, damaged, pack, unpack, write_folder
from .storage.compiled import CompiledNames, compiled_cache, open_vocabulary
from .storage.metadata import BuildOptions, Metadata
from .storage.table import VOCABULARY, ConceptTable, SharedNames
from .storage.table_builder import read_table
from .storage.trie import SearchSpace
from .storage.trie_compiler import NameTokenizer

RULES = "rules.tsv"
"""File in the folder of a vocabulary with the rules that change it."""
_NO_CHANGES: Mapping[str, Concept | None] = MappingProxyType({})


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
        self,
        table: ConceptTable,
        metadata: Metadata,
        path: Path | None = None,
        compiled: CompiledNames | None = None,
        changed: Mapping[str, Concept | None] = _NO_CHANGES,
        rules: Sequence[Rule] = (),
    ) -> None:
        super().__init__(table, metadata, changed, rules)
        self.path = path
        self.applied_rules: AppliedRules | None = None
        """Set by `with_rules`."""
        tries = None if path is None else path / TRIES
        self._compiled = compiled or CompiledNames(metadata.fingerprint, tries)
        self._spaces = SearchSpaces(self, self._compiled)
        self.nearest = SimilarNames(self, self._compiled)
        self.meanings = CloseNames(self, self._compiled)
        self.words = KnownWords(self, self._compiled)

    @classmethod
    def build(
        cls,
        concepts: Iterable[Concept],
        path: Path | str | None = None,
        *,
        shared_names: SharedNames = "all",
        by_species: bool = False,
    ) -> "ConceptKB":
        """Build a vocabulary from concepts.

        concepts (Iterable[Concept]): a stream, which is not held in memory. Concepts with the same
            identifier are joined: the first canonical name and definition are kept.
        path (Path | str | None): folder to write and open; None keeps the vocabulary in memory.
        shared_names (SharedNames): a name of several concepts leads to `all` of them, or only to
            the one with `fewer_names` (GenBioEL, appendix E.1), which is decided when the
            vocabulary is built or saved: names that are added later lead to all their concepts.
        by_species (bool): concepts that share a name, such as genes, are of different species,
            given as types, e.g. `NCBITaxon:9606`; linkers rank them by the species that the
            document mentions.
        RETURNS (ConceptKB): the vocabulary.
        RAISES (AngelError): a concept has no identifier, `path` holds something else, or there is
            no such rule of shared names.
        """
        endings = "species" if by_species else None
        return cls.join([concepts], path, BuildOptions(shared_names=shared_names, endings=endings))

    @classmethod
    def join(
        cls,
        vocabularies: Iterable[Iterable[Concept]],
        path: Path | str | None = None,
        options: BuildOptions = BuildOptions(),  # noqa: B008 (frozen)
    ) -> "ConceptKB":
        """Build one vocabulary from several.

        vocabularies (Iterable[Iterable[Concept]]): in order of precedence, each as for `build`. A
            concept is joined to the concept of an earlier vocabulary that (1) has the
            same identifier, or (2) has its identifier as an alternate, or (3) is the only one whose
            identifier is among its alternates; in cases 2 and 3 its own identifier becomes an
            alternate, and the earlier concept may not have been joined to another of this
            vocabulary yet.
        path (Path | str | None): folder to write and open; None keeps the vocabulary in memory.
        options (BuildOptions): options, e.g. the `metadata` of a vocabulary that is built again.
        RETURNS, RAISES: as for `build`.
        """
        table, counts = read_table(vocabularies, options.shared_names)
        built = {"fingerprint": table.fingerprint(), "counts": counts}
        metadata = Metadata(**options.model_dump() | built)
        if path is None:
            return cls(table, metadata)
        write_folder(Path(path), VOCABULARY, table.columns, metadata.model_dump())
        return cls.from_disk(path)

    @classmethod
    def merge(
        cls,
        kbs: Sequence["ConceptKB"],
        path: Path | str | None = None,
        *,
        shared_names: SharedNames = "all",
    ) -> "ConceptKB":
        """Join vocabularies and record the step.

        kbs (Sequence[ConceptKB]): in order of precedence. Of a concept that occurs in several, see
            `join`, the first canonical name and definition are kept, names and types are combined.
        path (Path | str | None): see `join`.
        shared_names (SharedNames): see `build`.
        RETURNS (ConceptKB): the joined vocabulary.
        """
        metas = [kb.metadata for kb in kbs]
        frequencies = sum((Counter(meta.frequencies) for meta in metas), Counter())
        own_names = {
            i: [n for m in metas for n in m.own_names.get(i, ())]
            for meta in metas
            for i in meta.own_names
        }
        step = {"step": "merge", "concepts": [len(kb) for kb in kbs]}
        options = BuildOptions(
            shared_names=shared_names,
            endings="species" if any(kb.by_species for kb in kbs) else None,
            sources=[source for meta in metas for source in meta.sources],
            steps=[*(step for meta in metas for step in meta.steps), step],
            frequencies=dict(frequencies),
            own_names=own_names,
        )
        merged = cls.join(kbs, path, options)
        merged.rules = tuple(rule for kb in kbs for rule in kb.rules)
        if merged.rules and merged.path is not None:
            write_rules(merged.path / RULES, merged.rules)
        return merged

    def __reduce__(self) -> Any:
        # Another process maps the same files instead of getting a copy.
        if self.path is None or not self.path.is_dir():
            return ConceptKB.from_bytes, (self.to_bytes(),)
        return _reopen, (self.path.resolve(), self.metadata, self._changed, self.rules)

    def copy(self) -> "ConceptKB":
        """RETURNS (ConceptKB): a copy that includes the current changes and can be changed
        independently. The stored table and the data compiled from it are shared, so copying is
        cheap."""
        with self.reading():
            metadata = self.metadata.model_copy(deep=True)
            changed, rules = self._changed, self.rules
            return ConceptKB(self.table, metadata, self.path, self._compiled, changed, rules)

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
        """RETURNS (dict[str, Any]): a copy of the metadata as plain values, see `Metadata`;
        includes changes that are not saved."""
        return self.metadata.model_dump(mode="json")

    @cached_property
    def by_species(self) -> bool:
        """RETURNS (bool): whether the concepts of a name are distinguished by species, see
        `build`."""
        return self.metadata.endings is not None

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
        write_folder(path, VOCABULARY, stored.table.columns, stored.meta)
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
        kb = cls(*_checked(columns, meta, path), path)
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
        meta = {**stored.meta, "rules": list(map(asdict, self.rules))}
        return pack(VOCABULARY, stored.table.columns, meta)

    @classmethod
    def from_bytes(cls, data: bytes) -> "ConceptKB":
        """Load a vocabulary from a byte string.

        data (bytes): output of `to_bytes`.
        RETURNS (ConceptKB): the vocabulary, in memory.
        RAISES (AngelError): the data is truncated, damaged or in another format.
        """
        columns, meta = unpack(data, VOCABULARY)
        table, metadata = _checked(columns, meta, Path("<bytes>"))
        compiled = CompiledNames(metadata.fingerprint, compiled_cache())
        return cls(table, metadata, None, compiled, rules=[Rule(**rule) for rule in meta["rules"]])

    def _compacted(self) -> "ConceptKB":
        return self if self.version == 0 else ConceptKB.join([self], None, self.metadata)


def _reopen(
    path: Path,
    metadata: Metadata,
    changed: Mapping[str, Concept | None],
    rules: Sequence[Rule],
) -> ConceptKB:
    """Open the folder of a pickled vocabulary, and change it in the same way."""
    kb = ConceptKB.from_disk(path, rules=False)
    if kb.metadata.columns != metadata.columns:
        raise AngelError(
            f"The vocabulary in {path} was rewritten since it was opened. Open it again."
        )
    return ConceptKB(kb.table, metadata, path, kb._compiled, changed, rules)


def _checked(
    columns: Mapping[str, np.ndarray], meta: Mapping[str, Any], path: Path
) -> tuple[ConceptTable, Metadata]:
    known = {name: value for name, value in meta.items() if name in Metadata.model_fields}
    try:
        metadata = Metadata(**known)
    except AngelError as error:
        raise damaged(path / META, error) from error
    return ConceptTable(dict(columns)), metadata
