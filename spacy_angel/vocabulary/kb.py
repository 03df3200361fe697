"""The vocabulary of a linker: concepts and names in a folder, changed while running."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from copy import deepcopy
from pathlib import Path
from types import MappingProxyType
from typing import Any, get_args
from warnings import warn

import numpy as np

from ..errors import AngelError, unknown_name
from .changes.applied import change_concepts, is_of_vocabulary, remove_excluded
from .changes.changing import ChangeLock
from .changes.live import LiveVocabulary
from .changes.own_edits import OwnEdits, tidy_concepts
from .changes.rule_file import digest_of, read_rules
from .changes.rules import Rule
from .lookup import prefixes, string_similarity, words
from .lookup.by_name import joined_by_name
from .lookup.kept import KeptIndex
from .lookup.nearest import SimilarNames
from .lookup.prefixes import NamePrefixes
from .lookup.scispacy_views import ConceptsById, IdsBySpelling
from .lookup.search_spaces import SearchSpaces, Subset
from .lookup.words import KnownWords
from .names.concepts import Concept, normalize_name
from .species import suffixes as name_suffixes
from .species.reader import SpeciesReader
from .species.suffixes import Suffixes, SuffixRule, takes_endings, with_suffix
from .storage import trie
from .storage.arrays import (
    META,
    TRIES,
    open_folder,
    pack,
    unpack,
    verify_folder,
    verify_one_of,
    write_folder,
)
from .storage.compiled import COMPILING
from .storage.metadata import problem_of
from .storage.table import COLUMNS, OPTIONAL_COLUMNS, ConceptTable, SharedNames
from .storage.table_builder import read_table
from .storage.trie import SearchSpace
from .storage.trie_compiler import NameTokenizer

KIND = "spacy-angel vocabulary"
VERSION = 1
RULES = "rules.tsv"
"""In the folder of a vocabulary: what a curator changed in it."""
# What lies in `tries/`, with version and columns.
_COMPILED = {
    module.KIND: (module.VERSION, module.COLUMNS)
    for module in (trie, string_similarity, name_suffixes, words, prefixes)
}
_RENAMED = {
    "endings": "suffixes",
    "endings_of": "suffixes_of",
    "hinter": "species_reader",
    "places_of": "species_ranks",
}


class ConceptKB:
    """Concepts and names of a vocabulary.

    A name in the sense of the search is a normal form (`concepts.normalize_name`), of which each
    has one index; concepts keep the spellings of their source. A spelling whose normal form is
    empty stays with its concept but cannot be found by the search; `meta["counts"]` says how many
    there are.

    Made by `build`, `join`, `merge`, `from_disk` or `from_bytes`. What is stored is never changed:
    changes made while running lie over it until `to_disk` writes them to a new folder.
    """

    def __init__(
        self, table: ConceptTable, meta: Mapping[str, Any], path: Path | None = None
    ) -> None:
        self.path = path
        self._table = table
        self._meta = dict(meta)
        self._live = LiveVocabulary(table)
        self._live.frequencies = meta.get("frequencies", {})
        self._lock = ChangeLock()
        self._edits = OwnEdits(self._live, meta.get("own_names", {}))
        # version and digest of the rules that it was opened with
        self._opened = (0, "")
        folder = None if path is None else path / TRIES
        rule = meta.get("endings")
        self._suffixes = None if rule is None else Suffixes(self._live, rule)
        self._species_reader: SpeciesReader | None = None
        self._spaces = SearchSpaces(self._live, meta["fingerprint"], folder, self._suffixes)
        self.nearest = SimilarNames(self._live, meta["fingerprint"], folder)
        self.words = KnownWords(self._live, meta["fingerprint"], folder)
        self.prefixes = NamePrefixes(self._live, meta["fingerprint"], folder)
        self._lookups: tuple[KeptIndex[Any], ...] = (self.nearest, self.words, self.prefixes)

    @classmethod
    @takes_endings
    def build(
        cls,
        concepts: Iterable[Concept],
        path: Path | str | None = None,
        *,
        shared_names: SharedNames = "all",
        suffixes: SuffixRule | None = None,
        sources: Sequence[Mapping[str, Any]] = (),
        steps: Sequence[Mapping[str, Any]] = (),
        frequencies: Mapping[str, int] = MappingProxyType({}),
        own_names: Mapping[str, Sequence[str]] = MappingProxyType({}),
    ) -> "ConceptKB":
        """Lay out a vocabulary.

        concepts (Iterable[Concept]): read once, never held all together. Concepts of one
            identifier are joined: the first canonical name and definition stay.
        path (Path | str | None): folder to write and map; None keeps the vocabulary in memory.
        shared_names (SharedNames): a name of several concepts leads to `all` of them, or to the
            one with `fewer_names` (GenBioEL, appendix E.1).
        suffixes (SuffixRule | None): what tells the concepts of one name apart in the search of a
            model that writes suffixes, see `suffixes.Suffixes`; None: nothing.
        sources (Sequence[Mapping[str, Any]]): plain values on where it comes from, to be recorded.
        steps (Sequence[Mapping[str, Any]]): what was done to it before, to be recorded.
        frequencies (Mapping[str, int]): how often concepts were seen, see `concept_ids_of`.
        own_names (Mapping[str, Sequence[str]]): by identifier, see `own_names`.
        RETURNS (ConceptKB): the vocabulary.
        RAISES (AngelError): where a concept has no identifier, or `path` holds something else.
        """
        return cls.join(
            [concepts],
            path,
            shared_names=shared_names,
            suffixes=suffixes,
            sources=sources,
            steps=steps,
            frequencies=frequencies,
            own_names=own_names,
        )

    @classmethod
    @takes_endings
    def join(
        cls,
        vocabularies: Iterable[Iterable[Concept]],
        path: Path | str | None = None,
        *,
        shared_names: SharedNames = "all",
        suffixes: SuffixRule | None = None,
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
        path (Path | str | None), shared_names (SharedNames), suffixes (SuffixRule | None), sources
            (Sequence[Mapping[str, Any]]), steps (Sequence[Mapping[str, Any]]), frequencies
            (Mapping[str, int]), own_names (Mapping[str, Sequence[str]]), RETURNS, RAISES: as for
            `build`.
        """
        if suffixes is not None and suffixes not in get_args(SuffixRule):
            raise AngelError(
                unknown_name("rule of suffixes", suffixes, ", ".join(get_args(SuffixRule)))
            )
        if shared_names not in get_args(SharedNames):
            raise AngelError(
                unknown_name("rule of shared_names", shared_names, ", ".join(get_args(SharedNames)))
            )
        table, counts = read_table(vocabularies, shared_names)
        meta = {
            "shared_names": shared_names,
            "fingerprint": table.fingerprint,
            "counts": counts,
            "sources": [dict(source) for source in sources],
            "steps": [dict(step) for step in steps],
        }
        if suffixes is not None:
            meta |= {"endings": suffixes, "fingerprint": table.fingerprint_with(suffixes)}
        if frequencies:
            meta["frequencies"] = dict(frequencies)
        if own_names:
            meta["own_names"] = {i: list(names) for i, names in own_names.items()}
        if path is None:
            return cls(table, meta)
        write_folder(Path(path), KIND, VERSION, table.columns, meta)
        return cls.from_disk(path)

    @classmethod
    @takes_endings
    def merge(
        cls,
        kbs: Sequence["ConceptKB"],
        path: Path | str | None = None,
        *,
        shared_names: SharedNames | None = None,
        suffixes: SuffixRule | None = None,
        by_name: bool = False,
    ) -> "ConceptKB":
        """Join vocabularies; the step is recorded.

        kbs (Sequence[ConceptKB]): in order of precedence: where a concept is in several, see
            `join`, the first canonical name and definition stay, names and types are added up.
        path (Path | str | None): as for `build`.
        shared_names (SharedNames | None): as for `build`; None is the rule of all of them.
        suffixes (SuffixRule | None): as for `build`; None is the rule of the first that has one.
        by_name (bool): join concepts to one of the first vocabulary that bears their name, too, see
            `by_name.joined_by_name`.
        RETURNS (ConceptKB): the joined vocabulary.
        RAISES (AngelError): without `shared_names`, where their rules differ.
        """
        if shared_names is None:
            rules = sorted({kb.meta["shared_names"] for kb in kbs})
            if len(rules) > 1:
                raise AngelError(
                    f"Vocabularies treat shared names differently ({' and '.join(rules)}). Choose "
                    "with `--shared-names`."
                )
            shared_names = rules[0] if rules else "all"
        step: dict[str, Any] = {"step": "merge", "concepts": [len(kb) for kb in kbs]}
        vocabularies: list[Iterable[Concept]] = [*kbs]
        if by_name:
            step["by_name"] = True
            vocabularies[1:] = [joined_by_name(kb, kbs[0]) for kb in kbs[1:]]
        frequencies: Counter[str] = Counter()
        own_names: dict[str, list[str]] = {}
        for kb in kbs:
            frequencies.update(kb.meta.get("frequencies", {}))
            for concept_id, names in kb.meta.get("own_names", {}).items():
                own_names.setdefault(concept_id, []).extend(names)
        return cls.join(
            vocabularies,
            path,
            shared_names=shared_names,
            suffixes=suffixes or next((kb.suffixes for kb in kbs if kb.suffixes), None),
            sources=[source for kb in kbs for source in kb.meta["sources"]],
            steps=[*(step for kb in kbs for step in kb.meta["steps"]), step],
            frequencies=frequencies,
            own_names=own_names,
        )

    def __reduce_ex__(self, protocol: Any) -> Any:
        # What stands in a folder is not copied: a process that is handed it maps the same files.
        is_unchanged = self._live.version == self._opened[0]
        if self.path is not None and is_unchanged and self.path.is_dir():
            return _reopen, (self.path.resolve(), self._meta, self._opened)
        return super().__reduce_ex__(protocol)

    def copy(self) -> "ConceptKB":
        """RETURNS (ConceptKB): the vocabulary as it is now, to be changed apart from this one. What
        is stored, and what was compiled of it, is shared, so that a copy costs next to nothing."""
        with self.reading():
            twin = ConceptKB(self._table, self._meta, self.path)
            twin._live.take_changes(self._live)
            twin._edits.take(self._edits)
            twin._spaces.share(self._spaces)
            for own, others in zip(twin._lookups, self._lookups, strict=True):
                own.share(others)
        return twin

    def __getattr__(self, name: str) -> Any:
        """Names of version 0.2, for one release. RAISES (AttributeError): it has no such attribute;
        of scispaCy's `semantic_type_tree` what to use instead."""
        if name == "semantic_type_tree":
            raise AttributeError(
                "A vocabulary has no semantic_type_tree. Use `concept.types` and `kb.types`."
            )
        if (new := _RENAMED.get(name)) is None:
            raise AttributeError(f"{type(self).__name__!r} has no attribute {name!r}")
        warn(f"ConceptKB.{name} is called {new} now", DeprecationWarning, stacklevel=2)
        return getattr(self, new)

    def __len__(self) -> int:
        return self._live.n_concepts

    def __iter__(self) -> Iterator[Concept]:
        return map(self.__getitem__, self._live.ids())

    def __contains__(self, concept_id: object) -> bool:
        return isinstance(concept_id, str) and self.resolve(concept_id) is not None

    def __getitem__(self, concept_id: str) -> Concept:
        """Look up a concept.

        concept_id (str): its identifier, or an alternate one.
        RETURNS (Concept): the concept.
        RAISES (AngelError): where there is none.
        """
        concept = self._live.concept(self._resolved(concept_id))
        assert concept is not None
        return concept

    def get(self, concept_id: str, default: Concept | None = None) -> Concept | None:
        """concept_id (str): an identifier, or an alternate one. default (Concept | None): where
        there is no such concept. RETURNS (Concept | None): the concept."""
        own = self.resolve(concept_id)
        return default if own is None else self[own]

    def __repr__(self) -> str:
        place = "in memory" if self.path is None else f"from {str(self.path)!r}"
        return f"<ConceptKB: {len(self):,} concepts, {self.n_names:,} names, {place}>"

    @property
    def n_names(self) -> int:
        """RETURNS (int): name indices run from 0 to this, without it; names removed since the
        vocabulary was opened keep theirs."""
        return self._live.n_names

    @property
    def counts(self) -> dict[str, int]:
        """RETURNS (dict[str, int]): `concepts`, `names` in normal form and `spellings`, as the
        vocabulary is now; `meta["counts"]` has those that were stored, and more."""
        return self._live.counts(self._meta["counts"])

    @property
    def types(self) -> frozenset[str]:
        """RETURNS (frozenset[str]): all semantic types."""
        return self._live.types

    @property
    def meta(self) -> dict[str, Any]:
        """RETURNS (dict[str, Any]): plain values: `shared_names`; the rule of `build(suffixes=)`
        under its older key, where names of several concepts have some; `fingerprint` of the names;
        `counts` as last stored; `sources`; `steps`, those since then included; `frequencies` of
        concepts, where mentions of a corpus were added; `own_names` by identifier, see there; where
        it was opened from a folder also `kind`, `version` and `columns` with their checksums."""
        meta = deepcopy(self._meta)
        meta.pop("own_names", None)
        if self._edits.names:
            meta["own_names"] = deepcopy(self._edits.names)
        if self._edits.counts:
            meta["steps"].append({"step": "edit", **self._edits.counts})
        return meta

    def resolve(self, concept_id: str) -> str | None:
        """concept_id (str): any identifier. RETURNS (str | None): the identifier of the concept
        whose own it is, else of the first that has it as an alternate."""
        return self._live.resolve(concept_id)

    def types_of(self, concept_id: str) -> tuple[str, ...]:
        """concept_id (str): own identifier of a concept. RETURNS (tuple[str, ...]): its types;
        empty where there is no such concept."""
        return self._live.types_of(concept_id)

    def ids_of_types(self, types: Collection[str]) -> frozenset[str]:
        """types (Collection[str]): semantic types. RETURNS (frozenset[str]): own identifiers of the
        concepts that have one of them."""
        return self._live.ids_of_types(types)

    def ids_below(self, concept_id: str) -> frozenset[str]:
        """Concepts of a subtree.

        concept_id (str): an identifier of its root.
        RETURNS (frozenset[str]): own identifiers of the root and of all that stand below it by
            their tree numbers; of the root alone in a vocabulary without such.
        RAISES (AngelError): where there is no such concept.
        """
        return self._live.ids_below(self._resolved(concept_id))

    @property
    def has_trees(self) -> bool:
        """RETURNS (bool): whether concepts have tree numbers, so that there are subtrees."""
        return self._table.has_trees

    def reading(self) -> AbstractContextManager[None]:
        """RETURNS (AbstractContextManager[None]): a block in which the vocabulary stays as it is:
        what another thread adds or removes meanwhile waits for its end. Linkers link in one."""
        return self._lock.reading()

    @property
    def version(self) -> int:
        """RETURNS (int): grows with every change while running."""
        return self._live.version

    @property
    def own_types(self) -> frozenset[str]:
        """RETURNS (frozenset[str]): semantic types that no concept has but such as `add` brought,
        now or before the vocabulary was saved."""
        return self._edits.types

    @property
    def own_names(self) -> list[int]:
        """RETURNS (list[int]): indices of the names that `add` and `add_names` brought, now or
        before the vocabulary was saved, each once; those that are gone are left out."""
        return self._edits.name_indices()

    def name(self, i: int) -> str:
        """i (int): name index. RETURNS (str): the name in normal form."""
        return self._live.name(i)

    def spelling(self, i: int) -> str:
        """i (int): name index. RETURNS (str): the name as its source writes it, for display."""
        return self._live.spelling(i)

    def spellings_of(self, i: int) -> list[str]:
        """i (int): name index. RETURNS (list[str]): all ways in which its concepts write it."""
        return self._live.spellings_of(i)

    @property
    def suffixes(self) -> SuffixRule | None:
        """RETURNS (SuffixRule | None): what distinguishes the concepts of one name, see `build`."""
        return None if self._suffixes is None else self._suffixes.rule

    @property
    def species_reader(self) -> SpeciesReader | None:
        """RETURNS (SpeciesReader | None): finds in texts what distinguishes concepts of one name;
        None where the vocabulary has no suffixes."""
        if self._species_reader is None and self._suffixes is not None:
            with COMPILING:
                self._species_reader = self._species_reader or SpeciesReader(
                    self._suffixes, self._live
                )
        return self._species_reader

    def species_ranks(self, concept_ids: Sequence[str], species_context: str) -> tuple[int, ...]:
        """concept_ids (Sequence[str]): concepts. species_context (str): what the document says, see
        `SpeciesReader.context_of`. RETURNS (tuple[int, ...]): of each, see `SpeciesReader.rank`;
        empty without suffixes."""
        if (species_reader := self.species_reader) is None:
            return ()
        return tuple(
            species_reader.rank(self._live.types_of(c), species_context) for c in concept_ids
        )

    def concept_ids_of(self, i: int, suffix: str | None = None) -> list[str]:
        """i (int): name index. suffix (str | None): one of `suffixes_of`; None: any.
        RETURNS (list[str]): identifiers of the concepts that the name leads to, the best
        first: those whose canonical name it is, then those that are more frequent in the corpora
        of `add_mentions`, then in the order of the vocabulary; empty where it was removed."""
        if suffix is None:
            return self._live.concept_ids_of(i)
        return self.suffixes_of(i).get(suffix, [])

    def suffixes_of(self, i: int) -> dict[str, list[str]]:
        """i (int): name index. RETURNS (dict[str, list[str]]): the concepts that it leads to by
        what distinguishes them; under an empty suffix those to which the name alone leads."""
        if self._suffixes is not None:
            return self._suffixes.of(i)
        concept_ids = self._live.concept_ids_of(i)
        return {"": concept_ids} if concept_ids else {}

    def written(self, i: int, suffix: str | None = None) -> str:
        """i (int): name index. suffix (str | None): one of `suffixes_of`. RETURNS (str): what a
        model writes, e.g. `tp53 | homo sapiens`."""
        return with_suffix(self._live.name(i), suffix)

    def written_for(self, i: int, concept_id: str) -> str:
        """i (int): name index. concept_id (str): one of its concepts, by its own identifier.
        RETURNS (str): the name with the suffix that leads to it."""
        by_suffix = self.suffixes_of(i)
        return self.written(
            i, next((text for text, ids in by_suffix.items() if concept_id in ids), "")
        )

    def names_of(self, concept_id: str) -> list[int]:
        """Names that lead to a concept.

        concept_id (str): its identifier, or an alternate one.
        RETURNS (list[int]): name indices, each once, the canonical name first.
        RAISES (AngelError): where there is no such concept.
        """
        return self._live.names_of(self._resolved(concept_id))

    def is_second_name(self, i: int, concept_id: str) -> bool:
        """i (int): name index. concept_id (str): one of its concepts. RETURNS (bool): whether it
        follows the canonical name, as the full name of a gene follows its symbol."""
        return self._live.names_of(concept_id)[1:2] == [i]

    def scope_of(self, i: int, concept_id: str) -> str:
        """i (int): name index. concept_id (str): one of its concepts, by its own identifier.
        RETURNS (str): how the name belongs to it, see `concepts.SCOPES`: the nearest of what its
        sources say of its spellings; empty where they say nothing."""
        return self._live.scope_of(i, concept_id)

    @property
    def scope_counts(self) -> dict[str, int]:
        """RETURNS (dict[str, int]): how many spellings have each scope, as last stored; empty
        where the sources give none, or the vocabulary was built before they were kept."""
        return self._table.scope_counts()

    def find(self, name: str) -> list[Concept]:
        """name (str): in any spelling. RETURNS (list[Concept]): the concepts that it leads to, as
        `concept_ids_of` orders them; none where it is no name of the vocabulary."""
        i = self.name_index(name)
        return [] if i is None else [self[concept_id] for concept_id in self.concept_ids_of(i)]

    def name_index(self, name: str) -> int | None:
        """name (str): in any spelling. RETURNS (int | None): index of its normal form."""
        return self._live.find_name(normalize_name(name))

    @property
    def cui_to_entity(self) -> Mapping[str, Concept]:
        """RETURNS (Mapping[str, Concept]): concepts by identifier, as scispaCy's `linker.kb`."""
        return ConceptsById(self)

    @property
    def alias_to_cuis(self) -> Mapping[str, set[str]]:
        """RETURNS (Mapping[str, set[str]]): identifiers by name as its source writes it, as
        scispaCy's `linker.kb`."""
        return IdsBySpelling(self)

    def add(self, concept: Concept | Iterable[Concept]) -> None:
        """Add concepts while running.

        concept (Concept | Iterable[Concept]): a new one, or several.
        RAISES (AngelError): where an identifier is empty, or another concept's own, or a field is
            not of its type; nothing is changed then.
        """
        concepts = tidy_concepts(concept)
        with self._lock.changing():
            self._edits.add(concepts)

    def add_names(self, concept_id: str, names: Iterable[str]) -> None:
        """Give a concept further names while running; those it has are passed over.

        concept_id (str): its identifier, or an alternate one.
        names (Iterable[str]): in any spelling.
        RAISES (AngelError): where there is no such concept, or `names` is one text or holds
            something else; nothing is changed then.
        """
        with self._lock.changing():
            self._edits.add_names(self[concept_id], names)

    def remove(self, concept_id: str) -> None:
        """Remove a concept while running; names that it alone has go with it.

        concept_id (str): its identifier, or an alternate one.
        RAISES (AngelError): where there is no such concept.
        """
        with self._lock.changing():
            self._edits.remove(self._resolved(concept_id))

    def remove_name(self, concept_id: str, name: str) -> None:
        """Take a name from a concept while running, in all its spellings. After the canonical
        name the first alias becomes canonical.

        concept_id (str): its identifier, or an alternate one.
        name (str): in any spelling.
        RAISES (AngelError): where there is no such concept, or it has no such name or no other.
        """
        with self._lock.changing():
            self._edits.remove_name(self[concept_id], name)

    def rename(self, concept_id: str, name: str, old: str | None = None) -> None:
        """Rename a concept while running, or spell one of its names in another way.

        concept_id (str): its identifier, or an alternate one.
        name (str): becomes canonical, and the name that was it an alias; with `old` takes the
            place of that name.
        old (str | None): a name of the concept; all its spellings go.
        RAISES (AngelError): where there is no such concept, it has no name `old`, or the new one is
            blank.
        """
        with self._lock.changing():
            self._edits.rename(self[concept_id], name, old)

    def apply(self, rules: Sequence[Rule]) -> None:
        """Lay rules over the vocabulary while running: concepts and names that they give it or take
        from it, as `add`, `add_names`, `rename`, `remove_name` and `remove` do.

        rules (Sequence[Rule]): those that say something of mentions alone (with a label, `case`,
            `not-mention` …) are passed over: they belong into the linker's setting `curation`.
        """
        own = list(filter(is_of_vocabulary, rules))
        with self._lock.changing():
            change_concepts(self, own)
            remove_excluded(self, own)

    def add_mentions(self, mentions: Iterable[tuple[str, str]], source: str) -> dict[str, Any]:
        """Add the mention strings of a training corpus as names, a published practice of the
        NCBI-disease benchmark; the step is recorded in the metadata, and how often each concept
        was meant, by which concepts of one name are distinguished.

        mentions (Iterable[tuple[str, str]]): identifier of a gold concept, text of the mention.
        source (str): the corpus, for the record.
        RETURNS (dict[str, Any]): the record: names added, mentions whose identifier is unknown.
        """
        with self._lock.changing():
            texts: dict[str, list[str]] = {}
            unknown = 0
            for concept_id, text in mentions:
                if (own := self.resolve(concept_id)) is None:
                    unknown += 1
                else:
                    texts.setdefault(own, []).append(text)
            added = sum(
                len(self._edits.put_names(self[own], names)) for own, names in texts.items()
            )
            step = {
                "step": "add_mentions",
                "source": source,
                "added_names": added,
                "unknown_mentions": unknown,
            }
            self._meta["steps"] = [*self._meta["steps"], step]
            counts = Counter(self._meta.get("frequencies", {}))
            counts.update({own: len(names) for own, names in texts.items()})
            self._meta["frequencies"] = self._live.frequencies = dict(counts)
        return step

    def subset(
        self,
        types: Collection[str] | str | None = None,
        concept_ids: Collection[str] | str | None = None,
        *,
        free_types: Collection[str] = (),
        excluded: Collection[str] = (),
    ) -> Subset:
        """Choose a part of the vocabulary for the search.

        types (Collection[str] | str | None): concepts with one of these semantic types, and those
            that have none, of which nobody knows that they are something else; one may be given
            alone; None: any.
        concept_ids (Collection[str] | str | None): these concepts, or one, alternate identifiers
            resolve; None: all. With both, a concept must meet both.
        free_types (Collection[str]): say nothing about a concept: one that has no others is taken
            as one without types.
        excluded (Collection[str]): concepts that are not in, by their own identifiers.
        RETURNS (Subset): for `search_space`.
        RAISES (AngelError): where a type or an identifier is unknown.
        """
        types = (types,) if isinstance(types, str) else types
        concept_ids = (concept_ids,) if isinstance(concept_ids, str) else concept_ids
        if unknown := sorted(set(types or ()) - self.types):
            known = sorted(self.types)
            raise AngelError(
                f"The vocabulary has no concepts of the types {unknown}. Its types: {known}."
            )
        own = None if concept_ids is None else frozenset(map(self._resolved, concept_ids))
        wanted = None if types is None else frozenset(types)
        return Subset(wanted, own, self._live, frozenset(free_types), frozenset(excluded))

    def search_space(
        self, tokenizer: NameTokenizer, subsets: Sequence[Subset | None] = (None,)
    ) -> SearchSpace:
        """Compile what has to be compiled, and nothing that was before.

        The trie of the stored names is kept in memory and, where the folder can be written, in
        `tries/` of it by fingerprint of tokenizer and names; names added since are a second trie.

        tokenizer (NameTokenizer): the model's, e.g. a `PromptEncoder`.
        subsets (Sequence[Subset | None]): what mentions will be limited to; None: everything.
        RETURNS (SearchSpace): the tries, and a mask a subset in the same order.
        RAISES (AngelError): where a subset belongs to another vocabulary.
        """
        return self._spaces.space(tokenizer, subsets)

    def to_disk(self, path: Path | str) -> None:
        """Write the vocabulary, changes included, with the tries in use where they still fit.

        path (Path | str): folder; a vocabulary that stands there is replaced.
        RAISES (AngelError): where something else stands there.
        """
        path = Path(path)
        with self.reading():
            stored = self._compacted()
        write_folder(path, KIND, VERSION, stored._table.columns, stored._meta)
        if stored is self:
            self._spaces.to_disk(path / TRIES)
            for lookup in self._lookups:
                lookup.to_disk(path / TRIES)
        elif self.path is not None and path.resolve() == self.path.resolve():
            # what is mapped is no longer what the folder holds
            self.path = self._spaces.folder = None
            for lookup in self._lookups:
                lookup.folder = None

    @classmethod
    def from_disk(cls, path: Path | str, *, rules: bool = True) -> "ConceptKB":
        """Open a stored vocabulary by mapping its files.

        path (Path | str): its folder.
        rules (bool): lay the rules of `rules.tsv` in the folder over it, see `apply`; where not, it
            is as it was built.
        RETURNS (ConceptKB): the vocabulary.
        RAISES (AngelError): where the folder is missing, foreign or damaged. Folders over 64 MB
            are not read whole for that; `verify` does it.
        """
        path = Path(path)
        columns, meta = open_folder(path, KIND, VERSION, COLUMNS, OPTIONAL_COLUMNS)
        kb = cls(_table(columns, meta, path), meta, path)
        if rules and (path / RULES).is_file():
            found = read_rules(path / RULES)
            found.warn(str(path / RULES))
            kb.apply(found.rules)
            kb._opened = (kb.version, digest_of(found.rules))
        return kb

    def to_bytes(self) -> bytes:
        """RETURNS (bytes): the vocabulary, changes included, without tries."""
        with self.reading():
            stored = self._compacted()
        return pack(KIND, VERSION, stored._table.columns, stored._meta)

    @classmethod
    def from_bytes(cls, data: bytes) -> "ConceptKB":
        """Read what `to_bytes` made.

        data (bytes): the byte string.
        RETURNS (ConceptKB): the vocabulary, in memory.
        RAISES (AngelError): where the bytes are cut, damaged or something else.
        """
        columns, meta = unpack(data, KIND, VERSION, COLUMNS, OPTIONAL_COLUMNS)
        return cls(_table(columns, meta, Path("<bytes>")), meta)

    @staticmethod
    def verify(path: Path | str) -> None:
        """Compare every byte of a stored vocabulary and its tries with the checksums.

        path (Path | str): its folder.
        RAISES (AngelError): names the file that differs.
        """
        verify_folder(Path(path), KIND, VERSION, COLUMNS, OPTIONAL_COLUMNS)
        for meta in sorted(Path(path).glob(f"{TRIES}/*/{META}")):
            verify_one_of(meta.parent, _COMPILED)

    def _resolved(self, concept_id: str) -> str:
        if (own := self.resolve(concept_id)) is None:
            raise AngelError(
                f"{concept_id!r} is not in this vocabulary. Identifiers look like `MESH:D003920`."
            )
        return own

    def _compacted(self) -> "ConceptKB":
        if self._live.version == 0:
            return self
        meta = self.meta
        return ConceptKB.build(
            self,
            shared_names=meta["shared_names"],
            suffixes=meta.get("endings"),
            sources=meta["sources"],
            steps=meta["steps"],
            frequencies=meta.get("frequencies", {}),
            own_names=meta.get("own_names", {}),
        )


def _reopen(path: Path, meta: dict[str, Any], opened: tuple[int, str]) -> ConceptKB:
    """RETURNS (ConceptKB): the vocabulary of a folder, as it was when it was pickled."""
    kb = ConceptKB.from_disk(path, rules=bool(opened[0]))
    if kb._meta["columns"] != meta["columns"] or kb._opened != opened:
        raise AngelError(
            f"The vocabulary in {path} was rewritten since it was opened. Open it again."
        )
    kb._meta = meta
    return kb


def _table(columns: Mapping[str, np.ndarray], meta: Mapping[str, Any], path: Path) -> ConceptTable:
    if problem := problem_of(meta, get_args(SuffixRule)):
        raise AngelError(f"{path / META} is damaged: {problem}. Build it again.")
    return ConceptTable(dict(columns), meta["shared_names"])
