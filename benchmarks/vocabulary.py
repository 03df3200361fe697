"""Time and memory to build, open and read a vocabulary.

    python benchmarks/vocabulary.py [--names 1000000]

Four names of random words make a concept. Printed are seconds of CPU and of the clock, and the
largest resident size of the process, which includes Python and its modules.
"""

import argparse
import random
import resource
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from spacy_angel.vocabulary.kb import ConceptKB
from spacy_angel.vocabulary.names.concepts import Concept


def concepts(n_names: int) -> Iterator[Concept]:
    """YIELDS (Concept): random ones, which together have that many names."""
    rng = random.Random(0)
    words = ["".join(rng.choices("aeioubcdlmnrst", k=rng.randint(3, 10))) for _ in range(50_000)]
    for i in range(n_names // 4):
        names = [f"{' '.join(rng.choices(words, k=rng.randint(1, 4)))} {i}" for _ in range(4)]
        yield Concept(f"X:{i}", names[0], tuple(names[1:]), ("T047",), None, (f"Y:{i}",))


def report(what: str, started: tuple[float, float]) -> None:
    """Print what was done since `started`, CPU and clock."""
    cpu, clock = time.process_time() - started[0], time.perf_counter() - started[1]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{what:<12} {cpu:8.2f} s CPU {clock:8.2f} s {peak:8.0f} MB")


def now() -> tuple[float, float]:
    """RETURNS (tuple[float, float]): seconds of CPU, and of the clock."""
    return time.process_time(), time.perf_counter()


def main() -> None:
    """Build, open, and look up."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--names", type=int, default=1_000_000)
    n_names = parser.parse_args().names
    with tempfile.TemporaryDirectory() as folder:
        started = now()
        n = sum(len(concept.names) for concept in concepts(n_names))
        report("generate", started)
        started = now()
        ConceptKB.build(concepts(n_names), Path(folder) / "kb")
        report("build", started)
        started = now()
        kb = ConceptKB.from_disk(Path(folder) / "kb")
        report("open", started)
        started = now()
        indices = list(range(0, kb.n_names, kb.n_names // 1000))
        kb.find_names(kb.name_texts(indices))
        kb.concept_ids(indices)
        report("1,000 reads", started)
        print(f"{n:,} names, {kb.n_names:,} in normal form")


if __name__ == "__main__":
    main()
