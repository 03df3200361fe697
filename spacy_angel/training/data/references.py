"""Log-probabilities of the frozen reference model (equation 5), computed once a pair file."""

from functools import partial
from hashlib import blake2b
from pathlib import Path

import numpy as np
import torch
from tqdm import tqdm

from ...files.atomic import replacing
from ..models.backbones import Backbone, set_dropout
from ..models.losses import label_logits, name_log_probs
from .batches import TokenRows, collate_pairs


def reference_log_probs(
    backbone: Backbone,
    rows: TokenRows,
    precision: str = "float32",
    batch_size: int = 32,
    cache: Path | None = None,
) -> dict[str, np.ndarray]:
    """log p of the chosen and the rejected name of each pair.

    backbone (Backbone): the reference; put into evaluation mode, its dropout switched off.
    rows (TokenRows): as `encode_pairs` gives them.
    precision (str): that of the training, so that policy and reference start out equal.
    batch_size (int): pairs at a time.
    cache (Path | None): `.npz`; read where it belongs to these weights and rows, else written.
    RETURNS (dict[str, np.ndarray]): `ref_chosen_logps` and `ref_rejected_logps`, float32[rows].
    """
    key = fingerprint(backbone, rows, precision)
    if cache is not None and cache.is_file():
        with np.load(cache, allow_pickle=False) as stored:
            if str(stored["key"]) == key:
                return {name: stored[name] for name in _NAMES}
    model = backbone.model.eval()
    set_dropout(model, 0.0, 0.0)
    collate = partial(collate_pairs, pad_token_id=model.config.pad_token_id)
    # Rows of like length together: less padding.
    order = np.lexsort(rows.lengths[::-1])
    values = {name: np.zeros(len(rows), dtype=np.float32) for name in _NAMES}
    autocast = torch.autocast(model.device.type, torch.bfloat16, enabled=precision == "bfloat16")
    for start in tqdm(range(0, len(rows), batch_size), desc="Reference", unit="batches"):
        part = order[start : start + batch_size]
        batch = {k: v.to(model.device) for k, v in collate([rows[int(i)] for i in part]).items()}
        with torch.inference_mode(), autocast:
            sums = name_log_probs(label_logits(model, batch), batch["labels"]).sums
        for name, half in zip(_NAMES, sums.float().cpu().numpy().reshape(2, -1), strict=True):
            values[name][part] = half
    if cache is not None:
        with replacing(cache) as file:
            np.savez(file, key=np.array(key), **values)
    return values


_NAMES = ("ref_chosen_logps", "ref_rejected_logps")


def fingerprint(backbone: Backbone, rows: TokenRows, precision: str) -> str:
    """RETURNS (str): digest of the weights and the token ids that log-probabilities depend on."""
    digest = blake2b(precision.encode(), digest_size=16)
    for name, weights in sorted(backbone.model.state_dict().items()):
        digest.update(name.encode())
        digest.update(weights.detach().float().cpu().numpy().tobytes())
    for name, column in sorted(rows.columns.items()):
        digest.update(name.encode())
        digest.update(column.flat.tobytes())
        digest.update(column.offsets.tobytes())
    return digest.hexdigest()
