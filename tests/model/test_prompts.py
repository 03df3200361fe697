"""Source, prefix and name tokens, with the published models' tokenizer and others."""

import json
from dataclasses import replace
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.helpers import shared_data
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from transformers import BartTokenizerFast, PreTrainedTokenizerFast

from spacy_angel.model.mention import Mention
from spacy_angel.model.presets import PRESETS
from spacy_angel.model.prompts import PromptEncoder, PromptFormat

START, END, IS = 33714, 34588, 16
DIABETES, PATIENTS, WITH, WERE, SEEN = 7704, [11632, 20676], 19, 58, 450


@cache
def bart_tokenizer():
    folder = shared_data("bart-tokenizer")
    return BartTokenizerFast(str(folder / "vocab.json"), str(folder / "merges.txt"))


def bart(max_source_tokens=512):
    format = PromptFormat(max_source_tokens=max_source_tokens)
    return PromptEncoder(bart_tokenizer(), format, decoder_start_token_id=2, eos_token_id=2)


def t5_like(max_source_tokens=512):
    """Sentence pieces: a blank before every word, also the first; `… </s>`; starts with <pad>."""
    pieces = ["<pad>", "</s>", "<unk>", "▁", "▁START", "▁END", "▁is", "▁a", "▁diabetes", "▁patient"]
    tokenizer = Tokenizer(models.Unigram([(piece, -1.0) for piece in pieces], unk_id=2))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always")
    tokenizer.post_processor = processors.TemplateProcessing(
        single="$A </s>", special_tokens=[("</s>", 1)]
    )
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="<pad>", eos_token="</s>", unk_token="<unk>"
    )
    format = PromptFormat(max_source_tokens=max_source_tokens)
    return PromptEncoder(fast, format, decoder_start_token_id=0, eos_token_id=1)


def bert_like(max_source_tokens=512):
    """Uncased word pieces: `[CLS] … [SEP]`; the marks are added tokens, plain words would be lost
    among the others."""
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "a", "is", "start", "end", "diabetes", "##es"]
    vocabulary = {word: i for i, word in enumerate(words)}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]"
    )
    fast.add_special_tokens({"additional_special_tokens": ["[START]", "[END]"]})
    format = PromptFormat(
        start_mark="[START]", end_mark="[END]", max_source_tokens=max_source_tokens
    )
    return PromptEncoder(fast, format, decoder_start_token_id=2, eos_token_id=3)


def test_bart_tokens_of_the_published_models():
    encoder = bart()
    mention = Mention("Diabetes", "Patients with ", " were seen")
    assert encoder.source_ids([mention]) == [
        [0, *PATIENTS, WITH, START, DIABETES, END, WERE, SEEN, 2]
    ]
    assert encoder.prefix_ids([mention]) == [[2, DIABETES, IS]]
    assert encoder.encode_names(["diabetes", "seen with diabetes"]) == [
        [DIABETES, 2],
        [SEEN, WITH, DIABETES, 2],
    ]


def test_special_tokens_in_the_text_are_words():
    [ids] = bart().source_ids([Mention("</s>", "<s> with <pad>", "<mask>")])
    assert [ids.count(special) for special in range(3)] == [1, 0, 1]
    assert 50264 not in ids
    [ids] = bert_like().source_ids([Mention("[SEP]", "[CLS]", "[END]")])
    assert [ids.count(special) for special in (2, 3, 10, 11)] == [1, 1, 1, 1]
    assert bart().encode_names(["</s>"])[0].count(2) == 1


def test_context_is_cut_evenly_around_the_mention():
    mention = Mention("diabetes", "with " * 20, " seen" * 20)
    assert bart(12).source_ids([mention]) == [
        [0, *[WITH] * 4, START, DIABETES, END, *[SEEN] * 3, 2]
    ]
    short_left = Mention("diabetes", "with with", " seen" * 20)
    assert bart(12).source_ids([short_left])[0].count(SEEN) == 5


def test_mention_longer_than_the_model():
    mention = Mention("with " * 300 + "diabetes" + " seen" * 300, "patients", "patients")
    encoder = bart(16)
    [source] = encoder.source_ids([mention])
    assert source == [0, START, *[WITH] * 6, *[SEEN] * 6, END, 2]
    [prefix] = encoder.prefix_ids([mention])
    assert prefix == [2, *[WITH] * 4, *[SEEN] * 3, IS]
    # Of an odd room the head has the greater half.
    assert bart(15).source_ids([mention]) == [[0, START, *[WITH] * 6, *[SEEN] * 5, END, 2]]


@settings(max_examples=50)
@given(st.lists(st.builds(Mention, st.text(), st.text(), st.text()), max_size=4))
def test_any_text_fits_and_does_not_depend_on_its_batch(mentions):
    encoder = bart(12)
    sources = encoder.source_ids(mentions)
    assert all(4 <= len(ids) <= 12 for ids in sources)
    assert sources == [ids for m in mentions for ids in encoder.source_ids([m])]


def test_fingerprint():
    # A decoder that reads less has shorter names, so its trie is another one.
    short = PromptEncoder(bart_tokenizer(), PromptFormat(), 2, 2, positions=300)
    other_end = PromptEncoder(bart_tokenizer(), PromptFormat(), 2, eos_token_id=1)
    different = (bart(), short, other_end, t5_like(), bert_like())
    assert len({encoder.fingerprint for encoder in different}) == 5
    assert bart().fingerprint == bart(64).fingerprint


def test_fingerprint_follows_the_rules_of_the_tokenizer_and_nothing_else(tmp_path):
    first = bert_like().fingerprint
    cased = bert_like()
    cased.tokenizer.backend_tokenizer.normalizer = normalizers.BertNormalizer(lowercase=False)
    more = bert_like()
    more.tokenizer.add_tokens(["insulin"])
    assert len({first, cased.fingerprint, more.fingerprint}) == 3
    padded = bert_like()
    padded.tokenizer.backend_tokenizer.enable_padding(length=9)
    padded.tokenizer.backend_tokenizer.enable_truncation(7)
    assert padded.fingerprint == first
    padded.tokenizer.save_pretrained(tmp_path)
    stored = PreTrainedTokenizerFast.from_pretrained(tmp_path)
    assert PromptEncoder(stored, PromptFormat(), 2, 3).fingerprint == first


# Other tokenizers


def test_t5_like():
    encoder = t5_like()
    mention = Mention("diabetes", "a patient", "is a")
    assert encoder.source_ids([mention, Mention("diabetes")]) == [
        [7, 9, 4, 8, 5, 6, 7, 1],
        [4, 8, 5, 1],
    ]
    assert encoder.prefix_ids([mention]) == [[0, 8, 6]]
    assert encoder.encode_names(["diabetes", "a patient"]) == [[8, 1], [7, 9, 1]]


def test_bert_like():
    encoder = bert_like()
    mention = Mention("Diabetes", "Start a", "END")
    start, end = 10, 11
    assert encoder.source_ids([mention]) == [[2, 6, 4, start, 8, end, 7, 3]]
    assert encoder.prefix_ids([mention]) == [[2, 8, 5]]
    assert encoder.encode_names(["a diabetes"]) == [[4, 8, 3]]
    assert encoder.encode_names(["🧬"]) == [[1, 3]]


# The format of the released models


def released(**settings):
    format = replace(PRESETS["genbioel"], **settings)
    return PromptEncoder(bart_tokenizer(), format, decoder_start_token_id=2, eos_token_id=2)


def test_the_first_word_has_a_blank_like_the_others():
    mention = Mention("diabetes", "patients with", "were seen")
    (ids,) = released().source_ids([mention])
    text = " patients with START diabetes END were seen"
    assert bart_tokenizer().decode(ids[1:-1]) == text
    assert ids == bart_tokenizer()(text)["input_ids"] != bart().source_ids([mention])[0]
    # without a left context START has a blank already
    assert released().source_ids([Mention("diabetes")]) == [[0, START, DIABETES, END, 2]]


@pytest.mark.parametrize(
    ("punctuation", "text", "read"),
    [
        ("keep", "Non-inherited (rare)", " non-inherited (rare)"),
        ("blank", "Non-inherited (rare)", " non inherited  rare "),
        ("normal", "Non-inherited (rare)", " non inherited rare"),
        ("normal", "--", " --"),
        ("blank", "--", " --"),
    ],
)
def test_punctuation_of_the_mention(punctuation, text, read):
    encoder = released(punctuation=punctuation)
    mention = Mention(text, "a-b", "")
    (source,), (prefix,) = encoder.source_ids([mention]), encoder.prefix_ids([mention])
    assert bart_tokenizer().decode(source[1:-1]) == f" a-b START{read} END"
    assert bart_tokenizer().decode(prefix[1:]) == f"{read} is"


def test_all_published_prompts_of_ncbi_disease():
    """`dev.source` as the released code tokenises it: a blank, the line, `<s>` and `</s>`."""
    encoder = released(punctuation="normal")
    equal = 0
    for line in shared_data("published/ncbi/dev.source").read_text("utf8").splitlines():
        (source,) = json.loads(line)
        left, _, rest = source.partition("START ")
        mention, _, right = rest.partition(" END")
        (ids,) = encoder.source_ids([Mention(mention, left, right)])
        equal += ids == bart_tokenizer()(f" {source}")["input_ids"]
    assert equal == 787
