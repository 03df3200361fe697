"""The packages and what each may import: only packages below it, without cycles."""

import ast
from graphlib import TopologicalSorter

import pytest
from support.helpers import ROOT

PACKAGE = ROOT / "spacy_angel"
BELOW_EVALUATION = "pipelines linking corpora search vocabulary model files"
# From top to bottom; every package may import `errors` and `about` as well.
MAY_IMPORT = {
    "cli": set(f"annotation evaluation service training {BELOW_EVALUATION}".split()),
    "service": {"pipelines", "linking", "corpora", "vocabulary", "files"},
    "annotation": {"pipelines", "linking", "corpora", "search", "files"},
    "evaluation": set(BELOW_EVALUATION.split()),
    "pipelines": {"linking", "component", "corpora", "search", "vocabulary", "files"},
    "training": {"recognition", "corpora", "search", "model", "vocabulary", "files"},
    "linking": {"component", "search", "model", "vocabulary", "files"},
    "recognition": {"component", "model", "files"},
    "component": set(),
    "corpora": {"vocabulary", "files"},
    "search": {"model", "vocabulary"},
    "vocabulary": {"model", "files"},
    "model": {"files"},
    "files": set(),
}
ROOT_MODULES = {"errors", "about"}
# The front door: lazily imported names, and `python -m spacy_angel`.
FRONT_DOOR = {"__init__", "__main__"}


def imports_of(path):
    """Yield the line and `package.module` of each import from spacy_angel, including those inside
    functions and under TYPE_CHECKING."""
    here = path.relative_to(PACKAGE.parent).with_suffix("").parts[:-1]
    for node in ast.walk(ast.parse(path.read_text("utf8"))):
        if isinstance(node, ast.ImportFrom):
            base = here[: len(here) - node.level + 1] if node.level else ()
            parts = [*base, *(node.module or "").split(".")]
            names = [".".join([*filter(None, parts), alias.name]) for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            continue
        for name in names:
            top, _, rest = name.partition(".")
            if top == "spacy_angel" and rest:
                yield node.lineno, rest


def arrows():
    """List package, imported package, and `file:line` of each import."""
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        for line, name in imports_of(path):
            found.append((parts[0], name.partition(".")[0], f"{path.relative_to(ROOT)}:{line}"))
    return found


def test_the_packages_are_those_of_the_table():
    packages = {path.name for path in PACKAGE.iterdir() if (path / "__init__.py").is_file()}
    modules = {path.stem for path in PACKAGE.glob("*.py")}
    assert packages == set(MAY_IMPORT)
    assert modules == ROOT_MODULES | FRONT_DOOR
    assert all((PACKAGE / name / "__init__.py").read_text("utf8").strip() for name in MAY_IMPORT)


def test_the_table_goes_down_the_list_only():
    order = list(MAY_IMPORT)
    for package, others in MAY_IMPORT.items():
        assert all(order.index(package) < order.index(other) for other in others), package


@pytest.mark.parametrize("package", MAY_IMPORT)
def test_a_package_imports_what_it_may(package):
    allowed = MAY_IMPORT[package] | ROOT_MODULES | {package}
    outgoing = [(to, where) for frm, to, where in arrows() if frm == package]
    assert outgoing, f"{package} imports nothing of spacy_angel: is the walk broken?"
    assert [(to, where) for to, where in outgoing if to not in allowed] == []


def test_there_is_no_import_cycle():
    files = {
        ".".join(path.relative_to(PACKAGE).with_suffix("").parts): path
        for path in sorted(PACKAGE.rglob("*.py"))
        if path.name != "__init__.py"
    }
    arrows = {}
    for name, path in files.items():
        imported = (found for _, found in imports_of(path))
        # `from .module import name` is found as `module.name`
        arrows[name] = {
            own
            for found in imported
            for own in (found, found.rpartition(".")[0])
            if own in files and own != name
        }
    assert sum(map(len, arrows.values())) > len(files)
    # raises a CycleError that names the circle
    assert len(list(TopologicalSorter(arrows).static_order())) == len(files)
