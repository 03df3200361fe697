"""Measure what noise in every mention of a corpus does to recogniser and linker.

    python benchmarks/noise.py ../shared/data/bc5cdr/CDR_DevelopmentSet.PubTator.txt

Fifteen kinds of noise as extracts from PDF and HTML have them, each put into every mention that it
fits, or with `--everywhere` into the whole text; with `--as-it-stands` no component reads the noise
away, as before there was a cleaned view. `--speed` measures what reading costs instead.

A document that is read as it is without noise counts with what was found in that; with `--whole`
each is linked again.

`same`: of all mentions, given, those with the link that they have in the text without noise;
`right`: those linked to one of their identifiers. From text: mentions found, and linked right, as
F-score, with exactly the characters of the text without noise and their type, of the types that the
corpus marks.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from statistics import median
from time import process_time
from typing import TYPE_CHECKING, Annotated, NamedTuple

import torch
import typer
from spacy.tokens import Doc, SpanGroup

from spacy_angel.component import characters
from spacy_angel.corpora.documents import CorpusDocument, GoldMention
from spacy_angel.corpora.entity_types import entity_type
from spacy_angel.corpora.preprocessing import Preprocessing, preprocess
from spacy_angel.corpora.registry import read_corpus
from spacy_angel.linking.linker import AngelLinker
from spacy_angel.pipelines.components import components_before, name_of
from spacy_angel.pipelines.load import open_pipeline
from spacy_angel.search.cached import SearchCache

if TYPE_CHECKING:
    from spacy.language import Language

Pieces = Iterable[tuple[str, int]]
"""What stands in a noisy text, and for how many characters of the text without noise."""
_KEY = "given"


def between_letters(mark: str) -> Callable[[str], Pieces]:
    """mark (str): put into the middle of each word of four letters and more."""

    def put(mention: str) -> Pieces:
        for word in mention.split(" "):
            half = len(word) // 2
            yield from ((character, 1) for character in word[:half])
            if len(word) > 3 and word[half - 1 : half + 1].isalpha():
                yield mark, 0
            yield from ((character, 1) for character in word[half:])
            yield " ", 1

    return lambda mention: _without_last(put(mention))


def around(first: str, last: str) -> Callable[[str], Pieces]:
    """first (str), last (str): put before and behind the mention."""
    return lambda mention: [(first, 0), *((c, 1) for c in mention), (last, 0)]


def instead(**marks: str) -> Callable[[str], Pieces]:
    """marks (str): what stands instead of a character."""
    return lambda mention: [(marks.get(c, c), 1) for c in mention]


def at_blanks(mark: str) -> Callable[[str], Pieces]:
    """mark (str): put behind each blank."""
    return lambda mention: [
        (c, n) for x in mention for c, n in ((x, 1), (mark if x == " " else "", 0))
    ]


def hyphens_at_line_ends(mention: str) -> Pieces:
    """A word with a hyphen of its own, broken behind it: `insulin-dependent`."""
    before, behind = f" {mention}", f"{mention[1:]} "
    for c, last, following in zip(mention, before, behind, strict=False):
        is_in_word = c == "-" and last.isalpha() and following.isalpha()
        yield ("-\n" if is_in_word else c), 1


def ligatures(mention: str) -> Pieces:
    """Letters that are printed as one."""
    i = 0
    while i < len(mention):
        for letters, sign in (("ffi", "ﬃ"), ("ffl", "ﬄ"), ("fi", "ﬁ"), ("fl", "ﬂ"), ("ff", "ﬀ")):
            if mention.startswith(letters, i):
                yield sign, len(letters)
                i += len(letters)
                break
        else:
            yield mention[i], 1
            i += 1


def full_width(mention: str) -> Pieces:
    """Letters and digits as wide as Chinese ones."""
    return [(chr(ord(c) + 0xFEE0) if c.isascii() and c.isalnum() else c, 1) for c in mention]


NOISE: dict[str, Callable[[str], Pieces]] = {
    "none": lambda mention: [(c, 1) for c in mention],
    "zero-width blanks in words": between_letters("\u200b"),
    "zero-width blanks around": around("\u200b", "\u200b"),
    "bidirectional marks around": around("\u202e", "\u202c"),
    "soft hyphens in words": between_letters("\u00ad"),
    "soft hyphens at line ends": between_letters("\u00ad\n"),
    "hyphens at line ends": between_letters("-\n"),
    "NUL in words": between_letters("\0"),
    "NUL for blanks": instead(**{" ": "\0"}),
    "zero-width blanks for blanks": instead(**{" ": "\u200b"}),
    "words with hyphens at line ends": hyphens_at_line_ends,
    "word joiners at blanks": at_blanks("\u2060"),
    "byte-order marks around": around("\ufeff", "\ufeff"),
    "ligatures": ligatures,
    "full-width letters": full_width,
    "blanks and hyphens that do not break": instead(**{" ": "\u00a0", "-": "\u2011"}),
}


@dataclass(frozen=True)
class Noisy:
    """A document with noise.

    text (str): n characters. origins (list[tuple[int, int]]): of each the characters of the text
        without noise; empty for those that it has not.
    places (list[tuple[int, int]]): of the mentions.
    """

    text: str
    origins: list[tuple[int, int]]
    places: list[tuple[int, int]]

    def origin(self, start: int, end: int) -> tuple[int, int]:
        """RETURNS (tuple[int, int]): characters of the text without noise."""
        some = [place for place in self.origins[start:end] if place[0] < place[1]]
        return (some[0][0], some[-1][1]) if some else (0, 0)


def make_noisy(
    document: CorpusDocument, noise: Callable[[str], Pieces], everywhere: bool = False
) -> Noisy:
    """RETURNS (Noisy): with noise in its mentions, of those that overlap in the first; or in the
    text between them as well."""
    other = noise if everywhere else NOISE["none"]
    parts: list[str] = []
    origins: list[tuple[int, int]] = []
    starts: dict[int, int] = {}
    ends: dict[int, int] = {}
    place = 0

    def put(pieces: Pieces) -> None:
        nonlocal place
        for piece, n in pieces:
            starts.setdefault(place, len(origins)) if n else None
            parts.append(piece)
            origins.extend([(place, place + n)] * len(piece))
            place += n
            if n:
                ends[place] = len(origins)

    for mention in sorted(document.mentions, key=lambda m: (m.start, -m.end)):
        if mention.start >= place:
            put(other(document.text[place : mention.start]))
            put(noise(document.text[mention.start : mention.end]))
    put(other(document.text[place:]))
    places = [
        (
            max((at for i, at in starts.items() if i <= m.start), default=0),
            min((at for i, at in ends.items() if i >= m.end), default=len(origins)),
        )
        for m in document.mentions
    ]
    return Noisy("".join(parts), origins, places)


def main(
    corpus: Annotated[Path, typer.Argument(help="Diseases and chemicals with their identifiers.")],
    pipeline: Annotated[str, typer.Option(help="Name or folder.")] = "en_angel_mini",
    documents: Annotated[int | None, typer.Option(help="The first ones; default: all.")] = None,
    kinds: Annotated[str, typer.Option(help="Of `NOISE`, parts of names, joined by commas.")] = "",
    everywhere: Annotated[
        bool, typer.Option("--everywhere", help="Noise in the whole text, not in mentions alone.")
    ] = False,
    words: Annotated[
        bool,
        typer.Option(help="Read noise between two words of the list as their blank or hyphen."),
    ] = True,
    as_it_stands: Annotated[
        bool, typer.Option("--as-it-stands", help="Read no noise away.")
    ] = False,
    whole: Annotated[
        bool, typer.Option("--whole", help="Link each document, however it is read.")
    ] = False,
    speed: Annotated[
        int,
        typer.Option(help="So many rounds over the texts without noise, by both ways of reading."),
    ] = 0,
) -> None:
    """Print a Markdown table."""
    torch.set_num_threads(1)
    if not words:
        characters._words = dict  # type: ignore[assignment]
    nlp, linker = open_pipeline(pipeline)
    if speed:
        print_speed(nlp, [one.text for one in islice(read_documents(corpus), documents)], speed)
        return
    with reading_as_it_stands() if as_it_stands else nullcontext():
        some = list(islice(read_documents(corpus), documents))
        print_noise(nlp, linker, some, kinds.split(","), everywhere, whole)


@contextmanager
def reading_as_it_stands() -> Iterator[None]:
    """No component finds noise in a text, nor does the tokenizer."""
    patterns = characters._NOISE, characters._NOISE_OF_ASCII
    characters._NOISE = characters._NOISE_OF_ASCII = re.compile(r"(?!)")
    try:
        yield
    finally:
        characters._NOISE, characters._NOISE_OF_ASCII = patterns


def print_speed(nlp: "Language", texts: list[str], rounds: int) -> None:
    """Print processor time of a round, the median of rounds in turns, without a cache."""
    seconds: dict[bool, list[float]] = {True: [], False: []}
    for number in range(2 * rounds + 1):
        is_read = number % 2 == 0
        with nullcontext() if is_read else reading_as_it_stands():
            begin = process_time()
            for _ in nlp.pipe(texts, batch_size=32):
                pass
            seconds[is_read].append(process_time() - begin)
    # The first round loads what is loaded when it is asked for.
    read, unread = seconds[True][1:], seconds[False]
    by_round = [f"{100 * (a / b - 1):+.1f}" for a, b in zip(read, unread, strict=True)]
    print(f"{len(texts)} texts, {rounds} rounds, seconds of the processor:")
    print(f"{median(read):.2f} read, {median(unread):.2f} as they stand, by round {by_round} %")


def print_noise(
    nlp: "Language",
    linker: AngelLinker,
    documents: list[CorpusDocument],
    kinds: list[str],
    everywhere: bool,
    whole: bool,
) -> None:
    """Print a Markdown table, a row for each kind of noise."""
    # A mention that is read as another one was, in the same text, is not searched again.
    linker.search_cache = SearchCache()
    print("| noise | linked again | given: same | given: right | from text: mentions | links |")
    print("|---|---|---|---|---|---|", flush=True)
    gold = [ids_of(m, linker) for document in documents for m in document.mentions]
    labels = {m.label for document in documents for m in document.mentions}
    clean: list[Result] = []
    for name, noise in NOISE.items():
        if clean and not any(kind in name for kind in kinds):
            continue
        noisy = [make_noisy(document, noise, everywhere) for document in documents]
        again = [
            place
            for place, (one, document) in enumerate(zip(noisy, documents, strict=True))
            if whole
            or not clean
            or characters.read(one.text).text != characters.read(document.text).text
        ]
        chosen = [documents[i] for i in again], [noisy[i] for i in again]
        links = link_given(nlp, linker, *chosen)
        counts = find(nlp, linker, *chosen, labels)
        anew = (Result(one, *some) for one, some in zip(list(links), counts, strict=True))
        results = dict(enumerate(clean)) | dict(zip(again, anew, strict=True))
        clean = clean or list(results.values())
        some = [results[place] for place in range(len(documents))]
        linked_to = [link for one in some for link in one.links]
        unnoisy = [link for one in clean for link in one.links]
        same = sum(a == b for a, b in zip(linked_to, unnoisy, strict=True))
        right = sum(link in ids for link, ids in zip(linked_to, gold, strict=True))
        n_found = sum(one.found for one in some)
        found, linked = (
            2 * sum(hits) / (len(gold) + n_found)
            for hits in zip(*((one.right, one.linked) for one in some), strict=True)
        )
        rates = (same / len(gold), right / sum(map(bool, gold)), found, linked)
        cells = [name, str(len(again)), *(f"{100 * rate:.1f}" for rate in rates)]
        print("| " + " | ".join(cells) + " |", flush=True)


class Result(NamedTuple):
    """links (list[str]): of the mentions of a document, given. found, right, linked (int): mentions
    found in its text, those on their characters with their label, and of these those linked right.
    """

    links: list[str]
    found: int
    right: int
    linked: int


def read_documents(path: Path) -> Iterator[CorpusDocument]:
    """YIELDS (CorpusDocument): with the labels of the pipelines, as DISEASE for `SpecificDisease`,
    and of mentions that overlap the longest."""
    for document in preprocess(read_corpus(path), Preprocessing(overlaps="longest")):
        mentions = tuple(replace(m, label=entity_type(m.label)) for m in document.mentions)
        yield replace(document, mentions=mentions)


def ids_of(mention: GoldMention, linker: AngelLinker) -> set[str | None]:
    """RETURNS (set[str | None]): the right identifiers of a mention, as the vocabulary has them."""
    found = re.split(r"[|+]", mention.concept_ids) if mention.concept_ids else []
    return {linker.kb.resolve(concept_id) for concept_id in found}


def link_given(
    nlp: "Language", linker: AngelLinker, documents: list[CorpusDocument], noisy: list[Noisy]
) -> Iterator[list[str]]:
    """YIELDS (list[str]): the links of the mentions of a document, in order."""
    kept = {*components_before(nlp, linker, given_mentions=True), name_of(nlp, linker)}

    def docs() -> Iterator[Doc]:
        for one, document in zip(noisy, documents, strict=True):
            doc = nlp.make_doc(one.text)
            spans = [
                doc.char_span(*place, label=mention.label, alignment_mode="expand")
                for place, mention in zip(one.places, document.mentions, strict=True)
            ]
            doc.spans[_KEY] = SpanGroup(doc, name=_KEY, spans=[s for s in spans if s is not None])
            yield doc

    with linker.using(span_key=_KEY):
        disable = [name for name in nlp.pipe_names if name not in kept]
        for doc in nlp.pipe(docs(), batch_size=32, disable=disable):
            yield [span.kb_id_ for span in doc.spans[_KEY]]


def find(
    nlp: "Language",
    linker: AngelLinker,
    documents: list[CorpusDocument],
    noisy: list[Noisy],
    labels: set[str],
) -> Iterator[tuple[int, int, int]]:
    """YIELDS (tuple[int, int, int]): of each document the mentions found, right, and linked."""
    docs = nlp.pipe((one.text for one in noisy), batch_size=32)
    for doc, one, document in zip(docs, noisy, documents, strict=True):
        gold = {(m.start, m.end, m.label): ids_of(m, linker) for m in document.mentions}
        spans = [ent for ent in doc.ents if entity_type(ent.label_) in labels]
        hits = [
            (gold[key], span)
            for span in spans
            if (key := (*one.origin(span.start_char, span.end_char), entity_type(span.label_)))
            in gold
        ]
        linked = sum(span.kb_id_ in concepts for concepts, span in hits)
        yield len(spans), len(hits), linked


def _without_last(pieces: Pieces) -> Pieces:
    return list(pieces)[:-1]


if __name__ == "__main__":
    typer.run(main)
