"""Write the generated parts of README.md and docs/: tables of settings, formats, commands, and the
project.

    python tools/document.py

Run it after changing these, or the shipped pipelines. It replaces the output of the README's first
example and the passages between marks in the pages.
"""

import json
import re
from collections.abc import Iterable
from contextlib import redirect_stdout
from inspect import getdoc
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory

import spacy
from reference import (
    EXAMPLES,
    cli_reference,
    corpus_options,
    in_cell,
    options_table,
)
from thinc.api import Config

from spacy_angel.about import SHIPPED_NAMES
from spacy_angel.component.checked import CheckedSettings, describe_settings
from spacy_angel.corpora.registry import FORMATS as corpus_formats
from spacy_angel.files.atomic import replacing
from spacy_angel.files.formats import Formats
from spacy_angel.linking.matcher import MatcherSettings
from spacy_angel.linking.ranking.features import FEATURES, MENTION_FEATURES
from spacy_angel.linking.settings.linker_settings import PUBLISHED, LinkerSettings
from spacy_angel.recognition.consistency import ConsistencySettings
from spacy_angel.recognition.settings import RecognizerSettings
from spacy_angel.recognition.variants.component import VariantSettings
from spacy_angel.vocabulary.names.labels import labels_by_tool
from spacy_angel.vocabulary.sources.formats.registry import FORMATS as vocabulary_formats

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
DOCS = ROOT / "docs"
CARDS = {name: DOCS / f"model_card_{name.rpartition('_')[2]}.md" for name in SHIPPED_NAMES}
HOW = DOCS / "explanation" / "how_it_works.md"
SETTINGS = DOCS / "reference" / "settings.md"
CLI = DOCS / "reference" / "cli.md"
FORMATS = DOCS / "reference" / "formats.md"
LABELS = DOCS / "reference" / "labels.md"
RESULTS = DOCS / "results.md"
PROJECT = DOCS / "reference" / "project.md"
EXAMPLE = re.compile(r"```python\n(?P<code>.*?)```\n\n```text\n(?P<output>.*?)```", re.DOTALL)


def example_output(text: str) -> str:
    """text (str): the README. RETURNS (str): output of its first example."""
    printed = StringIO()
    with redirect_stdout(printed):
        exec(_example(text)["code"], {})
    return printed.getvalue()


def project_tables(folder: Path) -> str:
    """The commands, workflows, and assets of a project, as spaCy documents them.

    folder (Path): folder with project.yml.
    RETURNS (str): Markdown, with headings one level lower. Files of the project are named without
        links, which would lead out of the site.
    """
    from weasel.cli.document import MARKER_END, MARKER_START, project_document

    with TemporaryDirectory() as name:
        file = Path(name) / "project.md"
        with redirect_stdout(StringIO()):
            project_document(folder, file, no_emoji=True)
        text = file.read_text(encoding="utf8")
    start, end = (mark.format(tag="WEASEL") for mark in (MARKER_START, MARKER_END))
    text = text[text.index(start) + len(start) : text.index(end)].strip()
    text = re.sub(r"\[(`[^`]+`)\]\((?!https?:)[^)]+\)", r"\1", text)
    return re.sub(r"^#", "##", text, flags=re.MULTILINE)


def settings_table(settings: type[CheckedSettings]) -> str:
    """settings (type[CheckedSettings]): settings of a component.
    RETURNS (str): a Markdown table."""
    lines = ["| setting | type | default | meaning |", "|---|---|---|---|"]
    for name, kind, default, meaning in describe_settings(settings):
        cells = f"`{name}`", f"`{kind}`", f"`{json.dumps(default)}`", meaning
        lines.append(f"| {' | '.join(map(in_cell, cells))} |")
    return "\n".join(lines)


def features_table() -> str:
    """RETURNS (str): Markdown table of the reranker's features."""
    lines = ["| feature | value | e.g. | |", "|---|---|---|---|"]
    for name, feature in (FEATURES | MENTION_FEATURES).items():
        meaning, value, example = re.split(r"\n\s*(?:value|example): ", getdoc(feature) or "")
        cells = (f"`{name}`", *(" ".join(text.split()) for text in (value, example, meaning)))
        lines.append(f"| {' | '.join(map(in_cell, cells))} |")
    return "\n".join(lines)


def linker_settings() -> str:
    """RETURNS (str): the settings of `angel_linker`, one per row, and its config in `nlp.config`
    after `nlp.add_pipe("angel_linker")`."""
    lines = ["| setting | type | default | as published | meaning | example |", "|---" * 6 + "|"]
    published = LinkerSettings(**PUBLISHED).to_dict()
    for block, settings in LinkerSettings.blocks().items():
        for entry, kind, default, meaning in describe_settings(settings):
            name = f"{block}.{entry}"
            values = (
                f"`{json.dumps(v)}`" for v in (default, published[block][entry], EXAMPLES[name])
            )
            first, second, example = values
            cells = f"`{name}`", f"`{kind}`", first, second, meaning, example
            lines.append(f"| {' | '.join(map(in_cell, cells))} |")
    nlp = spacy.blank("en")
    nlp.add_pipe("angel_linker")
    config = Config({"components": nlp.config["components"]}).to_str()
    return "\n\n".join(["\n".join(lines), f"```ini\n{config}\n```"])


def formats_table(formats: Formats) -> str:
    """formats (Formats): a registry. RETURNS (str): Markdown table with the description and options
    of each format, and, if some can be written, whether it can and with which options."""
    writes = any(format.write is not None for format in formats.values())
    lines = ["| `--format` | | options |", "|---|---|---|"]
    if writes:
        lines = [lines[0] + " `--to` |", lines[1] + "---|"]
    for name, format in sorted(formats.items()):
        meaning = " ".join((getdoc(format.read) or "").split("\n\n")[0].split())
        options = _code(format.options)
        lines.append(f"| `{name}` | {in_cell(meaning)} | {options} |")
        if writes:
            said = ["yes"] if format.write is not None else []
            said += [_code(format.write_options)] if format.write_options else []
            lines[-1] += f" {', '.join(said)} |"
    return "\n".join(lines)


def _code(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def labels_table() -> str:
    """RETURNS (str): Markdown table of labels and their entity types, by tool."""
    lines = ["| | |", "|---|---|"]
    for tool, of_tool in labels_by_tool().items():
        kinds = (
            f"`{kind}`: {', '.join(f'`{label}`' for label in labels if label)}"
            for kind, labels in of_tool.items()
        )
        lines.append(f"| {tool or 'of no kind'} | {in_cell('; '.join(kinds))} |")
    return "\n".join(lines)


def with_passage(text: str, name: str, passage: str) -> str:
    """text (str): a page with `<!-- NAME: begin -->` and `<!-- NAME: end -->`.
    name (str): name of the markers.
    passage (str): Markdown.
    RETURNS (str): the page with the passage between the markers."""
    marks = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    before, begin, rest = text.partition(marks[0])
    _, end, after = rest.partition(marks[1])
    if not begin or not end:
        raise SystemExit(f"The lines {' and '.join(marks)} are missing, the passage goes between.")
    return f"{before}{begin}\n{passage}\n{end}{after}"


def passage_of(text: str, name: str) -> str:
    """text (str): a page with markers, see `with_passage`.
    name (str): name of the markers.
    RETURNS (str): the passage between them."""
    begin, end = f"<!-- {name}: begin -->\n", f"\n<!-- {name}: end -->"
    return text[text.index(begin) + len(begin) : text.index(end)]


def passages() -> list[tuple[Path, str, str]]:
    """RETURNS (list[tuple[Path, str, str]]): page, name of the markers, and passage."""
    results = RESULTS.read_text(encoding="utf8")
    return [
        (CARDS["en_angel_mini"], "given", passage_of(results, "given")),
        (CARDS["en_angel_bio"], "text", passage_of(results, "text")),
        (SETTINGS, "settings", linker_settings()),
        (SETTINGS, "matcher", settings_table(MatcherSettings)),
        (SETTINGS, "consistency", settings_table(ConsistencySettings)),
        (SETTINGS, "recogniser", settings_table(RecognizerSettings)),
        (SETTINGS, "variants", settings_table(VariantSettings)),
        (HOW, "features", features_table()),
        (LABELS, "labels", labels_table()),
        (FORMATS, "vocabulary options", options_table(vocabulary_formats)),
        (FORMATS, "corpora", formats_table(corpus_formats)),
        (FORMATS, "corpus options", options_table(corpus_formats)),
        (FORMATS, "every corpus", corpus_options()),
        (CLI, "commands", cli_reference()),
        (PROJECT, "project", project_tables(ROOT)),
    ]


def _example(text: str) -> re.Match[str]:
    if (found := EXAMPLE.search(text)) is None:
        raise SystemExit(f"{README} has no Python block with a text block below it.")
    return found


def main() -> None:
    """Run the command."""
    for page, name, passage in passages():
        _write(page, with_passage(page.read_text(encoding="utf8"), name, passage))
    readme = README.read_text(encoding="utf8")
    begin, end = _example(readme).span("output")
    _write(README, readme[:begin] + example_output(readme) + readme[end:])


def _write(page: Path, text: str) -> None:
    with replacing(page) as file:
        file.write(text.encode("utf8"))


if __name__ == "__main__":
    main()
