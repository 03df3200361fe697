"""Parts of a page in one file that needs no network."""

import json
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from ..files.atomic import replacing
from .charts import escape


def section(title: str, content: str) -> str:
    """title (str): plain. content (str): HTML. RETURNS (str): HTML; empty without content."""
    return f"<section><h2>{escape(title)}</h2>{content}</section>" if content else ""


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """head (Sequence[str]), rows (Iterable[Sequence[str]]): HTML of the cells; the first of
    each row is its head. RETURNS (str): HTML."""
    body = "".join(
        f"<tr><th>{first}</th>{''.join(f'<td>{cell}</td>' for cell in rest)}</tr>"
        for first, *rest in rows
    )
    columns = "".join(f"<th>{cell}</th>" for cell in head)
    head_and_body = f"<thead><tr>{columns}</tr></thead><tbody>{body}</tbody>"
    return f'<div class="wide"><table>{head_and_body}</table></div>'


def browser(
    records: Iterable[Mapping[str, Any]],
    n_shown: int,
    n_all: int,
    kind: tuple[str, Sequence[tuple[str, str]]],
    names: Sequence[str] = (),
) -> str:
    """A list of mentions to filter, search and order.

    records (Iterable[Mapping[str, Any]]): as `predictions.jsonl` has them.
    n_shown (int), n_all (int): how many they are, and how many there are.
    kind (tuple[str, Sequence[tuple[str, str]]]): title, and key and name of each filter.
    names (Sequence[str]): of the systems that are compared.
    RETURNS (str): HTML.
    """
    title, filters = kind
    # `</` would end the script element; JSON may write it as `<\/`.
    rows = ",\n".join(json.dumps(r, ensure_ascii=False).replace("</", "<\\/") for r in records)
    options = "".join(f'<option value="{key}">{escape(name)}</option>' for key, name in filters)
    note = "" if n_shown == n_all else f"<p>{n_shown:,} of {n_all:,}, wrong ones first.</p>"
    labels = json.dumps(list(names), ensure_ascii=False).replace("</", "<\\/")
    return (
        f'<section id="browser"><h2>{escape(title)}</h2>{note}'
        f'<form class="tools"><label>Show <select id="filter">{options}</select></label>'
        '<label>Search <input id="search" type="search" placeholder="mention, name, identifier, '
        'document"></label>'
        '<label>Order <select id="order"><option value="corpus">as in the corpus</option>'
        '<option value="unlike">least similar to its gold name</option>'
        '<option value="mention">by mention</option></select></label>'
        '<output id="count"></output></form>'
        '<div id="mentions"></div><button id="more" type="button">Show more</button>'
        "<noscript><p>The list needs JavaScript; predictions.jsonl holds the same.</p></noscript>"
        f'<script type="application/json" id="names">{labels}</script>'
        f'<script type="application/json" id="data">[{rows}]</script>'
        f"<script>{_resource('page.js')}</script></section>"
    )


def write_page(path: Path, title: str, kind: str, sections: Iterable[str]) -> None:
    """path (Path): file to write. title (str), kind (str): of the page, plain. sections
    (Iterable[str]): HTML."""
    page = (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{_resource('page.css')}</style></head><body><main>"
        f"<header><p>{escape(kind)}</p><h1>{escape(title)}</h1></header>"
        f"{''.join(sections)}</main></body></html>\n"
    )
    with replacing(path) as file:
        file.write(page.encode("utf8"))


def _resource(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf8")
