import pytest

from spacy_angel.linking.ranking.alignment import align


@pytest.mark.parametrize(
    ("mention", "name", "missing", "added"),
    [
        ("gout", "gout", 0, 0),
        ("inner ear hair cell", "ear hair cell", 5 / 16, 0),
        ("type i fibers", "type i muscle fiber", 0, 6 / 16),
        ("lung epithelial cells", "epithelial cell of lung", 0, 2 / 20),
        # The stem in common is 8 of 10 letters.
        ("cerebellar", "cerebellum", 0.2, 0.2),
        # Too little of a stem.
        ("keratinocyte", "keratocyte", 1, 1),
        ("rods", "rod cell", 0, 4 / 7),
        # A slip of the pen.
        ("cancr", "cancer", 0.1, 0.1),
        # Numbers are others or not.
        ("11 12", "11 13", 0.5, 0.5),
        ("α cell", "alpha cell", 0, 0),
        ("of", "gout", 1, 1),
    ],
)
def test_words_that_are_missing_and_added(mention, name, missing, added):
    assert align(mention, name, len) == pytest.approx((missing, added))
