"""`en_angel_bio` in the package: six kinds of mentions."""

import pytest
import torch

import spacy_angel
from spacy_angel.about import DATA
from spacy_angel.pipelines.load import load_folder, open_pipeline

torch.set_num_threads(1)

FOLDER = DATA / "en_angel_bio"
TEXT = (
    "Tumours of patients with a mutation of TP53 took up cisplatin. HeLa cells were lost. "
    "Escherichia coli was found after a heart attack."
)


@pytest.fixture(scope="module")
def nlp():
    return spacy_angel.load("en_angel_bio")


def test_what_links_to_nothing_under_one_label_links_under_another(nlp):
    found = {ent.text: (ent.label_, ent._.kb_id) for ent in nlp("Pt on ASA 81 and a statin.").ents}
    # A gene, as the recogniser has it.
    assert found["statin"] == ("CHEMICAL", "MESH:D019161")


def test_the_model_is_that_of_the_other_and_is_saved_with_the_pipeline(nlp, tmp_path):
    assert not (FOLDER / "angel_linker/model").exists()
    nlp.to_disk(tmp_path / "saved")
    assert (tmp_path / "saved/angel_linker/model/model.int8.safetensors").is_file()
    again, _ = open_pipeline(tmp_path / "saved")
    assert [e._.kb_id for e in again(TEXT).ents] == [e._.kb_id for e in nlp(TEXT).ents]


def test_a_type_and_a_device_hold_for_recogniser_and_linker():
    nlp = spacy_angel.load("en_angel_bio", dtype="bfloat16", device="cpu")
    parts = [nlp.get_pipe(name) for name in ("angel_recogniser", "angel_linker")]
    assert [parts[0].settings.dtype, parts[1].settings.runtime.dtype] == ["bfloat16", "bfloat16"]
    assert [parts[0].settings.device, parts[1].settings.runtime.device] == ["cpu", "cpu"]
    # What only a linker has stays with it.
    own = spacy_angel.load("en_angel_bio", decision={"threshold": 0.9})
    assert own.get_pipe("angel_recogniser").settings.threshold == 0.0
    changes: dict = {"runtime": {"device": "cpu"}, "decision": {"prefer": ["X"]}}
    _, linker = open_pipeline(load_folder(FOLDER, changes))
    assert (linker.settings.runtime.device, linker.settings.decision.prefer) == ("cpu", ("X",))
