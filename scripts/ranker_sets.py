"""Sets of mentions that the ranker is fitted on, and their vocabularies.

corpus  annotated texts; also with 30 % of the concepts taken out of the vocabulary, and over
        vocabularies of something else
noise   the same with typos in every mention
drugs   drugs that no vocabulary has, of DrugBank or made up of stems, in the place of chemicals
hidden  names of ontologies: of two thirds of the concepts one name is taken out of the vocabulary
        and is the mention, of the others all names are
lay     what patients say, and names of the same concepts in another vocabulary
words   everyday words of patients' posts that name no concept
written the sentences of `benchmarks/sentences`, which are measured and not fitted on
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

from noise import altered, noisy_document
from spacy.lang.en.stop_words import STOP_WORDS

from spacy_angel.corpora.documents import CorpusDocument, GoldMention
from spacy_angel.corpora.registry import read_corpus
from spacy_angel.linking.ranking.wording import words_of
from spacy_angel.vocabulary.kb import ConceptKB
from spacy_angel.vocabulary.names.concepts import Concept, normalize_name
from spacy_angel.vocabulary.sources.formats.registry import read_vocabulary

CORPORA = {
    "ncbi": "ncbi-disease/NCBIdevelopset_corpus.txt",
    "cdr": "bc5cdr/CDR_DevelopmentSet.PubTator.txt",
    "tmvar": "aioner/tmVar3_Train.PubTator",
    "biored": "aioner/BioRED_TrainDev.PubTator",
    "nlmgene": "aioner/NLMgene_Train.PubTator",
    "gnormplus": "aioner/GNormPlus_Train.PubTator",
    "bioid": "aioner/BioID_Train_revision.PubTator",
    "linnaeus": "aioner/Linnaeus_Train.PubTator",
    "s800": "aioner/SPECIES_Train.PubTator",
    "written": str(Path(__file__).parents[1] / "benchmarks/sentences/written.pubtator"),
}
VOCABULARIES = {
    "MEDIC": "medic/medic_06Jul2012.txt",
    "CTD": "medic/CTD_diseases_2017-06.tsv.gz",
    "MESH": "mesh/mesh_2019_descriptors.tsv",
    "MESH_2024": "more/vocab/mesh_2024_descriptors.tsv.gz",
    "HPO": "vocab/phenotype/hp_2016-04-01.obo.gz",
    "CHEBI": "vocab/chemical/clulab_chebi.tsv.gz",
    "UBERON": "vocab/anatomy/uberon-basic_2015-04-23.obo.gz",
    "GO_BP": "vocab/go/clulab_bio_process.tsv.gz",
    "GO_CC": "vocab/go/clulab_GO-subcellular-locations.tsv.gz",
    "CL": "craft/onto_CL.obo.zip",
    "CL_2026": "more/ontologies/CL_2026_synonyms.tsv.gz",
    "SO": "craft/onto_SO.obo.zip",
    "MONDO": "vocab/disease/mondo_2026_labels.tsv.gz",
    "MONDO_2026": "more/ontologies/MONDO_2026_synonyms.tsv.gz",
    "DOID": "doid/doid.obo",
    "DRUGCENTRAL": "vocab/chemical/drugcentral_54_synonyms.tsv.gz",
    **{name: f"more/ontologies/{name}.obo.gz" for name in ("PO", "ZFA", "PATO", "ECO", "BTO")},
    "AAP": "aap/AskAPatient.fold-0.train.txt",
}
# Columns of the identifier and the name in tables of one name a row.
TABLES = {"CHEBI": (1, 0), "GO_BP": (1, 0), "GO_CC": (1, 0), "MONDO": (0, 1), "AAP": (0, 1)}
TABLES["DRUGCENTRAL"] = (1, 0)
LAY_NAMES = "vocab/phenotype/hpo_layperson-synonyms.tsv.gz"
SAME_IN_MESH = "vocab/disease/mondo_mesh.sssom.tsv.gz"
SUPPLEMENTARY = "vocab/chemical/mesh_supplementary_names_partial.tsv.gz"
# The name encoder has learned phrases of the training part.
POSTS = "psytar/all_dev.txt.gz"
SHIPPED = ("BIO", "GENES")
"""Stand for the vocabulary of `en_angel_bio`."""
DISEASE = {
    "DISEASE": {"Disease", "SpecificDisease", "Modifier", "DiseaseClass", "CompositeMention"}
}
PREFIXES = {"GENE": "NCBIGene:", "SPECIES": "NCBITaxon:"}
# Behind an identifier, on its species.
REMARK = re.compile(r"\(tax:\d+\)", re.IGNORECASE)
# Behind names of the Plant Ontology, e.g. `tree (narrow)`, `Baum (German, exact)`.
PO_REMARK = re.compile(r" \([a-z, ]*\)$")
OTHER_LANGUAGE = re.compile(r" \([A-Z]\w+, [a-z, ]*\)$")
# Documents that the model has learned from take no part: of ten parts of BioRED it has the last
# six. Of genes' corpora it has nine parts of ten, without which there would be little; the first is
# kept to measure on.
PARTS, BIORED_UNSEEN, GENE_CORPORA = 10, 4, ("nlmgene", "gnormplus")
KNOWN = ("ncbi-disease/NCBItrainset_corpus.txt", "bc5cdr/CDR_TrainingSet.PubTator.txt")
IN_OTHERS = {"tmvar": (*KNOWN, CORPORA["ncbi"], CORPORA["cdr"])}
IN_OTHERS["biored"] = (*IN_OTHERS["tmvar"], CORPORA["tmvar"])
MAX_OF_A_TEXT = 2
"""Mentions of one text that are taken from a document."""
# International nonproprietary names, and syllables before them, for drugs that are none.
STEMS = (
    "tinib mab ciclib parib rafenib gliptin gliflozin sartan pril olol statin azole oxacin vir "
    "prazole triptan setron dipine zosin glitazone caine barbital zepam mycin cillin nib lutamide "
    "degib metinib lisib grel xaban gatran vaptan entan afil tadine phylline"
)
SYLLABLES = "ab ce do ve ra lo mi ta ne po xi zu fe gi ka bru tri pra cla nor vil sol mel dar pan"
MIN_DRUG = 7
# The name encoder has seen synonyms of these, but none of one concept in `HELD_OUT`.
SEEN = ("HPO", "UBERON", "DOID", "MONDO_2026", "MESH_2024", "CTD", "GO_BP", "DRUGCENTRAL")
HELD_OUT, MIN_HELD_OUT = 8, 300
"""Of fewer mentions that the encoder has not seen the others are taken as well."""
DISEASES = ("HPO", "DOID", "MONDO_2026", "CTD")
ALTERED, ALONE, WITH_VARIANTS, ABSENT = 0.2, 0.5, 0.5, 1 / 3
"""Shares of hidden names: with an alteration, without a sentence, hidden with the names of the
concept that have the same words, and hidden with the whole concept."""
MAX_NAME, MAX_WORDS, AROUND = 80, 4, 25
TEMPLATES = (
    *("We looked at {} in this study.", "Patient reports {}.", "{} was seen in most samples."),
    *("The results for {} are given in Table 2.", "There was no sign of {} at the first visit."),
    *("{} has been described before.", "Little is known about {}.", "Is this {}, or is it not?"),
    *("They asked about {} and how it was measured.", "{}, as defined above, was the main topic."),
    *("The second group differed in {} only.", "See the section on {} for details."),
)
FAMILIES = dict.fromkeys(("drugs", "drugs_held", "stems"), "drugs") | {"written": "written"}
FAMILIES |= {"hidden": "hidden", "words": "words"} | dict.fromkeys(("lay", "AAP", "mapped"), "lay")


@dataclass(frozen=True)
class MentionSet:
    """Mentions of a corpus over a vocabulary.

    corpus (str), kb (str): keys of `CORPORA` and `VOCABULARIES`, and a few more.
    label (str): of the mentions. most (int): mentions taken, of documents in random order.
    noise (str): kind and number of edits, e.g. `typo:1`. holes (float): share of the vocabulary's
        concepts taken out.
    is_foreign (bool): the vocabulary has none of them.
    """

    corpus: str
    kb: str
    label: str
    most: int
    noise: str = ""
    holes: float = 0.0
    is_foreign: bool = False

    @property
    def key(self) -> str:
        """RETURNS (str): name of its file."""
        how = self.noise.replace(":", "") or ("holes" if self.holes else "clean")
        return f"{self.corpus}-{self.kb}-{self.label}-{how}"

    @property
    def family(self) -> str:
        """RETURNS (str): what kind of set it is, see above."""
        return "noise" if self.noise else FAMILIES.get(self.corpus, "corpus")

    @property
    def vocabulary(self) -> str:
        """RETURNS (str): the same for sets that are linked over the same concepts."""
        return f"{self.kb} {self.holes} {self.corpus if self.hides else ''}"

    @property
    def hides(self) -> bool:
        """RETURNS (bool): whether the vocabulary depends on the mentions."""
        return self.corpus in ("hidden", "lay")


def _sets(table: str) -> tuple[MentionSet, ...]:
    rows = (row.split() for row in table.split(","))
    return tuple(MentionSet(corpus, kb, label, int(most)) for corpus, kb, label, most in rows)


CLEAN = _sets(
    "ncbi MEDIC DISEASE 800, cdr CTD DISEASE 1000, cdr MESH CHEMICAL 1000, tmvar CTD DISEASE 600, "
    "biored CTD DISEASE 600, biored MESH CHEMICAL 600, craft CHEBI CHEBI 800, craft CL CL 800, "
    "craft UBERON UBERON 900, craft SO SO 700, craft GO_BP GO_BP 800, craft GO_CC GO_CC 600, "
    "craft MONDO MONDO 500, tmvar GENES GENE 700, nlmgene GENES GENE 900, biored GENES GENE 900, "
    "gnormplus GENES GENE 900, bioid BIO CELL_LINE 600, linnaeus BIO SPECIES 400, "
    "s800 BIO SPECIES 500"
)
FOREIGN = _sets(
    "cdr CTD CHEMICAL 250, cdr HPO CHEMICAL 250, cdr CHEBI DISEASE 250, drugs MESH CHEMICAL 600, "
    "stems MESH CHEMICAL 300"
)
UNANNOTATED = _sets(
    "hidden HPO PHENOTYPE 450, hidden DOID DISEASE 450, hidden MONDO_2026 MONDO 450, "
    "hidden CTD DISEASE 450, hidden UBERON UBERON 450, hidden MESH_2024 MESH 450, "
    "hidden DRUGCENTRAL CHEMICAL 450, hidden GO_BP GO_BP 450, hidden CL_2026 CL 400, "
    "hidden PO PO 400, hidden ZFA ZFA 400, hidden PATO PATO 400, hidden ECO ECO 400, "
    "hidden BTO BTO 400, "
    "lay HPO PHENOTYPE 600, AAP AAP DISEASE 500, mapped MESH DISEASE 300, "
    "words CTD DISEASE 400, words HPO PHENOTYPE 300, "
    "written BIO DISEASE 150, written BIO CHEMICAL 150, written GENES GENE 300"
)
IN_VOCABULARIES = CLEAN[:13]
SETS = (
    *CLEAN,
    *(replace(s, is_foreign=True) for s in FOREIGN),
    *UNANNOTATED,
    *(replace(s, holes=0.3, most=min(s.most, 500)) for s in CLEAN if s.kb != "BIO"),
    *(replace(s, noise="typo:1", most=300) for s in IN_VOCABULARIES),
    *(replace(s, noise="typo:2", most=120) for s in IN_VOCABULARIES[:7]),
    *(replace(s, noise="mixed:1", most=150) for s in IN_VOCABULARIES[:7]),
)
# Looked at once, for docs/notebook/ranker.md.
_HELD = [replace(s, corpus="craft_dev", most=10_000) for s in CLEAN if s.corpus == "craft"]
HELD = (
    *(replace(s, holes=holes) for holes in (0.0, 0.3) for s in _HELD),
    MentionSet("drugs_held", "BIO", "CHEMICAL", 600, is_foreign=True),
)


def part_of(text: str, parts: int) -> int:
    """RETURNS (int): the part, from 0, that a text belongs to, the same everywhere."""
    return int(md5(text.encode()).hexdigest(), 16) % parts


def share_of(text: str) -> float:
    """RETURNS (float): a number from 0 to 1 that belongs to the text, the same everywhere."""
    return part_of(text, 1000) / 1000


def is_held_out(name: str) -> bool:
    """RETURNS (bool): whether the name encoder has never seen a concept of this canonical name."""
    return part_of(normalize_name(name), HELD_OUT) == 0


def is_hole(concept_id: str, holes: float) -> bool:
    """RETURNS (bool): whether the concept is of the share that is taken out."""
    return share_of("hole" + concept_id) < holes


def vocabulary(data: Path, mention_set: MentionSet) -> ConceptKB:
    """RETURNS (ConceptKB): of a set, without what is taken out for it."""
    if mention_set.hides:
        return ConceptKB.build(draw(data, mention_set)[0])
    concepts = read_concepts(data, mention_set.kb)
    return ConceptKB.build(c for c in concepts if not is_hole(c.concept_id, mention_set.holes))


def chosen(data: Path, mention_set: MentionSet) -> Iterator[CorpusDocument]:
    """YIELDS (CorpusDocument): documents with the mentions that count."""
    documents = list(_documents(data, mention_set))
    Random(1).shuffle(documents)
    label, left = mention_set.label, mention_set.most
    labels = DISEASE.get(label, set()) | {label, label.title().replace("_", "")}
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
            kind, _, edits = mention_set.noise.partition(":")
            yield noisy_document(document, kind, int(edits)) if kind else document


def labelled(mention: GoldMention, label: str) -> GoldMention:
    """RETURNS (GoldMention): with the label, and identifiers with their prefix."""
    prefix, ids = PREFIXES.get(label, ""), REMARK.sub("", mention.concept_ids)
    ids = re.sub(r"(?<![\w:])(?=\d)", prefix, ids) if prefix else ids
    return replace(mention, label=label, concept_ids=ids)


def _documents(data: Path, mention_set: MentionSet) -> Iterator[CorpusDocument]:
    corpus, label = mention_set.corpus, mention_set.label
    if mention_set.family in ("hidden", "lay"):
        rng = Random(mention_set.key)
        for i, (text, concept_id) in enumerate(draw(data, mention_set)[1]):
            yield in_sentence(f"{mention_set.key}-{i}", text, concept_id, label, rng)
    elif corpus == "words":
        yield from everyday_words(data, mention_set)
    elif corpus.startswith("craft"):
        yield from craft_documents(data, corpus, label)
    elif corpus.startswith("drugs"):
        is_held = corpus == "drugs_held"
        names = [n for n in unknown_drugs(data) if (share_of("drug" + n) >= 0.5) == is_held]
        yield from with_drugs(data, names)
    elif corpus == "stems":
        yield from with_drugs(data, made_up_drugs())
    else:
        known = {d.doc_id for name in IN_OTHERS.get(corpus, ()) for d in _pubtator(data / name)}
        for document in _pubtator(data / CORPORA[corpus]):
            part = part_of(document.doc_id, PARTS)
            is_learned = corpus == "biored" and part >= BIORED_UNSEEN
            is_kept = corpus in GENE_CORPORA and part == 0
            if not (is_learned or is_kept or document.doc_id in known):
                yield document


@lru_cache(maxsize=1)
def draw(data: Path, mention_set: MentionSet) -> tuple[list[Concept], list[tuple[str, str]]]:
    """RETURNS (tuple[list[Concept], list[tuple[str, str]]]): a vocabulary, without what is hidden;
    and mentions with an identifier, which it may lack."""
    corpus, kb, most = mention_set.corpus, mention_set.kb, mention_set.most
    concepts = list(read_concepts(data, kb))
    rng = Random(f"{corpus} {kb}")
    if corpus == "hidden":
        return hide_names(concepts, most, kb, rng)
    ids = {c.concept_id for c in concepts}
    known = {normalize_name(name) for concept in concepts for name in concept.names}
    rows = {normalize_name(row[1]): row for row in _paraphrases(data, corpus) if row[2] in ids}
    new = [row for plain, row in rows.items() if plain not in known]
    held_out = [row for row in new if is_held_out(row[0])]
    new = held_out if len(held_out) >= MIN_HELD_OUT else new
    gone = {c for c in ids if corpus == "lay" and share_of("lay" + c) < ABSENT}
    mentions = [(text, c) for _, text, c in rng.sample(new, min(most, len(new)))]
    return [c for c in concepts if c.concept_id not in gone], mentions


def _paraphrases(data: Path, corpus: str) -> Iterator[tuple[str, str, str]]:
    """YIELDS (tuple[str, str, str]): canonical name, mention and identifier."""
    if corpus == "lay":
        for uri, name, mention in _rows(data / LAY_NAMES):
            yield name.strip('"'), mention.strip('"'), uri[-11:-1].replace("_", ":")
    elif corpus == "mapped":
        for _, label, _, mesh_id, *_ in _rows(data / SAME_IN_MESH):
            yield label, label, mesh_id.replace("mesh", "MESH")
    else:
        train = VOCABULARIES["AAP"]
        learned = {normalize_name(mention) for _, _, mention in _rows(data / train)}
        for part in ("validation", "test"):
            for code, name, mention in _rows(data / train.replace("train", part)):
                if normalize_name(mention) not in learned:
                    yield name, mention, code


def hide_names(
    concepts: Sequence[Concept], most: int, kb: str, rng: Random
) -> tuple[list[Concept], list[tuple[str, str]]]:
    """kb (str): key of the vocabulary. RETURNS: as `draw`; the mentions are names that no other
    concept has."""
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
        bag = sorted(words_of(plain))
        variants = {n for n in own if n == plain or sorted(words_of(n)) == bag}
        gone = variants if rng.random() < WITH_VARIANTS and len(variants) < len(own) else {plain}
        hidden[concept.concept_id] = set(own) if rng.random() < ABSENT else gone
        text = altered(own[plain], kb in DISEASES, rng) if rng.random() < ALTERED else own[plain]
        mentions.append(
            (own[plain] if normalize_name(text) in owners else text, concept.concept_id)
        )
    rest = []
    for concept in concepts:
        gone = hidden.get(concept.concept_id, set())
        if left := [n for n in concept.names if normalize_name(n) not in gone]:
            scopes_left = tuple(pair for pair in concept.scopes if pair[0] in left)
            first, *others = left
            rest.append(
                replace(concept, canonical_name=first, aliases=tuple(others), scopes=scopes_left)
            )
    return rest, mentions


def in_sentence(doc_id: str, text: str, concept_id: str, label: str, rng: Random) -> CorpusDocument:
    """RETURNS (CorpusDocument): of a mention, half the time alone, else in a sentence that says
    nothing of it."""
    template = "{}" if rng.random() < ALONE else rng.choice(TEMPLATES)
    text = " ".join(text.split())
    if template != "{}" and template.startswith("{}"):
        text = text[:1].upper() + text[1:]
    start = template.index("{}")
    mention = GoldMention(start, start + len(text), text, label, concept_id)
    return CorpusDocument(doc_id, template.replace("{}", text), (mention,))


def everyday_words(data: Path, mention_set: MentionSet) -> Iterator[CorpusDocument]:
    """YIELDS (CorpusDocument): one to four words of a sentence of a patient's post, none of which
    is marked as a symptom, and no part of which is a name of the vocabulary."""
    rng = Random(mention_set.key)
    concepts = read_concepts(data, mention_set.kb)
    known = {words_of(normalize_name(name)) for concept in concepts for name in concept.names}
    tokens = [(*row, "")[:2] for row in _rows(data / POSTS)]
    used: set[str] = set()
    for start in rng.sample(range(len(tokens)), len(tokens)):
        (n,) = rng.choices(range(1, MAX_WORDS + 1), (1, 4, 5, 5))
        phrase = tokens[start : start + n]
        text = " ".join(word for word, _ in phrase)
        words = words_of(text.lower())
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
    """RETURNS (list[str]): DrugBank's drugs of one word of which MeSH has no name, of 2019 or 2024,
    descriptors or supplementary."""
    known = {normalize_name(n) for c in read_concepts(data, "MESH") for n in c.names}
    for table in (VOCABULARIES["MESH_2024"], SUPPLEMENTARY):
        cells = (name for row in _rows(data / table) for cell in row for name in cell.split("|"))
        known.update(map(normalize_name, cells))
    drugs = set()
    with gzip.open(data / "vocab/chemical/drugbank_vocabulary_CC0.csv.gz") as stream:
        for row in csv.DictReader(io.TextIOWrapper(stream, "utf8")):
            name = row["Common name"]
            names = [name, *filter(None, row["Synonyms"].split(" | "))]
            is_word = name.isalpha() and name.isascii() and len(name) >= MIN_DRUG
            if is_word and known.isdisjoint(map(normalize_name, names)):
                drugs.add(name.lower())
    return sorted(drugs)


def made_up_drugs(n: int = 400) -> list[str]:
    """RETURNS (list[str]): syllables and stems, the same each time."""
    rng, syllables, stems = Random(7), SYLLABLES.split(), STEMS.split()
    names = ([*rng.choices(syllables, k=rng.randint(2, 3)), rng.choice(stems)] for _ in range(n))
    return sorted(set(map("".join, names)))


def with_drugs(data: Path, names: Sequence[str]) -> Iterator[CorpusDocument]:
    """YIELDS (CorpusDocument): of BC5CDR, with each chemical that a document names replaced by
    another of the names, the same one in all places; the first of them is its mention."""
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
    """data (Path), kb (str): a key of `VOCABULARIES`. YIELDS (Concept): all of it."""
    path = data / VOCABULARIES[kb]
    if path.suffix == ".zip":
        with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(path) as archive:
            (name,) = (n for n in archive.namelist() if n.endswith(".obo"))
            yield from read_vocabulary(Path(archive.extract(name, folder)))
    elif kb in TABLES:
        code, column = TABLES[kb]
        names: defaultdict[str, dict[str, None]] = defaultdict(dict)
        for row in _rows(path):
            # labels of DrugCentral's table stand beside synonyms of other drugs
            if re.search(r"\d", row[code]) and row[column] and "rdfs:label" not in row:
                names[row[code]][row[column]] = None
        for concept_id, (first, *others) in names.items():
            yield Concept(concept_id, first, tuple(others))
    else:
        for concept in read_vocabulary(path):
            if kb == "PO":
                # without names in other languages
                names_left = (n for n in concept.aliases if not OTHER_LANGUAGE.search(n))
                plain = tuple(PO_REMARK.sub("", n) for n in names_left)
                concept = replace(concept, aliases=plain, scopes=())
            yield concept


def _rows(path: Path) -> Iterator[list[str]]:
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf8", errors="replace") as lines:
        yield from (line.rstrip("\r\n").split("\t") for line in lines if line[0] != "#")


def _pubtator(path: Path) -> Iterator[CorpusDocument]:
    return iter(read_corpus(path, "pubtator", strict=False))


def craft_documents(data: Path, name: str, label: str) -> Iterator[CorpusDocument]:
    """data (Path), name (str): `craft`, its training part, or `craft_dev`. label (str): an
    ontology. YIELDS (CorpusDocument): with its mentions in one piece."""
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
