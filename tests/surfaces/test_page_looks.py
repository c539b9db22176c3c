"""Is the page for everybody, in any light, and only what it claims to be?"""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.conftest import require
from tests.provision import AXE
from tests.surfaces.browsing import ask, cards, go
from tests.surfaces.programs import Served

WEB = Path(__file__).parents[2] / "src" / "repertory" / "web"
VIEWS = {
    "home": "#/",
    "results": "#/?q=schedule+a+meeting",
    "abstained": "#/?q=how+do+you+peel+a+mango",
    "tool": "#/entry/tool:calendar/create_event",
    "skill": "#/entry/skill:cpp-build-triage",
    "document": "#/entry/doc:catalog/notes/coding-standards.md",
    "agent": "#/entry/agent:contract-reader",
    "server": "#/entry/server:calendar",
    "graph": "#/graph/server:calendar",
    "ask": "#/ask",
    "passages": "#/ask?q=How+long+do+we+keep+personal+data",
    "cited": "#/entry/doc:catalog/notes/data-retention.md?at=2",
    "compare": "#/compare?q=schedule+a+meeting",
    "sources": "#/sources",
    "sign-in": "#/sign-in",
    "admin": "#/admin",
}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nobody_is_kept_out(browser: Browser, served: Served, scheme: Any) -> None:
    """axe finds nothing in any view: names, roles, contrast, order of headings, landmarks."""
    checker = Path(require(AXE)).read_text("utf-8")
    context = browser.new_context(color_scheme=scheme, bypass_csp=True, reduced_motion="reduce", viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.goto(served.url)
    page.evaluate(checker)
    found: dict[str, list[str]] = {}
    for name, fragment in VIEWS.items():
        go(page, fragment)
        expect(page.locator("main h1").first).to_be_attached()
        expect(page.locator(".skeleton")).to_have_count(0)
        page.wait_for_load_state("networkidle")
        violations = page.evaluate("axe.run().then(found => found.violations)")
        found[name] = [f"{one['id']}: {node['html'][:160]}" for one in violations for node in one["nodes"]]
    context.close()
    assert {name: problems for name, problems in found.items() if problems} == {}


def test_light_and_dark_follow_the_system_until_somebody_chooses(browser: Browser, served: Served) -> None:
    context = browser.new_context(color_scheme="dark")
    page = context.new_page()
    page.goto(served.url)
    ground = "getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(ground)
    page.get_by_role("button", name="Theme: system").click()
    page.get_by_role("button", name="Theme: light").wait_for()
    light = page.evaluate(ground)
    assert light != dark
    page.reload()
    assert page.evaluate(ground) == light  # remembered
    page.get_by_role("button", name="Theme: light").click()
    assert page.evaluate(ground) == dark
    page.get_by_role("button", name="Theme: dark").click()
    page.emulate_media(color_scheme="light")
    assert page.evaluate(ground) == light  # the system's again
    context.close()


def test_who_wants_no_motion_gets_none(browser: Browser, served: Served) -> None:
    context = browser.new_context(reduced_motion="reduce")
    page = context.new_page()
    page.goto(served.url)
    page.route("**/api/search", lambda route: None)
    ask(page, "parcel")
    bone = page.locator(".bone span").first
    expect(bone).to_be_visible()
    assert bone.evaluate("bone => getComputedStyle(bone).animationName") == "none"
    context.close()


def test_the_page_talks_to_its_own_origin_only_and_without_errors(browser: Browser, served: Served) -> None:
    page = browser.new_page()
    asked: list[str] = []
    wrong: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: wrong.append(message.text))
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.goto(served.url)
    ask(page, "schedule a meeting")
    expect(cards(page).first).to_be_visible()
    for fragment in VIEWS.values():
        if fragment != "#/sources":  # whose list is closed to strangers: the browser itself reports the 403
            go(page, fragment)
            page.wait_for_load_state("networkidle")
    page.close()
    assert {f"{urlsplit(url).scheme}://{urlsplit(url).netloc}" for url in asked} == {served.url}
    assert wrong == []


def test_the_browser_itself_refuses_markup_made_from_text(page: Page) -> None:
    """A mistake of ours would be an error, not an open door."""
    assert (
        page.evaluate("() => { try { document.body.innerHTML = '<b>x</b>'; return 'made'; } catch (error) { return error.name; } }")
        == "TypeError"
    )


def test_every_file_is_served_as_what_it_is(served: Served) -> None:
    with httpx2.Client(base_url=served.url, trust_env=False) as client:
        home = client.get("/")
        assert home.headers["content-type"] == "text/html; charset=utf-8"
        policy = home.headers["content-security-policy"]
        assert "script-src 'self';" in policy
        assert "style-src 'self';" in policy
        assert "unsafe" not in policy
        assert home.headers["cache-control"] == "no-cache"
        again = client.get("/", headers={"If-None-Match": home.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")
        prefix = f"/page/{home.headers['etag'].strip(chr(34))}"
        assert f'src="{prefix[1:]}/js/main.js"' in home.text
        types = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
        parts = [file for file in WEB.rglob("*") if file.suffix in types]
        assert len(parts) > 15
        for file in parts:
            part = client.get(f"{prefix}/{file.relative_to(WEB).as_posix()}")
            assert part.content == file.read_bytes()
            assert part.headers["content-type"] == f"{types[file.suffix]}; charset=utf-8"
            assert "immutable" in part.headers["cache-control"]
            assert part.headers["x-content-type-options"] == "nosniff"
        for elsewhere in (f"{prefix}/index.html", f"{prefix}/__init__.py", f"{prefix}/../rest/page.py", "/page/another/js/main.js"):
            assert client.get(elsewhere).status_code == 404


def test_no_file_names_another_place() -> None:
    """Works offline: no CDN, no fonts, no pictures from elsewhere; and no way around the text nodes."""
    for file in WEB.rglob("*"):
        if file.suffix in {".js", ".css", ".html"}:
            source = file.read_text("utf-8").replace("http://www.w3.org/2000/svg", "").replace("https://registry.example", "")
            assert "://" not in source.replace("https?:\\/\\/", "").replace('"https://"', ""), file
            assert not any(
                word in source.replace("uses innerHTML", "")
                for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(")
            ), file
            assert "<style" not in source
            assert file.suffix != ".html" or "<script>" not in source
