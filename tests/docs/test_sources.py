"""Does the page about sources do what it says? Every block of it is executed."""

from __future__ import annotations

import re
from pathlib import Path

from tests.conftest import require
from tests.docs.test_readme import ROOT, run
from tests.provision import EVERYTHING

PAGE = (ROOT / "docs" / "sources.md").read_text("utf-8")
FETCHED = '"npx", "args": ["-y", "@modelcontextprotocol/server-everything"]'


def test_the_commands_of_the_page(tmp_path: Path) -> None:
    installed = require(EVERYTHING)
    adding, importing = re.findall(r"^```sh\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    assert FETCHED in adding
    adding = adding.replace(FETCHED, f'"{installed}", "args": []')  # the same program, without a network
    done = run(f"export REPERTORY_EMBEDDER=none\n{adding}", tmp_path)
    assert done.returncode == 0, done.stderr
    assert re.search(r"^everything +ok ", done.stdout, re.MULTILINE)
    assert re.search(r"^tracker +broken ", done.stdout, re.MULTILINE)
    assert re.search(r"TRACKER_TOKEN,\s+which\s+is\s+not\s+set", done.stdout)
    assert "everything/echo" in done.stdout
    done = run(f"export HOME={tmp_path}\n{importing}", tmp_path)
    assert done.returncode == 0, done.stderr
