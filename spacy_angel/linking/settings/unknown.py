"""What to say of settings that `angel_linker` does not have: those of scispaCy's and spaCy's
linkers, and misspelled ones."""

from collections.abc import Collection, Iterable
from difflib import get_close_matches

from .linker_settings import SETTINGS
from .older import OLDER

KNOWN = SETTINGS | {"model", "vocabulary", "preset", "scorer"}
"""Everything that the factory takes."""

_NO_DEFINITIONS = (
    "of scispaCy: a concept counts with or without a definition; leave it out, `threshold` is for "
    "all"
)
_OF_SPACY = "of spaCy's entity_linker: leave it out"
_INSTEAD = {
    "linker_name": "of scispaCy: use `vocabulary`, a folder, a file or a name that `spacy-angel kb "
    "list` shows; leave it out for MeSH, which ships",
    "max_entities_per_mention": "of scispaCy: `k` is the number of names that are found, and of "
    "`ent._.kb_ents`, best first, take as many as you want, `ent._.kb_ents[:5]`",
    "filter_for_definitions": _NO_DEFINITIONS,
    "no_definition_threshold": _NO_DEFINITIONS,
    "cache_folder": "of scispaCy: use the environment variable SPACY_ANGEL_CACHE",
    "candidate_generator": "of scispaCy: use `model` and `vocabulary`",
    "get_candidates": f"{_OF_SPACY}, `model` and `vocabulary` give the candidates",
    "get_candidates_batch": f"{_OF_SPACY}, `model` and `vocabulary` give the candidates",
    "candidates_batch_size": "of spaCy's entity_linker: use `batch_size`",
    "entity_vector_length": f"{_OF_SPACY}, concepts have no vectors",
    "generate_empty_kb": f"{_OF_SPACY}, use `vocabulary`",
    "incl_prior": f"{_OF_SPACY}, there are no priors",
    "incl_context": "of spaCy's entity_linker: use `n_sents`",
    "use_gold_ents": f"{_OF_SPACY}, links are scored for the mentions that gold and prediction "
    "share",
}
FOREIGN = tuple(_INSTEAD)
"""Settings of scispaCy's and spaCy's linkers that this one does not have."""
_LEAST_SIMILAR = 0.75


def unknown_settings(names: Iterable[str]) -> str:
    """names (Iterable[str]): no settings. RETURNS (str): the message that says so, and what to use
    in their place."""
    names = sorted(names)
    known = ", ".join(sorted(SETTINGS))
    hints = setting_hints(names)
    return (
        f"angel_linker has no setting {names}.{f' {hints}' if hints else ''} Its settings: {known}."
    )


def setting_hints(unknown: Iterable[str], known: Collection[str] = KNOWN) -> str:
    """What to use in the place of settings that do not exist.

    unknown (Iterable[str]): names of settings. known (Collection[str]): those that there are.
    RETURNS (str): e.g. for `treshold` and `cache_folder`: "`treshold`: did you mean `threshold`?
        `cache_folder` is of scispaCy: use …"; empty where there is nothing to say.
    """
    return " ".join(filter(None, (_hint(name, known) for name in unknown)))


def _hint(name: str, known: Collection[str]) -> str:
    if instead := _INSTEAD.get(name) or OLDER.get(name):
        return f"`{name}` is {instead}."
    if near := get_close_matches(name.lower(), sorted(known), 1, _LEAST_SIMILAR):
        return f"`{name}`: did you mean `{near[0]}`?"
    return ""
