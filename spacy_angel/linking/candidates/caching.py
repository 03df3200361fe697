"""What needs no search: mentions that are the name of one concept, and mentions that their
document has had already."""

import math
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ...model.mention import SPELLING
from ...vocabulary.names.concepts import normalize_name
from ...vocabulary.species.reader import ABSENT_SPECIES
from ..ranking.concepts import EXACT_MATCH_PROBABILITY, ConceptsOf
from ..ranking.features import SHORT

if TYPE_CHECKING:
    from ...curation.curated import Constraint
    from ...model.mention import Mention
    from ...vocabulary.kb import ConceptKB


class ExactMatch(NamedTuple):
    """A name that was taken without asking the model.

    name (int): the vocabulary's index.
    log_prob (float), score (float): both the logarithm of `EXACT_MATCH_PROBABILITY`.
    suffix (None): it has no other concept to be told from.
    """

    name: int
    log_prob: float = math.log(EXACT_MATCH_PROBABILITY)
    score: float = math.log(EXACT_MATCH_PROBABILITY)
    suffix: None = None


def exact_match(mention: "Mention", concepts: ConceptsOf, kb: "ConceptKB") -> ExactMatch | None:
    """The name that a mention is, where it needs no search.

    mention (Mention): as the model would read it.
    concepts (ConceptsOf): those of a name that the mention may have.
    kb (ConceptKB): the vocabulary.
    RETURNS (ExactMatch | None): None for what is no name, or one of several concepts, and for up
        to `SHORT` letters, which may be a short form of something else; for one that is
        read in another spelling; and for a concept of a species of which the document is silent.
    """
    is_spelled = bool(mention.queries) and mention.queries[0].source == SPELLING
    if is_spelled or len(normalize_name(mention.text).replace(" ", "")) <= SHORT:
        return None
    name = kb.name_index(mention.text)
    if name is None:
        return None
    own = concepts(name, None)
    if len(own) != 1 or kb.species_ranks(own, mention.species_context) == (ABSENT_SPECIES,):
        return None
    return ExactMatch(name)


def name_of_rule(constraint: "Constraint", kb: "ConceptKB") -> ExactMatch | None:
    """constraint (Constraint): by which a mention means a concept. kb (ConceptKB): the vocabulary
    under the rules. RETURNS (ExactMatch | None): the mention as a name of the concept; None where
    the name leads to another one alone (`fewer_names`)."""
    name = kb.name_index(constraint.rules[0].string)
    if name is None or constraint.means not in kb.concept_ids_of(name):
        return None
    return ExactMatch(name)


def first_of_equals(keys: Sequence[Hashable]) -> tuple[list[int], list[int]]:
    """keys (Sequence[Hashable]): n, what must be equal.
    RETURNS (tuple[list[int], list[int]]): places of the keys that are new, ascending, and n numbers
        of the new key that each equals, e.g. `abac` → [0, 1, 3], [0, 1, 0, 2]."""
    firsts: dict[Hashable, int] = {}
    for i, key in enumerate(keys):
        firsts.setdefault(key, i)
    numbers = {key: number for number, key in enumerate(firsts)}
    return list(firsts.values()), [numbers[key] for key in keys]
