"""What a forked process is told."""

import os

import pytest

from spacy_angel.component.forks import use_one_thread_in_forks


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks on this system")
def test_only_a_child_is_told_to_do_without_the_tokenizers_threads(monkeypatch):
    monkeypatch.delenv("TOKENIZERS_PARALLELISM", raising=False)
    use_one_thread_in_forks()
    use_one_thread_in_forks()
    child = os.fork()
    if child == 0:
        os._exit(0 if os.environ.get("TOKENIZERS_PARALLELISM") == "false" else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert "TOKENIZERS_PARALLELISM" not in os.environ


def test_importing_the_linker_changes_neither_warnings_nor_forks():
    import subprocess
    import sys

    code = (
        "import os, warnings, spacy; forks = []; os.register_at_fork = lambda **f: forks.append(f);"
        "before = list(warnings.filters); import spacy_angel.linking.factory;"
        "assert warnings.filters == before and not forks"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
