"""Tree numbers in flat columns."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_angel.errors import AngelError
from spacy_angel.vocabulary.kb import ConceptKB
from spacy_angel.vocabulary.names.concepts import Concept

CONCEPTS = [
    Concept("X:1", "tumours", types=("C",), tree_numbers=("C04",)),
    Concept("X:2", "glioma", tree_numbers=("C04.557.337", "C10.1")),
    Concept("X:3", "snark"),
]


def test_they_are_joined_and_changed_as_other_fields(tmp_path: Path) -> None:
    more = [replace(CONCEPTS[0], tree_numbers=("C23.1", "C04"))]
    kb = ConceptKB.join([CONCEPTS, more])
    assert kb["X:1"].tree_numbers == ("C04", "C23.1")
    kb.add(Concept("X:9", "boojum", tree_numbers=("C10.1.2", "C10.1.2", "")))
    kb.add_names("X:2", ["glial tumour"])
    kb.to_disk(tmp_path / "kb")
    again = ConceptKB.from_disk(tmp_path / "kb")
    assert again["X:9"].tree_numbers == ("C10.1.2",)
    assert again["X:2"].tree_numbers == ("C04.557.337", "C10.1")
    with pytest.raises(AngelError, match=r"tree_numbers .* found 'C04'"):
        kb.add(Concept("X:10", "jubjub", tree_numbers="C04"))  # type: ignore[arg-type]


NUMBERS = st.lists(st.sampled_from("12"), min_size=1, max_size=4).map(".".join)


@given(st.lists(st.lists(NUMBERS, max_size=2), min_size=1, max_size=6), st.data())
def test_what_stands_below_a_concept_are_its_numbers_and_those_that_continue_them(
    numbers: list[list[str]], data: st.DataObject
) -> None:
    # A number is one concept's.
    own = [
        [n for n in some if all(n not in rest for rest in numbers[:i])]
        for i, some in enumerate(numbers)
    ]
    kb = ConceptKB.build(
        Concept(f"X:{i}", f"name {i}", tree_numbers=tuple(some)) for i, some in enumerate(own)
    )
    root = data.draw(st.integers(0, len(own) - 1))
    below = {
        f"X:{i}"
        for i, some in enumerate(own)
        if any(f"{n}.".startswith(f"{above}.") for n in some for above in own[root])
    }
    assert kb.ids_below(f"X:{root}") == below | {f"X:{root}"}
