"""Converts mentions and names to token ids: encoder input, decoder prefix, and name.

The published models read `<s> left START mention END right </s>` in the encoder and
`</s> mention is` in the decoder, followed by the name (ANGEL, section 3.1; GenBioEL, section 2.1).
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Literal

from pydantic import ConfigDict

from .mention import Mention

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

_WHITE_SPACE = re.compile(r"\s")
# The punctuation that GenBioEL removes from names (appendix E.1, step 2).
_TO_SPACES = str.maketrans(dict.fromkeys(",.;{}[]()+-_*/?!`\"'=%><", " "))


@dataclass(frozen=True)
class PromptFormat:
    """The format in which a model expects mentions; saved with the model. For the formats of the
    published models, see `presets`.

    preset (str): name in `presets.PRESETS`, for other properties of these models.
    start_mark (str): precedes the mention in the source.
    end_mark (str): follows it.
    prefix (str): decoder prefix, in which `{mention}` is replaced.
    lowercase (bool): lower-case source and prefix.
    max_source_tokens (int): maximum length of the source, including special tokens.
    max_context_words (int): maximum length of the context in words separated by single spaces; 0
        for no limit.
    leading_space (bool): put a space before the first word, as before all others.
    collapse_spaces (bool): collapse runs of white space; otherwise, each white-space character
        becomes a space.
    punctuation (str): of the mention: `keep`; `blank` to replace each mark by a space; `normal` for
        the same with single spaces between words, as in names. A mention of punctuation only is
        unchanged.
    expand_context (bool): replace abbreviations by their long forms in the context, too; otherwise
        only in the mention.
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


class PromptEncoder:
    """Converts mentions and names to token ids for a model.

    tokenizer (PreTrainedTokenizerBase): tokenizer of the model.
    format (PromptFormat): marks, prefix, and lengths.
    decoder_start_token_id (int): first decoder token (`</s>` for BART).
    eos_token_id (int): last token of source and name.
    positions (int | None): maximum length of the decoder input; None: no limit. Names are truncated
        so that they fit after the longest prefix, because a vocabulary may contain names of a
        thousand tokens.
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
        # The decoder reads the start token, but never the end token.
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
        """RETURNS (str): digest of everything that the token ids of a name depend on; a trie with
        another fingerprint cannot be used with this model."""
        probe = self.encode_names(["alpha beta 12 q", "non inherited rare form of the disease"])
        backend = getattr(self.tokenizer, "backend_tokenizer", None)
        if backend is None:
            rules: Any = sorted(self.tokenizer.get_vocab().items())
        else:
            # The rest (padding, truncation, special tokens) does not affect names.
            parts = json.loads(backend.to_str())
            rules = [parts[key] for key in ("normalizer", "pre_tokenizer", "model", "added_tokens")]
        state = json.dumps((rules, probe, self.eos_token_id, self._max_name), sort_keys=True)
        return blake2b(state.encode(), digest_size=16).hexdigest()

    def source_ids(self, mentions: Sequence[Mention]) -> list[list[int]]:
        """Get the token ids of the encoder input. If it is too long, the context is truncated
        evenly on both sides; a mention that is too long by itself is truncated as well.

        mentions (Sequence[Mention]): mentions in their context.
        RETURNS (list[list[int]]): at most `max_source_tokens` ids per mention.
        """
        texts, lefts, rights = [], [], []
        for mention in mentions:
            left, right = self._context(mention)
            # A space by itself would become a token.
            lefts.append(f" {left}" if left and self.format.leading_space else left)
            text = self._mention_text(mention)
            texts.append(f" {text}" if text else "")
            rights.append(f" {right}" if right else "")
        rows = zip(self._ids(lefts), self._ids(texts), self._ids(rights), strict=True)
        return [self._fit(*parts) for parts in rows]

    def prefix_ids(self, mentions: Sequence[Mention]) -> list[list[int]]:
        """RETURNS (list[list[int]]): for each mention, the start token and ` <mention> is`."""
        prefix = self.format.prefix
        rows = self._ids([prefix.replace("{mention}", self._mention_text(m)) for m in mentions])
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
        """The text before and after the mention, with at most as many words as the format
        allows."""
        left, right = self._plain(mention.left).strip(" "), self._plain(mention.right).strip(" ")
        if not (limit := self.format.max_context_words):
            return left, right
        before, after = left.split(" "), right.split(" ")
        n_left, n_right = split_context(len(before), len(after), limit)
        return " ".join(before[len(before) - n_left :]), " ".join(after[:n_right])

    def _plain(self, text: str) -> str:
        """Lower-case the text and replace its white space according to the format."""
        text = text.lower() if self.format.lowercase else text
        if self.format.collapse_spaces:
            return " ".join(text.split())
        return _WHITE_SPACE.sub(" ", text)

    def _ids(self, texts: list[str], plain: bool = True) -> list[list[int]]:
        """plain (bool): whether `</s>` or `[SEP]` in a text is treated like other words, not as a
        special token."""
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
        source = [*self.bos_ids, *left[len(left) - n_left :], *self._start, *text]
        return [*source, *self._end, *right[:n_right], *self.eos_ids]


def split_context(n_left: int, n_right: int, room: int) -> tuple[int, int]:
    """Divide the room for context evenly; one side gets what the other does not use.

    n_left (int), n_right (int): available tokens on either side.
    room (int): number of tokens that fit.
    RETURNS (tuple[int, int]): number of tokens to use on either side, e.g. (9, 3, 8) → (5, 3).
    """
    left = min(n_left, max(room - n_right, (room + 1) // 2))
    return left, min(n_right, room - left)


def _cut_middle(ids: list[int], limit: int) -> list[int]:
    """Keep the beginning and end: both are more informative than the middle of a long mention."""
    if len(ids) <= limit:
        return ids
    head = (limit + 1) // 2
    return ids[:head] + ids[len(ids) - (limit - head) :]


def _special_ids(
    tokenizer: "PreTrainedTokenizerBase", eos_token_id: int
) -> tuple[list[int], list[int]]:
    """Special tokens that the tokenizer adds around a text (BART `<s> … </s>`, T5 `… </s>`, BERT
    `[CLS] … [SEP]`)."""
    (plain,) = tokenizer(["a"], add_special_tokens=False)["input_ids"]
    (whole,) = tokenizer(["a"])["input_ids"]
    position = next(
        (i for i in range(len(whole) - len(plain) + 1) if whole[i : i + len(plain)] == plain), None
    )
    if position is None:
        return [], [eos_token_id]
    return whole[:position], whole[position + len(plain) :] or [eos_token_id]
