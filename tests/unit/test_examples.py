"""Does the example catalog answer the questions that a newcomer tries first, and is it whole?"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.catalogs import ask, ids
from tests.conftest import EXAMPLES

from repertory.app import Repertory
from repertory.evaluate.sets import load
from repertory.model import PUBLIC, Bucket, Entity, Filter, Kind, Strategy
from repertory.sources import frontmatter, inline, sections
from repertory.sources.folder import read_path
from repertory.sources.inline import Target
from repertory.sources.pages import Pages

LEAST = {Kind.MCP_SERVER: 40, Kind.TOOL: 300, Kind.A2A_AGENT: 15, Kind.SKILL: 25, Kind.VIRTUAL_SERVER: 3, Kind.DOCUMENT: 60}
COMPANY = EXAMPLES.parent / "labelled" / "company"
PAGES = sorted((EXAMPLES / "notes").rglob("*.md"))
_LINK = re.compile(r"\[\[([^\[\]|\n]+)|\]\((?!\w+:)([^()\s]+)\)")


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("schedule a meeting", "tool:calendar/create_event"),
        ("save text to disk", "tool:workspace-files/write_file"),
        ("C++", "tool:build-server/compile-cpp"),
        ("공휴일", "tool:korea-maps-weather/list_public_holidays"),
        ("сповіщення про затримку", "tool:mail/send_sms_notice"),
    ],
)
async def test_the_right_tool_is_first(examples: Repertory, query: str, expected: str) -> None:
    assert ids(await ask(examples, query))[0] == expected


@pytest.mark.parametrize("strategy", [Strategy.BM25, Strategy.KEYWORD])
async def test_korean_and_ukrainian_words_are_found_without_a_model(examples: Repertory, strategy: Strategy) -> None:
    tools = frozenset({Kind.TOOL})
    assert ids(await ask(examples, "공휴일", strategy=strategy, kinds=tools))[0] == "tool:korea-maps-weather/list_public_holidays"
    assert ids(await ask(examples, "сповіщення", strategy=strategy, kinds=tools))[0].startswith("tool:mail/")


async def test_a_pattern_finds_the_tool_by_its_name_first(examples: Repertory) -> None:
    assert ids(await ask(examples, "read_file", strategy=Strategy.REGEX))[0] == "tool:workspace-files/read_file"


@pytest.fixture(scope="module")
def entities() -> dict[str, Entity]:
    """Everything that the folder holds, hidden entries too; a problem would be no entity."""
    items = list(read_path(EXAMPLES, "catalog"))
    assert [item for item in items if not isinstance(item, Entity)] == []
    return {item.id: item for item in items if isinstance(item, Entity)}


def test_there_is_enough_of_every_kind_to_search_in(entities: dict[str, Entity]) -> None:
    found = Counter(entity.kind for entity in entities.values())
    assert {kind: found[kind] for kind, least in LEAST.items() if found[kind] < least} == {}


def test_skills_and_virtual_servers_name_tools_that_exist(entities: dict[str, Entity]) -> None:
    tools = {entity.name for entity in entities.values() if entity.kind is Kind.TOOL}
    for entity in entities.values():
        assert set(entity.details.get("allowed_tools", ())) <= tools, entity.id
        assert all(link.target in entities for link in entity.links), entity.id


def test_the_labelled_company_is_the_example_catalog(entities: dict[str, Entity]) -> None:
    labelled = load(COMPANY)
    told = {
        entity.id: (entity.name, entity.description)
        for entity in entities.values()
        if Filter(audience=frozenset({PUBLIC})).admits(Bucket.of(entity)) and entity.kind is not Kind.VIRTUAL_SERVER
    }
    copied = {_in_catalog(entity): (entity.name, entity.description) for entity in labelled.entities}
    assert copied == told
    paths = {entity.path for entity in labelled.entities}
    assert len(labelled.queries) >= 60
    assert all(query.grades.keys() <= paths for query in labelled.queries)


def _in_catalog(entity: Entity) -> str:
    """The id that an entry of the labelled set has in the catalog: there a page is a file of a source."""
    return f"doc:catalog/{entity.path}.md" if entity.kind is Kind.DOCUMENT else entity.id


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_no_link_of_a_page_dangles(page: Path) -> None:
    pages = Pages(EXAMPLES, EXAMPLES.rglob("*.md"))
    beside = page.with_name("elsewhere.md").relative_to(EXAMPLES).as_posix()  # a link to the page itself counts too
    for written, wiki in _links(page):
        name, _, heading = written.partition("#")
        found = pages.entity_id(Target(name, wiki=wiki), beside, "")
        assert found, written
        spellings = {shown if wiki else _anchor(shown) for shown in _headings(EXAMPLES / found.removeprefix("doc:"))}
        assert not heading or heading in spellings, written


def _links(page: Path) -> Iterator[tuple[str, bool]]:
    """Every link as it is written, and whether it goes by name; code links nowhere."""
    content = frontmatter.split(page.read_text("utf-8"))
    assert content.head
    yield from ((name, True) for name in content.head.value["related"])
    for section in sections.scan(content.body):
        for block in section.blocks:
            for match in _LINK.finditer("" if block.is_code else inline.without_code(block.text)):
                yield (match[1].rstrip("\\"), True) if match[1] else (match[2], False)


def _headings(page: Path) -> set[str]:
    return {section.title for section in sections.scan(frontmatter.split(page.read_text("utf-8")).body) if section.path}


def _anchor(heading: str) -> str:
    """A heading as part of an address."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
