"""Models come from and go to the hub; adapters are merged into what is saved."""

import huggingface_hub
import pytest
import torch
from support.tiny_training import EXAMPLES, quick, tiny_backbone

from spacy_angel.errors import AngelError
from spacy_angel.model.checkpoint import checkpoint_folder
from spacy_angel.training.course.positive import train_positive
from spacy_angel.training.data.batches import encode
from spacy_angel.training.models import backbones
from spacy_angel.training.models.backbones import load_backbone, push_to_hub, with_adapters
from spacy_angel.training.settings.config_tables import PositiveSettings


def test_a_revision_follows_the_name(tmp_path, monkeypatch):
    asked = []
    tiny_backbone().save(tmp_path / "snapshot")
    (tmp_path / "snapshot" / "angel.json").unlink()

    def download(name, revision, **_):
        asked.append((name, revision))
        return str(tmp_path / "snapshot")

    monkeypatch.setattr(huggingface_hub, "snapshot_download", download)
    # The prompts are still those that the name tells.
    assert load_backbone("dmis-lab/ANGEL_ncbi@v1").format.preset == "genbioel_ncbi"
    assert asked == [("dmis-lab/ANGEL_ncbi", "v1")]
    folder = tmp_path / "a@b"
    folder.mkdir()
    assert checkpoint_folder(folder) == folder


def test_a_folder_is_uploaded_or_the_refusal_is_plain(tmp_path, monkeypatch):
    class Api:
        def create_repo(self, name, exist_ok):
            if name == "not-mine":
                raise ValueError("403 Forbidden")
            return f"https://hub/{name}"

        def upload_folder(self, repo_id, folder_path, commit_message):
            assert (repo_id, folder_path) == ("me/model", tmp_path)

    monkeypatch.setattr(backbones, "HfApi", Api)
    assert push_to_hub(tmp_path, "me/model") == "https://hub/me/model"
    with pytest.raises(AngelError, match=r"Cannot upload .* to not-mine: 403"):
        push_to_hub(tmp_path, "not-mine")


def test_adapters_are_trained_alone_and_merged(tmp_path):
    pytest.importorskip("peft")
    backbone = tiny_backbone()
    before = {name: w.clone() for name, w in backbone.model.state_dict().items()}
    adapted = with_adapters(backbone, {"r": 4, "target_modules": ["q_proj", "v_proj"]})
    rows = encode(EXAMPLES, adapted.prompts, 64)
    settings = PositiveSettings(optimizer=quick(steps=5, learning_rate=1e-2, clip_norm=10.0))
    trained = train_positive(adapted, rows, settings, tmp_path)
    after = load_backbone(trained.folder).model.state_dict()
    assert after.keys() == before.keys()
    changed = {name for name, w in before.items() if not torch.equal(w, after[name])}
    assert changed
    assert all("q_proj.weight" in name or "v_proj.weight" in name for name in changed)
    with pytest.raises(AngelError, match=r"\[lora\] is not valid: .*rank"):
        with_adapters(tiny_backbone(), {"rank": 4})
