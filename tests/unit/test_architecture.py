"""Is the house still built the way ARCHITECTURE.md says?"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "repertory"

# Imports go down only. A room may import from the rows below its own, and from itself.
ROWS: tuple[frozenset[str], ...] = (
    frozenset({"cli"}),  # the terminal also starts the service
    frozenset({"plugins"}),  # what hosts get of the gateway
    frozenset({"rest", "mcp", "web"}),
    frozenset({"evaluate"}),
    frozenset({"app"}),
    frozenset({"shelf"}),
    frozenset({"answers"}),
    frozenset({"gateway", "chat"}),
    frozenset({"search", "ingest"}),
    frozenset({"indexes"}),
    frozenset({"access", "bundle"}),
    frozenset({"store", "sources"}),
    frozenset({"embedders", "remote"}),
    frozenset({"settings", "owner", "endpoint", "breaker", "telemetry"}),
    frozenset({"cache"}),
    frozenset({"graph", "guard"}),
    frozenset({"text"}),
    frozenset({"model", "offload"}),
    frozenset({"errors"}),
)
LEVEL = {room: level for level, row in enumerate(ROWS) for room in row}


def rooms() -> list[str]:
    return sorted(path.stem for path in SOURCE.iterdir() if (path.is_dir() and path.name != "__pycache__") or path.suffix == ".py")


def imports(file: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            if node.module == "repertory":
                yield from (f"repertory.{name.name}" for name in node.names)
            else:
                yield node.module


def test_every_room_has_its_row() -> None:
    assert set(rooms()) - {"__init__", "py"} == set(LEVEL)


@pytest.mark.parametrize("file", sorted(SOURCE.rglob("*.py")), ids=lambda file: str(file.relative_to(SOURCE)))
def test_imports_go_down_only(file: Path) -> None:
    room = file.relative_to(SOURCE).parts[0].removesuffix(".py")
    if room == "__init__":
        return
    used = {name.split(".")[1] for name in imports(file) if name.startswith("repertory.")}
    upward = {other for other in used if other in LEVEL and other != room and LEVEL[other] <= LEVEL[room]}
    assert not upward, f"{room} must not import {sorted(upward)}"


@pytest.mark.parametrize("file", sorted(SOURCE.rglob("*.py")), ids=lambda file: str(file.relative_to(SOURCE)))
def test_every_module_says_which_question_it_answers(file: Path) -> None:
    docstring = ast.get_docstring(ast.parse(file.read_text("utf-8")))
    assert docstring
    if file != SOURCE / "__init__.py":
        assert docstring.split("\n\n")[0].rstrip().endswith("?"), docstring


@pytest.mark.parametrize("room", sorted(LEVEL))
def test_architecture_names_every_room(room: str) -> None:
    described = (SOURCE.parents[1] / "ARCHITECTURE.md").read_text("utf-8")
    name = f"`{room}/`" if (SOURCE / room).is_dir() else f"`{room}.py`"
    assert name in described


def test_pydantic_stays_at_the_wire() -> None:
    allowed = {"rest", "settings", "cli", "embedders", "remote", "endpoint", "sources", "gateway", "plugins", "bundle"}
    users = {
        file.relative_to(SOURCE).parts[0].removesuffix(".py") for file in SOURCE.rglob("*.py") if "pydantic" in " ".join(imports(file))
    }
    assert users <= allowed
