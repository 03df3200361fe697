"""Count entities that are none in sentences of daily life: clinical shorthand, news, kitchen and
garden, health in lay words.

    python benchmarks/false_kinds.py benchmarks/sentences/work.jsonl
    python benchmarks/false_kinds.py FILE --pipeline en_angel_bio --pipeline PIPELINE

A line of the file is a sentence: `id`, `style`, `text`, `mentions` with `start`, `end`, `label`,
`text`, and where they apply `also`, labels that are right as well, and `optional`, of a mention
that may be found or not. An entity is false where it shares a character with no mention of its
label and with no optional one; a mention is found where an entity that shares a character with it
has its label. Words for people are gold nowhere; entities over them that link to man are false, and
have a column of their own, for corpora with species mark them. Entities with labels that are not in
the gold at all (`VARIANT`) do not count.
"""

import json
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

LABELS = ("DISEASE", "CHEMICAL", "GENE", "SPECIES", "CELL_LINE", "PHENOTYPE")
MAN = "NCBITaxon:9606"


class Mention(NamedTuple):
    """start, end (int): characters. labels (frozenset[str]): that are right. kind (str): the first
    of them. optional (bool): whether it may be found or not."""

    start: int
    end: int
    labels: frozenset[str]
    kind: str
    optional: bool = False


class Sentence(NamedTuple):
    """style (str). text (str). mentions (tuple[Mention, ...])."""

    style: str
    text: str
    mentions: tuple[Mention, ...]


class Entity(NamedTuple):
    """start, end (int): characters. label (str). kb_id (str): the identifier, or `NIL`."""

    start: int
    end: int
    label: str
    kb_id: str = ""


class Counts:
    """Of some sentences.

    sentences, found, false, people (int): sentences, entities, false ones, those of these that are
        words for people. gold, hit (Counter[str]): mentions by label, and those found.
    words (Counter[str]): false entities, `text LABEL`.
    """

    def __init__(self) -> None:
        self.sentences = self.found = self.false = self.people = 0
        self.gold: Counter[str] = Counter()
        self.hit: Counter[str] = Counter()
        self.words: Counter[str] = Counter()

    def add(self, sentence: Sentence, entities: Sequence[Entity]) -> None:
        """sentence (Sentence): with its gold. entities (Sequence[Entity]): found in it."""
        self.sentences += 1
        for entity in (one for one in entities if one.label in LABELS):
            self.found += 1
            over = [m for m in sentence.mentions if overlap(entity, m)]
            if not any(m.optional or entity.label in m.labels for m in over):
                self.false += 1
                self.people += entity.kb_id == MAN
                self.words[f"{sentence.text[entity.start : entity.end]} {entity.label}"] += 1
        for mention in (m for m in sentence.mentions if not m.optional):
            self.gold[mention.kind] += 1
            here = [e.label for e in entities if overlap(e, mention)]
            self.hit[mention.kind] += not mention.labels.isdisjoint(here)


def overlap(one: Entity | Mention, other: Entity | Mention) -> bool:
    """RETURNS (bool): whether they share a character."""
    return one.start < other.end and other.start < one.end


def read(path: Path) -> list[Sentence]:
    """path (Path): JSON lines. RETURNS (list[Sentence]): in their order."""
    return [_sentence(json.loads(line)) for line in path.read_text("utf8").splitlines()]


def _sentence(row: dict[str, Any]) -> Sentence:
    mentions = tuple(
        Mention(
            one["start"],
            one["end"],
            frozenset((one["label"], *one.get("also", ()))),
            one["label"],
            one.get("optional", False),
        )
        for one in row["mentions"]
    )
    return Sentence(row["style"], row["text"], mentions)


def count(
    sentences: Sequence[Sentence], find: Callable[[Sequence[str]], list[list[Entity]]]
) -> dict[str, Counts]:
    """sentences (Sequence[Sentence]): with their gold. find (Callable): texts to the entities of
    each. RETURNS (dict[str, Counts]): of each style in the order of the file, and of `all`."""
    counts: dict[str, Counts] = {one.style: Counts() for one in sentences} | {"all": Counts()}
    found = find([one.text for one in sentences])
    for sentence, entities in zip(sentences, found, strict=True):
        counts[sentence.style].add(sentence, entities)
        counts["all"].add(sentence, entities)
    return counts


def main(
    file: Annotated[Path, typer.Argument(help="Sentences with their mentions, JSON lines.")],
    pipeline: Annotated[list[str] | None, typer.Option(help="Name or folder of one.")] = None,
    words: Annotated[int, typer.Option(help="Most frequent false entities to print.")] = 40,
) -> None:
    """Print Markdown tables."""
    sentences = read(file)
    names = pipeline or ["en_angel_bio", "en_angel_mini"]
    counts = {name: count(sentences, _finder(name)) for name in names}
    print("| style | pipeline | sentences | found | false | % | of 100 sentences | people |")
    print("|---|---|--:|--:|--:|--:|--:|--:|")
    for style in counts[names[0]]:
        for name in names:
            one = counts[name][style]
            share = f"{percent(one.false, one.found)} | {percent(one.false, one.sentences)}"
            cells = f"{one.sentences} | {one.found} | {one.false} | {share} | {one.people}"
            print(f"| {style} | {name} | {cells} |")
    print(f"\n| recall | mentions | {' | '.join(names)} |")
    print(f"|---|--:|{'--:|' * len(names)}")
    for label in LABELS:
        gold = counts[names[0]]["all"].gold[label]
        hits = [percent(counts[name]["all"].hit[label], gold) for name in names]
        print(f"| {label} | {gold} | {' | '.join(hits)} |")
    for name in names:
        common = counts[name]["all"].words.most_common(words)
        shown = (f"{word} ({n})" if n > 1 else word for word, n in common)
        print(f"\nFalse, {name}: {'; '.join(shown)}")


def percent(part: int, whole: int) -> str:
    """RETURNS (str): with one digit; `–` of none."""
    return f"{100 * part / whole:.1f}" if whole else "–"


def _finder(name: str) -> Callable[[Sequence[str]], list[list[Entity]]]:
    import spacy_angel

    nlp = spacy_angel.load(name)

    def find(texts: Sequence[str]) -> list[list[Entity]]:
        return [
            [Entity(e.start_char, e.end_char, e.label_, e.kb_id_) for e in doc.ents]
            for doc in nlp.pipe(texts)
        ]

    return find


if __name__ == "__main__":
    typer.run(main)
