"""spaCy's tokenizer for normalized texts, in time linear in their length."""

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, pairwise

from spacy import util
from spacy.language import Language
from spacy.tokenizer import Tokenizer
from spacy.tokens import Doc

from .characters import CleanText, clean, is_invisible

# Maximum length of a part that the rules process at once: each punctuation mark takes a pass.
_MAX_RUN = 1000
_LONG_RUN = re.compile(rf"(?<!\S)\S{{{_MAX_RUN + 1},}}")
# The rules of prefixes and suffixes look no farther, unless a match is itself as long.
_AT_THE_END = 64
_CONTEXT = 8
# One space, other white space, anything else.
_PARTS = re.compile(r" |[^\S ]+|\S+")


class LinearTokenizer(Tokenizer):
    """spaCy's tokenizer with the rules of its language, with two differences: characters that
    `component.characters` removes belong to the preceding token or else to the next one, and never
    join two words; and sequences of more than a thousand characters without a space are split."""

    def __call__(self, string: str) -> Doc:
        """string (str): a text. RETURNS (Doc): its tokens."""
        text = clean(string)
        if text.is_clean and _LONG_RUN.search(string) is None:
            return super().__call__(string)
        words: list[str] = []
        spaces: list[bool] = []
        for token in _whole(string, text, self._cut(text.text)):
            # A single space after a token belongs to it.
            if token == " " and words and not spaces[-1]:
                spaces[-1] = True
            else:
                words.append(token)
                spaces.append(False)
        return Doc(self.vocab, words=words, spaces=spaces)

    def find_prefix(self, string: str) -> int:
        """string (str): part of a text. RETURNS (int): length of its prefix."""
        n: int = super().find_prefix(string[:_AT_THE_END])
        return n if n < _AT_THE_END - _CONTEXT else super().find_prefix(string)

    def find_suffix(self, string: str) -> int:
        """string (str): part of a text. RETURNS (int): length of its suffix."""
        n: int = super().find_suffix(string[-_AT_THE_END:])
        return n if n < _AT_THE_END - _CONTEXT else super().find_suffix(string)

    def _cut(self, text: str) -> Iterator[tuple[int, int]]:
        """YIELDS (tuple[int, int]): character offsets of each token, without spaces."""
        runs = (
            range(run.start() + _MAX_RUN, run.end(), _MAX_RUN) for run in _LONG_RUN.finditer(text)
        )
        for start, end in pairwise([0, *chain.from_iterable(runs), len(text)]):
            for token in super().__call__(text[start:end]):
                yield start + token.idx, start + token.idx + len(token)


def _whole(string: str, text: CleanText, tokens: Iterable[tuple[int, int]]) -> Iterator[str]:
    """YIELDS (str): the tokens and the text between them; joined, they are the original text.
    Characters that are removed from the text belong to an adjacent token."""
    end = 0
    word = ""
    for token in tokens:
        start, after = text.to_source(*token)
        if after <= end:
            # The second letter of a ligature belongs to the previous token.
            continue
        start = max(start, end)
        *between, before = _between(string[end:start], word)
        yield from filter(None, between)
        word = before + string[start:after]
        end = after
    yield from filter(None, _between(string[end:], word))


def _between(gap: str, word: str) -> list[str]:
    """gap (str): the text after a word. RETURNS (list[str]): the invisible characters that belong
    to the word, a token of its own such as markup, and the invisible characters that belong to the
    next word; each may be empty."""
    parts = _PARTS.findall(gap)
    if parts and word and is_invisible(parts[0]):
        word += parts.pop(0)
    last = parts.pop() if parts and is_invisible(parts[-1]) else ""
    return [word, *parts, last]


@util.registry.tokenizers("spacy_angel.Tokenizer.v1")
def make_tokenizer() -> Callable[[Language], LinearTokenizer]:
    """RETURNS (Callable[[Language], LinearTokenizer]): creates the tokenizer of a language."""

    spacys = util.registry.tokenizers.get("spacy.Tokenizer.v1")()
    return lambda nlp: with_rules_of(spacys(nlp))


def with_rules_of(tokenizer: Tokenizer) -> LinearTokenizer:
    """tokenizer (Tokenizer): a tokenizer of spaCy. RETURNS (LinearTokenizer): a tokenizer with its
    vocab and rules."""
    return LinearTokenizer(
        tokenizer.vocab,
        rules=tokenizer.rules,
        prefix_search=tokenizer.prefix_search,
        suffix_search=tokenizer.suffix_search,
        infix_finditer=tokenizer.infix_finditer,
        token_match=tokenizer.token_match,
        url_match=tokenizer.url_match,
    )
