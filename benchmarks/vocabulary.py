"""A vocabulary of the size of UMLS ST21pv: how long it takes to build and open, how much memory.

Its names are made by joining the first words of one real name to the last words of another, so
that their lengths and beginnings are those of real names. Each stage runs in a process of its
own; memory is read from `/proc` (Linux). The last line is one JSON object:

    names, concepts, nodes   what was built
    bytes_per_node           all arrays of the name trie, those of its leaves included, by its nodes
    build_seconds            reading the concepts, laying out the columns, compiling the trie
    build_peak_mb            most memory in use while building, of the whole process
    open_seconds             opening vocabulary and trie
    resident_mb              memory that opening and the searches took, mapped pages included; what
                             the model needs is not in it
    distinct_names_found     by the searches, five beams each, with a very small random model
    search_ms                one search, and looking up the spellings and concepts of its names
"""

import json
import random
import tempfile
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

import typer
from measuring import in_new_process, memory_mib
from tqdm import tqdm

from spacy_angel.vocabulary.kb import ConceptKB
from spacy_angel.vocabulary.names.concepts import Concept, normalize_name
from spacy_angel.vocabulary.sources.formats.registry import read_vocabulary

VOCABULARIES = (
    "medic/medic_06Jul2012.txt",
    "medic/CTD_diseases_2017-06.tsv.gz",
    "mesh/mesh_2019_descriptors.tsv",
    "doid/doid.obo",
)
BATCH = 32
SEED = 0


def main(
    names: Annotated[int, typer.Option(help="Distinct names.")] = 6_000_000,
    concepts: Annotated[int, typer.Option(help="Concepts.")] = 3_000_000,
    data: Annotated[Path, typer.Option(help="Folder with vocabularies and tokenizer.")] = Path(
        "../shared/data"
    ),
    searches: Annotated[int, typer.Option(help="Searches to run.")] = 1000,
) -> None:
    """Build, open and search a large vocabulary; the last line is one JSON object."""
    with tempfile.TemporaryDirectory() as folder:
        listed, model, stored = (Path(folder) / name for name in ("names.txt", "model", "kb"))
        in_new_process(write_names, data, names, listed)
        in_new_process(write_model, data, model)
        figures = in_new_process(build, listed, model, concepts, stored)
        figures |= in_new_process(search, listed, model, stored, searches)
    typer.echo(json.dumps(figures))


def write_names(data: Path, n: int, path: Path) -> None:
    """data (Path): folder of real vocabularies; n (int): names to write; path (Path): one a line,
    their normal forms all different."""
    rng = random.Random(SEED)
    real = [
        name.split()
        for file in VOCABULARIES
        for concept in read_vocabulary(data / file)
        for name in concept.names
    ]
    seen: set[str] = set()
    with path.open("w", encoding="utf8") as file, tqdm(total=n, desc="Joining names") as progress:
        while len(seen) < n:
            first, last = rng.choice(real), rng.choice(real)
            name = " ".join([*first[: (len(first) + 1) // 2], *last[len(last) // 2 :]])
            normal = normalize_name(name)
            if normal and normal not in seen:
                seen.add(normal)
                file.write(name + "\n")
                progress.update()


def read_names(path: Path, n_concepts: int) -> Iterator[Concept]:
    """path (Path): one name a line; n_concepts (int): concepts that share them out.
    YIELDS (Concept): with identifiers and types like those of UMLS."""
    with path.open(encoding="utf8") as file:
        n_names = sum(1 for _ in file)
        file.seek(0)
        for i in range(n_concepts):
            share = n_names * (i + 1) // n_concepts - n_names * i // n_concepts
            names = [next(file).rstrip("\n") for _ in range(share)]
            if names:
                yield Concept(f"UMLS:C{i:07d}", names[0], tuple(names[1:]), (f"T{i % 127:03d}",))


def build(listed: Path, model: Path, concepts: int, stored: Path) -> dict[str, Any]:
    """listed (Path): the names; model (Path): checkpoint, whose tokenizer the trie is for;
    concepts (int): how many; stored (Path): vocabulary to write.
    RETURNS (dict[str, Any]): figures."""
    from spacy_angel.search.generator import Generator

    tokenizer = Generator.from_pretrained(model, local_files_only=True).prompts
    start = time.perf_counter()
    kb = ConceptKB.build(read_names(listed, concepts), stored)
    (trie,) = kb.search_space(tokenizer).tries
    return {
        "names": kb.n_names,
        "concepts": len(kb),
        "nodes": trie.n_nodes,
        "bytes_per_node": round(trie.nbytes / trie.n_nodes, 2),
        "build_seconds": round(time.perf_counter() - start, 1),
        "build_peak_mb": round(memory_mib("VmHWM") or 0),
    }


def search(listed: Path, model: Path, stored: Path, n: int) -> dict[str, Any]:
    """listed (Path): names, which serve as mentions; model (Path): checkpoint; stored (Path): the
    vocabulary; n (int): searches. RETURNS (dict[str, Any]): figures."""
    import torch

    from spacy_angel.model.mention import Mention
    from spacy_angel.search.generator import Generator

    # Every thread has working memory of its own, which is the search's and not the vocabulary's.
    torch.set_num_threads(1)
    generator = Generator.from_pretrained(model, local_files_only=True)
    with listed.open(encoding="utf8") as file:
        texts = random.Random(SEED).sample(list(islice(file, 100 * n)), n)
    mentions = [Mention(text.strip()) for text in texts]
    # what the first search of a process allocates belongs to the model
    few = ConceptKB.build(Concept(f"X:{i}", text.strip()) for i, text in enumerate(texts))
    generator.search(mentions[:BATCH], few.search_space(generator.prompts), batch_size=BATCH)
    before = memory_mib() or 0
    start = time.perf_counter()
    kb = ConceptKB.from_disk(stored)
    space = kb.search_space(generator.prompts)
    opened = time.perf_counter()
    found = [
        hypothesis.name
        for result in generator.search(mentions, space, batch_size=BATCH)
        for hypothesis in result.hypotheses
    ]
    linked = [(kb.spelling(i), kb.concept_ids_of(i)) for i in found]
    assert all(spelling and ids for spelling, ids in linked)
    return {
        "open_seconds": round(opened - start, 3),
        "resident_mb": round((memory_mib() or 0) - before),
        "searches": n,
        "distinct_names_found": len(set(found)),
        "search_ms": round((time.perf_counter() - opened) / n * 1000, 2),
    }


def write_model(data: Path, path: Path) -> None:
    """data (Path): folder that holds `bart-tokenizer`; path (Path): checkpoint to write, a very
    small BART of random weights, large enough ones for its choices to follow the mention."""
    import torch
    from transformers import BartConfig, BartForConditionalGeneration, BartTokenizerFast

    torch.manual_seed(SEED)
    config = BartConfig(
        d_model=32,
        encoder_layers=1,
        decoder_layers=1,
        encoder_attention_heads=2,
        decoder_attention_heads=2,
        encoder_ffn_dim=64,
        decoder_ffn_dim=64,
        init_std=1.0,
    )
    BartForConditionalGeneration(config).save_pretrained(path)
    folder = data / "bart-tokenizer"
    tokenizer = BartTokenizerFast(str(folder / "vocab.json"), str(folder / "merges.txt"))
    tokenizer.save_pretrained(path)


if __name__ == "__main__":
    typer.run(main)
