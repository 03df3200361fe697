"""The web service: its paths and what they return."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from time import perf_counter
from typing import TYPE_CHECKING, Any

from ..about import __version__
from .core import Service, jobs_of
from .formats import HTML, JSON, WRITERS, accepted
from .guards import Access, Guard, problem
from .metrics import Metrics
from .page import demo_page, page_headers
from .schema import ConceptAnswer, Health, LinkAnswer, LinkRequest, NameHits, Problem

if TYPE_CHECKING:
    from fastapi import FastAPI

OPEN_PATHS = ("/", "/health", "/openapi.json")
"""They need no token: the page, and the description of the service."""
_PROBLEMS = {
    401: "The token is missing or wrong.",
    403: "The request comes from another web page.",
    413: "The body is too large.",
    421: "The host name is not that of the service.",
    422: "The request is not valid; the line says why.",
}


def make_app(service: Service, access: Access, metrics: Metrics) -> "FastAPI":
    """Build the ASGI application.

    service (Service): answers; closed with the application.
    access (Access): who may send requests. metrics (Metrics): updated by the service.
    RETURNS (FastAPI): the application.
    """
    from fastapi import FastAPI, Path, Query, Request, Response
    from fastapi.exceptions import RequestValidationError
    from starlette.exceptions import HTTPException

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        service.close()

    app = FastAPI(
        title="spacy-angel",
        version=__version__,
        summary="Links biomedical mentions to the concepts of a vocabulary.",
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        responses={c: {"model": Problem, "description": text} for c, text in _PROBLEMS.items()},
    )
    app.add_middleware(Guard, access=access, limits=service.limits)

    @app.exception_handler(RequestValidationError)
    async def on_invalid(_: Request, error: RequestValidationError) -> Response:
        return problem(422, _first_problem(error.errors()[0]))

    @app.exception_handler(HTTPException)
    async def on_http(_: Request, error: HTTPException) -> Response:
        return problem(error.status_code, f"{error.detail}.", error.headers)

    @app.post(
        "/link",
        response_model=LinkAnswer,
        summary="Link texts, documents with mentions, and strings",
        responses={
            200: {"content": {name: {} for name in WRITERS if name not in (JSON, HTML)}},
            406: {"model": Problem, "description": "No accepted media type is available."},
            429: {"model": Problem, "description": "Too many requests are waiting."},
        },
    )
    async def link(
        request: Request,
        body: LinkRequest,
        explain: bool = Query(False, description="Explain each link."),
    ) -> Response:
        kind = accepted(request.headers.get("accept"))
        jobs = jobs_of(body, service.limits, explain=explain, html=kind == HTML)
        begin = perf_counter()
        linked = await service.link(jobs, request.is_disconnected)
        metrics.answered(linked, perf_counter() - begin)
        return Response(WRITERS[kind](jobs, linked, len(body.strings)), media_type=kind)

    @app.get("/concepts", summary="Find concepts by the beginning of a name")
    def concepts(
        q: str = Query(min_length=1, max_length=500, description="An identifier or a name."),
        limit: int = Query(10, ge=1, le=100, description="Maximum number of concepts."),
    ) -> NameHits:
        return NameHits(concepts=service.search(q, limit))

    @app.get(
        "/concepts/{concept_id:path}",
        summary="Look up a concept",
        responses={404: {"model": Problem, "description": "There is no such concept."}},
    )
    def concept(concept_id: str = Path(max_length=500)) -> ConceptAnswer:
        return service.concept(concept_id)

    @app.get("/health", summary="Check that the service is running")
    def health() -> Health:
        return service.health()

    @app.get("/metrics", summary="Metrics for Prometheus", response_class=Response)
    def show_metrics() -> Response:
        content, media_type = metrics.text(service.queue.n_waiting)
        return Response(content, media_type=media_type)

    @app.get("/", include_in_schema=False)
    def page() -> Response:
        html = demo_page(needs_token=access.token is not None)
        return Response(html, media_type=HTML, headers=page_headers(html))

    return app


def _first_problem(error: dict[str, Any]) -> str:
    """RETURNS (str): one line: where a request is wrong, and what was expected, without what it
    has."""
    if error["type"] == "json_invalid":
        return f"body: it is no JSON, from character {error['loc'][-1]} on."
    path = list(error["loc"][1:]) or ["body"]
    if error["type"] == "extra_forbidden":
        path[-1] = "(a field of another name)"  # the name is the client's text
    where = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
    return f"{where.lstrip('.')}: {error['msg'].removeprefix('Value error, ')}."
