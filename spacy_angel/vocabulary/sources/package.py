"""A vocabulary as a wheel, which `pip install` puts in reach of `load(kb=NAME)`."""

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ...about import __version__
from ...errors import AngelError, cannot_read
from ..kb import ConceptKB
from .installed import ENTRY_POINTS

NOTICE = "NOTICE.txt"
LICENCE = "LICENCE.txt"
_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?")
_VERSION = re.compile(r"\d+(\.\d+)*((a|b|rc|\.post|\.dev)\d+)*")
# What is built of these belongs to those who have the licence, and is not passed on.
_LICENSED = ("umls", "snomed")
_PRIVATE = "Private :: Do Not Upload"
_MODULE = '''\
"""{title}, a vocabulary for spacy-angel: `spacy_angel.load(kb="{name}")`."""

from pathlib import Path

FOLDER = Path(__file__).parent / "kb"
'''


def package_vocabulary(
    folder: Path,
    output: Path,
    *,
    name: str | None = None,
    version: str | None = None,
    licence: Path | None = None,
) -> Path:
    """Make a wheel of a vocabulary, with its terms, as they stand in its metadata, and without
    tries, which are compiled where it is installed.

    folder (Path): the vocabulary; its `NOTICE.txt`, if it has one, is a part of the terms.
    output (Path): folder that gets the wheel.
    name (str | None): by which `load` finds it; None: that of the folder.
    version (str | None): of the package; None: the numbers of the release, else 0.1.
    licence (Path | None): text of the terms, in place of what the metadata say.
    RETURNS (Path): the wheel. With UMLS or SNOMED CT in it, package indexes refuse it.
    RAISES (AngelError): name or version cannot be a package's, nothing says under which terms the
        vocabulary comes, or it cannot be read.
    """
    from flit_core.wheel import make_wheel_in

    kb = ConceptKB.from_disk(folder)
    sources = kb.meta["sources"]
    name = folder.resolve().name if name is None else name
    if not _NAME.fullmatch(name):
        raise AngelError(
            f"The package's name {name!r} is not valid. Expected e.g. letters, digits: --name."
        )
    version = _version(sources) if version is None else version
    if not _VERSION.fullmatch(version):
        raise AngelError(
            f"The package's version {version!r} is not valid. Expected e.g. 2026.1: --version."
        )
    module = "spacy_angel_kb_" + re.sub(r"[._-]+", "_", name.lower())
    title = " and ".join(dict.fromkeys(s["title"] for s in sources if s.get("title"))) or name
    with TemporaryDirectory(prefix="spacy-angel-") as temporary:
        project = Path(temporary)
        terms = _terms(folder, sources) if licence is None else _read(licence)
        (project / LICENCE).write_text(terms, "utf8")
        (project / "README.md").write_text(_readme(name, title, kb), "utf8")
        kb.to_disk(project / module / "kb")
        values = {"title": title.replace('"', "'"), "name": name}
        (project / module / "__init__.py").write_text(_MODULE.format(**values), "utf8")
        pyproject = project / "pyproject.toml"
        pyproject.write_text(_pyproject(name, version, title, module, sources), "utf8")
        output.mkdir(parents=True, exist_ok=True)
        wheel: Path = make_wheel_in(pyproject, output).file
    return wheel


def _version(sources: Sequence[Mapping[str, Any]]) -> str:
    """`hp/releases/2026-03-01` → `2026.3.1`, `2025AB` → `2025`."""
    releases = (str(source.get("release") or "") for source in sources)
    numbers = next(filter(None, (re.findall(r"\d+", release) for release in releases)), ["0", "1"])
    return ".".join(str(int(number)) for number in numbers)


def _terms(folder: Path, sources: Sequence[Mapping[str, Any]]) -> str:
    """What the metadata and the notice beside them say, a paragraph a source."""
    if unknown := [source.get("path") for source in sources if not source.get("licence")]:
        notice = folder / NOTICE
        if not notice.is_file():
            raise AngelError(
                f"The source {unknown[0]} of {folder} has no license in the metadata. Give one: "
                "--licence FILE."
            )
    paragraphs = []
    for source in sources:
        lines = [source.get("title"), source.get("release"), source.get("address")]
        lines += [source.get("licence"), source.get("terms"), source.get("notice")]
        paragraphs.append("\n".join(str(line) for line in lines if line))
    if (folder / NOTICE).is_file():
        paragraphs.append(_read(folder / NOTICE))
    return "\n\n".join(filter(None, dict.fromkeys(paragraphs))) + "\n"


def _read(path: Path) -> str:
    try:
        return path.read_text("utf8")
    except (OSError, UnicodeDecodeError) as error:
        raise AngelError(cannot_read(path, error)) from error


def _readme(name: str, title: str, kb: ConceptKB) -> str:
    counts = kb.meta["counts"]
    return (
        f"# {title}\n\n"
        f"{counts['concepts']:,} concepts and {counts['spellings']:,} names, for "
        f"spacy-angel. The terms of its sources stand in {LICENCE}.\n\n"
        f'```python\nimport spacy_angel\n\nnlp = spacy_angel.load(kb="{name}")\n```\n'
    )


def _pyproject(
    name: str, version: str, title: str, module: str, sources: Sequence[Mapping[str, Any]]
) -> str:
    """The project as TOML, whose strings and lists are written as JSON's are."""
    is_licensed = any(str(s.get("format", "")).startswith(_LICENSED) for s in sources)
    project = {
        "name": "spacy-angel-kb-" + re.sub(r"[._-]+", "-", name.lower()),
        "version": version,
        "description": f"{title}: a vocabulary for spacy-angel".replace("\n", " "),
        "readme": "README.md",
        "requires-python": ">=3.10",
        "license-files": [LICENCE],
        "classifiers": [_PRIVATE] if is_licensed else [],
        "dependencies": [f"spacy-angel>={__version__}"],
    }
    tables: dict[str, Mapping[str, Any]] = {
        "build-system": {"requires": ["flit_core"], "build-backend": "flit_core.buildapi"},
        "project": project,
        f"project.entry-points.{ENTRY_POINTS}": {name: module},
        "tool.flit.module": {"name": module},
    }
    return "\n".join(
        "\n".join([f"[{table}]", *(f"{json.dumps(k)} = {json.dumps(v)}" for k, v in rows.items())])
        for table, rows in tables.items()
    )
