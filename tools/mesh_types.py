"""The letter of MeSH's tree for descriptors that have no tree number in the table at hand.

Four kinds of evidence, each held against the descriptors that have a number, and refused where it
agrees with too few of them: tables that list identifiers of MeSH for one kind of thing,
vocabularies of one kind with a name of the descriptor, mappings to such, and the words with which
names of one tree begin and end.
"""

import gzip
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from spacy_angel.vocabulary.concepts import Concept
from spacy_angel.vocabulary.formats.registry import read_vocabulary
from spacy_angel.vocabulary.mappings import Mappings

LEAST_AGREEMENT = 0.97
# Tables of diseases hold mental disorders as well, which MeSH has in another tree.
_ALSO = {"C": frozenset({"F"})}
_TREE_OF_PREFIX = {"MONDO": "C", "DOID": "C", "CHEBI": "D", "CL": "A"}
_DESCRIPTOR = re.compile(r"\b(?:MESH:)?(D\d{6,9})\b", re.ASCII | re.IGNORECASE)
# A rule about the words of names holds for so many descriptors that have a number, and nearly all.
_LEAST_NAMES = 20
_LEAST_SHARE = 0.995


@dataclass
class TypeEvidence:
    """What speaks for a tree.

    trees (dict[str, set[str]]): identifier of a descriptor to letters.
    agreement (dict[str, str]): of each piece of evidence, on how many descriptors that have a
        number it agrees, e.g. `4,663 of 4,663`.
    """

    trees: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    agreement: dict[str, str] = field(default_factory=dict)


def find_trees(
    descriptors: Iterable[Concept],
    *,
    identifiers: Mapping[Path, str],
    names: Mapping[Path, str],
    mappings: Iterable[Path],
) -> TypeEvidence:
    """Find the tree of descriptors without a number.

    descriptors (Iterable[Concept]): all; types are letters and branches of their numbers.
    identifiers (Mapping[Path, str]): tables that name descriptors of one tree, and its letter.
    names (Mapping[Path, str]): vocabularies whose names, in any case, are those of one tree.
    mappings (Iterable[Path]): SSSOM tables with MONDO, DOID, CHEBI or CL on the other side.
    RETURNS (TypeEvidence): see there; only descriptors without a number for which all that is known
        speaks for one tree.
    """
    by_id = {concept.concept_id: concept for concept in descriptors}
    evidence = TypeEvidence()
    for path, tree in identifiers.items():
        listed = (f"MESH:{code.upper()}" for code in _DESCRIPTOR.findall(_text(path)))
        _take(evidence, by_id, path.name, dict.fromkeys(listed, tree))
    for path, tree in names.items():
        known = {name.lower() for concept in read_vocabulary(path) for name in concept.names}
        of_tree = (i for i, c in by_id.items() if any(n.lower() in known for n in c.names))
        _take(evidence, by_id, path.name, dict.fromkeys(of_tree, tree))
    for path in mappings:
        mapped: dict[str, dict[str, str]] = defaultdict(dict)
        for concept in Mappings(path).added_to(by_id.values()):
            for other in concept.alternate_ids:
                if (prefix := other.partition(":")[0]) in _TREE_OF_PREFIX:
                    mapped[prefix][concept.concept_id] = _TREE_OF_PREFIX[prefix]
        for prefix, found in mapped.items():
            _take(evidence, by_id, f"{path.name}, {prefix}", found)
    _take(evidence, by_id, "ends of first names", _by_words(by_id.values(), _ends))
    # What all names begin and end with says more and is less sure: it comes where nothing else is.
    open_ones = [c for i, c in by_id.items() if c.types or i not in evidence.trees]
    _take(evidence, by_id, "words of all names", _by_words(open_ones, _words))
    one = {i: trees for i, trees in evidence.trees.items() if len(trees) == 1}
    return TypeEvidence(one, evidence.agreement)


def _take(
    evidence: TypeEvidence, by_id: Mapping[str, Concept], name: str, trees: Mapping[str, str]
) -> None:
    """Take a piece of evidence where it agrees with the numbers that are known."""
    known = [(by_id[i], tree) for i, tree in trees.items() if i in by_id and by_id[i].types]
    n_right = sum(bool({tree, *_ALSO.get(tree, ())} & set(c.types)) for c, tree in known)
    taken = n_right >= LEAST_AGREEMENT * len(known) > 0
    evidence.agreement[name] = f"{n_right:,} of {len(known):,}" + ("" if taken else ", not taken")
    for i, tree in trees.items() if taken else ():
        if i in by_id and not by_id[i].types:
            evidence.trees[i].add(tree)


def _by_words(
    descriptors: Iterable[Concept], words_of: Callable[[Concept], set[str]]
) -> dict[str, str]:
    """Trees by words of names, learned from the descriptors that have a number.

    RETURNS (dict[str, str]): those for which all rules speak for one tree. Each half of the
        descriptors with a number is told by the rules of the other, so that no rule is held
        against what it was learned from.
    """
    concepts = list(descriptors)
    numbered = [concept for concept in concepts if concept.types]
    untyped = [concept for concept in concepts if not concept.types]
    return {
        **_told(numbered[::2], numbered[1::2], words_of),
        **_told(numbered[1::2], numbered[::2], words_of),
        **_told(numbered, untyped, words_of),
    }


def _told(
    numbered: Iterable[Concept],
    others: Iterable[Concept],
    words_of: Callable[[Concept], set[str]],
) -> dict[str, str]:
    """Trees of the `others` by the rules that hold for the first."""
    seen: Counter[str] = Counter()
    of_tree: dict[str, Counter[str]] = defaultdict(Counter)
    for concept in numbered:
        letters = {name for name in concept.types if len(name) == 1}
        for words in words_of(concept):
            seen[words] += 1
            of_tree[words].update(letters)
    rules = {}
    for words, n in seen.items():
        tree, n_tree = of_tree[words].most_common(1)[0]
        if n >= _LEAST_NAMES and n_tree >= _LEAST_SHARE * n:
            rules[words] = tree
    found = {}
    for concept in others:
        trees = {rules[words] for words in words_of(concept) if words in rules}
        if len(trees) == 1:
            found[concept.concept_id] = trees.pop()
    return found


def _ends(concept: Concept) -> set[str]:
    """`Receptors, Nerve Growth Factor` ends, in its natural order, with `receptors`."""
    return _end(concept.canonical_name.split(", ")[0].lower().split())


def _words(concept: Concept) -> set[str]:
    """`Trefoil Factor` gives ` factor`, `trefoil factor`, `trefoil…`, `trefoil factor…`."""
    found: set[str] = set()
    for name in concept.names:
        words = _natural(name).lower().split()
        begins = (" ".join(words[:n]) for n in (1, 2) if len(words) >= n)
        found |= {*_end(words), *(f"{begin}…" for begin in begins)}
    return found


def _end(words: list[str]) -> set[str]:
    """The last word, the last two, and the last letters of a long one."""
    if not words:
        return set()
    ends = {f" {words[-1]}", " ".join(words[-2:])}
    if len(words[-1]) > 7:
        ends |= {f"…{words[-1][-n:]}" for n in (4, 5, 6)}
    return ends


def _natural(name: str) -> str:
    """`Receptors, Nerve Growth Factor` → `Nerve Growth Factor Receptors`; of several commas only
    what stands before the first is kept."""
    head, _, rest = name.partition(", ")
    return head if not rest or "," in rest else f"{rest} {head}"


def _text(path: Path) -> str:
    data = path.read_bytes()
    return (gzip.decompress(data) if path.suffix == ".gz" else data).decode("utf8")
