"""`spacy-angel serve`: a pipeline as a web service."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from ..errors import AngelError
from .options import OtherVocabulary

Source = Annotated[
    str | None,
    typer.Argument(
        metavar="[PIPELINE]",
        help="Pipeline with angel_linker: folder or package; else the shipped one.",
    ),
]
Rules = Annotated[
    Path | None,
    typer.Option(
        help="File of rules, as the setting `curation` reads it; read again when it changes."
    ),
]
Host = Annotated[str, typer.Option(help="Address; another than this machine's own needs a token.")]
Port = Annotated[int, typer.Option(min=0, max=65535, help="0: any that is free.")]
TokenFile = Annotated[
    Path | None,
    typer.Option(help="File with a secret; requests bring it, `Authorization: Bearer SECRET`."),
]
AllowedHosts = Annotated[
    list[str] | None,
    typer.Option(
        "--allow-host",
        help="A further name by which the service is asked, as behind a proxy; may be repeated.",
    ),
]


def serve(
    pipeline: Source = None,
    kb: OtherVocabulary = None,
    curation: Rules = None,
    host: Host = "127.0.0.1",
    port: Port = 8000,
    token_file: TokenFile = None,
    allow_host: AllowedHosts = None,
    max_bytes: Annotated[int, typer.Option(min=1, help="Of a request.")] = 4 * 2**20,
    max_documents: Annotated[int, typer.Option(min=1, help="Of a request.")] = 2000,
    max_mentions: Annotated[int, typer.Option(min=1, help="Given in a request.")] = 10_000,
    max_waiting: Annotated[int, typer.Option(min=1, help="Requests at a time.")] = 128,
    max_characters: Annotated[int, typer.Option(min=1, help="Of one text.")] = 100_000,
    openapi: Annotated[
        bool, typer.Option("--openapi", help="Print the description for programs and end.")
    ] = False,
) -> None:
    """Answer requests for links and concepts over HTTP, and show a page to try it (extra `serve`).

    Ends with SIGTERM or Ctrl-C, when what was asked before is answered.
    """
    from ..service.serving import check_extra

    check_extra("serve", "serve", "fastapi", "uvicorn", "prometheus_client")
    from ..service.app import OPEN_PATHS, make_app
    from ..service.core import Service
    from ..service.guards import access_for
    from ..service.limits import Limits
    from ..service.metrics import Metrics
    from ..service.serving import serve as run

    access = access_for(host, token_file, allow_host or (), OPEN_PATHS)
    limits = Limits(max_bytes, max_documents, max_mentions, max_waiting, max_characters)
    metrics = Metrics()
    nlp, linker = open_source(pipeline, kb, curation)
    service = Service(nlp, linker, limits, metrics.batch)
    app = make_app(service, access, metrics)
    if openapi:
        typer.echo(json.dumps(app.openapi(), indent=1, ensure_ascii=False))
        service.close()
        return
    run(app, host, port, on_ready=lambda address: typer.echo(address, err=True))


def open_source(pipeline: str | None, kb: Path | None, curation: Path | None) -> Any:
    """pipeline (str | None), kb (Path | None), curation (Path | None): as they were given.
    RETURNS (Any): the pipeline, and its linker."""
    from ..about import SHIPPED_NAMES
    from ..pipelines.open import open_pipeline
    from ..pipelines.shipped import load

    is_shipped = pipeline in (None, *SHIPPED_NAMES)
    if kb is not None and not is_shipped:
        raise AngelError(
            "--pipeline cannot be combined with --model, --tokenizer, --preset or --kb."
        )
    source: Any = load(model=pipeline, kb=kb) if is_shipped else pipeline
    nlp, linker = open_pipeline(source)
    if curation is not None:
        linker.settings = linker.settings.changed(curation=str(curation))
    return nlp, linker
