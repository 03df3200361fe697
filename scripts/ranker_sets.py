"""Sets of mentions that the reranker is fitted on, and their vocabularies.

corpus  annotated texts; also with 30 % of the concepts removed from the vocabulary, and with
        unrelated vocabularies
noise   the same with typos in every mention
drugs   drugs that no vocabulary has, from DrugBank or composed of stems, replacing chemicals
hidden  names from ontologies: for two thirds of the concepts, one name is removed from the
        vocabulary and becomes the mention; for the others, all names are removed
lay     patients' words, and names of the same concepts in another vocabulary
words   everyday words from patients' posts that do not name a concept
written the sentences in `benchmarks/sentences`, used for measuring only
unseen  hidden names from vocabularies that nothing is fitted on, also used for measuring only
"""

import csv
import gzip
import io
import json
import re
import tempfile
import zipfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from hashlib import md5
from pathlib import Path
from random import Random
from typing import Any

from spacy.lang.en.stop_words import STOP_WORDS
from yaml import safe_load

from spacy_angel.corpora.documents import CorpusDocument, GoldMention
from spacy_angel.corpora.registry import read_corpus
from spacy_angel.corpora.text_changes import replace_spans
from spacy_angel.corpora.typos import add_typos, choose_typos
from spacy_angel.linking.ranking.words import split_words
from spacy_angel.vocabulary.kb import ConceptKB
from spacy_angel.vocabulary.names.concepts import Concept, normalize_name
from spacy_angel.vocabulary.sources.formats.registry import read_vocabulary

FILES: dict[str, Any] = safe_load(
    Path(__file__).with_name("ranker_sets.yml").read_text(encoding="utf8")
)
CORPORA, VOCABULARIES, NAMES = FILES["corpora"], FILES["vocabularies"], FILES["names"]
CORPORA["written"] = Path(__file__).parents[1] / "benchmarks/sentences/written.pubtator"
SHIPPED = ("BIO", "GENES")
"""Placeholders for the vocabulary of `en_angel_bio`."""
DISEASE = {"Disease", "SpecificDisease", "Modifier", "DiseaseClass", "CompositeMention"}
PREFIXES = {"GENE": "NCBIGene:", "SPECIES": "NCBITaxon:"}
# Species, after an identifier.
REMARK = re.compile(r"\(tax:\d+\)", re.IGNORECASE)
# Suffixes of names in the Plant Ontology, e.g. `tree (narrow)`, `Baum (German, exact)`.
PO_REMARK = re.compile(r" \(([A-Z]\w+)?[a-z, ]*\)$")
# Documents in the model's training data are excluded: the last six of ten parts of BioRED. The
# model was also trained on nine of ten parts of the gene corpora, which are used nevertheless,
# since little else remains; the first part is kept for measuring.
PARTS, BIORED_UNSEEN, GENE_CORPORA = 10, 4, ("nlmgene", "gnormplus")
MAX_OF_A_TEXT = 2
"""Maximum number of mentions with the same text from one document."""
MIN_DRUG = 7
# The name encoder was trained on synonyms from these, without one concept in `HELD_OUT`.
SEEN = ("HPO", "UBERON", "DOID", "MONDO_2026", "MESH_2024", "CTD", "GO_BP", "DRUGCENTRAL")
HELD_OUT, MIN_HELD_OUT = 8, 300
"""With fewer mentions that the encoder has not seen, the others are included too."""
DISEASES = ("HPO", "DOID", "MONDO_2026", "CTD")
ALTERED, ALONE, WITH_VARIANTS, ABSENT = 0.2, 0.5, 0.5, 1 / 3
"""Shares of hidden names: with an alteration, without a sentence, hidden with the names of the
concept that have the same words, and hidden with the whole concept."""
MAX_NAME, MAX_WORDS, AROUND = 80, 4, 25
FAMILIES = {"stems": "drugs", "AAP": "lay", "mapped": "lay"}
DRAWN = ("hidden", "lay", *(name for name, family in FAMILIES.items() if family == "lay"))
FAMILIES |= {name: name for name in ("drugs", "hidden", "lay", "words", "written")}
HIDING = ("hidden", "lay")
MEASURED = ("PO", "ZFA", "PATO", "ECO", "BTO", "CL_2026")
"""Vocabularies that nothing is fitted on, used by `benchmarks/unseen.py`."""
"""Sets whose vocabulary depends on the mentions."""
Drawn = tuple[list[Concept], list[tuple[str, str]]]
"""A vocabulary without the hidden names, and mentions with identifiers that it may lack."""


@dataclass(frozen=True)
class MentionSet:
    """A set of mentions in a corpus, with a vocabulary.

    corpus (str), kb (str): keys of `CORPORA` and `VOCABULARIES`, and a few more.
    label (str): label of the mentions.
    most (int): maximum number of mentions, from documents in random order.
    typos (int): number of typos in each mention.
    holes (float): proportion of concepts removed from the vocabulary.
    is_foreign (bool): the vocabulary has none of the mentioned concepts.
    """

    corpus: str
    kb: str
    label: str
    most: int
    typos: int = 0
    holes: float = 0.0
    is_foreign: bool = False

    @property
    def key(self) -> str:
        """RETURNS (str): name of its file."""
        how = f"typo{self.typos}" if self.typos else "holes" if self.holes else "clean"
        return f"{self.corpus}-{self.kb}-{self.label}-{how}"

    @property
    def family(self) -> str:
        """RETURNS (str): the kind of set, see above."""
        if self.kb in MEASURED:
            return "unseen"
        return "noise" if self.typos else FAMILIES.get(self.corpus, "corpus")

    @property
    def vocabulary(self) -> str:
        """RETURNS (str): a key that is the same for sets linked to the same concepts."""
        return f"{self.kb} {self.holes} {self.corpus if self.corpus in HIDING else ''}"


def _sets(key: str) -> tuple[MentionSet, ...]:
    rows = (row.split() for row in FILES[key])
    return tuple(MentionSet(corpus, kb, label, int(most)) for corpus, kb, label, most in rows)


CLEAN = _sets("clean")
_DESCRIBED = [s for s in CLEAN if s.kb not in SHIPPED]
SETS = (
    *CLEAN,
    *(replace(s, is_foreign=True) for s in _sets("foreign")),
    *_sets("others"),
    *(replace(s, holes=0.3, most=min(s.most, 500)) for s in CLEAN if s.kb != "BIO"),
    *(replace(s, typos=1, most=300) for s in _DESCRIBED),
    *(replace(s, typos=2, most=120) for s in _DESCRIBED[:7]),
)
# Measured once, for docs/notebook/ranker.md.
_DEV = [replace(s, corpus="craft_dev", most=10_000) for s in CLEAN if s.corpus == "craft"]
HELD = (*_DEV, *(replace(s, holes=0.3) for s in _DEV))


def part_of(text: str, parts: int) -> int:
    """RETURNS (int): the part, from 0, that a text belongs to; the same on every machine."""
    return int(md5(text.encode()).hexdigest(), 16) % parts


def share_of(text: str) -> float:
    """RETURNS (float): a hash of the text between 0 and 1; the same on every machine."""
    return part_of(text, 1000) / 1000


def is_held_out(name: str) -> bool:
    """RETURNS (bool): whether the name encoder has never seen a concept with this canonical
    name."""
    return part_of(normalize_name(name), HELD_OUT) == 0


def is_hole(concept_id: str, holes: float) -> bool:
    """RETURNS (bool): whether the concept belongs to the proportion that is removed."""
    return share_of("hole" + concept_id) < holes


def vocabulary(data: Path, mention_set: MentionSet) -> ConceptKB:
    """RETURNS (ConceptKB): vocabulary of a set, without the concepts removed for it."""
    if mention_set.corpus in HIDING:
        return ConceptKB.build(draw(data, mention_set)[0])
    concepts = read_concepts(data, mention_set.kb)
    return ConceptKB.build(c for c in concepts if not is_hole(c.concept_id, mention_set.holes))


def chosen(data: Path, mention_set: MentionSet) -> Iterator[CorpusDocument]:
    """YIELDS (CorpusDocument): documents with the mentions of the set."""
    documents = list(_documents(data, mention_set))
    Random(1).shuffle(documents)
    label, left = mention_set.label, mention_set.most
    labels = {label, label.title().replace("_", ""), *(DISEASE if label == "DISEASE" else ())}
    for document in documents:
        seen: Counter[str] = Counter()
        mentions = []
        for mention in document.mentions if left > 0 else ():
            seen[mention.text.lower()] += 1
            if mention.label in labels and seen[mention.text.lower()] <= MAX_OF_A_TEXT:
                mentions.append(labelled(mention, label))
        if mentions:
            document = replace(document, mentions=tuple(mentions[:left]))
            left -= len(mentions)
            yield misspelled(document, mention_set.typos) if mention_set.typos else document


def misspelled(document: CorpusDocument, typos: int) -> CorpusDocument:
    """RETURNS (CorpusDocument): a document with typos in its mentions; of overlapping mentions,
    only the first is changed."""
    edits, done = [], 0
    for mention in sorted(document.mentions, key=lambda m: (m.start, m.end)):
        if mention.start >= done:
            rng = Random(f"{document.doc_id} {mention.start}")
            edits += choose_typos(mention.text, typos, rng, mention.start)
            done = mention.end
    return replace_spans(document, edits)


def altered(name: str, is_disease: bool, rng: Random) -> str:
    """RETURNS (str): the name with a typo, in another word order, or with an uninformative extra
    word."""
    words = name.split()
    added = ("{}, unspecified", "{} NOS", "severe {}") if is_disease else ("normal {}", "{} (NOS)")
    is_pair = len(words) == 2 and name.replace(" ", "").isalpha()
    forms = [
        add_typos(name, 1, rng) if len(name) > 4 else name,
        f"{words[1]} of {words[0]}" if is_pair else name,
        rng.choice(added).format(name),
    ]
    return rng.choice([form for form in forms if form != name])


def labelled(mention: GoldMention, label: str) -> GoldMention:
    """RETURNS (GoldMention): the mention with the label, and with identifiers that include their
    prefix."""
    prefix, ids = PREFIXES.get(label, ""), REMARK.sub("", mention.concept_ids)
    ids = re.sub(r"(?<![\w:])(?=\d)", prefix, ids) if prefix else ids
    return replace(mention, label=label, concept_ids=ids)


def _documents(data: Path, mention_set: MentionSet) -> Iterator[CorpusDocument]:
    corpus, label = mention_set.corpus, mention_set.label
    if mention_set.corpus in DRAWN:
        rng = Random(mention_set.key)
        for i, (text, concept_id) in enumerate(draw(data, mention_set)[1]):
            yield in_sentence(f"{mention_set.key}-{i}", text, concept_id, label, rng)
    elif corpus == "words":
        yield from everyday_words(data, mention_set)
    elif corpus.startswith("craft"):
        yield from craft_documents(data, corpus, label)
    elif corpus == "drugs":
        # `benchmarks/unseen.py` measures the others
        names = [name for name in unknown_drugs(data) if share_of("drug" + name) < 0.5]
        yield from with_drugs(data, names)
    elif corpus == "stems":
        yield from with_drugs(data, made_up_drugs())
    else:
        others = [*FILES["learned"], CORPORA["ncbi"], CORPORA["cdr"], CORPORA["tmvar"]]
        others = others[: {"biored": 5, "tmvar": 4}.get(corpus, 0)]
        known = {d.doc_id for name in others for d in _pubtator(data / name)}
        for document in _pubtator(data / CORPORA[corpus]):
            part = part_of(document.doc_id, PARTS)
            is_learned = corpus == "biored" and part >= BIORED_UNSEEN
            is_kept = corpus in GENE_CORPORA and part == 0
            if not (is_learned or is_kept or document.doc_id in known):
                yield document


@lru_cache(maxsize=1)
def draw(data: Path, mention_set: MentionSet) -> Drawn:
    """RETURNS (Drawn): vocabulary and mentions of a set without texts."""
    corpus, kb, most = mention_set.corpus, mention_set.kb, mention_set.most
    concepts = list(read_concepts(data, kb))
    rng = Random(f"{corpus} {kb}")
    if corpus == "hidden":
        return hide_names(concepts, most, kb, rng)
    ids = {c.concept_id for c in concepts}
    known = {normalize_name(name) for concept in concepts for name in concept.names}
    canonical: dict[str, str] = {}
    right: defaultdict[str, list[str]] = defaultdict(list)
    for name, mention, concept_id in _paraphrases(data, corpus):
        if concept_id in ids and normalize_name(mention) not in known:
            canonical.setdefault(mention, name)
            right[mention].append(concept_id)
    held_out = [mention for mention, name in canonical.items() if is_held_out(name)]
    new = held_out if len(held_out) >= MIN_HELD_OUT else list(canonical)
    gone = {c for c in ids if corpus == "lay" and share_of("lay" + c) < ABSENT}
    mentions = [(text, "|".join(right[text])) for text in rng.sample(new, min(most, len(new)))]
    return [c for c in concepts if c.concept_id not in gone], mentions


def _paraphrases(data: Path, corpus: str) -> Iterator[tuple[str, str, str]]:
    """YIELDS (tuple[str, str, str]): canonical name, mention and identifier."""
    if corpus == "lay":
        for uri, name, mention in _rows(data / NAMES["lay"]):
            yield name.strip('"'), mention.strip('"'), uri[-11:-1].replace("_", ":")
    elif corpus == "mapped":
        for _, label, _, mesh_id, *_ in _rows(data / NAMES["mapped"]):
            yield label, label, mesh_id.replace("mesh", "MESH")
    else:
        train = VOCABULARIES["AAP"]
        learned = {normalize_name(mention) for _, _, mention in _rows(data / train)}
        for part in ("validation", "test"):
            for code, name, mention in _rows(data / train.replace("train", part)):
                if normalize_name(mention) not in learned:
                    yield name, mention, code


def hide_names(concepts: Sequence[Concept], most: int, kb: str, rng: Random) -> Drawn:
    """concepts (Sequence[Concept]): concepts of the vocabulary.
    most (int): maximum number of mentions.
    kb (str): key of the vocabulary.
    rng (Random): random number generator.
    RETURNS (Drawn): the vocabulary without the hidden names, and the hidden names, which belong to
    one concept each."""
    owners = Counter(n for c in concepts for n in set(map(normalize_name, c.names)))
    scopes = Counter(scope for concept in concepts for _, scope in concept.scopes)
    has_exact = scopes["EXACT"] > scopes["RELATED"] / 10
    inexact = {"BROAD", "NARROW", *(["RELATED"] if has_exact else ())}
    hidden: dict[str, set[str]] = {}
    mentions: list[tuple[str, str]] = []
    for concept in rng.sample(concepts, len(concepts)):
        own = {normalize_name(n): n for n in concept.names}
        names = [plain for plain, n in own.items() if owners[plain] == 1 and 2 < len(n) < MAX_NAME]
        names = [n for n in names if n.isascii() and concept.scope_of(own[n]) not in inexact]
        is_seen = kb in SEEN and not is_held_out(concept.canonical_name)
        if len(mentions) == most or is_seen or len(own) == 1 or not names:
            continue
        plain = rng.choice(names)
        bag, *bags = map(sorted, split_words([plain, *own]))
        variants = {n for n, words in zip(own, bags, strict=True) if n == plain or words == bag}
        gone = variants if rng.random() < WITH_VARIANTS and len(variants) < len(own) else {plain}
        hidden[concept.concept_id] = set(own) if rng.random() < ABSENT else gone
        text = altered(own[plain], kb in DISEASES, rng) if rng.random() < ALTERED else own[plain]
        text = own[plain] if normalize_name(text) in owners else text
        mentions.append((text, concept.concept_id))
    rest = []
    for concept in concepts:
        gone = hidden.get(concept.concept_id, set())
        if left := [n for n in concept.names if normalize_name(n) not in gone]:
            pairs = tuple(pair for pair in concept.scopes if pair[0] in left)
            aliases = tuple(left[1:])
            rest.append(replace(concept, canonical_name=left[0], aliases=aliases, scopes=pairs))
    return rest, mentions


def in_sentence(doc_id: str, text: str, concept_id: str, label: str, rng: Random) -> CorpusDocument:
    """RETURNS (CorpusDocument): a document with the mention, either alone or (half the time) in an
    uninformative sentence."""
    template = "{}" if rng.random() < ALONE else rng.choice(FILES["templates"])
    text = " ".join(text.split())
    if template != "{}" and template.startswith("{}"):
        text = text[:1].upper() + text[1:]
    start = template.index("{}")
    mention = GoldMention(start, start + len(text), text, label, concept_id)
    return CorpusDocument(doc_id, template.replace("{}", text), (mention,))


def everyday_words(data: Path, mention_set: MentionSet) -> Iterator[CorpusDocument]:
    """YIELDS (CorpusDocument): one to four words from a sentence of a patient's post, none of which
    is annotated as a symptom, and no part of which is a name in the vocabulary."""
    rng = Random(mention_set.key)
    concepts = read_concepts(data, mention_set.kb)
    names = [normalize_name(name) for concept in concepts for name in concept.names]
    known = set(split_words(names))
    tokens = [(*row, "")[:2] for row in _rows(data / NAMES["posts"])]
    used: set[str] = set()
    for start in rng.sample(range(len(tokens)), len(tokens)):
        (n,) = rng.choices(range(1, MAX_WORDS + 1), (1, 4, 5, 5))
        phrase = tokens[start : start + n]
        text = " ".join(word for word, _ in phrase)
        [words] = split_words([text.lower()])
        parts = {words[i:j] for j in range(n + 1) for i in range(j)}
        is_phrase = all(tag == "O" and word.isalpha() for word, tag in phrase) and all(
            len(word) > 2 and word.lower() not in STOP_WORDS for word in text.split()[:: n - 1 or 1]
        )
        if is_phrase and text.lower() not in used and known.isdisjoint(parts):
            used.add(text.lower())
            before = " ".join(w for w, _ in tokens[max(start - AROUND, 0) : start])
            after = " ".join(w for w, _ in tokens[start + n : start + n + AROUND])
            begin = len(before) + 1
            mention = GoldMention(begin, begin + len(text), text, mention_set.label)
            whole = f"{before} {text} {after}"
            yield CorpusDocument(f"{mention_set.key}-{start}", whole, (mention,))


def unknown_drugs(data: Path) -> list[str]:
    """RETURNS (list[str]): drugs in DrugBank with single-word names that are not in MeSH
    (descriptors and supplementary records, 2019 and 2024)."""
    known = {normalize_name(n) for c in read_concepts(data, "MESH") for n in c.names}
    for table in (VOCABULARIES["MESH_2024"], NAMES["supplementary"]):
        cells = (name for row in _rows(data / table) for cell in row for name in cell.split("|"))
        known.update(map(normalize_name, cells))
    drugs = set()
    with gzip.open(data / NAMES["drugs"]) as stream:
        for row in csv.DictReader(io.TextIOWrapper(stream, "utf8")):
            name = row["Common name"]
            names = [name, *filter(None, row["Synonyms"].split(" | "))]
            is_word = name.isalpha() and name.isascii() and len(name) >= MIN_DRUG
            if is_word and known.isdisjoint(map(normalize_name, names)):
                drugs.add(name.lower())
    return sorted(drugs)


def made_up_drugs(n: int = 400) -> list[str]:
    """RETURNS (list[str]): names composed of syllables and stems; the same in every run."""
    rng, first, last = Random(7), FILES["syllables"], FILES["stems"]
    names = ([*rng.choices(first, k=rng.randint(2, 3)), rng.choice(last)] for _ in range(n))
    return sorted(set(map("".join, names)))


def with_drugs(data: Path, names: Sequence[str]) -> Iterator[CorpusDocument]:
    """YIELDS (CorpusDocument): documents of BC5CDR in which each chemical is consistently replaced
    by another drug name; the first one is the mention."""
    left = iter(Random(3).sample(names, len(names)))
    for document in _pubtator(data / CORPORA["cdr"]):
        given: dict[str, str] = {}
        mentions: dict[str, GoldMention] = {}
        text, end = "", 0
        for mention in sorted(document.mentions, key=lambda m: m.start):
            if mention.label != "Chemical" or mention.start < end:
                continue
            name = given.get(mention.text.lower()) or next(left, None)
            if name is None:
                return
            given[mention.text.lower()] = name
            text += document.text[end : mention.start]
            own = GoldMention(len(text), len(text) + len(name), name, "Chemical", "")
            mentions.setdefault(name, own)
            text, end = text + name, mention.end
        if mentions:
            text += document.text[end:]
            yield CorpusDocument(document.doc_id, text, tuple(mentions.values()))


def read_concepts(data: Path, kb: str) -> Iterator[Concept]:
    """data (Path), kb (str): folder, and a key of `VOCABULARIES`.
    YIELDS (Concept): all concepts of the vocabulary."""
    path = data / VOCABULARIES[kb]
    if path.suffix == ".zip":
        with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(path) as archive:
            (name,) = (n for n in archive.namelist() if n.endswith(".obo"))
            yield from read_vocabulary(Path(archive.extract(name, folder)))
    elif kb in FILES["columns"]:
        code, column = FILES["columns"][kb]
        names: defaultdict[str, dict[str, None]] = defaultdict(dict)
        for row in _rows(path):
            # in DrugCentral's table, labels are next to synonyms of other drugs
            if re.search(r"\d", row[code]) and row[column] and "rdfs:label" not in row:
                names[row[code]][row[column]] = None
        for concept_id, (first, *others) in names.items():
            yield Concept(concept_id, first, tuple(others))
    else:
        for concept in read_vocabulary(path):
            if kb == "PO":
                # without names in other languages
                found = ((name, PO_REMARK.search(name)) for name in concept.aliases)
                plain = tuple(PO_REMARK.sub("", name) for name, r in found if not (r and r[1]))
                concept = replace(concept, aliases=plain, scopes=())
            yield concept


def _rows(path: Path) -> Iterator[list[str]]:
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf8", errors="replace") as lines:
        yield from (line.rstrip("\r\n").split("\t") for line in lines if line[0] != "#")


def _pubtator(path: Path) -> Iterator[CorpusDocument]:
    return iter(read_corpus(path, "pubtator", strict=False))


def craft_documents(data: Path, name: str, label: str) -> Iterator[CorpusDocument]:
    """data (Path), name (str): folder, and `craft` for the training part or `craft_dev`.
    label (str): an ontology.
    YIELDS (CorpusDocument): documents with their contiguous mentions."""
    name = "craft_train" if name == "craft" else name
    with gzip.open(data / f"craft/{name}.jsonl.gz", "rt", encoding="utf8") as lines:
        for line in lines:
            document = json.loads(line)
            mentions = [
                GoldMention(start, end, document["text"][start:end], label, concept_id)
                for own, concept_id, spans in document["mentions"]
                for start, end in spans
                if own == label and concept_id and len(spans) == 1
            ]
            yield CorpusDocument(document["id"], document["text"], tuple(mentions))
