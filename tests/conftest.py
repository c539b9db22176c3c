"""What do the tests share?"""

from __future__ import annotations

import os
import shutil
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio

import repertory
from repertory.app import Repertory
from tests.provision import AnyNeed

if TYPE_CHECKING:
    from tests.postgres import Server

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples" / "catalog"


def require(need: AnyNeed) -> str:
    """Where a needed program is, or the name of a package; without it the test is skipped, and on CI it fails."""
    if need.found:
        return need.found
    if os.environ.get("CI") == "true" and need.provided:
        pytest.fail(need.missing)
    pytest.skip(need.missing)


@pytest.fixture(autouse=True)
def _no_settings_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in os.environ:
        if name.startswith("REPERTORY_"):
            monkeypatch.delenv(name)


@pytest.fixture(scope="session")
def example_catalog(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The example catalog, indexed once with the bundled model."""
    import asyncio

    directory = tmp_path_factory.mktemp("example")

    async def build() -> None:
        async with repertory.open(directory) as rep:
            report = await rep.add(EXAMPLES)
            assert not report.problems, report.problems

    asyncio.run(build())
    yield directory
    shutil.rmtree(directory, ignore_errors=True)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Server]:
    """One PostgreSQL, in which every test makes a database of its own."""
    from tests.postgres import postgres  # which needs this module

    with postgres() as started:
        yield started


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def examples(example_catalog: Path) -> AsyncIterator[Repertory]:
    """The example catalog, open for the whole session."""
    async with repertory.open(example_catalog) as rep:
        yield rep


@pytest_asyncio.fixture
async def rep(tmp_path: Path) -> AsyncIterator[Repertory]:
    """An empty catalog of its own, searched by words and vectors."""
    async with repertory.open(tmp_path / "catalog") as opened:
        yield opened
