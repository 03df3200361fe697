"""Count the Python calls needed to link a document: calls of the package's functions, modules
involved, and edges between modules.

    python benchmarks/calls.py [--functions 30]

The linker of `spacy_angel.load()` links two documents; then the calls for a third document of the
same shape are counted, i.e. `call` events of `sys.setprofile` in files of the package. An edge is a
pair of modules of the package of which the first calls the second.
"""

import argparse
import sys
from collections import Counter
from pathlib import Path
from types import FrameType
from typing import Any

import spacy_angel

ROOT = Path(spacy_angel.__file__).parent
TEXTS = (
    "The young woman with CKD took ibuprofen every day.",
    "The tall man with COPD took metformin every week.",
    "The old patient with CKD took aspirin every day.",
)


class CallCounter:
    """Counts `call` events: `functions` by module and name, `edges` by caller and callee."""

    def __init__(self) -> None:
        self.functions: Counter[tuple[str, str]] = Counter()
        self.edges: Counter[tuple[str, str]] = Counter()

    def __call__(self, frame: FrameType, event: str, arg: Any) -> None:
        """frame (FrameType), event (str), arg (Any): as passed by `sys.setprofile`."""
        if event != "call" or (module := _module(frame)) is None:
            return
        self.functions[module, frame.f_code.co_qualname] += 1
        caller = frame.f_back
        if caller is not None and (other := _module(caller)) not in (None, module):
            self.edges[str(other), module] += 1


def _module(frame: FrameType) -> str | None:
    path = Path(frame.f_code.co_filename)
    return str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else None


def main() -> None:
    """Print the total counts, counts by package, and the most frequently called functions."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--functions", type=int, default=0, help="functions to list")
    n_functions = parser.parse_args().functions
    nlp = spacy_angel.load()
    linker = nlp.get_pipe("angel_linker")
    docs = [nlp(text, disable=["angel_linker"]) for text in TEXTS]
    for doc in docs[:-1]:
        linker(doc)
    counter = CallCounter()
    sys.setprofile(counter)
    linker(docs[-1])
    sys.setprofile(None)
    modules = {module for module, _ in counter.functions}
    print(f"{sum(counter.functions.values())} calls in {len(modules)} modules, ", end="")
    print(f"{len(counter.edges)} edges; {[(e.text, e.kb_id_) for e in docs[-1].ents]}")
    packages: Counter[str] = Counter()
    for (module, _), count in counter.functions.items():
        packages[module.split("/")[0]] += count
    for package, count in packages.most_common():
        print(f"{count:6} {package}")
    for (module, name), count in counter.functions.most_common(n_functions):
        print(f"{count:6} {module} {name}")


if __name__ == "__main__":
    main()
