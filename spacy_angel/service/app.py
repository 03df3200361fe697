"""The web service: what is asked for at which address."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from time import perf_counter
from typing import TYPE_CHECKING, Any

from ..about import __version__
from .core import Service, jobs_of
from .formats import HTML, JSON, WRITERS, accepted
from .guards import Access, Guard
from .metrics import Metrics
from .page import demo_page, description_page, page_headers
from .schema import ConceptAnswer, Health, LinkAnswer, LinkRequest, NameHits, Problem

if TYPE_CHECKING:
    from fastapi import FastAPI

OPEN_PATHS = ("/", "/health", "/docs", "/openapi.json")
"""Where no token is asked for: the page, and what the service looks like."""
_PROBLEMS = {
    401: "The token is missing or another.",
    403: "The request comes from another web page.",
    413: "The body is too large.",
    421: "The service is asked by another's name.",
    422: "Something in the request does not fit; the line says what.",
}


def make_app(service: Service, access: Access, metrics: Metrics) -> "FastAPI":
    """Build the application of ASGI.

    service (Service): answers; closed with the application.
    access (Access): who may ask. metrics (Metrics): told by the service.
    RETURNS (FastAPI): to be served.
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
        responses={
            code: {"model": Problem, "description": text} for code, text in _PROBLEMS.items()
        },
    )
    app.add_middleware(Guard, access=access, limits=service.limits)

    @app.exception_handler(RequestValidationError)
    async def on_invalid(_: Request, error: RequestValidationError) -> Response:
        return _problem(422, _told(error.errors()[0]))

    @app.exception_handler(HTTPException)
    async def on_http(_: Request, error: HTTPException) -> Response:
        return _problem(error.status_code, f"{error.detail}.", error.headers)

    @app.post(
        "/link",
        response_model=LinkAnswer,
        summary="Link texts, documents with mentions, and strings",
        responses={
            200: {"content": {name: {} for name in WRITERS if name not in (JSON, HTML)}},
            406: {"model": Problem, "description": "No type of answer that is accepted is known."},
            429: {"model": Problem, "description": "Too many requests wait."},
        },
    )
    async def link(
        request: Request,
        body: LinkRequest,
        explain: bool = Query(False, description="Give the reason of each link."),
    ) -> Response:
        kind = accepted(request.headers.get("accept"))
        jobs = jobs_of(body, service.limits, explain=explain, html=kind == HTML)
        begin = perf_counter()
        linked = await service.link(jobs, request.is_disconnected)
        metrics.answered(linked, perf_counter() - begin)
        return Response(WRITERS[kind](jobs, linked, len(body.strings)), media_type=kind)

    @app.get("/concepts", summary="Find concepts by a name as one types it")
    def concepts(
        q: str = Query(min_length=1, max_length=500, description="An identifier or a name."),
        limit: int = Query(10, ge=1, le=100, description="Most concepts."),
    ) -> NameHits:
        return NameHits(concepts=service.search(q, limit))

    @app.get(
        "/concepts/{concept_id:path}",
        summary="Look up a concept",
        responses={404: {"model": Problem, "description": "There is no such concept."}},
    )
    def concept(concept_id: str = Path(max_length=500)) -> ConceptAnswer:
        return service.concept(concept_id)

    @app.get("/health", summary="Whether the service answers")
    def health() -> Health:
        return service.health()

    @app.get("/metrics", summary="Figures for Prometheus", response_class=Response)
    def figures() -> Response:
        return Response(metrics.text(service.queue.n_waiting), media_type=metrics.media_type)

    @app.get("/", include_in_schema=False)
    def page() -> Response:
        html = demo_page(needs_token=access.token is not None)
        return Response(html, media_type=HTML, headers=page_headers(html))

    @app.get("/docs", include_in_schema=False)
    def docs() -> Response:
        html = description_page(app.openapi())
        return Response(html, media_type=HTML, headers=page_headers(html))

    return app


def _problem(status: int, text: str, headers: Any = None) -> Any:
    from starlette.responses import JSONResponse

    return JSONResponse({"error": text}, status, headers)


def _told(error: dict[str, Any]) -> str:
    """One line of a fault of a request: where, and what was expected, not what came."""
    if error["type"] == "json_invalid":
        return f"body: not JSON, from character {error['loc'][-1]} on."
    _, *path = error["loc"] if len(error["loc"]) > 1 else ("", "body")
    is_unknown = error["type"] == "extra_forbidden"
    # The name of a field that nobody knows is the caller's.
    named = [*path[:-1], "(a field of another name)"] if is_unknown else path
    where = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in named)
    return f"{where.lstrip('.')}: {error['msg'].removeprefix('Value error, ')}."
