"""Settings of a training run, as plain dataclasses.

Defaults are the paper's values where it gives one (ANGEL, section 4.2 and table B).
"""

import json
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar, Literal


class Strict:
    """Base of the settings: unknown names are errors."""

    __pydantic_config__: ClassVar[Any] = {"extra": "forbid"}


@dataclass(frozen=True)
class DataSettings(Strict):
    """The data.

    kb (str): folder of the vocabulary, as written by `spacy-angel kb build`.
    train (tuple[str, ...]): preprocessed corpus files for fine-tuning.
    dev (tuple[str, ...]): corpus files for choosing the best checkpoint; if empty, the last one is
        kept.
    """

    kb: str
    train: tuple[str, ...] = ()
    dev: tuple[str, ...] = ()


@dataclass(frozen=True)
class BackboneSettings(Strict):
    """The model that training starts from.

    kind (str): `pretrained`: an encoder-decoder checkpoint; `encoder`: a small BART whose layers
        are copied from a BERT-like encoder; `fresh`: a small BART with random weights and a
        tokenizer trained on the vocabulary.
    name (str): checkpoint folder or hub name; unused by `fresh`.
    tokenizer (str | None): folder or hub name of the tokenizer of a `pretrained` checkpoint that
        has none.
    preset (str | None): prompt format of a `pretrained` checkpoint, a name of `model.presets`;
        None: the one that was saved with it, or else that of its name.
    encoder_layers (int), decoder_layers (int): depth of the small BART.
    width (int), heads (int), vocabulary_size (int): of `fresh` only.
    max_source_tokens (int): longest encoder input.
    """

    kind: Literal["pretrained", "encoder", "fresh"] = "pretrained"
    name: str = "facebook/bart-large"
    tokenizer: str | None = None
    preset: str | None = None
    encoder_layers: int = 3
    decoder_layers: int = 2
    width: int = 256
    heads: int = 4
    vocabulary_size: int = 8000
    max_source_tokens: int = 512


@dataclass(frozen=True)
class BeamSettings(Strict):
    """The constrained beam search of a training run.

    num_beams (int), length_penalty (float): as in `search.SearchSettings`.
    batch_size (int): mentions in one pass.
    dtype (str): of the BART family's weights while searching.
    """

    num_beams: int = 5
    length_penalty: float = 1.0
    batch_size: int = 16
    dtype: Literal["float32", "bfloat16"] = "float32"


@dataclass(frozen=True)
class DevelopmentSettings(Strict):
    """How development accuracy is measured: by constrained search over the whole vocabulary.

    sample (int): number of mentions of each file, evenly spaced; 0 uses all.
    search (BeamSettings): settings of the search.
    """

    sample: int = 500
    search: BeamSettings = field(default_factory=BeamSettings)


@dataclass(frozen=True)
class OptimizerSettings(Strict):
    """Hyper-parameters of a stage; the rows of table B.

    learning_rate (float), weight_decay (float): of AdamW.
    steps (int): number of updates; if 0, `epochs` counts.
    epochs (float): epochs, if `steps` is 0.
    batch_size (int): examples (or pairs) per update, over all processes and accumulation steps.
    accumulate (int): gradient accumulation steps.
    warmup_steps (int), schedule (str): of the learning rate.
    end_learning_rate (float): final learning rate of `polynomial`, below `learning_rate`; 1e-7 in
        the released code.
    clip_norm (float): maximum norm of the gradients.
    dropout (float), attention_dropout (float): probabilities during training.
    precision (str): of autocast, `float16` on GPUs only; the weights are kept in float32.
    checkpoint_every (int): updates between checkpoints, at which development accuracy is measured.
    keep_checkpoints (int): checkpoints kept on disk, including the best one.
    log_every (int): updates between entries of the log.
    seed (int): of the order of the data, dropout and sampling.
    """

    learning_rate: float
    steps: int = 0
    epochs: float = 1.0
    batch_size: int = 16
    accumulate: int = 1
    weight_decay: float = 0.01
    warmup_steps: int = 0
    schedule: Literal["polynomial", "linear", "cosine", "constant", "constant_with_warmup"] = (
        "polynomial"
    )
    end_learning_rate: float = 0.0
    clip_norm: float = 0.1
    dropout: float = 0.1
    attention_dropout: float = 0.1
    precision: Literal["float32", "bfloat16", "float16"] = "bfloat16"
    checkpoint_every: int = 500
    keep_checkpoints: int = 2
    log_every: int = 50
    seed: int = 0


@dataclass(frozen=True)
class NoiseSettings(Strict):
    """Typing errors in the mentions of fine-tuning examples. Not in the papers.

    share (float): share of the examples whose mention gets errors, 0 to 1; 0 in the paper.
    max_edits (int): maximum number of errors; the number is drawn uniformly from 1.
    """

    share: float = 0.0
    max_edits: int = 2


@dataclass(frozen=True)
class ExampleSettings(Strict):
    """How fine-tuning examples are made.

    positives (int): names of the gold concept that are targets of a mention (k, equation 3): the
        most similar ones by tf-idf over character 3-grams.
    repeats (int): how often each mention is seen per epoch.
    substitutes (float): additional examples per mention, in which the mention is replaced by a name
        of another concept that shares a type with the gold concept; 0 in the paper.
    copies (float): share of the substitutes whose target is the substitute itself; the target of
        the others is another name of its concept, if it has one.
    noise (NoiseSettings): in mentions and substitutes.
    """

    positives: int = 3
    repeats: int = 1
    substitutes: float = 0.0
    copies: float = 0.5
    noise: NoiseSettings = field(default_factory=NoiseSettings)


@dataclass(frozen=True)
class PositiveSettings(Strict):
    """Positive-only training.

    optimizer (OptimizerSettings): optimizer and schedule.
    label_smoothing (float): share of the target spread over all tokens.
    examples (ExampleSettings): how examples are made.
    """

    optimizer: OptimizerSettings
    label_smoothing: float = 0.1
    examples: ExampleSettings = field(default_factory=ExampleSettings)


@dataclass(frozen=True)
class Loss:
    """A preference loss. With r = log p - log p_ref (equations 4 and 5), that of a pair is

        -log sigmoid(beta (r(chosen) - r(rejected)) - margin) + nll_weight * nll(chosen)

    needs_reference (bool): whether there is a frozen model; otherwise, r = log p.
    per_token (bool): whether log p is a mean over the tokens of the name.
    margin (float): see above.
    nll_weight (float): default weight of the chosen name's negative log-likelihood per token.
    """

    needs_reference: bool = False
    per_token: bool = False
    margin: float = 0.0
    nll_weight: float = 0.0


# Appendix C of the paper.
LOSSES = {
    "dpo": Loss(needs_reference=True),
    "pairwise": Loss(),
    "cpo": Loss(nll_weight=1.0),
    "simpo": Loss(per_token=True, margin=0.5),
}


@dataclass(frozen=True)
class LossSettings(Strict):
    """The preference loss (equation 4; appendix C for its variants).

    kind (str): `dpo`; `pairwise` (no reference); `cpo`; `simpo`: a row of `LOSSES`.
    beta (float): scale of the difference of log-probabilities.
    nll_weight (float | None): weight of the chosen name's negative log-likelihood per token (the
        extra term of CPO and RPO); None is the loss's default, 1 for `cpo` and 0 for the others.
    """

    kind: str = "dpo"
    beta: float = 0.1
    nll_weight: float | None = None

    def __post_init__(self) -> None:
        if self.kind not in LOSSES:
            raise ValueError(f"kind: {self.kind!r} is none of {', '.join(sorted(LOSSES))}")


@dataclass(frozen=True)
class PairSettings(Strict):
    """How predictions become preference pairs.

    top_k (int): predictions per mention.
    rule (str): `above` (the paper's): a right name is paired with the wrong names ranked above it,
        and a right first name with the best wrong name; `errors`: without the latter; `all`:
        every right name with every wrong name.
    without_right (str): for mentions without a right name in the top k: `skip` (as published), or
        `positive` to pair their most similar positive with each prediction.
    distinct (bool): mine each mention string with the same gold concepts once.
    search (BeamSettings): of the search; with fewer beams than `top_k` it uses `top_k`.
    """

    top_k: int = 5
    rule: Literal["above", "errors", "all"] = "above"
    without_right: Literal["skip", "positive"] = "skip"
    distinct: bool = False
    search: BeamSettings = field(default_factory=BeamSettings)


@dataclass(frozen=True)
class NegativeSettings(Strict):
    """Negative-aware training.

    optimizer (OptimizerSettings): the course of updates, of each round.
    loss (LossSettings): the preference loss.
    pairs (PairSettings): how pairs are mined.
    rounds (int): parts of the training set; each is mined with the current weights, which are also
        its reference. More than one round cannot be combined with a file of pairs.
    patience (int): rounds without a higher development accuracy before stopping.
    """

    optimizer: OptimizerSettings
    loss: LossSettings = field(default_factory=LossSettings)
    pairs: PairSettings = field(default_factory=PairSettings)
    rounds: int = 1
    patience: int = 2


@dataclass(frozen=True)
class VocabularySettings(Strict):
    """How pre-training examples are made from the vocabulary.

    mention (str): `random` other name as the mention (GenBioEL), `nearest` by tf-idf (ANGEL).
    repeats (int): how often each name is the target, each time in another clause.
    types (tuple[str, ...]): only concepts of one of these types, e.g. MeSH's trees `C` and `D`;
        empty takes all.
    copies (float): share of the examples whose mention is the target itself.
    max_pairs (int): pairs drawn for the second stage; 0 takes all.
    """

    mention: Literal["random", "nearest"] = "nearest"
    repeats: int = 1
    types: tuple[str, ...] = ()
    copies: float = 0.0
    max_pairs: int = 0


@dataclass(frozen=True)
class PretrainSettings(Strict):
    """Pre-training over a vocabulary, both stages.

    vocabulary (VocabularySettings): clauses, mentions, negatives.
    positive (PositiveSettings): first stage.
    negative (NegativeSettings): second stage; its pairs come from tf-idf, in one round.
    """

    positive: PositiveSettings
    negative: NegativeSettings
    vocabulary: VocabularySettings = field(default_factory=VocabularySettings)


@dataclass(frozen=True)
class TrainingConfig(Strict):
    """The complete config.

    data (DataSettings), backbone (BackboneSettings), development (DevelopmentSettings), pretrain
    (PretrainSettings), positive (PositiveSettings), negative (NegativeSettings).
    trainer (dict[str, Any]): arguments of transformers' `TrainingArguments` for all stages, e.g.
        `{"report_to": ["tensorboard"], "gradient_checkpointing": True}`.
    lora (dict[str, Any]): arguments of peft's `LoraConfig`, e.g. `{"r": 16}`; empty trains all
        weights.
    """

    data: DataSettings
    backbone: BackboneSettings
    development: DevelopmentSettings
    pretrain: PretrainSettings
    positive: PositiveSettings
    negative: NegativeSettings
    trainer: dict[str, Any] = field(default_factory=dict)
    lora: dict[str, Any] = field(default_factory=dict)


def as_plain(settings: Any) -> dict[str, Any]:
    """RETURNS (dict[str, Any]): the settings as plain values for JSON."""
    return json.loads(json.dumps(asdict(settings)))
