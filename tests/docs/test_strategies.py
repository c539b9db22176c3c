"""Does the page about strategies do what it says? Every block of it is executed."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from tests.conftest import copied
from tests.docs.test_readme import ROOT, run

from repertory.model import Fusion, Preset, Strategy
from repertory.settings import load

PAGE = (ROOT / "docs" / "strategies.md").read_text("utf-8")


def test_the_commands_of_the_page(tmp_path: Path, example_catalog: Path) -> None:
    (script,) = re.findall(r"^```sh\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    copied(example_catalog, tmp_path / "catalog")
    done = run(script, tmp_path)
    assert done.returncode == 0, done.stderr
    assert "next steps" in done.stdout
    assert "comparison" in done.stdout
    assert "Nothing found" not in done.stdout


def test_the_settings_of_the_page() -> None:
    elsewhere, here = (load(tomllib.loads(text), {})[0] for text in re.findall(r"^```toml\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL))
    assert (elsewhere.rewriter_model, elsewhere.reranker_model) == ("llama3.2", "bge-reranker-base")
    assert here.reranker_file == Path("/models/ms-marco-MiniLM-L-12-v2")


def test_every_strategy_fusion_and_preset_is_on_the_page() -> None:
    for word in (*Strategy, *Fusion, *Preset):
        assert f"| `{word.value}`" in PAGE
