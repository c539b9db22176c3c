"""F. What none of the others has."""

from __future__ import annotations

from tests.catalogs import ask

from repertory.app import Repertory
from repertory.model import Kind


async def test_F03_every_result_explains_itself(examples: Repertory) -> None:
    for result in (await ask(examples, "track a parcel")).as_json(explain=True)["results"]:
        assert result["evidence"]
        assert {"lane", "rank", "score", "contribution"} == set(result["evidence"][0])


async def test_F04_one_ranked_list_over_every_kind(examples: Repertory) -> None:
    response = await ask(examples, "incident on call", limit=20)
    scores = [result.score for result in response.results]
    assert scores == sorted(scores, reverse=True)
    assert {result.entity.kind for result in response.results} >= {Kind.TOOL, Kind.MCP_SERVER, Kind.DOCUMENT}
    assert sum(len(group) for group in response.groups.values()) == len(response.results)
