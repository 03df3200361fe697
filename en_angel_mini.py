"""`spacy.load("en_angel_mini")`: the pipeline that comes with spacy-angel, as spaCy loads the
pipelines that are packages."""

from functools import partial

import spacy

from spacy_angel.about import DATA
from spacy_angel.about import __version__ as __version__

load = partial(spacy.load, DATA / __name__)
