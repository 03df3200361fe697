"""The web service: its paths and what they return."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import chain
from pathlib import Path
from typing import Annotated, Any

from fastapi import FastAPI, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse
from fastapi.staticfiles import StaticFiles
from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    generate_latest,
)
from starlette.exceptions import HTTPException

from ..about import __version__
from ..vocabulary.names.concepts import Concept
from .core import Service, jobs_of
from .guards import Access, Guard, problem
from .schema import LinkAnswer, LinkedDocument, LinkRequest, NameHit, Problem

_PAGE = Path(__file__).with_name("page")


def make_app(service: Service, access: Access) -> FastAPI:
    """Build the ASGI application.

    service (Service): answers; closed with the application.
    access (Access): who may send requests.
    RETURNS (FastAPI): the application.
    """

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
        responses={"default": {"model": Problem, "description": "The request is refused."}},
    )
    app.add_middleware(Guard, access=access, limits=service.limits)
    registry = CollectorRegistry()
    n_documents = Counter("spacy_angel_documents", "Linked documents", registry=registry)
    n_mentions = Counter("spacy_angel_mentions", "Mentions", ["status"], registry=registry)
    seconds = Histogram("spacy_angel_link_seconds", "From request to answer", registry=registry)
    waiting = Gauge("spacy_angel_waiting_requests", "Unanswered requests", registry=registry)
    waiting.set_function(lambda: service.n_waiting)

    @app.exception_handler(RequestValidationError)
    async def on_invalid(_: Request, error: RequestValidationError) -> Response:
        return problem(422, _first_problem(error.errors()[0]))

    @app.exception_handler(HTTPException)
    async def on_http(_: Request, error: HTTPException) -> Response:
        return problem(error.status_code, f"{error.detail}.", error.headers)

    @app.post("/link")
    async def link(request: Request, body: LinkRequest, explain: bool = False) -> LinkAnswer:
        """Link texts, documents with mentions, and strings; with `explain`, give the reasons."""
        jobs = jobs_of(body, service.limits, explain=explain)
        with seconds.time():
            linked = await service.link(jobs, request)
        n_documents.inc(len(linked))
        for mention in chain.from_iterable(linked):
            n_mentions.labels(mention.status).inc()
        n = len(jobs) - len(body.strings)
        documents = [
            LinkedDocument(doc_id=job.document.doc_id, mentions=mentions)
            for job, mentions in zip(jobs[:n], linked, strict=False)
        ]
        return LinkAnswer(documents=documents, strings=[mention for (mention,) in linked[n:]])

    @app.get("/concepts")
    def concepts(
        q: Annotated[str, Query(min_length=1, max_length=500)],
        limit: Annotated[int, Query(ge=1, le=100)] = 10,
    ) -> list[NameHit]:
        """Find concepts by identifier, by name, by the beginning of a name, or by a similar name;
        the best come first."""
        return service.search(q, limit)

    @app.get("/concepts/{concept_id:path}")
    def concept(concept_id: str) -> Concept:
        """Look up a concept by its identifier."""
        return service.concept(concept_id)

    @app.get("/health")
    async def health() -> dict[str, str | int]:
        """Check that the service is running."""
        return {"status": "ok", "version": __version__, "concepts": len(service.kb)}

    @app.get("/metrics", response_class=Response)
    async def metrics() -> Response:
        """Get metrics for Prometheus."""
        return Response(generate_latest(registry), media_type=CONTENT_TYPE_LATEST)

    @app.get("/", include_in_schema=False)
    async def page() -> FileResponse:
        return FileResponse(_PAGE / "index.html")

    app.mount("/page", StaticFiles(directory=_PAGE))
    return app


def _first_problem(error: dict[str, Any]) -> str:
    """RETURNS (str): one line: what is wrong and where, without any text of the request."""
    path = list(error["loc"])
    if error["type"] == "extra_forbidden":
        path[-1] = "(unknown field)"  # the name is the client's text
    where = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
    return f"{where.lstrip('.')}: {error['msg'].removeprefix('Value error, ')}."
