"""What a user of scispaCy writes: concepts, the vocabulary, and the settings of its README."""

import pytest
import spacy
from scispacy.linking_utils import Entity
from support.tiny_linker import TEXT, make_pipeline

from spacy_angel.linking.settings.unknown import KNOWN, setting_hints
from spacy_angel.vocabulary.names.concepts import Concept

# scispaCy's own signature
SCISPACYS = (
    *("linker_name", "max_entities_per_mention", "no_definition_threshold"),
    *("filter_for_definitions", "cache_folder", "candidate_generator"),
)


@pytest.fixture(scope="module")
def nlp(tiny_model, tiny_vocabulary):
    return make_pipeline(tiny_model, tiny_vocabulary)


def test_the_readme_s_loop(nlp):
    linker = nlp.get_pipe("angel_linker")
    entity = nlp(TEXT).ents[0]
    lines = [str(linker.kb.cui_to_entity[umls_ent[0]]) for umls_ent in entity._.kb_ents]
    assert lines[0].startswith("CUI: MESH:D009203, Name: Myocardial Infarction\nDefinition: None\n")


@pytest.mark.parametrize("n", [0, 2, 10, 11])
def test_a_concept_unpacks_and_prints_as_an_entity(n):
    aliases = tuple(f"alias {i}" for i in range(n))
    ours = Concept("C1", "name", aliases, ("T047",), "What it is.")
    theirs = Entity("C1", "name", list(aliases), ["T047"], "What it is.")
    concept_id, canonical_name, others, types, definition = ours
    assert (concept_id, canonical_name, definition) == ("C1", "name", "What it is.")
    assert (list(others), list(types)) == (theirs.aliases, theirs.types)
    assert ours[0] == theirs[0]
    assert ours[1:2] == theirs[1:2]
    assert list(ours._asdict()) == list(theirs._asdict()) == list(Entity._fields)
    assert " ".join(str(ours).split()) == " ".join(str(theirs).split())


def test_the_tree_of_types_is_not_there_and_says_what_is(nlp):
    kb = nlp.get_pipe("angel_linker").kb
    assert not hasattr(kb, "semantic_type_tree")
    with pytest.raises(AttributeError, match="types_by_label"):
        _ = kb.semantic_type_tree


@pytest.mark.parametrize("name", SCISPACYS)
def test_its_settings_are_told_what_to_use_instead(name):
    assert setting_hints([name]).startswith(f"`{name}` is of scispaCy: ")


def test_the_settings_of_spacys_entity_linker_as_well():
    spacys = spacy.blank("en").get_factory_meta("entity_linker").default_config
    unknown = set(spacys) - KNOWN
    assert len(unknown) > 5
    assert [name for name in unknown if not setting_hints([name])] == []


def test_what_is_known_under_another_name_is_named():
    assert "`vocabulary`" in setting_hints(["linker_name"])
    assert "SPACY_ANGEL_CACHE" in setting_hints(["cache_folder"])
