"""Measure `angel_variants` on the corpora that mark sequence variants.

    python benchmarks/variants.py DATA                # the half to work with
    python benchmarks/variants.py DATA --held         # the half to look at once

DATA holds `aioner/tmVar3_Train.PubTator`, `aioner/BioRED_TrainDev.PubTator` and
`more/corpora/{seth,nala_train,idp4}.jsonl.gz`. A document is in the held half where the first byte
of the SHA-256 of its identifier is odd. Some documents of tmVar3 are BioRED's, too, which has no
held half: those of the held half are left out of BioRED, and counted apart.

The held half of tmVar3 has been looked at twice: its figures once, with the grammar as it was made
on the other half; then the mistakes of its first part were read. The second part, where the next
byte is odd, is the one whose mistakes nobody has read.

Mentions are the component's, in a blank English pipeline; without `cut_tokens` a mention that ends
inside a token of spaCy's is lost. Strict: exactly these characters; lenient: a character in common.
Normal forms: of the mentions of tmVar3 that are found strictly and whose own form names one change
at one place, those whose identifier is that form in HGVS (`c|DEL|35|G` is `c.35del`), or that rs
number.
Genes: with tmVar3's genes as entities, the share of the variants found whose `variant_gene` has the
gold gene's identifier.
"""

import gzip
import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, NamedTuple

import spacy
import typer
from spacy.language import Language

from spacy_angel.recognition.variants.letters import residue

TMVAR = (
    *("DNAMutation", "ProteinMutation", "SNP", "DNAAllele", "ProteinAllele", "AcidChange"),
    "OtherMutation",
)
CORPORA = {
    "tmVar3": ("aioner/tmVar3_Train.PubTator", TMVAR),
    "BioRED": ("aioner/BioRED_TrainDev.PubTator", ("Variant",)),
    "SETH": ("more/corpora/seth.jsonl.gz", ("SNP", "RS")),
    "nala": ("more/corpora/nala_train.jsonl.gz", ("Variant",)),
    "IDP4": ("more/corpora/idp4.jsonl.gz", ("Variant",)),
}


class Mention(NamedTuple):
    """start, end (int): characters. type (str), identifier (str): as the corpus has them."""

    start: int
    end: int
    type: str
    identifier: str


class Document(NamedTuple):
    """doc_id (str). text (str). mentions (list[Mention]): of all types."""

    doc_id: str
    text: str
    mentions: list[Mention]


def main(
    data: Annotated[Path, typer.Argument(help="Folder of the corpora.")],
    held: Annotated[bool, typer.Option("--held", help="The half that is looked at once.")] = False,
    corpus: Annotated[list[str] | None, typer.Option(help="Only this one.")] = None,
    cut_tokens: Annotated[bool, typer.Option(help="The component's setting.")] = True,
    errors: Annotated[bool, typer.Option("--errors", help="Also print what is wrong.")] = False,
) -> None:
    """Print Markdown tables."""
    corpora = {name: list(read(data / path)) for name, (path, _) in CORPORA.items()}
    in_biored = {one.doc_id for one in corpora["BioRED"]}
    parts = {}
    for name, documents in corpora.items():
        if name == "BioRED":
            tmvar_held = {one.doc_id for one in corpora["tmVar3"] if is_held(one.doc_id)}
            parts[name] = [one for one in documents if one.doc_id not in tmvar_held]
            continue
        half = [one for one in documents if is_held(one.doc_id) == held]
        parts[name] = half
        if name == "tmVar3" and held:
            parts["tmVar3, second part"] = unread = [one for one in half if is_second(one.doc_id)]
            parts["tmVar3, second part, not in BioRED"] = [
                one for one in unread if one.doc_id not in in_biored
            ]
    if held:
        del parts["BioRED"]
    parts = {k: part for k, part in parts.items() if not corpus or k.partition(",")[0] in corpus}
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("angel_variants", config={"cut_tokens": cut_tokens})
    print("| corpus | documents | variants | P | R | F | lenient P | R | F |")
    print("|---|---|---|---|---|---|---|---|---|")
    for name, documents in parts.items():
        types = CORPORA[name.partition(",")[0]][1]
        print_row(name, documents, types, nlp)
    for name, documents in parts.items():
        if name.startswith("tmVar3"):
            print()
            print_types(name, documents, nlp)
    if errors:
        for name, documents in parts.items():
            print_errors(name, documents, CORPORA[name.partition(",")[0]][1], nlp)


def is_held(doc_id: str) -> bool:
    """doc_id (str): as in the corpus. RETURNS (bool): whether it is in the held half."""
    return hashlib.sha256(doc_id.encode()).digest()[0] % 2 == 1


def is_second(doc_id: str) -> bool:
    """doc_id (str): of the held half. RETURNS (bool): whether it is in its second part."""
    return hashlib.sha256(doc_id.encode()).digest()[1] % 2 == 1


def read(path: Path) -> Iterator[Document]:
    """path (Path): PubTator, whose identifiers are taken as they stand, or JSON lines.
    YIELDS (Document): each."""
    if path.suffix == ".gz":
        with gzip.open(path, "rt", encoding="utf8") as lines:
            for line in lines:
                row = json.loads(line)
                mentions = [
                    Mention(parts[0][0], parts[-1][1], type_, identifier or "")
                    for type_, identifier, parts in row["mentions"]
                ]
                yield Document(row["id"], row["text"], mentions)
        return
    for block in path.read_text(encoding="utf8").split("\n\n"):
        title, abstract, *rows = [*block.strip("\n").split("\n"), ""]
        if "|t|" in title:
            doc_id = title.split("|")[0]
            text = f"{title.split('|', 2)[2]} {abstract.split('|', 2)[2]}"
            cells = [row.split("\t") for row in rows if row.count("\t") >= 5]
            mentions = [Mention(int(c[1]), int(c[2]), c[4], c[5]) for c in cells]
            yield Document(doc_id, text, mentions)


def found_in(
    document: Document, nlp: Language, genes: bool = False
) -> dict[tuple[int, int], tuple]:
    """RETURNS (dict[tuple[int, int], tuple]): characters to identifier and place of the gene."""
    doc = nlp.make_doc(document.text)
    if genes:
        spans = [
            doc.char_span(m.start, m.end, label="GENE", alignment_mode="expand")
            for m in document.mentions
            if m.type == "Gene"
        ]
        doc.ents = spacy.util.filter_spans([span for span in spans if span is not None])
    found = {}
    for ent in nlp(doc).ents:
        if ent.label_ == "VARIANT":
            gene = ent._.variant_gene
            place = None if gene is None else (gene.start_char, gene.end_char)
            found[ent.start_char, ent.end_char] = (ent._.kb_id, place)
    return found


def print_row(name: str, documents: list[Document], types: tuple[str, ...], nlp: Language) -> None:
    """Precision, recall and F of a corpus, strict and lenient."""
    counts: Counter[str] = Counter()
    for document in documents:
        gold = {(m.start, m.end) for m in document.mentions if m.type in types}
        found = set(found_in(document, nlp))
        counts["gold"] += len(gold)
        counts["found"] += len(found)
        counts["strict"] += len(gold & found)
        counts["lenient found"] += sum(overlaps(one, gold) for one in found)
        counts["lenient gold"] += sum(overlaps(one, found) for one in gold)
    figures = [
        *scores(counts["strict"] / counts["found"], counts["strict"] / counts["gold"]),
        *scores(counts["lenient found"] / counts["found"], counts["lenient gold"] / counts["gold"]),
    ]
    cells = " | ".join(f"{100 * one:.1f}" for one in figures)
    print(f"| {name} | {len(documents)} | {counts['gold']} | {cells} |")


def scores(precision: float, recall: float) -> tuple[float, float, float]:
    """RETURNS (tuple[float, float, float]): with their F."""
    return precision, recall, 2 * precision * recall / (precision + recall)


def overlaps(one: tuple[int, int], others: Iterable[tuple[int, int]]) -> bool:
    """RETURNS (bool): whether it shares a character with one of them."""
    return any(one[0] < end and start < one[1] for start, end in others)


def print_types(name: str, documents: list[Document], nlp: Language) -> None:
    """Recall of each type of tmVar3, right normal forms, right genes."""
    counters: list[Counter[str]] = [Counter() for _ in range(4)]
    of_type, hit, formed, right = counters
    n_named = n_right_gene = n_with_gene = 0
    for document in documents:
        found = found_in(document, nlp, genes=True)
        genes = {
            (m.start, m.end): set(re.split("[,;]", m.identifier))
            for m in document.mentions
            if m.type == "Gene"
        }
        for mention in (m for m in document.mentions if m.type in TMVAR):
            of_type[mention.type] += 1
            if (mention.start, mention.end) not in found:
                continue
            hit[mention.type] += 1
            identifier, place = found[mention.start, mention.end]
            if form := hgvs_of(mention.identifier.split(";")[0]):
                formed[mention.type] += 1
                # tmVar3 has numbers also of variants that are written in letters.
                number = re.search(r"RS#:(\d+)", mention.identifier)
                right[mention.type] += identifier in (form, number and f"rs{number[1]}")
            if gold := re.search(r"Gene:([\d,]+)", mention.identifier):
                n_with_gene += 1
                n_named += place is not None
                named: set[str] = set()
                for start, end in genes:
                    if place is not None and overlaps(place, [(start, end)]):
                        named |= genes[start, end]
                n_right_gene += not named.isdisjoint(gold[1].split(","))
    print(f"| {name} | variants | found strictly | of these with a form in HGVS | right |")
    print("|---|---|---|---|---|")
    for type_ in (*TMVAR, "all"):
        row = [
            sum(counter.values()) if type_ == "all" else counter[type_]
            for counter in (of_type, hit, formed, right)
        ]
        print(f"| {type_} | {' | '.join(map(str, row))} |")
    print()
    print(
        f"{n_with_gene} found variants with a gold gene: {n_named} have a gene in their sentence, "
        f"the gold one {n_right_gene}."
    )


def hgvs_of(form: str) -> str:
    """form (str): of tmVar, e.g. `c|SUB|G|35|A`, `p|FS|P|246|H|13`, or an rs number. RETURNS (str):
    in HGVS, `c.35G>A`, `p.Pro246HisfsTer13`; empty where it names no change at one place."""
    if re.fullmatch(r"rs\d+", form):
        return form
    level, kind, *parts = (*form.split("|"), "", "", "", "")
    if level not in tuple("cgmnrp"):
        return ""
    if kind == "SUB":
        ref, place, alt = parts[:3]
        if level == "p":
            ref, alt = residue(ref), residue(alt)
            same = f"p.{ref}{place}=" if ref == alt else f"p.{ref}{place}{alt}"
            return same if ref and alt and place.isdigit() else ""
        if not re.fullmatch("[ACGTacgt]{2}", ref + alt) or not re.search(r"^(?!CODON).*\d", place):
            return ""
        ref, alt = ref.upper(), alt.upper()
        return f"{level}.{place}=" if ref == alt else f"{level}.{place}{ref}>{alt}"
    if kind == "FS":
        ref, place, alt, stop = parts[:4]
        ref, alt = residue(ref), residue(alt) if alt else ""
        return f"p.{ref}{place}{alt}fs{f'Ter{stop}' if alt and stop else ''}" if ref else ""
    place, what = parts[:2]
    if level == "p" or not re.fullmatch(r"\d+(_\d+)?", place):
        return ""
    length = int(what) if what.isdigit() else len(what)
    if kind in ("DEL", "DUP"):
        if "_" not in place and length > 1:
            place = f"{place}_{int(place) + length - 1}"
        return f"{level}.{place}{kind.lower()}"
    if kind == "INS" and what.isalpha():
        place = place if "_" in place else f"{place}_{int(place) + 1}"
        return f"{level}.{place}ins{what}"
    return ""


def print_errors(
    name: str, documents: list[Document], types: tuple[str, ...], nlp: Language
) -> None:
    """What is missed (-), and what is found and not marked (+), in its neighbourhood."""
    for document in documents:
        gold = {(m.start, m.end) for m in document.mentions if m.type in types}
        found = set(found_in(document, nlp))
        for sign, places in (("-", gold - found), ("+", found - gold)):
            for start, end in sorted(places):
                text = document.text.replace("\n", " ")
                shown = (
                    f"{text[max(start - 20, 0) : start]}[{text[start:end]}]{text[end : end + 20]}"
                )
                print(f"{name} {document.doc_id} {sign} {shown}")


if __name__ == "__main__":
    typer.run(main)
