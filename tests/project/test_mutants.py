"""The tool that changes one place at a time: what it changes, and that a test decides."""

import ast
import sys

from support.helpers import ROOT

sys.path.insert(0, str(ROOT / "tools"))

from mutants import TESTS, mutants

SOURCE = '''
"""Not 1 of these."""
LIMIT: int = 3

def keep(value: int, more: bool = False) -> bool:
    """Nor 2 < 3."""
    if value < LIMIT and not more:
        raise ValueError(f"{value} < {1 + 1}")
    return -value
'''


def test_every_place_is_changed_once_and_alone() -> None:
    changed = {ast.unparse(tree): what for what, tree in mutants(SOURCE)}
    whole = ast.unparse(ast.parse(SOURCE))
    pairs = [
        ("LIMIT: int = 3", "LIMIT: int = 4"),
        ("more: bool=False", "more: bool=True"),
        ("value < LIMIT and", "value <= LIMIT and"),
        ("LIMIT and (not more)", "LIMIT or not more"),
        ("and (not more):", "and more:"),
        ("if value < LIMIT and (not more):", "if not (value < LIMIT and (not more)):"),
        ("return -value", "return value"),
    ]
    assert set(changed) == {whole.replace(*pair) for pair in pairs}
    assert changed[whole.replace(*pairs[0])] == "3: 3 → 4"
    assert changed[whole.replace(*pairs[2])] == "7: Lt → LtE"


def test_modules_and_tests_are_there() -> None:
    for module, tests in TESTS.items():
        assert (ROOT / "spacy_angel" / f"{module}.py").is_file()
        assert all((ROOT / "tests" / test).is_file() for test in tests)
