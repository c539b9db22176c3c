"""Can a person search in a real browser?"""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import urlsplit

import httpx2
import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.surfaces.browsing import ask, cards, go
from tests.surfaces.programs import Served, serving


def test_typing_a_query_shows_the_right_card_first(page: Page) -> None:
    ask(page, "schedule a meeting")
    first = cards(page).first
    expect(first).to_have_attribute("data-id", "tool:calendar/create_event")
    expect(first.get_by_role("heading")).to_have_text("create_event")
    expect(first.locator(".card-kind")).to_have_text("tool")
    expect(first.get_by_role("link", name="calendar", exact=True).first).to_have_attribute("href", "#/entry/server:calendar")
    expect(first).to_contain_text("Schedule a meeting or any other event")
    expect(first.locator(".score")).to_have_text("1.00")
    expect(first.locator(".sure")).to_have_text(re.compile(r"^\d+ % likely relevant$"))
    expect(page.get_by_role("status")).to_contain_text(re.compile(r"^20 results · hybrid · \d"))


def test_a_card_says_why_it_is_there(page: Page) -> None:
    ask(page, "schedule a meeting")
    first = cards(page).first
    expect(first.locator("mark")).to_have_text(["Schedule", "meeting"])
    assert first.locator(".lane").all_text_contents() == ["words #1", "spelling #1", "meaning #1"]
    widths = [lane.evaluate("bar => bar.getBoundingClientRect().width") for lane in first.locator(".lane-bar i").all()]
    assert max(widths) > min(widths) > 0
    expect(page.get_by_role("complementary", name="About this answer")).to_contain_text("Looked at")


def test_a_figure_that_is_not_known_is_not_shown(page: Page) -> None:
    go(page, "#/?q=parcel&strategy=bm25")
    expect(cards(page).first).to_be_visible()
    expect(page.locator(".sure")).to_have_count(0)


def test_the_home_says_what_there_is(page: Page, http: httpx2.Client) -> None:
    held = http.get("/health").json()["by_kind"]
    expect(page.locator("#held")).to_contain_text(f"{held['tool']}tools")
    page.locator("#held").get_by_role("link", name="skills").click()
    expect(cards(page).first).to_have_attribute("data-kind", "skill")
    expect(page.locator(".score")).to_have_count(0)  # nothing was asked, so nothing is scored
    expect(page).to_have_url(re.compile(r"#/\?kind=skill$"))


def test_a_kind_is_a_facet_with_its_count(page: Page) -> None:
    ask(page, "late parcel")
    facets = page.get_by_role("group", name="Kinds")
    expect(facets.get_by_role("button", name="All")).to_have_text("All20")
    skills = facets.get_by_role("button", name="Skills")
    number = skills.locator(".number").inner_text()
    skills.click()
    expect(cards(page).first).to_have_attribute("data-id", "skill:late-parcel-reply")
    expect(page.locator(".card-kind").filter(has_not_text="skill")).to_have_count(0)
    expect(skills).to_have_attribute("aria-pressed", "true")
    expect(skills).to_be_focused()
    expect(skills.locator(".number")).to_have_text(number)  # counts are those of the whole answer
    expect(facets.get_by_role("button", name="Tools")).to_be_visible()
    facets.get_by_role("button", name="All").click()
    expect(page.locator(".card-kind", has_text="tool").first).to_be_visible()


def test_tags_are_added_and_removed(page: Page) -> None:
    ask(page, "find")
    page.get_by_label("Add a tag").fill("calendar")
    expect(page.locator("#known-tags option[value=calendar]")).to_have_count(1)  # suggested
    page.keyboard.press("Enter")
    chip = page.get_by_role("button", name="Remove the tag calendar")
    expect(chip).to_be_visible()
    expect(page).to_have_url(re.compile(r"tag=calendar"))
    expect(cards(page).first).to_contain_text("calendar")
    assert all("calendar" in text for text in page.locator(".card .tags").all_text_contents())
    chip.click()
    expect(chip).to_have_count(0)
    expect(page).not_to_have_url(re.compile(r"tag="))


def test_a_tag_on_a_card_is_a_search(page: Page) -> None:
    ask(page, "schedule a meeting")
    cards(page).first.get_by_role("link", name="rooms").click()
    expect(page.get_by_role("button", name="Remove the tag rooms")).to_be_visible()
    expect(page.get_by_role("searchbox")).to_have_value("")


def test_a_link_reproduces_the_search(page: Page, browser: Browser, served: Served) -> None:
    ask(page, "invoice & VAT?")
    page.get_by_text("Options", exact=True).click()
    page.get_by_label("deprecated").check()
    page.get_by_label("Strategy").select_option("bm25")
    page.get_by_role("group", name="Kinds").get_by_role("button", name="Tools").click()
    expect(page.get_by_role("status")).to_contain_text("bm25")
    expected = page.locator(".card").evaluate_all("cards => cards.map(card => card.dataset.id)")
    other = browser.new_page()
    other.goto(page.url)
    expect(other.get_by_role("searchbox")).to_have_value("invoice & VAT?")
    expect(other.locator(".card")).to_have_count(len(expected))
    assert other.locator(".card").evaluate_all("cards => cards.map(card => card.dataset.id)") == expected
    assert other.locator("input[name=deprecated]").is_checked()
    other.close()


def test_what_people_look_for_is_in_no_log(page: Page, served: Served) -> None:
    """The state is in the fragment, which no browser sends."""
    requested: list[str] = []
    page.on("request", lambda request: requested.append(request.url))
    ask(page, "zebra secrets")
    expect(page).to_have_url(re.compile("zebra"))
    expect(page.get_by_role("status")).to_contain_text("results")
    assert requested
    assert not any("zebra" in urlsplit(url).path + urlsplit(url).query for url in requested)
    assert "zebra" not in served.said


def test_more_results_are_shown_on_demand(page: Page) -> None:
    ask(page, "parcel")
    expect(cards(page)).to_have_count(20)
    page.get_by_role("button", name="Show more").click()
    expect(cards(page)).not_to_have_count(20)


def test_going_back_shows_the_same_list(page: Page) -> None:
    ask(page, "schedule a meeting")
    cards(page).nth(2).get_by_role("heading").get_by_role("link").click()
    expect(page.locator("article.entry h1")).to_be_visible()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.go_back()
    expect(cards(page).first).to_have_attribute("data-id", "tool:calendar/create_event")
    assert not any("/api/" in url for url in asked)  # it was still there


def test_typing_errors_are_told(page: Page) -> None:
    ask(page, "canel shpment")
    expect(page.get_by_role("status")).to_contain_text("instead of")


def test_a_bad_pattern_is_shown_with_its_reason(page: Page) -> None:
    go(page, "#/?q=parcel(&strategy=regex")
    expect(page.get_by_role("alert")).to_contain_text("'parcel(' is no regular expression: missing )")
    ask(page, "parcel")
    expect(cards(page).first).to_be_visible()
    expect(page.get_by_role("alert")).to_have_count(0)


def test_where_nothing_answers_it_says_so_and_shows_what_is_nearest(page: Page) -> None:
    ask(page, "how do you peel a mango")
    expect(page.get_by_role("heading", name="Nothing here answers this")).to_be_visible()
    expect(page.locator(".notice")).to_contain_text("the chance of an answer is 0.0")
    expect(page.get_by_role("list", name="Nearest").locator("> li")).to_have_count(3)
    page.get_by_role("button", name="Show results anyway").click()
    expect(cards(page)).to_have_count(20)
    expect(page).to_have_url(re.compile("any=1"))
    ask(page, "how do you peel a mango quickly")  # the next question is judged again
    expect(page.get_by_role("heading", name="Nothing here answers this")).to_be_visible()


def test_filters_that_leave_nothing_can_be_removed(page: Page) -> None:
    go(page, "#/?q=parcel&tag=no-such-tag")
    expect(page.get_by_role("heading", name="No results for “parcel”")).to_be_visible()
    page.get_by_role("button", name="Remove the filters").click()
    expect(cards(page).first).to_be_visible()


def test_a_late_answer_does_not_replace_a_newer_one(page: Page) -> None:
    late: list[Route] = []

    def hold_the_first(route: Route) -> None:
        if late:
            route.continue_()
        else:
            late.append(route)

    page.route("**/api/search", hold_the_first)
    with page.expect_event("requestfailed") as stale, page.expect_request("**/api/search"):
        ask(page, "monthly invoice run")
        page.wait_for_timeout(300)
        ask(page, "schedule a meeting")
    assert "invoice" in (stale.value.post_data or "")  # it was not only ignored: nobody waits for it any more
    expect(cards(page).first).to_have_attribute("data-id", "tool:calendar/create_event")


def test_waiting_is_shown(page: Page) -> None:
    held: list[Route] = []
    page.route("**/api/search", lambda route: held.append(route))
    ask(page, "schedule a meeting")
    expect(page.locator(".skeleton")).to_be_visible()
    expect(page.get_by_role("status")).to_have_text("Searching…")
    held[0].continue_()
    expect(page.locator(".skeleton")).to_have_count(0)


def test_a_service_that_is_gone_is_said_and_can_be_asked_again(page: Page) -> None:
    page.route("**/api/search", lambda route: route.abort("connectionrefused"))
    ask(page, "schedule a meeting")
    expect(page.get_by_role("alert")).to_contain_text("The service does not answer. Is it still running?")
    page.unroute("**/api/search")
    page.get_by_role("button", name="Try again").click()
    expect(cards(page).first).to_have_attribute("data-id", "tool:calendar/create_event")


def test_it_can_be_used_without_a_mouse(page: Page) -> None:
    box = page.get_by_role("searchbox")
    expect(box).to_be_focused()
    page.keyboard.type("invoice/overdue")  # the slash belongs to the query
    expect(box).to_have_value("invoice/overdue")
    expect(cards(page).first).to_be_visible()
    page.keyboard.press("ArrowDown")
    expect(cards(page).nth(0).locator(".card-link")).to_be_focused()
    page.keyboard.press("ArrowDown")
    second = cards(page).nth(1)
    expect(second.locator(".card-link")).to_be_focused()
    name = second.get_by_role("heading").inner_text()
    page.keyboard.press("Enter")
    expect(page.locator("article.entry h1")).to_have_text(name)
    expect(page.locator("article.entry h1")).to_be_focused()
    page.keyboard.press("Escape")
    expect(cards(page).nth(1)).to_be_visible()
    page.keyboard.press("/")
    expect(box).to_be_focused()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowUp")
    expect(box).to_be_focused()
    page.keyboard.press("Tab")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog", name="Keys")).to_have_count(0)


def test_clearing_the_query_leads_home(page: Page) -> None:
    ask(page, "invoice")
    expect(cards(page).first).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#held")).to_be_visible()
    expect(page.get_by_role("status")).to_be_empty()
    expect(page).to_have_url(re.compile(r"#/$"))


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A service that holds nothing yet."""
    with serving(tmp_path_factory.mktemp("nothing") / "catalog", REPERTORY_EMBEDDER="none") as server:
        yield server


def test_an_empty_catalog_says_how_to_fill_it(browser: Browser, empty: Served) -> None:
    page = browser.new_page()
    page.goto(empty.url)
    expect(page.get_by_role("heading", name="Nothing in the catalog yet")).to_be_visible()
    expect(page.locator("pre")).to_contain_text("repertory add PATH")
    page.close()
