"""Which agent does a card bring in?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.unit.sources.cards import CARD

from repertory.errors import SourceError
from repertory.model import Entity, Kind
from repertory.sources import Problem, read_path
from repertory.sources.a2a import slug


def read(file: Path, card: object) -> tuple[list[Entity], list[Problem]]:
    file.write_text(card if isinstance(card, str) else json.dumps(card), encoding="utf-8")
    items = list(read_path(file, "local"))
    return [item for item in items if isinstance(item, Entity)], [item for item in items if isinstance(item, Problem)]


def test_a_card_gives_one_agent(tmp_path: Path) -> None:
    (agent,), problems = read(tmp_path / "card.json", CARD)
    assert problems == []
    assert (agent.id, agent.kind, agent.name) == ("agent:route-planner-eu", Kind.A2A_AGENT, "Route Planner (EU)")
    assert agent.description == "Plans delivery routes."
    assert agent.tags == ("routing", "Delivery", "eta"), "the union of the skills' tags, each once"
    assert agent.details == {
        "version": "2.1.0",
        "provider": {"organization": "Harbor", "url": "https://harbor.example"},
        "url": "https://a.example/v1",
        "capabilities": {"streaming": True, "pushNotifications": False},
        "interfaces": CARD["supportedInterfaces"],
        "input_modes": ["text/plain"],
        "skills": [
            {
                "name": "Plan a route",
                "description": "Finds the fastest order of stops.",
                "tags": ["routing", "Delivery"],
                "examples": ["Plan a tour through Lyon, then Turin"],
            },
            {"name": "Estimate", "description": "Estimates arrival.", "tags": ["delivery", "eta"]},
        ],
    }


def test_A02_skill_ids_are_nowhere_in_the_entity(tmp_path: Path) -> None:
    (agent,), _ = read(tmp_path / "card.json", CARD)
    assert "skill-7f3a" not in json.dumps(agent.as_json())


def test_a_card_of_the_older_version_has_its_url(tmp_path: Path) -> None:
    card = {key: value for key, value in CARD.items() if key != "supportedInterfaces"}
    (agent,), _ = read(tmp_path / "card.json", {**card, "url": "https://old.example"})
    assert agent.details["url"] == "https://old.example"


def test_a_bad_skill_is_a_problem_and_the_agent_goes_in(tmp_path: Path) -> None:
    file = tmp_path / "card.json"
    skills = [CARD["skills"][0], {"id": "x"}, "text", {"name": "n", "examples": "one"}]
    (agent,), problems = read(file, json.dumps({**CARD, "skills": skills}, indent=1))
    assert [skill["name"] for skill in agent.details["skills"]] == ["Plan a route"]
    assert [problem.message.split(":")[0] for problem in problems] == ["skills[1]", "skills[2]", "skills[3]"]
    assert all(problem.where.startswith(f"{file}:") for problem in problems)


@pytest.mark.parametrize(
    "change",
    [{"name": ""}, {"name": "!!!"}, {"name": "n" * 201}, {"capabilities": "all"}],
    ids=str,
)
def test_a_bad_card_stays_out(tmp_path: Path, change: dict[str, Any]) -> None:
    entities, (problem,) = read(tmp_path / "card.json", {**CARD, **change})
    assert entities == []
    assert problem.message.startswith("the agent: ")


def test_a_broken_card_is_a_problem_with_its_line(tmp_path: Path) -> None:
    file = tmp_path / "card.json"
    entities, (problem,) = read(file, '{"name": "a",\n "skills": [],\n "capabilities": {},\n}')
    assert entities == []
    assert problem.where == f"{file}:4"


def test_a_card_that_also_lists_tools_is_an_agent(tmp_path: Path) -> None:
    (agent,), _ = read(tmp_path / "card.json", {**CARD, "tools": [{"name": "x"}]})
    assert agent.kind is Kind.A2A_AGENT


def test_an_object_without_capabilities_is_no_card(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="not a tool file, agent card"):
        read(tmp_path / "cv.json", {"name": "Ada", "skills": [{"name": "mathematics"}], "description": "capabilities"})


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Route Planner (EU)", "route-planner-eu"),
        ("snake_case--Name", "snake-case-name"),
        ("배송 추적", "배송-추적"),
        ("Straße 7", "straße-7"),
        ("हिन्दी सहायक", "हिन्दी-सहायक"),
        ("ＦＵＬＬ", "full"),
        ("../etc/passwd", "etc-passwd"),
        ("—", ""),
    ],
)
def test_a_slug_keeps_every_script(name: str, expected: str) -> None:
    assert slug(name) == expected
