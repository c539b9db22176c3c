"""Can a person ask on the page, see where an answer comes from, and what went wrong?"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.surfaces.browsing import go
from tests.surfaces.programs import serving
from tests.surfaces.test_chat import QUESTION, models

__all__ = ["models"]


@contextmanager
def asking(browser: Browser, catalog: Path, tmp_path: Path, models: str, model: str, width: int = 1280) -> Iterator[Page]:
    """The Ask tab of a service with this model."""
    copy = tmp_path / "catalog"
    shutil.copytree(catalog, copy)
    with serving(copy, REPERTORY_CHAT_URL=models, REPERTORY_CHAT_MODEL=model) as served:
        page = browser.new_page(viewport={"width": width, "height": 900})
        page.goto(f"{served.url}/#/ask")
        yield page
        page.close()


def put(page: Page, question: str) -> None:
    """Type a question and ask it, without a mouse."""
    page.get_by_label("Your question").fill(question)
    page.keyboard.press("Enter")


def test_an_answer_shows_its_sources_and_what_was_retrieved(browser: Browser, catalog: Path, tmp_path: Path, models: str) -> None:
    with asking(browser, catalog, tmp_path, models, "invents") as page:
        put(page, QUESTION)
        turn = page.get_by_role("list", name="Conversation").locator("> li")
        expect(turn.get_by_role("heading", name=QUESTION)).to_be_visible()
        expect(turn.locator(".answer-text")).to_have_text("True 1. Made up. Both 1. Odd. See 1 (http://evil.example). Code: list[0].")
        expect(turn.locator(".answer-text a")).to_have_count(3)  # the citations: a model's own addresses are no links
        expect(turn.get_by_text("2 citations of what was not found")).to_be_visible()
        expect(turn.get_by_text("Retrieved: 5 passages, 1 cited")).to_be_visible()
        expect(turn.get_by_role("list", name="Retrieved passages").locator("> li")).to_have_count(5)
        expect(page.get_by_role("status")).to_have_text("Answered, with 1 source.")
        page.get_by_role("link", name="Source 1: Data retention").first.click()
        cited = page.get_by_role("group", name="The passage that was cited")
        expect(cited).to_be_focused()
        expect(cited).to_be_in_viewport()
        expect(page).to_have_url(re.compile(r"#/entry/doc:catalog/notes/data-retention\.md\?at=\d+$"))
        page.keyboard.press("Escape")  # back, and the conversation is still there
        expect(turn.locator(".answer-text")).to_contain_text("Made up")
        page.get_by_role("button", name="New conversation").click()
        expect(turn).to_have_count(0)


def test_an_answer_can_be_stopped_and_asked_for_again(browser: Browser, catalog: Path, tmp_path: Path, models: str) -> None:
    with asking(browser, catalog, tmp_path, models, "endless#page", width=390) as page:
        put(page, QUESTION)
        expect(page.locator(".answer-text .cite").first).to_be_visible()  # while it comes
        expect(page.locator(".answer")).to_have_attribute("aria-busy", "true")
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        page.keyboard.press("Escape")
        expect(page.get_by_text("Stopped. Ask again")).to_be_visible()
        expect(page.locator(".answer")).to_have_attribute("aria-busy", "false")
        page.get_by_role("button", name="Ask again").click()
        expect(page.locator(".answer-text .cite").first).to_be_visible()
        page.get_by_role("button", name="Stop").click()
        expect(page.get_by_text("Stopped. Ask again")).to_be_visible()


@pytest.mark.parametrize(("model", "said"), [("http-401#page", "Check the API key"), ("uncited#page", "This answer cites nothing")])
def test_what_a_reader_should_know_is_said(browser: Browser, catalog: Path, tmp_path: Path, models: str, model: str, said: str) -> None:
    with asking(browser, catalog, tmp_path, models, model) as page:
        put(page, QUESTION)
        expect(page.locator(".remark", has_text=said)).to_be_visible()
        expect(page.get_by_text(re.compile("Retrieved: 5 passages"))).to_be_visible()


def test_without_a_model_passages_answer_and_what_is_not_there_is_said(page: Page) -> None:
    page.keyboard.press("Escape")
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("a")
    expect(page.get_by_label("Your question")).to_be_focused()
    put(page, QUESTION)
    expect(page.get_by_text("No model is configured")).to_be_visible()
    expect(page.locator(".answer-text blockquote").first).to_contain_text("How long we keep what")
    put(page, "how do you peel a mango")
    expect(page.get_by_role("heading", name="Not in the documents")).to_be_visible()
    expect(page.get_by_role("heading", name="The nearest topics")).to_be_visible()
    put(page, "hello")
    expect(page.locator(".turn").nth(2)).to_contain_text("Ask about what is in the catalog")


def test_a_service_that_is_gone_is_said(page: Page) -> None:
    go(page, "#/ask")
    page.route("**/chat", lambda route: route.abort())
    put(page, QUESTION)
    expect(page.get_by_role("alert")).to_contain_text("Out of reach")
    page.unroute("**/chat")
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_text("No model is configured")).to_be_visible()
    expect(page.locator(".turn")).to_have_count(1)
