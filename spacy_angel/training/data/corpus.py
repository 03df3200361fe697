"""Gold mentions of a corpus as training and development data."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...model.mention import Mention, mention_at
from ...vocabulary.names.concepts import normalize_name
from ...vocabulary.names.entity_types import is_species, may_need_species

if TYPE_CHECKING:
    from ...corpora.documents import CorpusDocument
    from ...vocabulary.species.reader import SpeciesReader


@dataclass(frozen=True, slots=True)
class LabelledMention:
    """A mention and what it stands for.

    mention (Mention): in its context.
    concept_ids (tuple[str, ...]): identifiers of the vocabulary, sorted; several for a composite
        mention or an ambiguous label.
    """

    mention: Mention
    concept_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LabelledMentions:
    """Mentions that can be trained on, and how many cannot.

    mentions (list[LabelledMention]): in the order of the corpus.
    unknown (int): mentions without an identifier, or with none that is in the vocabulary.
    """

    mentions: list[LabelledMention]
    unknown: int


def label_mentions(
    documents: Iterable["CorpusDocument"],
    resolve: Callable[[str], str | None],
    split_ids: Callable[[str], list[str]],
    species_reader: "SpeciesReader | None" = None,
) -> LabelledMentions:
    """Cut the gold mentions out of their documents.

    documents (Iterable[CorpusDocument]): preprocessed, abbreviations replaced.
    resolve (Callable[[str], str | None]): identifier → the vocabulary's own, None where unknown.
    split_ids (Callable[[str], list[str]]): composite label → identifiers.
    species_reader (SpeciesReader | None): of a vocabulary whose names have suffixes: mentions get
        their species contexts.
    RETURNS (LabelledMentions): one a gold mention that the vocabulary knows.
    """
    mentions = []
    unknown = 0
    for document in documents:
        species = (
            (m.start, m.end, m.concept_ids) for m in document.mentions if is_species(m.label)
        )
        species_words = (
            [] if species_reader is None else species_reader.find(document.text, species)
        )
        for gold in document.mentions:
            ids = {resolve(concept_id) for concept_id in split_ids(gold.concept_ids)} - {None}
            if not ids:
                unknown += 1
                continue
            # The model's own prompt format says what becomes of the spaces.
            species_context = ""
            if species_reader is not None and may_need_species(gold.label):
                species_context = species_reader.context_of(species_words, gold.start, gold.end)
            mention = mention_at(
                document.text,
                gold.start,
                gold.end,
                collapse_spaces=False,
                read_as=gold.read_as,
                species_context=species_context,
            )
            mentions.append(LabelledMention(mention, tuple(sorted(filter(None, ids)))))
    return LabelledMentions(mentions, unknown)


def distinct_mentions(mentions: Iterable[LabelledMention]) -> list[LabelledMention]:
    """One occurrence, the first, of each string with the same label.

    mentions (Iterable[LabelledMention]): in the order of the corpus.
    RETURNS (list[LabelledMention]): in the same order.
    """
    first: dict[tuple[str, tuple[str, ...]], LabelledMention] = {}
    for labelled in mentions:
        first.setdefault((labelled.mention.text.lower(), labelled.concept_ids), labelled)
    return list(first.values())


def split_by_text(mentions: Iterable[LabelledMention], n: int) -> list[list[LabelledMention]]:
    """Parts that share no mention string.

    mentions (Iterable[LabelledMention]): in the order of the corpus.
    n (int): number of parts, at least 1.
    RETURNS (list[list[LabelledMention]]): n parts with the strings by turns, the first in the
        first part; e.g. [A, b, a, c] in two: [A, a, c] and [b].
    """
    parts: list[list[LabelledMention]] = [[] for _ in range(n)]
    part_of: dict[str, int] = {}
    for labelled in mentions:
        text = normalize_name(labelled.mention.text)
        parts[part_of.setdefault(text, len(part_of) % n)].append(labelled)
    return parts
