"""Names in running text: `angel_matcher`, an Aho-Corasick automaton over words, beside spaCy's
PhraseMatcher.

    python benchmarks/matcher.py --data ../shared/data --names 1000000

All look for the same names in the same documents, which are tokenised before; each in a process of
its own, on one core. PhraseMatcher stands there twice: over lower-cased tokens, as it is mostly
used, where hyphens and plurals make other names; and over the words that `angel_matcher` compares.
Prints one JSON line a side, and one with the rate of `angel_matcher` divided by that of each other:

    compile_s        CPU time until the first document is through
    tokens_a_second  of CPU time, all that the component does, labels and `doc.ents` included
    mentions         found
    peak_mib         most memory in use, documents and vocabulary included
"""

import gzip
import json
import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from resource import RUSAGE_SELF, getrusage
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any

import typer
from measuring import in_new_process

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

VOCABULARIES = (
    "mesh/mesh_2019_descriptors.tsv",
    "medic/CTD_diseases_2017-06.tsv.gz",
    "doid/doid.obo",
    "vocab/phenotype/hp_2016-04-01.obo.gz",
    "vocab/cell/cl-simple_2026-03-26.obo.gz",
    "vocab/anatomy/uberon-basic_2015-04-23.obo.gz",
    "vocab/species/taxslim.obo.gz",
    "vocab/gene/Homo_sapiens.gene_info.gz",
    "vocab/gene/Mus_musculus.gene_info.gz",
    "vocab/gene/Danio_rerio.gene_info.gz",
    "vocab/gene/Drosophila_melanogaster.gene_info.gz",
)
TEXTS = "raw_text/medline16n0005.jsonl.gz"


def main(
    data: Annotated[Path, typer.Option(help="Folder with vocabularies and texts.")] = Path(
        "../shared/data"
    ),
    names: Annotated[int, typer.Option(help="Distinct names, in normal form.")] = 1_000_000,
    documents: Annotated[int, typer.Option(help="Abstracts to read.")] = 1000,
    alone: Annotated[bool, typer.Option("--alone", help="Without PhraseMatcher.")] = False,
) -> None:
    """Measure all sides."""
    with TemporaryDirectory() as folder:
        kb = Path(folder) / "kb"
        in_new_process(build, data, names, kb)
        rates = {}
        for name, make in list(SIDES.items())[: 1 if alone else None]:
            figures = in_new_process(measure, make, kb, data, documents)
            rates[name] = figures["tokens_a_second"]
            typer.echo(json.dumps({"side": name, **figures}))
        own, *others = rates
        ratios = {name: round(rates[own] / rates[name], 2) for name in others}
        typer.echo(json.dumps({"ratio": ratios}))


def build(data: Path, n: int, path: Path) -> None:
    """data (Path): folder of vocabularies. n (int): names. path (Path): vocabulary to write."""
    from spacy_angel.vocabulary.kb import ConceptKB
    from spacy_angel.vocabulary.names.concepts import Concept, normalize_name
    from spacy_angel.vocabulary.sources.formats.registry import read_vocabulary

    spellings: dict[str, str] = {}
    for file in VOCABULARIES:
        for concept in read_vocabulary(data / file):
            for name in concept.names:
                if len(spellings) < n and (normal := normalize_name(name)):
                    spellings.setdefault(normal, name)
    if len(spellings) < n:
        raise SystemExit(f"There are {len(spellings):,} names in {data}, {n:,} were asked for.")
    ConceptKB.build((Concept(f"X:{i}", name) for i, name in enumerate(spellings.values())), path)


def measure(
    make: "Callable[[Path], tuple[Language, Callable[[Doc], Doc]]]",
    kb: Path,
    data: Path,
    n_documents: int,
) -> dict[str, Any]:
    """make (Callable[[Path], tuple[Language, Callable[[Doc], Doc]]]): a side, given the
    vocabulary. kb (Path): vocabulary. data (Path): folder of texts. n_documents (int): how many.
    RETURNS (dict[str, Any]): figures."""
    start = time.process_time()
    nlp, find = make(kb)
    find(nlp.make_doc("A text."))
    compile_s = time.process_time() - start
    docs = [nlp.make_doc(text) for text in islice(_texts(data / TEXTS), n_documents)]
    start = time.process_time()
    for doc in docs:
        find(doc)
    seconds = time.process_time() - start
    tokens = sum(map(len, docs))
    return {
        "tokens": tokens,
        "mentions": sum(len(doc.ents) for doc in docs),
        "compile_s": round(compile_s, 1),
        "tokens_a_second": round(tokens / seconds),
        "peak_mib": getrusage(RUSAGE_SELF).ru_maxrss // 1024,
    }


def our_pipeline(kb: Path) -> "tuple[Language, Callable[[Doc], Doc]]":
    """kb (Path): vocabulary. RETURNS: a pipeline and its matcher."""
    import spacy

    nlp = spacy.blank("en")
    nlp.add_pipe("angel_linker", config={"vocabulary": str(kb)})
    config = {"names": "all", "min_length": 1, "stop_words": []}
    return nlp, nlp.add_pipe("angel_matcher", before="angel_linker", config=config)


def phrase_pipeline(kb: Path) -> "tuple[Language, Callable[[Doc], Doc]]":
    """kb (Path): vocabulary. RETURNS: a pipeline and a function that sets `doc.ents` to what
    PhraseMatcher finds, the longest first."""
    import spacy
    from spacy.matcher import PhraseMatcher
    from spacy.tokens import Doc
    from spacy.util import filter_spans

    from spacy_angel.vocabulary.kb import ConceptKB

    nlp = spacy.blank("en")
    matcher = PhraseMatcher(nlp.vocab, attr="LOWER")
    vocabulary = ConceptKB.from_disk(kb)
    matcher.add("CONCEPT", [nlp.make_doc(concept.canonical_name) for concept in vocabulary])

    def find(doc: Doc) -> Doc:
        doc.ents = filter_spans(matcher(doc, as_spans=True))
        return doc

    return nlp, find


def folded_pipeline(kb: Path) -> "tuple[Language, Callable[[Doc], Doc]]":
    """kb (Path): vocabulary. RETURNS: as `phrase_pipeline`, over the words and with the case and
    number of `angel_matcher`, abbreviations folded as well."""
    import spacy
    from spacy.matcher import PhraseMatcher
    from spacy.tokens import Doc
    from spacy.util import filter_spans

    from spacy_angel.vocabulary.kb import ConceptKB
    from spacy_angel.vocabulary.lookup.occurrences import fold_word, split_words, words_of_name

    nlp = spacy.blank("en")
    matcher = PhraseMatcher(nlp.vocab)
    names = (words_of_name(concept.canonical_name) for concept in ConceptKB.from_disk(kb))
    matcher.add("CONCEPT", [Doc(nlp.vocab, list(map(fold_word, words))) for words in names])

    def find(doc: Doc) -> Doc:
        words = split_words(doc.text)
        folded = Doc(nlp.vocab, [fold_word(word) for word, _ in words])
        found = filter_spans(matcher(folded, as_spans=True))
        spans = (
            doc.char_span(words[s.start][1].start(), words[s.end - 1][1].end(), label=s.label)
            for s in found
        )
        doc.ents = [span for span in spans if span is not None]
        return doc

    return nlp, find


SIDES = {
    "angel_matcher": our_pipeline,
    "PhraseMatcher": phrase_pipeline,
    "PhraseMatcher over folded words": folded_pipeline,
}


def _texts(path: Path) -> Iterator[str]:
    with gzip.open(path, "rt", encoding="utf8") as file:
        for citation in map(json.loads, file):
            if citation["abstract"]:
                yield f"{citation['title']} {citation['abstract']}"


if __name__ == "__main__":
    typer.run(main)
