"""`spacy.load("en_angel_bio")`: the pipeline for six kinds of mentions that comes with spacy-angel,
as spaCy loads the pipelines that are packages."""

from functools import partial

from spacy_angel.about import DATA
from spacy_angel.about import __version__ as __version__
from spacy_angel.pipelines.lazy import load_folder

load = partial(load_folder, DATA / __name__)
