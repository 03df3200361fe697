"""`spacy-angel info`: describe the installation or a vocabulary."""

from pathlib import Path
from typing import Annotated, Any

import typer

from ..errors import AngelError
from .options import located, print_counts


def info(
    kb: Annotated[
        Path | None,
        typer.Argument(metavar="KB", help="Vocabulary: folder, or name of a fetched one."),
    ] = None,
) -> None:
    """Print information for a bug report, or, with KB, the counts and sources of a vocabulary.

    For a bug report: versions, machine, pipelines and vocabularies with their SHA-256, and the
    type that `dtype="auto"` chooses.
    """
    _print_installation() if kb is None else _print_vocabulary(located(kb))


def _print_installation() -> None:
    import os
    import platform
    import re
    from contextlib import suppress
    from hashlib import sha256
    from importlib.metadata import PackageNotFoundError, requires, version

    import torch

    from ..about import SHIPPED_NAMES, __version__, shipped_folder
    from ..annotation.pipeline_folder import folder_fingerprint
    from ..files.download import cache_folder
    from ..model.fastest import fastest_dtype
    from ..vocabulary.sources.installed import installed_vocabularies
    from ..vocabulary.storage.arrays import META

    rows = {}
    for requirement in requires("spacy-angel") or ():
        package = re.split(r"[^\w.-]", requirement)[0]
        with suppress(PackageNotFoundError):
            rows[package] = version(package)
    gpus = [torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())]
    rows |= {
        "python": platform.python_version(),
        "system": platform.platform(),
        "cpu": f"{os.cpu_count()} cores, {torch.backends.cpu.get_cpu_capability()}",
        "gpu": f"CUDA {torch.version.cuda}: {', '.join(gpus) or 'none'}",
        "cache": str(cache_folder()),
    }
    typer.echo(f"spacy-angel {__version__}")
    for name, value in rows.items():
        typer.echo(f"  {name:<18} {value}")
    for name in SHIPPED_NAMES:
        try:
            pipeline = shipped_folder(name)
        except AngelError:
            typer.echo(f"Pipeline {name}: not installed")
        else:
            typer.echo(f"Pipeline {name}: {pipeline}, sha256 {folder_fingerprint(pipeline)}")
    for name, folder in installed_vocabularies().items():
        # This file contains the checksums of the arrays.
        digest = sha256((folder / META).read_bytes()).hexdigest()
        typer.echo(f"Vocabulary {name}: {folder}, {META} sha256 {digest}")
    chosen = fastest_dtype(torch.device("cpu"), with_int8=True)
    typer.echo(f'Type of dtype="auto" on this CPU: {chosen}')
    typer.echo("For a bug report, copy all of this. See also docs/how_to/troubleshooting.md.")


def _print_vocabulary(kb: Path) -> None:
    from ..vocabulary.kb import RULES, ConceptKB

    print_counts(ConceptKB.from_disk(kb), kb)
    # The vocabulary as built, to which the rules in its folder are applied.
    built = ConceptKB.from_disk(kb, rules=False)
    meta = built.meta
    types, rules = sorted(built.types), kb / RULES
    lines = meta["counts"] | {
        "type names": ", ".join(types[:12]) + ", …" * (len(types) > 12),
        "shared names lead to": meta["shared_names"],
        "told apart by": "species" if built.by_species else None,
        "rules": rules if rules.is_file() else None,
    }
    for key, value in lines.items():
        if value not in ("", None):
            typer.echo(f"  {key:<24} {_number(value)}")
    for title, entries in (("source", meta["sources"]), ("step", meta["steps"])):
        for entry in entries:
            values = ", ".join(f"{k} {_number(v)}" for k, v in entry.items() if v not in ({}, None))
            typer.echo(f"  {title}: {values}")


def _number(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
