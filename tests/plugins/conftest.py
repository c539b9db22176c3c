"""What do the tests of the plug-ins share?"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.surfaces.programs import Served, run, serving
from tests.surfaces.test_gateway import NO_MODEL, workshop

NOTE = "# The kiln\n\nIt is fired on Fridays.\n\n## Safety\n\nWear gloves near the kiln door.\n"


@pytest.fixture(scope="session")
def workshop_catalog(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A catalog with one live server and one note; nobody has it open."""
    import json

    directory = tmp_path_factory.mktemp("plugins")
    (directory / "mcp.json").write_text(json.dumps({"mcpServers": {"workshop": workshop("stdio")}}))
    (directory / "notes").mkdir()
    (directory / "notes/kiln.md").write_text(NOTE)
    for what in ("mcp.json", "notes"):
        ran = run("add", directory / what, catalog=directory / "catalog", **NO_MODEL)
        assert ran.code == 0, ran.err
    return directory / "catalog"


@pytest.fixture
def catalog(workshop_catalog: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of it, searched by words."""
    import shutil

    monkeypatch.setenv("REPERTORY_EMBEDDER", "none")
    monkeypatch.chdir(ROOT)
    return shutil.copytree(workshop_catalog, tmp_path / "catalog")


@pytest.fixture
def served(catalog: Path) -> Iterator[Served]:
    """The same, served."""
    with serving(catalog, REPERTORY_REFRESH_MINUTES="0", **NO_MODEL) as service:
        yield service
