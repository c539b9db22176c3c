"""Does the page work in a real browser?"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
import pytest
from playwright.sync_api import Browser, Page, Route, expect, sync_playwright

from tests.conftest import require
from tests.provision import BROWSER
from tests.surfaces.programs import Served

ARGUMENTS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update "
    "--disable-sync"
).split()
HOSTILE = "<img src=x onerror=\"document.title='pwned'\"><script>document.title='pwned'</script> catches unicorns"
LONG = "unicorn" + "x" * 150


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    program = require(BROWSER)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture
def page(browser: Browser, served: Served) -> Iterator[Page]:
    """The page, just opened."""
    page = browser.new_page()
    page.goto(served.url)
    yield page
    page.close()


@pytest.fixture(scope="module")
def _unicorns(served: Served, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Entries that somebody wrote to do harm, or without thinking of small screens."""
    folder = tmp_path_factory.mktemp("unicorns")
    tools = [{"name": "<b>net</b>", "description": HOSTILE}, {"name": LONG, "description": f"Feeds unicorns. {LONG}"}]
    (folder / "tools.json").write_text(json.dumps({"server": {"name": "<i>zoo</i>"}, "tools": tools}))
    added = httpx2.post(f"{served.url}/api/add", json={"path": str(folder)}, headers=served.as_owner, timeout=30, trust_env=False)
    assert json.loads(added.text.splitlines()[-1])["report"]["added"] == 3, added.text


def ask(page: Page, query: str) -> None:
    page.get_by_role("searchbox", name="What are you looking for?").fill(query)


def test_typing_a_query_shows_the_right_card_first(page: Page) -> None:
    ask(page, "schedule a meeting")
    first = page.get_by_role("listitem").first
    expect(first).to_have_attribute("data-id", "tool:calendar/create_event")
    expect(first).to_contain_text("create_event")
    expect(first).to_contain_text("calendar/create_event")
    expect(first).to_contain_text("Schedule a meeting or any other event")
    expect(first).to_contain_text("1.00")
    expect(first).to_contain_text("found by bm25 #1, grams #1, vector #1")
    expect(page.get_by_role("status")).to_contain_text("10 results · hybrid")


def test_the_heading_says_what_there_is(page: Page, http: httpx2.Client) -> None:
    held = http.get("/health").json()["by_kind"]
    expect(page.locator("#held")).to_contain_text(f"{held['tool']} tools")
    expect(page.locator("#held")).to_contain_text(f"{held['skill']} skills")


def test_another_kind_is_searched_at_once(page: Page) -> None:
    ask(page, "late parcel")
    expect(page.get_by_role("listitem").first).to_be_visible()
    page.get_by_label("Kind").select_option("skills")
    expect(page.get_by_role("listitem").first).to_have_attribute("data-id", "skill:late-parcel-reply")
    assert set(page.locator("li .kind").all_text_contents()) == {"skill"}


def test_a_bad_pattern_is_shown_with_its_reason(page: Page) -> None:
    ask(page, "parcel")
    expect(page.get_by_role("listitem").first).to_be_visible()
    page.get_by_label("Strategy").select_option("regex")
    ask(page, "parcel(")
    expect(page.get_by_role("status")).to_contain_text("'parcel(' is no regular expression: missing )")
    expect(page.get_by_role("status")).to_have_class("problem")
    expect(page.get_by_role("listitem")).to_have_count(0)
    ask(page, "parcel")
    expect(page.get_by_role("listitem").first).to_be_visible()
    expect(page.get_by_role("status")).not_to_have_class("problem")


@pytest.mark.usefixtures("_unicorns")
def test_hostile_text_is_shown_as_text(page: Page) -> None:
    ask(page, "catches unicorns")
    card = page.get_by_role("listitem").filter(has_text="onerror")
    expect(card).to_contain_text(HOSTILE)
    expect(card).to_contain_text("<b>net</b>")
    expect(card).to_contain_text("<i>zoo</i>/<b>net</b>")
    assert page.locator("#results").locator("img, script, b b, i").count() == 0
    assert page.title() == "Repertory"


@pytest.mark.usefixtures("_unicorns")
@pytest.mark.parametrize("width", [320, 390, 1280])
def test_nothing_is_wider_than_the_window(page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 844})
    for query, shown in (("unicorn", LONG), ("how long do we keep parcel data", "data-retention.md")):
        ask(page, query)
        expect(page.get_by_role("list")).to_contain_text(shown)
        edges: list[float] = page.evaluate("[...document.querySelectorAll('body *')].map(e => e.getBoundingClientRect().right)")
        assert max(edges) <= width
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_the_page_talks_to_its_own_origin_only_and_without_errors(browser: Browser, served: Served) -> None:
    page = browser.new_page()
    asked: list[str] = []
    wrong: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: wrong.append(message.text))
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.goto(served.url)
    expect(page.locator("#held")).to_contain_text("tools")
    ask(page, "schedule a meeting")
    expect(page.get_by_role("listitem").first).to_be_visible()
    page.close()
    own = [url for url in asked if not url.startswith("data:")]
    assert {f"{urlsplit(url).scheme}://{urlsplit(url).netloc}" for url in own} == {served.url}
    assert {urlsplit(url).path for url in own} == {"/", "/health", "/api/search"}
    assert wrong == []


def test_a_late_answer_does_not_replace_a_newer_one(page: Page) -> None:
    late: list[Route] = []

    def hold_the_first(route: Route) -> None:
        if late:
            route.continue_()
        else:
            late.append(route)

    page.route("**/api/search", hold_the_first)
    with page.expect_request("**/api/search"):
        ask(page, "monthly invoice run")
    ask(page, "schedule a meeting")
    first = page.get_by_role("listitem").first
    expect(first).to_have_attribute("data-id", "tool:calendar/create_event")
    with page.expect_response(lambda response: "invoice" in (response.request.post_data or "")):
        late[0].continue_()
    page.wait_for_timeout(100)  # long enough for the page to have drawn it
    expect(first).to_have_attribute("data-id", "tool:calendar/create_event")


def test_a_service_that_is_gone_is_said(page: Page) -> None:
    page.route("**/api/search", lambda route: route.abort("connectionrefused"))
    ask(page, "anything")
    expect(page.get_by_role("status")).to_have_text("The service does not answer. Is it still running?")
    expect(page.get_by_role("status")).to_have_class("problem")


def test_it_can_be_used_without_a_mouse(page: Page) -> None:
    box = page.get_by_role("searchbox")
    expect(box).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.get_by_label("Kind")).to_be_focused()
    page.keyboard.press("/")
    expect(box).to_be_focused()
    page.keyboard.type("invoice/overdue")  # the slash belongs to the query now
    expect(box).to_have_value("invoice/overdue")
    page.keyboard.press("Enter")
    expect(page.get_by_role("status")).to_contain_text("result")


def test_clearing_the_query_clears_the_answer(page: Page) -> None:
    ask(page, "invoice")
    expect(page.get_by_role("listitem").first).to_be_visible()
    ask(page, "")
    expect(page.get_by_role("listitem")).to_have_count(0)
    expect(page.get_by_role("status")).to_be_empty()


def test_the_page_is_one_file(served: Served) -> None:
    source = httpx2.get(served.url, trust_env=False).text
    assert source == (Path(__file__).parents[2] / "src" / "repertory" / "web" / "index.html").read_text("utf-8")
    assert "://" not in source.replace("http://www.w3.org/2000/svg", "")
