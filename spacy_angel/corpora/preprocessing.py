"""The published preprocessing of the benchmarks.

ANGEL (section 4.2) and GenBioEL (appendix A) expand abbreviations, lowercase texts, and discard
overlapping mentions and mentions without a concept in the vocabulary. NCBI-disease follows BioSyn:
punctuation is removed from mentions, spelling is corrected, and composites are not used for
training.
"""

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, get_args

from ..errors import AngelError
from ..vocabulary.names.composites import first_part, parts_in_place, split_composite
from ..vocabulary.names.identifiers import join_ids, split_ids
from .abbreviations import DETECTORS, Detector
from .documents import CorpusDocument, CorpusReport, GoldMention
from .text_changes import (
    blank_marks,
    blank_punctuation,
    expand_abbreviations,
    lowercase,
    normal_or_same,
)

# British spellings that BioSyn converts to American ones, which MEDIC uses, in NCBI-disease.
SPELLINGS = (
    ("tumour", "tumor"),
    ("tumours", "tumors"),
    ("leukaemia", "leukemia"),
    ("leukaemias", "leukemias"),
)


@dataclass(frozen=True)
class Preprocessing:
    """The preprocessing steps, in the order in which they are applied.

    abbreviations (str): `keep`, or expand abbreviations found by `scispacy` (Schwartz and Hearst)
        or `ab3p` (as in the papers; extra `ab3p`).
    expand (str): expand abbreviations in gold `mentions` or in the whole `text`. Or, as in the
        released code, keep the text and only change what a model reads instead of a mention
        (`GoldMention.read_as`): expand the `words` of a mention, and read only the first part of
        composites (NCBI-disease); or expand only mentions that are an abbreviation as a `whole`
        (BC5CDR).
    biosyn (bool): normalize mentions like BioSyn (NCBI-disease): split composites, lower-case,
        remove punctuation, use American spelling (see SPELLINGS); and remove the OMIM identifiers
        of composites that also have MeSH identifiers.
    composites (str): `drop` mentions with more than one identifier (as in training on
        NCBI-disease), or `split` them into their parts if possible (BC5CDR).
    lowercase (bool): lower-case the text.
    blank_marks (bool): lower-case mentions and replace punctuation by spaces (AskAPatient).
    overlaps (str): `keep` all overlapping mentions, or only the `longest`.
    unknown (str): `keep` or `drop` mentions with an identifier that is not in the vocabulary.
    """

    abbreviations: Literal["keep", "scispacy", "ab3p"] = "keep"
    expand: Literal["mentions", "text", "words", "whole"] = "mentions"
    biosyn: bool = False
    composites: Literal["keep", "drop", "split"] = "keep"
    lowercase: bool = False
    blank_marks: bool = False
    overlaps: Literal["keep", "longest"] = "keep"
    unknown: Literal["keep", "drop"] = "keep"

    def __post_init__(self) -> None:
        for item in fields(self):
            known: tuple[Any, ...] = get_args(item.type) or (True, False)
            if (value := getattr(self, item.name)) not in known:
                raise AngelError(
                    f"The preprocessing step {item.name} has no choice {value!r}. Choices: {known}."
                )

    @property
    def keeps_text(self) -> bool:
        """RETURNS (bool): whether the text stays unchanged and only `read_as` is set."""
        return self.expand in ("words", "whole")


_PUBLISHED = Preprocessing(
    abbreviations="ab3p", expand="text", lowercase=True, overlaps="longest", unknown="drop"
)
_NCBI = replace(_PUBLISHED, expand="mentions", biosyn=True, overlaps="keep")
# `released` reproduces the files published by the authors of GenBioEL.
_NCBI_RELEASED = replace(_NCBI, expand="words")
_ASKAPATIENT = Preprocessing(lowercase=True, blank_marks=True)
PUBLISHED: dict[str, Preprocessing] = {
    "ncbi-disease": _NCBI,
    "ncbi-disease-train": replace(_NCBI, composites="drop"),
    "ncbi-disease-released": _NCBI_RELEASED,
    "ncbi-disease-train-released": replace(_NCBI_RELEASED, composites="drop"),
    "bc5cdr": _PUBLISHED,
    "bc5cdr-released": replace(_PUBLISHED, expand="whole", composites="split", overlaps="keep"),
    "medmentions": _PUBLISHED,
    "cometa": Preprocessing(lowercase=True, unknown="drop"),
    "askapatient": _ASKAPATIENT,
    "askapatient-released": _ASKAPATIENT,
}


def preprocess(
    documents: Iterable[CorpusDocument],
    settings: Preprocessing,
    *,
    known: Container[str] | None = None,
    report: CorpusReport | None = None,
) -> Iterator[CorpusDocument]:
    """Preprocess documents one by one, and count changes and removed mentions.

    documents (Iterable[CorpusDocument]): e.g. from `read_corpus`.
    settings (Preprocessing): the steps, see `PUBLISHED`.
    known (Container[str] | None): known identifiers, e.g. a ConceptKB.
    report (CorpusReport | None): counts `abbreviations_expanded` (occurrences), `auxiliary_ids`,
        `composites_left_out`, `composites_split`, `spellings_changed`, `overlapping_left_out`,
        `unknown_left_out`.
    RETURNS (Iterator[CorpusDocument]): the documents.
    RAISES (AngelError): if a step requires `known`, or a package that is not installed.
    """
    report = report if report is not None else CorpusReport()
    if settings.unknown == "drop" and known is None:
        raise AngelError("unknown=drop needs the vocabulary: pass known= or --kb.")
    detect = None if settings.abbreviations == "keep" else DETECTORS[settings.abbreviations]()
    return (_apply(document, settings, detect, known, report) for document in documents)


def _apply(
    document: CorpusDocument,
    settings: Preprocessing,
    detect: Detector | None,
    known: Container[str] | None,
    report: CorpusReport,
) -> CorpusDocument:
    pairs = [] if detect is None else detect(document.text)
    if not settings.keeps_text:
        document, number = expand_abbreviations(document, pairs, settings.expand)
        report.count("abbreviations_expanded", number)
    if settings.biosyn:
        mentions = tuple(map(drop_auxiliary_omim, document.mentions))
        changed = sum(a != b for a, b in zip(mentions, document.mentions, strict=True))
        report.count("auxiliary_ids", changed)
        document = replace(document, mentions=mentions)
    if settings.composites == "drop":
        document = _keep(document, lambda m: not _is_composite(m), "composites_left_out", report)
    if settings.composites == "split":
        document = split_composites(document, report)
    if settings.keeps_text:
        document = read_marked(document, settings, pairs, report)
    if settings.lowercase:
        document = lowercase(document)
    if settings.blank_marks:
        document = blank_marks(document)
    if settings.biosyn and not settings.keeps_text:
        document = replace(document, mentions=tuple(map(spell_out_parts, document.mentions)))
        document = blank_punctuation(document)
        document, number = expand_abbreviations(document, SPELLINGS)
        report.count("spellings_changed", number)
    if settings.overlaps == "longest":
        longest = longest_mentions(document.mentions)
        document = _keep(document, lambda m: m in longest, "overlapping_left_out", report)
    if settings.unknown == "drop" and known is not None:
        document = _keep(document, lambda m: _is_known(m, known), "unknown_left_out", report)
    return document


def _keep(
    document: CorpusDocument,
    is_kept: Callable[[GoldMention], bool],
    counter: str,
    report: CorpusReport,
) -> CorpusDocument:
    mentions = tuple(filter(is_kept, document.mentions))
    report.count(counter, len(document.mentions) - len(mentions))
    return replace(document, mentions=mentions)


def _is_composite(mention: GoldMention) -> bool:
    return len(split_ids(mention.concept_ids)) > 1


def _is_known(mention: GoldMention, known: Container[str]) -> bool:
    """As in BioSyn, all parts of a composite must be known. Mentions without identifiers are
    unknown."""
    ids = split_ids(mention.concept_ids)
    return bool(ids) and all(concept_id in known for concept_id in ids)


def drop_auxiliary_omim(mention: GoldMention) -> GoldMention:
    """Remove OMIM identifiers next to MeSH identifiers, where they only name genes or subtypes
    (BioSyn).

    Without this step, NCBI-disease would have 5,776 train and development mentions instead of
    5,784.

    mention (GoldMention): e.g. with `MESH:C535918|OMIM:115470`.
    RETURNS (GoldMention): with `MESH:C535918`.
    """
    ids = split_ids(mention.concept_ids)
    kept = [concept_id for concept_id in ids if not concept_id.startswith("OMIM:")]
    if not kept or len(kept) == len(ids):
        return mention
    return replace(mention, concept_ids=join_ids(kept, like=mention.concept_ids))


def split_composites(document: CorpusDocument, report: CorpusReport) -> CorpusDocument:
    """Replace each composite by mentions of its parts, see `composites.parts_in_place`.

    document (CorpusDocument): document whose composites have `parts`.
    report (CorpusReport): counts `composites_split` and `composites_left_out`.
    RETURNS (CorpusDocument): the document. Composites with parts that cannot be located are
        dropped.
    """
    mentions: list[GoldMention] = []
    for mention in document.mentions:
        ids = split_ids(mention.concept_ids)
        if len(ids) < 2:
            mentions.append(mention)
            continue
        places = parts_in_place(mention.text, mention.parts)
        report.count("composites_split" if places else "composites_left_out")
        for (start, end), concept_id in zip(places, ids, strict=False):
            text, start, end = mention.text[start:end], mention.start + start, mention.start + end
            mentions.append(GoldMention(start, end, text, mention.label, concept_id))
    return replace(document, mentions=tuple(mentions))


def read_marked(
    document: CorpusDocument,
    settings: Preprocessing,
    pairs: Sequence[tuple[str, str]],
    report: CorpusReport,
) -> CorpusDocument:
    """Set the text to read instead of each mention, without changing the text of the document.

    document (CorpusDocument): the document.
    settings (Preprocessing): the steps.
    pairs (Sequence[tuple[str, str]]): short and long forms. If a short form has several long forms,
        the first one is used.
    report (CorpusReport): counts `abbreviations_expanded` and `spellings_changed`.
    RETURNS (CorpusDocument): the document with the same text, and `read_as` for each mention.
    """
    long_forms = dict(reversed(pairs))
    spellings = dict(SPELLINGS if settings.biosyn else ())
    mentions = []
    for mention in document.mentions:
        words = [mention.text] if settings.expand == "whole" else mention.text.split(" ")
        text = " ".join(long_forms.get(word, word) for word in words)
        report.count("abbreviations_expanded", text != mention.text)
        if settings.expand == "words" and _is_composite(mention):
            text = first_part(text, len(split_ids(mention.concept_ids)))
        if settings.biosyn:
            text = normal_or_same(text)
        if settings.lowercase:
            text = text.lower()
        spelled = " ".join(spellings.get(word, word) for word in text.split(" "))
        report.count("spellings_changed", spelled != text)
        mentions.append(replace(mention, read_as=spelled))
    return replace(document, mentions=tuple(mentions))


def spell_out_parts(mention: GoldMention) -> GoldMention:
    """Set the parts of a composite, before commas and slashes are removed (as in BioSyn).

    mention (GoldMention): e.g. `breast/ovarian cancer` with two identifiers.
    RETURNS (GoldMention): with the parts `breast cancer` and `ovarian cancer`; unchanged if it
        already has parts, or if the number of parts and identifiers differ.
    """
    if mention.parts:
        return mention
    parts = split_composite(mention.text, len(split_ids(mention.concept_ids)))
    return replace(mention, parts=tuple(parts))


def longest_mentions(mentions: Sequence[GoldMention]) -> list[GoldMention]:
    """Select the longest of overlapping mentions, or the first if they have the same length.

    mentions (Sequence[GoldMention]): mentions of one document.
    RETURNS (list[GoldMention]): mentions that do not overlap, longest first.
    """
    kept: list[GoldMention] = []
    for mention in sorted(mentions, key=lambda m: (m.start - m.end, m.start)):
        if not any(mention.start < other.end and other.start < mention.end for other in kept):
            kept.append(mention)
    return kept
