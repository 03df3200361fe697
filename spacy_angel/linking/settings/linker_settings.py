"""The settings of the component `angel_linker`, with their types, defaults, limits, and
descriptions; the method as published; and `types_by_label` of the shipped vocabularies."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import ConfigDict, Field, PrivateAttr

from ...about import SHIPPED_NAME
from ...component.checked import CheckedSettings, Name, Names
from ...component.running import Device, RunsIn, expect_dtype
from ...vocabulary.names.entity_type_table import ENTITY_TYPE_TABLE

ATTRIBUTES = ("kb_id", "kb_ents", "candidates")
"""Fields of a `Link` that are written to `span._`, under the names that `outputs` gives them."""


class SettingsBlock(CheckedSettings):
    """A block of settings. They can be assigned, `settings.decision.threshold = 0.7`, and are
    checked; `nlp.config` shows the new value.

    RAISES (AngelError): an unknown setting, or a value that does not fit.
    """

    model_config = ConfigDict(frozen=False, strict=True)

    _shown: dict[str, Any] | None = PrivateAttr(default=None)

    if not TYPE_CHECKING:  # as pydantic does, so that mypy reports misspelled settings

        def __setattr__(self, name: str, value: Any) -> None:
            """name (str): a setting. value (Any): checked before it is assigned."""
            if name.startswith("_"):
                super().__setattr__(name, value)
                return
            checked = type(self)(**{**self.__dict__, name: value})
            self.__dict__[name] = getattr(checked, name)
            if self._shown is not None:
                self._shown[name] = self.to_dict()[name]

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.__dict__ == other.__dict__

    __hash__ = None  # type: ignore[assignment]

    def show_in(self, config: dict[str, Any]) -> None:
        """Keep a block of a config up to date with the settings.

        config (dict[str, Any]): the block. Variables in it (`${paths.kb}`) are kept until their
            setting is assigned.
        """
        self._shown = config
        for name, value in self.to_dict().items():
            if config.get(name) is None:
                config[name] = value


class CandidateSettings(SettingsBlock):
    """`[components.angel_linker.candidates]`: which mentions are linked, and where their concepts
    are looked for.

    span_key (Name | None): span group that contains the mentions; null: `doc.ents`
    types_by_label (dict[Name, Names] | None): for each label, the semantic types that its mentions
        may link to; concepts without types are always allowed. An empty list allows all types,
        except that mentions labeled DISEASE, CHEMICAL, GENE, SPECIES, or CELL_LINE never link to
        another of these. Labels match in any known spelling (`OrganismTaxon` is `SPECIES`);
        mentions with other labels are not linked, with one warning per label. If the table is
        empty, all labels are linked. null: the types of a shipped vocabulary, or an empty table
        for any other
    labels_discard (Names): labels that are not linked: their entities keep their identifier, or
        get `NIL`
    rewrite (bool): replace clinical short forms, lay terms, brand names, and other common words
        that are not names in the vocabulary; reduce organisms to their binomial name
        (`Escherichia coli O157`); join or separate letters and digits (`SIRT-1` as SIRT1); and
        correct words that occur neither in the vocabulary nor in biomedical text, by one edit, or
        by two in words of eight or more letters
    num_beams (int | None): number of beams, and maximum number of names that the model generates
        for a mention; null: as published, 10 for released models and 5 for others
    length_penalty (float): the search divides the log-probability of a name by its number of
        tokens raised to this power
    shortcuts (bool): skip searches that rarely change a link. Equal mentions with equal labels in
        a document are searched once. With the reranker, a mention of more than four letters that
        is the name of exactly one concept is linked without the model, with a probability of 0.96
        and no `log_prob`, as are mentions for which the similar names are unambiguous
    """

    COMPONENT = "angel_linker.candidates"

    span_key: Name | None = None
    types_by_label: dict[Name, Names] | None = None
    labels_discard: Names = ("VARIANT",)
    rewrite: bool = True
    num_beams: Annotated[int | None, Field(ge=1)] = 5
    length_penalty: Annotated[float, Field(allow_inf_nan=False)] = 0.0
    shortcuts: bool = True


class RerankerSettings(SettingsBlock):
    """`[components.angel_linker.reranker]`.

    enabled (bool): add names that are similar to the mention, to its long form, or to another way
        to write it as candidates, and compute probabilities with the reranker. false: the model
        alone decides, as published
    nil_prior (float | None): expected share of mentions without a concept in the vocabulary;
        higher values give more `NIL`. null: the share in the data that the reranker was fitted on
    """

    COMPONENT = "angel_linker.reranker"

    enabled: bool = True
    nil_prior: Annotated[float | None, Field(gt=0, lt=1)] = None


class DecisionSettings(SettingsBlock):
    """`[components.angel_linker.decision]`.

    threshold (float | None): minimum probability of a link, unless a curation rule decides; null:
        no minimum
    curation (str | None): TSV file of curation rules; reloaded when it changes, and saved with
        the pipeline
    prefer (Names): prefixes of the identifiers to write, most preferred first, e.g. `["MONDO",
        "MESH"]`; concepts without such an identifier keep their own. The others are in
        `candidates`, under `other_ids`
    overwrite (bool): also link mentions that already have an identifier
    drop_unlinked_below (float): remove entities from `doc.ents` that get `NIL` and whose
        `span._.mention_probability` is below this value; entities without a probability, and
        span groups, are not affected
    """

    COMPONENT = "angel_linker.decision"

    threshold: Annotated[float | None, Field(ge=0, le=1)] = 0.5
    curation: str | None = None
    prefer: Names = ()
    overwrite: bool = True
    drop_unlinked_below: Annotated[float, Field(ge=0, le=1)] = 0.0


class OutputSettings(SettingsBlock):
    """`[components.angel_linker.outputs]`: names of the attributes on `span._`, so that a pipeline
    can have several linkers. They take effect when the component is created.

    kb_id (Name): attribute with the identifier; `kb_id` also sets `span.kb_id_`
    kb_ents (Name): attribute with the concepts
    candidates (Name): attribute with all candidates
    """

    COMPONENT = "angel_linker.outputs"

    kb_id: Name = "kb_id"
    kb_ents: Name = "kb_ents"
    candidates: Name = "candidates"

    def check(self) -> None:
        for name in ATTRIBUTES:
            self.expect(name, getattr(self, name).isidentifier(), "a Python identifier")
        is_own = len({self.kb_id, self.kb_ents, self.candidates}) == len(ATTRIBUTES)
        self.expect("kb_id", is_own, "unlike the names of the other two attributes")


class RuntimeSettings(SettingsBlock):
    """`[components.angel_linker.runtime]`. `device` and `dtype` take effect when the model is
    opened.

    device (str): `cpu`, `cuda`, `cuda:1`, …
    dtype (str): type of the weights in memory; `int8` runs on CPUs only, `float16` on GPUs only;
        `auto` measures which type is fastest on this machine
    batch_size (int): mentions per batch of the model
    """

    COMPONENT = "angel_linker.runtime"

    device: Device = "cpu"
    dtype: RunsIn = "float32"
    batch_size: Annotated[int, Field(ge=1)] = 48

    def check(self) -> None:
        expect_dtype(self, self.dtype, self.device)


class LinkerSettings(CheckedSettings):
    """The settings of `angel_linker` except model, vocabulary, and scorer, in five blocks. The
    shipped pipelines were evaluated with the defaults.

    The blocks `candidates`, `reranker`, `decision`, `outputs`, and `runtime` are keyword arguments:
    a `CandidateSettings`, `RerankerSettings`, … or a mapping with some of its entries.

    RAISES (AngelError): a value that does not fit; the message names setting, expectation, value.
    """

    COMPONENT = "angel_linker"

    candidates: CandidateSettings = CandidateSettings()
    reranker: RerankerSettings = RerankerSettings()
    decision: DecisionSettings = DecisionSettings()
    outputs: OutputSettings = OutputSettings()
    runtime: RuntimeSettings = RuntimeSettings()

    @classmethod
    def blocks(cls) -> dict[str, type[SettingsBlock]]:
        """RETURNS (dict[str, type[SettingsBlock]]): the blocks with their classes."""
        return {name: type(field.default) for name, field in cls.model_fields.items()}

    def changed(self, values: Mapping[str, Mapping[str, Any]]) -> "LinkerSettings":
        """Return a copy with some settings changed.

        values (Mapping[str, Mapping[str, Any]]): block → settings to change.
        RETURNS (LinkerSettings): the changed settings.
        RAISES (AngelError): an unknown setting or an invalid value.
        """
        own: dict[str, Any] = self.to_dict()
        return LinkerSettings(**own | {block: own[block] | new for block, new in values.items()})

    def assign(self, values: Mapping[str, Mapping[str, Any]]) -> None:
        """Assign some settings.

        values (Mapping[str, Mapping[str, Any]]): block → settings to assign.
        RAISES (AngelError): an unknown setting or an invalid value; in this case nothing is
            assigned.
        """
        changed = self.changed(values)
        for block, entries in values.items():
            for name in entries:
                setattr(getattr(self, block), name, getattr(getattr(changed, block), name))


PUBLISHED: dict[str, Any] = {
    "candidates": {
        "types_by_label": {},
        "rewrite": False,
        "num_beams": None,
        "length_penalty": 1.0,
        "shortcuts": False,
    },
    "reranker": {"enabled": False},
    "decision": {"threshold": None},
}
"""The method as published: the model alone links every mention. The shipped pipelines use the
defaults of `LinkerSettings` instead."""

_TYPES = {row.name: list(row.shipped) for row in ENTITY_TYPE_TABLE if row.shipped}
TYPES_BY_LABEL: dict[str, dict[str, list[str]]] = {
    SHIPPED_NAME: {label: _TYPES[label] for label in ("DISEASE", "CHEMICAL")},
    "en_angel_bio": _TYPES,
}
"""Shipped vocabulary → label → semantic types that its mentions may link to."""


def types_of(vocabulary: Any) -> dict[str, Any]:
    """vocabulary (Any): value of `vocabulary` in a config. RETURNS (dict[str, list[str]]): its
    `types_by_label`; empty for vocabularies that do not ship with the package."""
    return TYPES_BY_LABEL.get(SHIPPED_NAME if vocabulary is None else str(vocabulary), {})
