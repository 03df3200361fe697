import numpy as np

from spacy_angel import Concept, ConceptKB

CONCEPTS = [
    Concept("D:1", "Nephrolithiasis", ("renal calculi",)),
    Concept("D:2", "Kidney neoplasms"),
    Concept("D:3", "Toothache"),
]


def names(kb, text, k=1, allowed=None):
    (found,) = kb.meanings.find([text], k, [allowed])
    return [kb.name(name) for name, _ in found]


def test_a_name_in_other_words_is_found():
    kb = ConceptKB.build(CONCEPTS)
    assert names(kb, "stones in the kidney", 2)[0] in ("renal calculi", "nephrolithiasis")
    assert names(kb, "pain in a tooth") == ["toothache"]
    assert kb.meanings.find([], 3, []) == []


def test_a_subset_and_changes_while_running_count():
    kb = ConceptKB.build(CONCEPTS)
    allowed = np.ones(kb.n_names, dtype=bool)
    allowed[kb.name_index("toothache")] = False
    assert "toothache" not in names(kb, "pain in a tooth", 3, allowed)
    kb.add(Concept("D:4", "Dental pain"))
    assert set(names(kb, "pain in a tooth", 2)) == {"toothache", "dental pain"}
    kb.remove("D:3")
    assert "toothache" not in names(kb, "pain in a tooth", 3)
