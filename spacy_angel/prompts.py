"""Mentions as the model reads them: source tokens, decoder prefix, name tokens.

The published models read `<s> left START mention END right </s>` in the encoder and
`</s> mention is` in the decoder, then the name (ANGEL, section 3.1; GenBioEL, section 2.1).
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from .errors import AngelError, Errors

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase


@dataclass(frozen=True, slots=True)
class Mention:
    """A mention in its context, abbreviations already replaced by their long forms.

    text (str): the mention.
    left (str): what stands before it.
    right (str): what stands after it.
    """

    text: str
    left: str = ""
    right: str = ""


@dataclass(frozen=True)
class PromptFormat:
    """How a model expects its mentions; saved with it. The defaults are the published models'.

    start_mark (str): stands before the mention in the source.
    end_mark (str): stands after it.
    prefix (str): decoder prefix, `{mention}` in it is replaced.
    lowercase (bool): lower-case source and prefix.
    max_source_tokens (int): longest source, the special tokens included.
    """

    start_mark: str = " START"
    end_mark: str = " END"
    prefix: str = " {mention} is"
    lowercase: bool = True
    max_source_tokens: int = 512

    def to_dict(self) -> dict[str, Any]:
        """RETURNS (dict[str, Any]): plain values for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> "PromptFormat":
        """values (dict[str, Any]): as `to_dict` gives them. RETURNS (PromptFormat)."""
        known = {field.name for field in fields(cls)}
        if unknown := sorted(set(values) - known):
            raise AngelError(Errors.E001.format(unknown=unknown, known=sorted(known)))
        return cls(**values)


class PromptEncoder:
    """Turns mentions and names into token ids for one model.

    tokenizer (PreTrainedTokenizerBase): the model's own.
    format (PromptFormat): marks, prefix, lengths.
    decoder_start_token_id (int): first decoder token (`</s>` for BART).
    eos_token_id (int): last token of source and name.
    """

    def __init__(
        self,
        tokenizer: "PreTrainedTokenizerBase",
        format: PromptFormat,
        decoder_start_token_id: int,
        eos_token_id: int,
    ) -> None:
        self.tokenizer = tokenizer
        self.format = format
        self.decoder_start_token_id = decoder_start_token_id
        self.eos_token_id = eos_token_id
        self.max_source_tokens = format.max_source_tokens
        self.bos_ids, self.eos_ids = _special_ids(tokenizer, eos_token_id)
        self._start = self._ids([format.start_mark], plain=False)[0]
        self._end = self._ids([format.end_mark], plain=False)[0]

    def limit_source(self, max_source_tokens: int) -> None:
        """Read shorter sources than the format allows, for speed; not saved with the model.

        max_source_tokens (int): longest source; has no effect over the format's own limit.
        """
        self.max_source_tokens = min(max_source_tokens, self.format.max_source_tokens)

    @cached_property
    def fingerprint(self) -> str:
        """RETURNS (str): digest of what decides a name's token ids; a trie built under another
        fingerprint does not fit this model."""
        probe = self.encode_names(["alpha beta 12 q", "non inherited rare form of the disease"])
        state = (sorted(self.tokenizer.get_vocab().items()), probe, self.eos_token_id)
        return blake2b(repr(state).encode(), digest_size=16).hexdigest()

    def source_ids(self, mentions: Sequence[Mention]) -> list[list[int]]:
        """Token ids of the encoder input; the context is cut evenly around a mention that does
        not fit, and a mention longer than the model is cut itself.

        mentions (Sequence[Mention]): mentions in their context.
        RETURNS (list[list[int]]): one list of at most `self.max_source_tokens` ids a mention.
        """
        lower = str.lower if self.format.lowercase else str
        left = self._ids([lower(m.left).strip() for m in mentions])
        text = self._ids([_after_blank(lower(m.text).strip()) for m in mentions])
        right = self._ids([_after_blank(lower(m.right).strip()) for m in mentions])
        return [self._fit(*parts) for parts in zip(left, text, right, strict=True)]

    def prefix_ids(self, mentions: Sequence[Mention]) -> list[list[int]]:
        """RETURNS (list[list[int]]): start token and ` <mention> is`, one list a mention."""
        lower = str.lower if self.format.lowercase else str
        texts = [self.format.prefix.format(mention=lower(m.text).strip()) for m in mentions]
        limit = self.format.max_source_tokens // 2
        return [
            [self.decoder_start_token_id, *_cut_middle(ids, limit)]
            for ids in self._ids(texts, plain=False)
        ]

    def encode_names(self, names: Sequence[str]) -> list[list[int]]:
        """RETURNS (list[list[int]]): ids of each name with a leading blank and the end token."""
        return [[*ids, self.eos_token_id] for ids in self._ids([" " + name for name in names])]

    def _ids(self, texts: list[str], plain: bool = True) -> list[list[int]]:
        """plain (bool): a `</s>` or `[SEP]` in a text is a word like others, not the model's."""
        if not texts:
            return []
        encoded = self.tokenizer(
            texts, add_special_tokens=False, split_special_tokens=plain, verbose=False
        )
        return encoded["input_ids"]

    def _fit(self, left: list[int], text: list[int], right: list[int]) -> list[int]:
        fixed = sum(map(len, (self.bos_ids, self._start, self._end, self.eos_ids)))
        room = max(0, self.max_source_tokens - fixed)
        text = _cut_middle(text, room)
        n_left, n_right = split_context(len(left), len(right), room - len(text))
        return [
            *self.bos_ids,
            *left[len(left) - n_left :],
            *self._start,
            *text,
            *self._end,
            *right[:n_right],
            *self.eos_ids,
        ]


def split_context(n_left: int, n_right: int, room: int) -> tuple[int, int]:
    """Share the room for context evenly; what one side does not use, the other gets.

    n_left (int), n_right (int): tokens there are on either side.
    room (int): tokens that fit.
    RETURNS (tuple[int, int]): tokens to take on either side, e.g. (9, 3, 8) → (5, 3).
    """
    left = min(n_left, max(room - n_right, (room + 1) // 2))
    return left, min(n_right, room - left)


def _after_blank(text: str) -> str:
    """A lone blank would become a token of its own."""
    return f" {text}" if text else ""


def _cut_middle(ids: list[int], limit: int) -> list[int]:
    """Keep head and tail: both ends of an over-long mention say more than its middle."""
    if len(ids) <= limit:
        return ids
    head = (limit + 1) // 2
    return ids[:head] + ids[len(ids) - (limit - head) :]


def _special_ids(
    tokenizer: "PreTrainedTokenizerBase", eos_token_id: int
) -> tuple[list[int], list[int]]:
    """What the tokenizer puts around a text (BART `<s> … </s>`, T5 `… </s>`, BERT
    `[CLS] … [SEP]`)."""
    plain = tokenizer("a", add_special_tokens=False)["input_ids"]
    whole = tokenizer("a")["input_ids"]
    at = next(
        (i for i in range(len(whole) - len(plain) + 1) if whole[i : i + len(plain)] == plain), None
    )
    if at is None:
        return [], [eos_token_id]
    return whole[:at], whole[at + len(plain) :] or [eos_token_id]
