"""Are the files of a model what they should be?"""

from __future__ import annotations

import hashlib
from pathlib import Path

from repertory.errors import EmbedderError

MODELS = Path(__file__).parent / "models"  # what we ship


def digest_of(path: Path) -> str:
    """The sha256 of a model's file."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise EmbedderError(f"The model file {path} cannot be read: {error}. Reinstall, or correct the path.") from error


def check_digest(path: Path, expected: str | None) -> None:
    """Raise `EmbedderError` where a file is missing or, where a digest was recorded, is another."""
    found = digest_of(path)
    if expected is not None and found != expected:
        raise EmbedderError(f"The model file {path} has sha256 {found}, not {expected}: it is damaged or another. Reinstall.")


def readable(text: str) -> str:
    """A lone surrogate, legal in a Python str and in JSON, is refused by tokenizers and on the wire: it becomes "?"."""
    return text.encode("utf-8", "replace").decode()
