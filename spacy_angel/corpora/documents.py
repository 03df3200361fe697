"""Documents with gold mentions, reading reports, and rules shared by all formats."""

import re
import unicodedata
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from ..errors import AngelError, AngelWarning
from ..files.faults import FileReading, ReadingReport
from ..files.json_values import checked
from ..vocabulary.names.identifiers import normal_ids
from ..vocabulary.names.labels import find_entries

_T = TypeVar("_T")

# Maximum length of mentions to compare after Unicode normalization, in characters.
MAX_NORMALIZED = 200

NOTED_IDS = re.compile(
    r"(?:(?:[CD]\d{6,9}|https?:\S+[/#][A-Z]+_\d+|[A-Za-z]\w*:\w*\d\w*)(?:[\s,;|+]+|$))+", re.ASCII
)
"""Matches text that consists of identifiers only, e.g. `C0004096 C0004099`."""

# The notation of tmVar, e.g. `c|SUB|G|35|A;RS#:112445441`.
_TMVAR = re.compile(r"^(?:tmVar:)?[a-z]?\|\w+\||RS(?:ID|#):")


@dataclass(frozen=True, slots=True)
class GoldMention:
    """A mention in a corpus, with its gold annotation.

    start (int), end (int): character offsets in the text of the document.
    text (str): text of the mention, always `document.text[start:end]`.
    label (str): entity type in the corpus, e.g. `Disease` or `T116,T123`; empty if unknown.
    concept_ids (str): identifiers in normal form, joined by `|` or `+` for a composite; empty if
        there are none.
    parts (tuple[str, ...]): the parts of a composite if the corpus lists them (the seventh column
        of BC5CDR), e.g. `("Ocular toxicity", "auditory toxicity")`.
    read_as (str): text that a model reads instead of the mention, if preprocessing leaves the text
        of the document unchanged; empty to read the mention itself.
    """

    start: int
    end: int
    text: str
    label: str = ""
    concept_ids: str = ""
    parts: tuple[str, ...] = ()
    read_as: str = ""


@dataclass(frozen=True, slots=True)
class CorpusDocument:
    """A document with its gold mentions.

    doc_id (str): PMID, or file and line if the corpus has no identifiers.
    text (str): title and abstract, separated by a space.
    mentions (tuple[GoldMention, ...]): in the order of the file; they may overlap.
    title_end (int | None): end of the title in `text`, if there is a title.
    """

    doc_id: str
    text: str
    mentions: tuple[GoldMention, ...] = ()
    title_end: int | None = None

    @classmethod
    def of_string(
        cls, doc_id: str, string: str, context: str = "", label: str = "", concept_ids: str = ""
    ) -> "CorpusDocument":
        """Make a document with a string as its only mention.

        doc_id (str): identifier of the document.
        string (str): text of the mention, which must not be blank.
        context (str): text that contains the string; empty to use only the string. The mention is
            the first occurrence, preferably as a whole word and in the same case. If there is none,
            the string is prepended to the context.
        label (str), concept_ids (str): label and identifiers of the mention.
        RETURNS (CorpusDocument): the document.
        """
        start = place_of(string, context)
        text = context if start >= 0 else f"{string}: {context}" if context else string
        start = max(start, 0)
        end = start + len(string)
        mention = GoldMention(start, end, text[start:end], label, concept_ids)
        return cls(doc_id, text, (mention,))

    def without_ids(self) -> "CorpusDocument":
        """RETURNS (CorpusDocument): a copy without identifiers, which a linker that does not
        overwrite them would keep."""
        return replace(self, mentions=tuple(replace(m, concept_ids="") for m in self.mentions))


def place_of(string: str, context: str) -> int:
    """Find a string in a text, preferably as a whole word and in the same case.

    string (str): string to find.
    context (str): text to search.
    RETURNS (int): offset of the string, or -1 if it does not occur.
    """
    anywhere = re.escape(string)
    for pattern in (rf"(?<![^\W_]){anywhere}(?![^\W_])", anywhere):
        for flags in (0, re.IGNORECASE):
            if string and (found := re.search(pattern, context, flags)):
                return found.start()
    return -1


def is_same_mention(first: str, second: str) -> bool:
    """Compare mentions, ignoring changes by Unicode normalization: `TNF-α` equals `TNF-a` and
    `TNF-alpha`. Accents, case, and everything except letters and digits are ignored.

    first (str), second (str): mentions.
    RETURNS (bool): whether they have the same letters and digits, and at least one.
    """
    return any(_letters(first, n) == _letters(second, n) != "" for n in (1, None))


def _letters(text: str, length: int | None) -> str:
    """Letters and digits; Greek letters become the first `length` letters of their names."""
    names = ((c, unicodedata.name(c, "")) for c in unicodedata.normalize("NFKD", text).casefold())
    latin = (n.split()[-1][:length].lower() if n.startswith("GREEK") else c for c, n in names)
    return "".join(c for c in latin if c.isalnum())


def is_outside(
    mention: GoldMention, text: str, doc_id: str, report: ReadingReport | None = None
) -> bool:
    """Warn if there is no text at the offsets of a mention, or if it ends beyond the text, and
    count it.

    mention (GoldMention): mention to check.
    text (str), doc_id (str): text and identifier of its document.
    report (ReadingReport | None): report in which `mentions_outside_text` is counted.
    RETURNS (bool): whether the mention is outside of the text and should be skipped.
    """
    start, end = mention.start, mention.end
    if 0 <= start < end <= len(text) and not text[start:end].isspace():
        return False
    message = (
        f"The mention {mention.text!r} at {start}-{end} of document {doc_id} is not inside the "
        f"text, which has {len(text)} characters; it is skipped."
    ) + _unit_hint(mention.text, text, start, end)
    warnings.warn(message, AngelWarning, stacklevel=2)
    if report is not None:
        report.count("mentions_outside_text", note=message)
        report.count("mentions_left_out")
    return True


def within_text(document: CorpusDocument, report: ReadingReport | None = None) -> CorpusDocument:
    """Remove mentions that are outside of the text of their document.

    document (CorpusDocument): the document.
    report (ReadingReport | None): see `is_outside`.
    RETURNS (CorpusDocument): the document with the remaining mentions.
    """
    text, doc_id = document.text, document.doc_id
    mentions = tuple(m for m in document.mentions if not is_outside(m, text, doc_id, report))
    return replace(document, mentions=mentions)


def _unit_hint(mention: str, text: str, start: int, end: int) -> str:
    """Return a hint if the offsets count another unit than characters."""
    for unit, encoding, size in (("bytes", "utf-8", 1), ("UTF-16 units", "utf-16-le", 2)):
        piece = text.encode(encoding, "replace")[start * size : end * size]
        if piece.decode(encoding, "replace") == mention and mention.strip():
            return f" The offsets count {unit} of the text. Convert them to characters."
    return ""


@dataclass
class CorpusReport(ReadingReport):
    """Counts and notes on what was read, repaired, and skipped.

    counts (Counter[str]): `documents` and `mentions` that were read, and `mentions_without_id`;
        irregularities that were handled: `duplicate_documents`, `duplicate_mentions`,
        `repeated_ids`, `documents_outside_list`, `ids_not_found`, `relation_rows`,
        `individual_mentions`, `offsets_repaired`, `discontinuous_mentions`, `latin1_lines`,
        `terms_not_in_example`, `abstracts_missing` (PubTator), `texts_without_annotations` (brat,
        skipped), `mentions_outside_text` (skipped), `normalized_mentions` (see
        `is_same_mention`), `unfinished_last_lines` (the only sign of a truncated PubTator file);
        and with `strict=False` `faults`, `mentions_left_out`, and `documents_left_out`.
        Preprocessing adds its own, see `spacy_angel.corpora.preprocessing`.
    notes (list[str]): the irregularities with file, line, and document.
    position (int): number of bytes read from the file so far, before decompression.
    versions (list[int]): versions of PubMed articles, in the order of the documents.
    withdrawn (set[str]): PMIDs that a PubMed file marks as deleted.
    """

    versions: list[int] = field(default_factory=list)
    withdrawn: set[str] = field(default_factory=set)


@dataclass
class Reading(FileReading):
    """The state of reading a corpus: how faults are handled and identifiers are completed.

    name (str): name of the file in messages.
    strict (bool): raise an error at the first fault; otherwise, skip invalid content and count it.
    report (CorpusReport): the report that receives counts and notes.
    prefix (str | Mapping[str, str]): vocabulary for identifiers without a prefix, or a mapping from
        labels to vocabularies.
    """

    report: CorpusReport = field(default_factory=CorpusReport)
    prefix: str | Mapping[str, str] = ""

    @contextmanager
    def leaving_out(
        self, line: int, kind: str, skipped: str = "documents_left_out"
    ) -> Iterator[None]:
        """Skip a document or a mention, and count a fault, if reading it raises a ValueError.

        line (int): line number for the error message.
        kind (str): expected content, e.g. `a correction`.
        skipped (str): counter for the skipped content.
        """
        try:
            yield
        except AngelError:
            raise
        except ValueError as error:
            self.fault_at(line, f"not {kind}: {error}.", skipped)

    def valid(self, values: Iterable[Any], kind: type[_T], line: int) -> Iterator[_T]:
        """Validate the mentions of a document one by one; invalid ones are skipped and counted.

        values (Iterable[Any]): JSON values. kind (type): expected type, see `json_values.checked`.
        line (int): line number for the error message.
        YIELDS (Any): the valid values.
        """
        for value in values:
            with self.leaving_out(line, "a mention", "mentions_left_out"):
                yield checked(value, kind)

    def concept_ids(self, raw: str, label: str = "") -> str:
        """Normalize identifiers.

        raw (str): identifiers in the file.
        label (str): label of the mention, which may determine the prefix.
        RETURNS (str): identifiers in normal form.
        """
        if _TMVAR.search(raw):
            # The dbSNP number, the HGVS name, or else the notation as one identifier.
            one = re.search(r"RS(?:ID|#):(\d+)", raw) or re.search(r"HGVS:([^;|]+)", raw)
            raw = f"{'rs' * one[1].isdecimal()}{one[1]}" if one else re.split(";", raw)[0]
            raw = raw.replace("|", "_")
        if isinstance(self.prefix, str):
            return normal_ids(raw, self.prefix)
        spelled = find_entries(label, self.prefix)
        return normal_ids(raw, self.prefix[spelled[0]] if spelled else "")

    def mention(self, given: GoldMention, text: str, doc_id: str, line: int) -> GoldMention | None:
        """Check a mention against the text at its offsets, and normalize its identifiers.

        Spaces around the mention are trimmed and counted. Other differences in spaces are ignored,
        because document 10923035 of NCBI-disease has two extra spaces.

        given (GoldMention): mention in the file; the label `-` means no label.
        text (str): text of the document.
        doc_id (str), line (int): document identifier and line number for the error message.
        RETURNS (GoldMention | None): the mention, or None if it does not match the text
            (with strict=False).
        RAISES (AngelError): if the mention does not match the text (with strict=True).
        """
        start, end, mention = given.start, given.end, given.text
        covered = text[start:end] if 0 <= start < end else ""
        if covered.strip() and covered.split() != mention.split():
            longest = min(len(text), end + len(mention), start + MAX_NORMALIZED)
            stops = range(start + 1, longest + 1) if len(mention) <= MAX_NORMALIZED else ()
            ends = sorted(stops, key=lambda offset: abs(offset - end))
            found = (stop for stop in ends if is_same_mention(text[start:stop], mention))
            if not text.startswith(mention, start) and (stop := next(found, None)):
                note = f"{self.where(line)}: {mention!r} of document {doc_id} is normalized text"
                self.report.count("normalized_mentions", note=note)
                covered, mention, end = text[start:stop], text[start:stop], stop
        if end > len(text) and is_outside(given, text, doc_id, self.report):
            return None
        if not covered.strip() or covered.split() != mention.split():
            message = f"expected the mention {mention!r} at {start}-{end} of document {doc_id}, "
            message += f"found {covered!r}.{_unit_hint(mention, text, start, end)}"
            self.fault_at(line, message, skipped="mentions_left_out")
            return None
        end = start + len(covered)
        if covered != mention or covered != covered.strip():
            start += len(covered) - len(covered.lstrip())
            end = start + len(covered.strip())
            note = f"{self.where(line)}: spaces of mention {mention!r} of document {doc_id} trimmed"
            self.report.count("offsets_repaired", note=note)
        label = "" if given.label == "-" else given.label
        ids = self.concept_ids(given.concept_ids, label)
        return replace(
            given, start=start, end=end, text=text[start:end], label=label, concept_ids=ids
        )

    def whole(self, mention: str, spans: Sequence[tuple[int, int]], text: str, line: int) -> str:
        """Return the text from the start of a discontinuous mention to its end, and count it.

        mention (str): text of the mention in the file.
        spans (Sequence[tuple[int, int]]): its pieces, in order.
        text (str), line (int): see `mention`.
        RETURNS (str): the text; or the mention, if it has one piece or does not match its pieces.
        """
        pieces = " ".join(text[start:end] for start, end in spans).split()
        covered = text[spans[0][0] : spans[-1][1]]
        if len(spans) == 1 or pieces != mention.split():
            return mention
        if pieces != covered.split():
            note = f"{self.where(line)}: {mention!r} in pieces, read as a whole"
            self.report.count("discontinuous_mentions", note=note)
        return covered

    def single_mention(
        self, given: GoldMention, text: str, doc_id: str, line: int
    ) -> Iterator[CorpusDocument]:
        """Make a document with a single mention.

        given (GoldMention), text (str), doc_id (str), line (int): see `mention`.
        YIELDS (CorpusDocument): the document, unless the mention is invalid.
        """
        if mention := self.mention(given, text, doc_id, line):
            yield CorpusDocument(doc_id, text, (mention,))
