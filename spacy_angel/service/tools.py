"""The same linker as tools of the Model Context Protocol, for language models.

A model that is asked for an identifier writes one, whether it knows it or not. Here it gets those
of the vocabulary, with their names, so that it can see what it has got, and is told in words where
there is none.
"""

from collections.abc import Sequence
from itertools import accumulate
from typing import Annotated, Any, TypeAlias, TypeVar

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ToolAnnotations
from pydantic import BaseModel, Field, ValidationError

from ..about import __version__
from ..errors import AngelError
from ..pipelines.check_ids import STATUSES, check_id
from ..pipelines.ground import Match
from .core import Service, jobs_of
from .limits import Limits, Refused
from .linking import Linked
from .schema import ConceptAnswer, Found, GivenString, LinkedMention, LinkRequest, NameHits

NOT_IN_VOCABULARY = "not in the vocabulary"
NOT_LINKED = "mentions with this label are not linked"
UNCERTAIN = "uncertain"
SIMILAR = "only similar names: none of them need be meant"
# An answer is sent as text and as values: both together have at most 8 KB.
_MAX_BYTES, _MAX_TEXT = 3500, 100
_MAX_HITS, _MAX_CANDIDATES, _MAX_ALIASES, _MAX_DEFINITION = 25, 5, 20, 500
_INSTRUCTIONS = (
    "Identifiers of biomedical concepts (diseases, chemicals, genes and what else the vocabulary "
    "has), found by a linker that reads the context. Take identifiers from these tools alone and "
    f"never from memory. Where an answer says «{NOT_IN_VOCABULARY}», there is no identifier: say "
    "so, and do not choose another. Call a link that is noted as «uncertain» a guess. "
    "Where next_offset is given, call again with it as offset to get the rest."
)
_READS = ToolAnnotations(
    read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)

_Text: TypeAlias = Annotated[str, Field(description="At most 20,000 characters.")]
_Offset: TypeAlias = Annotated[
    int, Field(description="First link to show; next_offset of the page before.", ge=0)
]
_Value = TypeVar("_Value", bound=BaseModel)


class Link(BaseModel):
    """A mention, and what it is linked to."""

    mention: str
    label: str
    concept_id: str | None
    name: str | None = Field(description="Canonical name of the concept.")
    probability: float | None = Field(description="That the answer is right.")
    note: str = Field(
        description=f"`linked`, `{NOT_IN_VOCABULARY}`, or `{NOT_LINKED}`; with `{UNCERTAIN}: ` "
        "before it where the probability is under 0.5."
    )


class Links(BaseModel):
    """In the order of the text, or of what was asked."""

    links: list[Link]
    next_offset: int | None = Field(default=None, description="Of the next page, if there is one.")


class Reason(Link):
    """A link with what led to it."""

    why: str
    candidates: list[Found] = Field(description="The most probable ones, best first.")


class Names(NameHits):
    """Concepts whose names match, best first."""

    note: str = Field(description=f"`found`, `{SIMILAR}`, or `{NOT_IN_VOCABULARY}`.")


class GivenId(BaseModel):
    """An identifier and what it is said to mean."""

    concept_id: str = Field(max_length=200, description="E.g. MESH:D009203.")
    label: str = Field(max_length=200, description="The name beside it.")


class Check(GivenId):
    """What was found out of an identifier."""

    status: str = Field(description=f"One of {', '.join(STATUSES)}.")
    name: str = Field(description="Canonical name of the identifier's concept.")
    replaced_by: str = Field(description="Of an obsolete identifier.")
    suggested_id: str | None = Field(description="What the label means instead.")
    suggested_name: str | None


class Checks(BaseModel):
    """In the order of what was asked."""

    checks: list[Check]


class _Server(MCPServer):
    """Its errors are one line, which quotes nothing of what was sent."""

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


def make_server(service: Service) -> MCPServer:
    """The tools.

    service (Service): answers.
    RETURNS (MCPServer): to be run over standard input and output, or over HTTP.
    """
    server = _Server("spacy-angel", instructions=_INSTRUCTIONS, version=__version__)

    async def linked(request: LinkRequest, *, explain: bool = False) -> list[Linked]:
        jobs = jobs_of(request, service.limits, explain=explain)
        size = sum(len(job.document.text.encode()) for job in jobs)
        if size > service.limits.max_bytes:
            raise AngelError(
                f"The request has more than {service.limits.max_bytes:,} bytes. Send it in parts."
            )
        return await service.link(jobs)

    async def link_text(text: _Text, offset: _Offset = 0) -> Links:
        """Find the biomedical mentions of a text and link each to a concept of the vocabulary."""
        (document,) = await linked(LinkRequest(text=text))
        return _page(document.mentions, offset)

    async def ground_strings(
        strings: Annotated[list[GivenString], Field(description="At most 100.", max_length=100)],
        offset: _Offset = 0,
    ) -> Links:
        """Link strings that you have to concepts of the vocabulary. Give each a label (DISEASE,
        CHEMICAL, GENE, SPECIES …) where you know it and the sentence in which it stands as
        context: it decides between concepts of one name."""
        found = await linked(LinkRequest(strings=strings))
        return _page([one.mentions[0] for one in found], offset)

    async def check_identifiers(
        identifiers: Annotated[list[GivenId], Field(description="At most 10.", max_length=10)],
    ) -> Checks:
        """Check identifiers that you have from elsewhere: whether each exists, is obsolete, and
        means its label, and which concept the label means if it does not."""
        strings = [GivenString(text=one.label) for one in identifiers]
        checks = []
        answers = await linked(LinkRequest(strings=strings))
        for given, answer in zip(identifiers, answers, strict=True):
            (link,) = answer.mentions
            meant = link.concept_id and Match(
                link.concept_id, link.name or "", link.probability or 0
            )
            check = check_id(service.kb, given.concept_id, given.label, meant or None)
            meaning = check.suggestion
            checks.append(
                Check(
                    concept_id=check.concept_id,
                    label=check.label,
                    status=check.status,
                    name=check.name[:_MAX_TEXT],
                    replaced_by=check.replaced_by,
                    suggested_id=meaning and meaning.concept_id,
                    suggested_name=meaning and meaning.name[:_MAX_TEXT],
                )
            )
        return Checks(checks=checks)

    async def look_up_concept(
        concept_id: Annotated[str, Field(description="E.g. MESH:D009203.", max_length=200)],
    ) -> ConceptAnswer:
        """Names, types and definition of a concept by its identifier. Shows at most 20 aliases and
        500 characters of the definition."""
        try:
            concept = service.concept(concept_id)
        except Refused as error:
            message = "No concept has this identifier. Find it by a name with search_names."
            raise AngelError(message) from error
        return ConceptAnswer(
            concept_id=concept.concept_id,
            name=concept.name[:_MAX_TEXT],
            aliases=[alias[:_MAX_TEXT] for alias in concept.aliases[:_MAX_ALIASES]],
            types=concept.types[:_MAX_ALIASES],
            definition=concept.definition and concept.definition[:_MAX_DEFINITION],
            alternate_ids=concept.alternate_ids[:_MAX_ALIASES],
            url=concept.url,
        )

    async def search_names(
        text: Annotated[str, Field(description="A name or its beginning.", max_length=500)],
        limit: Annotated[int, Field(description="Most concepts.", ge=1, le=_MAX_HITS)] = 10,
    ) -> Names:
        """Concepts by how a name begins, or by a similar name; without context. To link what
        stands in a text, use ground_strings."""
        found = service.search(text, limit)
        for hit in found:
            hit.name, hit.matched = hit.name[:_MAX_TEXT], hit.matched[:_MAX_TEXT]
            hit.types = hit.types[:5]
        found = _fitting(found)
        if not found:
            return Names(concepts=[], note=NOT_IN_VOCABULARY)
        is_similar = all(hit.how == "similar" for hit in found)
        return Names(concepts=found, note=SIMILAR if is_similar else "found")

    async def explain_link(
        text: Annotated[str, Field(description="A mention.", min_length=1, max_length=500)],
        context: Annotated[str | None, Field(description="The sentence that has it.")] = None,
        label: Annotated[str, Field(description="E.g. DISEASE.", max_length=100)] = "",
    ) -> Reason:
        """Why a string, in its context, is linked to a concept or to none, and which concepts came
        into question."""
        string = GivenString(text=text, context=context, label=label)
        (document,) = await linked(LinkRequest(strings=[string]), explain=True)
        (mention,) = document.mentions
        candidates = (mention.candidates or [])[:_MAX_CANDIDATES]
        for found in candidates:
            found.name = found.name[:_MAX_TEXT]
            found.names = [name[:_MAX_TEXT] for name in found.names[:3]]
        why = (mention.why or "")[:_MAX_DEFINITION]
        return Reason(**_plain(mention), why=why, candidates=candidates)

    tools = (link_text, ground_strings, check_identifiers, look_up_concept, search_names)
    for function in (*tools, explain_link):
        server.add_tool(function, annotations=_READS)
    return server


def make_http_app(server: MCPServer, limits: Limits) -> Any:
    """server (MCPServer): from `make_server`. limits (Limits): of a request.
    RETURNS (Any): its application of ASGI at `/mcp`, which a `Guard` must stand before."""
    from mcp.server.transport_security import TransportSecuritySettings

    return server.streamable_http_app(
        json_response=True,
        stateless_http=True,
        max_request_body_size=limits.max_bytes,
        # The guard looks at Host and Origin, and knows which ones.
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )


def _page(mentions: Sequence[LinkedMention], offset: int) -> Links:
    links = [Link(**_plain(mention)) for mention in mentions[offset:]]
    shown = _fitting(links)
    end = offset + len(shown)
    return Links(links=shown, next_offset=end if end < len(mentions) else None)


def _fitting(values: list[_Value]) -> list[_Value]:
    """The first values, as many as fit in an answer."""
    sizes = accumulate(len(value.model_dump_json().encode()) + 2 for value in values)
    return [value for value, size in zip(values, sizes, strict=True) if size <= _MAX_BYTES]


def _plain(mention: LinkedMention) -> dict[str, Any]:
    notes = {"linked": "linked", "nil": NOT_IN_VOCABULARY, "skipped": NOT_LINKED}
    is_nil = mention.status == "nil"
    probability = mention.nil_probability if is_nil else mention.probability
    is_uncertain = probability is not None and probability < 0.5
    return {
        "mention": mention.text[:_MAX_TEXT],
        "label": mention.label,
        "concept_id": mention.concept_id,
        "name": mention.name and mention.name[:_MAX_TEXT],
        "probability": probability,
        "note": f"{UNCERTAIN}: " * is_uncertain + notes[mention.status],
    }
