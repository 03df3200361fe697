"""Every format with files that are damaged at random: documents or concepts that keep the rules, or
an AngelError that names the file; nothing else, and soon.

The seeds are the fixtures, and files under `tests/fixtures/fuzz` that once broke a reader. With
--slow each format is tried for SPACY_ANGEL_FUZZ_SECONDS, a minute if not set.
"""

import gzip
import os
import shutil
from itertools import count
from time import monotonic, process_time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import seed as seed_examples
from hypothesis import strategies as st
from support.helpers import ROOT

from spacy_angel.corpora.documents import CorpusDocument, GoldMention
from spacy_angel.corpora.registry import FORMATS as CORPUS_FORMATS
from spacy_angel.corpora.registry import read_corpus
from spacy_angel.errors import AngelError
from spacy_angel.vocabulary.sources.formats.registry import FORMATS as VOCABULARY_FORMATS
from spacy_angel.vocabulary.sources.formats.registry import read_vocabulary

FIXTURES = ROOT / "tests/fixtures"
REGISTRIES = {"corpus": CORPUS_FORMATS, "vocabulary": VOCABULARY_FORMATS}
SEEDS = {
    "corpus": {
        "askapatient": ["AskAPatient.fold-0.test.txt"],
        "bigbio": ["bigbio.jsonl"],
        "bioc_json": ["bioc.json"],
        "bioc_xml": ["bioc.xml"],
        "brat": ["brat"],
        "cometa": ["cometa/train.csv"],
        "label_studio": ["label_studio.json"],
        "pubtator": ["CDR_sample.PubTator.txt", "corpus_pubtator.txt", "biored.pubtator"],
    },
    "vocabulary": {
        "ctd.v1": ["ctd_diseases.tsv", "ctd_chemicals.tsv"],
        "drugbank.v1": ["drugbank.csv"],
        "fhir.v1": ["code_system.json"],
        "gene_info.v1": ["gene_info.tsv"],
        "hgnc.v1": ["hgnc.txt"],
        "rxnorm.v1": ["RXNCONSO.RRF"],
        "icd10cm.v1": ["icd10cm_order.txt"],
        "medic.v1": ["medic.txt"],
        "mesh_xml.v1": ["desc.xml", "supp.xml"],
        "ncbi_taxonomy.v1": ["taxonomy"],
        "obo.v1": ["ontology.obo"],
        "obographs.v1": ["obographs.json"],
        "omop.v1": ["omop"],
        "rdf.v1": ["ontology.owl", "thesaurus.ttl"],
        "scispacy.v1": ["scispacy.jsonl"],
        "snomed.v1": ["snomed"],
        "table.v1": ["table.tsv", "table.csv"],
        "target_kb.v1": ["target_kb.json"],
        "umls.v1": ["umls"],
    },
}
FOLDERS = {"corpus": FIXTURES / "corpora", "vocabulary": FIXTURES / "vocabularies"}
# Written by the test, for their files are not text.
MADE = ("parquet", "docbin")
# Tables of `ground` are read only where a column is named.
CASES = [
    (kind, name) for kind, registry in REGISTRIES.items() for name in registry if name != "grounded"
]
EXAMPLES = 40
MINUTE = float(os.environ.get("SPACY_ANGEL_FUZZ_SECONDS", "60"))
# CPU time of one file of a few kilobytes, with the other work of a busy machine.
SECONDS_A_FILE = 5

TOKENS = [
    *(b"\t", b"\n", b"|", b'"', b"<", b"{", b"[", b"]", b"}", b",", b":", b"\\", b"&", b"="),
    *(b"\x00", b"\xff", b"\xef\xbb\xbf", b"\x1f\x8b", b"\\ud800", b"-1", b"1e999999", b"null"),
    *(b"9" * 5000, b"[" * 2000, b"{" * 2000, b"<a>" * 500, b" " * 5000, b"|" * 5000, b"true"),
]


def mutations(content):
    """Up to three pieces of the content replaced, doubled or cut; often packed, rarely cut then."""
    place = st.integers(0, len(content))
    new = st.sampled_from(TOKENS) | st.binary(max_size=8)
    edit = st.tuples(place, st.integers(0, 40) | place, new | st.none())

    def apply(edits):
        data = content
        for start, length, put in edits:
            piece = data[start : start + length]
            data = data[:start] + (piece * 2 if put is None else put) + data[start + length :]
        return data

    edited = st.lists(edit, max_size=3).map(apply)
    packed = edited.map(lambda data: gzip.compress(data, 1))
    return edited | packed | packed.map(lambda data: data[: 2 * len(data) // 3])


def seeds_of(kind, name):
    for seed in SEEDS[kind].get(name, ()):
        yield FOLDERS[kind] / seed
    folder = FIXTURES / "fuzz" / kind / name
    kept = sorted(folder.iterdir()) if folder.is_dir() else []
    yield from kept


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Name of each format in MADE that can be written here → a file."""
    folder = tmp_path_factory.mktemp("seeds")
    mention = GoldMention(0, 12, "heart attack", "Disease", "MESH:D009203")
    document = CorpusDocument("1", "heart attack and more", (mention,), title_end=12)

    from spacy_angel.corpora.formats.docbin import write_docbin

    write_docbin([document], folder / "docbin")
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    row = {"doc_id": "1", "text": document.text, "title_end": 12}
    row |= {"mentions": [{"start": 0, "end": 12, "label": "Disease"}]}
    pq.write_table(pa.Table.from_pylist([row] * 3), folder / "parquet")
    return {name: folder / name for name in MADE}


def check(kind, name, path):
    """Read a file as a format and hold what comes against the rules."""
    began = process_time()
    for strict in (True, False) if kind == "corpus" else (True,):
        message = str(path)
        try:
            if kind == "corpus":
                for document in read_corpus(path, name, strict=strict):
                    check_document(document)
            else:
                check_concepts(path, name)
        except AngelError as error:
            message = str(error)
        assert str(path) in message
    assert process_time() - began < SECONDS_A_FILE


def check_document(document):
    document.text.encode("utf8")
    document.doc_id.encode("utf8")
    for mention in document.mentions:
        assert document.text[mention.start : mention.end] == mention.text
        assert mention.text.strip()


def check_concepts(path, name):
    concepts = list(read_vocabulary(path, name))
    assert concepts
    for concept in concepts:
        assert concept.concept_id
        assert all(each.strip() for each in concept.names)
        "".join((*concept.names, concept.definition or "")).encode("utf8")


def fuzz(kind, name, seeds, folders, examples, *, round_number=0):
    def damaged(data):
        seed = data.draw(st.sampled_from(seeds))
        path = folders.mktemp("fuzz") / f"x{seed.suffix}"
        if seed.is_file():
            path.write_bytes(data.draw(mutations(seed.read_bytes()) | st.binary(max_size=300)))
        else:
            shutil.copytree(seed, path)
            file = data.draw(st.sampled_from(sorted(p for p in seed.rglob("*") if p.is_file())))
            content = data.draw(mutations(file.read_bytes()))
            (path / file.relative_to(seed)).write_bytes(content)
        check(kind, name, path)
        shutil.rmtree(path.parent)

    checks = [HealthCheck.too_slow, HealthCheck.data_too_large]
    limits = settings(max_examples=examples, deadline=None, suppress_health_check=checks)
    test = given(data=st.data())(damaged)
    if round_number:
        # Other examples in each round, but the same ones in each run, so that CI repeats itself.
        limits = settings(limits, derandomize=False, database=None)
        test = seed_examples(round_number)(test)
    limits(test)()


@pytest.mark.parametrize(("kind", "name"), CASES)
def test_every_format_has_seeds_that_are_read(kind, name):
    seeds = list(seeds_of(kind, name))
    assert seeds or name in MADE
    for seed in seeds:
        check(kind, name, seed)


@pytest.fixture
def seeds(kind, name, request):
    made = [request.getfixturevalue("made")[name]] if name in MADE else []
    return [*made, *seeds_of(kind, name)]


@pytest.mark.filterwarnings("ignore:.*the last line has no line break,")
@pytest.mark.parametrize(("kind", "name"), CASES)
def test_damaged_files(kind, name, seeds, tmp_path_factory):
    fuzz(kind, name, seeds, tmp_path_factory, EXAMPLES)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*the last line has no line break,")
@pytest.mark.parametrize(("kind", "name"), CASES)
def test_a_minute_of_damaged_files(kind, name, seeds, tmp_path_factory):
    end = monotonic() + MINUTE
    for round_number in count(1):
        if monotonic() > end:
            break
        fuzz(kind, name, seeds, tmp_path_factory, 50, round_number=round_number)
