"""Any encoder-decoder of transformers for the search, by recomputing what it decoded before.

Caches differ between model families, and with prefixes of different lengths some are wrong; a
causal decoder over right-padded tokens is right for all of them.
"""

from collections.abc import Iterable, Sequence
from copy import copy
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from safetensors import SafetensorError
from torch import Tensor

from ..errors import AngelError
from .interface import TokenScores, Tree
from .weights import INT8_FILE, float_weights, read_weights

if TYPE_CHECKING:
    from transformers import PretrainedConfig, PreTrainedModel


def is_supported(config: "PretrainedConfig") -> bool:
    """See `families.Family.is_supported`: any encoder-decoder."""
    return bool(config.is_encoder_decoder)


def load(
    folder: Path, config: "PretrainedConfig", device: torch.device, dtype: torch.dtype
) -> "GenericModel":
    """See `families.Family.load`."""
    if dtype == torch.int8:
        raise AngelError(f"int8 needs a BART model with tied embeddings, not {config.model_type}.")
    model: Any = load_module(folder, config, dtype)
    return _wrap(model.to(device))


def from_module(module: "PreTrainedModel", dtype: torch.dtype) -> "GenericModel":
    """See `families.Family.from_module`; it is this very model, in the type that it has."""
    return _wrap(module)


def save(model: "GenericModel", folder: Path, dtype: torch.dtype | None) -> None:
    """See `families.Family.save`."""
    if dtype is not None:
        raise AngelError(
            f"int8 needs a BART model with tied embeddings, not {model.model.config.model_type}."
        )
    model.model.save_pretrained(folder, safe_serialization=True)


def load_module(
    folder: Path,
    config: "PretrainedConfig",
    dtype: torch.dtype = torch.float32,
    **options: Any,
) -> "PreTrainedModel":
    """A checkpoint as transformers computes it.

    folder (Path): a Hugging Face folder; int8 weights are made floating-point ones.
    config (PretrainedConfig): its config.
    dtype (torch.dtype): floating-point type of the weights.
    options (Any): of transformers' `from_pretrained`.
    RETURNS (PreTrainedModel): in evaluation mode, on the CPU.
    RAISES (AngelError): the weights cannot be read, or are not all that the model has.
    """
    from transformers import AutoModelForSeq2SeqLM

    model: Any
    try:
        if (folder / INT8_FILE).is_file():
            model = AutoModelForSeq2SeqLM.from_config(config, torch_dtype=dtype, **options).eval()
            weights = float_weights(read_weights(folder))
            missing = model.load_state_dict(weights, strict=False).missing_keys
        else:
            model, loading_info = AutoModelForSeq2SeqLM.from_pretrained(
                folder,
                config=config,
                torch_dtype=dtype,
                local_files_only=True,
                output_loading_info=True,
                **options,
            )
            missing = loading_info["missing_keys"]
    except (OSError, ValueError, RuntimeError, SafetensorError) as error:
        reason = first_sentence(error)
        raise AngelError(f"Cannot load the model in {folder}: {reason}.") from error
    for name in _missing(model, missing):
        # What both sides share is saved once, and without tied embeddings not put back.
        if not name.endswith("embed_tokens.weight"):
            raise AngelError(
                f"The weights in {folder} lack {name}, which the config.json of type "
                f"{config.model_type} needs."
            )
        side = model.get_submodule(name.removesuffix(".weight"))
        side.weight = model.get_input_embeddings().weight
    return model


def _missing(model: "PreTrainedModel", names: Iterable[str]) -> list[str]:
    """RETURNS (list[str]): those that are parameters of their own, neither tied nor buffers."""
    return sorted({name for name, _ in model.named_parameters()}.intersection(names))


def first_sentence(error: Exception) -> str:
    """What transformers says, without its list of all models there are."""
    return " ".join(str(error).split()).split(". ")[0]


def _wrap(module: "PreTrainedModel") -> "GenericModel":
    # Gaps are masked; the token in them only has to be one of the vocabulary.
    return GenericModel(module, module.config.pad_token_id or 0)


class GenericModel:
    """See `interface.Model`.

    model (PreTrainedModel): any `AutoModelForSeq2SeqLM`, in evaluation mode.
    pad_token_id (int): fills the gaps.
    """

    def __init__(self, model: "PreTrainedModel", pad_token_id: int) -> None:
        # Not every family declares what all have, e.g. `get_encoder`.
        self.model: Any = model
        self.pad_token_id = pad_token_id
        self.device = model.device

    def begin(
        self, sources: Sequence[list[int]], prefixes: Sequence[list[int]]
    ) -> "GenericDecoding":
        """See `interface.Model.begin`."""
        return GenericDecoding(self, sources, prefixes)

    def pad(self, rows: Sequence[list[int]]) -> tuple[Tensor, Tensor]:
        """rows (Sequence[list[int]]): token ids. RETURNS (tuple[Tensor, Tensor]): int64[n, width]
        ids and mask."""
        lengths = torch.tensor([len(row) for row in rows], device=self.device)
        width = int(lengths.max())
        filled = [[*row, *[self.pad_token_id] * (width - len(row))] for row in rows]
        ids = torch.tensor(filled, device=self.device)
        return ids, (torch.arange(width, device=self.device) < lengths[:, None]).long()


class GenericDecoding:
    """See `interface.Decoding`; keeps the token path of every slot.

    model (GenericModel): the model.
    sources, prefixes (Sequence[list[int]]): token ids of each mention.
    """

    def __init__(
        self, model: GenericModel, sources: Sequence[list[int]], prefixes: Sequence[list[int]]
    ) -> None:
        self.model = model
        ids, self._source_mask = model.pad(sources)
        encoder = model.model.get_encoder()
        self._states = encoder(input_ids=ids, attention_mask=self._source_mask)[0]
        self._prefixes, mask = model.pad(prefixes)
        self._tree = Tree(mask.sum(1))
        # Tokens below the prefix, a row a slot; the prefix's own slots stay empty.
        self._paths = torch.zeros(*self._prefixes.shape, 0, dtype=torch.int64, device=model.device)

    @property
    def n_slots(self) -> int:
        """RETURNS (int): slots that each mention has so far."""
        return self._tree.n_slots

    def first(self) -> TokenScores:
        """See `interface.Decoding.first`."""
        mentions = torch.arange(len(self._prefixes), device=self.model.device)
        return self._score(mentions, self._prefixes, mentions, self._tree.lengths - 1)

    def feed(
        self, tokens: Tensor, mentions: Tensor, parents: Tensor, depths: Tensor
    ) -> TokenScores:
        """See `interface.Decoding.feed`."""
        slots, positions = self._tree.add(mentions, parents, depths)
        self._extend(tokens, mentions, parents, depths, slots)
        # One row of the model for each chain: what comes before the last token is read from it.
        tips = torch.arange(len(tokens), device=tokens.device)
        index = torch.full((len(self._prefixes), self.n_slots), -1, device=tokens.device)
        index[mentions, slots] = tips
        for depth in range(int(depths.max()), 0, -1):
            now = depths == depth
            tips[index[mentions[now], parents[now]]] = tips[now]
        rows, row_of = torch.unique(tips, return_inverse=True)
        ids = self._sequences(mentions[rows], slots[rows], int(positions.max()) + 1)
        return self._score(mentions[rows], ids, row_of, positions)

    def keep(self, mentions: Tensor) -> None:
        """See `interface.Decoding.keep`."""
        self._tree.keep(mentions)
        self._states = self._states[mentions]
        self._source_mask = self._source_mask[mentions]
        self._prefixes = self._prefixes[mentions]
        self._paths = self._paths[mentions]

    def copy(self) -> "GenericDecoding":
        """See `interface.Decoding.copy`."""
        other = copy(self)
        other._tree = self._tree.copy()
        return other

    def _extend(
        self, tokens: Tensor, mentions: Tensor, parents: Tensor, depths: Tensor, slots: Tensor
    ) -> None:
        n_new = self.n_slots - self._paths.shape[1]
        longest = self._paths.shape[2] + int(depths.max()) + 1
        gap = (0, longest - self._paths.shape[2], 0, n_new)
        self._paths = torch.nn.functional.pad(self._paths, gap, value=-1)
        for depth in range(int(depths.max()) + 1):
            now = depths == depth
            above = self._paths[mentions[now], parents[now].clamp_min(0)]
            above = torch.where(parents[now, None] < 0, -1, above)
            above[torch.arange(len(above)), (above >= 0).sum(1)] = tokens[now]
            self._paths[mentions[now], slots[now]] = above

    def _sequences(self, mentions: Tensor, slots: Tensor, width: int) -> Tensor:
        """RETURNS (Tensor): int64[n, width], prefix, path, padding."""
        lengths = self._tree.lengths[mentions, None]
        paths = self._paths[mentions, slots]
        position = torch.arange(width, device=mentions.device).expand(len(mentions), -1)
        prefix = self._prefixes[mentions].gather(1, position.clamp_max(self._prefixes.shape[1] - 1))
        path = paths.gather(1, (position - lengths).clamp(0, paths.shape[1] - 1))
        path = torch.where((path < 0) | (position - lengths >= paths.shape[1]), self._pad, path)
        return torch.where(position < lengths, prefix, path)

    @property
    def _pad(self) -> int:
        return self.model.pad_token_id

    def _score(self, mentions: Tensor, ids: Tensor, rows: Tensor, positions: Tensor) -> TokenScores:
        """mentions, ids (Tensor): of the model's rows. rows, positions (Tensor): int64[n], where
        the states asked for are. RETURNS (TokenScores): one row each."""
        from transformers.modeling_outputs import BaseModelOutput

        logits = self.model.model(
            encoder_outputs=BaseModelOutput(last_hidden_state=self._states[mentions]),
            attention_mask=self._source_mask[mentions],
            decoder_input_ids=ids,
            use_cache=False,
        ).logits
        logits = logits[rows, positions].float()
        return TokenScores(logits[None], torch.logsumexp(logits, dim=-1))
