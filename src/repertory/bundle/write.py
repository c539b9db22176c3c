"""How is a bundle written?

Into a directory beside its place, which takes the place when all is there: whoever sees a bundle sees a whole one.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from repertory.bundle.configuration import write_settings
from repertory.bundle.form import FORMAT, LOCK, MANIFEST, WHEELS, Manifest
from repertory.bundle.papers import write_papers
from repertory.bundle.wheels import NAME, NotPackable, needed, pack, pack_own
from repertory.errors import CatalogError, InvalidRequest
from repertory.settings import Settings


@dataclass(frozen=True, slots=True)
class Order:
    """What a bundle is to hold, besides the catalog."""

    settings: Settings
    revision: int
    entries: Mapping[str, int]
    documents: int
    model: str | None
    live: Sequence[str]
    required: bool  # whether callers must show a credential
    keys: bool
    wheels: bool


def begin(directory: Path) -> Path:
    """A place to write a bundle for this directory in. Raises `InvalidRequest` where something is there already."""
    try:
        if directory.exists() and (not directory.is_dir() or any(directory.iterdir())):
            raise InvalidRequest(f"{directory} is there already and not empty. Choose another directory, or remove it.")
        part = directory.with_name(f"{directory.name}.part-{os.getpid()}")
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir(parents=True, mode=0o700)  # what not everybody may find is in it
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        raise InvalidRequest(f"{directory} cannot be written: {getattr(error, 'strerror', None) or error}.") from error
    return part


def finish(part: Path, directory: Path, order: Order) -> Manifest:
    """Write all but the catalog, which is there, and put the bundle in its place."""
    write_settings(order.settings, part, required=order.required, live=bool(order.live))
    version, missing = _write_program(part, wheels=order.wheels)
    manifest = Manifest(
        format=FORMAT,
        repertory=version,
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        revision=order.revision,
        entries=dict(order.entries),
        documents=order.documents,
        model=order.model,
        python=".".join(platform.python_version_tuple()[:2]),
        platform=f"{platform.system()} {platform.machine()}",
        complete=not missing,
        missing=tuple(missing),
        live=tuple(order.live),
        keys=order.keys,
    )
    write_papers(manifest, part)
    (part / MANIFEST).write_text(json.dumps(manifest.as_json(), ensure_ascii=False, indent=2) + "\n", "utf-8")
    if directory.exists():
        directory.rmdir()  # it was empty when we began
    part.replace(directory)
    return manifest


def _write_program(part: Path, *, wheels: bool) -> tuple[str, list[str]]:
    """Wheels of the program and of all that it needs, and the lock file; answers the version, and what is missing."""
    folder = part / WHEELS
    folder.mkdir()
    try:
        version, requires = pack_own(folder)
    except NotPackable as error:
        raise CatalogError(f"The program cannot go along: {error}. Install it from a wheel.") from error
    locked, missing = [f"{NAME}=={version}"], []
    for one in needed(requires):
        if isinstance(one, str):
            missing.append(f"{one} is not installed")
            continue
        locked.append(f"{one.metadata['Name']}=={one.version}")
        try:
            if wheels:
                pack(one, folder)
            else:
                missing.append(locked[-1])
        except NotPackable as error:
            missing.append(str(error))
    (part / LOCK).write_text(
        "\n".join(["# The versions that answered where this was written.", *sorted(locked, key=str.lower), ""]), "utf-8"
    )
    return version, missing
