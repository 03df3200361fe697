"""`spacy-angel serve`: a pipeline as a web service."""

import json
import os
from pathlib import Path
from typing import Annotated

import typer

from .options import Curation, OtherVocabulary, check_extra, open_source

Source = Annotated[
    str | None, typer.Argument(help="Pipeline: folder or package; en_angel_mini if not given.")
]
Host = Annotated[
    str, typer.Option(help="Address to listen on; other than loopback requires a token.")
]
Port = Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 for any free one.")]
TokenFile = Annotated[
    Path | None, typer.Option(help="File with the token of `Authorization: Bearer TOKEN`.")
]
AllowedHosts = Annotated[
    list[str] | None,
    typer.Option("--allow-host", help="Additional host name to accept; may be repeated."),
]


def serve(
    pipeline: Source = None,
    kb: OtherVocabulary = None,
    curation: Curation = None,
    host: Host = "127.0.0.1",
    port: Port = 8000,
    token_file: TokenFile = None,
    allow_host: AllowedHosts = None,
    max_bytes: Annotated[int, typer.Option(min=1, help="Maximum size of a request.")] = 2**20,
    max_documents: Annotated[
        int, typer.Option(min=1, help="Maximum documents per request.")
    ] = 2000,
    max_waiting: Annotated[int, typer.Option(min=1, help="Maximum requests at a time.")] = 128,
    max_characters: Annotated[int, typer.Option(min=1, help="Maximum length of a text.")] = 10_000,
    max_seconds: Annotated[int, typer.Option(min=1, help="Maximum time per request.")] = 300,
    openapi: Annotated[
        bool, typer.Option("--openapi", help="Print the OpenAPI description and exit.")
    ] = False,
) -> None:
    """Serve links and concepts over HTTP, with a demo page (extra `serve`).

    SIGTERM or Ctrl-C stops it once the requests in progress are answered.
    """
    check_extra("serve", "fastapi", "uvicorn", "prometheus_client")
    from ..service.app import make_app
    from ..service.core import Service
    from ..service.guards import access_for
    from ..service.limits import Limits
    from ..service.serving import Server

    # oneDNN reads this before its first product. It keeps compiled code for each shape of input, by
    # default for 1,024 of them, which is hundreds of megabytes for requests of any length.
    os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "64")
    access = access_for(host, token_file, allow_host or ())
    limits = Limits(max_bytes, max_documents, max_waiting, max_characters, max_seconds)
    nlp, linker = open_source(pipeline, kb, curation)
    service = Service(nlp, linker, limits)
    app = make_app(service, access)
    if openapi:
        typer.echo(json.dumps(app.openapi(), indent=1, ensure_ascii=False))
        service.close()
    else:
        Server(app, host, port).run()
