"""Which components of a pipeline run for a linker."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from spacy.language import Language

    from ..linking.linker import AngelLinker


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


def name_of(nlp: "Language", linker: "AngelLinker") -> str:
    """nlp (Language): the pipeline. linker (AngelLinker): a linker in it.
    RETURNS (str): its name there."""
    return next(name for name, component in nlp.pipeline if component is linker)
