"""Do addresses, histories and exports work from the terminal, with and without a serving process?"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from tests.conftest import EXAMPLES
from tests.surfaces.programs import run, serving
from tests.unit.sources.cards import CARD

FEEDS = Path(__file__).parents[1] / "contracts" / "feedserver.py"


@pytest.fixture(scope="module")
def agent() -> Iterator[str]:
    """The address of an agent."""
    with subprocess.Popen([sys.executable, str(FEEDS)], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            base = f"http://127.0.0.1:{int(process.stdout.readline())}"
            httpx2.post(f"{base}/tell", json={"card~1": CARD}, trust_env=False)
            yield f"{base}/card~1"
        finally:
            process.terminate()


def test_an_address_is_added_and_an_unknown_one_is_an_error(tmp_path: Path, agent: str) -> None:
    catalog = tmp_path / "catalog"
    assert run("add", agent, "--json", catalog=catalog, REPERTORY_EMBEDDER="none").answer["added"] == 1
    found = run("search", "plan a route", "--json", catalog=catalog, REPERTORY_EMBEDDER="none").answer
    assert [result["id"] for result in found["results"]] == ["agent:route-planner-eu"]
    ran = run("add", f"{agent}/nothing/v0.1/servers", catalog=catalog, REPERTORY_EMBEDDER="none")
    assert (ran.code, ran.out) == (3, "")
    assert "HTTP 404" in ran.err


def test_a_serving_process_adds_and_exports_too(tmp_path: Path, agent: str) -> None:
    catalog = tmp_path / "catalog"
    with serving(catalog, REPERTORY_EMBEDDER="none") as served:
        assert run("add", agent, "--json", catalog=catalog).answer["added"] == 1
        assert run("add", EXAMPLES, "--json", catalog=catalog).answer["added"] > 0
        assert run("add", "--git", tmp_path, catalog=catalog).code == 3
        assert httpx2.get(f"{served.url}/api/export", trust_env=False).status_code == 403
        assert run("export", "--json", tmp_path / "by-owner.json", catalog=catalog).code == 0
    ran = run("export", "--json", tmp_path / "here.json", catalog=catalog, REPERTORY_EMBEDDER="none")
    assert (ran.code, ran.out) == (0, "")
    exports = [json.loads((tmp_path / name).read_text("utf-8")) for name in ("by-owner.json", "here.json")]
    assert exports[0]["tools"] == exports[1]["tools"]
    assert len(exports[0]["tools"]) == 381
    assert run("add", tmp_path / "here.json", "--json", catalog=tmp_path / "other", REPERTORY_EMBEDDER="none").answer["added"] == 381
    assert run("export", "--json", tmp_path / "no" / "where.json", catalog=catalog, REPERTORY_EMBEDDER="none").code == 2
