from __future__ import annotations

import pytest

from repertory.errors import InvalidRequest, NotFound
from repertory.gateway.resolve import MAX_NAME, exposed_name, resolve
from repertory.model import Entity, Kind

CATALOG = [
    Entity(Kind.TOOL, "github/create_issue", "create_issue"),
    Entity(Kind.TOOL, "jira/create_issue", "create_issue"),
    Entity(Kind.TOOL, "my__server/do.it", "do.it"),
    Entity(Kind.TOOL, "mail/send", "send"),
    Entity(Kind.SKILL, "send", "send"),
    Entity(Kind.A2A_AGENT, "planner", "Planner"),
]


def find(reference: str) -> list[Entity]:
    """As the store does it: by id, else by path, else by name."""
    for key in ("id", "path", "name"):
        if found := [entity for entity in CATALOG if getattr(entity, key) == reference]:
            return found
    return []


@pytest.mark.parametrize(
    ("reference", "path"),
    [
        ("tool:github/create_issue", "github/create_issue"),
        ("github/create_issue", "github/create_issue"),
        ("github__create_issue", "github/create_issue"),
        (" jira.create_issue ", "jira/create_issue"),
        ("my__server__do.it", "my__server/do.it"),
        ("mail/send", "mail/send"),
        ("planner", "planner"),
    ],
)
def test_any_spelling_that_means_one_entry(reference: str, path: str) -> None:
    assert resolve(reference, find).path == path


def test_an_ambiguous_name_names_the_candidates() -> None:
    with pytest.raises(InvalidRequest, match="tool:github/create_issue, tool:jira/create_issue"):
        resolve("create_issue", find)


@pytest.mark.parametrize("reference", ["nothing", "", "skill:send", "__", "a__b__c"])
def test_what_cannot_be_called_is_not_found(reference: str) -> None:
    with pytest.raises(NotFound):
        resolve(reference, find)


def test_names_for_hosts() -> None:
    assert exposed_name("github/create_issue") == "github__create_issue"
    long = exposed_name("a-server-with-a-very-long-name/" + "and_a_tool_with_a_longer_one_" * 3)
    assert len(long) == MAX_NAME
    assert long != exposed_name("a-server-with-a-very-long-name/" + "and_a_tool_with_a_longer_one_" * 4)
    assert exposed_name("погода/сьогодні") != exposed_name("погода/завтра")
    assert all(
        name.replace("_", "a").replace("-", "a").isalnum() for name in (long, exposed_name("погода/сьогодні"), exposed_name("a b/c"))
    )
