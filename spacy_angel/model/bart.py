"""BART for the search. Without padding in matrix products (`bart_encoder`), it encodes each mention
once and decodes a tree of tokens per mention.

The layers are those of transformers' BartForConditionalGeneration (post-norm, learned positions
with an offset of 2). The cross-attention keys and values of a mention are projected once for all
its beams, and beams share the tokens that they have in common.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from ..errors import AngelError
from .bart_encoder import (
    CPU_ROWS,
    BartEncoder,
    Embedding,
    Layer,
    Packing,
    WeightStore,
    make_norm,
    pack_ids,
    padding_mask,
    to_bias,
)
from .linear import make_linear
from .weights import (
    OUTPUT_BIAS,
    SCALE_SUFFIX,
    SHARED,
    convert_weights,
    pack_weights,
    read_weights,
    storage_dtype,
    unpack_weights,
    write_weights,
)


def is_supported(config: Any) -> bool:
    """config (Any): config of a checkpoint. RETURNS (bool): whether it is a BART that shares one
    embedding between encoder, decoder, and output."""
    is_bart = config.model_type == "bart" and config.activation_function == "gelu"
    return bool(is_bart and config.tie_word_embeddings)


class _DecoderLayer(Layer):
    def __init__(self, store: WeightStore, name: str, attention_dtype: torch.dtype) -> None:
        super().__init__(store, name, attention_dtype)
        self.cross_q = store.linear([f"{name}.encoder_attn.q_proj"], attention_dtype)
        cross_kv = [f"{name}.encoder_attn.{part}_proj" for part in ("k", "v")]
        self.cross_kv = store.linear(cross_kv, attention_dtype)
        self.cross_out = store.linear([f"{name}.encoder_attn.out_proj"])
        self.cross_norm = make_norm(store.rest, f"{name}.encoder_attn_layer_norm")


class BartModel:
    """The weights of a BART, arranged for the search. Copies and pickles contain the checkpoint
    instead, because the arrangement depends on the machine.

    config (Any): transformers' BartConfig.
    weights (Mapping[str, Tensor]): the checkpoint, in any type.
    device (torch.device), dtype (torch.dtype): device and type in which it runs.
    RAISES (KeyError): a weight is missing.
    """

    def __init__(
        self, config: Any, weights: Mapping[str, Tensor], device: torch.device, dtype: torch.dtype
    ) -> None:
        self._config = config
        self._store = store = WeightStore(convert_weights(weights, dtype, device))
        self.device, self.dtype = device, dtype
        self.encoder = BartEncoder(config, store)
        self.embed = Embedding(config, store.rest, "decoder")
        self.d_model: int = config.d_model
        self.heads: int = config.decoder_attention_heads
        names = [f"model.decoder.layers.{i}" for i in range(config.decoder_layers)]
        self.attention_dtype = self.encoder.attention_dtype
        self.attend = self.encoder.attend
        self.decoder = [_DecoderLayer(store, name, self.attention_dtype) for name in names]
        bias = store.rest.get(OUTPUT_BIAS)
        self._output = make_linear(
            store.rest[SHARED],
            None if bias is None else bias.flatten(),
            store.rest.get(SHARED + SCALE_SUFFIX),
        ).forward

    @classmethod
    def from_disk(
        cls, folder: Path, config: Any, device: torch.device, dtype: torch.dtype
    ) -> "BartModel":
        """folder (Path): folder of a checkpoint. config, device, dtype: see the class.
        RETURNS (BartModel): the model. RAISES (AngelError): files are missing or damaged, or belong
            to another model.
        """
        weights = read_weights(folder)
        try:
            return cls(config, weights, device, dtype)
        except KeyError as error:
            names = ", ".join(sorted(weights)[:3])
            raise AngelError(
                f"{folder} does not hold the weights of a BartForConditionalGeneration: "
                f"{error.args[0]} is missing; found {names}."
            ) from error

    def __reduce__(self) -> tuple[Any, ...]:
        # As bytes: processes would share tensors as open files, whose number is limited.
        return _unpickle, (self._config, pack_weights(self.state_dict()), self.device, self.dtype)

    def state_dict(self, dtype: torch.dtype | None = None) -> dict[str, Tensor]:
        """Get the original checkpoint.

        dtype (torch.dtype | None): as in `convert_weights`; None for int8 if the weights were
            loaded from int8, and otherwise for the type in use.
        RETURNS (dict[str, Tensor]): the checkpoint, converted by `convert_weights`.
        """
        state = self._store.checkpoint()
        return convert_weights(state, dtype or storage_dtype(state) or self.dtype)

    def save(self, folder: Path, dtype: torch.dtype | None) -> None:
        """See `interface.Model.save`."""
        write_weights(folder, self.state_dict(dtype))

    def begin(self, sources: Sequence[list[int]], prefixes: Sequence[list[int]]) -> "BartDecoding":
        """See `interface.Model.begin`."""
        return BartDecoding(self, sources, prefixes)

    def score_tokens(self, x: Tensor) -> Tensor:
        """x (Tensor): [n, d_model], last states of the decoder. RETURNS (Tensor): float32[n,
        n_tokens], log-probabilities of the next token after each."""
        return torch.log_softmax(self._output(x).float(), dim=-1)


def _unpickle(config: Any, weights: bytes, device: torch.device, dtype: torch.dtype) -> BartModel:
    return BartModel(config, unpack_weights(weights), device, dtype)


class BartDecoding:
    """See `interface.Decoding`; caches keys and values by slot.

    model (BartModel): the weights.
    sources, prefixes (Sequence[list[int]]): token ids of each mention.
    """

    def __init__(
        self, model: BartModel, sources: Sequence[list[int]], prefixes: Sequence[list[int]]
    ) -> None:
        self.model = model
        self._multiple = CPU_ROWS if model.device.type == "cpu" else 1
        # By layer, keys and values: [2, n, heads, source or n_slots, d_head].
        self._cross, self._cross_mask = self._encode(sources)
        packing = Packing.of_lengths(list(map(len, prefixes)), model.device, self._multiple)
        lengths = torch.tensor(list(map(len, prefixes)), device=model.device)
        self._memory = [cross[:, :, :, :0] for cross in self._cross]
        self._tree = Tree(lengths)
        self.n_slots = self._tree.n_slots
        x = model.embed(pack_ids(prefixes, model.device)[packing.order], packing.positions)
        # The state after the end of each prefix.
        self._last = self._decode(x, packing)[lengths.cumsum(0) - 1]

    def first(self) -> Tensor:
        """See `interface.Decoding.first`."""
        return self.model.score_tokens(self._last)

    def feed(self, tokens: Tensor, mentions: Tensor, parents: Tensor, depths: Tensor) -> Tensor:
        """See `interface.Decoding.feed`."""
        begin = self.n_slots
        slots, positions = self._tree.add(mentions, parents, depths)
        self.n_slots = self._tree.n_slots
        width = self.n_slots - begin
        index = mentions * width + slots - begin
        packing = Packing(len(self._tree.lengths), width, index, self._multiple)
        x = self.model.embed(tokens[packing.order], positions[packing.order])
        return self.model.score_tokens(self._decode(x, packing)[: len(tokens)])

    def keep(self, mentions: Tensor) -> None:
        """See `interface.Decoding.keep`."""
        self._tree.keep(mentions)
        self._last = self._last[mentions]
        self._cross = [cross[:, mentions] for cross in self._cross]
        self._cross_mask = None if self._cross_mask is None else self._cross_mask[mentions]
        self._memory = [memory[:, mentions] for memory in self._memory]

    def _encode(self, sources: Sequence[list[int]]) -> tuple[list[Tensor], Tensor | None]:
        """RETURNS (tuple[list[Tensor], Tensor | None]): keys and values of the cross-attention in
        the layout of the attention, and the mask of the sources."""
        model = self.model
        packing = model.encoder.packing(sources)
        shape = (2, packing.n, model.heads, packing.width, model.d_model // model.heads)
        dtype = model.attention_dtype
        cross = [torch.zeros(shape, dtype=dtype, device=model.device) for _ in model.decoder]
        begin = 0
        for rows in model.encoder.passes(sources):
            states, part = model.encoder(rows)
            for layer, columns in zip(model.decoder, cross, strict=True):
                kv = part.split_heads(layer.cross_kv(states), 2, model.heads)
                columns[:, begin : begin + part.n, :, : part.width] = kv
            begin += part.n
        return cross, padding_mask(packing, dtype)

    def _decode(self, x: Tensor, packing: Packing) -> Tensor:
        """x (Tensor): [packed, d_model]. packing (Packing): of the rows of x, by mention. RETURNS
        (Tensor): like x."""
        model = self.model
        # The slots that the last slots see.
        seen = self._tree.seen[:, -packing.width :]
        mask = to_bias(seen, model.attention_dtype)[:, None]
        for i, layer in enumerate(model.decoder):
            attended, self._memory[i] = packing.attend(
                model.attend, layer.qkv(x), model.heads, mask, self._memory[i]
            )
            x = layer.attention_norm(x + layer.out(attended))
            attended, _ = packing.attend(
                model.attend, layer.cross_q(x), model.heads, self._cross_mask, self._cross[i]
            )
            x = layer.cross_norm(x + layer.cross_out(attended))
            x = layer.final_norm(x + layer.fc2(layer.fc1(x)))
        return x


class Tree:
    """The attention mask between the slots of each mention: a slot sees the prefix of its mention,
    its ancestors, and itself. The first `width` slots are the prefix; shorter prefixes are padded
    on the right.

    lengths (Tensor): int64[n_mentions], number of tokens of each prefix.
    """

    def __init__(self, lengths: Tensor) -> None:
        n, width = len(lengths), int(lengths.max())
        self.lengths = lengths
        self.n_slots = width
        position = torch.arange(width, device=lengths.device)
        inside = position < lengths[:, None]
        causal = position[:, None] >= position
        self.seen = (causal & inside[:, None]) | torch.eye(
            width, dtype=torch.bool, device=position.device
        )
        """bool[n_mentions, n_slots, n_slots], what each slot sees."""
        self._position = position.expand(n, width).clone()

    def add(self, mentions: Tensor, parents: Tensor, depths: Tensor) -> tuple[Tensor, Tensor]:
        """Assign slots to the fed tokens. The arguments are those of `Decoding.feed`.

        RETURNS (tuple[Tensor, Tensor]): int64[n] slots, and int64[n] positions in the decoder
            input, including the prefix.
        """
        counts = torch.bincount(mentions, minlength=len(self.lengths))
        width = int(counts.max())
        begin = torch.cumsum(counts, 0) - counts
        slots = self.n_slots + torch.arange(len(mentions), device=mentions.device) - begin[mentions]
        total = self.n_slots + width
        seen = functional.pad(self.seen, (0, width, 0, width))
        new = torch.arange(self.n_slots, total, device=mentions.device)
        seen[:, new, new] = True
        position = functional.pad(self._position, (0, width))
        # The parent of a first token is the end of the prefix.
        parents = torch.where(parents < 0, self.lengths[mentions] - 1, parents)
        for depth in range(int(depths.max()) + 1):
            now = depths == depth
            mention, parent, slot = mentions[now], parents[now], slots[now]
            seen[mention, slot] = seen[mention, slot] | seen[mention, parent]
            position[mention, slot] = position[mention, parent] + 1
        self.seen, self._position = seen, position
        self.n_slots = total
        return slots, position[mentions, slots]

    def keep(self, mentions: Tensor) -> None:
        """mentions (Tensor): int64[m], the mentions to continue with."""
        self.lengths = self.lengths[mentions]
        self.seen = self.seen[mentions]
        self._position = self._position[mentions]
