"""Composite mentions are split into their parts."""

import pytest

from spacy_angel.corpora.composites import split_composite


@pytest.mark.parametrize(
    ("mention", "parts"),
    [
        ("breast and ovarian cancer", ["breast cancer", "ovarian cancer"]),
        (
            "brain, breast, and prostate cancer",
            ["brain cancer", "breast cancer", "prostate cancer"],
        ),
        ("BREAST AND OVARIAN CANCER", ["BREAST CANCER", "OVARIAN CANCER"]),
        ("breast/ovarian cancer", ["breast cancer", "ovarian cancer"]),
        ("breast cancer and/or ovarian cancers", ["breast cancer", "ovarian cancers"]),
        ("C6 or C7 deficiency", ["C6 deficiency", "C7 deficiency"]),
        ("deficiency of C6 and C7", ["deficiency of C6", "deficiency of C7"]),
        ("Disease of the heart and lung", ["Disease of the heart", "Disease of the lung"]),
        ("nausea and vomiting", ["nausea", "vomiting"]),
    ],
)
def test_split_composite(mention, parts):
    assert split_composite(mention, len(parts)) == parts


@pytest.mark.parametrize(
    ("mention", "n"),
    [
        ("renal hamartomas", 2),
        ("retinal, cerebellar and spinal tumours", 2),
        ("breast and ovarian cancer", 1),
        ("androgen disorder", 2),
    ],
)
def test_what_does_not_fall_into_the_parts_is_left_whole(mention, n):
    assert split_composite(mention, n) == []
