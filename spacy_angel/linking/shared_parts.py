"""Save a model or vocabulary only once if several linkers in a pipeline share it."""

import shutil
from pathlib import Path
from typing import Any

from ..errors import AngelError
from ..files.atomic import write_json
from ..files.digests import digest
from ..files.json_values import parse_json

_FILE = "shared.json"


def share_parts(folder: Path) -> None:
    """Replace parts that another linker in the pipeline has already saved by references to them.

    folder (Path): folder of a linker that was just saved; not changed if it is not part of a
        pipeline.
    """
    shared: dict[str, dict[str, str]] = {}
    if (folder.parent / "config.cfg").is_file():
        others = sorted(o for o in folder.parent.iterdir() if o != folder)
        for part in filter(lambda part: (folder / part).is_dir(), ("model", "kb")):
            own = _digest(folder / part)
            if same := [o for o in others if (o / part).is_dir() and _digest(o / part) == own]:
                shutil.rmtree(folder / part)
                shared[part] = {"component": same[0].name, "sha256": own}
    (folder / _FILE).unlink(missing_ok=True)
    if shared:
        write_json(folder / _FILE, shared)


def find_part(folder: Path, part: str) -> Path:
    """Find the model or vocabulary of a saved linker.

    folder (Path): folder of the linker. part (str): `model` or `kb`.
    RETURNS (Path): folder of the part, which may not exist.
    RAISES (AngelError): the part belongs to another linker and has changed since it was saved.
    """
    own, file = folder / part, folder / _FILE
    shared: dict[str, Any] = parse_json(file.read_bytes()) if file.is_file() else {}
    if own.exists() or part not in shared:
        return own
    path = folder.parent / shared[part]["component"] / part
    if not path.is_dir() or _digest(path) != shared[part]["sha256"]:
        raise AngelError(
            f"{folder} has no {part} of its own, and {path} has changed since it was saved. "
            "Save the pipeline to a new folder."
        )
    return path


def _digest(folder: Path) -> str:
    """RETURNS (str): digest of the names and contents of the files, except compiled tries."""
    files = ((p.relative_to(folder), p) for p in sorted(folder.rglob("*")) if p.is_file())
    return digest((name.as_posix(), path) for name, path in files if "tries" not in name.parts)
