"""The same linker as tools of the Model Context Protocol, for language models.

A model that is asked for an identifier writes one, whether it knows it or not. Here it gets those
of the vocabulary, with their names, so that it can see what it has got, and is told in words where
there is none.
"""

from typing import Any

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ToolAnnotations
from pydantic import BaseModel, Field, ValidationError

from ..about import __version__
from ..errors import AngelError
from ..pipelines.check_ids import STATUSES, check_id
from ..pipelines.ground import Match
from .core import Service, jobs_of
from .limits import Limits
from .linking import Linked
from .schema import ConceptAnswer, Found, GivenString, LinkedMention, LinkRequest, NameHits

NOT_IN_VOCABULARY = "not in the vocabulary"
NOT_LINKED = "mentions with this label are not linked"
_MAX_HITS, _MAX_CANDIDATES, _MAX_ALIASES, _MAX_DEFINITION = 25, 5, 20, 500
_INSTRUCTIONS = (
    "Identifiers of biomedical concepts (diseases, chemicals, genes and what else the vocabulary "
    "has), found by a linker that reads the context. Take identifiers from these tools alone and "
    f"never from memory. Where an answer says «{NOT_IN_VOCABULARY}», there is no identifier: say "
    "so, and do not choose another. A probability under 0.5 is a guess: name it one."
)
_READS = ToolAnnotations(
    read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)


class Link(BaseModel):
    """A mention, and what it is linked to."""

    mention: str
    label: str
    concept_id: str | None
    name: str | None = Field(description="Canonical name of the concept.")
    probability: float | None = Field(description="That the answer is right.")
    note: str = Field(description=f"`linked`, `{NOT_IN_VOCABULARY}`, or `{NOT_LINKED}`.")


class Links(BaseModel):
    """In the order of the text, or of what was asked."""

    links: list[Link]


class Reason(Link):
    """A link with what led to it."""

    why: str
    candidates: list[Found] = Field(description="The most probable ones, best first.")


class Names(NameHits):
    """Concepts whose names match, best first."""

    note: str = Field(description=f"`found`, or `{NOT_IN_VOCABULARY}`.")


class GivenId(BaseModel):
    """An identifier and what it is said to mean."""

    concept_id: str
    label: str


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

    async def link_text(text: str) -> Links:
        """Find the biomedical mentions of a text and link each to a concept of the vocabulary."""
        (document,) = await linked(LinkRequest(text=text))
        return Links(links=[Link(**_plain(mention)) for mention in document.mentions])

    async def ground_strings(strings: list[GivenString]) -> Links:
        """Link strings that you have to concepts of the vocabulary. Give each a label (DISEASE,
        CHEMICAL, GENE, SPECIES …) where you know it and the sentence in which it stands as
        context: it decides between concepts of one name."""
        found = await linked(LinkRequest(strings=strings))
        return Links(links=[Link(**_plain(one.mentions[0])) for one in found])

    async def check_identifiers(identifiers: list[GivenId]) -> Checks:
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
            suggested_id, suggested_name, _ = check.suggestion or (None,) * 3
            fields = check._asdict() | {"suggested_id": suggested_id}
            checks.append(Check(**fields, suggested_name=suggested_name))
        return Checks(checks=checks)

    async def look_up_concept(concept_id: str) -> ConceptAnswer:
        """Names, types and definition of a concept by its identifier, e.g. `MESH:D009203`. Shows at
        most 20 aliases and 500 characters of the definition."""
        concept = service.concept(concept_id)
        concept.aliases = concept.aliases[:_MAX_ALIASES]
        concept.definition = concept.definition and concept.definition[:_MAX_DEFINITION]
        return concept

    async def search_names(text: str, limit: int = 10) -> Names:
        """Concepts by how a name begins, or by a similar name; without context. To link what
        stands in a text, use ground_strings."""
        found = service.search(text, min(max(limit, 1), _MAX_HITS))
        return Names(concepts=found, note="found" if found else NOT_IN_VOCABULARY)

    async def explain_link(text: str, context: str | None = None, label: str = "") -> Reason:
        """Why a string, in its context, is linked to a concept or to none, and which concepts came
        into question."""
        string = GivenString(text=text, context=context, label=label)
        (document,) = await linked(LinkRequest(strings=[string]), explain=True)
        (mention,) = document.mentions
        candidates = (mention.candidates or [])[:_MAX_CANDIDATES]
        return Reason(**_plain(mention), why=mention.why or "", candidates=candidates)

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


def _plain(mention: LinkedMention) -> dict[str, Any]:
    notes = {"linked": "linked", "nil": NOT_IN_VOCABULARY, "skipped": NOT_LINKED}
    is_nil = mention.status == "nil"
    return {
        "mention": mention.text,
        "label": mention.label,
        "concept_id": mention.concept_id,
        "name": mention.name,
        "probability": mention.nil_probability if is_nil else mention.probability,
        "note": notes[mention.status],
    }
