"""Count what becomes of links that were judged: in texts as people write them, whose mentions are
given, does a pipeline write what was right there, and not what was wrong?

    python benchmarks/judged.py benchmarks/sentences/judged.jsonl --pipeline en_angel_bio

A line of the file has `text`, `start`, `end` and `label` of a mention, `concept`, an identifier,
and `judged`: whether that is what the mention means (`right`), broader, narrower or akin (`near`),
or another thing (`wrong`). Rows whose mention is none, or is cut wrongly (`none`), are passed over.
Of the version that was judged are `probability`, the concept's, and whether it was `written`.
"""

import json
from collections import Counter
from pathlib import Path
from typing import Annotated, Any

import typer
from false_kinds import percent

JUDGEMENTS = ("right", "near", "wrong")
_FINDERS = ("angel_recogniser", "ner", "angel_misspelled", "angel_consistency")


def main(
    file: Annotated[Path, typer.Argument(help="Judged links, JSON lines.")],
    pipeline: Annotated[str, typer.Option(help="Name or folder of one.")] = "en_angel_bio",
) -> None:
    """Print a Markdown table."""
    rows = [json.loads(line) for line in file.read_text("utf8").splitlines()]
    rows = [row for row in rows if row["judged"] in JUDGEMENTS]
    outcomes = Counter(
        (row["judged"], outcome(row, kb_id))
        for row, kb_id in zip(rows, linked(pipeline, rows), strict=True)
    )
    print("| judged | mentions | linked to it | to another | `NIL` |\n|---|--:|--:|--:|--:|")
    for judged in JUDGEMENTS:
        counts = [outcomes[judged, one] for one in ("same", "other", "nil")]
        shares = " | ".join(percent(count, sum(counts)) for count in counts)
        print(f"| {judged} | {sum(counts):,} | {shares} |")


def outcome(row: dict[str, Any], kb_id: str) -> str:
    """row (dict[str, Any]): judged. kb_id (str): written now. RETURNS (str): `same`, `other` or
    `nil`."""
    if kb_id == "NIL":
        return "nil"
    return "same" if kb_id == row["concept"] else "other"


def linked(pipeline: str, rows: list[dict[str, Any]]) -> list[str]:
    """pipeline (str): name or folder. rows (list[dict[str, Any]]): mentions.
    RETURNS (list[str]): the identifier of each, with the mention given."""
    import spacy_angel

    nlp = spacy_angel.load(pipeline)
    for name in set(_FINDERS).intersection(nlp.pipe_names):
        nlp.disable_pipe(name)
    docs = []
    for row in rows:
        doc = nlp.make_doc(row["text"])
        span = doc.char_span(row["start"], row["end"], row["label"], alignment_mode="expand")
        if span is None:
            raise typer.BadParameter(f"no characters {row['start']} to {row['end']}: {doc.text}")
        doc.set_ents([span])
        docs.append(doc)
    return [doc.ents[0].kb_id_ for doc in nlp.pipe(docs)]


if __name__ == "__main__":
    typer.run(main)
