"""Generate the reference pages from the code: commands, options of formats, examples of settings,
and public names. `tools/document.py` writes them to docs/reference."""

import inspect
import re
from collections.abc import Callable
from typing import Any

import griffe
import typer
from docstring_sections import to_google
from typer.cli import get_docs_for_click

from spacy_angel.cli.app import app
from spacy_angel.corpora.registry import read_corpus
from spacy_angel.files.formats import Formats

# Setting of angel_linker → an example value; a test checks it against the setting's type.
EXAMPLES: dict[str, Any] = {
    "candidates.span_key": "mentions",
    "candidates.types_by_label": {"DISEASE": ["T047"], "CHEMICAL": []},
    "candidates.labels_discard": ["VARIANT", "SPECIES"],
    "candidates.rewrite": False,
    "candidates.num_beams": 10,
    "candidates.length_penalty": 1.0,
    "candidates.shortcuts": False,
    "reranker.enabled": False,
    "reranker.nil_prior": 0.1,
    "decision.threshold": 0.8,
    "decision.curation": "rules.tsv",
    "decision.prefer": ["MONDO", "MESH"],
    "decision.overwrite": False,
    "decision.drop_unlinked_below": 0.3,
    "outputs.kb_id": "umls_id",
    "outputs.kb_ents": "umls_ents",
    "outputs.candidates": "umls_candidates",
    "runtime.device": "cuda",
    "runtime.dtype": "auto",
    "runtime.batch_size": 128,
}
_SECTIONS = {"parameters": "argument", "attributes": "attribute"}


def cli_reference() -> str:
    """RETURNS (str): every command with its arguments and options, in Markdown."""
    command = typer.main.get_command(app)
    text = get_docs_for_click(obj=command, ctx=typer.Context(command), name="spacy-angel")
    return re.sub(r"^#", "##", text.strip(), flags=re.MULTILINE)


def options_table(formats: Formats) -> str:
    """formats (Formats): a registry.
    RETURNS (str): a Markdown table with each option of its readers."""
    lines = ["| format | option | default | |", "|---|---|---|---|"]
    for name, format in sorted(formats.items()):
        described = dict(_arguments(format.read))
        for option in format.options:
            default = inspect.signature(format.read).parameters[option].default
            meaning = described.get(option) or _jsonl(formats)[option]
            lines.append(f"| `{name}` | `{option}` | {_value(default)} | {in_cell(meaning)} |")
    return "\n".join(lines)


def corpus_options() -> str:
    """RETURNS (str): a Markdown table of the options that all corpus formats share."""
    lines = ["| option | default | |", "|---|---|---|"]
    parameters = inspect.signature(read_corpus).parameters
    described = dict(_arguments(read_corpus))
    for name in ("prefix", "pmids", "keep_duplicates", "strict"):
        default = _value(parameters[name].default)
        lines.append(f"| `{name}` | {default} | {in_cell(described[name])} |")
    return "\n".join(lines)


def _arguments(function: Callable[..., Any]) -> list[tuple[str, str]]:
    """RETURNS (list[tuple[str, str]]): name and description of each documented argument."""
    return [
        (entry.name, " ".join(entry.description.split()))
        for section in _sections(function)
        if section.kind.value in _SECTIONS
        for entry in section.value
    ]


def _jsonl(formats: Formats) -> dict[str, str]:
    return dict(_arguments(formats["jsonl"].read))


def _sections(thing: Any) -> list[Any]:
    made = "Attributes" if inspect.isclass(thing) and "__init__" not in vars(thing) else "Args"
    doc = griffe.Docstring(to_google(inspect.getdoc(thing) or "", made))
    options = {"returns_multiple_items": False, "returns_named_value": False}
    return doc.parse("google", **options, warnings=False)


def _value(value: Any) -> str:
    if value is None or value is inspect.Parameter.empty or value == "":
        return ""
    if isinstance(value, frozenset):
        return f"`{','.join(sorted(value))}`" if value else "none"
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


def in_cell(text: str) -> str:
    """text (str): Markdown.
    RETURNS (str): the text escaped for a table cell."""
    return text.replace("|", "\\|")
