"""What each hand-written rule around the ranker brings: each is switched off once, and the same
mentions are linked with it and without it.

    python benchmarks/ablation.py rules DATA RESULTS [--only RULE] [--distinct 200]
    python benchmarks/ablation.py table RESULTS

DATA is as for `scripts/fit_ranker.py`, which chooses the documents that the model has not learned
from. Gold mentions of whole documents are linked, documents in random order until so many mentions
have been taken that no other of their document equals; of equal ones two count. Each rule and
corpus has a file in RESULTS; what has its file is not measured again. Strict: the right concept
comes first; as written: it is linked. Both are shares of the mentions whose concept the vocabulary
has; false links are of the others. `benchmarks/features.py` does so for the ranker's features.
"""

import json
import random
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from time import process_time
from typing import Annotated, Any, NamedTuple
from unittest.mock import patch

import numpy as np
import typer

import spacy_angel
from spacy_angel.corpora.docs import GOLD_SPANS, to_doc
from spacy_angel.corpora.documents import CorpusDocument
from spacy_angel.corpora.noise import Noise, noisy_document
from spacy_angel.files.atomic import write_text
from spacy_angel.linking.linker import AngelLinker
from spacy_angel.pipelines.components import components_before
from spacy_angel.pipelines.load import find_linker
from spacy_angel.search.cached import SearchCache
from spacy_angel.vocabulary.names.identifiers import split_ids
from spacy_angel.vocabulary.storage.strings import Strings

sys.path.insert(0, str(Path(__file__).parents[1] / "scripts"))
script: Any = import_module("fit_ranker")

PACKAGE = Path(spacy_angel.__file__).parent
app = typer.Typer(add_completion=False, help=__doc__)

ALL_RULES = "all rules"
SHIPPED = "en_angel_bio"
NEVER = r"()(?!)"
DRAWS = 2000
# Rules that caches of the linker depend on.
CACHED = ("words", "alignment", "context: ", "organisms", "numbers")
MOST_OF_A_TEXT = 2
# What tells of species stands beside the mentions that are counted.
BESIDE = {"GENE": ("SPECIES", "CELL_LINE")}


class Corpus(NamedTuple):
    """source (str): as in `scripts/fit_ranker.py`. label (str): of the mentions that count. kb
    (str): key of its vocabularies; empty: that of `en_angel_bio`. noise (str): as `Noise.name`, in
    the mentions."""

    source: str
    label: str
    kb: str = ""
    noise: str = ""

    @property
    def key(self) -> str:
        """RETURNS (str): name in tables."""
        noise = f"-{self.noise.replace(':', '')}" if self.noise else ""
        return f"{self.source.split('_')[0]}-{self.label}{noise}"


CORPORA = (
    Corpus("ncbi", "DISEASE"),
    Corpus("cdr", "DISEASE"),
    Corpus("cdr", "CHEMICAL"),
    Corpus("biored", "DISEASE"),
    Corpus("biored", "CHEMICAL"),
    Corpus("biored", "GENE"),
    Corpus("nlmgene", "GENE"),
    Corpus("tmvar", "GENE"),
    Corpus("gnormplus", "GENE"),
    Corpus("linnaeus", "SPECIES"),
    Corpus("s800", "SPECIES"),
    Corpus("bioid", "CELL_LINE"),
    *(Corpus("craft_dev", name, name) for name in ("CL", "UBERON", "SO", "CHEBI")),
    # Names of drugs that the vocabulary does not have: no link is right.
    Corpus("drugs", "CHEMICAL"),
    Corpus("stems", "CHEMICAL"),
    Corpus("cdr", "DISEASE", noise="typo:1"),
    Corpus("cdr", "CHEMICAL", noise="typo:1"),
    Corpus("cdr", "DISEASE", noise="typo:2"),
)


@dataclass(frozen=True)
class Rule:
    """name (str): in tables. off (Callable): a context in which it does not hold, given the linker.
    labels (tuple[str, ...]): of the corpora where it can matter; empty: all."""

    name: str
    off: Callable[[AngelLinker], AbstractContextManager[Any]]
    labels: tuple[str, ...] = ()


def without(**values: Any) -> Callable[[AngelLinker], AbstractContextManager[Any]]:
    """values (Any): modules' attributes, `linking__queries__STRICT=…`, and what they become.
    RETURNS (Callable): see `Rule.off`."""

    @contextmanager
    def off(linker: AngelLinker) -> Iterator[None]:
        with ExitStack() as stack:
            for name, value in values.items():
                package, module, attribute = name.split("__", 2)
                (path,) = (PACKAGE / package).rglob(f"{module}.py")
                where = ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
                target = f"{where}.{attribute.replace('Pair__', 'Pair.')}"
                stack.enter_context(patch(target, value))
            yield

    return off


def setting(**values: Any) -> Callable[[AngelLinker], AbstractContextManager[Any]]:
    """values (Any): settings of the linker. RETURNS (Callable): see `Rule.off`."""
    return lambda linker: linker.using(**values)


def _same(mention: Any, *_: Any, **__: Any) -> Any:
    return mention


def _each(keys: Sequence[Any]) -> tuple[range, range]:
    return range(len(keys)), range(len(keys))


def _never(*_: Any, **__: Any) -> bool:
    return False


def _compiled(pattern: str) -> Any:
    import re

    return re.compile(pattern)


def _long_form(*left_out: str) -> Callable[[str, str], bool]:
    """RETURNS (Callable): `mentions._is_long_form` without some of its conditions."""
    from spacy_angel.vocabulary.names.concepts import normalize_name

    def is_long_form(long_form: str, short_form: str) -> bool:
        checks = {
            "word": not (short_form.isalpha() and short_form.islower() and len(short_form) > 3),
            "brackets": long_form.count("(") == long_form.count(")"),
            "other": short_form.lower() not in normalize_name(long_form).split(),
            "longer": len(long_form) > len(short_form),
        }
        return all(holds for name, holds in checks.items() if name not in left_out)

    return is_long_form


def _without_role(role: str) -> Any:
    from spacy_angel.vocabulary.names.taxa import TAXA

    return {
        key: taxon._replace(phrases={k: some for k, some in taxon.phrases.items() if k != role})
        for key, taxon in TAXA.items()
    }


@contextmanager
def _no_usual_species(linker: AngelLinker) -> Iterator[None]:
    from spacy_angel.vocabulary.species.reader import SpeciesReader

    begin = SpeciesReader.__init__

    def without_usual(self: SpeciesReader, *args: Any) -> None:
        begin(self, *args)
        self._usual = ()

    with patch.object(SpeciesReader, "__init__", without_usual):
        yield


@contextmanager
def _without_coherence(linker: AngelLinker) -> Iterator[None]:
    from spacy_angel.linking.ranking.features import FEATURES

    with patch.dict(FEATURES, coherence=FEATURES["coherence"]._replace(value=lambda _: 0.0)):
        yield


GENES, ORGANISMS = ("GENE", "CELL_LINE"), ("SPECIES",)
NOTHING = _compiled(NEVER)
RULES = (
    Rule(
        "species: mice as hosts",
        without(vocabulary__reader__TAXA=_without_role("host")),
        GENES,
    ),
    Rule(
        "species: cell lines and tools",
        without(vocabulary__reader__TAXA=_without_role("sign")),
        GENES,
    ),
    Rule("species: methods", without(vocabulary__reader__METHODS=()), GENES),
    Rule("species: viruses", without(vocabulary__reader__is_virus=_never), GENES),
    Rule("species: half distance", without(vocabulary__reader___HALF=1e12), GENES),
    Rule("species: two at most", without(vocabulary__reader__MOST=1), GENES),
    Rule("species: human by default", _no_usual_species, GENES),
    Rule(
        "species: order of a name's concepts",
        without(vocabulary__reader___NEXT=1.0),
        GENES,
    ),
    Rule("species: cell lines exempt", without(vocabulary__reader___CELL_LINE="\0"), GENES),
    Rule(
        "species: lines without mentions",
        without(linking__species_contexts__cell_lines_in=lambda _: ()),
        GENES,
    ),
    Rule("species: all", setting(reading={"species_context": False}), GENES),
    Rule("candidates: same symbol", without(vocabulary__reader___MOST_SIBLINGS=0), GENES),
    Rule(
        "candidates: silent species",
        without(linking__merging__ABSENT_SPECIES=None),
        GENES,
    ),
    Rule(
        "organisms: binomial name",
        without(linking__queries__read_organism=_same),
        ORGANISMS,
    ),
    Rule(
        "queries: symbol before long form",
        without(linking__queries__is_gene=_never),
        GENES,
    ),
    Rule("queries: word list", without(linking__queries__expand_short_form=_same)),
    Rule("queries: other case", without(linking__short_forms___is_written_otherwise=_never)),
    Rule("queries: symbols", without(linking__queries__spell_out=_same)),
    Rule("queries: Greek letters", without(linking__symbols___GREEK=NOTHING)),
    Rule("queries: charges", without(linking__symbols___CHARGE=NOTHING)),
    Rule(
        "queries: numbers beside letters",
        without(linking__symbols___APART=NOTHING, linking__symbols___TOGETHER=NOTHING),
    ),
    Rule("queries: long forms of the document", setting(reading={"abbreviations": False})),
    Rule("long form: no word", without(linking__reading___is_long_form=_long_form("word"))),
    Rule(
        "long form: brackets",
        without(linking__reading___is_long_form=_long_form("brackets")),
    ),
    Rule(
        "long form: other words",
        without(linking__reading___is_long_form=_long_form("other")),
    ),
    Rule("long form: longer", without(linking__reading___is_long_form=_long_form("longer"))),
    Rule("spelling", setting(reading={"spelling": False})),
    Rule("spelling: two letters", without(vocabulary__words___TWO_LETTERS_FROM=99)),
    Rule(
        "spelling: strict types",
        without(
            linking__queries__STRICT=frozenset(),
            linking__merging__STRICT=frozenset(),
        ),
    ),
    Rule("short mentions: all", without(linking__features__SHORT=0)),
    Rule(
        "short mentions: similar letters",
        without(linking__features__Pair__similarity=property(lambda pair: pair.name.similarity)),
    ),
    Rule("short mentions: searched", without(linking__caching__SHORT=0)),
    Rule("coherence", _without_coherence),
    Rule("coherence: 0.2 of long mentions", without(linking__features___OF_LONG=1.0)),
    Rule("numbers", without(linking__features__numbers_of=lambda _: frozenset())),
    Rule("scope: related, broad, narrow", without(linking__features___RELATED=frozenset())),
    Rule("words: Greek letters", without(linking__wording___GREEK={})),
    Rule("alignment: stems", without(linking__alignment___STEM=99)),
    Rule("alignment: slips", without(linking__alignment___TYPO_FROM=99)),
    Rule("context", without(linking__merging__context_overlap=lambda *_: 0.0)),
    Rule(
        "context: rare words weigh more",
        without(linking__context___weight=lambda word: 1.0),
    ),
    Rule("exact names unsearched", without(linking__generator__exact_match=lambda *_: None)),
    Rule("once a document", without(linking__generator__first_of_equals=_each)),
    Rule("kinds kept apart", without(linking__permitted__is_foreign=_never)),
    Rule("suffixes: six", without(linking__merging___MOST_SUFFIXES=99), GENES),
    Rule("decided at -2", without(linking__merging___DECIDED=0.1)),
)


@app.command()
def rules(
    data: Annotated[Path, typer.Argument(help="Folder of the corpora and vocabularies.")],
    results: Annotated[Path, typer.Argument(help="Folder for a file a rule and corpus.")],
    only: Annotated[list[str], typer.Option(help="Rules to measure; else all.")] = [],  # noqa: B006
    distinct: Annotated[int, typer.Option(help="Distinct mentions of each corpus.")] = 200,
    corpora: Annotated[list[str], typer.Option(help="Corpora, by key; else all.")] = [],  # noqa: B006
    part: Annotated[str, typer.Option(help="Corpora to measure: `i/n`.")] = "0/1",
) -> None:
    """Measure each rule on each corpus."""
    results.mkdir(parents=True, exist_ok=True)
    chosen = [rule for rule in RULES if not only or rule.name in only]
    number, parts = map(int, part.split("/"))
    for corpus in [c for c in CORPORA if not corpora or c.key in corpora][number::parts]:
        own = [rule for rule in chosen if not rule.labels or corpus.label in rule.labels]
        if only == [ALL_RULES]:
            own = []
        new = [rule for rule in own if not _file(results, rule.name, corpus).exists()]
        if not new and _file(results, ALL_RULES, corpus).exists():
            continue
        linker, documents, docs = _opened(data, corpus, distinct)
        if not _file(results, ALL_RULES, corpus).exists():
            _write(results, ALL_RULES, corpus, _measured(linker, documents, docs, corpus.label))
        else:
            _measured(linker, documents, docs, corpus.label)
        for rule in new:
            start = process_time()
            with rule.off(linker):
                _forget(linker, rule)
                _write(results, rule.name, corpus, _measured(linker, documents, docs, corpus.label))
            _forget(linker, rule)
            typer.echo(f"{corpus.key} without {rule.name}: {process_time() - start:.0f} s")


@app.command()
def table(results: Annotated[Path, typer.Argument(help="What `rules` wrote.")]) -> None:
    """Print what each rule brings, in points of all mentions of a corpus."""
    base = {c: _read(results, ALL_RULES, c) for c in CORPORA}
    typer.echo("| corpus | mentions | strict | as written | false links of |")
    typer.echo("|---|--:|--:|--:|--:|")
    for corpus, rows in base.items():
        if rows is None:
            continue
        inside = [row for row in rows if row[1]]
        outside = [row for row in rows if not row[1]]
        strict, written = (
            100 * float(np.mean([row[i] for row in inside])) if inside else np.nan for i in (2, 3)
        )
        false = sum(row[4] for row in outside)
        typer.echo(
            f"| {corpus.key} | {len(inside)} | {strict:.1f} | {written:.1f} "
            f"| {false} of {len(outside)} |"
        )
    typer.echo("\n| rule | strict | as written | false links fewer | where it changes most |")
    typer.echo("|---|--:|--:|--:|---|")
    for rule in RULES:
        cells: list[tuple[float, str]] = []
        means: list[list[float]] = []
        for corpus, rows in base.items():
            off = _read(results, rule.name, corpus)
            if rows is None or off is None:
                continue
            means.append([_effect(rows, off, column) for column in (2, 3)])
            strict, written = means[-1]
            fewer = sum(b[4] - a[4] for a, b in zip(rows, off, strict=True) if not a[1])
            means[-1].append(fewer)
            strict, written = (0.0 if np.isnan(one) else one for one in (strict, written))
            if strict or written or fewer:
                p = _p_value(rows, off)
                text = f"{corpus.key} {strict:+.1f} / {written:+.1f}"
                text += f" / {fewer:+d}" if fewer else ""
                cells.append((-abs(strict) - abs(written), f"{text} (p {p:.2f})"))
        if not means:
            continue
        strict, written, _ = np.nanmean(means, axis=0)
        fewer = int(sum(one[2] for one in means))
        most = "; ".join(text for _, text in sorted(cells)[:8]) or "nothing"
        typer.echo(f"| {rule.name} | {strict:+.2f} | {written:+.2f} | {fewer:+d} | {most} |")


def _opened(
    data: Path, corpus: Corpus, distinct: int
) -> tuple[AngelLinker, list[CorpusDocument], list[Any]]:
    """RETURNS (tuple[AngelLinker, list[CorpusDocument], list[Doc]]): documents with their mentions,
    and as the components before the linker leave them."""
    nlp = _pipeline(SHIPPED if not corpus.kb else "en_angel_mini")
    linker = find_linker(nlp)
    linker.settings = replace(linker.settings, span_key=GOLD_SPANS)
    if corpus.kb:
        linker.settings = replace(linker.settings, types_by_label={})
        linker.kb = script.vocabulary(data, corpus.kb, 0.0)
    linker.search_cache = SearchCache()
    _remember(linker)
    documents = list(_documents(data, corpus, distinct))
    before = components_before(nlp, linker, given_mentions=True)
    others = [name for name in nlp.pipe_names if name not in before]
    docs = list(nlp.pipe((to_doc(d, nlp) for d in documents), disable=others))
    return linker, documents, docs


_PIPELINES: dict[str, Any] = {}


def _pipeline(name: str) -> Any:
    if name not in _PIPELINES:
        _PIPELINES[name] = spacy_angel.load(name, dtype="int8")
    return _PIPELINES[name]


def _remember(linker: AngelLinker) -> None:
    """What the vocabulary has is looked up once, whatever the rule."""
    kb = linker.kb
    if "find" in vars(kb.nearest):
        return
    find, known = kb.nearest.find, {}

    def find_once(text: str, k: int, allowed: Any = None) -> Any:
        key = (text, k, id(allowed))
        if key not in known:
            known[key] = (find(text, k, allowed), allowed)
        return known[key][0]

    kb.nearest.find = find_once  # type: ignore[method-assign]
    for owner, names in (
        (Strings, ("__getitem__",)),
        (type(kb._table), ("find_own_id", "find_name", "concept", "types_of")),
    ):
        for name in names:
            function = getattr(owner, name)
            if not hasattr(function, "cache_clear"):
                setattr(owner, name, lru_cache(maxsize=None)(function))


def _documents(data: Path, corpus: Corpus, distinct: int) -> Iterator[CorpusDocument]:
    """YIELDS (CorpusDocument): in random order, until so many mentions are taken that differ."""
    label = corpus.label
    sets = [
        script.MentionSet(corpus.source, corpus.kb or "BIO", kind, 0)
        for kind in (label, *BESIDE.get(label, ()))
    ]
    documents = list(script._documents(data, sets[0]))
    random.Random(5).shuffle(documents)
    left = distinct
    for document in documents:
        seen: Counter[tuple[str, str]] = Counter()
        kept = []
        for mention in document.mentions:
            seen[mention.text, mention.label] += 1
            for one in sets:
                is_own = mention.label in script.LABELS.get(one.label, (one.label,))
                if is_own and seen[mention.text, mention.label] <= MOST_OF_A_TEXT:
                    kept.append(script._labelled(mention, one))
        mentions = tuple(kept)
        texts = {m.text for m in mentions if m.label == label}
        if not texts:
            continue
        taken = replace(document, mentions=mentions)
        if corpus.noise:
            kind, edits = corpus.noise.split(":")
            taken = noisy_document(taken, Noise(kind, int(edits)))
        yield taken
        left -= len(texts)
        if left <= 0:
            return


def _measured(
    linker: AngelLinker, documents: Sequence[CorpusDocument], docs: Sequence[Any], label: str
) -> list[list[Any]]:
    """RETURNS (list[list[Any]]): of each mention the number of its document, whether the vocabulary
    has its concept, whether that comes first, whether it is linked to it, and whether it is linked
    to anything."""
    rows = []
    for number, (document, doc) in enumerate(zip(documents, docs, strict=True)):
        (links,) = linker.predict([doc])
        for mention, link in zip(document.mentions, links, strict=True):
            if mention.label != label or link is None:
                continue
            gold = set(filter(None, map(linker.kb.resolve, split_ids(mention.concept_ids))))
            top = link.candidates[0]["concept_id"] if link.candidates else ""
            is_right = top in gold
            is_linked = link.kb_id not in ("", "NIL")
            rows.append([number, bool(gold), is_right, is_right and is_linked, is_linked])
    return rows


def _forget(linker: AngelLinker, rule: Rule) -> None:
    """What was computed with another rule."""
    linker.kb._species_reader = None
    linker.kb.words._seen.clear()
    if rule.name.startswith(CACHED):
        for name, module in list(sys.modules.items()):
            if name.startswith("spacy_angel.linking"):
                for value in list(vars(module).values()):
                    if hasattr(value, "cache_clear") and value.__module__ == name:
                        value.cache_clear()


def _file(results: Path, rule: str, corpus: Corpus) -> Path:
    words = "".join(c if c.isalnum() else "_" for c in rule)
    return results / f"{words}.{corpus.key}.json"


def _write(results: Path, rule: str, corpus: Corpus, rows: list[list[Any]]) -> None:
    plain = [[int(value) for value in row] for row in rows]
    write_text(_file(results, rule, corpus), json.dumps(plain))


def _read(results: Path, rule: str, corpus: Corpus) -> list[list[int]] | None:
    file = _file(results, rule, corpus)
    return json.loads(file.read_text(encoding="utf8")) if file.exists() else None


def _effect(rows: Sequence[Sequence[int]], off: Sequence[Sequence[int]], column: int) -> float:
    pairs = [(a[column], b[column]) for a, b in zip(rows, off, strict=True) if a[1]]
    return 100 * float(np.mean([a - b for a, b in pairs])) if pairs else np.nan


def _p_value(rows: Sequence[Sequence[int]], off: Sequence[Sequence[int]]) -> float:
    """RETURNS (float): two-sided, of what is written, by a paired bootstrap over documents."""
    n = 1 + max(row[0] for row in rows)
    gains = np.zeros(n)
    for a, b in zip(rows, off, strict=True):
        gains[a[0]] += a[3] - b[3]
    drawn = np.random.default_rng(0).integers(0, n, (DRAWS, n))
    totals = gains[drawn].sum(axis=1)
    return float(min(1.0, 2 * min((totals <= 0).mean(), (totals >= 0).mean())))


if __name__ == "__main__":
    app()
