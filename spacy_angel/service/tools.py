"""The linker as tools of the Model Context Protocol, for language models.

A language model that is asked for an identifier writes one, whether it knows it or not. These tools
return identifiers of the vocabulary with their names, and state clearly if there is none.
"""

from collections.abc import Sequence
from dataclasses import asdict
from itertools import accumulate
from typing import Annotated, Any, TypeAlias, TypeVar

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ToolAnnotations
from pydantic import AfterValidator, BaseModel, Field, ValidationError

from ..about import __version__
from ..errors import AngelError
from ..pipelines.check_ids import STATUSES, check_id
from ..pipelines.ground import Match
from .core import Service, jobs_of
from .limits import Limits
from .schema import GivenString, LinkedMention, LinkRequest, NameHit

NOT_IN_VOCABULARY = "not in the vocabulary"
NOT_LINKED = "mentions with this label are not linked"
UNCERTAIN = "uncertain"
SIMILAR = "only similar names, which may mean something else"
# Answers are sent twice, as text and as values: together they have at most 8 KB.
_MAX_BYTES, _MAX_TEXT, _MAX_DEFINITION = 3500, 100, 500
_MAX_HITS, _MAX_ALIASES = 25, 20
# An answer is uncertain if its probability exceeds the threshold by less.
_MARGIN = 0.15
_INSTRUCTIONS = (
    "These tools return identifiers of biomedical concepts: diseases, chemicals, genes and "
    "whatever else the vocabulary contains. Take identifiers from these tools, not from memory. "
    f'If an answer says "{NOT_IN_VOCABULARY}", there is no identifier: say so and do not choose '
    f'another one. Present an answer that is marked "{UNCERTAIN}" as a guess. If next_offset is '
    "not null, call the tool again with it as offset to get the next page."
)
_READS = ToolAnnotations(
    read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)

_Offset: TypeAlias = Annotated[
    int, Field(description="0, or next_offset of the previous page.", ge=0)
]
_Short: TypeAlias = Annotated[str, AfterValidator(lambda text: text[:_MAX_TEXT])]
_Value = TypeVar("_Value", bound=BaseModel)


class Link(BaseModel):
    """A mention and its concept."""

    mention: _Short
    label: str
    concept_id: str | None
    name: _Short | None = Field(description="Canonical name of the concept.")
    probability: float | None = Field(description="Probability that this answer is right.")
    note: str = Field(
        description=f'"linked", "{NOT_IN_VOCABULARY}" or "{NOT_LINKED}"; "{UNCERTAIN}: " comes '
        "first if the probability is near the threshold."
    )


class Links(BaseModel):
    """Links in the order of the text or of the strings."""

    links: list[Link]
    next_offset: int | None = Field(default=None, description="Offset of the next page, if any.")


class Names(BaseModel):
    """Concepts with matching names, the best first."""

    concepts: list[NameHit]
    note: str = Field(description=f'"found", "{SIMILAR}" or "{NOT_IN_VOCABULARY}".')


class GivenId(BaseModel):
    """An identifier and its supposed meaning."""

    concept_id: str = Field(max_length=200, description="E.g. MESH:D009203.")
    label: str = Field(max_length=200, description="Name that the identifier is meant to have.")


class Check(GivenId):
    """The result of checking an identifier."""

    status: str = Field(description=f"One of {', '.join(STATUSES)}.")
    name: _Short = Field(description="Canonical name of the concept with this identifier.")
    replaced_by: str = Field(description="Identifier that replaces an obsolete one.")
    suggestion: str = Field(description="Identifier and name of what the label means instead.")


class _Server(MCPServer):
    """Its errors are one line that quotes nothing of the arguments."""

    async def call_tool(self, name: str, arguments: Any, context: Any = None) -> Any:
        try:
            return await super().call_tool(name, arguments, context)
        except ToolError as error:
            cause = error.__cause__
            if isinstance(cause, ValidationError):
                first = cause.errors(include_input=False)[0]
                message = f"{'.'.join(map(str, first['loc']))}: {first['msg']}."
            elif cause is None or isinstance(cause, AngelError):
                message = str(cause or error)
            else:
                message = f"The service failed ({type(cause).__name__}). Please report it."
        raise ToolError(message)


class _Tools:
    """The tools, with their descriptions. service (Service): answers."""

    def __init__(self, service: Service) -> None:
        self._service = service

    async def link_text(
        self,
        text: Annotated[str, Field(description="At most 10,000 characters.")],
        offset: _Offset = 0,
    ) -> Links:
        """Find the biomedical mentions in a text and link each to a concept of the vocabulary."""
        (mentions,) = await self._link(LinkRequest(text=text))
        return self._page(mentions, offset)

    async def ground_strings(
        self,
        strings: Annotated[list[GivenString], Field(description="At most 100.", max_length=100)],
        offset: _Offset = 0,
    ) -> Links:
        """Link strings to concepts of the vocabulary. If you know the label of a string (DISEASE,
        CHEMICAL, GENE, SPECIES …) and the sentence that contains it, give both: they decide between
        concepts with the same name."""
        linked = await self._link(LinkRequest(strings=strings))
        return self._page([mention for (mention,) in linked], offset)

    async def check_identifiers(
        self,
        identifiers: Annotated[list[GivenId], Field(description="At most 10.", max_length=10)],
    ) -> list[Check]:
        """Check identifiers from elsewhere: does each exist, is it obsolete, does it mean its
        label, and if not, which concept does the label mean?"""
        strings = [GivenString(text=one.label) for one in identifiers]
        checks = []
        linked = await self._link(LinkRequest(strings=strings))
        for given, (link,) in zip(identifiers, linked, strict=True):
            meant = None
            if link.concept_id:
                meant = Match(link.concept_id, link.name or "", link.probability or 0)
            check = check_id(self._service.kb, given.concept_id, given.label, meant)
            suggestion = " ".join((check.suggestion or ())[:2])[:_MAX_TEXT]
            checks.append(Check(**{**check._asdict(), "suggestion": suggestion}))
        return checks

    async def look_up_concept(
        self,
        concept_id: Annotated[str, Field(description="E.g. MESH:D009203.", max_length=200)],
    ) -> dict[str, Any]:
        """Get the names, types and definition of a concept by its identifier; at most 20 aliases
        and 500 characters of the definition."""
        concept = asdict(self._service.concept(concept_id))
        del concept["scopes"]
        for name in ("aliases", "types", "alternate_ids", "parents", "parts"):
            concept[name] = [text[:_MAX_TEXT] for text in concept[name][:_MAX_ALIASES]]
        concept["definition"] = (concept["definition"] or "")[:_MAX_DEFINITION]
        return concept

    async def search_names(
        self,
        text: Annotated[str, Field(description="A name or its beginning.", max_length=500)],
        limit: Annotated[int, Field(description="Maximum number.", ge=1, le=_MAX_HITS)] = 10,
    ) -> Names:
        """Find concepts by a name, its beginning or a similar name, without context. To link a
        mention in a text, use ground_strings."""
        found = self._service.search(text, limit)
        is_similar = all(hit.how == "similar" for hit in found)
        note = SIMILAR if is_similar else "found"
        return Names(concepts=_fitting(found), note=note if found else NOT_IN_VOCABULARY)

    async def _link(self, request: LinkRequest) -> list[list[LinkedMention]]:
        return await self._service.link(jobs_of(request, self._service.limits))

    def _page(self, mentions: Sequence[LinkedMention], offset: int) -> Links:
        shown = _fitting(list(map(self._shown, mentions[offset:])))
        end = offset + len(shown)
        return Links(links=shown, next_offset=end if end < len(mentions) else None)

    def _shown(self, mention: LinkedMention) -> Link:
        notes = {"linked": "linked", "nil": NOT_IN_VOCABULARY, "skipped": NOT_LINKED}
        is_nil = mention.status == "nil"
        probability = mention.nil_probability if is_nil else mention.probability
        least = (self._service.pipeline.linker.settings.decision.threshold or 0) + _MARGIN
        is_uncertain = probability is not None and probability < least
        return Link(
            mention=mention.text,
            label=mention.label,
            concept_id=mention.concept_id,
            name=mention.name,
            probability=probability,
            note=f"{UNCERTAIN}: " * is_uncertain + notes[mention.status],
        )


def make_server(service: Service) -> MCPServer:
    """Make the server with the tools.

    service (Service): answers.
    RETURNS (MCPServer): runs over standard input and output; see `make_http_app` for HTTP.
    """
    server = _Server("spacy-angel", instructions=_INSTRUCTIONS, version=__version__)
    tools = _Tools(service)
    for function in (
        *(tools.link_text, tools.ground_strings, tools.check_identifiers),
        *(tools.look_up_concept, tools.search_names),
    ):
        server.add_tool(function, annotations=_READS)
    return server


def make_http_app(server: MCPServer, limits: Limits) -> Any:
    """server (MCPServer): from `make_server`. limits (Limits): of a request.
    RETURNS (Any): its ASGI application with the path `/mcp`; it needs a `Guard`."""
    from mcp.server.transport_security import TransportSecuritySettings

    return server.streamable_http_app(
        json_response=True,
        stateless_http=True,
        max_request_body_size=limits.max_bytes,
        # The guard checks Host and Origin.
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )


def _fitting(values: list[_Value]) -> list[_Value]:
    """RETURNS (list): the first values, as many as fit in an answer."""
    sizes = accumulate(len(value.model_dump_json(indent=2).encode()) + 2 for value in values)
    return [value for value, size in zip(values, sizes, strict=True) if size <= _MAX_BYTES]
