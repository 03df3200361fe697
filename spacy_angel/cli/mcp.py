"""`spacy-angel mcp`: a pipeline as tools for language models."""

from typing import Annotated

import typer

from .options import Curation, OtherVocabulary, check_extra, open_source
from .serve import AllowedHosts, Host, Port, Source, TokenFile


def mcp(
    pipeline: Source = None,
    kb: OtherVocabulary = None,
    curation: Curation = None,
    http: Annotated[
        bool,
        typer.Option("--http", help="Use HTTP, at /mcp, instead of standard input and output."),
    ] = False,
    host: Host = "127.0.0.1",
    port: Port = 8001,
    token_file: TokenFile = None,
    allow_host: AllowedHosts = None,
) -> None:
    """Provide links, concepts, and names as tools of the Model Context Protocol (extra `mcp`).

    The program that runs the language model starts this command and communicates with it over
    standard input and output.
    """
    check_extra("mcp", "mcp", "uvicorn")
    from ..service.core import Service
    from ..service.guards import Guard, access_for
    from ..service.serving import Server
    from ..service.tools import make_http_app, make_server

    access = access_for(host, token_file, allow_host or ()) if http else None
    service = Service(*open_source(pipeline, kb, curation))
    server = make_server(service)
    try:
        if access is None:
            server.run()
        else:
            app = Guard(make_http_app(server, service.limits), access, service.limits)
            Server(app, host, port, path="/mcp").run()
    finally:
        service.close()
