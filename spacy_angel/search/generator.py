"""The model with its tokenizer and prompt format: mentions in, names of the vocabulary out."""

import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Literal, NamedTuple

import torch

from ..errors import AngelError, unknown_name
from ..model import bart
from ..model.checkpoint import DTYPES, open_checkpoint, save_settings
from ..model.families import family_of
from ..model.fastest import fastest_dtype
from ..model.interface import Model
from ..model.mention import Mention
from ..model.presets import preset_named
from ..model.prompts import PromptEncoder
from ..vocabulary.storage.trie import SearchSpace
from .cached import SearchCache
from .expander import Expander
from .named import log_probs_of_names
from .search import SearchResult, SearchSettings, beam_search, exact_search, hypotheses
from .threads import batch_size_for, cpu_threads, map_batches
from .walker import Walker

if TYPE_CHECKING:
    from transformers import PretrainedConfig

Dtype = Literal["float32", "bfloat16", "float16", "int8"]
RunDtype = Literal["float32", "bfloat16", "float16", "int8", "auto"]
Ask = Callable[[int, SearchResult], Sequence[str]]
"""Names as the model writes them, `tp53 | homo sapiens`, to score for a mention, by its place and
what was found for it."""

# Tokens of a chain that are decoded ahead: where a pass costs more than its tokens, which is so on
# a GPU, and on a CPU for few mentions at a time.
_MAX_CHAIN = 16
_CPU_MAX_CHAIN = 8
_CPU_FEW_MENTIONS = 4


class _Names(NamedTuple):
    """Names to score for a mention, as texts and as token ids."""

    texts: Sequence[str]
    ids: list[list[int]]


class Generator:
    """An encoder-decoder that writes names for mentions.

    model (Model): the weights, as the search sees them.
    prompts (PromptEncoder): mentions and names to token ids; what a trie is built with.
    config (PretrainedConfig): of the model, saved with it.
    """

    def __init__(self, model: Model, prompts: PromptEncoder, config: "PretrainedConfig") -> None:
        self.model = model
        self.prompts = prompts
        self.config = config

    def __repr__(self) -> str:
        kind = getattr(self.config, "model_type", "") or type(self.model).__name__
        dtype = str(getattr(self.model, "dtype", "")).removeprefix("torch.")
        return f"<Generator: {kind} on {self.model.device} {dtype}".rstrip() + ">"

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
        """Load a checkpoint; the published ones load as they are.

        name_or_path (str | Path): see `model.checkpoint.checkpoint_folder`.
        device (str): `cpu`, `cuda`, `cuda:1`, …
        dtype (RunDtype): type of the weights in use; int8 on a CPU and for the BART family; `auto`
            is the one that is fastest here, by `fastest_dtype`.
        tokenizer (str | Path | None), preset (str | None): see `model.checkpoint.open_checkpoint`.
        local_files_only (bool): never ask the hub.
        RETURNS (Generator): ready to search.
        RAISES (AngelError): where the folder, its files, the device or the dtype do not fit.
        """
        if dtype != "auto" and dtype not in DTYPES:
            known = ", ".join((*DTYPES, "auto"))
            raise AngelError(unknown_name("dtype", dtype, known))
        chosen = find_device(device)
        checkpoint = open_checkpoint(
            name_or_path,
            tokenizer=tokenizer,
            only_search=True,
            preset=preset,
            local_files_only=local_files_only,
        )
        if dtype == "auto":
            with_int8 = family_of(checkpoint.config) is bart
            dtype = fastest_dtype(chosen, with_int8=with_int8)
        model = checkpoint.model(chosen, DTYPES[dtype])
        return cls(model, checkpoint.prompts, checkpoint.config)

    @property
    def num_beams(self) -> int:
        """RETURNS (int): beams that such models are searched with, where nothing else is said."""
        return preset_named(self.prompts.format.preset).num_beams

    def search(
        self,
        mentions: Sequence[Mention],
        space: SearchSpace,
        settings: SearchSettings | None = None,
        *,
        subsets: Sequence[int] | None = None,
        batch_size: int = 32,
        cache: SearchCache | None = None,
        ask: Ask | None = None,
    ) -> list[SearchResult]:
        """Find the names for some mentions; similar lengths are searched together.

        mentions (Sequence[Mention]): n mentions in their context.
        space (SearchSpace): the names, built with `self.prompts`.
        settings (SearchSettings | None): by default beam search with 5 beams.
        subsets (Sequence[int] | None): n numbers of subsets of the space; by default all 0.
        batch_size (int): most mentions in one pass; on a CPU every thread has its own.
        cache (SearchCache | None): what was found before and need not be searched again.
        ask (Ask | None): says which further names to score for a mention that has been searched:
            it need not be read again for them. It is called from several threads, but never twice
            at a time, and not for what a cache knows.
        RETURNS (list[SearchResult]): n results in the order of the mentions.
        """
        settings = settings or SearchSettings()
        subsets = subsets or [0] * len(mentions)

        def search(chosen: Sequence[int]) -> list[SearchResult]:
            some, numbers = [mentions[i] for i in chosen], [subsets[i] for i in chosen]
            ask_of = ask and (lambda place, result: ask(chosen[place], result))
            return self._search(some, space, settings, numbers, batch_size, ask_of)

        if cache is not None:
            return cache.results(search, mentions, space, settings, subsets)
        return search(range(len(mentions)))

    def _search(
        self,
        mentions: Sequence[Mention],
        space: SearchSpace,
        settings: SearchSettings,
        subsets: Sequence[int],
        batch_size: int,
        ask: Ask | None,
    ) -> list[SearchResult]:
        sources = self.prompts.source_ids(mentions)
        prefixes = self.prompts.prefix_ids(mentions)
        results = [SearchResult() for _ in mentions]
        threads = cpu_threads(self.model.device)
        # Whoever asks looks into the vocabulary, and a tokenizer is not made for two threads.
        one_at_a_time = Lock()

        def names_of(batch: list[int], results: list[SearchResult]) -> list[_Names]:
            if ask is None:
                return []
            with one_at_a_time:
                names = [ask(i, result) for i, result in zip(batch, results, strict=True)]
                ids = [self.prompts.encode_names(some) if some else [] for some in names]
            return list(map(_Names, names, ids))

        for subset in sorted(set(subsets)):
            walker = Walker(space, subset, self.prompts.eos_token_id, self.model.device)
            chosen = [i for i, number in enumerate(subsets) if number == subset]
            size = batch_size_for(len(chosen), batch_size, threads)
            batches = list(_batches(chosen, [len(ids) for ids in sources], size))

            def run(batch: list[int], walker: Walker = walker) -> list[SearchResult]:
                return self._search_batch(
                    [sources[i] for i in batch],
                    [prefixes[i] for i in batch],
                    walker,
                    settings,
                    partial(names_of, batch),
                )

            for batch, batch_results in zip(
                batches, map_batches(run, batches, threads), strict=True
            ):
                for i, result in zip(batch, batch_results, strict=True):
                    results[i] = result
        return results

    def log_probs(
        self, mentions: Sequence[Mention], names: Sequence[str], *, batch_size: int = 32
    ) -> list[float]:
        """Log-probability of a given name for each mention (ANGEL, equation 2).

        mentions (Sequence[Mention]): n mentions in their context.
        names (Sequence[str]): n names in normal form.
        batch_size (int): mentions in one pass.
        RETURNS (list[float]): n sums over the name's tokens, the end token included, in nats.
        """
        rows = self.log_probs_of(mentions, [[name] for name in names], batch_size=batch_size)
        return [value for values in rows for value in values]

    def log_probs_of(
        self, mentions: Sequence[Mention], names: Sequence[Sequence[str]], *, batch_size: int = 32
    ) -> list[list[float]]:
        """Log-probabilities of several names for each mention, which is read only once.

        mentions (Sequence[Mention]): n mentions in their context.
        names (Sequence[Sequence[str]]): names in normal form for each, any number.
        batch_size (int): mentions in one pass; on a CPU every thread has its own.
        RETURNS (list[list[float]]): of each name the sum over its tokens, the end token included,
            in nats.
        """
        sources = self.prompts.source_ids(mentions)
        prefixes = self.prompts.prefix_ids(mentions)
        targets = [self.prompts.encode_names(some) if some else [] for some in names]
        threads = cpu_threads(self.model.device)
        chosen = [i for i, some in enumerate(targets) if some]
        size = batch_size_for(len(chosen), batch_size, threads)
        batches = list(_batches(chosen, [len(ids) for ids in sources], size))

        def run(batch: list[int]) -> list[list[float]]:
            return self._log_probs_batch(
                [sources[i] for i in batch],
                [prefixes[i] for i in batch],
                [targets[i] for i in batch],
            )

        results: list[list[float]] = [[] for _ in sources]
        for batch, values in zip(batches, map_batches(run, batches, threads), strict=True):
            for i, some in zip(batch, values, strict=True):
                results[i] = some
        return results

    def to_disk(self, path: Path, *, storage: Dtype | None = None) -> None:
        """Save as a Hugging Face folder with the prompt format beside.

        path (Path): folder, made where it does not exist.
        storage (Dtype | None): type of the weights in the folder, for the BART family; whatever it
            is, they run in every one. None: int8 where they came from such a folder, else the type
            in which they run. Only floating-point ones can be read by transformers.
        RAISES (AngelError): a storage type that the model cannot have.
        """
        if storage is not None and storage not in DTYPES:
            raise AngelError(unknown_name("dtype", storage, ", ".join(DTYPES)))
        path.mkdir(parents=True, exist_ok=True)
        family_of(self.config).save(self.model, path, DTYPES[storage] if storage else None)
        self.config.save_pretrained(path)
        save_settings(path, self.prompts.tokenizer, self.prompts.format)

    def to_bytes(self) -> bytes:
        """RETURNS (bytes): all that `to_disk` writes."""
        import srsly

        with tempfile.TemporaryDirectory() as folder:
            self.to_disk(Path(folder))
            files = {file.name: file.read_bytes() for file in sorted(Path(folder).iterdir())}
        return srsly.msgpack_dumps(files)

    @classmethod
    def from_bytes(
        cls, data: bytes, *, device: str = "cpu", dtype: RunDtype = "float32"
    ) -> "Generator":
        """data (bytes): as `to_bytes` gives them. device, dtype: see `from_pretrained`.
        RETURNS (Generator)."""
        import srsly

        with tempfile.TemporaryDirectory() as folder:
            for name, content in srsly.msgpack_loads(data).items():
                (Path(folder) / Path(name).name).write_bytes(content)
            return cls.from_pretrained(folder, device=device, dtype=dtype, local_files_only=True)

    @torch.inference_mode()
    def _search_batch(
        self,
        sources: list[list[int]],
        prefixes: list[list[int]],
        walker: Walker,
        settings: SearchSettings,
        names_of: Callable[[list[SearchResult]], list[_Names]],
    ) -> list[SearchResult]:
        decoding = self.model.begin(sources, prefixes)
        as_read = decoding.copy()
        expander = Expander(decoding, walker, self._max_chain(len(sources)))
        proven = [False] * len(sources)
        if settings.mode == "exact":
            rows, proven = exact_search(expander, len(sources), settings)
        else:
            rows = beam_search(expander, len(sources), settings)
        results = [
            SearchResult(hypotheses(names, expander, settings.k), sure)
            for names, sure in zip(rows, proven, strict=True)
        ]
        asked = [(i, names) for i, names in enumerate(names_of(results)) if names.ids]
        if asked:
            as_read.keep(torch.tensor([i for i, _ in asked], device=self.model.device))
            values = log_probs_of_names(as_read, [n.ids for _, n in asked], self.model.device)
            for (i, names), log_probs in zip(asked, values, strict=True):
                results[i].asked.update(zip(names.texts, log_probs, strict=True))
        return results

    def _max_chain(self, n_mentions: int) -> int:
        if self.model.device.type != "cpu":
            return _MAX_CHAIN
        return _CPU_MAX_CHAIN if n_mentions <= _CPU_FEW_MENTIONS else 0

    @torch.inference_mode()
    def _log_probs_batch(
        self,
        sources: list[list[int]],
        prefixes: list[list[int]],
        targets: list[list[list[int]]],
    ) -> list[list[float]]:
        decoding = self.model.begin(sources, prefixes)
        return log_probs_of_names(decoding, targets, self.model.device)


def _batches(chosen: Sequence[int], lengths: list[int], size: int) -> Iterator[list[int]]:
    """YIELDS (list[int]): the chosen indices, longest first, `size` at a time."""
    order = sorted(chosen, key=lambda i: -lengths[i])
    for begin in range(0, len(order), size):
        yield order[begin : begin + size]


def find_device(name: str) -> torch.device:
    """name (str): as torch has it. RETURNS (torch.device): one that can be used, which only an
    attempt tells. RAISES (AngelError): it cannot."""
    try:
        device = torch.device(name)
        torch.zeros(1, device=device)
    except (RuntimeError, AssertionError) as error:
        known = ["cpu", *(f"cuda:{i}" for i in range(torch.cuda.device_count()))]
        raise AngelError(
            f"[E316] Cannot run on the device {name!r}. torch finds: {', '.join(known)}."
        ) from error
    return device
