"""Documents with gold mentions, what reading them counted, and the rules all formats share."""

import re
import unicodedata
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from ..errors import AngelError, AngelWarning
from ..files.faults import FileReading, ReadingReport
from ..vocabulary.names.identifiers import normal_ids
from ..vocabulary.names.labels import find_entries


@dataclass(frozen=True, slots=True)
class GoldMention:
    """A mention that an annotator marked and linked.

    start (int), end (int): character offsets into the document's text.
    text (str): the text between them, always `document.text[start:end]`.
    label (str): type as the corpus gives it, e.g. `Disease` or `T116,T123`; empty where unknown.
    concept_ids (str): identifiers in normal form; a composite stays one string, its parts joined
        by `|` or `+`; empty where the mention has none.
    parts (tuple[str, ...]): the individual mentions of a composite where the corpus spells them
        out (BC5CDR's seventh column), e.g. `("Ocular toxicity", "auditory toxicity")`.
    read_as (str): what a model reads in its place, where preprocessing left the text as it is;
        empty: the text.
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

    doc_id (str): PMID, or file and line where the corpus numbers nothing.
    text (str): title and abstract with one space between.
    mentions (tuple[GoldMention, ...]): in the order of the file; they may overlap.
    title_end (int | None): end of the title in `text`, where there is one.
    steps (tuple[str, ...]): preprocessing done so far, e.g. `("lowercase", "composites=drop")`.
    """

    doc_id: str
    text: str
    mentions: tuple[GoldMention, ...] = ()
    title_end: int | None = None
    steps: tuple[str, ...] = ()

    @classmethod
    def of_string(
        cls, doc_id: str, string: str, context: str = "", label: str = "", concept_ids: str = ""
    ) -> "CorpusDocument":
        """A string as the only mention of a document.

        doc_id (str): of the document. string (str): not blank.
        context (str): text around it; empty: the string alone. The string is marked where it first
            occurs, preferably as a whole word and in its own case; if it does not occur, it is put
            in front.
        label (str), concept_ids (str): of the mention.
        RETURNS (CorpusDocument): with one mention.
        """
        start = place_of(string, context)
        text = context if start >= 0 else f"{string}: {context}" if context else string
        start = max(start, 0)
        end = start + len(string)
        mention = GoldMention(start, end, text[start:end], label, concept_ids)
        return cls(doc_id, text, (mention,))

    def without_ids(self) -> "CorpusDocument":
        """RETURNS (CorpusDocument): its mentions without identifiers, which a linker that does not
        overwrite would hand back."""
        return replace(self, mentions=tuple(replace(m, concept_ids="") for m in self.mentions))


def place_of(string: str, context: str) -> int:
    """string (str): to look for. context (str): where. RETURNS (int): where it occurs as a whole
    word, or else anywhere; in its own case, or else in any; -1 if it does not."""
    anywhere = re.escape(string)
    for pattern in (rf"(?<![^\W_]){anywhere}(?![^\W_])", anywhere):
        for flags in (0, re.IGNORECASE):
            if string and (found := re.search(pattern, context, flags)):
                return found.start()
    return -1


def is_same_mention(first: str, second: str) -> bool:
    """Compare mentions as a normalization of Unicode leaves them: `TNF-α` is `TNF-a` and
    `TNF-alpha`; accents, case and everything but letters and digits are ignored.

    first (str), second (str): mentions.
    RETURNS (bool): whether they have the same letters and digits, and at least one.
    """
    return any(_letters(first, n) == _letters(second, n) != "" for n in (1, None))


def _letters(text: str, length: int | None) -> str:
    """Letters and digits, Greek letters as so many characters of their names."""
    names = ((c, unicodedata.name(c, "")) for c in unicodedata.normalize("NFKD", text).casefold())
    latin = (n.split()[-1][:length].lower() if n.startswith("GREEK") else c for c, n in names)
    return "".join(c for c in latin if c.isalnum())


def ends_beyond(
    mention: GoldMention, text: str, doc_id: str, report: ReadingReport | None = None
) -> bool:
    """Warn of a mention that ends beyond its text, and count it.

    mention (GoldMention): to check.
    text (str), doc_id (str): of its document.
    report (ReadingReport | None): gets `mentions_outside_text`.
    RETURNS (bool): whether it does, so that the caller skips it.
    """
    if mention.end <= len(text):
        return False
    message = (
        f"The mention {mention.text!r} at {mention.start}-{mention.end} of document {doc_id} ends "
        f"beyond the text, which has {len(text)} characters; it is skipped."
    ) + _unit_hint(mention.text, text, mention.start, mention.end)
    warnings.warn(message, AngelWarning, stacklevel=2)
    if report is not None:
        report.count("mentions_outside_text", note=message)
    return True


def within_text(document: CorpusDocument, report: ReadingReport | None = None) -> CorpusDocument:
    """document (CorpusDocument): any. report (ReadingReport | None): see `ends_beyond`. RETURNS
    (CorpusDocument): without the mentions that end beyond its text."""
    text, doc_id = document.text, document.doc_id
    mentions = tuple(m for m in document.mentions if not ends_beyond(m, text, doc_id, report))
    return replace(document, mentions=mentions)


def _unit_hint(mention: str, text: str, start: int, end: int) -> str:
    """A sentence for offsets that count something else than characters."""
    for unit, encoding, size in (("bytes", "utf-8", 1), ("UTF-16 units", "utf-16-le", 2)):
        piece = text.encode(encoding, "replace")[start * size : end * size]
        if piece.decode(encoding, "replace") == mention:
            return f" The offsets count {unit} of the text. Convert them to characters."
    return ""


@dataclass
class CorpusReport(ReadingReport):
    """What was read, repaired and left out.

    counts (Counter[str]): `documents` and `mentions` handed out, `mentions_without_id`; what was
        met and taken care of: `duplicate_documents`, `duplicate_mentions`, `repeated_ids`,
        `documents_outside_list`, `ids_not_found`, `relation_rows`, `individual_mentions`,
        `offsets_repaired`, `discontinuous_mentions`, `latin1_lines`, `terms_not_in_example`,
        `mentions_outside_text` (skipped), `normalized_mentions` (see `is_same_mention`),
        `unfinished_last_lines` (nothing else tells where a PubTator file is cut); and
        with `strict=False` the `faults`, of them `mentions_left_out` and `documents_left_out`.
        Preprocessing adds its own, see `spacy_angel.corpora.preprocessing`.
    notes (list[str]): the cases by file, line and document.
    position (int): bytes of the file read so far, as they lie on the disk.
    versions (list[int]): of PubMed's articles, in the order of the documents.
    withdrawn (set[str]): PMIDs that a PubMed file deletes.
    """

    versions: list[int] = field(default_factory=list)
    withdrawn: set[str] = field(default_factory=set)


@dataclass
class Reading(FileReading):
    """One reading of a corpus: its name, what a fault does, how ids are completed.

    name (str): the file as messages name it.
    strict (bool): raise at the first fault; otherwise leave out what it spoils, and count it.
    report (CorpusReport): gets the counts.
    prefix (str | Mapping[str, str]): vocabulary of ids without one, or one for each label.
    """

    report: CorpusReport = field(default_factory=CorpusReport)
    prefix: str | Mapping[str, str] = ""

    @contextmanager
    def leaving_out(self, line: int, kind: str) -> Iterator[None]:
        """A document whose reading ends in a ValueError is left out, as a fault.

        line (int): named by the message. kind (str): what was expected, e.g. `a correction`.
        """
        try:
            yield
        except AngelError:
            raise
        except ValueError as error:
            self.fault_at(line, f"not {kind}: {error}.", skipped="documents_left_out")

    def concept_ids(self, raw: str, label: str = "") -> str:
        """raw (str): ids as the file gives them. RETURNS (str): in normal form."""
        if isinstance(self.prefix, str):
            return normal_ids(raw, self.prefix)
        spelled = find_entries(label, self.prefix)
        return normal_ids(raw, self.prefix[spelled[0]] if spelled else "")

    def mention(self, given: GoldMention, text: str, doc_id: str, line: int) -> GoldMention | None:
        """Check a mention against the text at its offsets, and bring its identifiers into normal
        form.

        Spaces at the edges are trimmed and counted, and other differences in spaces ignored:
        document 10923035 of NCBI-disease has two spaces too many.

        given (GoldMention): as the file gives it; the label `-` stands for none.
        text (str): the document's.
        doc_id (str), line (int): for the message.
        RETURNS (GoldMention | None): None if it does not match the text (with strict=False).
        RAISES (AngelError): it does not match the text (with strict=True).
        """
        start, end, mention = given.start, given.end, given.text
        covered = text[start:end] if 0 <= start < end else ""
        if ends_beyond(given, text, doc_id, self.report):
            return None
        if covered.strip() and covered.split() != mention.split():
            stops = range(start + 1, min(len(text), end + len(mention)) + 1)
            ends = sorted(stops, key=lambda offset: abs(offset - end))
            found = (stop for stop in ends if is_same_mention(text[start:stop], mention))
            if not text.startswith(mention, start) and (stop := next(found, None)):
                note = f"{self.where(line)}: {mention!r} of document {doc_id} is normalized text"
                self.report.count("normalized_mentions", note=note)
                covered = mention = text[start:stop]
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

    def single_mention(
        self, given: GoldMention, text: str, doc_id: str, line: int
    ) -> Iterator[CorpusDocument]:
        """given (GoldMention), text (str), doc_id (str), line (int): see `mention`.
        YIELDS (CorpusDocument): a document with one mention, unless that is faulty."""
        if mention := self.mention(given, text, doc_id, line):
            yield CorpusDocument(doc_id, text, (mention,))
