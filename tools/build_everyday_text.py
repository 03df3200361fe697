"""Text that is no abstract, for the recogniser of six kinds: lines of clinical notes, what people
write of their health, news, house and garden, and sentences of daily life that mention nothing.

    python tools/build_everyday_text.py WORDNET OUT

WORDNET has the files `data.noun`, … of WordNet 3.0, whose examples of use are the sentences of
daily life; OUT is what `tools/build_six_types.py` wrote, where `raw/` gets `everyday.json`,
`notes.json` and `sentences.json`. Notes are invented from the frames and words of
`tools/everyday_words.tsv`; what they mention is marked for all six kinds. In WordNet's examples
animals that are taxa of the vocabulary are marked; words that may name something of a kind (by
their first senses in WordNet, or since the vocabulary has them) are left open, but for what is
eaten. Sentences are the lines of `tools/everyday_sentences.txt`, written for this, with every
mention marked: `Started {metoprolol|DRUG} 25 BID`.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Annotated

import typer

from spacy_angel.about import DATA
from spacy_angel.corpora.documents import CorpusDocument, GoldMention
from spacy_angel.corpora.formats.bioc import write_bioc_json
from spacy_angel.corpora.note_text import in_letters
from spacy_angel.corpora.recogniser_data import names_by_label, short_forms_by_label
from spacy_angel.linking.settings.short_forms import read_short_forms
from spacy_angel.vocabulary.kb import ConceptKB
from spacy_angel.vocabulary.lookup.occurrences import Occurrences

KINDS = ("DISEASE", "CHEMICAL", "GENE", "SPECIES", "CELL_LINE", "PHENOTYPE")
NOTES, OTHERS, TEXTS = 5000, {"post": 2500, "news": 1200, "home": 1200}, 7000
_PARTS = ("noun", "verb", "adj", "adv")
_FIRST_SENSES = 2
_SHORTEST = 5
# Of WordNet's files of lexicographers.
_FOOD, _ANIMAL = 13, 5
_PEOPLE = ("human", "homo", "man", "hominid")
_OPEN_NOUNS = {_ANIMAL: ("SPECIES",), 20: ("SPECIES",), 27: ("CHEMICAL",)}
_OPEN_VERBS = {29: ("DISEASE", "PHENOTYPE")}
# What stands below these may name something.
_ABOVE = {
    ("ill_health", "illness", "symptom", "pathological_state", "injury", "mental_disorder"): (
        "DISEASE",
        "PHENOTYPE",
    ),
    ("drug", "medicine", "hormone", "protein", "vitamin", "chemical"): ("CHEMICAL", "GENE"),
}
_ENDINGS = re.compile(r"(?:s|es|ed|d|ing|ly)$")
_WORD = re.compile(r"[A-Za-z]{3,}")
WORDS = Path(__file__).with_name("everyday_words.tsv")
# Slots of the frames: labels of what fills them, a question mark for what is left open.
_SYMPTOM, _DISEASE = ("DISEASE", "PHENOTYPE"), ("DISEASE", "PHENOTYPE?")
_DRUG = ("CHEMICAL", "GENE?")
LABELS = {
    **{"sym": _SYMPTOM, "dis": _DISEASE, "drug": _DRUG},
    **{"lsym": _SYMPTOM, "ldis": _DISEASE, "ldrug": _DRUG},
    **{"lfeel": _SYMPTOM, "lverb": _SYMPTOM, "lbody": _SYMPTOM},
    **{"ndis": _DISEASE, "nchem": ("CHEMICAL",), "animal": ("SPECIES",), "plant": ("SPECIES",)},
    **{"bug": ("SPECIES", "DISEASE?"), "nbug": ("SPECIES", "DISEASE?"), "gene": ("GENE",)},
}
SENTENCES = Path(__file__).with_name("everyday_sentences.txt")
OF_KIND = {
    **{"SYMPTOM": _SYMPTOM, "DISEASE": _DISEASE, "DRUG": _DRUG, "CHEMICAL": ("CHEMICAL",)},
    **{"GENE": ("GENE",), "SPECIES": ("SPECIES", "DISEASE?"), "CELL_LINE": ("CELL_LINE",)},
    **{"VARIANT": ("VARIANT",), "OPEN": tuple(f"{label}?" for label in (*KINDS, "VARIANT"))},
}
_MARKED = re.compile(r"\{([^{}|]+)\|([A-Z_]+)\}")
# Slots for which a vocabulary has further names.
_WIDER = {"sym": "PHENOTYPE", "dis": "DISEASE", "drug": "CHEMICAL"}

Words = Mapping[str, Sequence[str]]
_SLOT = re.compile(r"\{(\w+)\}")


def build(
    wordnet: Annotated[Path, typer.Argument(help="Folder of WordNet's files.")],
    output: Annotated[Path, typer.Argument(help="Folder of `tools/build_six_types.py`.")],
) -> None:
    """Write `raw/everyday.json`, `raw/notes.json` and `raw/sentences.json`."""
    kb = ConceptKB.from_disk(DATA / "en_angel_bio" / "angel_linker" / "kb")
    pools = names_by_label(kb)
    forms = short_forms_by_label(read_short_forms(), [pools])
    rng = Random(0)
    lower = {label: [name.lower() for name in names] for label, names in pools.items()}
    words = read_words()
    notes = [_note(words, (forms, lower), rng, f"note {n}") for n in range(NOTES)]
    others = [
        _few_sentences(words, frames, rng, f"{frames} {n}")
        for frames, number in OTHERS.items()
        for n in range(number)
    ]
    write_bioc_json([*notes, *others], output / "raw" / "notes.json")
    sentences = everyday(wordnet, kb, rng)
    write_bioc_json(sentences, output / "raw" / "everyday.json")
    lines = list(marked_lines(SENTENCES))
    write_bioc_json(lines, output / "raw" / "sentences.json")
    typer.echo(
        f"{len(notes) + len(others):,} invented texts, {len(sentences):,} texts of daily life, "
        f"{len(lines):,} lines that are marked"
    )


class _Text:
    """A text that grows, with what it mentions."""

    def __init__(self) -> None:
        self.text = ""
        self.mentions: list[GoldMention] = []

    def add(self, text: str, labels: Sequence[str] = ()) -> None:
        """text (str): to be written. labels (Sequence[str]): of a mention, none for plain text."""
        start = len(self.text)
        self.text += text
        for label in labels:
            self.mentions.append(GoldMention(start, len(self.text), text, label))

    def document(self, doc_id: str) -> CorpusDocument:
        """RETURNS (CorpusDocument): what was written."""
        return CorpusDocument(doc_id, self.text, tuple(self.mentions))


_ARTICLE = re.compile(r"(?:an?|the) ")


def _fill(frame: str, into: _Text, words: Mapping[str, Sequence[str]], rng: Random) -> None:
    """Write a frame; `words` has those of each slot in it."""
    end = 0
    for slot in _SLOT.finditer(frame):
        into.add(frame[end : slot.start()])
        word, labels = rng.choice(words[slot[1]]), LABELS.get(slot[1], ())
        if labels and (article := _ARTICLE.match(word)):
            into.add(article[0])
            word = word[article.end() :]
        into.add(word, labels)
        end = slot.end()
    into.add(frame[end:])


def _note(words: Words, wider: Sequence[Words], rng: Random, doc_id: str) -> CorpusDocument:
    """`wider`: names by label, of short forms and of the vocabulary."""
    text = _Text()
    for number in range(rng.randint(1, 4)):
        if number:
            text.add(rng.choice((". ", ".\n", "\n", "; ", ", ", " ")))
        own = dict(words)
        for slot, label in _WIDER.items():
            [source] = rng.choices((None, *wider), (65, 15, 20))
            if source is not None and label in source:
                own[slot] = [rng.choice(source[label])]
        _fill(rng.choice(words["note"]), text, own, rng)
    text.add(rng.choice((".", ".", "", "")))
    [style] = rng.choices(("as it is", "lower", "upper"), (80, 14, 6))
    return in_letters(text.document(doc_id), style)


def _few_sentences(words: Words, frames: str, rng: Random, doc_id: str) -> CorpusDocument:
    text = _Text()
    for number in range(rng.randint(1, 3)):
        text.add(" " if number else "")
        _fill(rng.choice(words[frames]), text, words, rng)
    [style] = rng.choices(("as it is", "lower"), (80, 20))
    return in_letters(text.document(doc_id), style)


def marked_lines(path: Path) -> Iterator[CorpusDocument]:
    """path (Path): a text a line, what it mentions as `{text|KIND}`. YIELDS (CorpusDocument): each,
    with the labels of each kind, see `OF_KIND`."""
    for number, line in enumerate(path.read_text(encoding="utf8").splitlines()):
        text = _Text()
        end = 0
        for marked in _MARKED.finditer(line):
            text.add(line[end : marked.start()])
            text.add(marked[1], OF_KIND[marked[2]])
            end = marked.end()
        text.add(line[end:])
        yield text.document(f"sentence {number}")


def read_words(path: Path = WORDS) -> dict[str, list[str]]:
    """path (Path): TSV. RETURNS (dict[str, list[str]]): slot to what fills it; `note`, `post`,
    `news` and `home` are frames."""
    _, *rows = path.read_text(encoding="utf8").splitlines()
    cells = (row.split("\t") for row in rows)
    return {slot: texts.split("|") for slot, texts in cells}


def everyday(wordnet: Path, kb: ConceptKB, rng: Random) -> list[CorpusDocument]:
    """RETURNS (list[CorpusDocument]): WordNet's examples of use, one to four a document, with what
    is left open in them."""
    words = open_words(wordnet)
    usual = frozenset(lemma for part in _PARTS for lemma, _ in _index(wordnet / f"index.{part}"))
    taxa = animals(wordnet, kb)
    names = Occurrences(kb, everything=True, min_length=_SHORTEST)
    examples = sorted(set(_examples(wordnet)))
    rng.shuffle(examples)
    documents: list[CorpusDocument] = []
    while examples and len(documents) < TEXTS:
        some = [examples.pop() for _ in range(min(rng.randint(1, 3), len(examples)))]
        text = " ".join(_as_sentence(example, rng) for example in some)
        documents.append(_with_open(text, words, usual, names, taxa, f"everyday {len(documents)}"))
    return documents


def _as_sentence(example: str, rng: Random) -> str:
    text = example[0].upper() + example[1:] if rng.random() < 0.8 else example
    return text if text[-1] in ".!?" or rng.random() < 0.15 else f"{text}."


def _with_open(
    text: str,
    words: Mapping[str, Collection[str]],
    usual: frozenset[str],
    names: Occurrences,
    taxa: frozenset[str],
    doc_id: str,
) -> CorpusDocument:
    left_open = []
    for match in _WORD.finditer(text):
        word = match[0].lower()
        labels = words.get(word) or words.get(_ENDINGS.sub("", word), ())
        is_taxon = (word if word in usual else word.removesuffix("s")) in taxa
        left_open += [
            GoldMention(*match.span(), match[0], label if is_taxon else f"{label}?")
            for label in labels
            if not is_taxon or label == "SPECIES"
        ]
    for found in names.find(text):
        own = text[found.start : found.end]
        # What is a word of the language is open by its senses, or not at all.
        if not usual.isdisjoint((own.lower(), _ENDINGS.sub("", own.lower()))):
            continue
        left_open += [GoldMention(found.start, found.end, own, f"{label}?") for label in KINDS]
    return CorpusDocument(doc_id, text, tuple(dict.fromkeys(left_open)))


def animals(wordnet: Path, kb: ConceptKB) -> frozenset[str]:
    """RETURNS (frozenset[str]): words that are an animal first and no verb, and taxa of the
    vocabulary; those of the frames among them, verbs or not."""
    files, _ = _nouns(wordnet / "data.noun")
    verbs = {lemma for lemma, _ in _index(wordnet / "index.verb")}
    usual = set(read_words()["animal"])
    return frozenset(
        lemma
        for lemma, offsets in _index(wordnet / "index.noun")
        if files[offsets[0]] == _ANIMAL
        and (lemma not in verbs or lemma in usual)
        and lemma not in _PEOPLE
        and any("Species" in concept.types for concept in kb.find(lemma))
    )


def open_words(wordnet: Path) -> dict[str, set[str]]:
    """wordnet (Path): its folder. RETURNS (dict[str, set[str]]): words that may name something, and
    the labels that it would have."""
    noun_files, below = _nouns(wordnet / "data.noun")
    above = {
        offset: labels
        for lemmas, labels in _ABOVE.items()
        for offset in _closure(_starts(wordnet / "index.noun", lemmas), below)
    }
    words: dict[str, set[str]] = {}
    for lemma, offsets in _index(wordnet / "index.noun"):
        first = offsets[:_FIRST_SENSES]
        if any(noun_files[offset] == _FOOD for offset in first):
            continue
        for offset in first:
            some = (*_OPEN_NOUNS.get(noun_files[offset], ()), *above.get(offset, ()))
            if some:
                words.setdefault(lemma, set()).update(some)
    verb_files, _ = _nouns(wordnet / "data.verb")
    for lemma, offsets in _index(wordnet / "index.verb"):
        for offset in offsets[:1]:
            words.setdefault(lemma, set()).update(_OPEN_VERBS.get(verb_files[offset], ()))
    return words


def _nouns(path: Path) -> tuple[dict[str, int], dict[str, list[str]]]:
    """RETURNS (tuple[dict[str, int], dict[str, list[str]]]): the file of each synset's
    lexicographer, and the synsets below each."""
    files: dict[str, int] = {}
    below: dict[str, list[str]] = {}
    for line in _lines(path):
        offset, file, *cells = line.split(" | ")[0].split()
        files[offset] = int(file)
        for i, cell in enumerate(cells):
            if cell in ("@", "@i"):
                below.setdefault(cells[i + 1], []).append(offset)
    return files, below


def _index(path: Path) -> Iterator[tuple[str, list[str]]]:
    for line in _lines(path):
        cells = line.split()
        yield cells[0], cells[-int(cells[2]) :]


def _starts(path: Path, lemmas: Sequence[str]) -> list[str]:
    return [offset for lemma, offsets in _index(path) if lemma in lemmas for offset in offsets]


def _closure(starts: Sequence[str], below: Mapping[str, Sequence[str]]) -> set[str]:
    found: set[str] = set()
    waiting = list(starts)
    while waiting:
        offset = waiting.pop()
        if offset not in found:
            found.add(offset)
            waiting += below.get(offset, ())
    return found


def _examples(wordnet: Path) -> Iterator[str]:
    for part in _PARTS:
        for line in _lines(wordnet / f"data.{part}"):
            for example in re.findall(r'"([^"]+)"', line.partition(" | ")[2]):
                if example.count(" ") >= 2:
                    yield example.strip()


def _lines(path: Path) -> Iterator[str]:
    with path.open(encoding="utf8") as lines:
        # The licence stands before, indented.
        yield from (line for line in lines if not line.startswith("  "))


if __name__ == "__main__":
    typer.run(build)
