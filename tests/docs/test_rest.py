"""Does the page about REST do what it says? Every block of it is executed."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from tests.conftest import EXAMPLES
from tests.docs.test_readme import ROOT, run
from tests.surfaces.programs import run as repertory
from tests.surfaces.programs import serving

from repertory.rest.service import ROUTES

PAGE = (ROOT / "docs" / "rest.md").read_text("utf-8")
BLOCKS = re.findall(r"^```sh\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
NAMED = set(re.findall(r"/(?:api|v0\.1|agents|\.well-known)/[a-z-]+|/agents/|/health|/ready|/chat", PAGE))


def test_the_commands_of_the_page(tmp_path: Path) -> None:
    catalog = tmp_path / "catalog"
    assert repertory("add", EXAMPLES, catalog=catalog, REPERTORY_EMBEDDER="none").code == 0
    searching, reading, registering, changing = BLOCKS
    with serving(catalog, REPERTORY_EMBEDDER="none") as served:
        at = [block.replace("http://127.0.0.1:8321", served.url) for block in (searching, reading, registering + changing)]
        found = json.loads(run(at[0], tmp_path).stdout)
        assert [result["id"] for result in found["results"]][:1] == ["tool:calendar/create_event"]
        done = run(at[1].replace("\n", "; echo\n"), tmp_path).stdout.splitlines()
        assert [sorted(json.loads(line))[0] for line in done] == ["description", "id", "id"]
        registered, replaced, late, disabled = (
            json.loads(line)
            for line in run(re.sub(r"(?m)(^curl[^\n\\]*|^  -d .*)$", r"\1; echo", at[2]), tmp_path).stdout.splitlines()
            if line
        )
    assert (registered["id"], replaced["description"], late["code"], disabled["enabled"]) == (
        "server:tides",
        "Tide tables.",
        "changed",
        False,
    )


@pytest.mark.parametrize(
    "path", sorted({route.path for module in ROUTES for route in module.router.routes if getattr(route, "include_in_schema", True)})
)
def test_every_route_is_on_the_page(path: str) -> None:
    if not path.startswith(("/api/keys", "/api/audit")):  # these are on the page about access
        assert any(path.startswith(named) for named in NAMED), path
