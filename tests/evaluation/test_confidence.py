import pytest

from spacy_angel.evaluation.confidence import calibration_error, reliability


@pytest.mark.parametrize(
    ("confidences", "right", "error"),
    [
        ([0.8, 0.8], [True, False], 30),
        ([1.0, 0.95], [True, True], 2.5),
        ([0.05, 0.9], [True, True], (95 + 10) / 2),
        # Bins 0.2 (20 said, 0 right), 0.7 (70, 50: two mentions), 0.8 (80, 0), 0.9 (90, 100)
        ([0.9, 0.8, 0.7, 0.7, 0.2], [True, False, True, False, False], (20 + 40 + 80 + 10) / 5),
        ([], [], 0),
    ],
)
def test_calibration_error_written_out(confidences, right, error):
    assert calibration_error(confidences, right) == pytest.approx(error)


def test_reliability_of_bins():
    low, high = reliability([0.1, 0.9, 0.95, 1.0], [False, True, True, False])
    assert low == {"low": 0.1, "mentions": 1, "confidence": pytest.approx(10), "right": 0}
    assert (high["low"], high["mentions"]) == (0.9, 3)
    assert high["confidence"] == pytest.approx(95)
    assert high["right"] == pytest.approx(200 / 3)
