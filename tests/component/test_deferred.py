"""Components of other packages: imported when a pipeline asks for one, and not before."""

import subprocess
import sys
from pathlib import Path

import pytest
import spacy
from support.helpers import ROOT

# Finds packages as missing, as a base installation does. What spacy-transformers declares is left
# out of every program here: spaCy imports it for seconds.
_WITHOUT = """
import sys
from importlib.metadata import EntryPoints
import catalogue

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {packages!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}")

sys.meta_path.insert(0, Missing())
declared = catalogue.AVAILABLE_ENTRY_POINTS
catalogue.AVAILABLE_ENTRY_POINTS = EntryPoints(
    entry
    for group in ("spacy_factories", "spacy_scorers", "spacy_architectures", "spacy_misc")
    for entry in declared.select(group=group)
    if "spacy_transformers" not in entry.value
)
"""
# What scispaCy and negspacy say of a text, in every way that a program has to make a pipeline.
_EVERY_WAY = """
import pickle, tempfile, warnings
import spacy
{first}
from spacy.tokens import Span

warnings.simplefilter("ignore")
TEXT = "Denies hypertrophic cardiomyopathy (HCM). HCM is known."


def pipeline(language):
    nlp = spacy.blank(language)
    nlp.add_pipe("sentencizer")
    ruler = nlp.add_pipe("entity_ruler")
    ruler.add_patterns([{{"label": "D", "pattern": "HCM"}}])
    nlp.add_pipe("abbreviation_detector", config={{"make_serializable": True}})
    nlp.add_pipe("negex")
    return nlp


def said(doc):
    return (
        [(a["short_text"], a["short_start"], a["long_text"]) for a in doc._.abbreviations],
        [ent._.negex for ent in doc.ents],
    )


LONG = "hypertrophic cardiomyopathy"
EXPECTED = ([("HCM", 4, LONG), ("HCM", 7, LONG)], [True, False])
nlp = pipeline("en")
assert len(nlp.config["components"]["negex"]["neg_termset"]["preceding_negations"]) > 20
assert nlp.config["components"]["abbreviation_detector"] == {{
    "factory": "abbreviation_detector", "make_serializable": True
}}
with tempfile.TemporaryDirectory() as folder:
    nlp.to_disk(folder)
    again = spacy.load(folder)
{then}
from scispacy.abbreviation import AbbreviationDetector
from negspacy.negation import Negex

ways = [nlp, again, pipeline("de"), pickle.loads(pickle.dumps(nlp)), pipeline("en")]
for way in ways:
    doc = way(TEXT)
    # Sets of spans have no order of their own.
    assert (sorted(said(doc)[0], key=lambda a: a[1]), said(doc)[1]) == EXPECTED, said(doc)
    assert type(way.get_pipe("negex")) is Negex
    assert isinstance(way.get_pipe("abbreviation_detector"), AbbreviationDetector)
for doc in nlp.pipe([TEXT] * 3, n_process=2):
    assert sorted(said(doc)[0], key=lambda a: a[1]) == EXPECTED[0]
print("same")
"""


def run(code: str, *missing: str) -> subprocess.CompletedProcess:
    """code (str): a program. missing (str): packages that it does not find."""
    program = _WITHOUT.format(packages=missing) + code
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT)


@pytest.mark.parametrize("when", ["first", "then"])
def test_a_program_may_import_the_packages_before_or_after(when: str) -> None:
    imports = {"first": "", "then": ""} | {when: "import scispacy.abbreviation, negspacy.negation"}
    done = run(_EVERY_WAY.format(**imports))
    assert done.stdout == "same\n", done.stderr


def test_making_a_pipeline_imports_no_other_package() -> None:
    code = """
import spacy
nlp = spacy.blank("en")
assert all(map(nlp.has_factory, ("angel_linker", "negex", "abbreviation_detector")))
print([name for name in ("negspacy", "scispacy") if name in sys.modules])
nlp.add_pipe("abbreviation_detector")
print([name for name in ("negspacy", "scispacy") if name in sys.modules])
"""
    done = run(code)
    assert done.stdout == "[]\n['scispacy']\n", done.stderr


def test_what_is_not_installed_stops_only_the_pipeline_that_needs_it(tmp_path: Path) -> None:
    messages = {
        "negex": "Negation, history and family need the package negspacy: pip install "
        "'spacy-angel[negation]'.",
        "abbreviation_detector": "abbreviation_detector needs the package "
        "scispacy: pip install 'scispacy>=0.6.2,<0.7'.",
    }
    cases = [(factory, language) for factory in messages for language in ("en", "de")]
    for factory, language in cases:
        saved = spacy.blank(language)
        saved.add_pipe(factory, name="own")
        saved.to_disk(tmp_path / f"{factory}_{language}")
    code = f"""
from pathlib import Path
import spacy
from spacy_angel.errors import AngelError

for factory, language in {cases!r}:
    nlp = spacy.blank(language)
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("angel_linker")
    folder = Path({str(tmp_path)!r}) / f"{{factory}}_{{language}}"
    for open_it in (lambda: nlp.add_pipe(factory), lambda: spacy.load(folder)):
        try:
            open_it()
        except AngelError as error:
            print(error)
"""
    done = run(code, "negspacy", "scispacy")
    assert done.stdout.splitlines() == [messages[f] for f, _ in cases for _ in range(2)], done


def test_a_large_recogniser_without_its_package_is_told(tmp_path: Path) -> None:
    config = spacy.blank("en").config
    config["nlp"]["pipeline"] = ["trf"]
    config["components"] = {"trf": {"factory": "transformer"}}
    spacy.blank("en").to_disk(tmp_path)
    config.to_disk(tmp_path / "config.cfg")
    code = f"""
from spacy_angel.cli.app import app
app(["link", "flu", "--pipeline", {str(tmp_path)!r}])
"""
    done = run(code, "spacy_transformers")
    assert done.returncode == 1
    assert done.stderr == (
        f"Error: The component 'trf' of {tmp_path} needs spacy-transformers: "
        "pip install 'spacy-angel[train]'.\n"
    )
