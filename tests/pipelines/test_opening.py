"""Opening without looking for garbage leaves the collector as it was."""

import gc

import pytest

from spacy_angel.pipelines.opening import opening


def test_nothing_is_collected_while_a_pipeline_is_opened() -> None:
    collected: list[int] = []

    def note(phase: str, info: dict[str, int]) -> None:
        collected.append(info["generation"])

    gc.callbacks.append(note)
    try:
        with opening():
            assert not gc.isenabled()
            assert gc.get_freeze_count() > 0
            cycles = [[] for _ in range(10_000)]
            for cycle in cycles:
                cycle.append(cycle)
            assert collected == []
    finally:
        gc.callbacks.remove(note)
    assert gc.isenabled()
    assert gc.get_freeze_count() == 0


@opening()
@opening()
def fail_while_opening() -> None:
    # As srsly's reader does.
    gc.enable()
    raise ValueError("inside")


@pytest.mark.parametrize("was_enabled", [True, False])
def test_afterwards_the_collector_is_as_it_was(was_enabled: bool) -> None:
    try:
        if not was_enabled:
            gc.disable()
        with pytest.raises(ValueError, match="inside"):
            fail_while_opening()
        assert gc.isenabled() == was_enabled
        assert gc.get_freeze_count() == 0
    finally:
        gc.enable()


def test_what_the_user_has_frozen_stays_so() -> None:
    gc.freeze()
    try:
        with opening():
            pass
        assert gc.get_freeze_count() > 0
    finally:
        gc.unfreeze()
