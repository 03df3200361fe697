"""Mentions as the model reads them: source tokens, decoder prefix, name tokens.

The published models read `<s> left START mention END right </s>` in the encoder and
`</s> mention is` in the decoder, then the name (ANGEL, section 3.1; GenBioEL, section 2.1).
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from string import Formatter
from typing import TYPE_CHECKING, Any, Literal

from pydantic import ConfigDict

from ..errors import AngelError
from .mention import Mention

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

_WHITE_SPACE = re.compile(r"\s")
# The marks that GenBioEL takes out of names (appendix E.1, step 2).
_TO_SPACES = str.maketrans(dict.fromkeys(",.;{}[]()+-_*/?!`\"'=%><", " "))


@dataclass(frozen=True)
class PromptFormat:
    """How a model expects its mentions; saved with it. For the published models' see `presets`.

    preset (str): of `presets.PRESETS`, what else is known of such models.
    start_mark (str): stands before the mention in the source.
    end_mark (str): stands after it.
    prefix (str): decoder prefix, `{mention}` in it is replaced; a brace of its own is doubled.
    lowercase (bool): lower-case source and prefix.
    max_source_tokens (int): longest source, the special tokens included.
    max_context_words (int): longest context in words, as single spaces part them; 0: any.
    leading_space (bool): a space stands before the first word, as before all others.
    collapse_spaces (bool): runs of white space are one space; else each character of them is one.
    punctuation (str): `keep` that of the mention; `blank`: each mark is a space; `normal`: so, and
        one space between words, as names have it. A mention that is all marks stays.
    expand_context (bool): long forms stand in the place of abbreviations in the context, too; else
        in the mention only.
    RAISES (AngelError): other braces in the prefix.
    """

    # For `parse_as`, which reads angel.json.
    __pydantic_config__ = ConfigDict(extra="forbid")

    preset: str = "spacy_angel"
    start_mark: str = " START"
    end_mark: str = " END"
    prefix: str = " {mention} is"
    lowercase: bool = True
    max_source_tokens: int = 512
    max_context_words: int = 0
    leading_space: bool = False
    collapse_spaces: bool = True
    punctuation: Literal["keep", "blank", "normal"] = "keep"
    expand_context: bool = True

    def __post_init__(self) -> None:
        try:
            in_braces = [name for _, name, *_ in Formatter().parse(self.prefix) if name is not None]
            self.prefix.format(mention="")
        except (ValueError, LookupError, AttributeError):
            in_braces = [self.prefix]
        if set(in_braces) - {"mention"}:
            raise AngelError(
                f"The decoder prefix {self.prefix!r} (angel.json) may only use {{mention}}."
            )


class PromptEncoder:
    """Turns mentions and names into token ids for one model.

    tokenizer (PreTrainedTokenizerBase): the model's own.
    format (PromptFormat): marks, prefix, lengths.
    decoder_start_token_id (int): first decoder token (`</s>` for BART).
    eos_token_id (int): last token of source and name.
    positions (int | None): tokens that the decoder can read; None: any number. A name is cut to
        what they leave beside the longest prefix: a vocabulary may hold names of a thousand tokens.
    """

    def __init__(
        self,
        tokenizer: "PreTrainedTokenizerBase",
        format: PromptFormat,
        decoder_start_token_id: int,
        eos_token_id: int,
        positions: int | None = None,
    ) -> None:
        self.tokenizer = tokenizer
        self.format = format
        self.decoder_start_token_id = decoder_start_token_id
        self.eos_token_id = eos_token_id
        self._max_prefix = format.max_source_tokens // 2
        # The end token is written, not read, and the start token is read.
        self._max_name = None if positions is None else max(1, positions - 1 - self._max_prefix)
        self.bos_ids, self.eos_ids = _special_ids(tokenizer, eos_token_id)
        self._start = self._ids([format.start_mark], plain=False)[0]
        self._end = self._ids([format.end_mark], plain=False)[0]
        self._settle()

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._settle()

    def _settle(self) -> None:
        """Have the tokenizer read plain text, as it does from now on: whether it splits special
        tokens is a state of it, and to set that while another thread encodes is an error."""
        self._ids([" "])

    @cached_property
    def fingerprint(self) -> str:
        """RETURNS (str): digest of what decides a name's token ids; a trie built under another
        fingerprint does not fit this model."""
        probe = self.encode_names(["alpha beta 12 q", "non inherited rare form of the disease"])
        backend = getattr(self.tokenizer, "backend_tokenizer", None)
        if backend is None:
            rules: Any = sorted(self.tokenizer.get_vocab().items())
        else:
            # The rest (padding, truncation, what is put around a text) does not touch names.
            parts = json.loads(backend.to_str())
            rules = [parts[key] for key in ("normalizer", "pre_tokenizer", "model", "added_tokens")]
        state = json.dumps((rules, probe, self.eos_token_id, self._max_name), sort_keys=True)
        return blake2b(state.encode(), digest_size=16).hexdigest()

    def source_ids(self, mentions: Sequence[Mention]) -> list[list[int]]:
        """Token ids of the encoder input; the context is cut evenly around a mention that does
        not fit, and a mention longer than the model is cut itself.

        mentions (Sequence[Mention]): mentions in their context.
        RETURNS (list[list[int]]): at most `max_source_tokens` ids per mention.
        """
        texts, lefts, rights = [], [], []
        for mention in mentions:
            left, right = self._context(mention)
            # A lone space would become a token of its own.
            lefts.append(f" {left}" if left and self.format.leading_space else left)
            text = self._mention_text(mention)
            texts.append(f" {text}" if text else "")
            rights.append(f" {right}" if right else "")
        rows = zip(self._ids(lefts), self._ids(texts), self._ids(rights), strict=True)
        return [self._fit(*parts) for parts in rows]

    def prefix_ids(self, mentions: Sequence[Mention]) -> list[list[int]]:
        """RETURNS (list[list[int]]): start token and ` <mention> is`, one list a mention."""
        rows = self._ids(
            [self.format.prefix.format(mention=self._mention_text(m)) for m in mentions]
        )
        return [[self.decoder_start_token_id, *_cut_middle(row, self._max_prefix)] for row in rows]

    def encode_names(self, names: Sequence[str]) -> list[list[int]]:
        """RETURNS (list[list[int]]): ids of each name with a leading space and the end token."""
        rows = self._ids([" " + name for name in names])
        return [[*ids[: self._max_name], self.eos_token_id] for ids in rows]

    def _mention_text(self, mention: Mention) -> str:
        text = self._plain(mention.text)
        if self.format.punctuation == "keep":
            return text
        blanked = text.translate(_TO_SPACES)
        if not blanked.strip():
            return text
        return " ".join(blanked.split()) if self.format.punctuation == "normal" else blanked

    def _context(self, mention: Mention) -> tuple[str, str]:
        """What stands before and after the mention, as many words of it as the format allows."""
        left, right = self._plain(mention.left).strip(" "), self._plain(mention.right).strip(" ")
        if not (limit := self.format.max_context_words):
            return left, right
        before, after = left.split(" "), right.split(" ")
        n_left, n_right = split_context(len(before), len(after), limit)
        return " ".join(before[len(before) - n_left :]), " ".join(after[:n_right])

    def _plain(self, text: str) -> str:
        """Lower-cased and with plain spaces, as the format says."""
        text = text.lower() if self.format.lowercase else text
        if self.format.collapse_spaces:
            return " ".join(text.split())
        return _WHITE_SPACE.sub(" ", text)

    def _ids(self, texts: list[str], plain: bool = True) -> list[list[int]]:
        """plain (bool): a `</s>` or `[SEP]` in a text is a word like others, not the model's."""
        if not texts:
            return []
        if plain and not self.tokenizer.is_fast:
            # called as a whole, a slow tokenizer does not heed `split_special_tokens`
            tokens = [self.tokenizer.tokenize(text, split_special_tokens=True) for text in texts]
            return [self.tokenizer.convert_tokens_to_ids(each) for each in tokens]
        encoded = self.tokenizer(
            texts, add_special_tokens=False, split_special_tokens=plain, verbose=False
        )
        return encoded["input_ids"]

    def _fit(self, left: list[int], text: list[int], right: list[int]) -> list[int]:
        fixed = sum(map(len, (self.bos_ids, self._start, self._end, self.eos_ids)))
        room = max(0, self.format.max_source_tokens - fixed)
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
    position = next(
        (i for i in range(len(whole) - len(plain) + 1) if whole[i : i + len(plain)] == plain), None
    )
    if position is None:
        return [], [eos_token_id]
    return whole[:position], whole[position + len(plain) :] or [eos_token_id]
