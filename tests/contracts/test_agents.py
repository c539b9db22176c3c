"""Is an agent that the official SDK serves read as it means itself?"""

from __future__ import annotations

from pathlib import Path

from tests.catalogs import ask, ids
from tests.programs import on_loopback

import repertory
from repertory.model import Kind


async def test_a_real_agent_is_found_and_its_card_is_sent_again_only_when_it_changed(tmp_path: Path) -> None:
    said, log = tmp_path / "description", tmp_path / "log"
    said.write_text("Guides ships into the harbor.")
    with on_loopback("tests.a2aagent", "{port}", str(said), str(log)) as url:
        async with repertory.open(tmp_path / "catalog", embedder="none") as rep:
            log.unlink(missing_ok=True)  # somebody asked whether it is up
            report = await rep.add(url)
            assert (report.added, report.problems) == (1, [])
            assert ids(await ask(rep, "guide a ship into the harbor")) == ["agent:harbor-pilot"]
            agent = await rep.show("agent:harbor-pilot")
            assert (agent.kind, agent.details["version"], agent.tags) == (Kind.A2A_AGENT, "2.1", ("harbor", "pilot"))
            assert agent.details["url"] == f"{url}/rpc"
            assert agent.details["interfaces"][0]["protocolVersion"] == "1.0"
            (skill,) = agent.details["skills"]
            assert (skill["name"], skill["examples"]) == ("Pilot a ship", ["Bring the Aurora to berth 4"])
            assert (await rep.add(url)).unchanged == 1
            said.write_text("Guides ships through fog.")
            assert (await rep.add(f"{url}/.well-known/agent-card.json")).changed == 1
    path = "/.well-known/agent-card.json"
    assert log.read_text().splitlines() == [f"200 {path}", f"304 {path}", f"200 {path}"]
