"""Does the page about models do what it says? Every block of it is executed or loaded."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from tests.docs.test_readme import ROOT, run

from repertory.settings import load

PAGE = (ROOT / "docs" / "models.md").read_text("utf-8")


def test_the_commands_of_the_page(tmp_path: Path) -> None:
    (script,) = re.findall(r"^```sh\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    done = run(script.replace("examples/catalog", str(ROOT / "examples" / "catalog")), tmp_path)
    assert done.returncode == 0, done.stderr
    assert "wait for the embedding model; the next add, or a serving process, embeds them" in " ".join(done.stderr.split())
    assert "Nothing found" not in done.stdout
    assert "complete, of potion-base-8M/int8" in done.stdout


def test_the_settings_of_the_page() -> None:
    chosen = [load(tomllib.loads(content), {})[0] for content in re.findall(r"^```toml\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)]
    assert [settings.embedder for settings in chosen] == ["static", "onnx", "openai"]
    assert (chosen[1].embedder_query_prefix, chosen[2].embedder_input_type) == ("query: ", True)
