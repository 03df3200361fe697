"""The pages of a service: one to try it, one that describes it. Nothing in them is fetched."""

import json
import re
from base64 import b64encode
from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from html import escape
from pathlib import Path
from typing import Any

from ..linking.showing.page import page_style

_FILE = Path(__file__).with_name("page.html")
_SCRIPT = re.compile(r"<script>(.*?)</script>", re.DOTALL)
_TOKEN = (
    '<label for="token">Token of the service</label>\n'
    '<input id="token" type="password" autocomplete="off">'
)
_DESCRIPTION = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>spacy-angel: the service</title>
<link rel="icon" href="data:,">
<style>
{style}
h2 {{ font-size: 1.1rem; margin-top: 2rem; }}
pre {{ overflow-x: auto; border: 1px solid var(--line); border-radius: 8px; padding: .6rem 1rem; }}
</style>
</head>
<body>
<main>
<h1>What this service answers</h1>
<p>The same as <a href="openapi.json">OpenAPI</a>, for programs. <a href="./">Try it</a>.</p>
{parts}
<h2 id="schemas">Objects</h2>
{schemas}
</main>
</body>
</html>
"""


@cache
def demo_page(*, needs_token: bool) -> str:
    """needs_token (bool): whether one must be typed. RETURNS (str): the page at `/`."""
    html = _FILE.read_text("utf8").replace("/* style */", page_style())
    return html.replace("<!-- token -->", _TOKEN if needs_token else "")


def description_page(openapi: Mapping[str, Any]) -> str:
    """openapi (Mapping[str, Any]): the description of the service.
    RETURNS (str): the same for people."""
    parts = [
        _operation(path, method, operation)
        for path, methods in openapi["paths"].items()
        for method, operation in methods.items()
    ]
    schemas = [
        f'<h3 id="{escape(name)}">{escape(name)}</h3>{_pre(schema)}'
        for name, schema in openapi["components"]["schemas"].items()
    ]
    return _DESCRIPTION.format(
        style=page_style(), parts="\n".join(parts), schemas="\n".join(schemas)
    )


def page_headers(html: str) -> dict[str, str]:
    """html (str): a page. RETURNS (dict[str, str]): have a browser run its script and no other,
    and ask this service alone."""
    hashes = [b64encode(sha256(text.encode()).digest()).decode() for text in _SCRIPT.findall(html)]
    scripts = " ".join(f"'sha256-{value}'" for value in hashes) or "'none'"
    policy = (
        f"default-src 'none'; script-src {scripts}; style-src 'unsafe-inline'; img-src data:; "
        "connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
    )
    return {"Content-Security-Policy": policy}


def _operation(path: str, method: str, operation: Mapping[str, Any]) -> str:
    rows = [
        f"<li><code>{escape(one['name'])}</code> ({escape(one['in'])}): "
        f"{escape(one.get('description', ''))}</li>"
        for one in operation.get("parameters", ())
    ]
    body = operation.get("requestBody", {}).get("content", {})
    rows += [f"<li>Body: {_reference(one)}</li>" for one in body.values()]
    for status, answer in operation["responses"].items():
        kinds = answer.get("content", {})
        named = ", ".join(f"{escape(kind)} {_reference(one)}" for kind, one in kinds.items())
        rows.append(f"<li>{escape(status)}: {escape(answer['description'])} {named}</li>")
    title = f"<code>{escape(method.upper())} {escape(path)}</code>"
    return f"<h2>{title} {escape(operation['summary'])}</h2>\n<ul>{''.join(rows)}</ul>"


def _reference(content: Mapping[str, Any]) -> str:
    name = content.get("schema", {}).get("$ref", "").rpartition("/")[2]
    return f'<a href="#{escape(name)}">{escape(name)}</a>' if name else ""


def _pre(schema: Mapping[str, Any]) -> str:
    return f'<pre tabindex="0">{escape(json.dumps(schema, indent=1, ensure_ascii=False))}</pre>'
