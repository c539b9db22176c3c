"""Does the page about bundles do what it says? Every block of it is executed."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from tests.conftest import copied
from tests.docs.test_readme import ROOT, run

PAGE = (ROOT / "docs" / "export.md").read_text("utf-8")


def test_the_commands_and_the_program_of_the_page(tmp_path: Path, example_catalog: Path) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    writing, reading = re.findall(r"^```sh\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    copied(example_catalog, tmp_path / "catalog")  # so that the `add` of the page has nothing to embed; that of the README has
    done = run(writing.replace("export bundle", "export bundle --no-wheels"), tmp_path)  # with wheels: tests/rules/test_d_export.py
    assert done.returncode == 0, done.stderr
    assert "571 entries written to" in done.stderr
    done = run(reading, tmp_path)
    assert done.returncode == 0, done.stderr
    assert "bundle: 571 added." in done.stdout
    (code,) = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    shown = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=True).stdout
    assert shown.startswith("571 entries at revision ")
