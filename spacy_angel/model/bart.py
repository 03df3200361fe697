"""BART for the search: packed encoder, cross-attention once a mention, a tree of decoder tokens.

The layers are those of transformers' BartForConditionalGeneration (post-norm, learned positions
with an offset of 2), computed so that no token is padded in a matrix product (`bart_encoder`), the
cross-attention keys and values of a mention are projected once for all its beams, and beams share
what they have in common.
"""

import math
from collections.abc import Mapping, Sequence
from copy import copy
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch.nn import functional

from ..errors import AngelError
from .bart_encoder import (
    ACTIVATIONS,
    SHARED,
    BartEncoder,
    Embedding,
    Norm,
    WeightStore,
    attend,
    padding_mask,
    to_bias,
)
from .bart_weights import OUTPUT_BIAS, convert_weights
from .interface import TokenScores, Tree
from .linear import Linear, make_linear
from .packing import Packing, pack_ids
from .weights import (
    SCALE_SUFFIX,
    pack_weights,
    read_weights,
    row_scales,
    unpack_weights,
    write_weights,
)

if TYPE_CHECKING:
    from transformers import PretrainedConfig, PreTrainedModel

_Weights = dict[str, Tensor]

# Columns of the output layer in one piece on a CPU: few enough that what is done with the scores
# finds them in the cache.
_CPU_VOCABULARY_PIECE = 3072
# Rows of a product on a CPU come in multiples of this: each new number compiles new kernels.
_CPU_ROWS = 16

_LOG2_E = math.log2(math.e)
_NEVER = -1e4


def is_supported(config: "PretrainedConfig") -> bool:
    """See `families.Family.is_supported`: a BART with one embedding for both sides and the
    output."""
    return (
        config.model_type == "bart"
        and config.tie_word_embeddings
        and config.activation_function in ACTIVATIONS
    )


def load(
    folder: Path, config: "PretrainedConfig", device: torch.device, dtype: torch.dtype
) -> "BartModel":
    """See `families.Family.load`."""
    if dtype == torch.int8 and device.type != "cpu":
        raise AngelError(
            f"[E013] int8 runs on the CPU only, not on {device}. Use bfloat16 or float16."
        )
    weights = read_weights(folder)
    missing = SHARED
    try:
        if missing in weights:
            scales = row_scales(weights)
            return BartModel(config, convert_weights(weights, dtype, device), scales)
    except KeyError as error:
        missing = error.args[0]
    names = ", ".join(sorted(weights)[:3])
    raise AngelError(
        f"{folder} does not hold the weights of a BartForConditionalGeneration: {missing} is "
        f"missing; found {names}."
    )


def from_module(module: "PreTrainedModel", dtype: torch.dtype) -> "BartModel":
    """See `families.Family.from_module`; the weights are copied."""
    return BartModel(module.config, convert_weights(module.state_dict(), dtype, module.device))


def save(model: "BartModel", folder: Path, dtype: torch.dtype | None) -> None:
    """See `families.Family.save`."""
    write_weights(folder, model.state_dict(dtype))


class _DecoderLayer:
    def __init__(self, store: WeightStore, name: str) -> None:
        self.qkv = store.linear([f"{name}.self_attn.{part}_proj" for part in ("q", "k", "v")])
        self.out = store.linear([f"{name}.self_attn.out_proj"])
        self.attention_norm = Norm(store.rest, f"{name}.self_attn_layer_norm")
        self.cross_q = store.linear([f"{name}.encoder_attn.q_proj"])
        self.cross_kv = store.linear([f"{name}.encoder_attn.{part}_proj" for part in ("k", "v")])
        self.cross_out = store.linear([f"{name}.encoder_attn.out_proj"])
        self.cross_norm = Norm(store.rest, f"{name}.encoder_attn_layer_norm")
        self.fc1 = store.linear([f"{name}.fc1"])
        self.fc2 = store.linear([f"{name}.fc2"])
        self.final_norm = Norm(store.rest, f"{name}.final_layer_norm")


class BartModel:
    """The weights of a BART, arranged for the search.

    Copies and pickles hold the checkpoint: the arrangement is that of one machine.

    config (Any): transformers' BartConfig.
    weights (dict[str, Tensor]): the checkpoint as `convert_weights` leaves it, on one device.
    row_scales (Mapping[str, Tensor] | None): of int8 weights that were made floating-point ones;
        with them they are saved as they were.
    """

    def __init__(
        self,
        config: Any,
        weights: dict[str, Tensor],
        row_scales: Mapping[str, Tensor] | None = None,
    ) -> None:
        self._config = config
        self._row_scales = row_scales or {}
        self._store = store = WeightStore(weights)
        self.encoder = BartEncoder(config, store)
        self.embed = Embedding(config, store.rest, "decoder")
        self.device = self.encoder.device
        # Residual stream and norms; what runs within int8.
        self.dtype, self.inner = self.encoder.dtype, self.encoder.inner
        self.vocab_size, self.d_model = self.embed.tokens.shape
        self.decoder_heads = config.decoder_attention_heads
        self.activation = self.encoder.activation
        names = [f"model.decoder.layers.{i}" for i in range(config.decoder_layers)]
        self.decoder = [_DecoderLayer(store, name) for name in names]
        self._output_width = _CPU_VOCABULARY_PIECE if self.device.type == "cpu" else self.vocab_size
        self._output = self._output_pieces()

    def __reduce__(self) -> tuple[Any, ...]:
        # In bytes: processes would hand tensors on as open files, of which there may be too few.
        weights, row_scales = pack_weights(self._store.checkpoint()), pack_weights(self._row_scales)
        return _unpickle, (self._config, self.device, weights, row_scales)

    def state_dict(self, dtype: torch.dtype | None = None) -> dict[str, Tensor]:
        """The checkpoint that it was made of.

        dtype (torch.dtype | None): as in `convert_weights`; None is the type in which it was read:
            int8 where it was int8, else the one in use.
        RETURNS (dict[str, Tensor]): what `convert_weights` made of the checkpoint.
        """
        state = self._store.checkpoint()
        if dtype is None and self._row_scales:
            dtype = torch.int8
        if dtype is None:
            return state
        return convert_weights(state, dtype, torch.device("cpu"), self._row_scales)

    def begin(self, sources: Sequence[list[int]], prefixes: Sequence[list[int]]) -> "BartDecoding":
        """See `interface.Model.begin`."""
        return BartDecoding(self, sources, prefixes)

    def score_tokens(self, x: Tensor, room: Tensor) -> TokenScores:
        """Score what may come next.

        x (Tensor): [n, d_model], the decoder's last states.
        room (Tensor): float32[room_for(n)] or more, to write into: fresh memory costs more than the
            writing.
        RETURNS (TokenScores): of the token after each.
        """
        shape = (len(self._output) + 1, len(x), self._output_width)
        written = room[: self.room_for(len(x))].view(shape)
        logits, powers = written[:-1], written[-1]
        norms = []
        for piece, part in zip(self._output, logits, strict=True):
            piece.write(x, part)
            # On a CPU this is several times as fast as log_softmax and logsumexp, and powers of 2
            # as those of e.
            # Nor by addcmul: with a column and a number it does not run vectorised.
            top = part.amax(dim=-1, keepdim=True)
            torch.sub(part, top, out=powers).mul_(_LOG2_E).exp2_()
            norms.append(top[:, 0] + powers.sum(dim=-1).log_())
        return TokenScores(logits, torch.logsumexp(torch.stack(norms), dim=0))

    def room_for(self, n: int) -> int:
        """n (int): states to score. RETURNS (int): numbers that are written: the scores, and the
        powers of those of one piece."""
        return (len(self._output) + 1) * n * self._output_width

    def _output_pieces(self) -> list[Linear]:
        """RETURNS (list[Linear]): the output layer in pieces of equal width; what the last one
        has too many can never be a token."""
        table = "lm_head.weight" if "lm_head.weight" in self._store.rest else SHARED
        width = self._output_width
        gap = -self.vocab_size % width
        weights = list(self._store.rest[table].split(width))
        # To pad the last piece alone spares a copy of the whole.
        weights[-1] = functional.pad(weights[-1], (0, 0, 0, gap))
        bias = self._store.rest[OUTPUT_BIAS].flatten()
        bias = functional.pad(bias, (0, gap), value=_NEVER)
        scales: Sequence[Tensor | None] = [None] * len(weights)
        if table + SCALE_SUFFIX in self._store.rest:
            scale = functional.pad(self._store.rest[table + SCALE_SUFFIX], (0, gap), value=1.0)
            scales = scale.split(width)
        return [
            make_linear(*parts) for parts in zip(weights, bias.split(width), scales, strict=True)
        ]


def _unpickle(config: Any, device: torch.device, weights: bytes, row_scales: bytes) -> BartModel:
    cpu = torch.device("cpu")
    return BartModel(config, unpack_weights(weights, device), unpack_weights(row_scales, cpu))


class BartDecoding:
    """See `interface.Decoding`; caches keys and values by slot.

    model (BartModel): the weights.
    sources, prefixes (Sequence[list[int]]): token ids of each mention.
    """

    def __init__(
        self, model: BartModel, sources: Sequence[list[int]], prefixes: Sequence[list[int]]
    ) -> None:
        self.model = model
        self._room: Tensor | None = None
        # By layer, keys and values: [2, n, heads, source or n_slots, d_head].
        self._cross: list[Tensor] = []
        self._cross_mask: Tensor | None = None
        self._memory: list[Tensor] = []
        # Of each prefix the state after its end.
        self._last: Tensor
        self._encode(sources)
        self._read_prefixes(prefixes)

    @property
    def n_slots(self) -> int:
        """RETURNS (int): slots that each mention has so far."""
        return self._tree.n_slots

    def first(self) -> TokenScores:
        """See `interface.Decoding.first`."""
        return self._score(self._last)

    def feed(
        self, tokens: Tensor, mentions: Tensor, parents: Tensor, depths: Tensor
    ) -> TokenScores:
        """See `interface.Decoding.feed`."""
        begin = self.n_slots
        slots, positions = self._tree.add(mentions, parents, depths)
        width = self.n_slots - begin
        where = mentions * width + slots - begin
        grid = _Grid(len(self._tree.lengths), width, where, self._rounded(len(tokens)))
        x = self.model.embed(tokens[grid.rows], positions[grid.rows])
        return self._score(self._decode(x, grid))

    def keep(self, mentions: Tensor) -> None:
        """See `interface.Decoding.keep`."""
        self._tree.keep(mentions)
        self._last = self._last[mentions]
        self._cross = [cross[:, mentions] for cross in self._cross]
        self._cross_mask = None if self._cross_mask is None else self._cross_mask[mentions]
        self._memory = [memory[:, mentions] for memory in self._memory]

    def copy(self) -> "BartDecoding":
        """See `interface.Decoding.copy`."""
        other = copy(self)
        other._tree = self._tree.copy()
        # Its places are taken by longer tensors as the decoding goes on.
        other._memory = list(self._memory)
        return other

    def _score(self, x: Tensor) -> TokenScores:
        size = self.model.room_for(len(x))
        if self._room is None or self._room.numel() < size:
            self._room = torch.empty(size, device=self.model.device)
        return self.model.score_tokens(x, self._room)

    def _encode(self, sources: Sequence[list[int]]) -> None:
        """Encode, and keep the keys and values of the cross-attention as its products want them:
        by layer, [n, heads, source, d_head]."""
        model = self.model
        packing = Packing([len(row) for row in sources], model.device)
        d_head = model.d_model // model.decoder_heads
        shape = (2, packing.n, model.decoder_heads, packing.width, d_head)
        self._cross = [
            torch.zeros(shape, dtype=model.inner, device=model.device) for _ in model.decoder
        ]
        self._cross_mask = padding_mask(packing, model.inner)
        begin = 0
        for rows in model.encoder.passes(sources):
            states, part = model.encoder(rows)
            for layer, cross in zip(model.decoder, self._cross, strict=True):
                kv = part.pad(layer.cross_kv(states, model.inner))
                kv = kv.view(part.n, part.width, 2, model.decoder_heads, d_head)
                cross[:, begin : begin + part.n, :, : part.width] = kv.permute(2, 0, 3, 1, 4)
            begin += part.n

    def _read_prefixes(self, prefixes: Sequence[list[int]]) -> None:
        model = self.model
        packing = Packing([len(row) for row in prefixes], model.device)
        self._tree = Tree(packing.lengths)
        grid = _Grid(packing.n, packing.width, packing.flat, self._rounded(len(packing.flat)))
        ids = pack_ids(prefixes, model.device)
        x = model.embed(ids[grid.rows], packing.positions[grid.rows])
        self._last = self._decode(x, grid)[packing.lengths.cumsum(0) - 1]

    def _decode(self, x: Tensor, grid: "_Grid") -> Tensor:
        """x (Tensor): [rounded, d_model]. grid (_Grid): where its rows stand. RETURNS (Tensor): as
        x."""
        model = self.model
        heads = model.decoder_heads
        mask = to_bias(self._tree.mask(grid.width), model.inner)[:, None]
        for i, layer in enumerate(model.decoder):
            qkv = grid.spread(layer.qkv(x, model.inner), 3, heads)
            keys, values = self._remember(i, qkv[1:])
            attended = attend(qkv[0], keys, values, mask)
            x = layer.attention_norm(x + layer.out(grid.gather(attended), model.dtype))
            (q,) = grid.spread(layer.cross_q(x, model.inner), 1, heads)
            keys, values = self._cross[i]
            attended = attend(q, keys, values, self._cross_mask)
            x = layer.cross_norm(x + layer.cross_out(grid.gather(attended), model.dtype))
            hidden = layer.fc1(x, model.dtype, model.activation)
            x = layer.final_norm(x + layer.fc2(hidden, model.dtype))
        return x

    def _remember(self, i: int, new: Tensor) -> Tensor:
        """new (Tensor): [2, n, heads, width, d_head], keys and values. RETURNS (Tensor): [2, n,
        heads, n_slots, d_head], contiguous: the products want it so."""
        if len(self._memory) <= i:
            self._memory.append(new.contiguous())
        else:
            self._memory[i] = torch.cat((self._memory[i], new), dim=3)
        return self._memory[i]

    def _rounded(self, n: int) -> int:
        return n + (-n % _CPU_ROWS if self.model.device.type == "cpu" else 0)


class _Grid:
    """Rows that are packed for matrix products, and their places by mention for attention.

    n (int): mentions.
    width (int): most rows of a mention.
    where (Tensor): int64[m], place `mention * width + i` of each row.
    rounded (int): rows in the products; the last one is repeated to fill up.
    """

    def __init__(self, n: int, width: int, where: Tensor, rounded: int) -> None:
        self.n, self.width, self.where = n, width, where
        self.rows = torch.arange(rounded, device=where.device).clamp_max(len(where) - 1)
        self._back = where[self.rows]

    def spread(self, x: Tensor, parts: int, heads: int) -> Tensor:
        """x (Tensor): [rounded, parts * d_model].
        RETURNS (Tensor): [parts, n, heads, width, d_head], zeros where there is no row."""
        places = x.new_zeros(self.n * self.width, x.shape[1])
        places[self.where] = x[: len(self.where)]
        return places.view(self.n, self.width, parts, heads, -1).permute(2, 0, 3, 1, 4)

    def gather(self, x: Tensor) -> Tensor:
        """x (Tensor): [n, heads, width, d_head]. RETURNS (Tensor): [rounded, d_model]."""
        return x.transpose(1, 2).reshape(self.n * self.width, -1)[self._back]
