import pytest

from spacy_angel.errors import AngelError
from spacy_angel.linking.settings.linker_settings import RuntimeSettings
from spacy_angel.recognition.settings import RecognizerSettings


@pytest.mark.parametrize("settings", [RuntimeSettings, RecognizerSettings])
def test_what_runs_on_a_cpu(settings):
    for dtype in ("float32", "bfloat16", "int8", "auto"):
        assert settings(dtype=dtype).dtype == dtype
    assert settings(dtype="float16", device="cuda:1").dtype == "float16"
    with pytest.raises(AngelError, match="float32, bfloat16 or int8 on a CPU"):
        settings(dtype="float16")
