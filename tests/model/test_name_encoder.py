import numpy as np
import pytest

from spacy_angel.errors import AngelError
from spacy_angel.model.name_encoder import FOLDER, NameEncoder, shipped_name_encoder


@pytest.fixture(scope="module")
def encoder():
    return shipped_name_encoder()


@pytest.mark.parametrize(
    ("mention", "synonym", "look_alike"),
    [
        ("kidney stones", "nephrolithiasis", "kidney neoplasms"),
        ("teeth were hurting", "toothache", "huntington disease"),
        ("shortness of breath", "dyspnea", "short stature"),
    ],
)
def test_a_synonym_is_closer_than_a_name_of_similar_letters(encoder, mention, synonym, look_alike):
    vectors = encoder.embed([mention, synonym, look_alike]).astype(np.float32)
    near, far = vectors[0] @ vectors[1], vectors[0] @ vectors[2]
    assert near > far
    static = encoder.static_vectors([mention, synonym])
    assert np.linalg.norm(static, axis=1) == pytest.approx(1, abs=1e-5)


def test_a_vector_does_not_depend_on_the_names_beside_it(encoder):
    names = ["fever", "a rather long name of nothing that anybody has", "gout"]
    together = NameEncoder.from_disk(FOLDER).embed(names)
    alone = NameEncoder.from_disk(FOLDER).embed(names[:1])
    assert together[:1].astype(np.float32) == pytest.approx(alone.astype(np.float32), abs=5e-3)


def test_int8_gives_nearly_the_same_vectors(encoder):
    names = ["nephrolithiasis", "shortness of breath"]
    exact, fast = (encoder.embed(names, int8=int8).astype(np.float32) for int8 in (False, True))
    assert (exact * fast).sum(axis=1) == pytest.approx(1, abs=0.01)


def test_a_folder_without_weights_is_refused(tmp_path):
    for name in ("config.json", "vocab.txt"):
        (tmp_path / name).write_bytes((FOLDER / name).read_bytes())
    with pytest.raises(AngelError, match="No weights"):
        NameEncoder.from_disk(tmp_path)
