"""Choose the supplementary records of MeSH that ship beside its descriptors, and their names.

There are more than 300,000 of them, mostly substances and proteins that few texts mention. Chosen
are drugs (with a name in DrugBank or RxNorm, or a pharmacological action in MeSH), chemicals that
are annotated in abstracts (ChemDisGene) or named in other texts, and diseases (mapped by Mondo, or
numbered among these). Each name belongs to one concept: to the descriptor that has it, or else to
the record that has it in MeSH; names that still have several owners are left out.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path

from mentioned import mentioned
from mesh import rows
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
# MeSH has separate records for gene products of many species, which are not drugs.
_PROTEIN = re.compile(r"\bprotein, |, (human|mouse|rat|bovine|[A-Z][a-z]+ [a-z]+)$")
# Longer names describe a structure, shorter ones are ambiguous.
_LONGEST, _SHORTEST, _LONGEST_ABBREVIATION = 60, 5, 8
_MOST_DIGITS = 2
# From this length on, names that differ in two letters are considered equal.
_LEAST_NEAR, _NEAR = 8, 2
# Number of abstracts from which on a word is common.
_COMMON = 4
# A name found only in texts must be in this many documents.
_LEAST_DOCUMENTS = 2
_LETTERS = re.compile(r"[^\W\d_]{3}")
# Per 1,000 numbers: least number of diseases in Mondo, largest of PubChem substances per disease.
_LEAST_DISEASES, _MOST_SUBSTANCES = 20, 0.1
# Words and names of people; brands that combine another substance with an ingredient that begins
# with A, which the tables lack; and a drug conjugate that they list under its antibody, Enhertu.
_WORDS = """
Compro Diskets Doral Esoterica Flanders Gallifrey Halls Julie Lobster Nikita Perform Prolate React
Schiff Skyla Sojourn Tabloid Terrell Thrive Twilite Vanquish
"""
_OF_TWO = """
Acetadryl Adderall Airsupra Akeega Allzital Anacin Articadent Avycaz Bupap Coartem Combivent
Combogesic Consensi Contragesic Duodote Duzallo Dymista Edarbyclor Endocet Enlon-Plus Epiduo
Enhertu Epzicom Evotaz Excedrin Exforge Gaviscon Hycet Kazano Lomotil Lorcet Lortab Lotrel Malarone
Motofen Mydayis Nalocet Norco Orabloc Oseni Pep-Back Percocet Prestalia Primlev Relagesic
Septocaine Tencon Tenoretic Twynsta Ultacan Ultracet Unasyn Xerese Yosprala Zorcaine
"""
_NO_BRANDS = frozenset((_WORDS + _OF_TWO).split())
_BRAND = re.compile(r"[A-Z][A-Za-z]+(-[A-Za-z]+)*")
_SHORTEST_BRAND, _STEM = 5, 6
# `Teclistamab`, `Trastuzumab deruxtecan`; other names of two words are plants and vaccines.
_DRUG = re.compile(r"[A-Z][a-z]{5,}( (alfa|beta|pegol|[a-z]+(tecan|dotin|tox|leucel|parvovec)))?")
# Minimum number of characters of a name that is searched for in texts.
_LEAST_CHARACTERS = 6


@dataclass
class _Names:
    """Names by identifier (`MESH:C…`, `MESH:D…`): from MeSH, from other vocabularies, and from
    texts with their document frequencies; and the names of drugs, in lower case."""

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
    """Choose records, and find additional names of descriptors of diseases and chemicals.

    descriptors (Iterable[Concept]): the descriptors that ship, with all their names.
    vocab (Path): folder with `chemical/` and `disease/`, see `model_card`.
    annotated (Iterable[CorpusDocument]): abstracts with MeSH identifiers of chemicals.
    texts (Iterable[str]): other texts.
    YIELDS (Concept): a record with its names and tree; or a descriptor with additional names, and
        with the records that share its names as alternate identifiers.
    """
    by_id = {concept.concept_id: concept for concept in descriptors}
    owners = {normalize_name(name): c.concept_id for c in by_id.values() for name in c.names}
    known = {c.concept_id: c for c in by_id.values() if _TREES.intersection(c.types)}
    names = _Names()
    actions = set(_read_records(vocab, names))
    mapped = rows(vocab / "chemical/pubchem_mesh_map.tsv.gz")
    substances = [(code, f"MESH:{record}") for code, record in mapped]
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
            # The name in MeSH is canonical, even if another record has it as well.
            first, *others = dict.fromkeys((*names.own.get(record, ())[:1], *kept[record]))
            tree = "C" if record in diseases else "D"
            yield Concept(record, first, tuple(others), (tree,))
    for i, concept in by_id.items():
        if replaced[i] or kept.get(i):
            more = tuple(kept.get(i, ()))
            yield replace(concept, aliases=more, alternate_ids=tuple(replaced[i]))


def brands(concepts: Iterable[Concept], folder: Path) -> Iterator[Concept]:
    """Find brands of drugs that have a single ingredient.

    concepts (Iterable[Concept]): descriptors and records.
    folder (Path): folder with the `rxnorm_*` tables.
    YIELDS (Concept): a drug with its brands as aliases.
    """
    by_id = {concept.concept_id: concept for concept in concepts}
    owners = defaultdict(set)
    for concept in by_id.values():
        for name in concept.names:
            owners[normalize_name(name)].add(concept.concept_id)
    named = {code: (kind, name) for code, kind, name in rows(folder / _RXNORM)}
    ingredients = defaultdict(set)
    for brand, code in rows(folder / "rxnorm_brand_to_ingredient_noA.tsv.gz"):
        kind, name = named.get(code, ("", code))
        # A precise ingredient (PIN) is a salt of an ingredient (IN) that is also listed.
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


def newer_drugs(concepts: Iterable[Concept], folder: Path) -> Iterator[Concept]:
    """Find drugs that MeSH lacks: drugs in DrugBank that are ingredients in RxNorm.

    concepts (Iterable[Concept]): descriptors and records.
    folder (Path): folder with the tables of DrugBank and RxNorm.
    YIELDS (Concept): a drug with its identifier in DrugBank.
    """
    known = {normalize_name(name) for concept in concepts for name in concept.names}
    sold = {normalize_name(name) for _, kind, name in rows(folder / _RXNORM) if kind != "BN"}
    for drug in read_vocabulary(folder / "drugbank_vocabulary_CC0.csv.gz"):
        forms = {normalize_name(name) for name in drug.names}
        first = drug.canonical_name
        is_drug = _DRUG.fullmatch(first) and not _is_word(first)
        if is_drug and known.isdisjoint(forms) and not sold.isdisjoint(forms):
            # Other names may be those of a natural protein.
            stem = first[:_STEM].lower()
            aliases = tuple(n for n in drug.aliases if _is_name(n) and stem in n.lower())
            yield replace(drug, aliases=aliases, types=("D",))


def old_identifiers(
    descriptors: Iterable[Concept], vocab: Path, documents: Iterable[CorpusDocument]
) -> Iterator[Concept]:
    """Find the records that have become descriptors since a corpus was annotated.

    descriptors (Iterable[Concept]): the descriptors that ship.
    vocab (Path): folder with the current records.
    documents (Iterable[CorpusDocument]): documents annotated with an earlier edition of MeSH.
    YIELDS (Concept): a descriptor with the records that it replaced: all their mentions that are
        names of chemicals are names of this descriptor.
    """
    still = {f"MESH:{code}" for code, _ in rows(vocab / _RECORDS)}
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
    """Read the names of records. YIELDS (str): records with a pharmacological action."""
    acting = vocab.parent / "more/vocab/mesh_2024_pharm_action_substances.tsv.gz"
    with_actions = [row[:2] for row in rows(acting) if row[0].startswith("C")]
    for code, name in (*rows(vocab / _RECORDS), *with_actions):
        own = names.own[f"MESH:{code}"]
        if not _PROTEIN.search(name) and normalize_name(name) not in map(normalize_name, own):
            own.append(name)
    for code, _ in with_actions:
        if names.own[f"MESH:{code}"]:
            yield f"MESH:{code}"


def _mapped_diseases(vocab: Path, names: _Names) -> Iterator[str]:
    """Yield records and descriptors that are diseases in Mondo. They get its label, and the names
    of the concepts in ORDO, NCIt, and DOID that it is mapped to."""
    folder = vocab / "disease"
    others = {
        concept.concept_id.rsplit(":", 1)[-1].rsplit("_", 1)[-1]: concept
        for name in ("ordo-2_6-2018-07-12", "ncit-disease-2018-06-08")
        for concept in read_vocabulary(folder / f"{name}.json.gz")
    }
    others |= {c.concept_id: c for c in read_vocabulary(vocab.parent / "doid/doid.obo")}
    same: dict[str, list[str]] = defaultdict(list)
    for name in ("orphanet", "ncit", "doid"):
        for row in _exact(folder / f"mondo_{name}.sssom.tsv.gz"):
            code = row[3] if name == "doid" else row[3].rsplit(":", 1)[-1]
            same[row[0]].extend(others[code].names if code in others else ())
    labels = dict(rows(folder / "mondo_2026_labels.tsv.gz"))
    for row in _exact(folder / "mondo_mesh.sssom.tsv.gz"):
        record = row[3].upper()
        names.further[record] += [labels.get(row[0], row[1]), *same[row[0]]]
        yield record


def _exact(path: Path) -> Iterator[list[str]]:
    return (row for row in rows(path) if row[2:3] == ["skos:exactMatch"])


def _drugs(folder: Path, names: _Names) -> Iterator[str]:
    """Yield records with the name of a drug. They get all names of the drug."""
    by_name = defaultdict(set)
    for record, own in names.own.items():
        for name in own:
            by_name[normalize_name(name)].add(record)
    drugs = read_vocabulary(folder / "drugbank_vocabulary_CC0.csv.gz")
    table = rows(folder / _RXNORM)
    ingredients = (Concept("RXNORM:" + row[0], row[2]) for row in table if row[1] == "IN")
    for drug in chain(drugs, ingredients):
        names.drugs.add(drug.canonical_name.lower())
        records = {r for name in drug.names for r in by_name[normalize_name(name)]}
        if len(records) == 1:
            names.further[min(records)].extend(drug.names)
        yield from records


def _annotated(documents: Iterable[CorpusDocument], names: _Names) -> Iterator[str]:
    """Yield records of chemicals annotated in documents."""
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
    """Find records with a name, in normal form, that is in a text."""
    forms: dict[str, str] = {}
    for record, own in names.own.items():
        forms |= dict.fromkeys(map(normalize_name, own), record)
    long = (form for form in forms if len(form) >= _LEAST_CHARACTERS)
    return {forms[form] for form in chain.from_iterable(mentioned(long, texts))}


def _numbered_among(diseases: set[str], substances: set[str], names: _Names) -> set[str]:
    """Find records numbered among diseases: MeSH added most rare diseases in a few batches."""
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
    """Add names from PubChem to records that are mapped to a substance there."""
    substances: dict[str, list[str]] = defaultdict(list)
    for name, code in rows(folder / "clulab_PubChem.tsv.gz"):
        substances[code].append(name)
    for code, record in mapped:
        if record in records:
            names.further[record] += sorted(substances[code], key=_rank(names.said[record]))


def _one_owner(
    records: set[str], names: _Names, descriptors: Mapping[str, str]
) -> dict[str, list[str]]:
    """Return the names that belong to one record only and to no descriptor: according to MeSH, or
    else to other vocabularies, or else to texts."""
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
    """Sort by frequency in texts, then names before structures (`Daidzein` before
    4',7-Dihydroxyisoflavone), then by length."""
    return lambda name: (-said[name.lower()], bool(re.search(r"[\d\W_]", name)), len(name))


def _is_near(form: str, forms: Iterable[str]) -> bool:
    """Whether a name equals one of the others, or is so similar that linking does not need it."""
    edits = _NEAR if len(form) >= _LEAST_NEAR else 0
    return any(OSA.distance(form, other, score_cutoff=edits) <= edits for other in forms)


def _is_name(text: str) -> bool:
    """Whether a text is neither an abbreviation, which is ambiguous, nor a structure in digits."""
    is_short = len(text) <= _LONGEST_ABBREVIATION and text.isupper() and " " not in text
    is_structure = sum(map(str.isdigit, text)) > _MOST_DIGITS or not _LETTERS.search(text)
    return _SHORTEST <= len(text) <= _LONGEST and not is_short and not is_structure


def _is_word(text: str) -> bool:
    return common_words().get(text.lower(), 0) >= _COMMON or text in _NO_BRANDS
