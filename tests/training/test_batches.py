import pytest
from support.tiny_training import EXAMPLES, tiny_backbone

from spacy_angel.errors import AngelWarning
from spacy_angel.model.mention import Mention
from spacy_angel.training.data.batches import (
    Example,
    encode,
)


def test_rows_longer_than_the_limit_are_left_out_with_a_warning():
    examples = [*EXAMPLES, Example(Mention("x"), "heart failing " * 40)]
    with pytest.warns(AngelWarning, match="1 of 5 examples are longer"):
        assert len(encode(examples, tiny_backbone().prompts, 20)) == 4
