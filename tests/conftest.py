"""What do the tests share?"""

from __future__ import annotations

import os
import shutil
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio
from filelock import FileLock

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


def made_once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], None]) -> Path:
    """A copy of the directory that one of the test processes makes for all of them: they take turns, and the first makes it."""
    own = factory.getbasetemp()
    shared = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own  # those of one run lie beside each other
    with FileLock(shared / f"{name}.lock"):
        if not (whole := shared / name).exists():
            make(made := factory.mktemp(f"{name}-made"))
            made.rename(whole)
    return Path(shutil.copytree(whole, factory.mktemp(f"{name}-copy"), dirs_exist_ok=True))


@pytest.fixture(scope="session")
def example_catalog(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The example catalog, indexed once with the bundled model."""
    import asyncio

    async def build(directory: Path) -> None:
        async with repertory.open(directory) as rep:
            report = await rep.add(EXAMPLES)
            assert not report.problems, report.problems

    directory = made_once(tmp_path_factory, "example", lambda directory: asyncio.run(build(directory)))
    yield directory
    shutil.rmtree(directory, ignore_errors=True)


def copied(catalog: Path, to: Path) -> Path:
    """A copy of a catalog, which others may have open."""
    return Path(shutil.copytree(catalog, to, ignore=shutil.ignore_patterns("owner*")))


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
