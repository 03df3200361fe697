"""Measure the constrained search against transformers' `generate` with a dictionary trie.

Both sides run in this process, in turn, on the same mentions, the same names and the same weights:
real mentions in real context, sources of the same length, and a BART of the size of
facebook/bart-base with random weights. The other side is what the reference implementations of
GENRE, GenBioEL and ANGEL do: one mention at a time (`generate` is wrong for batches whose decoder
prefixes differ in length) and a Python callback that looks up the allowed tokens in nested
dictionaries.

    python benchmarks/search.py --data ../shared/data
"""

import gc
import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

import torch
import typer
from tqdm import tqdm

from spacy_angel.corpora.registry import read_corpus
from spacy_angel.model.bart import BartModel
from spacy_angel.model.checkpoint import DTYPES
from spacy_angel.model.mention import Mention
from spacy_angel.model.prompts import PromptEncoder, PromptFormat
from spacy_angel.search.generator import Generator
from spacy_angel.search.search import SearchSettings
from spacy_angel.vocabulary.names.concepts import normalize_name
from spacy_angel.vocabulary.sources.formats.registry import read_vocabulary
from spacy_angel.vocabulary.storage.trie import NameTrie, SearchSpace


def main(
    data: Annotated[Path, typer.Option(help="Folder with medic/, ncbi-disease/, bart-tokenizer/.")],
    device: Annotated[str, typer.Option(help="cpu or cuda.")] = "cpu",
    dtypes: Annotated[str, typer.Option(help="Types of the weights.")] = "float32,bfloat16,int8",
    init_std: Annotated[float, typer.Option(help="Spread of the random weights.")] = 0.02,
    n_mentions: Annotated[int, typer.Option(help="Mentions, the same for both sides.")] = 64,
    batch_size: Annotated[int, typer.Option(help="Mentions in one of our batches.")] = 64,
    threads: Annotated[int, typer.Option(help="Threads on a CPU.")] = 2,
    rounds: Annotated[int, typer.Option(help="Times that both sides run; the best counts.")] = 2,
) -> None:
    """Print mentions per second, agreement and peak memory for each type, a JSON object each."""
    torch.set_num_threads(threads)
    torch.manual_seed(0)
    network = random_bart(init_std)
    prompts = PromptEncoder(load_tokenizer(data), PromptFormat(max_source_tokens=128), 2, 2)
    names = read_names(data)
    mentions = read_mentions(data, prompts, n_mentions)
    ids = prompts.encode_names(names)
    space, nested = compile_names(ids), nest(ids)
    print(f"{len(names):,} names, {len(mentions):,} mentions, {space.tries[0].n_nodes:,} nodes")
    for dtype in dtypes.split(","):
        ours = Our(network, prompts, space, mentions, batch_size, dtype, device)
        theirs = Reference(network, prompts, nested, mentions, dtype, device)
        print(dtype, json.dumps(compare(ours, theirs, rounds)))
        del ours, theirs
        gc.collect()


class Our:
    """The search of this package: whole batches of mentions."""

    def __init__(
        self,
        model: Any,
        prompts: PromptEncoder,
        space: SearchSpace,
        mentions: Sequence[Mention],
        batch_size: int,
        dtype: str,
        device: str,
    ) -> None:
        ours = BartModel(model.config, model.state_dict(), torch.device(device), DTYPES[dtype])
        self.generator = Generator(ours, prompts, model.config)
        self.space, self.mentions, self.batch_size = space, mentions, batch_size

    def __call__(self) -> list[list[tuple[int, float]]]:
        """RETURNS: names and scores of each mention."""
        results = self.generator.search(
            self.mentions, self.space, SearchSettings(), batch_size=self.batch_size
        )
        return [[(h.name, h.score) for h in result.hypotheses] for result in results]


class Reference:
    """`generate` with `prefix_allowed_tokens_fn`, one mention at a time."""

    def __init__(
        self,
        model: Any,
        prompts: PromptEncoder,
        nested: dict,
        mentions: Sequence[Mention],
        dtype: str,
        device: str,
    ) -> None:
        import copy

        self.model = copy.deepcopy(model).to(device)
        if dtype == "int8":
            self.model = torch.ao.quantization.quantize_dynamic(
                self.model, {torch.nn.Linear}, dtype=torch.qint8
            )
        else:
            self.model = self.model.to(DTYPES[dtype])
        self.device, self.nested, self.mentions = device, nested, mentions
        self.sources = prompts.source_ids(mentions)
        self.prefixes = prompts.prefix_ids(mentions)

    @torch.inference_mode()
    def __call__(self) -> list[list[tuple[int, float]]]:
        """RETURNS: names and scores of each mention."""
        pairs = zip(self.sources, self.prefixes, strict=True)
        return [self._generate(*pair) for pair in tqdm(pairs, total=len(self.sources), leave=False)]

    def _generate(self, source: list[int], prefix: list[int]) -> list[tuple[int, float]]:
        def allowed(_: int, sequence: torch.Tensor) -> list[int]:
            node = self.nested
            for token in sequence[len(prefix) :].tolist():
                node = node.get(token, {})
            return [token for token in node if token >= 0] or [1]

        output = self.model.generate(
            torch.tensor([source], device=self.device),
            attention_mask=torch.ones(1, len(source), dtype=torch.long, device=self.device),
            decoder_input_ids=torch.tensor([prefix], device=self.device),
            prefix_allowed_tokens_fn=allowed,
            num_beams=5,
            num_return_sequences=5,
            max_new_tokens=120,
            no_repeat_ngram_size=0,
            forced_bos_token_id=None,
            forced_eos_token_id=None,
            output_scores=True,
            return_dict_in_generate=True,
        )
        found = []
        for tokens, score in zip(output.sequences, output.sequences_scores.tolist(), strict=True):
            node = self.nested
            for token in tokens[len(prefix) :].tolist():
                node = node.get(token, {})
                if -1 in node:
                    found.append((node[-1], score))
                    break
        return found


def compare(ours: Our, theirs: Reference, rounds: int) -> dict[str, float]:
    """Run both sides in turn and compare what they found.

    RETURNS (dict[str, float]): mentions per second of both (the best round), agreement of the first
        names and of all names, peak memory of the process in MB.
    """
    ours()
    theirs._generate(theirs.sources[0], theirs.prefixes[0])
    our_seconds, their_seconds = [], []
    for _ in range(rounds):
        seconds, found = timed(ours)
        our_seconds.append(seconds / len(ours.mentions))
        seconds, expected = timed(theirs)
        their_seconds.append(seconds / len(theirs.mentions))
    both = list(zip(found, expected, strict=True))
    same = [[n for n, _ in a] == [n for n, _ in b] for a, b in both]
    first = [a[:1] and b[:1] and a[0][0] == b[0][0] for a, b in both]
    return {
        "ours_per_second": round(1 / min(our_seconds), 2),
        "reference_per_second": round(1 / min(their_seconds), 2),
        "speedup": round(min(their_seconds) / min(our_seconds), 2),
        "same_first": round(sum(map(bool, first)) / len(both), 4),
        "same_beams": round(sum(same) / len(both), 4),
        "peak_mb": peak_mb(),
    }


def timed(function: Callable) -> tuple[float, Any]:
    """RETURNS (tuple[float, Any]): seconds and result."""
    synchronize()
    begin = time.perf_counter()
    result = function()
    synchronize()
    return time.perf_counter() - begin, result


def synchronize() -> None:
    """Wait for the GPU, if one is at work."""
    if torch.cuda.is_initialized():
        torch.cuda.synchronize()


def peak_mb() -> int:
    """RETURNS (int): the largest resident memory of this process so far, or of the GPU."""
    if torch.cuda.is_initialized():
        return torch.cuda.max_memory_allocated() // 2**20
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def random_bart(init_std: float) -> Any:
    """RETURNS (BartForConditionalGeneration): the layout of facebook/bart-base, random weights."""
    from transformers import BartConfig, BartForConditionalGeneration

    config = BartConfig(
        d_model=768,
        encoder_layers=6,
        decoder_layers=6,
        encoder_ffn_dim=3072,
        decoder_ffn_dim=3072,
        encoder_attention_heads=12,
        decoder_attention_heads=12,
        init_std=init_std,
    )
    return BartForConditionalGeneration(config).eval()


def load_tokenizer(data: Path) -> Any:
    """RETURNS (BartTokenizerFast): from vocab.json and merges.txt."""
    from transformers import BartTokenizerFast

    folder = data / "bart-tokenizer"
    return BartTokenizerFast(
        vocab_file=str(folder / "vocab.json"), merges_file=str(folder / "merges.txt")
    )


def read_names(data: Path) -> list[str]:
    """RETURNS (list[str]): the names of MEDIC 2012 in normal form."""
    concepts = read_vocabulary(data / "medic" / "medic_06Jul2012.txt")
    names = {normalize_name(name) for concept in concepts for name in concept.names}
    return sorted(names - {""})


def read_mentions(data: Path, prompts: PromptEncoder, n: int) -> list[Mention]:
    """RETURNS (list[Mention]): n mentions of NCBI-disease development spread over the documents,
    with enough context to fill the source."""
    mentions = [
        Mention(m.text, document.text[: m.start], document.text[m.end :])
        for document in read_corpus(data / "ncbi-disease" / "NCBIdevelopset_corpus.txt")
        for m in document.mentions
    ]
    lengths = prompts.source_ids(mentions)
    longest = max(map(len, lengths))
    full = [m for m, ids in zip(mentions, lengths, strict=True) if len(ids) == longest]
    return [full[i * len(full) // n] for i in range(n)]


def compile_names(ids: list[list[int]]) -> SearchSpace:
    """RETURNS (SearchSpace): the names as a flat trie."""
    import numpy as np

    flat = np.array([token for name in ids for token in name], dtype=np.int32)
    return SearchSpace((NameTrie.build(flat, np.cumsum([0, *map(len, ids)])),))


def nest(ids: list[list[int]]) -> dict:
    """RETURNS (dict): the names as nested dictionaries, a leaf has its name's index under -1."""
    root: dict = {}
    for index, name in enumerate(ids):
        node = root
        for token in name:
            node = node.setdefault(token, {})
        node[-1] = index
    return root


if __name__ == "__main__":
    typer.run(main)
