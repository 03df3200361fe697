"""`spacy-angel info`: describe the installation or a vocabulary."""

from pathlib import Path
from typing import Annotated

import typer

from ..errors import AngelError
from .options import located, print_counts

_MAX_TYPES = 12


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
    import yaml

    from ..vocabulary.kb import RULES, ConceptKB

    print_counts(ConceptKB.from_disk(kb), kb)
    # The vocabulary as built, to which the rules in its folder are applied.
    built = ConceptKB.from_disk(kb, rules=False)
    meta = {key: built.meta[key] for key in ("counts", "shared_names", "sources", "steps")}
    types = sorted(built.types)
    meta["types"] = [*types[:_MAX_TYPES], *["…"] * (len(types) > _MAX_TYPES)]
    if (rules := kb / RULES).is_file():
        meta["rules"] = str(rules)
    typer.echo(yaml.safe_dump(meta, sort_keys=False, allow_unicode=True).rstrip())
