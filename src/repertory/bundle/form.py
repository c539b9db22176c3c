"""What is in a bundle, and how is one known?"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from repertory.errors import SourceError

FORMAT = 1  # of the directory; raise it when an older Repertory could not serve or read it
MANIFEST = "bundle.json"  # written last: a directory without it is no bundle
CATALOG = "catalog"
MODELS = "models"
WHEELS = "wheels"
LOCK = "requirements.txt"


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a bundle says of itself."""

    format: int
    repertory: str  # the version
    created: str  # ISO 8601
    revision: int  # of the catalog
    entries: Mapping[str, int]  # by kind
    documents: int
    model: str | None
    python: str  # what the wheels are for
    platform: str
    complete: bool  # whether every wheel is there
    missing: tuple[str, ...] = ()  # why not
    live: tuple[str, ...] = ()  # servers whose config stayed behind
    keys: bool = False  # whether API keys and the audit log came along

    def as_json(self) -> dict[str, Any]:
        """As it stands in its file."""
        return asdict(self)


def manifest_at(path: Path) -> Manifest | None:
    """What the bundle at a path says; None where there is none. Raises `SourceError` for one that this Repertory cannot read."""
    try:
        found = json.loads((path / MANIFEST).read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(found, dict) or "format" not in found or "repertory" not in found or not (path / CATALOG).is_dir():
        return None  # somebody else's bundle.json
    if found["format"] != FORMAT:
        raise SourceError(f"The bundle {path} has format {found['format']}, this Repertory reads {FORMAT}. Use the version that wrote it.")
    try:
        return Manifest(**found)
    except TypeError as error:
        raise SourceError(f"{path / MANIFEST} is damaged: {error}. Make the bundle again.") from None
