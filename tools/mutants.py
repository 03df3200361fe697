"""How many small faults do the tests notice? One change to a module's syntax tree at a time.

    python tools/mutants.py -o mutants.json [--sample 60] [MODULE …]

A mutant is a comparison, a condition, a sign, a number or a truth value that is changed in one
place. It is killed if a test of the module fails or does not end. Every mutant has a process of
its own, forked from one that has the large libraries open; files are never changed. What survives
is printed with its line: a test is missing, or the change makes no difference.
"""

import ast
import copy
import importlib.abc
import importlib.util
import json
import os
import random
import signal
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any

import typer
from tqdm import tqdm

ROOT = Path(__file__).parents[1]
TESTS = {
    "linking/ranking/concepts": ["linking/test_ranking.py"],
    "search/search": ["search/test_search.py"],
    "vocabulary/storage/trie": ["vocabulary/test_trie.py", "search/test_walker.py"],
    "evaluation/counts": ["evaluation/test_counts.py", "evaluation/test_systems.py"],
    "training/models/losses": ["training/test_losses.py"],
    "model/prompts": ["model/test_prompts.py"],
    "annotation/folder": ["annotation/test_folder.py", "annotation/test_records.py"],
    "annotation/records": ["annotation/test_records.py", "annotation/test_folder.py"],
    "annotation/plan": ["annotation/test_folder.py"],
    "annotation/parts": ["annotation/test_parts.py"],
    "annotation/progress": ["annotation/test_progress.py"],
    "vocabulary/changes/live": ["vocabulary/test_kb.py"],
}
"""Modules, and the tests that are theirs."""

_SLOW_TO_OPEN = (
    *("hypothesis", "scipy.stats", "sklearn.feature_extraction.text", "spacy", "torch"),
    *("transformers.models.bart.modeling_bart", "transformers.models.bart.tokenization_bart_fast"),
)

_OPPOSITES: dict[type, type] = {
    **{ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq},
    **{ast.NotEq: ast.Eq, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot},
    **{ast.IsNot: ast.Is, ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add},
    **{ast.FloorDiv: ast.Mult, ast.Div: ast.Mult, ast.Mod: ast.Mult, ast.And: ast.Or},
    **{ast.Or: ast.And, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd},
}


class _Mutator(ast.NodeTransformer):
    """Changes the place with a number, and counts the places.

    number (int): from 0; a negative one changes nothing.
    """

    def __init__(self, number: int) -> None:
        self._number = number
        self.places = 0
        self.what = ""

    def _is_it(self, node: ast.AST, what: str) -> bool:
        self.places += 1
        if self.places - 1 != self._number:
            return False
        self.what = f"{getattr(node, 'lineno', 0)}: {what}"
        return True

    def _opposite(self, node: ast.AST, operator: Any) -> Any:
        other = _OPPOSITES.get(type(operator))
        if other is not None and self._is_it(node, f"{type(operator).__name__} → {other.__name__}"):
            return other()
        return operator

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        node.ops = [self._opposite(node, operator) for operator in node.ops]
        return node

    def _operator(self, node: Any) -> Any:
        self.generic_visit(node)
        node.op = self._opposite(node, node.op)
        return node

    visit_BinOp = visit_AugAssign = visit_BoolOp = _operator

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.op, ast.Not | ast.USub) and self._is_it(node, "sign or not left out"):
            return node.operand
        return node

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        if isinstance(node.value, bool):
            if self._is_it(node, f"{node.value} → {not node.value}"):
                return ast.copy_location(ast.Constant(not node.value), node)
        elif isinstance(node.value, int | float) and self._is_it(
            node, f"{node.value} → {node.value + 1}"
        ):
            return ast.copy_location(ast.Constant(node.value + 1), node)
        return node

    def _condition(self, node: ast.If | ast.IfExp | ast.While) -> ast.AST:
        self.generic_visit(node)
        if self._is_it(node, "condition turned round"):
            node.test = ast.copy_location(ast.UnaryOp(ast.Not(), node.test), node.test)
        return node

    visit_If = visit_IfExp = visit_While = _condition

    def visit_Raise(self, node: ast.Raise) -> ast.AST:
        return node  # the words of a message

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        if node.value is not None:
            node.value = self.visit(node.value)
        return node

    def visit_arg(self, node: ast.arg) -> ast.AST:
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        node.body = [self.visit(statement) for statement in node.body]
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.args = self.visit(node.args)
        node.body = [self.visit(statement) for statement in node.body]
        return node


def mutants(source: str) -> Iterator[tuple[str, ast.Module]]:
    """source (str): of a module. YIELDS (tuple[str, ast.Module]): line and change, and the tree."""
    tree = ast.parse(source)
    counter = _Mutator(-1)
    counter.visit(copy.deepcopy(tree))
    for number in range(counter.places):
        mutator = _Mutator(number)
        changed = mutator.visit(copy.deepcopy(tree))
        yield mutator.what, ast.fix_missing_locations(changed)


class _Loader(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Gives a tree in the place of one module's file."""

    def __init__(self, name: str, path: Path, tree: ast.Module) -> None:
        self._name, self._path, self._tree = name, path, tree

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name != self._name:
            return None
        return importlib.util.spec_from_file_location(name, self._path, loader=self)

    def exec_module(self, module: ModuleType) -> None:
        exec(compile(self._tree, str(self._path), "exec"), module.__dict__)


def passes(module: str, tree: ast.Module, tests: list[str], limit: float) -> bool:
    """Run the tests of a module against a tree, in a process of their own.

    module (str): e.g. `linking/ranking/concepts`. tree (ast.Module): what stands in its place.
    tests (list[str]): files under tests/. limit (float): seconds.
    RETURNS (bool): whether all passed in time.
    """
    child = os.fork()
    if child == 0:
        _run_tests(module, tree, tests)
    end = time.monotonic() + limit
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return status == 0
        time.sleep(0.02)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return False


def _run_tests(module: str, tree: ast.Module, tests: list[str]) -> None:
    import pytest

    os.setpgid(0, 0)
    path = ROOT / "spacy_angel" / f"{module}.py"
    sys.meta_path.insert(0, _Loader(f"spacy_angel.{module.replace('/', '.')}", path, tree))
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)
    os.dup2(silence, 2)
    files = [str(ROOT / "tests" / test) for test in tests]
    code = 1
    try:
        code = int(pytest.main(["-x", "-q", "-p", "no:cacheprovider", *files]))
    finally:
        os._exit(code)


def main(
    modules: Annotated[list[str] | None, typer.Argument(help="Some of the modules.")] = None,
    output: Annotated[Path, typer.Option("-o", "--output")] = Path("mutants.json"),
    sample: Annotated[int, typer.Option(help="Most mutants of a module, chosen by chance.")] = 60,
    seed: Annotated[int, typer.Option(help="Of that choice.")] = 0,
) -> None:
    """Write how many mutants of each module are killed, and what survives."""
    os.environ["HYPOTHESIS_STORAGE_DIRECTORY"] = tempfile.mkdtemp()
    os.environ["OMP_NUM_THREADS"] = "1"
    os.chdir(ROOT)
    # None of it opens the package that is to be changed.
    for name in _SLOW_TO_OPEN:
        importlib.import_module(name)
    results = json.loads(output.read_text("utf8")) if output.exists() else {}
    for module in modules or TESTS:
        source = (ROOT / "spacy_angel" / f"{module}.py").read_text("utf8")
        start = time.monotonic()
        if not passes(module, ast.parse(source), TESTS[module], 600):
            raise SystemExit(f"The tests of {module} fail as it is: {TESTS[module]}.")
        limit = 20 + 5 * (time.monotonic() - start)
        all_of_them = list(mutants(source))
        some = random.Random(seed).sample(all_of_them, min(sample, len(all_of_them)))
        survivors = []
        for what, tree in tqdm(some, desc=module):
            if passes(module, tree, TESTS[module], limit):
                survivors.append(what)
                tqdm.write(f"{module}.py:{what}", file=sys.stdout)
        results[module] = {
            "places": len(all_of_them),
            "mutants": len(some),
            "killed": len(some) - len(survivors),
            "survivors": sorted(survivors, key=lambda what: int(what.partition(":")[0])),
        }
        output.write_text(json.dumps(results, indent=1, ensure_ascii=False), "utf8")
        print(f"{module}: {len(some) - len(survivors)} of {len(some)} killed")


if __name__ == "__main__":
    typer.run(main)
