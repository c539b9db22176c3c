"""What do the tests of the surfaces share?"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import NamedTuple

import httpx2
import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from tests.conftest import EXAMPLES, made_once, require
from tests.provision import BROWSER
from tests.surfaces.browsing import ARGUMENTS
from tests.surfaces.programs import Ran, Served, run_in_terminal, serving


class Added(NamedTuple):
    """A catalog, and what the command that filled it said."""

    catalog: Path
    ran: Ran


@pytest.fixture(scope="session")
def added(tmp_path_factory: pytest.TempPathFactory) -> Added:
    """The example catalog as `repertory add` makes it."""

    def add(directory: Path) -> None:
        ran = run_in_terminal("add", EXAMPLES, catalog=directory / "catalog")
        assert ran.code == 0, ran.err
        (directory / "ran.json").write_text(json.dumps(asdict(ran)), "utf-8")

    directory = made_once(tmp_path_factory, "surfaces", add)
    return Added(directory / "catalog", Ran(**json.loads((directory / "ran.json").read_text("utf-8"))))


@pytest.fixture(scope="session")
def catalog(added: Added) -> Path:
    """The example catalog; nobody has it open."""
    return added.catalog


@pytest.fixture(scope="session")
def served(catalog: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server over a copy of the example catalog."""
    copy = tmp_path_factory.mktemp("served") / "catalog"
    shutil.copytree(catalog, copy)
    with serving(copy) as server:
        yield server


@pytest.fixture(scope="session")
def http(served: Served) -> Iterator[httpx2.Client]:
    """A client of the server that shows no token."""
    with httpx2.Client(base_url=served.url, timeout=30, trust_env=False) as client:
        yield client


@pytest.fixture(scope="module")  # not longer: while it drives the browser, its event loop keeps asynchronous tests from running
def browser() -> Iterator[Browser]:
    """A real browser."""
    program = require(BROWSER)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture
def page(browser: Browser, served: Served) -> Iterator[Page]:
    """The page, just opened by somebody nobody knows."""
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto(served.url)
    yield page
    page.close()
