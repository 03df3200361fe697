"""Write into README.md and docs/model_card.md what `en_angel_mini` is and does.

    python tools/document_shipped.py

To be run after the pipeline in the package was assembled anew: the output below the README's first
example and the tables between the marks are replaced.
"""

import json
import re
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

from safetensors import safe_open

from spacy_angel.files.atomic import replacing
from spacy_angel.linking.loaders import SHIPPED_PIPELINE
from spacy_angel.model.weights import SCALE_SUFFIX

ROOT = Path(__file__).parents[1]
README, CARD = ROOT / "README.md", ROOT / "docs" / "model_card.md"
BEGIN, END = "<!-- shipped: begin -->", "<!-- shipped: end -->"
EXAMPLE = re.compile(r"```python\n(?P<code>.*?)```\n\n```text\n(?P<output>.*?)```", re.DOTALL)


def shipped_table(pipeline: Path) -> str:
    """The parts of a pipeline with their sizes and figures.

    pipeline (Path): as `scripts/assemble.py` writes it, with calibrated limits.
    RETURNS (str): a Markdown table.
    """
    meta = json.loads((pipeline / "meta.json").read_text(encoding="utf8"))
    linker = pipeline / "angel_linker"
    vocabulary = json.loads((linker / "kb" / "meta.json").read_text(encoding="utf8"))["counts"]
    [weights] = (linker / "model").glob("*.safetensors")
    rows = [
        ("recogniser", _recogniser(meta), _size(pipeline, but=linker)),
        (
            "model",
            f"{_n_weights(weights) / 1e6:.1f} million weights, stored in {_storage(weights)}",
            _size(linker / "model"),
        ),
        (
            "starter vocabulary",
            f"{vocabulary['concepts']:,} concepts, {vocabulary['names']:,} names",
            _size(linker / "kb"),
        ),
        ("limits", _limits(meta["performance"]["calibration"]), None),
        ("in all", "", _size(pipeline)),
    ]
    lines = ["| part | | MB |", "|---|---|--:|"]
    for part, text, size in rows:
        lines.append(f"| {part} | {text} | {'' if size is None else f'{size / 1e6:.1f}'} |")
    return "\n".join(lines)


def example_output(text: str) -> str:
    """text (str): of the README. RETURNS (str): what its first example prints."""
    printed = StringIO()
    with redirect_stdout(printed):
        exec(_example(text)["code"], {})
    return printed.getvalue()


def with_table(text: str, table: str) -> str:
    """text (str): with the two marks. RETURNS (str): the table between them."""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise SystemExit(f"The lines {BEGIN} and {END} are missing, the table goes between them.")
    return f"{before}{BEGIN}\n{table}\n{END}{after}"


def _example(text: str) -> re.Match[str]:
    if (found := EXAMPLE.search(text)) is None:
        raise SystemExit(f"{README} has no Python block with a text block below it.")
    return found


def _recogniser(meta: dict[str, Any]) -> str:
    labels = sorted({label for found in meta["labels"].values() for label in found})
    f_score = meta["performance"].get("ents_f")
    measured = "" if f_score is None else f"; F-score {100 * f_score:.1f} on its development texts"
    return f"mentions of {' and '.join(labels)}{measured}"


def _limits(fitted: dict[str, Any]) -> str:
    n_inside = fitted["n_mentions"] - fitted["n_outside"]
    limits = ", ".join(
        f"`{name}` {fitted[name]:.3g}"
        for name in ("temperature", "threshold", "min_log_prob")
        if fitted[name] is not None
    )
    return (
        f"{limits}, fitted on {' and '.join(fitted['corpora'])}: of {n_inside:,} mentions whose "
        f"concept the starter has, {fitted['n_right']:,} get it; of {fitted['n_outside']:,} others "
        f"{fitted['n_outside_nil']:,} link to nothing (`NIL`)"
    )


def _n_weights(path: Path) -> int:
    with safe_open(path, "pt") as file:
        names = [name for name in file.keys() if not name.endswith(SCALE_SUFFIX)]  # noqa: SIM118
        return sum(file.get_tensor(name).numel() for name in names)


def _storage(path: Path) -> str:
    return "int8" if ".int8." in path.name else "floating point"


def _size(folder: Path, but: Path | None = None) -> int:
    """RETURNS (int): bytes of the files, without tries, which are made anew where they lack."""
    return sum(
        file.stat().st_size
        for file in folder.rglob("*")
        if file.is_file() and "tries" not in file.parts and (but is None or but not in file.parents)
    )


def main() -> None:
    """Command line."""
    table = shipped_table(SHIPPED_PIPELINE)
    for path in (README, CARD):
        text = with_table(path.read_text(encoding="utf8"), table)
        if path == README:
            begin, end = _example(text).span("output")
            text = text[:begin] + example_output(text) + text[end:]
        with replacing(path) as file:
            file.write(text.encode("utf8"))


if __name__ == "__main__":
    main()
