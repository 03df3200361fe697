"""Count false entities in everyday sentences: clinical shorthand, news, cooking and gardening, and
health in lay words.

    python benchmarks/false_kinds.py benchmarks/sentences/work.jsonl
    python benchmarks/false_kinds.py FILE --pipeline en_angel_bio --pipeline PIPELINE

Each line of the file is a sentence with `id`, `style`, `text`, and `mentions` with `start`, `end`,
`label` and `text`. A mention may also have `also`, other correct labels, and `optional` if it need
not be found. An entity is false if it overlaps neither a mention with its label nor an optional
one; a mention is found if it overlaps an entity with one of its labels. Words for people are not in
the gold standard. Entities over them that link to human are false, and are also counted in a
separate column, since corpora with species annotate them. Entities whose label does not occur in
the gold standard (`VARIANT`) are ignored.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from spacy_angel.files.markdown import markdown_table

LABELS = ("DISEASE", "CHEMICAL", "GENE", "SPECIES", "CELL_LINE", "PHENOTYPE")
MAN = "NCBITaxon:9606"
Row = dict[str, Any]


def main(
    file: Annotated[Path, typer.Argument(help="Sentences with their mentions, JSON lines.")],
    pipeline: Annotated[list[str] | None, typer.Option(help="Name or folder of one.")] = None,
    words: Annotated[int, typer.Option(help="Most frequent false entities to print.")] = 40,
) -> None:
    """Print Markdown tables."""
    rows = [json.loads(line) for line in file.read_text("utf8").splitlines()]
    names = pipeline or ["en_angel_bio", "en_angel_mini"]
    counted = {name: count(rows, name) for name in names}
    counts = {name: of_styles for name, (of_styles, _) in counted.items()}
    figures = (
        {"style": style, "pipeline": name, **_figures(counts[name][style])}
        for style in counts[names[0]]
        for name in names
    )
    print(markdown_table(figures))
    recall = []
    for label in LABELS:
        gold = counts[names[0]]["all"][f"gold {label}"]
        hits = {name: percent(counts[name]["all"][f"hit {label}"], gold) for name in names}
        recall.append({"recall": label, "mentions": gold, **hits})
    print(f"\n{markdown_table(recall)}")
    for name, (_, false) in counted.items():
        shown = (f"{word} ({n})" if n > 1 else word for word, n in false.most_common(words))
        print(f"\nFalse, {name}: {'; '.join(shown)}")


def count(rows: Sequence[Row], name: str) -> tuple[dict[str, Counter[str]], Counter[str]]:
    """rows (Sequence[Row]): sentences with their gold mentions.
    name (str): name of a pipeline.
    RETURNS (tuple[dict[str, Counter[str]], Counter[str]]): for each style in the order of the file,
    and for `all`: numbers of `sentences`, entities `found`, `false` ones, and `people` among these,
    and by label the `gold` mentions and those `hit`; and the frequency of each false entity."""
    import spacy_angel

    counts: dict[str, Counter[str]] = {row["style"]: Counter() for row in rows}
    counts["all"] = Counter()
    false: Counter[str] = Counter()
    for row, doc in zip(rows, spacy_angel.load(name).pipe(r["text"] for r in rows), strict=True):
        own = Counter(sentences=1)
        for entity in (e for e in doc.ents if e.label_ in LABELS):
            own["found"] += 1
            over = [mention for mention in row["mentions"] if overlap(entity, mention)]
            if not any(m.get("optional") or entity.label_ in labels_of(m) for m in over):
                own["false"] += 1
                own["people"] += entity.kb_id_ == MAN
                false[f"{entity.text} {entity.label_}"] += 1
        for mention in (m for m in row["mentions"] if not m.get("optional")):
            own[f"gold {mention['label']}"] += 1
            own[f"hit {mention['label']}"] += any(
                e.label_ in labels_of(mention) and overlap(e, mention) for e in doc.ents
            )
        counts[row["style"]] += own
        counts["all"] += own
    return counts, false


def labels_of(mention: Row) -> tuple[str, ...]:
    """RETURNS (tuple[str, ...]): the correct labels of a gold mention."""
    return (mention["label"], *mention.get("also", ()))


def overlap(entity: Any, mention: Row) -> bool:
    """RETURNS (bool): whether an entity and a gold mention overlap."""
    return entity.start_char < mention["end"] and mention["start"] < entity.end_char


def percent(part: int, whole: int) -> str:
    """RETURNS (str): the percentage with one decimal; `–` if the whole is 0."""
    return f"{100 * part / whole:.1f}" if whole else "–"


def _figures(counts: Mapping[str, int]) -> dict[str, Any]:
    sentences, found, false = (counts[key] for key in ("sentences", "found", "false"))
    return {
        **{"sentences": sentences, "found": found, "false": false, "%": percent(false, found)},
        **{"of 100 sentences": percent(false, sentences), "people": counts["people"]},
    }


if __name__ == "__main__":
    typer.run(main)
