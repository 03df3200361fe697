"""`en_angel_bio` in the package: six kinds of mentions."""

from pathlib import Path

import pytest
import torch
from spacy import Language

import spacy_angel
from spacy_angel.about import DATA
from spacy_angel.pipelines.load import load_folder, open_pipeline

torch.set_num_threads(1)

FOLDER = DATA / "en_angel_bio"
TEXT = (
    "Tumours of patients with a mutation of TP53 took up cisplatin. HeLa cells were lost. "
    "Escherichia coli was found after a heart attack."
)
MOUSE = "Loss of Trp53 in mice led to lymphoma, and Brca2 was intact."
CHILD = "A child with hypotonia, low-set ears and cleft palate carried a BRCA2 mutation."


@pytest.fixture(scope="module")
def nlp() -> Language:
    return spacy_angel.load("en_angel_bio")


def test_each_kind_is_found_and_linked_to_its_own_vocabulary(nlp: Language) -> None:
    docs = list(nlp.pipe([TEXT, MOUSE, CHILD]))
    found = {ent.text: (ent.label_, ent._.kb_id) for doc in docs for ent in doc.ents}
    assert found == {
        "Tumours": ("DISEASE", "MESH:D009369"),
        "patients": ("SPECIES", "NCBITaxon:9606"),
        "TP53": ("GENE", "NCBIGene:7157"),
        "mice": ("SPECIES", "NCBITaxon:10090"),
        "Trp53": ("GENE", "NCBIGene:22059"),
        "lymphoma": ("DISEASE", "MESH:D008223"),
        "Brca2": ("GENE", "NCBIGene:12190"),
        "HeLa": ("CELL_LINE", "CVCL_0030"),
        "cisplatin": ("CHEMICAL", "MESH:D002945"),
        "hypotonia": ("DISEASE", "MESH:D009123"),
        "cleft palate": ("DISEASE", "MESH:D002972"),
        # Found as a disease, too, which MeSH does not have.
        "low-set ears": ("PHENOTYPE", "HP:0000369"),
        "Escherichia coli": ("SPECIES", "NCBITaxon:562"),
        "heart attack": ("DISEASE", "MESH:D009203"),
        "BRCA2": ("GENE", "NCBIGene:675"),
    }


def test_what_links_to_nothing_under_one_label_links_under_another(nlp: Language) -> None:
    found = {ent.text: (ent.label_, ent._.kb_id) for ent in nlp("Pt on ASA 81 and a statin.").ents}
    # A gene, as the recogniser has it.
    assert found["statin"] == ("CHEMICAL", "MESH:D019161")


def test_the_model_is_that_of_the_other_and_is_saved_with_the_pipeline(
    nlp: Language, tmp_path: Path
) -> None:
    assert not (FOLDER / "angel_linker/model").exists()
    nlp.to_disk(tmp_path / "saved")
    assert (tmp_path / "saved/angel_linker/model/model.int8.safetensors").is_file()
    again, _ = open_pipeline(tmp_path / "saved")
    assert [e._.kb_id for e in again(TEXT).ents] == [e._.kb_id for e in nlp(TEXT).ents]


def test_a_type_and_a_device_hold_for_recogniser_and_linker() -> None:
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
