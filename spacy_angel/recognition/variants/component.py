"""The component `angel_variants`, which finds sequence variants in documents."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Annotated, Any

from pydantic import Field
from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.vocab import Vocab

from ...component.checked import CheckedSettings, Name, Names
from ...component.kb_id import NAME as KB_ID
from ...component.pipe import DocumentPipe
from ..found import scored_spans, set_scored_spans
from .grammar import FoundVariant, find_variants
from .tokens import VariantTokenizer

HGVS, GENE = "hgvs", "variant_gene"
# Attributes set by a linker before the mention was found to be a variant.
_OF_A_LINKER = ("kb_ents", "candidates")
# Words that are not names without the variant: `V600E-mutant melanoma` becomes `melanoma`.
_LEFT_OVER = frozenset(
    (
        *("mutation", "mutations", "mutant", "mutants", "mutated", "variant", "variants"),
        *("allele", "alleles", "polymorphism", "polymorphisms", "genotype", "genotypes"),
        *("protein", "gene", "substitution", "positive", "negative", "the"),
    )
)


class VariantSettings(CheckedSettings):
    """The settings of `angel_variants`. The annotation of each field describes it.

    RAISES (AngelError): a value is invalid; the message names the setting, the expected values, and
        the given value.
    """

    COMPONENT = "angel_variants"

    label: Annotated[Name, Field(description="label of the variants")] = "VARIANT"
    gene_labels: Annotated[
        Names,
        Field(
            description="labels of genes; `span._.variant_gene` is the nearest one in the sentence"
        ),
    ] = ("GENE", "GENE_OR_GENE_PRODUCT")
    span_key: Annotated[
        Name | None,
        Field(
            description="span group that gets the variants as well; they replace the spans inside"
        ),
    ] = None


class PlacedVariant(FoundVariant):
    """A variant in a document; `start` and `end` are token indices."""


def place_variants(doc: Doc) -> list[PlacedVariant]:
    """doc (Doc): a document. RETURNS (list[PlacedVariant]): sorted by position and extended to
    whole tokens. No two share a token, and none is in a URL or e-mail address."""
    placed: list[PlacedVariant] = []
    for one in find_variants(doc.text):
        span = doc.char_span(one.start, one.end, alignment_mode="expand")
        if span is None or any(token.like_url or token.like_email for token in span):
            continue
        if not placed or placed[-1].end <= span.start:
            placed.append(PlacedVariant(span.start, span.end, one.identifier, one.hgvs))
    return placed


class AngelVariants(DocumentPipe):
    """Finds sequence variants with a grammar. It runs after the components that find other mentions
    and takes precedence over them: an entity that overlaps a variant is reduced to its words
    outside the variant.

    Writes `doc.ents`, `span._.kb_id` (and `span.kb_id_`), `span._.hgvs`, and `span._.variant_gene`.
    A variant that ends inside a token of the pipeline is extended to the whole token.

    vocab (Vocab): the vocab of the pipeline.
    name (str): the name of the component.
    settings (VariantSettings): the settings.
    """

    def __init__(self, vocab: Vocab, name: str, settings: VariantSettings) -> None:
        self.vocab, self.name, self.settings = vocab, name, settings

    @property
    def labels(self) -> tuple[str, ...]:
        """RETURNS (tuple[str, ...]): the label of variants."""
        return (self.settings.label,)

    def predict(self, docs: Sequence[Doc]) -> list[list[PlacedVariant]]:
        """docs (Sequence[Doc]): documents. RETURNS (list[list[PlacedVariant]]): the variants of
        each document, sorted by position; no two share a token."""
        return [place_variants(doc) for doc in docs]

    def set_annotations(
        self, docs: Sequence[Doc], predicted: Sequence[Sequence[PlacedVariant]]
    ) -> None:
        """docs (Sequence[Doc]): the documents given to `predict`, changed in place. predicted
        (Sequence[Sequence[PlacedVariant]]): the result of `predict`."""
        for doc, variants in zip(docs, predicted, strict=True):
            if not variants:
                continue
            label = self.settings.label
            spans = [Span(doc, v.start, v.end, label=label, kb_id=v.identifier) for v in variants]
            others = _beside(doc.ents, variants, self.settings.gene_labels)
            doc.ents = [*others, *spans]
            key = self.settings.span_key
            if key is not None and key in doc.spans:
                _put_into(doc, key, spans)
            genes = _nearest_genes(doc, variants, self.settings.gene_labels)
            for span, variant, gene in zip(spans, variants, genes, strict=True):
                place = (span.start_char, span.end_char)
                for attribute in _OF_A_LINKER:
                    _user_data(doc).pop(("._.", attribute, *place), None)
                span._.set(KB_ID, variant.identifier)
                span._.set(HGVS, variant.hgvs)
                span._.set(GENE, gene)


def _nearest_genes(
    doc: Doc, variants: Iterable[PlacedVariant], labels: Sequence[str]
) -> Iterator[Span | None]:
    """labels (Sequence[str]): labels of genes. YIELDS (Span | None): for each variant, the nearest
    gene in its sentence; of two at the same distance, the one before it. For a star allele such as
    `CYP2D6*4`, the part before the star, if it is a token."""
    genes = [ent for ent in doc.ents if ent.label_ in labels]
    starts = [gene.start for gene in genes]
    # Without sentence boundaries, the document counts as one sentence.
    sentences = list(accumulate(bool(token.is_sent_start) for token in doc))
    for variant in variants:
        span = doc[variant.start : variant.end]
        if "*" in variant.identifier and not variant.hgvs:
            yield doc.char_span(span.start_char, span.start_char + span.text.find("*"))
            continue
        behind = bisect_left(starts, span.end)
        near = [
            (max(gene.start - span.end, span.start - gene.end), gene.start, gene)
            for gene in genes[max(behind - 1, 0) : behind + 1]
            if sentences[span.start] <= sentences[gene.start]
            and sentences[gene.end - 1] <= sentences[span.end - 1]
        ]
        yield min(near)[-1] if near else None


def _beside(
    entities: Iterable[Span], variants: Sequence[PlacedVariant], gene_labels: Sequence[str]
) -> list[Span]:
    """Reduce entities to the parts outside variants. Of an entity that overlaps a variant, the
    words before or after the variant remain."""
    taken = {token for one in variants for token in range(one.start, one.end)}
    left = []
    for entity in entities:
        places = [token for token in range(entity.start, entity.end) if token in taken]
        if not places:
            left.append(entity)
            continue
        before = _trimmed(entity.doc, entity.start, places[0])
        behind = _trimmed(entity.doc, places[-1] + 1, entity.end)
        # Genes are usually named before their variants, and diseases after them.
        order = (before, behind) if entity.label_ in gene_labels else (behind, before)
        rest = next((span for span in order if span is not None), None)
        if rest is not None:
            left.append(Span(entity.doc, rest.start, rest.end, label=entity.label))
    return left


def _trimmed(doc: Doc, start: int, end: int) -> Span | None:
    """RETURNS (Span | None): the span without punctuation and words that are not part of a name at
    its edges."""
    while start < end and _is_left_over(doc, start):
        start += 1
    while start < end and _is_left_over(doc, end - 1):
        end -= 1
    return doc[start:end] if start < end else None


def _is_left_over(doc: Doc, place: int) -> bool:
    text = doc[place].text
    return text.lower() in _LEFT_OVER or not any(one.isalnum() for one in text)


def _put_into(doc: Doc, key: str, variants: Sequence[Span]) -> None:
    """Add the variants to a span group. Spans inside a variant are removed; those that only overlap
    one are kept."""
    taken = {token for span in variants for token in range(span.start, span.end)}
    kept = [
        (span, score)
        for span, score in scored_spans(doc, key)
        if not taken.issuperset(range(span.start, span.end))
    ]
    rows = [*kept, *((span, 1.0) for span in variants)]
    rows.sort(key=lambda row: (row[0].start, row[0].end))
    set_scored_spans(doc, key, rows, dict(doc.spans[key].attrs))


def _user_data(doc: Doc) -> dict[Any, Any]:
    return doc.user_data


def _read_gene(span: Span) -> Span | None:
    place = _user_data(span.doc).get(("._.", GENE, span.start_char, span.end_char))
    if place is None:
        return None
    start, end = place
    if start >= span.start and end <= span.end:
        # The gene of a star allele is part of the variant.
        return span.doc[start:end]
    # Copy the current entity: a linker may have set its identifier since.
    first = span.doc[start]
    return Span(span.doc, start, end, label=first.ent_type, kb_id=first.ent_kb_id)


def _write_gene(span: Span, gene: Span | None) -> None:
    # Plain values, because documents are serialized between processes.
    place = None if gene is None else [gene.start, gene.end]
    _user_data(span.doc)["._.", GENE, span.start_char, span.end_char] = place


@Language.factory(
    "angel_variants",
    assigns=["doc.ents", "doc.spans", "span._.kb_id", "span._.hgvs", "span._.variant_gene"],
    default_config=VariantSettings().to_dict(),
)
def make_angel_variants(
    nlp: Language, name: str, label: str, gene_labels: list[str], span_key: str | None
) -> AngelVariants:
    """Create the component, and make the tokenizer split tokens at variants.

    nlp (Language): the pipeline.
    name (str): the name of the component.
    label (str), gene_labels (list[str]), span_key (str | None): see `VariantSettings`.
    RETURNS (AngelVariants): the component.
    RAISES (AngelError): a setting is invalid.
    """
    settings = VariantSettings(label=label, gene_labels=tuple(gene_labels), span_key=span_key)
    if not isinstance(nlp.tokenizer, VariantTokenizer):
        tokenizer: Any = VariantTokenizer(nlp.tokenizer)
        nlp.tokenizer = tokenizer
    return AngelVariants(nlp.vocab, name, settings)


if not Span.has_extension(HGVS):
    Span.set_extension(HGVS, default="")
if not Span.has_extension(GENE):
    Span.set_extension(GENE, getter=_read_gene, setter=_write_gene)
