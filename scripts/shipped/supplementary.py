"""Which of MeSH's supplementary records ship beside its descriptors, and under which names.

There are more than 300,000 of them, mostly of substances and proteins that few texts speak of.
Taken are drugs (a name of DrugBank or RxNorm, or a pharmacological action in MeSH), chemicals that
a system has annotated in abstracts (ChemDisGene) or whose name stands in others, and diseases:
those that Mondo maps to, and those numbered among them. Each name is one concept's: a descriptor's
stays with it, of several records MeSH's own decides, and what still has several owners is left out.
"""

import gzip
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path

from build_training_data import graph
from mentioned import mentioned
from rapidfuzz.distance import OSA

from spacy_angel.corpora.documents import CorpusDocument
from spacy_angel.vocabulary.lookup.words import common_words
from spacy_angel.vocabulary.names.concepts import Concept, normalize_name
from spacy_angel.vocabulary.sources.formats.registry import read_vocabulary

_RECORDS = "chemical/mesh_supplementary_names_partial.tsv.gz"
_RXNORM = "rxnorm_prescribable_2025-10_ingredients_brands_noA.tsv.gz"
# Diseases, mental disorders, chemicals.
_TREES = frozenset({"C", "F03", "D"})
_RECORD = re.compile(r"MESH:C\d{6,9}")
# MeSH has genes' products of many species as records of their own; they are no drugs.
_PROTEIN = re.compile(r"\bprotein, |, (human|mouse|rat|bovine|[A-Z][a-z]+ [a-z]+)$")
# Longer ones are a structure in words, shorter ones stand for many things.
_LONGEST, _SHORTEST, _LONGEST_ABBREVIATION = 60, 5, 8
_MOST_DIGITS = 2
# Names of so many letters are as good as the same with two letters changed.
_LEAST_NEAR, _NEAR = 8, 2
# So many abstracts have a word.
_COMMON = 4
# A name that only texts have is taken where so many documents have it.
_LEAST_DOCUMENTS = 2
_LETTERS = re.compile(r"[^\W\d_]{3}")
# Of a thousand numbers so many are Mondo's diseases, and so few PubChem's substances for each.
_LEAST_DISEASES, _MOST_SUBSTANCES = 20, 0.1
# Words and names of people; and, since the tables lack what begins with A, brands of two substances
# one of which is paracetamol (acetaminophen), amlodipine, atropine or the like.
_WORDS = """
Compro Diskets Doral Esoterica Flanders Gallifrey Halls Julie Nikita Perform Prolate React
Schiff Skyla Sojourn Tabloid Terrell Thrive Twilite Vanquish
"""
_OF_TWO = """
Acetadryl Adderall Airsupra Akeega Allzital Anacin Articadent Avycaz Bupap Coartem Combivent
Combogesic Consensi Contragesic Duodote Duzallo Dymista Edarbyclor Endocet Enlon-Plus Epiduo
Epzicom Evotaz Excedrin Exforge Gaviscon Hycet Kazano Lomotil Lorcet Lortab Lotrel Malarone
Motofen Mydayis Nalocet Norco Orabloc Oseni Pep-Back Percocet Prestalia Primlev Relagesic
Septocaine Tencon Tenoretic Twynsta Ultacan Ultracet Unasyn Xerese Yosprala Zorcaine
"""
_NO_BRANDS = frozenset((_WORDS + _OF_TWO).split())
_BRAND = re.compile(r"[A-Z][A-Za-z]+(-[A-Za-z]+)*")
_SHORTEST_BRAND = 5
# A name is looked for in texts if it has so many characters.
_LEAST_CHARACTERS = 6


@dataclass
class _Names:
    """Names by identifier (`MESH:C…`, `MESH:D…`): MeSH's own, those of other vocabularies, and what
    texts say and in how many documents; and, in lower case, what is a drug's name."""

    own: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    further: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    said: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    drugs: set[str] = field(default_factory=set)


def supplementary(
    descriptors: Iterable[Concept],
    vocab: Path,
    annotated: Iterable[CorpusDocument],
    texts: Iterable[str],
) -> Iterator[Concept]:
    """Find the records, and what is to be added to descriptors of diseases and chemicals.

    descriptors (Iterable[Concept]): those that ship, with all their names.
    vocab (Path): folder with `chemical/` and `disease/`, see `model_card`.
    annotated (Iterable[CorpusDocument]): abstracts with identifiers of chemicals in MeSH.
    texts (Iterable[str]): others.
    YIELDS (Concept): a record with its names and tree; or a descriptor's identifier and name with
        further names, and with the records as alternate identifiers whose name it has.
    """
    by_id = {concept.concept_id: concept for concept in descriptors}
    owners = {normalize_name(name): c.concept_id for c in by_id.values() for name in c.names}
    known = {c.concept_id: c for c in by_id.values() if _TREES.intersection(c.types)}
    names = _Names()
    actions = set(_read_records(vocab, names))
    rows = _rows(vocab / "chemical/pubchem_mesh_map.tsv.gz")
    substances = [(code, f"MESH:{record}") for code, record in rows]
    diseases = set(filter(_RECORD.fullmatch, _mapped_diseases(vocab, names)))
    diseases |= _numbered_among(diseases, {record for _, record in substances}, names)
    chemicals = {*_annotated(annotated, names), *_said(texts, names)}
    names.own.update((i, [*concept.names]) for i, concept in known.items())
    chemicals |= actions | {*_drugs(vocab / "chemical", names)}
    chemicals -= diseases | {*known}
    _substances(vocab / "chemical", substances, chemicals, names)
    kept = _one_owner(diseases | chemicals | {*known}, names, owners)
    replaced: dict[str, list[str]] = defaultdict(list)
    for record in sorted(diseases | chemicals):
        same = {owners.get(normalize_name(name)) for name in names.own.get(record, ())} - {None}
        if len(same) == 1:
            replaced[str(same.pop())].append(record)
        elif not same and kept[record]:
            # MeSH's own name stays the canonical one, even where another record has it, too.
            first, *others = dict.fromkeys((*names.own.get(record, ())[:1], *kept[record]))
            tree = "C" if record in diseases else "D"
            yield Concept(record, first, tuple(others), (tree,))
    for i, concept in by_id.items():
        if replaced[i] or kept.get(i):
            more = tuple(kept.get(i, ()))
            yield replace(concept, aliases=more, alternate_ids=tuple(replaced[i]))


def brands(concepts: Iterable[Concept], folder: Path) -> Iterator[Concept]:
    """Give drugs their brands, where a brand has one ingredient.

    concepts (Iterable[Concept]): descriptors and records.
    folder (Path): with RxNorm's `rxnorm_*` tables.
    YIELDS (Concept): identifier and name of a drug, the brands as aliases.
    """
    by_id = {concept.concept_id: concept for concept in concepts}
    owners = defaultdict(set)
    for concept in by_id.values():
        for name in concept.names:
            owners[normalize_name(name)].add(concept.concept_id)
    named = {code: (kind, name) for code, kind, name in _rows(folder / _RXNORM)}
    ingredients = defaultdict(set)
    for brand, code in _rows(folder / "rxnorm_brand_to_ingredient_noA.tsv.gz"):
        kind, name = named.get(code, ("", code))
        # A precise ingredient (PIN) is a salt of an ingredient (IN) beside it.
        if kind != "PIN":
            ingredients[brand].add(name)
    of_concept: dict[str, set[str]] = defaultdict(set)
    for code, parts in ingredients.items():
        kind, brand = named.get(code, ("", ""))
        ids = [i for part in parts for i in owners[normalize_name(part)]]
        if kind != "BN" or len(parts) > 1 or len(ids) != 1 or owners[normalize_name(brand)]:
            continue
        is_name = _BRAND.fullmatch(brand) and len(brand) >= _SHORTEST_BRAND
        if is_name and brand not in _NO_BRANDS and "D" in by_id[ids[0]].types:
            of_concept[ids[0]].add(brand)
    for concept_id, found in of_concept.items():
        yield Concept(concept_id, by_id[concept_id].canonical_name, tuple(sorted(found)))


def old_identifiers(
    descriptors: Iterable[Concept], vocab: Path, documents: Iterable[CorpusDocument]
) -> Iterator[Concept]:
    """Find the records that have become descriptors since a corpus was annotated.

    descriptors (Iterable[Concept]): those that ship.
    vocab (Path): folder with the records that still are.
    documents (Iterable[CorpusDocument]): annotated with MeSH of an earlier year.
    YIELDS (Concept): a descriptor with the records that it replaced: those whose mentions, where
        they are a chemical's name, are names of it alone.
    """
    rows = _rows(vocab / _RECORDS)
    still = {f"MESH:{code}" for code, _ in rows}
    chemicals = [concept for concept in descriptors if "D" in concept.types]
    owners = {normalize_name(name): c for c in chemicals for name in c.names}
    found: dict[str, dict[str, Concept]] = defaultdict(dict)
    for document in documents:
        for mention in document.mentions:
            record, concept = mention.concept_ids, owners.get(normalize_name(mention.text))
            if _RECORD.fullmatch(record) and concept and record not in still:
                found[record][concept.concept_id] = concept
    for record, concepts in found.items():
        if len(concepts) == 1:
            (concept,) = concepts.values()
            yield replace(concept, aliases=(), alternate_ids=(record,))


def _read_records(vocab: Path, names: _Names) -> Iterator[str]:
    """Read MeSH's own names of records. YIELDS (str): those that have a pharmacological action."""
    acting = vocab.parent / "more/vocab/mesh_2024_pharm_action_substances.tsv.gz"
    with_actions = [row[:2] for row in _rows(acting) if row[0].startswith("C")]
    for code, name in (*_rows(vocab / _RECORDS), *with_actions):
        own = names.own[f"MESH:{code}"]
        if not _PROTEIN.search(name) and normalize_name(name) not in map(normalize_name, own):
            own.append(name)
    for code, _ in with_actions:
        if names.own[f"MESH:{code}"]:
            yield f"MESH:{code}"


def _mapped_diseases(vocab: Path, names: _Names) -> Iterator[str]:
    """Records and descriptors that Mondo says to be diseases; its label, and names of what it maps
    to in ORDO, NCIt and DOID, become theirs."""
    folder = vocab / "disease"
    others = {
        concept.concept_id.rsplit(":", 1)[-1].rsplit("_", 1)[-1]: concept
        for concept in chain(
            graph(folder / "ordo-2_6-2018-07-12.json.gz", "ORDO"),
            graph(folder / "ncit-disease-2018-06-08.json.gz", "NCIT"),
        )
    }
    others |= {c.concept_id: c for c in read_vocabulary(vocab.parent / "doid/doid.obo")}
    same: dict[str, list[str]] = defaultdict(list)
    for name in ("orphanet", "ncit", "doid"):
        for row in _exact(folder / f"mondo_{name}.sssom.tsv.gz"):
            code = row[3] if name == "doid" else row[3].rsplit(":", 1)[-1]
            same[row[0]].extend(others[code].names if code in others else ())
    labels = dict(_rows(folder / "mondo_2026_labels.tsv.gz"))
    for row in _exact(folder / "mondo_mesh.sssom.tsv.gz"):
        record = row[3].upper()
        names.further[record] += [labels.get(row[0], row[1]), *same[row[0]]]
        yield record


def _exact(path: Path) -> Iterator[list[str]]:
    return (row for row in _rows(path) if row[2:3] == ["skos:exactMatch"])


def _drugs(folder: Path, names: _Names) -> Iterator[str]:
    """Records with a drug's name; all names of that drug become theirs."""
    by_name = defaultdict(set)
    for record, own in names.own.items():
        for name in own:
            by_name[normalize_name(name)].add(record)
    drugs = read_vocabulary(folder / "drugbank_vocabulary_CC0.csv.gz")
    table = _rows(folder / _RXNORM)
    ingredients = (Concept("RXNORM:" + row[0], row[2]) for row in table if row[1] == "IN")
    for drug in chain(drugs, ingredients):
        names.drugs.add(drug.canonical_name.lower())
        records = {r for name in drug.names for r in by_name[normalize_name(name)]}
        if len(records) == 1:
            names.further[min(records)].extend(drug.names)
        yield from records


def _annotated(documents: Iterable[CorpusDocument], names: _Names) -> Iterator[str]:
    """Records of chemicals in documents."""
    for document in documents:
        mentions = {
            (mention.concept_ids, mention.text.lower())
            for mention in document.mentions
            if mention.label == "Chemical"
        }
        for concept_id, text in sorted(mentions):
            names.said[concept_id][text] += 1
            if _RECORD.fullmatch(concept_id):
                yield concept_id


def _said(texts: Iterable[str], names: _Names) -> set[str]:
    """Records whose name, in normal form, stands in a text."""
    forms: dict[str, str] = {}
    for record, own in names.own.items():
        forms |= dict.fromkeys(map(normalize_name, own), record)
    long = (form for form in forms if len(form) >= _LEAST_CHARACTERS)
    return {forms[form] for form in mentioned(long, texts)}


def _numbered_among(diseases: set[str], substances: set[str], names: _Names) -> set[str]:
    """Records with a number between those of diseases: MeSH got the rare ones in a few goes."""
    n_diseases = Counter(record[:-3] for record in diseases)
    n_substances = Counter(record[:-3] for record in substances)
    thousands = {
        thousand
        for thousand, n in n_diseases.items()
        if n >= _LEAST_DISEASES and n_substances[thousand] <= _MOST_SUBSTANCES * n
    }
    return {record for record in names.own if record[:-3] in thousands}


def _substances(
    folder: Path, mapped: Iterable[Sequence[str]], records: set[str], names: _Names
) -> None:
    """Names of PubChem for records that name a substance there."""
    substances: dict[str, list[str]] = defaultdict(list)
    for name, code in _rows(folder / "clulab_PubChem.tsv.gz"):
        substances[code].append(name)
    for code, record in mapped:
        if record in records:
            names.further[record] += sorted(substances[code], key=_rank(names.said[record]))


def _one_owner(
    records: set[str], names: _Names, descriptors: Mapping[str, str]
) -> dict[str, list[str]]:
    """The names of each record that are its alone and no descriptor's. Whose a name
    is, MeSH's own decide, else others, else what most texts call a record."""
    said = {}
    for record in records - {*names.own}:
        for text, n_documents in names.said[record].most_common(1):
            said[record] = [text] if n_documents >= _LEAST_DOCUMENTS else []
    claims: dict[str, set[str]] = {}
    for tier in (names.own, names.further, said):
        own: dict[str, set[str]] = defaultdict(set)
        for record in records:
            for name in tier.get(record, ()):
                own[normalize_name(name)].add(record)
        for form, several in own.items():
            told = {record for record in several if names.said[record][form]}
            claims.setdefault(form, told if len(told) == 1 else several)
    kept: dict[str, list[str]] = {}
    for record in sorted(records):
        forms = [normalize_name(name) for name in names.own.get(record, ())]
        alone = [
            name
            for name, form in zip(names.own.get(record, ()), forms, strict=True)
            if form and form not in descriptors and claims[form] == {record}
        ]
        for name in chain(names.further.get(record, ()), said.get(record, ())):
            form, known = normalize_name(name), name.lower()
            is_its_own = form not in descriptors and claims[form] == {record}
            is_told = known in names.said[record] or known in names.drugs or not _is_word(name)
            if is_its_own and is_told and _is_name(name) and not _is_near(form, forms):
                forms.append(form)
                alone.append(name)
        kept[record] = alone
    return kept


def _rank(said: Counter[str]) -> Callable[[str], tuple[int, bool, int]]:
    """What texts say most, then what is no structure in words (`Daidzein`, and not
    4',7-Dihydroxyisoflavone), then the short ones."""
    return lambda name: (-said[name.lower()], bool(re.search(r"[\d\W_]", name)), len(name))


def _is_near(form: str, forms: Iterable[str]) -> bool:
    """Among names in normal form, or so near to one by letters that linking needs no other."""
    edits = _NEAR if len(form) >= _LEAST_NEAR else 0
    return any(OSA.distance(form, other, score_cutoff=edits) <= edits for other in forms)


def _is_name(text: str) -> bool:
    """No abbreviation, which stands for much else, and no structure in digits."""
    is_short = len(text) <= _LONGEST_ABBREVIATION and text.isupper() and " " not in text
    is_structure = sum(map(str.isdigit, text)) > _MOST_DIGITS or not _LETTERS.search(text)
    return _SHORTEST <= len(text) <= _LONGEST and not is_short and not is_structure


def _is_word(text: str) -> bool:
    return common_words().get(text.lower(), 0) >= _COMMON or text in _NO_BRANDS


def _rows(path: Path) -> Iterator[list[str]]:
    with gzip.open(path, "rt", encoding="utf8", newline="") as file:
        for line in file:
            if not line.startswith("#"):
                yield line.rstrip("\r\n").split("\t")
