"""Is everything that an entry says shown, and nothing that it wants done?"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.surfaces.browsing import add, ask, cards, go
from tests.surfaces.programs import Served

HARM = "document.title='pwned'"
HOSTILE = f'<img src=x onerror="{HARM}"><script>{HARM}</script> catches unicorns'
LONG = "unicorn" + "x" * 150
SKILL = f"""---
name: unicorn-care
description: How to keep unicorns. {HOSTILE}
---
# Unicorn care

## Feeding <script>{HARM}</script>

Give them **oats**, *never* `hay`, see [the manual](https://example.org/manual) and [[parcel-data-model|the model]].
Do not [click](javascript:{HARM}) or [this]( JaVaScRiPt:{HARM}) or [that](data:text/html,<script>{HARM}</script>), nor <javascript:{HARM}>.
![a unicorn](https://example.org/unicorn.png)

<iframe src="javascript:{HARM}"></iframe>

1. first
2. second
   - nested

> quoted

| Sign | Meaning |
|------|---------|
| horn | `<b>good</b>` |

```html
<script>{HARM}</script>
```
"""


@pytest.fixture(scope="module", autouse=True)
def _unicorns(served: Served, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Entries that somebody wrote to do harm, or without thinking of small screens."""
    folder = tmp_path_factory.mktemp("unicorns")
    schema = {
        "type": "object",
        "required": ["horn"],
        "properties": {
            "horn": {"type": "string", "description": HOSTILE, "enum": ["<b>gold</b>", "silver"], "default": "silver"},
            "rider": {"$ref": "#/$defs/rider"},
            "stops": {"type": "array", "items": {"type": "object", "properties": {"city": {"type": "string"}}}},
        },
        "$defs": {
            "rider": {"type": "object", "properties": {"age": {"type": "integer", "minimum": 12}, "friend": {"$ref": "#/$defs/rider"}}}
        },
    }
    tools = [
        {"name": "<b>net</b>", "description": HOSTILE, "inputSchema": schema, "annotations": {"destructiveHint": True, "title": HOSTILE}},
        {"name": LONG, "description": f"Feeds unicorns. {LONG}"},
    ]
    (folder / "tools.json").write_text(json.dumps({"server": {"name": "<i>zoo</i>", "tags": ["<u>zoo</u>"]}, "tools": tools}))
    (folder / "unicorn-care").mkdir()
    (folder / "unicorn-care" / "SKILL.md").write_text(SKILL)
    (folder / "agent.json").write_text(json.dumps(_agent()))
    report = add(served, folder)
    assert report["added"] == 5, report


def _agent() -> dict[str, object]:
    return {
        "name": "Unicorn rider",
        "description": HOSTILE,
        "version": "1",
        "url": f"javascript:{HARM}",
        "capabilities": {"streaming": True},
        "defaultInputModes": ["text/plain"],
        "defaultOutputModes": ["text/plain"],
        "skills": [{"id": "ride", "name": "Ride <b>far</b>", "description": HOSTILE, "tags": ["riding"], "examples": [HOSTILE]}],
    }


def unharmed(page: Page) -> None:
    """Nothing of what was written was read as markup, or run."""
    assert page.locator("main").locator("img, script, iframe, b b, u, i i").count() == 0
    hrefs = page.locator("main a").evaluate_all(
        "links => links.map(link => link.getAttribute('href') ?? link.getAttribute('xlink:href') ?? '')"
    )
    assert all(href == "" or re.match(r"#/|https?://", href) for href in hrefs), hrefs
    assert "pwned" not in page.title()


def test_hostile_text_is_shown_as_text(page: Page) -> None:
    ask(page, "catches unicorns")
    card = cards(page).filter(has_text="onerror").first
    expect(card).to_contain_text(HOSTILE[:60])
    expect(cards(page).filter(has_text="<b>net</b>")).not_to_have_count(0)
    unharmed(page)


def test_a_tool_shows_what_it_takes(page: Page) -> None:
    go(page, "#/entry/tool:calendar/create_event")
    expect(page.locator("h1")).to_have_text("create_event")
    expect(page).to_have_title("create_event · Repertory")
    takes = page.get_by_role("region", name="Parameters")
    title = takes.get_by_role("row").filter(has=page.get_by_role("rowheader", name="title"))
    expect(title).to_contain_text("required")
    expect(title).to_contain_text("Subject line shown in the calendar")
    expect(title).to_contain_text("max. length 200")
    expect(takes.get_by_role("row").filter(has_text="attendees")).to_contain_text("list of string (email)")
    expect(takes.get_by_role("row").filter(has_text="video_link")).to_contain_text("default true")
    gives = page.get_by_role("region", name="Answer")
    expect(gives).to_contain_text("one of sent queued none")
    expect(page.locator(".hints")).to_contain_text("may write")
    aside = page.get_by_role("complementary", name="Facts")
    expect(aside).to_contain_text("tool:calendar/create_event")
    expect(aside.get_by_role("heading", name="Next steps")).to_be_visible()


def test_a_nested_and_hostile_schema_is_a_table(page: Page) -> None:
    go(page, "#/entry/" + "tool:<i>zoo</i>/<b>net</b>".replace("<", "%3C").replace(">", "%3E"))
    table = page.get_by_role("region", name="Parameters")
    expect(table.locator("tr", has_text="horn")).to_contain_text("one of <b>gold</b> silver")
    expect(table.locator("tr", has_text="horn")).to_contain_text("default silver")
    expect(table.locator("[data-depth='1']").first).to_have_text("age")
    expect(table.locator("tr", has_text="age").first).to_contain_text("at least 12")
    expect(table.locator("tr", has_text="city")).to_contain_text("string")
    assert 1 < table.locator("tr").count() < 30  # a schema that holds itself ends
    expect(page.locator(".hints")).to_contain_text("may destroy")
    unharmed(page)


def test_markdown_is_shown_as_it_is_meant(page: Page) -> None:
    go(page, "#/entry/skill:unicorn-care")
    prose = page.locator(".prose")
    expect(prose.get_by_role("heading", name="Unicorn care", level=2)).to_be_visible()
    expect(prose.get_by_role("heading", level=3)).to_have_text(f"Feeding <script>{HARM}</script>")
    expect(prose.locator("strong")).to_have_text("oats")
    expect(prose.locator("em")).to_have_text("never")
    expect(prose.locator("p code").first).to_have_text("hay")
    expect(prose.get_by_role("link", name="the manual")).to_have_attribute("href", "https://example.org/manual")
    expect(prose.get_by_role("link", name="the manual")).to_have_attribute("rel", "noopener noreferrer")
    expect(prose.get_by_role("link", name="the model")).to_have_attribute("href", "#/?q=parcel-data-model")
    expect(prose.locator("ol > li")).to_have_count(2)
    expect(prose.locator("ol ul li")).to_have_text("nested")
    expect(prose.locator("blockquote")).to_have_text("quoted")
    expect(prose.locator("td").last).to_have_text("<b>good</b>")
    expect(prose.locator("pre")).to_have_text(f"<script>{HARM}</script>")
    assert prose.get_by_role("link").count() == 2  # what leads elsewhere than to the web is no link
    expect(prose).to_contain_text("click")
    unharmed(page)


def test_a_document_keeps_its_headings(page: Page) -> None:
    go(page, "#/entry/doc:catalog/notes/coding-standards.md")
    expect(page.get_by_role("heading", name="All languages", level=2)).to_be_visible()
    expect(page.get_by_role("heading", name="C++", level=2, exact=True)).to_be_visible()
    expect(page.locator(".prose pre").first).to_contain_text("std::expected<Route, SolveError> solve")
    expect(page.locator(".prose table").first).to_contain_text("E0308")


def test_an_agent_shows_its_card(page: Page) -> None:
    go(page, "#/entry/agent:contract-reader")
    expect(page.get_by_text("Answer a contract question")).to_be_visible()
    expect(page.get_by_text("“Which carrier contracts can be ended before the end of June?”")).to_be_visible()
    expect(page.locator(".hints")).to_contain_text("streaming")
    expect(page.get_by_role("link", name="https://agents.northwind-harbor.example/contract-reader/rest").first).to_be_visible()
    go(page, "#/entry/agent:unicorn-rider")
    expect(page.locator("h1")).to_have_text("Unicorn rider")
    expect(page.locator("article")).to_contain_text("Ride <b>far</b>")
    unharmed(page)


def test_a_server_lists_its_tools(page: Page) -> None:
    go(page, "#/entry/server:calendar")
    page.locator(".rows").get_by_role("link", name="book_room").click()
    expect(page.locator("h1")).to_have_text("book_room")
    expect(page.locator(".entry-kind")).to_contain_text("tool of calendar")


def test_the_graph_is_drawn_the_same_every_time_and_can_be_walked(page: Page) -> None:
    go(page, "#/graph/server:calendar")
    picture = page.locator(".graph svg")
    expect(picture.locator("a")).to_have_count(9)
    places = picture.locator("a").evaluate_all("nodes => nodes.map(node => node.getAttribute('transform'))")
    page.reload()
    expect(picture.locator("a")).to_have_count(9)
    assert picture.locator("a").evaluate_all("nodes => nodes.map(node => node.getAttribute('transform'))") == places
    assert len(set(places)) == 9
    assert picture.locator("line").count() == 8
    listed = page.locator(".edge-lists")
    expect(listed).to_contain_text("has tool")
    expect(listed.get_by_role("link", name="create_event").first).to_have_attribute("href", "#/entry/tool:calendar/create_event")
    picture.locator("a[aria-label='tool create_event']").focus()
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text("Around create_event")


def test_an_entry_that_is_not_there_is_said(page: Page) -> None:
    go(page, "#/entry/tool:nope")
    expect(page.get_by_role("alert")).to_contain_text("Not here")
    expect(page.get_by_role("alert")).to_contain_text("tool:nope")


def test_snippets_are_ready_to_copy(page: Page, served: Served, tmp_path: Path) -> None:
    (tmp_path / "agent.json").write_text(json.dumps({**_agent(), "name": "Pony rider", "url": "https://agents.example/pony"}))
    assert add(served, tmp_path)["added"] == 1
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    go(page, "#/entry/agent:pony-rider")
    box = page.locator(".copyable").first
    expect(box.locator("pre")).to_contain_text("https://agents.example/pony")
    box.get_by_role("button", name="Copy").click()
    expect(box.get_by_role("button")).to_have_text("Copied")
    assert page.evaluate("navigator.clipboard.readText()") == box.locator("pre").inner_text()


@pytest.mark.parametrize("width", [320, 390, 1280])
def test_nothing_is_wider_than_the_window(page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 844})
    for fragment in (
        "#/?q=unicorn",
        "#/?q=how+long+do+we+keep+parcel+data",
        f"#/entry/tool:%3Ci%3Ezoo%3C/i%3E/{LONG}",
        "#/entry/tool:calendar/create_event",
        "#/entry/skill:unicorn-care",
        "#/graph/server:calendar",
        "#/compare?q=unicorn",
        "#/sources",
        "#/sign-in",
    ):
        go(page, fragment)
        expect(page.locator(".skeleton")).to_have_count(0)
        expect(page.locator("main h1, main .card, main .notice").first).to_be_attached()
        page.wait_for_load_state("networkidle")
        assert page.evaluate("document.documentElement.scrollWidth") <= width, fragment
