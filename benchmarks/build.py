"""What building and opening published vocabularies cost, at their size.

    python benchmarks/build.py --data ../shared/data

MeSH's descriptors and supplementary records are written as XML first, with the elements, number of
records and bytes of NLM's own files (2019: 29,351 and 320,000 records, 0.3 and 0.7 GB), for the
files themselves are not in the data folder; names are real ones. NCBI Gene is read as it is
published: human, mouse, fruit fly and zebrafish. Each build is a process of its own, on one thread.
Prints one JSON line a vocabulary:

    concepts, names, input_mb   what was built, of how much
    wall_s, cpu_s               reading, laying out and writing
    peak_mib                    most memory in use, of the whole process
    open_ms                     opening the folder and looking one concept up, in a new process; the
                                least of several
"""

import gzip
import json
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path
from typing import Annotated, Any
from xml.sax.saxutils import escape

import typer

GENES = ("Homo_sapiens", "Mus_musculus", "Drosophila_melanogaster", "Danio_rerio")
N_SUPPLEMENTARY = 320_000
SEED = 0
_BUILD = """
import json, resource, sys, time
from pathlib import Path
from spacy_angel.vocabulary.sources.build import build_vocabulary
start = time.perf_counter()
*files, output = map(Path, sys.argv[1:])
kb = build_vocabulary(files, output)
used = resource.getrusage(resource.RUSAGE_SELF)
print(json.dumps({
    "concepts": len(kb), "names": kb.n_names, "wall_s": round(time.perf_counter() - start, 1),
    "cpu_s": round(used.ru_utime + used.ru_stime, 1), "peak_mib": round(used.ru_maxrss / 1024),
}))
"""
_OPEN = """
import sys, time
from spacy_angel.vocabulary.kb import ConceptKB
start = time.perf_counter()
kb = ConceptKB.from_disk(sys.argv[1])
kb.find(kb.name(kb.n_names // 2))
print(1000 * (time.perf_counter() - start))
"""
_DATE = "<Year>1999</Year>\n    <Month>01</Month>\n    <Day>01</Day>"
_QUALIFIER = """\
   <AllowableQualifier>
    <QualifierReferredTo>
     <QualifierUI>Q000{number:03d}</QualifierUI>
     <QualifierName>
      <String>qualifier {number}</String>
     </QualifierName>
    </QualifierReferredTo>
    <Abbreviation>Q{number}</Abbreviation>
   </AllowableQualifier>
"""
_TERM = """\
     <Term ConceptPreferredTermYN="{first}" IsPermutedTermYN="N" LexicalTag="NON" \
RecordPreferredTermYN="{first}">
      <TermUI>T{ui:09d}</TermUI>
      <String>{name}</String>
      <DateCreated>
       <Year>1999</Year>
       <Month>01</Month>
       <Day>01</Day>
      </DateCreated>
      <ThesaurusIDlist>
       <ThesaurusID>NLM (1966)</ThesaurusID>
      </ThesaurusIDlist>
     </Term>
"""


def main(
    data: Annotated[Path, typer.Option(help="Folder with the vocabularies.")] = Path(
        "../shared/data"
    ),
    only: Annotated[str | None, typer.Option(help="mesh or gene; else both.")] = None,
) -> None:
    """Build and open both; one JSON line each."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        if only in (None, "mesh"):
            files = [folder / "desc2019.xml", folder / "supp2019.xml"]
            write_descriptors(data, files[0])
            write_supplementary(data, files[1])
            measure("mesh, descriptors and supplementary records", files, folder / "mesh")
        if only in (None, "gene"):
            genes = [data / "vocab" / "gene" / f"{name}.gene_info.gz" for name in GENES]
            measure("ncbi gene, four species", genes, folder / "gene")


def measure(vocabulary: str, files: list[Path], output: Path) -> None:
    """vocabulary (str): for the line. files (list[Path]): to build. output (Path): folder."""
    figures: dict[str, Any] = {"vocabulary": vocabulary}
    figures |= json.loads(_python(_BUILD, *files, output).splitlines()[-1])
    figures["input_mb"] = round(sum(file.stat().st_size for file in files) / 1e6)
    figures["open_ms"] = round(min(float(_python(_OPEN, output)) for _ in range(5)), 1)
    figures["folder_mb"] = round(sum(p.stat().st_size for p in output.iterdir()) / 1e6)
    typer.echo(json.dumps(figures))


def write_descriptors(data: Path, path: Path) -> None:
    """data (Path): with MeSH's table of 2019. path (Path): XML as NLM's desc2019.xml."""
    with path.open("w", encoding="utf8") as file:
        file.write('<?xml version="1.0"?>\n<DescriptorRecordSet LanguageCode = "eng">\n')
        table = data / "mesh" / "mesh_2019_descriptors.tsv"
        for ui, line in enumerate(table.read_text("utf8").splitlines()):
            code, name, more = line.split("\t")
            names = [name, *filter(None, more.split("|"))]
            qualifiers = "".join(_QUALIFIER.format(number=n) for n in range(20))
            number = f"D{ui % 27:02d}.{ui % 900:03d}"
            file.write(
                f'<DescriptorRecord DescriptorClass = "1">\n  <DescriptorUI>{code}</DescriptorUI>\n'
                f"  <DescriptorName>\n   <String>{escape(name)}</String>\n  </DescriptorName>\n"
                f"  <DateCreated>\n    {_DATE}\n  </DateCreated>\n"
                f"  <AllowableQualifiersList>\n{qualifiers}  </AllowableQualifiersList>\n"
                f"  <TreeNumberList>\n   <TreeNumber>{number}</TreeNumber>\n  </TreeNumberList>\n"
                f"{_concepts(names, ui)}</DescriptorRecord>\n"
            )
        file.write("</DescriptorRecordSet>\n")


def write_supplementary(data: Path, path: Path) -> None:
    """data (Path): with names of chemicals. path (Path): XML as NLM's supp2019.xml."""
    rng = random.Random(SEED)
    with path.open("w", encoding="utf8") as file:
        file.write('<?xml version="1.0"?>\n<SupplementalRecordSet LanguageCode = "eng">\n')
        names = cycle(list(_chemicals(data)))
        for ui in range(N_SUPPLEMENTARY):
            # Numbered, for each record has names of its own.
            some = [f"{next(names)} {ui}" for _ in range(1 + rng.randrange(3))]
            file.write(
                f'<SupplementalRecord SCRClass = "1">\n  <SupplementalRecordUI>C{ui:09d}'
                "</SupplementalRecordUI>\n  <SupplementalRecordName>\n"
                f"   <String>{escape(some[0])}</String>\n  </SupplementalRecordName>\n"
                f"  <DateCreated>\n    {_DATE}\n  </DateCreated>\n  <HeadingMappedToList>\n"
                "   <HeadingMappedTo>\n    <DescriptorReferredTo>\n"
                "     <DescriptorUI>*D000001</DescriptorUI>\n     <DescriptorName>\n"
                "      <String>Calcimycin</String>\n     </DescriptorName>\n"
                "    </DescriptorReferredTo>\n   </HeadingMappedTo>\n  </HeadingMappedToList>\n"
                f"{_concepts(some, ui)}</SupplementalRecord>\n"
            )
        file.write("</SupplementalRecordSet>\n")


def _concepts(names: list[str], ui: int) -> str:
    terms = "".join(
        _TERM.format(first="N" if n else "Y", ui=ui * 10 + n, name=escape(name))
        for n, name in enumerate(names)
    )
    return (
        '  <ConceptList>\n   <Concept PreferredConceptYN="Y">\n'
        f"    <ConceptUI>M{ui:07d}</ConceptUI>\n    <ConceptName>\n"
        f"     <String>{escape(names[0])}</String>\n    </ConceptName>\n"
        "    <RegistryNumberList>\n     <RegistryNumber>0</RegistryNumber>\n"
        "    </RegistryNumberList>\n    <ScopeNote>What is meant by it, and what is not.\n"
        "    </ScopeNote>\n    <ConceptRelationList>\n"
        '     <ConceptRelation RelationName="NRW">\n'
        f"      <Concept1UI>M{ui:07d}</Concept1UI>\n      <Concept2UI>M0353609</Concept2UI>\n"
        "     </ConceptRelation>\n    </ConceptRelationList>\n"
        f"    <TermList>\n{terms}    </TermList>\n   </Concept>\n  </ConceptList>\n"
    )


def _chemicals(data: Path) -> Iterator[str]:
    table = data / "vocab" / "chemical" / "mesh_supplementary_names_partial.tsv.gz"
    with gzip.open(table, "rt", encoding="utf8") as lines:
        for line in lines:
            yield line.rstrip("\n").split("\t")[1]


def _python(code: str, *arguments: Path) -> str:
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-c", code, *map(str, arguments)]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout


if __name__ == "__main__":
    typer.run(main)
