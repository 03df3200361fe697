"""Any encoder-decoder of transformers, for the search; previous tokens are decoded again in each
step.

Caches differ between model families, and some are wrong for prefixes of different lengths. A causal
decoder with right-padded inputs is correct for all of them.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from safetensors import SafetensorError
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from ..errors import AngelError
from .config_file import first_sentence
from .weights import INT8_FILE, float_weights, read_weights

if TYPE_CHECKING:
    from transformers import PretrainedConfig, PreTrainedModel


def load_module(
    folder: Path,
    config: "PretrainedConfig",
    dtype: torch.dtype = torch.float32,
    **options: Any,
) -> "PreTrainedModel":
    """Load a checkpoint with transformers.

    folder (Path): folder in Hugging Face's format; int8 weights are converted to floating point.
    config (PretrainedConfig): its config.
    dtype (torch.dtype): floating-point type of the weights.
    options (Any): options of transformers' `from_pretrained`.
    RETURNS (PreTrainedModel): in evaluation mode, on the CPU.
    RAISES (AngelError): the weights cannot be read, or are incomplete.
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
    # Neither buffers nor tied weights.
    for name in sorted({name for name, _ in model.named_parameters()}.intersection(missing)):
        # Shared embeddings are saved once and, unless tied, not restored.
        if not name.endswith("embed_tokens.weight"):
            raise AngelError(
                f"The weights in {folder} lack {name}, which the config.json of type "
                f"{config.model_type} needs."
            )
        side = model.get_submodule(name.removesuffix(".weight"))
        side.weight = model.get_input_embeddings().weight
    return model


class GenericModel:
    """See `interface.Model`.

    model (PreTrainedModel): any `AutoModelForSeq2SeqLM`, in evaluation mode.
    """

    def __init__(self, model: "PreTrainedModel") -> None:
        # Not every family declares methods that all have, such as `get_encoder`.
        self.model: Any = model
        # Padding is masked; its token only has to exist.
        self._pad_token_id = model.config.pad_token_id or 0
        self.device = model.device

    @classmethod
    def from_disk(
        cls, folder: Path, config: "PretrainedConfig", device: torch.device, dtype: torch.dtype
    ) -> "GenericModel":
        """folder, config, dtype: see `load_module`. device (torch.device): device of the model.
        RETURNS (GenericModel): the model. RAISES (AngelError): see `load_module`; or the type is
        int8."""
        if dtype == torch.int8:
            raise AngelError(
                f"int8 needs a BART model with tied embeddings, not {config.model_type}. Use "
                "float32 or bfloat16."
            )
        model: Any = load_module(folder, config, dtype)
        return cls(model.to(device))

    def begin(
        self, sources: Sequence[list[int]], prefixes: Sequence[list[int]]
    ) -> "GenericDecoding":
        """See `interface.Model.begin`."""
        return GenericDecoding(self, sources, prefixes)

    def save(self, folder: Path, dtype: torch.dtype | None) -> None:
        """See `interface.Model.save`."""
        if dtype is not None:
            raise AngelError(
                "int8 and other types of stored weights need a BART model with tied embeddings, "
                f"not {self.model.config.model_type}."
            )
        self.model.save_pretrained(folder, safe_serialization=True)

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
        # Decoder input up to the token of each slot, by mention. The prefix has the first slots.
        self.n_slots = self._first_slot = max(map(len, prefixes))
        self._paths = [[list(prefix)] for prefix in prefixes]

    def first(self) -> Tensor:
        """See `interface.Decoding.first`."""
        prefixes = [paths[0] for paths in self._paths]
        return self._score(list(range(len(prefixes))), prefixes)

    def feed(self, tokens: Tensor, mentions: Tensor, parents: Tensor, depths: Tensor) -> Tensor:
        """See `interface.Decoding.feed`."""
        n_before = self.n_slots - self._first_slot + 1
        self._paths = [[*paths, *[[]] * (n_before - len(paths))] for paths in self._paths]
        rows: list[int] = mentions.tolist()
        new: list[list[int]] = []
        for row, token, parent in zip(rows, tokens.tolist(), parents.tolist(), strict=True):
            paths = self._paths[row]
            path = [*paths[0 if parent < 0 else parent - self._first_slot + 1], token]
            paths.append(path)
            new.append(path)
        self.n_slots = self._first_slot + max(map(len, self._paths)) - 1
        return self._score(rows, new)

    def keep(self, mentions: Tensor) -> None:
        """See `interface.Decoding.keep`."""
        self._states = self._states[mentions]
        self._source_mask = self._source_mask[mentions]
        self._paths = [self._paths[mention] for mention in mentions.tolist()]

    def _score(self, mentions: list[int], paths: list[list[int]]) -> Tensor:
        """RETURNS (Tensor): float32[n, n_tokens], log-probabilities of the token after each
        path."""
        from transformers.modeling_outputs import BaseModelOutput

        ids, mask = self.model.pad(paths)
        logits = self.model.model(
            encoder_outputs=BaseModelOutput(last_hidden_state=self._states[mentions]),
            attention_mask=self._source_mask[mentions],
            decoder_input_ids=ids,
            use_cache=False,
        ).logits
        last = logits[torch.arange(len(paths), device=ids.device), mask.sum(dim=1) - 1]
        return torch.log_softmax(last.float(), dim=-1)
