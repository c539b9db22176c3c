"""Does the README do what it says? Every block of it is executed."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.conftest import copied

from repertory.settings import load

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text("utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory in which the README's relative paths exist."""
    directory = tmp_path_factory.mktemp("reader")
    (directory / "examples").symlink_to(ROOT / "examples")
    return directory


def run(script: str, place: Path) -> subprocess.CompletedProcess[str]:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "REPERTORY_CATALOG": str(place / "catalog"), "COLUMNS": "80"}
    return subprocess.run(["bash", "-euc", script], cwd=place, env=environment, capture_output=True, text=True, timeout=120)


def test_the_commands_of_the_readme_work(place: Path) -> None:
    scripts = [block for block in blocks("sh") if "repertory " in block]
    assert len(scripts) >= 2
    for script in scripts:
        done = run(script, place)
        assert done.returncode == 0, done.stderr
    shown = run('repertory search "schedule a meeting" --limit 2', place).stdout
    (printed,) = blocks("text")
    assert [line.rstrip() for line in shown.splitlines()] == [line.rstrip() for line in printed.splitlines()]


def test_the_python_of_the_readme_works(place: Path) -> None:
    (code,) = blocks("python")
    done = subprocess.run([sys.executable, "-c", code], cwd=place, capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout.splitlines()[0] == "1.00 tool:calendar/create_event"


@pytest.fixture
def serving(place: Path, example_catalog: Path) -> Iterator[int]:
    """A serving process and its port."""
    repertory = Path(sys.executable).parent / "repertory"
    catalog = copied(example_catalog, place / "served")
    process = subprocess.Popen([repertory, "serve", "--port", "0", "-c", catalog], cwd=place, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    found = re.search(r"http://127\.0\.0\.1:(\d+)", process.stderr.readline())
    assert found
    yield int(found[1])
    process.terminate()
    process.wait(10)
    process.stderr.close()


def test_the_request_of_the_readme_works(place: Path, serving: int) -> None:
    (script,) = [block for block in blocks("sh") if "curl" in block]
    done = run(script.replace("8321", str(serving)), place)
    assert json.loads(done.stdout)["results"][0]["id"] == "tool:calendar/create_event", done.stderr


def test_the_settings_of_the_readme_are_settings() -> None:
    (settings,) = blocks("toml")
    assert load(tomllib.loads(settings), {})[0].embedder_dimensions == 768


def test_the_make_targets_of_the_readme_exist() -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    targets = re.findall(r"^make (\w+)", "".join(blocks("sh")), re.MULTILINE)
    assert {"serve", "test"} <= set(targets)
    assert all(re.search(rf"^{target}:", makefile, re.MULTILINE) for target in targets)


@pytest.mark.parametrize("page", sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), ROOT / "benchmarks" / "README.md"]), ids=str)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text("utf-8")):
        assert (page.parent / target).exists(), target
