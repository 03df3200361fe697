"""What a linker in a pipeline is given: the work of other components, and gold mentions."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

    from ..corpora.documents import CorpusDocument
    from ..linking.linker import AngelLinker
    from ..vocabulary.kb import ConceptKB


def components_before(
    nlp: "Language", linker: "AngelLinker", *, given_mentions: bool = False
) -> list[str]:
    """Components whose work a linker reads.

    nlp (Language): the pipeline. linker (AngelLinker): a linker in it.
    given_mentions (bool): the documents have their mentions, so that components which write
        entities do not run.
    RETURNS (list[str]): their names, in the order of the pipeline.
    """
    place = next(i for i, (_, component) in enumerate(nlp.pipeline) if component is linker)
    before = nlp.pipe_names[:place]
    if not given_mentions:
        return before
    return [name for name in before if "doc.ents" not in nlp.get_pipe_meta(name).assigns]


def given_doc(document: "CorpusDocument", nlp: "Language") -> "Doc":
    """document (CorpusDocument): with gold mentions. nlp (Language): makes its tokens.
    RETURNS (Doc): see `corpora.to_doc`; a linker reads in the mentions' places what is to be."""
    from ..corpora.docs import to_doc
    from ..linking.mentions.reading import READ_AS

    doc = to_doc(document, nlp)
    doc.user_data[READ_AS] = [[m.start, m.end, m.read_as] for m in document.mentions if m.read_as]
    return doc


def limits_by_label(linker: "AngelLinker", kb: "ConceptKB") -> dict[str, tuple[str, ...]]:
    """What a linker's labels are limited to with another vocabulary than its own.

    linker (AngelLinker): e.g. the shipped one, whose diseases are limited to the types of MeSH's
        branches `C` and `F03`.
    kb (ConceptKB): what it links to.
    RETURNS (dict[str, tuple[str, ...]]): its `types_by_label`; without limits where the vocabulary
        lacks one of the types, for then they were not meant for it.
    """
    limits = linker.settings.types_by_label
    wanted = {name for types in limits.values() for name in types}
    return dict(limits) if wanted <= set(kb.types) else {}


def name_of(nlp: "Language", linker: "AngelLinker") -> str:
    """nlp (Language): the pipeline. linker (AngelLinker): a linker in it.
    RETURNS (str): its name there."""
    return next(name for name, component in nlp.pipeline if component is linker)
