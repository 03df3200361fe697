"""The reference pages, from what the code says of itself: commands, options of formats,
examples of settings, the public names. `tools/document.py` writes them into docs/reference.
"""

import inspect
import re
from collections.abc import Callable, Iterator
from typing import Any, get_args, get_type_hints

import griffe
import typer
from docstring_sections import to_google

import spacy_angel
from spacy_angel.cli.app import app
from spacy_angel.corpora.registry import read_corpus
from spacy_angel.files.formats import Formats

# A setting → what a user may give; a test holds each against the setting's type.
EXAMPLES: dict[str, Any] = {
    "n_sents": 2,
    "reading": {"abbreviations": False, "long_forms": "long_forms.tsv"},
    "num_beams": 10,
    "k": 10,
    "search": {"mode": "exact", "shortcuts": False},
    "threshold": 0.8,
    "rerank": False,
    "ranker": {"nil_prior": 0.1},
    "curation": "rules.tsv",
    "drop_unlinked_below": 0.3,
    "span_key": "mentions",
    "labels": ["DISEASE"],
    "labels_discard": ["VARIANT", "SPECIES"],
    "types_by_label": {"DISEASE": ["T047"], "CHEMICAL": []},
    "prefer": ["MONDO", "MESH"],
    "overwrite": False,
    "outputs": {"kb_id": "umls_id", "kb_ents": "umls_ents", "candidates": "umls_candidates"},
    "batch_size": 128,
    "device": "cuda",
    "dtype": "auto",
}
_SECTIONS = {"parameters": "argument", "attributes": "attribute"}


def cli_reference() -> str:
    """RETURNS (str): every command with its arguments and options, in Markdown."""
    parts = []
    for words, command in _verbs(typer.main.get_command(app)):
        lines = [f"## `spacy-angel {' '.join(words)}`", "", _text(command.help or ""), ""]
        hints = get_type_hints(command.callback)
        given = [p for p in command.params if not getattr(p, "hidden", False) and p.name != "help"]
        if given:
            lines += ["| argument or option | type | default | |", "|---|---|---|---|"]
            lines += [_row(p, hints.get(p.name)) for p in given]
            lines.append("")
        parts.append("\n".join(lines))
    return "\n".join(parts).rstrip()


def options_table(formats: Formats) -> str:
    """formats (Formats): a registry. RETURNS (str): each option of its readers, Markdown."""
    lines = ["| format | option | default | |", "|---|---|---|---|"]
    for name, format in sorted(formats.items()):
        described = dict(_arguments(format.read))
        for option in format.options:
            default = inspect.signature(format.read).parameters[option].default
            meaning = described.get(option) or _jsonl(formats)[option]
            lines.append(f"| `{name}` | `{option}` | {_value(default)} | {in_cell(meaning)} |")
    return "\n".join(lines)


def corpus_options() -> str:
    """RETURNS (str): the options that every corpus format has, a Markdown table."""
    lines = ["| option | default | |", "|---|---|---|"]
    parameters = inspect.signature(read_corpus).parameters
    described = dict(_arguments(read_corpus))
    for name in ("prefix", "split", "pmids", "keep_duplicates", "strict"):
        default = _value(parameters[name].default)
        lines.append(f"| `{name}` | {default} | {in_cell(described[name])} |")
    return "\n".join(lines)


def python_reference() -> str:
    """RETURNS (str): the public names, their arguments, methods and results, in Markdown."""
    parts = []
    for name in ("load", "annotate", "AngelLinker", "Concept", "ConceptKB"):
        thing = getattr(spacy_angel, name)
        parts.append(f"## `spacy_angel.{name}`\n\n{_described(thing)}\n")
        if inspect.isclass(thing):
            parts.append(_members(thing) + "\n")
    return "\n".join(parts).rstrip()


def _verbs(command: Any, words: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    commands = getattr(command, "commands", {})
    if not commands or (words and command.params):
        yield words, command
    for name, sub in commands.items():
        yield from _verbs(sub, (*words, name))


def _row(parameter: Any, hint: Any) -> str:
    names = [*parameter.opts, *parameter.secondary_opts]
    is_option = names[0].startswith("-")
    shown = ", ".join(f"`{n}`" for n in names) if is_option else f"`{parameter.name.upper()}`"
    kind = parameter.metavar or _kind(hint)
    default = "required" if parameter.required else _value(parameter.default)
    cells = shown, kind, default, _text(parameter.help or "")
    return f"| {' | '.join(map(in_cell, cells))} |"


def _kind(hint: Any) -> str:
    inner = [arg for arg in get_args(hint) if arg is not type(None)]
    if getattr(hint, "__origin__", None) is list:
        return f"{_kind(inner[0])}, may be repeated"
    if inner and type(None) in get_args(hint):
        return _kind(inner[0])
    if inner:
        return " or ".join(f"`{arg}`" for arg in inner)
    names: dict[Any, str] = {bool: "flag", str: "text", int: "number", float: "number"}
    return names.get(hint, "path")


def _arguments(function: Callable[..., Any]) -> list[tuple[str, str]]:
    """RETURNS (list[tuple[str, str]]): name and meaning of each argument that is described."""
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


def _described(thing: Any) -> str:
    """RETURNS (str): signature, text, arguments, result and errors of a function or class."""
    lines = ["```text", f"{thing.__name__}{_taken(thing)}", "```", ""]
    for section in _sections(thing):
        kind = section.kind.value
        if kind == "text":
            lines += [str(section.value), ""]
        elif kind in _SECTIONS:
            lines += [f"| {_SECTIONS[kind]} | type | |", "|---|---|---|"]
            for entry in section.value:
                cells = f"`{entry.name}`", f"`{entry.annotation}`", _text(entry.description)
                lines.append(f"| {' | '.join(map(in_cell, cells))} |")
            lines.append("")
        elif kind in ("returns", "yields", "raises"):
            for entry in section.value:
                lines.append(f"* *{kind}* `{entry.annotation}`: {_text(entry.description)}")
            lines.append("")
    return "\n".join(lines).rstrip()


def _members(cls: type) -> str:
    """RETURNS (str): the public methods and properties, a Markdown table."""
    lines = ["| member | |", "|---|---|"]
    for name, member in vars(cls).items():
        function = getattr(member, "fget", None) or getattr(member, "__func__", member)
        if name.startswith("_") or not callable(function) or not inspect.getdoc(function):
            continue
        taken = "" if isinstance(member, property) else _taken(function)
        cells = f"`{name}{taken}`", _summary(function)
        lines.append(f"| {' | '.join(map(in_cell, cells))} |")
    return "\n".join(lines)


def _taken(function: Callable[..., Any]) -> str:
    """RETURNS (str): names and defaults of the arguments, as they are called."""
    names: list[str] = []
    stars: dict[Any, str] = {
        inspect.Parameter.VAR_POSITIONAL: "*",
        inspect.Parameter.VAR_KEYWORD: "**",
    }
    for name, parameter in inspect.signature(function).parameters.items():
        if name in ("self", "cls"):
            continue
        star = stars.get(parameter.kind, "")
        if parameter.kind is parameter.KEYWORD_ONLY and not any(n[0] == "*" for n in names):
            names.append("*")
        required = parameter.default is parameter.empty or star
        default = repr(parameter.default)
        default = default if len(default) < 40 else "…"
        names.append(f"{star}{name}" if required else f"{name}={default}")
    return f"({', '.join(names)})"


def _summary(function: Callable[..., Any]) -> str:
    """RETURNS (str): a docstring's first paragraph of prose, and its result."""
    found = {section.kind.value: section.value for section in _sections(function)}
    text = _text(str(found.get("text", "")).split("\n\n")[0])
    # A docstring that is nothing but its result is no section to griffe.
    text = re.sub(r"^Returns: [^:]+: ", "Returns ", text)
    results = [f"Returns {_text(entry.description)}" for entry in found.get("returns", ())]
    return " ".join(filter(None, [text, *results]))


def _value(value: Any) -> str:
    if value is None or value is inspect.Parameter.empty or value == "":
        return ""
    if isinstance(value, frozenset):
        return f"`{','.join(sorted(value))}`" if value else "none"
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


def _text(text: str) -> str:
    return " ".join(text.split())


def in_cell(text: str) -> str:
    """text (str): Markdown. RETURNS (str): as a cell of a table has it."""
    return text.replace("|", "\\|")
