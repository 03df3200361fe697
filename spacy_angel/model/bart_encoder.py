"""BART's encoder for inference, without padding in matrix products.

The layers are those of transformers' BartEncoder (post-norm, learned positions with an offset of
2). The linker uses it to encode mentions, and the recognizer to encode whole texts.
"""

from collections.abc import Callable, Iterator, Sequence, Sized
from functools import partial
from typing import Any, TypeVar

import torch
from torch import Tensor
from torch.nn import functional

from ..errors import AngelError
from .linear import Int8Linear, Linear, make_linear
from .weights import SCALE_SUFFIX, SHARED

_POSITION_OFFSET = 2
# Tokens per pass of the encoder on a CPU, so that the activations of a layer fit in the cache.
_CPU_TOKENS_PER_PASS = 512
# Rows of a product on a CPU come in multiples of the one, and tokens of a row in the attention of
# the encoder in multiples of the other: oneDNN compiles kernels for each new shape, and keeps them.
CPU_ROWS = 16
_CPU_WIDTH = 8

_T = TypeVar("_T", bound=Sized)


class WeightStore:
    """The weights of a checkpoint while layers are made from them, and the reverse. A weight that
    becomes part of a layer is removed from the store, so that no weight is held twice.

    weights (dict[str, Tensor]): by name; int8 weights with their scales.
    """

    def __init__(self, weights: dict[str, Tensor]) -> None:
        self.rest = dict(weights)
        self._layers: list[tuple[list[str], list[int], Linear | Int8Linear]] = []

    def linear(
        self,
        names: list[str],
        dtype: torch.dtype = torch.float32,
        gelu: bool = False,
    ) -> Callable[[Tensor], Tensor]:
        """Make one layer from one or several layers of the checkpoint, stacked along their outputs.

        names (list[str]): without `.weight`, e.g. query, key, and value projection.
        dtype (torch.dtype): type of the result if the weights are int8.
        gelu (bool): apply GELU to the result.
        RETURNS (Callable[[Tensor], Tensor]): the layer, [n, in] → [n, out].
        """
        weights = [self.rest.pop(f"{name}.weight") for name in names]
        biases = [self.rest[f"{name}.bias"] for name in names if f"{name}.bias" in self.rest]
        scales = [self.rest.get(f"{name}.weight{SCALE_SUFFIX}") for name in names]
        scale = torch.cat([s for s in scales if s is not None]) if None not in scales else None
        bias = torch.cat(biases) if biases else None
        layer = make_linear(torch.cat(weights), bias, scale, dtype, gelu)
        self._layers.append((names, [len(weight) for weight in weights], layer))
        return layer.forward

    def checkpoint(self) -> dict[str, Tensor]:
        """RETURNS (dict[str, Tensor]): the original weights, in the type in use."""
        state = dict(self.rest)
        for names, sizes, layer in self._layers:
            for name, weight in zip(names, layer.weight().split(sizes), strict=True):
                state[f"{name}.weight"] = weight
        return state


class Packing:
    """Converts rows of different lengths to a packed form without padding, and back. For rows of
    the lengths 1 and 3, with four tokens a, b, c, d:

        packed   [4, …]      a b c d
        padded   [2, 3, …]   a - - / b c d
        index    [4]         0 3 4 5   positions of the tokens in the padded form, row by row

    n (int): number of rows.
    width (int): maximum number of tokens per row, rounded up by `of_lengths`.
    index (Tensor): int64[m], `row * width + column` of each token.
    multiple (int): the number of packed tokens is rounded up to a multiple of this by repeating the
        last one.
    """

    def __init__(self, n: int, width: int, index: Tensor, multiple: int = 1) -> None:
        self.n, self.width, self.index = n, width, index
        rounded = -(-len(index) // multiple) * multiple
        self.order = torch.arange(rounded, device=index.device).clamp_max(len(index) - 1)
        """int64[packed], which of the m tokens each packed one is."""
        self._back = index[self.order]

    @classmethod
    def of_lengths(
        cls,
        lengths: Sequence[int],
        device: torch.device,
        multiple: int = 1,
        width_multiple: int = 1,
    ) -> "Packing":
        """lengths (Sequence[int]): number of tokens of each row. width_multiple (int): the width is
        rounded up to a multiple of this. RETURNS (Packing): the packing of these rows."""
        width = -(-max(lengths) // width_multiple) * width_multiple
        inside = torch.arange(width) < torch.tensor(lengths)[:, None]
        index = torch.nonzero(inside.flatten()).squeeze(1)
        return cls(len(lengths), width, index.to(device), multiple)

    @property
    def positions(self) -> Tensor:
        """RETURNS (Tensor): int64[packed], column of each token."""
        return self._back % self.width

    @property
    def inside(self) -> Tensor:
        """RETURNS (Tensor): bool[n, width], true for tokens."""
        inside = torch.zeros(self.n * self.width, dtype=torch.bool, device=self.index.device)
        inside[self.index] = True
        return inside.view(self.n, self.width)

    def pad(self, x: Tensor) -> Tensor:
        """x (Tensor): [packed, ...]. RETURNS (Tensor): [n, width, ...], zeros in the gaps."""
        padded = x.new_zeros(self.n * self.width, *x.shape[1:])
        padded[self.index] = x[: len(self.index)]
        return padded.view(self.n, self.width, *x.shape[1:])

    def split_heads(self, x: Tensor, parts: int, heads: int) -> Tensor:
        """x (Tensor): [packed, parts * heads * d_head].
        RETURNS (Tensor): [parts, n, heads, width, d_head], zeros in the gaps."""
        return self.pad(x).view(self.n, self.width, parts, heads, -1).permute(2, 0, 3, 1, 4)

    def attend(
        self,
        attention: "Attention",
        x: Tensor,
        heads: int,
        mask: Tensor | None,
        memory: Tensor | None = None,
    ) -> tuple[Tensor, Tensor]:
        """Compute the attention of packed tokens.

        attention (Attention): the function that computes it.
        x (Tensor): queries, keys, and values [packed, 3 * heads * d_head], or the queries alone.
        heads (int): number of heads. mask (Tensor | None): see `Attention`.
        memory (Tensor | None): [2, n, heads, width, d_head], keys and values of other tokens, which
            those of x are appended to.
        RETURNS (tuple[Tensor, Tensor]): [packed, heads * d_head], and the keys and values in use.
        """
        n_parts = 3 if memory is None else x.shape[1] // (heads * memory.shape[-1])
        padded = x.new_zeros(self.n * self.width, x.shape[1])
        padded[self.index] = x[: len(self.index)]
        parts = padded.view(self.n, self.width, n_parts, heads, -1).permute(2, 0, 3, 1, 4)
        if memory is None:
            memory = parts[1:]
        elif n_parts > 1:
            # contiguous, as the products want it
            memory = torch.cat((memory, parts[1:]), dim=3)
        attended = attention(parts[0], memory[0], memory[1], mask)
        joined = attended.transpose(1, 2).reshape(self.n * self.width, -1)
        return joined[self._back], memory


def pack_ids(rows: Sequence[list[int]], device: torch.device) -> Tensor:
    """RETURNS (Tensor): int64[total], the ids of all rows one after the other."""
    return torch.tensor([token for row in rows for token in row], device=device)


def make_norm(weights: dict[str, Tensor], name: str) -> Callable[[Tensor], Tensor]:
    """weights (dict[str, Tensor]): contains `NAME.weight` and `NAME.bias`. name (str): name of the
    layer. RETURNS (Callable[[Tensor], Tensor]): layer norm, in the type of its input."""
    weight, bias = weights[f"{name}.weight"], weights[f"{name}.bias"]
    shape = tuple(weight.shape)
    return partial(
        functional.layer_norm, normalized_shape=shape, weight=weight, bias=bias, eps=1e-5
    )


class Embedding:
    """Embeddings of tokens and positions for encoder or decoder.

    config (Any): transformers' BartConfig.
    weights (dict[str, Tensor]): weights of the checkpoint.
    side (str): `encoder` or `decoder`.
    """

    def __init__(self, config: Any, weights: dict[str, Tensor], side: str) -> None:
        self.tokens = weights[SHARED]
        self._row_scale = weights.get(SHARED + SCALE_SUFFIX) if self.is_int8 else None
        self._positions = weights[f"model.{side}.embed_positions.weight"]
        self._norm = make_norm(weights, f"model.{side}.layernorm_embedding")
        self._scale = config.d_model**0.5 if config.scale_embedding else 1.0
        self.dtype = self._positions.dtype

    @property
    def is_int8(self) -> bool:
        """RETURNS (bool): whether the token embeddings, and therefore the weights of the layers,
        are int8."""
        return self.tokens.dtype == torch.int8

    def __call__(self, ids: Tensor, positions: Tensor, added: Tensor | None = None) -> Tensor:
        """ids, positions (Tensor): int64[n]. added (Tensor | None): [n, d_model], further
        embeddings to add. RETURNS (Tensor): [n, d_model]."""
        x = self.tokens[ids].to(self.dtype) * self._scale
        if self._row_scale is not None:
            x *= self._row_scale[ids, None]
        if added is not None:
            x += added
        return self._norm(x + self._positions[positions + _POSITION_OFFSET])


class BartEncoder:
    """BART's encoder.

    config (Any): transformers' BartConfig.
    store (WeightStore): the weights, which are removed from it; all on one device.
    """

    def __init__(self, config: Any, store: WeightStore) -> None:
        if config.activation_function != "gelu":
            raise AngelError(
                f"The encoder must have the activation function gelu, not "
                f"{config.activation_function}."
            )
        self.embed = Embedding(config, store.rest, "encoder")
        self.device = self.embed.tokens.device
        self.dtype = self.embed.dtype
        # In int8 models, attention runs in bfloat16.
        self.attention_dtype = torch.bfloat16 if self.embed.is_int8 else self.dtype
        self.attend = attention(self.device, self.attention_dtype)
        self.heads = config.encoder_attention_heads
        self._layers = [
            Layer(store, f"model.encoder.layers.{i}", self.attention_dtype)
            for i in range(config.encoder_layers)
        ]

    def __call__(
        self, rows: Sequence[list[int]], added: Tensor | None = None
    ) -> tuple[Tensor, Packing]:
        """rows (Sequence[list[int]]): token ids. added (Tensor | None): see `Embedding`. RETURNS
        (tuple[Tensor, Packing]): the last states, [packed, d_model], and their packing."""
        packing = self.packing(rows)
        added = None if added is None else added[packing.order]
        x = self.embed(pack_ids(rows, self.device)[packing.order], packing.positions, added)
        mask = padding_mask(packing, self.attention_dtype)
        for layer in self._layers:
            attended, _ = packing.attend(self.attend, layer.qkv(x), self.heads, mask)
            x = layer.attention_norm(x + layer.out(attended))
            x = layer.final_norm(x + layer.fc2(layer.fc1(x)))
        return x, packing

    def packing(self, rows: Sequence[list[int]]) -> Packing:
        """rows (Sequence[list[int]]): token ids. RETURNS (Packing): their packing."""
        multiples = (CPU_ROWS, _CPU_WIDTH) if self.device.type == "cpu" else (1, 1)
        return Packing.of_lengths(list(map(len, rows)), self.device, *multiples)

    def passes(self, rows: Sequence[_T]) -> Iterator[list[_T]]:
        """rows (Sequence[_T]): objects whose length is their number of tokens. YIELDS (list[_T]):
        in the same order, groups of rows that are encoded together."""
        if self.device.type != "cpu":
            yield list(rows)
            return
        group: list[_T] = []
        room = _CPU_TOKENS_PER_PASS
        for row in rows:
            if len(row) > room and group:
                yield group
                group, room = [], _CPU_TOKENS_PER_PASS
            group.append(row)
            room -= len(row)
        if group:
            yield group


class Layer:
    """Self-attention and feed-forward network, shared by the layers of encoder and decoder.

    store (WeightStore): contains the weights.
    name (str): name of the layer in the checkpoint.
    attention_dtype (torch.dtype): type in which attention runs.
    """

    def __init__(self, store: WeightStore, name: str, attention_dtype: torch.dtype) -> None:
        qkv = [f"{name}.self_attn.{part}_proj" for part in ("q", "k", "v")]
        self.qkv = store.linear(qkv, attention_dtype)
        self.out = store.linear([f"{name}.self_attn.out_proj"])
        self.attention_norm = make_norm(store.rest, f"{name}.self_attn_layer_norm")
        self.fc1 = store.linear([f"{name}.fc1"], gelu=True)
        self.fc2 = store.linear([f"{name}.fc2"])
        self.final_norm = make_norm(store.rest, f"{name}.final_layer_norm")


Attention = Callable[[Tensor, Tensor, Tensor, Tensor | None], Tensor]
"""Scaled dot-product attention. Its arguments are queries [n, heads, queries, d_head], keys and
values [n, heads, keys, d_head], and a mask that is added to the scores, which can be broadcast to
[n, heads, queries, keys]; it returns [n, heads, queries, d_head]."""


def attention(device: torch.device, dtype: torch.dtype) -> Attention:
    """device (torch.device), dtype (torch.dtype): device and type of the queries. RETURNS
    (Attention): the fastest implementation."""
    if device.type != "cpu" or dtype == torch.float32:
        return functional.scaled_dot_product_attention
    return _attend_on_cpu


def _attend_on_cpu(q: Tensor, k: Tensor, v: Tensor, bias: Tensor | None) -> Tensor:
    """Attention on a CPU: two products and a softmax take half the time of the fused kernel in
    bfloat16."""
    n, heads, width, size = q.shape
    q, k, v = (part.reshape(n * heads, -1, size) for part in (q * size**-0.5, k, v))
    scores = torch.bmm(q, k.transpose(1, 2))
    if bias is not None:
        scores.view(n, heads, width, -1).add_(bias)
    return torch.bmm(torch.softmax(scores, dim=-1), v).view(n, heads, width, size)


def padding_mask(packing: Packing, dtype: torch.dtype) -> Tensor | None:
    """RETURNS (Tensor | None): [n, 1, 1, width], 0 for tokens and -inf for padding; None if there
    is no padding."""
    is_full = len(packing.index) == packing.n * packing.width
    return None if is_full else to_bias(packing.inside, dtype)[:, None, None]


def to_bias(seen: Tensor, dtype: torch.dtype) -> Tensor:
    """seen (Tensor): bool. RETURNS (Tensor): 0 for True, -inf for False."""
    bias = torch.zeros(seen.shape, dtype=dtype, device=seen.device)
    return bias.masked_fill_(~seen, float("-inf"))
