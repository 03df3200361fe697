"""A small encoder whose vectors are close for names with similar meanings.

The encoder is a BERT model that reads a single name; its vector is the mean of the last states, as
in SapBERT (Liu et al. 2021). In addition, each word piece has a static vector, fitted so that the
sum over a name approximates the encoder's vector. The static vectors are good enough to find names
among a million; the encoder compares the few that were found.
"""

import json
from collections.abc import Sequence
from functools import cache
from hashlib import blake2b
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..about import DATA

if TYPE_CHECKING:
    from torch import Tensor

    from .bart_encoder import BartEncoder

FOLDER = DATA / "name_encoder"
STATIC = "static"
MAX_PIECES = 24
"""Maximum number of word pieces of a name."""
_CACHE_SIZE = 32_768


class NameEncoder:
    """Vectors of names.

    config (Any): transformers' BartConfig of the encoder's shape.
    weights (dict[str, Tensor]): those of BART's encoder, and `STATIC`, int8[n_pieces, d_static]
        with its scales.
    tokenizer (Any): `tokenizers.Tokenizer` of its word pieces.
    """

    def __init__(self, config: Any, weights: "dict[str, Tensor]", tokenizer: Any) -> None:
        # torch is imported when names are first compared.
        from .weights import SCALE_SUFFIX, float_weights

        names = (STATIC, STATIC + SCALE_SUFFIX)
        static = {name: weights[name] for name in names}
        self.piece_vectors: np.ndarray = float_weights(static)[STATIC].numpy()
        """float32[n_pieces, d_static]."""
        self.digest = blake2b(self.piece_vectors.tobytes(), digest_size=8).hexdigest()
        """Digest of the static vectors, on which the index of names depends."""
        self._weights = {name: weights[name] for name in weights.keys() - set(names)}
        self._config = config
        self._encoders: dict[bool, BartEncoder] = {}
        self._tokenizer = tokenizer
        self._caches: list[dict[str, np.ndarray]] = [{}, {}]

    @classmethod
    def from_disk(cls, path: Path) -> "NameEncoder":
        """path (Path): a folder. RETURNS (NameEncoder): the encoder. RAISES (AngelError): the
        weights are missing or damaged."""
        from tokenizers import BertWordPieceTokenizer

        from .weights import read_weights

        config = json.loads((path / "config.json").read_text(encoding="utf8"))
        pieces = (path / "vocab.txt").read_text(encoding="utf8").splitlines()
        by_piece = {piece: i for i, piece in enumerate(pieces)}
        tokenizer = BertWordPieceTokenizer(by_piece, lowercase=True)
        tokenizer.enable_truncation(MAX_PIECES)
        return cls(SimpleNamespace(**config), read_weights(path), tokenizer)

    def pieces_of(self, names: Sequence[str]) -> list[list[int]]:
        """names (Sequence[str]): in normal form. RETURNS (list[list[int]]): their word pieces,
        without special tokens."""
        return [e.ids[1:-1] for e in self._tokenizer.encode_batch(list(names))]

    def static_vectors(self, names: Sequence[str]) -> np.ndarray:
        """names (Sequence[str]): n names. RETURNS (np.ndarray): float32[n, d_static], the
        normalized sums of the vectors of their word pieces; zeros for a name without word
        pieces."""
        sums = [self.piece_vectors[pieces].sum(axis=0) for pieces in self.pieces_of(names)]
        vectors = np.array(sums, dtype=np.float32).reshape(-1, self.piece_vectors.shape[1])
        return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)

    def embed(self, names: Sequence[str], int8: bool = False) -> np.ndarray:
        """Encode names; the vectors of the last ones are cached.

        names (Sequence[str]): n in normal form.
        int8 (bool): compute matrix products in int8, which takes half the time; cosines change by
            0.005 on average.
        RETURNS (np.ndarray): float16[n, d_model], normalized.
        """
        cache = self._caches[int8]  # which another thread may replace
        new = [name for name in dict.fromkeys(names) if name not in cache]
        found = {name: cache[name] for name in names if name in cache}
        found |= dict(zip(new, self._encode(new, int8), strict=True))
        if len(cache) + len(new) > _CACHE_SIZE:
            cache = self._caches[int8] = {}
        cache |= {name: found[name] for name in new[:_CACHE_SIZE]}
        return np.array([found[name] for name in names])

    def _encode(self, names: Sequence[str], int8: bool) -> list[np.ndarray]:
        """RETURNS (list[np.ndarray]): float16[d_model] for each name."""
        import torch

        if not names:
            return []
        rows = [encoding.ids for encoding in self._tokenizer.encode_batch(list(names))]
        order = sorted(range(len(rows)), key=lambda i: len(rows[i]))
        vectors: list[np.ndarray] = []
        with torch.inference_mode():
            encoder = self._encoder(int8)
            for group in encoder.passes([rows[i] for i in order]):
                states, packing = encoder(group)
                means = packing.pad(states).sum(dim=1) / packing.inside.sum(dim=1)[:, None]
                vectors += [*torch.nn.functional.normalize(means, dim=-1).half().numpy()]
        by_name = dict(zip(order, vectors, strict=True))
        return [by_name[i] for i in range(len(rows))]

    def _encoder(self, int8: bool) -> "BartEncoder":
        """int8 (bool): see `embed`. RETURNS (BartEncoder): made when it is first used."""
        from .bart_encoder import BartEncoder, WeightStore
        from .weights import float_weights

        if int8 not in self._encoders:
            weights = float_weights(self._weights)
            if int8:
                # Embeddings in floating point keep attention in float32, so that all processors
                # compute nearly the same vectors.
                weights |= {n: w for n, w in self._weights.items() if "embed" not in n}
            self._encoders[int8] = BartEncoder(self._config, WeightStore(weights))
        return self._encoders[int8]


@cache
def shipped_name_encoder() -> NameEncoder:
    """RETURNS (NameEncoder): the shipped one."""
    return NameEncoder.from_disk(FOLDER)
