"""How does the program go along, with everything that it needs?

As wheels made of what is installed here: the very files that answer now, of exactly these versions, without asking an index. A distribution
is packed again by the record that its installer left; the program itself, where it runs from its source tree, as that tree is.
"""

from __future__ import annotations

import base64
import hashlib
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from importlib import metadata
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import repertory

NAME = "repertory"
FASTEST = 1  # of zip's levels: most of it are libraries, which the slower ones hardly make smaller
_OF_THE_INSTALLATION = frozenset({"RECORD", "INSTALLER", "REQUESTED", "direct_url.json"})

Contents = Iterator[tuple[str, bytes]]


class NotPackable(Exception):
    """A distribution of which no wheel can be made."""


def pack_own(folder: Path) -> tuple[str, list[str]]:
    """Make the program's own wheel; answers its version and what it requires."""
    project = _source_tree()
    if project is None:
        own = metadata.distribution(NAME)
        pack(own, folder)
        return own.version, own.requires or []
    version, requires = project["version"], list(project["dependencies"])
    _write(folder / f"{NAME}-{version}-py3-none-any.whl", f"{NAME}-{version}.dist-info", _from_tree(project))
    return version, requires


def needed(requires: Iterable[str]) -> Iterator[metadata.Distribution | str]:
    """Every distribution behind these requirements, as it is installed here; where one is not, its name."""
    from packaging.requirements import Requirement  # only who writes a bundle should wait for it
    from packaging.utils import canonicalize_name

    waiting = [Requirement(text) for text in requires]
    waiting = [one for one in waiting if one.marker is None or one.marker.evaluate({"extra": ""})]
    asked: set[tuple[str, frozenset[str]]] = set()
    given: set[str] = set()
    for requirement in waiting:  # grows while it is read
        name, extras = canonicalize_name(requirement.name), frozenset(requirement.extras)
        if (name, extras) in asked:
            continue
        asked.add((name, extras))
        try:
            found = metadata.distribution(requirement.name)
        except metadata.PackageNotFoundError:
            yield requirement.name
            continue
        if name not in given:
            given.add(name)
            yield found
        for further in map(Requirement, found.requires or ()):
            if further.marker is None or any(further.marker.evaluate({"extra": extra}) for extra in ("", *extras)):
                waiting.append(further)


def pack(distribution: metadata.Distribution, folder: Path) -> Path:
    """Make a wheel of an installed distribution. Raises `NotPackable`."""
    name, files = distribution.metadata["Name"], distribution.files
    wheel = distribution.read_text("WHEEL")
    info = next((file.parent.name for file in files or () if file.name == "METADATA"), None)
    if wheel is None or files is None or info is None:
        raise NotPackable(f"{name} was installed without a record of its files")
    if '"editable": true' in (distribution.read_text("direct_url.json") or ""):
        raise NotPackable(f"{name} is installed as a link to its source")
    tags = [line.removeprefix("Tag:").strip().split("-") for line in wheel.splitlines() if line.startswith("Tag:")]
    joined = "-".join(".".join(dict.fromkeys(parts)) for parts in zip(*tags, strict=True))
    return _write(folder / f"{info.removesuffix('.dist-info')}-{joined}.whl", info, _installed(name, files, info))


def _installed(name: str, files: Iterable[metadata.PackagePath], info: str) -> Contents:
    for file in files:
        if ".." in file.parts or file.suffix == ".pyc":  # scripts are made anew from the entry points
            continue
        if file.parent.name == info and file.name in _OF_THE_INSTALLATION:
            continue
        try:
            yield file.as_posix(), file.read_binary()
        except OSError as error:
            raise NotPackable(f"{name} lacks {file}: {error.strerror}") from error


def _source_tree() -> dict[str, Any] | None:
    """What `pyproject.toml` says of the program, if it runs from its source tree."""
    try:
        project = tomllib.loads((Path(repertory.__file__).parents[2] / "pyproject.toml").read_text("utf-8"))["project"]
    except (OSError, tomllib.TOMLDecodeError, KeyError):
        return None
    return project if project.get("name") == NAME else None


def _from_tree(project: Mapping[str, Any]) -> Contents:
    package = Path(repertory.__file__).parent
    for file in sorted(package.rglob("*")):
        if file.is_file() and "__pycache__" not in file.parts:
            yield f"{NAME}/{file.relative_to(package).as_posix()}", file.read_bytes()
    info = f"{NAME}-{project['version']}.dist-info"
    about = [
        "Metadata-Version: 2.4",
        f"Name: {NAME}",
        f"Version: {project['version']}",
        f"Summary: {project['description']}",
        f"License-Expression: {project['license']}",
        *(f"License-File: {name}" for name in project["license-files"]),
        f"Requires-Python: {project['requires-python']}",
        *(f"Requires-Dist: {requirement}" for requirement in project["dependencies"]),
    ]
    scripts = [f"{name} = {target}" for name, target in project["scripts"].items()]
    yield f"{info}/METADATA", "\n".join([*about, ""]).encode()
    yield f"{info}/WHEEL", f"Wheel-Version: 1.0\nGenerator: {NAME}\nRoot-Is-Purelib: true\nTag: py3-none-any\n".encode()
    yield f"{info}/entry_points.txt", "\n".join(["[console_scripts]", *scripts, ""]).encode()
    for name in project["license-files"]:
        yield f"{info}/licenses/{name}", (package.parents[1] / name).read_bytes()


def _write(wheel: Path, info: str, contents: Contents) -> Path:
    record = f"{info}/RECORD"
    lines = []
    with ZipFile(wheel, "w", ZIP_DEFLATED, compresslevel=FASTEST) as archive:
        for name, data in contents:
            archive.writestr(name, data)
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            lines.append(f"{_quoted(name)},sha256={digest},{len(data)}")
        archive.writestr(record, "\n".join([*lines, f"{record},,", ""]))
    return wheel


def _quoted(name: str) -> str:
    return f'"{name}"' if "," in name else name
