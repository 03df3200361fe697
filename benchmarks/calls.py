"""Count the Python calls needed to link a document, and the modules involved.

    python benchmarks/calls.py

The linker of `spacy_angel.load()` links two documents; then the calls for a third document of the
same shape are counted, i.e. `call` events of `sys.setprofile` in files of the package.
"""

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


def main() -> None:
    """Print the number of calls in each module, and the total counts."""
    calls: Counter[str] = Counter()

    def count(frame: FrameType, event: str, arg: Any) -> None:
        path = Path(frame.f_code.co_filename)
        if event == "call" and path.is_relative_to(ROOT):
            calls[str(path.relative_to(ROOT))] += 1

    nlp = spacy_angel.load()
    linker = nlp.get_pipe("angel_linker")
    docs = [nlp(text, disable=["angel_linker"]) for text in TEXTS]
    for doc in docs[:-1]:
        linker(doc)
    sys.setprofile(count)
    linker(docs[-1])
    sys.setprofile(None)
    for module, n_calls in calls.most_common():
        print(f"{n_calls:6} {module}")
    print(f"{calls.total()} calls in {len(calls)} modules")


if __name__ == "__main__":
    main()
