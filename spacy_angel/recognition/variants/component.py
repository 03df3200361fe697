"""The component `angel_variants`: documents in, sequence variants out."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from typing import Annotated, Any, NamedTuple

from pydantic import Field
from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.vocab import Vocab

from ...component.block import takes
from ...component.checked import CheckedSettings, Name, Names
from ...component.kb_id import NAME as KB_ID
from ...component.pipe import DocumentPipe
from ..found import scored_spans, set_scored_spans
from .grammar import find_variants
from .tokens import VariantTokenizer

HGVS, GENE = "hgvs", "variant_gene"
# What a linker has said of a mention that was not known to be a variant.
_OF_A_LINKER = ("kb_ents", "candidates")
# Words that are no name once the variant is gone: of `V600E-mutant melanoma` melanoma is left.
_LEFT_OVER = frozenset(
    (
        *("mutation", "mutations", "mutant", "mutants", "mutated", "variant", "variants"),
        *("allele", "alleles", "polymorphism", "polymorphisms", "genotype", "genotypes"),
        *("protein", "gene", "substitution", "positive", "negative", "the"),
    )
)


class VariantSettings(CheckedSettings):
    """The settings of `angel_variants`; the type of each carries its meaning.

    RAISES (AngelError): a value that does not fit; the message names setting, expectation, value.
    """

    COMPONENT = "angel_variants"

    label: Annotated[Name, Field(description="label of the variants")] = "VARIANT"
    unplaced: Annotated[
        bool,
        Field(
            description="also find variants without a position, such as `4-bp deletion` or `G>A`; "
            "they have no identifier"
        ),
    ] = True
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
    cut_tokens: Annotated[
        bool,
        Field(
            description="make the tokenizer split tokens at the edges of variants, as in "
            "`JAK2V617F` and `V600E.`; otherwise a variant extends to whole tokens"
        ),
    ] = True


class PlacedVariant(NamedTuple):
    """A variant in a document, in plain values.

    start, end (int): tokens.
    identifier (str), hgvs (str): see `FoundVariant`.
    """

    start: int
    end: int
    identifier: str
    hgvs: str


class AngelVariants(DocumentPipe):
    """Finds sequence variants by a grammar. It stands behind the components that find other
    mentions, and takes precedence over them: of an entity that overlaps a variant only words beside
    the variant stay, if any.

    Writes `doc.ents`, `span._.kb_id` (and `span.kb_id_`), `span._.hgvs` and `span._.variant_gene`.
    A variant that ends inside a token of the pipeline is written with the whole token.

    vocab (Vocab): the pipeline's.
    name (str): the component's name.
    settings (VariantSettings): see there.
    """

    def __init__(
        self,
        vocab: Vocab,
        name: str = "angel_variants",
        *,
        settings: VariantSettings = VariantSettings(),  # noqa: B008 (frozen)
    ) -> None:
        self.vocab = vocab
        self.name = name
        self.settings = settings

    @property
    def labels(self) -> tuple[str, ...]:
        """RETURNS (tuple[str, ...]): the one label."""
        return (self.settings.label,)

    def predict(self, docs: Sequence[Doc]) -> list[list[PlacedVariant]]:
        """docs (Sequence[Doc]): documents. RETURNS (list[list[PlacedVariant]]): of each by place;
        no two share a token."""
        return [self._placed(doc) for doc in docs]

    def set_annotations(
        self, docs: Sequence[Doc], predicted: Sequence[Sequence[PlacedVariant]]
    ) -> None:
        """docs (Sequence[Doc]): as given to `predict`, changed in place. predicted
        (Sequence[Sequence[PlacedVariant]]): as it returned them."""
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
            genes = SentenceGenes(doc, self.settings.gene_labels)
            for span, variant in zip(spans, variants, strict=True):
                place = (span.start_char, span.end_char)
                for attribute in _OF_A_LINKER:
                    _user_data(doc).pop(("._.", attribute, *place), None)
                span._.set(KB_ID, variant.identifier)
                span._.set(HGVS, variant.hgvs)
                span._.set(GENE, genes.of(variant))

    def _placed(self, doc: Doc) -> list[PlacedVariant]:
        placed: list[PlacedVariant] = []
        for one in find_variants(doc.text, unplaced=self.settings.unplaced):
            span = doc.char_span(one.start, one.end, alignment_mode="expand")
            if span is None or any(token.like_url or token.like_email for token in span):
                continue
            if not placed or placed[-1].end <= span.start:
                placed.append(PlacedVariant(span.start, span.end, one.identifier, one.hgvs))
        return placed


class SentenceGenes:
    """The genes of a document, by place, for any number of variants.

    doc (Doc): with its entities; without sentences it is one.
    labels (Sequence[str]): of genes.
    """

    def __init__(self, doc: Doc, labels: Sequence[str]) -> None:
        self._doc = doc
        self._genes = [ent for ent in doc.ents if ent.label_ in labels]
        self._starts = [gene.start for gene in self._genes]
        has_sentences = doc.has_annotation("SENT_START")
        self._borders = [sent.start for sent in doc.sents] if has_sentences else [0]
        self._borders.append(len(doc))

    def of(self, variant: PlacedVariant) -> Span | None:
        """variant (PlacedVariant): in the document. RETURNS (Span | None): of a star allele,
        `CYP2D6*4`, its own words before the star, where they are tokens; else the nearest gene of
        the sentence, of two as near the one before it. None: none is named."""
        if "*" in variant.identifier and not variant.hgvs:
            span = self._doc[variant.start : variant.end]
            return self._doc.char_span(span.start_char, span.start_char + span.text.find("*"))
        start = self._borders[bisect_right(self._borders, variant.start) - 1]
        end = self._borders[bisect_left(self._borders, variant.end)]
        behind = bisect_left(self._starts, variant.end)
        near = [
            gene
            for gene in self._genes[max(behind - 1, 0) : behind + 1]
            if start <= gene.start and gene.end <= end
        ]

        def distance(gene: Span) -> tuple[int, bool]:
            is_behind = gene.start >= variant.end
            return max(gene.start - variant.end, variant.start - gene.end), is_behind

        return min(near, key=distance, default=None)


def _beside(
    entities: Iterable[Span], variants: Sequence[PlacedVariant], gene_labels: Sequence[str]
) -> list[Span]:
    """What is left of entities where variants are: those that touch none as they are, of the others
    the words before or behind."""
    taken = {token for one in variants for token in range(one.start, one.end)}
    left = []
    for entity in entities:
        places = [token for token in range(entity.start, entity.end) if token in taken]
        if not places:
            left.append(entity)
            continue
        before = _trimmed(entity.doc, entity.start, places[0])
        behind = _trimmed(entity.doc, places[-1] + 1, entity.end)
        # Genes are named before their variants, what these lead to behind.
        order = (before, behind) if entity.label_ in gene_labels else (behind, before)
        rest = next((span for span in order if span is not None), None)
        if rest is not None:
            left.append(Span(entity.doc, rest.start, rest.end, label=entity.label))
    return left


def _trimmed(doc: Doc, start: int, end: int) -> Span | None:
    """RETURNS (Span | None): without marks and words that are no name at its edges."""
    while start < end and _is_left_over(doc, start):
        start += 1
    while start < end and _is_left_over(doc, end - 1):
        end -= 1
    return doc[start:end] if start < end else None


def _is_left_over(doc: Doc, place: int) -> bool:
    text = doc[place].text
    return text.lower() in _LEFT_OVER or not any(one.isalnum() for one in text)


def _put_into(doc: Doc, key: str, variants: Sequence[Span]) -> None:
    """A span group keeps what overlaps a variant but does not lie in one."""
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
        # Of a star allele: what stands there is the variant.
        return span.doc[start:end]
    # As the entity is now: a linker may have given it an identifier since.
    first = span.doc[start]
    return Span(span.doc, start, end, label=first.ent_type, kb_id=first.ent_kb_id)


def _write_gene(span: Span, gene: Span | None) -> None:
    # Plain values: a document goes through bytes between processes.
    place = None if gene is None else [gene.start, gene.end]
    _user_data(span.doc)["._.", GENE, span.start_char, span.end_char] = place


DEFAULT_CONFIG = VariantSettings().to_dict()


@takes(DEFAULT_CONFIG)
def make_angel_variants(nlp: Language, name: str, **settings: Any) -> AngelVariants:
    """The factory `angel_variants`.

    nlp (Language): the pipeline. name (str): the component's name in it.
    settings (Any): the fields of `VariantSettings`.
    RETURNS (AngelVariants): the component.
    RAISES (AngelError): a setting that does not fit.
    """
    checked = VariantSettings.from_dict(settings)
    if checked.cut_tokens and not isinstance(nlp.tokenizer, VariantTokenizer):
        tokenizer: Any = VariantTokenizer(nlp.tokenizer, checked.unplaced)
        nlp.tokenizer = tokenizer
    return AngelVariants(nlp.vocab, name, settings=checked)


Language.factory(
    "angel_variants",
    assigns=["doc.ents", "doc.spans", "span._.kb_id", "span._.hgvs", "span._.variant_gene"],
    default_config=DEFAULT_CONFIG,
    func=make_angel_variants,
)

if not Span.has_extension(HGVS):
    Span.set_extension(HGVS, default="")
if not Span.has_extension(GENE):
    Span.set_extension(GENE, getter=_read_gene, setter=_write_gene)
