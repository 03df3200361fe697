"""Mentions that need no search: the name of one concept, and what a rule of curation decides."""

import math
from typing import TYPE_CHECKING

from ...model.mention import SPELLING
from ...vocabulary.names.concepts import normalize_name
from ...vocabulary.species.reader import ABSENT_SPECIES
from ..ranking.concepts import EXACT_MATCH_PROBABILITY, ConceptsOf
from ..ranking.features import SHORT

if TYPE_CHECKING:
    from ...model.mention import Mention
    from ...search.search import Hypothesis
    from ...vocabulary.changes.curated import Constraint
    from ...vocabulary.kb import ConceptKB


def exact_match(mention: "Mention", concepts: ConceptsOf, kb: "ConceptKB") -> "Hypothesis | None":
    """The name that a mention is, where it needs no search.

    mention (Mention): as the model would read it.
    concepts (ConceptsOf): those of a name that the mention may have.
    kb (ConceptKB): the vocabulary.
    RETURNS (Hypothesis | None): None for what is no name, or one of several concepts, and for up
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
    return _unsearched(name)


def name_of_rule(constraint: "Constraint", kb: "ConceptKB") -> "Hypothesis | None":
    """constraint (Constraint): by which a mention means a concept. kb (ConceptKB): the vocabulary
    under the rules. RETURNS (Hypothesis | None): the mention as a name of the concept; None where
    the name leads to another one alone (`fewer_names`)."""
    name = kb.name_index(constraint.rules[0].string)
    if name is None or constraint.means not in kb.concept_ids_of(name):
        return None
    return _unsearched(name)


def _unsearched(name: int) -> "Hypothesis":
    from ...search.search import Hypothesis

    log_prob = math.log(EXACT_MATCH_PROBABILITY)
    return Hypothesis(name, log_prob, log_prob, n_tokens=0)
