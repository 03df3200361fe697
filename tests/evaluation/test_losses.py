"""Where gold mentions go, each row by an example, and the table's shares."""

from collections import Counter

import pytest

from spacy_angel.corpora.documents import GoldMention
from spacy_angel.evaluation.counts import Answer, MentionResult
from spacy_angel.evaluation.losses import classify_mention, count_losses, loss_figures, loss_table
from spacy_angel.evaluation.protocols import LinkedSpan
from spacy_angel.model.mention import Mention

TEXT = "Her breast cancer was treated with tamoxifen; salt was not."
GOLD = (4, 17)


def gold(start=GOLD[0], end=GOLD[1], ids=("D1",), known=True, label="SpecificDisease"):
    text = TEXT[start:end]
    mention = GoldMention(start, end, text, label)
    return MentionResult("d", mention, ids, (known,) * len(ids), Answer(Mention(text)))


def found(start=GOLD[0], end=GOLD[1], *ids, label="DISEASE"):
    return LinkedSpan(start, end, label, ids)


@pytest.mark.parametrize(
    ("spans", "row"),
    [
        ([found(4, 17, "D1")], "right"),
        ([found(4, 18, "D1")], "right"),  # one character at one end
        ([found(11, 17, "D1")], "other boundaries"),
        ([found(0, 17)], "other boundaries"),
        ([], "not found"),
        ([found(17, 20, "D1")], "not found"),  # behind it
        ([found(4, 17)], "NIL"),
        ([found(4, 17, "D2")], "wrong identifier"),
        ([found(4, 17, "D1", label="SPECIES")], "other type"),
        ([found(11, 17, "D1", label="SPECIES")], "other type"),
        # A type of its own beside another one in the same place.
        ([found(4, 17, "T1", label="SPECIES"), found(4, 17, "D1")], "right"),
    ],
)
def test_the_outcome_of_a_mention(spans, row):
    assert classify_mention(gold(), spans) == row


def test_what_the_vocabulary_lacks_is_no_fault_of_the_linker_but_may_not_be_found():
    lacking = gold(known=False)
    assert classify_mention(lacking, [found(4, 17, "D2")]) == "not in the vocabulary"
    assert classify_mention(lacking, [found(4, 17)]) == "not in the vocabulary"
    assert classify_mention(lacking, []) == "not found"


def test_shares_and_strings_of_a_corpus():
    losses = Counter()
    tamoxifen = gold(35, 44, ("C1",), label="Chemical")
    salt = found(46, 50, "C9", label="CHEMICAL")
    losses.update(count_losses([gold(), tamoxifen], [found(4, 17, "D1"), salt], TEXT))
    losses.update(
        count_losses([gold(), gold(0, 3, ())], [found(11, 17, "D1"), found(0, 3, "D1")], TEXT)
    )
    figures = loss_figures(losses, ["DISEASE", "CHEMICAL"])
    assert figures["DISEASE"]["mentions"] == 2
    assert figures["DISEASE"]["rows"]["right"] == 1
    assert figures["DISEASE"]["rows"]["other boundaries"] == 1
    # What stands on a mention without identifier is neither right nor false.
    assert figures["DISEASE"]["rows"]["false"] == 0
    assert figures["CHEMICAL"]["rows"] == {
        **dict.fromkeys(figures["CHEMICAL"]["rows"], 0),
        "not found": 1,
        "false": 1,
    }
    assert figures["CHEMICAL"]["strings"]["false"] == {"salt": 1}
    lines = loss_table(figures).splitlines()
    assert "  DISEASE: 2 gold mentions" in lines
    assert "     50.0 % other boundaries       'breast cancer' 1" in lines
    assert "    100.0 % false                  'salt' 1" in lines
    assert lines[lines.index("  CHEMICAL: 1 gold mentions") + 1].strip() == "0.0 % right"
    assert len(lines) == 2 + 2 + 3
