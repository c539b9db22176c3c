"""Which settings go along, and which stay behind?

What differs from the default goes along, a model's files included. Secrets stay: where one was set, a comment names the environment
variable that brings it.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pydantic import SecretStr

from repertory.bundle.form import MODELS
from repertory.errors import CatalogError
from repertory.settings import FILE, PREFIX, Settings

_OF_THE_MACHINE = frozenset(
    {"catalog", "database", "host", "port", "allowed_hosts"}
)  # a bundle has a catalog of its own, and its own visitors
_OF_THE_INDEX = frozenset(name for name in Settings.model_fields if name.startswith("index"))  # and its index is in it: embedded


def write_settings(settings: Settings, bundle: Path, *, required: bool, live: bool) -> None:
    """Write `repertory.toml`, and copy the files that it names. `required`: callers must show a credential, as they must here."""
    lines = ["# What this catalog is searched with. `repertory doctor` shows every setting and where its value came from."]
    chosen = {name: getattr(settings, name) for name in Settings.model_fields if name not in _OF_THE_MACHINE | _OF_THE_INDEX}
    defaults = Settings.model_validate({})
    if required:
        chosen["access"] = "required"
    if live:
        lines.append("# Live servers are not asked again: the config that says how to reach them did not come along.")
        chosen["refresh_minutes"] = 0.0
    for name, value in chosen.items():
        if value is not None and value != getattr(defaults, name):
            lines.append(_line(name, value, bundle))
    (bundle / FILE).write_text("\n".join([*lines, ""]), "utf-8")


def _line(name: str, value: Any, bundle: Path) -> str:
    if isinstance(value, SecretStr) or (name.endswith("_url") and _may_hold_a_secret(value)):
        return f"# {name} is not here, because it holds a secret: set {PREFIX}{name.upper()}."
    if isinstance(value, Path):
        return f"{name} = {_toml(_copy_model(name, value.expanduser(), bundle))}"
    return f"{name} = {_toml(value)}"


def _may_hold_a_secret(url: str) -> bool:
    parts = urlsplit(url)
    return "@" in parts.netloc or bool(parts.query)


def _copy_model(name: str, path: Path, bundle: Path) -> str:
    """Copy a model's files, and answer where they are, from the bundle. Its own name stays: it is a part of the model's."""
    graph = path / "model.onnx" if path.is_dir() else path
    folder = bundle / MODELS / name
    if path.is_dir():
        folder /= path.name
    folder.mkdir(parents=True)
    wanted = [*graph.parent.glob(f"{graph.name}*"), *graph.parent.glob("*tokenizer.json")]  # weights may lie beside their graph
    try:
        for file in wanted:
            shutil.copy(file, folder)
    except OSError as error:
        raise CatalogError(f"The model {path} cannot be copied: {error.strerror}.") from error
    return (folder if path.is_dir() else folder / path.name).relative_to(bundle).as_posix()


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{name} = {_toml(part)}" for name, part in value.items()) + " }"
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")  # the one character that JSON leaves bare and TOML does not
