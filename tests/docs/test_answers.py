"""Does the page about answers do what it says? Every block of it is executed or loaded."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

from tests.conftest import copied
from tests.docs.test_readme import ROOT, run
from tests.surfaces.programs import serving

from repertory.settings import load

PAGE = (ROOT / "docs" / "chat.md").read_text("utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


def test_the_commands_of_the_page(tmp_path: Path, example_catalog: Path) -> None:
    terminal, over_http = blocks("sh")
    copied(example_catalog, tmp_path / "catalog")  # so that the `add` of the page has nothing to embed; that of the README has
    done = run(terminal.replace("examples/catalog", str(ROOT / "examples" / "catalog")), tmp_path)
    assert done.returncode == 0, done.stderr
    assert "[1] doc:catalog/notes/data-retention.md › Data retention" in done.stdout
    assert json.loads(done.stdout[done.stdout.index("\n{\n") :])["state"] == "passages"
    (python,) = blocks("python")
    (tmp_path / "page.py").write_text(python)
    spoken = run("python page.py", tmp_path)
    assert "passages [(1, " in spoken.stdout, spoken.stderr
    with serving(tmp_path / "catalog") as served:
        told = run(over_http.replace("http://127.0.0.1:8321", served.url), tmp_path).stdout
    events, answer = told.rsplit("\n\n", 1)
    names = re.findall(r"^event: (\w+)", events, re.MULTILINE)
    assert (names[0], names[-1]) == ("retrieved", "done")
    assert json.loads(answer)["cited"]


def test_the_settings_of_the_page() -> None:
    local, vllm = (load(tomllib.loads(content), {})[0] for content in blocks("toml"))
    assert (local.chat_model, vllm.chat_model) == ("llama3.2", "Qwen/Qwen2.5-7B-Instruct")
    assert (local.chat_timeout, local.chat_tokens, local.chat_context) == (vllm.chat_timeout, vllm.chat_tokens, vllm.chat_context)
