"""How do the tests of the page look at it?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx2
from playwright.sync_api import Locator, Page

from tests.surfaces.programs import Served

ARGUMENTS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update "
    "--disable-sync"
).split()


def ask(page: Page, query: str) -> None:
    """Type into the search box."""
    page.get_by_role("searchbox", name="What are you looking for?").fill(query)


def cards(page: Page) -> Locator:
    """The results."""
    return page.get_by_role("list", name="Results").locator("> li")


def go(page: Page, fragment: str) -> None:
    """To another view, as a link would."""
    page.evaluate("fragment => { location.hash = fragment; }", fragment)


def add(served: Served, path: Path) -> dict[str, Any]:
    """What is at the path goes into the served catalog; answers the report."""
    added = httpx2.post(f"{served.url}/api/add", json={"path": str(path)}, headers=served.as_owner, timeout=60, trust_env=False)
    report: dict[str, Any] = json.loads(added.text.splitlines()[-1])["report"]
    return report
