"""Count the mentions that recognisers find with exactly the characters and the label of the gold
ones, by corpus, in the articles that a recipe of `spacy-angel train recogniser` holds out.

    python benchmarks/exact.py configs/recogniser.cfg
    python benchmarks/exact.py configs/recogniser.cfg --recogniser FOLDER --last-look

The files that the recipe names are read from where this runs. It counts the articles that choose a
checkpoint, or with `--last-look` those that are looked at once. Of a pipeline the model is counted,
with labels that the pipeline does not look for and without its settings.
"""

from pathlib import Path
from typing import Annotated

import typer

from spacy_angel.recognition.finder import MentionFinder
from spacy_angel.training.recogniser.config import load_recogniser_config
from spacy_angel.training.recogniser.counts import MentionCounts, by_label
from spacy_angel.training.recogniser.start import recogniser_folder
from spacy_angel.training.recogniser.texts import read_texts
from spacy_angel.training.recogniser.training import measure


def table(counts: dict[tuple[str, str], MentionCounts]) -> str:
    """counts (dict[tuple[str, str], MentionCounts]): by label and corpus.
    RETURNS (str): a Markdown table, per cent; a line a label and corpus, and one over all corpora
    for each label."""
    lines = ["| label | corpus | mentions | precision | recall | F |", "|---|---|--:|--:|--:|--:|"]
    rows = [*counts.items(), *(((label, "all"), one) for label, one in by_label(counts).items())]
    for (label, corpus), one in sorted(rows, key=lambda row: (row[0][0], row[0][1] == "all")):
        precision, recall = one.right / max(one.found, 1), one.right / max(one.gold, 1)
        shares = " | ".join(f"{100 * share:.1f}" for share in (precision, recall, one.f_score))
        lines.append(f"| {label} | {corpus} | {one.gold:,} | {shares} |")
    return "\n".join(lines)


def main(
    config: Annotated[Path, typer.Argument(help="The recipe.")],
    recogniser: Annotated[
        list[str] | None,
        typer.Option(help="Folder of one or of a pipeline with it, or the name of one that ships."),
    ] = None,
    last_look: Annotated[bool, typer.Option("--last-look", help="Those looked at once.")] = False,
) -> None:
    """Print a Markdown table for each recogniser."""
    texts = read_texts(load_recogniser_config(config))
    for name in recogniser or ["en_angel_mini", "en_angel_bio"]:
        finder = MentionFinder.from_disk(recogniser_folder(name), dtype="auto")
        counts = measure(finder, texts.last_look if last_look else texts.choose)
        print(f"{name}\n\n{table(counts)}\n")


if __name__ == "__main__":
    typer.run(main)
