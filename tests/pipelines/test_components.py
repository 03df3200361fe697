"""Which components run for a linker."""

import spacy

from spacy_angel.corpora.docs import GOLD_SPANS
from spacy_angel.corpora.documents import CorpusDocument, GoldMention
from spacy_angel.linking.mentions.reading import ReadDocument, read_mentions
from spacy_angel.model.prompts import PromptFormat
from spacy_angel.pipelines.components import given_doc
from spacy_angel.vocabulary.kb import ConceptKB
from spacy_angel.vocabulary.names.concepts import Concept


def test_a_linker_reads_what_is_to_be_read_in_the_place_of_a_mention():
    nlp = spacy.blank("en")
    whole = GoldMention(0, 14, "T and B cells.", read_as="T cells")
    kb = ConceptKB.build([Concept("CL:1", "B cell")])
    mentions = (whole, GoldMention(6, 13, "B cells"))
    doc = given_doc(CorpusDocument("1", "T and B cells.", mentions), nlp)
    read = read_mentions(ReadDocument(doc), doc.spans[GOLD_SPANS], PromptFormat(), kb)
    assert [mention.text for mention in read] == ["T cells", "B cells"]
