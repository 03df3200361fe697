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
from torch.nn.utils.rnn import pad_sequence

from ..errors import AngelError
from .interface import TokenScores
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
    return GenericModel(model.to(device))


def from_module(module: "PreTrainedModel", dtype: torch.dtype) -> "GenericModel":
    """See `families.Family.from_module`; it is this very model, in the type that it has."""
    return GenericModel(module)


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


class GenericModel:
    """See `interface.Model`.

    model (PreTrainedModel): any `AutoModelForSeq2SeqLM`, in evaluation mode.
    """

    def __init__(self, model: "PreTrainedModel") -> None:
        # Not every family declares what all have, e.g. `get_encoder`.
        self.model: Any = model
        # Gaps are masked; the token in them only has to be one of the vocabulary.
        self._pad_token_id = model.config.pad_token_id or 0
        self.device = model.device

    def begin(
        self, sources: Sequence[list[int]], prefixes: Sequence[list[int]]
    ) -> "GenericDecoding":
        """See `interface.Model.begin`."""
        return GenericDecoding(self, sources, prefixes)

    def pad(self, rows: Sequence[list[int]]) -> tuple[Tensor, Tensor]:
        """rows (Sequence[list[int]]): token ids. RETURNS (tuple[Tensor, Tensor]): int64[n, width]
        ids and mask."""
        tensors = [torch.tensor(row, device=self.device) for row in rows]
        ids = pad_sequence(tensors, batch_first=True, padding_value=self._pad_token_id)
        mask = pad_sequence([torch.ones_like(row) for row in tensors], batch_first=True)
        return ids, mask


class GenericDecoding:
    """See `interface.Decoding`; keeps the tokens of every slot.

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
        # By mention and slot: the decoder input up to this token. The prefix takes the first slots.
        self.n_slots = self._first_slot = max(map(len, prefixes))
        self._paths = [[list(prefix)] for prefix in prefixes]

    def first(self) -> TokenScores:
        """See `interface.Decoding.first`."""
        prefixes = [paths[0] for paths in self._paths]
        return self._score(list(range(len(prefixes))), prefixes, [])

    def feed(
        self, tokens: Tensor, mentions: Tensor, parents: Tensor, depths: Tensor
    ) -> TokenScores:
        """See `interface.Decoding.feed`."""
        n_before = self.n_slots - self._first_slot + 1
        self._paths = [[*paths, *[[]] * (n_before - len(paths))] for paths in self._paths]
        rows: list[int] = mentions.tolist()
        paths: list[list[int]] = []
        child_of: list[int] = []
        index: dict[tuple[int, int], int] = {}
        for row, token, parent in zip(rows, tokens.tolist(), parents.tolist(), strict=True):
            own = self._paths[row]
            above = 0 if parent < 0 else parent - self._first_slot + 1
            index[row, len(own)] = len(paths)
            child_of.append(index.get((row, above), -1))
            own.append([*own[above], token])
            paths.append(own[-1])
        self.n_slots = self._first_slot + max(map(len, self._paths)) - 1
        return self._score(rows, paths, child_of)

    def keep(self, mentions: Tensor) -> None:
        """See `interface.Decoding.keep`."""
        self._states = self._states[mentions]
        self._source_mask = self._source_mask[mentions]
        self._paths = [self._paths[mention] for mention in mentions.tolist()]

    def copy(self) -> "GenericDecoding":
        """See `interface.Decoding.copy`."""
        # No list or tensor is changed in place.
        return copy(self)

    def _score(
        self, mentions: list[int], paths: list[list[int]], parents: list[int]
    ) -> TokenScores:
        """Scores of the token after each path. A path that another one continues is read from it.

        parents (list[int]): index of the path that each continues, -1 for none of these.
        """
        from transformers.modeling_outputs import BaseModelOutput

        read_from = list(range(len(paths)))
        for i in reversed(range(len(parents))):
            if parents[i] >= 0:
                read_from[parents[i]] = read_from[i]
        rows = sorted(set(read_from))
        ids, _ = self.model.pad([paths[row] for row in rows])
        chosen = torch.tensor([mentions[row] for row in rows], device=ids.device)
        logits = self.model.model(
            encoder_outputs=BaseModelOutput(last_hidden_state=self._states[chosen]),
            attention_mask=self._source_mask[chosen],
            decoder_input_ids=ids,
            use_cache=False,
        ).logits
        row_of = {row: number for number, row in enumerate(rows)}
        last = [len(path) - 1 for path in paths]
        logits = logits[[row_of[row] for row in read_from], last].float()
        return TokenScores(logits[None], torch.logsumexp(logits, dim=-1))
