"""A model with its tokenizer and prompt format, which generates names for mentions."""

import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Literal, TypeVar, get_args

import torch

from ..errors import AngelError, unknown_name
from ..model.bart import is_supported
from ..model.checkpoint import DTYPES, open_checkpoint, save_settings
from ..model.fastest import fastest_dtype
from ..model.interface import Decoding, Model
from ..model.mention import Mention
from ..model.presets import num_beams_of
from ..model.prompts import PromptEncoder
from ..vocabulary.storage.trie import SearchSpace
from .search import Expander, Hypothesis, SearchSettings, beam_search
from .walker import Walker

if TYPE_CHECKING:
    from transformers import PretrainedConfig

Dtype = Literal["float32", "bfloat16", "float16", "int8"]
RunDtype = Literal["float32", "bfloat16", "float16", "int8", "auto"]
Batch = TypeVar("Batch")
Result = TypeVar("Result")

# Tokens of a chain that are decoded ahead: where a pass costs more than its tokens, which is so on
# a GPU, and on a CPU for few mentions at a time.
_MAX_CHAIN = 16
_CPU_MAX_CHAIN = 8
_CPU_FEW_MENTIONS = 4
# Torch's threads as they were before the pools that run now, one entry a pool; while there is one,
# whoever asks torch for its threads may be told of a pool's single one.
_RUNNING: list[int] = []
_LOCK = Lock()


class Generator:
    """An encoder-decoder that generates names for mentions.

    model (Model): the weights, as the search uses them.
    prompts (PromptEncoder): converts mentions and names to token ids; tries are built with it.
    config (PretrainedConfig): config of the model, which is saved with it.
    """

    def __init__(self, model: Model, prompts: PromptEncoder, config: "PretrainedConfig") -> None:
        self.model = model
        self.prompts = prompts
        self.config = config

    def __repr__(self) -> str:
        kind = getattr(self.config, "model_type", "") or type(self.model).__name__
        return f"<Generator: {kind} on {self.model.device} {self.dtype}".rstrip() + ">"

    @property
    def dtype(self) -> str:
        """RETURNS (str): type of the weights in memory; empty for models run by transformers."""
        return str(getattr(self.model, "dtype", "")).removeprefix("torch.")

    @classmethod
    def from_pretrained(
        cls,
        name_or_path: str | Path,
        *,
        device: str = "cpu",
        dtype: RunDtype = "float32",
        tokenizer: str | Path | None = None,
        preset: str | None = None,
        local_files_only: bool = False,
    ) -> "Generator":
        """Load a checkpoint; published checkpoints need no conversion.

        name_or_path (str | Path): see `model.checkpoint.checkpoint_folder`.
        device (str): `cpu`, `cuda`, `cuda:1`, …
        dtype (RunDtype): type of the weights in memory; int8 requires a CPU and a BART model;
            `auto` measures which is fastest, see `fastest_dtype`.
        tokenizer (str | Path | None), preset (str | None): see `model.checkpoint.open_checkpoint`.
        local_files_only (bool): never contact the hub.
        RETURNS (Generator): ready to search.
        RAISES (AngelError): the folder or its files are invalid, or the device or dtype cannot be
            used.
        """
        if dtype not in get_args(RunDtype):
            raise AngelError(unknown_name("dtype", dtype, ", ".join(get_args(RunDtype))))
        chosen = find_device(device)
        checkpoint = open_checkpoint(
            name_or_path,
            tokenizer=tokenizer,
            only_search=True,
            preset=preset,
            local_files_only=local_files_only,
        )
        if dtype == "auto":
            dtype = fastest_dtype(chosen, with_int8=is_supported(checkpoint.config))
        model = checkpoint.model(chosen, DTYPES[dtype])
        return cls(model, checkpoint.prompts, checkpoint.config)

    @property
    def num_beams(self) -> int:
        """RETURNS (int): default number of beams for this kind of model."""
        return num_beams_of(self.prompts.format.preset)

    def search(
        self,
        mentions: Sequence[Mention],
        space: SearchSpace,
        settings: SearchSettings | None = None,
        *,
        subsets: Sequence[int] | None = None,
        batch_size: int = 32,
    ) -> list[list[Hypothesis]]:
        """Find names for mentions; mentions of similar length are searched together.

        mentions (Sequence[Mention]): n mentions in their context.
        space (SearchSpace): the names, built with `self.prompts`.
        settings (SearchSettings | None): None: 5 beams.
        subsets (Sequence[int] | None): for each mention, the number of a subset of the space; None:
            0.
        batch_size (int): maximum number of mentions in a batch; on a CPU, each thread has its own
            batch.
        RETURNS (list[list[Hypothesis]]): names for each mention, best first; names with the same
            tokens have the same score.
        """
        settings = settings or SearchSettings()
        subsets = subsets or [0] * len(mentions)
        sources = self.prompts.source_ids(mentions)
        prefixes = self.prompts.prefix_ids(mentions)
        results: list[list[Hypothesis]] = [[] for _ in mentions]
        for subset in sorted(set(subsets)):
            walker = Walker(space, subset, self.prompts.eos_token_id, self.model.device)

            @torch.inference_mode()
            def search(batch: list[int], walker: Walker = walker) -> list[list[Hypothesis]]:
                decoding = self.model.begin(
                    [sources[i] for i in batch], [prefixes[i] for i in batch]
                )
                expander = Expander(decoding, walker, self._max_chain(len(batch)))
                return beam_search(expander, len(batch), settings)

            chosen = [i for i, number in enumerate(subsets) if number == subset]
            for i, found in self._in_batches(search, chosen, sources, batch_size):
                results[i] = found
        return results

    def score_names(
        self, mentions: Sequence[Mention], names: Sequence[Sequence[str]], *, batch_size: int = 32
    ) -> list[list[float]]:
        """Compute the log-probabilities of several names for each mention.

        mentions (Sequence[Mention]): n mentions in their context.
        names (Sequence[Sequence[str]]): for each mention, any number of names in normal form.
        batch_size (int): mentions in a batch; on a CPU, each thread has its own batch.
        RETURNS (list[list[float]]): for each name, the sum over its tokens, including the end
            token, in nats.
        """
        sources = self.prompts.source_ids(mentions)
        prefixes = self.prompts.prefix_ids(mentions)
        targets = [self.prompts.encode_names(own) if own else [] for own in names]

        @torch.inference_mode()
        def score(batch: list[int]) -> list[list[float]]:
            decoding = self.model.begin([sources[i] for i in batch], [prefixes[i] for i in batch])
            return log_probs_of_names(decoding, [targets[i] for i in batch], self.model.device)

        results: list[list[float]] = [[] for _ in sources]
        chosen = [i for i, own in enumerate(targets) if own]
        for i, values in self._in_batches(score, chosen, sources, batch_size):
            results[i] = values
        return results

    def _in_batches(
        self,
        function: Callable[[list[int]], list[Result]],
        chosen: Sequence[int],
        sources: Sequence[list[int]],
        batch_size: int,
    ) -> Iterator[tuple[int, Result]]:
        """Call a function on batches of indices, longest source first, in several threads.

        YIELDS (tuple[int, Result]): each index with its result.
        """
        threads = cpu_threads(self.model.device)
        size = batch_size_for(len(chosen), batch_size, threads)
        order = sorted(chosen, key=lambda i: -len(sources[i]))
        batches = [order[begin : begin + size] for begin in range(0, len(order), size)]
        for batch, found in zip(batches, map_batches(function, batches, threads), strict=True):
            yield from zip(batch, found, strict=True)

    def to_disk(self, path: Path, *, storage: Dtype | None = None) -> None:
        """Save as a folder in Hugging Face's format, with the prompt format.

        path (Path): folder, created if it does not exist.
        storage (Dtype | None): type of the saved weights, for the BART family; it does not limit
            the type in memory. None: int8 if they were loaded from int8, or else the current type.
            transformers can only read floating-point types.
        RAISES (AngelError): the model cannot be saved in this type.
        """
        if storage is not None and storage not in DTYPES:
            raise AngelError(unknown_name("dtype", storage, ", ".join(DTYPES)))
        path.mkdir(parents=True, exist_ok=True)
        self.model.save(path, DTYPES[storage] if storage else None)
        self.config.save_pretrained(path)
        save_settings(path, self.prompts.tokenizer, self.prompts.format)

    def to_bytes(self) -> bytes:
        """RETURNS (bytes): the files that `to_disk` writes, serialized."""
        import srsly

        with tempfile.TemporaryDirectory() as folder:
            self.to_disk(Path(folder))
            files = {file.name: file.read_bytes() for file in sorted(Path(folder).iterdir())}
        return srsly.msgpack_dumps(files)

    @classmethod
    def from_bytes(
        cls, data: bytes, *, device: str = "cpu", dtype: RunDtype = "float32"
    ) -> "Generator":
        """data (bytes): the result of `to_bytes`. device, dtype: see `from_pretrained`. RETURNS
        (Generator): the generator."""
        import srsly

        with tempfile.TemporaryDirectory() as folder:
            for name, content in srsly.msgpack_loads(data).items():
                (Path(folder) / Path(name).name).write_bytes(content)
            return cls.from_pretrained(folder, device=device, dtype=dtype, local_files_only=True)

    def _max_chain(self, n_mentions: int) -> int:
        if self.model.device.type != "cpu":
            return _MAX_CHAIN
        return _CPU_MAX_CHAIN if n_mentions <= _CPU_FEW_MENTIONS else 0


def find_device(name: str) -> torch.device:
    """name (str): name of the device in torch. RETURNS (torch.device): the device, after trying to
        use it.
    RAISES (AngelError): it cannot be used."""
    try:
        device = torch.device(name)
        torch.zeros(1, device=device)
    except (RuntimeError, AssertionError) as error:
        known = ["cpu", *(f"cuda:{i}" for i in range(torch.cuda.device_count()))]
        raise AngelError(
            f"[E316] Cannot run on the device {name!r}. torch finds: {', '.join(known)}."
        ) from error
    return device


def log_probs_of_names(
    decoding: Decoding, names: Sequence[Sequence[list[int]]], device: torch.device
) -> list[list[float]]:
    """Decode the names of each mention as a tree, in which common prefixes are decoded once.

    decoding (Decoding): n mentions, with nothing decoded yet.
    names (Sequence[Sequence[list[int]]]): for each mention, the token ids of names, including the
        end token.
    device (torch.device): device of the model.
    RETURNS (list[list[float]]): for each name, the sum over its tokens, in nats.
    """
    begin = decoding.n_slots
    # Tokens that are fed, and of each token of a name: its name, the row that it is scored by.
    fed: list[tuple[int, int, int, int]] = []
    first: list[tuple[int, int, int]] = []
    later: list[tuple[int, int, int]] = []
    number = 0
    for mention, own in enumerate(names):
        n_before = len(fed)
        row_of: dict[tuple[int, ...], int] = {}
        for ids in own:
            first.append((number, mention, ids[0]))
            parent = -1
            for depth, token in enumerate(ids[:-1]):
                prefix = tuple(ids[: depth + 1])
                if prefix not in row_of:
                    row_of[prefix] = len(fed)
                    fed.append((token, mention, parent, depth))
                row = row_of[prefix]
                parent = begin + row - n_before
                later.append((number, row, ids[depth + 1]))
            number += 1
    sums = torch.zeros(number, device=device)
    if first:
        of_name, mentions, tokens = torch.tensor(first, device=device).unbind(1)
        sums.index_add_(0, of_name, decoding.first()[mentions, tokens])
    if fed:
        scores = decoding.feed(*torch.tensor(fed, device=device).unbind(1))
        of_name, rows, tokens = torch.tensor(later, device=device).unbind(1)
        sums.index_add_(0, of_name, scores[rows, tokens])
    values = iter(sums.tolist())
    return [[next(values) for _ in own] for own in names]


def cpu_threads(device: torch.device) -> int:
    """device (torch.device): device of the model. RETURNS (int): number of batches to run in
    parallel, the same for all threads of a process."""
    if device.type != "cpu":
        return 1
    with _LOCK:
        return _RUNNING[0] if _RUNNING else torch.get_num_threads()


def map_batches(
    function: Callable[[Batch], Result], batches: Sequence[Batch], threads: int
) -> Iterator[Result]:
    """Like `map`, on several threads that each use one of torch's threads.

    function (Callable[[Batch], Result]): only reads shared state.
    batches (Sequence[Batch]): independent of each other.
    threads (int): value of `torch.get_num_threads()`, which is restored afterwards.
    YIELDS (Result): in the order of the batches.
    """
    if threads == 1 or len(batches) < 2:
        yield from map(function, batches)
        return
    with _LOCK:
        _RUNNING.append(threads)
    try:
        # The number of torch's threads is a setting of the process and of each of its threads.
        with ThreadPoolExecutor(threads, initializer=torch.set_num_threads, initargs=(1,)) as pool:
            yield from pool.map(function, batches)
    finally:
        with _LOCK:
            torch.set_num_threads(threads)
            _RUNNING.remove(threads)


def batch_size_for(n: int, size: int, threads: int) -> int:
    """RETURNS (int): number of mentions per batch, at most `size`, such that all threads get the
    same number of batches, e.g. (10, 32, 2) → 5, (100, 32, 2) → 25."""
    rounds = -(-n // (size * threads))
    return max(1, -(-n // (max(rounds, 1) * threads)))
