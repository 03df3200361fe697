"""spaCy's factory `negex`, which negspacy (extra `negation`) registers, but declares nowhere."""

from ..component.deferred import defer_factory
from ..errors import Errors

NEGEX = defer_factory("negex", "negspacy.negation", "Negex", Errors.E317)
