"""Corpora without identifiers that mark genes, species or chemicals, for the recogniser of six
kinds.

    python tools/build_gene_corpora.py DATA OUT

DATA has `bc2gm/` and `more/corpora/drugprot_train_part.jsonl.gz` as JSON lines (`{"id", "text",
"mentions": [[type, identifier or nothing, [[start, end], …]], …]}`) and `mtl_iob/` in columns; OUT
is what `tools/build_six_types.py` wrote, where `raw/` gets a file a corpus. The columns do not say
of which article a sentence is: those that stand in a text that the recogniser holds out are left
out.
"""

import gzip
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Annotated

import typer
from build_six_types import BIORED, CORPORA, GSC, NCBI, TMVAR
from build_training_data import CDR, DEV

from spacy_angel.corpora.documents import CorpusDocument, GoldMention
from spacy_angel.corpora.formats.bioc import write_bioc_json
from spacy_angel.corpora.registry import read_corpus
from spacy_angel.training.course.config import find_config
from spacy_angel.training.recogniser.config import load_recogniser_config
from spacy_angel.training.recogniser.texts import digit_of

JSON_LINES = {
    "bc2gm": ("bc2gm/bc2gm_train", "bc2gm/bc2gm_devel"),
    "drugprot": ("more/corpora/drugprot_train_part",),
}
COLUMNS = ("BioNLP13CG",)
KINDS = {
    "GENE": "Gene",
    # of DrugProt, families among them
    "Gene": "Gene?",
    "Chemical": "Chemical",
    "Gene_or_gene_product": "Gene",
    "Organism": "Species",
}
# Organisms of BioNLP above all species; other corpora do not mark them.
_GENERAL = re.compile(
    r"(?:animal|individual|species|mammal|vertebrate|invertebrate|organism|plant|eukaryote|virus"
    r"|prokaryote|microorganism|bacterium|pathogen|strain|primate|rodent|metazoan|microbe)s?"
    r"|mammalian|bacteria[l]?|eukaryotic|prokaryotic|bacterial|viral|microbial|transgenic mice",
    re.IGNORECASE,
)
_SENTENCES = 8
_SHORTEST = 30
_NO_BLANK_BEFORE = re.compile(r" (?=[-/,.;:)\]%'])")
_NO_BLANK_AFTER = re.compile(r"(?<=[-/(\[']) ")
_LETTERS = re.compile(r"[\W_]+")
Token = tuple[str, str]


def build(
    data: Annotated[Path, typer.Argument(help="Folder of the corpora.")],
    output: Annotated[Path, typer.Argument(help="Folder of `tools/build_six_types.py`.")],
) -> None:
    """Write `raw/NAME.json` for each corpus."""
    held = held_texts(data)
    for name, files in JSON_LINES.items():
        write(name, from_json_lines(name, (data / f"{file}.jsonl.gz" for file in files)), output)
    seen: set[str] = set()
    for name in COLUMNS:
        columns = [data / "mtl_iob" / f"{name}-IOB_{part}.tsv.gz" for part in ("train", "devel")]
        sentences = []
        for sentence in chain.from_iterable(map(read_columns, columns)):
            letters = only_letters("".join(word for word, _ in sentence))
            if letters not in seen and not (len(letters) >= _SHORTEST and letters in held):
                sentences.append(sentence)
            seen.add(letters)
        write(name.lower(), from_sentences(name.lower(), sentences), output)


def write(name: str, documents: Iterable[CorpusDocument], output: Path) -> None:
    """Write a corpus, and how large it is."""
    own = list(documents)
    n = sum(len(document.mentions) for document in own)
    typer.echo(f"raw/{name}.json: {len(own):,} documents, {n:,} mentions")
    write_bioc_json(own, output / "raw" / f"{name}.json")


def held_texts(data: Path) -> str:
    """RETURNS (str): letters and digits of all texts that the recogniser does not learn from."""
    settings = load_recogniser_config(find_config("recogniser")).data
    files = (NCBI.format("train"), CDR.format("Training"), BIORED, TMVAR)
    own = [
        read_corpus(data / file, "pubtator", strict=False)
        for file in (*files, *(row[0] for row in CORPORA.values()))
    ]
    own.append(read_corpus(data / GSC, "gsc"))
    held = {*settings.choose, *settings.last_look}
    texts = [d.text for d in chain(*own) if digit_of(d.doc_id) in held]
    texts += [d.text for file in DEV for d in read_corpus(data / file, "pubtator")]
    return "\n".join(map(only_letters, texts))


def only_letters(text: str) -> str:
    """RETURNS (str): letters and digits, in lower case."""
    return _LETTERS.sub("", text).lower()


def from_json_lines(name: str, files: Iterable[Path]) -> Iterator[CorpusDocument]:
    """RETURNS (Iterator[CorpusDocument]): mentions of known kinds; those with a gap are open."""
    for file in files:
        for line in gzip.decompress(file.read_bytes()).decode().splitlines():
            record = json.loads(line)
            text = record["text"]
            mentions = []
            for label, *_, spans in record["mentions"]:
                if label in KINDS:
                    start, end = spans[0][0], spans[-1][1]
                    mention = GoldMention(start, end, text[start:end], KINDS[label])
                    mentions.append(as_open(mention) if len(spans) > 1 else mention)
            yield CorpusDocument(
                article_id(name, record["id"]), text, tuple(map(without_general, mentions))
            )


def article_id(name: str, identifier: str) -> str:
    """RETURNS (str): with the article's number as PubMed writes it: `P00008171T0000` is of 8171."""
    found = re.fullmatch(r"P(\d{8})([A-Z]\d{4})", identifier)
    return f"{name}:{int(found[1])}:{found[2]}" if found else f"{name}:{identifier}"


def without_general(mention: GoldMention) -> GoldMention:
    """RETURNS (GoldMention): open, where a word above all species is marked as one."""
    general = mention.label == "Species" and _GENERAL.fullmatch(mention.text)
    return as_open(mention) if general else mention


def as_open(mention: GoldMention) -> GoldMention:
    """RETURNS (GoldMention): which may or may not be one of its kind."""
    return replace(mention, label=mention.label.removesuffix("?") + "?")


def read_columns(path: Path) -> Iterator[list[Token]]:
    """RETURNS (Iterator[list[Token]]): sentences of words with their tags."""
    sentence: list[Token] = []
    for line in gzip.decompress(path.read_bytes()).decode().split("\n"):
        if cells := line.strip():
            word, *_, tag = cells.split("\t")
            sentence.append((word, tag))
        elif sentence:
            yield sentence
            sentence = []
    if sentence:
        yield sentence


def from_sentences(name: str, sentences: Sequence[list[Token]]) -> Iterator[CorpusDocument]:
    """RETURNS (Iterator[CorpusDocument]): some sentences each, which follow one another."""
    for first in range(0, len(sentences), _SENTENCES):
        texts: list[str] = []
        mentions: list[GoldMention] = []
        offset = 0
        for sentence in sentences[first : first + _SENTENCES]:
            text, spans = detokenised(sentence)
            mentions += [
                GoldMention(offset + a, offset + b, text[a:b], KINDS[label])
                for a, b, label in spans
                if label in KINDS
            ]
            texts.append(text)
            offset += len(text) + 1
        yield CorpusDocument(
            f"{name}:{first}", " ".join(texts), tuple(map(without_general, mentions))
        )


def detokenised(sentence: Sequence[Token]) -> tuple[str, list[tuple[int, int, str]]]:
    """RETURNS (tuple[str, list[tuple[int, int, str]]]): the words without the blanks that the
    columns put around hyphens and stops, and where the mentions stand."""
    spaced = " ".join(word for word, _ in sentence)
    dropped = {m.start() for m in _NO_BLANK_BEFORE.finditer(spaced)}
    dropped |= {m.start() for m in _NO_BLANK_AFTER.finditer(spaced)}
    place: list[int] = []
    kept: list[str] = []
    for i, character in enumerate(spaced):
        place.append(len(kept))
        if i not in dropped:
            kept.append(character)
    spans: list[tuple[int, int, str]] = []
    at = 0
    for word, tag in sentence:
        start, end = place[at], place[at + len(word) - 1] + 1
        if tag.startswith("B-"):
            spans.append((start, end, tag[2:]))
        elif tag.startswith("I-") and spans:
            spans[-1] = (spans[-1][0], end, spans[-1][2])
        at += len(word) + 1
    return "".join(kept), spans


if __name__ == "__main__":
    typer.run(build)
